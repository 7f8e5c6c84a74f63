// The table of prefix sums down the box blur's columns, and how its sums are divided (blur_box.cu, blur_box_wide.cu).
#ifndef GI_KERNELS_BLUR_BOX_TABLE_CUH
#define GI_KERNELS_BLUR_BOX_TABLE_CUH

#include "kernels/blur_box_columns.cuh"

namespace gi {
namespace box {

constexpr int TABLE_THREADS = 128;

// The thread's part of an entry.
template <typename Form>
__device__ __forceinline__ void store_entry(const strips &s, int64_t entry, int64_t group,
                                            const column_sums<Form> &sums) {
    uint4 *to = table_at<Form>(s, entry, group);
#pragma unroll
    for (int i = 0; i < Form::REGISTERS / PER_PACKET<Form>; i++) {
        uint4 packet;
        memcpy(&packet, sums.of + i * PER_PACKET<Form>, sizeof packet);
        to[i * table_groups<Form>(s)] = packet;
    }
}

// The sums of each entry's SEGMENT rows, in the entry after. Entry 0 is nothing.
template <typename Form>
__global__ void __launch_bounds__(TABLE_THREADS) segments_kernel(const __grid_constant__ strips s) {
    const int64_t group = (int64_t)blockIdx.x * TABLE_THREADS + threadIdx.x;
    const columns<Form> own(s, group * Form::COLUMNS, s.b.width);
    if (!own.there) return;
    for (int64_t entry = blockIdx.y; entry < s.entries; entry += gridDim.y) {
        column_sums<Form> sums;
        sums.clear();
        const int64_t end = s.b.in_y0 + entry * SEGMENT;
        if (entry > 0) own.add_rows(sums, end - SEGMENT, end, 1);
        store_entry(s, entry, group, sums);
    }
}

// Makes prefix sums of them: a block for 32 neighbouring columns of the table, `columns` in all. Its warps share the
// entries out in as many runs; each sums its run, then adds what the runs before have.
constexpr int SCAN_WARPS = 32;

template <typename Register>
__global__ void __launch_bounds__(SCAN_WARPS *WARP) entries_kernel(Register *table, int64_t entries, int64_t columns) {
    __shared__ Register totals[SCAN_WARPS][WARP];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int64_t column = (int64_t)blockIdx.x * WARP + lane, run = (entries + SCAN_WARPS - 1) / SCAN_WARPS;
    const int64_t first = min(warp * run, entries), end = min(first + run, entries);
    const bool there = column < columns;
    Register sum = 0;
#pragma unroll 4
    for (int64_t i = first; i < end; i++)
        if (there) sum += table[i * columns + column];
    totals[warp][lane] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < warp; i++) sum += totals[i][lane];
#pragma unroll 4
    for (int64_t i = first; i < end; i++)
        if (there) table[i * columns + column] = sum += table[i * columns + column];
}

// --- on the host
// -------------------------------------------------------------------------------------------------------

inline uint64_t side_of(const gi_job *job) {
    return 2 * (uint64_t)gi_blur_box_radius((const gi_blur_args *)job->args) + 1;
}

// What means::mean divides sums of up to n * max by, unless n is one pixel.
inline void prepare_division(strips *s, uint64_t n, uint64_t max, bool wide) {
    const uint64_t most = max * n + n / 2;
    if (n == 1 || (!wide && most >= (uint64_t)1 << 31)) return;
    int bits = 0;
    while (n >> bits > 1) bits++;
    while (wide && most >> s->cut > UINT32_MAX) s->cut++;
    s->shift = bits - s->cut;
    const uint64_t dividend = (uint64_t)1 << (32 + bits);
    s->multiplier = (uint32_t)(wide ? dividend / n : (dividend + n - 1) / n);
    s->half = (uint32_t)(n / 2);
    s->pixels = (uint32_t)n;
}

inline size_t table_entries(const gi_job *job) { return job->in.height / SEGMENT + 1; }

template <typename Form> size_t table_bytes(const gi_job *job) {
    return divide_up(job->in.width, Form::COLUMNS) * table_entries(job) * Form::REGISTERS *
           sizeof(typename Form::Register);
}

// Radii from which on a table might pay.
inline bool wants_table(const gi_job *job) { return side_of(job) > 2 * SEGMENT; }

// Makes prefix sums of the table's segments.
template <typename Form> void launch_entries(const gi_job *job, const strips &s) {
    using Register = typename Form::Register;
    const size_t columns = divide_up(job->in.width, Form::COLUMNS) * Form::REGISTERS;
    entries_kernel<<<grid_blocks(divide_up(columns, WARP)), SCAN_WARPS * WARP, 0, (cudaStream_t)job->stream>>>(
        (Register *)s.table, s.entries, (int64_t)columns);
}

template <typename Form> void launch_table(const gi_job *job, const strips &s) {
    const size_t groups = divide_up(job->in.width, Form::COLUMNS);
    const dim3 grid(grid_blocks(divide_up(groups, TABLE_THREADS)), grid_rows((size_t)s.entries));
    segments_kernel<Form><<<grid, TABLE_THREADS, 0, (cudaStream_t)job->stream>>>(s);
    launch_entries<Form>(job, s);
}

} // namespace box
} // namespace gi

#endif
