// Matrix product on Hopper's tensor cores, by groups of four warps: wgmma on tf32, fed by the bulk tensor copy engine.
//
// Formula   C = A B, each factor rounded to nearest in tf32 (8 bits of exponent, 10 of fraction): B by an instruction,
//           A by the copy engine, which its data type tells to; products exact, sums in float32 as the tensor core
//           adds.
// Idea      A group's instruction multiplies 64 x 8 by 8 x N. The second factor comes from shared memory and must lie
//           there with its depth along the rows, as A does but B does not; the first may come from registers, in any
//           order we load them. So we make the transpose, B' A' = C': B through registers, A straight from shared
//           memory.
// Shapes    k, n and strides multiples of 4, A, B and C aligned to 16 bytes, as the copy engine wants it. What sticks
// out over
//           an edge it fills with zeros.
// Exact     no: the error bound of matmul.h. The same bits every run. NaN and infinities follow IEEE's rules.
// Blocks    two groups that multiply, side by side along a row of C, and a warp that starts copies. Two blocks, one
//           above the other, are a cluster: they need the same of B, of which each copies half, to both. That saves a
//           third of the reads from the second-level cache, which would otherwise be the bound (below).
// Threads   of a group: lane l of warp w has rows 16 w + l / 4 and 8 more of B', columns l % 4 and 4 more; of C'
//           columns 8 j + 2 (l % 4) and one more (PTX ISA, "Register fragments for wgmma"). Which columns of C are
//           called which rows is up to us: a lane takes 4 (or 2) neighbours, one load or store of 16 (8) bytes.
// Shared    4 stages of tiles 32 deep. Rows of 128 bytes whose 16-byte chunks are swizzled: chunk c of row r lies at
//           c xor r % 8 (PTX ISA, "128B swizzle"); wgmma reads A so, and loads of B meet all banks evenly.
// Barriers  full[s]: the bytes of a stage have arrived. empty[s]: the 16 warps of both blocks are done with it.
// Bytes     a block of 128 x 256 reads 4 (128 + 256 / 2) bytes from the second-level cache for each step of depth, and
//           does 2 * 128 * 256 FLOP for them: at 495 TFLOP/s that is 7.7 TB/s, at 11.6 without the clusters.
// Bound     shared memory at 128 bytes a cycle: 8 deep, wgmma's reads of A 128 cycles, loads of B 64, copies 96; the
//           products 256 (1024 multiply-adds a cycle). And the second-level cache, which gives some 6 TB/s.
// FLOPs     2 m n k; the tensor cores do 495 T a second by the data sheet.
#include <cuda.h>

#include "kernels/matmul.cuh"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define GI_HAVE_WGMMA 1
#endif

