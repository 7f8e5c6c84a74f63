#include "run/timeline.h"

#include <string.h>

#include "core/clock.h"

const char *gi_phase_name(gi_phase phase) {
    static const char *const names[GI_PHASE_COUNT] = {"decode", "upload", "kernels", "download", "encode", "image"};
    return names[phase];
}

void gi_timeline_init(gi_timeline *timeline) {
    memset(timeline, 0, sizeof *timeline);
    pthread_mutex_init(&timeline->mutex, NULL);
}

void gi_timeline_destroy(gi_timeline *timeline) { pthread_mutex_destroy(&timeline->mutex); }

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
