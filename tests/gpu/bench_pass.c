// Times whole 8K images from host memory through the device and back, as the executor sends them: uploads, kernels and
// downloads of row bands beside each other. Beside them, in the same run, plain copies of the same bytes, and the same
// image as one band. Results are compared with the CPU's first.
//
//     gpu_bench_pass [--json FILE] [--commit TEXT] [--driver VERSION]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuda_runtime_api.h>

#include "pair.h"
#include "run/pass.h"
#include "run/process.h"

enum { WIDTH = 7680, HEIGHT = 4320, REPEATS = 21 };

static const struct {
    const char *text;
    int channels;
} cases[] = {{"gray", 3},
             {"threshold", 1},
             {"threshold", 3},
             {"blur radius=5", 1},
             {"blur radius=50", 1},
             {"gray | blur sigma=3", 3},
             {"heat mode=linear steps=20", 1},
             {"gray | equalize", 3},
             {"threshold otsu", 3}};

static gi_gate open_gate, narrow_gate;
static gi_stop stop;
static FILE *json;
static int reported;

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double times[REPEATS]) {
    qsort(times, REPEATS, sizeof *times, by_value);
    return times[REPEATS / 2];
}

static gi_view image_of(gi_shape shape, bool pinned) {
    size_t bytes = 0;
    void *data = NULL;
    if (gi_shape_bytes(shape, &bytes, NULL) != GI_OK) exit(1);
    if (pinned)
        cuda_ok(cudaHostAlloc(&data, bytes, cudaHostAllocDefault));
    else
        data = malloc(bytes);
    memset(data, 1, bytes); // so that its pages are there
    return gi_view_packed(data, shape, pinned ? GI_PINNED : GI_HOST);
}

static void image_end(gi_view *view) {
    if (view->where == GI_PINNED)
        cuda_ok(cudaFreeHost(view->data));
    else
        free(view->data);
}

static bool run_pass(gi_slot *slot, const gi_plan *plan, const gi_view *in, const gi_view *out, uint32_t rows,
                     gi_gate *gate) {
    gi_error err;
    gi_pass pass = {.slot = slot,
                    .gate = gate,
                    .stop = &stop,
                    .plan = plan,
                    .source = gi_source_of_image(in),
                    .bands = {rows, 0, true}};
    bool done = succeeded(gi_pass_store(&pass, out, &err), &err);
    gi_pass_free(&pass);
    return done;
}

static double pass_ms(gi_slot *slot, const gi_plan *plan, const gi_view *in, const gi_view *out, uint32_t rows,
                      gi_gate *gate) {
    double times[REPEATS];
    for (int i = -2; i < REPEATS; i++) {
        double start = now_ms();
        if (!run_pass(slot, plan, in, out, rows, gate)) return 0;
        if (i >= 0) times[i] = now_ms() - start;
    }
    return median_of(times);
}

// A plain copy of the image to the device, or back.
static double copy_ms(const gi_view *host, void *device, bool up) {
    double times[REPEATS];
    const size_t bytes = host->pitch_bytes * host->height;
    cudaStream_t stream;
    cuda_ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = -2; i < REPEATS; i++) {
        double start = now_ms();
        if (up)
            cuda_ok(cudaMemcpyAsync(device, host->data, bytes, cudaMemcpyHostToDevice, stream));
        else
            cuda_ok(cudaMemcpyAsync(host->data, device, bytes, cudaMemcpyDeviceToHost, stream));
        cuda_ok(cudaStreamSynchronize(stream));
        if (i >= 0) times[i] = now_ms() - start;
    }
    cuda_ok(cudaStreamDestroy(stream));
    return median_of(times);
}

