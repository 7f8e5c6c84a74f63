#include "run/pass.h"

#include <stdlib.h>
#include <string.h>

#include "core/large.h"
#include "cuda/trace.h"

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

static void gate_enter(gi_gate *gate, gi_lap *lap) {
    gi_lap_leave(lap); // a wait is no work
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
        gi_window_place place = {pass->plan->in.height, in.y, out.y};
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

// True when the slot holds what the band is made of: after the counting of an image in one band nothing is uploaded or
// done again.
static bool is_held(const gi_pass *pass, const band *b) {
    return pass->held.count > 0 && pass->held_at >= pass->from && pass->held_at <= b->to &&
           same_rows(pass->held, gi_rows_needed(pass->plan, pass->held_at, b->to, b->rows));
}

// Copies between host and device; what the CPU does in their place is part of its work.
static void enter_transfer(gi_pass *pass, gi_phase phase) {
    gi_lap_enter(pass->lap, pass->bands.uploads ? phase : GI_PHASE_KERNELS);
}

// Brings the slot to hold the band. `input`: what it is made of, unless the slot holds that.
static gi_status load(gi_pass *pass, const band *b, const gi_view *input, gi_error *err) {
    const gi_backend_ops *ops = pass->slot->ops;
    const int to = b->to, last = maker(pass->plan, pass->from, to);
    gi_status status = GI_OK;
    if (input->data) {
        pass->held = gi_rows_needed(pass->plan, pass->from, to, b->rows);
        pass->held_at = pass->from;
        enter_transfer(pass, GI_PHASE_UPLOAD);
        status = ops->upload(pass->slot, input, err);
    }
    gi_lap_enter(pass->lap, GI_PHASE_KERNELS);
    while (pass->held_at < to && status == GI_OK) {
        gi_rows next = gi_rows_needed(pass->plan, pass->held_at + 1, to, b->rows);
        if (b->target.data && ops->aim && pass->held_at == last) ops->aim(pass->slot, &b->target);
        status = apply(pass, pass->held_at, pass->held, next, err);
        pass->held = next;
        pass->held_at++;
    }
    return status;
}

// What is done with each band of a leg's result.
typedef struct goal {
    bool count;              // into the slot's counts
    const gi_point *through; // ... as this makes it; NULL: as it is
    gi_histogram *histogram; // ... and on into this, band by band; NULL: they stay there, for all bands
    const gi_view *store;    // rows to their place in this image
    gi_encoder *encoder;
    const gi_jpeg_form *form; // the slot encodes it, into ...
    gi_bytes *made;
} goal;

static bool wants_rows(const goal *to_do) { return to_do->store || to_do->encoder; }

// Bands whose rows are on their way back from the slot, the oldest first, each in the lane after the one before.
typedef struct flight {
    const goal *to_do;
    int lanes;      // that may be in use
    uint32_t *done; // rows of the leg's result from its first that are done
    band bands[GI_MAX_LANES];
    int oldest, count; // lanes
} flight;

// A gate that lets few through is for devices that can take no more: then a slot has one band there at a time. So it
// has where the slot's counts are those of one band.
static int lanes_of(const gi_pass *pass, const goal *to_do) {
    const gi_backend_ops *ops = pass->slot->ops;
    if (!ops->use_lane || !ops->send || pass->gate->limited || to_do->histogram) return 1;
    // Rows that are decoded come slower than they go: a third lane would only keep the encoder waiting.
    return pass->source.decoder && ops->lanes > 2 ? 2 : ops->lanes;
}

static void use_lane(const gi_pass *pass, int lane) {
    if (pass->slot->ops->use_lane) pass->slot->ops->use_lane(pass->slot, lane);
}

// The band on the slot, up to where its rows, if they are wanted, are on their way to host memory.
static gi_status start_band(gi_pass *pass, const band *b, const gi_view *input, const goal *to_do, gi_error *err) {
    const gi_backend_ops *ops = pass->slot->ops;
    const bool first = to_do->histogram || b->rows.y == 0;
    gi_status status = load(pass, b, input, err);
    if (status == GI_OK && to_do->count) status = ops->measure(pass->slot, to_do->through, first, err);
    if (status == GI_OK && wants_rows(to_do) && ops->send) status = ops->send(pass->slot, err);
    if (status != GI_OK) pass->held.count = 0;
    return status;
}

static void copy_rows(const gi_view *from, const gi_view *to) {
    size_t row_bytes = gi_row_bytes(from->width, from->channels, from->sample);
    if (from->data == to->data) return; // made there
    for (uint32_t i = 0; i < from->height; i++) memcpy(gi_view_row(to, i), gi_view_row(from, i), row_bytes);
}

static gi_status deliver(gi_pass *pass, const goal *to_do, const band *b, const gi_view *rows, gi_error *err) {
    if (to_do->encoder) {
        gi_lap_enter(pass->lap, GI_PHASE_ENCODE);
        gi_trace_begin("encode");
        gi_status status = gi_encoder_rows(to_do->encoder, rows, err);
        gi_trace_end();
        return status;
    }
    if (to_do->store) copy_rows(rows, &b->target);
    return GI_OK;
}

// The whole result, encoded by the slot.
static gi_status encode(gi_pass *pass, const goal *to_do, gi_error *err) {
    gi_lap_enter(pass->lap, GI_PHASE_ENCODE);
    return pass->slot->ops->jpeg_encode(pass->slot, to_do->form, &to_do->made->data, &to_do->made->size, err);
}

// Waits for the oldest band and, where it is `wanted`, delivers it: then it is done.
static gi_status land(gi_pass *pass, flight *f, bool wanted, gi_error *err) {
    const band *b = &f->bands[f->oldest];
    gi_view rows = {.data = NULL};
    gi_status status = GI_OK;
    use_lane(pass, f->oldest);
    enter_transfer(pass, GI_PHASE_DOWNLOAD);
    if (f->to_do->histogram) status = pass->slot->ops->counts(pass->slot, f->to_do->histogram, err);
    if (status == GI_OK && wants_rows(f->to_do)) status = pass->slot->ops->download(pass->slot, &rows, err);
    if (status == GI_OK && f->to_do->form) status = encode(pass, f->to_do, err);
    gate_leave(pass->gate);
    f->oldest = (f->oldest + 1) % f->lanes;
    f->count--;
    // What the slot's codec does not do is still there.
    if (status != GI_OK && status != GI_ERR_UNSUPPORTED) pass->held.count = 0;
    if (status == GI_OK && wanted) status = deliver(pass, f->to_do, b, &rows, err);
    if (status == GI_OK && wanted) *f->done += b->rows.count;
    return status;
}

// Sends a band off, in a lane that is free.
static gi_status take_off(gi_pass *pass, flight *f, const band *b, const gi_view *input, gi_error *err) {
    const int lane = (f->oldest + f->count) % f->lanes;
    gate_enter(pass->gate, pass->lap);
    use_lane(pass, lane);
    gi_status status = start_band(pass, b, input, f->to_do, err);
    f->bands[lane] = *b;
    if (status == GI_OK)
        f->count++;
    else
        gate_leave(pass->gate);
    return status;
}

// What the band is made of, as soon as it may move in memory.
static gi_status take_rows(gi_pass *pass, const band *b, gi_view *input, gi_error *err) {
    const gi_backend_ops *ops = pass->slot->ops;
    gi_rows needed = gi_rows_needed(pass->plan, pass->from, b->to, b->rows);
    gi_status status = GI_OK;
    if (ops->release && gi_source_moves(&pass->source, needed)) status = ops->release(pass->slot, err);
    return status == GI_OK ? gi_source_rows(&pass->source, needed, input, err) : status;
}

// One band: off to the slot, or delivered at once where there is nothing to compute.
static gi_status do_band(gi_pass *pass, flight *f, gi_rows rows, gi_error *err) {
    const goal *to_do = f->to_do;
    band b = {.to = pass->leg.to, .rows = rows};
    gi_view input = {.data = NULL};
    gi_status status = GI_OK;
    if (to_do->store) b.target = gi_view_rows(to_do->store, rows.y, rows.count);
    if (!is_held(pass, &b)) status = take_rows(pass, &b, &input, err);
    if (status != GI_OK) return status;
    if (to_do->count || to_do->form || !input.data || maker(pass->plan, pass->from, b.to) >= 0)
        return take_off(pass, f, &b, &input, err);
    status = deliver(pass, to_do, &b, &input, err);
    if (status == GI_OK) *f->done += rows.count;
    return status;
}

// Sends bands off from the first row not done to the end, each as soon as there is a lane for it.
static gi_status send_bands(gi_pass *pass, flight *f, gi_error *err) {
    const uint32_t height = pass->plan->in.height;
    uint32_t next = *f->done;
    while (next < height) {
        if (gi_stopped(pass->stop)) return gi_fail(err, GI_ERR_CANCELLED, "interrupted");
        gi_rows rows = {next, pass->bands.rows < height - next ? pass->bands.rows : height - next};
        gi_status status = f->count == f->lanes ? land(pass, f, true, err) : GI_OK;
        if (status == GI_OK) status = do_band(pass, f, rows, err);
        if (status != GI_OK) return status;
        next += rows.count;
    }
    return GI_OK;
}

// True for failures that another slot may not have.
static bool is_the_slots(gi_status status) { return status == GI_ERR_DEVICE_MEMORY || status == GI_ERR_DEVICE; }

// From row *y of the leg's result to the end; on failure *y is the first row not done.
static gi_status do_bands(gi_pass *pass, uint32_t *y, const goal *to_do, gi_error *err) {
    flight f = {.to_do = to_do, .lanes = lanes_of(pass, to_do), .done = y};
    gi_status status = send_bands(pass, &f, err);
    // What is on its way lands in any case: it may be on its way to memory of the caller's.
    while (f.count > 0) {
        bool going = status == GI_OK || is_the_slots(status);
        gi_status landed = land(pass, &f, going, going && status == GI_OK ? err : NULL);
        if (landed != GI_OK && going) status = landed;
    }
    use_lane(pass, 0);
    return status;
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

// ---- legs ---------------------------------------------------------------------------------------------------------

static gi_status begin_leg(gi_pass *pass, gi_error *err) {
    gi_status status = GI_OK;
    if (pass->begun) return GI_OK;
    if (!pass->source.view.data && pass->held.count == 0 && pass->provide)
        status = pass->provide(pass->provide_context, err);
    if (status != GI_OK) return status;
    pass->leg = gi_leg_next(pass->plan, pass->from, pass->resolved, &pass->bands);
    pass->done = 0;
    pass->counts_lost = false;
    if (pass->leg.stored) {
        gi_shape shape = pass->plan->in;
        shape.channels = pass->plan->segments[pass->leg.to - 1].channels_out;
        size_t bytes = 0;
        status = gi_shape_bytes(shape, &bytes, err);
        if (status != GI_OK) return status;
        pass->target = gi_view_packed(gi_large_alloc(bytes), shape, GI_HOST);
        if (!pass->target.data) return gi_fail(err, GI_ERR_MEMORY, "out of memory for an image of %zu bytes", bytes);
    }
    pass->begun = true;
    return GI_OK;
}

// Forgets the leg in work: the next one begins at the same source.
static void drop_leg(gi_pass *pass) {
    free(pass->target.data);
    pass->target.data = NULL;
    pass->begun = false;
}

// Makes what the leg has stored the source.
static void take_stored(gi_pass *pass) {
    gi_source_close(&pass->source);
    free(pass->stored);
    pass->source = gi_source_of_image(&pass->target);
    pass->stored = pass->target.data;
    pass->target.data = NULL;
    pass->from = pass->leg.to;
    pass->held.count = 0; // a backend that reads its input where it lies may hold what is not there any more
}

static gi_status resolve(gi_pass *pass, const gi_segment *segment, gi_error *err) {
    gate_enter(pass->gate, pass->lap);
    gi_lap_enter(pass->lap, GI_PHASE_KERNELS);
    gi_status status =
        pass->slot->ops->resolve(pass->slot, segment->resolved, &segment->calls[0], &segment->point, err);
    gate_leave(pass->gate);
    if (status == GI_OK) pass->resolved = segment->resolved + 1;
    return status;
}

// One leg, from where it is.
static gi_status step(gi_pass *pass, const goal *last, gi_error *err) {
    gi_status status = begin_leg(pass, err);
    if (status != GI_OK) return status;
    const gi_leg leg = pass->leg;
    const gi_segment *barrier = leg.counted != GI_COUNTED_NOTHING ? &pass->plan->segments[leg.to] : NULL;
    gi_point luma;
    goal to_do = leg.last ? *last : (goal){.count = barrier != NULL && !pass->counts_lost};
    if (leg.stored) to_do.store = &pass->target;
    if (leg.counted == GI_COUNTED_LUMA) {
        luma = gi_luma_point(barrier->channels_in, pass->plan->in.sample);
        to_do.through = &luma;
    }
    status = do_bands(pass, leg.last ? &pass->delivered : &pass->done, &to_do, err);
    if (status == GI_OK && (leg.stored || leg.last)) tell_levels(pass);
    // Without the counts, the next leg makes them of what this one has stored.
    if (status == GI_OK && barrier && !pass->counts_lost) status = resolve(pass, barrier, err);
    if (status != GI_OK) return status;
    if (leg.stored) take_stored(pass);
    pass->begun = false;
    return GI_OK;
}

// True where rows that were decoded are gone.
static bool has_lost_rows(const gi_pass *pass) { return pass->source.view.data && gi_source_slides(&pass->source); }

// What was done of a leg stays done where its input is gone; otherwise it begins anew, perhaps as another one.
static void resume(gi_pass *pass) {
    pass->held.count = 0;
    if (has_lost_rows(pass))
        pass->counts_lost = true;
    else
        drop_leg(pass);
}

// Waits until the slot reads nothing of the source any more, which may then be changed or freed.
static void release(gi_pass *pass) {
    if (pass->slot->ops->release) pass->slot->ops->release(pass->slot, NULL);
}

// After GI_ERR_DEVICE_MEMORY: smaller bands, then the fallback. After GI_ERR_DEVICE: the fallback, where the rows that
// were on the device can be had again. False when there is nothing left to try.
static bool relieve(gi_pass *pass, const gi_error *why) {
    if (why->status == GI_ERR_DEVICE_MEMORY && pass->bands.rows > GI_BAND_ROWS_MIN) {
        pass->bands.rows = pass->bands.rows / 2 > GI_BAND_ROWS_MIN ? pass->bands.rows / 2 : GI_BAND_ROWS_MIN;
        resume(pass);
        return true;
    }
    gi_slot *slot = NULL;
    if (why->status == GI_ERR_DEVICE && has_lost_rows(pass)) return false;
    if (!pass->fallback || pass->fallback(pass->fallback_context, &slot, NULL) != GI_OK) return false;
    gi_say(pass->messages, GI_WARNING, pass->file, "%s; done on the CPU instead", why->text);
    pass->fallback = NULL;
    release(pass);
    pass->slot = slot;
    pass->bands.rows = pass->rows_most;
    pass->bands.uploads = false;
    // The new slot keeps no operations: those that the source does not have behind it are made again.
    pass->resolved = 0;
    for (int i = 0; i < pass->from; i++) pass->resolved += pass->plan->segments[i].counted != GI_COUNTED_NOTHING;
    resume(pass);
    return true;
}

static gi_status run(gi_pass *pass, goal last, gi_error *err) {
    gi_error why = {.status = GI_OK};
    gi_status status = GI_OK;
    if (pass->bands.rows > pass->plan->in.height) pass->bands.rows = pass->plan->in.height;
    pass->rows_most = pass->bands.rows;
    do status = step(pass, &last, &why);
    while ((status == GI_OK && !pass->leg.last) || (is_the_slots(status) && relieve(pass, &why) && !last.form));
    release(pass);
    if (status != GI_OK && err) *err = why;
    return status;
}

gi_status gi_pass_measure(gi_pass *pass, gi_histogram *histogram, gi_error *err) {
    return run(pass, (goal){.count = true, .histogram = histogram}, err);
}

gi_status gi_pass_store(gi_pass *pass, const gi_view *image, gi_error *err) {
    return run(pass, (goal){.store = image}, err);
}

gi_status gi_pass_emit(gi_pass *pass, gi_encoder *encoder, gi_error *err) {
    return run(pass, (goal){.encoder = encoder}, err);
}

gi_status gi_pass_decode(gi_pass *pass, const gi_jpeg_source *file, gi_error *err) {
    gate_enter(pass->gate, pass->lap);
    gi_lap_enter(pass->lap, GI_PHASE_DECODE);
    use_lane(pass, 0);
    gi_status status = pass->slot->ops->jpeg_decode(pass->slot, file, err);
    gate_leave(pass->gate);
    if (status != GI_OK) return status;
    pass->held = (gi_rows){0, pass->plan->in.height};
    pass->held_at = 0;
    return GI_OK;
}

gi_status gi_pass_encode(gi_pass *pass, const gi_jpeg_form *form, gi_bytes *made, gi_error *err) {
    gi_status status = run(pass, (goal){.form = form, .made = made}, err);
    if (status != GI_OK && pass->held.count == 0) resume(pass);
    return status;
}

void gi_pass_free(gi_pass *pass) {
    drop_leg(pass);
    gi_source_close(&pass->source);
    free(pass->stored);
    pass->stored = NULL;
}
