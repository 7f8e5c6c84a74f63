#include "run/seccomp_calls.h"

#ifdef __linux__
#include <sys/syscall.h>
#endif

const int gi_seccomp_allowed[] = {
#ifdef __linux__
    // Memory.
    SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise, SYS_brk, SYS_mincore,
    // Open files.
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_lseek, SYS_close, SYS_fstat, SYS_dup,
    SYS_dup3, SYS_flock, SYS_fadvise64, SYS_ftruncate, SYS_fallocate, SYS_fsync, SYS_fdatasync, SYS_fchmod, SYS_fchown,
    SYS_getdents64, SYS_fstatfs, SYS_ppoll, SYS_pselect6,
    // Names.
    SYS_newfstatat, SYS_statfs, SYS_faccessat, SYS_readlinkat, SYS_getcwd, SYS_mkdirat, SYS_unlinkat, SYS_renameat2,
    SYS_linkat, SYS_umask,
    // Threads.
    SYS_futex, SYS_set_robust_list, SYS_get_robust_list, SYS_set_tid_address, SYS_sched_yield, SYS_sched_getaffinity,
    SYS_sched_setaffinity, SYS_sched_getparam, SYS_sched_getscheduler, SYS_sched_get_priority_min,
    SYS_sched_get_priority_max, SYS_getpid, SYS_gettid, SYS_exit, SYS_exit_group, SYS_getcpu,
    // Signals to itself, and timers.
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending, SYS_rt_sigsuspend, SYS_rt_sigtimedwait,
    SYS_sigaltstack, SYS_restart_syscall, SYS_setitimer, SYS_getitimer, SYS_nanosleep, SYS_clock_nanosleep,
    // What there is and how late it is.
    SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_getrandom, SYS_getrusage, SYS_getrlimit, SYS_times,
    SYS_sysinfo, SYS_uname, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid,
#endif
#ifdef SYS_renameat
    SYS_renameat,
#endif
#ifdef SYS_statx
    SYS_statx,
#endif
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
#ifdef SYS_close_range
    SYS_close_range,
#endif
#ifdef SYS_membarrier
    SYS_membarrier,
#endif
#ifdef SYS_rseq
    SYS_rseq,
#endif
#ifdef SYS_futex_waitv
    SYS_futex_waitv,
#endif
#if defined __linux__ && defined __x86_64__ // the older forms
    SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_mkdir, SYS_unlink, SYS_rename, SYS_link, SYS_dup2, SYS_poll,
    SYS_select, SYS_getdents, SYS_alarm, SYS_pause, SYS_time, SYS_arch_prctl,
#endif
    -1};

const int gi_seccomp_denied[] = {
#ifdef __linux__
    // Other programs and processes. clone is left to threads by a rule.
    SYS_execve, SYS_execveat, SYS_clone, SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_unshare, SYS_setns,
    // Sockets are left to local ones by a rule; what opens more than a filter sees.
    SYS_socket, SYS_bpf, SYS_perf_event_open, SYS_add_key, SYS_request_key, SYS_keyctl, SYS_open_by_handle_at,
    // What of files is not within Landlock's reach.
    SYS_fchmodat, SYS_fchownat, SYS_utimensat, SYS_setxattr, SYS_lsetxattr, SYS_removexattr, SYS_lremovexattr,
    SYS_truncate, SYS_mknodat, SYS_symlinkat,
    // Privileges, and the system as a whole.
    SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setgroups, SYS_capset,
    SYS_chroot, SYS_pivot_root, SYS_mount, SYS_umount2, SYS_swapon, SYS_swapoff, SYS_reboot, SYS_init_module,
    SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_sethostname, SYS_setdomainname, SYS_settimeofday,
    SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime, SYS_acct, SYS_quotactl, SYS_syslog, SYS_vhangup,
    SYS_lookup_dcookie,
#endif
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
#ifdef SYS_userfaultfd
    SYS_userfaultfd,
#endif
#ifdef SYS_io_uring_setup // does what calls do, behind the filter's back
    SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
#endif
#ifdef SYS_pidfd_send_signal
    SYS_pidfd_send_signal,
#endif
#ifdef SYS_pidfd_open
    SYS_pidfd_open,
#endif
#ifdef SYS_pidfd_getfd
    SYS_pidfd_getfd,
#endif
#ifdef SYS_process_madvise
    SYS_process_madvise,
#endif
#ifdef SYS_open_tree
    SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick,
#endif
#ifdef SYS_mount_setattr
    SYS_mount_setattr,
#endif
#ifdef SYS_fchmodat2
    SYS_fchmodat2,
#endif
#if defined __linux__ && defined __x86_64__
    SYS_fork, SYS_vfork, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_mknod, SYS_symlink,
    SYS_iopl, SYS_ioperm, SYS_modify_ldt,
#endif
    -1};

#ifdef GI_SANITIZED
const int gi_seccomp_of_sanitizers[] = {SYS_clone, SYS_ptrace, SYS_wait4, SYS_prctl, SYS_process_vm_readv, -1};
#endif
