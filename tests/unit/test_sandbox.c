// The sandbox keeps each of its promises, by each version of Landlock up to the kernel's, and by seccomp alone; and
// leaves to a run what it needs. Every attempt is made in a process of its own, and must succeed without the means that
// denies it, so that the test would notice an attempt that fails for other reasons.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "run/output.h"
#include "run/sandbox.h"
#include "run/seccomp_calls.h"
#include "temp_dir.h"

// ---- attempts: true when they succeed. out/ and its like may be written, elsewhere/ not ---------------------------

static bool closed(int fd) { return fd >= 0 && close(fd) == 0; }

static bool internet(void) { return closed(socket(AF_INET, SOCK_STREAM, 0)); }
static bool internet6(void) { return closed(socket(AF_INET6, SOCK_DGRAM, 0)) || errno == EAFNOSUPPORT; }
static bool local_socket(void) { return closed(socket(AF_UNIX, SOCK_STREAM, 0)); }
static bool netlink(void) { return closed(socket(AF_NETLINK, SOCK_RAW, 0)); }

// No network is needed: the attempt is told from a refusal by its errno. The socket is from before.
static int tcp = -1;
static bool tcp_connect(void) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    return connect(tcp, (struct sockaddr *)&to, sizeof to) == 0 || (errno != EACCES && errno != ENOSYS);
}
static bool tcp_bind(void) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    return bind(tcp, (struct sockaddr *)&to, sizeof to) == 0;
}

static bool run_program(void) {
    char *const argv[] = {"true", NULL}, *const environment[] = {NULL};
    execve("/bin/true", argv, environment); // success is exit status 0, as a true attempt is
    return false;
}
static bool run_by_descriptor(void) {
    char *const argv[] = {"true", NULL}, *const environment[] = {NULL};
    int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);
    syscall(SYS_execveat, fd, "", argv, environment, AT_EMPTY_PATH);
    return false;
}
static bool start_process(void) {
    long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) _exit(0);
    return child > 0;
}
static bool signal_parent(void) { return kill(getppid(), 0) == 0; }
static bool signal_itself(void) { return kill(getpid(), 0) == 0 && raise(SIGCHLD) == 0; }
static bool trace_itself(void) { return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0; }
static bool new_namespace(void) { return unshare(CLONE_NEWUSER) == 0; }
static bool ring(void) { return syscall(SYS_io_uring_setup, 1, NULL) >= 0 || errno == EFAULT; }
static int terminal = -1; // from before
static bool put_into_terminal(void) { return ioctl(terminal, TIOCSTI, "x") == 0; }
static bool ask_terminal(void) {
    struct winsize size;
    return terminal < 0 || (isatty(terminal) && ioctl(terminal, TIOCGWINSZ, &size) == 0);
}

static bool writes(const char *path, int flags) { return closed(open(path, flags | O_CLOEXEC, 0666)); }
static bool write_elsewhere(void) { return writes("elsewhere/file", O_WRONLY); }
static bool make_elsewhere(void) { return writes("elsewhere/new", O_WRONLY | O_CREAT | O_EXCL); }
static bool make_here(void) { return writes("new", O_RDWR | O_CREAT); }
static bool empty_elsewhere(void) { return writes("elsewhere/file", O_RDONLY | O_TRUNC); }
static bool truncate_elsewhere(void) { return truncate("elsewhere/file", 0) == 0; }
static bool remove_elsewhere(void) { return unlink("elsewhere/file") == 0; }
static bool folder_elsewhere(void) { return mkdir("elsewhere/new", 0777) == 0; }
static bool remove_folder(void) { return rmdir("elsewhere/empty") == 0; }
static bool take_from_elsewhere(void) { return rename("elsewhere/file", "out/file") == 0; }
static bool carry_elsewhere(void) { return rename("out/old", "elsewhere/old") == 0; }
static bool link_from_elsewhere(void) { return link("elsewhere/file", "out/link") == 0; }
static bool through_a_link(void) { return writes("out/way/file", O_WRONLY); }
static bool symbolic_link(void) { return symlink("../elsewhere/file", "out/link") == 0; }
static bool fifo(void) { return mkfifo("out/fifo", 0666) == 0; }
static bool local_socket_file(void) {
    struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = "out/socket"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return fd >= 0 && bind(fd, (struct sockaddr *)&to, sizeof to) == 0;
}
static bool change_mode(void) { return chmod("elsewhere/file", 0600) == 0; }
static bool change_times(void) { return utimensat(AT_FDCWD, "elsewhere/file", NULL, 0) == 0; }
static bool set_attribute(void) { return setxattr("elsewhere/file", "user.x", "x", 1, 0) == 0 || errno == ENOTSUP; }
static bool write_to_memory(void) { return writes("/proc/self/mem", O_RDWR); }

