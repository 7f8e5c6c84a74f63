#include "cli/report.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "run/output.h"

typedef enum turn { TURN_AWAITED = 0, TURN_HELD, TURN_PASSED } turn;

// Sums by channel name, so that gray and colour images add up side by side.
typedef struct sums {
    uint64_t *counts[GI_REPORT_CHANNELS]; // owned; NULL: no image had that channel
    char *first;                          // owned: the first image's name
    gi_report_image image;
} sums;

struct gi_report {
    gi_report_request request;
    const gi_report_style *style;
    gi_terminal terminal;
    gi_output *output; // NULL: standard output
    pthread_mutex_t lock;
    gi_buffer *held;      // texts that wait for their turn
    unsigned char *turns; // of each image
    size_t next;          // whose turn it is
    bool begun;           // the head is written
    gi_status status;
    gi_error err;
    sums total;
};

static const char *const format_words[] = {"txt", "json", "csv"}; // by gi_report_format
static const char *const channel_names[GI_REPORT_CHANNELS] = {"gray", "red", "green", "blue", "alpha"};

bool gi_report_format_of_word(const char *word, gi_report_format *format) {
    for (int i = 0; i < 3; i++) {
        if (strcasecmp(word, format_words[i]) != 0) continue;
        *format = (gi_report_format)i;
        return true;
    }
    return false;
}

bool gi_report_format_of_name(const char *name, gi_report_format *format) {
    const char *dot = strrchr(name, '.');
    return dot && gi_report_format_of_word(dot + 1, format);
}

void gi_report_bin_range(uint32_t levels, uint32_t bins, uint32_t b, uint32_t *first, uint32_t *last) {
    // Level v is in bin v * bins / levels, so bin b begins at the smallest v with v * bins >= b * levels.
    *first = (uint32_t)(((uint64_t)b * levels + bins - 1) / bins);
    *last = (uint32_t)((((uint64_t)b + 1) * levels + bins - 1) / bins) - 1;
}

static void put(gi_report *report, const void *data, size_t size) {
    if (report->status || size == 0) return;
    if (!report->output) {
        // Unbuffered, so that each report shows when its turn comes.
        if (!gi_write_all(STDOUT_FILENO, data, size))
            report->status = gi_fail_errno(&report->err, "cannot write", errno);
        return;
    }
    gi_sink sink = gi_output_sink(report->output);
    report->status = sink.write(sink.context, data, size, &report->err);
}

static void put_image(gi_report *report, gi_buffer *text) {
    const char *between = report->begun ? report->style->between : report->style->head;
    put(report, between, strlen(between));
    report->begun = true;
    put(report, text->data, text->size);
    gi_buffer_free(text);
}

static void put_turns(gi_report *report) {
    for (; report->next < report->request.count && report->turns[report->next] != TURN_AWAITED; report->next++)
        if (report->turns[report->next] == TURN_HELD) put_image(report, &report->held[report->next]);
}

static void fail_memory(gi_report *report) {
    if (report->status == GI_OK) report->status = gi_fail(&report->err, GI_ERR_MEMORY, "out of memory");
}

static const gi_report_style *style_of(gi_report_format format) {
    return format == GI_REPORT_JSON ? &gi_report_json : format == GI_REPORT_CSV ? &gi_report_csv : &gi_report_text;
}

gi_status gi_report_open(const gi_report_request *request, gi_report **out, gi_error *err) {
    gi_report *report = calloc(1, sizeof *report);
    *out = report;
    if (!report) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    report->request = *request;
    report->style = style_of(request->format);
    report->terminal = gi_terminal_of(request->path ? -1 : STDOUT_FILENO);
    pthread_mutex_init(&report->lock, NULL);
    report->held = calloc(request->count + 1, sizeof *report->held);
    report->turns = calloc(request->count + 1, sizeof *report->turns);
    if (!report->held || !report->turns) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    return request->path ? gi_output_open(request->path, &report->output, err) : GI_OK;
}

static gi_report_image image_of(const gi_measured *measured) {
    gi_report_image image = {0};
    const gi_histogram *histogram = measured->histogram;
    image.file = measured->file ? measured->file : "-";
    image.width = measured->shape.width;
    image.height = measured->shape.height;
    image.pixels = (uint64_t)measured->shape.width * measured->shape.height;
    image.levels = histogram->levels;
    image.bins = measured->bins;
    image.channel_count = histogram->channels;
    for (int c = 0; c < histogram->channels; c++) {
        image.channels[c].name = gi_channel_name(histogram->channels, c);
        image.channels[c].counts = gi_histogram_channel(histogram, c);
    }
    return image;
}

