// Whether a file system folds case: found by trying.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/fold.h"
#include "run/temporary.h"

bool gi_folds_case(const char *directory) {
    // Named as a temporary, so that one left by a kill is swept.
    char lower[GI_TEMPORARY_SIZE], upper[GI_TEMPORARY_SIZE];
    gi_temporary_name(lower, "case", GI_TEMPORARY_SIZE, 0);
    gi_temporary_name(upper, "CASE", GI_TEMPORARY_SIZE, 0);
    int directory_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory_fd < 0) return false;
    struct stat made, found;
    int fd = openat(directory_fd, lower, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool folds = fd >= 0 && fstat(fd, &made) == 0 && fstatat(directory_fd, upper, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
                 made.st_dev == found.st_dev && made.st_ino == found.st_ino;
    if (fd >= 0) {
        unlinkat(directory_fd, lower, 0);
        close(fd);
    }
    close(directory_fd);
    return folds;
}
