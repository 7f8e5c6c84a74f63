// Where a primitive runs: the device that was asked for, the CPU, or the GPU that `auto` takes; over fake backends.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api_internal.h"
#include "fake_devices.h"
#include "gpuimg.h"

static gi_status gpu_fails; // what the GPU's primitives return
static int gpu_ran, cpu_ran;

static gi_status cpu_matmul(gi_backend *backend, const gi_matmul_job *job, gi_error *err) {
    (void)err;
    assert_ptr_equal(backend, &cpu.base);
    assert_int_equal(job->threads, 3);
    cpu_ran++;
    return GI_OK;
}

static gi_status gpu_matmul(gi_backend *backend, const gi_matmul_job *job, gi_error *err) {
    (void)job;
    assert_ptr_equal(backend, &gpu.base);
    gpu_ran++;
    return gpu_fails ? gi_fail(err, gpu_fails, "as told") : GI_OK;
}

static const gi_primitives of_cpu = {.algorithms = {"auto|naive|fast", "auto", "auto"}, .matmul = cpu_matmul};
static const gi_primitives of_gpu = {.algorithms = {"auto|naive|tiled8", "auto|shuffle", "auto"}, .matmul = gpu_matmul};

// A product of n x n matrices on a fresh context. Where it ran is in cpu_ran and gpu_ran.
static gpuimg_status multiply(const char *device, size_t n, const char *algorithm, gpuimg_error *error) {
    static float data; // is not looked at: the backends are fakes
    float *a = &data, *b = &data, *c = (float *)((uintptr_t)a + ((uintptr_t)1 << 40));
    gpuimg_matrix left = {a, n, n, 0}, right = {b, n, n, 0}, out = {c, n, n, 0};
    gpuimg_context *context = NULL;
    cpu_ran = gpu_ran = 0;
    assert_int_equal(gpuimg_context_open(device, 0, &context, error), GPUIMG_OK);
    gpuimg_status status = gpuimg_matmul(context, &left, &right, &out, algorithm, error);
    gpuimg_context_close(context);
    return status;
}

enum { SMALL = 100, LARGE = 20000 };

static void as_asked_for(void **state) {
    (void)state;
    gpuimg_error error;
    gpus = 1;
    assert_int_equal(multiply("cpu", LARGE, NULL, &error), GPUIMG_OK);
    assert_true(cpu_ran == 1 && gpu_ran == 0);
    assert_int_equal(multiply("cuda", SMALL, NULL, &error), GPUIMG_OK);
    assert_true(cpu_ran == 0 && gpu_ran == 1);
    assert_int_equal(multiply("cuda", SMALL, "fast", &error), GPUIMG_ERR_USAGE);
    assert_non_null(strstr(error.text, "fast of matmul is not for cuda:0, which has auto, naive, tiled8"));
    assert_int_equal(multiply("cpu", SMALL, "tiled8", &error), GPUIMG_ERR_USAGE);
    assert_true(cpu_ran == 0 && gpu_ran == 0);
}

static void by_the_amount_of_work(void **state) {
    (void)state;
    gpus = 1;
    assert_int_equal(multiply("auto", SMALL, NULL, NULL), GPUIMG_OK);
    assert_true(cpu_ran == 1 && gpu_ran == 0);
    assert_int_equal(multiply("auto", LARGE, NULL, NULL), GPUIMG_OK);
    assert_true(cpu_ran == 0 && gpu_ran == 1);
    assert_int_equal(multiply("auto", LARGE, "fast", NULL), GPUIMG_OK); // the CPU alone has it
    assert_true(cpu_ran == 1 && gpu_ran == 0);
    gpus = 0;
    assert_int_equal(multiply("auto", LARGE, NULL, NULL), GPUIMG_OK);
    assert_true(cpu_ran == 1 && gpu_ran == 0);
}

static void by_the_algorithm(void **state) {
    (void)state;
    gpuimg_error error;
    gpus = 1;
    assert_int_equal(multiply("auto", SMALL, "tiled8", &error), GPUIMG_OK);
    assert_true(cpu_ran == 0 && gpu_ran == 1);
    assert_int_equal(multiply("auto", SMALL, "cublas", &error), GPUIMG_ERR_DEVICE);
    assert_non_null(strstr(error.text, "not for cuda:0"));
    gpus = 0;
    assert_int_equal(multiply("auto", SMALL, "tiled8", &error), GPUIMG_ERR_DEVICE);
    assert_non_null(strstr(error.text, "needs a GPU: no GPU is usable: no driver"));
}

