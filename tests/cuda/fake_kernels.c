// The launchers of kernels/launch.h for the fake runtime: what they enqueue is done by the CPU's backend.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/backend_cpu.h"
#include "cpu/primitives.h"
#include "fake_runtime.h"
#include "kernels/arrays.h"
#include "kernels/launch.h"
#include "kernels/matmul.h"

static gi_slot *slot; // its use is serialised by the runtime, which does one task at a time

static void need(gi_status status, const gi_error *err) {
    if (status == GI_OK) return;
    fprintf(stderr, "fake CUDA: %s\n", err->text);
    abort();
}

static const gi_backend_ops *cpu(void) {
    static gi_backend *backend;
    gi_error err;
    if (!slot) {
        need(gi_backend_cpu_open(&backend, &err), &err);
        need(backend->ops->slot_open(backend, 1, &slot, &err), &err);
    }
    return slot->ops;
}

static void require_views(const gi_job *job, bool writes) {
    fake_require_device(job->in.data, job->in.pitch_bytes * job->in.height);
    if (writes) fake_require_device(job->out.data, job->out.pitch_bytes * job->out.height);
}

// Poisons the scratch that was asked for: nothing else may lie there.
static void spoil(const gi_job *job, size_t bytes) {
    if (bytes == 0) return;
    fake_require_device(job->scratch, bytes);
    memset(job->scratch, 0xEE, bytes);
}

static void take_result(const gi_view *out) {
    gi_error err;
    gi_view made;
    need(cpu()->download(slot, &made, &err), &err);
    const size_t bytes = gi_row_bytes(out->width, out->channels, out->sample);
    for (uint32_t y = 0; y < out->height; y++) memcpy(gi_view_row(out, y), gi_view_row(&made, y), bytes);
}

// ---- images -------------------------------------------------------------------------------------------------------

typedef struct point_task {
    gi_job job;
    gi_device_point operation;
} point_task;

static void do_point(void *data) {
    const point_task *t = data;
    gi_error err;
    need(cpu()->upload(slot, &t->job.in, &err), &err);
    need(cpu()->point(slot, &t->operation.point, &err), &err);
    take_result(&t->job.out);
}

size_t gi_cuda_point_scratch(const gi_job *job) {
    (void)job;
    return 0;
}

gi_status gi_cuda_point(const gi_job *job, gi_error *err) {
    const point_task t = {*job, *(const gi_device_point *)job->args};
    (void)err;
    require_views(job, true);
    fake_enqueue(job->stream, do_point, &t, sizeof t);
    return GI_OK;
}

typedef struct window_task {
    gi_job job;
    gi_stage_call call;
} window_task;

static void do_window(void *data) {
    const window_task *t = data;
    gi_error err;
    spoil(&t->job, 1000);
    need(cpu()->upload(slot, &t->job.in, &err), &err);
    need(cpu()->window(slot, &t->call, &t->job.place, t->job.out.height, &err), &err);
    take_result(&t->job.out);
}

static gi_status window(const gi_job *job, gi_stage_id id) {
    window_task t = {*job, {.stage = &gi_stage_table[id]}};
    memcpy(&t.call.args, job->args, sizeof t.call.args);
    require_views(job, true);
    fake_enqueue(job->stream, do_window, &t, sizeof t);
    return GI_OK;
}

#define FAKE_POINT(name)
#define FAKE_MEASURE(name)
#define FAKE_WINDOW(name)                                                                                              \
    size_t gi_cuda_##name##_scratch(const gi_job *job) {                                                               \
        (void)job;                                                                                                     \
        return 1000;                                                                                                   \
    }                                                                                                                  \
    gi_status gi_cuda_##name(const gi_job *job, gi_error *err) {                                                       \
        (void)err;                                                                                                     \
        return window(job, GI_STAGE_ID_##name);                                                                        \
    }
#define FAKE(kind, name, summary, detail, example1, example2) FAKE_##kind(name)
GI_STAGES(FAKE)

