// constant: a small table in constant, shared or global memory.
//
//     y = (...(t[0] x + t[1]) x + ...) x + t[255]        a polynomial of 256 coefficients for each value, by Horner
//
// read in two ways: all lanes of a warp take the same coefficient at a time (k), or each lane begins at a place of its
// own (k + lane, round the table), so that they take 32 different ones.
//
// The picture: constant memory is a teacher at a blackboard. What he writes is read by the whole class at once. Where
// the lesson plan says what comes next (the loop is unrolled whole: the compiler knows each place) he has it ready;
// where he has to look the page up each time (the place is in the loop's counter) the class waits for him. And when
// each pupil wants another page he turns the book for one after the other, up to 32 times as long. Shared memory is a
// shelf with 32 drawers (see `banks`): one number for all, or 32 from different drawers, in a cycle. Global memory
// comes through the L1 cache: where the table stays in it either way of reading will do, each by an instruction.
//
// What to look at in ncu:
//     smsp__inst_executed_pipe_fma.sum          the work, the same in every row
//     smsp__inst_executed.sum                   with what is needed to bring the coefficients
//     idc__requests.sum, idc__requests_lookup_hit.sum    the cache of indexed constants (LDC)
//     smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/demos.h"

enum { COEFFICIENTS = 256, LANES = 32, GROUP = 32 };

// ---- on the CPU -----------------------------------------------------------------------------------------------------

typedef struct job {
    const float *table; // COEFFICIENTS
    const float *in;
    float *out;
    size_t count;  // a multiple of GROUP
    bool own_lane; // lane l begins at coefficient l
} job;

// 32 values at a time, as a warp does; the compiler makes vector instructions of the inner loop.
static void evaluate_openmp(void *context) {
    const job *work = (const job *)context;
#pragma omp parallel for
    for (size_t begin = 0; begin < work->count; begin += GROUP) {
        float x[GROUP], y[GROUP];
        for (int l = 0; l < GROUP; l++) {
            x[l] = work->in[begin + (size_t)l];
            y[l] = 0;
        }
        for (int k = 0; k < COEFFICIENTS; k++)
            for (int l = 0; l < GROUP; l++)
                y[l] = y[l] * x[l] + work->table[work->own_lane ? (k + l) % COEFFICIENTS : k];
        memcpy(work->out + begin, y, sizeof y);
    }
}

// The largest difference from the same in double.
static double largest_error(const job *work) {
    double largest = 0;
#pragma omp parallel for reduction(max : largest)
    for (size_t i = 0; i < work->count; i++) {
        double y = 0;
        for (size_t k = 0; k < COEFFICIENTS; k++)
            y = y * work->in[i] + work->table[work->own_lane ? (k + i % LANES) % COEFFICIENTS : k];
        const double error = fabs(work->out[i] - y);
        if (!(error <= largest)) largest = error;
    }
    return largest;
}

// |x| <= 1/2 and |t| <= 1: |y| <= 2, and the roundings of all steps add up to a few units of the last place.
static gi_status check(const job *work, const char *what, double *error, gi_error *err) {
    *error = largest_error(work);
    return gi_bench_expect(*error <= 1e-6, what, err);
}

#ifdef __CUDACC__
// ---- on the GPU -----------------------------------------------------------------------------------------------------

#include "kernels/demos/demo.cuh"

