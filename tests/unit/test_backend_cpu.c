// The CPU backend's slots: what upload, point, histogram and download do to the pixels and to whose memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/simd.h"
#include "cpu/backend_cpu.h"
#include "guarded_image.h"

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
    assert_int_equal(ops->measure(f->slot, NULL, true, &err), GI_ERR_USAGE);
    assert_int_equal(ops->counts(f->slot, &histogram, &err), GI_ERR_USAGE);
    assert_int_equal(ops->point_resolved(f->slot, 0, &err), GI_ERR_USAGE);
    assert_int_equal(ops->point_resolved(f->slot, GI_MAX_RESOLVED, &err), GI_ERR_USAGE);
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

// The next operation alone, where the shape and the alignment allow it.
static void writes_where_it_is_aimed(void **state) {
    const fixture *f = *state;
    const gi_backend_ops *ops = f->slot->ops;
    uint8_t pixels[6] = {1, 2, 200, 201, 3, 202}, small[3] = {0}, target[8] = {9, 9, 9, 9, 9, 9, 9, 9};
    const uint8_t want[8] = {0, 0, 255, 9, 255, 0, 255, 9};
    gi_shape shape = {3, 2, 1, GI_U8}, other = {3, 1, 1, GI_U8};
    gi_view host = gi_view_packed(pixels, shape, GI_HOST), aimed = {target, 4, 3, 2, 1, GI_U8, GI_HOST}, got;
    gi_view unfit = gi_view_packed(small, other, GI_HOST);
    gi_point first = threshold(1, 100), second = threshold(1, 254);
    assert_int_equal(ops->upload(f->slot, &host, NULL), GI_OK);
    ops->aim(f->slot, &unfit);
    assert_int_equal(ops->point(f->slot, &second, NULL), GI_OK);
    assert_int_equal(ops->upload(f->slot, &host, NULL), GI_OK);
    ops->aim(f->slot, &aimed);
    assert_int_equal(ops->point(f->slot, &first, NULL), GI_OK);
    assert_int_equal(ops->download(f->slot, &got, NULL), GI_OK);
    assert_memory_equal(&got, &aimed, sizeof got);
    assert_memory_equal(target, want, sizeof want);
    assert_int_equal(ops->point(f->slot, &second, NULL), GI_OK);
    assert_int_equal(ops->download(f->slot, &got, NULL), GI_OK);
    assert_ptr_not_equal(got.data, target);
    assert_memory_equal(target, want, sizeof want);
    assert_true(pixels[0] == 1 && pixels[5] == 202 && small[0] == 0);
}

static void does_not_write_samples_unaligned(void **state) {
    const fixture *f = *state;
    const gi_backend_ops *ops = f->slot->ops;
    uint16_t pixels[2] = {5, 60000}, memory[3] = {7, 7, 7};
    gi_shape shape = {2, 1, 1, GI_U16};
    gi_view host = gi_view_packed(pixels, shape, GI_HOST), got;
    gi_view odd = gi_view_packed((char *)memory + 1, shape, GI_HOST);
    gi_point point = gi_point_identity(1, GI_U16);
    point.before[0] = (gi_curve){GI_CURVE_THRESHOLD, 100, NULL};
    assert_int_equal(ops->upload(f->slot, &host, NULL), GI_OK);
    ops->aim(f->slot, &odd);
    assert_int_equal(ops->point(f->slot, &point, NULL), GI_OK);
    assert_int_equal(ops->download(f->slot, &got, NULL), GI_OK);
    assert_true(memory[0] == 7 && memory[1] == 7 && memory[2] == 7);
    assert_true(sample_at(&got, 0, 0) == 0 && sample_at(&got, 0, 1) == 65535);
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
    assert_int_equal(ops->measure(f->slot, NULL, true, NULL), GI_OK);
    assert_int_equal(ops->counts(f->slot, &histogram, NULL), GI_OK);
    assert_int_equal(histogram.counts[100], 1);
    assert_int_equal(ops->point(f->slot, &point, NULL), GI_OK);
    assert_int_equal(ops->measure(f->slot, NULL, false, NULL), GI_OK);
    assert_int_equal(ops->counts(f->slot, &histogram, NULL), GI_OK); // added to what was there
    assert_int_equal(histogram.counts[0], 2);
    assert_int_equal(histogram.counts[100], 2);
    assert_int_equal(histogram.counts[255], 4);
    histogram.channels = 3;
    assert_int_equal(ops->counts(f->slot, &histogram, &err), GI_ERR_USAGE);
    gi_histogram_free(&histogram);
}

