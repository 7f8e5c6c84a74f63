// The public C API, over a fake codec and fake backends: what it passes on, what it refuses, what it keeps.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "api_internal.h"
#include "fake_codec.h"
#include "fake_devices.h"
#include "gpuimg.h"
#include "temp_dir.h"

static gpuimg_error error;

static void assert_reason(gpuimg_status got, gpuimg_status status, const char *part) {
    assert_int_equal(got, status);
    assert_int_equal(error.status, status);
    if (!strstr(error.text, part)) fail_msg("'%s' is not in '%s'", part, error.text);
}

static gpuimg_context *open_context(const char *device) {
    gpuimg_context *context = NULL;
    assert_reason(gpuimg_context_open(device, 0, &context, &error), GPUIMG_OK, "");
    assert_string_equal(error.text, "");
    assert_int_equal(error.place_offset, -1);
    return context;
}

static gpuimg_pipeline *parse(const char *text) {
    gpuimg_pipeline *pipeline = NULL;
    assert_reason(gpuimg_pipeline_parse(text, &pipeline, &error), GPUIMG_OK, "");
    return pipeline;
}

static void put_image(const char *path, int fault) {
    fake_header h = {2, 1, 3, 1, fault};
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(png_signature, 8, 1, file);
    fwrite(&h, sizeof h, 1, file);
    fwrite("\x0a\x14\x1e\xff\xff\xff", 1, 6, file);
    assert_int_equal(fclose(file), 0);
}

static gpuimg_options defaults(void) {
    gpuimg_options options;
    gpuimg_options_init(&options, sizeof options);
    return options;
}

// ---- contexts and pipelines ---------------------------------------------------------------------------------------

static void contexts(void **state) {
    (void)state;
    gpuimg_context *context = open_context(NULL);
    assert_string_equal(gpuimg_context_device(context), "auto");
    gpuimg_context_close(context);
    context = open_context("cpu");
    assert_string_equal(gpuimg_context_device(context), "cpu");
    gpuimg_context_close(context);
    gpus = 1;
    context = open_context("cuda");
    assert_string_equal(gpuimg_context_device(context), "cuda:0");
    gpuimg_context_close(context);
    gpus = 3;
    context = open_context("cuda:all");
    assert_string_equal(gpuimg_context_device(context), "cuda:0,1,2");
    gi_choice choice;
    gi_context_choose(context, &(gi_work_estimate){.files = 1}, &choice);
    assert_ptr_equal(choice.backend, &gpu);
    assert_true(choice.more_count == 2 && choice.more[1] == &further_gpus[2].base && !choice.fallback);
    gpuimg_context_close(context);
    context = open_context("cuda:2,1");
    assert_string_equal(gpuimg_context_device(context), "cuda:2,1");
    gpuimg_context_close(context);
    gpus = 1;
    context = (gpuimg_context *)&error;
    assert_reason(gpuimg_context_open("cuda:1", 0, &context, &error), GPUIMG_ERR_DEVICE, "no CUDA device 1");
    assert_null(context);
    assert_reason(gpuimg_context_open("gpu", 0, &context, &error), GPUIMG_ERR_USAGE, "'gpu'");
    assert_reason(gpuimg_context_open("cpu", -1, &context, &error), GPUIMG_ERR_USAGE, "-1");
    assert_reason(gpuimg_context_open("cpu", 0, NULL, &error), GPUIMG_ERR_USAGE, "context");
    assert_int_equal(gpuimg_context_open("cpu", 0, NULL, NULL), GPUIMG_ERR_USAGE);
    gpuimg_context_close(NULL);
    assert_string_equal(gpuimg_context_device(NULL), "");

    // Reasons are one line, whatever they quote.
    gpuimg_context *none = NULL;
    assert_reason(gpuimg_context_open("a\n\x1b[31m", 0, &none, &error), GPUIMG_ERR_USAGE, "'a??[31m' is no device");
}

// `auto` starts a GPU at the first work that is worth it, once, and looks for one only once.
static gi_cost fake_seconds(const void *args) {
    (void)args;
    return (gi_cost){10e-9, 0};
}

