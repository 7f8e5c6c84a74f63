// A PNG's filtered rows in order, inflated in blocks: by a thread of their own, ahead of the caller, where that pays.
#ifndef GI_CODEC_PNG_STREAM_H
#define GI_CODEC_PNG_STREAM_H

#include "codec/png_check.h"
#include "codec/png_unfilter.h"

typedef struct gi_png_stream gi_png_stream;

// What the arguments point at must outlive the stream. Messages may be said by its thread. GI_ERR_MEMORY.
gi_status gi_png_stream_open(const gi_input *input, const gi_png_info *info, const gi_decode_options *options,
                             gi_png_stream **stream, gi_error *err);

// *rows = the next *count rows as inflated, a filter byte before each; all of one pass, at least one
// and at most `most`. They stay valid until the next call. GI_ERR_FORMAT: damaged data; what is only seen at the end,
// such as a wrong checksum, is told with the last rows. Where a chunk's CRC does not match, that is what is told.
gi_status gi_png_stream_rows(gi_png_stream *stream, uint32_t most, const uint8_t **rows, uint32_t *count,
                             gi_error *err);

// NULL is fine; also before the end.
void gi_png_stream_close(gi_png_stream *stream);

#endif
