// The list of what a plot shows: records in a buffer, so that plots that wait for their turn are small.
#include <string.h>

#include "cli/plot.h"
#include "cli/stroke_font.h"

enum { ALIGNMENT = 8 };

const gi_plot_colour gi_plot_colours[GI_PLOT_INKS] = {
    {"paper", {255, 255, 255}}, {"grid", {226, 229, 234}}, {"axis", {107, 114, 128}}, {"ink", {17, 24, 39}},
    {"muted", {75, 85, 99}},    {"gray", {82, 82, 91}},    {"red", {220, 38, 38}},    {"green", {18, 133, 42}},
    {"blue", {37, 99, 235}},    {"alpha", {161, 98, 7}},
};

static void add(gi_buffer *plot, gi_plot_item item, const gi_xy *points, const char *text) {
    static const char padding[ALIGNMENT] = {0};
    size_t places = item.count * sizeof *points, length = text ? strlen(text) + 1 : 0;
    size_t bytes = (sizeof item + places + length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > UINT32_MAX) {
        plot->failed = true;
        return;
    }
    item.bytes = (uint32_t)bytes;
    gi_buffer_add(plot, &item, sizeof item);
    gi_buffer_add(plot, points, places);
    if (text) gi_buffer_add(plot, text, length);
    gi_buffer_add(plot, padding, bytes - sizeof item - places - length);
}

void gi_plot_add_shape(gi_buffer *plot, gi_plot_kind kind, gi_plot_style style, const gi_xy *points, size_t count) {
    add(plot, (gi_plot_item){.kind = kind, .style = style, .count = (uint32_t)count}, points, NULL);
}

void gi_plot_add_text(gi_buffer *plot, gi_plot_style style, gi_xy at, const char *text) {
    if (*text) add(plot, (gi_plot_item){.kind = GI_PLOT_TEXT, .style = style, .count = 1}, &at, text);
}

const gi_plot_item *gi_plot_next(const gi_buffer *plot, const gi_plot_item *item) {
    const char *begin = plot->data, *next = item ? (const char *)item + item->bytes : begin;
    return plot->size == 0 || plot->failed || next >= begin + plot->size ? NULL : (const void *)next;
}

const gi_xy *gi_plot_points(const gi_plot_item *item) { return (const void *)(item + 1); }

const char *gi_plot_text(const gi_plot_item *item) { return (const char *)(gi_plot_points(item) + item->count); }

float gi_plot_text_width(const char *text, float size) {
    const float drawn = gi_stroke_width(text, size), viewed = 0.62F * size * (float)strlen(text);
    return drawn > viewed ? drawn : viewed;
}

// Bytes of the character at `text`, and its columns.
static size_t character(const char *text, size_t left, size_t *columns) {
    uint32_t code = 0;
    size_t length = gi_utf8_decode(text, left, &code);
    // From here on most scripts are as wide as they are high.
    *columns = length && code >= 0x1100 && !(code >= 0x2000 && code < 0x2e80) ? 2 : 1;
    return length ? length : 1;
}

static size_t columns_of(const char *text, size_t size) {
    size_t sum = 0, columns;
    for (size_t i = 0; i < size; sum += columns) i += character(text + i, size - i, &columns);
    return sum;
}

void gi_plot_elide(gi_buffer *out, const char *text, size_t columns) {
    size_t size = strlen(text), all = columns_of(text, size), taken = 0, width, head = 0, tail;
    if (all <= columns) {
        gi_buffer_puts(out, text);
        return;
    }
    size_t room = columns > 3 ? columns - 3 : 0, first = room / 2, last = room - first;
    for (size_t i = 0; i < size;) {
        i += character(text + i, size - i, &width);
        if ((taken += width) > first) break;
        head = i;
    }
    for (tail = 0, taken = all; tail < size && taken > last; taken -= width)
        tail += character(text + tail, size - tail, &width);
    gi_buffer_add(out, text, head);
    gi_buffer_puts(out, "...");
    gi_buffer_puts(out, text + tail);
}
