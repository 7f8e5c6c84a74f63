// How the blocks of a scan in one pass tell each other what stands before a tile: by groups of tiles.
//
// Formula   N(d, i) is the value of tiles i 2^d .. (i + 1) 2^d - 1, by a balanced tree: N(d + 1, i) = N(d, 2 i) op
//           N(d, 2 i + 1). What stands before tile t is the groups of t's binary digits, from the highest: with t = 13,
//           (N(3, 0) op N(2, 2)) op N(0, 12) (core/float_tree.h).
// Levels    of all these groups, those of 1, 32, 1024, ... tiles are made known, as level 0, 1, 2, ...: five digits
//           each. A warp for each level reads all groups there that stand before the tile within the next larger one,
//           31 at most, a lane each, and finds by exchanges the tree's nodes between the two levels.
// Look-back a tile makes its own value known as soon as it has it, and waits for nobody before: that decouples it from
//           those behind. The last tile of a group also makes known the group's value, as soon as its 32 parts are
//           there. So a tile waits for at most one step a level, where the usual look-back, along a chain of tiles, has
//           a tile wait for that before, or look at all between. And no value depends on who was first: floats get the
//           same bits.
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

constexpr int LEVEL_DIGITS = 5, MOST_LEVELS = 6; // 2^30 tiles
static_assert(1 << LEVEL_DIGITS == WARP, "a lane for each group");

// Where the groups of each level lie, and of how many levels more than one group can stand before a tile.
struct tile_groups {
    group_words *level[MOST_LEVELS];
    int levels;
};

// `words` NULL: *count alone, how many groups there are.
inline tile_groups groups_of(size_t tiles, group_words *words, size_t *count) {
    tile_groups groups = {};
    *count = 0;
    do {
        groups.level[groups.levels++] = words ? words + *count : nullptr;
        *count += tiles;
        tiles /= WARP;
    } while (tiles > 0 && groups.levels < MOST_LEVELS);
    return groups;
}

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

// One level's part of the look-back, by a warp: nodes[d] = the group of the tile's binary digit d, for each digit of
// the level's that is 1. The last tile of a group of the next level makes that known. All 32 lanes take part.
template <typename A, typename Op>
__device__ __forceinline__ void look_back(const tile_groups &groups, int level, uint32_t tile, A *nodes, Op op) {
    const int lane = threadIdx.x % WARP;
    const uint32_t group = tile >> level * LEVEL_DIGITS, digits = group % WARP, above = group / WARP;
    const bool ends = level + 1 < groups.levels && tile + 1 == (above + 1) << (level + 1) * LEVEL_DIGITS;
    const group_words *place = groups.level[level] + above * (size_t)WARP + lane;
    A value = op.identity();
    bool known = lane >= (ends ? WARP : (int)digits);
    do {
        if (!known) known = read_group(place, &value);
    } while (!__all_sync(ALL_LANES, known));
#pragma unroll
    for (int digit = 0; digit < LEVEL_DIGITS; digit++) {
        // `value` is that of 2^digit lanes, of which the digit's group has the last but those of the digits below.
        if (digits >> digit & 1 && lane == (int)((digits >> digit ^ 1) << digit))
            nodes[level * LEVEL_DIGITS + digit] = value;
        value = op(value, shuffle_xor(value, 1 << digit));
    }
    if (ends && lane == 0) publish_group(groups.level[level + 1] + above, value);
}

// What stands before the tile, from the nodes of its digits.
template <typename A, typename Op> __device__ __forceinline__ A before_tile(uint32_t tile, const A *nodes, Op op) {
    A before = op.identity();
    for (int digit = 31 - __clz((int)tile); digit >= 0; digit--)
        if (tile >> digit & 1) before = op(before, nodes[digit]);
    return before;
}

} // namespace gi

#endif
