// The reduction of an array by warps, in one launch: `shuffle`, the default.
//
// Formula   v(0) op ... op v(n - 1); for sums, products and means of floats the very tree of core/float_tree.h.
// Threads   a warp takes a tile: 16 rows of 512 bytes, each one 16-byte load of every lane (float64: 1024 bytes, two
//           loads). Floats: a lane has four columns of the tile, and reduces them by neighbouring rows in registers,
//           4 KiB of a warp's rows while the next 4 KiB are under way; then the lanes reduce the columns by halves,
//           each keeping half of what it has as long as there is more than one: 8 shuffles of a double for 2048
//           values. What does not depend on the order needs no tile's value: each lane goes on adding to its own.
//           A block of 4 warps takes 4 neighbouring tiles at a time, 4 * `rounds` in all, and leaves one value.
// End       each block counts itself as done; the block that finds all others done reduces their values. That is the
//           barrier over the device without a second launch, which at a million values takes as long as the sum itself.
//           Its price is a counter in memory that has to be zero when the kernel starts; the last block puts it back.
// Shared    the values of a block's tiles (floats), or those of its warps.
// Bytes     one read of the values.
// Bound     memory bandwidth; below some million values the launch.
#include "kernels/reduce_array.cuh"

namespace {

using namespace gi;

constexpr int THREADS = 128, WARPS = THREADS / WARP;
constexpr int ROWS = GI_TREE_ROWS;
// A warp takes up to FEW_ROUNDS tiles where there still are ENOUGH_BLOCKS: about what a large device runs at once, as
// each block's end takes a while. More only so that there are no more than MANY_BLOCKS, all that one tree takes; or
// MANY_FREE_BLOCKS, which need so few registers, without a tree, that all run at once.
constexpr size_t FEW_ROUNDS = 4, ENOUGH_BLOCKS = 512, MANY_BLOCKS = BLOCK_TREE<THREADS>, MANY_FREE_BLOCKS = 1024;
constexpr size_t MOST_GROUPS = 128; // of as many blocks as one tree takes: 2^40 values and more
constexpr size_t MOST_BLOCKS = MOST_GROUPS * BLOCK_TREE<THREADS>;
constexpr size_t MOST_ROUNDS = BLOCK_TREE<THREADS> / WARPS;

// ---- the last block -----------------------------------------------------------------------------------------------

// True in all threads of the block that is the last to come here; it sees what thread 0 of each wrote before.
__device__ __forceinline__ bool is_last_block(uint32_t *ticket) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        uint32_t before; // what others wrote before they counted themselves is seen after: acquire and release
        asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(ticket) : "memory");
        last = before == gridDim.x - 1;
    }
    __syncthreads();
    return last;
}

