// Operations made from counts that stay on the device = those that the host makes: through the slots of both backends
// in bands, and the launchers on counts that no image is large enough for.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_image.h"
#include "kernels/launch.h"
#include "pair.h"

static cudaStream_t stream;

typedef enum barrier { OTSU, EQUALIZE_LUMA, EQUALIZE_CHANNEL, BARRIER_COUNT } barrier;
static const char *const barrier_names[] = {"threshold otsu", "equalize luma", "equalize channel"};

static gi_stage_call call_make(barrier kind) {
    const char *name = kind == OTSU ? "threshold" : "equalize";
    gi_stage_call call = {.stage = gi_stage_find(name, strlen(name))};
    gi_stage_defaults(call.stage, &call.args);
    if (kind == OTSU)
        call.args.threshold.level = GI_LEVEL_OTSU;
    else
        call.args.equalize.mode = kind == EQUALIZE_LUMA ? GI_EQUALIZE_LUMA : GI_EQUALIZE_CHANNEL;
    return call;
}

// --- through the slots -----------------------------------------------------------------------------------------------

static gi_point luma_of(int channels, gi_sample sample) {
    gi_point luma = gi_point_identity(channels, sample);
    luma.mix = GI_MIX_WEIGHTS;
    luma.weights[0] = GI_LUMA_RED;
    luma.weights[1] = GI_LUMA_GREEN;
    luma.weights[2] = GI_LUMA_BLUE;
    return luma;
}

// What one barrier is tried on.
typedef struct trial {
    const gi_view *image;
    gi_stage_call call;
    const gi_point *through; // NULL: the image itself is counted
    const gi_point *rest;
    uint32_t band; // rows
    int index;
} trial;

static gi_view band_of(const trial *t, uint32_t y) {
    const uint32_t left = t->image->height - y;
    return gi_view_rows(t->image, y, left < t->band ? left : t->band);
}

// Counts all bands, makes the operation, which other work may follow, and says how it went.
static bool resolve(const trial *t, gi_slot *slot) {
    gi_error err;
    for (uint32_t y = 0; y < t->image->height; y += t->band) {
        const gi_view band = band_of(t, y);
        if (!upload(slot, &band, true) || !succeeded(slot->ops->measure(slot, t->through, y == 0, &err), &err))
            return false;
        gi_view waited;
        // The staged band may only be overwritten once it has been read.
        if (!succeeded(slot->ops->download(slot, &waited, &err), &err)) return false;
    }
    return succeeded(slot->ops->resolve(slot, t->index, &t->call, t->rest, &err), &err);
}

static void compare_applied(const trial *t, pair p) {
    gi_error err;
    for (uint32_t y = 0; y < t->image->height; y += t->band) {
        const gi_view band = band_of(t, y);
        if (!pair_upload(p, &band, false) || !succeeded(p.cpu->ops->point_resolved(p.cpu, t->index, &err), &err) ||
            !succeeded(p.cuda->ops->point_resolved(p.cuda, t->index, &err), &err))
            return;
        compare_images(p);
    }
    CHECK(p.cpu->ops->resolved_level(p.cpu, t->index) == p.cuda->ops->resolved_level(p.cuda, t->index));
}

static void try_barrier(pair p, const gi_view *input, barrier kind, rng *r) {
    const bool luma = kind == EQUALIZE_LUMA && input->channels >= 3;
    const uint32_t heights[] = {1 + input->height / 3, input->height, input->height};
    char name[64] = "nothing";
    gi_point through = gi_point_identity(input->channels, input->sample), rest = through;
    if (luma) through = luma_of(input->channels, input->sample);
    // Nothing follows an operation on luma; whatever else may follow the others.
    if (!luma)
        operation_make((int)rng_below(r, 64) % (input->channels >= 3 ? 64 : 4), input->channels, input->sample, r,
                       &rest, name);
    const trial t = {input, call_make(kind),          luma || rng_below(r, 2) ? &through : NULL,
                     &rest, heights[rng_below(r, 3)], (int)rng_below(r, GI_MAX_RESOLVED)};
    case_name("%s | %s, %ux%u, %d channels of %zu bytes, bands of %u", barrier_names[kind], name, input->width,
              input->height, input->channels, gi_sample_bytes(input->sample), t.band);
    if (resolve(&t, p.cpu) && resolve(&t, p.cuda)) compare_applied(&t, p);
    gi_point_free(&rest);
}

static void test_barriers(const options *o) {
    static const uint32_t sizes[][2] = {{67, 41}, {1, 1}, {16, 3}, {1, 500}, {1000, 1}, {640, 480}};
    rng r = {o->seed + 30};
    pair p = pair_open();
    for (int s = 0; s < 2; s++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int i = 0; i < (o->quick ? 1 : 6); i++)
                for (int pattern_kind = 0; pattern_kind < PATTERN_COUNT; pattern_kind++)
                    for (int kind = 0; kind < BARRIER_COUNT; kind++) {
                        if (kind == OTSU && channels > 2) continue;
                        if (o->quick && (kind + pattern_kind + channels) % 3) continue;
                        image im = image_make((gi_shape){sizes[i][0], sizes[i][1], channels, (gi_sample)s}, 0,
                                              (pattern)pattern_kind, &r);
                        for (int again = 0; again < (o->quick ? 1 : 4); again++)
                            try_barrier(p, &im.view, (barrier)kind, &r);
                        image_free(&im);
                    }
    pair_close(p);
}