static void automatic(void **state) {
    (void)state;
    gi_stage stage = {.name = "fake", .kind = GI_STAGE_WINDOW, .cost = fake_seconds};
    gi_pipeline pipeline = {.count = 1};
    pipeline.calls[0].stage = &stage;
    gi_work_estimate small = {.pipeline = &pipeline, .files = 1, .pixels = 1000000, .decoded = true}, large = small;
    large.pixels = 1ULL << 34;
    gi_choice choice;
    gpus = 1;
    gpus_opened = 0;
    gpuimg_context *context = open_context("auto");
    gi_context_choose(context, &small, &choice);
    assert_ptr_equal(choice.backend, &cpu);
    assert_null(choice.fallback);
    assert_int_equal(gpus_opened, 0);
    for (int i = 0; i < 2; i++) {
        gi_context_choose(context, &large, &choice);
        assert_ptr_equal(choice.backend, &gpu);
        assert_ptr_equal(choice.fallback, &cpu);
    }
    assert_int_equal(gpus_opened, 1);
    gpuimg_context_close(context);
    gpus = 0;
    context = open_context("auto");
    for (int i = 0; i < 2; i++) {
        gi_context_choose(context, &large, &choice);
        assert_ptr_equal(choice.backend, &cpu);
        assert_string_equal(choice.why, "no GPU is usable: no driver");
        gpus = 1;
    }
    gpuimg_context_close(context);
}

static void pipelines(void **state) {
    (void)state;
    gpuimg_pipeline *pipeline = parse("  gray|threshold   otsu ");
    assert_string_equal(gpuimg_pipeline_text(pipeline), "gray weights=601 | threshold level=otsu");
    gpuimg_pipeline_free(pipeline);
    char text[64 * 40] = "gray";
    for (int i = 1; i < 64; i++) strcat(text, " | threshold level=65535");
    pipeline = parse(text);
    assert_int_equal(strlen(gpuimg_pipeline_text(pipeline)), 16 + 63 * 24);
    gpuimg_pipeline_free(pipeline);
    assert_reason(gpuimg_pipeline_parse("gray | grey", &pipeline, &error), GPUIMG_ERR_USAGE, "grey");
    assert_null(pipeline);
    assert_int_equal(error.place_offset, 7);
    assert_int_equal(error.place_length, 4);
    assert_reason(gpuimg_pipeline_parse("", &pipeline, &error), GPUIMG_ERR_USAGE, "empty");
    assert_reason(gpuimg_pipeline_parse(NULL, &pipeline, &error), GPUIMG_ERR_USAGE, "no text");
    assert_reason(gpuimg_pipeline_parse("gray", NULL, &error), GPUIMG_ERR_USAGE, "pipeline");
    gpuimg_pipeline_free(NULL);
    assert_string_equal(gpuimg_pipeline_text(NULL), "");
}

// ---- files --------------------------------------------------------------------------------------------------------

static void one_file(void **state) {
    (void)state;
    gpuimg_context *context = open_context(NULL);
    gpuimg_pipeline *gray = parse("gray"), *mask = parse("gray | threshold 100");
    put_image("a.png", FAKE_GOOD);
    strcpy(error.text, "stale");
    assert_reason(gpuimg_run_file(context, gray, "a.png", "b.png", NULL, &error), GPUIMG_OK, "");
    assert_string_equal(error.text, "");
    assert_true(text_is("b.png", "<PNG 0 2x1x1>\x12\xff"));
    assert_int_equal(cpu.threads, 3);
    assert_int_equal(gpuimg_run_file(context, mask, "a.png", "a.png", NULL, NULL), GPUIMG_OK);
    assert_true(file_is("a.png", "<PNG 0 2x1x1>\0\xff", 15));
    assert_int_equal(entry_count("."), 2);
    assert_int_equal(cpu.slots, 1); // kept from run to run
    gpuimg_pipeline_free(mask);
    gpuimg_pipeline_free(gray);
    gpuimg_context_close(context);
}

