// CPU backend = CUDA backend, byte for byte, through the interface that the executor uses: point operations and
// histograms. test_barriers.c and test_windows.c have the rest.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/stage_table.h"
#include "pair.h"

static void try_operation(pair p, const image *im, int index, rng *r) {
    char name[64];
    gi_point operation;
    const gi_view *v = &im->view;
    if (!operation_make(index, v->channels, v->sample, r, &operation, name)) return;
    case_name("%ux%u, %d channels of %zu bytes, pitch %zu, %s", v->width, v->height, v->channels,
              gi_sample_bytes(v->sample), v->pitch_bytes, name);
    bool staged = rng_below(r, 2);
    if (pair_upload(p, v, staged) && point(p.cpu, &operation) && point(p.cuda, &operation)) {
        // The operation's tables are the caller's again.
        for (int c = 0; c < 3; c++)
            if (operation.before[c].table) operation.before[c].table[0] ^= 1;
        if (operation.after.table) operation.after.table[0] ^= 1;
        compare_images(p);
        compare_histograms(p, gi_point_channels_out(&operation), v->sample, (uint64_t)v->width * v->height);
    }
    gi_point_free(&operation);
}

static int operation_count(int channels) { return channels >= 3 ? 64 : 4; }

// Every form on one image, or every `step`th, others each time.
static void try_image(pair p, gi_shape shape, uint32_t pad, uint32_t step, rng *r) {
    image im = image_make(shape, pad, (pattern)rng_below(r, PATTERN_COUNT), r);
    for (int i = (int)rng_below(r, step); i < operation_count(shape.channels); i += (int)step)
        try_operation(p, &im, i, r);
    image_free(&im);
}

static void test_every_form(const options *o) {
    rng r = {o->seed};
    pair p = pair_open(); // one pair for all: its buffers grow, and serve smaller images too
    const int sizes = o->quick ? test_quick_size_count : test_size_count;
    for (int s = 0; s < 2; s++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int i = 0; i < sizes; i++) {
                gi_shape shape = {test_sizes[i][0], test_sizes[i][1], channels, (gi_sample)s};
                const uint32_t step = o->quick ? 7 : shape.width * shape.height > 500000 ? 3 : 1;
                try_image(p, shape, 0, step, &r);
                try_image(p, shape, 1 + rng_below(&r, 40), step, &r);
            }
    pair_close(p);
}

static void test_histograms(const options *o) {
    rng r = {o->seed + 1};
    pair p = pair_open();
    const uint32_t width = o->quick ? 131 : 3001, height = o->quick ? 67 : 2003;
    for (int s = 0; s < 2; s++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int kind = 0; kind < PATTERN_COUNT; kind++)
                for (uint32_t pad = 0; pad < 4; pad += 3) {
                    image im = image_make((gi_shape){width, height, channels, (gi_sample)s}, pad, (pattern)kind, &r);
                    case_name("histogram, %d channels of %d bytes, pattern %d, pad %u", channels, 1 << s, kind, pad);
                    if (pair_upload(p, &im.view, false))
                        compare_histograms(p, channels, (gi_sample)s, (uint64_t)width * height);
                    image_free(&im);
                }
    pair_close(p);
}

// Operations in a row without waiting: each one's tables must be its own.
static void test_sequences(const options *o) {
    rng r = {o->seed + 2};
    pair p = pair_open();
    for (int round = 0; round < (o->quick ? 4 : 60); round++) {
        gi_shape shape = {1 + rng_below(&r, 300), 1 + rng_below(&r, 300), 1 + (int)rng_below(&r, 4),
                          (gi_sample)rng_below(&r, 2)};
        image im = image_make(shape, rng_below(&r, 2) * 5, PATTERN_RANDOM, &r);
        case_name("sequence %d on %ux%u, %d channels", round, shape.width, shape.height, shape.channels);
        bool going = pair_upload(p, &im.view, true);
        for (int i = 0; going && i < 5; i++) {
            char name[64];
            gi_point operation;
            int index = (int)rng_below(&r, (uint32_t)operation_count(shape.channels));
            operation_make(index, shape.channels, shape.sample, &r, &operation, name);
            going = point(p.cpu, &operation) && point(p.cuda, &operation);
            shape.channels = gi_point_channels_out(&operation);
            gi_point_free(&operation);
        }
        if (going) compare_images(p);
        image_free(&im);
    }
    pair_close(p);
}

