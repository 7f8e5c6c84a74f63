// Reduction: which function does what.
#include <math.h>

#include "cpu/primitives.h"
#include "cpu/team.h"

int gi_piece_threads(size_t pieces, int limit) {
    return gi_cpu_team(pieces < (size_t)(limit > 1 ? limit : 1) ? (int)pieces : limit);
}

// The canonical NaN for every NaN.
static double canonical(double value) { return isnan(value) ? (double)NAN : value; }

gi_status gi_cpu_reduce(const gi_reduce_job *job, gi_number *result, gi_error *err) {
    gi_operation operation = job->operation;
    gi_status status = GI_OK;
    *result = (gi_number){.is_integer = !gi_element_is_float(job->element) && operation != GI_OPERATION_MEAN};
    if (job->count == 0) {
        result->integer = operation == GI_OPERATION_PROD;
        result->real = (double)result->integer;
    } else if (result->is_integer) {
        status = gi_reduce_integers(job, &result->integer, err);
    } else if (!gi_element_is_float(job->element)) {
        result->real = gi_reduce_integer_mean(job);
    } else if (operation == GI_OPERATION_MIN || operation == GI_OPERATION_MAX) {
        result->real = canonical(gi_reduce_float_extreme(job));
    } else {
        status = gi_reduce_floats(job, &result->real, err);
        if (operation == GI_OPERATION_MEAN) result->real /= (double)job->count;
        result->real = canonical(result->real);
    }
    return status;
}
