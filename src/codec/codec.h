// The codec interface of rows: sniff, open -> header -> rows -> close; an encoder is given rows and pushes bytes to a
// sink.
//
// Libraries plug in behind it (stb.c, ...); this header is all that the layers above see.
#ifndef GI_CODEC_CODEC_H
#define GI_CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/message.h"
#include "core/status.h"
#include "core/view.h"

typedef enum gi_format { GI_FORMAT_UNKNOWN = 0, GI_FORMAT_PNG, GI_FORMAT_JPEG } gi_format;

// The bytes of a whole file. Not owned.
typedef struct gi_bytes {
    const uint8_t *data;
    size_t size;
} gi_bytes;

// A file whose bytes are read where they are asked for. `read` writes exactly `size` bytes, those from byte `at` on, of
// which all lie in the file, or returns a failure; one thread at a time calls it.
typedef struct gi_input {
    size_t size; // of the file
    gi_status (*read)(void *context, size_t at, void *to, size_t size, gi_error *err);
    void *context;
} gi_input;

// The same of bytes in memory, which must stay, as must *bytes.
gi_input gi_bytes_input(const gi_bytes *bytes);

enum { GI_SNIFF_BYTES = 8 };

// By signature alone; 8 bytes are enough.
gi_format gi_format_sniff(gi_bytes bytes);

// Pixels that the file's header announces, where it is among these first bytes of the file; 0: unknown. Checks nothing.
uint64_t gi_peek_pixels(gi_bytes head);

// More bytes than a file with these first ones can need, by the size that its header announces, where it is among them,
// and as much of metadata and the like as is taken.
uint64_t gi_peek_most_bytes(gi_bytes head);

// Refuses a file with these first bytes as a decoder would refuse all of it, by what its header announces, where it is
// among them: GI_ERR_LIMIT when that is more than max_pixels (0: any number), GI_ERR_FORMAT when there are no pixels or
// a PNG's header is damaged.
gi_status gi_peek_check(gi_bytes head, uint64_t max_pixels, gi_error *err);

// By file name extension in any letter case (.png .jpg .jpeg); GI_FORMAT_UNKNOWN for others.
gi_format gi_format_of_name(const char *name);

// Whether the extension is that of an image format which is neither, as .tif, .gif and .webp are.
bool gi_format_is_other(const char *name);

// "PNG" or "JPEG"; and the extension without the dot: "png" or "jpg".
const char *gi_format_name(gi_format format);
const char *gi_format_extension(gi_format format);

// Which libraries do the work. Whatever one of them lacks, stb does.
typedef enum gi_codec_choice {
    GI_CODEC_AUTO, // the fastest that were built in
    GI_CODEC_ZLIB, // zlib in the place of ISA-L
    GI_CODEC_STB,  // stb alone: the portable witness
    // As auto, but where the backend has a JPEG codec of its own (core/backend.h) that one does what it can:
    GI_CODEC_AUTO_FAST, // if it is to be had, and worth it
    GI_CODEC_NVJPEG     // wherever it can; without one there is nothing to run on
} gi_codec_choice;

static inline bool gi_codec_asks_device(gi_codec_choice codec) {
    return codec == GI_CODEC_AUTO_FAST || codec == GI_CODEC_NVJPEG;
}

// ---- decoding -----------------------------------------------------------------------------------------------------

typedef struct gi_decode_options {
    uint64_t max_pixels; // 0: no limit
    int depth;           // bits of the samples delivered: 8, 16; 0: 16 where the file has as many, else 8
    bool strict;         // damage that still decodes is an error, not a warning
    bool auto_orient;    // apply the EXIF orientation to the pixels
    bool metadata;       // read what is beside the pixels, too, for gi_decoder_take_metadata
    bool jpeg_luma;      // a YCbCr JPEG gives its luma plane as one gray channel
    gi_codec_choice codec;
    int threads;                 // that may work at once, the calling one among them; 0 and 1: it alone
    const gi_messages *messages; // may be NULL
    const char *file;            // name for messages; may be NULL
} gi_decode_options;

