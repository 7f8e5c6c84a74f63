// .npy files: everything but the header's text (npy_header.c).
#include "codec/npy.h"

#include <stdlib.h>
#include <string.h>

#include "codec/bytes.h"
#include "codec/npy_header.h"
#include "core/large.h"
#include "core/text.h"

static const char signature[GI_NPY_SNIFF_BYTES + 1] = "\x93NUMPY";

bool gi_npy_sniff(gi_bytes bytes) {
    return bytes.size >= GI_NPY_SNIFF_BYTES && memcmp(bytes.data, signature, GI_NPY_SNIFF_BYTES) == 0;
}

// Version 1 has two bytes for the header's length, the others four.
static size_t prefix_bytes(int version) { return version == 1 ? 10 : 12; }

gi_status gi_npy_header_bytes(gi_bytes start, size_t *bytes, gi_error *err) {
    if (!gi_npy_sniff(start)) return gi_fail(err, GI_ERR_FORMAT, "not a .npy file");
    if (start.size < GI_NPY_PREFIX_BYTES) return gi_fail(err, GI_ERR_FORMAT, "the file ends in its header");
    int major = start.data[6], minor = start.data[7];
    if (major < 1 || major > 3 || minor != 0)
        return gi_fail(err, GI_ERR_UNSUPPORTED, ".npy of version %d.%d; known are 1.0, 2.0 and 3.0", major, minor);
    size_t length = major == 1 ? gi_le16(start.data + 8) : gi_le32(start.data + 8);
    if (length > GI_NPY_HEADER_BYTES - prefix_bytes(major))
        return gi_fail(err, GI_ERR_LIMIT, "a header of %zu bytes; at most 65535 are read", length);
    *bytes = prefix_bytes(major) + length;
    if (*bytes < GI_NPY_PREFIX_BYTES) return gi_fail(err, GI_ERR_FORMAT, "an empty header");
    return GI_OK;
}

gi_status gi_npy_header_parse(gi_bytes bytes, gi_npy_header *header, gi_error *err) {
    memset(header, 0, sizeof *header);
    gi_status status = gi_npy_header_bytes(bytes, &header->header_bytes, err);
    if (status != GI_OK) return status;
    if (header->header_bytes > bytes.size) return gi_fail(err, GI_ERR_FORMAT, "the file ends in its header");
    size_t prefix = prefix_bytes(bytes.data[6]);
    gi_bytes text = {bytes.data + prefix, header->header_bytes - prefix};
    status = gi_npy_dictionary_parse(text, header, err);
    return status == GI_OK ? gi_array_measure(&header->array, &header->data_bytes, err) : status;
}

static void swap_32(uint32_t *words, size_t count) {
    for (size_t i = 0; i < count; i++) words[i] = __builtin_bswap32(words[i]);
}

static void swap_64(uint64_t *words, size_t count) {
    for (size_t i = 0; i < count; i++) words[i] = __builtin_bswap64(words[i]);
}

// The matrix of `rows` x `columns` elements of which the first index runs fastest, as one of which the last does. Row r
// of the result begins at to + r * to_stride, column c of the source at from + c * from_stride (elements). In squares
// whose lines stay in the cache until all of each is used.
#define DEFINE_TRANSPOSE(name, type)                                                                                   \
    static void name(const type *from, size_t from_stride, type *to, size_t to_stride, size_t rows, size_t columns) {  \
        enum { SIDE = 32 };                                                                                            \
        for (size_t r0 = 0; r0 < rows; r0 += SIDE)                                                                     \
            for (size_t c0 = 0; c0 < columns; c0 += SIDE)                                                              \
                for (size_t r = r0; r < rows && r < r0 + SIDE; r++)                                                    \
                    for (size_t c = c0; c < columns && c < c0 + SIDE; c++)                                             \
                        to[r * to_stride + c] = from[c * from_stride + r];                                             \
    }
DEFINE_TRANSPOSE(transpose_8, uint8_t)
DEFINE_TRANSPOSE(transpose_32, uint32_t)
DEFINE_TRANSPOSE(transpose_64, uint64_t)

