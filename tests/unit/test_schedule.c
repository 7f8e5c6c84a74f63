// Which images are begun first, and with how many threads.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/schedule.h"
#include "temp_dir.h"

enum { FILES = 20 };
static gi_item items[FILES];
static gi_item_list list;
static gi_schedule schedule;

static void put(int index, long bytes) {
    char name[16];
    snprintf(name, sizeof name, "%02d", index);
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), bytes), 0);
    fclose(file);
    free(items[index].in);
    items[index] = (gi_item){.in = strdup(name)};
}

static void put_all(long bytes) {
    for (int i = 0; i < FILES; i++) put(i, bytes);
    list = (gi_item_list){.items = items, .count = FILES};
}

static void free_all(void) {
    gi_schedule_free(&schedule);
    for (int i = 0; i < FILES; i++) free(items[i].in);
    memset(items, 0, sizeof items);
}

// The rest of them, in the order of the list, with threads as they are.
static void assert_rest(const char *without) {
    size_t index = 0;
    for (size_t i = 0; i < FILES; i++) {
        int threads = 1;
        if (strchr(without, (char)('a' + i))) continue;
        assert_true(gi_schedule_next(&schedule, &list, &index, &threads));
        assert_true(index == i && threads == 1);
    }
    int threads = 1;
    assert_false(gi_schedule_next(&schedule, &list, &index, &threads));
}

static void alike(void **state) {
    (void)state;
    put_all(1000);
    assert_int_equal(gi_schedule_make(&list, 16, 1, &schedule, NULL), GI_OK);
    assert_rest("");
    free_all();
}

static void large_ones_first(void **state) {
    (void)state;
    size_t index = 0;
    int threads = 1;
    put_all(1000);
    put(19, 30000); // of 58000: 4.1 of 8 cores
    put(7, 10000);  // 1.4 of them
    assert_int_equal(gi_schedule_make(&list, 8, 1, &schedule, NULL), GI_OK);
    assert_true(gi_schedule_next(&schedule, &list, &index, &threads));
    assert_true(index == 19 && threads == 5);
    threads = 1;
    assert_true(gi_schedule_next(&schedule, &list, &index, &threads));
    assert_true(index == 7 && threads == 2);
    assert_rest("ht");
    free_all();
}

static void one_that_is_all(void **state) {
    (void)state;
    size_t index = 0;
    int threads = 1;
    put_all(0);
    put(3, 5);
    free(items[4].in);
    items[4].in = strdup("not there");
    free(items[5].in);
    items[5].in = NULL; // standard input
    assert_int_equal(gi_schedule_make(&list, 8, 1, &schedule, NULL), GI_OK);
    assert_true(gi_schedule_next(&schedule, &list, &index, &threads));
    assert_true(index == 3 && threads == 8);
    assert_rest("d");
    free_all();
}

// Where a worker has all cores, or there is nothing to weigh, the list is as it is.
static void nothing_to_weigh(void **state) {
    (void)state;
    put_all(1000);
    put(9, 1000000);
    assert_int_equal(gi_schedule_make(&list, 8, 8, &schedule, NULL), GI_OK);
    assert_rest("");
    gi_schedule_free(&schedule);
    put_all(0);
    assert_int_equal(gi_schedule_make(&list, 8, 1, &schedule, NULL), GI_OK);
    assert_rest("");
    free_all();
}

int main(void) {
    const struct CMUnitTest tests[] = {TEMP_DIR_TEST(alike), TEMP_DIR_TEST(large_ones_first),
                                       TEMP_DIR_TEST(one_that_is_all), TEMP_DIR_TEST(nothing_to_weigh)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
