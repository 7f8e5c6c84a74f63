// Where everything of a plot stands.
#include "cli/plot.h"

#include <stdio.h>
#include <string.h>

#include "cli/stroke_font.h"
#include "core/histogram.h"

enum { LEFT = 78, MARGIN = 20, Y_STEPS = 6, MARKS = 64, MARK_ROWS = 4, MARK_HEIGHT = 14, ROW_HEIGHT = 19 };

// Curves at 0 lie below the axis' upper edge, so that the axis covers them.
static const float ground_depth = 0.75F;

// A run of columns of one channel that are higher than the scale.
typedef struct mark {
    int channel;
    uint32_t first, last; // columns
    double share;         // of all of them
    int row;              // of its label, 0 next to the plot; -1: no room, the triangle alone
} mark;

typedef struct layout {
    gi_buffer *plot;
    const gi_report_image *image;
    gi_plot_columns columns;
    double step, top;  // of the scale, in shares
    float right;       // x of the highest level's end
    float above, base; // y of the scale's top and of 0
    mark marks[MARKS];
    int mark_count, mark_rows;
} layout;

static gi_plot_ink ink_of(const char *channel) {
    int c = 0;
    while (c < GI_REPORT_CHANNELS - 1 && strcmp(gi_report_channel_names[c], channel) != 0) c++;
    return (gi_plot_ink)(GI_PLOT_GRAY + c);
}

static float x_of_level(const layout *l, double level) {
    return LEFT + (float)(level / l->image->levels) * (l->right - LEFT);
}

static float y_of_share(const layout *l, double share) {
    return l->base - (float)(share / l->top) * (l->base - l->above);
}

static void add_line(const layout *l, gi_plot_ink ink, float width, gi_xy from, gi_xy to) {
    const gi_xy points[2] = {from, to};
    gi_plot_add_shape(l->plot, GI_PLOT_LINE, (gi_plot_style){.ink = ink, .size = width}, points, 2);
}

static void add_box(gi_buffer *plot, gi_plot_ink ink, gi_xy from, gi_xy to) {
    const gi_xy points[4] = {from, {to.x, from.y}, to, {from.x, to.y}};
    gi_plot_add_shape(plot, GI_PLOT_AREA, (gi_plot_style){.ink = ink, .opacity = 1}, points, 4);
}

// ---- what stands above the scale ----------------------------------------------------------------------------------

static void mark_text(const layout *l, const mark *m, gi_buffer *text) {
    uint32_t first = l->columns.edges[m->first], last = l->columns.edges[m->last + 1] - 1;
    if (first == last)
        gi_buffer_printf(text, "%u: %.1f%%", first, 100 * m->share);
    else
        gi_buffer_printf(text, "%u-%u: %.1f%%", first, last, 100 * m->share);
}

static float mark_x(const layout *l, const mark *m) {
    return x_of_level(l, (l->columns.edges[m->first] + l->columns.edges[m->last + 1]) / 2.0);
}

// Middle of a mark's label: over it, but inside the plot.
static float label_x(const layout *l, const mark *m, float *half) {
    gi_buffer text = {0};
    mark_text(l, m, &text);
    *half = (float)text.size * 3.4F + 3;
    gi_buffer_free(&text);
    float x = mark_x(l, m);
    if (x < LEFT + *half) x = LEFT + *half;
    return x > l->right - *half ? l->right - *half : x;
}

// The lowest row in which a label touches none of those before.
static void place_label(layout *l, int index) {
    mark *m = &l->marks[index];
    float half, x = label_x(l, m, &half);
    for (m->row = 0; m->row < MARK_ROWS; m->row++) {
        bool free = true;
        for (int i = 0; i < index && free; i++) {
            float other_half, other = label_x(l, &l->marks[i], &other_half);
            float distance = other > x ? other - x : x - other;
            free = l->marks[i].row != m->row || distance >= half + other_half;
        }
        if (free) break;
    }
    if (m->row == MARK_ROWS) m->row = -1;
    if (m->row >= l->mark_rows) l->mark_rows = m->row + 1;
}

