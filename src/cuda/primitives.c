// The host's side of matrix product, reduction and scan: memory and copies for arrays of the host's, and for arrays on
// the device the scratch. What `auto` takes: by the shape of a product (gi_matmul_choose); `shuffle`; `lookback`.
#include "cuda/primitives.h"

#include "core/checked.h"
#include "cuda/cuda_status.h"
#include "cuda/slot.h"
#include "cuda/trace.h"

// ---- a call -------------------------------------------------------------------------------------------------------

typedef struct request {
    gi_status (*work)(gi_array_lane *lane, const struct request *request, gi_error *err);
    const void *job; // gi_matmul_job, ...
    gi_number *result;
    cudaStream_t stream;
} request;

static gi_status attempt(gi_cuda_backend *backend, const request *r, gi_error *err) {
    gi_array_lane *lane;
    gi_status status = gi_array_lane_take(&backend->arrays, r->stream, &lane, err);
    if (status != GI_OK) return status;
    status = gi_cuda_backend_settle(backend, lane->user, r->work(lane, r, err));
    gi_array_lane_give(&backend->arrays, lane);
    return status;
}

// Where the device has no room, what earlier calls have left is given up. The thread keeps the device that it had.
static gi_status run(gi_backend *base, const request *r, gi_error *err) {
    gi_cuda_backend *backend = (gi_cuda_backend *)base;
    int before = 0;
    const bool known = cudaGetDevice(&before) == cudaSuccess;
    gi_status status = gi_cuda_backend_use(backend, err);
    if (status == GI_OK) status = attempt(backend, r, err);
    if (status == GI_ERR_DEVICE_MEMORY) {
        gi_array_lanes_clear(&backend->arrays);
        status = attempt(backend, r, err);
    }
    if (known) cudaSetDevice(before);
    return status;
}

// Memory on the device for operand `index`.
static gi_status reserve(gi_array_lane *lane, int index, size_t bytes, gi_error *err) {
    return gi_cuda_buffer_reserve(&lane->operands[index], bytes, GI_DEVICE, lane->stream, err);
}

// ---- matrix product -----------------------------------------------------------------------------------------------

static gi_status launch_matmul(gi_array_lane *lane, gi_matmul_launch *launch, gi_error *err) {
    gi_status status = GI_OK;
    if (launch->algorithm == GI_MATMUL_CUBLAS || launch->algorithm == GI_MATMUL_CUBLAS_TF32)
        status = gi_array_lane_cublas(lane, err);
    if (status == GI_OK) status = gi_array_lane_scratch(lane, gi_cuda_matmul_scratch(launch), err);
    launch->cublas = lane->cublas;
    launch->scratch = lane->scratch.data;
    launch->stream = lane->user;
    gi_trace_begin("kernels");
    if (status == GI_OK) status = gi_cuda_matmul(launch, err);
    gi_trace_end();
    return status;
}

// K and N are made multiples of 4 by zeros, which lets kernels read 16 bytes at a time, but for so small ones that it
// would cost more than it brings; wgmma takes no others.
static size_t widened(size_t side, int algorithm) {
    enum { SMALL_SIDE = 16 };
    const bool wgmma = algorithm == GI_MATMUL_TF32 || algorithm == GI_MATMUL_TF32_WGMMA;
    return side < SMALL_SIDE && !wgmma ? side : (side + 3) / 4 * 4;
}

typedef struct factor {
    gi_staged_rows shape;
    size_t bytes; // on the device
} factor;

static bool factor_make(size_t rows, size_t columns, size_t stride, size_t device_rows, size_t device_columns,
                        factor *out) {
    const size_t each = sizeof(float);
    out->shape = (gi_staged_rows){rows, columns * each, stride * each, device_rows, device_columns * each};
    return gi_mul(device_rows, device_columns * each, &out->bytes);
}

