// streams: copies and kernels at the same time.
//
// 128 MB go to the GPU, through a kernel of 1000 operations for each value, and back:
//     x = 0.999 x + 0.001, 500 times: 500 multiplications and 500 additions, each rounded by itself
// The phases upload, kernel and download each keep another engine busy. In one stream they take turns, and the whole
// takes their sum. Cut into parts that are given to several streams, they overlap, and with ever more parts the whole
// nears the longest phase alone.
//
// The picture (u upload, k kernel, d download; time to the right), with 4 streams:
//     1 stream   uuuuuuuuuuuukkkkdddddddddddd
//     4 streams  uuukddd
//                   uuukddd
//                      uuukddd
//                         uuukddd
// Depth first issues stream by stream (u k d, u k d, ...), breadth first phase by phase (u u u u, k k k k, d d d d).
// Each kind of engine takes its work in the order of issue: where one engine does both directions (asyncEngineCount 1)
// depth first makes the second upload wait for the first download, and breadth first overlaps more. With an engine for
// each direction the two are alike. Pageable memory goes through a page-locked buffer of the driver's: the call returns
// after the CPU has copied, so that little is left to overlap.
//
// What to look at: `nsys profile`, the rows of the timeline; in ncu for the kernel alone sm__throughput (it computes)
// against dram__throughput (it hardly reads).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/demos.h"

enum { GROUP = 16, STEPS = 500 };

// ---- on the CPU ----------------------------------------------------------------------------------------------------

typedef struct cpu_job {
    const float *in;
    float *out;
    size_t count; // a multiple of GROUP
} cpu_job;

// 16 values at a time, which the compiler keeps in vector registers.
static void step_values(const float *in, float *out) {
    float v[GROUP];
    for (int j = 0; j < GROUP; j++) v[j] = in[j];
    for (int k = 0; k < STEPS; k++)
        for (int j = 0; j < GROUP; j++) v[j] = v[j] * 0.999F + 0.001F;
    for (int j = 0; j < GROUP; j++) out[j] = v[j];
}

static void on_cpu(void *context) {
    const cpu_job *job = (const cpu_job *)context;
    const long long groups = (long long)(job->count / GROUP);
#pragma omp parallel for
    for (long long g = 0; g < groups; g++) step_values(job->in + g * GROUP, job->out + g * GROUP);
}

static const char *const COLUMNS[] = {"ms", "% of sum", "% of longest", "times OpenMP"};

static void cpu_row(gi_bench *bench, double cpu_ms) {
    gi_bench_table(bench, "upload, 1000 operations for each value, download", COLUMNS, 4);
    gi_bench_row(bench, "OpenMP, no copies");
    gi_bench_number(bench, cpu_ms);
    gi_bench_number(bench, NAN);
    gi_bench_number(bench, NAN);
    gi_bench_number(bench, 1);
}

#ifdef __CUDACC__
#include <vector>

#include "kernels/demos/pinned.cuh"

namespace {

// ---- on the GPU ----------------------------------------------------------------------------------------------------

// The intrinsics keep the compiler from fusing: one multiplication, one addition, as on the CPU.
__global__ void step_kernel(const float *in, float *out, size_t count) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float x = in[i];
    for (int k = 0; k < STEPS; k++) x = __fadd_rn(__fmul_rn(x, 0.999F), 0.001F);
    out[i] = x;
}

constexpr int MOST_STREAMS = 8, THREADS = 256;
enum class phase { upload, kernel, download, all };
enum class order { depth_first, breadth_first };

struct gpu_job {
    const float *in; // host
    float *out;      // host
    float *d_in, *d_out;
    size_t count;
    cudaStream_t stream[MOST_STREAMS];
    int streams; // of which so many are used
    order issue;
    phase what;
    cudaError_t error; // the first failure
};

void keep(gpu_job *job, cudaError_t error) {
    if (job->error == cudaSuccess) job->error = error;
}