// How a file holds its pixels.
typedef struct gi_stored {
    const char *colour; // "gray", "gray+alpha", "palette", "RGB", "RGBA", "YCbCr", "CMYK" or "YCCK"; static
    char sampling[24];  // of a JPEG with chroma: "4:2:0", or factors of each component; else ""
    bool interlaced;    // a PNG
    bool progressive;   // a JPEG
    bool arithmetic;    // coding of a JPEG
    int quality;        // of a JPEG, an estimate on libjpeg's scale; 0: none
    bool exact;         // the quality is that of libjpeg's tables
} gi_stored;

// What the pixels will be, after orientation, depth and jpeg_luma.
typedef struct gi_header {
    gi_shape shape; // what gi_decoder_rows delivers
    gi_format format;
    int bits;        // per sample in the file: 1, 2, 4, 8, 16; of a JPEG that is refused, any number
    int orientation; // EXIF 1..8 as found in the file, 1 when absent or hostile
    gi_stored stored;
} gi_header;

// What the header of a PNG tells, whose damage further on keeps a decoder from being opened. GI_ERR_FORMAT when it is
// no PNG, or its header is damaged itself.
gi_status gi_header_of_damaged(const gi_input *input, gi_header *header, gi_error *err);

// Likewise what the first frame header of a JPEG tells, whatever keeps a decoder from being opened.
gi_status gi_header_of_refused_jpeg(gi_bytes bytes, gi_header *header, gi_error *err);

typedef struct gi_decoder gi_decoder;

// Profile, EXIF, density and the like (codec/metadata.h).
typedef struct gi_metadata gi_metadata;
gi_metadata *gi_metadata_new(void); // empty; NULL: no memory
void gi_metadata_free(gi_metadata *metadata);

// Checks the file from its bytes (which must outlive the decoder) and reads its header; allocates nothing that grows
// with the announced size. The checksums of a PNG's compressed data are left for when they are read. GI_ERR_FORMAT:
// neither PNG nor JPEG, or damaged; GI_ERR_LIMIT: more than max_pixels, or past the library's own limit;
// GI_ERR_UNSUPPORTED: CMYK without an Adobe marker, 12-bit, arithmetic, ...
gi_status gi_decoder_open(gi_bytes bytes, const gi_decode_options *options, gi_decoder **decoder, gi_error *err);

// Likewise for a PNG, of which never more is held than a piece. What `input` points at must outlive the decoder.
gi_status gi_decoder_open_png(const gi_input *input, const gi_decode_options *options, gi_decoder **decoder,
                              gi_error *err);

const gi_header *gi_decoder_header(const gi_decoder *decoder);

// Writes the next out->height rows into out, whose width, channels and sample are the header's. Rows come in order from
// 0; asking for more than remain is GI_ERR_USAGE. Rows after a failure are undefined, never read from out of bounds.
gi_status gi_decoder_rows(gi_decoder *decoder, const gi_view *out, gi_error *err);

// What the options asked to read beside the pixels; it is the caller's from then on. NULL: nothing was asked for, or it
// was taken before.
gi_metadata *gi_decoder_take_metadata(gi_decoder *decoder);

// Why a device's own decoder is not to take the file in this one's place: what is done to the pixels, or found out
// about them, would be lost. NULL: it may, and *bytes are the file. Before rows are asked for.
const char *gi_decoder_device_reason(const gi_decoder *decoder, gi_bytes *bytes);

// NULL is fine.
void gi_decoder_close(gi_decoder *decoder);

// ---- encoding -----------------------------------------------------------------------------------------------------

// Where an encoder's bytes go. `write` returns a failure to stop the encoder with it.
typedef struct gi_sink {
    gi_status (*write)(void *context, const void *data, size_t size, gi_error *err);
    void *context;
} gi_sink;

// Chroma samples of a colour JPEG: as many as of luma, half as many across, or half across and down. 420 is the zero.
typedef enum gi_subsampling { GI_SUBSAMPLING_420, GI_SUBSAMPLING_422, GI_SUBSAMPLING_444 } gi_subsampling;

