// Passes over one image: bands of any height, memory of any size and a change of the slot give the same bytes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cpu/backend_cpu.h"
#include "fake_backend.h"
#include "guarded_image.h"
#include "run/pass.h"

enum { WIDTH = 13, HEIGHT = 29, PIXELS = WIDTH * HEIGHT };

// ---- an encoder that keeps the rows -------------------------------------------------------------------------------

struct gi_encoder {
    uint8_t pixels[PIXELS * 8];
    size_t size;
    uint32_t rows;
};

gi_status gi_encoder_rows(gi_encoder *encoder, const gi_view *rows, gi_error *err) {
    size_t bytes = gi_row_bytes(rows->width, rows->channels, rows->sample);
    if (rows->height > HEIGHT - encoder->rows) return gi_fail(err, GI_ERR_USAGE, "too many rows");
    for (uint32_t y = 0; y < rows->height; y++, encoder->size += bytes)
        memcpy(encoder->pixels + encoder->size, gi_view_row(rows, y), bytes);
    encoder->rows += rows->height;
    return GI_OK;
}

// ---- a decoder of the image below ---------------------------------------------------------------------------------

struct gi_decoder {
    gi_view rows;          // what it gives
    uint32_t y;            // the next row
    uint32_t bad, stopped; // rows from which on it fails, or the run is stopped
};

static gi_stop stop;
static gi_decoder decoder;

gi_status gi_decoder_rows(gi_decoder *d, const gi_view *out, gi_error *err) {
    size_t bytes = gi_row_bytes(out->width, out->channels, out->sample);
    if (out->height > d->rows.height - d->y) return gi_fail(err, GI_ERR_USAGE, "too many rows are asked for");
    for (uint32_t i = 0; i < out->height; i++, d->y++) {
        if (d->y >= d->bad) return gi_fail(err, GI_ERR_FORMAT, "bad pixels");
        if (d->y >= d->stopped) atomic_store(&stop.drop, true);
        memcpy(gi_view_row(out, i), gi_view_row(&d->rows, d->y), bytes);
    }
    return GI_OK;
}

static int decoders_open;
void gi_decoder_close(gi_decoder *d) { decoders_open -= d != NULL; }

// ---- what is said -------------------------------------------------------------------------------------------------

static char said[1 << 14];

static void say(void *context, gi_severity severity, const char *file, const char *text) {
    size_t used = strlen(said);
    (void)context, (void)severity;
    assert_string_equal(file, "name");
    snprintf(said + used, sizeof said - used, "%s\n", text);
}

static const gi_messages messages = {say, NULL};

// ---- a pass -------------------------------------------------------------------------------------------------------

static gi_gate gate;
static uint16_t image[PIXELS * GI_MAX_CHANNELS];
static uint32_t height = HEIGHT; // of the images

static gi_slot *slot_of(gi_backend *backend) {
    gi_slot *slot = NULL;
    assert_int_equal(backend->ops->slot_open(backend, 2, &slot, NULL), GI_OK);
    return slot;
}

static gi_pass pass_over(const gi_plan *plan, gi_slot *slot, gi_band_rule bands) {
    bool fits = true;
    const gi_view whole = gi_view_packed(image, plan->in, GI_HOST);
    bands.rows = gi_band_rows(plan, &bands, &fits);
    said[0] = '\0';
    atomic_store(&stop.drop, false);
    return (gi_pass){.slot = slot,
                     .gate = &gate,
                     .stop = &stop,
                     .plan = plan,
                     .source = gi_source_of_image(&whole),
                     .bands = bands,
                     .messages = &messages,
                     .file = "name"};
}

// Makes the pass decode the image as its bands need it, into memory that has no byte more than they may use.
static void *decode_into_window(gi_pass *pass) {
    gi_shape shape = pass->plan->in;
    decoder = (gi_decoder){pass->source.view, 0, UINT32_MAX, UINT32_MAX};
    shape.height = gi_window_rows(pass->plan, &pass->bands);
    void *window = malloc(gi_row_bytes(shape.width, shape.channels, shape.sample) * shape.height);
    pass->source = (gi_source){.view = gi_view_packed(window, shape, GI_HOST),
                               .height = pass->plan->in.height,
                               .decoder = &decoder,
                               .stop = &stop};
    decoders_open = 1;
    return window;
}

static gi_plan plan_of(const gi_pipeline *pipeline, int channels, gi_sample sample) {
    gi_plan plan;
    gi_error err;
    gi_shape shape = {WIDTH, height, channels, sample};
    if (gi_plan_make(pipeline, shape, &plan, &err) != GI_OK) fail_msg("%s", err.text);
    return plan;
}

