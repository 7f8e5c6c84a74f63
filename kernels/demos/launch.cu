// launch: what a kernel costs that does nothing.
//
//     t(blocks) = latency + blocks / rate
//
// The picture: a ferry. One crossing takes its time even when it is empty (the first rows: some microseconds from the
// call to the end that the host sees). With the next ferry sent off before the last is back, the river is crossed every
// couple of microseconds (column "in a row"). And each passenger has to walk through one gate: with very many blocks
// it is the gate that counts, some blocks a nanosecond, whatever they do on board (the last rows). So a kernel of a few
// microseconds is all launch; work should be put together, or recorded once as a graph, whose launches the host sends
// off in one call (second table). On the CPU the like is an empty parallel region: waking a team, and a loop's shares.
//
// What to look at: `nsys profile --trace cuda` shows calls above kernels, and the gaps; in ncu
//     gpu__time_duration.sum             of the empty kernel
//     launch__grid_size, launch__waves_per_multiprocessor
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/demos.h"

enum { IN_A_ROW = 64, GRID_BITS = 20 };

// ---- on the CPU -----------------------------------------------------------------------------------------------------

typedef struct job {
    uint8_t *touched; // one for each task
    size_t tasks;
} job;

// A task that does nearly nothing: without the byte the compiler would leave out the loop.
static void tasks_openmp(void *context) {
    const job *work = (const job *)context;
    volatile uint8_t *touched = work->touched;
#pragma omp parallel for
    for (size_t i = 0; i < work->tasks; i++) touched[i] = 1;
}

static bool all_touched(const job *work) {
    for (size_t i = 0; i < work->tasks; i++)
        if (work->touched[i] != 1) return false;
    return true;
}

#ifdef __CUDACC__
// ---- on the GPU -----------------------------------------------------------------------------------------------------

#include "kernels/demos/demo.cuh"

namespace {

using gi::demo::device_array;

constexpr int THREADS = 32;

// For the check that all blocks run.
__global__ void count_kernel(unsigned *count) {
    if (threadIdx.x == 0) atomicAdd(count, 1);
}

__global__ void empty_kernel() {}

struct gpu_job {
    unsigned blocks;
    int launches;
    cudaGraphExec_t graph; // of `launches` launches; NULL: they are made one by one
    cudaStream_t stream;
    cudaError_t error; // the first failure
};

void keep(gpu_job *job, cudaError_t error) {
    if (job->error == cudaSuccess) job->error = error;
}

void enqueue(gpu_job *job) {
    for (int i = 0; i < job->launches; i++) empty_kernel<<<job->blocks, THREADS, 0, job->stream>>>();
    keep(job, cudaGetLastError());
}

// By the host's clock, from the first call to the end.
void launch_all(void *context) {
    gpu_job *job = (gpu_job *)context;
    if (job->graph)
        keep(job, cudaGraphLaunch(job->graph, job->stream));
    else
        enqueue(job);
    keep(job, cudaStreamSynchronize(job->stream));
}

gi_status time_launches(gi_bench *bench, gpu_job work, double *us_each, gi_error *err) {
    const double ms = gi_bench_cpu_ms(bench, launch_all, &work);
    *us_each = ms * 1e3 / work.launches;
    GI_TRY_CUDA(work.error);
    return GI_OK;
}

struct stream_and_graph {
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    ~stream_and_graph() {
        if (executable) cudaGraphExecDestroy(executable);
        if (graph) cudaGraphDestroy(graph);
        if (stream) cudaStreamDestroy(stream);
    }
    gi_status create(gi_error *err) {
        GI_TRY_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        return GI_OK;
    }
    // Records the launches of `work` instead of making them.
    gi_status record(gpu_job work, gi_error *err) {
        GI_TRY_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        enqueue(&work);
        GI_TRY_CUDA(cudaStreamEndCapture(stream, &graph));
        GI_TRY_CUDA(work.error);
        GI_TRY_CUDA(cudaGraphInstantiate(&executable, graph, 0));
        return GI_OK;
    }
};

gi_status check_blocks(unsigned blocks, gi_error *err) {
    device_array<unsigned> count;
    unsigned counted = 0;
    GI_TRY(count.allocate(1, err));
    GI_TRY(count.clear(err));
    count_kernel<<<blocks, THREADS>>>(count.data);
    GI_TRY_CUDA(cudaGetLastError());
    GI_TRY(count.download(&counted, err));
    return gi_bench_expect(counted == blocks, "GPU", err);
}

// us[0]: a single launch; us[1]: each of many in a row.
gi_status measure_grid(gi_bench *bench, cudaStream_t stream, unsigned blocks, double *us, gi_error *err) {
    const gpu_job one = {blocks, 1, nullptr, stream, cudaSuccess};
    gpu_job many = one;
    many.launches = IN_A_ROW;
    GI_TRY(check_blocks(blocks, err));
    GI_TRY(time_launches(bench, one, &us[0], err));
    return time_launches(bench, many, &us[1], err);
}

gi_status measure_graph(gi_bench *bench, gi_error *err) {
    static const char *const columns[] = {"us each"};
    stream_and_graph graph;
    GI_TRY(graph.create(err));
    gpu_job work = {1, IN_A_ROW, nullptr, graph.stream, cudaSuccess};
    double us[2];
    GI_TRY(graph.record(work, err));
    GI_TRY(time_launches(bench, work, &us[0], err));
    work.graph = graph.executable;
    GI_TRY(time_launches(bench, work, &us[1], err));
    gi_bench_table(bench, "64 launches of one block, then a wait", columns, 1);
    gi_bench_row(bench, "64 calls");
    gi_bench_number(bench, us[0]);
    gi_bench_row(bench, "one call, of a graph");
    gi_bench_number(bench, us[1]);
    return GI_OK;
}

} // namespace
#endif