// One phase of part s, in stream s.
void enqueue(gpu_job *job, phase what, int s) {
    const size_t begin = job->count * s / job->streams, count = job->count * (s + 1) / job->streams - begin;
    const size_t bytes = count * sizeof(float);
    cudaStream_t stream = job->stream[s];
    if (count == 0) return;
    if (what == phase::upload)
        keep(job, cudaMemcpyAsync(job->d_in + begin, job->in + begin, bytes, cudaMemcpyHostToDevice, stream));
    if (what == phase::kernel) {
        const unsigned blocks = (unsigned)gi::demo::divide_up(count, THREADS);
        step_kernel<<<blocks, THREADS, 0, stream>>>(job->d_in + begin, job->d_out + begin, count);
        keep(job, cudaGetLastError());
    }
    if (what == phase::download)
        keep(job, cudaMemcpyAsync(job->out + begin, job->d_out + begin, bytes, cudaMemcpyDeviceToHost, stream));
}

// Issues the work in its order and waits for the end.
void on_gpu(void *context) {
    gpu_job *job = (gpu_job *)context;
    constexpr phase PHASES[] = {phase::upload, phase::kernel, phase::download};
    if (job->issue == order::depth_first) {
        for (int s = 0; s < job->streams; s++)
            for (phase what : PHASES)
                if (job->what == phase::all || job->what == what) enqueue(job, what, s);
    } else {
        for (phase what : PHASES)
            for (int s = 0; s < job->streams; s++)
                if (job->what == phase::all || job->what == what) enqueue(job, what, s);
    }
    keep(job, cudaDeviceSynchronize());
}

struct phases {
    double ms[3], sum, longest;
};

// Each phase alone, in one stream. By the host's clock, as all here: the calls are part of what is compared.
gi_status measure_phases(gi_bench *bench, gpu_job *job, phases *all, gi_error *err) {
    job->streams = 1;
    job->issue = order::depth_first;
    for (int i = 0; i < 3; i++) {
        job->what = (phase)i;
        all->ms[i] = gi_bench_cpu_ms(bench, on_gpu, job);
        all->sum += all->ms[i];
        all->longest = fmax(all->longest, all->ms[i]);
    }
    job->what = phase::all;
    GI_TRY_CUDA(job->error);
    return GI_OK;
}

void phase_rows(gi_bench *bench, const char *memory, const phases &all, size_t count) {
    static const char *const names[] = {"upload", "kernel", "download", "sum"};
    for (int i = 0; i < 4; i++) {
        const double ms = i < 3 ? all.ms[i] : all.sum;
        char label[48];
        snprintf(label, sizeof label, "%s: %s", memory, names[i]);
        gi_bench_row(bench, label);
        gi_bench_number(bench, ms);
        gi_bench_number(bench, i % 2 ? NAN : (double)count * sizeof(float) / ms * 1e-6);
        gi_bench_number(bench, i == 1 ? 2.0 * STEPS * (double)count / ms * 1e-6 : NAN);
    }
}

bool is_near(const float *a, const float *b, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(a[i] - b[i]) <= 1e-4F)) return false;
    return true;
}

// One row: checked against the CPU's values first, then timed.
gi_status stream_row(gi_bench *bench, gpu_job *job, const char *memory, const phases &all, const float *right,
                     double cpu_ms, gi_error *err) {
    char label[64];
    snprintf(label, sizeof label, "%s, %s first, %d stream%s", memory,
             job->issue == order::depth_first ? "depth" : "breadth", job->streams, job->streams == 1 ? "" : "s");
    memset(job->out, 0xff, job->count * sizeof(float));
    GI_TRY_CUDA(cudaMemset(job->d_out, 0xff, job->count * sizeof(float)));
    GI_TRY_CUDA(cudaDeviceSynchronize()); // the streams do not wait for the default one
    on_gpu(job);
    GI_TRY_CUDA(job->error);
    GI_TRY(gi_bench_expect(is_near(job->out, right, job->count), label, err));
    const double ms = gi_bench_cpu_ms(bench, on_gpu, job);
    GI_TRY_CUDA(job->error);
    gi_bench_row(bench, label);
    gi_bench_number(bench, ms);
    gi_bench_number(bench, 100 * ms / all.sum);
    gi_bench_number(bench, 100 * ms / all.longest);
    gi_bench_number(bench, cpu_ms / ms);
    return GI_OK;
}