static gi_status add_channel(sums *total, const gi_report_channel *channel, gi_error *err) {
    int c = 0;
    while (c < GI_REPORT_CHANNELS - 1 && strcmp(channel_names[c], channel->name) != 0) c++;
    if (!total->counts[c]) total->counts[c] = calloc(total->image.levels, sizeof *total->counts[c]);
    if (!total->counts[c]) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    for (uint32_t v = 0; v < total->image.levels; v++) total->counts[c][v] += channel->counts[v];
    return GI_OK;
}

static gi_status add_to_total(sums *total, const gi_report_image *image, gi_error *err) {
    gi_status status = GI_OK;
    if (!total->first) {
        total->first = strdup(image->file);
        total->image.levels = image->levels;
        total->image.bins = image->bins;
    }
    if (!total->first) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    if (total->image.levels != image->levels)
        return gi_fail(err, GI_ERR_FORMAT, "--total cannot add up %u levels of '%.150s' and %u of '%.150s'",
                       total->image.levels, total->first, image->levels, image->file);
    total->image.files++;
    total->image.pixels += image->pixels;
    for (int c = 0; c < image->channel_count && status == GI_OK; c++)
        status = add_channel(total, &image->channels[c], err);
    return status;
}

void gi_report_add(gi_report *report, size_t index, const gi_measured *measured) {
    gi_report_image image = image_of(measured);
    gi_buffer text = {0};
    // Texts are smaller than the counts, so those out of turn wait as texts.
    if (!report->request.total) report->style->image(&text, &image, &report->terminal);
    pthread_mutex_lock(&report->lock);
    if (text.failed) fail_memory(report);
    if (report->status) {
        gi_buffer_free(&text);
    } else if (report->request.total) {
        report->status = add_to_total(&report->total, &image, &report->err);
    } else {
        report->held[index] = text;
        report->turns[index] = TURN_HELD;
        put_turns(report);
    }
    pthread_mutex_unlock(&report->lock);
}

void gi_report_pass(gi_report *report, size_t index) {
    pthread_mutex_lock(&report->lock);
    if (report->turns[index] == TURN_AWAITED) report->turns[index] = TURN_PASSED;
    put_turns(report);
    pthread_mutex_unlock(&report->lock);
}

gi_status gi_report_state(gi_report *report, gi_error *err) {
    pthread_mutex_lock(&report->lock);
    gi_status status = report->status;
    if (status && err) *err = report->err;
    pthread_mutex_unlock(&report->lock);
    return status;
}

static void put_total(gi_report *report) {
    gi_report_image *image = &report->total.image;
    gi_buffer text = {0};
    image->file = "total";
    image->channel_count = 0;
    for (int c = 0; c < GI_REPORT_CHANNELS; c++) {
        if (!report->total.counts[c]) continue;
        gi_report_channel channel = {channel_names[c], report->total.counts[c]};
        image->channels[image->channel_count++] = channel;
    }
    report->style->image(&text, image, &report->terminal);
    if (text.failed) fail_memory(report);
    put_image(report, &text);
}

gi_status gi_report_finish(gi_report *report, gi_error *err) {
    for (size_t i = 0; i < report->request.count; i++)
        if (report->turns[i] == TURN_AWAITED) report->turns[i] = TURN_PASSED;
    put_turns(report);
    if (report->total.image.files) put_total(report);
    if (!report->begun) put(report, report->style->head, strlen(report->style->head));
    put(report, report->style->foot, strlen(report->style->foot));
    if (report->status == GI_OK && report->output)
        report->status = gi_output_commit(report->output, report->request.no_clobber, &report->err);
    if (report->status && err) *err = report->err;
    return report->status;
}

void gi_report_close(gi_report *report) {
    if (!report) return;
    gi_output_close(report->output);
    for (size_t i = 0; report->held && i < report->request.count; i++) gi_buffer_free(&report->held[i]);
    for (int c = 0; c < GI_REPORT_CHANNELS; c++) free(report->total.counts[c]);
    free(report->total.first);
    free(report->held);
    free(report->turns);
    pthread_mutex_destroy(&report->lock);
    free(report);
}
