// coalescing: the same values in another order.
//
//     gather   out[t] = in[walk(t)]         walk(t) = (t mod n/s) * s + t div n/s
//     scatter  out[walk(t)] = in[t]         shifted  out[t] = in[t + 1]
//
// With stride s neighbouring threads are s values apart. Every value is read once and written once, whatever s is: what
// differs is the order alone.
//
// The picture: memory is delivered in sectors of 32 bytes, boxes of eight floats. The 32 lanes of a warp that read 32
// neighbours open 4 boxes and use all that is in them. At stride 2 they open 8 boxes and use half, at stride 8 and
// above 32 boxes, one float of each. The rest of a box is needed by some other warp much later, when the cache has long
// forgotten it, and is fetched again:
//     stride 1   |########|########|########|########|          4 sectors a warp
//     stride 2   |# # # # |# # # # | ... |                      8
//     stride 8   |#       |#       | ... |                      32, of each an eighth is used
// Above 8 the sectors stay 32, but the memory's own pages hold fewer of them that are wanted together.
// The shift by one value costs next to nothing: a warp opens one box more, which its neighbour in the cache also needs.
// So: let thread t take element t; keep arrays of members rather than arrays of structs; turn matrices through shared
// memory (see the demonstration `banks`).
//
// What to look at in ncu:
//     l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio   4 is best for float
//     smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct          share of the bytes fetched that is used
//     dram__bytes_read.sum                                                   against 4 n
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/demos.h"
#include "core/host_device.h"

typedef enum direction { GATHER, SCATTER, SHIFTED } direction;

typedef struct walk {
    direction kind;
    unsigned stride_bits; // stride 2^stride_bits
    unsigned row_bits;    // n / stride = 2^row_bits
} walk;

GI_HOST_DEVICE static inline size_t walk_to(walk w, size_t t) {
    const size_t row = t & (((size_t)1 << w.row_bits) - 1);
    return (row << w.stride_bits) + (t >> w.row_bits);
}

// ---- on the CPU -----------------------------------------------------------------------------------------------------

typedef struct job {
    const float *in; // count + 1 values: SHIFTED reads one more
    float *out;
    size_t count; // a power of two, at least 1024
    walk order;
} job;

static void copy_openmp(void *context) {
    const job *work = (const job *)context;
    const walk order = work->order;
    const float *in = work->in;
    float *out = work->out;
    if (order.kind == GATHER) {
#pragma omp parallel for
        for (size_t t = 0; t < work->count; t++) out[t] = in[walk_to(order, t)];
    } else if (order.kind == SCATTER) {
#pragma omp parallel for
        for (size_t t = 0; t < work->count; t++) out[walk_to(order, t)] = in[t];
    } else {
#pragma omp parallel for
        for (size_t t = 0; t < work->count; t++) out[t] = in[t + 1];
    }
}

static const char *row_label(walk order, char *label, size_t room) {
    static const char *const names[] = {"gather", "scatter"};
    if (order.kind == SHIFTED)
        snprintf(label, room, "shifted by one");
    else
        snprintf(label, room, "%s, stride %u", names[order.kind], 1U << order.stride_bits);
    return label;
}

// Every value has to be where the order puts it, found by division here rather than by bits.
static bool is_right(const job *work) {
    const size_t stride = (size_t)1 << work->order.stride_bits, rows = work->count / stride;
    bool right = true;
#pragma omp parallel for reduction(&& : right)
    for (size_t t = 0; t < work->count; t++) {
        const size_t there = t % rows * stride + t / rows;
        if (work->order.kind == GATHER) right = right && work->out[t] == work->in[there];
        if (work->order.kind == SCATTER) right = right && work->out[there] == work->in[t];
        if (work->order.kind == SHIFTED) right = right && work->out[t] == work->in[t + 1];
    }
    return right;
}

static gi_status time_openmp(gi_bench *bench, job *work, double *ms, gi_error *err) {
    char label[48];
    memset(work->out, 0xff, work->count * sizeof(float));
    copy_openmp(work);
    gi_status status = gi_bench_expect(is_right(work), row_label(work->order, label, sizeof label), err);
    if (status == GI_OK) *ms = gi_bench_cpu_ms(bench, copy_openmp, work);
    return status;
}

#ifdef __CUDACC__
// ---- on the GPU -----------------------------------------------------------------------------------------------------

#include "kernels/demos/demo.cuh"