// ---- counts, and tables made of them ------------------------------------------------------------------------------

static void do_hist(void *data) {
    const gi_job *job = data;
    const gi_view *in = &job->in;
    gi_histogram counted;
    gi_error err;
    need(gi_histogram_init(&counted, in->channels, in->sample, &err), &err);
    need(cpu()->upload(slot, in, &err), &err);
    need(cpu()->measure(slot, NULL, true, &err), &err);
    need(cpu()->counts(slot, &counted, &err), &err);
    for (size_t i = 0; i < (size_t)in->channels * counted.levels; i++) job->counts[i] += counted.counts[i];
    gi_histogram_free(&counted);
}

size_t gi_cuda_hist_scratch(const gi_job *job) {
    (void)job;
    return 0;
}

gi_status gi_cuda_hist(const gi_job *job, gi_error *err) {
    (void)err;
    require_views(job, false);
    fake_enqueue(job->stream, do_hist, job, sizeof *job);
    return GI_OK;
}

typedef struct table_task {
    gi_table_job job;
    gi_curve then[3];
} table_task;

// tables[c] = the stage's curve for channel c, and then the job's.
static void fill_tables(const table_task *t, const gi_point *made) {
    const uint32_t max = gi_sample_max(t->job.sample);
    for (int c = 0; c < t->job.channels; c++)
        for (uint32_t v = 0; v <= max; v++)
            t->job.tables[(size_t)c * (max + 1) + v] =
                (uint16_t)gi_curve_at(&t->then[c], gi_curve_at(&made->before[c], v, max), max);
}

static void make_tables(const table_task *t, const gi_stage_call *call) {
    gi_histogram counted;
    gi_error err;
    gi_point made;
    need(gi_histogram_init(&counted, t->job.channels, t->job.sample, &err), &err);
    memcpy(counted.counts, t->job.counts, (size_t)counted.channels * counted.levels * sizeof *counted.counts);
    const gi_point_input in = {t->job.channels, t->job.sample, &counted};
    need(call->stage->point(&call->args, &in, &made, &err), &err);
    fill_tables(t, &made);
    if (t->job.level) *t->job.level = made.before[0].level;
    gi_point_free(&made);
    gi_histogram_free(&counted);
}

static void do_otsu(void *data) {
    gi_stage_call call = {.stage = &gi_stage_table[GI_STAGE_ID_threshold]};
    call.args.threshold.level = GI_LEVEL_OTSU;
    make_tables(data, &call);
}

static void do_equalize(void *data) {
    gi_stage_call call = {.stage = &gi_stage_table[GI_STAGE_ID_equalize]};
    table_task t = *(const table_task *)data;
    call.args.equalize.mode = GI_EQUALIZE_CHANNEL;
    t.job.level = NULL;
    make_tables(&t, &call);
}

static gi_status tables(const gi_table_job *job, void (*run)(void *)) {
    table_task t = {.job = *job};
    memcpy(t.then, job->then, (size_t)job->channels * sizeof *t.then);
    fake_enqueue(job->stream, run, &t, sizeof t);
    return GI_OK;
}

size_t gi_cuda_otsu_scratch(const gi_table_job *job) {
    (void)job;
    return 0;
}

gi_status gi_cuda_otsu(const gi_table_job *job, gi_error *err) {
    (void)err;
    return tables(job, do_otsu);
}

size_t gi_cuda_equalize_scratch(const gi_table_job *job) {
    (void)job;
    return 0;
}

gi_status gi_cuda_equalize(const gi_table_job *job, gi_error *err) {
    (void)err;
    return tables(job, do_equalize);
}

// ---- arrays -------------------------------------------------------------------------------------------------------

enum { ARRAY_SCRATCH = 777 };

static void spoil_array_scratch(void *scratch) {
    fake_require_device(scratch, ARRAY_SCRATCH);
    memset(scratch, 0xEE, ARRAY_SCRATCH);
}

