// The executor, over a fake codec and a fake backend.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "fake_backend.h"
#include "fake_codec.h"
#include "run/batch.h"
#include "run/pass.h"
#include "temp_dir.h"

static int cores = 4;
int gi_cpu_cores(void) { return cores; }

// ---- what a run says ----------------------------------------------------------------------------------------------

static char said[1 << 16];
static pthread_mutex_t said_mutex = PTHREAD_MUTEX_INITIALIZER;

static void say(void *context, gi_severity severity, const char *file, const char *text) {
    static const char *const names[] = {"note", "warning", "failure"};
    (void)context;
    pthread_mutex_lock(&said_mutex);
    size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%s %s: %s\n", names[severity], file, text);
    pthread_mutex_unlock(&said_mutex);
}

static const gi_messages messages = {say, NULL};

static int said_count(const char *part) {
    int count = 0;
    for (const char *p = said; (p = strstr(p, part)); p++) count++;
    return count;
}

// ---- images -------------------------------------------------------------------------------------------------------

static void put_image(const char *path, fake_header h) {
    size_t pixels = (size_t)h.width * h.height * (size_t)h.channels, size = 8 + sizeof h + pixels;
    uint8_t *bytes = malloc(size);
    memcpy(bytes, png_signature, 8);
    memcpy(bytes + 8, &h, sizeof h);
    uint32_t random = h.width * 7919 + h.height;
    for (size_t i = 0; i < pixels; i++) {
        random = random * 1664525 + 1013904223;
        bytes[8 + sizeof h + i] = (uint8_t)((random >> 24) * (i % 3 + 1) / 3);
    }
    put_file(path, bytes, size);
    free(bytes);
}

static void put_good(const char *path, uint32_t width, uint32_t height, int channels) {
    put_image(path, (fake_header){width, height, channels, 1, FAKE_GOOD});
}

static char *slurp(const char *path, size_t *size) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    *size = (size_t)st.st_size;
    char *bytes = malloc(*size + 1);
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    bytes[*size] = '\0';
    return bytes;
}

static void assert_same_files(const char *a, const char *b) {
    size_t size_a = 0, size_b = 0;
    char *bytes_a = slurp(a, &size_a), *bytes_b = slurp(b, &size_b);
    assert_int_equal(size_a, size_b);
    assert_memory_equal(bytes_a, bytes_b, size_a);
    free(bytes_a);
    free(bytes_b);
}

static void assert_begins(const char *path, const char *text) {
    size_t size = 0;
    char *bytes = slurp(path, &size);
    if (strncmp(bytes, text, strlen(text)) != 0) fail_msg("%s begins with %.30s", path, bytes);
    free(bytes);
}

// ---- runs ---------------------------------------------------------------------------------------------------------

static fake_backend backend, second;
static gi_pipeline pipeline;
static gi_batch_options options;
static gi_batch_result result;
static gi_item_list list;
static gi_error err;

static void prepare(const char *text) {
    said[0] = '\0';
    cores = 4;
    backend = fake_backend_make();
    second = fake_backend_make();
    assert_int_equal(gi_pipeline_parse(text, &pipeline, &err), GI_OK);
    options = (gi_batch_options){.pipeline = &pipeline,
                                 .backend = &backend.base,
                                 .decode = {.auto_orient = true},
                                 .encode = {.quality = 90, .png_level = 6},
                                 .jpeg_luma = true,
                                 .messages = &messages};
    result = (gi_batch_result){0};
}

// Collects IN (walked with -r) into OUT, runs and frees.
static gi_status run_tree(const char *in, const char *out) {
    gi_inputs_request request = {.inputs = &in, .input_count = 1, .output = out, .recursive = true};
    request.messages = &messages;
    assert_int_equal(gi_inputs_collect(&request, &list, &err), GI_OK);
    gi_status status = gi_batch_run(&list, &options, &result, &err);
    gi_item_list_free(&list);
    assert_int_equal(fake_decoders_open, 0);
    assert_int_equal(fake_encoders_open, 0);
    assert_int_equal(fake_metadata_held, 0);
    return status;
}

static void assert_result(size_t done, size_t skipped, size_t failed, size_t not_started) {
    assert_int_equal(result.done, done);
    assert_int_equal(result.skipped, skipped);
    assert_int_equal(result.failed, failed);
    assert_int_equal(result.not_started, not_started);
}

