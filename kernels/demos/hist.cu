// hist: counting in bins, by atomic additions in the one place or in another.
//
//     count[v] = how many samples have the level v
//
// Every sample is an addition to one of a few counters, and additions to one counter must go one after the other. Three
// questions decide how long they wait:
//
// Where are the counters? In global memory all multiprocessors queue for the same few addresses. Privatised, each block
// has counters of its own in shared memory, and adds them to the global ones once, at its end:
//
//     global                             privatised
//     samples  ....................      samples  ....... | ....... | .......
//                \\\\\ | /////                     \|/       \|/       \|/
//     counters   [ ][ ][ ][ ]            shared   [ ][ ]    [ ][ ]    [ ][ ]
//                                                      \       |       /
//                                        global         [ ][ ][ ][ ]
//
// Which samples does a thread take? Segmented, thread 0 takes the first hundred, thread 1 the next: a warp's loads are
// then spread over 32 places, each a transaction of its own. Interleaved, neighbours take neighbours, and a warp's load
// is one transaction:
//
//     segmented    0000000011111111222222223333333       interleaved   0123012301230123012301230123012
//
// In an 8K image that makes no difference on an H200, where a segment of some hundred bytes is one line of the L1
// cache, which keeps it while the thread goes through it. In the longer text it costs a tenth; before there were such
// caches it was the difference between a fast kernel and a slow one.
//
// How often do lanes meet? With 256 levels of noise seldom; in a constant image, or with letters in seven bins, nearly
// always. Global counters then take six times as long. Shared ones hardly mind on a GPU of today, and to count in a
// register as long as the bin stays the same (aggregation) costs more than it saves; on the first GPUs it was worth
// much. What is left are 33 million loads of a byte each: gpuimg hist loads 16 at a time, and gives each level several
// counters, for different lanes (kernels/hist.cu).
//
// Nsight Compute: ncu --section MemoryWorkloadAnalysis_Tables gpuimg bench hist
//     l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum               segmented: up to 32 times as many sectors
//     lts__t_sectors_op_red.sum                                    reductions that reach the L2 cache: global atomics
//     l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum   lanes that meet in shared memory
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/demos.h"
#include "cpu/ops.h"
#ifdef __CUDACC__
#include <cub/device/device_histogram.cuh>

#include "kernels/demos/demo.cuh"
#include "kernels/launch.h"
#endif

enum { LEVELS = 256, LETTERS = 26, BINS = 7 }; // a-d, e-h, ... y-z

typedef struct samples {
    uint8_t *data;
    size_t count;
    uint32_t width, height; // of the image; 0: a text
    bool text;              // letters to BINS bins; else bytes to LEVELS
    int threads;
    unsigned counts[LEVELS];
    unsigned wanted[LEVELS];
} samples;

// The bin of a letter; of anything else, the last one.
#ifdef __CUDACC__
__host__ __device__
#endif
    static inline unsigned
    letter_bin(uint8_t letter) {
    return letter >= 'a' && letter < 'a' + LETTERS ? (unsigned)(letter - 'a') / 4 : BINS - 1;
}

// ---- on the CPU ---------------------------------------------------------------------------------------------------

// Privatised too: counters for each thread.
static void count_openmp(void *context) {
    samples *s = (samples *)context;
    const uint8_t *data = s->data;
    unsigned *counts = s->counts;
    memset(counts, 0, sizeof s->counts);
#pragma omp parallel
    {
        unsigned mine[LEVELS] = {0};
        if (s->text) {
#pragma omp for nowait
            for (size_t i = 0; i < s->count; i++) mine[letter_bin(data[i])]++;
        } else {
#pragma omp for nowait
            for (size_t i = 0; i < s->count; i++) mine[data[i]]++;
        }
#pragma omp critical
        for (int b = 0; b < LEVELS; b++) counts[b] += mine[b];
    }
}

static void take_counts(samples *s, const uint64_t *found) {
    for (int b = 0; b < LEVELS; b++) s->counts[b] = (unsigned)found[b];
}

static gi_view view_of(const samples *s, void *data, gi_where where) {
    const gi_shape shape = {s->width, s->height, 1, GI_U8};
    return gi_view_packed(data, shape, where);
}

