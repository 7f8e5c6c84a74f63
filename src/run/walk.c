// The walk of a directory. No recursion: directories to come wait on a stack of names, so that depth costs memory only.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/checked.h"
#include "run/item_list.h"
#include "run/path.h"

typedef struct names {
    char **items;
    size_t count, capacity;
} names;

// A directory still to be read, and where its results go.
typedef struct pending {
    char *in, *out;
} pending;

typedef struct walk {
    const gi_inputs_request *request;
    gi_item_list *list;
    pending *stack;
    size_t depth, capacity;
    size_t root_length; // of the directory as it was named
    bool has_out;       // OUT exists: its identity, which is not walked when met inside IN
    dev_t out_device;
    ino_t out_inode;
} walk;

static gi_status out_of_memory(gi_error *err) { return gi_fail(err, GI_ERR_MEMORY, "out of memory for names"); }

static void names_free(names *all) {
    for (size_t i = 0; i < all->count; i++) free(all->items[i]);
    free(all->items);
    *all = (names){0};
}

static gi_status names_add(names *all, const char *name, gi_error *err) {
    if (all->count == all->capacity) {
        size_t capacity = all->capacity ? all->capacity * 2 : 64, bytes = 0;
        char **items = gi_mul(capacity, sizeof *items, &bytes) ? realloc(all->items, bytes) : NULL;
        if (!items) return out_of_memory(err);
        all->items = items;
        all->capacity = capacity;
    }
    char *copy = strdup(name);
    if (!copy) return out_of_memory(err);
    all->items[all->count++] = copy;
    return GI_OK;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

// Takes both names over, also on failure.
static gi_status push(walk *w, char *in, char *out, gi_error *err) {
    if (w->depth == w->capacity) {
        size_t capacity = w->capacity ? w->capacity * 2 : 32, bytes = 0;
        pending *stack = gi_mul(capacity, sizeof *stack, &bytes) ? realloc(w->stack, bytes) : NULL;
        if (!stack) {
            free(in);
            free(out);
            return out_of_memory(err);
        }
        w->stack = stack;
        w->capacity = capacity;
    }
    w->stack[w->depth++] = (pending){in, out};
    return GI_OK;
}

// The joined path, or NULL where there is no directory to join to; false when memory is exhausted.
static bool join_if(const char *directory, const char *name, char **path) {
    *path = directory ? gi_path_join(directory, name) : NULL;
    return *path || !directory;
}

// True when the regular file begins as a PNG or JPEG does.
static bool has_signature(int directory_fd, const char *name) {
    // Looked at before it is opened; O_NONBLOCK and the second look are for one that is swapped in between.
    int fd = openat(directory_fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return false;
    struct stat st;
    uint8_t bytes[GI_SNIFF_BYTES];
    ssize_t got = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? pread(fd, bytes, sizeof bytes, 0) : -1;
    close(fd);
    return got > 0 && gi_format_sniff((gi_bytes){bytes, (size_t)got}) != GI_FORMAT_UNKNOWN;
}

static gi_status add_file(walk *w, const pending *at, const char *name, gi_error *err) {
    char *out_name = at->out ? gi_output_name(name, strlen(name), w->request->format) : NULL;
    gi_item item = {gi_path_join(at->in, name), NULL, true, w->root_length};
    bool ok = item.in && (out_name || !at->out) && (!out_name || join_if(at->out, out_name, &item.out));
    free(out_name);
    if (ok) return gi_item_list_add(w->list, &item, err);
    free(item.in);
    return out_of_memory(err);
}

// Puts one name where it belongs: to the items, to the directories to come, or to those skipped.
static gi_status take_name(walk *w, const pending *at, int fd, const char *name, names *directories, gi_error *err) {
    struct stat st;
    bool image_name = gi_format_of_name(name) != GI_FORMAT_UNKNOWN;
    bool found = fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (found && S_ISDIR(st.st_mode)) return w->request->recursive ? names_add(directories, name, err) : GI_OK;
    bool link = found && S_ISLNK(st.st_mode);
    if (link) found = fstatat(fd, name, &st, 0) == 0;
    if (link && found && S_ISDIR(st.st_mode)) {
        char *path = gi_path_join(at->in, name);
        gi_say(w->request->messages, GI_NOTE, path ? path : name, "a symbolic link to a directory is not entered");
        free(path);
        return GI_OK;
    }
    // A name that promises an image is listed even if it cannot be reached, so that it fails by name.
    bool image = image_name && (!found || S_ISREG(st.st_mode));
    if (!image && found && S_ISREG(st.st_mode)) image = has_signature(fd, name);
    if (image) return add_file(w, at, name, err);
    w->list->skipped++;
    return GI_OK;
}

static gi_status read_names(DIR *stream, names *all, int *error_number, gi_error *err) {
    gi_status status = GI_OK;
    for (errno = 0; status == GI_OK; errno = 0) {
        struct dirent *entry = readdir(stream);
        if (!entry) break;
        if (entry->d_name[0] != '.') status = names_add(all, entry->d_name, err);
    }
    *error_number = status == GI_OK ? errno : 0;
    return status;
}

static gi_status note_unreadable(walk *w, const pending *at, int error_number, gi_error *err) {
    char text[128], reason[192];
    snprintf(reason, sizeof reason, "cannot read the directory: %s", strerror_r(error_number, text, sizeof text));
    gi_say(w->request->messages, GI_FAILURE, at->in, "%s", reason);
    return gi_item_list_add_unread(w->list, &(gi_unread){at->in, at->out, reason}, err);
}

static gi_status take_directory(walk *w, const pending *at, DIR *stream, gi_error *err) {
    names all = {0}, directories = {0};
    int error_number = 0;
    gi_status status = read_names(stream, &all, &error_number, err);
    if (error_number != 0) status = note_unreadable(w, at, error_number, err);
    if (all.count > 1) qsort(all.items, all.count, sizeof *all.items, by_name);
    for (size_t i = 0; i < all.count && status == GI_OK; i++)
        status = take_name(w, at, dirfd(stream), all.items[i], &directories, err);
    // From the last, so that the first is on top of the stack.
    for (size_t i = directories.count; i > 0 && status == GI_OK; i--) {
        char *in = gi_path_join(at->in, directories.items[i - 1]), *out = NULL;
        bool joined = join_if(at->out, directories.items[i - 1], &out);
        if (in && joined) {
            status = push(w, in, out, err);
        } else {
            free(in);
            status = out_of_memory(err);
        }
    }
    names_free(&all);
    names_free(&directories);
    return status;
}

static gi_status walk_one(walk *w, const pending *at, bool top, gi_error *err) {
    // The directory that was named may be a link; one that was met never is.
    int fd = open(at->in, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (top ? 0 : O_NOFOLLOW));
    struct stat st;
    DIR *stream = NULL;
    if (fd >= 0 && !top && w->has_out && fstat(fd, &st) == 0 && st.st_dev == w->out_device &&
        st.st_ino == w->out_inode) {
        gi_say(w->request->messages, GI_NOTE, at->in, "the output directory is not read as input");
        close(fd);
        return GI_OK;
    }
    if (fd < 0 || !(stream = fdopendir(fd))) {
        gi_status status = note_unreadable(w, at, errno, err);
        if (fd >= 0) close(fd);
        return status;
    }
    gi_status status = take_directory(w, at, stream, err);
    closedir(stream);
    return status;
}

gi_status gi_walk(const char *directory, const gi_inputs_request *request, gi_item_list *list, gi_error *err) {
    walk w = {.request = request, .list = list, .root_length = strlen(directory)};
    struct stat st;
    if (request->output && stat(request->output, &st) == 0) {
        w.has_out = true;
        w.out_device = st.st_dev;
        w.out_inode = st.st_ino;
    }
    char *in = strdup(directory), *out = request->output ? strdup(request->output) : NULL;
    gi_status status = GI_OK;
    if (in && (out || !request->output)) {
        status = push(&w, in, out, err);
    } else {
        free(in);
        status = out_of_memory(err);
    }
    for (bool top = true; w.depth > 0; top = false) {
        pending at = w.stack[--w.depth];
        if (status == GI_OK) status = walk_one(&w, &at, top, err);
        free(at.in);
        free(at.out);
    }
    free(w.stack);
    return status;
}
