// The segments of a JPEG that hold metadata: JFIF's density, EXIF and XMP (APP1, more XMP in parts), ICC profiles
// (APP2, in parts), IPTC among Photoshop's resources (APP13).
#ifndef GI_CODEC_JPEG_METADATA_H
#define GI_CODEC_JPEG_METADATA_H

#include "codec/metadata.h"

// The most bytes that one segment holds of each.
enum {
    GI_JPEG_EXIF_MOST = 65535 - 2 - 6,
    GI_JPEG_XMP_MOST = 65535 - 2 - 29,
    GI_JPEG_XMP_MORE_MOST = 65535 - 2 - 35 - GI_XMP_GUID - 8,
    GI_JPEG_ICC_MOST = 65535 - 2 - 14,
    GI_JPEG_PHOTOSHOP_MOST = 65535 - 2 - 14
};

// What those segments begin with, the NUL at the end included where it is sizeof that counts.
#define GI_JPEG_EXIF_NAME "Exif\0"
#define GI_JPEG_XMP_NAME "http://ns.adobe.com/xap/1.0/"
#define GI_JPEG_XMP_MORE_NAME "http://ns.adobe.com/xmp/extension/"
#define GI_JPEG_ICC_NAME "ICC_PROFILE"
#define GI_JPEG_PHOTOSHOP_NAME "Photoshop 3.0"

// The records of IPTC among Photoshop's resources, without a copy; empty where there are none. *others: there are
// resources of other kinds. *rest: the last one, as far as it is there, where it goes on past these bytes; else empty.
gi_bytes gi_jpeg_iptc(gi_bytes resources, bool *others, gi_bytes *rest);

// Whether that rest is known to be one of IPTC.
bool gi_jpeg_iptc_is_cut(gi_bytes rest);

// The resources of one segment after the other: what goes on past a segment goes on in the next one, unless that one
// holds whole resources from its beginning on. Then what went on was cut.
typedef struct gi_jpeg_resources {
    gi_blob iptc; // owned: the first that is whole
    gi_blob rest; // owned: a resource that is not whole yet
    bool large;   // IPTC went on past GI_BLOB_MOST, and was dropped
    bool cut;     // IPTC went on, but nothing of it followed
    // Of the last segment, and what went on in it:
    bool others; // resources of other kinds
    bool found;  // IPTC, or a resource that is not whole yet
} gi_jpeg_resources;

// `segment` is a Photoshop segment's body behind the name. GI_ERR_MEMORY.
gi_status gi_jpeg_resources_take(gi_jpeg_resources *to, gi_bytes segment, gi_error *err);
void gi_jpeg_resources_free(gi_jpeg_resources *resources);

// The bag of what stands before the image data of a file that gi_jpeg_check has passed. What it cannot take is said as
// notes. GI_ERR_MEMORY.
gi_status gi_jpeg_metadata_read(gi_bytes file, const gi_decode_options *options, gi_metadata **metadata, gi_error *err);

// A sink for a JPEG on its way to another, which it gives the options' metadata. The file is to begin with SOI and a
// JFIF segment of 18 bytes, as every encoder here writes it.
typedef struct gi_jpeg_head {
    const gi_sink *sink; // where all of it goes
    gi_blob segments;    // owned: what follows the JFIF segment
    gi_density density;
    size_t used; // bytes of `first`
    uint8_t first[20];
} gi_jpeg_head;

// Free with gi_jpeg_head_free, also after a failure. `metadata` may be NULL, and is not needed any longer.
gi_status gi_jpeg_head_init(gi_jpeg_head *head, const gi_sink *sink, const gi_metadata *metadata, gi_error *err);
void gi_jpeg_head_free(gi_jpeg_head *head);

// Its `context` is the head, which must stay where it is.
gi_sink gi_jpeg_head_sink(gi_jpeg_head *head);

#endif
