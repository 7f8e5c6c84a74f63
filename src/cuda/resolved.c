#include "cuda/resolved.h"

#include <string.h>

#include "cuda/cuda_status.h"

// Tables of an operation: one for each colour, and that of `rest` after its mix.
enum { MOST_COLOURS = 3, MOST_TABLES = MOST_COLOURS + 1 };

// How the stage's tables come about.
typedef struct recipe {
    size_t (*scratch)(const gi_table_job *);
    gi_status (*make)(const gi_table_job *, gi_error *);
    bool shift; // one table, by which colours move with their luma (GI_MIX_SHIFT)
} recipe;

static gi_status recipe_of(const gi_stage_call *call, int channels, recipe *out, gi_error *err) {
    const int colours = gi_colour_channels(channels);
    if (call->stage->id == GI_STAGE_ID_threshold && call->args.threshold.level == GI_LEVEL_OTSU) {
        *out = (recipe){gi_cuda_otsu_scratch, gi_cuda_otsu, false};
        return colours == 1 ? GI_OK : gi_fail(err, GI_ERR_USAGE, "threshold otsu needs a gray image");
    }
    if (call->stage->id == GI_STAGE_ID_equalize) {
        bool shift = colours == 3 && call->args.equalize.mode == GI_EQUALIZE_LUMA;
        *out = (recipe){gi_cuda_equalize_scratch, gi_cuda_equalize, shift};
        return GI_OK;
    }
    return gi_fail(err, GI_ERR_USAGE, "%s is not made from counts", call->stage->name);
}

static gi_status check(const gi_cuda_resolve *from, const recipe *how, gi_error *err) {
    const gi_point *rest = &from->rest->point;
    const int wanted = how->shift ? rest->shape.channels - 2 : rest->shape.channels;
    if (from->counts->channels != wanted || from->counts->sample != rest->shape.sample)
        return gi_fail(err, GI_ERR_USAGE, "%s needs the counts of another kind of image", from->call->stage->name);
    if (how->shift && !gi_point_is_identity(rest))
        return gi_fail(err, GI_ERR_USAGE, "nothing composes with an operation that moves colours by their luma");
    return GI_OK;
}

static gi_curve table_at(uint16_t *table) { return (gi_curve){GI_CURVE_TABLE, 0, table}; }

// The colours of the stage's tables, then the rest's mix and what comes after it. The rest's own table is copied: it
// belongs to the slot, for one operation.
static gi_status follow(gi_point *point, const gi_cuda_resolve *from, uint16_t *tables, gi_error *err) {
    const gi_point *rest = &from->rest->point;
    const size_t levels = (size_t)gi_sample_max(rest->shape.sample) + 1;
    *point = *rest;
    for (int c = 0; c < gi_colour_channels(rest->shape.channels); c++)
        point->before[c] = table_at(tables + (size_t)c * levels);
    if (rest->mix == GI_MIX_NONE || rest->after.kind != GI_CURVE_TABLE) return GI_OK;
    point->after = table_at(tables + MOST_COLOURS * levels);
    return gi_cuda_check(cudaMemcpyAsync(point->after.table, rest->after.table, levels * sizeof(uint16_t),
                                         cudaMemcpyDeviceToDevice, from->stream),
                         "keeping a table", err);
}

static void follow_luma(gi_point *point, gi_shape shape, uint16_t *table) {
    static const uint32_t weights[3] = {GI_LUMA_RED, GI_LUMA_GREEN, GI_LUMA_BLUE};
    memset(point, 0, sizeof *point);
    point->shape = shape;
    point->mix = GI_MIX_SHIFT;
    memcpy(point->weights, weights, sizeof weights);
    point->after = table_at(table);
}

gi_status gi_cuda_resolved_make(gi_cuda_resolved *resolved, const gi_cuda_resolve *from, gi_error *err) {
    static const gi_curve identity = {GI_CURVE_IDENTITY, 0, NULL};
    const gi_shape shape = from->rest->point.shape;
    const size_t levels = (size_t)gi_sample_max(shape.sample) + 1;
    recipe how;
    resolved->made = false;
    gi_status status = recipe_of(from->call, shape.channels, &how, err);
    if (status == GI_OK) status = check(from, &how, err);
    if (status == GI_OK)
        status = gi_cuda_buffer_reserve(&resolved->tables, MOST_TABLES * levels * sizeof(uint16_t), GI_DEVICE,
                                        from->stream, err);
    if (status != GI_OK) return status;

    gi_table_job job = {.counts = from->counts->buffer.data,
                        .sample = shape.sample,
                        .channels = how.shift ? 1 : gi_colour_channels(shape.channels),
                        .then = how.shift ? &identity : from->rest->point.before,
                        .tables = resolved->tables.data,
                        .level = from->level,
                        .stream = from->stream};
    resolved->op = *from->rest;
    status = gi_cuda_buffer_reserve(from->scratch, how.scratch(&job), GI_DEVICE, from->stream, err);
    job.scratch = from->scratch->data;
    if (status == GI_OK)
        status =
            gi_cuda_check(cudaMemsetAsync(from->level, 0, sizeof *from->level, from->stream), "clearing a level", err);
    if (status == GI_OK) status = how.make(&job, err);
    if (status == GI_OK && how.shift) follow_luma(&resolved->op.point, shape, job.tables);
    if (status == GI_OK && !how.shift) status = follow(&resolved->op.point, from, job.tables, err);
    resolved->made = status == GI_OK;
    return status;
}

void gi_cuda_resolved_free(gi_cuda_resolved *resolved) {
    gi_cuda_buffer_free(&resolved->tables, GI_DEVICE);
    resolved->made = false;
}
