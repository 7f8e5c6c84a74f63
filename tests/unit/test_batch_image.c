// The executor and each of its images: bytes, bands, threads, memory, formats, metadata.
#include "batch_runs.h"

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
    // The fake backend is a device's, but one that has started: it copies.
    for (int p = 0; p < GI_PHASE_COUNT; p++)
        assert_true((timeline.phases[p].spans >= 1) == (p != GI_PHASE_START) && timeline.phases[p].active == 0);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        TEMP_DIR_TEST(one_image),
        TEMP_DIR_TEST(same_bytes),
        TEMP_DIR_TEST(bands_as_they_are_decoded),
        TEMP_DIR_TEST(bad_ends),
        TEMP_DIR_TEST(threads_of_an_image),
        TEMP_DIR_TEST(device_memory),
        TEMP_DIR_TEST(formats_and_orientation),
        TEMP_DIR_TEST(metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
