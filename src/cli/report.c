#include "cli/report.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/signals.h"
#include "run/output.h"

typedef enum turn { TURN_AWAITED = 0, TURN_HELD, TURN_PASSED } turn;

// Sums by channel name, so that gray and colour images add up side by side.
typedef struct sums {
    uint64_t *counts[GI_REPORT_CHANNELS]; // owned; NULL: no image had that channel
    char *first;                          // owned: the first image's name
    gi_report_image image;
} sums;

// What waits for its turn.
typedef struct held {
    gi_buffer text, row;
} held;

// What became of the flaws of a kind, until the end: their texts as they came, and where each lies.
typedef struct flaw_place {
    size_t index; // of the image
    size_t at, size;
} flaw_place;

typedef struct flaw_list {
    uint64_t count; // of those that reports to be merged told, too
    gi_buffer texts, places;
} flaw_list;

struct gi_report {
    gi_report_request request;
    const gi_report_style *style; // of the request
    gi_terminal terminal;
    gi_output *output; // NULL: standard output
    pthread_mutex_t lock;
    held *held;           // of each image
    unsigned char *turns; // of each image
    size_t next;          // whose turn it is
    size_t shown;         // images whose turn has come
    bool begun;           // the head is written
    gi_buffer rows;       // of the overview
    gi_buffer *parts;     // for gi_report_style.all, `shown` of them
    flaw_list flaws[GI_REPORT_FLAWS];
    gi_status status;
    gi_error err;
    sums total;
};

const char *const gi_report_channel_names[GI_REPORT_CHANNELS] = {"gray", "red", "green", "blue", "alpha"};

void gi_report_bin_range(uint32_t levels, uint32_t bins, uint32_t b, uint32_t *first, uint32_t *last) {
    // Level v is in bin v * bins / levels, so bin b begins at the smallest v with v * bins >= b * levels.
    *first = (uint32_t)(((uint64_t)b * levels + bins - 1) / bins);
    *last = (uint32_t)((((uint64_t)b + 1) * levels + bins - 1) / bins) - 1;
}

static gi_status write_bytes(void *context, const void *data, size_t size, gi_error *err) {
    gi_report *report = context;
    if (size == 0) return GI_OK;
    // Unbuffered, so that each report shows when its turn comes.
    if (!report->output)
        return gi_write_all(STDOUT_FILENO, data, size) ? GI_OK : gi_fail_errno(err, "cannot write", errno);
    gi_sink sink = gi_output_sink(report->output);
    return sink.write(sink.context, data, size, err);
}

static void put(gi_report *report, const void *data, size_t size) {
    if (report->status == GI_OK) report->status = write_bytes(report, data, size, &report->err);
}

static void put_string(gi_report *report, const char *string) {
    if (string) put(report, string, strlen(string));
}

static void put_head(gi_report *report) {
    if (!report->begun) put_string(report, report->style->head);
    if (!report->begun) put_string(report, report->style->more_head);
    report->begun = true;
}

static void fail_memory(gi_report *report) {
    if (report->status == GI_OK) report->status = gi_fail(&report->err, GI_ERR_MEMORY, "out of memory");
}

static void free_held(held *item) {
    gi_buffer_free(&item->text);
    gi_buffer_free(&item->row);
}

static void put_image(gi_report *report, held *item) {
    if (report->style->all) {
        report->parts[report->shown] = item->text;
        item->text = (gi_buffer){0};
    } else {
        if (report->begun) put_string(report, report->style->between);
        put_head(report);
        put(report, item->text.data, item->text.size);
    }
    gi_buffer_add(&report->rows, item->row.data, item->row.size);
    report->shown++;
    free_held(item);
}

static void put_turns(gi_report *report) {
    for (; report->next < report->request.count && report->turns[report->next] != TURN_AWAITED; report->next++) {
        held *item = &report->held[report->next];
        if (report->turns[report->next] == TURN_HELD) put_image(report, item);
    }
}

gi_status gi_report_open(const gi_report_request *request, gi_report **out, gi_error *err) {
    gi_report *report = calloc(1, sizeof *report);
    *out = report;
    if (!report) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    report->request = *request;
    report->style = request->style;
    report->terminal = gi_terminal_of(request->path ? -1 : STDOUT_FILENO);
    pthread_mutex_init(&report->lock, NULL);
    report->held = calloc(request->count + 1, sizeof *report->held);
    report->turns = calloc(request->count + 1, sizeof *report->turns);
    report->parts = calloc(request->count + 1, sizeof *report->parts);
    if (!report->held || !report->turns || !report->parts) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    if (report->style->most && request->count > report->style->most && !request->total)
        return gi_fail(err, GI_ERR_LIMIT, "a report as %s holds at most %zu images, not %zu; html holds any number",
                       report->style->word, report->style->most, request->count);
    if (!request->path) return GI_OK;
    gi_output_sweep_beside(request->path);
    return gi_output_open_cancellable(request->path, &gi_interrupt, &report->output, err);
}

