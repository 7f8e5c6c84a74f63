// What a format's code offers to the front (decoder.c, encoder.c): rows in the file's own order, without orientation.
#ifndef GI_CODEC_READER_H
#define GI_CODEC_READER_H

#include "codec/codec.h"

// The most bytes that a buffer may have which a library fills in one call: those that need it so count in int.
#define GI_CODEC_BUFFER_LIMIT ((size_t)1 << 30)

// GI_ERR_LIMIT when an image of that shape has more than max_pixels (0: any number).
gi_status gi_codec_check_pixels(gi_shape shape, uint64_t max_pixels, gi_error *err);

// The same, or when it needs a buffer past the limit.
gi_status gi_codec_check_size(gi_shape shape, uint64_t max_pixels, gi_error *err);

// A file being decoded. Each format embeds this as its first member.
typedef struct gi_reader gi_reader;
struct gi_reader {
    gi_header header;          // as the file has it: orientation is told, not applied
    gi_metadata *metadata;     // where the options ask for it; the front's, who frees it
    const char *device_reason; // as gi_decoder_device_reason, of the file itself
    gi_status (*rows)(gi_reader *reader, const gi_view *out, gi_error *err); // the next out->height rows
    void (*close)(gi_reader *reader);
};

// Check the whole file (a PNG's compressed data apart), without an allocation that grows with the announced size.
// `options` must outlive the reader, and so must what the bytes or the input point at.
gi_status gi_png_reader_open(const gi_input *input, const gi_decode_options *options, gi_reader **reader,
                             gi_error *err);
gi_status gi_jpeg_reader_open(gi_bytes bytes, const gi_decode_options *options, gi_reader **reader, gi_error *err);

// A file being encoded, likewise.
typedef struct gi_writer gi_writer;
struct gi_writer {
    gi_status (*rows)(gi_writer *writer, const gi_view *rows, gi_error *err);
    gi_status (*finish)(gi_writer *writer, gi_error *err);
    void (*close)(gi_writer *writer);
};

// `options` and `sink` must outlive the writer. The JPEG writer takes one or three channels.
gi_status gi_png_writer_open(gi_shape shape, const gi_encode_options *options, const gi_sink *sink, gi_writer **writer,
                             gi_error *err);
gi_status gi_jpeg_writer_open(gi_shape shape, const gi_encode_options *options, const gi_sink *sink, gi_writer **writer,
                              gi_error *err);

#endif