static void find_marks(layout *l) {
    for (int c = 0; c < l->image->channel_count; c++) {
        const double *shares = l->columns.shares[c];
        for (uint32_t i = 0; i < l->columns.count && l->mark_count < MARKS; i++) {
            if (shares[i] <= l->top) continue;
            mark *m = &l->marks[l->mark_count];
            *m = (mark){.channel = c, .first = i, .last = i, .share = shares[i]};
            while (i + 1 < l->columns.count && shares[i + 1] > l->top) m->share += shares[++i];
            m->last = i;
            place_label(l, l->mark_count++);
        }
    }
}

static void add_marks(const layout *l) {
    for (int i = 0; i < l->mark_count; i++) {
        const mark *m = &l->marks[i];
        gi_plot_ink ink = ink_of(l->image->channels[m->channel].name);
        float x = mark_x(l, m), y = l->above, half;
        const gi_xy triangle[3] = {{x - 5, y - 1}, {x + 5, y - 1}, {x, y - 9}};
        gi_plot_add_shape(l->plot, GI_PLOT_AREA, (gi_plot_style){.ink = ink, .opacity = 0.8F}, triangle, 3);
        if (m->row < 0) continue;
        gi_buffer text = {0};
        mark_text(l, m, &text);
        gi_xy at = {label_x(l, m, &half), y - 13 - (float)(m->row * MARK_HEIGHT)};
        if (!text.failed)
            gi_plot_add_text(l->plot, (gi_plot_style){.ink = ink, .size = 11.5F, .anchor = GI_PLOT_MIDDLE}, at,
                             text.data);
        gi_buffer_free(&text);
    }
}

// ---- axes ---------------------------------------------------------------------------------------------------------

static void add_y_axis(const layout *l) {
    int decimals = gi_plot_decimals(100 * l->step);
    char text[64];
    for (int i = 0; i * l->step <= l->top; i++) {
        float y = y_of_share(l, i * l->step);
        if (i) add_line(l, GI_PLOT_GRID, 1, (gi_xy){LEFT, y}, (gi_xy){l->right, y});
        snprintf(text, sizeof text, "%.*f%%", i ? decimals : 0, 100 * i * l->step);
        gi_plot_add_text(l->plot, (gi_plot_style){.ink = GI_PLOT_MUTED, .size = 12, .anchor = GI_PLOT_END},
                         (gi_xy){LEFT - 8, y + 4}, text);
    }
    if (l->columns.count == l->image->levels)
        snprintf(text, sizeof text, "share of the pixels at each level");
    else
        snprintf(text, sizeof text, "share of the pixels in each of %u bins", l->columns.count);
    gi_plot_style style = {.ink = GI_PLOT_MUTED, .size = 12, .anchor = GI_PLOT_MIDDLE, .upwards = true};
    gi_plot_add_text(l->plot, style, (gi_xy){18, (l->above + l->base) / 2}, text);
}

static void add_x_tick(const layout *l, uint32_t level) {
    float x = x_of_level(l, level + 0.5);
    char text[16];
    snprintf(text, sizeof text, "%u", level);
    add_line(l, GI_PLOT_AXIS, 1, (gi_xy){x, l->base}, (gi_xy){x, l->base + 5});
    // Under its tick, but inside the picture.
    const gi_plot_style style = {.ink = GI_PLOT_MUTED, .size = 12, .anchor = GI_PLOT_MIDDLE};
    const float most = l->right + MARGIN - 2 - gi_stroke_width(text, style.size) / 2;
    gi_plot_add_text(l->plot, style, (gi_xy){x < most ? x : most, l->base + 19}, text);
}

static void add_x_axis(const layout *l) {
    for (uint32_t quarter = 0; quarter < 4; quarter++) add_x_tick(l, l->image->levels / 4 * quarter);
    add_x_tick(l, l->image->levels - 1);
    gi_plot_add_text(l->plot, (gi_plot_style){.ink = GI_PLOT_MUTED, .size = 12, .anchor = GI_PLOT_MIDDLE},
                     (gi_xy){(LEFT + l->right) / 2.0F, l->base + 37}, "level");
}

static void add_frame(const layout *l) {
    add_line(l, GI_PLOT_AXIS, 1, (gi_xy){LEFT, l->above}, (gi_xy){LEFT, l->base});
    add_line(l, GI_PLOT_AXIS, 2 * ground_depth, (gi_xy){LEFT, l->base + ground_depth},
             (gi_xy){l->right, l->base + ground_depth});
}

