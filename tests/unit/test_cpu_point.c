// Point operations against a naive reference: every kind of curve and mix, channels, depth, size, instruction set and
// number of threads; bytes outside the output stay as they were.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/point.h"
#include "cpu/ops.h"
#include "cpu/point_rows.h"
#include "core/simd.h"
#include "guarded_image.h"

typedef enum curves { IDENTITY, ONE_LEVEL, THREE_LEVELS, TABLES, MIXED, CURVES_COUNT } curves;

static const char *const curves_names[] = {"identity", "one level", "three levels", "tables", "mixed"};

static const uint32_t mixes[][3] = {{9798, 19235, 3735}, {6966, 23436, 2366}, {32768, 0, 0}, {0, 1, 32767}};
enum { MIX_COUNT = sizeof mixes / sizeof mixes[0], MIX_IS_LINEAR = MIX_COUNT, MIX_IS_SHIFT, MIX_IS_NONE };

// One combination.
typedef struct trial {
    gi_shape shape;
    curves before;
    int mix; // index into mixes, MIX_IS_LINEAR, MIX_IS_SHIFT or MIX_IS_NONE
    curves after;
    size_t padding;
} trial;

static uint16_t *tables[2]; // a scrambled table for u8 and for u16

static int setup(void **state) {
    (void)state;
    for (int sample = GI_U8; sample <= GI_U16; sample++) {
        uint32_t max = gi_sample_max((gi_sample)sample);
        tables[sample] = malloc(((size_t)max + 1) * sizeof(uint16_t));
        if (!tables[sample]) return -1;
        for (uint32_t v = 0; v <= max; v++) tables[sample][v] = (uint16_t)((v * 40503U + 77U) & max);
    }
    return 0;
}

static int teardown(void **state) {
    (void)state;
    free(tables[0]);
    free(tables[1]);
    gi_simd_force(GI_SIMD_AVX512);
    return 0;
}

static gi_curve curve_of(curves kind, int c, gi_sample sample) {
    uint32_t max = gi_sample_max(sample);
    gi_curve identity = {GI_CURVE_IDENTITY, 0, NULL}, table = {GI_CURVE_TABLE, 0, tables[sample]};
    // Levels at both ends and past the range: nothing is above `max`.
    const uint32_t levels[3] = {max / 2, 0, max + 5};
    gi_curve threshold = {GI_CURVE_THRESHOLD, kind == ONE_LEVEL ? max / 3 : levels[c], NULL};
    switch (kind) {
    case ONE_LEVEL:
    case THREE_LEVELS: return threshold;
    case TABLES: return table;
    case MIXED: return c == 0 ? threshold : c == 1 ? identity : table;
    default: return identity;
    }
}

static gi_point point_of(const trial *t) {
    gi_point point = gi_point_identity(t->shape.channels, t->shape.sample);
    for (int c = 0; c < gi_colour_channels(t->shape.channels); c++)
        point.before[c] = curve_of(t->before, c, t->shape.sample);
    if (t->mix == MIX_IS_NONE) return point;
    point.mix = t->mix == MIX_IS_LINEAR ? GI_MIX_LINEAR : GI_MIX_WEIGHTS;
    if (t->mix == MIX_IS_SHIFT) point.mix = GI_MIX_SHIFT;
    if (t->mix < MIX_COUNT || t->mix == MIX_IS_SHIFT)
        memcpy(point.weights, mixes[t->mix % MIX_COUNT], sizeof point.weights);
    point.after = curve_of(t->after, t->after == MIXED ? 2 : 0, t->shape.sample);
    return point;
}

