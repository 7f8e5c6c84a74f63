// Chunks of a PNG on their way into a sink.
#ifndef GI_CODEC_PNG_CHUNKS_H
#define GI_CODEC_PNG_CHUNKS_H

#include "codec/png_check.h"
#include "codec/png_form.h"
#include "codec/reader.h"

// What is written, how, and to where. All of it must outlive what is made from it.
typedef struct gi_png_job {
    gi_shape shape; // of the rows that are given
    gi_png_form form;
    const gi_encode_options *options;
    const gi_sink *sink;
} gi_png_job;

gi_status gi_png_put_chunk(const gi_sink *sink, const char *name, gi_bytes body, gi_error *err);

// All that stands before the pixels: signature, IHDR, the palette's PLTE and tRNS, the options' metadata.
gi_status gi_png_put_head(const gi_png_job *job, gi_error *err);

// IEND.
gi_status gi_png_put_end(const gi_png_job *job, gi_error *err);

#endif
