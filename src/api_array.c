// Matrix products, reductions and scans of the public API.
#include <stdio.h>
#include <string.h>

#include "api_internal.h"
#include "cpu/backend_cpu.h"
#include "cpu/team.h"

static int threads_of(const gpuimg_context *context) {
    int threads = gi_context_threads(context);
    return threads > 0 ? threads : gi_cpu_cores();
}

static gi_status no_context(gi_error *err) { return gi_fail(err, GI_ERR_USAGE, "no context"); }

// ---- on jobs ------------------------------------------------------------------------------------------------------

// True when the work is to be done once more, on the CPU: `auto` leaves a GPU that has no room for it, that takes no
// such matrices or that fails.
static bool falls_back(gi_status status, gi_choice *choice, const gi_error *err) {
    const bool left = status == GI_ERR_DEVICE_MEMORY || status == GI_ERR_DEVICE || status == GI_ERR_UNSUPPORTED;
    if (!left || !choice->fallback) return false;
    snprintf(choice->why, sizeof choice->why, "not on %.16s: %.200s", choice->backend->name, err->text);
    choice->backend = choice->fallback;
    choice->fallback = NULL;
    return true;
}

// The CPU's threads for a primitive; for copies to and from a GPU, a team as any other.
static int team_of(const gpuimg_context *context, const gi_choice *choice) {
    const int threads = threads_of(context);
    return choice->backend->primitives->matmul_device ? gi_cpu_team(threads) : threads;
}

gi_status gi_context_matmul(gpuimg_context *context, gi_matmul_job job, gi_choice *choice, gi_error *err) {
    gi_status status = gi_matmul_job_check(&job, err);
    const gi_primitive_work work = gi_matmul_work(&job);
    if (status == GI_OK)
        status = gi_context_choose_primitive(context, GI_PRIMITIVE_MATMUL, job.algorithm, &work, choice, err);
    if (status != GI_OK) return status;
    job.threads = team_of(context, choice);
    do status = choice->backend->primitives->matmul(choice->backend, &job, err);
    while (falls_back(status, choice, err));
    return status;
}

gi_status gi_context_reduce(gpuimg_context *context, gi_reduce_job job, gi_number *result, gi_choice *choice,
                            gi_error *err) {
    gi_status status = gi_reduce_job_check(&job, err);
    const gi_primitive_work work = gi_reduce_work(&job);
    if (status == GI_OK)
        status = gi_context_choose_primitive(context, GI_PRIMITIVE_REDUCE, job.algorithm, &work, choice, err);
    if (status != GI_OK) return status;
    job.threads = team_of(context, choice);
    do status = choice->backend->primitives->reduce(choice->backend, &job, result, err);
    while (falls_back(status, choice, err));
    return status;
}

gi_status gi_context_scan(gpuimg_context *context, gi_scan_job job, gi_choice *choice, gi_error *err) {
    gi_status status = gi_scan_job_check(&job, err);
    const gi_primitive_work work = gi_scan_work(&job);
    if (status == GI_OK)
        status = gi_context_choose_primitive(context, GI_PRIMITIVE_SCAN, job.algorithm, &work, choice, err);
    if (status != GI_OK) return status;
    job.threads = team_of(context, choice);
    do status = choice->backend->primitives->scan(choice->backend, &job, err);
    while (falls_back(status, choice, err));
    return status;
}

// ---- public -------------------------------------------------------------------------------------------------------

gi_status gi_api_algorithm(gi_primitive primitive, const char *name, int *algorithm, gi_error *err) {
    *algorithm = name ? gi_algorithm_find(primitive, name) : GI_ALGORITHM_AUTO;
    if (*algorithm >= 0) return GI_OK;
    char words[160];
    return gi_fail(err, GI_ERR_USAGE, "%s has no algorithm '%.60s': known are %s", gi_primitive_name(primitive), name,
                   gi_words_listed(gi_primitive_algorithms(primitive), words, sizeof words));
}

static size_t stride_of(const gpuimg_matrix *m) { return m->stride ? m->stride : m->columns; }

gi_status gi_api_matmul_job(const gpuimg_matrix *const operands[3], const char *algorithm, gi_matmul_job *job,
                            gi_error *err) {
    const gpuimg_matrix *a = operands[0], *b = operands[1], *c = operands[2];
    if (!a || !b || !c) return gi_fail(err, GI_ERR_USAGE, "matmul: no matrix");
    if (a->columns != b->rows || c->rows != a->rows || c->columns != b->columns)
        return gi_fail(err, GI_ERR_USAGE, "matmul: %zu x %zu by %zu x %zu is no %zu x %zu", a->rows, a->columns,
                       b->rows, b->columns, c->rows, c->columns);
    *job = (gi_matmul_job){.a = a->data,
                           .b = b->data,
                           .c = c->data,
                           .m = a->rows,
                           .k = a->columns,
                           .n = b->columns,
                           .a_stride = stride_of(a),
                           .b_stride = stride_of(b),
                           .c_stride = stride_of(c)};
    return gi_api_algorithm(GI_PRIMITIVE_MATMUL, algorithm, &job->algorithm, err);
}

static gi_status matmul(gpuimg_context *context, const gpuimg_matrix *const operands[3], const char *algorithm,
                        gi_error *err) {
    gi_matmul_job job;
    gi_choice choice;
    if (!context) return no_context(err);
    gi_status status = gi_api_matmul_job(operands, algorithm, &job, err);
    return status == GI_OK ? gi_context_matmul(context, job, &choice, err) : status;
}

