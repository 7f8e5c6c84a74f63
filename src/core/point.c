#include "core/point.h"

#include <stdlib.h>
#include <string.h>

static const gi_curve identity_curve = {GI_CURVE_IDENTITY, 0, NULL};

gi_point gi_point_identity(int channels, gi_sample sample) {
    gi_point point;
    memset(&point, 0, sizeof point);
    point.shape.channels = channels;
    point.shape.sample = sample;
    return point;
}

bool gi_point_is_identity(const gi_point *point) {
    for (int c = 0; c < gi_colour_channels(point->shape.channels); c++)
        if (point->before[c].kind != GI_CURVE_IDENTITY) return false;
    return point->mix == GI_MIX_NONE;
}

int gi_point_channels_out(const gi_point *point) {
    bool mixed = point->mix == GI_MIX_WEIGHTS || point->mix == GI_MIX_LINEAR;
    return mixed ? point->shape.channels - 2 : point->shape.channels;
}

void gi_point_free(gi_point *point) {
    if (!point) return;
    for (int c = 0; c < 3; c++) free(point->before[c].table);
    free(point->after.table);
    *point = gi_point_identity(point->shape.channels, point->shape.sample);
}

// *out = outer(inner(v)) for every v in 0..max. GI_ERR_MEMORY leaves *out the identity.
static gi_status compose_curves(const gi_curve *outer, const gi_curve *inner, uint32_t max, gi_curve *out,
                                gi_error *err) {
    *out = identity_curve;
    if (inner->kind == GI_CURVE_THRESHOLD && gi_curve_at(outer, 0, max) == 0 && gi_curve_at(outer, max, max) == max) {
        *out = *inner;
        return GI_OK;
    }
    if (inner->kind == GI_CURVE_IDENTITY && outer->kind != GI_CURVE_TABLE) {
        *out = *outer;
        return GI_OK;
    }
    uint16_t *table = malloc(((size_t)max + 1) * sizeof *table);
    if (!table) return gi_fail(err, GI_ERR_MEMORY, "no memory for a table of %u levels", max + 1);
    for (uint32_t v = 0; v <= max; v++) table[v] = (uint16_t)gi_curve_at(outer, gi_curve_at(inner, v, max), max);
    *out = (gi_curve){GI_CURVE_TABLE, 0, table};
    return GI_OK;
}

gi_status gi_point_compose(const gi_point *first, const gi_point *second, gi_point *out, gi_error *err) {
    uint32_t max = gi_sample_max(first->shape.sample);
    gi_point result = gi_point_identity(first->shape.channels, first->shape.sample);
    gi_status status = GI_OK;
    bool mixed = first->mix != GI_MIX_NONE;
    const gi_point *mixer = mixed ? first : second;
    *out = result;
    if (second->shape.channels != gi_point_channels_out(first) || second->shape.sample != first->shape.sample)
        return gi_fail(err, GI_ERR_USAGE, "point operations on different kinds of image");
    if (first->mix == GI_MIX_SHIFT && !gi_point_is_identity(second))
        return gi_fail(err, GI_ERR_USAGE, "nothing composes with an operation that moves colours by their luma");
    result.mix = mixer->mix;
    memcpy(result.weights, mixer->weights, sizeof result.weights);
    for (int c = 0; c < gi_colour_channels(first->shape.channels) && status == GI_OK; c++) {
        const gi_curve *outer = mixed ? &identity_curve : &second->before[c];
        status = compose_curves(outer, &first->before[c], max, &result.before[c], err);
    }
    if (status == GI_OK && mixed)
        status = compose_curves(&second->before[0], &first->after, max, &result.after, err);
    else if (status == GI_OK)
        status = compose_curves(&second->after, &identity_curve, max, &result.after, err);
    if (status != GI_OK) gi_point_free(&result);
    *out = result;
    return status;
}