// Two operations made before either is applied, each with tables of its own.
static void test_kept_apart(const options *o) {
    rng r = {o->seed + 31};
    pair p = pair_open();
    gi_error err;
    image a = image_make((gi_shape){97, 31, 3, GI_U8}, 0, PATTERN_PHOTO, &r);
    image b = image_make((gi_shape){51, 63, 3, GI_U8}, 0, PATTERN_RANDOM, &r);
    const gi_point identity = gi_point_identity(3, GI_U8);
    gi_slot *slots[] = {p.cpu, p.cuda};
    case_name("two operations kept");
    for (int i = 0; i < 2; i++) {
        const trial first = {&a.view, call_make(EQUALIZE_CHANNEL), NULL, &identity, a.view.height, 0};
        const trial second = {&b.view, call_make(EQUALIZE_CHANNEL), NULL, &identity, b.view.height, 1};
        if (resolve(&first, slots[i]) && resolve(&second, slots[i]) && upload(slots[i], &a.view, false)) {
            succeeded(slots[i]->ops->point_resolved(slots[i], 0, &err), &err);
            succeeded(slots[i]->ops->point_resolved(slots[i], 1, &err), &err);
        }
    }
    compare_images(p);
    image_free(&a);
    image_free(&b);
    pair_close(p);
}

static void test_refusals(void) {
    gi_error err;
    rng r = {7};
    pair p = pair_open();
    const gi_slot *slot = p.cuda;
    const gi_stage_call otsu = call_make(OTSU), equalize = call_make(EQUALIZE_LUMA);
    gi_stage_call half = call_make(OTSU);
    half.args.threshold.level = GI_LEVEL_HALF;
    gi_point gray = gi_point_identity(1, GI_U8), rgb = gi_point_identity(3, GI_U8), deep = gi_point_identity(1, GI_U16);
    gi_point follows = gi_point_identity(3, GI_U8), luma = luma_of(3, GI_U8);
    follows.before[1].kind = GI_CURVE_THRESHOLD;
    case_name("refusals");
    CHECK(slot->ops->resolve(p.cuda, 0, &otsu, &gray, &err) == GI_ERR_USAGE); // nothing measured
    image im = image_make((gi_shape){9, 9, 3, GI_U8}, 0, PATTERN_RANDOM, &r);
    CHECK(pair_upload(p, &im.view, false));
    CHECK(slot->ops->measure(p.cuda, &luma, true, &err) == GI_OK);
    CHECK(slot->ops->measure(p.cuda, NULL, false, &err) == GI_ERR_USAGE);
    CHECK(slot->ops->resolve(p.cuda, -1, &otsu, &gray, &err) == GI_ERR_USAGE);
    CHECK(slot->ops->resolve(p.cuda, GI_MAX_RESOLVED, &otsu, &gray, &err) == GI_ERR_USAGE);
    CHECK(slot->ops->resolve(p.cuda, 0, &half, &gray, &err) == GI_ERR_USAGE);
    CHECK(slot->ops->resolve(p.cuda, 0, &otsu, &rgb, &err) == GI_ERR_USAGE);
    CHECK(slot->ops->resolve(p.cuda, 0, &otsu, &deep, &err) == GI_ERR_USAGE);
    CHECK(slot->ops->resolve(p.cuda, 0, &equalize, &follows, &err) == GI_ERR_USAGE);
    CHECK(slot->ops->point_resolved(p.cuda, 0, &err) == GI_ERR_USAGE);
    CHECK(slot->ops->resolve(p.cuda, 0, &otsu, &gray, &err) == GI_OK);
    CHECK(slot->ops->point_resolved(p.cuda, 0, &err) == GI_ERR_USAGE); // made for gray images
    CHECK(slot->ops->point_resolved(p.cuda, 1, &err) == GI_ERR_USAGE);
    CHECK(slot->ops->resolve(p.cuda, 1, &equalize, &rgb, &err) == GI_OK);
    compare_images(p);
    image_free(&im);
    pair_close(p);
}

// --- the launchers, on counts made up --------------------------------------------------------------------------------

enum { COUNTS_KINDS = 10 };

