// intrinsics: functions as the standard has them, against the GPU's short cuts.
//
//     sinf(x)      argument reduced to [-pi/4, pi/4], then a polynomial: right to a unit or two of the last place
//     __sinf(x)    x times 1 / (2 pi) into the special function unit's table (MUFU.SIN): few instructions, and an
//                  absolute error that is small only for small x
// and likewise cosf, tanf, expf, logf, powf; a / b, 1 / sqrt(x).
//
// The picture: a slide rule beside long division. The rule is quick and good for three, here six, digits; far off its
// scale it is wrong altogether. -use_fast_math takes the rule everywhere, also where nobody looked at the digits; the
// intrinsics take it where somebody did.
//
// Each thread evaluates the function at 64 arguments and adds the values up. The error is the largest over all
// arguments of a range, against the double function: absolute for sin, cos and log, which cross zero; relative for all
// else.
//
// What to look at in ncu, and in `cuobjdump -sass`: MUFU, FFMA, and BRA to the slow path of sinf for large x
//     sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active      the special function unit: 16 lanes a cycle
//     smsp__inst_executed.sum                                         how long the long way is
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/demos.h"

enum { EVALUATIONS = 64, THREADS = 256 };

// ---- the functions --------------------------------------------------------------------------------------------------

#define EXPONENT 2.75F  // of powf
#define NUMERATOR 3.25F // of the division

// Each by itself, so that every loop below has one function in it.
#define FUNCTIONS(F)                                                                                                   \
    F(sin, "sin, |x| <= pi", sinf(x), __sinf(x), sin(d), -3.14159265F, 3.14159265F, 0, 3e-7, 1e-6)                     \
    F(sin_large, "sin, |x| <= 10^5", sinf(x), __sinf(x), sin(d), -1e5F, 1e5F, 0, 3e-7, 0.1)                            \
    F(cos, "cos, |x| <= pi", cosf(x), __cosf(x), cos(d), -3.14159265F, 3.14159265F, 0, 3e-7, 1e-6)                     \
    F(tan, "tan, 0.1 <= x <= 1.5", tanf(x), __tanf(x), tan(d), 0.1F, 1.5F, 1, 1e-6, 1e-4)                              \
    F(exp, "exp, |x| <= 10", expf(x), __expf(x), exp(d), -10, 10, 1, 4e-7, 3e-6)                                       \
    F(log, "log, 0.5 <= x <= 2", logf(x), __logf(x), log(d), 0.5F, 2, 0, 3e-7, 1e-6)                                   \
    F(pow, "x^2.75, 0.1 <= x <= 10", powf(x, EXPONENT), __powf(x, EXPONENT), pow(d, EXPONENT), 0.1F, 10, 1, 1e-6,      \
      1e-5)                                                                                                            \
    F(divide, "3.25 / x, 0.1 <= x <= 10", NUMERATOR / x, __fdividef(NUMERATOR, x), NUMERATOR / d, 0.1F, 10, 1, 1e-7,   \
      4e-7)                                                                                                            \
    F(rsqrt, "1 / sqrt(x), 0.1 <= x <= 10", 1 / sqrtf(x), rsqrtf(x), 1 / sqrt(d), 0.1F, 10, 1, 2e-7, 4e-7)

typedef struct function {
    const char *name;
    float (*exact)(float);
    double (*reference)(double);
    void (*sums)(const float *arguments, float *sums, size_t count, float step); // OpenMP
    float from, to;
    int relative;                   // the error's kind
    double exact_bound, fast_bound; // of the error: what CUDA's guide promises, and a little
} function;

// sums[i] = f(x) + f(x + step) + ... of 64 arguments, x = arguments[i].
#define FUNCTION_ON_CPU(name, text, exact, fast, reference, from, to, relative, exact_bound, fast_bound)               \
    static float exact_##name(float x) { return exact; }                                                               \
    static double reference_##name(double d) { return reference; }                                                     \
    static void sums_##name(const float *arguments, float *sums, size_t count, float step) {                           \
        _Pragma("omp parallel for") for (size_t i = 0; i < count; i++) {                                               \
            float sum = 0;                                                                                             \
            for (int k = 0; k < EVALUATIONS; k++) sum += exact_##name(arguments[i] + (float)k * step);                 \
            sums[i] = sum;                                                                                             \
        }                                                                                                              \
    }
