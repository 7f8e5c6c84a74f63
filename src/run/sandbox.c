#include "run/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/capability.h>
#include <sys/syscall.h>
#endif

#include "run/landlock.h"
#include "run/path.h"
#include "run/sandbox_gpu.h"
#include "run/seccomp.h"

gi_sandbox_means gi_sandbox_of_kernel(void) {
    return (gi_sandbox_means){gi_landlock_version(), gi_seccomp_available()};
}

const char *gi_sandbox_text(gi_sandbox_means means, char *text, size_t size) {
    if (means.landlock)
        snprintf(text, size, "Landlock (version %d)%s", means.landlock,
                 means.seccomp ? " and seccomp" : ", but no seccomp");
    else
        snprintf(text, size, "%s", means.seccomp ? "seccomp, but no Landlock" : "none: no Landlock, no seccomp");
    return text;
}

// ---- places -------------------------------------------------------------------------------------------------------

enum { FILES = GI_LANDLOCK_WRITE | GI_LANDLOCK_FILES };

// True when the path is the output's own trouble, not ours: whoever opens it fails likewise. EBADFD is Landlock's
// answer for pipes and their like, which it leaves alone.
static bool is_harmless(int error_number) {
    switch (error_number) {
    case ENOENT:
    case ENOTDIR:
    case EACCES:
    case ELOOP:
    case ENAMETOOLONG:
    case EBADFD: return true;
    default: return false;
    }
}

int gi_sandbox_allow(gi_sandbox *sandbox, const char *path, unsigned rights) {
    if (sandbox->ruleset < 0 || sandbox->failed) return 0;
    int fd = open(path, O_PATH | O_CLOEXEC);
    int error_number = fd < 0 ? errno : gi_landlock_allow(sandbox->ruleset, sandbox->means.landlock, fd, rights);
    if (fd >= 0) close(fd);
    if (error_number && !is_harmless(error_number)) sandbox->failed = error_number;
    return error_number;
}

static void make_parent(const char *path) {
    char *parent = gi_path_descriptor(path) < 0 ? gi_path_target_parent(path) : NULL;
    if (parent) (void)gi_path_make_directories(parent, NULL);
    free(parent);
}

static void allow_parent(gi_sandbox *sandbox, const char *path, unsigned rights) {
    char *parent = gi_path_parent(path);
    if (parent)
        gi_sandbox_allow(sandbox, parent, rights);
    else
        sandbox->failed = ENOMEM;
    free(parent);
}

// Where a name that is there leads elsewhere than into its directory.
static void allow_target(gi_sandbox *sandbox, const char *path, unsigned rights) {
    struct stat st;
    char *target = NULL;
    if (lstat(path, &st) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) return;
    if (S_ISLNK(st.st_mode) && gi_path_follow(path, &target, NULL) == GI_OK) allow_parent(sandbox, target, rights);
    free(target);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        gi_sandbox_allow(sandbox, path, GI_LANDLOCK_WRITE);
}

void gi_sandbox_allow_output(gi_sandbox *sandbox, const char *path, bool make) {
    if (make) make_parent(path);
    allow_parent(sandbox, path, FILES);
    allow_target(sandbox, path, FILES);
}

// ---- the outputs of a list ----------------------------------------------------------------------------------------

enum { FEW = 16 }; // outputs that are looked at one by one, rather than all that lies in their directories

// True when the directory holds what is neither file nor directory, or may hold it.
static bool has_links(const char *directory) {
    DIR *stream = opendir(directory);
    bool found = false;
    for (struct dirent *entry; stream && !found && (entry = readdir(stream));)
        found = entry->d_type != DT_REG && entry->d_type != DT_DIR;
    if (stream) closedir(stream);
    return found;
}

// False where it is missing.
static bool make_directory(const char *path, bool make) {
    struct stat st;
    return make ? gi_path_make_directories(path, NULL) == GI_OK : stat(path, &st) == 0;
}

