#include "run/pass.h"

#include <stdlib.h>
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

// Applies segment i to what the slot holds, rows `in` of the whole image, to make rows `out`.
static gi_status apply(const gi_pass *pass, int i, gi_rows in, gi_rows out, gi_error *err) {
    const gi_backend_ops *ops = pass->slot->ops;
    const gi_segment *segment = &pass->plan->segments[i];
    if (segment->kind == GI_STAGE_WINDOW) {
        gi_window_place place = {pass->in.height, in.y, out.y};
        return ops->window(pass->slot, &segment->calls[0], &place, out.count, err);
    }
    if (segment->counted != GI_COUNTED_NOTHING) return ops->point_resolved(pass->slot, segment->resolved, err);
    return gi_segment_is_identity(segment) ? GI_OK : ops->point(pass->slot, &segment->point, err);
}

static bool same_rows(gi_rows a, gi_rows b) { return a.y == b.y && a.count == b.count; }

// Rows of a leg's result, and where they may be made: no data where they are not stored.
typedef struct band {
    int to; // the leg's end
    gi_rows rows;
    gi_view target;
} band;

// The segment that makes the result of [from, to): the last that is not left out; -1: none.
static int maker(const gi_plan *plan, int from, int to) {
    int i = to - 1;
    while (i >= from && gi_segment_is_identity(&plan->segments[i])) i--;
    return i >= from ? i : -1;
}

// Brings the slot to hold the band. What it holds already is kept: after the counting of an image in one band nothing
// is uploaded or done again.
static gi_status load(gi_pass *pass, const band *b, gi_error *err) {
    const gi_backend_ops *ops = pass->slot->ops;
    const int to = b->to, last = maker(pass->plan, pass->from, to);
    gi_status status = GI_OK;
    bool kept = pass->held.count > 0 && pass->held_at >= pass->from && pass->held_at <= to &&
                same_rows(pass->held, gi_rows_needed(pass->plan, pass->held_at, to, b->rows));
    if (!kept) {
        pass->held = gi_rows_needed(pass->plan, pass->from, to, b->rows);
        pass->held_at = pass->from;
        gi_view source = gi_view_rows(&pass->source, pass->held.y, pass->held.count);
        status = ops->upload(pass->slot, &source, err);
    }
    while (pass->held_at < to && status == GI_OK) {
        gi_rows next = gi_rows_needed(pass->plan, pass->held_at + 1, to, b->rows);
        if (b->target.data && ops->aim && pass->held_at == last) ops->aim(pass->slot, &b->target);
        status = apply(pass, pass->held_at, pass->held, next, err);
        pass->held = next;
        pass->held_at++;
    }
    if (status != GI_OK) pass->held.count = 0;
    return status;
}

// What is done with each band of a leg's result.
typedef struct goal {
    bool count;              // into the slot's counts
    const gi_point *through; // ... as this makes it; NULL: as it is
    const gi_view *store;    // rows to their place in this image
    gi_encoder *encoder;
    gi_histogram *histogram; // of the last leg: the slot's counts, at the end
} goal;

static void copy_rows(const gi_view *from, const gi_view *to) {
    size_t row_bytes = gi_row_bytes(from->width, from->channels, from->sample);
    if (from->data == to->data) return; // made there
    for (uint32_t i = 0; i < from->height; i++) memcpy(gi_view_row(to, i), gi_view_row(from, i), row_bytes);
}

static gi_status do_band(gi_pass *pass, int to, gi_rows rows, const goal *to_do, gi_error *err) {
    const gi_backend_ops *ops = pass->slot->ops;
    bool wanted = to_do->store || to_do->encoder;
    band b = {.to = to, .rows = rows};
    gi_view out;
    if (to_do->store) b.target = gi_view_rows(to_do->store, rows.y, rows.count);
    gate_enter(pass->gate);
    gi_status status = load(pass, &b, err);
    if (status == GI_OK && to_do->count) status = ops->measure(pass->slot, to_do->through, rows.y == 0, err);
    if (status == GI_OK && wanted) status = ops->download(pass->slot, &out, err);
    if (status != GI_OK) pass->held.count = 0;
    gate_leave(pass->gate);
    if (status != GI_OK || !wanted) return status;
    if (to_do->encoder) return gi_encoder_rows(to_do->encoder, &out, err);
    copy_rows(&out, &b.target);
    return GI_OK;
}

