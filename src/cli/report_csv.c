// Histogram reports as a tidy table; the columns are described in report.h.
#include <string.h>

#include "cli/report.h"
#include "core/scan.h"

static void add_name(gi_buffer *text, const char *name) {
    if (!strpbrk(name, ",\"\r\n")) {
        gi_buffer_puts(text, name);
        return;
    }
    gi_buffer_puts(text, "\"");
    for (; *name; name++) {
        if (*name == '"') gi_buffer_puts(text, "\"");
        gi_buffer_add(text, name, 1);
    }
    gi_buffer_puts(text, "\"");
}

static void add_channel(gi_buffer *text, const gi_report_image *image, const char *name,
                        const gi_report_channel *channel) {
    for (uint32_t b = 0; b < image->bins; b++) {
        uint32_t first, last;
        gi_report_bin_range(image->levels, image->bins, b, &first, &last);
        const uint64_t count = gi_reduce_counts(channel->counts + first, last - first + 1);
        add_name(text, name);
        gi_buffer_add(text, ",", 1);
        gi_buffer_puts(text, channel->name);
        const uint64_t numbers[] = {b, first, last, count};
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
            gi_buffer_add(text, ",", 1);
            gi_buffer_number(text, numbers[i]);
        }
        gi_buffer_add(text, "\n", 1);
    }
}

static void add_image(gi_buffer *text, const gi_report_image *image, const gi_terminal *terminal) {
    gi_buffer safe = {0};
    if (terminal->there) gi_buffer_safe(&safe, image->file);
    text->failed = text->failed || safe.failed;
    const char *name = safe.data ? safe.data : image->file;
    for (int c = 0; c < image->channel_count; c++) add_channel(text, image, name, &image->channels[c]);
    gi_buffer_free(&safe);
}

const gi_report_style gi_report_csv = {.word = "csv", .head = "file,channel,bin,from,to,count\n", .image = add_image};