// The project's own: several counters for each level, so that equal neighbours do not wait for each other (cpu/hist.c).
static void count_gpuimg(void *context) {
    samples *s = (samples *)context;
    uint64_t found[LEVELS] = {0};
    gi_error err;
    gi_cpu_job job;
    memset(&job, 0, sizeof job);
    job.in = view_of(s, s->data, GI_HOST);
    job.counts = found;
    job.threads = s->threads;
    if (gi_cpu_hist(&job, &err) != GI_OK) memset(found, 0, sizeof found);
    take_counts(s, found);
}

// The same by one thread, in the simplest way.
static void count_reference(samples *s) {
    memset(s->wanted, 0, sizeof s->wanted);
    for (size_t i = 0; i < s->count; i++) s->wanted[s->text ? letter_bin(s->data[i]) : s->data[i]]++;
}

static gi_status check(const samples *s, const char *what, gi_error *err) {
    return gi_bench_expect(memcmp(s->counts, s->wanted, sizeof s->counts) == 0, what, err);
}

#ifdef __CUDACC__
// ---- on the GPU ---------------------------------------------------------------------------------------------------

namespace {

using gi::demo::device_array;
using gi::demo::divide_up;
using gi::demo::meter;

constexpr int THREADS = 256;

template <bool Text> __device__ unsigned bin_of(uint8_t sample) { return Text ? letter_bin(sample) : sample; }

// Counters in global memory; a thread has a segment of the samples.
template <bool Text> __global__ void global_segmented_kernel(const uint8_t *data, size_t count, unsigned *counts) {
    const size_t threads = (size_t)gridDim.x * blockDim.x, each = (count + threads - 1) / threads;
    const size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * each;
    for (size_t i = first; i < first + each && i < count; i++) atomicAdd(&counts[bin_of<Text>(data[i])], 1U);
}

// The same, but neighbours take neighbours.
template <bool Text> __global__ void global_interleaved_kernel(const uint8_t *data, size_t count, unsigned *counts) {
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        atomicAdd(&counts[bin_of<Text>(data[i])], 1U);
}

template <bool Text> __device__ void clear(unsigned *mine) {
    for (int b = (int)threadIdx.x; b < (Text ? BINS : LEVELS); b += THREADS) mine[b] = 0;
    __syncthreads();
}

template <bool Text> __device__ void add_up(const unsigned *mine, unsigned *counts) {
    __syncthreads();
    for (int b = (int)threadIdx.x; b < (Text ? BINS : LEVELS); b += THREADS)
        if (mine[b]) atomicAdd(&counts[b], mine[b]);
}

// Counters in shared memory, added to the global ones at the end.
template <bool Text> __global__ void private_segmented_kernel(const uint8_t *data, size_t count, unsigned *counts) {
    __shared__ unsigned mine[LEVELS];
    const size_t threads = (size_t)gridDim.x * blockDim.x, each = (count + threads - 1) / threads;
    const size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * each;
    clear<Text>(mine);
    for (size_t i = first; i < first + each && i < count; i++) atomicAdd(&mine[bin_of<Text>(data[i])], 1U);
    add_up<Text>(mine, counts);
}

template <bool Text> __global__ void private_interleaved_kernel(const uint8_t *data, size_t count, unsigned *counts) {
    __shared__ unsigned mine[LEVELS];
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    clear<Text>(mine);
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        atomicAdd(&mine[bin_of<Text>(data[i])], 1U);
    add_up<Text>(mine, counts);
}

// Aggregated: as long as the bin stays the same, a register counts.
template <bool Text> __global__ void aggregated_kernel(const uint8_t *data, size_t count, unsigned *counts) {
    __shared__ unsigned mine[LEVELS];
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    unsigned bin = 0, run = 0;
    clear<Text>(mine);
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const unsigned next = bin_of<Text>(data[i]);
        if (next != bin) {
            if (run) atomicAdd(&mine[bin], run);
            bin = next;
            run = 0;
        }
        run++;
    }
    if (run) atomicAdd(&mine[bin], run);
    add_up<Text>(mine, counts);
}

struct place {
    device_array<uint8_t> data;
    device_array<unsigned> counts;
    gi_bench_figures figures;
};

