// Scan: which function does what.
#include "cpu/primitives.h"

gi_status gi_cpu_scan(const gi_scan_job *job, gi_error *err) {
    if (job->count == 0) return GI_OK;
    bool tree = job->operation == GI_OPERATION_SUM || job->operation == GI_OPERATION_PROD;
    return gi_element_is_float(job->element) && tree ? gi_scan_floats(job, err) : gi_scan_exact(job, err);
}
