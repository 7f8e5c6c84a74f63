// The text of a .npy file's header.
#ifndef GI_CODEC_NPY_HEADER_H
#define GI_CODEC_NPY_HEADER_H

#include "codec/npy.h"

// Parses {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } into the members of *header that it tells: those
// of the array but its count, fortran and swapped. Keys in any order, each once, in either kind of quotes; blanks and
// newlines between all parts and behind. GI_ERR_FORMAT, GI_ERR_UNSUPPORTED.
gi_status gi_npy_dictionary_parse(gi_bytes text, gi_npy_header *header, gi_error *err);

#endif
