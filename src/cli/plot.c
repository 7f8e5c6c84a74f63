// Where everything of a plot stands.
#include "cli/plot.h"

#include <stdio.h>
#include <string.h>

enum { Y_STEPS = 6, MARKS = 64, TITLE = 24 };

const gi_plot_form_data gi_plot_forms[GI_PLOT_FORMS] = {
    [GI_PLOT_PAGE] = {"page", GI_PLOT_WIDTH, GI_PLOT_HEIGHT, 78, 20, 72, 12, 11.5F, 4, true},
    [GI_PLOT_BROAD] = {"broad", 1000, 360, 78, 20, 12, 12, 11.5F, 4, true},
    [GI_PLOT_WIDE] = {"wide", 720, 310, 78, 20, 12, 12, 11.5F, 4, true},
    [GI_PLOT_NARROW] = {"narrow", 340, 250, 44, 10, 12, 12.5F, 12, 3, false},
};

const char gi_plot_cut_note[] = "triangles: higher than the scale, with their share";

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
    gi_plot_layers *layers;
    const gi_plot_form_data *form;
    const gi_report_image *image;
    gi_plot_columns columns;
    double step, top;  // of the scale, in shares
    float left, right; // x of 0 and of the highest level's end
    float above, base; // y of the scale's top and of 0
    mark marks[MARKS];
    int mark_count, mark_rows;
} layout;

gi_plot_ink gi_plot_ink_of(const char *channel) {
    int c = 0;
    while (c < GI_REPORT_CHANNELS - 1 && strcmp(gi_report_channel_names[c], channel) != 0) c++;
    return (gi_plot_ink)(GI_PLOT_GRAY + c);
}

static float x_of_level(const layout *l, double level) {
    return l->left + (float)(level / l->image->levels) * (l->right - l->left);
}

static float y_of_share(const layout *l, double share) {
    return l->base - (float)(share / l->top) * (l->base - l->above);
}

static void add_line(gi_buffer *plot, gi_plot_ink ink, float width, gi_xy from, gi_xy to) {
    const gi_xy points[2] = {from, to};
    gi_plot_add_shape(plot, GI_PLOT_LINE, (gi_plot_style){.ink = ink, .size = width}, points, 2);
}

void gi_plot_add_box(gi_buffer *plot, gi_plot_ink ink, gi_xy from, gi_xy to) {
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
    *half = (text.failed ? 0 : gi_plot_text_width(text.data, l->form->small_letters) / 2) + 2;
    gi_buffer_free(&text);
    float x = mark_x(l, m);
    if (x < l->left + *half) x = l->left + *half;
    return x > l->right - *half ? l->right - *half : x;
}

// The lowest row in which a label touches none of those before.
static void place_label(layout *l, int index) {
    mark *m = &l->marks[index];
    float half, x = label_x(l, m, &half);
    for (m->row = 0; m->row < l->form->label_rows; m->row++) {
        bool free = true;
        for (int i = 0; i < index && free; i++) {
            float other_half, other = label_x(l, &l->marks[i], &other_half);
            float distance = other > x ? other - x : x - other;
            free = l->marks[i].row != m->row || distance >= half + other_half;
        }
        if (free) break;
    }
    if (m->row == l->form->label_rows) m->row = -1;
    if (m->row >= l->mark_rows) l->mark_rows = m->row + 1;
}

static float label_height(const layout *l) { return l->form->small_letters * 1.22F; }

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
        gi_plot_ink ink = gi_plot_ink_of(l->image->channels[m->channel].name);
        float x = mark_x(l, m), y = l->above, half;
        const gi_xy triangle[3] = {{x - 5, y - 1}, {x + 5, y - 1}, {x, y - 9}};
        gi_plot_add_shape(&l->layers->above, GI_PLOT_AREA, (gi_plot_style){.ink = ink, .opacity = 0.8F}, triangle, 3);
        if (m->row < 0) continue;
        gi_buffer text = {0};
        mark_text(l, m, &text);
        gi_xy at = {label_x(l, m, &half), y - 13 - (float)m->row * label_height(l)};
        gi_plot_style style = {.ink = ink, .size = l->form->small_letters, .anchor = GI_PLOT_MIDDLE};
        if (!text.failed) gi_plot_add_text(&l->layers->above, style, at, text.data);
        gi_buffer_free(&text);
    }
}

// ---- axes ---------------------------------------------------------------------------------------------------------

void gi_plot_add_measure(gi_buffer *text, const gi_report_image *image) {
    const uint32_t count = gi_plot_column_count(image);
    if (count == image->levels)
        gi_buffer_puts(text, "share of the pixels at each level");
    else
        gi_buffer_printf(text, "share of the pixels in each of %u bins", count);
}

static void y_label(const layout *l, int step, char *text, size_t size) {
    snprintf(text, size, "%.*f%%", step ? gi_plot_decimals(100 * l->step) : 0, 100 * step * l->step);
}

// The left margin, in which the labels of the scale find room.
static float left_of(const layout *l) {
    float most = l->form->left;
    char text[64];
    for (int i = 0; i * l->step <= l->top; i++) {
        y_label(l, i, text, sizeof text);
        float left = (l->form->titles ? TITLE : 2) + gi_plot_text_width(text, l->form->letters) + 8;
        if (left > most) most = left;
    }
    return most;
}

