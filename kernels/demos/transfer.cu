// transfer: what a copy between host and device takes, by its size.
//
//     t(n) = latency + n / bandwidth          half of the bandwidth is reached at n = latency * bandwidth
//
// Both are fitted to all sizes by least squares of the relative error: with weights 1 / t^2, the line t = a + b n.
//
// The picture: a lorry on a road. A letter takes as long as a full load; only the load makes the journey worth it.
// Below some ten thousand bytes a copy costs its latency whatever it carries, so that many small copies should be put
// into one; far above, the road's width alone counts. Page-locked (pinned) memory stays where it is: the GPU's copy
// engine reads it by itself. Pageable memory may be moved by the system, so that the driver first copies it, piece by
// piece, into a pinned buffer of its own: the CPU's work, and a second journey over the memory bus.
//
// What to look at: `nsys profile --trace cuda`, the rows of copies, their sizes and throughput, "Pageable" or "Pinned"
// in their details; ncu does not see copies. `lspci -vv` says which PCI Express link it is:
// generation 5 with 16 lanes carries 63 GB/s in each direction, less what its packets' headers take.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/demos.h"

enum { MOST_SIZES = 24 };

// 1 KB, 4 KB, ... up to `largest`.
static int list_sizes(size_t largest, size_t *sizes) {
    int count = 0;
    for (size_t bytes = 1024; bytes < largest && count < MOST_SIZES - 1; bytes *= 4) sizes[count++] = bytes;
    sizes[count++] = largest;
    return count;
}

static void size_label(size_t bytes, char *label, size_t room) {
    if (bytes % (1 << 20) == 0)
        snprintf(label, room, "%zu MB", bytes >> 20);
    else if (bytes % 1024 == 0)
        snprintf(label, room, "%zu KB", bytes >> 10);
    else
        snprintf(label, room, "%zu bytes", bytes);
}

// latency (ms) and ms a byte by least squares with weights 1 / t^2.
static void fit(const size_t *sizes, const double *ms, int count, double *latency, double *each) {
    double w = 0, wn = 0, wnn = 0, wt = 0, wnt = 0;
    for (int i = 0; i < count; i++) {
        const double weight = 1 / (ms[i] * ms[i]), n = (double)sizes[i];
        w += weight;
        wn += weight * n;
        wnn += weight * n * n;
        wt += weight * ms[i];
        wnt += weight * n * ms[i];
    }
    const double determinant = w * wnn - wn * wn;
    *each = (w * wnt - wn * wt) / determinant;
    *latency = (wt * wnn - wn * wnt) / determinant;
}

static void fit_note(gi_bench *bench, const char *what, const size_t *sizes, const double *ms, int count) {
    double latency, each;
    if (count < 3) return;
    fit(sizes, ms, count, &latency, &each);
    if (latency > 0 && each > 0)
        gi_bench_note(bench, "%s: fitted latency %.1f us, bandwidth %.1f GB/s, half of it at %.0f KB", what,
                      latency * 1e3, 1e-6 / each, latency / each / 1024);
}

// ---- on the CPU -----------------------------------------------------------------------------------------------------

typedef struct host_copy {
    const uint8_t *from;
    uint8_t *to;
    size_t bytes;
} host_copy;

// From memory to memory, each thread a part.
static void copy_openmp(void *context) {
    const host_copy *copy = (const host_copy *)context;
    enum { PIECE = 1 << 18 };
#pragma omp parallel for
    for (size_t begin = 0; begin < copy->bytes; begin += PIECE) {
        const size_t left = copy->bytes - begin;
        memcpy(copy->to + begin, copy->from + begin, left < PIECE ? left : PIECE);
    }
}

static gi_status measure_on_cpu(gi_bench *bench, host_copy copy, const size_t *sizes, int count, gi_error *err) {
    static const char *const columns[] = {"us", "GB/s"};
    double ms[MOST_SIZES];
    gi_bench_table(bench, "within the host's memory, OpenMP", columns, 2);
    gi_bench_bar(bench, "GB/s");
    for (int i = 0; i < count; i++) {
        char label[32];
        copy.bytes = sizes[i];
        memset(copy.to, 0xff, copy.bytes);
        copy_openmp(&copy);
        gi_status status = gi_bench_expect(memcmp(copy.from, copy.to, copy.bytes) == 0, "OpenMP", err);
        if (status != GI_OK) return status;
        ms[i] = gi_bench_cpu_ms(bench, copy_openmp, &copy);
        size_label(sizes[i], label, sizeof label);
        gi_bench_row(bench, label);
        gi_bench_number(bench, ms[i] * 1e3);
        gi_bench_number(bench, (double)sizes[i] / ms[i] * 1e-6);
    }
    fit_note(bench, "OpenMP", sizes, ms, count);
    return GI_OK;
}

#ifdef __CUDACC__
// ---- on the GPU -----------------------------------------------------------------------------------------------------

