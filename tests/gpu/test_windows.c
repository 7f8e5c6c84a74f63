// Blur and heat on the GPU = on the CPU, byte for byte: in bands of any height through the backends' slots, and the
// launchers themselves on device memory laid out to trap them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_image.h"
#include "kernels/launch.h"
#include "pair.h"

static cudaStream_t stream;

static gi_stage_call call_make(const char *name) {
    gi_stage_call call = {.stage = gi_stage_find(name, strlen(name))};
    gi_stage_defaults(call.stage, &call.args);
    return call;
}

// --- the calls to try ------------------------------------------------------------------------------------------------

// Radii at which the sums outgrow 16 and 32 bits, tables begin to pay, and strips and images end; sigmas of both forms,
// for rings of one to four chunks on either side, of the largest that the tensor cores take, and one with no taps but
// the middle one.
static const int radii[] = {0,   1,   2,   3,    5,    15,   16,   17,   33,   50,   90,   91,
                            128, 129, 512, 1024, 1025, 1451, 2052, 3000, 4000, 7000, 16384};
static const double sigmas[] = {0.1, 0.5, 1, 3, 4, 4.2, 7.7, 8.1, 16.2, 25, 32, 32.5, 100, 256};
enum { RADIUS_COUNT = sizeof radii / sizeof *radii, SIGMA_COUNT = sizeof sigmas / sizeof *sigmas };
enum { BLUR_KINDS = RADIUS_COUNT + SIGMA_COUNT, BORDERS = 4, BLUR_COUNT = BLUR_KINDS * BORDERS };
static const char *const border_names[] = {"reflect101", "replicate", "shrink", "constant"};

static gi_stage_call blur_make(int index, gi_sample sample, rng *r, char *name) {
    const int kind = index / BORDERS, max = (int)gi_sample_max(sample);
    const int values[] = {0, max, (int)rng_below(r, (uint32_t)max + 1)};
    gi_stage_call call = call_make("blur");
    gi_blur_args *blur = &call.args.blur;
    blur->border = index % BORDERS;
    if (kind < RADIUS_COUNT)
        blur->radius = radii[kind];
    else
        blur->sigma = sigmas[kind - RADIUS_COUNT];
    if (blur->border == GI_BORDER_CONSTANT) blur->value = values[rng_below(r, 3)];
    snprintf(name, 96, "blur radius=%d sigma=%g border=%s value=%d", (int)blur->radius, blur->sigma,
             border_names[blur->border], (int)blur->value);
    return call;
}

static const int tiles[] = {0, 1, 5, 8, 13, 16, 25, 32, 33, 64};
enum { TILE_COUNT = sizeof tiles / sizeof *tiles, HEAT_COUNT = 2 * TILE_COUNT };

static gi_stage_call heat_make(int index, rng *r, char *name) {
    static const int steps[] = {1, 2, 3, 7, 8, 21}, inner[] = {1, 2, 20};
    static const double rates[][2] = {{0.25, 0.1}, {1, 0.25}, {0.001, 0.3}, {2.5, 0.0999}};
    const double *rate = rates[rng_below(r, 4)];
    gi_stage_call call = call_make("heat");
    gi_heat_args *heat = &call.args.heat;
    heat->mode = index % 2;
    heat->tile = tiles[index / 2];
    heat->steps = steps[rng_below(r, heat->mode == GI_HEAT_LINEAR ? 6 : 4)];
    heat->inner = inner[rng_below(r, 3)];
    heat->alpha = rate[0];
    heat->dt = rate[1];
    snprintf(name, 96, "heat mode=%d steps=%d inner=%d alpha=%g dt=%g tile=%d", heat->mode, (int)heat->steps,
             (int)heat->inner, heat->alpha, heat->dt, (int)heat->tile);
    return call;
}

static uint32_t halo_of(const gi_stage_call *call) {
    return call->stage->id == GI_STAGE_ID_blur ? gi_blur_halo(&call->args) : gi_heat_halo(&call->args);
}

