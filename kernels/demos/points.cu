// points: gray and threshold, with blocks of 128, 256 and 512 threads.
//
//     gray       g = (9798 r + 19235 g + 3735 b + 16384) / 32768, the weights 0.299, 0.587 and 0.114 in integers
//     threshold  t = v > 128 ? 255 : 0
//
// A pixel depends on no other. The lecture gives each a thread, and asks how many threads a block should have:
//
//     image    . . . . . . . . . . . . . . . . . . . .        block 0    block 1    block 2
//     threads  0 1 2 3 ... 127 | 0 1 2 3 ... 127 | ...        128, 256 or 512 of them
//
// A multiprocessor holds 2048 threads, be they 16 blocks of 128 or 4 of 512: the occupancy is the same, 100 per cent.
// And yet 128 may take twice as long: with one pixel a thread a block is over before the next can be started. An H200
// starts about one and a half blocks in a nanosecond, so that 8K takes 0.16 ms in blocks of 128. From 256 on the loads
// are the limit: a warp that loads a byte a thread asks for 32 bytes, where one instruction could fetch 512. The last
// row gives a thread 16 bytes at a time (kernels/point.cu): fewer blocks and fewer loads, at the speed of a copy.
//
// Nsight Compute: ncu --section Occupancy --section MemoryWorkloadAnalysis gpuimg bench points
//     launch__occupancy_limit_blocks, sm__warps_active.avg.pct_of_peak_sustained_active    what may be, and what is
//     dram__throughput.avg.pct_of_peak_sustained_elapsed     what differs between the rows
//     smsp__inst_executed.sum                                instructions: sixteen times as many for a byte a thread
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/demos.h"
#include "cpu/ops.h"
#ifdef __CUDACC__
#include "kernels/demos/demo.cuh"
#include "kernels/launch.h"
#endif

#ifdef __CUDACC__
#define BOTH_SIDES __host__ __device__
#else
#define BOTH_SIDES
#endif

enum { LEVEL = 128 };

// The pixel's rule, the same for both sides.
static inline BOTH_SIDES uint8_t gray_of(const uint8_t *rgb) {
    return (uint8_t)((9798U * rgb[0] + 19235U * rgb[1] + 3735U * rgb[2] + 16384U) >> 15);
}
static inline BOTH_SIDES uint8_t threshold_of(uint8_t v) { return v > LEVEL ? 255 : 0; }

typedef struct image {
    uint8_t *in, *out, *wanted;
    uint32_t width, height;
    size_t pixels;
    int channels; // 3: gray; 1: threshold
    int threads;
} image;

// ---- on the CPU ---------------------------------------------------------------------------------------------------

static void compute_openmp(void *context) {
    const image *i = (const image *)context;
    const uint8_t *in = i->in;
    uint8_t *out = i->out;
    if (i->channels == 3) {
#pragma omp parallel for
        for (size_t p = 0; p < i->pixels; p++) out[p] = gray_of(in + 3 * p);
    } else {
#pragma omp parallel for
        for (size_t p = 0; p < i->pixels; p++) out[p] = threshold_of(in[p]);
    }
}

// The stages themselves, on either side.
static gi_point stage_of(const image *i) {
    gi_point stage = gi_point_identity(i->channels, GI_U8);
    if (i->channels == 3) {
        stage.mix = GI_MIX_WEIGHTS;
        stage.weights[0] = 9798;
        stage.weights[1] = 19235;
        stage.weights[2] = 3735;
    } else {
        stage.before[0].kind = GI_CURVE_THRESHOLD;
        stage.before[0].level = LEVEL;
    }
    return stage;
}

static gi_view view_of(const image *i, void *data, int channels, gi_where where) {
    const gi_shape shape = {i->width, i->height, channels, GI_U8};
    return gi_view_packed(data, shape, where);
}

