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

static void cover(void **state) {
    (void)state;
    gi_cover c = {.sum_ms = 0};
    gi_cover_add(&c, 10, 12);
    gi_cover_add(&c, 20, 25);
    gi_cover_add(&c, 5, 6);
    assert_true(gi_cover_ms(&c) == 8 && c.count == 3);
    gi_cover_add(&c, 11, 21); // meets two
    assert_true(gi_cover_ms(&c) == 16 && c.count == 2);
    gi_cover_add(&c, 13, 14); // in one
    gi_cover_add(&c, 25, 26); // touches one
    gi_cover_add(&c, 30, 30); // is nothing
    gi_cover_add(&c, 40, 39);
    assert_true(gi_cover_ms(&c) == 17 && c.count == 2);
    gi_cover_add(&c, 0, 100);
    assert_true(gi_cover_ms(&c) == 100 && c.count == 1);
}

// Against a second for each of 5000, with intervals that come up to 30 places late.
static void cover_of_many(void **state) {
    (void)state;
    enum { SECONDS = 5000, MANY = 1500 };
    static char seconds[SECONDS];
    gi_cover c = {.sum_ms = 0};
    unsigned random = 1, sum = 0;
    for (int i = 0; i < MANY; i++) {
        random = random * 1664525 + 1013904223;
        unsigned begin = (unsigned)i * 3 + (random >> 10) % 90, end = begin + (random >> 20) % 8;
        gi_cover_add(&c, begin, end);
        memset(seconds + begin, 1, end - begin);
    }
    for (int i = 0; i < SECONDS; i++) sum += (unsigned)seconds[i];
    assert_true(gi_cover_ms(&c) == sum && c.behind_ms > 0);
}

static gi_device_event told;

static void take_event(void *context, const gi_device_event *event) {
    (void)context;
    told = *event;
}

static void devices(void **state) {
    (void)state;
    gi_timeline timeline;
    gi_timeline_init(&timeline);
    timeline.on_device = take_event;
    assert_int_equal(gi_timeline_add_devices(&timeline, 2, NULL), GI_OK);
    gi_timeline_device(&timeline, &(gi_device_event){{GI_DEVICE_UPLOAD, 0, 10, 12}, 1, 0, 5});
    gi_timeline_device(&timeline, &(gi_device_event){{GI_DEVICE_UPLOAD, 1, 11, 14}, 1, 0, 6});
    gi_timeline_device(&timeline, &(gi_device_event){{GI_DEVICE_KERNELS, 0, 12, 15}, 1, 0, 5});
    gi_timeline_device(&timeline, &(gi_device_event){{GI_DEVICE_UPLOAD, 0, 0, 90}, 2, 0, 5}); // no such device
    gi_timeline_device(NULL, &told);
    assert_true(told.span.work == GI_DEVICE_KERNELS && told.device == 1 && told.item == 5);
    const gi_device_record *device = &timeline.devices[1];
    const gi_device_time *upload = &device->works[GI_DEVICE_UPLOAD];
    assert_true(upload->spans == 2 && upload->busy_ms == 5 && gi_cover_ms(&upload->wall) == 4);
    assert_true(device->all.spans == 3 && gi_cover_ms(&device->all.wall) == 5);
    assert_true(timeline.devices[0].all.spans == 0 && device->works[GI_DEVICE_DOWNLOAD].spans == 0);
    assert_string_equal(gi_device_work_name(GI_DEVICE_DOWNLOAD), "download");
    gi_timeline_destroy(&timeline);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_lanes),     cmocka_unit_test(without_a_timeline),
                                       cmocka_unit_test(names),         cmocka_unit_test(cover),
                                       cmocka_unit_test(cover_of_many), cmocka_unit_test(devices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