namespace {

using namespace gi;

constexpr int DEPTH = 32; // floats: 128 bytes, a row of the swizzle
constexpr int STEP = 8;   // of an instruction
constexpr int STAGES = 4;
constexpr int GROUPS = 2, GROUP_WARPS = 4;
constexpr int WORKERS = GROUPS * GROUP_WARPS;           // warps
constexpr int THREADS = (WORKERS + GROUP_WARPS) * WARP; // one warp copies; registers are given to groups of four
constexpr int CLUSTER = 2;
constexpr int BOX = 32; // columns of B that are copied at a time: 128 bytes

// A block makes Rows x Cols of C. Fragments: of 64 columns each, for each group.
template <int Rows, int Fragments, int BlocksEach> struct shape {
    static constexpr int ROWS = Rows, FRAGMENTS = Fragments, BLOCKS_EACH = BlocksEach;
    static constexpr int COLS = GROUPS * 64 * Fragments;
    static constexpr int BOXES = COLS / BOX;
    static constexpr int BOX_FLOATS = DEPTH * BOX, A_FLOATS = Rows * DEPTH;
    static constexpr int STAGE_FLOATS = A_FLOATS + BOXES * BOX_FLOATS;
    static constexpr int SHARED_BYTES = STAGES * STAGE_FLOATS * 4 + 1024; // room to align
    static constexpr int VALUES = Rows / 2;                               // of C' that a lane has in a fragment
    static_assert(DEPTH % STEP == 0 && VALUES * FRAGMENTS <= 128, "whole instructions, and room for the sums");
};
using large = shape<128, 2, 1>;
using small = shape<64, 1, 2>;

#ifdef GI_HAVE_WGMMA

// Registers of a thread that multiplies and of one that copies, where a block has the multiprocessor for itself.
constexpr int WORKER_REGISTERS = 240, COPIER_REGISTERS = 24;

struct barriers {
    uint64_t full[STAGES], empty[STAGES];
};

__device__ __forceinline__ uint32_t shared_address(const void *at) { return (uint32_t)__cvta_generic_to_shared(at); }

__device__ __forceinline__ void barrier_init(uint64_t *barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

// Waits until the phase of that parity is over.
__device__ __forceinline__ void barrier_wait(uint64_t *barrier, uint32_t parity) {
    asm volatile("{\n\t"
                 ".reg .pred done;\n\t"
                 "again:\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
                 "@!done bra again;\n\t"
                 "}" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

// Arrives, and says how many bytes are to come.
__device__ __forceinline__ void barrier_expect(uint64_t *barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}

// Arrives at the barrier of that place in a block of the cluster. It tells of reads alone, so that no writes need to be
// made visible.
__device__ __forceinline__ void barrier_arrive(uint64_t *barrier, uint32_t block) {
    asm volatile("{\n\t"
                 ".reg .b32 there;\n\t"
                 "mapa.shared::cluster.u32 there, %0, %1;\n\t"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n\t"
                 "}" ::"r"(shared_address(barrier)),
                 "r"(block)
                 : "memory");
}

__device__ __forceinline__ void cluster_barrier() {
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Starts the copy of a box whose origin is (x, y); its bytes count at `full`. copy_to_all: in every block of the
// cluster.
__device__ __forceinline__ void copy_box(float *to, const CUtensorMap *map, int x, int y, uint64_t *full) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
        "[%4];" ::"r"(shared_address(to)),
        "l"(map), "r"(x), "r"(y), "r"(shared_address(full))
        : "memory");
}
__device__ __forceinline__ void copy_box_to_all(float *to, const CUtensorMap *map, int x, int y, uint64_t *full) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
                 "l"(map), "r"(x), "r"(y), "r"(shared_address(full)), "h"((uint16_t)((1 << CLUSTER) - 1))
                 : "memory");
}

// How wgmma finds a factor: address, 1024 bytes from 8 rows to the next, swizzle of 128 bytes (PTX ISA, "Matrix
// descriptor").
__device__ __forceinline__ uint64_t descriptor(const float *tile) {
    return (uint64_t)(shared_address(tile) >> 4 & 0x3fff) | 1ULL << 16 | 1024ULL >> 4 << 32 | 1ULL << 62;
}

#define GI_FOUR(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define GI_SIXTEEN(d, i) GI_FOUR(d, i), GI_FOUR(d, i + 4), GI_FOUR(d, i + 8), GI_FOUR(d, i + 12)

// d += the fragment b times the 8 columns of A's tile at `a`, transposed.
__device__ __forceinline__ void multiply_fragment(float (&d)[32], const uint32_t (&b)[4], uint64_t a) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "{%32, %33, %34, %35}, %36, 1, 1, 1;"
                 : GI_SIXTEEN(d, 0), GI_SIXTEEN(d, 16)
                 : "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "l"(a));
}
__device__ __forceinline__ void multiply_fragment(float (&d)[64], const uint32_t (&b)[4], uint64_t a) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                 "{%64, %65, %66, %67}, %68, 1, 1, 1;"
                 : GI_SIXTEEN(d, 0), GI_SIXTEEN(d, 16), GI_SIXTEEN(d, 32), GI_SIXTEEN(d, 48)
                 : "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "l"(a));
}
#undef GI_FOUR
#undef GI_SIXTEEN

// Where a lane's columns lie: its box, the 16-byte chunk of its row, and the first float in that. Of lanes that are
// served together (8 with 16 bytes each, 16 with 8), the chunks of different groups differ in the bit that the row
// (0..3) does not swizzle.
struct lane_place {
    int box, chunk, first;
};
template <typename Shape> __device__ __forceinline__ lane_place place_of(int warp, int lane) {
    const int g = lane / 4;
    if constexpr (Shape::FRAGMENTS == 2) return {warp, g / 2 + g % 2 * 4, 0};
    return {warp / 2, g / 4 + g / 2 % 2 * 4 + warp % 2 * 2, g % 2 * 2};
}

template <typename Shape> struct fragments { uint32_t b[DEPTH / STEP][Shape::FRAGMENTS][4]; };

// `box` is the lane's box of the stage.
template <typename Shape>
__device__ __forceinline__ void load_fragments(fragments<Shape> &out, const float *box, lane_place at, int lane) {
    const int t = lane % 4;
#pragma unroll
    for (int s = 0; s < DEPTH / STEP; s++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int row = t + 4 * half; // in the step
            const float *from = box + (s * STEP + row) * BOX + (at.chunk ^ row) * 4 + at.first;
            float v[2 * Shape::FRAGMENTS];
            if constexpr (Shape::FRAGMENTS == 2)
                *(float4 *)v = *(const float4 *)from;
            else
                *(float2 *)v = *(const float2 *)from;
#pragma unroll
            for (int i = 0; i < 2 * Shape::FRAGMENTS; i++)
                out.b[s][i / 2][half * 2 + i % 2] = to_tf32(__float_as_uint(v[i]));
        }
}