static void file_options(void **state) {
    (void)state;
    gpuimg_context *context = open_context(NULL);
    gpuimg_pipeline *gray = parse("gray");
    gpuimg_options options = defaults();
    volatile sig_atomic_t cancel = 1;
    put_image("a.png", FAKE_GOOD);
    put_text("b", "old");
    options.no_clobber = 1;
    assert_reason(gpuimg_run_file(context, gray, "a.png", "b", &options, &error), GPUIMG_ERR_EXISTS, "b exists");
    options.no_clobber = 0;
    options.skip_existing = 1;
    assert_reason(gpuimg_run_file(context, gray, "a.png", "b", &options, &error), GPUIMG_OK, "");
    assert_true(text_is("b", "old"));
    options.skip_existing = 0;
    options.cancel = &cancel;
    assert_reason(gpuimg_run_file(context, gray, "a.png", "b", &options, &error), GPUIMG_ERR_CANCELLED, "");
    assert_true(text_is("b", "old"));
    cancel = 0;
    options.format = GPUIMG_JPEG;
    assert_reason(gpuimg_run_file(context, gray, "a.png", "b", &options, &error), GPUIMG_OK, "");
    assert_true(text_is("b", "<JPEG 0 2x1x1>\x12\xff"));
    options.size = offsetof(gpuimg_options, format); // a program built when there was no format yet
    assert_reason(gpuimg_run_file(context, gray, "a.png", "b", &options, &error), GPUIMG_OK, "");
    assert_true(text_is("b", "<PNG 0 2x1x1>\x12\xff"));
    options = defaults();
    options.size = offsetof(gpuimg_options, codec); // and one when there was no choice of codecs
    options.codec = (gpuimg_codec)99;
    options.progressive = 99;
    assert_reason(gpuimg_run_file(context, gray, "a.png", "b", &options, &error), GPUIMG_OK, "");
    gpuimg_pipeline_free(gray);
    gpuimg_context_close(context);
}

// What the codecs are told of the options.
static void codec_options(void **state) {
    (void)state;
    gi_api_setup setup;
    gi_error err = {0};
    gpuimg_options o = defaults();
    assert_int_equal(gi_api_setup_begin(NULL, &setup, &err), GI_OK);
    gi_encode_options *encode = &setup.batch.encode;
    assert_int_equal(encode->png_level, GI_PNG_LEVEL);
    assert_int_equal(encode->codec, GI_CODEC_AUTO);
    assert_int_equal(encode->subsampling, GI_SUBSAMPLING_420);
    assert_int_equal(encode->png_reduce, GI_PNG_REDUCE_AUTO);
    assert_false(encode->optimize || encode->progressive);
    assert_int_equal(setup.batch.decode.depth, 0);
    gi_api_setup_end(&setup);
    o.codec = GPUIMG_CODEC_STB;
    o.subsampling = GPUIMG_SUBSAMPLING_422;
    o.optimize = 7;
    o.progressive = 1;
    o.png_reduce = GPUIMG_PNG_REDUCE_OFF;
    o.depth = 16;
    o.strip = 1;
    assert_int_equal(gi_api_setup_begin(&o, &setup, &err), GI_OK);
    assert_int_equal(setup.batch.decode.codec, GI_CODEC_STB);
    assert_int_equal(setup.batch.decode.depth, 16);
    assert_true(setup.batch.strip);
    assert_int_equal(encode->codec, GI_CODEC_STB);
    assert_int_equal(encode->subsampling, GI_SUBSAMPLING_422);
    assert_int_equal(encode->png_reduce, GI_PNG_REDUCE_OFF);
    assert_true(encode->optimize && encode->progressive);
    gi_api_setup_end(&setup);
    o = defaults();
    o.codec = GPUIMG_CODEC_ZLIB; // what it may be lacking
    assert_int_equal(gi_api_setup_begin(&o, &setup, &err), gi_codec_check(GI_CODEC_ZLIB, NULL));
    gi_api_setup_end(&setup);
}

static void assert_options_refused(gpuimg_options options, const char *part) {
    gpuimg_image image = {0};
    assert_reason(gpuimg_load("a.png", &image, &options, &error), GPUIMG_ERR_USAGE, part);
}