// The band of the input that rows [y, y + rows) of the output need, and its place.
static gi_view band_of(const gi_view *input, uint32_t halo, uint32_t y, uint32_t rows, gi_window_place *place) {
    const uint64_t end = (uint64_t)y + rows + halo;
    place->image_height = input->height;
    place->in_y0 = y > halo ? y - halo : 0;
    place->out_y0 = y;
    return gi_view_rows(input, place->in_y0, (uint32_t)(end < input->height ? end : input->height) - place->in_y0);
}

// --- through the slots -----------------------------------------------------------------------------------------------

// One band on the GPU beside the same rows of the whole image, which the CPU's slot holds.
static void compare_band(pair p, const gi_view *input, const gi_stage_call *call, uint32_t y, uint32_t rows) {
    gi_error err;
    gi_window_place place;
    gi_view whole, got;
    const gi_view band = band_of(input, halo_of(call), y, rows, &place);
    if (!upload(p.cuda, &band, false) || !succeeded(p.cuda->ops->window(p.cuda, call, &place, rows, &err), &err) ||
        !succeeded(p.cuda->ops->download(p.cuda, &got, &err), &err) ||
        !succeeded(p.cpu->ops->download(p.cpu, &whole, &err), &err))
        return;
    const gi_view wanted = gi_view_rows(&whole, y, rows);
    uint32_t row = 0;
    size_t byte = 0;
    if (!CHECK(got.height == rows && got.width == wanted.width && got.channels == wanted.channels)) return;
    const bool differ = views_differ(&wanted, &got, &row, &byte);
    if (differ) fprintf(stderr, "first difference in row %u, byte %zu of the band at row %u\n", row, byte, y);
    CHECK(!differ);
}

// In bands of so many rows; of very many bands those at both ends and some between.
static void compare_bands(pair p, const gi_view *input, const gi_stage_call *call, uint32_t height) {
    const uint32_t bands = (input->height + height - 1) / height;
    for (uint32_t i = 0; i < bands; i++) {
        if (i >= 4 && i + 4 < bands && i != bands / 2) continue;
        const uint32_t y = i * height, left = input->height - y;
        compare_band(p, input, call, y, left < height ? left : height);
    }
}

static void try_call(pair p, const gi_view *input, const gi_stage_call *call, uint32_t height) {
    gi_error err;
    const gi_window_place place = {input->height, 0, 0};
    if (upload(p.cpu, input, false) && succeeded(p.cpu->ops->window(p.cpu, call, &place, input->height, &err), &err))
        compare_bands(p, input, call, height);
}

static const uint32_t sizes[][2] = {{17, 31},  {1, 1},    {15, 1},   {1, 15},    {2, 2},    {64, 9},
                                    {257, 70}, {1, 1200}, {2500, 3}, {1025, 40}, {96, 200}, {33, 97}};
enum { SIZE_COUNT = sizeof sizes / sizeof *sizes };

// Lines, and images of several strips, aligned and not; of these only some calls.
static const uint32_t long_sizes[][2] = {{70000, 1}, {1, 70000}, {9001, 37}, {8192, 50}, {3, 20011}, {20480, 33}};
enum { LONG_COUNT = sizeof long_sizes / sizeof *long_sizes };

// Every call on every kind of image and size, the band heights in turn; or every `step`th on the first sizes.
static void test_bands(const options *o, bool blur) {
    rng r = {o->seed + (blur ? 20 : 21)};
    pair p = pair_open();
    const int calls = blur ? BLUR_COUNT : HEAT_COUNT, step = o->quick ? (blur ? 41 : 9) : 1;
    for (int s = 0; s < 2; s++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int i = 0; i < (o->quick ? 2 : SIZE_COUNT); i++) {
                const gi_shape shape = {sizes[i][0], sizes[i][1], channels, (gi_sample)s};
                image im = image_make(shape, rng_below(&r, 2) * 3, (pattern)rng_below(&r, PATTERN_COUNT), &r);
                for (int k = (int)rng_below(&r, (uint32_t)step); k < calls; k += step) {
                    char name[96];
                    const uint32_t heights[] = {1, 2, 7, 45, shape.height}, height = heights[rng_below(&r, 5)];
                    const gi_stage_call call = blur ? blur_make(k, shape.sample, &r, name) : heat_make(k, &r, name);
                    if (blur && call.args.blur.sigma > 33 && shape.width * shape.height > 4000) continue; // slow
                    case_name("%ux%u, %d channels of %d bytes, %s, bands of %u", shape.width, shape.height, channels,
                              1 << s, name, height);
                    try_call(p, &im.view, &call, height);
                }
                image_free(&im);
            }
    pair_close(p);
}