namespace {

using gi::demo::device_array;
using gi::demo::meter;

constexpr int THREADS = 256;
__constant__ float constant_table[COEFFICIENTS];
enum class place { constant, shared, global };

// known     all lanes alike, and the loop unrolled whole: the compiler knows each place
// counted   all lanes alike, the place in a counter of the loop
// own_lane  each lane its own
enum class order { known, counted, own_lane };

template <place Where, order How>
__global__ void evaluate_kernel(const float *__restrict__ table, const float *in, float *out, size_t count) {
    __shared__ float shared_table[COEFFICIENTS];
    if (Where == place::shared) {
        for (int k = threadIdx.x; k < COEFFICIENTS; k += blockDim.x) shared_table[k] = table[k];
        __syncthreads();
    }
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int start = How == order::own_lane ? threadIdx.x % LANES : 0;
    const float x = in[i];
    float y = 0;
#pragma unroll(How == order::known ? COEFFICIENTS : 16)
    for (int k = 0; k < COEFFICIENTS; k++) {
        const int at = (k + start) % COEFFICIENTS;
        float t;
        if (Where == place::constant)
            t = constant_table[at];
        else if (Where == place::shared)
            t = shared_table[at];
        else
            t = table[at];
        y = y * x + t;
    }
    out[i] = y;
}

typedef void (*kernel_type)(const float *, const float *, float *, size_t);

gi_status measure_kernel(gi_bench *bench, meter &gpu, job *work, const char *label, kernel_type kernel, double cpu_ms,
                         gi_error *err) {
    device_array<float> table, in, out;
    double ms, error, transfers_ms;
    GI_TRY(table.allocate(COEFFICIENTS, err));
    GI_TRY(in.allocate(work->count, err));
    GI_TRY(out.allocate(work->count, err));
    GI_TRY(table.upload(work->table, err));
    GI_TRY(in.upload(work->in, err));
    GI_TRY(out.clear(err));
    GI_TRY_CUDA(cudaMemcpyToSymbol(constant_table, work->table, sizeof constant_table));
    const unsigned blocks = (unsigned)gi::demo::divide_up(work->count, THREADS);
    auto launch = [&] { kernel<<<blocks, THREADS>>>(table.data, in.data, out.data, work->count); };
    GI_TRY(gpu.run(launch, err));
    GI_TRY(out.download(work->out, err));
    GI_TRY(check(work, label, &error, err));
    GI_TRY(gpu.median_ms(launch, &ms, err));
    GI_TRY(gpu.transfers_ms(in.bytes(), out.bytes(), &transfers_ms, err));
    gi_bench_row(bench, label);
    gi_bench_number(bench, ms);
    gi_bench_number(bench, 2.0 * COEFFICIENTS * (double)work->count / ms * 1e-6);
    gi_bench_number(bench, cpu_ms / ms);
    gi_bench_number(bench, cpu_ms / (ms + transfers_ms));
    gi_bench_number(bench, error);
    return GI_OK;
}

struct named_kernel {
    const char *name;
    kernel_type kernel;
};

gi_status measure_on_gpu(gi_bench *bench, job *work, double cpu_ms, gi_error *err) {
    static const named_kernel alike[] = {{"constant", evaluate_kernel<place::constant, order::known>},
                                         {"constant, in a loop", evaluate_kernel<place::constant, order::counted>},
                                         {"shared", evaluate_kernel<place::shared, order::known>},
                                         {"global", evaluate_kernel<place::global, order::known>}};
    static const named_kernel own_lane[] = {{"constant", evaluate_kernel<place::constant, order::own_lane>},
                                            {"shared", evaluate_kernel<place::shared, order::own_lane>},
                                            {"global", evaluate_kernel<place::global, order::own_lane>}};
    meter gpu;
    GI_TRY(gpu.open(bench, err));
    const named_kernel *kernels = work->own_lane ? own_lane : alike;
    for (int i = 0; i < (work->own_lane ? 3 : 4); i++)
        GI_TRY(measure_kernel(bench, gpu, work, kernels[i].name, kernels[i].kernel, cpu_ms, err));
    return GI_OK;
}

} // namespace
#endif

// ---- the tables -----------------------------------------------------------------------------------------------------

static gi_status measure(gi_bench *bench, job *work, bool own_lane, gi_error *err) {
    static const char *const columns[] = {"ms", "GFLOP/s", "times OpenMP", "with copies", "error"};
    double error;
    work->own_lane = own_lane;
    evaluate_openmp(work);
    gi_status status = check(work, "OpenMP", &error, err);
    if (status != GI_OK) return status;
    const double cpu_ms = gi_bench_cpu_ms(bench, evaluate_openmp, work);
    gi_bench_table(bench, own_lane ? "each lane another coefficient at a time" : "all lanes one coefficient at a time",
                   columns, 5);
    gi_bench_row(bench, "OpenMP");
    gi_bench_number(bench, cpu_ms);
    gi_bench_number(bench, 2.0 * COEFFICIENTS * (double)work->count / cpu_ms * 1e-6);
    gi_bench_number(bench, 1);
    gi_bench_number(bench, 1);
    gi_bench_number(bench, error);
#ifdef __CUDACC__
    if (gi_bench_gpu(bench)) return measure_on_gpu(bench, work, cpu_ms, err);
#endif
    gi_bench_missing(bench, "constant, shared, global", gi_bench_no_gpu(bench));
    return GI_OK;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    const size_t wanted = (size_t)gi_bench_size(bench, 1LL << 22, 1LL << 14);
    const size_t count = (wanted + GROUP - 1) / GROUP * GROUP;
    float *table = (float *)malloc(COEFFICIENTS * sizeof(float));
    float *in = (float *)malloc(count * sizeof(float)), *out = (float *)malloc(count * sizeof(float));
    gi_status status = GI_OK;
    if (!table || !in || !out) status = gi_fail(err, GI_ERR_MEMORY, "no memory for twice %zu values", count);
    if (status == GI_OK) {
        job work = {table, in, out, count, false};
        gi_bench_fill_floats(table, COEFFICIENTS, 1);
        gi_bench_fill_floats(in, count, 2);
        for (size_t i = 0; i < count; i++) in[i] *= 0.5F;
        status = measure(bench, &work, false, err);
        if (status == GI_OK) status = measure(bench, &work, true, err);
        gi_bench_note(bench, "%zu values, %d coefficients", count, COEFFICIENTS);
    }
    free(table);
    free(in);
    free(out);
    return status;
}

const gi_demo gi_demo_constant = {
    "constant",
    "a table of coefficients in constant, shared and global memory",
    "Constant memory answers one address at a time: a warp that wants the same word everywhere gets it at once, lanes "
    "that want different words are served one after the other.",
    run,
};