// The project's own: a few vectors at a time (cpu/point_x86.c).
static void compute_gpuimg(void *context) {
    const image *i = (const image *)context;
    const gi_point stage = stage_of(i);
    gi_error err;
    gi_cpu_job job;
    memset(&job, 0, sizeof job);
    job.in = view_of(i, i->in, i->channels, GI_HOST);
    job.out = view_of(i, i->out, 1, GI_HOST);
    job.args = &stage;
    job.threads = i->threads;
    if (gi_cpu_point(&job, &err) != GI_OK) memset(i->out, 1, i->pixels);
}

// In double: the integers' result may be off by the rounding of the weights alone.
static double largest_error(const image *i) {
    double largest = 0;
#pragma omp parallel for reduction(max : largest)
    for (size_t p = 0; p < i->pixels; p++) {
        const uint8_t *v = i->in + p * (size_t)i->channels;
        const double exact = i->channels == 3 ? 0.299 * v[0] + 0.587 * v[1] + 0.114 * v[2] : v[0] > LEVEL ? 255 : 0;
        const double error = fabs(i->out[p] - exact);
        if (error > largest) largest = error;
    }
    return largest;
}

static double bytes_of(const image *i) { return (double)i->pixels * (i->channels + 1); }

#ifdef __CUDACC__
// ---- on the GPU ---------------------------------------------------------------------------------------------------

namespace {

using gi::demo::device_array;
using gi::demo::divide_up;
using gi::demo::meter;

// A thread a pixel, a byte an access.
__global__ void gray_kernel(const uint8_t *in, uint8_t *out, size_t pixels) {
    const size_t p = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (p < pixels) out[p] = gray_of(in + 3 * p);
}

__global__ void threshold_kernel(const uint8_t *in, uint8_t *out, size_t pixels) {
    const size_t p = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (p < pixels) out[p] = threshold_of(in[p]);
}

// As `gpuimg gray` and `gpuimg threshold` run it.
gi_status launch_stage(const image *i, uint8_t *in, uint8_t *out, gi_error *err) {
    gi_device_point operation = {stage_of(i), {}};
    gi_job job = {};
    job.in = view_of(i, in, i->channels, GI_DEVICE);
    job.out = view_of(i, out, 1, GI_DEVICE);
    job.args = &operation;
    return gi_cuda_point(&job, err);
}

struct place { // where the image lies on the device, and what its rows of the table share
    device_array<uint8_t> in, out;
    gi_bench_figures figures;
};

template <typename Work>
gi_status measure_work(gi_bench *bench, meter &gpu, image *i, place &at, const char *label, Work work, gi_error *err) {
    GI_TRY(at.out.clear(err));
    GI_TRY(gpu.run(work, err));
    GI_TRY(at.out.download(i->out, err));
    GI_TRY(gi_bench_expect(memcmp(i->out, i->wanted, i->pixels) == 0, label, err));
    GI_TRY(gpu.median_ms(work, &at.figures.ms, err));
    gi_bench_memory_row(bench, label, &at.figures);
    return GI_OK;
}

gi_status measure_on_gpu(gi_bench *bench, image *i, gi_bench_figures figures, gi_error *err) {
    static const int sizes[] = {128, 256, 512};
    static const char *const labels[] = {"128 threads a block", "256 threads a block", "512 threads a block"};
    const auto kernel = i->channels == 3 ? gray_kernel : threshold_kernel;
    double shares[3];
    int blocks[3];
    meter gpu;
    place at;
    at.figures = figures;
    GI_TRY(gpu.open(bench, err));
    GI_TRY(at.in.allocate(i->pixels * i->channels, err));
    GI_TRY(at.out.allocate(i->pixels, err));
    GI_TRY(at.in.upload(i->in, err));
    GI_TRY(gpu.copy_ms((size_t)figures.bytes, &at.figures.copy_ms, err));
    GI_TRY(gpu.transfers_ms(at.in.bytes(), at.out.bytes(), &at.figures.transfers_ms, err));
    for (int s = 0; s < 3; s++) {
        const int threads = sizes[s];
        const unsigned grid = (unsigned)divide_up(i->pixels, (size_t)threads);
        auto work = [&] { kernel<<<grid, threads>>>(at.in.data, at.out.data, i->pixels); };
        GI_TRY(measure_work(bench, gpu, i, at, labels[s], work, err));
        GI_TRY(gpu.occupancy(kernel, threads, 0, &blocks[s], &shares[s], err));
    }
    auto stage = [&] { return launch_stage(i, at.in.data, at.out.data, err); };
    GI_TRY(measure_work(bench, gpu, i, at, i->channels == 3 ? "gpuimg gray, 16 bytes" : "gpuimg threshold, 16 bytes",
                        stage, err));
    gi_bench_note(bench,
                  "128, 256, 512 threads: %d, %d, %d blocks at once on a multiprocessor, occupancy %.0f, %.0f, %.0f %%",
                  blocks[0], blocks[1], blocks[2], 100 * shares[0], 100 * shares[1], 100 * shares[2]);
    return GI_OK;
}

} // namespace
#endif

