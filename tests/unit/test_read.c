// Whole files and streams into memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>

#include "fake_format.h"
#include "run/read.h"
#include "temp_dir.h"

static const gi_read_options image = {.image_only = true};
static const gi_read_options plain = {.image_only = false};
static gi_file_data file;
static gi_error err;

static void assert_fails(gi_status got, gi_status status, const char *part) {
    assert_int_equal(got, status);
    if (!strstr(err.text, part)) fail_msg("'%s' is not in '%s'", part, err.text);
    assert_null(file.data);
}

// `size` bytes that begin as a PNG does.
static unsigned char *image_bytes(size_t size) {
    unsigned char *bytes = malloc(size);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) bytes[i] = (unsigned char)(i * 7 + i / 251);
    memcpy(bytes, png_signature, 8);
    return bytes;
}

static void regular_files(void **state) {
    (void)state;
    static const size_t sizes[] = {8, 9, 65535, 65536, 65537, 300000, (16 << 20) - 1, 16 << 20, (16 << 20) + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *bytes = image_bytes(sizes[i]);
        put_file("a", bytes, sizes[i]);
        assert_int_equal(gi_read_file("a", &image, &file, &err), GI_OK);
        assert_int_equal(file.size, sizes[i]);
        assert_memory_equal(file.data, bytes, sizes[i]);
        free(file.data);
        free(bytes);
    }
    put_text("b", "x");
    assert_int_equal(gi_read_file("b", &plain, &file, &err), GI_OK);
    assert_int_equal(file.size, 1);
    free(file.data);
}

static void refusals(void **state) {
    (void)state;
    put_text("empty", "");
    put_text("text", "hello, this is no image");
    mkdir("dir", 0777);
    put_text("short", "\x89P");
    assert_fails(gi_read_file("missing", &image, &file, &err), GI_ERR_IO, "No such file");
    assert_fails(gi_read_file("", &image, &file, &err), GI_ERR_IO, "No such file");
    assert_fails(gi_read_file("dir", &image, &file, &err), GI_ERR_IO, "Is a directory");
    assert_fails(gi_read_file("text/x", &image, &file, &err), GI_ERR_IO, "Not a directory");
    assert_fails(gi_read_file("empty", &image, &file, &err), GI_ERR_FORMAT, "empty");
    assert_fails(gi_read_file("short", &image, &file, &err), GI_ERR_FORMAT, "neither PNG nor JPEG");
    assert_fails(gi_read_file("text", &image, &file, &err), GI_ERR_FORMAT, "neither PNG nor JPEG");
    assert_fails(gi_read_file("/dev/zero", &image, &file, &err), GI_ERR_FORMAT, "neither PNG nor JPEG");
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_fails(gi_read_file("loop", &image, &file, &err), GI_ERR_IO, "symbolic links");
    // Sparse and huge: refused by size, not read.
    put_file("huge", png_signature, 8);
    assert_int_equal(truncate("huge", (off_t)GI_READ_MAX + 1), 0);
    assert_fails(gi_read_file("huge", &plain, &file, &err), GI_ERR_LIMIT, "2147483647");
    // Sparse zeros named like an image: refused by signature before memory is taken.
    put_text("zeros.png", "");
    assert_int_equal(truncate("zeros.png", GI_READ_MAX), 0);
    assert_fails(gi_read_file("zeros.png", &image, &file, &err), GI_ERR_FORMAT, "neither PNG nor JPEG");
    assert_int_equal(mkfifo("fifo", 0666), 0);
    gi_read_options walked = {.image_only = true, .regular_only = true};
    assert_fails(gi_read_file("fifo", &walked, &file, &err), GI_ERR_IO, "regular");
}