static void bad_options(void **state) {
    (void)state;
    gpuimg_options o;
    put_image("a.png", FAKE_GOOD);
    memset(&o, 0, sizeof o);
    assert_options_refused(o, "gpuimg_options_init");
    o = defaults(), o.quality = 101, assert_options_refused(o, "quality 101");
    o = defaults(), o.png_level = -1, assert_options_refused(o, "png_level -1");
    o = defaults(), o.format = (gpuimg_format)3, assert_options_refused(o, "format");
    o = defaults(), o.codec = (gpuimg_codec)-1, assert_options_refused(o, "codec");
    o = defaults(), o.subsampling = (gpuimg_subsampling)3, assert_options_refused(o, "subsampling");
    o = defaults(), o.png_reduce = (gpuimg_png_reduce)3, assert_options_refused(o, "png_reduce");
    o = defaults(), o.depth = 12, assert_options_refused(o, "depth");
    o = defaults(), o.workers = -1, assert_options_refused(o, "workers");
    o = defaults(), o.skip_existing = o.no_clobber = 1, assert_options_refused(o, "exclude");
    // A small struct of an old program's, and a large one of a new program's.
    unsigned char room[sizeof o + 64];
    memset(room, 0xA5, sizeof room);
    gpuimg_options_init((gpuimg_options *)room, offsetof(gpuimg_options, strict));
    assert_int_equal(room[offsetof(gpuimg_options, strict)], 0xA5);
    memset(room, 0xA5, sizeof room);
    gpuimg_options_init((gpuimg_options *)room, sizeof room);
    assert_int_equal(room[sizeof o], 0);
    memcpy(&o, room, sizeof o);
    assert_int_equal(o.size, sizeof room);
    gpuimg_image image = {0};
    assert_reason(gpuimg_load("a.png", &image, (gpuimg_options *)room, &error), GPUIMG_OK, "");
    gpuimg_image_free(&image);
    gpuimg_options_init(NULL, sizeof o);
    gpuimg_options_init(&o, 0);
}

static void file_failures(void **state) {
    (void)state;
    gpuimg_context *context = open_context(NULL);
    gpuimg_pipeline *gray = parse("gray"), *hist = parse("gray | hist");
    put_image("a.png", FAKE_GOOD);
    put_image("bad.png", FAKE_BAD_PIXELS);
    mkdir("dir", 0777);
    assert_reason(gpuimg_run_file(NULL, gray, "a.png", "b.png", NULL, &error), GPUIMG_ERR_USAGE, "no context");
    assert_reason(gpuimg_run_file(context, NULL, "a.png", "b.png", NULL, &error), GPUIMG_ERR_USAGE, "no pipeline");
    assert_reason(gpuimg_run_file(context, gray, NULL, "b.png", NULL, &error), GPUIMG_ERR_USAGE, "needed");
    assert_reason(gpuimg_run_file(context, gray, "a.png", NULL, NULL, &error), GPUIMG_ERR_USAGE, "needed");
    assert_reason(gpuimg_run_file(context, hist, "a.png", "b.png", NULL, &error), GPUIMG_ERR_USAGE, "hist");
    assert_reason(gpuimg_run_file(context, gray, "no.png", "b.png", NULL, &error), GPUIMG_ERR_IO, "No such file");
    assert_reason(gpuimg_run_file(context, gray, "dir", "b.png", NULL, &error), GPUIMG_ERR_IO, "directory");
    assert_reason(gpuimg_run_file(context, gray, "bad.png", "b.png", NULL, &error), GPUIMG_ERR_FORMAT, "bad pixels");
    assert_reason(gpuimg_run_file(context, gray, "a.png", "dir", NULL, &error), GPUIMG_ERR_IO, "dir: Is a directory");
    assert_int_equal(gpuimg_run_file(context, gray, "no.png", "b.png", NULL, NULL), GPUIMG_ERR_IO);
    assert_int_equal(entry_count("."), 3);
    gpuimg_pipeline_free(hist);
    gpuimg_pipeline_free(gray);
    gpuimg_context_close(context);
}

typedef struct heard {
    int failures, done, failed;
    char file[64], text[128];
} heard;

static void on_message(void *user, gpuimg_severity severity, const char *file, const char *text) {
    heard *h = user;
    h->failures += severity == GPUIMG_FAILURE;
    snprintf(h->file, sizeof h->file, "%s", file);
    snprintf(h->text, sizeof h->text, "%s", text);
}

static void on_done(void *user, size_t index, gpuimg_status status) {
    heard *h = user;
    assert_int_equal(status, index == 1 ? GPUIMG_ERR_FORMAT : GPUIMG_OK);
    h->done += status == GPUIMG_OK;
    h->failed += status != GPUIMG_OK;
}