// The rows of one kind of memory.
gi_status stream_rows(gi_bench *bench, gpu_job *job, const char *memory, const phases &all, const float *right,
                      double cpu_ms, gi_error *err) {
    for (int streams = 1; streams <= MOST_STREAMS; streams *= 2)
        for (order issue : {order::depth_first, order::breadth_first}) {
            if (streams == 1 && issue == order::breadth_first) continue; // the same order
            job->streams = streams;
            job->issue = issue;
            GI_TRY(stream_row(bench, job, memory, all, right, cpu_ms, err));
        }
    return GI_OK;
}

// The streams of a job, destroyed at the end of the scope.
struct stream_set {
    cudaStream_t stream[MOST_STREAMS] = {};
    ~stream_set() {
        for (cudaStream_t s : stream)
            if (s) cudaStreamDestroy(s);
    }
    gi_status create(gi_error *err) {
        for (cudaStream_t &s : stream) GI_TRY_CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
        return GI_OK;
    }
};

gi_status measure_on_gpu(gi_bench *bench, const cpu_job &cpu, double cpu_ms, gi_error *err) {
    static const char *const columns[] = {"ms", "GB/s", "Gop/s"};
    gi::demo::device_array<float> d_in, d_out;
    gi::demo::pinned_array<float> in, out;
    stream_set streams;
    int engines = 0, device = 0;
    GI_TRY_CUDA(cudaGetDevice(&device));
    GI_TRY_CUDA(cudaDeviceGetAttribute(&engines, cudaDevAttrAsyncEngineCount, device));
    GI_TRY(d_in.allocate(cpu.count, err));
    GI_TRY(d_out.allocate(cpu.count, err));
    GI_TRY(in.allocate(cpu.count, err));
    GI_TRY(out.allocate(cpu.count, err));
    GI_TRY(streams.create(err));
    memcpy(in.data, cpu.in, cpu.count * sizeof(float));
    gpu_job pinned = {in.data, out.data, d_in.data, d_out.data, cpu.count};
    memcpy(pinned.stream, streams.stream, sizeof pinned.stream);
    std::vector<float> pageable_out(cpu.count);
    gpu_job pageable = pinned;
    pageable.in = cpu.in;
    pageable.out = pageable_out.data();
    phases of_pinned = {}, of_pageable = {};
    GI_TRY(measure_phases(bench, &pinned, &of_pinned, err));
    GI_TRY(measure_phases(bench, &pageable, &of_pageable, err));
    GI_TRY(stream_rows(bench, &pinned, "pinned", of_pinned, cpu.out, cpu_ms, err));
    GI_TRY(stream_rows(bench, &pageable, "pageable", of_pageable, cpu.out, cpu_ms, err));
    gi_bench_note(bench, "asyncEngineCount: %d%s", engines, engines > 1 ? ", so both directions may copy at once" : "");
    gi_bench_table(bench, "the phases alone", columns, 3);
    phase_rows(bench, "pinned", of_pinned, cpu.count);
    phase_rows(bench, "pageable", of_pageable, cpu.count);
    return GI_OK;
}

} // namespace
#endif

// ---- measuring -----------------------------------------------------------------------------------------------------

static gi_status run(gi_bench *bench, gi_error *err) {
    const size_t wanted = (size_t)gi_bench_size(bench, 1LL << 25, 1LL << 16);
    const size_t count = (wanted + GROUP - 1) / GROUP * GROUP;
    float *in = (float *)malloc(count * sizeof(float)), *out = (float *)malloc(count * sizeof(float));
    gi_status status = GI_OK;
    if (!in || !out) status = gi_fail(err, GI_ERR_MEMORY, "no memory for %zu values", count);
    if (status == GI_OK) {
        cpu_job cpu = {in, out, count};
        gi_bench_fill_floats(in, count, 1);
        const double cpu_ms = gi_bench_cpu_ms(bench, on_cpu, &cpu);
        cpu_row(bench, cpu_ms);
        if (!gi_bench_gpu(bench)) gi_bench_missing(bench, "pinned, pageable", gi_bench_no_gpu(bench));
#ifdef __CUDACC__
        else
            status = measure_on_gpu(bench, cpu, cpu_ms, err);
#endif
    }
    free(in);
    free(out);
    return status;
}

const gi_demo gi_demo_streams = {
    "streams", "copies and kernels at once: 1..8 streams, depth and breadth first, pinned and pageable",
    "The nearer a row is to 100 % of the longest phase, the more of the copies and the kernels ran at the same time; "
    "one at 100 % of the sum overlapped nothing.",
    run};