static gi_status matmul_of_host(gi_array_lane *lane, const request *r, gi_error *err) {
    const gi_matmul_job *job = r->job;
    const size_t k = widened(job->k, job->algorithm), n = widened(job->n, job->algorithm);
    factor a, b, c;
    if (!factor_make(job->m, job->k, job->a_stride, job->m, k, &a) ||
        !factor_make(job->k, job->n, job->b_stride, k, n, &b) ||
        !factor_make(job->m, job->n, job->c_stride, job->m, n, &c))
        return gi_fail(err, GI_ERR_DEVICE_MEMORY, "CUDA: out of device memory");
    gi_status status = reserve(lane, 0, a.bytes, err);
    if (status == GI_OK) status = reserve(lane, 1, b.bytes, err);
    if (status == GI_OK) status = reserve(lane, 2, c.bytes, err);
    gi_matmul_launch launch = {.a = lane->operands[0].data,
                               .b = lane->operands[1].data,
                               .c = lane->operands[2].data,
                               .m = job->m,
                               .k = k,
                               .n = n,
                               .a_stride = k,
                               .b_stride = n,
                               .c_stride = n,
                               .algorithm = job->algorithm};
    lane->staging.threads = job->threads;
    if (status == GI_OK) status = gi_staging_upload(&lane->staging, lane->operands[0].data, job->a, &a.shape, err);
    if (status == GI_OK) status = gi_staging_upload(&lane->staging, lane->operands[1].data, job->b, &b.shape, err);
    if (status == GI_OK) status = launch_matmul(lane, &launch, err);
    if (status == GI_OK) status = gi_staging_download(&lane->staging, job->c, launch.c, &c.shape, err);
    return status;
}

static gi_status matmul_of_device(gi_array_lane *lane, const request *r, gi_error *err) {
    const gi_matmul_job *job = r->job;
    gi_matmul_launch launch = {.a = job->a,
                               .b = job->b,
                               .c = job->c,
                               .m = job->m,
                               .k = job->k,
                               .n = job->n,
                               .a_stride = job->a_stride,
                               .b_stride = job->b_stride,
                               .c_stride = job->c_stride,
                               .algorithm = job->algorithm};
    return launch_matmul(lane, &launch, err);
}

// True where there is nothing to do.
static bool is_empty(const gi_matmul_job *job) { return job->m == 0 || job->n == 0; }

static gi_status check_sides(const gi_matmul_job *job, gi_error *err) {
    if (job->m <= INT32_MAX && job->k <= INT32_MAX - 3 && job->n <= INT32_MAX - 3) return GI_OK;
    return gi_fail(err, GI_ERR_UNSUPPORTED, "on a GPU, matrices have fewer than 2^31 rows and columns");
}

static gi_status matmul(gi_backend *base, const gi_matmul_job *job, gi_error *err) {
    const request r = {matmul_of_host, job, NULL, GI_OWN_STREAM};
    gi_status status = check_sides(job, err);
    return status != GI_OK || is_empty(job) ? status : run(base, &r, err);
}

// ---- reduction ----------------------------------------------------------------------------------------------------

static gi_status reduce_values(gi_array_lane *lane, const request *r, const void *values, gi_error *err) {
    const gi_reduce_job *job = r->job;
    gi_array_result *on_device = lane->result.data, found;
    gi_device_reduce_job launch = {.values = values,
                                   .element = job->element,
                                   .count = job->count,
                                   .operation = job->operation,
                                   .algorithm = job->algorithm,
                                   .result = &on_device->number,
                                   .ticket = &on_device->ticket,
                                   .stream = lane->user};
    gi_status status = gi_array_lane_scratch(lane, gi_cuda_reduce_scratch(&launch), err);
    launch.scratch = lane->scratch.data;
    gi_trace_begin("kernels");
    if (status == GI_OK) status = gi_cuda_reduce(&launch, err);
    gi_trace_end();
    if (status == GI_OK) status = gi_array_lane_receive(lane, &found, err);
    if (status != GI_OK) return status;
    if (r->result->is_integer && found.number.overflow)
        return gi_fail(err, GI_ERR_LIMIT, "the %s does not fit 64 bits",
                       job->operation == GI_OPERATION_PROD ? "product" : "sum");
    r->result->integer = found.number.integer;
    r->result->real = found.number.real;
    return GI_OK;
}

