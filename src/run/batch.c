#include "run/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/checked.h"
#include "core/clock.h"
#include "core/text.h"
#include "cpu/backend_cpu.h"
#include "run/path.h"
#include "run/process.h"
#include "run/schedule.h"
#include "run/slots.h"

enum { WORKERS_MAX = 1024, WORKERS_FOR_DEVICE = 16 };

typedef struct batch {
    const gi_item_list *list;
    const gi_batch_options *options;
    gi_stop stop;
    atomic_bool disk_full;
    gi_gate gate;
    gi_slots *slots;
    bool *first_of_directory; // for each item
    pthread_mutex_t mutex;    // of all below, and held during callbacks
    gi_schedule schedule;
    gi_batch_result result;
    bool lost;     // every device, with nothing to fall back on, or there is no slot to be had
    gi_error loss; // why
} batch;

typedef struct thread {
    batch *batch;
    int number; // from 0
    int threads;
    size_t memory;
    pthread_t id;
    bool started;
} thread;

// ---- which items come first in their output directory -------------------------------------------------------------

typedef struct place {
    const char *out;
    size_t parent_length;
    size_t index;
} place;

static int by_directory(const void *a, const void *b) {
    const place *x = a, *y = b;
    size_t shorter = x->parent_length < y->parent_length ? x->parent_length : y->parent_length;
    int order = memcmp(x->out, y->out, shorter);
    if (order == 0) order = (x->parent_length > y->parent_length) - (x->parent_length < y->parent_length);
    if (order == 0) order = (x->index > y->index) - (x->index < y->index);
    return order;
}

static bool same_directory(const place *a, const place *b) {
    return a->parent_length == b->parent_length && memcmp(a->out, b->out, a->parent_length) == 0;
}

static gi_status mark_first(batch *b, gi_error *err) {
    size_t count = b->list->count, placed = 0, bytes = 0;
    place *places = gi_mul(count + 1, sizeof *places, &bytes) ? malloc(bytes) : NULL;
    b->first_of_directory = calloc(count + 1, sizeof *b->first_of_directory);
    if (!places || !b->first_of_directory) {
        free(places);
        return gi_fail(err, GI_ERR_MEMORY, "out of memory for %zu file%s", count, gi_plural(count));
    }
    for (size_t i = 0; i < count; i++) {
        const char *out = b->list->items[i].out;
        if (!out) continue;
        const char *slash = strrchr(out, '/');
        places[placed++] = (place){out, slash ? (size_t)(slash - out) + 1 : 0, i};
    }
    if (placed > 1) qsort(places, placed, sizeof *places, by_directory);
    for (size_t i = 0; i < placed; i++)
        b->first_of_directory[places[i].index] = i == 0 || !same_directory(&places[i], &places[i - 1]);
    free(places);
    return GI_OK;
}

// ---- workers ------------------------------------------------------------------------------------------------------

static bool take_next(batch *b, size_t *index, int *threads) {
    pthread_mutex_lock(&b->mutex);
    bool got = !gi_stopped(&b->stop) && gi_schedule_next(&b->schedule, b->list, index, threads);
    pthread_mutex_unlock(&b->mutex);
    return got;
}

static void finish_item(batch *b, size_t index, const gi_outcome *outcome) {
    if (outcome->status == GI_ERR_CANCELLED) return;
    pthread_mutex_lock(&b->mutex);
    if (outcome->skipped)
        b->result.skipped++;
    else if (outcome->status == GI_OK)
        b->result.done++;
    else
        b->result.failed++;
    if (b->options->on_progress) b->options->on_progress(b->options->context, index, outcome);
    pthread_mutex_unlock(&b->mutex);
}

// True when the failure is for good: every other file would fail with the same words.
static bool is_lost(batch *b, const gi_worker *worker, const gi_error *why) {
    bool devices = why->status == GI_ERR_DEVICE && !b->options->fallback && gi_slots_lost(b->slots);
    if (!devices && !worker->no_slot) return false;
    atomic_store(&b->stop.drop, true);
    pthread_mutex_lock(&b->mutex);
    if (!b->lost) b->loss = *why;
    b->lost = true;
    pthread_mutex_unlock(&b->mutex);
    return true;
}