static gi_report_image image_of(const gi_report *report, size_t index, const gi_measured *measured) {
    gi_report_image image = {0};
    const gi_histogram *histogram = measured->histogram;
    image.index = index;
    image.piped = report->request.piped;
    image.thumbnail = measured->thumbnail;
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
    while (c < GI_REPORT_CHANNELS - 1 && strcmp(gi_report_channel_names[c], channel->name) != 0) c++;
    if (!total->counts[c]) total->counts[c] = calloc(total->image.levels, sizeof *total->counts[c]);
    if (!total->counts[c]) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    // No count passes 64 bits where the sum of all pixels does not.
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
        return gi_fail(err, GI_ERR_FORMAT,
                       "%u levels of '%.150s' and %u of '%.150s' do not add up (--depth makes them the same)",
                       total->image.levels, total->first, image->levels, image->file);
    size_t files = image->files > 0 ? image->files : 1;
    if (image->pixels > UINT64_MAX - total->image.pixels || files > SIZE_MAX - total->image.files)
        return gi_fail(err, GI_ERR_LIMIT, "with '%.150s' the sum passes 64 bits", image->file);
    total->image.files += files;
    total->image.pixels += image->pixels;
    for (int c = 0; c < image->channel_count && status == GI_OK; c++)
        status = add_channel(total, &image->channels[c], err);
    return status;
}

static void make(const gi_report *report, const gi_report_image *image, held *item) {
    report->style->image(&item->text, image, &report->terminal);
    if (report->style->row) report->style->row(&item->row, image);
}

void gi_report_add(gi_report *report, size_t index, const gi_measured *measured) {
    gi_report_image image = image_of(report, index, measured);
    held made = {0};
    // Texts are smaller than the counts, so those out of turn wait as texts.
    if (!report->request.total) make(report, &image, &made);
    pthread_mutex_lock(&report->lock);
    if (made.text.failed || made.row.failed) fail_memory(report);
    if (report->status) {
        free_held(&made);
    } else if (report->request.total) {
        report->status = add_to_total(&report->total, &image, &report->err);
    } else {
        report->held[index] = made;
        report->turns[index] = TURN_HELD;
        put_turns(report);
    }
    pthread_mutex_unlock(&report->lock);
}

gi_status gi_report_add_up(gi_report *report, const gi_report_image *image, gi_error *err) {
    pthread_mutex_lock(&report->lock);
    if (report->status == GI_OK && report->request.bins > image->levels)
        report->status = gi_fail(&report->err, GI_ERR_USAGE, "hist bins=%u does not fit: there are %u levels",
                                 report->request.bins, image->levels);
    if (report->status == GI_OK) report->status = add_to_total(&report->total, image, &report->err);
    gi_status status = report->status;
    if (status && err) *err = report->err;
    pthread_mutex_unlock(&report->lock);
    return status;
}

static void add_flaw(gi_report *report, const gi_report_flaw *flaw) {
    flaw_list *list = &report->flaws[flaw->kind];
    list->count++;
    if (!report->style->flaw) return;
    flaw_place place = {flaw->index, list->texts.size, 0};
    report->style->flaw(&list->texts, flaw);
    place.size = list->texts.size - place.at;
    gi_buffer_add(&list->places, &place, sizeof place);
    if (list->texts.failed || list->places.failed) fail_memory(report);
}

void gi_report_pass(gi_report *report, size_t index, const char *file, const char *reason) {
    pthread_mutex_lock(&report->lock);
    if (report->turns[index] == TURN_AWAITED) {
        report->turns[index] = TURN_PASSED;
        add_flaw(report, &(gi_report_flaw){GI_REPORT_MISSING, file ? file : "-", reason, index, false});
    }
    put_turns(report);
    pthread_mutex_unlock(&report->lock);
}

void gi_report_damaged(gi_report *report, size_t index, const char *file, const char *damage) {
    pthread_mutex_lock(&report->lock);
    add_flaw(report, &(gi_report_flaw){GI_REPORT_DAMAGED, file ? file : "-", damage, index, !report->request.total});
    pthread_mutex_unlock(&report->lock);
}

