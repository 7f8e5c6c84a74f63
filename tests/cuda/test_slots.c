// A slot that has seen an image makes and frees nothing for others that are no larger, waits only for events, and gives
// the CPU's bytes, in bands and whole. Linked with the fake runtime, and with the real one behind wrap.c.
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "cuda/backend_cuda.h"
#include "cuda/buffer.h"
#include "gpu/pair.h"
#include "run/pass.h"

static gi_gate gate;
static gi_stop stop;

static const char *const texts[] = {"gray",
                                    "gray linear | threshold",
                                    "threshold 99",
                                    "blur radius=3",
                                    "blur sigma=2 | gray | blur radius=1",
                                    "heat steps=2 inner=3",
                                    "equalize",
                                    "blur | gray | threshold otsu"};

static gi_view view_for(gi_shape shape) {
    size_t bytes = 0;
    if (gi_shape_bytes(shape, &bytes, NULL) != GI_OK) exit(1);
    return gi_view_packed(malloc(bytes), shape, GI_HOST);
}

static void store(gi_slot *slot, const gi_plan *plan, const gi_view *in, uint32_t rows, const gi_view *out) {
    gi_error err;
    gi_pass pass = {.slot = slot,
                    .gate = &gate,
                    .stop = &stop,
                    .plan = plan,
                    .source = gi_source_of_image(in),
                    .bands = {rows, 0, slot->ops->lanes > 1}};
    succeeded(gi_pass_store(&pass, out, &err), &err);
    gi_pass_free(&pass);
}

// One image through both slots: the same bytes.
static void compare(pair p, const gi_pipeline *pipeline, const gi_view *in, uint32_t rows) {
    gi_plan plan;
    gi_error err;
    uint32_t row = 0;
    size_t byte = 0;
    if (!succeeded(gi_plan_make(pipeline, gi_view_shape(in), &plan, &err), &err)) return;
    gi_view wanted = view_for(plan.out), got = view_for(plan.out);
    memset(got.data, 0x5A, got.pitch_bytes * got.height);
    store(p.cpu, &plan, in, in->height, &wanted);
    store(p.cuda, &plan, in, rows, &got);
    CHECK(!views_differ(&wanted, &got, &row, &byte));
    free(wanted.data);
    free(got.data);
    gi_plan_free(&plan);
}

// True where the image is its own result.
static bool is_nothing(const gi_pipeline *pipeline, gi_shape shape) {
    return pipeline->count == 1 && pipeline->calls[0].stage->id == GI_STAGE_ID_gray && shape.channels <= 2;
}

// Images of that size and smaller ones, one after another.
static void try_pipeline(pair p, const gi_pipeline *pipeline, gi_shape shape, uint32_t rows, rng *r) {
    struct call_counts before = calls;
    const uint32_t width = shape.width, height = shape.height;
    for (int i = 0; i < 6; i++) {
        image im = image_make(shape, i % 2 ? 3 : 0, (pattern)(i % PATTERN_COUNT), r);
        compare(p, pipeline, &im.view, rows);
        image_free(&im);
        if (i == 0) before = calls;
        shape.width = width - rng_below(r, width / 2);
        shape.height = height - rng_below(r, height / 2);
    }
    CHECK(calls.made == before.made);
    CHECK(calls.freed == before.freed);
    CHECK(calls.synchronised == before.synchronised);
    CHECK(calls.waits > before.waits || is_nothing(pipeline, shape));
}

static void test_pipelines(const options *o) {
    static const uint32_t rows[] = {16, 61, UINT32_MAX};
    rng r = {o->seed};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels += o->quick ? 2 : 1)
            for (int i = 0; i < 3; i++) {
                gi_pipeline pipeline;
                gi_error err;
                const gi_sample sample = (gi_sample)rng_below(&r, 2);
                pair p = pair_open();
                case_name("%s, %d channels of %zu bytes, bands of %u rows", texts[t], channels, gi_sample_bytes(sample),
                          rows[i]);
                if (succeeded(gi_pipeline_parse(texts[t], &pipeline, &err), &err))
                    try_pipeline(p, &pipeline, (gi_shape){151, 203, channels, sample}, rows[i], &r);
                pair_close(p);
            }
}

// Growing by less than half: the next sizes are there already.
static void test_growth(void) {
    rng r = {11};
    pair p = pair_open();
    unsigned long made = calls.made;
    for (uint32_t side = 64; side < 640; side += 8) {
        gi_shape shape = {side, side, 3, GI_U8};
        image im = image_make(shape, 0, PATTERN_RANDOM, &r);
        upload(p.cuda, &im.view, true);
        image_free(&im);
    }
    case_name("growth");
    CHECK(calls.made - made <= 2 * 13 + 8); // 100 times the bytes in steps of a half, in two buffers, and a lane
    pair_close(p);
}

// Most stages have no use for scratch memory, and none is allocated.
static void test_nothing(void) {
    gi_cuda_buffer buffer = {.data = NULL};
    gi_error err;
    const unsigned long made = calls.made;
    case_name("a buffer of 0 bytes");
    succeeded(gi_cuda_buffer_reserve(&buffer, 0, GI_DEVICE, NULL, &err), &err);
    CHECK(calls.made == made && buffer.bytes == 0);
    gi_cuda_buffer_free(&buffer, GI_DEVICE);
}

// What a first image was decoded into, before there was a context, is the slot's buffer from then on.
static void test_first_image(void) {
    gi_backend *late;
    gi_slot *slot;
    gi_error err;
    void *first, *next;
    rng r = {5};
    image im = image_make((gi_shape){1200, 900, 3, GI_U8}, 0, PATTERN_RANDOM, &r);
    const size_t bytes = im.view.pitch_bytes * im.view.height;
    case_name("the first image's memory");
    setenv("FAKE_CUDA_START_MS", "100", 1);
    if (!succeeded(gi_backend_cuda_open(0, &late, &err), &err)) exit(1);
    succeeded(late->ops->slot_open(late, 1, &slot, &err), &err);
    succeeded(slot->ops->host_buffer(slot, bytes, &first, &err), &err);
    memcpy(first, im.view.data, bytes);
    gi_view here = gi_view_packed(first, gi_view_shape(&im.view), GI_HOST), got;
    succeeded(slot->ops->upload(slot, &here, &err), &err);
    succeeded(slot->ops->download(slot, &got, &err), &err);
    CHECK(memcmp(got.data, im.view.data, bytes) == 0);
    const struct call_counts before = calls;
    succeeded(slot->ops->host_buffer(slot, bytes, &next, &err), &err);
    CHECK(next == first && calls.made == before.made);
    slot->ops->slot_close(slot);
    late->ops->close(late);
    unsetenv("FAKE_CUDA_START_MS");
    image_free(&im);
}

int main(int argc, char **argv) {
    options o = options_parse(argc, argv);
    if (!usable_device()) return EXIT_SKIPPED;
    if (!backends_open()) return 1;
    gi_gate_init(&gate, 0);
    test_pipelines(&o);
    test_growth();
    test_nothing();
    test_first_image();
    gi_gate_destroy(&gate);
    backends_close();
    return checks_report("slots");
}