// The warp that starts copies: `tiles` stages, one after another.
template <typename Shape>
__device__ __forceinline__ void copy_tiles(const CUtensorMap *a, const CUtensorMap *b, float *shared, barriers *sync,
                                           place at, uint32_t rank, int tiles) {
    constexpr int SHARE = Shape::BOXES / CLUSTER;
    for (int tile = 0; tile < tiles; tile++) {
        const int s = tile % STAGES;
        float *stage = shared + s * Shape::STAGE_FLOATS;
        barrier_wait(&sync->empty[s], (tile / STAGES & 1) ^ 1); // the first time, nothing is to wait for
        barrier_expect(&sync->full[s], Shape::STAGE_FLOATS * 4);
        copy_box(stage, a, tile * DEPTH, at.row, &sync->full[s]);
        for (int i = 0; i < SHARE; i++) {
            const int box = (int)rank * SHARE + i;
            copy_box_to_all(stage + Shape::A_FLOATS + box * Shape::BOX_FLOATS, b, at.col + box * BOX, tile * DEPTH,
                            &sync->full[s]);
        }
    }
}

template <typename Shape>
__device__ __forceinline__ void multiply_tiles(float (&sum)[Shape::FRAGMENTS][Shape::VALUES], const float *shared,
                                               barriers *sync, int tiles) {
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const lane_place mine = place_of<Shape>(warp, lane);
    for (int tile = 0; tile < tiles; tile++) {
        const int s = tile % STAGES;
        const float *stage = shared + s * Shape::STAGE_FLOATS;
        barrier_wait(&sync->full[s], tile / STAGES & 1);
        fragments<Shape> right;
        load_fragments<Shape>(right, stage + Shape::A_FLOATS + mine.box * Shape::BOX_FLOATS, mine, lane);
        const uint64_t left = descriptor(stage);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int step = 0; step < DEPTH / STEP; step++)
#pragma unroll
            for (int f = 0; f < Shape::FRAGMENTS; f++)
                multiply_fragment(sum[f], right.b[step][f], left + step * (STEP * 4 >> 4));
        asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
        if (lane < CLUSTER) barrier_arrive(&sync->empty[s], (uint32_t)lane);
    }
}

template <typename Shape>
__device__ __forceinline__ void store(const product &p, place at, const float (&sum)[Shape::FRAGMENTS][Shape::VALUES]) {
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const lane_place mine = place_of<Shape>(warp, lane);
    const int col = at.col + mine.box * BOX + mine.chunk * 4 + mine.first;
#pragma unroll
    for (int i = 0; i < Shape::VALUES; i += 4)
#pragma unroll
        for (int e = 0; e < 2; e++) {
            const int row = at.row + i * 2 + lane % 4 * 2 + e;
            if (row >= p.m) continue;
            float *to = p.c + (size_t)row * p.c_stride;
            if constexpr (Shape::FRAGMENTS == 2)
                store_four<true>(to, col, p.n,
                                 make_float4(sum[0][i + e], sum[0][i + 2 + e], sum[1][i + e], sum[1][i + 2 + e]));
            else
                store_two<true>(to, col, p.n, make_float2(sum[0][i + e], sum[0][i + 2 + e]));
        }
}

#endif

template <typename Shape>
__global__ void __launch_bounds__(THREADS, Shape::BLOCKS_EACH)
    wgmma_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, const product p) {
#ifdef GI_HAVE_WGMMA
    extern __shared__ unsigned char room[];
    __shared__ barriers sync;
    float *shared = (float *)(((uintptr_t)room + 1023) & ~(uintptr_t)1023);
    const uint32_t rank = blockIdx.x % CLUSTER;
    place at = tile_place<CLUSTER * Shape::ROWS, Shape::COLS>(p.m, p.n, blockIdx.x / CLUSTER);
    at.row += (int)rank * Shape::ROWS;
    const int tiles = (p.k + DEPTH - 1) / DEPTH;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(&sync.full[s], 1);
            barrier_init(&sync.empty[s], WORKERS * CLUSTER);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_barrier(); // the barriers of both blocks are there
    if (threadIdx.x < WORKERS * WARP) {
        if constexpr (Shape::BLOCKS_EACH == 1)
            asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(WORKER_REGISTERS));
        float sum[Shape::FRAGMENTS][Shape::VALUES] = {};
        multiply_tiles<Shape>(sum, shared, &sync, tiles);
        store<Shape>(p, at, sum);
    } else {
        if constexpr (Shape::BLOCKS_EACH == 1)
            asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COPIER_REGISTERS));
        if (threadIdx.x == WORKERS * WARP) copy_tiles<Shape>(&a, &b, shared, &sync, at, rank, tiles);
    }
    __syncwarp();
    cluster_barrier(); // neither block needs the other's shared memory any more
