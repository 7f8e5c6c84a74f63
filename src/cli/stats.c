#include "cli/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/buffer.h"
#include "cli/console.h"
#include "cli/json.h"
#include "cli/signals.h"
#include "core/clock.h"
#include "core/text.h"
#include "run/path.h"

struct gi_stats {
    gi_stats_request request;
    gi_timeline timeline;
    gi_output *json, *trace; // NULL: none
    gi_buffer event;
    int lanes;        // of a slot
    bool *named;      // the trace's threads of devices that have their name
    char device[288]; // the names of all
    double begun_ms, wall_ms, cpu_ms;
    uint64_t bytes_in, bytes_out, peak_bytes;
    gi_status traced; // of all writes to the trace
    gi_error trace_err;
};

static gi_status put(gi_output *output, const gi_buffer *text, gi_error *err) {
    if (text->failed) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    const gi_sink sink = gi_output_sink(output);
    return sink.write(sink.context, text->data, text->size, err);
}

// ---- the trace ----------------------------------------------------------------------------------------------------

static void put_event(gi_stats *stats) {
    if (stats->traced == GI_OK) stats->traced = put(stats->trace, &stats->event, &stats->trace_err);
    stats->event.size = 0;
}

static void begin_trace(gi_stats *stats) {
    gi_buffer_puts(&stats->event, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
                                  "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"gpuimg\"}}");
    for (int i = 0; i < stats->request.workers; i++)
        gi_buffer_printf(&stats->event,
                         ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%d,"
                         "\"args\":{\"name\":\"worker %d\"}}",
                         i + 1, i + 1);
    for (int i = 0; i < stats->timeline.device_count; i++) {
        const gi_backend *device = stats->request.devices[i];
        gi_buffer_printf(&stats->event,
                         ",\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":", i + 2);
        gi_buffer name = {0};
        gi_buffer_printf(&name, "%s (%s)", device->name, device->detail);
        gi_json_add_string(&stats->event, name.failed ? device->name : name.data);
        gi_buffer_free(&name);
        gi_buffer_puts(&stats->event, "}}");
    }
    put_event(stats);
}

static void add_place(gi_buffer *event, double begin_ms, double end_ms, int process, int thread) {
    gi_buffer_printf(event, ",\"ph\":\"X\",\"ts\":%.3f,\"dur\":%.3f,\"pid\":%d,\"tid\":%d,\"args\":{", begin_ms * 1e3,
                     (end_ms - begin_ms) * 1e3, process, thread);
}

// Events may stand in any order; one of an image comes after those within it.
static void on_span(void *context, const gi_span *span) {
    gi_stats *stats = context;
    gi_buffer *event = &stats->event;
    const char *file = stats->request.list->items[span->item].in;
    bool image = span->phase == GI_PHASE_IMAGE;
    gi_buffer_puts(event, ",\n{\"name\":");
    gi_json_add_string(event, !image ? gi_phase_name(span->phase) : file ? file : "-");
    gi_buffer_printf(event, ",\"cat\":\"%s\"", image ? "image" : span->phase == GI_PHASE_START ? "wait" : "phase");
    add_place(event, span->begin_ms - stats->begun_ms, span->end_ms - stats->begun_ms, 1, span->lane + 1);
    gi_json_add_name(event, "file", file ? file : "-");
    gi_buffer_puts(event, "}}");
    put_event(stats);
}

// A thread of the trace gets its name when it first comes up: few slots use all their streams.
static void on_device(void *context, const gi_device_event *what) {
    gi_stats *stats = context;
    gi_buffer *event = &stats->event;
    const char *file = stats->request.list->items[what->item].in;
    const int thread = what->slot * stats->lanes + what->span.lane, process = what->device + 2;
    const size_t place = (size_t)what->device * (size_t)(stats->request.slots * stats->lanes) + (size_t)thread;
    if (what->slot < stats->request.slots && !stats->named[place]) {
        gi_buffer_printf(event,
                         ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,"
                         "\"args\":{\"name\":\"slot %d, stream %d\"}}",
                         process, thread + 1, what->slot + 1, what->span.lane + 1);
        stats->named[place] = true;
    }
    gi_buffer_printf(event, ",\n{\"name\":\"%s\",\"cat\":\"device\"", gi_device_work_name(what->span.work));
    add_place(event, what->span.begin_ms - stats->begun_ms, what->span.end_ms - stats->begun_ms, process, thread + 1);
    gi_json_add_name(event, "file", file ? file : "-");
    gi_buffer_puts(event, "}}");
    put_event(stats);
}

static gi_status finish_trace(gi_stats *stats, gi_error *err) {
    gi_buffer_puts(&stats->event, "\n]}\n");
    put_event(stats);
    if (stats->traced == GI_OK) return gi_output_commit(stats->trace, stats->request.no_clobber, err);
    *err = stats->trace_err;
    return stats->traced;
}

// ---- the figures --------------------------------------------------------------------------------------------------

static double processor_ms(const struct rusage *use) {
    return (double)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) * 1e3 +
           (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec) / 1e3;
}