static void counts_the_luma_of_colours(void **state) {
    const fixture *f = *state;
    const gi_backend_ops *ops = f->slot->ops;
    uint8_t pixels[8] = {10, 20, 30, 7, 255, 255, 255, 9}, gray_pixel = 0;
    gi_view host = gi_view_packed(pixels, (gi_shape){2, 1, 4, GI_U8}, GI_HOST), got;
    gi_view other = gi_view_packed(&gray_pixel, (gi_shape){1, 1, 1, GI_U8}, GI_HOST);
    gi_histogram histogram;
    gi_point luma = gray(4), wrong = gray(3);
    gi_error err;
    assert_int_equal(gi_histogram_init(&histogram, 2, GI_U8, NULL), GI_OK);
    assert_int_equal(ops->upload(f->slot, &host, NULL), GI_OK);
    assert_int_equal(ops->measure(f->slot, &luma, true, NULL), GI_OK);
    assert_int_equal(ops->measure(f->slot, &wrong, false, &err), GI_ERR_USAGE);
    assert_int_equal(ops->measure(f->slot, &luma, true, NULL), GI_OK); // anew
    assert_int_equal(ops->counts(f->slot, &histogram, NULL), GI_OK);
    assert_int_equal(histogram.counts[18], 1);
    assert_int_equal(histogram.counts[255], 1);
    assert_int_equal(histogram.counts[256 + 7], 1);
    assert_int_equal(histogram.counts[256 + 9], 1);
    assert_int_equal(ops->download(f->slot, &got, NULL), GI_OK); // the image stays
    assert_memory_equal(&got, &host, sizeof host);
    assert_int_equal(ops->upload(f->slot, &other, NULL), GI_OK);
    assert_int_equal(ops->measure(f->slot, NULL, false, &err), GI_ERR_USAGE);
    gi_histogram_free(&histogram);
}

// otsu's level and what follows it, kept under two numbers.
static void resolves_operations_from_the_counts(void **state) {
    const fixture *f = *state;
    const gi_backend_ops *ops = f->slot->ops;
    uint8_t pixels[6] = {10, 10, 190, 12, 180, 200};
    static const uint8_t expected[6] = {0, 0, 255, 0, 255, 255}, inverse[6] = {0, 0, 0, 0, 0, 0};
    gi_view host = gi_view_packed(pixels, (gi_shape){3, 2, 1, GI_U8}, GI_HOST), got;
    gi_stage_call otsu = {.stage = &gi_stage_table[GI_STAGE_ID_threshold]};
    gi_stage_call window = {.stage = &gi_stage_table[GI_STAGE_ID_hist]};
    otsu.args.threshold.level = GI_LEVEL_OTSU;
    gi_point nothing = gi_point_identity(1, GI_U8), black = threshold(1, 255);
    gi_error err;
    assert_int_equal(ops->upload(f->slot, &host, NULL), GI_OK);
    assert_int_equal(ops->measure(f->slot, NULL, true, NULL), GI_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ops->resolve(f->slot, 15, &otsu, &nothing, NULL), GI_OK);
        assert_int_equal(ops->resolve(f->slot, 0, &otsu, &black, NULL), GI_OK);
    }
    assert_int_equal(ops->resolve(f->slot, 16, &otsu, &nothing, &err), GI_ERR_USAGE);
    assert_int_equal(ops->resolve(f->slot, -1, &otsu, &nothing, &err), GI_ERR_USAGE);
    assert_int_equal(ops->resolve(f->slot, 1, &window, &nothing, &err), GI_ERR_USAGE);
    assert_int_equal(ops->point_resolved(f->slot, 15, NULL), GI_OK);
    assert_int_equal(ops->download(f->slot, &got, NULL), GI_OK);
    assert_memory_equal(got.data, expected, sizeof expected);
    assert_in_range(ops->resolved_level(f->slot, 15), 12, 179);
    assert_int_equal(ops->point_resolved(f->slot, 0, NULL), GI_OK);
    assert_int_equal(ops->download(f->slot, &got, NULL), GI_OK);
    assert_memory_equal(got.data, inverse, sizeof inverse);
    assert_int_equal(ops->resolved_level(f->slot, 0), ops->resolved_level(f->slot, 15));
}

enum { WINDOW_WIDTH = 37, WINDOW_HEIGHT = 41 };