#endif
}

// --- launching -------------------------------------------------------------------------------------------------------

using encode_function = CUresult (*)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                                     const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                                     CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

// The driver's function that describes a matrix to the copy engine; found at run time, so that we need no libcuda to
// link.
gi_status find_encode(encode_function *encode, gi_error *err) {
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
#else
    const cudaError_t error = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
#endif
    *encode = (encode_function)found;
    if (error == cudaSuccess && !found) return gi_fail(err, GI_ERR_DEVICE, "the driver has no cuTensorMapEncodeTiled");
    return gi_cuda_check(error, "looking for cuTensorMapEncodeTiled", err);
}

// A matrix in rows, to be copied in boxes of `box[0]` x `box[1]`.
struct rows_of {
    const float *data;
    size_t width, height, stride;
};
gi_status describe(encode_function encode, CUtensorMap *map, const rows_of &m, const cuuint32_t (&box)[2],
                   gi_error *err) {
    const cuuint64_t widths[] = {m.width, m.height}, pitch[] = {m.stride * sizeof(float)};
    const cuuint32_t steps[] = {1, 1};
    const CUresult result = encode(map, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 2, (void *)m.data, widths, pitch, box, steps,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result == CUDA_SUCCESS) return GI_OK;
    return gi_fail(err, GI_ERR_DEVICE, "cuTensorMapEncodeTiled: error %d", (int)result);
}

template <typename Shape> gi_status start(const gi_matmul_launch &job, gi_error *err) {
    encode_function encode;
    CUtensorMap a, b;
    gi_status status = find_encode(&encode, err);
    if (status == GI_OK) status = describe(encode, &a, {job.a, job.k, job.m, job.a_stride}, {DEPTH, Shape::ROWS}, err);
    if (status == GI_OK) status = describe(encode, &b, {job.b, job.n, job.k, job.b_stride}, {BOX, DEPTH}, err);
    if (status == GI_OK)
        status = gi_cuda_check(
            cudaFuncSetAttribute(wgmma_kernel<Shape>, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::SHARED_BYTES),
            "asking for shared memory", err);
    if (status != GI_OK) return status;
    const unsigned blocks = (unsigned)(CLUSTER * tile_count(job, CLUSTER * Shape::ROWS, Shape::COLS));
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {CLUSTER, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = THREADS;
    config.dynamicSmemBytes = Shape::SHARED_BYTES;
    config.stream = (cudaStream_t)job.stream;
    config.attrs = &cluster;
    config.numAttrs = 1;
    return gi_cuda_check(cudaLaunchKernelEx(&config, wgmma_kernel<Shape>, a, b, product_of(job)),
                         "starting matmul tf32", err);
}

} // namespace

gi_status gi::matmul_wgmma_takes(const gi_matmul_launch &job, gi_error *err) {
    int device = 0, major = 0;
    cudaFuncAttributes code;
    gi_status status = gi_cuda_check(cudaGetDevice(&device), "asking for the device", err);
    if (status == GI_OK)
        status = gi_cuda_check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
                               "asking for the architecture", err);
    if (status == GI_OK)
        status = gi_cuda_check(cudaFuncGetAttributes(&code, wgmma_kernel<large>), "loading the kernels", err);
    if (status != GI_OK) return status;
    // The kernel is empty, and has no barriers, in code for another architecture than sm_90a.
    if (major != 9 || code.sharedSizeBytes == 0)
        return gi_fail(err, GI_ERR_DEVICE,
                       "wgmma needs a device of compute capability 9.0, and code for sm_90a in this "
                       "build");
    if (!is_wide(job))
        return gi_fail(err, GI_ERR_DEVICE,
                       "wgmma needs matrices aligned to 16 bytes, and K, N and strides that are multiples of 4");
    return GI_OK;
}

gi_status gi::matmul_wgmma(const gi_matmul_launch &job, gi_error *err) {
    constexpr size_t FEW_TILES = 64; // for large tiles to be worth while: they leave half of the device idle
    return tile_count(job, large::ROWS, large::COLS) > FEW_TILES ? start<large>(job, err) : start<small>(job, err);
}