static void report(const char *text, int channels, bool pinned, const double ms[5]) {
    const double longer = ms[0] > ms[1] ? ms[0] : ms[1];
    printf("%-26s %d ch %-8s up %6.2f  down %6.2f  bands %6.2f (%.2f of the longer copy)  one lane %6.2f  whole %6.2f "
           "ms\n",
           text, channels, pinned ? "pinned" : "pageable", ms[0], ms[1], ms[2], ms[2] / longer, ms[3], ms[4]);
    if (!json) return;
    fprintf(json,
            "%s\n{\"name\":\"%s\",\"channels\":%d,\"memory\":\"%s\",\"up_ms\":%.3f,\"down_ms\":%.3f,\"ms\":%.3f,"
            "\"one_lane_ms\":%.3f,\"whole_ms\":%.3f}",
            reported++ ? "," : "", text, channels, pinned ? "pinned" : "pageable", ms[0], ms[1], ms[2], ms[3], ms[4]);
}

static bool same_as_cpu(pair p, const gi_plan *plan, const gi_view *in, const gi_view *out) {
    uint32_t row = 0;
    size_t byte = 0;
    gi_view wanted = image_of(plan->out, false);
    bool same =
        run_pass(p.cpu, plan, in, &wanted, plan->in.height, &open_gate) && !views_differ(&wanted, out, &row, &byte);
    image_end(&wanted);
    return CHECK(same);
}

static void try_case(pair p, const char *text, int channels, bool pinned, void *device) {
    gi_pipeline pipeline;
    gi_plan plan;
    gi_error err;
    rng r = {7};
    const gi_shape shape = {WIDTH, HEIGHT, channels, GI_U8};
    case_name("%s, %d channels", text, channels);
    if (!succeeded(gi_pipeline_parse(text, &pipeline, &err), &err)) return;
    if (!succeeded(gi_plan_make(&pipeline, shape, &plan, &err), &err)) return;
    gi_view in = image_of(shape, pinned), out = image_of(plan.out, pinned);
    for (size_t i = 0; i < in.pitch_bytes * HEIGHT / 8; i++) ((uint64_t *)in.data)[i] = rng_next(&r);
    const uint32_t rows = gi_band_rows_device(&plan, false);
    double ms[5] = {copy_ms(&in, device, true), copy_ms(&out, device, false)};
    ms[2] = pass_ms(p.cuda, &plan, &in, &out, rows, &open_gate);
    if (same_as_cpu(p, &plan, &in, &out)) {
        ms[3] = pass_ms(p.cuda, &plan, &in, &out, rows, &narrow_gate);
        ms[4] = pass_ms(p.cuda, &plan, &in, &out, HEIGHT, &open_gate);
        report(text, channels, pinned, ms);
    }
    image_end(&in);
    image_end(&out);
    gi_plan_free(&plan);
}

int main(int argc, char **argv) {
    const char *path = NULL, *commit = "unknown", *driver = "unknown";
    void *device = NULL;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--json") == 0) path = argv[i + 1];
        if (strcmp(argv[i], "--commit") == 0) commit = argv[i + 1];
        if (strcmp(argv[i], "--driver") == 0) driver = argv[i + 1];
    }
    const double begin = now_ms();
    if (!usable_device()) return EXIT_SKIPPED;
    const double found = now_ms();
    if (!backends_open()) return 1;
    json = path ? fopen(path, "w") : NULL;
    if (json)
        fprintf(json, "{\"gpu\":\"%s\",\"driver\":\"%s\",\"commit\":\"%s\",\"results\":[", cuda->detail, driver,
                commit);
    gi_gate_init(&open_gate, 0);
    gi_gate_init(&narrow_gate, 1);
    pair p = pair_open();
    if (p.cuda->ops->release(p.cuda, NULL) != GI_OK || !cuda_ok(cudaSetDevice(0)) || !cuda_ok(cudaFree(NULL))) return 1;
    printf("devices found in %.0f ms, context in %.0f ms\n", found - begin, now_ms() - found);
    if (!cuda_ok(cudaMalloc(&device, (size_t)WIDTH * HEIGHT * 3))) return 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        try_case(p, cases[i].text, cases[i].channels, true, device);
    try_case(p, "gray", 3, false, device);
    cuda_ok(cudaFree(device));
    pair_close(p);
    backends_close();
    if (json) {
        fprintf(json, "\n]}\n");
        fclose(json);
    }
    gi_gate_destroy(&open_gate);
    gi_gate_destroy(&narrow_gate);
    return checks_report("bench_pass");
}
