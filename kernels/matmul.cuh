// What the kernels of the matrix product share: the problem, how tiles come into shared memory, how results leave.
#ifndef GI_KERNELS_MATMUL_CUH
#define GI_KERNELS_MATMUL_CUH

#include "kernels/common.cuh"
#include "kernels/matmul.h"

namespace gi {

// C (m x n) = A (m x k) B (k x n), all row-major, strides in floats.
struct product {
    const float *a, *b;
    float *c;
    int m, k, n;
    size_t a_stride, b_stride, c_stride;
};

inline product product_of(const gi_matmul_launch &job) {
    return {job.a, job.b, job.c, (int)job.m, (int)job.k, (int)job.n, job.a_stride, job.b_stride, job.c_stride};
}

// Of a tile's origin in its matrix.
struct place {
    int row, col;
};

// One launcher for each file. No side is 0 and all fit an int.
gi_status matmul_naive(const gi_matmul_launch &job, gi_error *err);
gi_status matmul_tiled(const gi_matmul_launch &job, int tile, gi_error *err);
size_t matmul_fast_scratch(const gi_matmul_launch &job);
gi_status matmul_fast(const gi_matmul_launch &job, gi_error *err);
gi_status matmul_mma(const gi_matmul_launch &job, gi_error *err);
gi_status matmul_wgmma(const gi_matmul_launch &job, gi_error *err);
size_t matmul_cublas_scratch();
gi_status matmul_cublas(const gi_matmul_launch &job, bool tf32, gi_error *err);

// Does wgmma take this job, on the current device? GI_ERR_DEVICE, with the reason, when not.
gi_status matmul_wgmma_takes(const gi_matmul_launch &job, gi_error *err);

// Are rows of so many floats, that far from each other, sequences of 16-byte packets?
inline bool is_wide(const void *data, size_t floats, size_t stride) {
    return (uintptr_t)data % 16 == 0 && floats % 4 == 0 && stride % 4 == 0;
}

inline bool is_wide(const gi_matmul_launch &job) {
    return is_wide(job.a, job.k, job.a_stride) && is_wide(job.b, job.n, job.b_stride) &&
           is_wide(job.c, job.n, job.c_stride);
}

// --- asynchronous copies ---------------------------------------------------------------------------------------------

// Copies 4 or 16 bytes from device to shared memory past the registers; puts zeros there, and reads nothing, when not
// valid. The thread goes on at once; wait_copies says when they are there. Devices before 8.0 copy on the spot.
template <int Floats> __device__ __forceinline__ void copy_async(float *to, const float *from, bool valid) {
#if __CUDA_ARCH__ >= 800
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(to);
    const int bytes = valid ? 4 * Floats : 0; // what is missing up to 4 * Floats is filled with zeros
    if constexpr (Floats == 4)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(bytes));
#else
    if constexpr (Floats == 4)
        *(float4 *)to = valid ? *(const float4 *)from : make_float4(0, 0, 0, 0);
    else
        *to = valid ? *from : 0.0F;
#endif
}

// Ends a group of copies.
__device__ __forceinline__ void commit_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;");
#endif
}

// Waits for this thread's copies, but for the last `Groups` groups. Others see them after a barrier.
template <int Groups> __device__ __forceinline__ void wait_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
#endif
}

// A thread's share of copying tiles of Rows x Cols floats, one after another along a matrix, to shared memory whose
// rows are Pitch floats apart. What lies outside the matrix becomes zero. Wide: 16 bytes a copy, for matrices whose
// rows are aligned to that; else 4. Neighbouring threads copy neighbouring places of a row.
template <int Rows, int Cols, int Pitch, int Threads, bool Wide> struct tile_copy {
    static constexpr int EACH = Wide ? 4 : 1;     // floats of a copy
    static constexpr int ACROSS = Cols / EACH;    // copies in a row of the tile
    static constexpr int DOWN = Threads / ACROSS; // rows that all threads cover at once
    static constexpr int COUNT = Rows / DOWN;
    static_assert(Threads % ACROSS == 0 && Rows % DOWN == 0 && Pitch % EACH == 0, "all threads copy alike");

    const float *from;        // of the thread's first copy
    size_t pitch;             // floats from row to row of the matrix
    int spot;                 // of that copy in the tile
    int rows_left, cols_left; // of the matrix, from that copy on

    __device__ __forceinline__ tile_copy(const float *base, size_t stride, int rows, int cols, place at, int thread)
        : pitch(stride) {
        const int row = thread / ACROSS, col = thread % ACROSS * EACH;
        from = base + (size_t)(at.row + row) * pitch + (at.col + col);
        spot = row * Pitch + col;
        rows_left = rows - at.row - row;
        cols_left = cols - at.col - col;
    }

    __device__ __forceinline__ void start(float *tile) const {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            copy_async<EACH>(tile + spot + i * DOWN * Pitch, from + i * DOWN * pitch,
                             cols_left > 0 && i * DOWN < rows_left);
    }

    __device__ __forceinline__ void go_right() {
        from += Cols;
        cols_left -= Cols;
    }
    __device__ __forceinline__ void go_down() {
        from += Rows * pitch;
        rows_left -= Rows;
    }
};

// --- tensor cores ----------------------------------------------------------------------------------------------------

// A float rounded to tf32, whose other 13 bits tensor cores ignore. One instruction from 9.0 on, ties to even; two
// before, ties away from zero.
__device__ __forceinline__ uint32_t to_tf32(uint32_t float_bits) {
    uint32_t rounded = float_bits;
#if __CUDA_ARCH__ >= 900
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(float_bits)));
#elif __CUDA_ARCH__ >= 800
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(float_bits)));
#endif
    return rounded;
}

// --- which tile a block makes ----------------------------------------------------------------------------------------

// Tiles in bands of `BAND` rows of tiles, down each column of a band: the blocks that run at the same time then make a
// patch that is about square, and share most of what they read through the second-level cache.
template <int TileRows, int TileCols> __device__ __forceinline__ place tile_place(int m, int n, unsigned tile) {
    constexpr unsigned BAND = 8;
    const unsigned rows = ((unsigned)m + TileRows - 1) / TileRows, cols = ((unsigned)n + TileCols - 1) / TileCols;
    const unsigned band = tile / (BAND * cols), within = tile % (BAND * cols);
    const unsigned height = min(BAND, rows - band * BAND);
    return {(int)((band * BAND + within % height) * TileRows), (int)(within / height * TileCols)};
}

inline size_t tile_count(const gi_matmul_launch &job, size_t rows, size_t cols) {
    return divide_up(job.m, rows) * divide_up(job.n, cols);
}

// Neighbours of a row of C, those of them that exist. Wide: the address is aligned and all exist or none.
template <bool Wide> __device__ __forceinline__ void store_two(float *row, int col, int n, float2 v) {
    if constexpr (Wide) {
        if (col < n) *(float2 *)(row + col) = v;
    } else {
        if (col < n) row[col] = v.x;
        if (col + 1 < n) row[col + 1] = v.y;
    }
}

template <bool Wide> __device__ __forceinline__ void store_four(float *row, int col, int n, float4 v) {
    if constexpr (Wide) {
        if (col < n) *(float4 *)(row + col) = v;
    } else {
        store_two<false>(row, col, n, make_float2(v.x, v.y));
        store_two<false>(row, col + 2, n, make_float2(v.z, v.w));
    }
}

} // namespace gi

#endif
