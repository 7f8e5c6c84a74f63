// `gpuimg reduce OP IN`: of an array one number, of an image one a channel.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arrays.h"
#include "cli/signals.h"
#include "core/count_reduction.h"
#include "run/array_file.h"
#include "run/path.h"

static gi_status check_usage(const gi_arrays *arrays, int *operation) {
    const gi_options *options = arrays->options;
    if (options->operand_count == 0) return gi_arrays_refuse(arrays, "no operation: sum, prod, min, max or mean");
    *operation = gi_operation_find(options->operands[0]);
    if (*operation < 0)
        return gi_arrays_refuse(arrays, "the operation is sum, prod, min, max or mean, not '%.100s'",
                                options->operands[0]);
    if (options->operand_count != 2)
        return gi_arrays_refuse(arrays, "reduce takes one array or image behind the operation, not %zu",
                                options->operand_count - 1);
    return GI_OK;
}

// As few digits as read back as the same number.
static void print_number(const gi_number *number) {
    char text[32];
    if (number->is_integer) {
        printf("%lld\n", (long long)number->integer);
        return;
    }
    int digits = 15;
    do snprintf(text, sizeof text, "%.*g", digits, number->real);
    while (digits++ < 17 && strtod(text, NULL) != number->real);
    printf("%s\n", text);
}

static gi_status reduce_array(const gi_arrays *arrays, const gi_array *array, gi_operation operation, gi_error *err) {
    gi_choice choice;
    gi_number number;
    gi_reduce_job job = {.values = array->data,
                         .element = array->element,
                         .count = array->count,
                         .operation = operation,
                         .algorithm = arrays->algorithm};
    // A failure that is the data's, not the command line's.
    if (array->count == 0 && operation >= GI_OPERATION_MIN)
        return gi_fail(err, GI_ERR_FORMAT, "an empty array has no %s", gi_operation_name(operation));
    gi_status status = gi_context_reduce(arrays->context, job, &number, &choice, err);
    if (status != GI_OK) return status;
    gi_arrays_note(arrays, &choice);
    print_number(&number);
    return GI_OK;
}

// From the exact histogram, which is all that a reduction of 256 or 65536 levels needs.
static gi_status reduce_image(const gi_arrays *arrays, const gi_view *view, gi_operation operation, gi_error *err) {
    gpuimg_histogram *histogram = NULL;
    gpuimg_error error;
    gpuimg_image image = {.data = view->data,
                          .width = (int)view->width,
                          .height = (int)view->height,
                          .channels = view->channels,
                          .sample = view->sample == GI_U16 ? GPUIMG_U16 : GPUIMG_U8};
    if (arrays->algorithm != GI_ALGORITHM_AUTO)
        return gi_fail(err, GI_ERR_USAGE, "an image is reduced from its histogram: --algo is for arrays");
    gpuimg_status failed = gpuimg_histogram_of_image(arrays->context, NULL, &image, &histogram, &error);
    gi_status status = failed ? gi_fail(err, (gi_status)failed, "%.400s", error.text) : GI_OK;
    gi_number numbers[GI_MAX_CHANNELS];
    uint32_t levels = (uint32_t)gpuimg_histogram_bins(histogram);
    for (int c = 0; c < view->channels && status == GI_OK; c++)
        status = gi_reduce_levels(gpuimg_histogram_counts(histogram, c), levels, operation, &numbers[c], err);
    for (int c = 0; c < view->channels && status == GI_OK; c++) {
        printf("%s ", gi_channel_name(view->channels, c));
        print_number(&numbers[c]);
    }
    gpuimg_histogram_free(histogram);
    return status;
}

static gi_status reduce_file(const gi_arrays *arrays, const char *name, gi_operation operation) {
    const gi_options *options = arrays->options;
    const gi_messages messages = gi_arrays_messages(arrays);
    gi_batch_options batch = {.messages = &messages, .cancel = &gi_interrupt};
    batch.decode.max_pixels = options->max_pixels;
    batch.decode.depth = gi_options_depth(options);
    batch.decode.strict = options->strict;
    batch.decode.codec = (gi_codec_choice)gi_options_choice(options, GI_GLOBAL_codec);
    batch.decode.messages = &messages;
    batch.decode.file = gi_arrays_shown(name);
    gi_values values;
    gi_error err = {0};
    gi_status status = gi_values_load(gi_path_of_argument(name), &batch, &values, &err);
    if (status == GI_OK && values.image.data)
        status = reduce_image(arrays, &values.image, operation, &err);
    else if (status == GI_OK)
        status = reduce_array(arrays, &values.array, operation, &err);
    gi_array_free(&values.array);
    free(values.image.data);
    return gi_arrays_complain(arrays, gi_arrays_shown(name), status, &err);
}

int gi_reduce_command(const gi_command *command, const gi_options *options) {
    gi_arrays arrays;
    gi_error err = {0};
    int operation = 0;
    gi_status status = gi_arrays_open(&arrays, command, options, GI_PRIMITIVE_REDUCE);
    if (status == GI_OK) status = check_usage(&arrays, &operation);
    if (status == GI_OK && gi_options_check_codec(options, true, &err))
        status = gi_arrays_refuse(&arrays, "%s", err.text);
    if (status == GI_OK) status = reduce_file(&arrays, options->operands[1], (gi_operation)operation);
    gi_arrays_close(&arrays);
    return gi_exit_status(status);
}
