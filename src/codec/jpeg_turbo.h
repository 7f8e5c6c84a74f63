// What libjpeg-turbo does for gpuimg: JPEG to rows. Without it (GPUIMG_HAVE_JPEG) nothing here can be
// done, and stb does it all.
#ifndef GI_CODEC_JPEG_TURBO_H
#define GI_CODEC_JPEG_TURBO_H

#include "codec/jpeg_check.h"
#include "codec/reader.h"

#ifdef GPUIMG_HAVE_JPEG

// Arithmetic coding can be decoded.
bool gi_turbo_has_arithmetic(void);

// False for what the library refuses though gi_jpeg_check passes it: more than 65500 pixels a side, Huffman codes of
// ones alone, more than 10 blocks in an MCU.
bool gi_turbo_reads(const gi_jpeg_info *info);

// True when memory stays that of some rows. Otherwise the library holds the coefficients of the whole image, of 16
// bits.
bool gi_turbo_reads_rows(const gi_jpeg_info *info);

// A reader for a file that gi_jpeg_check has passed and gi_turbo_reads agrees to. The caller fills in its header before
// rows are asked for: one channel gives luma, three RGB. With options->threads over 1 a large image is decoded ahead,
// by a thread of its own. `info` is copied.
gi_status gi_turbo_reader_open(gi_bytes bytes, const gi_decode_options *options, const gi_jpeg_info *info,
                               gi_reader **reader, gi_error *err);

#else

static inline bool gi_turbo_has_arithmetic(void) { return false; }

static inline bool gi_turbo_reads(const gi_jpeg_info *info) {
    (void)info;
    return false;
}

static inline bool gi_turbo_reads_rows(const gi_jpeg_info *info) {
    (void)info;
    return false;
}

static inline gi_status gi_turbo_reader_open(gi_bytes bytes, const gi_decode_options *options, const gi_jpeg_info *info,
                                             gi_reader **reader, gi_error *err) {
    (void)bytes, (void)options, (void)info, (void)reader;
    return gi_fail(err, GI_ERR_UNSUPPORTED, "libjpeg-turbo was not built in");
}

#endif

#endif