static gi_pipeline parse(const char *text) {
    gi_pipeline pipeline;
    gi_error err;
    if (gi_pipeline_parse(text, &pipeline, &err) != GI_OK) fail_msg("%s", err.text);
    return pipeline;
}

static void emit(gi_pass *pass, gi_encoder *encoder) {
    gi_error err;
    memset(encoder, 0, sizeof *encoder);
    if (gi_pass_emit(pass, encoder, &err) != GI_OK) fail_msg("%s", err.text);
    assert_int_equal(encoder->rows, height);
    gi_pass_free(pass);
}

static void emit_decoded(gi_pass *pass, gi_encoder *encoder) {
    void *window = decode_into_window(pass);
    emit(pass, encoder);
    assert_int_equal(decoders_open, 0);
    assert_int_equal(decoder.y, height);
    free(window);
}

static void expect_same(const gi_encoder *got, const gi_encoder *whole, const gi_pipeline *pipeline, size_t rule) {
    char text[1000];
    assert_int_equal(got->size, whole->size);
    if (memcmp(got->pixels, whole->pixels, whole->size) == 0) return;
    gi_pipeline_text(pipeline, text, sizeof text);
    fail_msg("rule %zu: %s", rule, text);
}

// Runs the pipeline whole, then with every other rule, over an image in memory and over one that is decoded meanwhile;
// the result, and what is said, is the same.
static void compare(const gi_pipeline *pipeline, gi_backend *backend, int channels, gi_sample sample) {
    static gi_encoder whole, bands;
    static char said_first[sizeof said];
    static const gi_band_rule rules[] = {{29, 0, true},  {1, 0, true},        {2, 0, true},   {7, 0, true},
                                         {28, 0, true},  {29, 1, true},       {29, 1, false}, {29, 400, true},
                                         {5, 700, true}, {29, PIXELS, false}, {3, 0, false},  {29, 2000, true},
                                         {16, 0, false}, {29, 1000, false}};
    gi_plan plan = plan_of(pipeline, channels, sample);
    gi_slot *slot = slot_of(backend);
    gi_pass pass = pass_over(&plan, slot, (gi_band_rule){HEIGHT, 0, true});
    emit(&pass, &whole);
    strcpy(said_first, said);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        pass = pass_over(&plan, slot, rules[i]);
        emit(&pass, &bands);
        expect_same(&bands, &whole, pipeline, i);
        assert_string_equal(said, said_first);
        pass = pass_over(&plan, slot, rules[i]);
        emit_decoded(&pass, &bands);
        expect_same(&bands, &whole, pipeline, i);
        assert_string_equal(said, said_first);
    }
    backend->ops->slot_close(slot);
    gi_plan_free(&plan);
}

static const char *const texts[] = {
    "gray | gray", "threshold 99", "threshold otsu", "equalize", "equalize channel | threshold otsu",
    "equalize | equalize | gray", "equalize | threshold otsu | threshold otsu", "gray | equalize | threshold 20",
    // Of gray images the gray in the middle is left out, as the last of a stored leg.
    "blur | gray | equalize", "blur 3 | gray | blur sigma=1 | gray 709 | threshold otsu | gray | blur"};
enum { TEXTS = sizeof texts / sizeof texts[0] };

static void bands_of_points_and_barriers(void **state) {
    gi_backend *backend = *state;
    for (int i = 0; i < TEXTS; i++) {
        gi_pipeline pipeline = parse(texts[i]);
        for (int channels = 1; channels <= 4; channels++) compare(&pipeline, backend, channels, GI_U8);
        for (int channels = 1; channels <= 4 && strcmp(backend->name, "cpu") == 0; channels++)
            compare(&pipeline, backend, channels, GI_U16);
    }
}

static void bands_of_windows(void **state) {
    fake_backend *backend = *state;
    static const uint32_t halos[] = {0, 1, 2, 5, 12, 28, 29, UINT32_MAX};
    uint32_t seed = 1;
    for (int trial = 0; trial < 150; trial++) {
        gi_pipeline pipeline = parse(texts[next_random(&seed) % TEXTS]);
        int windows = 1 + (int)(next_random(&seed) % 4);
        for (int i = 0; i < windows; i++) {
            int at = (int)(next_random(&seed) % (uint32_t)(pipeline.count + 1));
            fake_window_insert(&pipeline, at, halos[next_random(&seed) % 8]);
        }
        compare(&pipeline, &backend->base, 1 + trial % 4, GI_U8);
    }
}