// A launch, with what it adds to set to zero before: that is part of the work.
template <typename Work>
gi_status measure_work(gi_bench *bench, meter &gpu, samples *s, place &at, const char *label, Work work,
                       gi_error *err) {
    auto all = [&]() -> gi_status {
        GI_TRY_CUDA(cudaMemsetAsync(at.counts.data, 0, at.counts.bytes()));
        return work();
    };
    GI_TRY(gpu.run(all, err));
    GI_TRY(at.counts.download(s->counts, err));
    GI_TRY(check(s, label, err));
    GI_TRY(gpu.median_ms(all, &at.figures.ms, err));
    gi_bench_memory_row(bench, label, &at.figures);
    return GI_OK;
}

template <typename Kernel>
gi_status measure_kernel(gi_bench *bench, meter &gpu, samples *s, place &at, const char *label, Kernel kernel,
                         gi_error *err) {
    const unsigned grid = 8 * gpu.properties.multiProcessorCount; // 2048 threads each: all that it can hold
    auto work = [&] {
        kernel<<<grid, THREADS>>>(at.data.data, s->count, at.counts.data);
        return GI_OK;
    };
    return measure_work(bench, gpu, s, at, label, work, err);
}

template <bool Text> gi_status measure_classics(gi_bench *bench, meter &gpu, samples *s, place &at, gi_error *err) {
    GI_TRY(measure_kernel(bench, gpu, s, at, "global, segmented", global_segmented_kernel<Text>, err));
    GI_TRY(measure_kernel(bench, gpu, s, at, "global, interleaved", global_interleaved_kernel<Text>, err));
    GI_TRY(measure_kernel(bench, gpu, s, at, "private, segmented", private_segmented_kernel<Text>, err));
    GI_TRY(measure_kernel(bench, gpu, s, at, "private, interleaved", private_interleaved_kernel<Text>, err));
    return measure_kernel(bench, gpu, s, at, "private, aggregated", aggregated_kernel<Text>, err);
}

// The stage itself (kernels/hist.cu), whose counts have 64 bits.
gi_status measure_stage(gi_bench *bench, meter &gpu, samples *s, place &at, gi_error *err) {
    device_array<uint64_t> counts;
    uint64_t found[LEVELS];
    GI_TRY(counts.allocate(LEVELS, err));
    gi_job job = {};
    job.in = view_of(s, at.data.data, GI_DEVICE);
    job.counts = counts.data;
    device_array<uint8_t> scratch;
    GI_TRY(scratch.allocate(gi_cuda_hist_scratch(&job), err));
    job.scratch = scratch.data;
    auto work = [&]() -> gi_status {
        GI_TRY_CUDA(cudaMemsetAsync(counts.data, 0, counts.bytes()));
        return gi_cuda_hist(&job, err);
    };
    GI_TRY(gpu.run(work, err));
    GI_TRY(counts.download(found, err));
    take_counts(s, found);
    GI_TRY(check(s, "gpuimg hist", err));
    GI_TRY(gpu.median_ms(work, &at.figures.ms, err));
    gi_bench_memory_row(bench, "gpuimg hist", &at.figures);
    return GI_OK;
}

// NVIDIA's library, which sets the counts to zero itself.
gi_status measure_cub(gi_bench *bench, meter &gpu, samples *s, place &at, gi_error *err) {
    size_t bytes = 0;
    device_array<uint8_t> scratch;
    auto call = [&](void *memory) {
        return cub::DeviceHistogram::HistogramEven(memory, bytes, at.data.data, at.counts.data, LEVELS + 1, 0,
                                                   (int)LEVELS, (int)s->count);
    };
    GI_TRY_CUDA(call(nullptr));
    GI_TRY(scratch.allocate(bytes, err));
    auto work = [&] { return gi_cuda_check(call(scratch.data), "CUB's histogram", err); };
    GI_TRY(gpu.run(work, err));
    GI_TRY(at.counts.download(s->counts, err));
    GI_TRY(check(s, "CUB", err));
    GI_TRY(gpu.median_ms(work, &at.figures.ms, err));
    gi_bench_memory_row(bench, "CUB", &at.figures);
    return GI_OK;
}

gi_status measure_on_gpu(gi_bench *bench, samples *s, gi_bench_figures figures, gi_error *err) {
    meter gpu;
    place at;
    at.figures = figures;
    GI_TRY(gpu.open(bench, err));
    GI_TRY(at.data.allocate(s->count, err));
    GI_TRY(at.counts.allocate(LEVELS, err));
    GI_TRY(at.data.upload(s->data, err));
    GI_TRY(gpu.copy_ms((size_t)figures.bytes, &at.figures.copy_ms, err));
    GI_TRY(gpu.transfers_ms(s->count, sizeof s->counts, &at.figures.transfers_ms, err));
    if (s->text) return measure_classics<true>(bench, gpu, s, at, err);
    GI_TRY(measure_classics<false>(bench, gpu, s, at, err));
    GI_TRY(measure_stage(bench, gpu, s, at, err));
    return s->count <= INT32_MAX ? measure_cub(bench, gpu, s, at, err) : GI_OK;
}

} // namespace
#endif

