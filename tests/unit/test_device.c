// Which backend a run uses, and why.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "cpu/backend_cpu.h"
#include "cuda/backend_cuda.h"
#include "run/device.h"

// A machine of two devices; the first has no code in this build.
static int devices, cuda_calls;
static bool opens;
static int closed;

static void close_backend(gi_backend *backend) {
    (void)backend;
    closed++;
}

static const gi_backend_ops ops = {.close = close_backend};
static gi_backend cpu = {.ops = &ops, .name = "cpu", .detail = "portable"},
                  cuda = {.ops = &ops, .name = "cuda:1", .detail = "fake"};
static gi_error err;

int gi_cpu_cores(void) { return 4; }

gi_status gi_backend_cpu_open(gi_backend **backend, gi_error *error) {
    (void)error;
    *backend = &cpu;
    return GI_OK;
}

bool gi_cuda_built(const char **about) {
    *about = "fake";
    return true;
}

int gi_cuda_device_count(char *reason, size_t size) {
    cuda_calls++;
    if (devices == 0) snprintf(reason, size, "no driver");
    return devices;
}

bool gi_cuda_device_get(int index, gi_cuda_device *device) {
    cuda_calls++;
    *device = (gi_cuda_device){.usable = index == 1, .reason = "too old"};
    return index < devices;
}

gi_status gi_backend_cuda_open(int index, gi_backend **backend, gi_error *error) {
    cuda_calls++;
    *backend = NULL;
    if ((index != 1 && index != GI_CUDA_ANY) || !opens)
        return gi_fail(error, GI_ERR_DEVICE, "device %d is broken", index);
    *backend = &cuda;
    return GI_OK;
}

static void parses(void **state) {
    (void)state;
    gi_device_request request;
    assert_int_equal(gi_device_parse("auto", &request, &err), GI_OK);
    assert_int_equal(request.kind, GI_DEVICE_AUTO);
    assert_int_equal(gi_device_parse("cpu", &request, &err), GI_OK);
    assert_int_equal(request.kind, GI_DEVICE_CPU);
    assert_int_equal(gi_device_parse("cuda", &request, &err), GI_OK);
    assert_int_equal(request.kind, GI_DEVICE_CUDA);
    assert_true(request.count == 1 && request.indices[0] == 0 && !request.all);
    assert_int_equal(gi_device_parse("cuda:12", &request, &err), GI_OK);
    assert_true(request.count == 1 && request.indices[0] == 12);
    assert_int_equal(gi_device_parse("cuda:3,0,12", &request, &err), GI_OK);
    assert_true(request.count == 3 && request.indices[0] == 3 && request.indices[1] == 0 && request.indices[2] == 12);
    assert_int_equal(gi_device_parse("cuda:all", &request, &err), GI_OK);
    assert_true(request.kind == GI_DEVICE_CUDA && request.all && request.count == 0);
    static const char *const bad[] = {"",
                                      "CPU",
                                      "cpu ",
                                      "cuda:",
                                      "cuda:-1",
                                      "cuda:+1",
                                      "cuda: 1",
                                      "cuda:1x",
                                      "cuda:1,",
                                      "cuda:,1",
                                      "cuda:1,1",
                                      "cuda:1, 2",
                                      "cuda:ALL",
                                      "cuda:all,1",
                                      "cuda0",
                                      "gpu",
                                      "cuda:99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(gi_device_parse(bad[i], &request, &err), GI_ERR_USAGE);
        assert_non_null(strstr(err.text, "cuda:N"));
    }
}

static gi_cost fake_cost(const void *args) {
    (void)args;
    return (gi_cost){10e-9, 0};
}

static bool pays(gi_stage_kind kind, gi_work_estimate work, const char *reason) {
    char why[200] = "";
    gi_stage stage = {.name = "fake", .kind = kind, .cost = kind == GI_STAGE_WINDOW ? fake_cost : NULL};
    gi_pipeline pipeline = {.count = 1};
    pipeline.calls[0].stage = &stage;
    work.pipeline = &pipeline;
    work.files = 1;
    cuda_calls = 0;
    bool result = gi_device_pays(&work, why, sizeof why);
    assert_non_null(strstr(why, reason));
    assert_int_equal(cuda_calls, 0);
    return result;
}

