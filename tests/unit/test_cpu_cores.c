// Cores by control-group quota, from made-up hierarchies; and the instruction set's override.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/simd.h"
#include "cpu/backend_cpu.h"
#include "cpu/cores.h"

static char folder[] = "/tmp/gpuimg-cores-XXXXXX";

static int setup(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static void path_in(char *path, size_t size, const char *name) { snprintf(path, size, "%s/%s", folder, name); }

static void make_folder(const char *name) {
    char path[256];
    path_in(path, sizeof path, name);
    mkdir(path, 0777);
}

static void make_file(const char *name, const char *text) {
    char path[256];
    path_in(path, sizeof path, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void remove_file(const char *name) {
    char path[256];
    path_in(path, sizeof path, name);
    remove(path);
}

static const char *const made[] = {"membership",
                                   "cpu.max",
                                   "a/b/cpu.max",
                                   "a/cpu.max",
                                   "cpu/x/cpu.cfs_quota_us",
                                   "cpu/x/cpu.cfs_period_us",
                                   "cpu/cpu.cfs_quota_us",
                                   "cpu/cpu.cfs_period_us",
                                   "a/b",
                                   "a",
                                   "cpu/x",
                                   "cpu"};

static void remove_all(void) {
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) remove_file(made[i]);
}

static int teardown(void **state) {
    (void)state;
    remove_all();
    return rmdir(folder);
}

static int clean(void **state) {
    (void)state;
    remove_all();
    make_folder("a");
    make_folder("a/b");
    make_folder("cpu");
    make_folder("cpu/x");
    return 0;
}

static int cores(void) {
    char membership[256];
    path_in(membership, sizeof membership, "membership");
    return gi_cgroup_cores(membership, folder);
}

static void version_2_takes_the_smallest_on_the_way_up(void **state) {
    (void)state;
    make_file("membership", "0::/a/b\n");
    assert_int_equal(cores(), 0);
    make_file("a/b/cpu.max", "max 100000\n");
    assert_int_equal(cores(), 0);
    make_file("a/cpu.max", "250000 100000\n");
    assert_int_equal(cores(), 3); // 2.5, rounded up
    make_file("cpu.max", "400000 100000\n");
    assert_int_equal(cores(), 3);
    make_file("a/b/cpu.max", "10000 100000\n");
    assert_int_equal(cores(), 1);
}

static void version_2_at_the_root(void **state) {
    (void)state;
    make_file("membership", "0::/\n");
    make_file("cpu.max", "200000 100000\n");
    assert_int_equal(cores(), 2);
}

static void version_1(void **state) {
    (void)state;
    make_file("membership", "12:pids:/x\n4:cpuset:/x\n3:cpuacct,cpu:/x\n1:name=systemd:/x\n");
    make_file("cpu/x/cpu.cfs_period_us", "50000\n");
    make_file("cpu/x/cpu.cfs_quota_us", "-1\n");
    assert_int_equal(cores(), 0);
    make_file("cpu/x/cpu.cfs_quota_us", "200000\n");
    assert_int_equal(cores(), 4);
}

static void nonsense_is_no_quota(void **state) {
    (void)state;
    static const char *const memberships[] = {"",        "\n",           "::", "0", "0:", "0::", "0::/nowhere\n",
                                              "3:cpu\n", "3:cpuset:/x\n"};
    make_file("a/cpu.max", "200000 100000\n");
    for (size_t i = 0; i < sizeof memberships / sizeof memberships[0]; i++) {
        make_file("membership", memberships[i]);
        assert_int_equal(cores(), 0);
    }
    static const char *const quotas[] = {"", "max", "100000", "100000 0", "-5 100000", "x y", "0 100000"};
    make_file("membership", "0::/a\n");
    for (size_t i = 0; i < sizeof quotas / sizeof quotas[0]; i++) {
        make_file("a/cpu.max", quotas[i]);
        assert_int_equal(cores(), 0);
    }
    assert_int_equal(gi_cgroup_cores("/nonexistent/cgroup", folder), 0);
}

static void at_least_one_core(void **state) {
    (void)state;
    long configured = sysconf(_SC_NPROCESSORS_CONF);
    assert_in_range((uintmax_t)gi_cpu_cores(), 1, (uintmax_t)configured);
}

// The level that a fresh process takes with GPUIMG_SIMD set to `name`.
static gi_simd level_under(const char *name) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("GPUIMG_SIMD", name, 1);
        _exit((int)gi_simd_level());
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return (gi_simd)WEXITSTATUS(status);
}

static void environment_lowers_the_level(void **state) {
    (void)state;
    gi_simd best = level_under("");
    assert_int_equal(level_under("portable"), GI_SIMD_PORTABLE);
    assert_int_equal(level_under("avx2"), best >= GI_SIMD_AVX2 ? GI_SIMD_AVX2 : best);
    assert_int_equal(level_under("avx512"), best);
    assert_int_equal(level_under("nonsense"), best);
    assert_int_equal(gi_simd_force(GI_SIMD_AVX512), best);
    assert_int_equal(gi_simd_force(GI_SIMD_PORTABLE), GI_SIMD_PORTABLE);
    assert_int_equal(gi_simd_level(), GI_SIMD_PORTABLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(version_2_takes_the_smallest_on_the_way_up, clean),
        cmocka_unit_test_setup(version_2_at_the_root, clean),
        cmocka_unit_test_setup(version_1, clean),
        cmocka_unit_test_setup(nonsense_is_no_quota, clean),
        cmocka_unit_test(at_least_one_core),
        cmocka_unit_test(environment_lowers_the_level),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
