#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/pool.h"

static void made_and_lent(void **state) {
    (void)state;
    gi_pool pool;
    int things[2];
    gi_pool_init(&pool, 2);
    assert_null(gi_pool_try(&pool));
    assert_null(gi_pool_take(&pool)); // to be made
    gi_pool_give(&pool, &things[0]);
    assert_ptr_equal(gi_pool_take(&pool), &things[0]);
    assert_null(gi_pool_take(&pool));
    gi_pool_less(&pool); // it could not be
    assert_null(gi_pool_try(&pool));
    gi_pool_add(&pool, &things[1]);
    assert_int_equal(pool.there, 2);
    assert_ptr_equal(gi_pool_try(&pool), &things[1]);
    gi_pool_give(&pool, &things[1]);
    gi_pool_give(&pool, &things[0]);
    assert_ptr_equal(gi_pool_take(&pool), &things[0]);
    assert_ptr_equal(gi_pool_take(&pool), &things[1]);
    assert_null(gi_pool_try(&pool));
    gi_pool_end(&pool);
}

enum { THREADS = 8, ROUNDS = 2000, MOST = 3 };

typedef struct shared {
    gi_pool pool;
    int things[MOST];
    int made;   // under the pool's limit alone
    int in_use; // atomically
    int worst;  // seen, about
} shared;

static void *borrow(void *context) {
    shared *s = context;
    for (int i = 0; i < ROUNDS; i++) {
        int *thing = gi_pool_take(&s->pool);
        if (!thing && i % 7 == 0) {
            gi_pool_less(&s->pool);
            continue;
        }
        if (!thing) thing = &s->things[__atomic_fetch_add(&s->made, 1, __ATOMIC_SEQ_CST)];
        const int now = __atomic_add_fetch(&s->in_use, 1, __ATOMIC_SEQ_CST);
        if (now > s->worst) s->worst = now;
        ++*thing; // nobody else has it
        __atomic_sub_fetch(&s->in_use, 1, __ATOMIC_SEQ_CST);
        gi_pool_give(&s->pool, thing);
    }
    return NULL;
}

static void among_threads(void **state) {
    (void)state;
    shared s = {.made = 0};
    pthread_t threads[THREADS];
    gi_pool_init(&s.pool, MOST);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, borrow, &s), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert_true(s.made <= MOST && s.worst <= MOST);
    assert_int_equal(s.pool.there, s.made);
    int uses = 0, idle = 0;
    for (int *thing; (thing = gi_pool_try(&s.pool)); idle++) uses += *thing;
    assert_int_equal(idle, s.made);
    assert_true(uses > THREADS * ROUNDS * 6 / 7 - THREADS && uses <= THREADS * ROUNDS);
    gi_pool_end(&s.pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(made_and_lent), cmocka_unit_test(among_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
