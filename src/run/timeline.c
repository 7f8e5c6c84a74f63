#include "run/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"

const char *gi_phase_name(gi_phase phase) {
    static const char *const names[GI_PHASE_COUNT] = {"decode", "upload", "kernels", "download",
                                                      "encode", "image",  "start"};
    return names[phase];
}

const char *gi_device_work_name(gi_device_work work) {
    static const gi_phase phases[GI_DEVICE_WORKS] = {GI_PHASE_UPLOAD, GI_PHASE_KERNELS, GI_PHASE_DOWNLOAD};
    return gi_phase_name(phases[work]);
}

void gi_timeline_init(gi_timeline *timeline) {
    memset(timeline, 0, sizeof *timeline);
    pthread_mutex_init(&timeline->mutex, NULL);
}

void gi_timeline_destroy(gi_timeline *timeline) {
    pthread_mutex_destroy(&timeline->mutex);
    free(timeline->devices);
    timeline->devices = NULL;
}

// With the mutex held.
static void begin(gi_timeline *timeline, gi_phase phase, double now_ms) {
    gi_phase_time *time = &timeline->phases[phase];
    if (time->active++ == 0) time->since_ms = now_ms;
}

// Likewise.
static void end(gi_timeline *timeline, const gi_span *span) {
    gi_phase_time *time = &timeline->phases[span->phase];
    time->spans++;
    time->busy_ms += span->end_ms - span->begin_ms;
    if (--time->active == 0) time->wall_ms += span->end_ms - time->since_ms;
    if (timeline->on_span) timeline->on_span(timeline->context, span);
}

gi_lap gi_lap_of(gi_timeline *timeline, int lane) {
    return (gi_lap){.timeline = timeline, .lane = lane, .phase = GI_PHASE_COUNT};
}

// `phase` GI_PHASE_COUNT: none.
static void change(gi_lap *lap, int phase) {
    if (!lap || !lap->timeline || lap->phase == phase) return;
    gi_timeline *timeline = lap->timeline;
    pthread_mutex_lock(&timeline->mutex);
    double now = gi_clock_ms();
    if (lap->phase != GI_PHASE_COUNT)
        end(timeline, &(gi_span){(gi_phase)lap->phase, lap->lane, lap->item, lap->begin_ms, now});
    if (phase != GI_PHASE_COUNT) begin(timeline, (gi_phase)phase, now);
    pthread_mutex_unlock(&timeline->mutex);
    lap->phase = phase;
    lap->begin_ms = now;
}

void gi_lap_enter(gi_lap *lap, gi_phase phase) { change(lap, (int)phase); }

void gi_lap_leave(gi_lap *lap) { change(lap, GI_PHASE_COUNT); }

double gi_lap_begin_image(gi_lap *lap, size_t item) {
    lap->item = item;
    if (!lap->timeline) return 0;
    pthread_mutex_lock(&lap->timeline->mutex);
    double now = gi_clock_ms();
    begin(lap->timeline, GI_PHASE_IMAGE, now);
    pthread_mutex_unlock(&lap->timeline->mutex);
    return now;
}

void gi_lap_end_image(gi_lap *lap, double begin_ms) {
    gi_lap_leave(lap);
    if (!lap->timeline) return;
    pthread_mutex_lock(&lap->timeline->mutex);
    end(lap->timeline, &(gi_span){GI_PHASE_IMAGE, lap->lane, lap->item, begin_ms, gi_clock_ms()});
    pthread_mutex_unlock(&lap->timeline->mutex);
}

// ---- devices ------------------------------------------------------------------------------------------------------

static void fold_first(gi_cover *cover) {
    cover->sum_ms += cover->held[0].end_ms - cover->held[0].begin_ms;
    cover->behind_ms = cover->held[0].end_ms;
    cover->count--;
    memmove(&cover->held[0], &cover->held[1], sizeof cover->held[0] * (size_t)cover->count);
}

void gi_cover_add(gi_cover *cover, double begin_ms, double end_ms) {
    if (begin_ms < cover->behind_ms) begin_ms = cover->behind_ms;
    if (!(end_ms > begin_ms)) return;
    // Those that it meets, from `first` to before `last`, become one with it.
    int first = 0;
    while (first < cover->count && cover->held[first].end_ms < begin_ms) first++;
    int last = first;
    for (; last < cover->count && cover->held[last].begin_ms <= end_ms; last++) {
        if (cover->held[last].begin_ms < begin_ms) begin_ms = cover->held[last].begin_ms;
        if (cover->held[last].end_ms > end_ms) end_ms = cover->held[last].end_ms;
    }
    if (last == first && cover->count == GI_COVER_HELD) {
        fold_first(cover);
        gi_cover_add(cover, begin_ms, end_ms);
        return;
    }
    memmove(&cover->held[first + 1], &cover->held[last], sizeof cover->held[0] * (size_t)(cover->count - last));
    cover->count += 1 - (last - first);
    cover->held[first].begin_ms = begin_ms;
    cover->held[first].end_ms = end_ms;
}

double gi_cover_ms(const gi_cover *cover) {
    double sum_ms = cover->sum_ms;
    for (int i = 0; i < cover->count; i++) sum_ms += cover->held[i].end_ms - cover->held[i].begin_ms;
    return sum_ms;
}

gi_status gi_timeline_add_devices(gi_timeline *timeline, int count, gi_error *err) {
    timeline->devices = calloc((size_t)count, sizeof *timeline->devices);
    timeline->device_count = timeline->devices ? count : 0;
    return timeline->devices ? GI_OK : gi_fail(err, GI_ERR_MEMORY, "out of memory");
}

static void add_device_span(gi_device_time *time, const gi_device_span *span) {
    time->spans++;
    time->busy_ms += span->end_ms - span->begin_ms;
    gi_cover_add(&time->wall, span->begin_ms, span->end_ms);
}

void gi_timeline_device(gi_timeline *timeline, const gi_device_event *event) {
    if (!timeline || event->device >= timeline->device_count) return;
    pthread_mutex_lock(&timeline->mutex);
    gi_device_record *device = &timeline->devices[event->device];
    if (device->all.spans == 0 || event->span.begin_ms < device->first_ms) device->first_ms = event->span.begin_ms;
    add_device_span(&device->works[event->span.work], &event->span);
    add_device_span(&device->all, &event->span);
    if (timeline->on_device) timeline->on_device(timeline->context, event);
    pthread_mutex_unlock(&timeline->mutex);
}
