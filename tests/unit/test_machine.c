// What the system tells about memory, and a limit to what a process takes of it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/machine.h"

enum { MIB = 1 << 20 };

static bool can_map(size_t bytes) {
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return false;
    munmap(data, bytes);
    return true;
}

static void test_memory_free(void **state) {
    (void)state;
    const uint64_t bytes = gi_memory_free();
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    if (bytes == 0) skip(); // no Linux
    assert_in_range(bytes, 1, (uint64_t)pages * (uint64_t)page_bytes);
}

// False under an emulator of user programs, which would be limited itself.
static bool limits_are_kept(void) {
    struct rlimit before, little = {.rlim_cur = MIB};
    if (getrlimit(RLIMIT_DATA, &before) != 0) return false;
    little.rlim_max = before.rlim_max;
    if (setrlimit(RLIMIT_DATA, &little) != 0) return false;
    const bool kept = !can_map(256 * (size_t)MIB);
    return setrlimit(RLIMIT_DATA, &before) == 0 && kept;
}

// In a process of its own, which the limit stays with.
static void test_memory_limit(void **state) {
    (void)state;
    if (gi_memory_free() == 0 || !can_map(256 * (size_t)MIB) || !limits_are_kept()) skip();
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        gi_memory_limit(64 * MIB);
        const bool little = can_map(32 * (size_t)MIB), much = can_map(256 * (size_t)MIB);
        gi_memory_limit(512 * (uint64_t)MIB);
        _exit(!little ? 1 : much ? 2 : can_map(256 * (size_t)MIB) ? 0 : 3);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory_free), cmocka_unit_test(test_memory_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