// ---- the tables -----------------------------------------------------------------------------------------------------

static gi_status measure_row(gi_bench *bench, job *work, double *us, gi_error *err) {
    for (size_t i = 0; i < work->tasks; i++) work->touched[i] = 0;
    tasks_openmp(work);
    gi_status status = gi_bench_expect(all_touched(work), "OpenMP", err);
    if (status == GI_OK) us[2] = 1e3 * gi_bench_cpu_ms(bench, tasks_openmp, work);
    return status;
}

static gi_status measure(gi_bench *bench, job *work, gi_error *err) {
    static const char *const columns[] = {"us", "in a row us", "ns a block", "OpenMP us", "OpenMP ns a task"};
    const size_t most = work->tasks;
    gi_status status = GI_OK;
#ifdef __CUDACC__
    stream_and_graph gpu;
    if (gi_bench_gpu(bench)) GI_TRY(gpu.create(err));
#endif
    gi_bench_table(bench, "empty kernels by their blocks, empty loops by their tasks", columns, 5);
    for (size_t blocks = 1; blocks <= most && status == GI_OK; blocks *= 4) {
        double us[3] = {NAN, NAN, NAN};
        char label[32];
        work->tasks = blocks;
        status = measure_row(bench, work, us, err);
#ifdef __CUDACC__
        if (status == GI_OK && gi_bench_gpu(bench)) status = measure_grid(bench, gpu.stream, (unsigned)blocks, us, err);
#endif
        if (status != GI_OK) break;
        snprintf(label, sizeof label, "%zu block%s", blocks, blocks == 1 ? "" : "s");
        gi_bench_row(bench, label);
        gi_bench_number(bench, us[0]);
        gi_bench_number(bench, us[1]);
        gi_bench_number(bench, us[1] * 1e3 / (double)blocks);
        gi_bench_number(bench, us[2]);
        gi_bench_number(bench, us[2] * 1e3 / (double)blocks);
    }
    if (status == GI_OK && !gi_bench_gpu(bench)) gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
    gi_bench_note(bench, "blocks of 32 threads; in a row: each of %d launches before one wait", IN_A_ROW);
    return status;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    job work = {NULL, (size_t)gi_bench_size(bench, 1LL << GRID_BITS, 1LL << 10)};
    gi_status status = gi_bench_at_most(bench, 1LL << 30, err); // a grid has 2^31 - 1 blocks at most
    if (status != GI_OK) return status;
    work.touched = (uint8_t *)malloc(work.tasks);
    if (!work.touched) return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu tasks", work.tasks);
    status = measure(bench, &work, err);
#ifdef __CUDACC__
    if (status == GI_OK && gi_bench_gpu(bench)) status = measure_graph(bench, err);
#endif
    free(work.touched);
    return status;
}

const gi_demo gi_demo_launch = {
    "launch",
    "empty kernels of 1 to 2^20 blocks, one by one, in a row, and as a graph",
    "A launch has a price of its own, whatever the kernel does: work that is shorter than that belongs together with "
    "other work.",
    run,
};
