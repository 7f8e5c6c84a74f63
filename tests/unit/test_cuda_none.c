// The CUDA layer where no device can be used, in a build with CUDA and in one without: reasons instead of devices. On a
// machine with a usable device the tests of its absence are skipped.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cuda/architectures.h"
#include "cuda/backend_cuda.h"

static void built_says_what_it_is(void **state) {
    (void)state;
    const char *about = NULL;
    bool built = gi_cuda_built(&about);
    assert_non_null(about);
    assert_non_null(strstr(about, built ? "code for" : "not built"));
}

static void no_device_has_a_reason(void **state) {
    (void)state;
    char reason[160] = "";
    if (gi_cuda_device_count(reason, sizeof reason) > 0) skip();
    assert_true(strlen(reason) > 10);
    assert_null(strchr(reason, '\n'));
    gi_cuda_device device;
    assert_false(gi_cuda_device_get(0, &device));
}

static void reason_is_cut_to_its_room(void **state) {
    (void)state;
    char reason[8];
    memset(reason, 'x', sizeof reason);
    if (gi_cuda_device_count(reason, 5) > 0) skip();
    assert_int_equal(strlen(reason), 4);
    assert_int_equal(reason[5], 'x');
}

static void open_fails_with_the_reason(void **state) {
    (void)state;
    char reason[160];
    if (gi_cuda_device_count(reason, sizeof reason) > 0) skip();
    const int indices[] = {0, 1, -1, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
        gi_error err = {.status = GI_OK};
        gi_backend *backend = (gi_backend *)&err;
        assert_int_equal(gi_backend_cuda_open(indices[i], &backend, &err), GI_ERR_DEVICE);
        assert_null(backend);
        assert_int_equal(err.status, GI_ERR_DEVICE);
        assert_string_equal(err.text, reason);
    }
    gi_backend *backend = NULL;
    assert_int_equal(gi_backend_cuda_open(0, &backend, NULL), GI_ERR_DEVICE);
}

// Where there are devices: an index past the last one.
static void index_out_of_range(void **state) {
    (void)state;
    char reason[160];
    int count = gi_cuda_device_count(reason, sizeof reason);
    gi_cuda_device device;
    assert_false(gi_cuda_device_get(-1, &device));
    assert_false(gi_cuda_device_get(count, &device));
    gi_error err;
    gi_backend *backend;
    assert_int_equal(gi_backend_cuda_open(count, &backend, &err), GI_ERR_DEVICE);
}

static void architectures(void **state) {
    (void)state;
    static const struct {
        const char *list;
        int major, minor;
        bool covered;
    } cases[] = {
        {"90-real", 9, 0, true},
        {"90-real", 10, 0, false}, // machine code stays within its major version
        {"90-real", 8, 9, false},
        {"86-real", 8, 9, true},
        {"86-real", 8, 0, false},
        {"75-virtual", 7, 5, true},
        {"75-virtual", 12, 0, true}, // PTX is compiled for whatever comes later
        {"75-virtual", 7, 0, false},
        {"75-virtual 90-real", 6, 1, false},
        {"75-virtual 90-real", 8, 0, true},
        {"90", 9, 0, true},
        {"90", 12, 1, true},
        {"90", 8, 0, false},
        {"100-real", 10, 3, true},
        {"100-real", 11, 0, false},
        {"75-real 80-real 86-real 89-real 90 100-real 120", 7, 0, false},
        {"75-real 80-real 86-real 89-real 90 100-real 120", 11, 0, true},
        {"90a-real", 9, 0, true},
        {"90a", 10, 0, false}, // its own capability alone, as PTX too
        {"100f-real", 10, 3, true},
        {"100f", 12, 0, false},
        {"native", 5, 2, true}, // known to the driver alone
        {"  80-real   90-real ", 9, 0, true},
        {"", 9, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (gi_cuda_architectures_cover(cases[i].list, cases[i].major, cases[i].minor) != cases[i].covered)
            fail_msg("'%s' on %d.%d", cases[i].list, cases[i].major, cases[i].minor);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_says_what_it_is),     cmocka_unit_test(no_device_has_a_reason),
        cmocka_unit_test(reason_is_cut_to_its_room), cmocka_unit_test(open_fails_with_the_reason),
        cmocka_unit_test(index_out_of_range),        cmocka_unit_test(architectures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