// ---- curves -------------------------------------------------------------------------------------------------------

// The outline of a channel's columns from the left end of the axis to the right one. A column in use always shows.
static size_t outline(const layout *l, int channel, gi_xy points[2 * GI_PLOT_COLUMNS + 2]) {
    size_t count = 0;
    float ground = l->base + ground_depth;
    points[count++] = (gi_xy){LEFT, ground};
    for (uint32_t i = 0; i < l->columns.count; i++) {
        double share = l->columns.shares[channel][i];
        float y = y_of_share(l, share < l->top ? share : l->top);
        if (y > l->base - 1) y = share > 0 ? l->base - 1 : ground;
        float left = x_of_level(l, l->columns.edges[i]), right = x_of_level(l, l->columns.edges[i + 1]);
        // A run of equal columns is one step; float equality, as equal shares give equal heights.
        if (count > 1 && points[count - 1].y >= y && points[count - 1].y <= y)
            points[count - 1].x = right;
        else {
            points[count++] = (gi_xy){left, y};
            points[count++] = (gi_xy){right, y};
        }
    }
    points[count++] = (gi_xy){l->right, ground};
    return count;
}

static void add_curves(const layout *l) {
    gi_xy points[2 * GI_PLOT_COLUMNS + 2];
    for (int c = 0; c < l->image->channel_count; c++) {
        gi_plot_ink ink = ink_of(l->image->channels[c].name);
        // Alpha is no colour: a line alone.
        if (ink == GI_PLOT_ALPHA) continue;
        size_t count = outline(l, c, points);
        gi_plot_add_shape(l->plot, GI_PLOT_AREA, (gi_plot_style){.ink = ink, .opacity = 0.22F}, points, count);
    }
    for (int c = 0; c < l->image->channel_count; c++) {
        gi_plot_style style = {.ink = ink_of(l->image->channels[c].name), .size = 1.25F};
        size_t count = outline(l, c, points);
        gi_plot_add_shape(l->plot, GI_PLOT_LINE, style, points, count);
    }
}

// ---- title and statistics -----------------------------------------------------------------------------------------

void gi_plot_add_size(gi_buffer *text, const gi_report_image *image) {
    if (image->files)
        gi_buffer_printf(text, "%zu image%s, ", image->files, image->files == 1 ? "" : "s");
    else
        gi_buffer_printf(text, "%u x %u, %s, ", image->width, image->height, gi_channels_name(image->channel_count));
    gi_plot_add_number(text, image->pixels);
    gi_buffer_puts(text, image->pixels == 1 ? " pixel" : " pixels");
}

static void add_title(const layout *l) {
    const gi_report_image *image = l->image;
    gi_buffer text = {0};
    gi_buffer_safe(&text, image->file);
    gi_plot_style style = {.ink = GI_PLOT_INK, .size = 18, .bold = true, .room = l->right - 24};
    if (!text.failed) gi_plot_add_text(l->plot, style, (gi_xy){24, 32}, text.data ? text.data : "");
    gi_buffer_free(&text);
    gi_plot_add_size(&text, image);
    style = (gi_plot_style){.ink = GI_PLOT_MUTED, .size = 13};
    if (!text.failed) gi_plot_add_text(l->plot, style, (gi_xy){24, 53}, text.data);
    gi_buffer_free(&text);
}

enum { CELLS = 10, CELL = 64 };
static const int cell_right[CELLS] = {0, 204, 278, 344, 420, 496, 578, 640, 810, 980}; // the first begins at its left

static void add_cells(const layout *l, float y, gi_plot_ink ink, char cells[CELLS][CELL]) {
    for (int i = 0; i < CELLS; i++) {
        gi_plot_style style = {.ink = ink, .size = 12.5F, .anchor = i ? GI_PLOT_END : GI_PLOT_START};
        gi_plot_add_text(l->plot, style, (gi_xy){i ? (float)cell_right[i] : 42, y}, cells[i]);
    }
}

