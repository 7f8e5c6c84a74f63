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
static char why[256];

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

static gi_status open_device(gi_device_request request, gi_stage_kind kind, unsigned long long bytes,
                             gi_backend **backend) {
    gi_stage stage = {.name = "fake", .kind = kind};
    gi_pipeline pipeline = {.count = 1};
    pipeline.calls[0].stage = &stage;
    gi_work_estimate work = {&pipeline, 1, bytes};
    cuda_calls = 0;
    why[0] = '\0';
    return gi_device_open(request, &work, backend, why, sizeof why, &err);
}

static void automatic(void **state) {
    (void)state;
    const gi_device_request request = {GI_DEVICE_AUTO, 0};
    gi_backend *backend = NULL;
    devices = 2;
    opens = true;
    // Point operations never pay for the copies, however many.
    assert_int_equal(open_device(request, GI_STAGE_POINT, 1ULL << 40, &backend), GI_OK);
    assert_ptr_equal(backend, &cpu);
    assert_int_equal(cuda_calls, 0);
    assert_non_null(strstr(why, "memory speed"));
    assert_int_equal(open_device(request, GI_STAGE_WINDOW, 1000000, &backend), GI_OK);
    assert_ptr_equal(backend, &cpu);
    assert_int_equal(cuda_calls, 0);
    assert_non_null(strstr(why, "context"));
    assert_int_equal(open_device(request, GI_STAGE_WINDOW, 1ULL << 32, &backend), GI_OK);
    assert_ptr_equal(backend, &cuda); // the first that is usable
    opens = false;
    assert_int_equal(open_device(request, GI_STAGE_WINDOW, 1ULL << 32, &backend), GI_OK);
    assert_ptr_equal(backend, &cpu);
    assert_non_null(strstr(why, "device 1 is broken"));
    devices = 1;
    assert_int_equal(open_device(request, GI_STAGE_WINDOW, 1ULL << 32, &backend), GI_OK);
    assert_non_null(strstr(why, "too old"));
    devices = 0;
    assert_int_equal(open_device(request, GI_STAGE_WINDOW, 1ULL << 32, &backend), GI_OK);
    assert_ptr_equal(backend, &cpu);
    assert_non_null(strstr(why, "no driver"));
}

static void asked_for(void **state) {
    (void)state;
    gi_backend *backend = NULL;
    devices = 2;
    opens = true;
    assert_int_equal(open_device((gi_device_request){GI_DEVICE_CPU, 0}, GI_STAGE_WINDOW, 1ULL << 40, &backend), GI_OK);
    assert_ptr_equal(backend, &cpu);
    assert_int_equal(cuda_calls, 0);
    assert_int_equal(open_device((gi_device_request){GI_DEVICE_CUDA, 1}, GI_STAGE_POINT, 1, &backend), GI_OK);
    assert_ptr_equal(backend, &cuda);
    assert_int_equal(open_device((gi_device_request){GI_DEVICE_CUDA, 0}, GI_STAGE_POINT, 1, &backend), GI_ERR_DEVICE);
    assert_null(backend);
    assert_string_equal(err.text, "device 0 is broken");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parses), cmocka_unit_test(automatic),
                                       cmocka_unit_test(asked_for)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
