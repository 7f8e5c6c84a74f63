// Spans of a batch's work: their sums, and the time in which there was at least one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "run/timeline.h"

enum { SPANS_MOST = 16 };
static gi_span spans[SPANS_MOST];
static int span_count;

static void take_span(void *context, const gi_span *span) {
    (void)context;
    assert_true(span_count < SPANS_MOST);
    spans[span_count++] = *span;
}

static void sleep_ms(long ms) { nanosleep(&(struct timespec){0, ms * 1000000}, NULL); }

static void two_lanes(void **state) {
    (void)state;
    gi_timeline timeline;
    gi_timeline_init(&timeline);
    timeline.on_span = take_span;
    gi_lap a = gi_lap_of(&timeline, 0), b = gi_lap_of(&timeline, 1);
    double image = gi_lap_begin_image(&a, 7);
    gi_lap_enter(&a, GI_PHASE_DECODE);
    sleep_ms(5);
    gi_lap_enter(&b, GI_PHASE_DECODE);
    sleep_ms(5);
    gi_lap_enter(&a, GI_PHASE_DECODE); // in it already: one span
    gi_lap_enter(&a, GI_PHASE_ENCODE);
    sleep_ms(5);
    gi_lap_leave(&b);
    gi_lap_leave(&b);
    sleep_ms(5);
    gi_lap_end_image(&a, image);
    assert_int_equal(span_count, 4);
    const gi_phase_time *decode = &timeline.phases[GI_PHASE_DECODE], *encode = &timeline.phases[GI_PHASE_ENCODE];
    assert_int_equal(decode->spans, 2);
    assert_true(decode->wall_ms >= 15 && decode->busy_ms >= 20 && decode->busy_ms > decode->wall_ms);
    assert_true(encode->spans == 1 && encode->wall_ms == encode->busy_ms && encode->wall_ms >= 10);
    assert_int_equal(timeline.phases[GI_PHASE_KERNELS].spans, 0);
    assert_true(spans[0].phase == GI_PHASE_DECODE && spans[0].lane == 0 && spans[0].item == 7);
    assert_true(spans[1].phase == GI_PHASE_DECODE && spans[1].lane == 1);
    assert_true(spans[2].phase == GI_PHASE_ENCODE && spans[2].begin_ms == spans[0].end_ms);
    assert_true(spans[3].phase == GI_PHASE_IMAGE && spans[3].begin_ms <= spans[0].begin_ms);
    assert_true(spans[3].end_ms >= spans[2].end_ms);
    gi_timeline_destroy(&timeline);
}

static void without_a_timeline(void **state) {
    (void)state;
    gi_lap lap = gi_lap_of(NULL, 0), zero;
    memset(&zero, 0, sizeof zero);
    gi_lap_enter(NULL, GI_PHASE_DECODE);
    gi_lap_leave(NULL);
    gi_lap_enter(&lap, GI_PHASE_DECODE);
    gi_lap_enter(&zero, GI_PHASE_ENCODE);
    gi_lap_end_image(&lap, gi_lap_begin_image(&lap, 1));
    gi_lap_leave(&zero);
}

static void names(void **state) {
    (void)state;
    for (int p = 0; p < GI_PHASE_COUNT; p++) assert_non_null(gi_phase_name((gi_phase)p));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_lanes), cmocka_unit_test(without_a_timeline),
                                       cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
