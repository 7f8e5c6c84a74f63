#include "run/path.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINKS = 40 }; // as the kernel's own limit

char *gi_path_join(const char *directory, const char *name) {
    size_t length = strlen(directory);
    const char *slash = length == 0 || directory[length - 1] == '/' ? "" : "/";
    char *path = NULL;
    return asprintf(&path, "%s%s%s", directory, slash, name) < 0 ? NULL : path;
}

const char *gi_path_last(const char *path, size_t *length) {
    const char *end = path + strlen(path);
    while (end > path && end[-1] == '/') end--;
    const char *start = end;
    while (start > path && start[-1] != '/') start--;
    *length = (size_t)(end - start);
    return start;
}

char *gi_path_parent(const char *path) {
    size_t length = 0;
    const char *end = gi_path_last(path, &length);
    if (length == 0 || end == path) return strdup(path[0] == '/' ? "/" : ".");
    while (end > path + 1 && end[-1] == '/') end--;
    return strndup(path, (size_t)(end - path));
}

// The path that the link `path` names, relative to the working directory.
static char *link_target(const char *path) {
    char text[PATH_MAX];
    ssize_t length = readlink(path, text, sizeof text - 1);
    if (length < 0) return NULL;
    text[length] = '\0';
    if (text[0] == '/') return strdup(text);
    char *parent = gi_path_parent(path);
    char *target = parent ? gi_path_join(parent, text) : NULL;
    free(parent);
    return target;
}

gi_status gi_path_follow(const char *path, char **target, gi_error *err) {
    char *now = strdup(path);
    struct stat st;
    for (int links = 0; now && lstat(now, &st) == 0 && S_ISLNK(st.st_mode); links++) {
        char *next = links < MAX_LINKS ? link_target(now) : NULL;
        free(now);
        now = next;
        if (links >= MAX_LINKS) return gi_path_fail(err, "cannot follow", path, ELOOP);
    }
    *target = now;
    return now ? GI_OK : gi_path_fail(err, "cannot follow", path, errno);
}

char *gi_path_target_parent(const char *path) {
    char *target = NULL;
    if (gi_path_follow(path, &target, NULL) != GI_OK) return NULL;
    char *parent = gi_path_parent(target);
    free(target);
    return parent;
}

// The N of a name that ends so; -1 for others.
static int number_of(const char *digits) {
    const size_t count = strspn(digits, "0123456789");
    return count >= 1 && count <= 6 && digits[count] == '\0' ? atoi(digits) : -1;
}

// By the name as it is written, which does without /proc.
static int plain_descriptor(const char *path) {
    static const char *const prefixes[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0) return number_of(path + strlen(prefixes[i]));
    return -1;
}

// By the directory that the name lies in.
static int listed_descriptor(const char *path) {
    char *parent = gi_path_parent(path);
    char *directory = parent ? realpath(parent, NULL) : NULL,
         *ours = directory ? realpath("/proc/self/fd", NULL) : NULL;
    size_t length = 0;
    const int found = ours && strcmp(directory, ours) == 0 ? number_of(gi_path_last(path, &length)) : -1;
    free(parent);
    free(directory);
    free(ours);
    return found;
}

int gi_path_descriptor(const char *path) {
    struct stat st;
    int found = plain_descriptor(path);
    char *now = found < 0 ? strdup(path) : NULL;
    // Descriptors are links themselves, so that a plain file costs one look.
    for (int links = 0; now && found < 0 && links < MAX_LINKS && lstat(now, &st) == 0 && S_ISLNK(st.st_mode); links++) {
        found = listed_descriptor(now);
        char *next = found < 0 ? link_target(now) : NULL;
        free(now);
        now = next;
        if (now && found < 0) found = plain_descriptor(now);
    }
    free(now);
    return found;
}

const char *gi_path_of_argument(const char *argument) { return strcmp(argument, "-") == 0 ? NULL : argument; }

const char *gi_path_input(const char *path) { return path ? path : "standard input"; }

const char *gi_path_output(const char *path) { return path ? path : "standard output"; }

const char *gi_path_show(const char *path, char text[GI_PATH_SHOWN]) {
    size_t length = strlen(path);
    bool cut = length > GI_PATH_SHOWN - 1;
    const char *from = cut ? path + length - (GI_PATH_SHOWN - 4) : path;
    snprintf(text, GI_PATH_SHOWN, "%s%s", cut ? "..." : "", from);
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f) *p = '?';
    return text;
}

gi_status gi_path_fail(gi_error *err, const char *what, const char *path, int error_number) {
    char shown[GI_PATH_SHOWN], where[GI_PATH_SHOWN + 64];
    snprintf(where, sizeof where, "%s %s", what, gi_path_show(path, shown));
    return gi_fail_errno(err, where, error_number);
}

gi_status gi_path_fail_existing(gi_error *err, const char *path) {
    char shown[GI_PATH_SHOWN] = "";
    if (path) gi_path_show(path, shown);
    return gi_fail(err, GI_ERR_EXISTS, "%s%sexists already", shown, path ? " " : "");
}

static bool is_directory(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

gi_status gi_path_make_directories(const char *path, gi_error *err) {
    if (is_directory(path)) return GI_OK;
    if (path[0] == '\0') return gi_path_fail(err, "cannot make the directory", path, ENOENT);
    char *prefix = strdup(path);
    if (!prefix) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    gi_status status = GI_OK;
    for (char *p = prefix + 1; p[-1] != '\0' && status == GI_OK; p++) {
        if ((*p != '/' && *p != '\0') || p[-1] == '/') continue;
        char end = *p;
        *p = '\0';
        // Another worker may make the same one between the look and the attempt.
        if (!is_directory(prefix) && mkdir(prefix, 0777) != 0) {
            int error_number = errno;
            if (!is_directory(prefix)) {
                if (error_number == EEXIST) error_number = ENOTDIR;
                status = gi_path_fail(err, "cannot make the directory", prefix, error_number);
            }
        }
        *p = end;
        if (end == '\0') break;
    }
    free(prefix);
    return status;
}