// gray | threshold as the stages make it: composed into one operation, and in two.
static void test_stages(const options *o) {
    rng r = {o->seed + 3};
    pair p = pair_open(), q = pair_open();
    for (int weights = GI_GRAY_601; weights <= GI_GRAY_LINEAR; weights++)
        for (int s = 0; s < 2; s++)
            for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++) {
                gi_error err;
                gi_gray_args gray = {.weights = weights};
                gi_threshold_args threshold = {.level = (int32_t)(s ? 40000 : 100)};
                gi_point_input in = {channels, (gi_sample)s, NULL};
                gi_point first, second, both;
                case_name("gray %d | threshold, %d channels of %d bytes", weights, channels, 1 << s);
                image im = image_make((gi_shape){333, 77, channels, (gi_sample)s}, 0, PATTERN_RANDOM, &r);
                if (!succeeded(gi_gray_point(&gray, &in, &first, &err), &err)) return;
                in.channels = gi_point_channels_out(&first);
                if (!succeeded(gi_threshold_point(&threshold, &in, &second, &err), &err)) return;
                if (!succeeded(gi_point_compose(&first, &second, &both, &err), &err)) return;
                if (pair_upload(p, &im.view, false) && point(p.cpu, &both) && point(p.cuda, &both)) compare_images(p);
                pair crossed = {p.cpu, q.cuda};
                if (upload(q.cuda, &im.view, false) && point(q.cuda, &first) && point(q.cuda, &second))
                    compare_images(crossed);
                gi_point_free(&first);
                gi_point_free(&second);
                gi_point_free(&both);
                image_free(&im);
            }
    pair_close(p);
    pair_close(q);
}

// Every one of the 2^24 colours.
static void test_all_colours(void) {
    pair p = pair_open();
    gi_shape shape = {4096, 4096, 3, GI_U8};
    rng r = {0};
    image im = image_make(shape, 0, PATTERN_CONSTANT, &r);
    uint8_t *rgb = im.view.data;
    for (uint32_t i = 0; i < 1U << 24; i++)
        for (int c = 0; c < 3; c++) rgb[3 * (size_t)i + (size_t)c] = (uint8_t)(i >> (8 * c));
    for (int weights = GI_GRAY_601; weights <= GI_GRAY_LINEAR; weights++) {
        gi_error err;
        gi_gray_args gray = {.weights = weights};
        gi_point_input in = {3, GI_U8, NULL};
        gi_point operation;
        case_name("all colours, gray %d", weights);
        if (!succeeded(gi_gray_point(&gray, &in, &operation, &err), &err)) break;
        if (pair_upload(p, &im.view, false) && point(p.cpu, &operation) && point(p.cuda, &operation)) compare_images(p);
        gi_point_free(&operation);
    }
    image_free(&im);
    pair_close(p);
}

typedef struct worker {
    pthread_t thread;
    uint64_t seed;
    int rounds;
} worker;

static void *work(void *argument) {
    const worker *w = argument;
    rng r = {w->seed};
    pair p = pair_open();
    for (int i = 0; i < w->rounds; i++) {
        gi_shape shape = {1 + rng_below(&r, 700), 1 + rng_below(&r, 500), 1 + (int)rng_below(&r, 4),
                          (gi_sample)rng_below(&r, 2)};
        image im = image_make(shape, rng_below(&r, 2) * 7, (pattern)rng_below(&r, PATTERN_COUNT), &r);
        try_operation(p, &im, (int)rng_below(&r, (uint32_t)operation_count(shape.channels)), &r);
        image_free(&im);
    }
    pair_close(p);
    return NULL;
}

