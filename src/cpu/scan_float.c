// Sum and product scans of floats, by the runs, rows and tiles of core/float_tree.h.
#include <stdlib.h>
#include <string.h>

#include "core/simd.h"
#include "cpu/float_nodes.h"
#include "cpu/float_vector.h"
#include "cpu/primitives.h"

#define NAN_BITS 0x7FF8000000000000 // the canonical one

enum { TOTALS = GI_SCAN_RUNS / GI_V8 }; // vectors that hold a row's totals, one for each run

// What a tile begins with and hands on.
typedef struct tile_state {
    double prefix; // P: what stands before the tile
    double total;  // of the tile, for all that comes behind
} tile_state;

// Kogge and Stone's steps over eight values.
#define SCAN_RUN(v, none, op)                                                                                          \
    v = GI_V8_AFTER_1(none, v) op v;                                                                                   \
    v = GI_V8_AFTER_2(none, v) op v;                                                                                   \
    v = GI_V8_AFTER_4(none, v) op v

// One of their steps over the 32 totals, by less than a vector's length; from the last vector on, as each reads the one
// before.
#define SCAN_TOTALS(t, none, op, AFTER)                                                                                \
    t[3] = AFTER(t[2], t[3]) op t[3];                                                                                  \
    t[2] = AFTER(t[1], t[2]) op t[2];                                                                                  \
    t[1] = AFTER(t[0], t[1]) op t[1];                                                                                  \
    t[0] = AFTER(none, t[0]) op t[0]

// The runs of a row, each by itself, and the scan of their totals.
#define DEFINE_ROW(name, type, LOAD, op)                                                                               \
    GI_SIMD_BODY void name(const type *row, double identity, double(*runs)[GI_V8], gi_v8 *t) {                         \
        double totals[GI_SCAN_RUNS];                                                                                   \
        gi_v8 none = {identity, identity, identity, identity, identity, identity, identity, identity};                 \
        for (int i = 0; i < GI_SCAN_RUNS; i++) {                                                                       \
            gi_v8 v;                                                                                                   \
            LOAD(row + i * GI_V8, v);                                                                                  \
            SCAN_RUN(v, none, op);                                                                                     \
            memcpy(runs[i], &v, sizeof v);                                                                             \
            totals[i] = v[GI_V8 - 1];                                                                                  \
        }                                                                                                              \
        memcpy(t, totals, sizeof totals);                                                                              \
        SCAN_TOTALS(t, none, op, GI_V8_AFTER_1);                                                                       \
        SCAN_TOTALS(t, none, op, GI_V8_AFTER_2);                                                                       \
        SCAN_TOTALS(t, none, op, GI_V8_AFTER_4);                                                                       \
        t[3] = t[2] op t[3];                                                                                           \
        t[2] = t[1] op t[2];                                                                                           \
        t[1] = t[0] op t[1];                                                                                           \
        t[3] = t[1] op t[3];                                                                                           \
        t[2] = t[0] op t[2];                                                                                           \
    }

// A tile. `out` NULL: its total alone.
#define DEFINE_TILE(name, type, LOAD, STORE, op)                                                                       \
    DEFINE_ROW(name##_row, type, LOAD, op)                                                                             \
    GI_SIMD_BODY void name##_body(const type *tile, type *out, double identity, tile_state *state) {                   \
        const gi_v8i quiet = {NAN_BITS, NAN_BITS, NAN_BITS, NAN_BITS, NAN_BITS, NAN_BITS, NAN_BITS, NAN_BITS};         \
        double runs[GI_SCAN_RUNS][GI_V8], before[GI_SCAN_RUNS], carry = identity;                                      \
        gi_v8 none = {identity, identity, identity, identity, identity, identity, identity, identity}, t[TOTALS];      \
        for (int r = 0; r < GI_SCAN_ROWS; r++) {                                                                       \
            name##_row(tile + r * GI_SCAN_ROW, identity, runs, t);                                                     \
            for (int i = 0; out && i < TOTALS; i++) {                                                                  \
                gi_v8 e = GI_V8_AFTER_1(i ? t[i - 1] : none, t[i]);                                                    \
                e = state->prefix op(carry op e);                                                                      \
                memcpy(before + i * GI_V8, &e, sizeof e);                                                              \
            }                                                                                                          \
            for (int i = 0; out && i < GI_SCAN_RUNS; i++) {                                                            \
                gi_v8 v;                                                                                               \
                memcpy(&v, runs[i], sizeof v);                                                                         \
                v = before[i] op v;                                                                                    \
                gi_v8i number = v == v;                                                                                \
                v = (gi_v8)((number & (gi_v8i)v) | (~number & quiet));                                                 \
                STORE(v, out + r * GI_SCAN_ROW + i * GI_V8);                                                           \
            }                                                                                                          \
            carry = carry op t[TOTALS - 1][GI_V8 - 1];                                                                 \
        }                                                                                                              \
        state->total = carry;                                                                                          \
    }                                                                                                                  \
    GI_SIMD_VARIANTS(name, name##_body, (const type *tile, type *out, double identity, tile_state *state),             \
                     (tile, out, identity, state))
