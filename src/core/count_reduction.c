#include "core/count_reduction.h"

// Saturates: *product = UINT64_MAX where value ^ count times it is more.
static void multiply_power(uint64_t *product, uint64_t value, uint64_t count) {
    if (value == 1) return;
    for (; count > 0 && *product != UINT64_MAX; count--)
        if (__builtin_mul_overflow(*product, value, product)) *product = UINT64_MAX;
}

static gi_status product_of(const uint64_t *counts, uint32_t levels, gi_number *result, gi_error *err) {
    uint64_t product = 1;
    if (counts[0] > 0) return GI_OK; // the result is 0
    for (uint32_t v = 1; v < levels; v++) multiply_power(&product, v, counts[v]);
    if (product > INT64_MAX) return gi_fail(err, GI_ERR_LIMIT, "the product does not fit 64 bits");
    result->integer = (int64_t)product;
    return GI_OK;
}

static gi_status sum_of(const uint64_t *counts, uint32_t levels, gi_number *result, gi_error *err) {
    uint64_t sum = 0, part;
    for (uint32_t v = 0; v < levels; v++)
        if (__builtin_mul_overflow(counts[v], v, &part) || __builtin_add_overflow(sum, part, &sum) || sum > INT64_MAX)
            return gi_fail(err, GI_ERR_LIMIT, "the sum does not fit 64 bits");
    result->integer = (int64_t)sum;
    return GI_OK;
}

gi_status gi_reduce_levels(const uint64_t *counts, uint32_t levels, gi_operation operation, gi_number *result,
                           gi_error *err) {
    uint64_t samples = 0;
    uint32_t least = levels, most = 0;
    *result = (gi_number){.is_integer = operation != GI_OPERATION_MEAN};
    for (uint32_t v = 0; v < levels; v++) {
        if (counts[v] == 0) continue;
        least = least < v ? least : v;
        most = v;
        samples += counts[v];
    }
    if (operation == GI_OPERATION_PROD) return product_of(counts, levels, result, err);
    gi_status status = GI_OK;
    if (operation == GI_OPERATION_MIN || operation == GI_OPERATION_MAX)
        result->integer = operation == GI_OPERATION_MIN ? least : most;
    else
        status = sum_of(counts, levels, result, err);
    if (operation == GI_OPERATION_MEAN) result->real = (double)result->integer / (double)samples;
    return status;
}
