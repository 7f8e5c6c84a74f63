// zerocopy: kernels that work on the host's memory, against copies there and back.
//
//     copied   upload all, y = 3 x + 1 in the device's memory, download all
//     mapped   the kernel's own reads and writes go over the bus to page-locked host memory; there are no copies
//
// in three uses of the same n values: each once; one of 64 alone; each eight times over (y = 3 y + 1 again and again).
//
// The picture: a book in a library across the street. To read a page you go there (mapped); to work with it for a week
// you carry it home first (copied). Who reads every page once may read it there: the walk is the same, and reading and
// writing share the street's two directions, which copies use one after the other. Who comes eight times walks eight
// times: the GPU keeps no cache of the host's memory from one launch to the next.
// Managed memory is a third way, in which pages move when touched; it is not shown here, for its time depends on where
// the pages were before.
//
// What to look at in ncu:
//     pcie__read_bytes.sum, pcie__write_bytes.sum            what goes over the bus during the kernel
//     lts__t_sectors_aperture_sysmem_op_read.sum             sectors of 32 bytes from the host
//     smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio     waits, of microseconds
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/demos.h"

typedef struct use {
    const char *name;
    size_t stride; // every stride-th value is used
    int passes;
} use;

static const use USES[] = {{"each value once", 1, 1}, {"one value of 64", 64, 1}, {"each value eight times", 1, 8}};
enum { USE_COUNT = 3 };

// ---- on the CPU -----------------------------------------------------------------------------------------------------

typedef struct job {
    const float *in; // whole numbers below 256, so that no step rounds
    float *out;
    size_t count; // a multiple of 64
    use how;
} job;

// Pass by pass, as the GPU does.
static void step_openmp(void *context) {
    const job *work = (const job *)context;
    for (int pass = 0; pass < work->how.passes; pass++) {
        const float *in = pass == 0 ? work->in : work->out;
#pragma omp parallel for
        for (size_t i = 0; i < work->count; i += work->how.stride) work->out[i] = 3 * in[i] + 1;
    }
}

// After p passes y = 3^p x + (3^p - 1) / 2; what is not used keeps its zero.
static bool is_right(const job *work) {
    long long power = 1;
    for (int pass = 0; pass < work->how.passes; pass++) power *= 3;
    for (size_t i = 0; i < work->count; i++) {
        const long long right = power * (long long)work->in[i] + (power - 1) / 2;
        if (!(work->out[i] == (i % work->how.stride ? 0 : (float)right))) return false;
    }
    return true;
}

#ifdef __CUDACC__
// ---- on the GPU -----------------------------------------------------------------------------------------------------

#include "kernels/demos/pinned.cuh"

namespace {

constexpr int THREADS = 256;

__global__ void step_kernel(const float *in, float *out, size_t count, size_t stride) {
    const size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * stride;
    if (i < count) out[i] = 3 * in[i] + 1;
}

struct gpu_job {
    const float *in; // host, pinned
    float *out;
    float *d_in, *d_out; // on the device; mapped: the host's memory by its addresses for kernels
    bool mapped;
    size_t count;
    use how;
    cudaError_t error; // the first failure
};

void keep(gpu_job *job, cudaError_t error) {
    if (job->error == cudaSuccess) job->error = error;
}

// From data in the host's memory to data in the host's memory, by the host's clock.
void step_gpu(void *context) {
    gpu_job *job = (gpu_job *)context;
    const size_t bytes = job->count * sizeof(float);
    const unsigned blocks = (unsigned)gi::demo::divide_up(job->count / job->how.stride, THREADS);
    if (!job->mapped) keep(job, cudaMemcpyAsync(job->d_in, job->in, bytes, cudaMemcpyHostToDevice));
    for (int pass = 0; pass < job->how.passes; pass++)
        step_kernel<<<blocks, THREADS>>>(pass == 0 ? job->d_in : job->d_out, job->d_out, job->count, job->how.stride);
    keep(job, cudaGetLastError());
    if (!job->mapped) keep(job, cudaMemcpyAsync(job->out, job->d_out, bytes, cudaMemcpyDeviceToHost));
    keep(job, cudaDeviceSynchronize());
}

// Checked, then timed.
gi_status time_gpu(gi_bench *bench, gpu_job work, double *ms, gi_error *err) {
    const job result = {work.in, work.out, work.count, work.how};
    memset(work.out, 0, work.count * sizeof(float));
    if (!work.mapped) GI_TRY_CUDA(cudaMemset(work.d_out, 0, work.count * sizeof(float)));
    step_gpu(&work);
    GI_TRY_CUDA(work.error);
    GI_TRY(gi_bench_expect(is_right(&result), work.mapped ? "mapped" : "copied", err));
    *ms = gi_bench_cpu_ms(bench, step_gpu, &work);
    GI_TRY_CUDA(work.error);
    return GI_OK;
}

gi_status measure_on_gpu(gi_bench *bench, const job &cpu, double (*ms)[2], gi_error *err) {
    gi::demo::device_array<float> d_in, d_out;
    gi::demo::pinned_array<float> in, out;
    GI_TRY(d_in.allocate(cpu.count, err));
    GI_TRY(d_out.allocate(cpu.count, err));
    GI_TRY(in.allocate(cpu.count, err));
    GI_TRY(out.allocate(cpu.count, err));
    memcpy(in.data, cpu.in, cpu.count * sizeof(float));
    for (int i = 0; i < USE_COUNT; i++) {
        gpu_job copied = {in.data, out.data, d_in.data, d_out.data, false, cpu.count, USES[i], cudaSuccess};
        gpu_job mapped = {in.data, out.data, in.device, out.device, true, cpu.count, USES[i], cudaSuccess};
        GI_TRY(time_gpu(bench, copied, &ms[i][0], err));
        GI_TRY(time_gpu(bench, mapped, &ms[i][1], err));
    }
    return GI_OK;
}

} // namespace
#endif

