// median: the middle one of 16 million values, by sorting all of them, and without.
//
//     the median is the smallest value v with at least n / 2 values <= v: number (n - 1) div 2 of the sorted ones
//
// By sorting: all values find their places, of which one is looked at. By digits (radix selection): the bits of a
// float, with the sign turned round, are in the order of the floats. Count the highest 8 bits of all values; the counts
// say in which of the 256 classes the median is, and how many values lie before that class. Count the next 8 bits, of
// the values of this class alone; and so on. After four counts all 32 bits are known:
//     counts of digit 1   ... 31 207 [4981] 802 ...        the median is number 4212 of these
//     counts of digit 2          ... 17 [23] 19 ...        the median is number 11 of these
// The picture: to find the middle person of a country by age, nobody has to be lined up. Ask all for their decade of
// birth, then those of one decade for the year, those of one year for the month.
// On one thread there is quickselect (Hoare): divide by a pivot, go on in the part that holds the middle.
//
// What to look at in ncu:
//     dram__bytes_read.sum                     4 n for each count; a radix sort also writes as much in each pass
//     smsp__inst_executed_op_shared_atom.sum   (or l1tex__t_requests_pipe_lsu_mem_shared_op_atom.sum)
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/demos.h"
#include "core/host_device.h"

enum { DIGITS = 4, CLASSES = 256 };

// The bits of a float, so turned that their order as unsigned numbers is that of the floats.
GI_HOST_DEVICE static inline uint32_t ordered_bits(uint32_t bits) { return bits >> 31 ? ~bits : bits | 0x80000000U; }

// Digit d of the bits, d = 0 the highest.
GI_HOST_DEVICE static inline uint32_t digit_of(uint32_t bits, int d) { return bits >> (24 - 8 * d) & 255; }

// Whether the bits begin with the first d digits of `prefix`.
GI_HOST_DEVICE static inline bool begins_with(uint32_t bits, uint32_t prefix, int d) {
    return d == 0 || (bits ^ prefix) >> (32 - 8 * d) == 0;
}

// ---- on the CPU -----------------------------------------------------------------------------------------------------

