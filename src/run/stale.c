// The sweep of what killed runs left behind.
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/output.h"
#include "run/path.h"
#include "run/temporary.h"

// Removes it if its process is gone. The lock is what tells: it dies with the process, on whatever machine or in
// whatever container that ran, where its number would mean nothing.
static void remove_if_stale(int directory_fd, const char *name) {
    struct stat st, opened;
    if (fstatat(directory_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid()) return;
    int fd = openat(directory_fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
    // It must be the file looked at, and be there still once the lock is held: the owner may just have renamed it.
    if (fstat(fd, &opened) == 0 && opened.st_dev == st.st_dev && opened.st_ino == st.st_ino &&
        flock(fd, LOCK_EX | LOCK_NB) == 0 && fstatat(directory_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        opened.st_dev == st.st_dev && opened.st_ino == st.st_ino)
        unlinkat(directory_fd, name, 0);
    close(fd);
}

void gi_output_sweep(const char *directory) {
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    DIR *stream = fdopendir(fd);
    if (!stream) {
        close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(stream));)
        if (gi_temporary_matches(entry->d_name)) remove_if_stale(fd, entry->d_name);
    closedir(stream);
}

static void sweep_parent(const char *path) {
    char *parent = gi_path_parent(path);
    if (parent) gi_output_sweep(parent);
    free(parent);
}

void gi_output_sweep_beside(const char *path) {
    struct stat st;
    char *target = NULL;
    // What is there and no regular file is written to directly.
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) return;
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && gi_path_follow(path, &target, NULL) == GI_OK)
        sweep_parent(target);
    free(target);
    sweep_parent(path);
}