// From row *y of the leg's result to the end; on failure *y is the first row not done.
static gi_status do_bands(gi_pass *pass, int to, uint32_t *y, const goal *to_do, gi_error *err) {
    const uint32_t height = pass->in.height;
    while (*y < height) {
        if (gi_stopped(pass->stop)) return gi_fail(err, GI_ERR_CANCELLED, "interrupted");
        gi_rows rows = {*y, pass->bands.rows < height - *y ? pass->bands.rows : height - *y};
        gi_status status = do_band(pass, to, rows, to_do, err);
        if (status != GI_OK) return status;
        *y += rows.count;
    }
    return GI_OK;
}

// Says the levels of the barriers resolved since the last time, once a wait has made them known.
static void tell_levels(gi_pass *pass) {
    for (int i = 0; i < pass->plan->segment_count; i++) {
        const gi_segment *segment = &pass->plan->segments[i];
        bool due = segment->resolved >= pass->told && segment->resolved < pass->resolved;
        if (segment->counted == GI_COUNTED_NOTHING || !due || !gi_call_is_otsu(&segment->calls[0])) continue;
        uint32_t level = pass->slot->ops->resolved_level(pass->slot, segment->resolved);
        gi_say(pass->messages, GI_NOTE, pass->file, "otsu level %u", level);
    }
    if (pass->told < pass->resolved) pass->told = pass->resolved;
}

// Runs the leg up to segment `to` into a new image in host memory, which is the source from then on.
static gi_status store_leg(gi_pass *pass, int to, goal to_do, gi_error *err) {
    gi_shape shape = gi_view_shape(&pass->source);
    shape.channels = pass->plan->segments[to - 1].channels_out;
    size_t bytes = 0;
    uint32_t y = 0;
    gi_status status = gi_shape_bytes(shape, &bytes, err);
    if (status != GI_OK) return status;
    void *data = malloc(bytes ? bytes : 1);
    if (!data) return gi_fail(err, GI_ERR_MEMORY, "out of memory for an image of %zu bytes", bytes);
    gi_view image = gi_view_packed(data, shape, GI_HOST);
    to_do.store = &image;
    status = do_bands(pass, to, &y, &to_do, err);
    if (status != GI_OK) {
        free(data);
        return status;
    }
    tell_levels(pass);
    free(pass->stored);
    pass->stored = data;
    pass->source = image;
    pass->from = to;
    pass->held.count = 0; // a backend that reads its input where it lies may hold what was just freed
    return GI_OK;
}

static gi_status resolve(gi_pass *pass, const gi_segment *segment, gi_error *err) {
    gate_enter(pass->gate);
    gi_status status =
        pass->slot->ops->resolve(pass->slot, segment->resolved, &segment->calls[0], &segment->point, err);
    gate_leave(pass->gate);
    if (status == GI_OK) pass->resolved = segment->resolved + 1;
    return status;
}

