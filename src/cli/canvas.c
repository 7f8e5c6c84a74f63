#include "cli/canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"

enum { SUBROWS = 5 }; // lines of a pixel's height on which areas are sampled; along x their cover is exact

gi_status gi_canvas_init(gi_canvas *canvas, uint32_t width, uint32_t height, gi_error *err) {
    size_t bytes = 0;
    memset(canvas, 0, sizeof *canvas);
    if (gi_mul(width, height, &bytes) && gi_mul(bytes, 3, &bytes)) canvas->pixels = calloc(bytes + 1, 1);
    canvas->cover = calloc((size_t)width + 1, sizeof *canvas->cover);
    if (!canvas->pixels || !canvas->cover) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    canvas->width = width;
    canvas->height = height;
    return GI_OK;
}

void gi_canvas_free(gi_canvas *canvas) {
    free(canvas->pixels);
    free(canvas->cover);
    memset(canvas, 0, sizeof *canvas);
}

// [*first, *last): the whole numbers from `low` to `high` that are below `limit`.
static void range(float low, float high, uint32_t limit, uint32_t *first, uint32_t *last) {
    float most = (float)limit;
    *first = low > 0 ? (uint32_t)(low < most ? floorf(low) : most) : 0;
    *last = high > 0 ? (uint32_t)(high < most ? ceilf(high) : most) : 0;
}

// Lays the pen on row y by its cover, which it clears.
static void blend(gi_canvas *canvas, uint32_t y, uint32_t first, uint32_t last, const gi_pen *pen) {
    uint8_t *pixel = canvas->pixels + 3 * ((size_t)y * canvas->width + first);
    for (uint32_t x = first; x < last; x++, pixel += 3) {
        float cover = canvas->cover[x] * pen->opacity;
        canvas->cover[x] = 0;
        if (cover <= 0) continue;
        if (cover > 1) cover = 1;
        for (int c = 0; c < 3; c++)
            pixel[c] = (uint8_t)lroundf((float)pixel[c] + cover * ((float)pen->rgb[c] - (float)pixel[c]));
    }
}

// Adds `weight` along x from a to b.
static void cover_span(gi_canvas *canvas, float a, float b, float weight) {
    uint32_t first, last;
    range(a, b, canvas->width, &first, &last);
    for (uint32_t x = first; x < last; x++) {
        float begin = a > (float)x ? a : (float)x, end = b < (float)(x + 1) ? b : (float)(x + 1);
        if (end > begin) canvas->cover[x] += weight * (end - begin);
    }
}

static int rising(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

// Where the outline crosses the height y, from left to right.
static size_t crossings(const gi_xy *points, size_t count, float y, float *xs) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        gi_xy a = points[i], b = points[i + 1 < count ? i + 1 : 0];
        if ((a.y <= y) == (b.y <= y)) continue;
        xs[found++] = a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x);
    }
    qsort(xs, found, sizeof *xs, rising);
    return found;
}

static void extent(const gi_xy *points, size_t count, gi_xy *low, gi_xy *high) {
    *low = *high = points[0];
    for (size_t i = 1; i < count; i++) {
        low->x = fminf(low->x, points[i].x);
        low->y = fminf(low->y, points[i].y);
        high->x = fmaxf(high->x, points[i].x);
        high->y = fmaxf(high->y, points[i].y);
    }
}

void gi_canvas_fill(gi_canvas *canvas, const gi_xy *points, size_t count, const gi_pen *pen) {
    float *xs = count ? malloc(count * sizeof *xs) : NULL;
    if (!xs) return;
    gi_xy low, high;
    uint32_t top, bottom, left, right;
    extent(points, count, &low, &high);
    range(low.y, high.y, canvas->height, &top, &bottom);
    range(low.x, high.x, canvas->width, &left, &right);
    for (uint32_t y = top; y < bottom; y++) {
        for (int i = 0; i < SUBROWS; i++) {
            size_t found = crossings(points, count, (float)y + ((float)i + 0.5F) / SUBROWS, xs);
            for (size_t k = 0; k + 1 < found; k += 2) cover_span(canvas, xs[k], xs[k + 1], 1.0F / SUBROWS);
        }
        blend(canvas, y, left, right, pen);
    }
    free(xs);
}

static float distance(gi_xy p, gi_xy a, gi_xy b) {
    float dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
    float t = square > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / square : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypotf(a.x + t * dx - p.x, a.y + t * dy - p.y);
}

// A pixel's cover by a line: by the distance of its middle, exact where the line is straight and runs along the grid.
static void cover_segment(gi_canvas *canvas, uint32_t y, gi_xy a, gi_xy b, float width) {
    float reach = width / 2 + 0.5F, most = width < 1 ? width : 1;
    uint32_t first, last;
    if ((float)y + 0.5F < fminf(a.y, b.y) - reach || (float)y + 0.5F > fmaxf(a.y, b.y) + reach) return;
    range(fminf(a.x, b.x) - reach, fmaxf(a.x, b.x) + reach, canvas->width, &first, &last);
    for (uint32_t x = first; x < last; x++) {
        float cover = reach - distance((gi_xy){(float)x + 0.5F, (float)y + 0.5F}, a, b);
        cover = cover > most ? most : cover;
        if (cover > canvas->cover[x]) canvas->cover[x] = cover;
    }
}

void gi_canvas_stroke(gi_canvas *canvas, const gi_xy *points, size_t count, const gi_pen *pen) {
    if (count == 0) return;
    gi_xy low, high;
    uint32_t top, bottom, left, right;
    float reach = pen->width / 2 + 0.5F;
    extent(points, count, &low, &high);
    range(low.y - reach, high.y + reach, canvas->height, &top, &bottom);
    range(low.x - reach, high.x + reach, canvas->width, &left, &right);
    for (uint32_t y = top; y < bottom; y++) {
        for (size_t i = 0; i + 1 < count || i == 0; i++)
            cover_segment(canvas, y, points[i], points[i + 1 < count ? i + 1 : i], pen->width);
        blend(canvas, y, left, right, pen);
    }
}