typedef struct job {
    const float *values;
    float *room; // for quickselect, which moves values
    size_t count;
    float median;
} job;

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float value_of(uint32_t ordered) {
    const uint32_t bits = ordered >> 31 ? ordered & 0x7fffffffU : ~ordered;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void count_digit(const job *work, uint32_t prefix, int d, uint64_t *counts) {
    memset(counts, 0, CLASSES * sizeof *counts);
#pragma omp parallel
    {
        uint64_t mine[CLASSES] = {0}; // each thread its own, added up at the end
#pragma omp for
        for (size_t i = 0; i < work->count; i++) {
            const uint32_t bits = ordered_bits(bits_of(work->values[i]));
            if (begins_with(bits, prefix, d)) mine[digit_of(bits, d)]++;
        }
#pragma omp critical
        for (int c = 0; c < CLASSES; c++) counts[c] += mine[c];
    }
}

static void select_openmp(void *context) {
    job *work = (job *)context;
    uint64_t counts[CLASSES], rank = (work->count - 1) / 2;
    uint32_t prefix = 0;
    for (int d = 0; d < DIGITS; d++) {
        uint32_t digit = 0;
        count_digit(work, prefix, d, counts);
        for (; rank >= counts[digit]; digit++) rank -= counts[digit];
        prefix |= digit << (24 - 8 * d);
    }
    work->median = value_of(prefix);
}

// Hoare's, on one thread, with the middle of three as the pivot.
static void quickselect(void *context) {
    job *work = (job *)context;
    float *v = work->room;
    long long low = 0, high = (long long)work->count - 1, wanted = high / 2;
    memcpy(v, work->values, work->count * sizeof *v);
    while (low < high) {
        const float a = v[low], b = v[(low + high) / 2], c = v[high];
        const float pivot = fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
        long long i = low, k = high;
        while (i <= k) {
            while (v[i] < pivot) i++;
            while (v[k] > pivot) k--;
            if (i > k) break;
            const float other = v[i];
            v[i++] = v[k];
            v[k--] = other;
        }
        if (wanted <= k)
            high = k;
        else if (wanted >= i)
            low = i;
        else
            break; // between the parts all are equal to the pivot
    }
    work->median = v[wanted];
}

// By the definition, with no sorting at all.
static bool is_median(const job *work) {
    size_t below = 0, upto = 0;
#pragma omp parallel for reduction(+ : below, upto)
    for (size_t i = 0; i < work->count; i++) {
        below += work->values[i] < work->median;
        upto += work->values[i] <= work->median;
    }
    return below <= (work->count - 1) / 2 && upto > (work->count - 1) / 2;
}

#ifdef __CUDACC__
// ---- on the GPU -----------------------------------------------------------------------------------------------------

#include <cub/device/device_radix_sort.cuh>

#include "kernels/demos/demo.cuh"

namespace {

using gi::demo::device_array;
using gi::demo::meter;

constexpr int THREADS = 256;

// Where the selection stands: the digits found, and the median's number among the values that begin with them.
struct selection {
    uint32_t prefix;
    unsigned long long rank;
};

__global__ void begin_kernel(selection *state, unsigned long long *counts, unsigned long long rank) {
    counts[threadIdx.x] = 0;
    if (threadIdx.x == 0) *state = {0, rank};
}

// Counts in shared memory, a table for each block; then one addition for each class and block.
__global__ void count_kernel(const uint32_t *values, size_t count, const selection *state, int d,
                             unsigned long long *counts) {
    __shared__ unsigned mine[CLASSES];
    mine[threadIdx.x] = 0;
    __syncthreads();
    const uint32_t prefix = state->prefix;
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const uint32_t bits = ordered_bits(values[i]);
        if (begins_with(bits, prefix, d)) atomicAdd(&mine[digit_of(bits, d)], 1);
    }
    __syncthreads();
    if (mine[threadIdx.x]) atomicAdd(&counts[threadIdx.x], (unsigned long long)mine[threadIdx.x]);
}

// One thread walks along the counts; all clear them for the next digit.
__global__ void choose_kernel(selection *state, unsigned long long *counts, int d) {
    __shared__ unsigned long long all[CLASSES];
    all[threadIdx.x] = counts[threadIdx.x];
    counts[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x > 0) return;
    uint32_t digit = 0;
    unsigned long long rank = state->rank;
    for (; rank >= all[digit]; digit++) rank -= all[digit];
    *state = {state->prefix | digit << (24 - 8 * d), rank};
}

struct buffers {
    device_array<float> values, sorted;
    device_array<unsigned char> scratch;
    device_array<selection> state;
    device_array<unsigned long long> counts;
};

cudaError_t sort_all(buffers &b) {
    size_t bytes = b.scratch.bytes();
    return cub::DeviceRadixSort::SortKeys(b.scratch.data, bytes, b.values.data, b.sorted.data, b.values.count);
}

// All is enqueued at once: no count comes to the host.
cudaError_t select_by_digits(buffers &b, int multiprocessors) {
    const unsigned blocks = 8 * (unsigned)multiprocessors;
    begin_kernel<<<1, CLASSES>>>(b.state.data, b.counts.data, (b.values.count - 1) / 2);
    for (int d = 0; d < DIGITS; d++) {
        count_kernel<<<blocks, THREADS>>>((const uint32_t *)b.values.data, b.values.count, b.state.data, d,
                                          b.counts.data);
        choose_kernel<<<1, CLASSES>>>(b.state.data, b.counts.data, d);
    }
    return cudaGetLastError();
}

gi_status make_buffers(const job &work, buffers &b, gi_error *err) {
    size_t bytes = 0;
    GI_TRY(b.values.allocate(work.count, err));
    GI_TRY(b.sorted.allocate(work.count, err));
    GI_TRY(b.state.allocate(1, err));
    GI_TRY(b.counts.allocate(CLASSES, err));
    GI_TRY(b.values.upload(work.values, err));
    GI_TRY_CUDA(cub::DeviceRadixSort::SortKeys(nullptr, bytes, b.values.data, b.sorted.data, work.count));
    return b.scratch.allocate(bytes, err);
}

gi_status add_gpu_row(gi_bench *bench, const char *label, double ms, double transfers_ms, double cpu_ms) {
    gi_bench_row(bench, label);
    gi_bench_number(bench, ms);
    gi_bench_number(bench, cpu_ms / ms);
    gi_bench_number(bench, cpu_ms / (ms + transfers_ms));
    return GI_OK;
}

gi_status measure_on_gpu(gi_bench *bench, const job &work, double cpu_ms, gi_error *err) {
    meter gpu;
    buffers b;
    selection found;
    float middle;
    double sort_ms, select_ms, transfers_ms;
    GI_TRY(gpu.open(bench, err));
    GI_TRY(make_buffers(work, b, err));
    GI_TRY(gpu.transfers_ms(b.values.bytes(), sizeof(float), &transfers_ms, err));
    auto sort = [&] { return gi_cuda_check(sort_all(b), "sorting", err); };
    auto select = [&] {
        return gi_cuda_check(select_by_digits(b, gpu.properties.multiProcessorCount), "selecting", err);
    };
    GI_TRY(gpu.run(sort, err));
    GI_TRY_CUDA(cudaMemcpy(&middle, b.sorted.data + (work.count - 1) / 2, sizeof middle, cudaMemcpyDeviceToHost));
    GI_TRY(gi_bench_expect(middle == work.median, "CUB radix sort", err));
    GI_TRY(gpu.run(select, err));
    GI_TRY(b.state.download(&found, err));
    GI_TRY(gi_bench_expect(value_of(found.prefix) == work.median, "selection by digits", err));
    GI_TRY(gpu.median_ms(sort, &sort_ms, err));
    GI_TRY(gpu.median_ms(select, &select_ms, err));
    GI_TRY(add_gpu_row(bench, "CUB radix sort of all", sort_ms, transfers_ms, cpu_ms));
    return add_gpu_row(bench, "selection by digits", select_ms, transfers_ms, cpu_ms);
}

} // namespace
#endif