static void permission(void **state) {
    (void)state;
    put_file("a", png_signature, 8);
    chmod("a", 0);
    chmod(temp_dir, 0755);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && seteuid(65534) != 0) _exit(2);
        bool refused = gi_read_file("a", &image, &file, &err) == GI_ERR_IO && strstr(err.text, "Permission denied");
        _exit(refused ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

typedef struct feed {
    const unsigned char *bytes;
    size_t size, step;
} feed;

static void *feed_fifo(void *context) {
    const feed *f = context;
    int fd = open("fifo", O_WRONLY);
    for (size_t i = 0; i < f->size; i += f->step) {
        size_t size = f->size - i < f->step ? f->size - i : f->step;
        if (write(fd, f->bytes + i, size) != (ssize_t)size) break;
    }
    close(fd);
    return NULL;
}

static void streams(void **state) {
    (void)state;
    assert_int_equal(mkfifo("fifo", 0666), 0);
    unsigned char *bytes = image_bytes(200000);
    feed feeds[] = {{bytes, 200000, 4096}, {bytes, 65536, 65536}, {bytes, 20, 1}, {bytes, 8, 3}};
    for (size_t i = 0; i < sizeof feeds / sizeof *feeds; i++) {
        pthread_t writer;
        assert_int_equal(pthread_create(&writer, NULL, feed_fifo, &feeds[i]), 0);
        assert_int_equal(gi_read_file("fifo", &image, &file, &err), GI_OK);
        assert_int_equal(file.size, feeds[i].size);
        assert_memory_equal(file.data, bytes, file.size);
        free(file.data);
        pthread_join(writer, NULL);
    }
    free(bytes);
}

static void standard_input(void **state) {
    (void)state;
    put_file("a", png_signature, 8);
    int before = dup(STDIN_FILENO);
    int fd = open("a", O_RDONLY);
    dup2(fd, STDIN_FILENO);
    close(fd);
    assert_int_equal(gi_read_file(NULL, &image, &file, &err), GI_OK);
    assert_int_equal(file.size, 8);
    free(file.data);
    fd = open(".", O_RDONLY | O_DIRECTORY);
    dup2(fd, STDIN_FILENO);
    close(fd);
    assert_fails(gi_read_file(NULL, &image, &file, &err), GI_ERR_IO, "Is a directory");
    close(STDIN_FILENO);
    assert_fails(gi_read_file(NULL, &image, &file, &err), GI_ERR_IO, "Bad file descriptor");
    if (before >= 0) {
        dup2(before, STDIN_FILENO);
        close(before);
    }
}

// Standard input that is a file of which a part was read before: what follows is read.
static void rest_of_a_file(void **state) {
    (void)state;
    const size_t size = (16 << 20) + 5000, before = 1000;
    unsigned char *bytes = image_bytes(size);
    memcpy(bytes + before, png_signature, 8);
    put_file("rest", bytes, size);
    int fd = open("rest", O_RDONLY), saved = dup(STDIN_FILENO);
    assert_true(fd >= 0 && saved >= 0 && lseek(fd, (off_t)before, SEEK_SET) >= 0 && dup2(fd, STDIN_FILENO) >= 0);
    assert_int_equal(gi_read_file(NULL, &image, &file, &err), GI_OK);
    assert_int_equal(file.size, size - before);
    assert_memory_equal(file.data, bytes + before, size - before);
    assert_true(dup2(saved, STDIN_FILENO) >= 0);
    close(saved), close(fd);
    free(file.data);
    free(bytes);
}

// Only a PNG, large and a regular file, is left open, and only where that is asked for.
static void left_open(void **state) {
    (void)state;
    static volatile sig_atomic_t cancel;
    const gi_read_options leave = {.image_only = true, .leave_open = true, .cancel = &cancel};
    const size_t size = GI_LEAVE_OPEN_BYTES;
    unsigned char *bytes = image_bytes(size), *got = malloc(size);
    put_file("large", bytes, size);
    put_file("small", bytes, size - 1);
    assert_int_equal(gi_read_file("large", &leave, &file, &err), GI_OK);
    assert_null(file.data);
    assert_non_null(file.open);
    assert_int_equal(file.size, size);
    gi_input input = gi_open_file_input(file.open, file.size);
    assert_int_equal(input.read(input.context, 1000, got, size - 1000, &err), GI_OK);
    assert_memory_equal(got, bytes + 1000, size - 1000);
    assert_int_equal(truncate("large", (off_t)size / 2), 0);
    assert_int_equal(input.read(input.context, size / 2 - 10, got, 10, &err), GI_OK);
    assert_int_equal(input.read(input.context, size / 2 - 10, got, 11, &err), GI_ERR_IO);
    assert_non_null(strstr(err.text, "became shorter"));
    cancel = 1;
    assert_int_equal(input.read(input.context, 0, got, 1, &err), GI_ERR_CANCELLED);
    cancel = 0;
    gi_file_data_free(&file);
    assert_null(file.open);
    assert_int_equal(gi_read_file("small", &leave, &file, &err), GI_OK);
    assert_memory_equal(file.data, bytes, size - 1);
    gi_file_data_free(&file);
    memcpy(bytes, "\xFF\xD8\xFF", 3);
    put_file("large", bytes, size);
    assert_int_equal(gi_read_file("large", &leave, &file, &err), GI_OK);
    assert_memory_equal(file.data, bytes, size);
    gi_file_data_free(&file);
    // Larger than what is read: no reason not to read it in pieces.
    put_file("huge", png_signature, 8);
    assert_int_equal(truncate("huge", (off_t)GI_READ_MAX + 1), 0);
    assert_int_equal(gi_read_file("huge", &leave, &file, &err), GI_OK);
    gi_file_data_free(&file);
    free(bytes), free(got);
}

// Files of /proc say that they have no bytes.
static void size_unknown(void **state) {
    (void)state;
    assert_int_equal(gi_read_file("/proc/self/status", &plain, &file, &err), GI_OK);
    assert_true(file.size > 100);
    free(file.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEMP_DIR_TEST(left_open),    TEMP_DIR_TEST(regular_files),  TEMP_DIR_TEST(refusals),
        TEMP_DIR_TEST(permission),   TEMP_DIR_TEST(streams),        TEMP_DIR_TEST(standard_input),
        TEMP_DIR_TEST(size_unknown), TEMP_DIR_TEST(rest_of_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
