// How the blocks of a scan in one pass tell each other what stands before a tile: by groups of tiles.
//
// Formula   N(l, i) is the value of tiles i 2^l .. (i + 1) 2^l - 1, by a balanced tree: N(l + 1, i) = N(l, 2 i) op
//           N(l, 2 i + 1). What stands before tile t is the groups of t's binary digits, from the highest: with t = 13,
//           (N(3, 0) op N(2, 2)) op N(0, 12) (core/float_tree.h).
// Look-back a tile makes its own value known as soon as it has it, and waits for nobody before: that decouples it from
//           those behind. Then a lane for each digit of t waits for that group. A tile whose number ends in ones also
//           completes groups, and makes known each as soon as the smaller ones before are there. So a tile waits for at
//           most log2(t) steps one after the other, where the usual look-back, along a chain of tiles, has a tile wait
//           for that before, or look at all between. And no value depends on who was first: floats get the same bits.
// Memory    a group is two words of 64 bits, each with half of the value, and whether it is there: a word is read and
//           written as a whole, so that nothing need be said about the order of words. All zero before.
#ifndef GI_KERNELS_SCAN_LOOKBACK_CUH
#define GI_KERNELS_SCAN_LOOKBACK_CUH

#include "kernels/reduce.cuh"

namespace gi {

struct alignas(16) group_words {
    uint64_t low, high;
};

constexpr uint64_t GROUP_KNOWN = (uint64_t)1 << 32;

// Groups lie in the order of their tree: N(l, i) behind all of its left half, before all of its right.
__device__ __forceinline__ size_t group_place(int level, size_t i) { return ((2 * i + 1) << level) - 1; }

inline size_t group_count(size_t tiles) { return 2 * tiles; }

template <typename A> __device__ __forceinline__ void publish_group(group_words *place, A value) {
    static_assert(sizeof(A) <= 8, "half a value in each word");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    const uint64_t low = (bits & 0xFFFFFFFF) | GROUP_KNOWN, high = bits >> 32 | GROUP_KNOWN;
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(place), "l"(low), "l"(high) : "memory");
}

// False where it is not known yet.
template <typename A> __device__ __forceinline__ bool read_group(const group_words *place, A *value) {
    uint64_t low, high;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(place) : "memory");
    const uint64_t bits = (low & 0xFFFFFFFF) | high << 32;
    memcpy(value, &bits, sizeof *value);
    return (low & high & GROUP_KNOWN) != 0;
}

// Makes known the tile's value, and those of the groups that it completes; every lane gets what stands before the tile.
// All 32 lanes take part. tile < 2^32.
template <typename A, typename Op>
__device__ __forceinline__ A look_back(group_words *groups, size_t tile, A value, Op op) {
    const int lane = threadIdx.x % WARP;
    const bool mine = tile >> lane & 1;
    const group_words *place = groups + (mine ? group_place(lane, (tile >> lane) - 1) : 0);
    A own = op.identity(), group = value;
    bool known = !mine;
    int level = 0; // of `group`, which this tile ends
    if (lane == 0) publish_group(groups + group_place(0, tile), value);
    unsigned all;
    do {
        if (!known) known = read_group(place, &own);
        all = __ballot_sync(ALL_LANES, known);
        for (; tile >> level & 1 && all >> level & 1; level++) {
            group = op(shuffle_from(own, level), group);
            if (lane == 0) publish_group(groups + group_place(level + 1, tile >> (level + 1)), group);
        }
    } while (all != ALL_LANES);
    A before = op.identity();
    for (int digit = 31 - __clz((int)tile); digit >= 0; digit--)
        if (tile >> digit & 1) before = op(before, shuffle_from(own, digit));
    return before;
}

} // namespace gi

#endif
