// Runs of the executor over a fake codec and a fake backend: made images, what a run says, its counts. Included once.
#ifndef BATCH_RUNS_H
#define BATCH_RUNS_H

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

static inline void say(void *context, gi_severity severity, const char *file, const char *text) {
    static const char *const names[] = {"note", "warning", "failure"};
    (void)context;
    pthread_mutex_lock(&said_mutex);
    size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%s %s: %s\n", names[severity], file, text);
    pthread_mutex_unlock(&said_mutex);
}

static const gi_messages messages = {say, NULL};

static inline int said_count(const char *part) {
    int count = 0;
    for (const char *p = said; (p = strstr(p, part)); p++) count++;
    return count;
}

// ---- images -------------------------------------------------------------------------------------------------------

static inline void put_image(const char *path, fake_header h) {
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

static inline void put_good(const char *path, uint32_t width, uint32_t height, int channels) {
    put_image(path, (fake_header){width, height, channels, 1, FAKE_GOOD});
}

static inline char *slurp(const char *path, size_t *size) {
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

static inline void assert_same_files(const char *a, const char *b) {
    size_t size_a = 0, size_b = 0;
    char *bytes_a = slurp(a, &size_a), *bytes_b = slurp(b, &size_b);
    assert_int_equal(size_a, size_b);
    assert_memory_equal(bytes_a, bytes_b, size_a);
    free(bytes_a);
    free(bytes_b);
}

static inline void assert_begins(const char *path, const char *text) {
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

static inline void prepare(const char *text) {
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
static inline gi_status run_tree(const char *in, const char *out) {
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

static inline void assert_result(size_t done, size_t skipped, size_t failed, size_t not_started) {
    assert_int_equal(result.done, done);
    assert_int_equal(result.skipped, skipped);
    assert_int_equal(result.failed, failed);
    assert_int_equal(result.not_started, not_started);
}

static const uint32_t sizes[][2] = {{1, 1}, {15, 1}, {1, 15}, {17, 31}, {64, 200}, {333, 77}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static inline void put_sizes(void) {
    mkdir("in", 0777);
    for (int i = 0; i < SIZES; i++) {
        char path[32];
        snprintf(path, sizeof path, "in/%d.png", i);
        put_good(path, sizes[i][0], sizes[i][1], i % 4 + 1);
    }
}

static inline void assert_same_sizes(const char *a, const char *b) {
    for (int i = 0; i < SIZES; i++) {
        char path_a[64], path_b[64];
        snprintf(path_a, sizeof path_a, "%s/%d.png", a, i);
        snprintf(path_b, sizeof path_b, "%s/%d.png", b, i);
        assert_same_files(path_a, path_b);
    }
}

static gi_outcome outcomes[SIZES];

static inline void take_outcome(void *context, size_t index, const gi_outcome *outcome) {
    (void)context;
    outcomes[index] = *outcome;
    if (outcome->status != GI_OK) assert_true(strlen(outcome->reason) > 0);
}

#endif
