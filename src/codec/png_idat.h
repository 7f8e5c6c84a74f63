// The rows of a PNG, filtered and compressed into its IDAT chunks.
#ifndef GI_CODEC_PNG_IDAT_H
#define GI_CODEC_PNG_IDAT_H

#include "codec/png_chunks.h"

typedef struct gi_png_idat gi_png_idat;
struct gi_png_idat {
    gi_status (*row)(gi_png_idat *idat, const void *samples, gi_error *err); // the next one, as the caller has it
    gi_status (*finish)(gi_png_idat *idat, gi_error *err);                   // once all rows were given
    void (*close)(gi_png_idat *idat);                                        // at any time; after a failure too
};

// In bands of rows, on options->threads threads: chunks leave as their rows have come, from the calling thread, and
// what is held is a few bands however many rows there are. The bytes depend on shape, form, pixels, level and codec,
// not on threads. GI_ERR_LIMIT: a row of more than 2^30 bytes.
gi_status gi_png_bands_open(const gi_png_job *job, gi_png_idat **idat, gi_error *err);

// The whole image at once, by stb's compressor, at levels 1 to 9: the witness. GI_ERR_LIMIT: more than 2^30 bytes.
gi_status gi_png_whole_open(const gi_png_job *job, gi_png_idat **idat, gi_error *err);

#endif
