// A small rasteriser: translucent areas and strokes with smooth edges on an RGB picture.
#ifndef GI_CLI_CANVAS_H
#define GI_CLI_CANVAS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/xy.h"
#include "core/status.h"

// Pixel (x, y) is the square from (x, y) to (x + 1, y + 1).
typedef struct gi_canvas {
    uint8_t *pixels; // packed rows of RGB
    uint32_t width, height;
    float *cover; // of one row, 0..1; zero between calls
} gi_canvas;

typedef struct gi_pen {
    uint8_t rgb[3];
    float opacity; // 0..1
    float width;   // of strokes, pixels
} gi_pen;

// A black canvas. GI_ERR_MEMORY possible; free it in any case.
gi_status gi_canvas_init(gi_canvas *canvas, uint32_t width, uint32_t height, gi_error *err);
void gi_canvas_free(gi_canvas *canvas);

// Fills a polygon, closed by itself, by the even-odd rule. What lies outside the canvas is clipped.
void gi_canvas_fill(gi_canvas *canvas, const gi_xy *points, size_t count, const gi_pen *pen);

// Strokes a polyline with round ends and joins; where it crosses itself it is no darker. One point: a dot.
void gi_canvas_stroke(gi_canvas *canvas, const gi_xy *points, size_t count, const gi_pen *pen);

#endif
