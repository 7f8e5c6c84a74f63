// Outputs that are complete or absent.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "run/output.h"
#include "run/path.h"
#include "run/temporary.h"
#include "temp_dir.h"

static gi_error err;

static void assert_reason(gi_status got, gi_status status, const char *part) {
    assert_int_equal(got, status);
    if (!strstr(err.text, part)) fail_msg("'%s' is not in '%s'", part, err.text);
}

static gi_status put(gi_output *output, const void *data, size_t size) {
    gi_sink sink = gi_output_sink(output);
    return sink.write(sink.context, data, size, &err);
}

// Writes the text to the path as a result would be.
static gi_status write_text(const char *path, const char *text, bool no_clobber) {
    gi_output *output = NULL;
    gi_status status = gi_output_open(path, &output, &err);
    if (status == GI_OK) status = put(output, text, strlen(text));
    if (status == GI_OK) status = gi_output_commit(output, no_clobber, &err);
    gi_output_close(output);
    return status;
}

static mode_t mode_of(const char *path) {
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode & 07777;
}

static void new_file(void **state) {
    (void)state;
    mode_t before = umask(027);
    gi_output *output = NULL;
    assert_int_equal(gi_output_open("a.png", &output, &err), GI_OK);
    assert_int_equal(put(output, "hello", 5), GI_OK);
    assert_int_equal(access("a.png", F_OK), -1);
    assert_int_equal(entry_count("."), 1);
    assert_int_equal(gi_output_commit(output, false, &err), GI_OK);
    assert_true(text_is("a.png", "hello"));
    gi_output_close(output);
    assert_int_equal(mode_of("a.png"), 0640);
    assert_int_equal(entry_count("."), 1);
    umask(before);
    assert_int_equal(write_text("empty", "", false), GI_OK);
    assert_true(text_is("empty", ""));
    gi_output_close(NULL);
}

static void replaced_file(void **state) {
    (void)state;
    put_text("a", "old content");
    chmod("a", 0604);
    assert_int_equal(link("a", "hard"), 0);
    assert_int_equal(symlink("a", "soft"), 0);
    assert_int_equal(symlink(temp_dir, "dir"), 0);
    gi_output *output = NULL;
    assert_int_equal(gi_output_open("dir/soft", &output, &err), GI_OK);
    assert_int_equal(put(output, "new", 3), GI_OK);
    assert_true(text_is("a", "old content"));
    assert_int_equal(gi_output_commit(output, false, &err), GI_OK);
    gi_output_close(output);
    assert_true(text_is("a", "new"));
    assert_true(text_is("hard", "old content")); // hard links break
    assert_int_equal(mode_of("a"), 0604);
    struct stat st;
    assert_int_equal(lstat("soft", &st), 0);
    assert_true(S_ISLNK(st.st_mode)); // the link stays
    assert_int_equal(symlink("made-by-link", "dangling"), 0);
    assert_int_equal(write_text("dangling", "x", false), GI_OK);
    assert_true(text_is("made-by-link", "x"));
    chmod("a", 0444);
    assert_int_equal(write_text("a", "y", false), GI_OK);
    assert_int_equal(mode_of("a"), 0444);
}

static void abandoned(void **state) {
    (void)state;
    put_text("a", "old");
    gi_output *output = NULL;
    assert_int_equal(gi_output_open("a", &output, &err), GI_OK);
    assert_int_equal(put(output, "half", 4), GI_OK);
    gi_output_close(output);
    assert_true(text_is("a", "old"));
    assert_int_equal(entry_count("."), 1);
}

static void large_writes(void **state) {
    (void)state;
    enum { SIZE = 1 << 20 };
    char *data = malloc(SIZE);
    for (int i = 0; i < SIZE; i++) data[i] = (char)(i * 31 + i / 257);
    gi_output *output = NULL;
    assert_int_equal(gi_output_open("a", &output, &err), GI_OK);
    size_t done = 0;
    for (size_t step = 1; done < SIZE; step = step * 3 + 1) { // odd sizes across the buffer's end
        size_t size = SIZE - done < step ? SIZE - done : step;
        assert_int_equal(put(output, data + done, size), GI_OK);
        done += size;
    }
    assert_int_equal(gi_output_commit(output, false, &err), GI_OK);
    gi_output_close(output);
    assert_true(file_is("a", data, SIZE));
    free(data);
}

