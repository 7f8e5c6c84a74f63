// Histogram reports as JSON; the schema is described in report.h.
#include "cli/json.h"
#include "cli/report.h"
#include "core/histogram.h"
#include "core/scan.h"

static void add_bins(gi_buffer *text, const gi_report_image *image, const uint64_t *counts) {
    gi_buffer_puts(text, "\"bins\":[");
    for (uint32_t b = 0; b < image->bins; b++) {
        uint32_t first, last;
        gi_report_bin_range(image->levels, image->bins, b, &first, &last);
        if (b) gi_buffer_add(text, ",", 1);
        gi_buffer_number(text, gi_reduce_counts(counts + first, last - first + 1));
    }
    gi_buffer_puts(text, "]");
}

static void add_channel(gi_buffer *text, const gi_report_image *image, const gi_report_channel *channel) {
    gi_statistics s;
    gi_statistics_of(channel->counts, image->levels, &s);
    gi_buffer_printf(text, "{\"name\":\"%s\",", channel->name);
    add_bins(text, image, channel->counts);
    // 17 digits read back as the same double; the numeric locale is always "C" in this program.
    gi_buffer_printf(text, ",\n\"count\":%llu,\"min\":%u,\"max\":%u,\"mean\":%.17g,\"std\":%.17g,\"median\":%u,",
                     (unsigned long long)s.pixels, s.min, s.max, s.mean, s.std, s.median);
    gi_buffer_puts(text, "\"percentiles\":{");
    for (int i = 0; i < GI_PERCENTILE_COUNT; i++)
        gi_buffer_printf(text, "%s\"%d\":%u", i ? "," : "", gi_percentile_points[i], s.percentiles[i]);
    gi_buffer_printf(text, "},\"entropy\":%.17g,\"otsu\":%u,\"clipped_shadows\":%llu,\"clipped_highlights\":%llu}",
                     s.entropy, s.otsu, (unsigned long long)s.clipped_shadows,
                     (unsigned long long)s.clipped_highlights);
}

static void add_image(gi_buffer *text, const gi_report_image *image, const gi_terminal *terminal) {
    (void)terminal;
    gi_buffer_puts(text, "{");
    gi_json_add_name(text, "file", image->file);
    if (image->files)
        gi_buffer_printf(text, ",\"files\":%zu", image->files);
    else
        gi_buffer_printf(text, ",\"width\":%u,\"height\":%u", image->width, image->height);
    gi_buffer_printf(text, ",\"pixels\":%llu,\"channels\":[\n", (unsigned long long)image->pixels);
    for (int c = 0; c < image->channel_count; c++) {
        if (c) gi_buffer_puts(text, ",\n");
        add_channel(text, image, &image->channels[c]);
    }
    gi_buffer_puts(text, "]}");
}

static void add_flaw(gi_buffer *text, const gi_report_flaw *flaw) {
    gi_buffer_puts(text, ",\n{");
    gi_json_add_name(text, "file", flaw->file);
    gi_buffer_puts(text, ",\"reason\":");
    gi_json_add_string(text, flaw->reason);
    gi_buffer_puts(text, "}");
}

static void add_flaws(gi_buffer *text, const gi_report_flaws *flaws) {
    const char *key = flaws->kind == GI_REPORT_MISSING ? "failed" : "damaged";
    if (flaws->total) {
        gi_buffer_printf(text, ",\n\"%s_files\":%llu", key, (unsigned long long)flaws->count);
        return;
    }
    gi_buffer_printf(text, ",\n\"%s\":[", key);
    if (flaws->all->size > 0)
        gi_buffer_add(text, flaws->all->data + 1, flaws->all->size - 1); // without the first comma
    gi_buffer_puts(text, "]");
}

const gi_report_style gi_report_json = {.word = "json",
                                        .head = "{\"schema\":1,\"images\":[\n",
                                        .between = ",\n",
                                        .close = "\n]",
                                        .foot = "}\n",
                                        .image = add_image,
                                        .flaw = add_flaw,
                                        .flaws = add_flaws};
