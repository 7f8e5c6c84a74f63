#include "cli/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "core/scan.h"
#include "core/text.h"
#include "run/path.h"
#include "run/read.h"

enum { LEVELS_MOST = 65536 };

typedef struct channel {
    int index; // into gi_report_channel_names; -1: no name yet
    uint64_t *bins;
    uint32_t bin_count;
    uint64_t count;
    bool has_bins, has_count;
} channel;

// An entry of "images".
typedef struct entry {
    uint64_t files, width, height, pixels;
    bool has_files, has_width, has_height, has_pixels, has_channels;
    channel channels[GI_REPORT_CHANNELS];
    bool seen[GI_REPORT_CHANNELS];
    int count;
} entry;

typedef struct merge {
    const char *path;
    gi_report *report;
    uint64_t *bins; // LEVELS_MOST for each channel, used anew by each entry
    uint64_t schema, flaws[GI_REPORT_FLAWS];
    bool has_schema, has_images, has_flaws[GI_REPORT_FLAWS];
} merge;

// An entry and where its counts go.
typedef struct reader {
    merge *merge;
    entry entry;
} reader;

// A member that counts once.
static gi_status read_once(gi_json *json, bool *has, uint64_t *number, gi_error *err) {
    if (*has) return gi_json_fail(json, err, "a member stands twice");
    *has = true;
    return gi_json_unsigned(json, number, err);
}

static gi_status read_bin(void *context, gi_json *json, size_t index, gi_error *err) {
    channel *c = context;
    if (index >= LEVELS_MOST) return gi_json_fail(json, err, "more than 65536 bins");
    c->bin_count = (uint32_t)index + 1;
    return gi_json_unsigned(json, &c->bins[index], err);
}

static gi_status read_channel_name(channel *c, gi_json *json, gi_error *err) {
    gi_buffer name = {0};
    char quoted[GI_QUOTE_BYTES], reason[GI_QUOTE_BYTES + 64];
    gi_status status = gi_json_string(json, &name, err);
    c->index = GI_REPORT_CHANNELS - 1;
    while (status == GI_OK && c->index >= 0 && strcmp(name.data, gi_report_channel_names[c->index]) != 0) c->index--;
    if (status == GI_OK && c->index < 0) {
        snprintf(reason, sizeof reason, "'%s' is no channel of ours", gi_quote(quoted, name.data, name.size));
        status = gi_json_fail(json, err, reason);
    }
    gi_buffer_free(&name);
    return status;
}

static gi_status read_channel_member(void *context, gi_json *json, const char *key, gi_error *err) {
    channel *c = context;
    if (strcmp(key, "name") == 0) return read_channel_name(c, json, err);
    if (strcmp(key, "count") == 0) return read_once(json, &c->has_count, &c->count, err);
    if (strcmp(key, "bins") != 0) return gi_json_skip(json, err);
    if (c->has_bins) return gi_json_fail(json, err, "a member stands twice");
    c->has_bins = true;
    return gi_json_array(json, read_bin, c, err);
}

// The bins of a channel must add up to its count, without passing 64 bits on the way.
static gi_status check_channel(const channel *c, const gi_json *json, gi_error *err) {
    char reason[160];
    uint64_t sum = 0;
    bool fits = true;
    if (c->index < 0 || !c->has_bins || !c->has_count)
        return gi_json_fail(json, err, "a channel without name, bins or count");
    if (c->bin_count != 256 && c->bin_count != LEVELS_MOST) {
        snprintf(reason, sizeof reason,
                 "%s has %u bin%s: only reports with a bin for each level add up exactly (leave --bins out of them)",
                 gi_report_channel_names[c->index], c->bin_count, gi_plural(c->bin_count));
        return gi_json_fail(json, err, reason);
    }
    for (uint32_t b = 0; b < c->bin_count && fits; b++) {
        fits = c->bins[b] <= c->count - sum;
        if (fits) sum += c->bins[b];
    }
    if (fits && sum == c->count) return GI_OK;
    snprintf(reason, sizeof reason, "the bins of %s do not add up to its count of %llu",
             gi_report_channel_names[c->index], (unsigned long long)c->count);
    return gi_json_fail(json, err, reason);
}

static gi_status read_channel(void *context, gi_json *json, size_t index, gi_error *err) {
    reader *r = context;
    entry *e = &r->entry;
    if (index >= GI_REPORT_CHANNELS) return gi_json_fail(json, err, "more channels than there are kinds");
    channel c = {.index = -1, .bins = r->merge->bins + index * LEVELS_MOST};
    gi_status status = gi_json_object(json, read_channel_member, &c, err);
    if (status == GI_OK) status = check_channel(&c, json, err);
    if (status != GI_OK) return status;
    if (e->seen[c.index]) return gi_json_fail(json, err, "a channel stands twice");
    if (index > 0 && e->channels[0].bin_count != c.bin_count)
        return gi_json_fail(json, err, "channels of different numbers of bins");
    e->seen[c.index] = true;
    e->channels[e->count++] = c;
    return GI_OK;
}

static gi_status read_entry_member(void *context, gi_json *json, const char *key, gi_error *err) {
    reader *r = context;
    entry *e = &r->entry;
    if (strcmp(key, "files") == 0) return read_once(json, &e->has_files, &e->files, err);
    if (strcmp(key, "width") == 0) return read_once(json, &e->has_width, &e->width, err);
    if (strcmp(key, "height") == 0) return read_once(json, &e->has_height, &e->height, err);
    if (strcmp(key, "pixels") == 0) return read_once(json, &e->has_pixels, &e->pixels, err);
    if (strcmp(key, "channels") != 0) return gi_json_skip(json, err);
    if (e->has_channels) return gi_json_fail(json, err, "a member stands twice");
    e->has_channels = true;
    return gi_json_array(json, read_channel, r, err);
}

