// The compressed bytes of a PNG: the data of its IDAT chunks, read span by span, with each chunk's CRC checked.
#ifndef GI_CODEC_PNG_SPANS_H
#define GI_CODEC_PNG_SPANS_H

#include "codec/png_check.h"

typedef struct gi_png_spans gi_png_spans;

// `info` is of that file; what `input` points at must outlive the spans. GI_ERR_MEMORY.
gi_status gi_png_spans_open(const gi_input *input, const gi_png_info *info, gi_png_spans **spans, gi_error *err);

// The next span (`next` of a gi_inflate_source), valid until the next call; empty after the last and after a failure,
// which gi_png_spans_finish tells.
gi_bytes gi_png_spans_next(void *spans);

// Goes through the spans that are left. GI_ERR_FORMAT: a CRC does not match, or the file is not any more what it was
// when `info` was taken; and the failures of reading.
gi_status gi_png_spans_finish(gi_png_spans *spans, gi_error *err);

// NULL is fine; also before the end.
void gi_png_spans_close(gi_png_spans *spans);

#endif
