// Matrix product, as lectures teach it: first a thread for each element, then by tiles in shared memory.
//
// Formula   C(i, j) = sum over p of A(i, p) B(p, j), p upward, a fused multiply-add each (Kirk and Hwu, Programming
//           Massively Parallel Processors, chapters 3 and 5).
// Shapes    any; tiles that stick out at the right and at the bottom take zeros for what is not there.
// Exact     float32, the error bound of matmul.h. NaN and infinities follow IEEE's rules.
// Threads   thread (x, y) of block (X, Y) makes the element in row Y*T + y, column X*T + x; blocks T x T. Where the
//           rows are more than a grid's y dimension holds, a block does further ones.
// Shared    naive: none. tiled: a tile of A and one of B, 8 T^2 bytes. A warp of tiled32 reads one element of A, which
//           all its threads share, and 32 neighbours of B: no two threads meet in a bank.
// Bytes     naive: 8 k an element, which only the caches save from being read from memory. tiled: 8 k / T.
// FLOPs     2 k an element.
// Bound     the load unit: for each multiply-add the naive kernel loads two words from memory or cache, the tiled ones
//           two from shared memory, and of four warps whose multiply-adds could start in a cycle one can load.
//           matmul_fast.cu is what to do about that.
#include "kernels/matmul.cuh"

namespace {

using namespace gi;

constexpr unsigned MOST_ROWS = 65535; // blocks in a grid's y dimension

constexpr int NAIVE_WIDTH = 32, NAIVE_HEIGHT = 8;

__global__ void __launch_bounds__(NAIVE_WIDTH *NAIVE_HEIGHT) naive_kernel(const product p) {
    const int64_t col = (int64_t)blockIdx.x * NAIVE_WIDTH + threadIdx.x;
    if (col >= p.n) return;
    const int64_t step = (int64_t)gridDim.y * NAIVE_HEIGHT;
    for (int64_t row = (int64_t)blockIdx.y * NAIVE_HEIGHT + threadIdx.y; row < p.m; row += step) {
        const float *a = p.a + (size_t)row * p.a_stride, *b = p.b + col;
        float sum = 0;
        for (int i = 0; i < p.k; i++, b += p.b_stride) sum = fmaf(a[i], *b, sum);
        p.c[(size_t)row * p.c_stride + (size_t)col] = sum;
    }
}

template <int T> __global__ void __launch_bounds__(T *T) tiled_kernel(const product p) {
    __shared__ float a[T][T], b[T][T];
    const int x = (int)threadIdx.x, y = (int)threadIdx.y;
    const int64_t col = (int64_t)blockIdx.x * T + x;
    for (int64_t row0 = (int64_t)blockIdx.y * T; row0 < p.m; row0 += (int64_t)gridDim.y * T) {
        const int64_t row = row0 + y;
        const float *from_a = p.a + (size_t)row * p.a_stride + x, *from_b = p.b + (size_t)y * p.b_stride + col;
        float sum = 0;
        for (int64_t i0 = 0; i0 < p.k; i0 += T, from_a += T, from_b += T * p.b_stride) {
            a[y][x] = row < p.m && i0 + x < p.k ? *from_a : 0.0F;
            b[y][x] = i0 + y < p.k && col < p.n ? *from_b : 0.0F;
            __syncthreads(); // the tiles are there
#pragma unroll
            for (int i = 0; i < T; i++) sum = fmaf(a[y][i], b[i][x], sum);
            __syncthreads(); // nobody reads them any more
        }
        if (row < p.m && col < p.n) p.c[(size_t)row * p.c_stride + (size_t)col] = sum;
    }
}

dim3 grid_of(const gi_matmul_launch &job, size_t width, size_t height) {
    return dim3((unsigned)divide_up(job.n, width), (unsigned)smaller(divide_up(job.m, height), MOST_ROWS));
}

template <int T> void start_tiled(const gi_matmul_launch &job) {
    tiled_kernel<T><<<grid_of(job, T, T), dim3(T, T), 0, (cudaStream_t)job.stream>>>(product_of(job));
}

} // namespace

gi_status gi::matmul_naive(const gi_matmul_launch &job, gi_error *err) {
    const dim3 block(NAIVE_WIDTH, NAIVE_HEIGHT);
    naive_kernel<<<grid_of(job, NAIVE_WIDTH, NAIVE_HEIGHT), block, 0, (cudaStream_t)job.stream>>>(product_of(job));
    return gi_cuda_check(cudaGetLastError(), "starting matmul naive", err);
}

gi_status gi::matmul_tiled(const gi_matmul_launch &job, int tile, gi_error *err) {
    if (tile == 8)
        start_tiled<8>(job);
    else if (tile == 16)
        start_tiled<16>(job);
    else
        start_tiled<32>(job);
    return gi_cuda_check(cudaGetLastError(), "starting matmul tiled", err);
}
