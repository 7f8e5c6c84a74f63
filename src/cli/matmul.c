// `gpuimg matmul A.npy B.npy -o C.npy`.
#include <stdio.h>
#include <string.h>

#include "cli/arrays.h"
#include "core/text.h"
#include "run/path.h"

static gi_status check_usage(const gi_arrays *arrays) {
    const gi_options *options = arrays->options;
    if (options->operand_count != 2)
        return gi_arrays_refuse(arrays, "matmul takes two arrays, A.npy and B.npy, not %zu", options->operand_count);
    if (strcmp(options->operands[0], "-") == 0 && strcmp(options->operands[1], "-") == 0)
        return gi_arrays_refuse(arrays, "standard input cannot be both arrays");
    return gi_arrays_check_output(arrays);
}

static gi_status check_matrix(const gi_arrays *arrays, const char *name, const gi_array *m) {
    gi_error err = {0};
    gi_status status = GI_OK;
    if (m->dimensions != 2)
        status = gi_fail(&err, GI_ERR_UNSUPPORTED, "%d dimension%s: a matrix has two", m->dimensions,
                         gi_plural((unsigned)m->dimensions));
    else if (m->element != GI_ELEMENT_F32)
        status = gi_fail(&err, GI_ERR_UNSUPPORTED, "%s: matmul takes float32", gi_element_name(m->element));
    return gi_arrays_complain(arrays, gi_arrays_shown(name), status, &err);
}

// No one file is to blame: both are named.
static gi_status check_shapes(const gi_arrays *arrays, const gi_array *a, const gi_array *b) {
    const char *const *names = arrays->options->operands;
    char shown[2][GI_PATH_SHOWN], both[2 * GI_PATH_SHOWN + 2];
    gi_error err = {0};
    if (a->shape[1] == b->shape[0]) return GI_OK;
    snprintf(both, sizeof both, "%s, %s", gi_path_show(gi_arrays_shown(names[0]), shown[0]),
             gi_path_show(gi_arrays_shown(names[1]), shown[1]));
    gi_status status =
        gi_fail(&err, GI_ERR_FORMAT, "A is %zu x %zu, B is %zu x %zu: A's columns are not as many as B's rows",
                a->shape[0], a->shape[1], b->shape[0], b->shape[1]);
    return gi_arrays_complain(arrays, both, status, &err);
}

static gi_status multiply(const gi_arrays *arrays, const gi_array *a, const gi_array *b, gi_array *c) {
    gi_error err = {0};
    gi_choice choice;
    *c = (gi_array){.element = GI_ELEMENT_F32, .dimensions = 2, .shape = {a->shape[0], b->shape[1]}};
    gi_status status = gi_array_allocate(c, &err);
    gi_matmul_job job = {.a = a->data,
                         .b = b->data,
                         .c = c->data,
                         .m = a->shape[0],
                         .k = a->shape[1],
                         .n = b->shape[1],
                         .a_stride = a->shape[1],
                         .b_stride = b->shape[1],
                         .c_stride = b->shape[1],
                         .algorithm = arrays->algorithm};
    if (status == GI_OK) status = gi_context_matmul(arrays->context, job, &choice, &err);
    if (status == GI_OK) gi_arrays_note(arrays, &choice);
    return gi_arrays_complain(arrays, gi_arrays_output(arrays), status, &err);
}

int gi_matmul_command(const gi_command *command, const gi_options *options) {
    gi_arrays arrays;
    gi_array a = {0}, b = {0}, c = {0};
    const char *const *names = options->operands;
    gi_status status = gi_arrays_open(&arrays, command, options, GI_PRIMITIVE_MATMUL);
    if (status == GI_OK) status = check_usage(&arrays);
    if (status == GI_OK) status = gi_arrays_load(&arrays, names[0], &a);
    if (status == GI_OK) status = check_matrix(&arrays, names[0], &a);
    if (status == GI_OK) status = gi_arrays_load(&arrays, names[1], &b);
    if (status == GI_OK) status = check_matrix(&arrays, names[1], &b);
    if (status == GI_OK) status = check_shapes(&arrays, &a, &b);
    if (status == GI_OK) status = multiply(&arrays, &a, &b, &c);
    if (status == GI_OK) status = gi_arrays_save(&arrays, &c);
    gi_array_free(&a);
    gi_array_free(&b);
    gi_array_free(&c);
    gi_arrays_close(&arrays);
    return gi_exit_status(status);
}