static void require_rows(const void *data, size_t rows, size_t columns, size_t stride) {
    if (rows && columns) fake_require_device(data, ((rows - 1) * stride + columns) * sizeof(float));
}

static void do_matmul(void *data) {
    const gi_matmul_launch *l = data;
    const gi_matmul_job job = {l->a, l->b, l->c, l->m, l->k, l->n, l->a_stride, l->b_stride, l->c_stride, 0, 1};
    gi_error err;
    spoil_array_scratch(l->scratch);
    need(gi_cpu_matmul(&job, &err), &err);
}

size_t gi_cuda_matmul_scratch(const gi_matmul_launch *job) {
    (void)job;
    return ARRAY_SCRATCH;
}

gi_status gi_cuda_matmul(const gi_matmul_launch *job, gi_error *err) {
    (void)err;
    require_rows(job->a, job->m, job->k, job->a_stride);
    require_rows(job->b, job->k, job->n, job->b_stride);
    require_rows(job->c, job->m, job->n, job->c_stride);
    fake_enqueue(job->stream, do_matmul, job, sizeof *job);
    return GI_OK;
}

gi_status gi_cublas_open(gi_cublas **out, gi_error *err) {
    *out = NULL;
    return gi_fail(err, GI_ERR_DEVICE, "cuBLAS (libcublas.so.13) was not found");
}

void gi_cublas_close(gi_cublas *cublas) { (void)cublas; }

// The CPU's overflow is the device's mark.
static void do_reduce(void *data) {
    const gi_device_reduce_job *l = data;
    const gi_reduce_job job = {l->values, l->element, l->count, l->operation, 0, 1};
    gi_number found = {.real = 0};
    spoil_array_scratch(l->scratch);
    if (*l->ticket != 0) need(GI_ERR_USAGE, &(gi_error){.text = "the ticket is not zero"});
    const bool fits = gi_cpu_reduce(&job, &found, NULL) == GI_OK;
    *l->result = (gi_device_number){found.real, found.integer, !fits};
}

size_t gi_cuda_reduce_scratch(const gi_device_reduce_job *job) {
    (void)job;
    return ARRAY_SCRATCH;
}

gi_status gi_cuda_reduce(const gi_device_reduce_job *job, gi_error *err) {
    (void)err;
    fake_require_device(job->values, job->count * gi_element_bytes(job->element));
    fake_require_device(job->result, sizeof *job->result);
    fake_require_device(job->ticket, sizeof *job->ticket);
    fake_enqueue(job->stream, do_reduce, job, sizeof *job);
    return GI_OK;
}

static void do_scan(void *data) {
    const gi_device_scan_job *l = data;
    const gi_scan_job job = {l->values, l->out, l->element, l->count, l->operation, l->exclusive, 0, 1};
    gi_error err = {.status = GI_OK};
    unsigned long long index;
    spoil_array_scratch(l->scratch);
    *l->refused = UINT64_MAX;
    if (gi_cpu_scan(&job, &err) == GI_OK) return;
    if (sscanf(err.text, "the %*s up to index %llu", &index) == 1)
        *l->refused = index;
    else
        need(err.status, &err);
}

size_t gi_cuda_scan_scratch(const gi_device_scan_job *job) {
    (void)job;
    return ARRAY_SCRATCH;
}

gi_status gi_cuda_scan(const gi_device_scan_job *job, gi_error *err) {
    (void)err;
    fake_require_device(job->values, job->count * gi_element_bytes(job->element));
    fake_require_device(job->out, job->count * gi_element_bytes(gi_scan_element(job->element)));
    fake_require_device(job->refused, sizeof *job->refused);
    fake_enqueue(job->stream, do_scan, job, sizeof *job);
    return GI_OK;
}

gi_status gi_cuda_probe(gi_error *err) {
    (void)err;
    return GI_OK;
}