static double over(double a, double b) { return b > 0 ? a / b : 0; }

static double busy_ms(const gi_stats *stats) {
    double sum = 0;
    for (int p = 0; p < GI_PHASE_IMAGE; p++) sum += stats->timeline.phases[p].busy_ms;
    return sum;
}

static void add_json_phases(gi_buffer *text, const gi_stats *stats) {
    for (int p = 0; p < GI_PHASE_IMAGE; p++) {
        const gi_phase_time *time = &stats->timeline.phases[p];
        gi_buffer_printf(text, "%s\n\"%s\":{\"spans\":%llu,\"busy_ms\":%.3f,\"wall_ms\":%.3f,\"parallel\":%.3f}",
                         p > 0 ? "," : "", gi_phase_name((gi_phase)p), (unsigned long long)time->spans, time->busy_ms,
                         time->wall_ms, over(time->busy_ms, time->wall_ms));
    }
}

static double device_overlap(const gi_device_record *device) {
    double sum = 0;
    for (int w = 0; w < GI_DEVICE_WORKS; w++) sum += gi_cover_ms(&device->works[w].wall);
    return over(sum, gi_cover_ms(&device->all.wall));
}

static void add_json_devices(gi_buffer *text, const gi_stats *stats) {
    gi_buffer_puts(text, ",\n\"devices\":[");
    for (int i = 0; i < stats->timeline.device_count; i++) {
        const gi_device_record *device = &stats->timeline.devices[i];
        gi_buffer_puts(text, i > 0 ? ",\n{\"name\":" : "\n{\"name\":");
        gi_json_add_string(text, stats->request.devices[i]->name);
        gi_buffer_puts(text, ",\"detail\":");
        gi_json_add_string(text, stats->request.devices[i]->detail);
        for (int w = 0; w < GI_DEVICE_WORKS; w++) {
            const gi_device_time *time = &device->works[w];
            gi_buffer_printf(text, ",\"%s\":{\"spans\":%llu,\"busy_ms\":%.3f,\"wall_ms\":%.3f}",
                             gi_device_work_name((gi_device_work)w), (unsigned long long)time->spans, time->busy_ms,
                             gi_cover_ms(&time->wall));
        }
        const double first_ms = device->all.spans > 0 ? device->first_ms - stats->begun_ms : 0;
        gi_buffer_printf(text, ",\"first_ms\":%.3f,\"wall_ms\":%.3f,\"overlap\":%.3f}", first_ms,
                         gi_cover_ms(&device->all.wall), device_overlap(device));
    }
    gi_buffer_puts(text, "]");
}