// After GI_ERR_DEVICE_MEMORY: smaller bands, then the fallback. False when there is nothing left to try.
static bool relieve(gi_pass *pass, const gi_error *why) {
    if (pass->bands.rows > pass->in.height) pass->bands.rows = pass->in.height;
    pass->held.count = 0;
    if (pass->bands.rows > GI_BAND_ROWS_MIN) {
        pass->bands.rows = pass->bands.rows / 2 > GI_BAND_ROWS_MIN ? pass->bands.rows / 2 : GI_BAND_ROWS_MIN;
        return true;
    }
    gi_slot *slot = NULL;
    if (!pass->fallback || pass->fallback(pass->fallback_context, &slot, NULL) != GI_OK) return false;
    gi_say(pass->messages, GI_WARNING, pass->file, "%s; done on the CPU instead", why->text);
    pass->fallback = NULL;
    pass->slot = slot;
    pass->bands.rows = pass->in.height;
    pass->bands.uploads = false;
    // The new slot keeps no operations: those that the source does not have behind it are made again.
    pass->resolved = 0;
    for (int i = 0; i < pass->from; i++) pass->resolved += pass->plan->segments[i].counted != GI_COUNTED_NOTHING;
    return true;
}

static gi_status finish(gi_pass *pass, const goal *last, gi_error *err) {
    if (!last->histogram) return GI_OK;
    gate_enter(pass->gate);
    gi_status status = pass->slot->ops->counts(pass->slot, last->histogram, err);
    gate_leave(pass->gate);
    return status;
}

// One leg. *done: it was the last.
static gi_status step(gi_pass *pass, const goal *last, bool *done, gi_error *err) {
    const gi_leg leg = gi_leg_next(pass->plan, pass->from, pass->resolved, &pass->bands);
    const gi_segment *barrier = leg.counted != GI_COUNTED_NOTHING ? &pass->plan->segments[leg.to] : NULL;
    gi_point luma;
    goal to_do = leg.last ? *last : (goal){.count = barrier != NULL};
    uint32_t y = 0;
    if (leg.counted == GI_COUNTED_LUMA) {
        luma = gi_luma_point(barrier->channels_in, pass->in.sample);
        to_do.through = &luma;
    }
    gi_status status = leg.stored ? store_leg(pass, leg.to, to_do, err)
                                  : do_bands(pass, leg.to, to_do.encoder ? &pass->emitted : &y, &to_do, err);
    if (status == GI_OK && barrier) status = resolve(pass, barrier, err);
    if (status == GI_OK && leg.last) {
        status = finish(pass, last, err);
        if (status == GI_OK) tell_levels(pass);
        *done = status == GI_OK;
    }
    return status;
}

static gi_status run(gi_pass *pass, goal last, gi_error *err) {
    gi_error why = {.status = GI_OK};
    gi_status status;
    bool done = false;
    if (!pass->source.data) pass->source = pass->in;
    do status = step(pass, &last, &done, &why);
    while ((status == GI_OK && !done) || (status == GI_ERR_DEVICE_MEMORY && relieve(pass, &why)));
    if (status != GI_OK && err) *err = why;
    return status;
}

gi_status gi_pass_measure(gi_pass *pass, gi_histogram *histogram, gi_error *err) {
    return run(pass, (goal){.count = true, .histogram = histogram}, err);
}

// True when there is nothing to compute, so that the decoded rows are the result.
static bool all_identity(const gi_plan *plan) {
    for (int i = 0; i < plan->segment_count; i++)
        if (!gi_segment_is_identity(&plan->segments[i])) return false;
    return true;
}

static gi_status emit_input(gi_pass *pass, gi_encoder *encoder, gi_error *err) {
    if (gi_stopped(pass->stop)) return gi_fail(err, GI_ERR_CANCELLED, "interrupted");
    return gi_encoder_rows(encoder, &pass->in, err);
}

gi_status gi_pass_store(gi_pass *pass, const gi_view *image, gi_error *err) {
    if (!all_identity(pass->plan)) return run(pass, (goal){.store = image}, err);
    copy_rows(&pass->in, image);
    return GI_OK;
}

gi_status gi_pass_emit(gi_pass *pass, gi_encoder *encoder, gi_error *err) {
    if (all_identity(pass->plan)) return emit_input(pass, encoder, err);
    return run(pass, (goal){.encoder = encoder}, err);
}

void gi_pass_free(gi_pass *pass) {
    free(pass->stored);
    pass->stored = NULL;
    pass->source.data = NULL;
}