static void bands_of_low_images(void **state) {
    fake_backend *backend = *state;
    for (height = 1; height <= 3; height++)
        for (int i = 0; i < TEXTS * 2; i++) {
            gi_pipeline pipeline = parse(texts[i / 2]);
            fake_window_insert(&pipeline, i % 2 ? 0 : pipeline.count, (uint32_t)i % 4);
            compare(&pipeline, &backend->base, 1 + i % 4, GI_U8);
        }
    height = HEIGHT;
}

// Every WINDOW stage of the table, before and behind barriers.
static void bands_of_the_tables_windows(void **state) {
    gi_backend *backend = *state;
    for (int i = 0; i < GI_STAGE_COUNT * 8; i++) {
        const gi_stage *stage = &gi_stage_table[i / 8];
        gi_pipeline pipeline = {.count = 0};
        if (stage->kind != GI_STAGE_WINDOW) continue;
        gi_pipeline_append(&pipeline, stage);
        gi_pipeline_append(&pipeline, &gi_stage_table[GI_STAGE_ID_equalize]);
        gi_pipeline_append(&pipeline, stage);
        compare(&pipeline, backend, 1 + i % 4, i / 4 % 2 ? GI_U16 : GI_U8);
    }
}

static void the_sum_by_hand(void **state) {
    fake_backend *backend = *state;
    static gi_encoder encoder;
    const uint8_t *in = (const uint8_t *)image;
    gi_pipeline pipeline = {.count = 0};
    fake_window_insert(&pipeline, 0, 2);
    gi_plan plan = plan_of(&pipeline, 1, GI_U8);
    gi_slot *slot = slot_of(&backend->base);
    gi_pass pass = pass_over(&plan, slot, (gi_band_rule){3, 0, true});
    emit(&pass, &encoder);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int sum = 0;
            for (int k = y - 2; k <= y + 2; k++) sum += k >= 0 && k < HEIGHT ? in[k * WIDTH + x] : 0;
            assert_int_equal(encoder.pixels[y * WIDTH + x], sum % 251);
        }
    backend->base.ops->slot_close(slot);
    gi_plan_free(&plan);
}

static void nothing_is_done_twice(void **state) {
    fake_backend *backend = *state;
    static gi_encoder encoder;
    gi_pipeline pipeline = parse("gray | threshold otsu | threshold otsu");
    fake_window_insert(&pipeline, 1, 3);
    gi_plan plan = plan_of(&pipeline, 3, GI_U8);
    gi_slot *slot = slot_of(&backend->base);
    static const struct {
        uint32_t rows;
        int windows, uploads;
    } cases[] = {{29, 1, 1}, {10, 3, 3 * 3}, {1, 29, 29 * 3}}; // in bands: stored once, counted, counted, applied
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        backend->windows = backend->uploads = 0;
        gi_pass pass = pass_over(&plan, slot, (gi_band_rule){cases[i].rows, 0, true});
        emit(&pass, &encoder);
        assert_int_equal(backend->windows, cases[i].windows);
        assert_int_equal(backend->uploads, cases[i].uploads);
    }
    backend->base.ops->slot_close(slot);
    gi_plan_free(&plan);
}

static gi_slot *other_slot;

static gi_status give_other(void *context, gi_slot **slot, gi_error *err) {
    (void)context, (void)err;
    *slot = other_slot;
    return GI_OK;
}

// Memory runs out at every call in turn: in smaller bands, or on another slot, the result is the same.
static void memory_runs_out_anywhere(void **state) {
    fake_backend *backend = *state, second = fake_backend_make();
    static gi_encoder whole, got;
    static const struct {
        const char *text;
        int windows, at[3];
    } cases[] = {{"equalize | threshold otsu | threshold 9", 3, {0, 1, 3}},
                 {"gray | threshold otsu", 0, {0}},
                 {"gray | threshold otsu | threshold otsu", 1, {1}},
                 {"gray", 2, {0, 1}},
                 {"threshold 7", 0, {0}}};
    gi_slot *slot = slot_of(&backend->base);
    other_slot = slot_of(&second.base);
    second.pause_us = 0;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        gi_pipeline pipeline = parse(cases[c].text);
        for (int i = cases[c].windows - 1; i >= 0; i--) fake_window_insert(&pipeline, cases[c].at[i], 2 + (uint32_t)i);
        gi_plan plan = plan_of(&pipeline, 3, GI_U8);
        gi_pass pass = pass_over(&plan, slot, (gi_band_rule){HEIGHT, 0, true});
        emit(&pass, &whole);
        for (uint32_t rows = 5; rows <= HEIGHT; rows += 6) // 17 and above: smaller bands first
            for (int failing = 0; failing < 60; failing++) {
                pass = pass_over(&plan, slot, (gi_band_rule){rows, 0, true});
                pass.fallback = give_other;
                backend->calls_until = failing;
                if (failing % 2)
                    emit(&pass, &got);
                else
                    emit_decoded(&pass, &got);
                expect_same(&got, &whole, &pipeline, c);
            }
        backend->calls_until = INT32_MAX;
        gi_plan_free(&plan);
    }
    backend->base.ops->slot_close(slot);
    backend->base.ops->slot_close(other_slot);
}

