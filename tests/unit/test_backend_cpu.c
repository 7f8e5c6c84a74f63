// The CPU backend's slots: what upload, point, histogram and download do to the pixels and to whose memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/backend_cpu.h"

typedef struct fixture {
    gi_backend *backend;
    gi_slot *slot;
} fixture;

static int setup(void **state) {
    static fixture f;
    *state = &f;
    if (gi_backend_cpu_open(&f.backend, NULL) != GI_OK) return -1;
    return f.backend->ops->slot_open(f.backend, 2, &f.slot, NULL) == GI_OK ? 0 : -1;
}

static int teardown(void **state) {
    fixture *f = *state;
    f->slot->ops->slot_close(f->slot);
    f->backend->ops->close(f->backend);
    return 0;
}

static gi_point threshold(int channels, uint32_t level) {
    gi_point point = gi_point_identity(channels, GI_U8);
    for (int c = 0; c < gi_colour_channels(channels); c++)
        point.before[c] = (gi_curve){GI_CURVE_THRESHOLD, level, NULL};
    return point;
}

static gi_point gray(int channels) {
    gi_point point = gi_point_identity(channels, GI_U8);
    point.mix = GI_MIX_WEIGHTS;
    point.weights[0] = 9798;
    point.weights[1] = 19235;
    point.weights[2] = 3735;
    return point;
}

static void names_itself(void **state) {
    const fixture *f = *state;
    assert_string_equal(f->backend->name, "cpu");
    assert_non_null(strstr(f->backend->detail, gi_simd_name(gi_simd_level())));
    assert_non_null(strstr(f->backend->detail, "thread"));
}

static void without_an_image_nothing_works(void **state) {
    const fixture *f = *state;
    const gi_backend_ops *ops = f->slot->ops;
    gi_point point = threshold(1, 1);
    gi_histogram histogram = {NULL, 256, 1};
    gi_view view;
    gi_error err;
    assert_int_equal(ops->point(f->slot, &point, &err), GI_ERR_USAGE);
    assert_int_equal(ops->histogram(f->slot, &histogram, &err), GI_ERR_USAGE);
    assert_int_equal(ops->download(f->slot, &view, &err), GI_ERR_USAGE);
}

static void identity_downloads_what_was_uploaded(void **state) {
    const fixture *f = *state;
    const gi_backend_ops *ops = f->slot->ops;
    uint8_t pixels[10] = {1, 2, 3, 0, 0, 4, 5, 6, 0, 0};
    gi_view host = {pixels, 5, 1, 2, 3, GI_U8, GI_HOST}, got;
    gi_point nothing = gi_point_identity(3, GI_U8);
    assert_int_equal(ops->upload(f->slot, &host, NULL), GI_OK);
    assert_int_equal(ops->point(f->slot, &nothing, NULL), GI_OK);
    assert_int_equal(ops->download(f->slot, &got, NULL), GI_OK);
    assert_memory_equal(&got, &host, sizeof host);
}

// Three operations in turn: the uploaded pixels stay as they were, each result follows from the one before.
static void operations_leave_the_upload_alone(void **state) {
    const fixture *f = *state;
    const gi_backend_ops *ops = f->slot->ops;
    const uint8_t original[12] = {0, 0, 0, 7, 255, 255, 255, 8, 10, 200, 30, 9};
    uint8_t pixels[12];
    memcpy(pixels, original, sizeof pixels);
    gi_shape shape = {3, 1, 4, GI_U8};
    gi_view host = gi_view_packed(pixels, shape, GI_HOST), got;
    gi_point first = threshold(4, 50), second = gray(4), third = threshold(2, 200);
    assert_int_equal(ops->upload(f->slot, &host, NULL), GI_OK);

    assert_int_equal(ops->point(f->slot, &first, NULL), GI_OK);
    assert_int_equal(ops->download(f->slot, &got, NULL), GI_OK);
    const uint8_t black_white[12] = {0, 0, 0, 7, 255, 255, 255, 8, 0, 255, 0, 9};
    assert_memory_equal(got.data, black_white, sizeof black_white);

    assert_int_equal(ops->point(f->slot, &second, NULL), GI_OK);
    assert_int_equal(ops->download(f->slot, &got, NULL), GI_OK);
    assert_int_equal(got.channels, 2);
    const uint8_t mixed[6] = {0, 7, 255, 8, 150, 9};
    assert_memory_equal(got.data, mixed, sizeof mixed);

    assert_int_equal(ops->point(f->slot, &third, NULL), GI_OK);
    assert_int_equal(ops->download(f->slot, &got, NULL), GI_OK);
    const uint8_t last[6] = {0, 7, 255, 8, 0, 9};
    assert_memory_equal(got.data, last, sizeof last);
    assert_memory_equal(pixels, original, sizeof pixels);
}

