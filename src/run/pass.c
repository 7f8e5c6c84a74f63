#include "run/pass.h"

#include <string.h>

void gi_gate_init(gi_gate *gate, int places) {
    pthread_mutex_init(&gate->mutex, NULL);
    pthread_cond_init(&gate->free, NULL);
    gate->places = places;
    gate->limited = places > 0;
}

void gi_gate_destroy(gi_gate *gate) {
    pthread_cond_destroy(&gate->free);
    pthread_mutex_destroy(&gate->mutex);
}

static void gate_enter(gi_gate *gate) {
    if (!gate->limited) return;
    pthread_mutex_lock(&gate->mutex);
    while (gate->places == 0) pthread_cond_wait(&gate->free, &gate->mutex);
    gate->places--;
    pthread_mutex_unlock(&gate->mutex);
}

static void gate_leave(gi_gate *gate) {
    if (!gate->limited) return;
    pthread_mutex_lock(&gate->mutex);
    gate->places++;
    pthread_cond_signal(&gate->free);
    pthread_mutex_unlock(&gate->mutex);
}

// Brings the slot to hold rows [y, y + rows) with all known points applied. What it holds already is kept: after the
// measuring pass of an image in one band nothing is uploaded again.
static gi_status load_band(gi_pass *pass, uint32_t y, uint32_t rows, gi_error *err) {
    const gi_backend_ops *ops = pass->slot->ops;
    gi_status status = GI_OK;
    if (pass->held_rows != rows || pass->held_y != y) {
        pass->held_rows = 0;
        gi_view band = gi_view_rows(&pass->in, y, rows);
        status = ops->upload(pass->slot, &band, err);
        if (status != GI_OK) return status;
        pass->held_y = y;
        pass->held_rows = rows;
        pass->held_points = 0;
    }
    for (; pass->held_points < pass->point_count && status == GI_OK; pass->held_points++) {
        const gi_point *point = &pass->points[pass->held_points];
        if (!gi_point_is_identity(point)) status = ops->point(pass->slot, point, err);
    }
    if (status != GI_OK) pass->held_rows = 0;
    return status;
}

// What a pass does with a band: `histogram` or `encoder`.
typedef struct goal {
    gi_histogram *histogram;
    gi_encoder *encoder;
} goal;

static gi_status do_band(gi_pass *pass, uint32_t y, uint32_t rows, const goal *to, gi_error *err) {
    gi_view out;
    gate_enter(pass->gate);
    gi_status status = load_band(pass, y, rows, err);
    if (status == GI_OK && to->histogram) status = pass->slot->ops->histogram(pass->slot, to->histogram, err);
    if (status == GI_OK && to->encoder) status = pass->slot->ops->download(pass->slot, &out, err);
    if (status != GI_OK) pass->held_rows = 0;
    gate_leave(pass->gate);
    if (status == GI_OK && to->encoder) status = gi_encoder_rows(to->encoder, &out, err);
    return status;
}

// From row *y to the end; on failure *y is the first row not done.
static gi_status do_bands(gi_pass *pass, uint32_t *y, const goal *to, gi_error *err) {
    while (*y < pass->in.height) {
        if (gi_stopped(pass->stop)) return gi_fail(err, GI_ERR_CANCELLED, "interrupted");
        uint32_t left = pass->in.height - *y;
        uint32_t rows = pass->band_rows < left ? pass->band_rows : left;
        gi_status status = do_band(pass, *y, rows, to, err);
        if (status != GI_OK) return status;
        *y += rows;
    }
    return GI_OK;
}

// After GI_ERR_DEVICE_MEMORY: smaller bands, then the fallback. False when there is nothing left to try.
static bool relieve(gi_pass *pass, const gi_error *why) {
    if (pass->band_rows > pass->in.height) pass->band_rows = pass->in.height;
    pass->held_rows = 0;
    if (pass->band_rows > GI_BAND_ROWS_MIN) {
        pass->band_rows = pass->band_rows / 2 > GI_BAND_ROWS_MIN ? pass->band_rows / 2 : GI_BAND_ROWS_MIN;
        return true;
    }
    gi_slot *slot = NULL;
    if (!pass->fallback || pass->fallback(pass->fallback_context, &slot, NULL) != GI_OK) return false;
    gi_say(pass->messages, GI_WARNING, pass->file, "%s; done on the CPU instead", why->text);
    pass->fallback = NULL;
    pass->slot = slot;
    pass->band_rows = pass->in.height;
    return true;
}

gi_status gi_pass_measure(gi_pass *pass, gi_histogram *histogram, gi_error *err) {
    gi_error why = {.status = GI_OK};
    gi_status status;
    do {
        uint32_t y = 0;
        // A band that failed may have been counted in part: the whole image is counted anew.
        memset(histogram->counts, 0, sizeof *histogram->counts * histogram->levels * (size_t)histogram->channels);
        status = do_bands(pass, &y, &(goal){histogram, NULL}, &why);
    } while (status == GI_ERR_DEVICE_MEMORY && relieve(pass, &why));
    if (status != GI_OK && err) *err = why;
    return status;
}

// True when there is nothing to compute, so that the decoded rows are the result.
static bool all_identity(const gi_pass *pass) {
    for (int i = 0; i < pass->point_count; i++)
        if (!gi_point_is_identity(&pass->points[i])) return false;
    return true;
}

static gi_status emit_input(gi_pass *pass, gi_encoder *encoder, gi_error *err) {
    if (gi_stopped(pass->stop)) return gi_fail(err, GI_ERR_CANCELLED, "interrupted");
    return gi_encoder_rows(encoder, &pass->in, err);
}

gi_status gi_pass_emit(gi_pass *pass, gi_encoder *encoder, gi_error *err) {
    gi_error why = {.status = GI_OK};
    gi_status status;
    if (all_identity(pass)) return emit_input(pass, encoder, err);
    do {
        status = do_bands(pass, &pass->emitted, &(goal){NULL, encoder}, &why);
    } while (status == GI_ERR_DEVICE_MEMORY && relieve(pass, &why));
    if (status != GI_OK && err) *err = why;
    return status;
}
