// A small likeness of an image, made from its rows as they come: each of its pixels is the mean of a box of the
// image's.
#ifndef GI_RUN_THUMBNAIL_H
#define GI_RUN_THUMBNAIL_H

#include "core/status.h"
#include "core/view.h"

typedef struct gi_thumbnail {
    gi_view view;   // u8, the image's channels; complete after the image's last row. Owned by the struct
    gi_shape from;  // the image
    uint32_t y;     // rows of the image taken so far
    uint64_t *sums; // of the row of boxes in work: each channel of each box
} gi_thumbnail;

// The sides keep their proportion, the longer one becomes `side` (> 0); an image that is no larger keeps its size.
// GI_ERR_MEMORY possible. Free with gi_thumbnail_free, also after failure.
gi_status gi_thumbnail_init(gi_thumbnail *thumbnail, gi_shape from, uint32_t side, gi_error *err);
void gi_thumbnail_free(gi_thumbnail *thumbnail);

// Takes the image's next rows: u8 or u16, in order, no more than it has. Colours weigh by their alpha.
void gi_thumbnail_rows(gi_thumbnail *thumbnail, const gi_view *rows);

#endif
