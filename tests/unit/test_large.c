#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/large.h"

static void any_size(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 5 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *data = gi_large_alloc(sizes[i]);
        assert_non_null(data);
        assert_int_equal((uintptr_t)data % (sizes[i] >= 2 << 20 ? 2 << 20 : 64), 0);
        memset(data, 0xA5, sizes[i]);
        free(data);
    }
}

static void too_much(void **state) {
    (void)state;
    assert_null(gi_large_alloc(SIZE_MAX));
    assert_null(gi_large_alloc(SIZE_MAX - (2 << 20)));
    assert_null(gi_large_alloc(SIZE_MAX / 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_size), cmocka_unit_test(too_much)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
