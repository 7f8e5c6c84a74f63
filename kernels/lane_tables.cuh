// Look-up tables in shared memory, with a copy for each lane of a warp or for every two.
//
// Lanes that look up different entries of a shared table meet in its 32 banks: of random ones three or four in the
// fullest bank, one after the other. With a copy for each lane, in a bank of its own, no two ever meet.
//
// How they are filled: each thread of the block fetches an entry or a few of all tables at once into plain ones, and
// from there every lane gets its own. (A copy straight from global memory would wait for one entry after the other.)
#ifndef GI_KERNELS_LANE_TABLES_CUH
#define GI_KERNELS_LANE_TABLES_CUH

#include "kernels/common.cuh"

namespace gi {

// 256 entries of 8 bits. Four share a word: entry v is byte v / 64 of the lane's word v % 64. Its words are 32 apart.
struct lane_bytes {
    static constexpr int ROWS = 64;
    static constexpr int BYTES = ROWS * WARP * 4;
    uint32_t of[ROWS * WARP];
};

// Fills `Count` tables with value(table, entry). The block's threads may look up after a barrier.
template <int Threads, int Count, typename Value>
__device__ __forceinline__ void fill_lane_bytes(lane_bytes *tables, Value value) {
    __shared__ uint8_t plain[Count * 256];
#pragma unroll
    for (int i = 0; i < Count * 256; i += Threads) {
        const int at = i + (int)threadIdx.x;
        if (at < Count * 256) plain[at] = (uint8_t)value(at / 256, (uint32_t)at % 256);
    }
    __syncthreads();
    const int lane = threadIdx.x % WARP;
#pragma unroll 4
    for (int i = (int)threadIdx.x / WARP; i < Count * lane_bytes::ROWS; i += Threads / WARP) {
        const int table = i / lane_bytes::ROWS, row = i % lane_bytes::ROWS;
        const uint8_t *from = plain + table * 256 + row;
        tables[table].of[row * WARP + lane] = from[0] | from[64] << 8 | from[128] << 16 | (uint32_t)from[192] << 24;
    }
}

// Entry v of the lane's copy; `lane` is the first byte of the copies plus 4 for each lane before it.
__device__ __forceinline__ uint32_t lane_byte(const unsigned char *lane, uint32_t v) {
    return lane[(v % lane_bytes::ROWS) * (WARP * 4) + v / lane_bytes::ROWS];
}

// 256 entries of 32 bits. `Copies` lanes side by side have one each: with 32 none meet, with 16 two at most.
template <int Copies> struct lane_words {
    static constexpr int STEP = Copies * 4; // bytes from entry to entry
    static constexpr int BYTES = 256 * STEP;
    uint32_t of[256 * Copies];
};

// Fills `Count` tables with value(table, entry). The block's threads may look up after a barrier.
template <int Threads, int Count, int Copies, typename Value>
__device__ __forceinline__ void fill_lane_words(lane_words<Copies> *tables, Value value) {
    __shared__ uint32_t plain[Count * 256];
#pragma unroll
    for (int i = 0; i < Count * 256; i += Threads) {
        const int at = i + (int)threadIdx.x;
        if (at < Count * 256) plain[at] = value(at / 256, (uint32_t)at % 256);
    }
    __syncthreads();
#pragma unroll 4
    for (int i = (int)threadIdx.x; i < Count * 256 * Copies; i += Threads) tables->of[i] = plain[i / Copies];
}

// The lane's copy of the first of several tables that lie one after the other.
template <int Copies> __device__ __forceinline__ const unsigned char *lane_of(const lane_words<Copies> *tables) {
    return (const unsigned char *)tables + threadIdx.x % Copies * 4;
}

// Entry v of a lane's copy.
template <int Copies> __device__ __forceinline__ uint32_t lane_word(const unsigned char *lane, uint32_t v) {
    return *(const uint32_t *)(lane + v * lane_words<Copies>::STEP);
}

// Byte i of packed registers, in one instruction.
__device__ __forceinline__ uint32_t byte_get(const uint32_t *words, int i) {
    return __byte_perm(words[i / 4], 0, 0x4440 | i % 4);
}

// The low bytes of four values as a word.
__device__ __forceinline__ uint32_t bytes_join(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

} // namespace gi

#endif
