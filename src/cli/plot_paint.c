#include "cli/plot_paint.h"

#include <string.h>

#include "cli/plot.h"
#include "cli/stroke_font.h"

static gi_pen pen_of(const gi_plot_style *style) {
    gi_pen pen = {{0}, 1, style->size};
    memcpy(pen.rgb, gi_plot_colours[style->ink].rgb, sizeof pen.rgb);
    return pen;
}

// The text in ASCII: the font has no more.
static void add_ascii(gi_buffer *out, const char *text) {
    for (size_t left = strlen(text); left;) {
        uint32_t code = 0;
        size_t length = gi_utf8_decode(text, left, &code);
        if (code < 0x80)
            gi_buffer_add(out, text, length);
        else
            gi_buffer_printf(out, "\\u{%04x}", (unsigned)code);
        text += length;
        left -= length;
    }
}

// Makes the text as short as its room asks for.
static void fit(gi_buffer *text, const gi_plot_style *style) {
    if (style->room <= 0 || text->failed) return;
    float narrowest = gi_stroke_width("..", style->size) / 2; // at least: a column is never less
    size_t columns = (size_t)(style->room / narrowest);
    gi_buffer whole = *text;
    *text = (gi_buffer){0};
    do {
        gi_buffer_free(text);
        gi_plot_elide(text, whole.data, columns--);
    } while (!text->failed && columns && gi_stroke_width(text->data, style->size) > style->room);
    gi_buffer_free(&whole);
}

static void paint_text(gi_canvas *canvas, const gi_plot_item *item) {
    const gi_plot_style *style = &item->style;
    gi_pen pen = pen_of(style);
    pen.width = style->size * (style->bold ? 0.125F : 0.095F);
    gi_stroke_text how = {style->size, style->upwards, *gi_plot_points(item), &pen};
    gi_buffer text = {0};
    add_ascii(&text, gi_plot_text(item));
    fit(&text, style);
    if (!text.failed) {
        float back = gi_stroke_width(text.data, style->size) * (float)style->anchor / 2; // start 0, middle 1, end 2
        if (style->upwards)
            how.at.y += back;
        else
            how.at.x -= back;
        gi_stroke_draw(canvas, &how, text.data);
    }
    gi_buffer_free(&text);
}

// Lines of the grid lie between pixels; one pixel wide, they shall fill one.
static void paint_line(gi_canvas *canvas, const gi_plot_item *item) {
    gi_xy points[2 * GI_PLOT_COLUMNS + 2];
    gi_pen pen = pen_of(&item->style);
    bool fine = item->style.size <= 1;
    for (uint32_t i = 0; i < item->count; i++) {
        points[i] = gi_plot_points(item)[i];
        if (!fine) continue;
        points[i].x = (float)(int)points[i].x + 0.5F;
        points[i].y = (float)(int)points[i].y + 0.5F;
    }
    gi_canvas_stroke(canvas, points, item->count, &pen);
}

void gi_plot_paint(gi_canvas *canvas, const gi_buffer *plot) {
    for (const gi_plot_item *item = gi_plot_next(plot, NULL); item; item = gi_plot_next(plot, item)) {
        if (item->kind == GI_PLOT_AREA) {
            gi_pen pen = pen_of(&item->style);
            pen.opacity = item->style.opacity;
            gi_canvas_fill(canvas, gi_plot_points(item), item->count, &pen);
        } else if (item->kind == GI_PLOT_LINE) {
            paint_line(canvas, item);
        } else {
            paint_text(canvas, item);
        }
    }
}