static void automatic(void **state) {
    (void)state;
    // Point operations never pay for the copies, however many.
    assert_false(pays(GI_STAGE_POINT, (gi_work_estimate){.pixels = 1ULL << 40}, "on 4 cores and "));
    assert_false(
        pays(GI_STAGE_WINDOW, (gi_work_estimate){.pixels = 1000000}, "0.01 s on 4 cores and 0.31 s on a GPU, its"));
    assert_true(pays(GI_STAGE_WINDOW, (gi_work_estimate){.pixels = 1ULL << 32}, "its start included"));
    // Once a GPU is in use, less work is enough.
    assert_true(pays(GI_STAGE_WINDOW, (gi_work_estimate){.pixels = 1000000, .started = true}, "0.00 s on a GPU"));
    assert_false(pays(GI_STAGE_POINT, (gi_work_estimate){.pixels = 1000000, .started = true}, "on 4 cores and "));
    // Codecs count where a GPU has its own.
    gi_work_estimate files = {.files = 1000, .pixels = 1ULL << 31, .decoded = true};
    assert_false(pays(GI_STAGE_POINT, files, "beside the codecs"));
    files.codec = GI_CODEC_AUTO_FAST;
    assert_true(pays(GI_STAGE_POINT, files, "codecs and stages take about"));
    files.pixels /= 20; // less than the start of the library for it
    assert_false(pays(GI_STAGE_POINT, files, "codecs and stages take about"));
}

// Gray JPEGs of JPEGs on 16 cores and an H200, by tests/gpu/nvjpeg.py: nvJPEG's start is longer than most work.
static void codecs_as_measured(void **state) {
    static const struct {
        size_t files;
        unsigned long long pixels; // of one
        bool started;
        double cpu;                                      // seconds; 0: not measured
        bool gpu;                                        // is to be taken
    } rows[] = {{512, 1920 * 1080, false, 0.450, false}, // 0.89 on the GPU
                {4096, 1920 * 1080, false, 3.410, true}, // 2.44
                {1, 7680 * 4320, false, 0.158, false},   // 0.83
                {1, 7680 * 4320, true, 0.158, true},     // 0.04, 0.14 at first
                {32, 7680 * 4320, false, 0, false},      // 0.74 and 0.92: of more bytes a pixel
                {512, 1920 * 1080, true, 0.450, true},   // 0.18
                {20000, 1920 * 1080, false, 0, true}};
    gi_pipeline pipeline;
    (void)state;
    assert_int_equal(gi_pipeline_parse("gray", &pipeline, &err), GI_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const gi_work_estimate work = {.pipeline = &pipeline,
                                       .files = rows[i].files,
                                       .pixels = rows[i].files * rows[i].pixels,
                                       .decoded = true,
                                       .started = rows[i].started,
                                       .codec = GI_CODEC_AUTO_FAST};
        const gi_device_times model = gi_device_model(&work, 16);
        assert_int_equal(model.gpu < model.cpu, rows[i].gpu);
        if (rows[i].cpu > 0) assert_true(model.cpu > 0.8 * rows[i].cpu && model.cpu < 1.2 * rows[i].cpu);
    }
}

// Whole commands on 16 cores and an H200, as tests/gpu/choice.py timed them: stages, images, their pixels, seconds.
enum { P1080 = 1920 * 1080, P4K = 3840 * 2160, P8K = 7680 * 4320 };
static const struct {
    const char *text;
    size_t files;
    unsigned pixels;
    double cpu, gpu;
} measured[] = {
    {"gray", 4, P1080, 0.029, 0.310},
    {"gray", 16, P1080, 0.034, 0.326},
    {"gray", 64, P1080, 0.110, 0.343},
    {"gray", 512, P1080, 0.813, 1.237},
    {"blur sigma=3", 4, P1080, 0.035, 0.379},
    {"blur sigma=3", 64, P1080, 0.175, 0.560},
    {"blur sigma=3", 512, P1080, 1.203, 1.389},
    {"heat inner=20", 4, P1080, 0.076, 0.336},
    {"heat inner=20", 16, P1080, 0.178, 0.466},
    {"heat inner=20", 64, P1080, 0.591, 0.577},
    {"heat inner=20", 128, P1080, 1.163, 0.669},
    {"heat inner=100", 4, P1080, 0.186, 0.374},
    {"heat inner=100", 16, P1080, 0.626, 0.469},
    {"heat inner=100", 64, P1080, 2.049, 0.590},
    {"gray", 1, P1080, 0.021, 0.293},
    {"gray", 1, P4K, 0.038, 0.299},
    {"gray", 1, P8K, 0.166, 0.420},
    {"threshold otsu", 1, P1080, 0.030, 0.314},
    {"threshold otsu", 1, P4K, 0.042, 0.345},
    {"threshold otsu", 1, P8K, 0.205, 0.438},
    {"blur radius=5", 1, P1080, 0.023, 0.338},
    {"blur radius=5", 1, P4K, 0.059, 0.372},
    {"blur radius=5", 1, P8K, 0.214, 0.446},
    {"blur sigma=3", 1, P1080, 0.031, 0.327},
    {"blur sigma=3", 1, P4K, 0.056, 0.350},
    {"blur sigma=3", 1, P8K, 0.293, 0.454},
    {"heat mode=linear steps=20", 1, P1080, 0.042, 0.339},
    {"heat mode=linear steps=20", 1, P4K, 0.148, 0.373},
    {"heat mode=linear steps=20", 1, P8K, 0.784, 0.476},
    {"heat inner=20", 1, P1080, 0.047, 0.341},
    {"heat inner=20", 1, P4K, 0.156, 0.342},
    {"heat inner=20", 1, P8K, 0.621, 0.462},
    {"heat inner=100", 1, P1080, 0.085, 0.368},
    {"heat inner=100", 1, P4K, 0.372, 0.381},
    {"heat inner=100", 1, P8K, 1.136, 0.497},
    {"heat steps=10 inner=100", 1, P1080, 0.454, 0.359},
    {"heat steps=10 inner=100", 1, P4K, 2.445, 0.419},
    {"heat steps=10 inner=100", 1, P8K, 7.451, 0.585},
};

