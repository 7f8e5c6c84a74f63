// Matrix product on tensor cores, by warps: mma.sync on tf32.
//
// Formula   C = A B, each factor rounded to tf32 (8 bits of exponent, 10 of fraction) to nearest (ties to even,
//           before compute capability 9.0 away from zero); products exact, sums in float32 as the tensor core adds.
// Idea      A warp's instruction multiplies 16 x 8 by 8 x 8, whose elements its lanes hold in a fixed pattern. Of the
//           first factor lane l has rows l / 4 and l / 4 + 8 in columns l % 4 and l % 4 + 4; of the second rows l % 4
//           and l % 4 + 4 of column l / 4; of the product rows as of the first, in columns 2 (l % 4) and one more (PTX
//           ISA, "Matrix Fragments for mma.m16n8k8"). We make the transpose, B' A' = C': of B, whose rows hold
//           neighbouring columns of C, a lane then takes two neighbours at a time, since which column of C we call row
//           l / 4 and which row l / 4 + 8 is up to us: 2 (l / 4) and one more. Each load fills the very registers that
//           mma wants.
// Shapes    any. What sticks out over an edge is zero in shared memory. Rows that are not aligned to 16 bytes take the
//           slower form, which copies 4 bytes at a time.
// Exact     no: the error bound of matmul.h with v = 2^-11. The same bits every run. NaN and infinities follow IEEE's
//           rules; a finite value that rounds past the largest tf32 number, 3.4012e38, becomes infinite.
// Threads   4 warps a block, each 64 x 64 elements of C.
// Shared    4 stages of tiles 16 deep, 75 KiB (cp.async). A by ldmatrix, from rows 20 floats apart; B's rows are 136
//           apart: in both ways the lanes that are served together meet different banks.
// Bytes     a block tile reads 8 k (128 + 128) / 2 bytes, mostly from the second-level cache, for 2 k 128 128 FLOP.
// FLOPs     2 m n k. Eight deep a warp issues 32 mma, 12 loads and 32 roundings.
// Bound     the tensor cores by way of mma.sync, which on Hopper drives them at some 60 % of what wgmma does.
#include "kernels/matmul.cuh"

namespace {

using namespace gi;

constexpr int THREADS = 128;
constexpr int TILE = 128, DEPTH = 16, STAGES = 4;
constexpr int A_PITCH = DEPTH + 4, B_PITCH = TILE + 8; // floats
constexpr int A_FLOATS = TILE * A_PITCH, STAGE_FLOATS = A_FLOATS + DEPTH * B_PITCH;
constexpr int SHARED_BYTES = STAGES * STAGE_FLOATS * 4;
constexpr int WARP_SIDE = 64;
constexpr int ROWS = 8, COLS = 16, STEP = 8; // of C that an instruction makes; its depth
static_assert(DEPTH == 2 * STEP, "two instructions deep");
constexpr int DOWN = WARP_SIDE / ROWS, ACROSS = WARP_SIDE / COLS;

// What a lane holds of a warp's strips of A and B, 8 deep, and of C.
struct strips {
    uint32_t a[DOWN][2], b[ACROSS][4];
};
struct part {
    float c[DOWN][ACROSS][4];
};

#if __CUDA_ARCH__ >= 800

// 16 rows of A, 8 floats each, as two fragments. ldmatrix moves four times 8 rows of 16 bytes, whatever they hold:
// lanes 0-7 point to the rows of the first 8, lanes 8-15 to those of the second, ...
__device__ __forceinline__ void load_rows(uint32_t (&first)[2], uint32_t (&second)[2], const float *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(first[0]), "=r"(first[1]), "=r"(second[0]), "=r"(second[1])
                 : "r"((uint32_t)__cvta_generic_to_shared(row)));
}

__device__ __forceinline__ void multiply_fragments(float (&c)[4], const uint32_t (&b)[4], const uint32_t (&a)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(a[0]), "r"(a[1]));
}

// `a` is where this lane points to for ldmatrix, `b` its first two columns in its first row.
__device__ __forceinline__ void load_strips(strips &s, const float *a, const float *b) {
#pragma unroll
    for (int j = 0; j < ACROSS; j++) {
        *(uint2 *)s.b[j] = *(const uint2 *)(b + COLS * j);
        *(uint2 *)(s.b[j] + 2) = *(const uint2 *)(b + COLS * j + 4 * B_PITCH);
    }
#pragma unroll
    for (int i = 0; i < DOWN; i += 2) load_rows(s.a[i], s.a[i + 1], a + ROWS * i * A_PITCH);
}

// Rounds an eighth of the strips.
__device__ __forceinline__ void round_strips(strips &s, int part) {
    static_assert(DOWN == 8 && ACROSS == 4, "eighths");
#pragma unroll
    for (int r = 0; r < 2; r++) {
        uint32_t &right = s.b[part / 2][part % 2 * 2 + r];
        right = to_tf32(right);
        s.a[part][r] = to_tf32(s.a[part][r]);
    }
}

