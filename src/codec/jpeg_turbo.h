// What libjpeg-turbo does for gpuimg: JPEG to rows and rows to JPEG. Without it (GPUIMG_HAVE_JPEG) nothing here can be
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

// False where a side is over 65500 pixels.
bool gi_turbo_writes(gi_shape shape);

// A writer of gray (1) or RGB (3) images, through which bytes stream to the sink. Over 2 Mpixel it encodes bands of
// rows, on options->threads threads, each of them one restart interval; the bytes depend on neither threads nor calls.
// With optimize or progressive the library holds the coefficients of the whole image, in one thread.
gi_status gi_turbo_writer_open(gi_shape shape, const gi_encode_options *options, const gi_sink *sink,
                               gi_writer **writer, gi_error *err);

// ---- between the writer's parts -----------------------------------------------------------------------------------

// A file of its own, of the options' quality, subsampling, optimize, progressive.
typedef struct gi_turbo_job {
    gi_shape shape;
    const gi_encode_options *options;
    uint32_t restart_interval; // MCUs, at most 65535; 0: none
} gi_turbo_job;

// Pixels of an MCU across and down.
uint32_t gi_turbo_mcu_width(const gi_turbo_job *job);
uint32_t gi_turbo_mcu_height(const gi_turbo_job *job);

// Encodes it in one piece. The job's options and the sink must outlive the writer.
gi_status gi_turbo_piece_open(const gi_turbo_job *job, const gi_sink *sink, gi_writer **writer, gi_error *err);

// Encodes it in bands that are joined.
gi_status gi_turbo_bands_open(const gi_turbo_job *job, const gi_sink *sink, gi_writer **writer, gi_error *err);

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

static inline bool gi_turbo_writes(gi_shape shape) {
    (void)shape;
    return false;
}

static inline gi_status gi_turbo_writer_open(gi_shape shape, const gi_encode_options *options, const gi_sink *sink,
                                             gi_writer **writer, gi_error *err) {
    (void)shape, (void)options, (void)sink, (void)writer;
    return gi_fail(err, GI_ERR_UNSUPPORTED, "libjpeg-turbo was not built in");
}

#endif

#endif