// The device that the model takes is as good as the better one, but for a tenth or a fiftieth of a second.
static void as_measured(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        gi_pipeline pipeline;
        gi_work_estimate work = {.pipeline = &pipeline,
                                 .files = measured[i].files,
                                 .pixels = measured[i].files * measured[i].pixels,
                                 .decoded = true};
        assert_int_equal(gi_pipeline_parse(measured[i].text, &pipeline, &err), GI_OK);
        const gi_device_times model = gi_device_model(&work, 16);
        const double cpu_s = measured[i].cpu, gpu_s = measured[i].gpu, best = cpu_s < gpu_s ? cpu_s : gpu_s;
        const double taken = model.cpu > model.gpu ? gpu_s : cpu_s;
        if (taken <= best * 1.1 || taken <= best + 0.02) continue;
        print_message("%s, %zu of %u pixels: %.2f or %.2f s, and %.2f or %.2f s were measured\n", measured[i].text,
                      measured[i].files, measured[i].pixels, model.cpu, model.gpu, cpu_s, gpu_s);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static void first_gpu(void **state) {
    (void)state;
    char reason[256] = "";
    gi_backend *backend = NULL;
    opens = true;
    assert_true(gi_device_open_any(&backend, reason, sizeof reason));
    assert_ptr_equal(backend, &cuda);
    opens = false;
    assert_false(gi_device_open_any(&backend, reason, sizeof reason));
    assert_null(backend);
    assert_string_equal(reason, "device -1 is broken");
}

static gi_status open_named(const char *text, gi_devices *opened) {
    gi_device_request request;
    assert_int_equal(gi_device_parse(text, &request, &err), GI_OK);
    return gi_devices_open(&request, opened, &err);
}

static void asked_for(void **state) {
    (void)state;
    gi_devices opened;
    devices = 2;
    opens = true;
    cuda_calls = 0;
    assert_int_equal(open_named("cpu", &opened), GI_OK);
    assert_ptr_equal(opened.backends[0], &cpu);
    assert_int_equal(open_named("auto", &opened), GI_OK);
    assert_true(opened.count == 1 && opened.backends[0] == &cpu);
    assert_int_equal(cuda_calls, 0);
    assert_int_equal(open_named("cuda:1", &opened), GI_OK);
    assert_true(opened.count == 1 && opened.backends[0] == &cuda);
    assert_int_equal(open_named("cuda", &opened), GI_ERR_DEVICE);
    assert_int_equal(opened.count, 0);
    assert_string_equal(err.text, "device 0 is broken");
}

// One that is named must be usable; of all, those are taken that are.
static void several(void **state) {
    (void)state;
    gi_devices opened;
    devices = 2;
    opens = true;
    closed = 0;
    assert_int_equal(open_named("cuda:1,0", &opened), GI_ERR_DEVICE);
    assert_string_equal(err.text, "device 0 is broken");
    assert_true(opened.count == 0 && closed == 1);
    assert_int_equal(open_named("cuda:all", &opened), GI_OK);
    assert_true(opened.count == 1 && opened.backends[0] == &cuda);
    gi_devices_close(&opened);
    assert_int_equal(closed, 2);
    devices = 1; // the one that is not usable says why
    assert_int_equal(open_named("cuda:all", &opened), GI_ERR_DEVICE);
    assert_string_equal(err.text, "device 0 is broken");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parses),      cmocka_unit_test(automatic),
                                       cmocka_unit_test(as_measured), cmocka_unit_test(codecs_as_measured),
                                       cmocka_unit_test(first_gpu),   cmocka_unit_test(asked_for),
                                       cmocka_unit_test(several)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
