// What stb_image and stb_image_write do for gpuimg: inflate, deflate, the JPEG codec. All of it works on memory.
#ifndef GI_CODEC_STB_H
#define GI_CODEC_STB_H

#include "codec/codec.h"
#include "codec/jpeg_check.h"

// Room past `need` that the output of gi_stb_inflate must have: a longest stored block, of which nothing is delivered
// when it does not fit as a whole.
#define GI_INFLATE_SLACK ((size_t)65536)

// Bytes past the end of the input that gi_stb_inflate may read (their values do not matter).
#define GI_INFLATE_PADDING ((size_t)8)

// Inflates a zlib stream (RFC 1950) into `out`, which has need + GI_INFLATE_SLACK zeroed bytes. *more tells whether
// the stream holds more than `need` bytes. GI_ERR_FORMAT: it holds fewer, is corrupt, or its checksum is wrong.
gi_status gi_stb_inflate(gi_bytes in, uint8_t *out, size_t need, bool *more, gi_error *err);

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

// Encodes packed gray (1) or RGB (3) pixels; the sink's first failure is returned. `exif` is put after APP0 when its
// size is not 0.
typedef struct gi_stb_jpeg_job {
    const uint8_t *pixels;
    gi_shape shape;
    int quality;
    gi_bytes exif; // a whole APP1 segment
} gi_stb_jpeg_job;
gi_status gi_stb_jpeg_encode(const gi_stb_jpeg_job *job, const gi_sink *sink, gi_error *err);

#endif
