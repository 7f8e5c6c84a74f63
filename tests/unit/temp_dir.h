// A fresh directory that a test works in, and files there.
#ifndef GI_TESTS_TEMP_DIR_H
#define GI_TESTS_TEMP_DIR_H

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char temp_dir[64];
static int temp_dir_before = -1;

static int temp_dir_setup(void **state) {
    (void)state;
    strcpy(temp_dir, "/tmp/gpuimg-test-XXXXXX");
    temp_dir_before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return mkdtemp(temp_dir) && chdir(temp_dir) == 0 ? 0 : -1;
}

static inline int temp_dir_remove(const char *path, const struct stat *st, int type, struct FTW *at) {
    (void)st, (void)type, (void)at;
    return remove(path);
}

static int temp_dir_teardown(void **state) {
    (void)state;
    int left = fchdir(temp_dir_before);
    close(temp_dir_before);
    return nftw(temp_dir, temp_dir_remove, 32, FTW_DEPTH | FTW_PHYS) | left;
}

#define TEMP_DIR_TEST(f) cmocka_unit_test_setup_teardown(f, temp_dir_setup, temp_dir_teardown)

static inline void put_file(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline void put_text(const char *path, const char *text) { put_file(path, text, strlen(text)); }

static inline bool file_is(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    char *read = malloc(size + 1);
    bool same = fread(read, 1, size + 1, file) == size && memcmp(read, data, size) == 0;
    free(read);
    fclose(file);
    return same;
}

static inline bool text_is(const char *path, const char *text) { return file_is(path, text, strlen(text)); }

// Entries of a directory other than . and ..
static inline int entry_count(const char *path) {
    DIR *stream = opendir(path);
    int count = 0;
    if (!stream) return -1;
    while (readdir(stream)) count++;
    closedir(stream);
    return count - 2;
}

#endif
