// The order in which floats are summed, or multiplied: one tree for every backend, so that the same bits come out on
// any number of threads, at any level of SIMD, and on a GPU. IEEE 754 has commutative additions, but no associative
// ones: so all that matters is which operands meet, not in which thread, lane or time they do.
//
// All is done in double, for float32 too: its sum then is exact but for the last rounding in all but contrived cases,
// and overflows only where it must. The result of a reduction is a double; a scan's is rounded once to its element.
// Nothing is fused or reassociated (-ffp-contract=off; -fmad=false where products are followed by sums).
//
// Identity  -0 for sums, as x + -0 is x for every x, -0 included (0 would turn a -0 into 0); 1 for products. Where
// values
//           are missing, identities stand, or what is alone passes on: that is the same.
// NaN       every NaN becomes the canonical one (0x7fc00000, 0x7ff8000000000000) when a result is stored; inside it may
//           have any sign and payload, which differ between processors.
//
// Reduction: a binary tree, perfectly balanced over 2^j values, so that a result has at most ceil(log2 n) roundings
// behind it, which is the bound of pairwise summation: |error| <= ceil(log2 n) 2^-53 (|x(0)| + ... + |x(n-1)|).
//
//   tile     TILE = 2048 values in ROWS = 16 rows of COLUMNS = 128. Row r, column c is value 128 r + c.
//            1. Each column is reduced by neighbouring rows: 0 with 1, 2 with 3, ...; then the pairs 01 with 23, ...
//            2. The columns are reduced by halves: c with c + 64, then with c + 32, ... c + 1.
//   array    Tiles are reduced by neighbours: 0 with 1, 2 with 3, ...; then 01 with 23, and so on. Any aligned group of
//            2^j tiles has a value of its own, so that groups may go to any thread or block.
//
//   On a CPU a row is 16 vectors of 8 doubles; steps 1 and most of 2 are additions of whole vectors. On a GPU a warp
//   takes a tile: a row of float32 is one 16-byte load of each lane, of float64 two; step 1 happens in registers, with
//   16 loads under way at once; the halves of step 2 are exchanges with the lane 16, 8, 4, ... further, where a lane
//   keeps only half of its columns at each exchange (2 + 1 + 1 ... shuffles of a double, 8 in all, for 2048 values). A
//   block takes 2^j neighbouring tiles, and what blocks found is a tree of tiles again.
//
// Scan: a prefix is the tree's value over the tiles before, and over parts of its tile, all by fixed grouping.
//
//   run      8 neighbouring values by Kogge and Stone's steps: each adds what stands 1, then 2, then 4 before.
//   row      32 runs, 256 values: the runs' totals, likewise by steps 1, 2, 4, 8, 16. Before run l stands E(l), the
//            inclusive scan of run l - 1; before run 0 the identity.
//   tile     16 rows, 4096 values: C(0) = identity, C(r + 1) = C(r) op total(r). C(16) is the tile's total.
//   array    P(t), what stands before tile t, follows the binary digits of t from the highest: with t = 13 = 8 + 4 + 1
//            it is (N(0..7) op N(8..11)) op N(12), where N is the value of that group of tiles in a balanced tree as
//            above, with tiles' totals as leaves.
//   result   (P(t) op (C(r) op E(l))) op (the value's scan within its run). An exclusive scan is the inclusive one,
//   moved
//            one place on.
//
//   On a CPU a run is a vector of 8 doubles. On a GPU a thread takes a run and a warp a row. Groups N of 1, 32, 1024,
//   ... tiles are what a single pass with look-back makes known: the tile that ends a group waits for its 32 parts, and
//   each tile reads the parts before it of the groups that it lies in, by the lanes of a warp at once, and finds from
//   them the groups of its number's digits: no value depends on which tiles happened to be done.
#ifndef GI_CORE_FLOAT_TREE_H
#define GI_CORE_FLOAT_TREE_H

enum { GI_TREE_COLUMNS = 128, GI_TREE_ROWS = 16, GI_TREE_TILE = GI_TREE_COLUMNS * GI_TREE_ROWS };
enum {
    GI_SCAN_RUN = 8,
    GI_SCAN_RUNS = 32,
    GI_SCAN_ROW = GI_SCAN_RUN * GI_SCAN_RUNS,
    GI_SCAN_ROWS = 16,
    GI_SCAN_TILE = GI_SCAN_ROW * GI_SCAN_ROWS
};

enum { GI_TREE_LEVELS = 64 };

#define GI_TREE_SUM_IDENTITY (-0.0)
#define GI_TREE_PROD_IDENTITY 1.0

#endif
