// Histogram reports for people: sizes, statistics, bar plots.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot.h"
#include "cli/report.h"
#include "core/histogram.h"
#include "core/text.h"

enum { TABLE_WIDTH = 80 };

static void add_heading(gi_buffer *text, const gi_report_image *image) {
    gi_buffer_safe(text, image->file);
    if (image->files) {
        gi_buffer_printf(text, ": %zu image%s, %llu pixel%s\n\n", image->files, gi_plural(image->files),
                         (unsigned long long)image->pixels, gi_plural(image->pixels));
        return;
    }
    gi_buffer_printf(text, ": %u x %u, %s, %llu pixel%s\n\n", image->width, image->height,
                     gi_channels_name(image->channel_count), (unsigned long long)image->pixels,
                     gi_plural(image->pixels));
}

static void add_levels(gi_buffer *text, const gi_report_image *image, const gi_statistics *statistics) {
    gi_buffer_puts(text, "         min");
    for (int i = 0; i < GI_PERCENTILE_COUNT; i++) {
        if (gi_percentile_points[i] > 50 && gi_percentile_points[i - 1] < 50) gi_buffer_puts(text, " median");
        gi_buffer_printf(text, "%5d%%", gi_percentile_points[i]);
    }
    gi_buffer_puts(text, "   max     mean       std\n");
    for (int c = 0; c < image->channel_count; c++) {
        const gi_statistics *s = &statistics[c];
        gi_buffer_printf(text, "%-6s%6u", image->channels[c].name, s->min);
        for (int i = 0; i < GI_PERCENTILE_COUNT; i++) {
            if (gi_percentile_points[i] > 50 && gi_percentile_points[i - 1] < 50)
                gi_buffer_printf(text, "%7u", s->median);
            gi_buffer_printf(text, "%6u", s->percentiles[i]);
        }
        gi_buffer_printf(text, "%6u%9.2f%10.2f\n", s->max, s->mean, s->std);
    }
}

static void add_share(gi_buffer *text, uint64_t count, uint64_t of) {
    gi_buffer share = {0};
    gi_plot_add_share(&share, count, of);
    gi_buffer_printf(text, " %13llu (%7s)", (unsigned long long)count, share.failed ? "" : share.data);
    gi_buffer_free(&share);
}

static void add_clipping(gi_buffer *text, const gi_report_image *image, const gi_statistics *statistics) {
    char highest[32];
    snprintf(highest, sizeof highest, "pixels at %u", image->levels - 1);
    gi_buffer_printf(text, "\n       entropy   Otsu %24s%24s\n", "pixels at 0", highest);
    for (int c = 0; c < image->channel_count; c++) {
        const gi_statistics *s = &statistics[c];
        gi_buffer_printf(text, "%-6s%8.4f%7u ", image->channels[c].name, s->entropy, s->otsu);
        add_share(text, s->clipped_shadows, s->pixels);
        add_share(text, s->clipped_highlights, s->pixels);
        gi_buffer_puts(text, "\n");
    }
}

// ---- narrow terminals ---------------------------------------------------------------------------------------------

// Rows of a table that is turned, the label of each before its values.
enum { CELL = 24, ROWS = 12 + GI_PERCENTILE_COUNT, CHANNEL_GAP = 2, LABEL = 8 };

typedef struct turned {
    char labels[ROWS][CELL], cells[GI_REPORT_CHANNELS][ROWS][CELL];
    int rows;
} turned;

