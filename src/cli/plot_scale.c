// What the axes of a plot show: columns, the height of the scale, round steps.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot.h"
#include "core/scan.h"

// A column that is so many times the next smaller one towers over it ...
static const double tower = 3;
// ... when it is among few: at most so many a channel, and one of ten that are in use ...
enum { TOWERS = 4, USED_FOR_EACH_TOWER = 10 };
// ... and the others are worth a look: so much of all samples.
static const double worth = 0.01;

static uint32_t bins_a_column(const gi_report_image *image) {
    return (image->bins + GI_PLOT_COLUMNS - 1) / GI_PLOT_COLUMNS;
}

uint32_t gi_plot_column_count(const gi_report_image *image) {
    const uint32_t group = bins_a_column(image);
    return (image->bins + group - 1) / group;
}

void gi_plot_columns_of(const gi_report_image *image, gi_plot_columns *columns) {
    memset(columns, 0, sizeof *columns);
    const uint32_t group = bins_a_column(image);
    columns->count = gi_plot_column_count(image);
    for (uint32_t i = 0; i < columns->count; i++) {
        uint32_t unused;
        gi_report_bin_range(image->levels, image->bins, i * group, &columns->edges[i], &unused);
    }
    columns->edges[columns->count] = image->levels;
    for (int c = 0; c < image->channel_count; c++) {
        const uint64_t *counts = image->channels[c].counts;
        uint64_t sums[GI_PLOT_COLUMNS] = {0}, all = 0;
        for (uint32_t i = 0; i < columns->count; i++) {
            sums[i] = gi_reduce_counts(counts + columns->edges[i], columns->edges[i + 1] - columns->edges[i]);
            all += sums[i];
        }
        for (uint32_t i = 0; i < columns->count; i++) columns->shares[c][i] = all ? (double)sums[i] / (double)all : 0;
    }
}

static int falling(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

double gi_plot_limit(const gi_plot_columns *columns, int channels) {
    double heights[GI_REPORT_CHANNELS * GI_PLOT_COLUMNS];
    size_t used = 0;
    double sum = 0;
    for (int c = 0; c < channels; c++)
        for (uint32_t i = 0; i < columns->count; i++)
            if (columns->shares[c][i] > 0) heights[used++] = columns->shares[c][i];
    if (used == 0) return 0;
    qsort(heights, used, sizeof *heights, falling);
    size_t most = (size_t)channels * TOWERS;
    if (most > used / USED_FOR_EACH_TOWER) most = used / USED_FOR_EACH_TOWER;
    for (size_t i = most; i < used; i++) sum += heights[i];
    // The lowest gap counts: all above it are the few.
    for (size_t i = most; i > 0; sum += heights[--i])
        if (heights[i - 1] > tower * heights[i] && sum >= worth * channels) return heights[i];
    return heights[0];
}

double gi_plot_nice_step(double limit, int steps) {
    double raw = limit / steps, power = pow(10, floor(log10(raw)));
    static const double factors[] = {1, 2, 5};
    for (int i = 0; i < 3; i++)
        if (factors[i] * power >= raw * (1 - 1e-9)) return factors[i] * power;
    return 10 * power;
}

int gi_plot_decimals(double step) {
    int decimals = (int)ceil(-log10(step) - 1e-9);
    return decimals < 0 ? 0 : decimals;
}

void gi_plot_add_number(gi_buffer *text, uint64_t number) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) gi_buffer_puts(text, " ");
        gi_buffer_add(text, &digits[i], 1);
    }
}

void gi_plot_add_share(gi_buffer *text, uint64_t count, uint64_t of) {
    double percent = of ? 100.0 * (double)count / (double)of : 0;
    if (count && percent < 0.005)
        gi_buffer_puts(text, "< 0.01%");
    else
        gi_buffer_printf(text, "%.2f%%", percent);
}
