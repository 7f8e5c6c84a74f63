#include "run/seccomp.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#if defined __linux__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && (defined __x86_64__ || defined __aarch64__)

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "run/seccomp_calls.h"

#ifdef __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif
#ifndef SECCOMP_FILTER_FLAG_SPEC_ALLOW
#define SECCOMP_FILTER_FLAG_SPEC_ALLOW (1ul << 2)
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif

enum { FOREIGN_CALLS = 0x40000000 }; // from there on: x86-64's other calling convention, x32
enum { INSTRUCTIONS = 512 };
#define TERMIOS2_GET 0x802C542Au // TCGETS2, with which newer C libraries ask for a terminal

typedef struct program {
    struct sock_filter code[INSTRUCTIONS];
    unsigned short count;
} program;

// What becomes of a call of which (argument & mask) == value; mask 0: of every one.
typedef struct rule {
    int call;
    int argument;
    uint32_t mask, value;
    uint32_t action;
} rule;

static void add(program *p, struct sock_filter instruction) {
    if (p->count < INSTRUCTIONS) p->code[p->count++] = instruction;
}

static void add_load(program *p, size_t offset) {
    add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void add_return(program *p, uint32_t action) { add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action)); }

// Expects the number of the call to be loaded, and leaves it so.
static void add_rule(program *p, const rule *r) {
    const size_t at = offsetof(struct seccomp_data, args) + (size_t)r->argument * sizeof(uint64_t); // its low half
    const unsigned char behind = r->mask ? 5 : 1;
    add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)r->call, 0, behind));
    if (r->mask) {
        add_load(p, at);
        add(p, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, r->mask));
        add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, r->value, 0, 1));
    }
    add_return(p, r->action);
    if (r->mask) add_load(p, offsetof(struct seccomp_data, nr));
}

#define FAIL(error_number) (SECCOMP_RET_ERRNO | (error_number))
#define ALLOW SECCOMP_RET_ALLOW
#define ALL UINT32_MAX

static void add_rules(program *p, const rule *rules, size_t count) {
    for (size_t i = 0; i < count; i++) add_rule(p, &rules[i]);
}

static void add_list(program *p, const int *calls, uint32_t action) {
    for (; *calls >= 0; calls++) add_rule(p, &(rule){.call = *calls, .action = action});
}

// Threads, not processes; signals and limits of its own; no file emptied without being opened for writing, which
// Landlock sees from version 3 alone. The arguments of clone3 and openat2 lie in memory, where a filter does not see
// them: the C library goes on with clone and openat.
static void add_common(program *p) {
    const uint32_t self = (uint32_t)getpid();
    const uint32_t emptied = O_TRUNC | O_ACCMODE;
    const uint32_t thread = CLONE_THREAD | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                            CLONE_NEWPID | CLONE_NEWNET;
    const rule rules[] = {
        {SYS_openat, 2, emptied, O_TRUNC | O_RDONLY, FAIL(EACCES)},
#ifdef SYS_open
        {SYS_open, 1, emptied, O_TRUNC | O_RDONLY, FAIL(EACCES)},
#endif
#ifdef SYS_openat2
        {SYS_openat2, 0, 0, 0, FAIL(ENOSYS)},
#endif
        {SYS_clone, 0, thread, CLONE_THREAD, ALLOW},
        {SYS_clone3, 0, 0, 0, FAIL(ENOSYS)},
        {SYS_tgkill, 0, ALL, self, ALLOW},
        {SYS_kill, 0, ALL, self, ALLOW},
    };
    add_rules(p, rules, sizeof rules / sizeof rules[0]);
}

// Of a terminal, only whether it is one and how large: others put words into its input, for the shell to read.
static void add_for_cpu(program *p) {
    const rule rules[] = {
        {SYS_openat, 0, 0, 0, ALLOW},
#ifdef SYS_open
        {SYS_open, 0, 0, 0, ALLOW},
#endif
        {SYS_ioctl, 1, ALL, TCGETS, ALLOW},
        {SYS_ioctl, 1, ALL, TERMIOS2_GET, ALLOW},
        {SYS_ioctl, 1, ALL, TIOCGWINSZ, ALLOW},
        {SYS_ioctl, 0, 0, 0, FAIL(ENOTTY)},
        // Up to F_SETLK, without F_SETOWN and F_SETSIG, by which a file sends signals to other processes.
        {SYS_fcntl, 1, ~7u, 0, ALLOW},
        {SYS_fcntl, 1, ALL, F_DUPFD_CLOEXEC, ALLOW},
        {SYS_fcntl, 0, 0, 0, FAIL(EINVAL)},
        {SYS_prlimit64, 0, ALL, 0, ALLOW},
    };
    add_rules(p, rules, sizeof rules / sizeof rules[0]);
    add_list(p, gi_seccomp_allowed, ALLOW);
#ifdef GI_SANITIZED
    add_list(p, gi_seccomp_of_sanitizers, ALLOW);
#endif
    add_return(p, FAIL(ENOSYS));
}

static void add_for_gpu(program *p) {
    const rule rules[] = {
        {SYS_socket, 0, ALL, AF_UNIX, ALLOW},          {SYS_fcntl, 1, ALL, F_SETOWN, FAIL(EPERM)},
        {SYS_fcntl, 1, ALL, F_SETOWN_EX, FAIL(EPERM)}, {SYS_fcntl, 1, ALL, F_SETSIG, FAIL(EPERM)},
        {SYS_ioctl, 1, ALL, TIOCSTI, FAIL(EPERM)},     {SYS_ioctl, 1, ALL, TIOCLINUX, FAIL(EPERM)},
        {SYS_ioctl, 1, ALL, TIOCSETD, FAIL(EPERM)},
    };
    add_rules(p, rules, sizeof rules / sizeof rules[0]);
    add_list(p, gi_seccomp_denied, FAIL(EPERM));
    add_return(p, ALLOW);
}

// False when it has more instructions than there is room for.
static bool make_program(program *p, bool gpu) {
    p->count = 0;
    add_load(p, offsetof(struct seccomp_data, arch));
    add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
    add_return(p, FAIL(ENOSYS)); // 32-bit calls have other numbers
    add_load(p, offsetof(struct seccomp_data, nr));
    add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FOREIGN_CALLS, 0, 1));
    add_return(p, FAIL(ENOSYS));
    add_common(p);
    if (gpu)
        add_for_gpu(p);
    else
        add_for_cpu(p);
    return p->count < INSTRUCTIONS;
}

bool gi_seccomp_available(void) {
    // Whoever has it looks at the program first, which is nowhere.
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) != 0 && errno == EFAULT;
}

int gi_seccomp_enter(bool gpu) {
    program p;
    if (!make_program(&p, gpu)) return E2BIG;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    struct sock_fprog filter = {p.count, p.code};
    // Kernels before 5.16 slow down all memory accesses of filtered processes, against a side channel by which code
    // that runs in one process reads what belongs to others. Nobody's code but ours runs here.
    unsigned long flags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    long failed = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
    if (failed < 0 && errno == EINVAL)
        failed = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
    // TSYNC returns the number of a thread that cannot be put under it.
    return failed == 0 ? 0 : failed > 0 ? EBUSY : errno;
}

#else

bool gi_seccomp_available(void) { return false; }

int gi_seccomp_enter(bool gpu) {
    (void)gpu;
    return ENOSYS;
}

#endif
