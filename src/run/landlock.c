#include "run/landlock.h"

#include <errno.h>
#include <stddef.h>

#ifdef __linux__

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

// As in <linux/landlock.h>; the numbers of the calls are the same on every architecture.
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { ASK_VERSION = 1, PATH_BENEATH = 1 };

#define EXECUTE (1ull << 0)
#define WRITE_FILE (1ull << 1)
// 2 and 3 are reading files and directories, which stay as they are.
#define REMOVE_DIR (1ull << 4)
#define REMOVE_FILE (1ull << 5)
#define MAKE_CHAR (1ull << 6)
#define MAKE_DIR (1ull << 7)
#define MAKE_REG (1ull << 8)
#define MAKE_SOCK (1ull << 9)
#define MAKE_FIFO (1ull << 10)
#define MAKE_BLOCK (1ull << 11)
#define MAKE_SYM (1ull << 12)
#define REFER (1ull << 13)     // version 2; before it, no file gets from one directory into another
#define TRUNCATE (1ull << 14)  // version 3
#define IOCTL_DEV (1ull << 15) // version 5
#define NET_TCP 3ull           // version 4: bind, connect
#define SCOPED 3ull            // version 6: abstract sockets, signals

struct ruleset_attr {
    uint64_t handled_access_fs;
    uint64_t handled_access_net; // version 4
    uint64_t scoped;             // version 6
};

struct path_beneath_attr {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed));

static uint64_t known_access(int version) {
    uint64_t access = EXECUTE | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_CHAR | MAKE_DIR | MAKE_REG | MAKE_SOCK |
                      MAKE_FIFO | MAKE_BLOCK | MAKE_SYM;
    if (version >= 2) access |= REFER;
    if (version >= 3) access |= TRUNCATE;
    if (version >= 5) access |= IOCTL_DEV;
    return access;
}

int gi_landlock_version(void) {
    long version = syscall(CREATE_RULESET, NULL, (size_t)0, ASK_VERSION);
    return version > 0 ? (int)version : 0;
}

int gi_landlock_open(int version) {
    struct ruleset_attr attr = {.handled_access_fs = known_access(version)};
    if (version >= 4) attr.handled_access_net = NET_TCP;
    if (version >= 6) attr.scoped = SCOPED;
    // A kernel takes what is longer than it knows, too, where the rest is zero.
    return (int)syscall(CREATE_RULESET, &attr, sizeof attr, 0);
}

int gi_landlock_allow(int ruleset, int version, int place, unsigned rights) {
    struct stat st;
    if (fstat(place, &st) != 0) return errno;
    uint64_t access = 0;
    if (rights & GI_LANDLOCK_WRITE) access |= WRITE_FILE | TRUNCATE;
    if (rights & GI_LANDLOCK_DEVICE) access |= IOCTL_DEV;
    // A rule on a file must not speak of directories.
    if ((rights & GI_LANDLOCK_FILES) && S_ISDIR(st.st_mode)) access |= MAKE_REG | REMOVE_FILE;
    if ((rights & GI_LANDLOCK_FOLDERS) && S_ISDIR(st.st_mode)) access |= MAKE_DIR;
    struct path_beneath_attr rule = {access & known_access(version), place};
    return syscall(ADD_RULE, ruleset, PATH_BENEATH, &rule, 0) == 0 ? 0 : errno;
}

int gi_landlock_enter(int ruleset) {
    // Without this, only a privileged process may; programs it runs could gain privileges by their files' modes.
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    return syscall(RESTRICT_SELF, ruleset, 0) == 0 ? 0 : errno;
}

#else

int gi_landlock_version(void) { return 0; }

int gi_landlock_open(int version) {
    (void)version;
    errno = ENOSYS;
    return -1;
}

int gi_landlock_allow(int ruleset, int version, int place, unsigned rights) {
    (void)ruleset, (void)version, (void)place, (void)rights;
    return ENOSYS;
}

int gi_landlock_enter(int ruleset) {
    (void)ruleset;
    return ENOSYS;
}

#endif