// Multiplies strips, and meanwhile rounds the next ones.
__device__ __forceinline__ void multiply_strips(part &sum, const strips &s, strips &next) {
#pragma unroll
    for (int i = 0; i < DOWN; i++) {
#pragma unroll
        for (int j = 0; j < ACROSS; j++) multiply_fragments(sum.c[i][j], s.b[j], s.a[i]);
        round_strips(next, i);
    }
}

// A lane has rows 8 i + 2 (lane % 4) and one more, in columns 16 j + 2 (lane / 4) and one more.
template <bool Wide> __device__ __forceinline__ void store(const product &p, int row0, int col0, const part &sum) {
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int i = 0; i < DOWN; i++)
#pragma unroll
        for (int e = 0; e < 2; e++) {
            const int row = row0 + ROWS * i + 2 * (lane % 4) + e;
            if (row >= p.m) continue;
            float *to = p.c + (size_t)row * p.c_stride;
#pragma unroll
            for (int j = 0; j < ACROSS; j++)
                store_two<Wide>(to, col0 + COLS * j + 2 * (lane / 4), p.n,
                                make_float2(sum.c[i][j][e], sum.c[i][j][2 + e]));
        }
}

#endif

template <bool Wide> __global__ void __launch_bounds__(THREADS, 2) mma_kernel(const product p) {
#if __CUDA_ARCH__ >= 800
    extern __shared__ __align__(16) float shared[];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int row = warp / 2 * WARP_SIDE, col = warp % 2 * WARP_SIDE;
    const float *a_place = shared + (row + lane / 16 * ROWS + lane % 8) * A_PITCH + lane / 8 % 2 * 4;
    const float *b_place = shared + A_FLOATS + lane % 4 * B_PITCH + col + lane / 4 * 2;
    const place at = tile_place<TILE, TILE>(p.m, p.n, blockIdx.x);
    const int tiles = (p.k + DEPTH - 1) / DEPTH;
    tile_copy<TILE, DEPTH, A_PITCH, THREADS, Wide> a(p.a, p.a_stride, p.m, p.k, {at.row, 0}, threadIdx.x);
    tile_copy<DEPTH, TILE, B_PITCH, THREADS, Wide> b(p.b, p.b_stride, p.k, p.n, {0, at.col}, threadIdx.x);
    // Past the last tile, zeros are all that is copied.
    auto start = [&](int tile) {
        float *stage = shared + tile % STAGES * STAGE_FLOATS;
        a.start(stage);
        b.start(stage + A_FLOATS);
        a.go_right();
        b.go_down();
        commit_copies();
    };
    // Always the next strips are loaded before these are multiplied. A barrier between tiles: the next tile is there,
    // and everybody has read the whole of this one.
    part sum = {};
    strips now, next;
    for (int tile = 0; tile < STAGES - 1; tile++) start(tile);
    wait_copies<STAGES - 2>();
    __syncthreads();
    load_strips(now, a_place, b_place);
#pragma unroll
    for (int i = 0; i < DOWN; i++) round_strips(now, i);
    for (int tile = 0; tile < tiles; tile++) {
        const int stage = tile % STAGES * STAGE_FLOATS, then = (tile + 1) % STAGES * STAGE_FLOATS;
        load_strips(next, a_place + stage + STEP, b_place + stage + STEP * B_PITCH);
        start(tile + STAGES - 1);
        multiply_strips(sum, now, next);
        wait_copies<STAGES - 2>();
        __syncthreads();
        load_strips(now, a_place + then, b_place + then); // past the last tile: of no use
        multiply_strips(sum, next, now);
    }
    wait_copies<0>();
    store<Wide>(p, at.row + row, at.col + col, sum);
#endif
}

template <bool Wide> gi_status start(const gi_matmul_launch &job, gi_error *err) {
    cudaFuncAttributes code;
    gi_status status = gi_cuda_check(cudaFuncGetAttributes(&code, mma_kernel<Wide>), "loading the kernels", err);
    if (status != GI_OK) return status;
    // The virtual architecture that the code was made for, which is what the kernel's text depends on.
    if (code.ptxVersion < 80)
        return gi_fail(err, GI_ERR_DEVICE,
                       "matmul tf32 needs a device of compute capability 8.0 or higher, and code "
                       "for it in this build");
    status =
        gi_cuda_check(cudaFuncSetAttribute(mma_kernel<Wide>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES),
                      "asking for shared memory", err);
    if (status != GI_OK) return status;
    const unsigned tiles = (unsigned)tile_count(job, TILE, TILE);
    mma_kernel<Wide><<<tiles, THREADS, SHARED_BYTES, (cudaStream_t)job.stream>>>(product_of(job));
    return gi_cuda_check(cudaGetLastError(), "starting matmul tf32", err);
}

} // namespace

gi_status gi::matmul_mma(const gi_matmul_launch &job, gi_error *err) {
    return is_wide(job) ? start<true>(job, err) : start<false>(job, err);
}
