// NumPy's format of arrays, .npy: "\x93NUMPY", the version, the length of a header, and the header, which is the text
// of a Python dictionary; the elements follow without a gap. https://numpy.org/neps/nep-0001-npy-format.html
//
// The dictionary is parsed by a grammar of its own, in which nothing is ever evaluated: three keys, once each, whose
// values are a quoted type, True or False, and a tuple of lengths. Of types there are those of core/array.h in either
// byte order; all others are refused by name. Elements keep their bits: a NaN's payload is not touched.
#ifndef GI_CODEC_NPY_H
#define GI_CODEC_NPY_H

#include <stdbool.h>

#include "codec/codec.h"
#include "core/array.h"

enum {
    GI_NPY_SNIFF_BYTES = 6,
    GI_NPY_PREFIX_BYTES = 12,        // from which the header's length is known
    GI_NPY_HEADER_BYTES = 12 + 65535 // the longest header that is read, with its prefix
};

typedef struct gi_npy_header {
    gi_array array;      // without data
    size_t header_bytes; // of the file, before the elements
    size_t data_bytes;   // of the elements
    bool fortran;        // the first index runs fastest
    bool swapped;        // the byte order is not this machine's
} gi_npy_header;

// By signature; GI_NPY_SNIFF_BYTES are enough.
bool gi_npy_sniff(gi_bytes bytes);

// *bytes = the size of prefix and header, at most GI_NPY_HEADER_BYTES, from the file's first GI_NPY_PREFIX_BYTES.
// GI_ERR_FORMAT, GI_ERR_UNSUPPORTED (another version), GI_ERR_LIMIT.
gi_status gi_npy_header_bytes(gi_bytes start, size_t *bytes, gi_error *err);

// Parses prefix and header, which are all of `bytes`; more may follow. Allocates nothing. GI_ERR_FORMAT,
// GI_ERR_UNSUPPORTED (a type that is none of ours), GI_ERR_LIMIT (a shape that no memory holds).
gi_status gi_npy_header_parse(gi_bytes bytes, gi_npy_header *header, gi_error *err);

// The elements as they were read become those of an array: in this machine's byte order and in C order. `data` holds
// header->data_bytes; where the order of indices changes, its memory is exchanged for other, which GI_ERR_MEMORY says
// is not there.
gi_status gi_npy_unpack(const gi_npy_header *header, void **data, gi_error *err);

// Writes the array as NumPy does: version 1 where the header fits, this machine's byte order, C order.
gi_status gi_npy_write(const gi_array *array, const gi_sink *sink, gi_error *err);

#endif
