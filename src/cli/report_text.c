// Histogram reports for people: sizes, statistics, bar plots.
#include <stdio.h>

#include "cli/plot.h"
#include "cli/report.h"
#include "core/histogram.h"

static void add_heading(gi_buffer *text, const gi_report_image *image) {
    gi_buffer_safe(text, image->file);
    if (image->files) {
        gi_buffer_printf(text, ": %zu image%s, %llu pixels\n\n", image->files, image->files == 1 ? "" : "s",
                         (unsigned long long)image->pixels);
        return;
    }
    gi_buffer_printf(text, ": %u x %u, %s, %llu pixels\n\n", image->width, image->height,
                     gi_channels_name(image->channel_count), (unsigned long long)image->pixels);
}

static void add_levels(gi_buffer *text, const gi_report_image *image, const gi_statistics *statistics) {
    gi_buffer_puts(text, "         min");
    for (int i = 0; i < GI_PERCENTILE_COUNT; i++) {
        if (gi_percentile_points[i] > 50 && gi_percentile_points[i - 1] < 50) gi_buffer_puts(text, " median");
        gi_buffer_printf(text, "%5d%%", gi_percentile_points[i]);
    }
    gi_buffer_puts(text, "   max      mean       std\n");
    for (int c = 0; c < image->channel_count; c++) {
        const gi_statistics *s = &statistics[c];
        gi_buffer_printf(text, "%-6s%6u", image->channels[c].name, s->min);
        for (int i = 0; i < GI_PERCENTILE_COUNT; i++) {
            if (gi_percentile_points[i] > 50 && gi_percentile_points[i - 1] < 50)
                gi_buffer_printf(text, "%7u", s->median);
            gi_buffer_printf(text, "%6u", s->percentiles[i]);
        }
        gi_buffer_printf(text, "%6u%10.2f%10.2f\n", s->max, s->mean, s->std);
    }
}

static void add_share(gi_buffer *text, uint64_t count, uint64_t of) {
    gi_buffer share = {0};
    gi_plot_add_share(&share, count, of);
    gi_buffer_printf(text, "%14llu (%7s)", (unsigned long long)count, share.failed ? "" : share.data);
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

static void add_image(gi_buffer *text, const gi_report_image *image, const gi_terminal *terminal) {
    gi_statistics statistics[GI_REPORT_CHANNELS];
    for (int c = 0; c < image->channel_count; c++)
        gi_statistics_of(image->channels[c].counts, image->levels, &statistics[c]);
    add_heading(text, image);
    add_levels(text, image, statistics);
    add_clipping(text, image, statistics);
    for (int c = 0; c < image->channel_count; c++) {
        gi_buffer_puts(text, "\n");
        gi_report_plot(text, image, c, terminal);
    }
}

const gi_report_style gi_report_text = {.word = "txt", .between = "\n", .image = add_image};
