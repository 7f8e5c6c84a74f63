#include "run/array_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/npy.h"
#include "core/large.h"
#include "core/text.h"
#include "run/image_file.h"
#include "run/output.h"
#include "run/path.h"
#include "run/read.h"

// A stream is believed so many bytes before the first of them has come, and twice as many as have come later on.
enum { FIRST_CAPACITY = 1 << 20 };

// Prefix and header, read into `bytes` of GI_NPY_HEADER_BYTES as far as they go.
static gi_status read_header(int fd, const gi_read_options *options, uint8_t *bytes, gi_npy_header *header,
                             gi_error *err) {
    size_t size = 0, got = 0;
    gi_status status = gi_npy_header_bytes((gi_bytes){bytes, GI_NPY_PREFIX_BYTES}, &size, err);
    if (status != GI_OK) return status;
    status = gi_read_full(fd, bytes + GI_NPY_PREFIX_BYTES, size - GI_NPY_PREFIX_BYTES, options, &got, err);
    if (status != GI_OK) return status;
    return gi_npy_header_parse((gi_bytes){bytes, GI_NPY_PREFIX_BYTES + got}, header, err);
}

static gi_status refuse_size(const gi_npy_header *header, size_t left, gi_error *err) {
    if (left < header->data_bytes)
        return gi_fail(err, GI_ERR_FORMAT, "the file ends after %zu of the array's %zu byte%s", left,
                       header->data_bytes, gi_plural(header->data_bytes));
    return gi_fail(err, GI_ERR_FORMAT, "the file goes on behind its array of %zu byte%s", header->data_bytes,
                   gi_plural(header->data_bytes));
}

// What is left of a regular file must be just the elements. *known: it is one, and they are.
static gi_status check_size(int fd, const gi_npy_header *header, bool *known, gi_error *err) {
    struct stat st;
    off_t at = lseek(fd, 0, SEEK_CUR);
    *known = at >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= at;
    if (!*known || (size_t)(st.st_size - at) == header->data_bytes) return GI_OK;
    return refuse_size(header, (size_t)(st.st_size - at), err);
}

static gi_status refuse_kind(gi_error *err) { return gi_fail(err, GI_ERR_FORMAT, "neither .npy nor PNG nor JPEG"); }

static gi_status no_memory(size_t bytes, gi_error *err) {
    return gi_fail(err, GI_ERR_MEMORY, "out of memory for an array of %zu bytes", bytes);
}

// Makes room for `capacity` bytes where there was some for `*room`.
static gi_status grow(void **data, size_t *room, size_t capacity, gi_error *err) {
    void *larger = gi_large_alloc(capacity);
    if (!larger) return no_memory(capacity, err);
    if (*room) memcpy(larger, *data, *room);
    free(*data);
    *data = larger;
    *room = capacity;
    return GI_OK;
}

static gi_status read_elements(int fd, const gi_read_options *options, const gi_npy_header *header, void **data,
                               gi_error *err) {
    size_t total = header->data_bytes, room = 0, size = 0, got = 0;
    bool known = false;
    uint8_t more;
    gi_status status = check_size(fd, header, &known, err);
    while (status == GI_OK && (size < total || room == 0)) {
        size_t capacity = known ? total : room ? room * 2 : FIRST_CAPACITY;
        status = grow(data, &room, capacity < total ? capacity : total ? total : 1, err);
        if (status == GI_OK && total) status = gi_read_full(fd, (char *)*data + size, room - size, options, &got, err);
        size += got;
        if (status == GI_OK && total && size < room) return refuse_size(header, size, err);
    }
    if (status == GI_OK) status = gi_read_full(fd, &more, 1, options, &got, err);
    return status == GI_OK && got ? refuse_size(header, total + 1, err) : status;
}

// The prefix stands in `start`, which has room for the header.
static gi_status read_array(int fd, const gi_read_options *options, uint8_t *start, gi_array *array, gi_error *err) {
    gi_npy_header header;
    void *data = NULL;
    gi_status status = read_header(fd, options, start, &header, err);
    if (status == GI_OK) status = read_elements(fd, options, &header, &data, err);
    if (status == GI_OK) status = gi_npy_unpack(&header, &data, err);
    *array = header.array;
    array->data = status == GI_OK ? data : NULL;
    if (status != GI_OK) free(data);
    return status;
}

