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
static gi_backend cpu = {.name = "cpu", .detail = "portable"}, cuda = {.name = "cuda:1", .detail = "fake"};
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
    if (index != 1 || !opens) return gi_fail(error, GI_ERR_DEVICE, "device %d is broken", index);
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
    assert_int_equal(request.index, 0);
    assert_int_equal(gi_device_parse("cuda:12", &request, &err), GI_OK);
    assert_int_equal(request.index, 12);
    static const char *const bad[] = {"",
                                      "CPU",
                                      "cpu ",
                                      "cuda:",
                                      "cuda:-1",
                                      "cuda:+1",
                                      "cuda: 1",
                                      "cuda:1x",
                                      "cuda0",
                                      "gpu",
                                      "cuda:99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(gi_device_parse(bad[i], &request, &err), GI_ERR_USAGE);
        assert_non_null(strstr(err.text, "cuda:N"));
    }
}

static double fake_seconds(const void *args) {
    (void)args;
    return 10e-9;
}

static bool pays(gi_stage_kind kind, gi_work_estimate work, const char *reason) {
    const char *why = "";
    gi_stage stage = {.name = "fake", .kind = kind, .cpu_seconds = kind == GI_STAGE_WINDOW ? fake_seconds : NULL};
    gi_pipeline pipeline = {.count = 1};
    pipeline.calls[0].stage = &stage;
    work.pipeline = &pipeline;
    work.files = 1;
    cuda_calls = 0;
    bool result = gi_device_pays(&work, &why);
    assert_non_null(strstr(why, reason));
    assert_int_equal(cuda_calls, 0);
    return result;
}

static void automatic(void **state) {
    (void)state;
    // Point operations never pay for the copies, however many.
    assert_false(pays(GI_STAGE_POINT, (gi_work_estimate){.input_bytes = 1ULL << 40}, "memory speed"));
    assert_false(pays(GI_STAGE_WINDOW, (gi_work_estimate){.input_bytes = 1000000}, "context"));
    assert_true(pays(GI_STAGE_WINDOW, (gi_work_estimate){.input_bytes = 1ULL << 32}, "enough work"));
    // Once a GPU is in use, less work is enough.
    assert_true(pays(GI_STAGE_WINDOW, (gi_work_estimate){.input_bytes = 1000000, .started = true}, "enough work"));
    assert_false(pays(GI_STAGE_POINT, (gi_work_estimate){.input_bytes = 1000000, .started = true}, "memory speed"));
}

static void first_gpu(void **state) {
    (void)state;
    char reason[256] = "";
    gi_backend *backend = NULL;
    devices = 2;
    opens = true;
    assert_true(gi_device_open_any(&backend, reason, sizeof reason));
    assert_ptr_equal(backend, &cuda); // the first that is usable
    opens = false;
    assert_false(gi_device_open_any(&backend, reason, sizeof reason));
    assert_null(backend);
    assert_string_equal(reason, "device 1 is broken");
    devices = 1;
    assert_false(gi_device_open_any(&backend, reason, sizeof reason));
    assert_string_equal(reason, "too old");
    devices = 0;
    assert_false(gi_device_open_any(&backend, reason, sizeof reason));
    assert_string_equal(reason, "no driver");
}

static void asked_for(void **state) {
    (void)state;
    gi_backend *backend = NULL;
    devices = 2;
    opens = true;
    cuda_calls = 0;
    assert_int_equal(gi_device_open((gi_device_request){GI_DEVICE_CPU, 0}, &backend, &err), GI_OK);
    assert_ptr_equal(backend, &cpu);
    assert_int_equal(gi_device_open((gi_device_request){GI_DEVICE_AUTO, 0}, &backend, &err), GI_OK);
    assert_ptr_equal(backend, &cpu);
    assert_int_equal(cuda_calls, 0);
    assert_int_equal(gi_device_open((gi_device_request){GI_DEVICE_CUDA, 1}, &backend, &err), GI_OK);
    assert_ptr_equal(backend, &cuda);
    assert_int_equal(gi_device_open((gi_device_request){GI_DEVICE_CUDA, 0}, &backend, &err), GI_ERR_DEVICE);
    assert_null(backend);
    assert_string_equal(err.text, "device 0 is broken");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parses), cmocka_unit_test(automatic),
                                       cmocka_unit_test(first_gpu), cmocka_unit_test(asked_for)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