static void put(turned *t, int channel, const char *label, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// The next row's label and its value in a channel.
static void put(turned *t, int channel, const char *label, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    snprintf(t->labels[t->rows], CELL, "%s", label);
    vsnprintf(t->cells[channel][t->rows++], CELL, format, arguments);
    va_end(arguments);
}

static void put_share(turned *t, int channel, const char *label, uint64_t count, uint64_t of) {
    gi_buffer share = {0};
    gi_plot_add_share(&share, count, of);
    put(t, channel, label, "%llu", (unsigned long long)count);
    put(t, channel, "", "%s", share.failed ? "" : share.data);
    gi_buffer_free(&share);
}

static void put_channel(turned *t, const gi_report_image *image, int channel, const gi_statistics *s) {
    char label[CELL];
    t->rows = 0;
    put(t, channel, "", "%s", image->channels[channel].name);
    put(t, channel, "min", "%u", s->min);
    for (int i = 0; i < GI_PERCENTILE_COUNT; i++) {
        if (gi_percentile_points[i] > 50 && gi_percentile_points[i - 1] < 50)
            put(t, channel, "median", "%u", s->median);
        snprintf(label, sizeof label, "%d%%", gi_percentile_points[i]);
        put(t, channel, label, "%u", s->percentiles[i]);
    }
    put(t, channel, "max", "%u", s->max);
    put(t, channel, "mean", "%.2f", s->mean);
    put(t, channel, "std", "%.2f", s->std);
    put(t, channel, "entropy", "%.4f", s->entropy);
    put(t, channel, "Otsu", "%u", s->otsu);
    put_share(t, channel, "at 0", s->clipped_shadows, s->pixels);
    snprintf(label, sizeof label, "at %u", image->levels - 1);
    put_share(t, channel, label, s->clipped_highlights, s->pixels);
}

static int column_width(const turned *t, int channel) {
    size_t width = 0;
    for (int r = 0; r < t->rows; r++)
        if (strlen(t->cells[channel][r]) > width) width = strlen(t->cells[channel][r]);
    return (int)width + CHANNEL_GAP;
}

// Both tables in one, with as many channels side by side as there is room for.
static void add_turned(gi_buffer *text, const gi_report_image *image, const gi_statistics *statistics, int width) {
    turned t = {.rows = 0};
    for (int c = 0; c < image->channel_count; c++) put_channel(&t, image, c, &statistics[c]);
    for (int first = 0, end; first < image->channel_count; first = end) {
        int taken = LABEL;
        for (end = first; end < image->channel_count; end++) {
            if (end > first && taken + column_width(&t, end) > width) break;
            taken += column_width(&t, end);
        }
        if (first) gi_buffer_puts(text, "\n");
        for (int r = 0; r < t.rows; r++) {
            gi_buffer_printf(text, "%-*s", LABEL, t.labels[r]);
            for (int c = first; c < end; c++) gi_buffer_printf(text, "%*s", column_width(&t, c), t.cells[c][r]);
            gi_buffer_puts(text, "\n");
        }
    }
}

static void add_image(gi_buffer *text, const gi_report_image *image, const gi_terminal *terminal) {
    gi_statistics statistics[GI_REPORT_CHANNELS];
    for (int c = 0; c < image->channel_count; c++)
        gi_statistics_of(image->channels[c].counts, image->levels, &statistics[c]);
    add_heading(text, image);
    if (terminal->width < TABLE_WIDTH) {
        add_turned(text, image, statistics, terminal->width);
    } else {
        add_levels(text, image, statistics);
        add_clipping(text, image, statistics);
    }
    for (int c = 0; c < image->channel_count; c++) {
        gi_buffer_puts(text, "\n");
        gi_report_plot(text, image, c, terminal);
    }
}

static void add_flaw(gi_buffer *text, const gi_report_flaw *flaw) {
    gi_buffer_puts(text, "  ");
    gi_buffer_safe(text, flaw->file);
    gi_buffer_puts(text, ": ");
    gi_buffer_safe(text, flaw->reason);
    gi_buffer_puts(text, "\n");
}

static void add_flaws(gi_buffer *text, const gi_report_flaws *flaws) {
    const bool missing = flaws->kind == GI_REPORT_MISSING;
    const unsigned long long count = flaws->count;
    if (flaws->total) {
        gi_buffer_printf(text,
                         missing ? "\n%llu file%s failed, and %s not in it\n" : "\n%llu file%s in it %s damaged\n",
                         count, gi_plural(count), count == 1 ? "is" : "are");
        return;
    }
    gi_buffer_puts(text, missing ? "\nnot in this report:\n" : "\ndamaged, and counted as far as decoded:\n");
    gi_buffer_add(text, flaws->all->data, flaws->all->size);
}

const gi_report_style gi_report_text = {
    .word = "txt", .between = "\n", .image = add_image, .flaw = add_flaw, .flaws = add_flaws};
