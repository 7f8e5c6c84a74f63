// An alphabet of pen strokes for pictures that must not depend on fonts: the printable characters of ASCII.
#ifndef GI_CLI_STROKE_FONT_H
#define GI_CLI_STROKE_FONT_H

#include <stdbool.h>

#include "cli/canvas.h"

typedef struct gi_stroke_text {
    float size;   // of the em; capitals are 0.72 of it high
    bool upwards; // reads from below
    gi_xy at;     // where the base line begins
    const gi_pen *pen;
} gi_stroke_text;

// Pixels from the beginning of the text to its end. Characters that are not printable ASCII count and show as '?'.
float gi_stroke_width(const char *text, float size);

void gi_stroke_draw(gi_canvas *canvas, const gi_stroke_text *how, const char *text);

#endif