// True when another device can do what was lost with the worker's: what it reads is there to be read again.
static bool is_worth_another(const batch *b, const gi_worker *worker, const gi_item *item, const gi_error *why) {
    struct stat about;
    if (why->status != GI_ERR_DEVICE || worker->no_slot || gi_slots_lost(b->slots) || b->options->more_count == 0)
        return false;
    bool again = item->in && stat(item->in, &about) == 0 && S_ISREG(about.st_mode);
    if (again) gi_say(b->options->messages, GI_WARNING, item->in, "%s; done on another device", why->text);
    return again;
}

static gi_status process(batch *b, gi_worker *worker, const gi_process_request *request, gi_outcome *outcome,
                         gi_error *why) {
    gi_status status = gi_process(worker, request, outcome, why);
    for (int i = 0; i < b->options->more_count && status == GI_ERR_DEVICE; i++) {
        if (!is_worth_another(b, worker, request->item, why)) break;
        status = gi_process(worker, request, outcome, why);
    }
    return status;
}

static void do_item(batch *b, gi_worker *worker, size_t index) {
    const gi_item *item = &b->list->items[index];
    gi_process_request request = {.item = item,
                                  .index = index,
                                  .make_directories = b->list->out_directory || b->list->makes_directories,
                                  .sweep = b->first_of_directory[index]};
    gi_error why = {.status = GI_OK};
    gi_outcome outcome = {.reason = why.text};
    double begun = gi_clock_ms(), lap = gi_lap_begin_image(&worker->lap, index);
    outcome.status = process(b, worker, &request, &outcome, &why);
    gi_lap_end_image(&worker->lap, lap);
    outcome.time_ms = gi_clock_ms() - begun;
    if (outcome.status != GI_OK && is_lost(b, worker, &why))
        outcome.status = GI_ERR_CANCELLED; // said once, by the batch
    if (outcome.status != GI_OK && outcome.status != GI_ERR_CANCELLED) {
        gi_say(b->options->messages, GI_FAILURE, gi_path_input(item->in), "%s", why.text);
        bool full = why.system == ENOSPC || why.system == EDQUOT;
        if (full || b->options->fail_fast) atomic_store(&b->stop.drop, true);
        if (full) atomic_store(&b->disk_full, true);
    }
    finish_item(b, index, &outcome);
}

static void *work(void *context) {
    thread *self = context;
    batch *b = self->batch;
    gi_worker worker = {.options = b->options,
                        .stop = &b->stop,
                        .gate = &b->gate,
                        .callbacks = &b->mutex,
                        .memory = self->memory,
                        .slots = b->slots,
                        .lap = gi_lap_of(b->options->timeline, self->number)};
    size_t index = 0;
    for (int threads; threads = self->threads, take_next(b, &index, &threads);) {
        worker.threads = threads;
        do_item(b, &worker, index);
    }
    gi_worker_close(&worker);
    return NULL;
}

static int at_most(int value, size_t limit) { return (size_t)value > limit ? (int)limit : value; }

int gi_batch_cores(const gi_batch_options *options) {
    return at_most(options->threads > 0 ? options->threads : gi_cpu_cores(), WORKERS_MAX);
}

// Those whose images a device decodes wait for it and leave their cores to others; so many it has in work at once.
static int most_workers(const gi_batch_options *options) {
    const gi_backend *backend = options->backend;
    const bool wait = gi_codec_asks_device(options->decode.codec) && backend && backend->ops->jpeg_check;
    const int cores = gi_batch_cores(options), doubled = wait ? at_most(2 * cores, WORKERS_FOR_DEVICE) : 0;
    return at_most(cores > doubled ? cores : doubled, WORKERS_MAX);
}

// A worker that waits for a slot has its file read; more than one for each slot would only hold more of them.
int gi_batch_workers(const gi_batch_options *options, size_t items) {
    int most = most_workers(options), workers = options->workers > 0 ? at_most(options->workers, (size_t)most) : most;
    if (options->slots > 0) workers = at_most(workers, 2 * (size_t)options->slots);
    return items > 0 ? at_most(workers, items) : 1;
}