// Fewer bits a pixel in a PNG where the values allow it: 1-bit gray, or a palette of at most 256 colours.
typedef enum gi_png_reduce {
    GI_PNG_REDUCE_AUTO, // where `binary` tells it beforehand
    GI_PNG_REDUCE_ON,   // wherever the pixels turn out so: they are held until the last is seen
    GI_PNG_REDUCE_OFF
} gi_png_reduce;

// The level at which PNG is written where nobody chose one. (src/gpuimg.h tells it to users.)
#define GI_PNG_LEVEL 2

typedef struct gi_encode_options {
    gi_format format;
    gi_codec_choice codec;
    int threads;                // as in gi_decode_options
    int quality;                // JPEG 1..100
    gi_subsampling subsampling; // of a colour JPEG; stb has its own, by the quality
    bool optimize;              // JPEG: Huffman tables made for the image
    bool progressive;           // JPEG
    int png_level;              // 0..9, from stored to smallest
    gi_png_reduce png_reduce;
    size_t png_band;             // bytes of a band that is compressed by itself; 0: as many as pay (others: tests)
    bool binary;                 // every sample of the image is 0 or the largest (alpha: any)
    uint8_t background[3];       // alpha into JPEG is composited on this
    int orientation;             // EXIF orientation to write; 0 or 1: none
    gi_metadata *metadata;       // to write beside the pixels; the encoder fits it to the image. NULL: nothing
    const gi_messages *messages; // may be NULL
    const char *file;            // name for messages; may be NULL
} gi_encode_options;

typedef struct gi_encoder gi_encoder;

// An encoder for an image of that shape. GI_ERR_LIMIT: the format or library cannot hold it (JPEG: 65535 a side).
// GI_ERR_UNSUPPORTED: no library can do what the options ask of that format.
// The sink must outlive the encoder.
gi_status gi_encoder_open(gi_shape shape, const gi_encode_options *options, const gi_sink *sink, gi_encoder **encoder,
                          gi_error *err);

// Takes the next rows->height rows.
gi_status gi_encoder_rows(gi_encoder *encoder, const gi_view *rows, gi_error *err);

// Writes what is left once all rows were given (fewer: GI_ERR_USAGE). The file is complete only if this returns GI_OK.
gi_status gi_encoder_finish(gi_encoder *encoder, gi_error *err);

// NULL is fine; before gi_encoder_finish it abandons the file.
void gi_encoder_close(gi_encoder *encoder);

// Why a device's own encoder cannot write an image of that shape as the options ask. NULL: it can.
const char *gi_encode_device_reason(gi_shape shape, const gi_encode_options *options);

// Gives the sink a JPEG of that shape that was encoded elsewhere, with what the options ask for beside the pixels.
// GI_ERR_FORMAT when it is none.
gi_status gi_encode_made_jpeg(gi_bytes made, gi_shape shape, const gi_encode_options *options, const gi_sink *sink,
                              gi_error *err);

// ---- about --------------------------------------------------------------------------------------------------------

// A library behind the interface.
typedef struct gi_codec_library {
    const char *name;
    const char *version; // that was built in; NULL: none
    const char *work;    // what it does
    const char *without; // what is the worse without it
    const char *package; // that has its headers, in Debian and Ubuntu
} gi_codec_library;

// The fastest first; NULL past the last.
const gi_codec_library *gi_codec_library_at(int index);

// GI_ERR_UNSUPPORTED, with what to install, when the library chosen was not built in.
gi_status gi_codec_check(gi_codec_choice codec, gi_error *err);

// GI_ERR_UNSUPPORTED when it is not libjpeg-turbo that writes JPEG; `what` ("progressive JPEG") needs it.
gi_status gi_codec_check_turbo(gi_codec_choice codec, const char *what, gi_error *err);

// Likewise for all that the options ask of JPEG.
gi_status gi_encode_options_check(const gi_encode_options *options, gi_error *err);

#endif