// ---- the tables ---------------------------------------------------------------------------------------------------

static gi_status measure_cpu(gi_bench *bench, image *i, const char *label, void (*work)(void *),
                             gi_bench_figures *figures, gi_error *err) {
    work(i);
    figures->error = largest_error(i);
    gi_status status = gi_bench_expect(figures->error <= (i->channels == 3 ? 0.51 : 0), label, err);
    if (status != GI_OK) return status;
    memcpy(i->wanted, i->out, i->pixels);
    figures->ms = gi_bench_cpu_ms(bench, work, i);
    if (work == compute_gpuimg) figures->cpu_ms = figures->ms;
    gi_bench_memory_row(bench, label, figures);
    return GI_OK;
}

static gi_status measure(gi_bench *bench, image *i, gi_error *err) {
    gi_bench_figures figures = {NAN, bytes_of(i), NAN, NAN, NAN, NAN};
    char title[80];
    snprintf(title, sizeof title, "%s, %u x %u", i->channels == 3 ? "gray from RGB" : "threshold of gray", i->width,
             i->height);
    gi_bench_memory_table(bench, title);
    gi_status status = measure_cpu(bench, i, "OpenMP, gpuimg", compute_gpuimg, &figures, err);
    if (status == GI_OK) status = measure_cpu(bench, i, "OpenMP, loop", compute_openmp, &figures, err);
    if (status != GI_OK) return status;
#ifdef __CUDACC__
    if (gi_bench_gpu(bench)) return measure_on_gpu(bench, i, figures, err);
#endif
    gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
    return GI_OK;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    image i;
    memset(&i, 0, sizeof i);
    gi_status status = gi_bench_image(bench, &i.width, &i.height, err);
    if (status != GI_OK) return status;
    i.pixels = (size_t)i.width * i.height;
    i.threads = gi_bench_threads(bench);
    i.in = (uint8_t *)malloc(i.pixels * 3);
    i.out = (uint8_t *)malloc(i.pixels);
    i.wanted = (uint8_t *)malloc(i.pixels);
    if (!i.in || !i.out || !i.wanted) status = gi_fail(err, GI_ERR_MEMORY, "no memory for %zu pixels", i.pixels);
    if (status == GI_OK) gi_bench_fill_bytes(i.in, i.pixels * 3, 1);
    for (i.channels = 3; i.channels > 0 && status == GI_OK; i.channels -= 2) {
        status = measure(bench, &i, err);
        gi_bench_note(bench, "times OpenMP: of gpuimg's stage on the CPU; error: of the rounded levels, in levels");
    }
    free(i.in);
    free(i.out);
    free(i.wanted);
    return status;
}

const gi_demo gi_demo_points = {
    "points",
    "gray and threshold of an 8K image with 128, 256 and 512 threads a block",
    "All sizes of blocks fill the multiprocessors alike, but small blocks with one pixel a thread are over before "
    "the next are started: what helps is more bytes for each thread.",
    run,
};