// ---- the table ------------------------------------------------------------------------------------------------------

static void add_row(gi_bench *bench, const char *way, const use *how, double ms, double copied_ms, double cpu_ms) {
    char label[48];
    snprintf(label, sizeof label, "%s: %s", how->name, way);
    gi_bench_row(bench, label);
    gi_bench_number(bench, ms);
    gi_bench_number(bench, copied_ms / ms);
    gi_bench_number(bench, cpu_ms / ms);
}

static gi_status measure(gi_bench *bench, job *work, gi_error *err) {
    static const char *const columns[] = {"ms", "times copied", "times OpenMP"};
    double cpu_ms[USE_COUNT], gpu_ms[USE_COUNT][2];
    gi_status status = GI_OK;
    for (int i = 0; i < USE_COUNT && status == GI_OK; i++) {
        work->how = USES[i];
        memset(work->out, 0, work->count * sizeof(float));
        step_openmp(work);
        status = gi_bench_expect(is_right(work), "OpenMP", err);
        if (status == GI_OK) cpu_ms[i] = gi_bench_cpu_ms(bench, step_openmp, work);
        gpu_ms[i][0] = gpu_ms[i][1] = NAN;
    }
    if (status != GI_OK) return status;
#ifdef __CUDACC__
    if (gi_bench_gpu(bench)) status = measure_on_gpu(bench, *work, gpu_ms, err);
#endif
    gi_bench_table(bench, "y = 3 x + 1, from host memory to host memory", columns, 3);
    for (int i = 0; i < USE_COUNT && status == GI_OK; i++) {
        add_row(bench, "OpenMP", &USES[i], cpu_ms[i], NAN, cpu_ms[i]);
        if (!gi_bench_gpu(bench)) continue;
        add_row(bench, "copied", &USES[i], gpu_ms[i][0], gpu_ms[i][0], cpu_ms[i]);
        add_row(bench, "mapped", &USES[i], gpu_ms[i][1], gpu_ms[i][0], cpu_ms[i]);
    }
    if (!gi_bench_gpu(bench)) gi_bench_missing(bench, "copied, mapped", gi_bench_no_gpu(bench));
    gi_bench_note(bench, "%zu floats in page-locked memory; all copies are counted", work->count);
    return status;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    const size_t wanted = (size_t)gi_bench_size(bench, 1LL << 24, 1LL << 16), count = (wanted + 63) / 64 * 64;
    float *in = (float *)malloc(count * sizeof(float));
    job work = {in, (float *)malloc(count * sizeof(float)), count, USES[0]};
    gi_status status = GI_OK;
    if (!in || !work.out) status = gi_fail(err, GI_ERR_MEMORY, "no memory for twice %zu floats", count);
    if (status == GI_OK) {
        gi_bench_fill_floats(in, count, 1);
        for (size_t i = 0; i < count; i++) in[i] = floorf(in[i] * 128);
        status = measure(bench, &work, err);
    }
    free(in);
    free(work.out);
    return status;
}

const gi_demo gi_demo_zerocopy = {
    "zerocopy",
    "kernels on mapped host memory against copies there and back",
    "Mapped memory moves over the bus what a kernel touches, each time that it touches it; copies move everything, "
    "once in each direction.",
    run,
};