// One channel's counts, of some kind.
static void counts_make(int kind, uint32_t levels, rng *r, uint64_t *counts) {
    memset(counts, 0, levels * sizeof *counts);
    for (uint32_t v = 0; v < levels; v++) {
        const uint64_t random = rng_next(r);
        switch (kind) {
        case 0: break;                                                           // nothing
        case 1: counts[v] = v == levels / 3 ? 1000 : 0; break;                   // one level
        case 2: counts[v] = v == 0 || v == levels - 1 ? random >> 20 : 0; break; // two
        case 3: counts[v] = 7; break;                                            // symmetric: ties
        case 4: counts[v] = v % 16 == 5 ? 1 + v % 3 : 0; break;
        case 5: counts[v] = random >> 40; break;
        case 6: counts[v] = random % 50 ? 0 : random >> 26; break; // sparse, up to 2^38
        // Three equal peaks: two levels are equally good, here in far tiles of the levels, there in one thread's.
        case 8: counts[v] = v % (levels / 8 * 3) == levels / 8 && v > 0 ? 1000 : 0; break;
        case 9: counts[v] = v / 4 == levels / 12 && v % 4 < 3 ? 1000 : 0; break;
        default: counts[v] = v < 9 ? random >> 22 : random >> 60; break;
        }
    }
}

// Counts of three channels on the device, and guarded tables.
static void try_tables(bool equalize, gi_sample sample, const uint64_t *counts, rng *r) {
    gi_error err;
    const uint32_t max = gi_sample_max(sample), levels = max + 1;
    const int channels = equalize ? 3 : 1;
    const gi_shape shape = {levels, (uint32_t)channels, 1, GI_U16}; // the tables, as an image of as many rows
    trapped out = trapped_make(shape, layouts[0][0]);
    uint16_t *table = host_memory(levels * sizeof *table);
    for (uint32_t v = 0; v < levels; v++) table[v] = (uint16_t)rng_below(r, levels);
    const void *on_device = to_device(table, levels * sizeof *table);
    const gi_curve host_then[] = {
        {GI_CURVE_TABLE, 0, table}, {GI_CURVE_IDENTITY, 0, NULL}, {GI_CURVE_THRESHOLD, max / 2, NULL}};
    gi_curve then[3];
    memcpy(then, host_then, sizeof then);
    then[0].table = (uint16_t *)(uintptr_t)on_device;
    const void *device_counts = to_device(counts, (size_t)channels * levels * sizeof *counts);
    uint32_t *level = device_memory(sizeof *level), got = 0;
    gi_table_job job = {.counts = device_counts,
                        .sample = sample,
                        .channels = channels,
                        .then = then,
                        .tables = out.view.data,
                        .level = level,
                        .stream = stream};
    guarded_scratch scratch = scratch_make(equalize ? gi_cuda_equalize_scratch(&job) : gi_cuda_otsu_scratch(&job));
    job.scratch = scratch.data;
    cuda_ok(cudaDeviceSynchronize());
    succeeded(equalize ? gi_cuda_equalize(&job, &err) : gi_cuda_otsu(&job, &err), &err);
    cuda_ok(cudaStreamSynchronize(stream));

    const gi_histogram histogram = {(uint64_t *)(uintptr_t)counts, levels, channels};
    const gi_stage_call call = call_make(equalize ? EQUALIZE_CHANNEL : OTSU);
    const gi_point_input in = {channels, sample, &histogram};
    gi_point made;
    if (succeeded(call.stage->point(&call.args, &in, &made, &err), &err)) {
        for (int c = 0; c < channels; c++) {
            uint16_t *wanted = gi_view_row(&out.wanted_view, (uint32_t)c);
            for (uint32_t v = 0; v < levels; v++)
                wanted[v] = (uint16_t)gi_curve_at(&host_then[c], gi_curve_at(&made.before[c], v, max), max);
        }
        if (!equalize) {
            cuda_ok(cudaMemcpy(&got, level, sizeof got, cudaMemcpyDeviceToHost));
            CHECK(got == gi_otsu_level(counts, levels));
        }
        gi_point_free(&made);
    }
    trapped_check(&out);
    scratch_check(&scratch);
    cuda_ok(cudaFree(level));
    cuda_ok(cudaFree((void *)(uintptr_t)device_counts));
    cuda_ok(cudaFree((void *)(uintptr_t)on_device));
    free(table);
}

static void test_tables(const options *o) {
    rng r = {o->seed + 32};
    uint64_t *counts = host_memory(3 * 65536 * sizeof *counts);
    for (int s = 0; s < 2; s++)
        for (int kind = 0; kind < COUNTS_KINDS; kind++)
            for (int again = 0; again < (o->quick ? 1 : 5); again++) {
                const uint32_t levels = gi_sample_max((gi_sample)s) + 1;
                if (o->quick && s && kind % 4 != 2) continue;
                for (uint32_t c = 0; c < 3; c++)
                    counts_make((kind + (int)c) % COUNTS_KINDS, levels, &r, counts + c * levels);
                case_name("tables from counts of kind %d, %d bytes", kind, 1 << s);
                try_tables(false, (gi_sample)s, counts, &r);
                try_tables(true, (gi_sample)s, counts, &r);
            }
    free(counts);
}

int main(int argc, char **argv) {
    options o = options_parse(argc, argv);
    if (!usable_device()) return EXIT_SKIPPED;
    if (!backends_open()) return 1;
    if (!cuda_ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))) return 1;
    test_refusals();
    test_tables(&o);
    test_barriers(&o);
    test_kept_apart(&o);
    cuda_ok(cudaStreamDestroy(stream));
    backends_close();
    device_release();
    return checks_report("barriers");
}