static gi_status reduce_of_host(gi_array_lane *lane, const request *r, gi_error *err) {
    const gi_reduce_job *job = r->job;
    const gi_staged_rows shape = gi_staged_bytes(job->count * gi_element_bytes(job->element));
    gi_status status = reserve(lane, 0, shape.row_bytes, err);
    lane->staging.threads = job->threads;
    if (status == GI_OK) status = gi_staging_upload(&lane->staging, lane->operands[0].data, job->values, &shape, err);
    return status == GI_OK ? reduce_values(lane, r, lane->operands[0].data, err) : status;
}

static gi_status reduce_of_device(gi_array_lane *lane, const request *r, gi_error *err) {
    return reduce_values(lane, r, ((const gi_reduce_job *)r->job)->values, err);
}

// Of nothing, the result needs no device.
static gi_status reduce_by(gi_backend *base, const request *r, gi_error *err) {
    const gi_reduce_job *job = r->job;
    const bool product = job->operation == GI_OPERATION_PROD;
    *r->result = (gi_number){.is_integer = !gi_element_is_float(job->element) && job->operation != GI_OPERATION_MEAN,
                             .integer = product,
                             .real = product};
    return job->count > 0 ? run(base, r, err) : GI_OK;
}

static gi_status reduce(gi_backend *base, const gi_reduce_job *job, gi_number *result, gi_error *err) {
    const request r = {reduce_of_host, job, result, GI_OWN_STREAM};
    return reduce_by(base, &r, err);
}

// ---- scan ---------------------------------------------------------------------------------------------------------

static bool may_overflow(const gi_scan_job *job) {
    return !gi_element_is_float(job->element) &&
           (job->operation == GI_OPERATION_SUM || job->operation == GI_OPERATION_PROD);
}

static gi_status scan_values(gi_array_lane *lane, const gi_scan_job *job, const void *values, void *out,
                             gi_error *err) {
    gi_array_result *on_device = lane->result.data, found;
    gi_device_scan_job launch = {.values = values,
                                 .out = out,
                                 .element = job->element,
                                 .count = job->count,
                                 .operation = job->operation,
                                 .exclusive = job->exclusive,
                                 .algorithm = job->algorithm,
                                 .refused = &on_device->refused,
                                 .stream = lane->user};
    gi_status status = gi_array_lane_scratch(lane, gi_cuda_scan_scratch(&launch), err);
    launch.scratch = lane->scratch.data;
    gi_trace_begin("kernels");
    if (status == GI_OK) status = gi_cuda_scan(&launch, err);
    gi_trace_end();
    if (status != GI_OK || !may_overflow(job)) return status;
    status = gi_array_lane_receive(lane, &found, err);
    if (status != GI_OK || found.refused == UINT64_MAX) return status;
    return gi_fail(err, GI_ERR_LIMIT, "the %s up to index %llu does not fit 64 bits", gi_operation_name(job->operation),
                   (unsigned long long)found.refused);
}

static gi_status scan_of_host(gi_array_lane *lane, const request *r, gi_error *err) {
    const gi_scan_job *job = r->job;
    const gi_element element = gi_scan_element(job->element);
    const gi_staged_rows in = gi_staged_bytes(job->count * gi_element_bytes(job->element)),
                         out = gi_staged_bytes(job->count * gi_element_bytes(element));
    const bool in_place = element == job->element && !job->exclusive;
    gi_status status = reserve(lane, 0, in.row_bytes, err);
    if (status == GI_OK && !in_place) status = reserve(lane, 1, out.row_bytes, err);
    void *values = lane->operands[0].data, *results = in_place ? values : lane->operands[1].data;
    lane->staging.threads = job->threads;
    if (status == GI_OK) status = gi_staging_upload(&lane->staging, values, job->values, &in, err);
    if (status == GI_OK) status = scan_values(lane, job, values, results, err);
    if (status == GI_OK) status = gi_staging_download(&lane->staging, job->out, results, &out, err);
    return status;
}