// One pixel by the definition in core/point.h.
static void reference_pixel(const gi_point *point, const uint32_t in[4], uint32_t out[4]) {
    int channels = point->shape.channels, colours = gi_colour_channels(channels);
    uint32_t max = gi_sample_max(point->shape.sample), v[3];
    for (int c = 0; c < colours; c++) v[c] = gi_curve_at(&point->before[c], in[c], max);
    if (point->mix == GI_MIX_NONE) {
        for (int c = 0; c < colours; c++) out[c] = v[c];
    } else {
        uint32_t gray = 0;
        const gi_linear_tables *t = gi_linear_tables_get(point->shape.sample);
        if (point->mix == GI_MIX_LINEAR)
            gray = gi_linear_encode(t, t->red[v[0]] + t->green[v[1]] + t->blue[v[2]]);
        else
            gray = (uint32_t)(((uint64_t)point->weights[0] * v[0] + (uint64_t)point->weights[1] * v[1] +
                               (uint64_t)point->weights[2] * v[2] + 16384) >>
                              15);
        uint32_t becomes = gi_curve_at(&point->after, gray, max);
        for (int c = 0; c < 3; c++) {
            int64_t moved = (int64_t)v[c] + becomes - gray;
            out[c] = moved < 0 ? 0 : moved > max ? max : (uint32_t)moved;
        }
        if (point->mix != GI_MIX_SHIFT) {
            out[0] = becomes;
            colours = 1;
        }
    }
    if (gi_has_alpha(channels)) out[colours] = in[channels - 1];
}

static bool matches(const gi_point *point, const gi_view *in, const gi_view *out) {
    for (uint32_t y = 0; y < in->height; y++)
        for (size_t x = 0; x < in->width; x++) {
            uint32_t from[4], want[4];
            for (int c = 0; c < in->channels; c++) from[c] = sample_at(in, y, x * (size_t)in->channels + (size_t)c);
            reference_pixel(point, from, want);
            for (int c = 0; c < out->channels; c++)
                if (sample_at(out, y, x * (size_t)out->channels + (size_t)c) != want[c]) {
                    print_error("pixel %zu,%u channel %d: %u, expected %u\n", x, y, c,
                                sample_at(out, y, x * (size_t)out->channels + (size_t)c), want[c]);
                    return false;
                }
        }
    return true;
}

static void fail_trial(const trial *t, uint32_t seed, const char *what, int threads) {
    fail_msg("%s: %ux%u, %d channels, %s, before %s, mix %d, after %s, padding %zu, %s, %d threads, seed %u", what,
             t->shape.width, t->shape.height, t->shape.channels, t->shape.sample == GI_U8 ? "u8" : "u16",
             curves_names[t->before], t->mix, curves_names[t->after], t->padding, gi_simd_name(gi_simd_level()),
             threads, seed);
}

// The first run is held against the reference; every other must give the same bytes.
static void run_trial(const trial *t) {
    const uint32_t seed = 20261130U + t->shape.width;
    gi_point point = point_of(t);
    gi_shape shape_out = t->shape;
    shape_out.channels = gi_point_channels_out(&point);
    guarded_image in = guarded_image_make(t->shape, t->padding), first = guarded_image_make(shape_out, t->padding);
    guarded_image out = guarded_image_make(shape_out, t->padding);
    assert_true(in.view.data && first.view.data && out.view.data);
    guarded_image_randomise(&in, seed);
    bool known = false;
    for (int level = GI_SIMD_PORTABLE; level <= GI_SIMD_AVX512; level++) {
        if ((int)gi_simd_force((gi_simd)level) != level) break;
        for (int threads = 1; threads <= 3; threads++) {
            guarded_image *target = known ? &out : &first;
            gi_cpu_job job = {.in = in.view, .out = target->view, .args = &point, .threads = threads};
            memset(target->memory, GUARD_VALUE, target->size);
            assert_int_equal(gi_cpu_point(&job, NULL), GI_OK);
            if (!known && !matches(&point, &in.view, &first.view)) fail_trial(t, seed, "wrong", threads);
            if (!guards_are_whole(target)) fail_trial(t, seed, "wrote outside", threads);
            if (known && memcmp(first.memory, out.memory, out.size) != 0) fail_trial(t, seed, "differs", threads);
            known = true;
        }
    }
    guarded_image_free(&in);
    guarded_image_free(&first);
    guarded_image_free(&out);
}