// The directory, or where it is missing the nearest one above: that one is in OUT, where it will be made.
static void allow_directory(gi_sandbox *sandbox, const gi_item_list *list, const char *directory) {
    const bool makes = list->out_directory || list->makes_directories;
    char *path = strdup(directory), *slash = NULL;
    if (!path) sandbox->failed = ENOMEM;
    while (path && gi_sandbox_allow(sandbox, path, makes ? FILES | GI_LANDLOCK_FOLDERS : FILES) == ENOENT &&
           list->out_directory && (slash = strrchr(path, '/')) != NULL && slash != path)
        *slash = '\0';
    free(path);
}

void gi_sandbox_allow_outputs(gi_sandbox *sandbox, const gi_item_list *list, bool make) {
    char *last = NULL; // the directory of the output before
    bool links = false;
    if (list->out_directory && !make_directory(list->out_directory, make && list->count > 0)) return;
    for (size_t i = 0; i < list->count && !sandbox->failed; i++) {
        const char *out = list->items[i].out;
        char *directory = out ? gi_path_parent(out) : NULL;
        if (out && !directory) sandbox->failed = ENOMEM;
        if (directory && (!last || strcmp(directory, last) != 0)) {
            if (list->makes_directories) (void)make_directory(directory, make);
            allow_directory(sandbox, list, directory);
            links = list->count <= FEW || has_links(directory);
            char *before = last;
            last = directory;
            directory = before;
        }
        if (out && links) allow_target(sandbox, out, FILES);
        free(directory);
    }
    free(last);
}

// ---- the sandbox --------------------------------------------------------------------------------------------------

// LLVM's OpenMP runtime, which clang links, has this function, and gcc's has not. It keeps a file in shared memory for
// as long as it runs, and aborts where it cannot.
extern int kmp_get_blocktime(void) __attribute__((weak));

void gi_sandbox_begin(gi_sandbox *sandbox, gi_sandbox_means means, bool gpu) {
    *sandbox = (gi_sandbox){.means = means, .gpu = gpu, .ruleset = -1};
    if (means.landlock) sandbox->ruleset = gi_landlock_open(means.landlock);
    if (kmp_get_blocktime) gi_sandbox_allow(sandbox, "/dev/shm", FILES);
    if (gpu) gi_sandbox_allow_gpu(sandbox);
}

// Of root's privileges, those over files are left, which outputs may need, and to fill a disk. Others see through
// walls: CAP_PERFMON, for one, reads other processes' memory.
static void drop_privileges(void) {
#ifdef __linux__
    const uint32_t kept = 1u << CAP_CHOWN | 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH | 1u << CAP_FOWNER |
                          1u << CAP_FSETID | 1u << CAP_SYS_RESOURCE;
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[2]; // of capabilities 0 to 31, and 32 to 63
    if (syscall(SYS_capget, &header, sets) != 0) return;
    sets[0].permitted &= kept;
    sets[0].effective &= kept;
    sets[1].permitted = sets[1].effective = sets[0].inheritable = sets[1].inheritable = 0;
    (void)syscall(SYS_capset, &header, sets); // to have fewer is always allowed
#endif
}

gi_sandbox_means gi_sandbox_enter(gi_sandbox *sandbox) {
    gi_sandbox_means held = {0, false};
    // With a rule missing, an output would fail that could be written.
    if (sandbox->ruleset >= 0 && !sandbox->failed && gi_landlock_enter(sandbox->ruleset) == 0)
        held.landlock = sandbox->means.landlock;
    if (sandbox->ruleset >= 0) close(sandbox->ruleset);
    sandbox->ruleset = -1;
    if (!sandbox->gpu && (held.landlock || sandbox->means.seccomp)) drop_privileges();
    held.seccomp = sandbox->means.seccomp && gi_seccomp_enter(sandbox->gpu) == 0;
    return held;
}