DEFINE_TILE(sum_f32, float, GI_V8_LOAD_F32, GI_V8_STORE_F32, +)
DEFINE_TILE(sum_f64, double, GI_V8_LOAD_F64, GI_V8_STORE_F64, +)
DEFINE_TILE(prod_f32, float, GI_V8_LOAD_F32, GI_V8_STORE_F32, *)
DEFINE_TILE(prod_f64, double, GI_V8_LOAD_F64, GI_V8_STORE_F64, *)

// Tiles that a thread takes at a time, so that what it has added up is in its cache when it is scanned.
enum { TILES_AT_ONCE = 32 };

static double identity_of(const gi_scan_job *job) {
    return job->operation == GI_OPERATION_PROD ? GI_TREE_PROD_IDENTITY : GI_TREE_SUM_IDENTITY;
}

// `tile` of GI_SCAN_TILE values; `out` NULL: the total alone.
static void scan_values(const gi_scan_job *job, const void *tile, void *out, tile_state *state) {
    bool product = job->operation == GI_OPERATION_PROD;
    if (job->element == GI_ELEMENT_F32)
        (product ? prod_f32 : sum_f32)(tile, out, identity_of(job), state);
    else
        (product ? prod_f64 : sum_f64)(tile, out, identity_of(job), state);
}

// Tile t, whose results go one place on where the scan is exclusive: the last of all then has none.
static void scan_tile(const gi_scan_job *job, size_t t, bool store, tile_state *state) {
    union {
        float f32[GI_SCAN_TILE];
        double f64[GI_SCAN_TILE];
    } tile;
    size_t size = gi_element_bytes(job->element), first = t * GI_SCAN_TILE, left = job->count - first;
    const char *values = (const char *)job->values + first * size;
    char *out = store ? (char *)job->out + (first + job->exclusive) * size : NULL;
    if (left >= GI_SCAN_TILE + (size_t)job->exclusive) {
        scan_values(job, values, out, state);
        return;
    }
    size_t count = left < GI_SCAN_TILE ? left : GI_SCAN_TILE;
    for (size_t i = count; i < GI_SCAN_TILE; i++) {
        if (job->element == GI_ELEMENT_F32)
            tile.f32[i] = (float)identity_of(job);
        else
            tile.f64[i] = identity_of(job);
    }
    memcpy(&tile, values, count * size);
    scan_values(job, &tile, store ? &tile : NULL, state);
    if (store) memcpy(out, &tile, (left - job->exclusive) * size);
}

static void scan_alone(const gi_scan_job *job, size_t tiles) {
    gi_nodes nodes = gi_nodes_none(job->operation == GI_OPERATION_PROD);
    for (size_t t = 0; t < tiles; t++) {
        tile_state state = {gi_nodes_prefix(&nodes), 0};
        scan_tile(job, t, true, &state);
        gi_nodes_add(&nodes, state.total);
    }
}

// Some tiles for each thread at a time: added up side by side, their prefixes found by one, scanned side by side.
static gi_status scan_together(const gi_scan_job *job, size_t tiles, int threads, gi_error *err) {
    size_t window = (size_t)threads * TILES_AT_ONCE;
    gi_nodes nodes = gi_nodes_none(job->operation == GI_OPERATION_PROD);
    tile_state *states = malloc(window * sizeof *states);
    if (!states) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
#pragma omp parallel num_threads(threads)
    for (size_t from = 0; from < tiles; from += window) {
        int64_t count = (int64_t)(tiles - from < window ? tiles - from : window);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < count; i++) scan_tile(job, from + (size_t)i, false, &states[i]);
#pragma omp single
        for (int64_t i = 0; i < count; i++) {
            states[i].prefix = gi_nodes_prefix(&nodes);
            gi_nodes_add(&nodes, states[i].total);
        }
#pragma omp for schedule(static)
        for (int64_t i = 0; i < count; i++) scan_tile(job, from + (size_t)i, true, &states[i]);
    }
    free(states);
    return GI_OK;
}

gi_status gi_scan_floats(const gi_scan_job *job, gi_error *err) {
    size_t tiles = job->count / GI_SCAN_TILE + (job->count % GI_SCAN_TILE != 0);
    int threads = gi_piece_threads(tiles / TILES_AT_ONCE + 1, job->threads);
    if (job->exclusive && job->element == GI_ELEMENT_F32)
        *(float *)job->out = job->operation == GI_OPERATION_PROD;
    else if (job->exclusive)
        *(double *)job->out = job->operation == GI_OPERATION_PROD;
    if (threads > 1) return scan_together(job, tiles, threads, err);
    scan_alone(job, tiles);
    return GI_OK;
}
