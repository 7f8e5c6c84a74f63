// The executor and many files: failures, what exists, directories, workers, devices, interrupts.
#include "batch_runs.h"

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
    assert_int_equal(said_count("failure in/a.png: out/a.png exists already\n"), 1);
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
        TEMP_DIR_TEST(bad_files),
        TEMP_DIR_TEST(existing_outputs),
        TEMP_DIR_TEST(output_directories),
        TEMP_DIR_TEST(in_place),
        TEMP_DIR_TEST(threads_and_streams),
        TEMP_DIR_TEST(several_devices),
        TEMP_DIR_TEST(cancels),
        TEMP_DIR_TEST(measures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
