#include "cpu/primitives.h"

#include "core/backend.h"

static gi_status matmul(gi_backend *backend, const gi_matmul_job *job, gi_error *err) {
    (void)backend;
    return gi_cpu_matmul(job, err);
}

static gi_status reduce(gi_backend *backend, const gi_reduce_job *job, gi_number *result, gi_error *err) {
    (void)backend;
    return gi_cpu_reduce(job, result, err);
}

static gi_status scan(gi_backend *backend, const gi_scan_job *job, gi_error *err) {
    (void)backend;
    return gi_cpu_scan(job, err);
}

const gi_primitives gi_cpu_primitives = {
    .algorithms = {"auto|naive|fast", "auto", "auto"}, .matmul = matmul, .reduce = reduce, .scan = scan};