static void counts_the_current_image(void **state) {
    const fixture *f = *state;
    const gi_backend_ops *ops = f->slot->ops;
    uint8_t pixels[4] = {1, 100, 101, 255};
    gi_shape shape = {2, 2, 1, GI_U8};
    gi_view host = gi_view_packed(pixels, shape, GI_HOST);
    gi_histogram histogram;
    gi_point point = threshold(1, 100);
    gi_error err;
    assert_int_equal(gi_histogram_init(&histogram, 1, GI_U8, NULL), GI_OK);
    assert_int_equal(ops->upload(f->slot, &host, NULL), GI_OK);
    assert_int_equal(ops->histogram(f->slot, &histogram, NULL), GI_OK);
    assert_int_equal(histogram.counts[100], 1);
    assert_int_equal(ops->point(f->slot, &point, NULL), GI_OK);
    assert_int_equal(ops->histogram(f->slot, &histogram, NULL), GI_OK);
    assert_int_equal(histogram.counts[0], 2);
    assert_int_equal(histogram.counts[255], 3);
    histogram.channels = 3;
    assert_int_equal(ops->histogram(f->slot, &histogram, &err), GI_ERR_USAGE);
    gi_histogram_free(&histogram);
}

static void point_for_other_channels_is_refused(void **state) {
    const fixture *f = *state;
    const gi_backend_ops *ops = f->slot->ops;
    uint8_t pixels[4] = {1, 2, 3, 4};
    gi_shape shape = {2, 2, 1, GI_U8};
    gi_view host = gi_view_packed(pixels, shape, GI_HOST), got;
    gi_point point = gray(3);
    gi_error err;
    assert_int_equal(ops->upload(f->slot, &host, NULL), GI_OK);
    assert_int_equal(ops->point(f->slot, &point, &err), GI_ERR_USAGE);
    assert_int_equal(ops->download(f->slot, &got, NULL), GI_OK);
    assert_ptr_equal(got.data, pixels);
}

static void host_buffer_is_aligned_kept_and_grows(void **state) {
    const fixture *f = *state;
    const gi_backend_ops *ops = f->slot->ops;
    static const size_t sizes[] = {0, 1, 100, 5000000, 9000001};
    void *data = NULL, *again = NULL;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(ops->host_buffer(f->slot, sizes[i], &data, NULL), GI_OK);
        assert_non_null(data);
        assert_int_equal((uintptr_t)data % 64, 0);
        memset(data, 1, sizes[i]);
    }
    assert_int_equal(ops->host_buffer(f->slot, 10, &again, NULL), GI_OK);
    assert_ptr_equal(again, data);
    gi_error err;
    assert_int_equal(ops->host_buffer(f->slot, (size_t)-1, &data, &err), GI_ERR_MEMORY);
    assert_int_equal(ops->host_buffer(f->slot, (size_t)-1 / 4, &data, &err), GI_ERR_MEMORY);
    assert_null(data);
    assert_int_equal(ops->host_buffer(f->slot, 10, &data, NULL), GI_OK);
    assert_non_null(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(without_an_image_nothing_works, setup, teardown),
        cmocka_unit_test_setup_teardown(identity_downloads_what_was_uploaded, setup, teardown),
        cmocka_unit_test_setup_teardown(operations_leave_the_upload_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(counts_the_current_image, setup, teardown),
        cmocka_unit_test_setup_teardown(point_for_other_channels_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(host_buffer_is_aligned_kept_and_grows, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