gi_status gi_array_peek(const char *path, gi_npy_header *header, uint64_t *bytes, bool *found, gi_error *err) {
    const gi_read_options options = {.regular_only = true};
    struct stat st;
    size_t got = 0;
    int fd = -1;
    bool known = false;
    *header = (gi_npy_header){.header_bytes = 0};
    *found = false;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return GI_OK; // what is read of a pipe is gone for whoever comes next
    uint8_t *start = malloc(GI_NPY_HEADER_BYTES);
    if (!start) return no_memory(GI_NPY_HEADER_BYTES, err);
    gi_status status = gi_read_open(path, &options, &fd, err);
    if (status == GI_OK) status = gi_read_full(fd, start, GI_NPY_PREFIX_BYTES, &options, &got, err);
    if (status == GI_OK && gi_npy_sniff((gi_bytes){start, got}) && fstat(fd, &st) == 0) {
        *found = true;
        *bytes = (uint64_t)st.st_size;
        status = got < GI_NPY_PREFIX_BYTES ? gi_fail(err, GI_ERR_FORMAT, "the file ends in its header")
                                           : read_header(fd, &options, start, header, err);
        if (status != GI_OK) header->header_bytes = 0;
        if (status == GI_OK) status = check_size(fd, header, &known, err);
    } else if (status == GI_OK && got > 0 && gi_format_sniff((gi_bytes){start, got}) == GI_FORMAT_UNKNOWN) {
        status = refuse_kind(err);
    }
    if (fd >= 0) close(fd);
    free(start);
    return status;
}

// Where images are accepted, and how they are decoded; NULL: nowhere.
typedef struct wish {
    const gi_batch_options *images;
    volatile sig_atomic_t *cancel;
} wish;

// `start` has room for a header.
static gi_status load_opened(int fd, const char *path, wish wanted, uint8_t *start, gi_values *values, gi_error *err) {
    gi_read_options options = {.cancel = wanted.cancel};
    size_t got = 0;
    gi_status status = gi_read_full(fd, start, GI_NPY_PREFIX_BYTES, &options, &got, err);
    if (status != GI_OK) return status;
    gi_begun begun = {fd, {start, got}};
    if (got == 0) return gi_fail(err, GI_ERR_FORMAT, "an empty file");
    if (gi_npy_sniff(begun.bytes) && got < GI_NPY_PREFIX_BYTES)
        return gi_fail(err, GI_ERR_FORMAT, "the file ends in its header");
    if (gi_npy_sniff(begun.bytes)) return read_array(fd, &options, start, &values->array, err);
    if (wanted.images && got >= GI_SNIFF_BYTES && gi_format_sniff(begun.bytes) != GI_FORMAT_UNKNOWN)
        return gi_image_load_begun(path, &begun, wanted.images, &values->image, err);
    return wanted.images ? refuse_kind(err) : gi_fail(err, GI_ERR_FORMAT, "not a .npy file");
}

static gi_status load(const char *path, wish wanted, gi_values *values, gi_error *err) {
    gi_read_options options = {.cancel = wanted.cancel};
    int fd = -1;
    memset(values, 0, sizeof *values);
    uint8_t *start = malloc(GI_NPY_HEADER_BYTES);
    if (!start) return no_memory(GI_NPY_HEADER_BYTES, err);
    gi_status status = gi_read_open(path, &options, &fd, err);
    if (status == GI_OK) status = load_opened(fd, path, wanted, start, values, err);
    if (path && fd >= 0) close(fd);
    free(start);
    return status;
}

gi_status gi_array_load(const char *path, volatile sig_atomic_t *cancel, gi_array *array, gi_error *err) {
    gi_values values;
    gi_status status = load(path, (wish){NULL, cancel}, &values, err);
    *array = values.array;
    return status;
}

gi_status gi_values_load(const char *path, const gi_batch_options *options, gi_values *values, gi_error *err) {
    return load(path, (wish){options, options->cancel}, values, err);
}

gi_status gi_array_save(const char *path, const gi_array *array, bool no_clobber, volatile sig_atomic_t *cancel,
                        gi_error *err) {
    gi_output *output = NULL;
    if (path && no_clobber && gi_output_replaces(path)) return gi_path_fail_existing(err, NULL);
    if (path) gi_output_sweep_beside(path);
    gi_status status = gi_output_open_cancellable(path, cancel, &output, err);
    if (status != GI_OK) return status;
    const gi_sink sink = gi_output_sink(output);
    status = gi_npy_write(array, &sink, err);
    if (status == GI_OK) status = gi_output_commit(output, no_clobber, err);
    gi_output_close(output);
    return status;
}
