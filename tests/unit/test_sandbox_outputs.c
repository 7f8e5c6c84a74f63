// What the sandbox lets a batch write to: a place for every output, however it is reached, and nothing beside.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/wait.h>

#include "run/output.h"
#include "run/sandbox.h"
#include "temp_dir.h"

static bool write_output(const char *path) {
    gi_output *output = NULL;
    gi_error err;
    gi_status status = gi_output_open(path, &output, &err);
    if (status == GI_OK) {
        gi_sink sink = gi_output_sink(output);
        status = sink.write(sink.context, "result", 6, &err);
    }
    if (status == GI_OK) status = gi_output_commit(output, false, &err);
    gi_output_close(output);
    return status == GI_OK;
}

static int remove_all(const char *path, const struct stat *st, int type, struct FTW *at) {
    (void)st, (void)type;
    return at->level == 0 ? 0 : remove(path);
}

// In a sandbox around the items' outputs, which begins in a process of its own. True when `path` can be written.
static bool can_write(const gi_item_list *list, const char *path, bool folder) {
    pid_t child = fork();
    if (child == 0) {
        gi_sandbox sandbox;
        gi_sandbox_begin(&sandbox, gi_sandbox_of_kernel(), false);
        gi_sandbox_allow_outputs(&sandbox, list, true);
        gi_sandbox_enter(&sandbox);
        if (folder) _exit(mkdir(path, 0777) != 0);
        _exit(!write_output(path));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

enum { MANY = 20 }; // more than are looked at one by one

static void outputs_below_a_directory(void **state) {
    (void)state;
    if (!gi_sandbox_of_kernel().landlock) skip();
    gi_item items[MANY] = {{.out = (char[]){"OUT/a.png"}},
                           {.out = (char[]){"OUT/deep/er/b.png"}},
                           {.out = (char[]){"OUT/way/new/c.png"}},
                           {.out = (char[]){"OUT/link.png"}}};
    for (int few = 0; few < 2; few++) {
        gi_item_list list = {.items = items, .count = few ? 4 : MANY, .out_directory = (char[]){"OUT"}};
        assert_int_equal(mkdir("OUT", 0777) | mkdir("away", 0777) | mkdir("target", 0777) | mkdir("other", 0777), 0);
        assert_int_equal(symlink("../away", "OUT/way") | symlink("../target/t.png", "OUT/link.png"), 0);
        for (int i = 4; i < MANY; i++) items[i].out = items[0].out;
        assert_true(can_write(&list, "OUT/a.png", false));
        assert_true(can_write(&list, "OUT/deep", true));
        assert_true(can_write(&list, "OUT/deep/er", true));
        assert_true(can_write(&list, "OUT/deep/er/b.png", false));
        assert_true(can_write(&list, "OUT/way/new", true));
        assert_true(can_write(&list, "OUT/way/new/c.png", false));
        assert_true(can_write(&list, "OUT/link.png", false));
        assert_true(text_is("target/t.png", "result"));
        assert_false(can_write(&list, "other/x.png", false));
        assert_false(can_write(&list, "x.png", false));
        assert_false(can_write(&list, "new", true));
        assert_int_equal(nftw(".", remove_all, 16, FTW_DEPTH | FTW_PHYS), 0);
        // OUT is made, nothing above it allowed.
        assert_true(can_write(&list, "OUT/a.png", false));
        assert_false(can_write(&list, "x.png", false));
        assert_int_equal(nftw(".", remove_all, 16, FTW_DEPTH | FTW_PHYS), 0);
    }
}

static void outputs_of_a_retry(void **state) {
    (void)state;
    if (!gi_sandbox_of_kernel().landlock) skip();
    gi_item items[] = {{.out = (char[]){"one/deep/a.png"}}, {.out = (char[]){"two/b.png"}}, {.out = NULL}};
    gi_item_list list = {.items = items, .count = 3, .makes_directories = true};
    assert_true(can_write(&list, "one/deep/a.png", false));
    assert_true(can_write(&list, "two/b.png", false));
    assert_false(can_write(&list, "one/a.png", false));
    assert_false(can_write(&list, "a.png", false));
    // Without, what is missing stays so.
    list.makes_directories = false;
    items[0].out = (char[]){"three/a.png"};
    assert_false(can_write(&list, "three/a.png", false));
    assert_int_equal(access("three", F_OK), -1);
}

static void words(void **state) {
    (void)state;
    char text[80];
    assert_string_equal(gi_sandbox_text((gi_sandbox_means){7, true}, text, sizeof text),
                        "Landlock (version 7) and seccomp");
    assert_string_equal(gi_sandbox_text((gi_sandbox_means){1, false}, text, sizeof text),
                        "Landlock (version 1), but no seccomp");
    assert_string_equal(gi_sandbox_text((gi_sandbox_means){0, true}, text, sizeof text), "seccomp, but no Landlock");
    assert_string_equal(gi_sandbox_text((gi_sandbox_means){0, false}, text, sizeof text),
                        "none: no Landlock, no seccomp");
}

int main(void) {
    const struct CMUnitTest tests[] = {TEMP_DIR_TEST(outputs_below_a_directory), TEMP_DIR_TEST(outputs_of_a_retry),
                                       cmocka_unit_test(words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