// ---- the table ------------------------------------------------------------------------------------------------------

static void add_cpu_row(gi_bench *bench, const char *label, double ms, double cpu_ms) {
    gi_bench_row(bench, label);
    gi_bench_number(bench, ms);
    gi_bench_number(bench, cpu_ms / ms);
    gi_bench_number(bench, cpu_ms / ms);
}

static gi_status measure(gi_bench *bench, job *work, gi_error *err) {
    static const char *const columns[] = {"ms", "times OpenMP", "with copies"};
    quickselect(work);
    gi_status status = gi_bench_expect(is_median(work), "quickselect", err);
    if (status != GI_OK) return status;
    const double one_ms = gi_bench_cpu_ms(bench, quickselect, work);
    select_openmp(work);
    status = gi_bench_expect(is_median(work), "OpenMP", err);
    if (status != GI_OK) return status;
    const double cpu_ms = gi_bench_cpu_ms(bench, select_openmp, work);
    gi_bench_table(bench, "the median of float32 values", columns, 3);
    add_cpu_row(bench, "one thread, quickselect", one_ms, cpu_ms);
    add_cpu_row(bench, "OpenMP, by digits", cpu_ms, cpu_ms);
    if (!gi_bench_gpu(bench)) gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
#ifdef __CUDACC__
    if (gi_bench_gpu(bench)) status = measure_on_gpu(bench, *work, cpu_ms, err);
#endif
    gi_bench_note(bench, "%zu values; quickselect: with a copy of them, which it reorders", work->count);
    return status;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    const size_t count = (size_t)gi_bench_size(bench, 1LL << 24, 1LL << 14);
    float *values = (float *)malloc(count * sizeof(float));
    job work = {values, (float *)malloc(count * sizeof(float)), count, 0};
    gi_status status = GI_OK;
    if (!values || !work.room) status = gi_fail(err, GI_ERR_MEMORY, "no memory for twice %zu values", count);
    if (status == GI_OK) {
        gi_bench_fill_floats(values, count, 1);
        status = measure(bench, &work, err);
    }
    free(values);
    free(work.room);
    return status;
}

const gi_demo gi_demo_median = {
    "median",
    "the middle of 16 million values: by sorting with CUB, by counting digits, by quickselect",
    "To know one place of the order, the others need not be known: counting reads the values once for each digit, "
    "sorting also moves them.",
    run,
};