static void run_all_operations(gi_shape shape, size_t padding) {
    for (int before = IDENTITY; before < CURVES_COUNT; before++) {
        trial plain = {shape, (curves)before, MIX_IS_NONE, IDENTITY, padding};
        run_trial(&plain);
        if (shape.channels < 3) continue;
        for (int mix = 0; mix < MIX_IS_NONE; mix++)
            for (int after = IDENTITY; after < CURVES_COUNT; after++) {
                trial mixed = {shape, (curves)before, mix, (curves)after, padding};
                run_trial(&mixed);
            }
    }
}

static void every_operation_on_ugly_sizes(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1},  {15, 1}, {1, 15}, {17, 31}, {34, 2},
                                        {35, 2}, {69, 1}, {70, 1}, {129, 3}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int channels = 1; channels <= 4; channels++)
            for (int sample = GI_U8; sample <= GI_U16; sample++) {
                gi_shape shape = {sizes[i][0], sizes[i][1], channels, (gi_sample)sample};
                run_all_operations(shape, 0);
                run_all_operations(shape, 7);
            }
}

// Long enough for several threads and for spans with a rest.
static void some_operations_on_large_sizes(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 10000}, {10000, 1}, {40001, 3}, {1920, 108}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int channels = 1; channels <= 4; channels++)
            for (int sample = GI_U8; sample <= GI_U16; sample++) {
                int mix = channels < 3 ? MIX_IS_NONE : channels == 3 ? MIX_IS_SHIFT : MIX_IS_LINEAR;
                gi_shape shape = {sizes[i][0], sizes[i][1], channels, (gi_sample)sample};
                trial packed = {shape, ONE_LEVEL, MIX_IS_NONE, IDENTITY, 0}, padded = packed;
                padded.padding = 5;
                run_trial(&packed);
                run_trial(&padded);
                packed.before = padded.before = channels == 4 ? TABLES : IDENTITY;
                packed.mix = padded.mix = mix;
                packed.after = padded.after = mix == MIX_IS_NONE ? IDENTITY : ONE_LEVEL;
                run_trial(&packed);
                run_trial(&padded);
            }
}

static void every_sample_value_passes_every_level(void **state) {
    (void)state;
    uint8_t in[256], out[256];
    gi_shape shape = {256, 1, 1, GI_U8};
    for (int v = 0; v < 256; v++) in[v] = (uint8_t)v;
    for (uint32_t level = 0; level <= 256; level++) {
        gi_point point = gi_point_identity(1, GI_U8);
        point.before[0] = (gi_curve){GI_CURVE_THRESHOLD, level, NULL};
        gi_cpu_job job = {.in = gi_view_packed(in, shape, GI_HOST),
                          .out = gi_view_packed(out, shape, GI_HOST),
                          .args = &point,
                          .threads = 1};
        assert_int_equal(gi_cpu_point(&job, NULL), GI_OK);
        for (uint32_t v = 0; v < 256; v++) assert_int_equal(out[v], v > level ? 255 : 0);
    }
}

static void streams_at_any_alignment(void **state) {
    (void)state;
    uint8_t in[120], out[120];
    uint32_t seed = 5;
    for (size_t i = 0; i < sizeof in; i++) in[i] = (uint8_t)next_random(&seed);
    for (size_t at = 0; at < 17; at++)
        for (size_t count = 0; count < 100; count++) {
            uint8_t level = (uint8_t)next_random(&seed);
            memset(out, GUARD_VALUE, sizeof out);
            size_t done = gi_threshold_stream8_x86(in + 1, out + at, count, level);
            assert_in_range(done, 0, count);
            for (size_t i = 0; i < sizeof out; i++)
                assert_int_equal(out[i], i < at || i >= at + done ? GUARD_VALUE : in[i - at + 1] > level ? 255 : 0);
        }
}