static void no_clobber(void **state) {
    (void)state;
    put_text("a", "old");
    assert_reason(write_text("a", "new", true), GI_ERR_EXISTS, "a exists");
    assert_true(text_is("a", "old"));
    assert_int_equal(entry_count("."), 1);
    assert_int_equal(write_text("b", "new", true), GI_OK);
    assert_true(text_is("b", "new"));
    struct stat st;
    assert_int_equal(stat("b", &st), 0);
    assert_int_equal(st.st_nlink, 1);
    assert_int_equal(entry_count("."), 2);
    assert_int_equal(write_text("/dev/null", "new", true), GI_OK);
}

static void special_files(void **state) {
    (void)state;
    assert_int_equal(write_text("/dev/null", "x", false), GI_OK);
    assert_reason(write_text("/dev/full", "x", false), GI_ERR_IO, "cannot write /dev/full: No space left on device");
    assert_int_equal(mkfifo("fifo", 0666), 0);
    int reader = open("fifo", O_RDONLY | O_NONBLOCK);
    assert_int_equal(write_text("fifo", "through", false), GI_OK);
    char got[16] = "";
    assert_int_equal(read(reader, got, sizeof got), 7);
    assert_string_equal(got, "through");
    close(reader);
    struct stat st;
    assert_int_equal(stat("fifo", &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
}

// Standard output and its names, with the descriptor's own mode of writing.
static void descriptors(void **state) {
    (void)state;
    assert_int_equal(symlink("/dev/stdout", "out_link"), 0);
    assert_int_equal(symlink("out_link", "out_link_link"), 0);
    static const char *const names[] = {NULL,           "/dev/stdout",  "/dev/fd/1",     "/proc/self/fd/1",
                                        "//dev/stdout", "/dev/./fd//1", "out_link_link", "/proc/self/../self/fd/1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        put_text("log", "first ");
        fflush(stdout);
        int before = dup(STDOUT_FILENO), fd = open("log", O_WRONLY | O_APPEND);
        dup2(fd, STDOUT_FILENO);
        close(fd);
        gi_status status = write_text(names[i], "second", false);
        bool open_still = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
        dup2(before, STDOUT_FILENO);
        close(before);
        assert_int_equal(status, GI_OK);
        assert_true(open_still);
        assert_true(text_is("log", "first second"));
    }
    assert_int_equal(gi_path_descriptor("log"), -1);
    assert_int_equal(gi_path_descriptor("/dev/fd/1x"), -1);
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_int_equal(gi_path_descriptor("loop"), -1);
    assert_reason(write_text("/dev/fd/987", "x", false), GI_ERR_IO, "Bad file descriptor");
    int pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    char name[32];
    snprintf(name, sizeof name, "/dev/fd/%d", pipe_ends[1]);
    close(pipe_ends[0]);
    void (*handler)(int) = signal(SIGPIPE, SIG_IGN);
    assert_reason(write_text(name, "x", false), GI_ERR_IO, "Broken pipe");
    signal(SIGPIPE, handler);
    close(pipe_ends[1]);
}

static void refusals(void **state) {
    (void)state;
    mkdir("dir", 0777);
    put_text("file", "");
    assert_reason(write_text("dir", "x", false), GI_ERR_IO, "dir: Is a directory");
    assert_reason(write_text("dir/", "x", false), GI_ERR_IO, "Is a directory");
    assert_reason(write_text("missing/a", "x", false), GI_ERR_IO, "cannot create a file in missing: No such file");
    assert_reason(write_text("file/a", "x", false), GI_ERR_IO, "Not a directory");
    assert_reason(write_text("file/", "x", false), GI_ERR_IO, "");
    assert_reason(write_text("new/", "x", false), GI_ERR_IO, "Not a directory");
    assert_reason(write_text("", "x", false), GI_ERR_IO, "");
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_reason(write_text("loop", "x", false), GI_ERR_IO, "symbolic links");
    assert_reason(write_text("/proc/a", "x", false), GI_ERR_IO, "cannot create a file in /proc");
    gi_output *output = NULL;
    assert_int_equal(gi_output_open("dir/a", &output, &err), GI_OK);
    mkdir("dir/a", 0777); // comes into being meanwhile
    assert_reason(gi_output_commit(output, false, &err), GI_ERR_IO, "cannot replace dir/a: Is a directory");
    assert_int_equal(gi_output_commit(output, false, &err), GI_ERR_IO);
    gi_output_close(output);
    assert_int_equal(entry_count("dir"), 1);
}

static void file_size_limit(void **state) {
    (void)state;
    put_text("a", "old");
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    limit = before;
    limit.rlim_cur = 100000;
    setrlimit(RLIMIT_FSIZE, &limit);
    gi_output *output = NULL;
    char *data = calloc(1, 200000);
    gi_status opened = gi_output_open("a", &output, &err), status = put(output, data, 200000);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    free(data);
    assert_int_equal(opened, GI_OK);
    assert_reason(status, GI_ERR_IO, "File too large");
    gi_output_close(output);
    assert_true(text_is("a", "old"));
    assert_int_equal(entry_count("."), 1);
}

static void long_names(void **state) {
    (void)state;
    char name[256];
    for (int i = 0; i < 255; i++) name[i] = "\xc3\xa4"[i % 2]; // 127 two-byte letters and a half
    name[255] = '\0';
    assert_int_equal(write_text(name, "x", false), GI_OK);
    assert_true(text_is(name, "x"));
    char text[GI_TEMPORARY_SIZE];
    gi_temporary_name(text, name, 255, 7);
    assert_true(strlen(text) <= 255);
    assert_true(gi_temporary_matches(text));
    gi_temporary_name(text, name, 60, 7);
    assert_true(strlen(text) <= 60);
    size_t letters = strspn(text + 1, "\xc3\xa4");
    assert_true(letters > 0 && letters % 2 == 0);
    static const char *const others[] = {"",
                                         ".",
                                         ".tmp",
                                         ".a.tmp",
                                         ".a.gpuimg-1-.tmp",
                                         ".a.gpuimg--1.tmp",
                                         "a.gpuimg-1-1.tmp",
                                         ".a.gpuimg-1-1.tmp.png",
                                         ".a.gpuimg-1x-1.tmp",
                                         ".-1-1.tmp",
                                         "gpuimg-1-1.tmp",
                                         ".gpuimg-1-1.png",
                                         "1-1.tmp",
                                         "-1.tmp",
                                         "1.tmp",
                                         ".agpuimg-1-1.tmp"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_false(gi_temporary_matches(others[i]));
    assert_true(gi_temporary_matches("..gpuimg-1-2.tmp"));
    assert_true(gi_temporary_matches(".a\n\xff.png.gpuimg-123456-99999.tmp"));
}

// A child writes half and is killed; its temporary goes with the next sweep, those of the living stay.
static void sweep(void **state) {
    (void)state;
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        gi_output *output = NULL;
        if (gi_output_open("a.png", &output, NULL) != GI_OK) _exit(1);
        if (write(ready[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(entry_count("."), 1);
    gi_output_sweep("."); // it lives
    assert_int_equal(entry_count("."), 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    gi_output *mine = NULL;
    assert_int_equal(gi_output_open("b.png", &mine, &err), GI_OK);
    put_text(".notes.tmp", "not ours");
    mkdir(".d.gpuimg-1-1.tmp", 0777);
    assert_int_equal(symlink("a", ".l.gpuimg-1-1.tmp"), 0);
    assert_int_equal(mkfifo(".f.gpuimg-1-1.tmp", 0666), 0);
    put_text(".foreign.gpuimg-1-1.tmp", "");
    bool root = geteuid() == 0;
    if (root) assert_int_equal(chown(".foreign.gpuimg-1-1.tmp", 65534, 65534), 0);
    gi_output_sweep(".");
    assert_int_equal(entry_count("."), root ? 6 : 5);
    assert_int_equal(gi_output_commit(mine, false, &err), GI_OK);
    gi_output_close(mine);
    gi_output_sweep("missing");
    close(ready[0]);
    close(ready[1]);
}

static void remove_all(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        gi_output *outputs[300] = {NULL};
        for (int i = 0; i < 300; i++) {
            char name[32];
            snprintf(name, sizeof name, "%d.png", i);
            if (gi_output_open(name, &outputs[i], NULL) != GI_OK) _exit(1);
            if (i < 200) gi_output_close(outputs[i]); // places are used again
        }
        if (entry_count(".") != 100) _exit(2);
        gi_output_remove_all();
        if (entry_count(".") != 0) _exit(3);
        if (gi_output_commit(outputs[299], false, NULL) == GI_OK) _exit(4);
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(entry_count("."), 0);
}

static void do_nothing(int number) { (void)number; }

static volatile sig_atomic_t cancel;

static void *interrupt_later(void *context) {
    usleep(100000);
    cancel = 1;
    pthread_kill(*(pthread_t *)context, SIGUSR1);
    return NULL;
}

static void interrupted_fifo(void **state) {
    (void)state;
    assert_int_equal(mkfifo("fifo", 0666), 0);
    struct sigaction action = {.sa_handler = do_nothing};
    sigaction(SIGUSR1, &action, NULL);
    pthread_t self = pthread_self(), other;
    cancel = 0;
    pthread_create(&other, NULL, interrupt_later, &self);
    gi_output *output = NULL;
    assert_int_equal(gi_output_open_cancellable("fifo", &cancel, &output, &err), GI_ERR_CANCELLED);
    assert_null(output);
    pthread_join(other, NULL);
}

static void permission(void **state) {
    (void)state;
    mkdir("dir", 0755);
    chmod(temp_dir, 0755);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && seteuid(65534) != 0) _exit(2);
        if (geteuid() != 65534) chmod("dir", 0555);
        bool refused = write_text("dir/a", "x", false) == GI_ERR_IO && strstr(err.text, "dir: Permission denied");
        _exit(refused ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static void paths(void **state) {
    (void)state;
    static const struct {
        const char *path, *parent, *last;
    } rows[] = {{"a", ".", "a"}, {"a/b", "a", "b"}, {"a//b//", "a", "b"}, {"/a", "/", "a"}, {"//a", "/", "a"},
                {"/", "/", ""},  {"", ".", ""},     {"./a", ".", "a"},    {"a/", ".", "a"}, {"/a/b/", "/a", "b"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *parent = gi_path_parent(rows[i].path);
        size_t length = 0;
        const char *last = gi_path_last(rows[i].path, &length);
        assert_string_equal(parent, rows[i].parent);
        assert_int_equal(length, strlen(rows[i].last));
        assert_memory_equal(last, rows[i].last, length);
        free(parent);
    }
    char shown[GI_PATH_SHOWN], text[600];
    assert_string_equal(gi_path_show("a\n\x7f\x1b\xff", shown), "a???\xff");
    memset(text, 'x', 599);
    strcpy(text + 590, "/name.png");
    assert_int_equal(strlen(gi_path_show(text, shown)), GI_PATH_SHOWN - 1);
    assert_non_null(strstr(shown, "/name.png"));
    assert_int_equal(strlen(gi_path_show(text + 599 - (GI_PATH_SHOWN - 1), shown)), GI_PATH_SHOWN - 1);
    assert_int_equal(gi_path_make_directories("p/q//r/", &err), GI_OK);
    assert_int_equal(gi_path_make_directories("p/q/r", &err), GI_OK);
    assert_int_equal(access("p/q/r/.", F_OK), 0);
    put_text("file", "");
    assert_reason(gi_path_make_directories("file/x", &err), GI_ERR_IO,
                  "cannot make the directory file: Not a directory");
    assert_reason(gi_path_make_directories("file", &err), GI_ERR_IO, "Not a directory");
    assert_reason(gi_path_make_directories("", &err), GI_ERR_IO, "No such file");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEMP_DIR_TEST(new_file),         TEMP_DIR_TEST(replaced_file), TEMP_DIR_TEST(abandoned),
        TEMP_DIR_TEST(large_writes),     TEMP_DIR_TEST(no_clobber),    TEMP_DIR_TEST(special_files),
        TEMP_DIR_TEST(descriptors),      TEMP_DIR_TEST(refusals),      TEMP_DIR_TEST(file_size_limit),
        TEMP_DIR_TEST(long_names),       TEMP_DIR_TEST(sweep),         TEMP_DIR_TEST(remove_all),
        TEMP_DIR_TEST(interrupted_fifo), TEMP_DIR_TEST(permission),    TEMP_DIR_TEST(paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