static void add_json(gi_buffer *text, const gi_stats *stats, const gi_batch_result *result) {
    double seconds = stats->wall_ms / 1e3;
    gi_buffer_puts(text, "{\"schema\":1,\"device\":");
    gi_json_add_string(text, stats->device);
    gi_buffer_printf(text,
                     ",\"workers\":%d,\"slots\":%d,\"images\":%zu,\"skipped\":%zu,\"failed\":%zu,\"not_started\":%zu",
                     stats->request.workers, stats->request.slots, result->done, result->skipped, result->failed,
                     result->not_started);
    gi_buffer_printf(text, ",\n\"bytes_in\":%llu,\"bytes_out\":%llu", (unsigned long long)stats->bytes_in,
                     (unsigned long long)stats->bytes_out);
    gi_buffer_printf(text, ",\"wall_ms\":%.3f,\"cpu_ms\":%.3f,\"busy_ms\":%.3f,\"overlap\":%.3f", stats->wall_ms,
                     stats->cpu_ms, busy_ms(stats), over(busy_ms(stats), stats->wall_ms));
    gi_buffer_printf(text,
                     ",\n\"images_per_second\":%.3f,\"mb_in_per_second\":%.3f,\"mb_out_per_second\":%.3f,"
                     "\"peak_memory_bytes\":%llu,\n\"phases\":{",
                     over((double)result->done, seconds), over((double)stats->bytes_in / 1e6, seconds),
                     over((double)stats->bytes_out / 1e6, seconds), (unsigned long long)stats->peak_bytes);
    add_json_phases(text, stats);
    gi_buffer_puts(text, "}");
    if (stats->timeline.device_count > 0) add_json_devices(text, stats);
    gi_buffer_puts(text, "}\n");
}

// What each GPU did, by its own clock.
static void add_devices(gi_buffer *text, const gi_stats *stats) {
    for (int i = 0; i < stats->timeline.device_count; i++) {
        const gi_device_record *device = &stats->timeline.devices[i];
        gi_buffer_printf(text, "%s: ", stats->request.devices[i]->name);
        for (int w = 0; w < GI_DEVICE_WORKS; w++)
            gi_buffer_printf(text, "%s %.3f s, ", gi_device_work_name((gi_device_work)w),
                             gi_cover_ms(&device->works[w].wall) / 1e3);
        gi_buffer_printf(text, "in %.3f s in which it worked; %.2f overlap\n", gi_cover_ms(&device->all.wall) / 1e3,
                         device_overlap(device));
    }
}

// A table for people; phases without a span are left out.
static void add_table(gi_buffer *text, const gi_stats *stats, const gi_batch_result *result) {
    double seconds = stats->wall_ms / 1e3;
    gi_buffer_printf(text, "%-10s %12s %12s %10s\n", "phase", "busy, s", "wall, s", "parallel");
    for (int p = 0; p < GI_PHASE_IMAGE; p++) {
        const gi_phase_time *time = &stats->timeline.phases[p];
        if (time->spans == 0) continue;
        gi_buffer_printf(text, "%-10s %12.3f %12.3f %10.2f\n", gi_phase_name((gi_phase)p), time->busy_ms / 1e3,
                         time->wall_ms / 1e3, over(time->busy_ms, time->wall_ms));
    }
    gi_buffer_printf(text, "%-10s %12.3f %12.3f %10.2f overlap\n", "all", busy_ms(stats) / 1e3, seconds,
                     over(busy_ms(stats), stats->wall_ms));
    add_devices(text, stats);
    gi_buffer_printf(text, "%zu image%s, %.1f images/s, %.1f MB/s in, %.1f MB/s out\n", result->done,
                     gi_plural(result->done), over((double)result->done, seconds),
                     over((double)stats->bytes_in / 1e6, seconds), over((double)stats->bytes_out / 1e6, seconds));
    gi_buffer_printf(text, "%d worker%s on %s, %.3f s of processor time, %.1f MB of memory at most",
                     stats->request.workers, gi_plural((unsigned)stats->request.workers), stats->device,
                     stats->cpu_ms / 1e3, (double)stats->peak_bytes / 1e6);
}

