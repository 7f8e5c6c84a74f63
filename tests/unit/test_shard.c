// Shares of a listing: the hash stays what it is, every name has one share, and Slurm's variables are read with care.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/shard_option.h"

static gi_error err;

// By a program of its own in Python.
static void the_hash_never_changes(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint32_t of_1000, of_7;
    } known[] = {{"", 343, 2},
                 {"-", 578, 3},
                 {"a.png", 799, 7},
                 {"sub/d.png", 946, 1},
                 {"IMG_0001.JPG", 816, 1},
                 {"\303\274\342\202\254.png", 137, 2},
                 {"\377\376.png", 136, 5}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(gi_shard_of_name(known[i].name, 1000), known[i].of_1000);
        assert_int_equal(gi_shard_of_name(known[i].name, 7), known[i].of_7);
        assert_int_equal(gi_shard_of_name(known[i].name, 1), 1);
    }
}

// Names that count, as cameras give them, spread evenly: within five standard deviations.
static void shares_are_even(void **state) {
    (void)state;
    enum { NAMES = 20000, MOST = 16 };
    for (uint32_t count = 2; count <= MOST; count++) {
        int names[MOST + 1] = {0};
        for (int i = 0; i < NAMES; i++) {
            char name[32];
            snprintf(name, sizeof name, "IMG_%05d.JPG", i);
            names[gi_shard_of_name(name, count)]++;
        }
        int mean = NAMES / (int)count;
        for (uint32_t share = 1; share <= count; share++)
            assert_true((names[share] - mean) * (names[share] - mean) < 25 * mean);
    }
}

static void values(void **state) {
    (void)state;
    gi_shard shard;
    assert_true(gi_shard_parse("1/1", &shard) && shard.index == 1 && shard.count == 1);
    assert_true(gi_shard_parse("1000000/1000000", &shard) && shard.index == 1000000);
    static const char *const bad[] = {"",
                                      "1",
                                      "/",
                                      "1/",
                                      "/2",
                                      "0/2",
                                      "3/2",
                                      "1/0",
                                      "-1/2",
                                      "1/2/",
                                      "1/2 3",
                                      " 1/2",
                                      "1/+2",
                                      "0x1/2",
                                      "1/1000001",
                                      "a/b",
                                      "auto",
                                      "1.0/2",
                                      "4294967297/4294967298",
                                      "18446744073709551617/18446744073709551618"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(gi_shard_parse(bad[i], &shard));
}

static void set(const char *const *variables) {
    static const char *const all[] = {"SLURM_ARRAY_TASK_ID",  "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
                                      "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP",  "SLURM_PROCID",
                                      "SLURM_NTASKS"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) unsetenv(all[i]);
    for (; *variables; variables += 2) {
        char name[64];
        snprintf(name, sizeof name, "SLURM_%s", variables[0]);
        setenv(name, variables[1], 1);
    }
}

#define SET(...) set((const char *const[]){__VA_ARGS__, NULL})

static void assert_auto(uint32_t index, uint32_t count) {
    gi_shard shard;
    assert_int_equal(gi_shard_choose("auto", &shard, &err), GI_OK);
    assert_int_equal(shard.index, index);
    assert_int_equal(shard.count, count);
}

static void assert_refused(const char *reason) {
    gi_shard shard;
    assert_int_equal(gi_shard_choose("auto", &shard, &err), GI_ERR_USAGE);
    assert_non_null(strstr(err.text, reason));
}

static void by_slurm(void **state) {
    (void)state;
    gi_shard shard;
    SET(NULL);
    assert_refused("this is no job of Slurm's");
    assert_int_equal(gi_shard_choose(NULL, &shard, &err), GI_OK);
    assert_int_equal(shard.count, 0);
    SET("PROCID", "0", "NTASKS", "3");
    assert_auto(1, 3);
    SET("PROCID", "3", "NTASKS", "3");
    assert_refused("SLURM_PROCID and SLURM_NTASKS do not make a share");
    SET("PROCID", "x", "NTASKS", "3");
    assert_refused("do not make a share");
    SET("PROCID", "1");
    assert_refused("this is no job of Slurm's");
    // A step within a task of an array: the array counts.
    SET("ARRAY_TASK_ID", "7", "ARRAY_TASK_COUNT", "4", "ARRAY_TASK_MIN", "5", "ARRAY_TASK_MAX", "8", "PROCID", "0",
        "NTASKS", "1");
    assert_auto(3, 4);
    SET("ARRAY_TASK_ID", "6", "ARRAY_TASK_COUNT", "4", "ARRAY_TASK_MIN", "0", "ARRAY_TASK_MAX", "6", "ARRAY_TASK_STEP",
        "2");
    assert_auto(4, 4);
    SET("ARRAY_TASK_ID", "0", "ARRAY_TASK_COUNT", "3", "ARRAY_TASK_MIN", "0", "ARRAY_TASK_MAX", "5", "ARRAY_TASK_STEP",
        "1");
    assert_refused("not evenly spaced");
    SET("ARRAY_TASK_ID", "5", "ARRAY_TASK_COUNT", "3", "ARRAY_TASK_MIN", "1");
    assert_refused("do not make a share");
    SET("ARRAY_TASK_ID", "5", "ARRAY_TASK_MIN", "1");
    assert_refused("but not its COUNT and MIN");
    SET("ARRAY_TASK_ID", "1", "ARRAY_TASK_COUNT", "99999999999999999999", "ARRAY_TASK_MIN", "1");
    assert_refused("do not make a share");
    SET("ARRAY_TASK_ID", "99999999999999999999", "ARRAY_TASK_COUNT", "2", "ARRAY_TASK_MIN", "1", "ARRAY_TASK_STEP",
        "0");
    assert_refused("not evenly spaced");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_hash_never_changes), cmocka_unit_test(shares_are_even),
                                       cmocka_unit_test(values), cmocka_unit_test(by_slurm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
