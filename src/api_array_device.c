// Matrix products, reductions and scans of the public API, on arrays in a device's memory.
#include "api_internal.h"

// The backend that a call is for: its primitives have all functions for arrays on the device.
static gi_status backend_for(gpuimg_context *context, gi_primitive primitive, int algorithm, gi_backend **backend,
                             gi_error *err) {
    if (!context) return gi_fail(err, GI_ERR_USAGE, "no context");
    return gi_context_choose_device(context, primitive, algorithm, backend, err);
}

static gi_status matmul(gpuimg_context *context, const gpuimg_matrix *const operands[3], const char *algorithm,
                        void *stream, gi_error *err) {
    gi_matmul_job job;
    gi_backend *backend;
    gi_status status = gi_api_matmul_job(operands, algorithm, &job, err);
    if (status == GI_OK) status = gi_matmul_job_check(&job, err);
    if (status == GI_OK) status = backend_for(context, GI_PRIMITIVE_MATMUL, job.algorithm, &backend, err);
    return status == GI_OK ? backend->primitives->matmul_device(backend, &job, stream, err) : status;
}

gpuimg_status gpuimg_matmul_device(gpuimg_context *context, const gpuimg_matrix *a, const gpuimg_matrix *b,
                                   const gpuimg_matrix *c, const char *algorithm, void *stream, gpuimg_error *error) {
    gi_error err = {.status = GI_OK};
    const gpuimg_matrix *const operands[3] = {a, b, c};
    return gi_api_result(matmul(context, operands, algorithm, stream, &err), &err, error);
}

// How, and behind what.
typedef struct manner {
    const char *algorithm;
    void *stream;
} manner;

static gi_status reduce(gpuimg_context *context, gi_reduce_job job, manner how, gi_api_number number, gi_error *err) {
    gi_number found = {.real = 0};
    gi_backend *backend;
    gi_status status = gi_api_number_begin(number, &job, err);
    if (status == GI_OK) status = gi_api_algorithm(GI_PRIMITIVE_REDUCE, how.algorithm, &job.algorithm, err);
    if (status == GI_OK) status = gi_reduce_job_check(&job, err);
    if (status == GI_OK) status = backend_for(context, GI_PRIMITIVE_REDUCE, job.algorithm, &backend, err);
    if (status == GI_OK) status = backend->primitives->reduce_device(backend, &job, how.stream, &found, err);
    if (status == GI_OK) gi_api_number_end(number, &found);
    return status;
}

#define DEFINE_REDUCE(suffix, type, number, element)                                                                   \
    gpuimg_status gpuimg_reduce_##suffix##_device(gpuimg_context *context, gpuimg_operation operation,                 \
                                                  const type *data, size_t count, const char *algorithm, void *stream, \
                                                  number *result, gpuimg_error *error) {                               \
        gi_error err = {.status = GI_OK};                                                                              \
        gi_reduce_job job = {data, element, count, (gi_operation)operation, 0, 1};                                     \
        gi_api_number place = {result, !gi_element_is_float(element)};                                                 \
        return gi_api_result(reduce(context, job, (manner){algorithm, stream}, place, &err), &err, error);             \
    }
DEFINE_REDUCE(f32, float, double, GI_ELEMENT_F32)
DEFINE_REDUCE(f64, double, double, GI_ELEMENT_F64)
DEFINE_REDUCE(i32, int32_t, int64_t, GI_ELEMENT_I32)
DEFINE_REDUCE(i64, int64_t, int64_t, GI_ELEMENT_I64)
DEFINE_REDUCE(u8, uint8_t, int64_t, GI_ELEMENT_U8)

#define DEFINE_MEAN(suffix, type, element)                                                                             \
    gpuimg_status gpuimg_mean_##suffix##_device(gpuimg_context *context, const type *data, size_t count,               \
                                                const char *algorithm, void *stream, double *result,                   \
                                                gpuimg_error *error) {                                                 \
        gi_error err = {.status = GI_OK};                                                                              \
        gi_reduce_job job = {data, element, count, GI_OPERATION_MEAN, 0, 1};                                           \
        gi_api_number place = {result, false};                                                                         \
        return gi_api_result(reduce(context, job, (manner){algorithm, stream}, place, &err), &err, error);             \
    }
DEFINE_MEAN(i32, int32_t, GI_ELEMENT_I32)
DEFINE_MEAN(i64, int64_t, GI_ELEMENT_I64)
DEFINE_MEAN(u8, uint8_t, GI_ELEMENT_U8)

static gi_status scan(gpuimg_context *context, gi_scan_job job, manner how, gi_error *err) {
    gi_backend *backend;
    gi_status status = gi_api_algorithm(GI_PRIMITIVE_SCAN, how.algorithm, &job.algorithm, err);
    if (status == GI_OK) status = gi_scan_job_check(&job, err);
    if (status == GI_OK) status = backend_for(context, GI_PRIMITIVE_SCAN, job.algorithm, &backend, err);
    return status == GI_OK ? backend->primitives->scan_device(backend, &job, how.stream, err) : status;
}

#define DEFINE_SCAN(suffix, type, out, element)                                                                        \
    gpuimg_status gpuimg_scan_##suffix##_device(gpuimg_context *context, gpuimg_operation operation, int exclusive,    \
                                                const type *data, out *results, size_t count, const char *algorithm,   \
                                                void *stream, gpuimg_error *error) {                                   \
        gi_error err = {.status = GI_OK};                                                                              \
        gi_scan_job job = {data, results, element, count, (gi_operation)operation, exclusive != 0, 0, 1};              \
        return gi_api_result(scan(context, job, (manner){algorithm, stream}, &err), &err, error);                      \
    }
DEFINE_SCAN(f32, float, float, GI_ELEMENT_F32)
DEFINE_SCAN(f64, double, double, GI_ELEMENT_F64)
DEFINE_SCAN(i32, int32_t, int64_t, GI_ELEMENT_I32)
DEFINE_SCAN(i64, int64_t, int64_t, GI_ELEMENT_I64)
DEFINE_SCAN(u8, uint8_t, int64_t, GI_ELEMENT_U8)