static void when_the_device_fails(void **state) {
    (void)state;
    gpuimg_error error;
    gpus = 1;
    static const gi_status failures[] = {GI_ERR_DEVICE_MEMORY, GI_ERR_DEVICE, GI_ERR_UNSUPPORTED};
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        gpu_fails = failures[i];
        assert_int_equal(multiply("auto", LARGE, NULL, &error), GPUIMG_OK);
        assert_true(cpu_ran == 1 && gpu_ran == 1 && *error.text == '\0');
        assert_int_equal(multiply("cuda", LARGE, NULL, &error), (gpuimg_status)gpu_fails);
        assert_int_equal(multiply("auto", LARGE, "tiled8", &error), (gpuimg_status)gpu_fails);
    }
    gpu_fails = GI_ERR_LIMIT; // the data's fault, on either device
    assert_int_equal(multiply("auto", LARGE, NULL, &error), GPUIMG_ERR_LIMIT);
    assert_true(cpu_ran == 0);
    gpu_fails = GI_OK;
}

static gi_status gpu_reduce_device(gi_backend *backend, const gi_reduce_job *job, void *stream, gi_number *result,
                                   gi_error *err) {
    (void)err;
    assert_ptr_equal(backend, &gpu.base);
    assert_int_equal(job->count, 3);
    assert_ptr_equal(stream, &gpu_ran);
    *result = (gi_number){.real = 7};
    return GI_OK;
}

static gi_status gpu_matmul_device(gi_backend *backend, const gi_matmul_job *job, void *stream, gi_error *err) {
    (void)backend;
    (void)stream;
    assert_true(job->a_stride == 4 && job->b_stride == 4);
    return gi_fail(err, GI_ERR_UNSUPPORTED, "as told"); // for which arrays on a device have no other place
}

static gpuimg_status reduce_on_device(const char *device, const char *algorithm, double *result, gpuimg_error *error) {
    gpuimg_context *context = NULL;
    float data[3];
    assert_int_equal(gpuimg_context_open(device, 0, &context, error), GPUIMG_OK);
    gpuimg_status status = gpuimg_reduce_f32_device(context, GPUIMG_SUM, data, 3, algorithm, &gpu_ran, result, error);
    gpuimg_context_close(context);
    return status;
}

static void arrays_on_the_device(void **state) {
    (void)state;
    gi_primitives with = of_gpu;
    gpuimg_context *context = NULL;
    gpuimg_error error;
    double result = 1;
    gpus = 1;
    assert_int_equal(reduce_on_device("cuda", NULL, &result, &error), GPUIMG_ERR_DEVICE); // has no such memory
    assert_non_null(strstr(error.text, "not on cuda:0"));
    with.reduce_device = gpu_reduce_device;
    with.matmul_device = gpu_matmul_device;
    gpu_primitives = &with;
    assert_int_equal(reduce_on_device("cuda", NULL, &result, &error), GPUIMG_OK);
    assert_true(result == 7);
    assert_int_equal(reduce_on_device("auto", "shuffle", &result, &error), GPUIMG_OK);
    assert_int_equal(reduce_on_device("cuda", "cub", &result, &error), GPUIMG_ERR_USAGE);
    assert_non_null(strstr(error.text, "cub of reduce is not for cuda:0"));
    assert_int_equal(reduce_on_device("cpu", NULL, &result, &error), GPUIMG_ERR_DEVICE);
    assert_non_null(strstr(error.text, "a context on a GPU, not on cpu"));
    assert_int_equal(gpuimg_context_open("auto", 0, &context, NULL), GPUIMG_OK);
    float data[16];
    const gpuimg_matrix a = {data, 2, 2, 4}, c = {data + 8, 2, 2, 0};
    assert_int_equal(gpuimg_matmul_device(context, &a, &a, &c, NULL, NULL, &error), GPUIMG_ERR_UNSUPPORTED);
    gpuimg_context_close(context);
    gpus = 0;
    assert_int_equal(reduce_on_device("auto", NULL, &result, &error), GPUIMG_ERR_DEVICE);
    assert_non_null(strstr(error.text, "none is usable: no driver"));
    gpu_primitives = &of_gpu;
}

int main(void) {
    cpu_primitives = &of_cpu;
    gpu_primitives = &of_gpu;
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_asked_for), cmocka_unit_test(by_the_amount_of_work),
                                       cmocka_unit_test(by_the_algorithm), cmocka_unit_test(when_the_device_fails),
                                       cmocka_unit_test(arrays_on_the_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