FUNCTIONS(FUNCTION_ON_CPU)

#define FUNCTION_ROW(name, text, exact, fast, reference, from, to, relative, exact_bound, fast_bound)                  \
    {text, exact_##name, reference_##name, sums_##name, from, to, relative, exact_bound, fast_bound},
static const function functions[] = {FUNCTIONS(FUNCTION_ROW)};
enum { FUNCTION_COUNT = sizeof functions / sizeof functions[0] };

// ---- on the CPU -----------------------------------------------------------------------------------------------------

typedef struct job {
    const function *f;
    float *arguments, *results; // the arguments of a range, in order
    size_t count;
} job;

// The step between the 64 arguments of a thread: small, so that they stay in the range.
static float step_of(const function *f) { return (f->to - f->from) * 0x1p-20F; }

static void sums_openmp(void *context) {
    const job *work = (const job *)context;
    work->f->sums(work->arguments, work->results, work->count, step_of(work->f));
}

static void fill_arguments(const job *work) {
    const double width = (double)work->f->to - work->f->from;
    for (size_t i = 0; i < work->count; i++)
        work->arguments[i] = (float)(work->f->from + width * 0.999 * ((double)i + 0.5) / (double)work->count);
}

static double largest_error(const job *work) {
    double largest = 0;
#pragma omp parallel for reduction(max : largest)
    for (size_t i = 0; i < work->count; i++) {
        const double right = work->f->reference(work->arguments[i]);
        double error = fabs(work->results[i] - right);
        if (work->f->relative) error /= fabs(right);
        if (!(error <= largest)) largest = error;
    }
    return largest;
}

static gi_status check(const job *work, double bound, const char *what, double *error, gi_error *err) {
    *error = largest_error(work);
    return gi_bench_expect(*error <= bound, what, err);
}

static gi_status check_openmp(const job *work, gi_error *err) {
    double error;
    for (size_t i = 0; i < work->count; i++) work->results[i] = work->f->exact(work->arguments[i]);
    return check(work, work->f->exact_bound, work->f->name, &error, err);
}

// Evaluations a second, in thousand millions.
static double rate_of(const job *work, double ms) { return EVALUATIONS * (double)work->count / ms * 1e-6; }

#ifdef __CUDACC__
// ---- on the GPU -----------------------------------------------------------------------------------------------------

#include "kernels/demos/demo.cuh"

namespace {

using gi::demo::device_array;
using gi::demo::meter;

#define FUNCTION_ON_GPU(name, text, exact, fast, reference, from, to, relative, exact_bound, fast_bound)               \
    struct gpu_exact_##name {                                                                                          \
        static __device__ __forceinline__ float of(float x) { return exact; }                                          \
    };                                                                                                                 \
    struct gpu_fast_##name {                                                                                           \
        static __device__ __forceinline__ float of(float x) { return fast; }                                           \
    };
FUNCTIONS(FUNCTION_ON_GPU)

// One value each, for the error.
template <typename Function> __global__ void values_kernel(const float *arguments, float *values, size_t count) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] = Function::of(arguments[i]);
}

// 64 values each, for the time.
template <typename Function>
__global__ void sums_kernel(const float *arguments, float *sums, size_t count, float step) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float x = arguments[i];
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < EVALUATIONS; k++) sum += Function::of(x + (float)k * step);
    sums[i] = sum;
}

