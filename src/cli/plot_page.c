// A page with a plot: its title above, statistics below.
#include <stdio.h>

#include "cli/plot.h"
#include "core/histogram.h"

enum { ROW_HEIGHT = 19 };

float gi_plot_table_height(const gi_report_image *image) {
    return (float)(ROW_HEIGHT * (image->channel_count + 1) + 8);
}

void gi_plot_add_size(gi_buffer *text, const gi_report_image *image) {
    if (image->files)
        gi_buffer_printf(text, "%zu image%s, ", image->files, image->files == 1 ? "" : "s");
    else
        gi_buffer_printf(text, "%u x %u, %s, ", image->width, image->height, gi_channels_name(image->channel_count));
    gi_plot_add_number(text, image->pixels);
    gi_buffer_puts(text, image->pixels == 1 ? " pixel" : " pixels");
}

static void add_title(gi_buffer *plot, const gi_report_image *image) {
    gi_buffer text = {0};
    gi_buffer_safe(&text, image->file);
    gi_plot_style style = {.ink = GI_PLOT_INK, .size = 18, .bold = true, .room = GI_PLOT_WIDTH - 44};
    if (!text.failed) gi_plot_add_text(plot, style, (gi_xy){24, 32}, text.data ? text.data : "");
    gi_buffer_free(&text);
    gi_plot_add_size(&text, image);
    style = (gi_plot_style){.ink = GI_PLOT_MUTED, .size = 13};
    if (!text.failed) gi_plot_add_text(plot, style, (gi_xy){24, 53}, text.data);
    gi_buffer_free(&text);
}

enum { CELLS = 10, CELL = 64, SHARE_ROOM = 160 };
static const float cell_letters = 12.5F;
static const int cell_right[CELLS] = {0, 204, 278, 344, 420, 496, 578, 640, 810, 980}; // the first begins at its left

static void add_cells(gi_buffer *plot, float y, gi_plot_ink ink, char cells[CELLS][CELL]) {
    for (int i = 0; i < CELLS; i++) {
        gi_plot_style style = {.ink = ink, .size = cell_letters, .anchor = i ? GI_PLOT_END : GI_PLOT_START};
        gi_plot_add_text(plot, style, (gi_xy){i ? (float)cell_right[i] : 42, y}, cells[i]);
    }
}

static bool fits(const char *text) { return gi_plot_text_width(text, cell_letters) <= SHARE_ROOM; }

// The count and its share; where both are too wide the one that is not.
static void put_share(char *cell, uint64_t count, uint64_t of) {
    gi_buffer number = {0}, share = {0};
    gi_plot_add_number(&number, count);
    gi_plot_add_share(&share, count, of);
    if (!number.failed && !share.failed) {
        snprintf(cell, CELL, "%s (%s)", number.data, share.data);
        if (!fits(cell)) snprintf(cell, CELL, "%s", fits(number.data) ? number.data : share.data);
    }
    gi_buffer_free(&number);
    gi_buffer_free(&share);
}

static void add_statistics(gi_buffer *plot, const gi_report_image *image, float y) {
    char cells[CELLS][CELL] = {"", "min", "median", "max", "mean", "std", "entropy", "Otsu", "pixels at 0", ""};
    snprintf(cells[CELLS - 1], sizeof cells[0], "pixels at %u", image->levels - 1);
    add_cells(plot, y, GI_PLOT_MUTED, cells);
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
        add_cells(plot, y, GI_PLOT_INK, cells);
        gi_plot_add_box(plot, gi_plot_ink_of(image->channels[c].name), (gi_xy){24, y - 10}, (gi_xy){35, y + 1});
    }
}

static void add_layer(gi_buffer *plot, const gi_buffer *layer) {
    gi_buffer_add(plot, layer->data, layer->size);
    if (layer->failed) plot->failed = true;
}

void gi_plot_layout_page(gi_buffer *plot, const gi_report_image *image) {
    const gi_plot_style note = {.ink = GI_PLOT_MUTED, .size = 12, .anchor = GI_PLOT_END};
    gi_plot_layers layers;
    gi_plot_layout(&layers, image, GI_PLOT_PAGE);
    gi_plot_add_box(plot, GI_PLOT_PAPER, (gi_xy){0, 0}, (gi_xy){GI_PLOT_WIDTH, GI_PLOT_HEIGHT});
    add_layer(plot, &layers.below);
    add_layer(plot, &layers.curves);
    add_layer(plot, &layers.above);
    if (layers.cut) gi_plot_add_text(plot, note, (gi_xy){layers.right, 53}, gi_plot_cut_note);
    add_title(plot, image);
    add_statistics(plot, image, layers.base + 62);
    gi_plot_layers_free(&layers);
}

void gi_plot_layout_empty(gi_buffer *plot) {
    gi_plot_add_box(plot, GI_PLOT_PAPER, (gi_xy){0, 0}, (gi_xy){GI_PLOT_WIDTH, GI_PLOT_HEIGHT});
    gi_plot_add_text(plot, (gi_plot_style){.ink = GI_PLOT_MUTED, .size = 18, .anchor = GI_PLOT_MIDDLE},
                     (gi_xy){GI_PLOT_WIDTH / 2, GI_PLOT_HEIGHT / 2}, "no images");
}
