// Reduction of floats: sums and products by the tree of core/float_tree.h; extremes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/float_tree.h"
#include "core/simd.h"
#include "cpu/float_nodes.h"
#include "cpu/float_vector.h"
#include "cpu/primitives.h"

// ---- sums and products --------------------------------------------------------------------------------------------

// A tile's value: columns by neighbouring rows, eight columns of four rows at a time; then the columns by halves. Four
// rows are too many streams for a processor to foresee: so at each step a byte is read of every line that lies half a
// tile further on, in the order of memory. `next` has at least half a tile: that behind this one, or the tile itself.
#define DEFINE_TILE(name, type, LOAD, op)                                                                              \
    GI_SIMD_BODY void name##_body(const type *tile, const type *next, double *value) {                                 \
        enum { C = GI_TREE_COLUMNS, VECTORS = C / GI_V8, QUADS = GI_TREE_ROWS / 4, STEPS = QUADS * VECTORS };          \
        gi_v8 x[QUADS][VECTORS];                                                                                       \
        for (int i = 0; i < STEPS; i++) {                                                                              \
            const type *ahead =                                                                                        \
                i < STEPS / 2 ? tile + GI_TREE_TILE / 2 + i * 4 * GI_V8 : next + (i - STEPS / 2) * 4 * GI_V8;          \
            const type *from = tile + i / VECTORS * 4 * C + i % VECTORS * GI_V8;                                       \
            gi_v8 a, b, c, d;                                                                                          \
            for (size_t at = 0; at < 4 * GI_V8 * sizeof(type); at += 64) (void)*((const volatile char *)ahead + at);   \
            LOAD(from, a);                                                                                             \
            LOAD(from + C, b);                                                                                         \
            LOAD(from + 2 * C, c);                                                                                     \
            LOAD(from + 3 * C, d);                                                                                     \
            x[i / VECTORS][i % VECTORS] = (a op b)op(c op d);                                                          \
        }                                                                                                              \
        for (int i = 0; i < VECTORS; i++) x[0][i] = (x[0][i] op x[1][i])op(x[2][i] op x[3][i]);                        \
        for (int half = VECTORS / 2; half >= 1; half /= 2)                                                             \
            for (int i = 0; i < half; i++) x[0][i] = x[0][i] op x[0][i + half];                                        \
        gi_v8 v = x[0][0];                                                                                             \
        double e = v[0] op v[4], f = v[1] op v[5], g = v[2] op v[6], h = v[3] op v[7];                                 \
        *value = (e op g)op(f op h);                                                                                   \
    }                                                                                                                  \
    GI_SIMD_VARIANTS(name, name##_body, (const type *tile, const type *next, double *value), (tile, next, value))
DEFINE_TILE(sum_tile_f32, float, GI_V8_LOAD_F32, +)
DEFINE_TILE(sum_tile_f64, double, GI_V8_LOAD_F64, +)
DEFINE_TILE(prod_tile_f32, float, GI_V8_LOAD_F32, *)
DEFINE_TILE(prod_tile_f64, double, GI_V8_LOAD_F64, *)

static double tile_value(const gi_reduce_job *job, const void *tile, const void *next) {
    double value = 0;
    bool product = job->operation == GI_OPERATION_PROD;
    if (job->element == GI_ELEMENT_F32)
        (product ? prod_tile_f32 : sum_tile_f32)(tile, next, &value);
    else
        (product ? prod_tile_f64 : sum_tile_f64)(tile, next, &value);
    return value;
}

// The last tile, filled up with identities.
static double part_value(const gi_reduce_job *job, const void *values, size_t count) {
    union {
        float f32[GI_TREE_TILE];
        double f64[GI_TREE_TILE];
    } tile;
    bool product = job->operation == GI_OPERATION_PROD;
    double identity = product ? GI_TREE_PROD_IDENTITY : GI_TREE_SUM_IDENTITY;
    for (size_t i = count; i < GI_TREE_TILE; i++) {
        if (job->element == GI_ELEMENT_F32)
            tile.f32[i] = (float)identity;
        else
            tile.f64[i] = identity;
    }
    memcpy(&tile, values, count * gi_element_bytes(job->element));
    return tile_value(job, &tile, &tile);
}

static double piece_value(const gi_reduce_job *job, size_t piece) {
    size_t size = gi_element_bytes(job->element), length = gi_piece_length(job->count, piece), at = 0;
    const char *values = (const char *)job->values + piece * GI_PIECE * size;
    gi_nodes nodes = gi_nodes_none(job->operation == GI_OPERATION_PROD);
    for (; at + GI_TREE_TILE <= length; at += GI_TREE_TILE) {
        const char *tile = values + at * size;
        bool more = length - at >= GI_TREE_TILE + GI_TREE_TILE / 2;
        gi_nodes_add(&nodes, tile_value(job, tile, more ? tile + GI_TREE_TILE * size : tile));
    }
    if (at < length) gi_nodes_add(&nodes, part_value(job, values + at * size, length - at));
    return gi_nodes_value(&nodes);
}

gi_status gi_reduce_floats(const gi_reduce_job *job, double *result, gi_error *err) {
    size_t pieces = gi_pieces(job->count);
    int threads = gi_piece_threads(pieces, job->threads);
    double *found = malloc(pieces * sizeof *found);
    if (!found) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t i = 0; i < (int64_t)pieces; i++) found[i] = piece_value(job, (size_t)i);
    gi_nodes nodes = gi_nodes_none(job->operation == GI_OPERATION_PROD);
    for (size_t i = 0; i < pieces; i++) gi_nodes_add(&nodes, found[i]);
    *result = gi_nodes_value(&nodes);
    free(found);
    return GI_OK;
}