static void add_y_axis(const layout *l) {
    gi_buffer *plot = &l->layers->below, title = {0};
    gi_plot_style style = {.ink = GI_PLOT_MUTED, .size = l->form->letters, .anchor = GI_PLOT_END};
    char text[64];
    for (int i = 0; i * l->step <= l->top; i++) {
        float y = y_of_share(l, i * l->step);
        if (i) add_line(plot, GI_PLOT_GRID, 1, (gi_xy){l->left, y}, (gi_xy){l->right, y});
        y_label(l, i, text, sizeof text);
        gi_plot_add_text(plot, style, (gi_xy){l->left - 8, y + 4}, text);
    }
    if (!l->form->titles) return;
    style.anchor = GI_PLOT_MIDDLE;
    style.upwards = true;
    gi_plot_add_measure(&title, l->image);
    // Beside the middle of the axis, but inside the picture.
    const float half = title.failed ? 0 : gi_plot_text_width(title.data, style.size) / 2,
                middle = (l->above + l->base) / 2;
    const float y = middle < l->form->height - half ? middle : l->form->height - half;
    if (!title.failed) gi_plot_add_text(plot, style, (gi_xy){18, y > half ? y : half}, title.data);
    gi_buffer_free(&title);
}

static void add_x_tick(const layout *l, uint32_t level) {
    gi_buffer *plot = &l->layers->above;
    float x = x_of_level(l, level + 0.5);
    char text[16];
    snprintf(text, sizeof text, "%u", level);
    add_line(plot, GI_PLOT_AXIS, 1, (gi_xy){x, l->base}, (gi_xy){x, l->base + 5});
    // Under its tick, but inside the picture.
    const gi_plot_style style = {.ink = GI_PLOT_MUTED, .size = l->form->letters, .anchor = GI_PLOT_MIDDLE};
    const float most = l->form->width - 2 - gi_plot_text_width(text, style.size) / 2;
    gi_plot_add_text(plot, style, (gi_xy){x < most ? x : most, l->base + 7 + style.size}, text);
}

static void add_x_axis(const layout *l) {
    const gi_plot_style style = {.ink = GI_PLOT_MUTED, .size = l->form->letters, .anchor = GI_PLOT_MIDDLE};
    for (uint32_t quarter = 0; quarter < 4; quarter++) add_x_tick(l, l->image->levels / 4 * quarter);
    add_x_tick(l, l->image->levels - 1);
    if (l->form->titles)
        gi_plot_add_text(&l->layers->above, style, (gi_xy){(l->left + l->right) / 2.0F, l->base + 37}, "level");
}

static void add_frame(const layout *l) {
    gi_buffer *plot = &l->layers->above;
    add_line(plot, GI_PLOT_AXIS, 1, (gi_xy){l->left, l->above}, (gi_xy){l->left, l->base});
    add_line(plot, GI_PLOT_AXIS, 2 * ground_depth, (gi_xy){l->left, l->base + ground_depth},
             (gi_xy){l->right, l->base + ground_depth});
}

// ---- curves -------------------------------------------------------------------------------------------------------

// The outline of a channel's columns from the left end of the axis to the right one. A column in use always shows.
static size_t outline(const layout *l, int channel, gi_xy points[2 * GI_PLOT_COLUMNS + 2]) {
    size_t count = 0;
    float ground = l->base + ground_depth;
    points[count++] = (gi_xy){l->left, ground};
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
        gi_plot_ink ink = gi_plot_ink_of(l->image->channels[c].name);
        // Alpha is no colour: a line alone.
        if (ink == GI_PLOT_ALPHA) continue;
        size_t count = outline(l, c, points);
        gi_plot_add_shape(&l->layers->curves, GI_PLOT_AREA, (gi_plot_style){.ink = ink, .opacity = 0.22F}, points,
                          count);
    }
    for (int c = 0; c < l->image->channel_count; c++) {
        gi_plot_style style = {.ink = gi_plot_ink_of(l->image->channels[c].name), .size = 1.25F};
        size_t count = outline(l, c, points);
        gi_plot_add_shape(&l->layers->curves, GI_PLOT_LINE, style, points, count);
    }
}

// ---- all of it ----------------------------------------------------------------------------------------------------

static void choose_scale(layout *l) {
    double limit = gi_plot_limit(&l->columns, l->image->channel_count);
    l->step = gi_plot_nice_step(limit > 0 ? limit : 1, Y_STEPS);
    // Half a step is as good an end as a whole one.
    l->top = l->step;
    for (int halves = 2; l->top < limit; halves++) l->top = halves * l->step / 2 * (1 + 1e-9);
}

void gi_plot_layout(gi_plot_layers *layers, const gi_report_image *image, gi_plot_form form) {
    layout l = {.layers = layers, .form = &gi_plot_forms[form], .image = image};
    gi_plot_columns_of(image, &l.columns);
    choose_scale(&l);
    l.left = left_of(&l);
    l.right = l.form->width - l.form->right;
    find_marks(&l);
    l.above = l.form->head + (l.mark_rows ? 5 + (float)l.mark_rows * label_height(&l) : 0);
    l.base = l.form->height - (l.form->titles ? 48 : 26);
    if (form == GI_PLOT_PAGE) l.base -= gi_plot_table_height(image);
    *layers = (gi_plot_layers){.left = l.left, .right = l.right, .top = l.above, .base = l.base, .cut = l.mark_count};
    add_y_axis(&l);
    add_curves(&l);
    add_frame(&l);
    add_x_axis(&l);
    add_marks(&l);
}

void gi_plot_layers_free(gi_plot_layers *layers) {
    gi_buffer_free(&layers->below);
    gi_buffer_free(&layers->curves);
    gi_buffer_free(&layers->above);
}