// Blurs of long images, in bands and whole.
static void test_long_images(const options *o) {
    rng r = {o->seed + 25};
    pair p = pair_open();
    const int step = 11;
    for (int s = 0; s < 2; s++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int i = 0; i < LONG_COUNT; i++) {
                const gi_shape shape = {long_sizes[i][0], long_sizes[i][1], channels, (gi_sample)s};
                image im = image_make(shape, rng_below(&r, 2) * 3, (pattern)rng_below(&r, PATTERN_COUNT), &r);
                for (int k = (int)rng_below(&r, (uint32_t)step); k < BLUR_COUNT; k += step) {
                    char name[96];
                    const uint32_t height = rng_below(&r, 2) ? shape.height : shape.height / 2 + 1;
                    const gi_stage_call call = blur_make(k, shape.sample, &r, name);
                    if (call.args.blur.sigma > 8.5) continue; // slow on the CPU
                    case_name("%ux%u, %d channels of %d bytes, %s, bands of %u", shape.width, shape.height, channels,
                              1 << s, name, height);
                    try_call(p, &im.view, &call, height);
                }
                image_free(&im);
            }
    pair_close(p);
}

// heat precision=fast stays within what its help says of the exact result: 0.0005 of the range a step.
static void test_fast_heat(const options *o) {
    rng r = {o->seed + 25};
    pair p = pair_open();
    for (int s = 0; s < 2; s++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int steps = 1; steps <= (o->quick ? 1 : 4); steps++) {
                gi_error err;
                gi_view exact, fast;
                const gi_shape shape = {131, o->quick ? 9 : 67, channels, (gi_sample)s};
                const int most = 1 + (int)(0.0005 * steps * (double)gi_sample_max(shape.sample));
                const gi_window_place place = {shape.height, 0, 0};
                gi_stage_call call = call_make("heat");
                call.args.heat.steps = steps;
                call.args.heat.inner = o->quick ? 5 : 100;
                call.args.heat.dt = steps % 2 ? 1 : 0.1;
                call.args.heat.precision = GI_HEAT_FAST;
                case_name("heat precision=fast, %d channels of %d bytes, %d steps", channels, 1 << s, steps);
                image im = image_make(shape, 0, (pattern)rng_below(&r, PATTERN_COUNT), &r);
                if (pair_upload(p, &im.view, false) &&
                    succeeded(p.cpu->ops->window(p.cpu, &call, &place, shape.height, &err), &err) &&
                    succeeded(p.cuda->ops->window(p.cuda, &call, &place, shape.height, &err), &err) &&
                    succeeded(p.cpu->ops->download(p.cpu, &exact, &err), &err) &&
                    succeeded(p.cuda->ops->download(p.cuda, &fast, &err), &err)) {
                    const size_t count = (size_t)shape.width * (size_t)channels * shape.height;
                    int furthest = 0;
                    for (size_t i = 0; i < count; i++) {
                        const int a = s ? ((const uint16_t *)exact.data)[i] : ((const uint8_t *)exact.data)[i];
                        const int b = s ? ((const uint16_t *)fast.data)[i] : ((const uint8_t *)fast.data)[i];
                        const int apart = abs(a - b);
                        if (apart > furthest) furthest = apart;
                    }
                    if (!CHECK(furthest <= most)) fprintf(stderr, "%d levels apart, not %d\n", furthest, most);
                }
                image_free(&im);
            }
    pair_close(p);
}