// Past the first-level cache, which does not see what other multiprocessors write.
template <typename T> __device__ __forceinline__ T load_from_l2(const T *from) {
    using word = typename std::conditional<sizeof(T) == 4, uint32_t,
                                           typename std::conditional<sizeof(T) == 8, uint64_t, ulonglong2>::type>::type;
    static_assert(sizeof(T) == sizeof(word), "one load");
    const word bits = __ldcg((const word *)from);
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Thread 0 gets the tree of the blocks' values.
template <typename T, typename Op> __device__ T tree_of_blocks(const T *found, Op op, block_room<THREADS, T> &room) {
    __shared__ T groups[MOST_GROUPS];
    constexpr size_t GROUP = BLOCK_TREE<THREADS>;
    const size_t blocks = gridDim.x;
    const int count = (int)((blocks + GROUP - 1) / GROUP);
    T value = op.identity();
    for (int g = 0; g < count; g++) {
        const T *group = found + g * GROUP;
        value = block_tree((int)min(blocks - g * GROUP, GROUP), [group](int i) { return load_from_l2(group + i); }, op,
                           room);
        if (threadIdx.x == 0) groups[g] = value;
    }
    if (count == 1) return value;
    __syncthreads();
    return block_tree(
        count, [](int i) { return groups[i]; }, op, room);
}

// Thread 0 of each block has the block's value: the last block writes the result.
template <typename Job>
__device__ void finish(typename Job::A value, size_t count, typename Job::A *found, uint32_t *ticket,
                       gi_device_number *result) {
    using A = typename Job::A;
    __shared__ block_room<THREADS, A> room;
    if (gridDim.x > 1) {
        if (threadIdx.x == 0) found[blockIdx.x] = value;
        if (!is_last_block(ticket)) return;
        value = tree_of_blocks(found, typename Job::Op{}, room);
        if (threadIdx.x == 0) *ticket = 0;
    }
    if (threadIdx.x == 0) *result = Job::finish(value, count);
}

// ---- floats: the tree ---------------------------------------------------------------------------------------------

constexpr int EACH = GI_TREE_COLUMNS / WARP; // columns of a lane

// Which column is a lane's j-th: such that 16-byte loads of neighbouring lanes lie side by side.
template <typename E> __device__ __forceinline__ int column_of(int lane, int j) {
    return sizeof(E) == 4 ? 4 * lane + j : 2 * lane + j % 2 + j / 2 * (GI_TREE_COLUMNS / 2);
}

// A lane's columns in a row of a tile that is aligned to 16 bytes.
template <typename E> __device__ __forceinline__ void load_row(const E *row, int lane, E (&to)[EACH]) {
#pragma unroll
    for (int j = 0; j < EACH; j += 16 / sizeof(E)) {
        const uint4 packet = __ldcs((const uint4 *)(row + column_of<E>(lane, j)));
        memcpy(&to[j], &packet, sizeof packet);
    }
}

// Likewise, of any address, and where only `left` values of the tile's are left from the row on.
template <typename E>
__device__ __forceinline__ void load_row_part(const E *row, int lane, int64_t left, E none, E (&to)[EACH]) {
#pragma unroll
    for (int j = 0; j < EACH; j++) to[j] = column_of<E>(lane, j) < left ? __ldg(row + column_of<E>(lane, j)) : none;
}

// Every lane gets the reduction of all columns by halves.
template <typename E, typename Op> __device__ __forceinline__ double columns_tree(double (&c)[EACH], int lane, Op op) {
    double two[2];
    const bool upper = lane & 16, odd = lane & (sizeof(E) == 4 ? 8 : 16);
#pragma unroll
    for (int j = 0; j < 2; j++) { // columns 64 apart
        if (sizeof(E) == 4)
            two[j] = op(upper ? c[2 + j] : c[j], shuffle_xor(upper ? c[j] : c[2 + j], 16));
        else
            two[j] = op(c[j], c[2 + j]);
    }
    constexpr int HALF = sizeof(E) == 4 ? 8 : 16; // lanes whose columns are 32 apart
    double value = op(odd ? two[1] : two[0], shuffle_xor(odd ? two[0] : two[1], HALF));
#pragma unroll
    for (int mask = HALF / 2; mask > 0; mask /= 2) value = op(value, shuffle_xor(value, mask)); // 16, 8, 4 (and 2)
    if (sizeof(E) == 4) value = op(value, shuffle_xor(value, 16));                              // 2
    return op(value, shuffle_xor(value, HALF));                                                 // 1
}

// A tile comes in parts of 4 KiB for each warp.
template <typename E> constexpr int PART_ROWS = sizeof(E) == 4 ? 8 : 4;
template <typename E> constexpr int PARTS = ROWS / PART_ROWS<E>;
template <typename E> using part_values = E[PART_ROWS<E>][EACH];

// Begins to load part `part` of a tile of which `left` values are in the array (0, or less: none). Which way is decided
// once for all rows: the loads of rows that each decide wait for one another.
template <typename Job>
__device__ __forceinline__ void load_part(const typename Job::element *tile, int part, int64_t left, bool vectors,
                                          int lane, part_values<typename Job::element> &to) {
    using E = typename Job::element;
    constexpr int COUNT = PART_ROWS<E>;
    const E none = (E) typename Job::Op{}.identity();
    const int first = part * COUNT * GI_TREE_COLUMNS;
    if (vectors && left >= GI_TREE_TILE) {
#pragma unroll
        for (int r = 0; r < COUNT; r++) load_row(tile + first + r * GI_TREE_COLUMNS, lane, to[r]);
    } else {
#pragma unroll
        for (int r = 0; r < COUNT; r++) {
            const int at = first + r * GI_TREE_COLUMNS;
            load_row_part(tile + at, lane, left - at, none, to[r]);
        }
    }
}

// Each of a lane's columns in a part, by neighbouring rows.
template <typename Job>
__device__ __forceinline__ void reduce_part(const part_values<typename Job::element> &values, double (&columns)[EACH]) {
    constexpr int COUNT = PART_ROWS<typename Job::element>;
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        double column[COUNT];
#pragma unroll
        for (int r = 0; r < COUNT; r++) column[r] = Job::of(values[r][j]);
        columns[j] = thread_tree(column, typename Job::Op{});
    }
}

// Every lane gets the tile's value, from the parts' columns.
template <typename Job>
__device__ __forceinline__ double join_parts(const double (&columns)[PARTS<typename Job::element>][EACH], int lane) {
    using E = typename Job::element;
    double joined[EACH];
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        double column[PARTS<E>];
#pragma unroll
        for (int part = 0; part < PARTS<E>; part++) column[part] = columns[part][j];
        joined[j] = thread_tree(column, typename Job::Op{});
    }
    return columns_tree<E>(joined, lane, typename Job::Op{});
}