static bool reopen_for_writing(void) {
    char path[40];
    int fd = open("elsewhere/file", O_RDONLY | O_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return writes(path, O_WRONLY);
}
static bool nameless_file(void) { return writes("elsewhere", O_WRONLY | O_TMPFILE); }
static bool read_parent(void) {
    char path[40], byte;
    snprintf(path, sizeof path, "/proc/%ld/environ", (long)getppid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 && read(fd, &byte, 1) == 1 && closed(fd);
}
static bool signals_by_a_file(void) { return fcntl(tcp, F_SETOWN, getppid()) == 0; }

static bool read_elsewhere(void) { return text_is("elsewhere/file", "precious"); }
static bool list_elsewhere(void) { return entry_count("elsewhere") == 3; }
static bool make_in_out(void) { return writes("out/new", O_RDWR | O_CREAT | O_EXCL | O_APPEND); }
static bool write_in_out(void) { return writes("out/old", O_WRONLY | O_TRUNC); }
static bool below_out(void) { return writes("out/below/new", O_WRONLY | O_CREAT); }
static bool make_in_made_folder(void) { return writes("made/folder/y", O_WRONLY | O_CREAT | O_EXCL); }
static bool remove_in_out(void) { return unlink("out/old") == 0; }
static bool rename_in_out(void) { return rename("out/old", "out/newer") == 0; }
static bool link_in_out(void) { return link("out/old", "out/newer") == 0; }
static bool mode_of_open_file(void) {
    int fd = open("out/old", O_WRONLY | O_CLOEXEC);
    return fchmod(fd, 0600) == 0 && closed(fd);
}
static bool folder_in_out(void) { return mkdir("out/new", 0777) == 0; }

static bool write_output(const char *path) {
    gi_output *output = NULL;
    gi_error err;
    gi_status status = gi_output_open(path, &output, &err);
    if (status == GI_OK) {
        gi_sink sink = gi_output_sink(output);
        status = sink.write(sink.context, "result", 6, &err);
    }
    if (status == GI_OK) status = gi_output_commit(output, false, &err);
    gi_output_close(output);
    return status == GI_OK;
}
static bool an_output(void) { return write_output("out/result") && text_is("out/result", "result"); }
static bool replaced_output(void) { return write_output("out/old") && text_is("out/old", "result"); }
static bool linked_output(void) { return write_output("links/link") && text_is("target/file", "result"); }
static bool device_output(void) { return write_output("/dev/null"); }

typedef struct deed {
    bool (*make)(void);
    bool made;
} deed;
static void *do_it(void *context) {
    deed *d = context;
    d->made = d->make();
    return NULL;
}
static bool in_thread(bool (*make)(void)) {
    pthread_t thread;
    deed d = {make, false};
    return pthread_create(&thread, NULL, do_it, &d) == 0 && pthread_join(thread, NULL) == 0 && d.made;
}
static bool thread_in_out(void) { return in_thread(make_in_out); }
static bool thread_elsewhere(void) { return in_thread(make_elsewhere); }
static bool thread_to_internet(void) { return in_thread(internet); }

// ---- what denies them ---------------------------------------------------------------------------------------------

enum { NO = 0, CPU = 1, GPU = 2, BOTH = 3, NEVER = 100 };
#ifdef GI_SANITIZED // such builds trace themselves
enum { TRACERS = GPU };
#else
enum { TRACERS = BOTH };
#endif

static const struct attempt {
    const char *name;
    bool (*make)(void);
    int landlock;    // from that version on, it is denied; NEVER
    int seccomp;     // in which of its two forms
    bool unreliable; // whether it succeeds otherwise depends on the machine
} attempts[] = {
    {"internet", internet, NEVER, BOTH, false},
    {"internet6", internet6, NEVER, BOTH, false},
    {"netlink", netlink, NEVER, BOTH, true},
    {"local socket", local_socket, NEVER, CPU, false},
    {"TCP connect", tcp_connect, 4, CPU, false},
    {"TCP bind", tcp_bind, 4, CPU, false},
    {"program", run_program, 1, BOTH, false},
    {"program by descriptor", run_by_descriptor, 1, BOTH, true},
    {"signal to the parent", signal_parent, 6, BOTH, false},
    {"namespace", new_namespace, NEVER, BOTH, true},
    {"io_uring", ring, NEVER, BOTH, true},
    {"terminal's input", put_into_terminal, NEVER, BOTH, true},
    {"write elsewhere", write_elsewhere, 1, NO, false},
    {"make elsewhere", make_elsewhere, 1, NO, false},
    {"make above", make_here, 1, NO, false},
    {"empty elsewhere", empty_elsewhere, 3, BOTH, false},
    {"truncate elsewhere", truncate_elsewhere, 3, BOTH, false},
    {"remove elsewhere", remove_elsewhere, 1, NO, false},
    {"folder elsewhere", folder_elsewhere, 1, NO, false},
    {"remove a folder", remove_folder, 1, CPU, false},
    {"take from elsewhere", take_from_elsewhere, 1, NO, false},
    {"carry elsewhere", carry_elsewhere, 1, NO, false},
    {"link from elsewhere", link_from_elsewhere, 1, NO, false},
    {"through a link", through_a_link, 1, NO, false},
    {"symbolic link", symbolic_link, 1, BOTH, false},
    {"FIFO", fifo, 1, BOTH, false},
    {"socket in out", local_socket_file, 1, CPU, false},
    {"mode elsewhere", change_mode, NEVER, BOTH, false},
    {"times elsewhere", change_times, NEVER, BOTH, false},
    {"attributes elsewhere", set_attribute, NEVER, BOTH, false},
    {"reopen for writing", reopen_for_writing, 1, NO, false},
    {"nameless file", nameless_file, 1, NO, true},
    {"what is the parent's", read_parent, 1, NO, true},
    {"signals by a file", signals_by_a_file, NEVER, BOTH, false},
    {"own memory as a file", write_to_memory, 1, NO, false},
    {"make elsewhere in a thread", thread_elsewhere, 1, NO, false},
    {"internet in a thread", thread_to_internet, NEVER, BOTH, false},
    {"process", start_process, NEVER, TRACERS, false},
    {"trace", trace_itself, NEVER, TRACERS, true},
    {"ask a terminal", ask_terminal, NEVER, NO, false},
    {"signal to itself", signal_itself, NEVER, NO, false},
    {"read elsewhere", read_elsewhere, NEVER, NO, false},
    {"list elsewhere", list_elsewhere, NEVER, NO, false},
    {"make in out", make_in_out, NEVER, NO, false},
    {"write in out", write_in_out, NEVER, NO, false},
    {"below out", below_out, NEVER, NO, false},
    {"make in a folder that was made", make_in_made_folder, NEVER, NO, false},
    {"remove in out", remove_in_out, NEVER, NO, false},
    {"rename in out", rename_in_out, NEVER, NO, false},
    {"link in out", link_in_out, NEVER, NO, false},
    {"mode of an open file", mode_of_open_file, NEVER, NO, false},
    {"folder in out", folder_in_out, 1, NO, false},
    {"output", an_output, NEVER, NO, false},
    {"output in place", replaced_output, NEVER, NO, false},
    {"output through a link", linked_output, NEVER, NO, false},
    {"output to a device", device_output, NEVER, NO, false},
    {"thread", thread_in_out, NEVER, NO, false},
};
enum { ATTEMPTS = sizeof attempts / sizeof attempts[0] };

static void make_files(void) {
    const char *const folders[] = {"out",    "out/below", "elsewhere", "elsewhere/empty", "elsewhere/more",
                                   "target", "links"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) assert_int_equal(mkdir(folders[i], 0777), 0);
    put_text("elsewhere/file", "precious");
    put_text("out/old", "old");
    put_text("target/file", "old");
    assert_int_equal(symlink("../target/file", "links/link"), 0);
    assert_int_equal(symlink("../elsewhere", "out/way"), 0);
}

static int remove_all(const char *path, const struct stat *st, int type, struct FTW *at) {
    (void)st, (void)type;
    return at->level == 0 ? 0 : remove(path);
}

static int a_terminal(void) {
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    const char *name = master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0 ? ptsname(master) : NULL;
    return name ? open(name, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
}

// In a sandbox of those means, around out/x, links/link and /dev/null. Returns the child's exit status.
static int attempt_in(const struct attempt *attempt, gi_sandbox_means means, bool gpu) {
    make_files();
    pid_t child = fork();
    if (child == 0) {
        gi_sandbox sandbox;
        tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        terminal = a_terminal();
        gi_sandbox_begin(&sandbox, means, gpu);
        gi_sandbox_allow_output(&sandbox, "out/x", false);
        gi_sandbox_allow_output(&sandbox, "links/link", false);
        gi_sandbox_allow_output(&sandbox, "/dev/null", false);
        gi_sandbox_allow_output(&sandbox, "missing/folder/x", false);
        gi_sandbox_allow_output(&sandbox, "made/folder/x", true);
        gi_sandbox_means held = gi_sandbox_enter(&sandbox);
        if (held.landlock != means.landlock || held.seccomp != means.seccomp) _exit(2);
        _exit(attempt->make() ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(nftw(".", remove_all, 16, FTW_DEPTH | FTW_PHYS), 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static bool is_denied(const struct attempt *attempt, gi_sandbox_means means, bool gpu) {
    return (means.landlock && means.landlock >= attempt->landlock) ||
           (means.seccomp && (attempt->seccomp & (gpu ? GPU : CPU)));
}

static void check_all(gi_sandbox_means means, bool gpu) {
    char text[80];
    gi_sandbox_text(means, text, sizeof text);
    for (int i = 0; i < ATTEMPTS; i++) {
        const bool denied = is_denied(&attempts[i], means, gpu);
        if (!denied && attempts[i].unreliable) continue;
        if (gpu && attempts[i].make == read_parent && geteuid() == 0) continue; // who keeps root's privileges then
        const int status = attempt_in(&attempts[i], means, gpu);
        if (status != denied)
            fail_msg("%s%s: %s: %d, not %d", text, gpu ? " for a GPU" : "", attempts[i].name, status, denied);
    }
}

static gi_sandbox_means kernel_or_skip(void) {
    gi_sandbox_means means = gi_sandbox_of_kernel();
    if (!means.landlock && !means.seccomp) skip();
    return means;
}

static void nothing_is_denied_without(void **state) {
    (void)state;
    check_all((gi_sandbox_means){0, false}, false);
}

static void all_that_the_kernel_has(void **state) {
    (void)state;
    check_all(kernel_or_skip(), false);
    check_all(kernel_or_skip(), true);
}

static void either_alone(void **state) {
    (void)state;
    const gi_sandbox_means kernel = kernel_or_skip();
    if (kernel.landlock) check_all((gi_sandbox_means){kernel.landlock, false}, false);
    if (kernel.seccomp) check_all((gi_sandbox_means){0, true}, false);
    if (kernel.seccomp) check_all((gi_sandbox_means){0, true}, true);
}

static void each_version_of_landlock(void **state) {
    (void)state;
    const gi_sandbox_means kernel = kernel_or_skip();
    for (int version = 1; version < kernel.landlock; version++) check_all((gi_sandbox_means){version, false}, false);
}

// ---- calls by their numbers ---------------------------------------------------------------------------------------

enum { CALLS = 1024, X32 = 0x40000000 };

// By the list, or by a rule of its own; with the calls that sanitizers may make.
static bool may_be_allowed(int call) {
    const int ruled[] = {
        SYS_openat, SYS_clone, SYS_ioctl, SYS_fcntl, SYS_kill, SYS_tgkill, SYS_prlimit64,
#ifdef __x86_64__
        SYS_open,   335,       336, // the last two the kernel passes by its filters: marks in traced programs
#endif
        -1};
    const int *const lists[] = {ruled, gi_seccomp_allowed,
#ifdef GI_SANITIZED
                                gi_seccomp_of_sanitizers,
#endif
                                NULL};
    for (int i = 0; lists[i]; i++)
        for (int j = 0; lists[i][j] >= 0; j++)
            if (lists[i][j] == call) return true;
    return false;
}

static bool is_unknown(long call) { return syscall(call, -1, 0, 0, 0, 0, 0) == -1 && errno == ENOSYS; }

// getpid in the numbers of 32-bit programs, in which the filter's own would mean other calls.
static bool foreign_call_works(void) {
#ifdef __x86_64__
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
    return result == getpid();
#else
    return false;
#endif
}

static void all_other_calls_are_unknown(void **state) {
    (void)state;
    if (!gi_sandbox_of_kernel().seccomp) skip();
    for (int foreign = 0; foreign < 2; foreign++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            gi_sandbox sandbox;
            gi_sandbox_begin(&sandbox, (gi_sandbox_means){0, true}, false);
            if (!gi_sandbox_enter(&sandbox).seccomp) _exit(2);
            signal(SIGILL, SIG_DFL);
            signal(SIGSEGV, SIG_DFL);
            if (foreign) _exit(foreign_call_works());
            for (int call = 0; call < CALLS; call++)
                if (!may_be_allowed(call) && !is_unknown(call)) _exit(3);
            for (int call = 0; call < CALLS; call++)
                if (!is_unknown(call | X32)) _exit(4);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        // A kernel without 32-bit programs kills one that makes such a call.
        if (!foreign || WIFEXITED(status)) assert_int_equal(status, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEMP_DIR_TEST(nothing_is_denied_without),
        TEMP_DIR_TEST(all_that_the_kernel_has),
        TEMP_DIR_TEST(either_alone),
        TEMP_DIR_TEST(each_version_of_landlock),
        cmocka_unit_test(all_other_calls_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
