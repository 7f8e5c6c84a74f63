#include "core/primitives.h"

#include <stdio.h>
#include <string.h>

#include "core/checked.h"

// The word's place in "a|b|c" from 0; -1.
static int word_find(const char *words, const char *text, size_t size) {
    for (int i = 0; *words; i++) {
        size_t length = strcspn(words, "|");
        if (length == size && memcmp(words, text, size) == 0) return i;
        words += length + (words[length] == '|');
    }
    return -1;
}

static const char *word_at(const char *words, int index, size_t *length) {
    for (; index > 0 && *words; index--) {
        words += strcspn(words, "|");
        words += *words == '|';
    }
    *length = strcspn(words, "|");
    return words;
}

const char *gi_operation_name(gi_operation operation) {
    static const char *const names[GI_OPERATION_COUNT] = {"sum", "prod", "min", "max", "mean"};
    return (unsigned)operation < GI_OPERATION_COUNT ? names[operation] : "unknown";
}

int gi_operation_find(const char *name) { return word_find(GI_OPERATION_WORDS, name, strlen(name)); }

const char *gi_primitive_name(gi_primitive primitive) {
    static const char *const names[GI_PRIMITIVE_COUNT] = {"matmul", "reduce", "scan"};
    return names[primitive];
}

const char *gi_primitive_algorithms(gi_primitive primitive) {
    static const char *const lists[GI_PRIMITIVE_COUNT] = {GI_MATMUL_ALGORITHMS, GI_REDUCE_ALGORITHMS,
                                                          GI_SCAN_ALGORITHMS};
    return lists[primitive];
}

int gi_algorithm_find(gi_primitive primitive, const char *name) {
    return word_find(gi_primitive_algorithms(primitive), name, strlen(name));
}

const char *gi_algorithm_name(gi_primitive primitive, int algorithm, char name[GI_ALGORITHM_BYTES]) {
    size_t length;
    const char *word = word_at(gi_primitive_algorithms(primitive), algorithm, &length);
    snprintf(name, GI_ALGORITHM_BYTES, "%.*s", (int)length, word);
    return name;
}

bool gi_algorithm_in(gi_primitive primitive, int algorithm, const char *list) {
    size_t length;
    const char *word = word_at(gi_primitive_algorithms(primitive), algorithm, &length);
    return length > 0 && word_find(list, word, length) >= 0;
}

static bool algorithm_is_known(gi_primitive primitive, int algorithm) {
    return algorithm >= 0 && gi_algorithm_in(primitive, algorithm, gi_primitive_algorithms(primitive));
}

// A matrix in memory: its rows, their length and their distance.
typedef struct matrix {
    const char *name;
    const float *data;
    size_t rows, columns, stride;
} matrix;

static gi_status check_matrix(matrix m, gi_error *err) {
    size_t last, elements, bytes;
    if (m.rows == 0 || m.columns == 0) return GI_OK; // nothing is read or written
    if (!m.data) return gi_fail(err, GI_ERR_USAGE, "matmul: %s has no data", m.name);
    if (m.stride < m.columns)
        return gi_fail(err, GI_ERR_USAGE, "matmul: rows of %s hold %zu elements, but follow each other after %zu",
                       m.name, m.columns, m.stride);
    bool fits = gi_mul(m.rows - 1, m.stride, &last) && gi_add(last, m.columns, &elements) &&
                gi_mul(elements, sizeof *m.data, &bytes) && bytes <= UINTPTR_MAX - (uintptr_t)m.data;
    if (!fits || bytes > PTRDIFF_MAX)
        return gi_fail(err, GI_ERR_LIMIT, "matmul: %s, %zu x %zu, is larger than any memory", m.name, m.rows,
                       m.columns);
    return GI_OK;
}

static size_t matrix_bytes(matrix m) {
    return m.rows && m.columns ? ((m.rows - 1) * m.stride + m.columns) * sizeof *m.data : 0;
}

