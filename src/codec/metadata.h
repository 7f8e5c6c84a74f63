// What a file tells beside its pixels: a bag of blobs that a reader fills, the encoder fits to the result, and a writer
// empties into another file, of whichever format.
//
// Nothing in it is trusted, and nothing of it can make an image fail: what is damaged, too large or of no use to the
// result is left out, and said as a note.
#ifndef GI_CODEC_METADATA_H
#define GI_CODEC_METADATA_H

#include "codec/codec.h"

// No blob has more bytes, however few the file needs to announce or to compress them.
enum { GI_BLOB_MOST = 8000000 }; // what libpng takes, too

enum { GI_XMP_GUID = 32 };

typedef struct gi_blob {
    uint8_t *data; // owned; NULL: there is none
    size_t size;
} gi_blob;

// The data of a small chunk as it is stored; size 0: there is none.
typedef struct gi_small {
    uint8_t size;
    uint8_t data[32];
} gi_small;

typedef enum gi_density_unit {
    GI_DENSITY_NONE, // not told
    GI_DENSITY_RATIO,
    GI_DENSITY_INCH,
    GI_DENSITY_CENTIMETRE,
    GI_DENSITY_METRE
} gi_density_unit;

// Pixels per unit across and down, or how these two stand to each other; neither is 0.
typedef struct gi_density {
    gi_density_unit unit;
    uint32_t x, y;
} gi_density;

struct gi_metadata {
    gi_blob icc;  // a profile, whole: gi_icc_check has passed it
    gi_blob exif; // a TIFF block, without "Exif\0\0" in front
    gi_blob xmp;  // a packet, as text
    // What a JPEG alone has places for. More XMP than one segment holds: the packet names it by the GI_XMP_GUID
    // characters that come first here. And IPTC's records (IIM).
    gi_blob xmp_more, iptc;
    // PNG's gAMA, sRGB, cHRM and cICP.
    gi_small gamma, srgb, primaries, code_points;
    gi_density density;
    int turned; // the orientation by which the pixels were turned since; 0 or 1: they were not
};

// Copies the bytes into a blob that is empty; a failure leaves it so.
gi_status gi_blob_set(gi_blob *blob, gi_bytes bytes, gi_error *err);
void gi_blob_free(gi_blob *blob);

static inline gi_bytes gi_blob_bytes(const gi_blob *blob) { return (gi_bytes){blob->data, blob->size}; }

// Says what is damaged in an EXIF block that was read, and drops one in which nothing can be found.
void gi_metadata_check_exif(gi_metadata *metadata, const gi_decode_options *options);

// Says what is damaged within an ICC profile that is whole.
void gi_metadata_check_icc(const gi_metadata *metadata, const gi_decode_options *options);

// The result that metadata are for.
typedef struct gi_metadata_use {
    gi_format format;
    gi_shape shape;  // as the file stores it
    int orientation; // that a viewer is to apply; 0 or 1: none
    const gi_messages *messages;
    const char *file;
} gi_metadata_use;

// Drops what does not suit the result, and says so; brings EXIF, XMP and density in line with pixels that were turned,
// and makes an EXIF block where an orientation has no other place. GI_ERR_MEMORY.
gi_status gi_metadata_fit(gi_metadata *metadata, const gi_metadata_use *use, gi_error *err);

#endif
