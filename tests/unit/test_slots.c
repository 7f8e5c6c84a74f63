// Slots on loan: no more than there may be, spread over the devices, and what becomes of devices that fail.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "fake_backend.h"
#include "run/slots.h"

enum { DEVICES = 3 };
static fake_backend fakes[DEVICES];
static gi_backend *backends[DEVICES] = {&fakes[0].base, &fakes[1].base, &fakes[2].base};
static bool gone[DEVICES];
static gi_backend_ops ops;
static gi_error err;

static bool is_gone(gi_backend *backend, bool wait, gi_error *error) {
    (void)wait, (void)error;
    return gone[(fake_backend *)(void *)backend - fakes];
}

static gi_slots *open_slots(int count, int most) {
    const gi_slots_request request = {backends, count, most, 1};
    gi_slots *slots = NULL;
    assert_int_equal(gi_slots_open(&request, &slots, &err), GI_OK);
    return slots;
}

static int setup(void **state) {
    (void)state;
    for (int i = 0; i < DEVICES; i++) {
        fakes[i] = fake_backend_make();
        ops = *fakes[i].base.ops;
        ops.lost = is_gone;
        fakes[i].base.ops = &ops;
        gone[i] = false;
    }
    return 0;
}

static gi_loan take(gi_slots *slots) {
    gi_loan loan;
    assert_int_equal(gi_slots_take(slots, NULL, &loan, &err), GI_OK);
    assert_ptr_equal(loan.backend, backends[loan.device]);
    return loan;
}

static void least_loaded_first(void **state) {
    (void)state;
    gi_slots *slots = open_slots(DEVICES, 7);
    gi_loan loans[7];
    for (int i = 0; i < 7; i++) {
        loans[i] = take(slots);
        assert_int_equal(loans[i].device, i % DEVICES);
        assert_int_equal(loans[i].number, i / DEVICES);
    }
    gi_slots_give(slots, &loans[1]);
    assert_null(loans[1].slot);
    loans[1] = take(slots);
    assert_true(loans[1].device == 1 && loans[1].number == 0); // the same one again
    gi_slots_give(slots, &loans[2]);
    gi_slots_give(slots, &loans[5]);
    for (int i = 2; i <= 5; i += 3) loans[i] = take(slots);
    assert_true(loans[2].device == 2 && loans[5].device == 2);
    for (int i = 0; i < 7; i++) gi_slots_give(slots, &loans[i]);
    gi_slots_give(slots, &loans[0]); // of none
    assert_int_equal(fakes[0].slots + fakes[1].slots + fakes[2].slots, 7);
    gi_slots_close(slots);
    gi_slots_close(NULL);
}

typedef struct borrower {
    gi_slots *slots;
    atomic_int *out, *most;
    pthread_t thread;
} borrower;

static void *borrow(void *context) {
    borrower *b = context;
    for (int i = 0; i < 200; i++) {
        gi_loan loan;
        if (gi_slots_take(b->slots, NULL, &loan, NULL) != GI_OK) abort();
        int now = atomic_fetch_add(b->out, 1) + 1, most = atomic_load(b->most);
        while (now > most && !atomic_compare_exchange_weak(b->most, &most, now)) continue;
        atomic_fetch_sub(b->out, 1);
        gi_slots_give(b->slots, &loan);
    }
    return NULL;
}

static void no_more_than_there_may_be(void **state) {
    (void)state;
    atomic_int out = 0, most = 0;
    borrower borrowers[8];
    gi_slots *slots = open_slots(2, 3);
    for (int i = 0; i < 8; i++) {
        borrowers[i] = (borrower){slots, &out, &most, 0};
        assert_int_equal(pthread_create(&borrowers[i].thread, NULL, borrow, &borrowers[i]), 0);
    }
    for (int i = 0; i < 8; i++) pthread_join(borrowers[i].thread, NULL);
    gi_slots_close(slots);
    assert_in_range(most, 1, 3);
    assert_true(fakes[0].slots <= 3 && fakes[1].slots <= 3);
}

static void devices_that_fail(void **state) {
    (void)state;
    fakes[0].slots_max = 1; // the others have more
    gi_slots *slots = open_slots(2, 4);
    gi_loan loans[4];
    for (int i = 0; i < 4; i++) loans[i] = take(slots);
    assert_true(loans[0].device == 0 && loans[1].device == 1 && loans[2].device == 1 && loans[3].device == 1);
    gone[1] = true;
    assert_false(gi_slots_lost(slots));
    for (int i = 0; i < 4; i++) gi_slots_give(slots, &loans[i]);
    loans[0] = take(slots);
    assert_int_equal(loans[0].device, 0);
    gi_slots_give(slots, &loans[0]);
    gone[0] = true; // then it is said by whoever tries
    assert_true(gi_slots_lost(slots));
    loans[0] = take(slots);
    gi_slots_give(slots, &loans[0]);
    gi_slots_close(slots);
}

static void none_at_all(void **state) {
    (void)state;
    const gi_slots_request request = {backends, DEVICES, 2, 1};
    gi_slots *slots = NULL;
    for (int i = 0; i < DEVICES; i++) fakes[i].slots_max = 0;
    assert_int_equal(gi_slots_open(&request, &slots, &err), GI_ERR_DEVICE);
    assert_string_equal(err.text, "no more slots");
    gi_slots_close(slots);
}

static void a_stop_ends_the_wait(void **state) {
    (void)state;
    gi_stop stop = {0};
    gi_slots *slots = open_slots(1, 1);
    gi_loan loan = take(slots), none;
    atomic_store(&stop.drop, true);
    assert_int_equal(gi_slots_take(slots, &stop, &none, &err), GI_ERR_CANCELLED);
    assert_null(none.slot);
    gi_slots_give(slots, &loan);
    gi_slots_close(slots);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(least_loaded_first, setup), cmocka_unit_test_setup(no_more_than_there_may_be, setup),
        cmocka_unit_test_setup(devices_that_fail, setup), cmocka_unit_test_setup(none_at_all, setup),
        cmocka_unit_test_setup(a_stop_ends_the_wait, setup)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