// The device fails at every call in turn: what lies in memory is done by the other slot, and what was decoded meanwhile
// and is gone fails with the device's reason.
static void the_device_fails_anywhere(void **state) {
    fake_backend *backend = *state, second = fake_backend_make();
    static gi_encoder whole, got;
    gi_pipeline pipeline = parse("gray | threshold otsu | threshold 9");
    fake_window_insert(&pipeline, 1, 2);
    gi_plan plan = plan_of(&pipeline, 3, GI_U8);
    gi_slot *slot = slot_of(&backend->base);
    other_slot = slot_of(&second.base);
    second.pause_us = 0;
    gi_pass pass = pass_over(&plan, slot, (gi_band_rule){HEIGHT, 0, true});
    emit(&pass, &whole);
    backend->is_lost = true;
    for (int failing = 0; failing < 40; failing++) {
        pass = pass_over(&plan, slot, (gi_band_rule){5, 0, true});
        pass.fallback = give_other;
        backend->calls_until = failing;
        if (failing % 2 == 0) {
            emit(&pass, &got);
            expect_same(&got, &whole, &pipeline, 0);
            continue;
        }
        void *window = decode_into_window(&pass);
        memset(&got, 0, sizeof got);
        gi_status status = gi_pass_emit(&pass, &got, NULL);
        assert_true(status == GI_ERR_DEVICE || status == GI_OK);
        if (status == GI_OK) expect_same(&got, &whole, &pipeline, 0);
        gi_pass_free(&pass);
        free(window);
    }
    backend->is_lost = false;
    backend->calls_until = INT32_MAX;
    backend->base.ops->slot_close(slot);
    backend->base.ops->slot_close(other_slot);
    gi_plan_free(&plan);
}

static void without_a_fallback_it_fails(void **state) {
    fake_backend *backend = *state;
    static gi_encoder encoder;
    gi_pipeline pipeline = parse("gray");
    gi_plan plan = plan_of(&pipeline, 3, GI_U8);
    gi_slot *slot = slot_of(&backend->base);
    gi_pass pass = pass_over(&plan, slot, (gi_band_rule){3, 0, true});
    void *window = decode_into_window(&pass);
    backend->rows_max = 2;
    assert_int_equal(gi_pass_emit(&pass, &encoder, NULL), GI_ERR_DEVICE_MEMORY);
    gi_pass_free(&pass);
    assert_int_equal(decoders_open, 0);
    free(window);
    backend->base.ops->slot_close(slot);
    gi_plan_free(&plan);
}

// Whole, in bands, as the image is decoded, and with memory that runs out.
static void measures_the_result(void **state) {
    fake_backend *backend = *state, second = fake_backend_make();
    gi_pipeline pipeline = parse("gray | threshold otsu | hist");
    fake_window_insert(&pipeline, 2, 3);
    gi_plan plan = plan_of(&pipeline, 4, GI_U8);
    gi_slot *slot = slot_of(&backend->base);
    gi_histogram first, next;
    other_slot = slot_of(&second.base);
    second.pause_us = 0;
    assert_int_equal(gi_histogram_init(&first, 2, GI_U8, NULL), GI_OK);
    for (uint32_t rows = HEIGHT; rows > 0; rows = rows * 2 / 3)
        for (int failing = -2; failing < 40; failing++) {
            assert_int_equal(gi_histogram_init(&next, 2, GI_U8, NULL), GI_OK);
            gi_pass pass = pass_over(&plan, slot, (gi_band_rule){rows, 0, true});
            void *window = failing % 2 ? decode_into_window(&pass) : NULL;
            bool is_first = failing == -2 && rows == HEIGHT;
            backend->calls_until = failing >= 0 ? failing : INT32_MAX;
            pass.fallback = give_other;
            assert_int_equal(gi_pass_measure(&pass, is_first ? &first : &next, NULL), GI_OK);
            gi_pass_free(&pass);
            free(window);
            assert_non_null(strstr(said, "otsu level "));
            if (!is_first) assert_memory_equal(first.counts, next.counts, 512 * sizeof *first.counts);
            gi_histogram_free(&next);
        }
    uint64_t sum = 0;
    for (int v = 0; v < 256; v++) sum += first.counts[v];
    assert_int_equal(sum, PIXELS);
    gi_histogram_free(&first);
    backend->base.ops->slot_close(slot);
    backend->base.ops->slot_close(other_slot);
    gi_plan_free(&plan);
}