// The warp's tiles of a block's `count`: every WARPSth. Their values go to `tiles`.
template <typename Job>
__device__ __forceinline__ void reduce_tiles(const typename Job::element *values, int64_t left, int count, bool vectors,
                                             double *tiles) {
    using E = typename Job::element;
    static_assert(PARTS<E> % 2 == 0, "so that a tile's first part always comes to the same place");
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    part_values<E> room[2]; // one is reduced, one is under way
    const auto left_at = [left, count](int at) { return at < count ? left - (int64_t)at * GI_TREE_TILE : 0; };
    load_part<Job>(values + (size_t)warp * GI_TREE_TILE, 0, left_at(warp), vectors, lane, room[0]);
    for (int at = warp; at < count; at += WARPS) {
        double columns[PARTS<E>][EACH];
#pragma unroll
        for (int part = 0; part < PARTS<E>; part++) {
            const int next = part + 1 < PARTS<E> ? at : at + WARPS;
            load_part<Job>(values + (size_t)next * GI_TREE_TILE, (part + 1) % PARTS<E>, left_at(next), vectors, lane,
                           room[(part + 1) % 2]);
            reduce_part<Job>(room[part % 2], columns[part]);
        }
        const double value = join_parts<Job>(columns, lane);
        if (lane == 0) tiles[at] = value;
    }
}

template <typename Job>
__global__ void __launch_bounds__(THREADS)
    tree_kernel(const typename Job::element *values, size_t count, int rounds, bool vectors, double *found,
                uint32_t *ticket, gi_device_number *result) {
    __shared__ block_room<THREADS, double> room;
    extern __shared__ double tiles[]; // WARPS * rounds
    const typename Job::Op op;
    const int lane = threadIdx.x % WARP;
    const size_t first = (size_t)blockIdx.x * rounds * WARPS * GI_TREE_TILE;
    reduce_tiles<Job>(values + first, (int64_t)count - (int64_t)first, rounds * WARPS, vectors, tiles);
    __syncthreads();
    double value;
    if (rounds * WARPS <= WARP) // one warp is enough
        value = warp_tree(lane < rounds * WARPS ? tiles[lane] : op.identity(), op);
    else
        value = block_tree(
            rounds * WARPS, [](int i) { return tiles[i]; }, op, room);
    finish<Job>(value, count, found, ticket, result);
}

// ---- what does not depend on the order ------------------------------------------------------------------------------

// What a lane has of its own, for each kind of job: it takes one value, or 16 bytes of them.
template <typename Job> struct own {
    using E = typename Job::element;
    typename Job::A value = typename Job::Op{}.identity();
    __device__ void take(E one) { value = typename Job::Op{}(value, Job::of(one)); }
    __device__ void take(const uint4 &packet) {
        E values[16 / sizeof(E)];
        memcpy(values, &packet, sizeof packet);
#pragma unroll
        for (E one : values) take(one);
    }
    __device__ typename Job::A get() const { return value; }
};

// Sums of 32 bits, and of 8, four of which one instruction adds up: a lane's fit 64 bits.
template <typename E, bool Mean> struct narrow_sum {
    int64_t value = 0;
    __device__ void take(E one) { value += one; }
    __device__ void take(const uint4 &packet) {
        if constexpr (sizeof(E) == 1) {
            uint32_t four = __dp4a(packet.x, 0x01010101U, 0U);
            four = __dp4a(packet.y, 0x01010101U, four);
            four = __dp4a(packet.z, 0x01010101U, four);
            value += __dp4a(packet.w, 0x01010101U, four);
        } else {
            value +=
                ((int64_t)(int32_t)packet.x + (int32_t)packet.y) + ((int64_t)(int32_t)packet.z + (int32_t)packet.w);
        }
    }
    __device__ wide get() const { return to_wide(value); }
};
template <bool Mean> struct own<sum_job<int32_t, Mean>> : narrow_sum<int32_t, Mean> {};
template <bool Mean> struct own<sum_job<uint8_t, Mean>> : narrow_sum<uint8_t, Mean> {};

// Extremes of bytes: two at a time, in halves of words.
template <bool Most> struct own<extreme_job<uint8_t, Most>> {
    uint32_t pair = Most ? 0 : 0x00FF00FFU;
    __device__ void take_pair(uint32_t other) { pair = Most ? __vmaxu2(pair, other) : __vminu2(pair, other); }
    __device__ void take_word(uint32_t four) {
        take_pair(four & 0x00FF00FFU);
        take_pair(four >> 8 & 0x00FF00FFU);
    }
    __device__ void take(uint8_t one) { take_pair(one * 0x00010001U); }
    __device__ void take(const uint4 &packet) {
        take_word(packet.x);
        take_word(packet.y);
        take_word(packet.z);
        take_word(packet.w);
    }
    __device__ int32_t get() const {
        const int32_t low = (int32_t)(pair & 0xFFFF), high = (int32_t)(pair >> 16);
        return Most ? max(low, high) : min(low, high);
    }
};

