// What stb_image and stb_image_write do for gpuimg: inflate, deflate, the JPEG codec. All of it works on memory.
#ifndef GI_CODEC_STB_H
#define GI_CODEC_STB_H

#include "codec/codec.h"
#include "codec/inflate_engine.h"
#include "codec/jpeg_check.h"

// A deflate stream (RFC 1951) inflated into memory.
typedef struct gi_stb_inflated {
    uint8_t *out;           // `room` zeroed bytes
    size_t room;            // of which the last 65536 are excess: a longest stored block, written whole or not at all
    size_t size;            // bytes written
    size_t used;            // bytes of the input
    gi_inflate_state state; // ENDED; BEYOND: `room` bytes are not all; CUT or CORRUPT: `size` is 0
    const char *reason;
} gi_stb_inflated;

// GI_INFLATE_PADDING bytes after the input may be read (their values do not matter). Out and room are the caller's, the
// rest is filled in.
void gi_stb_inflate(gi_bytes in, gi_stb_inflated *job);

// A zlib stream. Free with gi_stb_stream_free, in the thread that made it.
typedef struct gi_stb_stream {
    uint8_t *data;
    size_t size;
} gi_stb_stream;

// Compresses at most GI_CODEC_BUFFER_LIMIT bytes at level 1..9.
gi_status gi_stb_deflate(gi_bytes data, int level, gi_stb_stream *out, gi_error *err);
void gi_stb_stream_free(gi_stb_stream *stream);

// A decoded JPEG: planes of components, turned into rows as they are asked for.
typedef struct gi_stb_jpeg gi_stb_jpeg;

// Decodes all scans of a file that gi_jpeg_check has passed. `damage` (of at least 128 bytes) tells in words what the
// entropy-coded data lacks, or is made empty; the planes are defined in either case.
gi_status gi_stb_jpeg_decode(gi_bytes bytes, const gi_jpeg_info *info, gi_stb_jpeg **jpeg, char *damage, gi_error *err);

// The next row: one sample a pixel for gray, or when `luma` is set; else RGB.
void gi_stb_jpeg_row(gi_stb_jpeg *jpeg, bool luma, uint8_t *row);
void gi_stb_jpeg_free(gi_stb_jpeg *jpeg);

// Encodes packed gray (1) or RGB (3) pixels, either as three components; the sink's first failure is returned.
typedef struct gi_stb_jpeg_job {
    const uint8_t *pixels;
    gi_shape shape;
    int quality;
} gi_stb_jpeg_job;
gi_status gi_stb_jpeg_encode(const gi_stb_jpeg_job *job, const gi_sink *sink, gi_error *err);

#endif