// Images large enough for more than one chunk of scratch memory and tile, whole.
static void test_large_images(const options *o) {
    rng r = {o->seed + 22};
    pair p = pair_open();
    for (int s = 0; s < 2; s++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++) {
            const gi_shape shape = {3001, 2003, channels, (gi_sample)s};
            image im = image_make(shape, 0, PATTERN_RANDOM, &r);
            for (int k = 0; k < BLUR_COUNT + 2; k += 7) {
                char name[96];
                const gi_stage_call call =
                    k < BLUR_COUNT ? blur_make(k, shape.sample, &r, name) : heat_make(k - BLUR_COUNT, &r, name);
                if (call.stage->id == GI_STAGE_ID_blur && call.args.blur.sigma > 8) continue; // slow on the CPU
                case_name("%ux%u, %d channels of %d bytes, %s", shape.width, shape.height, channels, 1 << s, name);
                try_call(p, &im.view, &call, shape.height);
            }
            image_free(&im);
        }
    pair_close(p);
}

// Windows, then point operations, then windows again, without waiting.
static void test_sequences(const options *o) {
    rng r = {o->seed + 23};
    pair p = pair_open();
    for (int round = 0; round < (o->quick ? 2 : 40); round++) {
        gi_error err;
        gi_shape shape = {1 + rng_below(&r, 300), 1 + rng_below(&r, 200), 1 + (int)rng_below(&r, 4),
                          (gi_sample)rng_below(&r, 2)};
        image im = image_make(shape, 0, PATTERN_RANDOM, &r);
        bool going = pair_upload(p, &im.view, true);
        const gi_window_place place = {shape.height, 0, 0};
        for (int i = 0; going && i < 5; i++) {
            char name[96];
            gi_point operation;
            const bool blur = rng_below(&r, 2);
            const gi_stage_call call = blur ? blur_make((int)rng_below(&r, BLUR_COUNT), shape.sample, &r, name)
                                            : heat_make((int)rng_below(&r, HEAT_COUNT), &r, name);
            case_name("sequence %d on %ux%u, %d channels: %s", round, shape.width, shape.height, shape.channels, name);
            going = succeeded(p.cpu->ops->window(p.cpu, &call, &place, shape.height, &err), &err) &&
                    succeeded(p.cuda->ops->window(p.cuda, &call, &place, shape.height, &err), &err);
            if (going && operation_make((int)rng_below(&r, 8), shape.channels, shape.sample, &r, &operation, name)) {
                going = point(p.cpu, &operation) && point(p.cuda, &operation);
                shape.channels = gi_point_channels_out(&operation);
                gi_point_free(&operation);
            }
        }
        if (going) compare_images(p);
        image_free(&im);
    }
    pair_close(p);
}

// --- the launchers ---------------------------------------------------------------------------------------------------

static void try_launcher(const gi_view *host, const gi_stage_call *call, const layout l[2], rng *r) {
    gi_error err;
    void *in_memory;
    const bool blur = call->stage->id == GI_STAGE_ID_blur;
    const uint32_t y = rng_below(r, host->height), rows = 1 + rng_below(r, host->height - y);
    gi_shape shape = gi_view_shape(host);
    shape.height = rows;
    gi_job job = {.args = &call->args, .stream = stream};
    const gi_view band = band_of(host, halo_of(call), y, rows, &job.place);
    trapped out = trapped_make(shape, l[1]);
    gi_window_job reference = {
        .in = band, .out = out.wanted_view, .place = job.place, .args = &call->args, .threads = 4};
    succeeded(blur ? gi_cpu_blur(&reference, &err) : gi_cpu_heat(&reference, &err), &err);

    job.in = device_input(&band, l[0], &in_memory);
    job.out = out.view;
    guarded_scratch scratch = scratch_make(blur ? gi_cuda_blur_scratch(&job) : gi_cuda_heat_scratch(&job));
    job.scratch = scratch.data;
    cuda_ok(cudaDeviceSynchronize());
    succeeded(blur ? gi_cuda_blur(&job, &err) : gi_cuda_heat(&job, &err), &err);
    cuda_ok(cudaStreamSynchronize(stream));
    trapped_check(&out);
    scratch_check(&scratch);
    cuda_ok(cudaFree(in_memory));
}