gpuimg_status gpuimg_matmul(gpuimg_context *context, const gpuimg_matrix *a, const gpuimg_matrix *b,
                            const gpuimg_matrix *c, const char *algorithm, gpuimg_error *error) {
    gi_error err = {.status = GI_OK};
    const gpuimg_matrix *const operands[3] = {a, b, c};
    return gi_api_result(matmul(context, operands, algorithm, &err), &err, error);
}

gi_status gi_api_number_begin(gi_api_number number, const gi_reduce_job *job, gi_error *err) {
    if (!number.place) return gi_fail(err, GI_ERR_USAGE, "reduce: no place for the result");
    memset(number.place, 0, sizeof(double));
    if (!number.integer || job->operation != GI_OPERATION_MEAN) return GI_OK;
    return gi_fail(err, GI_ERR_USAGE, "reduce: the mean of integers is no integer (gpuimg_mean_%s)",
                   job->element == GI_ELEMENT_U8    ? "u8"
                   : job->element == GI_ELEMENT_I32 ? "i32"
                                                    : "i64");
}

void gi_api_number_end(gi_api_number number, const gi_number *found) {
    if (number.integer)
        *(int64_t *)number.place = found->integer;
    else
        *(double *)number.place = found->real;
}

static gi_status reduce(gpuimg_context *context, gi_reduce_job job, const char *algorithm, gi_api_number number,
                        gi_error *err) {
    gi_number found = {.real = 0};
    gi_choice choice;
    gi_status status = gi_api_number_begin(number, &job, err);
    if (status == GI_OK && !context) status = no_context(err);
    if (status == GI_OK) status = gi_api_algorithm(GI_PRIMITIVE_REDUCE, algorithm, &job.algorithm, err);
    if (status == GI_OK) status = gi_context_reduce(context, job, &found, &choice, err);
    if (status == GI_OK) gi_api_number_end(number, &found);
    return status;
}

#define DEFINE_REDUCE(suffix, type, number, element)                                                                   \
    gpuimg_status gpuimg_reduce_##suffix(gpuimg_context *context, gpuimg_operation operation, const type *data,        \
                                         size_t count, const char *algorithm, number *result, gpuimg_error *error) {   \
        gi_error err = {.status = GI_OK};                                                                              \
        gi_reduce_job job = {data, element, count, (gi_operation)operation, 0, 1};                                     \
        gi_api_number place = {result, !gi_element_is_float(element)};                                                 \
        return gi_api_result(reduce(context, job, algorithm, place, &err), &err, error);                               \
    }
DEFINE_REDUCE(f32, float, double, GI_ELEMENT_F32)
DEFINE_REDUCE(f64, double, double, GI_ELEMENT_F64)
DEFINE_REDUCE(i32, int32_t, int64_t, GI_ELEMENT_I32)
DEFINE_REDUCE(i64, int64_t, int64_t, GI_ELEMENT_I64)
DEFINE_REDUCE(u8, uint8_t, int64_t, GI_ELEMENT_U8)

#define DEFINE_MEAN(suffix, type, element)                                                                             \
    gpuimg_status gpuimg_mean_##suffix(gpuimg_context *context, const type *data, size_t count, const char *algorithm, \
                                       double *result, gpuimg_error *error) {                                          \
        gi_error err = {.status = GI_OK};                                                                              \
        gi_reduce_job job = {data, element, count, GI_OPERATION_MEAN, 0, 1};                                           \
        gi_api_number place = {result, false};                                                                         \
        return gi_api_result(reduce(context, job, algorithm, place, &err), &err, error);                               \
    }
DEFINE_MEAN(i32, int32_t, GI_ELEMENT_I32)
DEFINE_MEAN(i64, int64_t, GI_ELEMENT_I64)
DEFINE_MEAN(u8, uint8_t, GI_ELEMENT_U8)

static gi_status scan(gpuimg_context *context, gi_scan_job job, const char *algorithm, gi_error *err) {
    gi_choice choice;
    if (!context) return no_context(err);
    gi_status status = gi_api_algorithm(GI_PRIMITIVE_SCAN, algorithm, &job.algorithm, err);
    return status == GI_OK ? gi_context_scan(context, job, &choice, err) : status;
}

#define DEFINE_SCAN(suffix, type, out, element)                                                                        \
    gpuimg_status gpuimg_scan_##suffix(gpuimg_context *context, gpuimg_operation operation, int exclusive,             \
                                       const type *data, out *results, size_t count, const char *algorithm,            \
                                       gpuimg_error *error) {                                                          \
        gi_error err = {.status = GI_OK};                                                                              \
        gi_scan_job job = {data, results, element, count, (gi_operation)operation, exclusive != 0, 0, 1};              \
        return gi_api_result(scan(context, job, algorithm, &err), &err, error);                                        \
    }
DEFINE_SCAN(f32, float, float, GI_ELEMENT_F32)
DEFINE_SCAN(f64, double, double, GI_ELEMENT_F64)
DEFINE_SCAN(i32, int32_t, int64_t, GI_ELEMENT_I32)
DEFINE_SCAN(i64, int64_t, int64_t, GI_ELEMENT_I64)
DEFINE_SCAN(u8, uint8_t, int64_t, GI_ELEMENT_U8)
