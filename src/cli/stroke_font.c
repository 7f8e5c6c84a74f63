#include "cli/stroke_font.h"

#include <string.h>

// A glyph: its width, then its strokes as places on a grid, two digits each: x to the right, y upwards, 2 on the base
// line, 6 the height of an x, 8 that of capitals. A stroke with ~ is a quadratic B-spline from its first place to its
// last (closed when they are the same): it touches the sides of its control polygon half-way, so that a box gives an O.
enum { FIRST = ' ', LAST = '~', BASE = 2, CAPITAL = 6, GAP = 2, CURVE_STEPS = 6, POINTS = 96 };

static const char *const glyphs[LAST - FIRST + 1] = {
    "2",                                  // space
    "0 0804 02",                          // !
    "2 0806 2826",                        // "
    "5 1228 3248 0454 0656",              // #
    "4 ~4748080545420203 2921",           // $
    "6 1258 ~0626280806 ~4262644442",     // %
    "5 ~521618383604023254",              // &
    "0 0806",                             // '
    "2 ~29070321",                        // (
    "2 ~09272301",                        // )
    "4 2428 0547 0745",                   // *
    "4 0545 2327",                        // +
    "1 1200",                             // ,
    "3 0535",                             // -
    "0 02",                               // .
    "4 0149",                             // /
    "4 ~0242480802",                      // 0
    "4 172822",                           // 1
    "4 ~0708484602 0242",                 // 2
    "4 ~0708484525 ~2545420203",          // 3
    "4 32380444",                         // 4
    "4 480805 ~0546420203",               // 5
    "4 ~480804 ~0242460602",              // 6
    "4 084812",                           // 7
    "4 ~0545480805 ~0242450502",          // 8
    "4 ~0444480804 ~464202",              // 9
    "0 03 06",                            // :
    "1 15 1200",                          // ;
    "4 470543",                           // <
    "4 0444 0646",                        // =
    "4 074503",                           // >
    "4 ~070848462524 22",                 // ?
    "6 ~52020868644446 ~2444462624",      // @
    "4 022842 1434",                      // A
    "4 0208 ~082848452505 ~052545422202", // B
    "5 ~575808025253",                    // C
    "5 0208 ~082858522202",               // D
    "4 48080242 0535",                    // E
    "4 480802 0535",                      // F
    "5 ~575808025255 5535",               // G
    "5 0208 5258 0555",                   // H
    "0 0208",                             // I
    "3 ~3835320203",                      // J
    "4 0208 4804 1542",                   // K
    "4 080242",                           // L
    "6 0208346862",                       // M
    "5 02085258",                         // N
    "5 ~0252580802",                      // O
    "4 0208 ~082848452505",               // P
    "5 ~0252580802 3451",                 // Q
    "4 0208 ~082848452505 2542",          // R
    "4 ~4748080545420203",                // S
    "4 0848 2822",                        // T
    "5 ~080502525558",                    // U
    "4 082248",                           // V
    "6 0812375268",                       // W
    "4 0248 0842",                        // X
    "4 082548 2522",                      // Y
    "4 08480242",                         // Z
    "2 29090121",                         // [
    "4 0941",                             // backslash
    "2 09292101",                         // ]
    "4 062846",                           // ^
    "4 0141",                             // _
    "1 0817",                             // `
    "4 ~0242460602 4642",                 // a
    "4 0208 ~0242460602",                 // b
    "4 ~454606024243",                    // c
    "4 4248 ~0242460602",                 // d
    "4 0444 ~444606024243",               // e
    "3 ~38181612 0626",                   // f
    "4 ~0242460602 ~46424000",            // g
    "4 0208 ~0406464442",                 // h
    "0 0206 08",                          // i
    "2 ~26222000 28",                     // j
    "3 0208 3603 1432",                   // k
    "1 ~08030212",                        // l
    "6 0206 ~0406363432 ~3436666462",     // m
    "4 0206 ~0406464442",                 // n
    "4 ~0242460602",                      // o
    "4 0006 ~0242460602",                 // p
    "4 4046 ~0242460602",                 // q
    "3 0206 ~040636",                     // r
    "3 ~3536060434320203",                // s
    "3 ~18131232 0636",                   // t
    "4 ~0604024244 4642",                 // u
    "4 062246",                           // v
    "6 0612365266",                       // w
    "4 0246 0642",                        // x
    "4 0622 4610",                        // y
    "4 06460242",                         // z
    "2 ~29191505 ~05151121",              // {
    "0 0109",                             // |
    "2 ~09191525 ~25151101",              // }
    "4 ~05163445",                        // ~
};

static const char *glyph_of(char character) {
    return glyphs[character < FIRST || character > LAST ? '?' - FIRST : character - FIRST];
}

// Pixels of one step of the grid.
static float unit_of(float size) { return 0.72F * size / CAPITAL; }

float gi_stroke_width(const char *text, float size) {
    int units = 0;
    for (; *text; text++) units += *glyph_of(*text) - '0' + GAP;
    return unit_of(size) * (float)(units ? units - GAP : 0);
}

static gi_xy middle(gi_xy a, gi_xy b) { return (gi_xy){(a.x + b.x) / 2, (a.y + b.y) / 2}; }

// The quadratic Bezier curve from a to b, without a.
static size_t add_curve(gi_xy *out, gi_xy a, gi_xy control, gi_xy b) {
    for (int i = 1; i <= CURVE_STEPS; i++) {
        float t = (float)i / CURVE_STEPS, s = 1 - t;
        out[i - 1] = (gi_xy){s * s * a.x + 2 * s * t * control.x + t * t * b.x,
                             s * s * a.y + 2 * s * t * control.y + t * t * b.y};
    }
    return CURVE_STEPS;
}

static size_t spline(const gi_xy *p, size_t count, gi_xy *out) {
    bool closed =
        p[0].x >= p[count - 1].x && p[0].x <= p[count - 1].x && p[0].y >= p[count - 1].y && p[0].y <= p[count - 1].y;
    size_t made = 0, first = closed ? 0 : 1;
    gi_xy from = closed ? middle(p[count - 2], p[0]) : p[0];
    out[made++] = from;
    for (size_t i = first; i + 1 < count; i++) {
        gi_xy to = !closed && i + 2 == count ? p[count - 1] : middle(p[i], p[i + 1]);
        made += add_curve(out + made, from, p[i], to);
        from = to;
    }
    return made;
}

static void draw_glyph(gi_canvas *canvas, const gi_stroke_text *how, float x, const char *strokes) {
    float unit = unit_of(how->size);
    while (*strokes) {
        gi_xy places[POINTS / CURVE_STEPS], points[POINTS];
        size_t count = 0;
        strokes += strspn(strokes, " ");
        bool curved = *strokes == '~';
        for (strokes += curved; *strokes && *strokes != ' '; strokes += 2) {
            float right = x + unit * (float)(strokes[0] - '0'), up = unit * (float)(strokes[1] - '0' - BASE);
            places[count++] =
                how->upwards ? (gi_xy){how->at.x - up, how->at.y - right} : (gi_xy){how->at.x + right, how->at.y - up};
        }
        if (curved)
            gi_canvas_stroke(canvas, points, spline(places, count, points), how->pen);
        else
            gi_canvas_stroke(canvas, places, count, how->pen);
    }
}

void gi_stroke_draw(gi_canvas *canvas, const gi_stroke_text *how, const char *text) {
    float x = 0;
    for (; *text; text++) {
        const char *glyph = glyph_of(*text);
        draw_glyph(canvas, how, x, glyph + 1);
        x += unit_of(how->size) * (float)(*glyph - '0' + GAP);
    }
}