static void put_share(char *cell, uint64_t count, uint64_t of) {
    gi_buffer text = {0};
    gi_plot_add_number(&text, count);
    gi_buffer_puts(&text, " (");
    gi_plot_add_share(&text, count, of);
    snprintf(cell, CELL, "%s)", text.failed ? "" : text.data);
    gi_buffer_free(&text);
}

static void add_statistics(const layout *l, float y) {
    const gi_report_image *image = l->image;
    char cells[CELLS][CELL] = {"", "min", "median", "max", "mean", "std", "entropy", "Otsu", "pixels at 0", ""};
    snprintf(cells[CELLS - 1], sizeof cells[0], "pixels at %u", image->levels - 1);
    add_cells(l, y, GI_PLOT_MUTED, cells);
    for (int c = 0; c < image->channel_count; c++) {
        gi_statistics s;
        gi_statistics_of(image->channels[c].counts, image->levels, &s);
        snprintf(cells[0], sizeof cells[0], "%s", image->channels[c].name);
        snprintf(cells[1], sizeof cells[1], "%u", s.min);
        snprintf(cells[2], sizeof cells[2], "%u", s.median);
        snprintf(cells[3], sizeof cells[3], "%u", s.max);
        snprintf(cells[4], sizeof cells[4], "%.2f", s.mean);
        snprintf(cells[5], sizeof cells[5], "%.2f", s.std);
        snprintf(cells[6], sizeof cells[6], "%.4f", s.entropy);
        snprintf(cells[7], sizeof cells[7], "%u", s.otsu);
        put_share(cells[8], s.clipped_shadows, s.pixels);
        put_share(cells[9], s.clipped_highlights, s.pixels);
        y += ROW_HEIGHT;
        add_cells(l, y, GI_PLOT_INK, cells);
        add_box(l->plot, ink_of(image->channels[c].name), (gi_xy){24, y - 10}, (gi_xy){35, y + 1});
    }
}

void gi_plot_layout(gi_buffer *plot, const gi_report_image *image, bool bare) {
    layout l = {.plot = plot, .image = image};
    float height = bare ? GI_PLOT_BARE_HEIGHT : GI_PLOT_HEIGHT, width = bare ? GI_PLOT_BARE_WIDTH : GI_PLOT_WIDTH;
    l.right = width - MARGIN;
    gi_plot_columns_of(image, &l.columns);
    double limit = gi_plot_limit(&l.columns, image->channel_count);
    l.step = gi_plot_nice_step(limit > 0 ? limit : 1, Y_STEPS);
    // Half a step is as good an end as a whole one.
    l.top = l.step;
    for (int halves = 2; l.top < limit; halves++) l.top = halves * l.step / 2 * (1 + 1e-9);
    find_marks(&l);
    float table = bare ? 0 : (float)(ROW_HEIGHT * (image->channel_count + 1) + 8);
    l.base = height - 48 - table;
    l.above = (bare ? 12.0F : 72.0F) + (l.mark_rows ? 14.0F + (float)(l.mark_rows * MARK_HEIGHT) : 0);
    add_box(plot, GI_PLOT_PAPER, (gi_xy){0, 0}, (gi_xy){width, height});
    add_y_axis(&l);
    add_curves(&l);
    add_frame(&l);
    add_x_axis(&l);
    add_marks(&l);
    if (l.mark_count)
        gi_plot_add_text(plot, (gi_plot_style){.ink = GI_PLOT_MUTED, .size = 12, .anchor = GI_PLOT_END},
                         (gi_xy){l.right, bare ? 13 : 53}, "triangles: higher than the scale, with their share");
    if (bare) return;
    add_title(&l);
    add_statistics(&l, height - table - 48 + 62);
}

void gi_plot_layout_empty(gi_buffer *plot) {
    add_box(plot, GI_PLOT_PAPER, (gi_xy){0, 0}, (gi_xy){GI_PLOT_WIDTH, GI_PLOT_HEIGHT});
    gi_plot_add_text(plot, (gi_plot_style){.ink = GI_PLOT_MUTED, .size = 18, .anchor = GI_PLOT_MIDDLE},
                     (gi_xy){GI_PLOT_WIDTH / 2, GI_PLOT_HEIGHT / 2}, "no images");
}
