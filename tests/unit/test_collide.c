// Collisions on a file system that folds letter case, where the probe is a fake.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_format.h"
#include "run/fold.h"
#include "run/item_list.h"
#include "temp_dir.h"

static bool folds;
static int probes;
static char probed[64];

bool gi_folds_case(const char *directory) {
    probes++;
    snprintf(probed, sizeof probed, "%s", directory);
    return folds;
}

static gi_error err;

static gi_status check(const char *const names[][2], size_t count) {
    gi_item items[8];
    gi_item_list list = {.items = items, .count = count};
    for (size_t i = 0; i < count; i++) items[i] = (gi_item){.in = (char *)names[i][0], .out = (char *)names[i][1]};
    probes = 0;
    err.text[0] = '\0';
    return gi_collisions_check(&list, &err);
}

static void folding(void **state) {
    (void)state;
    static const char *const outputs[][2] = {
        {"p/A.png", "out/A.png"}, {"q/b.png", "out/b.png"}, {"q/a.png", "out/a.png"}};
    static const char *const directories[][2] = {{"p/X/a", "out/X/a"}, {"p/x/a", "out/x/a"}, {"p/y/a", "out/y/a"}};
    static const char *const other_input[][2] = {{"p/a.png", "q/A.png"}, {"q/a.png", "r/a.png"}};
    static const char *const own_input[][2] = {{"p/A.png", "p/a.png"}, {"p/b.png", "p/b.png"}};
    folds = false;
    assert_int_equal(check(outputs, 3), GI_OK);
    assert_int_equal(probes, 1);
    assert_string_equal(probed, "."); // out is not there yet
    assert_int_equal(check(directories, 3), GI_OK);
    assert_int_equal(check(other_input, 2), GI_OK);
    folds = true;
    assert_int_equal(check(outputs, 3), GI_ERR_USAGE);
    assert_string_equal(err.text, "p/A.png and q/a.png would both be written to out/A.png");
    assert_int_equal(check(directories, 3), GI_ERR_USAGE);
    assert_int_equal(check(other_input, 2), GI_ERR_USAGE);
    assert_string_equal(err.text, "the result of p/a.png would replace the input q/a.png");
    assert_int_equal(check(own_input, 2), GI_OK);
    mkdir("out", 0777);
    assert_int_equal(check(outputs, 3), GI_ERR_USAGE);
    assert_string_equal(probed, "out");
}

static void no_probe(void **state) {
    (void)state;
    static const char *const distinct[][2] = {{"a.png", "out/a.png"}, {"b.png", "out/b.png"}};
    static const char *const same[][2] = {{"p/a.png", "out/a.png"}, {"q/a.png", "./out//a.png"}};
    static const char *const sinks[][2] = {{"a.png", NULL}, {"A.png", NULL}};
    static const char *const streams[][2] = {{NULL, "a.png"}, {"b.png", NULL}};
    folds = true;
    assert_int_equal(check(distinct, 2), GI_OK);
    assert_int_equal(check(same, 2), GI_ERR_USAGE);
    assert_int_equal(check(sinks, 2), GI_OK);
    assert_int_equal(check(streams, 2), GI_OK);
    assert_int_equal(check(same, 1), GI_OK);
    assert_int_equal(check(same, 0), GI_OK);
    assert_int_equal(probes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEMP_DIR_TEST(folding), TEMP_DIR_TEST(no_probe)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