constexpr int TILE_PACKETS = ROWS * WARP;

// `head` values before the first that is aligned to 16 bytes, then `packets` packets, then the rest.
template <typename Job>
__global__ void __launch_bounds__(THREADS)
    lanes_kernel(const typename Job::element *values, size_t count, size_t head, size_t packets, int rounds,
                 typename Job::A *found, uint32_t *ticket, gi_device_number *result) {
    __shared__ block_room<THREADS, typename Job::A> room;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const uint4 *from = (const uint4 *)(values + head);
    own<Job> mine;
    for (int round = 0; round < rounds; round++) {
        const size_t tile = ((size_t)blockIdx.x * rounds + round) * WARPS + warp, at = tile * TILE_PACKETS + lane;
        if ((tile + 1) * TILE_PACKETS <= packets) {
            uint4 rows[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; r++) rows[r] = __ldcs(from + at + r * WARP);
#pragma unroll
            for (int r = 0; r < ROWS; r++) mine.take(rows[r]);
        } else {
            for (size_t i = at; i < packets && i < (tile + 1) * TILE_PACKETS; i += WARP) mine.take(__ldcs(from + i));
        }
    }
    if (blockIdx.x == 0) {
        constexpr size_t PER_PACKET = 16 / sizeof(typename Job::element);
        const size_t rest = head + packets * PER_PACKET + threadIdx.x;
        if (threadIdx.x < head) mine.take(values[threadIdx.x]);
        if (rest < count) mine.take(values[rest]);
    }
    finish<Job>(block_reduce(mine.get(), typename Job::Op{}, room), count, found, ticket, result);
}

// ---- launches -----------------------------------------------------------------------------------------------------

bool has_tree(const gi_device_reduce_job *job) {
    return gi_element_is_float(job->element) && job->operation != GI_OPERATION_MIN &&
           job->operation != GI_OPERATION_MAX;
}

struct plan {
    size_t rounds, blocks;
};

plan plan_of(const gi_device_reduce_job *job) {
    const size_t tile = has_tree(job) ? (size_t)GI_TREE_TILE : TILE_PACKETS * 16 / gi_element_bytes(job->element);
    const size_t tiles = divide_up(job->count, tile), many = has_tree(job) ? MANY_BLOCKS : MANY_FREE_BLOCKS;
    plan p = {1, divide_up(tiles, WARPS)};
    while (p.rounds < MOST_ROUNDS && (p.blocks > many || (p.blocks > ENOUGH_BLOCKS && p.rounds < FEW_ROUNDS))) {
        p.rounds *= 2;
        p.blocks = divide_up(tiles, p.rounds * WARPS);
    }
    return p;
}

} // namespace

namespace gi {

size_t reduce_shuffle_scratch(const gi_device_reduce_job *job) {
    const size_t blocks = plan_of(job).blocks;
    return blocks > 1 ? blocks * sizeof(wide) : 0;
}

gi_status reduce_shuffle(const gi_device_reduce_job *job, gi_error *err) {
    const plan p = plan_of(job);
    if (p.blocks > MOST_BLOCKS) return gi_fail(err, GI_ERR_LIMIT, "a reduction of %zu values", job->count);
    return with_job<true>(job->element, job->operation, [&](auto tag) {
        using Job = typename decltype(tag)::type;
        using E = typename Job::element;
        using A = typename Job::A;
        static_assert(sizeof(A) <= sizeof(wide), "the scratch holds one for each block");
        const cudaStream_t stream = (cudaStream_t)job->stream;
        const E *values = (const E *)job->values;
        A *found = (A *)job->scratch;
        if constexpr (std::is_same<A, double>::value) {
            tree_kernel<Job><<<(unsigned)p.blocks, THREADS, p.rounds * WARPS * sizeof(double), stream>>>(
                values, job->count, (int)p.rounds, (uintptr_t)values % 16 == 0, found, job->ticket, job->result);
        } else {
            const size_t head = smaller(job->count, (16 - (uintptr_t)values % 16) % 16 / sizeof(E));
            lanes_kernel<Job><<<(unsigned)p.blocks, THREADS, 0, stream>>>(
                values, job->count, head, (job->count - head) * sizeof(E) / 16, (int)p.rounds, found, job->ticket,
                job->result);
        }
        return gi_cuda_check(cudaGetLastError(), "starting a reduction", err);
    });
}

} // namespace gi