void gi_report_unread(gi_report *report, const char *directory, const char *reason) {
    pthread_mutex_lock(&report->lock);
    add_flaw(report, &(gi_report_flaw){GI_REPORT_MISSING, directory, reason, SIZE_MAX, false}); // behind the files
    pthread_mutex_unlock(&report->lock);
}

gi_status gi_report_add_flaws(gi_report *report, gi_report_flaw_kind kind, uint64_t count, gi_error *err) {
    if (count > UINT64_MAX - report->flaws[kind].count)
        return gi_fail(err, GI_ERR_LIMIT, "the files that failed or are damaged pass 64 bits");
    report->flaws[kind].count += count;
    return GI_OK;
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
    held made = {0};
    image->file = "total";
    if (report->request.bins > 0) image->bins = report->request.bins;
    image->channel_count = 0;
    for (int c = 0; c < GI_REPORT_CHANNELS; c++) {
        if (!report->total.counts[c]) continue;
        gi_report_channel channel = {gi_report_channel_names[c], report->total.counts[c]};
        image->channels[image->channel_count++] = channel;
    }
    make(report, image, &made);
    if (made.text.failed || made.row.failed) fail_memory(report);
    put_image(report, &made);
}

static int by_image(const void *a, const void *b) {
    const flaw_place *one = a, *other = b;
    if (one->index != other->index) return one->index < other->index ? -1 : 1;
    return (one->at > other->at) - (one->at < other->at);
}

// In the order of the images.
static void put_flaws(gi_report *report, gi_report_flaw_kind kind) {
    flaw_list *list = &report->flaws[kind];
    const size_t count = list->places.size / sizeof(flaw_place);
    flaw_place *places = (flaw_place *)(void *)list->places.data;
    gi_buffer all = {0}, text = {0};
    if (count > 1) qsort(places, count, sizeof *places, by_image);
    for (size_t i = 0; i < count; i++) gi_buffer_add(&all, list->texts.data + places[i].at, places[i].size);
    gi_buffer_free(&list->texts);
    gi_buffer_free(&list->places);
    const gi_report_flaws flaws = {kind, list->count, &all, report->request.total};
    if (flaws.count > 0) report->style->flaws(&text, &flaws);
    if (all.failed || text.failed) fail_memory(report);
    gi_buffer_free(&all);
    put(report, text.data, text.size);
    gi_buffer_free(&text);
}

static void put_end(gi_report *report) {
    const gi_report_style *style = report->style;
    put_head(report);
    put_string(report, style->close);
    if (style->overview) {
        gi_buffer text = {0};
        style->overview(&text, &report->rows, report->shown);
        if (text.failed) fail_memory(report);
        put(report, text.data, text.size);
        gi_buffer_free(&text);
    }
    for (int kind = 0; kind < GI_REPORT_FLAWS && style->flaws; kind++) put_flaws(report, (gi_report_flaw_kind)kind);
    put_string(report, style->foot);
}

gi_status gi_report_finish(gi_report *report, gi_error *err) {
    for (size_t i = 0; i < report->request.count; i++)
        if (report->turns[i] == TURN_AWAITED) report->turns[i] = TURN_PASSED;
    put_turns(report);
    if (report->total.image.files) put_total(report);
    if (!report->style->all) {
        put_end(report);
    } else if (report->status == GI_OK) {
        gi_sink sink = {write_bytes, report};
        report->status = report->style->all(report->parts, report->shown, &sink, &report->err);
    }
    if (report->status == GI_OK && report->output)
        report->status = gi_output_commit(report->output, report->request.no_clobber, &report->err);
    if (report->status && err) *err = report->err;
    return report->status;
}

void gi_report_close(gi_report *report) {
    if (!report) return;
    gi_output_close(report->output);
    for (size_t i = 0; report->held && i < report->request.count; i++) free_held(&report->held[i]);
    for (int kind = 0; kind < GI_REPORT_FLAWS; kind++) {
        gi_buffer_free(&report->flaws[kind].texts);
        gi_buffer_free(&report->flaws[kind].places);
    }
    for (size_t i = 0; i < report->shown && report->parts; i++) gi_buffer_free(&report->parts[i]);
    for (int c = 0; c < GI_REPORT_CHANNELS; c++) free(report->total.counts[c]);
    free(report->total.first);
    gi_buffer_free(&report->rows);
    free(report->held);
    free(report->turns);
    free(report->parts);
    pthread_mutex_destroy(&report->lock);
    free(report);
}