static void transpose(const gi_array *array, const char *from, size_t from_stride, char *to, size_t to_stride) {
    size_t rows = array->shape[0], columns = array->shape[array->dimensions - 1];
    switch (gi_element_bytes(array->element)) {
    case 1: transpose_8((const uint8_t *)from, from_stride, (uint8_t *)to, to_stride, rows, columns); break;
    case 4: transpose_32((const uint32_t *)from, from_stride, (uint32_t *)to, to_stride, rows, columns); break;
    default: transpose_64((const uint64_t *)from, from_stride, (uint64_t *)to, to_stride, rows, columns); break;
    }
}

// The order of the first and the last index is exchanged by `transpose`, for each setting of those between them, which
// count up here.
static void reorder(const gi_array *array, const char *from, char *to) {
    size_t middle[GI_MAX_DIMENSIONS] = {0}, size = gi_element_bytes(array->element);
    int last = array->dimensions - 1, turned;
    size_t rows = array->shape[0], columns = array->shape[last];
    size_t settings = array->count / (rows * columns);
    do {
        size_t from_at = 0, to_at = 0, from_stride = rows, to_stride = columns;
        for (int i = 1; i < last; i++) {
            from_at += middle[i] * from_stride;
            from_stride *= array->shape[i];
        }
        for (int i = last - 1; i > 0; i--) {
            to_at += middle[i] * to_stride;
            to_stride *= array->shape[i];
        }
        transpose(array, from + from_at * size, rows * settings, to + to_at * size, columns * settings);
        for (turned = 1; turned < last && ++middle[turned] == array->shape[turned]; turned++) middle[turned] = 0;
    } while (turned < last);
}

gi_status gi_npy_unpack(const gi_npy_header *header, void **data, gi_error *err) {
    const gi_array *array = &header->array;
    if (header->swapped && gi_element_bytes(array->element) == 4) swap_32(*data, array->count);
    if (header->swapped && gi_element_bytes(array->element) == 8) swap_64(*data, array->count);
    if (!header->fortran || array->dimensions < 2 || array->count == 0) return GI_OK;
    void *turned = gi_large_alloc(header->data_bytes);
    if (!turned) return gi_fail(err, GI_ERR_MEMORY, "out of memory for an array of %zu bytes", header->data_bytes);
    reorder(array, *data, turned);
    free(*data);
    *data = turned;
    return GI_OK;
}

// The dictionary, padded with blanks so that the elements begin at a multiple of 64 bytes, and a newline.
gi_status gi_npy_write(const gi_array *array, const gi_sink *sink, gi_error *err) {
    static const char types[GI_ELEMENT_COUNT][3] = {"f4", "f8", "i4", "i8", "u1"};
    char header[64 + GI_MAX_DIMENSIONS * 24 + 64];
    const uint16_t probe = 1;
    char order = gi_element_bytes(array->element) == 1 ? '|' : *(const uint8_t *)&probe ? '<' : '>';
    gi_text text = gi_text_over(header, sizeof header);
    gi_text_add(&text, "%s\1___{'descr': '%c%s', 'fortran_order': False, 'shape': (", signature, order,
                types[array->element]);
    for (int i = 0; i < array->dimensions; i++) gi_text_add(&text, "%s%zu", i ? ", " : "", array->shape[i]);
    gi_text_add(&text, "%s), }", array->dimensions == 1 ? "," : "");
    while ((text.used + 1) % 64 != 0) gi_text_add(&text, " ");
    gi_text_add(&text, "\n");
    size_t length = text.used - prefix_bytes(1);
    header[7] = 0; // the minor version, which no text can hold
    header[8] = (char)(length & 255);
    header[9] = (char)(length >> 8);
    gi_status status = sink->write(sink->context, header, text.used, err);
    size_t bytes = array->count * gi_element_bytes(array->element);
    return status == GI_OK && bytes > 0 ? sink->write(sink->context, array->data, bytes, err) : status;
}