static const uint32_t sizes[][2] = {{1, 1}, {15, 1}, {1, 15}, {17, 31}, {64, 200}, {333, 77}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void put_sizes(void) {
    mkdir("in", 0777);
    for (int i = 0; i < SIZES; i++) {
        char path[32];
        snprintf(path, sizeof path, "in/%d.png", i);
        put_good(path, sizes[i][0], sizes[i][1], i % 4 + 1);
    }
}

static void assert_same_sizes(const char *a, const char *b) {
    for (int i = 0; i < SIZES; i++) {
        char path_a[64], path_b[64];
        snprintf(path_a, sizeof path_a, "%s/%d.png", a, i);
        snprintf(path_b, sizeof path_b, "%s/%d.png", b, i);
        assert_same_files(path_a, path_b);
    }
}

static gi_outcome outcomes[SIZES];

static void take_outcome(void *context, size_t index, const gi_outcome *outcome) {
    (void)context;
    outcomes[index] = *outcome;
    if (outcome->status != GI_OK) assert_true(strlen(outcome->reason) > 0);
}

// The result by hand, of one image.
static void one_image(void **state) {
    (void)state;
    put_file("a.png", png_signature, 8);
    fake_header h = {2, 1, 3, 1, FAKE_GOOD};
    FILE *file = fopen("a.png", "ab");
    fwrite(&h, sizeof h, 1, file);
    fwrite("\x0a\x14\x1e\xff\xff\xff", 1, 6, file);
    fclose(file);
    prepare("gray");
    gi_timeline timeline;
    gi_timeline_init(&timeline);
    options.timeline = &timeline;
    options.on_progress = take_outcome;
    assert_int_equal(run_tree("a.png", "b.jpg"), GI_OK);
    // The fake backend is a device's: it copies.
    for (int p = 0; p < GI_PHASE_COUNT; p++)
        assert_true(timeline.phases[p].spans >= 1 && timeline.phases[p].active == 0);
    assert_int_equal(timeline.phases[GI_PHASE_IMAGE].spans, 1);
    gi_timeline_destroy(&timeline);
    assert_result(1, 0, 0, 0);
    assert_int_equal(outcomes[0].bytes_in, 8 + sizeof h + 6);
    assert_int_equal(outcomes[0].bytes_out, strlen("<JPEG 0 2x1x1>") + 2);
    assert_true(outcomes[0].status == GI_OK && !outcomes[0].skipped && outcomes[0].time_ms >= 0);
    assert_true(text_is("b.jpg", "<JPEG 0 2x1x1>\x12\xff")); // (9798*10 + 19235*20 + 3735*30 + 16384) >> 15 = 18
    assert_int_equal(backend.uploads, 1);
    assert_int_equal(fake_luma_asked, 1);
    assert_string_equal(said, "");
    assert_int_equal(entry_count("."), 2);
}

static void same_bytes(void **state) {
    (void)state;
    static const char *const pipelines[] = {"gray", "threshold 100", "gray | threshold otsu",
                                            "threshold otsu | threshold otsu"};
    put_sizes();
    for (size_t p = 0; p < sizeof pipelines / sizeof *pipelines; p++) {
        prepare(pipelines[p]);
        options.workers = 1;
        assert_int_equal(run_tree("in", "whole"), GI_OK);
        assert_result(SIZES, 0, 0, 0);
        assert_true(backend.uploads <= SIZES); // a barrier's pass keeps the image for the next
        for (size_t band = 1; band < 5000; band = band * 7 + 60) {
            prepare(pipelines[p]);
            options.band_bytes = band;
            assert_int_equal(run_tree("in", "bands"), GI_OK);
            assert_true(backend.uploads > SIZES || band > 1);
            assert_same_sizes("whole", "bands");
        }
    }
    assert_int_equal(said_count("otsu level"), SIZES * 2);
}

// On the CPU, which "cpu" stands for, an image is decoded as its bands need it: whole, in memory, only if it must.
static void bands_as_they_are_decoded(void **state) {
    (void)state;
    static const char *const pipelines[] = {"gray", "threshold 100", "gray | threshold otsu",
                                            "threshold otsu | threshold 9"};
    put_sizes();
    for (size_t p = 0; p < sizeof pipelines / sizeof *pipelines; p++) {
        prepare(pipelines[p]);
        assert_int_equal(run_tree("in", "whole"), GI_OK);
        for (uint32_t rows = 1; rows < 250; rows = rows * 3 + 5) {
            prepare(pipelines[p]);
            strcpy(backend.base.name, "cpu");
            options.band_rows = rows;
            fake_rows_asked = 0;
            assert_int_equal(run_tree("in", "bands"), GI_OK);
            assert_same_sizes("whole", "bands");
            assert_int_equal(fake_rows_asked, rows < 200 ? rows : 200);
        }
    }
}

// What fails at its end leaves nothing, in place of nothing.
static void bad_ends(void **state) {
    (void)state;
    mkdir("out", 0777);
    put_image("a.png", (fake_header){5, 50, 3, 1, FAKE_BAD_END});
    for (uint32_t rows = 4; rows <= 64; rows *= 4) {
        static const char *const outputs[] = {"out/new.png", "out/old.png", "a.png"};
        for (int i = 0; i < 3; i++) {
            size_t size = 0, size_after = 0;
            prepare(i == 1 ? "gray | threshold otsu" : "gray");
            strcpy(backend.base.name, "cpu");
            options.band_rows = rows;
            put_text("out/old.png", "kept");
            char *before = slurp("a.png", &size);
            assert_int_equal(run_tree("a.png", outputs[i]), GI_OK);
            assert_result(0, 0, 1, 0);
            assert_int_equal(said_count("failure a.png: bad end\n"), 1);
            assert_int_equal(entry_count("out"), 1);
            assert_true(text_is("out/old.png", "kept"));
            char *after = slurp("a.png", &size_after);
            assert_true(size == size_after && memcmp(before, after, size) == 0);
            free(before);
            free(after);
        }
    }
}

// Codecs may use all threads of the worker; the slot does where its stages are what takes time.
static void threads_of_an_image(void **state) {
    (void)state;
    put_good("a.png", 9, 9, 3);
    static const struct {
        const char *text;
        uint32_t halo; // fake_cost goes by it
        int slot;
    } cases[] = {{"gray", 0, 1}, {"gray", 1, 1}, {"gray", 4, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        prepare(cases[i].text);
        if (cases[i].halo) fake_window_insert(&pipeline, 0, cases[i].halo);
        assert_int_equal(run_tree("a.png", "b.png"), GI_OK);
        assert_int_equal(backend.threads, 4);
        assert_int_equal(backend.threads_used, cases[i].slot);
        assert_int_equal(fake_decoder_threads, 4);
        assert_int_equal(fake_encoder_threads, 4);
        assert_int_equal(fake_binary, 0);
    }
    prepare("threshold 7");
    cores = 1;
    assert_int_equal(run_tree("a.png", "b.png"), GI_OK);
    assert_int_equal(backend.threads_used, 1);
    assert_int_equal(fake_decoder_threads, 1);
    assert_int_equal(fake_binary, 1);
}

static void device_memory(void **state) {
    (void)state;
    put_sizes();
    prepare("threshold otsu");
    assert_int_equal(run_tree("in", "whole"), GI_OK);
    prepare("threshold otsu"); // smaller bands help
    backend.rows_max = GI_BAND_ROWS_MIN;
    assert_int_equal(run_tree("in", "small"), GI_OK);
    assert_result(SIZES, 0, 0, 0);
    assert_same_sizes("whole", "small");
    assert_int_equal(said_count("warning"), 0);
    prepare("threshold otsu"); // nothing helps: cuda fails the file
    backend.rows_max = 1;
    assert_int_equal(run_tree("in", "none"), GI_OK);
    assert_result(2, 0, SIZES - 2, 0);
    assert_int_equal(said_count("failure in/3.png: out of device memory"), 1);
    prepare("threshold otsu"); // auto falls back
    backend.rows_max = 0;
    options.fallback = &second.base;
    options.workers = 2;
    assert_int_equal(run_tree("in", "fallback"), GI_OK);
    assert_result(SIZES, 0, 0, 0);
    assert_same_sizes("whole", "fallback");
    assert_int_equal(said_count("warning"), SIZES);
    assert_true(second.slots <= 2);
    prepare("threshold otsu"); // likewise when there is no pinned memory to decode into
    backend.no_host_memory = true;
    options.fallback = &second.base;
    assert_int_equal(run_tree("in", "pinned"), GI_OK);
    assert_same_sizes("whole", "pinned");
}

static void bad_files(void **state) {
    (void)state;
    mkdir("in", 0777);
    mkdir("in/sub", 0777);
    mkdir("in/bad", 0777);
    put_good("in/a.png", 5, 5, 3);
    put_image("in/b.png", (fake_header){5, 5, 3, 1, FAKE_BAD_HEADER});
    put_image("in/bad/c.png", (fake_header){5, 5, 3, 1, FAKE_BAD_PIXELS});
    put_text("in/d.png", "text");
    put_good("in/e.png", 5, 5, 3);
    put_good("in/sub/f.png", 5, 5, 3);
    prepare("gray");
    assert_int_equal(run_tree("in", "p/out"), GI_OK);
    assert_result(3, 0, 3, 0);
    assert_int_equal(said_count("failure in/b.png: bad header\n"), 1);
    assert_int_equal(said_count("failure in/bad/c.png: bad pixels\n"), 1);
    assert_int_equal(said_count("failure in/d.png: neither PNG nor JPEG\n"), 1);
    assert_int_equal(entry_count("p/out"), 3); // a.png, e.png, sub; no directory for what failed
    assert_int_equal(entry_count("p/out/sub"), 1);
    prepare("gray");
    options.workers = 1;
    options.fail_fast = true;
    assert_int_equal(run_tree("in", "fast"), GI_OK);
    assert_result(1, 0, 1, 4);
}

static void existing_outputs(void **state) {
    (void)state;
    mkdir("in", 0777);
    put_good("in/a.png", 5, 5, 3);
    put_good("in/b.png", 5, 5, 3);
    mkdir("out", 0777);
    put_text("out/a.png", "kept");
    prepare("gray");
    options.skip_existing = true;
    fake_decoders_opened = 0;
    assert_int_equal(run_tree("in", "out"), GI_OK);
    assert_result(1, 1, 0, 0);
    assert_int_equal(fake_decoders_opened, 1);
    assert_true(text_is("out/a.png", "kept"));
    prepare("gray");
    options.no_clobber = true;
    assert_int_equal(run_tree("in", "out"), GI_OK);
    assert_result(0, 0, 2, 0);
    assert_int_equal(fake_decoders_opened, 1);
    assert_int_equal(said_count("failure in/a.png: out/a.png exists\n"), 1);
    assert_true(text_is("out/a.png", "kept"));
    assert_int_equal(run_tree("in/a.png", "/dev/null"), GI_OK); // no file that could be lost
    assert_result(1, 0, 0, 0);
}

static void output_directories(void **state) {
    (void)state;
    mkdir("in", 0777);
    put_good("in/a.png", 5, 5, 3);
    put_text("file", "");
    prepare("gray");
    assert_int_equal(run_tree("in", "file/out"), GI_ERR_IO);
    assert_non_null(strstr(err.text, "file: Not a directory"));
    assert_result(0, 0, 0, 1);
    assert_int_equal(run_tree("in", "/proc/self/out"), GI_ERR_IO);
    assert_int_equal(run_tree("in/a.png", "missing/a.png"), GI_OK); // a file's directory is not made
    assert_result(0, 0, 1, 0);
    assert_int_equal(said_count("failure in/a.png: cannot create a file in missing: No such file"), 1);
    mkdir("empty", 0777);
    assert_int_equal(run_tree("empty", "new"), GI_OK);
    assert_int_equal(access("new", F_OK), -1);
    // What a killed run left is gone after the next, also beside the target of a link.
    mkdir("out", 0777);
    put_text("out/.a.png.gpuimg-1-1.tmp", "half");
    put_text("in/0.png", "bad"); // whatever becomes of the first file
    assert_int_equal(run_tree("in", "out"), GI_OK);
    assert_result(1, 0, 1, 0);
    assert_int_equal(entry_count("out"), 1);
    put_text("out/.a.png.gpuimg-1-1.tmp", "half");
    assert_int_equal(symlink("out/a.png", "link.png"), 0);
    assert_int_equal(run_tree("in/a.png", "link.png"), GI_OK);
    assert_int_equal(entry_count("out"), 1);
}

static void in_place(void **state) {
    (void)state;
    put_sizes();
    prepare("gray");
    assert_int_equal(run_tree("in", "out"), GI_OK);
    assert_int_equal(run_tree("in", "in"), GI_OK);
    assert_same_sizes("in", "out");
    assert_int_equal(entry_count("in"), SIZES);
}

static void metadata(void **state) {
    (void)state;
    put_image("a.png", (fake_header){5, 6, 3, 6, FAKE_GOOD});
    prepare("gray");
    fake_metadata_written = 0;
    assert_int_equal(run_tree("a.png", "b.png"), GI_OK);
    assert_int_equal(fake_metadata_written, 1);
    options.strip = true;
    options.decode.auto_orient = false;
    assert_int_equal(run_tree("a.png", "b.png"), GI_OK);
    assert_int_equal(fake_metadata_written, 1);
    assert_begins("b.png", "<PNG 0 5x6x1>");
}

static void formats_and_orientation(void **state) {
    (void)state;
    put_image("a.png", (fake_header){5, 6, 3, 6, FAKE_GOOD});
    static const struct {
        const char *out, *begin;
        gi_format format;
        bool auto_orient;
    } rows[] = {{"b.PNG", "<PNG 0 5x6x1>", GI_FORMAT_UNKNOWN, true},
                {"b.jpeg", "<JPEG 6 5x6x1>", GI_FORMAT_UNKNOWN, false},
                {"b", "<PNG 0 5x6x1>", GI_FORMAT_UNKNOWN, true},
                {"b.png", "<JPEG 0 5x6x1>", GI_FORMAT_JPEG, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        prepare("gray");
        options.encode.format = rows[i].format;
        options.decode.auto_orient = rows[i].auto_orient;
        assert_int_equal(run_tree("a.png", rows[i].out), GI_OK);
        assert_begins(rows[i].out, rows[i].begin);
    }
    fake_luma_asked = 0;
    prepare("threshold 3 | gray");
    assert_int_equal(run_tree("a.png", "c.png"), GI_OK);
    assert_int_equal(fake_luma_asked, 0);
    prepare("gray"); // nothing to compute: the decoded rows are the result
    put_good("gray.png", 5, 6, 1);
    assert_int_equal(run_tree("gray.png", "c.png"), GI_OK);
    assert_int_equal(backend.uploads, 0);
    assert_begins("c.png", "<PNG 0 5x6x1>");
}

static void threads_and_streams(void **state) {
    (void)state;
    mkdir("in", 0777);
    for (int i = 0; i < 40; i++) {
        char path[32];
        snprintf(path, sizeof path, "in/%02d.png", i);
        put_good(path, 9, 9, 3);
    }
    static const struct {
        int cores, workers, streams, slots;
    } rows[] = {{4, 0, 0, 4}, {7, 3, 1, 3}, {8, 0, 2, 8}, {2, 9, 0, 2}, {1, 0, 0, 1}, {500, 0, 0, 40}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        prepare("gray");
        cores = rows[i].cores;
        options.workers = rows[i].workers;
        options.streams = rows[i].streams;
        assert_int_equal(run_tree("in", "out"), GI_OK);
        assert_result(40, 0, 0, 0);
        assert_in_range(backend.slots, 1, rows[i].slots);
        assert_int_equal(backend.threads_used, 1); // of a stage that is lighter than the codecs
        assert_in_range(fake_decoder_threads, cores / rows[i].slots, (cores + rows[i].slots - 1) / rows[i].slots);
        if (rows[i].streams) assert_true(backend.inside_max <= rows[i].streams);
    }
    prepare("gray"); // fewer slots than workers: the others do the work
    backend.slots_max = 1;
    assert_int_equal(run_tree("in", "out"), GI_OK);
    assert_result(40, 0, 0, 0);
    prepare("gray");
    backend.slots_max = 0;
    assert_int_equal(run_tree("in", "out"), GI_ERR_DEVICE);
    assert_string_equal(err.text, "no more slots");
    assert_result(0, 0, 0, 40);
}

// Over several devices: all have work, the bytes are the same, and one that is lost leaves its files to the others.
static bool second_is_lost(gi_backend *lost, bool wait, gi_error *why) {
    (void)wait, (void)why;
    return lost == &second.base && second.is_lost && atomic_load(&second.calls_until) < 0;
}

static void several_devices(void **state) {
    (void)state;
    static gi_backend_ops ops;
    gi_backend *const more[] = {&second.base};
    put_sizes();
    prepare("threshold otsu");
    assert_int_equal(run_tree("in", "one"), GI_OK);
    for (int i = 0; i < 3; i++) {
        prepare("threshold otsu");
        ops = *backend.base.ops;
        ops.lost = second_is_lost;
        backend.base.ops = second.base.ops = &ops;
        options.more = more;
        options.more_count = 1;
        options.workers = 4;
        backend.pause_us = second.pause_us = 2000;
        if (i == 1) options.slots = 2;
        if (i == 2) second.is_lost = true;
        if (i == 2) second.calls_until = 3;
        assert_int_equal(run_tree("in", "two"), GI_OK);
        assert_result(SIZES, 0, 0, 0);
        assert_same_sizes("one", "two");
        assert_true(backend.uploads > 0 && second.uploads > 0);
        if (i < 2) assert_true(backend.slots + second.slots <= (i == 1 ? 2 : 4));
        assert_true(said_count("warning") == said_count("the device is lost; done on another device"));
        if (i < 2) assert_int_equal(said_count("warning"), 0);
    }
}

static volatile sig_atomic_t cancel;
static size_t progressed;

static void cancel_at_third(void *context, size_t index, const gi_outcome *outcome) {
    (void)context, (void)index;
    assert_int_equal(outcome->status, GI_OK);
    if (++progressed == 3) cancel = 1;
}

static void cancels(void **state) {
    (void)state;
    put_sizes();
    prepare("gray");
    cancel = 1;
    options.cancel = &cancel;
    assert_int_equal(run_tree("in", "out"), GI_ERR_CANCELLED);
    assert_result(0, 0, 0, SIZES);
    assert_int_equal(entry_count("out"), 0);
    cancel = 0;
    progressed = 0;
    options.workers = 1;
    options.on_progress = cancel_at_third;
    assert_int_equal(run_tree("in", "out"), GI_ERR_CANCELLED);
    assert_result(3, 0, 0, SIZES - 3);
    assert_int_equal(entry_count("out"), 3);
    assert_string_equal(said, "");
}

static gi_histogram taken[SIZES];
static uint32_t bins_seen;

static void take_histogram(void *context, size_t index, gi_measured *measured) {
    (void)context;
    taken[index] = *measured->histogram;
    *measured->histogram = (gi_histogram){0};
    bins_seen = measured->bins;
    assert_non_null(measured->file);
}

static void measures(void **state) {
    (void)state;
    put_sizes();
    for (size_t band = 0; band <= 50; band += 50) {
        prepare(band ? "gray | hist bins=10" : "gray | hist");
        options.on_measured = take_histogram;
        options.band_bytes = band;
        assert_int_equal(run_tree("in", NULL), GI_OK);
        assert_result(SIZES, 0, 0, 0);
        assert_int_equal(bins_seen, band ? 10 : 256);
        for (int i = 0; i < SIZES; i++) {
            int channels = i % 4 == 1 || i % 4 == 3 ? 2 : 1;
            uint64_t sum = 0;
            assert_int_equal(taken[i].channels, channels);
            for (uint32_t v = 0; v < 256; v++) sum += taken[i].counts[v];
            assert_int_equal(sum, sizes[i][0] * sizes[i][1]);
            gi_histogram_free(&taken[i]);
        }
    }
    prepare("hist");
    assert_int_equal(run_tree("in", NULL), GI_OK); // nobody listens
    assert_int_equal(entry_count("."), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEMP_DIR_TEST(one_image),
        TEMP_DIR_TEST(same_bytes),
        TEMP_DIR_TEST(bands_as_they_are_decoded),
        TEMP_DIR_TEST(bad_ends),
        TEMP_DIR_TEST(threads_of_an_image),
        TEMP_DIR_TEST(device_memory),
        TEMP_DIR_TEST(bad_files),
        TEMP_DIR_TEST(existing_outputs),
        TEMP_DIR_TEST(output_directories),
        TEMP_DIR_TEST(in_place),
        TEMP_DIR_TEST(formats_and_orientation),
        TEMP_DIR_TEST(metadata),
        TEMP_DIR_TEST(threads_and_streams),
        TEMP_DIR_TEST(several_devices),
        TEMP_DIR_TEST(cancels),
        TEMP_DIR_TEST(measures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
