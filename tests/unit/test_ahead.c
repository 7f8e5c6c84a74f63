// Blocks made ahead: order, bounds, failures, an early end.
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/ahead.h"

typedef struct maker {
    uint32_t made;
    uint32_t fails_at;
    atomic_uint used, furthest; // blocks that were asked for; the most that were made ahead of them
} maker;

static gi_status make(void *context, void *block, gi_error *err) {
    maker *self = context;
    if (self->made == self->fails_at) return gi_fail(err, GI_ERR_FORMAT, "block %u", self->made);
    for (int i = 0; i < 25; i++) memcpy((uint8_t *)block + 4 * i, &self->made, 4);
    self->made++;
    unsigned ahead = self->made - atomic_load(&self->used);
    if (ahead > atomic_load(&self->furthest)) atomic_store(&self->furthest, ahead);
    return GI_OK;
}

static gi_ahead *open_ahead(maker *self, uint32_t blocks, int depth, bool threaded) {
    gi_ahead *ahead = NULL;
    gi_ahead_job job = {make, self, blocks, 100, depth, threaded};
    assert_int_equal(gi_ahead_open(&job, &ahead, NULL), GI_OK);
    return ahead;
}

static void check_block(const void *block, uint32_t number) {
    uint32_t expected[25];
    assert_int_equal((uintptr_t)block % 64, 0);
    for (int i = 0; i < 25; i++) expected[i] = number;
    assert_memory_equal(block, expected, sizeof expected);
}

static void in_order_and_bounded(void **state) {
    (void)state;
    for (int threaded = 0; threaded < 2; threaded++)
        for (int depth = 1; depth < 5; depth++)
            for (uint32_t blocks = 0; blocks < 200; blocks = 2 * blocks + 1) {
                maker self = {.fails_at = UINT32_MAX};
                void *block = NULL;
                gi_ahead *ahead = open_ahead(&self, blocks, depth, threaded != 0);
                for (uint32_t i = 0; i < blocks; i++) {
                    atomic_store(&self.used, i + 1);
                    assert_int_equal(gi_ahead_next(ahead, &block, NULL), GI_OK);
                    check_block(block, i);
                }
                assert_int_equal(gi_ahead_next(ahead, &block, NULL), GI_ERR_USAGE);
                gi_ahead_close(ahead);
                assert_true(atomic_load(&self.furthest) <= (unsigned)depth);
            }
}

static void failure_comes_in_its_place(void **state) {
    (void)state;
    for (int threaded = 0; threaded < 2; threaded++) {
        maker self = {.fails_at = 7};
        void *block = NULL;
        gi_error err = {.status = GI_OK};
        gi_ahead *ahead = open_ahead(&self, 20, 3, threaded != 0);
        for (uint32_t i = 0; i < 7; i++) {
            assert_int_equal(gi_ahead_next(ahead, &block, NULL), GI_OK);
            check_block(block, i);
        }
        for (int again = 0; again < 3; again++) {
            assert_int_equal(gi_ahead_next(ahead, &block, &err), GI_ERR_FORMAT);
            assert_string_equal(err.text, "block 7");
        }
        gi_ahead_close(ahead);
    }
}

static void closed_early(void **state) {
    (void)state;
    for (uint32_t used = 0; used < 4; used++) {
        maker self = {.fails_at = UINT32_MAX};
        void *block = NULL;
        gi_ahead *ahead = open_ahead(&self, 1000, 2, true);
        for (uint32_t i = 0; i < used; i++) assert_int_equal(gi_ahead_next(ahead, &block, NULL), GI_OK);
        gi_ahead_close(ahead);
    }
    gi_ahead_close(NULL);
}

static void too_large(void **state) {
    (void)state;
    gi_ahead *ahead = NULL;
    gi_ahead_job job = {make, NULL, 100, SIZE_MAX / 2, 4, true};
    assert_int_equal(gi_ahead_open(&job, &ahead, NULL), GI_ERR_MEMORY);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_order_and_bounded),
                                       cmocka_unit_test(failure_comes_in_its_place), cmocka_unit_test(closed_early),
                                       cmocka_unit_test(too_large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