// ---- the run ------------------------------------------------------------------------------------------------------

static gi_status open_file(const char *path, gi_output **output, const char **at, gi_error *err) {
    if (!path) return GI_OK;
    *at = path;
    const char *file = gi_path_of_argument(path);
    if (file) gi_output_sweep_beside(file);
    return gi_output_open_cancellable(file, &gi_interrupt, output, err);
}

// Names, and room for the times of those that have their own.
static gi_status know_devices(gi_stats *stats, gi_error *err) {
    const gi_stats_request *request = &stats->request;
    const gi_backend_ops *ops = request->devices[0]->ops;
    size_t used = 0, size = sizeof stats->device;
    for (int i = 0; i < request->device_count && used < size; i++) {
        int written = snprintf(stats->device + used, size - used, "%s%s", i > 0 ? ", " : "", request->devices[i]->name);
        used += written > 0 ? (size_t)written : 0;
    }
    stats->lanes = ops->lanes > 0 ? ops->lanes : 1;
    if (!ops->watch) return GI_OK;
    stats->named = calloc((size_t)request->device_count * (size_t)(request->slots * stats->lanes), sizeof(bool));
    if (!stats->named) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    return gi_timeline_add_devices(&stats->timeline, request->device_count, err);
}

gi_status gi_stats_open(const gi_stats_request *request, gi_stats **out, const char **at, gi_error *err) {
    gi_stats *stats = calloc(1, sizeof *stats);
    *out = stats;
    *at = NULL;
    if (!stats) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    stats->request = *request;
    gi_timeline_init(&stats->timeline);
    gi_status status = know_devices(stats, err);
    if (status == GI_OK) status = open_file(request->json_path, &stats->json, at, err);
    if (status == GI_OK) status = open_file(request->trace_path, &stats->trace, at, err);
    if (status != GI_OK) return status;
    stats->begun_ms = gi_clock_ms();
    if (!stats->trace) return GI_OK;
    stats->timeline.on_span = on_span;
    stats->timeline.on_device = on_device;
    stats->timeline.context = stats;
    begin_trace(stats);
    return GI_OK;
}

gi_timeline *gi_stats_timeline(gi_stats *stats) { return &stats->timeline; }

void gi_stats_add(gi_stats *stats, const gi_outcome *outcome) {
    stats->bytes_in += outcome->bytes_in;
    stats->bytes_out += outcome->bytes_out;
}

static gi_status finish_json(gi_stats *stats, const gi_batch_result *result, gi_error *err) {
    gi_buffer text = {0};
    add_json(&text, stats, result);
    gi_status status = put(stats->json, &text, err);
    if (status == GI_OK) status = gi_output_commit(stats->json, stats->request.no_clobber, err);
    gi_buffer_free(&text);
    return status;
}

gi_status gi_stats_finish(gi_stats *stats, const gi_batch_result *result, const char **at, gi_error *err) {
    struct rusage use;
    gi_status status = GI_OK;
    stats->wall_ms = gi_clock_ms() - stats->begun_ms;
    getrusage(RUSAGE_SELF, &use);
    stats->cpu_ms = processor_ms(&use);
    stats->peak_bytes = (uint64_t)use.ru_maxrss * 1024;
    if (stats->request.print) {
        gi_buffer text = {0};
        add_table(&text, stats, result);
        if (!text.failed) gi_console_data(text.data);
        gi_buffer_free(&text);
    }
    *at = stats->request.json_path;
    if (stats->json) status = finish_json(stats, result, err);
    if (status != GI_OK || !stats->trace) return status;
    *at = stats->request.trace_path;
    return finish_trace(stats, err);
}

void gi_stats_close(gi_stats *stats) {
    if (!stats) return;
    gi_output_close(stats->json);
    gi_output_close(stats->trace);
    gi_timeline_destroy(&stats->timeline);
    gi_buffer_free(&stats->event);
    free(stats->named);
    free(stats);
}
