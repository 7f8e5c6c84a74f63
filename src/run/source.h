// The rows of one image in the order in which bands need them: of a whole image in memory, or from a decoder through a
// window of rows that slides down the image.
#ifndef GI_RUN_SOURCE_H
#define GI_RUN_SOURCE_H

#include "codec/codec.h"
#include "core/status.h"
#include "core/view.h"
#include "run/bands.h"
#include "run/read.h"
#include "run/stop.h"
#include "run/thumbnail.h"
#include "run/timeline.h"

typedef struct gi_source {
    gi_view view;    // memory of the caller's; its height: rows that there is room for at once
    uint32_t height; // of the image
    gi_rows held;    // of the image: they lie at the view's top
    // Owned, until the last row is decoded. NULL: all rows are held.
    gi_decoder *decoder;
    gi_file_data file;       // what the decoder reads
    gi_thumbnail *thumbnail; // takes the rows as they are decoded; may be NULL
    gi_lap *lap;             // what spans of decoding are told to; may be NULL
    const gi_stop *stop;     // looked at while rows are decoded; may be NULL
} gi_source;

// All rows of an image in memory, which stays the caller's.
gi_source gi_source_of_image(const gi_view *image);

// Frees what it owns; not the view's memory.
void gi_source_close(gi_source *source);

// True where there is less room than rows, so that rows above those asked for last are lost.
static inline bool gi_source_slides(const gi_source *source) { return source->view.height < source->height; }

// True when asking for those rows moves or overwrites held rows in memory.
bool gi_source_moves(const gi_source *source, gi_rows rows);

// *view = those rows, decoded by now; no more than there is room for. Valid, and in the same place, until rows are
// asked for that do not fit behind those held: then held rows move up over those above rows.y, which cannot be had any
// more (GI_ERR_USAGE). GI_ERR_CANCELLED once the stop is set, and the decoder's failures.
gi_status gi_source_rows(gi_source *source, gi_rows rows, gi_view *view, gi_error *err);

#endif
