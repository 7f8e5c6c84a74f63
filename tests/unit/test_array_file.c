// Arrays between files and memory: regular files, streams, sizes that lie, outputs that stay complete.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "run/array_file.h"
#include "temp_dir.h"

static gi_array numbers(size_t rows, size_t columns) {
    gi_array array = {.element = GI_ELEMENT_I32, .dimensions = 2, .shape = {rows, columns}};
    assert_int_equal(gi_array_allocate(&array, NULL), GI_OK);
    for (size_t i = 0; i < array.count; i++) ((int32_t *)array.data)[i] = (int32_t)(i * 2654435761U);
    return array;
}

static void assert_same(const gi_array *a, const gi_array *b) {
    assert_int_equal(a->element, b->element);
    assert_int_equal(a->dimensions, b->dimensions);
    assert_memory_equal(a->shape, b->shape, sizeof a->shape);
    assert_memory_equal(a->data, b->data, a->count * gi_element_bytes(a->element));
}

static char *contents(const char *path, size_t *size) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    char *bytes = malloc((size_t)st.st_size + 1);
    FILE *file = fopen(path, "rb");
    assert_true(bytes && file);
    *size = fread(bytes, 1, (size_t)st.st_size, file);
    fclose(file);
    return bytes;
}

static void files_come_back(void **state) {
    (void)state;
    static const size_t sizes[][2] = {{0, 5}, {1, 1}, {17, 31}, {600, 1000}};
    for (size_t i = 0; i < 4; i++) {
        gi_array made = numbers(sizes[i][0], sizes[i][1]), read;
        assert_int_equal(gi_array_save("a.npy", &made, false, NULL, NULL), GI_OK);
        assert_int_equal(gi_array_load("a.npy", NULL, &read, NULL), GI_OK);
        assert_same(&made, &read);
        gi_array_free(&made);
        gi_array_free(&read);
    }
    assert_int_equal(entry_count("."), 1);
}

static void a_file_of_another_size_is_refused(void **state) {
    (void)state;
    gi_array made = numbers(17, 31), read;
    gi_error err;
    size_t size = 0;
    assert_int_equal(gi_array_save("a.npy", &made, false, NULL, NULL), GI_OK);
    char *bytes = contents("a.npy", &size);
    for (size_t cut = 0; cut < size; cut += cut < 140 ? 1 : 97) {
        put_file("b.npy", bytes, cut);
        assert_int_equal(gi_array_load("b.npy", NULL, &read, &err), GI_ERR_FORMAT);
        assert_null(read.data);
    }
    bytes[size] = 'x';
    put_file("b.npy", bytes, size + 1);
    assert_int_equal(gi_array_load("b.npy", NULL, &read, &err), GI_ERR_FORMAT);
    assert_non_null(strstr(err.text, "goes on behind"));
    put_text("b.npy", "something else altogether");
    assert_int_equal(gi_array_load("b.npy", NULL, &read, &err), GI_ERR_FORMAT);
    assert_int_equal(gi_array_load("none.npy", NULL, &read, &err), GI_ERR_IO);
    free(bytes);
    gi_array_free(&made);
}

typedef struct flow {
    const char *bytes;
    size_t size;
} flow;

static void *pour(void *context) {
    const flow *f = context;
    int fd = open("fifo", O_WRONLY);
    for (size_t at = 0; at < f->size;) {
        size_t piece = f->size - at < 50021 ? f->size - at : 50021; // a prime: no piece ends where a buffer does
        ssize_t written = write(fd, f->bytes + at, piece);
        if (written <= 0) break; // the reader has seen enough
        at += (size_t)written;
    }
    close(fd);
    return NULL;
}

static gi_status load_stream(const char *bytes, size_t size, gi_array *read, gi_error *err) {
    pthread_t thread;
    flow f = {bytes, size};
    assert_int_equal(pthread_create(&thread, NULL, pour, &f), 0);
    gi_status status = gi_array_load("fifo", NULL, read, err);
    pthread_join(thread, NULL);
    return status;
}

static void streams(void **state) {
    (void)state;
    gi_array made = numbers(1000, 1100), read; // 4.4 MB: memory grows twice
    gi_error err;
    size_t size = 0;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(gi_array_save("a.npy", &made, false, NULL, NULL), GI_OK);
    char *bytes = contents("a.npy", &size);
    assert_int_equal(load_stream(bytes, size, &read, &err), GI_OK);
    assert_same(&made, &read);
    gi_array_free(&read);
    assert_int_equal(load_stream(bytes, size - 1, &read, &err), GI_ERR_FORMAT);
    assert_non_null(strstr(err.text, "ends after"));
    bytes[size] = 'x';
    assert_int_equal(load_stream(bytes, size + 1, &read, &err), GI_ERR_FORMAT);
    assert_non_null(strstr(err.text, "goes on behind"));
    free(bytes);
    gi_array_free(&made);
}

// Of a stream that announces much and has little, little memory is taken.
static void a_stream_that_lies(void **state) {
    (void)state;
    static const char text[] = "\x93NUMPY\1\0\x49\0{'descr': '<f8', 'fortran_order': False, "
                               "'shape': (144115188075855872,)}\n";
    gi_array read;
    gi_error err;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    gi_status status = load_stream(text, sizeof text - 1, &read, &err);
    if (status != GI_ERR_FORMAT || !strstr(err.text, "ends after 0 of")) fail_msg("%d: %s", status, err.text);
}

static void outputs(void **state) {
    (void)state;
    gi_array made = numbers(3, 4);
    put_text("old.npy", "old");
    assert_int_equal(gi_array_save("old.npy", &made, true, NULL, NULL), GI_ERR_EXISTS);
    assert_true(text_is("old.npy", "old"));
    assert_int_equal(gi_array_save("missing/a.npy", &made, false, NULL, NULL), GI_ERR_IO);
    assert_int_equal(symlink("old.npy", "link.npy"), 0);
    assert_int_equal(gi_array_save("link.npy", &made, false, NULL, NULL), GI_OK);
    gi_array read;
    assert_int_equal(gi_array_load("old.npy", NULL, &read, NULL), GI_OK);
    assert_same(&made, &read);
    assert_int_equal(entry_count("."), 2);
    gi_array_free(&read);
    gi_array_free(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEMP_DIR_TEST(files_come_back), TEMP_DIR_TEST(a_file_of_another_size_is_refused),
                                       TEMP_DIR_TEST(streams), TEMP_DIR_TEST(a_stream_that_lies),
                                       TEMP_DIR_TEST(outputs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
