// A crew does every task once, with any number of threads, and lets the caller work rather than wait.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/crew.h"

enum { TASKS = 500 };

typedef struct square {
    gi_task task; // the first member
    int number, result, times;
    pthread_t by;
} square;

static void run(gi_task *task) {
    square *self = (square *)task;
    self->result = self->number * self->number;
    self->times++;
    self->by = pthread_self();
}

static void every_task_once(void **state) {
    (void)state;
    static square squares[TASKS];
    for (int threads = 0; threads < 6; threads++) {
        gi_crew *crew = NULL;
        assert_int_equal(gi_crew_open(threads, &crew, NULL), GI_OK);
        assert_in_range(gi_crew_threads(crew), 0, threads);
        for (int i = 0; i < TASKS; i++) squares[i] = (square){.task = {.run = run}, .number = i};
        for (int i = 0; i < TASKS; i++) {
            gi_crew_give(crew, &squares[i].task);
            if (i >= 3) gi_crew_wait(crew, &squares[i - 3].task);
        }
        for (int i = TASKS - 3; i < TASKS; i++) gi_crew_wait(crew, &squares[i].task);
        gi_crew_close(crew);
        for (int i = 0; i < TASKS; i++) {
            assert_int_equal(squares[i].times, 1);
            assert_int_equal(squares[i].result, i * i);
        }
    }
    gi_crew_close(NULL);
}

static void without_threads_the_caller_works(void **state) {
    (void)state;
    gi_crew *crew = NULL;
    square one = {.task = {.run = run}, .number = 3};
    assert_int_equal(gi_crew_open(0, &crew, NULL), GI_OK);
    assert_int_equal(gi_crew_threads(crew), 0);
    gi_crew_give(crew, &one.task);
    assert_int_equal(one.times, 0);
    gi_crew_wait(crew, &one.task);
    assert_int_equal(one.result, 9);
    assert_true(pthread_equal(one.by, pthread_self()));
    gi_crew_wait(crew, &one.task); // a second time changes nothing
    assert_int_equal(one.times, 1);
    gi_crew_close(crew);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_task_once),
                                       cmocka_unit_test(without_threads_the_caller_works)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