typedef void (*values_type)(const float *, float *, size_t);
typedef void (*sums_type)(const float *, float *, size_t, float);
struct gpu_function {
    values_type values[2]; // exact, fast
    sums_type sums[2];
};
#define GPU_FUNCTION_ROW(name, text, exact, fast, reference, from, to, relative, exact_bound, fast_bound)              \
    {{values_kernel<gpu_exact_##name>, values_kernel<gpu_fast_##name>},                                                \
     {sums_kernel<gpu_exact_##name>, sums_kernel<gpu_fast_##name>}},
const gpu_function gpu_functions[] = {FUNCTIONS(GPU_FUNCTION_ROW)};

struct figures {
    double rate[2], error[2]; // exact, fast
};

gi_status measure_gpu(meter &gpu, const gpu_function &kernels, job *work, figures *out, gi_error *err) {
    device_array<float> arguments, results;
    const unsigned blocks = (unsigned)gi::demo::divide_up(work->count, THREADS);
    GI_TRY(arguments.allocate(work->count, err));
    GI_TRY(results.allocate(work->count, err));
    GI_TRY(arguments.upload(work->arguments, err));
    for (int fast = 0; fast < 2; fast++) {
        auto values = [&] { kernels.values[fast]<<<blocks, THREADS>>>(arguments.data, results.data, work->count); };
        auto sums = [&] {
            kernels.sums[fast]<<<blocks, THREADS>>>(arguments.data, results.data, work->count, step_of(work->f));
        };
        double ms;
        GI_TRY(results.clear(err));
        GI_TRY(gpu.run(values, err));
        GI_TRY(results.download(work->results, err));
        GI_TRY(check(work, fast ? work->f->fast_bound : work->f->exact_bound, work->f->name, &out->error[fast], err));
        GI_TRY(gpu.median_ms(sums, &ms, err));
        out->rate[fast] = rate_of(work, ms);
    }
    return GI_OK;
}

} // namespace
#endif

// ---- the table ------------------------------------------------------------------------------------------------------

static void add_row(gi_bench *bench, const function *f, const double *cells) {
    gi_bench_row(bench, f->name);
    for (int i = 0; i < 5; i++) gi_bench_number(bench, cells[i]);
    gi_bench_text(bench, f->relative ? "relative" : "absolute");
    gi_bench_number(bench, cells[5]);
}

static gi_status measure(gi_bench *bench, job *work, size_t count, gi_error *err) {
    static const char *const columns[] = {"exact G/s",  "fast G/s",      "fast / exact", "exact error",
                                          "fast error", "kind of error", "OpenMP G/s"};
#ifdef __CUDACC__
    meter gpu;
    if (gi_bench_gpu(bench)) GI_TRY(gpu.open(bench, err));
#endif
    gi_bench_table(bench, "thousand millions of function values a second", columns, 7);
    gi_bench_bar(bench, "fast / exact");
    for (int i = 0; i < FUNCTION_COUNT; i++) {
        double cells[6] = {NAN, NAN, NAN, NAN, NAN, NAN};
        work->f = &functions[i];
        work->count = count / 16 + 1; // the CPU takes fewer arguments: it is the rate that is compared
        fill_arguments(work);
        gi_status status = check_openmp(work, err);
        if (status != GI_OK) return status;
        cells[5] = rate_of(work, gi_bench_cpu_ms(bench, sums_openmp, work));
#ifdef __CUDACC__
        if (gi_bench_gpu(bench)) {
            figures on_gpu;
            work->count = count;
            fill_arguments(work);
            GI_TRY(measure_gpu(gpu, gpu_functions[i], work, &on_gpu, err));
            cells[0] = on_gpu.rate[0];
            cells[1] = on_gpu.rate[1];
            cells[2] = on_gpu.rate[1] / on_gpu.rate[0];
            cells[3] = on_gpu.error[0];
            cells[4] = on_gpu.error[1];
        }
#endif
        add_row(bench, work->f, cells);
    }
    if (!gi_bench_gpu(bench)) gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
    return GI_OK;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    const size_t count = (size_t)gi_bench_size(bench, 1LL << 22, 1LL << 13), room = count + 1;
    job work = {NULL, (float *)malloc(room * sizeof(float)), (float *)malloc(room * sizeof(float)), count};
    gi_status status = GI_OK;
    if (!work.arguments || !work.results) status = gi_fail(err, GI_ERR_MEMORY, "no memory for %zu values", count);
    if (status == GI_OK) status = measure(bench, &work, count, err);
    free(work.arguments);
    free(work.results);
    return status;
}

const gi_demo gi_demo_intrinsics = {
    "intrinsics",
    "sinf against __sinf, and likewise cos, tan, exp, log, pow, division, 1 / sqrt",
    "A fast function trades digits for instructions: how many of either depends on the function, and the digits on the "
    "range of its argument too.",
    run,
};