namespace {

// Each thread moves four values, a block's width apart: with one load at a time even the best order would leave the
// memory waiting for loads.
constexpr int THREADS = 256, VALUES = 4;

__device__ size_t first_of_thread() { return (size_t)blockIdx.x * (VALUES * THREADS) + threadIdx.x; }

// Strided reads, coalesced writes. The count is a multiple of what a block moves.
__global__ void gather_kernel(const float *in, float *out, walk order) {
    const size_t first = first_of_thread();
    float values[VALUES];
#pragma unroll
    for (int j = 0; j < VALUES; j++) values[j] = in[walk_to(order, first + j * THREADS)];
#pragma unroll
    for (int j = 0; j < VALUES; j++) out[first + j * THREADS] = values[j];
}

// Coalesced reads, strided writes.
__global__ void scatter_kernel(const float *in, float *out, walk order) {
    const size_t first = first_of_thread();
    float values[VALUES];
#pragma unroll
    for (int j = 0; j < VALUES; j++) values[j] = in[first + j * THREADS];
#pragma unroll
    for (int j = 0; j < VALUES; j++) out[walk_to(order, first + j * THREADS)] = values[j];
}

// In order, but no warp begins where a sector does.
__global__ void shifted_kernel(const float *in, float *out) {
    const size_t first = first_of_thread();
    float values[VALUES];
#pragma unroll
    for (int j = 0; j < VALUES; j++) values[j] = in[first + j * THREADS + 1];
#pragma unroll
    for (int j = 0; j < VALUES; j++) out[first + j * THREADS] = values[j];
}

// *copy_ms: of the vendor's copy of the same bytes, asked for when it is 0.
gi_status time_gpu(gi::demo::meter &gpu, job *work, double *ms, double *copy_ms, gi_error *err) {
    gi::demo::device_array<float> in, out;
    char label[48];
    GI_TRY(in.allocate(work->count + 1, err));
    GI_TRY(out.allocate(work->count, err));
    GI_TRY(in.upload(work->in, err));
    GI_TRY(out.clear(err));
    const unsigned blocks = (unsigned)(work->count / (VALUES * THREADS));
    auto launch = [&] {
        if (work->order.kind == GATHER)
            gather_kernel<<<blocks, THREADS>>>(in.data, out.data, work->order);
        else if (work->order.kind == SCATTER)
            scatter_kernel<<<blocks, THREADS>>>(in.data, out.data, work->order);
        else
            shifted_kernel<<<blocks, THREADS>>>(in.data, out.data);
    };
    GI_TRY(gpu.run(launch, err));
    GI_TRY(out.download(work->out, err));
    GI_TRY(gi_bench_expect(is_right(work), row_label(work->order, label, sizeof label), err));
    GI_TRY(gpu.median_ms(launch, ms, err));
    if (*copy_ms == 0) GI_TRY(gpu.copy_ms(2 * work->count * sizeof(float), copy_ms, err));
    return GI_OK;
}

} // namespace
#endif

// ---- the table ------------------------------------------------------------------------------------------------------

// Sectors of 32 bytes that a warp's 32 floats lie in.
static double sectors_of(walk order) {
    const unsigned stride = 1U << order.stride_bits;
    return order.kind == SHIFTED ? 5 : stride < 8 ? 4 * stride : 32;
}

static void add_row(gi_bench *bench, const job *work, double cpu_ms, double gpu_ms, double copy_ms) {
    char label[48];
    gi_bench_row(bench, row_label(work->order, label, sizeof label));
    gi_bench_number(bench, gpu_ms);
    gi_bench_number(bench, 2.0 * (double)work->count * sizeof(float) / gpu_ms * 1e-6);
    gi_bench_number(bench, 100 * copy_ms / gpu_ms);
    gi_bench_number(bench, sectors_of(work->order));
    gi_bench_number(bench, cpu_ms);
    gi_bench_number(bench, cpu_ms / gpu_ms);
}

static gi_status measure(gi_bench *bench, job *work, gi_error *err) {
    static const char *const columns[] = {"ms", "GB/s", "% of copy", "sectors", "OpenMP ms", "times OpenMP"};
    unsigned bits = 0;
    gi_status status = GI_OK;
    while (((size_t)2 << bits) <= work->count) bits++;
    gi_bench_table(bench, "copies of all values in another order", columns, 6);
#ifdef __CUDACC__
    gi::demo::meter gpu;
    double copy_ms = 0;
    if (gi_bench_gpu(bench)) GI_TRY(gpu.open(bench, err));
#endif
    for (int kind = GATHER; kind <= SHIFTED; kind++)
        for (unsigned stride_bits = 0; stride_bits <= (kind == SHIFTED ? 0U : 5U) && status == GI_OK; stride_bits++) {
            const walk order = {(direction)kind, stride_bits, bits - stride_bits};
            double cpu_ms = NAN, gpu_ms = NAN, copy = NAN;
            work->order = order;
            status = time_openmp(bench, work, &cpu_ms, err);
#ifdef __CUDACC__
            if (status == GI_OK && gi_bench_gpu(bench)) {
                status = time_gpu(gpu, work, &gpu_ms, &copy_ms, err);
                copy = copy_ms;
            }
#endif
            if (status == GI_OK) add_row(bench, work, cpu_ms, gpu_ms, copy);
        }
    if (!gi_bench_gpu(bench)) gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
    gi_bench_note(bench,
                  "%zu floats; sectors: of 32 bytes, for the 32 lanes of a warp; GB/s of the bytes that are used",
                  work->count);
    return status;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    const long long wanted = gi_bench_size(bench, 1LL << 26, 1LL << 16);
    job work = {NULL, NULL, 1024, {GATHER, 0, 0}};
    while ((long long)work.count * 2 <= wanted) work.count *= 2; // a power of two, of 1024 at least
    float *in = (float *)malloc((work.count + 1) * sizeof(float));
    gi_status status = GI_OK;
    work.in = in;
    work.out = (float *)malloc(work.count * sizeof(float));
    if (!in || !work.out) status = gi_fail(err, GI_ERR_MEMORY, "no memory for twice %zu floats", work.count);
    if (status == GI_OK) {
        gi_bench_fill_floats(in, work.count + 1, 1);
        status = measure(bench, &work, err);
    }
    free(in);
    free(work.out);
    return status;
}

const gi_demo gi_demo_coalescing = {
    "coalescing",
    "reads and writes with strides 1 to 32, and shifted by one",
    "Memory is delivered in sectors of 32 bytes: the more of them a warp touches for its 32 values, the less of what "
    "is fetched is used, and the slower is the same copy.",
    run,
};