// Results too large for a cache are stored otherwise; in place they are not.
static void large_results_are_those_in_place(void **state) {
    (void)state;
    trial t = {{4099, 4099, 1, GI_U8}, ONE_LEVEL, MIX_IS_NONE, IDENTITY, 5};
    gi_point point = point_of(&t);
    guarded_image in = guarded_image_make(t.shape, 5), out = guarded_image_make(t.shape, 5);
    assert_true(in.view.data && out.view.data);
    guarded_image_randomise(&in, 11);
    gi_cpu_job job = {.in = in.view, .out = out.view, .args = &point, .threads = 2};
    assert_int_equal(gi_cpu_point(&job, NULL), GI_OK);
    job.out = in.view;
    assert_int_equal(gi_cpu_point(&job, NULL), GI_OK);
    assert_memory_equal(in.memory, out.memory, in.size);
    guarded_image_free(&in);
    guarded_image_free(&out);
}

static void works_in_place(void **state) {
    (void)state;
    for (int channels = 1; channels <= 6; channels++) // the last two: 3 and 4 channels, moved by their luma
        for (int kind = IDENTITY; kind < CURVES_COUNT; kind++) {
            trial t = {{5003, 3, channels, GI_U8}, (curves)kind, MIX_IS_NONE, IDENTITY, 3};
            if (channels > 4) {
                t.shape.channels -= 2;
                t.mix = MIX_IS_SHIFT;
                t.after = TABLES;
            }
            gi_point point = point_of(&t);
            guarded_image in = guarded_image_make(t.shape, 3), same = guarded_image_make(t.shape, 3);
            assert_true(in.view.data && same.view.data);
            guarded_image_randomise(&in, 7);
            guarded_image_randomise(&same, 7);
            gi_cpu_job job = {.in = same.view, .out = same.view, .args = &point, .threads = 2};
            assert_int_equal(gi_cpu_point(&job, NULL), GI_OK);
            if (!matches(&point, &in.view, &same.view) || !guards_are_whole(&same)) fail_trial(&t, 7, "in place", 2);
            guarded_image_free(&in);
            guarded_image_free(&same);
        }
}

static void refuses_views_that_do_not_fit(void **state) {
    (void)state;
    unsigned char pixels[64] = {0};
    gi_shape rgb = {2, 2, 3, GI_U8}, gray = {2, 2, 1, GI_U8}, wide = {3, 2, 1, GI_U8}, f32 = {2, 2, 1, GI_F32};
    trial t = {rgb, IDENTITY, 0, IDENTITY, 0};
    gi_point mix = point_of(&t), plain = gi_point_identity(1, GI_U8);
    gi_error err;
    gi_view image = gi_view_packed(pixels, rgb, GI_HOST);
    gi_cpu_job job = {.in = image, .out = image, .args = &mix, .threads = 1};
    assert_int_equal(gi_cpu_point(&job, &err), GI_ERR_USAGE);
    job.out = gi_view_packed(pixels, wide, GI_HOST);
    assert_int_equal(gi_cpu_point(&job, &err), GI_ERR_USAGE);
    job.in = job.out = gi_view_packed(pixels, gray, GI_HOST);
    assert_int_equal(gi_cpu_point(&job, &err), GI_ERR_USAGE);
    mix.shape.channels = 1;
    assert_int_equal(gi_cpu_point(&job, &err), GI_ERR_USAGE);
    job.in = job.out = gi_view_packed(pixels, f32, GI_HOST);
    job.args = &plain;
    assert_int_equal(gi_cpu_point(&job, &err), GI_ERR_UNSUPPORTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_on_ugly_sizes),
        cmocka_unit_test(some_operations_on_large_sizes),
        cmocka_unit_test(every_sample_value_passes_every_level),
        cmocka_unit_test(works_in_place),
        cmocka_unit_test(streams_at_any_alignment),
        cmocka_unit_test(large_results_are_those_in_place),
        cmocka_unit_test(refuses_views_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