static gi_status check_entry(const entry *e, const gi_json *json, gi_error *err) {
    bool image = e->has_width && e->has_height && !e->has_files;
    bool total = e->has_files && !e->has_width && !e->has_height && e->files > 0;
    if (!e->has_pixels || !e->has_channels || e->count == 0 || (!image && !total))
        return gi_json_fail(json, err, "neither an image nor a total of images");
    bool whole = !image || (e->width > 0 && e->width <= UINT32_MAX && e->height <= UINT32_MAX &&
                            e->height == e->pixels / e->width && e->pixels % e->width == 0);
    for (int c = 0; c < e->count && whole; c++)
        whole = image ? e->channels[c].count == e->pixels : e->channels[c].count <= e->pixels;
    return whole ? GI_OK : gi_json_fail(json, err, "size, pixels and counts do not agree");
}

static gi_status read_entry(void *context, gi_json *json, size_t index, gi_error *err) {
    (void)index;
    reader r = {.merge = context};
    const entry *e = &r.entry;
    gi_status status = gi_json_object(json, read_entry_member, &r, err);
    if (status == GI_OK) status = check_entry(e, json, err);
    if (status != GI_OK) return status;
    gi_report_image image = {.file = r.merge->path,
                             .files = e->has_files ? (size_t)e->files : 1,
                             .pixels = e->pixels,
                             .levels = e->channels[0].bin_count,
                             .bins = e->channels[0].bin_count,
                             .channel_count = e->count};
    for (int c = 0; c < e->count; c++)
        image.channels[c] = (gi_report_channel){gi_report_channel_names[e->channels[c].index], e->channels[c].bins};
    return gi_report_add_up(r.merge->report, &image, err);
}

static gi_status count_flaw(void *context, gi_json *json, size_t index, gi_error *err) {
    uint64_t *count = context;
    *count = index + 1;
    return gi_json_skip(json, err);
}

// Of a total the number of files, else a list of them.
static gi_status read_flaws(merge *m, gi_json *json, gi_report_flaw_kind kind, bool total, gi_error *err) {
    if (total) return read_once(json, &m->has_flaws[kind], &m->flaws[kind], err);
    if (m->has_flaws[kind]) return gi_json_fail(json, err, "a member stands twice");
    m->has_flaws[kind] = true;
    return gi_json_array(json, count_flaw, &m->flaws[kind], err);
}

static gi_status read_top_member(void *context, gi_json *json, const char *key, gi_error *err) {
    merge *m = context;
    if (strcmp(key, "schema") == 0) return read_once(json, &m->has_schema, &m->schema, err);
    if (strcmp(key, "failed") == 0) return read_flaws(m, json, GI_REPORT_MISSING, false, err);
    if (strcmp(key, "damaged") == 0) return read_flaws(m, json, GI_REPORT_DAMAGED, false, err);
    if (strcmp(key, "failed_files") == 0) return read_flaws(m, json, GI_REPORT_MISSING, true, err);
    if (strcmp(key, "damaged_files") == 0) return read_flaws(m, json, GI_REPORT_DAMAGED, true, err);
    if (strcmp(key, "images") != 0) return gi_json_skip(json, err);
    if (m->has_images) return gi_json_fail(json, err, "a member stands twice");
    m->has_images = true;
    return gi_json_array(json, read_entry, m, err);
}

static gi_status read_report(merge *m, const gi_file_data *file, gi_error *err) {
    gi_json json = gi_json_over((const char *)file->data, file->size);
    gi_status status = gi_json_object(&json, read_top_member, m, err);
    if (status == GI_OK) status = gi_json_end(&json, err);
    if (status != GI_OK) return status;
    if (!m->has_images || !m->has_schema || m->schema != 1)
        return gi_fail(err, GI_ERR_FORMAT, "schema 1 and images are wanted");
    for (int kind = 0; kind < GI_REPORT_FLAWS && status == GI_OK; kind++)
        status = gi_report_add_flaws(m->report, (gi_report_flaw_kind)kind, m->flaws[kind], err);
    return status;
}

// Of a file that does not even begin as a report, what it should have been.
static gi_status tell_wanted(const merge *m, gi_error *err) {
    gi_error why = *err;
    if (m->has_images && m->has_schema && m->schema == 1) return why.status;
    return gi_fail(err, why.status,
                   "no report of hist as JSON, which --merge adds up (hist -o FILE.json writes one): %s", why.text);
}

gi_status gi_merge_report(const char *path, gi_report *report, gi_error *err) {
    merge m = {.path = path, .report = report};
    gi_file_data file = {.data = NULL};
    gi_status status = gi_read_file(gi_path_of_argument(path), &(gi_read_options){0}, &file, err);
    if (status == GI_OK && !(m.bins = malloc(sizeof *m.bins * LEVELS_MOST * GI_REPORT_CHANNELS)))
        status = gi_fail(err, GI_ERR_MEMORY, "out of memory");
    if (status == GI_OK) status = read_report(&m, &file, err);
    if (status == GI_ERR_FORMAT) status = tell_wanted(&m, err);
    free(m.bins);
    gi_file_data_free(&file);
    return status;
}
