// The bars of one channel: a column for one or more bins, as high as what they hold together.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "core/scan.h"
#include "core/text.h"

enum {
    ROWS = 6,
    AXIS_COLUMNS = 9, // "100.00% |"
    MAX_COLUMNS = 256
};

typedef struct plot {
    double heights[MAX_COLUMNS]; // counts
    double highest;
    double top; // what the highest row stands for; less than highest where spikes are cut
    uint32_t levels;
    int columns;      // filled above
    int column_width; // characters a column
    uint64_t total;
    bool utf8;
    const char *colour; // escape that begins the bars' colour; "" for none
} plot;

static int by_height(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// A few spikes (white paper, a flat sky) would press all else to the ground: they are cut and marked.
static double top_of(const plot *p) {
    double sorted[MAX_COLUMNS];
    memcpy(sorted, p->heights, sizeof sorted);
    qsort(sorted, (size_t)p->columns, sizeof sorted[0], by_height);
    double usual = sorted[(p->columns - 1) * 95 / 100];
    bool spikes = p->columns >= 32 && usual > 0 && p->highest > 3 * usual;
    return spikes ? 1.5 * usual : p->highest;
}

static void fill(plot *p, const gi_report_image *image, const uint64_t *counts, int width) {
    int room = width - AXIS_COLUMNS - 1;
    room = room < 8 ? 8 : room > MAX_COLUMNS ? MAX_COLUMNS : room;
    uint32_t group = (image->bins + (uint32_t)room - 1) / (uint32_t)room;
    p->columns = (int)((image->bins + group - 1) / group);
    p->column_width = room / p->columns;
    p->levels = image->levels;
    for (int i = 0; i < p->columns; i++) {
        uint32_t begin = (uint32_t)i * group, end = begin + group < image->bins ? begin + group : image->bins;
        uint32_t first, last, unused;
        gi_report_bin_range(image->levels, image->bins, begin, &first, &unused);
        gi_report_bin_range(image->levels, image->bins, end - 1, &unused, &last);
        const uint64_t count = gi_reduce_counts(counts + first, last - first + 1);
        p->total += count;
        p->heights[i] = (double)count;
        if (p->heights[i] > p->highest) p->highest = p->heights[i];
    }
    p->top = top_of(p);
}

static double share(const plot *p, double count) { return p->total ? 100.0 * count / (double)p->total : 0; }

// What a column shows in a row (0 at the bottom). A bin in use always shows, however few its counts.
static const char *block(const plot *p, double height, int row) {
    static const char *const eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    int steps = p->utf8 ? 8 : 2;
    if (row == ROWS - 1 && height > p->top) return p->utf8 ? "▲" : "^";
    double full = p->top > 0 ? (height < p->top ? height / p->top : 1) * ROWS * steps : 0;
    int units = (int)(full + 0.5) - row * steps;
    if (row == 0 && height > 0 && units < 1) units = 1;
    units = units < 0 ? 0 : units > steps ? steps : units;
    return p->utf8 ? eighths[units] : units == 0 ? " " : units == 1 ? "." : "#";
}

// What the highest row stands for, in the width of "100.00%": two digits that count, however small it is.
static void add_top(gi_buffer *text, const plot *p) {
    double percent = share(p, p->top);
    if (percent >= 0.095 || percent <= 0)
        gi_buffer_printf(text, "%6.2f%%", percent);
    else if (percent >= 0.00095)
        gi_buffer_printf(text, "%6.4f%%", percent);
    else
        gi_buffer_printf(text, "%6.0e%%", percent);
}

static void add_row(gi_buffer *text, const plot *p, int row) {
    size_t start = text->size;
    if (row == ROWS - 1) {
        add_top(text, p);
        gi_buffer_puts(text, p->utf8 ? " ┤" : " |");
    } else {
        gi_buffer_printf(text, "        %s", p->utf8 ? "│" : "|");
    }
    gi_buffer_puts(text, p->colour);
    size_t end = text->size;
    for (int i = 0; i < p->columns; i++) {
        const char *shown = block(p, p->heights[i], row);
        gi_buffer_repeat(text, shown, (size_t)p->column_width);
        if (*shown != ' ') end = text->size;
    }
    if (text->failed) return;
    text->size = end > start ? end : start; // no blanks at the end of a line
    gi_buffer_puts(text, *p->colour ? "\033[0m\n" : "\n");
}

// Into how many parts labels divide an axis of so many characters: quarters, halves or none, so that a blank stays
// between two of `digits` digits.
static int parts_of(int width, int digits) {
    int parts = 4;
    while (parts > 1 && width * (parts - 1) / parts + digits + 1 > width - digits) parts /= 2;
    return parts;
}

// Levels under the axis: the ends in any case, and what lies between where there is room.
static void add_axis(gi_buffer *text, const plot *p) {
    char last[16];
    int width = p->columns * p->column_width, at = 0;
    int digits = snprintf(last, sizeof last, "%u", p->levels - 1), parts = parts_of(width, digits);
    gi_buffer_printf(text, "     0%% %s", p->utf8 ? "└" : "+");
    gi_buffer_repeat(text, p->utf8 ? "─" : "-", (size_t)width);
    gi_buffer_printf(text, "\n%*s", AXIS_COLUMNS, "");
    for (int part = 0; part < parts; part++) {
        int column = width * part / parts;
        gi_buffer_printf(text, "%*s", column - at, "");
        size_t before = text->size;
        gi_buffer_printf(text, "%u", p->levels / (uint32_t)parts * (uint32_t)part);
        at = column + (int)(text->size - before);
    }
    int pad = width - digits - at;
    gi_buffer_printf(text, "%*s%s\n", pad > 1 ? pad : 1, "", last);
}

static const char *colour_of(const char *channel) {
    static const char *const colours[][2] = {{"red", "\033[31m"}, {"green", "\033[32m"}, {"blue", "\033[34m"}};
    for (size_t i = 0; i < sizeof colours / sizeof colours[0]; i++)
        if (strcmp(channel, colours[i][0]) == 0) return colours[i][1];
    return "";
}

static void add_heading(gi_buffer *text, const plot *p, const char *channel, int width) {
    gi_buffer words = {0};
    gi_buffer_printf(&words, "%s, share of the pixels ", channel);
    if ((uint32_t)p->columns == p->levels)
        gi_buffer_puts(&words, "at each level");
    else
        gi_buffer_printf(&words, "in %s%d bin%s", p->columns == 1 ? "" : "each of ", p->columns,
                         gi_plural((unsigned)p->columns));
    if (p->top < p->highest) gi_buffer_printf(&words, " (%s: up to %.2f%%)", p->utf8 ? "▲" : "^", share(p, p->highest));
    if (!words.failed) gi_buffer_wrap(text, words.data, 0, 2, width);
    text->failed = text->failed || words.failed;
    gi_buffer_free(&words);
    gi_buffer_puts(text, "\n");
}

void gi_report_plot(gi_buffer *text, const gi_report_image *image, int channel, const gi_terminal *terminal) {
    plot p = {0};
    p.utf8 = terminal->utf8;
    p.colour = terminal->colour ? colour_of(image->channels[channel].name) : "";
    fill(&p, image, image->channels[channel].counts, terminal->width);
    add_heading(text, &p, image->channels[channel].name, terminal->width);
    for (int row = ROWS - 1; row >= 0; row--) add_row(text, &p, row);
    add_axis(text, &p);
}