static bool overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes) {
    uintptr_t a_at = (uintptr_t)a, b_at = (uintptr_t)b;
    return a_bytes && b_bytes && a_at < b_at + b_bytes && b_at < a_at + a_bytes;
}

gi_status gi_matmul_job_check(const gi_matmul_job *job, gi_error *err) {
    const matrix a = {"A", job->a, job->m, job->k, job->a_stride}, b = {"B", job->b, job->k, job->n, job->b_stride},
                 c = {"C", job->c, job->m, job->n, job->c_stride};
    if (!algorithm_is_known(GI_PRIMITIVE_MATMUL, job->algorithm))
        return gi_fail(err, GI_ERR_USAGE, "matmul: no algorithm has the number %d", job->algorithm);
    gi_status status = check_matrix(a, err);
    if (status == GI_OK) status = check_matrix(b, err);
    if (status == GI_OK) status = check_matrix(c, err);
    if (status != GI_OK) return status;
    if (overlap(a.data, matrix_bytes(a), c.data, matrix_bytes(c)) ||
        overlap(b.data, matrix_bytes(b), c.data, matrix_bytes(c)))
        return gi_fail(err, GI_ERR_USAGE, "matmul: C overlaps A or B");
    return GI_OK;
}

// An array of `count` elements.
static gi_status check_values(const char *what, const void *values, size_t count, gi_element element, gi_error *err) {
    size_t bytes;
    if ((unsigned)element >= GI_ELEMENT_COUNT)
        return gi_fail(err, GI_ERR_USAGE, "%s: no element has the number %d", what, (int)element);
    if (count > 0 && !values) return gi_fail(err, GI_ERR_USAGE, "%s: no values", what);
    if (!gi_mul(count, gi_element_bytes(element), &bytes) || bytes > PTRDIFF_MAX ||
        bytes > UINTPTR_MAX - (uintptr_t)values)
        return gi_fail(err, GI_ERR_LIMIT, "%s: %zu values are more than any memory holds", what, count);
    return GI_OK;
}

gi_status gi_reduce_job_check(const gi_reduce_job *job, gi_error *err) {
    if (!algorithm_is_known(GI_PRIMITIVE_REDUCE, job->algorithm))
        return gi_fail(err, GI_ERR_USAGE, "reduce: no algorithm has the number %d", job->algorithm);
    if ((unsigned)job->operation >= GI_OPERATION_COUNT)
        return gi_fail(err, GI_ERR_USAGE, "reduce: no operation has the number %d", (int)job->operation);
    gi_status status = check_values("reduce", job->values, job->count, job->element, err);
    if (status == GI_OK && job->count == 0 && job->operation >= GI_OPERATION_MIN)
        return gi_fail(err, GI_ERR_USAGE, "there is no %s of nothing", gi_operation_name(job->operation));
    return status;
}

gi_status gi_scan_job_check(const gi_scan_job *job, gi_error *err) {
    if (!algorithm_is_known(GI_PRIMITIVE_SCAN, job->algorithm))
        return gi_fail(err, GI_ERR_USAGE, "scan: no algorithm has the number %d", job->algorithm);
    if ((unsigned)job->operation >= GI_OPERATION_MEAN)
        return gi_fail(err, GI_ERR_USAGE, "scan: the operation is sum, prod, min or max");
    gi_status status = check_values("scan", job->values, job->count, job->element, err);
    gi_element out = gi_scan_element(job->element);
    if (status == GI_OK) status = check_values("scan: the result", job->out, job->count, out, err);
    if (status != GI_OK) return status;
    bool in_place = job->out == job->values && out == job->element && !job->exclusive;
    if (!in_place &&
        overlap(job->values, job->count * gi_element_bytes(job->element), job->out, job->count * gi_element_bytes(out)))
        return gi_fail(err, GI_ERR_USAGE, "scan: the result overlaps the values");
    return GI_OK;
}