static void test_launchers(const options *o) {
    rng r = {o->seed + 24};
    const int step = o->quick ? 23 : 1;
    for (int s = 0; s < 2; s++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int k = (int)rng_below(&r, (uint32_t)step); k < BLUR_COUNT + HEAT_COUNT; k += step) {
                char name[96];
                const gi_shape shape = {1 + rng_below(&r, 90), 1 + rng_below(&r, 60), channels, (gi_sample)s};
                const int l = (int)rng_below(&r, (uint32_t)layout_count);
                image im = image_make(shape, 2, PATTERN_RANDOM, &r);
                const gi_stage_call call =
                    k < BLUR_COUNT ? blur_make(k, shape.sample, &r, name) : heat_make(k - BLUR_COUNT, &r, name);
                case_name("launcher, %ux%u, %d channels of %d bytes, layout %d, %s", shape.width, shape.height,
                          channels, 1 << s, l, name);
                try_launcher(&im.view, &call, layouts[l], &r);
                image_free(&im);
            }
}

// Boxes that no block holds as a whole.
static void test_wide_launchers(const options *o) {
    rng r = {o->seed + 26};
    const int step = o->quick ? 9 : 1;
    for (int s = 0; s < 2; s++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int k = (int)rng_below(&r, (uint32_t)step); k < RADIUS_COUNT * BORDERS; k += step) {
                char name[96];
                const gi_shape shape = {4000 + rng_below(&r, 5000), 1 + rng_below(&r, 24), channels, (gi_sample)s};
                const int l = (int)rng_below(&r, (uint32_t)layout_count);
                if (radii[k / BORDERS] < 128) continue;
                image im = image_make(shape, 2, PATTERN_RANDOM, &r);
                const gi_stage_call call = blur_make(k, shape.sample, &r, name);
                case_name("launcher, %ux%u, %d channels of %d bytes, layout %d, %s", shape.width, shape.height,
                          channels, 1 << s, l, name);
                try_launcher(&im.view, &call, layouts[l], &r);
                image_free(&im);
            }
}

// Misuse fails, and the slot still works.
static void test_refusals(void) {
    gi_error err;
    rng r = {6};
    pair p = pair_open();
    gi_stage_call blur = call_make("blur"), heat = call_make("heat"), gray = call_make("gray");
    const gi_window_place whole = {9, 0, 0}, middle = {30, 3, 5};
    case_name("refusals");
    CHECK(p.cuda->ops->window(p.cuda, &blur, &whole, 9, &err) == GI_ERR_USAGE);
    image im = image_make((gi_shape){9, 9, 1, GI_U8}, 0, PATTERN_RANDOM, &r);
    CHECK(pair_upload(p, &im.view, false));
    CHECK(p.cuda->ops->window(p.cuda, &gray, &whole, 9, &err) == GI_ERR_USAGE);
    CHECK(p.cuda->ops->window(p.cuda, &blur, &whole, 10, &err) == GI_ERR_USAGE);
    CHECK(p.cuda->ops->window(p.cuda, &heat, &middle, 7, &err) == GI_ERR_USAGE); // row 12 is not there
    blur.args.blur.value = 256;
    CHECK(p.cuda->ops->window(p.cuda, &blur, &whole, 9, &err) == GI_ERR_USAGE);
    heat.args.heat.dt = 10;
    CHECK(p.cuda->ops->window(p.cuda, &heat, &whole, 9, &err) == GI_ERR_USAGE);
    compare_images(p);
    image_free(&im);
    pair_close(p);
}

int main(int argc, char **argv) {
    options o = options_parse(argc, argv);
    if (!usable_device()) return EXIT_SKIPPED;
    if (!backends_open()) return 1;
    if (!cuda_ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))) return 1;
    test_refusals();
    test_launchers(&o);
    test_wide_launchers(&o);
    test_bands(&o, true);
    test_bands(&o, false);
    if (!o.quick) test_long_images(&o);
    test_sequences(&o);
    test_fast_heat(&o);
    if (!o.quick) test_large_images(&o);
    cuda_ok(cudaStreamDestroy(stream));
    backends_close();
    device_release();
    return checks_report("windows");
}