// ---- the tables ---------------------------------------------------------------------------------------------------

static gi_status measure_cpu(gi_bench *bench, samples *s, const char *label, void (*work)(void *),
                             gi_bench_figures *figures, gi_error *err) {
    work(s);
    gi_status status = check(s, label, err);
    if (status != GI_OK) return status;
    figures->ms = gi_bench_cpu_ms(bench, work, s);
    if (work == count_gpuimg || s->text) figures->cpu_ms = figures->ms;
    gi_bench_memory_row(bench, label, figures);
    return GI_OK;
}

static gi_status measure(gi_bench *bench, samples *s, const char *title, gi_error *err) {
    gi_bench_figures figures = {NAN, (double)s->count, NAN, NAN, NAN, 0};
    gi_status status = GI_OK;
    count_reference(s);
    gi_bench_memory_table(bench, title);
    if (!s->text) status = measure_cpu(bench, s, "OpenMP, gpuimg hist", count_gpuimg, &figures, err);
    if (status == GI_OK) status = measure_cpu(bench, s, "OpenMP, loop", count_openmp, &figures, err);
    if (!s->text) gi_bench_note(bench, "times OpenMP: of gpuimg hist on the CPU");
    if (status != GI_OK) return status;
#ifdef __CUDACC__
    if (gi_bench_gpu(bench)) return measure_on_gpu(bench, s, figures, err);
#endif
    gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
    return GI_OK;
}

// Words of random letters; one character in eight is a blank or a full stop.
static void make_text(samples *s) {
    gi_bench_fill_bytes(s->data, s->count, 3);
#pragma omp parallel for
    for (size_t i = 0; i < s->count; i++) {
        const uint8_t random = s->data[i];
        s->data[i] = (uint8_t)(random < 28 ? ' ' : random < 32 ? '.' : 'a' + random % LETTERS);
    }
}

static gi_status measure_image(gi_bench *bench, samples *s, gi_error *err) {
    char title[80];
    snprintf(title, sizeof title, "256 levels, %u x %u, noise", s->width, s->height);
    gi_bench_fill_bytes(s->data, s->count, 1);
    gi_status status = measure(bench, s, title, err);
    snprintf(title, sizeof title, "256 levels, %u x %u, constant", s->width, s->height);
    memset(s->data, 77, s->count);
    return status == GI_OK ? measure(bench, s, title, err) : status;
}

// Longer than the image, so that a thread's segment is longer than what a cache keeps for it.
static gi_status measure_text(gi_bench *bench, samples *s, gi_error *err) {
    char title[80];
    snprintf(title, sizeof title, "letters of a text in 7 bins, %zu characters", s->count);
    s->text = true;
    make_text(s);
    gi_status status = measure(bench, s, title, err);
    gi_bench_note(bench, "bins of four letters: a-d, e-h, i-l, m-p, q-t, u-x; y, z and all else");
    return status;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    samples s;
    memset(&s, 0, sizeof s);
    gi_status status = gi_bench_image(bench, &s.width, &s.height, err);
    if (status != GI_OK) return status;
    const size_t pixels = (size_t)s.width * s.height;
    const size_t characters = gi_bench_size(bench, 0, 0) ? pixels : (size_t)gi_bench_size(bench, 1LL << 28, 40009);
    s.data = (uint8_t *)malloc(pixels > characters ? pixels : characters);
    if (!s.data) return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu samples", pixels);
    s.threads = gi_bench_threads(bench);
    s.count = pixels;
    status = measure_image(bench, &s, err);
    s.count = characters;
    if (status == GI_OK) status = measure_text(bench, &s, err);
    free(s.data);
    return status;
}

const gi_demo gi_demo_hist = {
    "hist",
    "histograms: global atomics or private counters, segmented or interleaved input",
    "All multiprocessors queue for counters in global memory, the longer the fewer are in use; counters of each "
    "block's own end that, and then it is loads of single bytes that cost.",
    run,
};