static void test_threads(const options *o) {
    enum { THREADS = 8 };
    worker workers[THREADS];
    const int threads = o->quick ? 2 : THREADS;
    for (int i = 0; i < threads; i++) {
        workers[i] = (worker){.seed = o->seed + 100 + (uint64_t)i, .rounds = o->quick ? 3 : 40};
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    for (int i = 0; i < threads; i++) pthread_join(workers[i].thread, NULL);
}

// Misuse fails, and the slot still works.
static void test_refusals(void) {
    gi_error err;
    pair p = pair_open();
    rng r = {5};
    case_name("refusals");
    gi_view out;
    gi_point rgb = gi_point_identity(3, GI_U8), deep = gi_point_identity(1, GI_U16), gray = gi_point_identity(1, GI_U8);
    gi_histogram histogram = {0};
    CHECK(p.cuda->ops->download(p.cuda, &out, &err) == GI_ERR_USAGE);
    CHECK(p.cuda->ops->point(p.cuda, &gray, &err) == GI_ERR_USAGE);
    image im = image_make((gi_shape){9, 9, 1, GI_U8}, 0, PATTERN_RANDOM, &r);
    CHECK(pair_upload(p, &im.view, false));
    CHECK(p.cuda->ops->point(p.cuda, &rgb, &err) == GI_ERR_USAGE);
    CHECK(p.cuda->ops->point(p.cuda, &deep, &err) == GI_ERR_USAGE);
    if (succeeded(gi_histogram_init(&histogram, 3, GI_U8, &err), &err)) {
        CHECK(p.cuda->ops->counts(p.cuda, &histogram, &err) == GI_ERR_USAGE); // nothing measured
        CHECK(p.cuda->ops->measure(p.cuda, NULL, false, &err) == GI_ERR_USAGE);
        CHECK(p.cuda->ops->measure(p.cuda, &rgb, true, &err) == GI_ERR_USAGE);
        CHECK(p.cuda->ops->measure(p.cuda, NULL, true, &err) == GI_OK);
        CHECK(p.cuda->ops->counts(p.cuda, &histogram, &err) == GI_ERR_USAGE);
    }
    gi_histogram_free(&histogram);
    compare_images(p);
    image_free(&im);
    pair_close(p);
}

// Gray in linear light of 16 bits: every gray, near-grays, and colours of every brightness, of which the GPU estimates
// the codes first.
static void test_linear_u16(const options *o) {
    gi_error err;
    rng r = {o->seed + 6};
    pair p = pair_open();
    const gi_shape shape = {4096, o->quick ? 4 : 4096, 3, GI_U16};
    image im = image_make(shape, 0, PATTERN_RANDOM, &r);
    uint16_t *rgb = im.view.data;
    const size_t pixels = (size_t)shape.width * shape.height;
    for (size_t i = 0; i < pixels; i++) {
        const uint64_t bits = rng_next(&r);
        for (int c = 0; c < 3; c++) {
            const uint32_t random = (uint32_t)(bits >> (16 * c)) & 65535, level = (uint32_t)i & 65535;
            uint32_t v = random >> (bits >> (48 + 4 * c) & 7); // dark ones as often as bright ones
            if (i < pixels / 4) v = i < 65536 ? level : (level + (random & 63)) & 65535;
            rgb[3 * i + (size_t)c] = (uint16_t)v;
        }
    }
    gi_gray_args gray = {.weights = GI_GRAY_LINEAR};
    gi_point_input in = {3, GI_U16, NULL};
    gi_point operation;
    case_name("gray in linear light, 16 bits");
    if (succeeded(gi_gray_point(&gray, &in, &operation, &err), &err)) {
        if (pair_upload(p, &im.view, false) && point(p.cpu, &operation) && point(p.cuda, &operation)) compare_images(p);
        gi_point_free(&operation);
    }
    image_free(&im);
    pair_close(p);
}

// Images so large that a block of the GPU counts more samples of one level than 16 bits hold.
static void test_large_histograms(void) {
    rng r = {7};
    pair p = pair_open();
    for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
        for (int kind = 0; kind < PATTERN_COUNT; kind++) {
            const gi_shape shape = {6000, 4001, channels, GI_U16};
            image im = image_make(shape, 0, (pattern)kind, &r);
            case_name("large histogram, %d channels, pattern %d", channels, kind);
            if (pair_upload(p, &im.view, false))
                compare_histograms(p, channels, GI_U16, (uint64_t)shape.width * shape.height);
            image_free(&im);
        }
    pair_close(p);
}

int main(int argc, char **argv) {
    options o = options_parse(argc, argv);
    if (!usable_device()) return EXIT_SKIPPED;
    if (!backends_open()) return 1;
    test_refusals();
    test_every_form(&o);
    test_histograms(&o);
    test_sequences(&o);
    test_stages(&o);
    test_threads(&o);
    test_linear_u16(&o);
    if (!o.quick) {
        test_all_colours();
        test_large_histograms();
    }
    backends_close();
    device_release();
    return checks_report("parity");
}