static void batches(void **state) {
    (void)state;
    gpuimg_context *context = open_context(NULL);
    gpuimg_pipeline *gray = parse("gray");
    gpuimg_batch_result result;
    gpuimg_options options = defaults();
    heard told = {0};
    put_image("a.png", FAKE_GOOD);
    put_image("bad.png", FAKE_BAD_HEADER);
    gpuimg_file files[] = {{"a.png", "x.png"}, {"bad.png", "y.png"}, {"a.png", "z.png"}};
    options.on_message = on_message;
    options.on_done = on_done;
    options.user = &told;
    assert_reason(gpuimg_run_files(context, gray, files, 3, &options, &result, &error), GPUIMG_ERR_FORMAT,
                  "bad.png: bad header");
    assert_int_equal(result.done, 2);
    assert_int_equal(result.failed, 1);
    assert_int_equal(result.skipped + result.not_started, 0);
    assert_true(told.failures == 1 && told.done == 2 && told.failed == 1);
    assert_string_equal(told.file, "bad.png");
    assert_string_equal(told.text, "bad header");
    assert_true(text_is("z.png", "<PNG 0 2x1x1>\x12\xff"));
    options = defaults();
    options.skip_existing = 1;
    assert_reason(gpuimg_run_files(context, gray, files, 1, &options, &result, &error), GPUIMG_OK, "");
    assert_int_equal(result.skipped, 1);
    assert_reason(gpuimg_run_files(context, gray, NULL, 0, NULL, NULL, &error), GPUIMG_OK, "");
    files[1] = (gpuimg_file){"a.png", "./x.png"};
    assert_reason(gpuimg_run_files(context, gray, files, 2, NULL, &result, &error), GPUIMG_ERR_USAGE, "x.png");
    assert_int_equal(result.not_started, 2);
    files[1].output = NULL;
    assert_reason(gpuimg_run_files(context, gray, files, 2, NULL, NULL, &error), GPUIMG_ERR_USAGE, "file 1");
    assert_reason(gpuimg_run_files(context, gray, NULL, 2, NULL, NULL, &error), GPUIMG_ERR_USAGE, "no files");
    assert_reason(gpuimg_run_files(context, NULL, files, 1, NULL, NULL, &error), GPUIMG_ERR_USAGE, "no pipeline");
    assert_reason(gpuimg_run_files(NULL, gray, files, 1, NULL, NULL, &error), GPUIMG_ERR_USAGE, "no context");
    gpuimg_pipeline_free(gray);
    gpuimg_context_close(context);
}

static void loads_and_saves(void **state) {
    (void)state;
    gpuimg_image image = {.width = 7};
    put_image("a.png", FAKE_GOOD);
    put_image("bad.png", FAKE_BAD_PIXELS);
    assert_reason(gpuimg_load("a.png", &image, NULL, &error), GPUIMG_OK, "");
    assert_true(image.width == 2 && image.height == 1 && image.channels == 3 && image.pitch_bytes == 6);
    assert_memory_equal(image.data, "\x0a\x14\x1e\xff\xff\xff", 6);
    assert_reason(gpuimg_save("b.jpg", &image, NULL, &error), GPUIMG_OK, "");
    assert_true(text_is("b.jpg", "<JPEG 0 2x1x3>\x0a\x14\x1e\xff\xff\xff"));
    assert_reason(gpuimg_save("b", &image, NULL, &error), GPUIMG_ERR_USAGE, "b: neither");
    assert_reason(gpuimg_save(NULL, &image, NULL, &error), GPUIMG_ERR_USAGE, "name");
    assert_reason(gpuimg_save("no/b.png", &image, NULL, &error), GPUIMG_ERR_IO, "No such file");
    gpuimg_options options = defaults();
    options.no_clobber = 1;
    assert_reason(gpuimg_save("b.jpg", &image, &options, &error), GPUIMG_ERR_EXISTS, "b.jpg exists");
    gpuimg_image_free(&image);
    assert_null(image.data);
    gpuimg_image_free(&image);
    gpuimg_image_free(NULL);
    assert_reason(gpuimg_save("b.png", &image, NULL, &error), GPUIMG_ERR_USAGE, "data is NULL");
    assert_reason(gpuimg_save("b.png", NULL, NULL, &error), GPUIMG_ERR_USAGE, "no image");
    image.data = &error;
    assert_reason(gpuimg_load("bad.png", &image, NULL, &error), GPUIMG_ERR_FORMAT, "bad pixels");
    assert_true(image.data == NULL && image.width == 0);
    assert_reason(gpuimg_load(NULL, &image, NULL, &error), GPUIMG_ERR_USAGE, "name");
    assert_reason(gpuimg_load("a.png", NULL, NULL, &error), GPUIMG_ERR_USAGE, "image");
    assert_int_equal(fake_decoders_open + fake_encoders_open, 0);
    assert_int_equal(entry_count("."), 3);
}

// ---- images in memory ---------------------------------------------------------------------------------------------