static gi_status scan_of_device(gi_array_lane *lane, const request *r, gi_error *err) {
    const gi_scan_job *job = r->job;
    return scan_values(lane, job, job->values, job->out, err);
}

static gi_status scan(gi_backend *base, const gi_scan_job *job, gi_error *err) {
    const request r = {scan_of_host, job, NULL, GI_OWN_STREAM};
    return job->count > 0 ? run(base, &r, err) : GI_OK;
}

// ---- on arrays of the device's ------------------------------------------------------------------------------------

// GI_ERR_USAGE where the backend's device cannot reach the array, which kernels would fail at and with them the
// context.
static gi_status check_address(gi_backend *base, const char *what, const void *data, size_t element, gi_error *err) {
    gi_cuda_backend *backend = (gi_cuda_backend *)base;
    struct cudaPointerAttributes about = {.type = cudaMemoryTypeUnregistered};
    gi_status status = gi_cuda_start_wait(&backend->start, err);
    if (status == GI_OK)
        status = gi_cuda_check(cudaPointerGetAttributes(&about, data), "asking what an address is", err);
    if (status != GI_OK) return status;
    if ((uintptr_t)data % element != 0)
        return gi_fail(err, GI_ERR_USAGE, "%s is not aligned to its elements of %zu bytes", what, element);
    if (about.type == cudaMemoryTypeUnregistered)
        return gi_fail(err, GI_ERR_USAGE, "%s lies in the host's memory, not on a CUDA device", what);
    if (about.type == cudaMemoryTypeDevice && about.device != backend->start.index)
        return gi_fail(err, GI_ERR_USAGE, "%s lies on CUDA device %d, but the context is for device %d", what,
                       about.device, backend->start.index);
    return GI_OK;
}

static gi_status matmul_device(gi_backend *base, const gi_matmul_job *job, void *stream, gi_error *err) {
    const request r = {matmul_of_device, job, NULL, stream};
    const size_t each = sizeof(float);
    gi_status status = check_sides(job, err);
    if (status != GI_OK || is_empty(job)) return status;
    if (job->k > 0) status = check_address(base, "matmul: A", job->a, each, err);
    if (status == GI_OK && job->k > 0) status = check_address(base, "matmul: B", job->b, each, err);
    if (status == GI_OK) status = check_address(base, "matmul: C", job->c, each, err);
    return status == GI_OK ? run(base, &r, err) : status;
}

static gi_status reduce_device(gi_backend *base, const gi_reduce_job *job, void *stream, gi_number *result,
                               gi_error *err) {
    const request r = {reduce_of_device, job, result, stream};
    gi_status status = GI_OK;
    if (job->count > 0)
        status = check_address(base, "reduce: the array", job->values, gi_element_bytes(job->element), err);
    return status == GI_OK ? reduce_by(base, &r, err) : status;
}

static gi_status scan_device(gi_backend *base, const gi_scan_job *job, void *stream, gi_error *err) {
    const request r = {scan_of_device, job, NULL, stream};
    if (job->count == 0) return GI_OK;
    gi_status status = check_address(base, "scan: the array", job->values, gi_element_bytes(job->element), err);
    if (status == GI_OK)
        status =
            check_address(base, "scan: the result", job->out, gi_element_bytes(gi_scan_element(job->element)), err);
    return status == GI_OK ? run(base, &r, err) : status;
}

const gi_primitives gi_cuda_primitives = {
    .algorithms = {GI_MATMUL_ALGORITHMS, GI_REDUCE_ALGORITHMS, GI_SCAN_ALGORITHMS},
    .matmul = matmul,
    .reduce = reduce,
    .scan = scan,
    .matmul_device = matmul_device,
    .reduce_device = reduce_device,
    .scan_device = scan_device,
};