// One WINDOW stage with its defaults over an image in bands of `rows` rows.
static void run_window(const fixture *f, const gi_stage_call *call, const gi_view *image, uint32_t rows, void *out) {
    const gi_backend_ops *ops = f->slot->ops;
    const uint32_t halo = call->stage->halo(&call->args), height = image->height;
    size_t row_bytes = gi_row_bytes(image->width, image->channels, image->sample);
    for (uint32_t y = 0; y < height; y += rows) {
        uint32_t count = rows < height - y ? rows : height - y, from = y > halo ? y - halo : 0;
        uint32_t end = halo < height - y - count ? y + count + halo : height;
        gi_view band = gi_view_rows(image, from, end - from), got;
        gi_window_place place = {height, from, y};
        assert_int_equal(ops->upload(f->slot, &band, NULL), GI_OK);
        assert_int_equal(ops->window(f->slot, call, &place, count, NULL), GI_OK);
        assert_int_equal(ops->download(f->slot, &got, NULL), GI_OK);
        assert_int_equal(got.height, count);
        assert_int_equal(got.channels, image->channels);
        memcpy((char *)out + row_bytes * y, got.data, row_bytes * count);
    }
}

// Every WINDOW stage of the table: bands of any height give the same bytes.
static void windows_do_not_depend_on_the_bands(void **state) {
    const fixture *f = *state;
    static uint16_t pixels[WINDOW_WIDTH * WINDOW_HEIGHT * GI_MAX_CHANNELS];
    static uint16_t whole[WINDOW_WIDTH * WINDOW_HEIGHT * GI_MAX_CHANNELS];
    static uint16_t bands[WINDOW_WIDTH * WINDOW_HEIGHT * GI_MAX_CHANNELS];
    static const uint32_t heights[] = {1, 2, 7, 40};
    uint32_t seed = 4;
    for (size_t i = 0; i < sizeof pixels / sizeof pixels[0]; i++) pixels[i] = (uint16_t)next_random(&seed);
    for (int i = 0; i < GI_STAGE_COUNT * 8; i++) {
        gi_stage_call call = {.stage = &gi_stage_table[i / 8]};
        gi_shape shape = {WINDOW_WIDTH, WINDOW_HEIGHT, i % 4 + 1, i / 4 % 2 ? GI_U16 : GI_U8};
        size_t bytes = gi_row_bytes(shape.width, shape.channels, shape.sample) * shape.height;
        gi_view image = gi_view_packed(pixels, shape, GI_HOST);
        if (call.stage->kind != GI_STAGE_WINDOW) continue;
        gi_stage_defaults(call.stage, &call.args);
        run_window(f, &call, &image, WINDOW_HEIGHT, whole);
        for (size_t k = 0; k < sizeof heights / sizeof heights[0]; k++) {
            memset(bands, 0xA5, sizeof bands);
            run_window(f, &call, &image, heights[k], bands);
            assert_memory_equal(bands, whole, bytes);
        }
    }
}

static void windows_that_fit_no_image_are_refused(void **state) {
    const fixture *f = *state;
    const gi_backend_ops *ops = f->slot->ops;
    uint8_t pixels[4] = {1, 2, 3, 4};
    gi_view host = gi_view_packed(pixels, (gi_shape){1, 4, 1, GI_U8}, GI_HOST);
    static const struct {
        gi_window_place place;
        uint32_t rows;
    } wrong[] = {{{4, 1, 1}, 1}, {{10, 2, 1}, 2}, {{10, 2, 3}, 4}, {{UINT32_MAX, UINT32_MAX - 4, UINT32_MAX - 1}, 2}};
    gi_stage_call call = {.stage = &gi_stage_table[GI_STAGE_ID_gray]};
    gi_window_place whole = {4, 0, 0};
    gi_error err;
    assert_int_equal(ops->window(f->slot, &call, &whole, 4, &err), GI_ERR_USAGE); // no image
    assert_int_equal(ops->upload(f->slot, &host, NULL), GI_OK);
    assert_int_equal(ops->window(f->slot, &call, &whole, 4, &err), GI_ERR_USAGE); // no window
    for (int i = 0; i < GI_STAGE_COUNT; i++) {
        call = (gi_stage_call){.stage = &gi_stage_table[i]};
        if (call.stage->kind != GI_STAGE_WINDOW) continue;
        gi_stage_defaults(call.stage, &call.args);
        for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
            assert_int_equal(ops->window(f->slot, &call, &wrong[k].place, wrong[k].rows, &err), GI_ERR_USAGE);
    }
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
        cmocka_unit_test_setup_teardown(writes_where_it_is_aimed, setup, teardown),
        cmocka_unit_test_setup_teardown(does_not_write_samples_unaligned, setup, teardown),
        cmocka_unit_test_setup_teardown(counts_the_current_image, setup, teardown),
        cmocka_unit_test_setup_teardown(counts_the_luma_of_colours, setup, teardown),
        cmocka_unit_test_setup_teardown(resolves_operations_from_the_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(windows_do_not_depend_on_the_bands, setup, teardown),
        cmocka_unit_test_setup_teardown(windows_that_fit_no_image_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(point_for_other_channels_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(host_buffer_is_aligned_kept_and_grows, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