static void stops_between_bands(void **state) {
    fake_backend *backend = *state;
    static gi_encoder encoder;
    gi_pipeline pipeline = parse("gray");
    gi_plan plan = plan_of(&pipeline, 3, GI_U8);
    gi_slot *slot = slot_of(&backend->base);
    gi_pass pass = pass_over(&plan, slot, (gi_band_rule){3, 0, true});
    gi_error err;
    atomic_store(&stop.drop, true);
    assert_int_equal(gi_pass_emit(&pass, &encoder, &err), GI_ERR_CANCELLED);
    atomic_store(&stop.drop, false);
    gi_pass_free(&pass);
    gi_pass_free(&pass);
    backend->base.ops->slot_close(slot);
    gi_plan_free(&plan);
}

// At every row, of every kind of leg: nothing is done after the stop or the failure.
static void ends_in_the_midst_of_decoding(void **state) {
    fake_backend *backend = *state;
    static gi_encoder encoder;
    gi_slot *slot = slot_of(&backend->base);
    for (int i = 0; i < TEXTS * 2; i++)
        for (uint32_t row = 0; row < HEIGHT; row += 3) {
            gi_pipeline pipeline = parse(texts[i / 2]);
            if (i % 2) fake_window_insert(&pipeline, 0, 4);
            gi_plan plan = plan_of(&pipeline, 3, GI_U8);
            gi_pass pass = pass_over(&plan, slot, (gi_band_rule){2 + row % 5, 0, true});
            memset(&encoder, 0, sizeof encoder);
            void *window = decode_into_window(&pass);
            if (row % 2)
                decoder.bad = row;
            else
                decoder.stopped = row;
            gi_status status = gi_pass_emit(&pass, &encoder, NULL);
            // A stop in the last band has nothing left to stop.
            if (row % 2 || encoder.rows < HEIGHT) assert_int_equal(status, row % 2 ? GI_ERR_FORMAT : GI_ERR_CANCELLED);
            if (row % 2) assert_true(encoder.rows <= row);
            gi_pass_free(&pass);
            assert_int_equal(decoders_open, 0);
            free(window);
            fake_forget_uploads((fake_slot *)slot);
            gi_plan_free(&plan);
        }
    atomic_store(&stop.drop, false);
    backend->base.ops->slot_close(slot);
}

static int setup(void **state) {
    static fake_backend backend;
    uint32_t seed = 20261130;
    backend = fake_backend_make();
    backend.pause_us = 0;
    *state = &backend;
    gi_gate_init(&gate, 1);
    for (size_t i = 0; i < sizeof image / sizeof image[0]; i++)
        image[i] = (uint16_t)(next_random(&seed) & (i % 3 ? 0xffff : 0x7f3f)); // not too even
    return 0;
}

static int setup_cpu(void **state) {
    static gi_backend *backend;
    setup(state);
    if (gi_backend_cpu_open(&backend, NULL) != GI_OK) return -1;
    *state = backend;
    return 0;
}

static int teardown(void **state) {
    gi_backend *backend = *state;
    backend->ops->close(backend);
    gi_gate_destroy(&gate);
    return 0;
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
#define CPU_TEST(test) cmocka_unit_test_setup_teardown(test, setup_cpu, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(bands_of_points_and_barriers),
        CPU_TEST(bands_of_points_and_barriers),
        TEST(bands_of_windows),
        TEST(bands_of_low_images),
        CPU_TEST(bands_of_the_tables_windows),
        TEST(the_sum_by_hand),
        TEST(nothing_is_done_twice),
        TEST(memory_runs_out_anywhere),
        TEST(the_device_fails_anywhere),
        TEST(without_a_fallback_it_fails),
        TEST(measures_the_result),
        TEST(stops_between_bands),
        TEST(ends_in_the_midst_of_decoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
