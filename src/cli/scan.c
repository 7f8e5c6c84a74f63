// `gpuimg scan OP IN.npy -o OUT.npy`.
#include <string.h>

#include "cli/arrays.h"

static gi_status check_usage(const gi_arrays *arrays, int *operation) {
    const gi_options *options = arrays->options;
    if (options->operand_count == 0) return gi_arrays_refuse(arrays, "no operation: sum, prod, min or max");
    *operation = gi_operation_find(options->operands[0]);
    if (*operation < 0 || *operation == GI_OPERATION_MEAN)
        return gi_arrays_refuse(arrays, "the operation is sum, prod, min or max, not '%.100s'", options->operands[0]);
    if (options->operand_count != 2)
        return gi_arrays_refuse(arrays, "scan takes one array behind the operation, not %zu",
                                options->operand_count - 1);
    return gi_arrays_check_output(arrays);
}

static gi_status scan(const gi_arrays *arrays, gi_operation operation, const gi_array *in, gi_array *out) {
    gi_error err = {0};
    gi_choice choice;
    *out = *in;
    out->element = gi_scan_element(in->element);
    gi_status status = gi_array_allocate(out, &err);
    gi_scan_job job = {.values = in->data,
                       .out = out->data,
                       .element = in->element,
                       .count = in->count,
                       .operation = operation,
                       .exclusive = arrays->options->exclusive,
                       .algorithm = arrays->algorithm};
    if (status == GI_OK) status = gi_context_scan(arrays->context, job, &choice, &err);
    if (status == GI_OK) gi_arrays_note(arrays, &choice);
    return gi_arrays_complain(arrays, gi_arrays_shown(arrays->options->operands[1]), status, &err);
}

int gi_scan_command(const gi_command *command, const gi_options *options) {
    gi_arrays arrays;
    gi_array in = {0}, out = {0};
    int operation = 0;
    gi_status status = gi_arrays_open(&arrays, command, options, GI_PRIMITIVE_SCAN);
    if (status == GI_OK) status = check_usage(&arrays, &operation);
    if (status == GI_OK) status = gi_arrays_load(&arrays, options->operands[1], &in);
    if (status == GI_OK) status = scan(&arrays, (gi_operation)operation, &in, &out);
    if (status == GI_OK) status = gi_arrays_save(&arrays, &out);
    gi_array_free(&in);
    gi_array_free(&out);
    gi_arrays_close(&arrays);
    return gi_exit_status(status);
}