#include "kernels/demos/pinned.cuh"

namespace {

// One direction, by the host's clock: a program waits for the whole call, not for the engine alone.
struct transfer {
    void *to;
    const void *from;
    size_t bytes;
    cudaMemcpyKind kind;
    cudaError_t error;
};

void copy_once(void *context) {
    transfer *t = (transfer *)context;
    cudaError_t error = cudaMemcpyAsync(t->to, t->from, t->bytes, t->kind);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    if (error != cudaSuccess) t->error = error;
}

// There and back has to give the same bytes. Then either direction is timed.
gi_status time_pair(gi_bench *bench, transfer up, transfer down, double *up_ms, double *down_ms, gi_error *err) {
    memset(down.to, 0xff, down.bytes);
    copy_once(&up);
    GI_TRY_CUDA(up.error);
    copy_once(&down);
    GI_TRY_CUDA(down.error);
    GI_TRY(gi_bench_expect(memcmp(up.from, down.to, up.bytes) == 0, "there and back", err));
    *up_ms = gi_bench_cpu_ms(bench, copy_once, &up);
    GI_TRY_CUDA(up.error);
    *down_ms = gi_bench_cpu_ms(bench, copy_once, &down);
    GI_TRY_CUDA(down.error);
    return GI_OK;
}

gi_status measure_memory(gi_bench *bench, const char *title, host_copy host, const size_t *sizes, int count,
                         gi_error *err) {
    static const char *const columns[] = {"up us", "up GB/s", "down us", "down GB/s"};
    double up_ms[MOST_SIZES], down_ms[MOST_SIZES];
    gi::demo::device_array<uint8_t> there;
    GI_TRY(there.allocate(host.bytes, err));
    gi_bench_table(bench, title, columns, 4);
    gi_bench_bar(bench, "up GB/s");
    for (int i = 0; i < count; i++) {
        const transfer up = {there.data, host.from, sizes[i], cudaMemcpyHostToDevice, cudaSuccess};
        const transfer down = {host.to, there.data, sizes[i], cudaMemcpyDeviceToHost, cudaSuccess};
        char label[32];
        GI_TRY(time_pair(bench, up, down, &up_ms[i], &down_ms[i], err));
        size_label(sizes[i], label, sizeof label);
        gi_bench_row(bench, label);
        gi_bench_number(bench, up_ms[i] * 1e3);
        gi_bench_number(bench, (double)sizes[i] / up_ms[i] * 1e-6);
        gi_bench_number(bench, down_ms[i] * 1e3);
        gi_bench_number(bench, (double)sizes[i] / down_ms[i] * 1e-6);
    }
    fit_note(bench, "up", sizes, up_ms, count);
    fit_note(bench, "down", sizes, down_ms, count);
    return GI_OK;
}

gi_status measure_on_gpu(gi_bench *bench, host_copy pageable, const size_t *sizes, int count, gi_error *err) {
    gi::demo::pinned_array<uint8_t> from, to;
    GI_TRY(from.allocate(pageable.bytes, err));
    GI_TRY(to.allocate(pageable.bytes, err));
    memcpy(from.data, pageable.from, pageable.bytes);
    const host_copy pinned = {from.data, to.data, pageable.bytes};
    GI_TRY(measure_memory(bench, "host and device, pinned memory", pinned, sizes, count, err));
    return measure_memory(bench, "host and device, pageable memory", pageable, sizes, count, err);
}

} // namespace
#endif

// ---- the tables -----------------------------------------------------------------------------------------------------

static gi_status run(gi_bench *bench, gi_error *err) {
    size_t sizes[MOST_SIZES];
    const size_t largest = (size_t)gi_bench_size(bench, 1LL << 28, 1LL << 20);
    const int count = list_sizes(largest, sizes);
    uint8_t *from = (uint8_t *)malloc(largest), *to = (uint8_t *)malloc(largest);
    gi_status status = GI_OK;
    if (!from || !to) status = gi_fail(err, GI_ERR_MEMORY, "no memory for two blocks of %zu bytes", largest);
    if (status == GI_OK) {
        const host_copy copy = {from, to, largest};
        gi_bench_fill_bytes(from, largest, 1);
        status = measure_on_cpu(bench, copy, sizes, count, err);
        if (status == GI_OK && !gi_bench_gpu(bench)) gi_bench_missing(bench, "host and device", gi_bench_no_gpu(bench));
#ifdef __CUDACC__
        if (status == GI_OK && gi_bench_gpu(bench)) status = measure_on_gpu(bench, copy, sizes, count, err);
#endif
    }
    free(from);
    free(to);
    return status;
}

const gi_demo gi_demo_transfer = {
    "transfer",
    "time of copies between host and device by size, pinned and pageable",
    "A small copy costs its latency and a large one its bytes; pageable memory is copied twice, so that only pinned "
    "memory can reach what the bus carries.",
    run,
};