// ---- extremes -----------------------------------------------------------------------------------------------------

// Floats as integers of the same order: the bits of a negative one are turned, all but the sign's, so that -0 comes
// just before 0. A NaN lies beyond both infinities, so that the extreme of the magnitudes tells whether there is one.
#define DEFINE_EXTREMES(name, key, magnitude)                                                                          \
    GI_SIMD_BODY void name##_body(const key *bits, size_t count, key out[3]) {                                         \
        key least = magnitude, most = ~magnitude, largest = 0;                                                         \
        for (size_t i = 0; i < count; i++) {                                                                           \
            key x = bits[i], absolute = x & magnitude;                                                                 \
            key ordered = x < 0 ? x ^ magnitude : x;                                                                   \
            least = ordered < least ? ordered : least;                                                                 \
            most = ordered > most ? ordered : most;                                                                    \
            largest = absolute > largest ? absolute : largest;                                                         \
        }                                                                                                              \
        out[0] = least;                                                                                                \
        out[1] = most;                                                                                                 \
        out[2] = largest;                                                                                              \
    }                                                                                                                  \
    GI_SIMD_VARIANTS(name, name##_body, (const key *bits, size_t count, key out[3]), (bits, count, out))
DEFINE_EXTREMES(extremes_32, int32_t, INT32_MAX)
DEFINE_EXTREMES(extremes_64, int64_t, INT64_MAX)

// The extreme of a piece as an ordered integer; *nan: there is a NaN.
static int64_t piece_extreme(const gi_reduce_job *job, size_t piece, bool *nan) {
    size_t length = gi_piece_length(job->count, piece);
    bool most = job->operation == GI_OPERATION_MAX;
    if (job->element == GI_ELEMENT_F32) {
        int32_t out[3];
        extremes_32((const int32_t *)job->values + piece * GI_PIECE, length, out);
        *nan = out[2] > 0x7F800000;
        return out[most];
    }
    int64_t out[3];
    extremes_64((const int64_t *)job->values + piece * GI_PIECE, length, out);
    *nan = out[2] > 0x7FF0000000000000;
    return out[most];
}

static double of_ordered(int64_t ordered, gi_element element) {
    double value;
    float narrow;
    int32_t bits = (int32_t)(ordered < 0 ? ordered ^ INT32_MAX : ordered);
    int64_t wide = ordered < 0 ? ordered ^ INT64_MAX : ordered;
    memcpy(&value, &wide, sizeof value);
    memcpy(&narrow, &bits, sizeof narrow);
    return element == GI_ELEMENT_F32 ? (double)narrow : value;
}

double gi_reduce_float_extreme(const gi_reduce_job *job) {
    size_t pieces = gi_pieces(job->count);
    int threads = gi_piece_threads(pieces, job->threads);
    bool most = job->operation == GI_OPERATION_MAX, any_nan = false;
    int64_t least_of_all = INT64_MAX, most_of_all = INT64_MIN;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) reduction(min                                       \
                                                                             : least_of_all) reduction(max             \
                                                                                                       : most_of_all)  \
    reduction(||                                                                                                       \
              : any_nan)
    for (int64_t i = 0; i < (int64_t)pieces; i++) {
        bool nan = false;
        int64_t extreme = piece_extreme(job, (size_t)i, &nan);
        if (extreme < least_of_all) least_of_all = extreme;
        if (extreme > most_of_all) most_of_all = extreme;
        any_nan = any_nan || nan;
    }
    return any_nan ? (double)NAN : of_ordered(most ? most_of_all : least_of_all, job->element);
}