int gi_batch_slots(const gi_batch_options *options, size_t items) {
    int workers = gi_batch_workers(options, items);
    return options->slots > 0 ? at_most(workers, (size_t)options->slots) : workers;
}

size_t gi_batch_memory_share(const gi_batch_options *options, size_t items) {
    size_t share = options->max_memory / (size_t)gi_batch_slots(options, items);
    return options->max_memory > 0 && share == 0 ? 1 : share; // 0 would be no limit
}

// Those who have a slot share the cores.
static int thread_share(const batch *b, int number) {
    int cores = gi_batch_cores(b->options), slots = gi_batch_slots(b->options, b->list->count);
    return slots < cores ? cores / slots + (number < cores % slots) : 1;
}

// The calling thread is the first worker. A thread that cannot be started leaves its work to the others.
static gi_status run_workers(batch *b, gi_error *err) {
    const int workers = gi_batch_workers(b->options, b->list->count);
    thread *threads = calloc((size_t)workers, sizeof *threads);
    if (!threads) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    for (int i = 0; i < workers; i++) {
        threads[i].batch = b;
        threads[i].number = i;
        threads[i].threads = thread_share(b, i);
        threads[i].memory = gi_batch_memory_share(b->options, b->list->count);
        if (i > 0) threads[i].started = pthread_create(&threads[i].id, NULL, work, &threads[i]) == 0;
    }
    work(&threads[0]);
    for (int i = 1; i < workers; i++)
        if (threads[i].started) pthread_join(threads[i].id, NULL);
    free(threads);
    if (!b->lost) return GI_OK;
    if (err) *err = b->loss;
    return b->loss.status;
}

static gi_status open_slots(batch *b, gi_error *err) {
    const gi_batch_options *options = b->options;
    const int count = 1 + options->more_count;
    gi_backend **backends = malloc((size_t)count * sizeof *backends);
    if (!backends) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    backends[0] = options->backend;
    for (int i = 1; i < count; i++) backends[i] = options->more[i - 1];
    const gi_slots_request request = {backends, count, gi_batch_slots(options, b->list->count), thread_share(b, 0)};
    gi_status status = gi_slots_open(&request, &b->slots, err);
    free(backends);
    return status;
}

static gi_status prepare_output(const batch *b, gi_error *err) {
    const char *directory = b->list->out_directory;
    if (!directory) return GI_OK;
    gi_status status = gi_path_make_directories(directory, err);
    // Said once here rather than once for every file, after it was decoded.
    if (status == GI_OK && !b->options->skip_existing && faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) != 0)
        status = gi_path_fail(err, "cannot write into", directory, errno);
    return status;
}

gi_status gi_batch_run(const gi_item_list *list, const gi_batch_options *options, gi_batch_result *result,
                       gi_error *err) {
    batch b = {.list = list, .options = options, .stop = {.cancel = options->cancel}};
    *result = (gi_batch_result){.failed = list->failed, .not_started = list->count};
    if (list->count == 0) return GI_OK;
    bool cpu = strcmp(options->backend->name, "cpu") == 0;
    gi_gate_init(&b.gate, cpu || options->streams < 0 ? 0 : options->streams);
    pthread_mutex_init(&b.mutex, NULL);
    gi_status status = prepare_output(&b, err);
    if (status == GI_OK) status = mark_first(&b, err);
    if (status == GI_OK)
        status = gi_schedule_make(list, gi_batch_cores(options), thread_share(&b, 0), &b.schedule, err);
    if (status == GI_OK) status = open_slots(&b, err);
    if (status == GI_OK) status = run_workers(&b, err);
    result->done = b.result.done;
    result->skipped = b.result.skipped;
    result->failed += b.result.failed;
    result->disk_full = atomic_load(&b.disk_full);
    result->not_started -= b.result.done + b.result.skipped + b.result.failed;
    if (status == GI_OK && options->cancel && *options->cancel) status = gi_fail(err, GI_ERR_CANCELLED, "interrupted");
    gi_slots_close(b.slots);
    gi_schedule_free(&b.schedule);
    free(b.first_of_directory);
    pthread_mutex_destroy(&b.mutex);
    gi_gate_destroy(&b.gate);
    return status;
}