// A GPU that is out of memory for more than 16 rows: bands, into the caller's memory.
static void in_bands(void **state) {
    (void)state;
    enum { WIDTH = 3, HEIGHT = 100 };
    static unsigned char in[HEIGHT][WIDTH][3], out[HEIGHT][WIDTH + 1];
    gpus = 1;
    gpuimg_context *context = open_context("cuda");
    gpuimg_pipeline *gray = parse("gray");
    gpu.rows_max = 16;
    for (int y = 0; y < HEIGHT; y++) memset(in[y], y, sizeof in[y]);
    memset(out, 0xA5, sizeof out);
    gpuimg_image from = {in, 0, WIDTH, HEIGHT, 3, GPUIMG_U8}, to = {out, WIDTH + 1, WIDTH, HEIGHT, 1, GPUIMG_U8};
    assert_reason(gpuimg_run_image(context, gray, &from, &to, &error), GPUIMG_OK, "");
    assert_true(gpu.uploads > 6);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x <= WIDTH; x++) assert_int_equal(out[y][x], x < WIDTH ? y : 0xA5);
    // Shared memory: rows that are not done yet must not be lost under the result.
    to = (gpuimg_image){in, 0, WIDTH, HEIGHT, 1, GPUIMG_U8};
    assert_reason(gpuimg_run_image(context, gray, &from, &to, &error), GPUIMG_OK, "");
    for (int i = 0; i < WIDTH * HEIGHT; i++) assert_int_equal(((unsigned char *)in)[i], i / WIDTH);
    gpu.rows_max = 1;
    assert_reason(gpuimg_run_image(context, gray, &from, &from, &error), GPUIMG_ERR_USAGE, "3x100 gray of 1 byte");
    to.data = out;
    assert_reason(gpuimg_run_image(context, gray, &from, &to, &error), GPUIMG_ERR_DEVICE_MEMORY, "out of device");
    gpuimg_pipeline_free(gray);
    gpuimg_context_close(context);
}

// A slot that failed is not used again; a slot for each thread that is in a run.
static void *run_many(void *argument) {
    gpuimg_context *context = argument;
    gpuimg_pipeline *gray = NULL;
    unsigned char in[3] = {10, 20, 30}, out = 0;
    gpuimg_image from = {in, 0, 1, 1, 3, GPUIMG_U8}, to = {&out, 0, 1, 1, 1, GPUIMG_U8};
    size_t good = 0;
    if (gpuimg_pipeline_parse("gray", &gray, NULL)) return NULL;
    for (int i = 0; i < 50; i++) good += gpuimg_run_image(context, gray, &from, &to, NULL) == GPUIMG_OK && out == 18;
    gpuimg_pipeline_free(gray);
    return good == 50 ? argument : NULL;
}

static void slots(void **state) {
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    gpuimg_context *context = open_context("cpu");
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, run_many, context), 0);
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, context);
    }
    assert_in_range(cpu.slots, 1, THREADS);
    gpuimg_context_close(context);
    context = open_context("cpu");
    cpu.slots_max = 0;
    unsigned char pixel = 0;
    gpuimg_image image = {&pixel, 0, 1, 1, 1, GPUIMG_U8};
    gpuimg_pipeline *gray = parse("gray");
    assert_reason(gpuimg_run_image(context, gray, &image, &image, &error), GPUIMG_ERR_DEVICE, "no more slots");
    cpu.slots_max = 9;
    assert_reason(gpuimg_run_image(context, gray, &image, &image, &error), GPUIMG_OK, "");
    gpuimg_pipeline_free(gray);
    gpuimg_context_close(context);
}

static void names(void **state) {
    (void)state;
    assert_string_equal(gpuimg_version(), GPUIMG_VERSION);
    assert_string_equal(gpuimg_status_name(GPUIMG_OK), "ok");
    assert_string_equal(gpuimg_status_name(GPUIMG_ERR_DEVICE_MEMORY), "device memory");
    assert_string_equal(gpuimg_status_name((gpuimg_status)99), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts),      cmocka_unit_test(automatic),  cmocka_unit_test(pipelines),
        TEMP_DIR_TEST(one_file),         TEMP_DIR_TEST(file_options),  TEMP_DIR_TEST(bad_options),
        cmocka_unit_test(codec_options), TEMP_DIR_TEST(file_failures), TEMP_DIR_TEST(batches),
        TEMP_DIR_TEST(loads_and_saves),  cmocka_unit_test(in_bands),   cmocka_unit_test(slots),
        cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
