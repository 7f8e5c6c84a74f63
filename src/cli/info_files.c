#include "cli/info_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/confine.h"
#include "cli/console.h"
#include "cli/signals.h"
#include "core/large.h"
#include "cpu/backend_cpu.h"
#include "run/array_file.h"
#include "run/image_file.h"
#include "run/inputs.h"
#include "run/path.h"

// What decoding has to say: warnings and flaws are the damage that is told with the rest, notes are for those who
// convert.
static void keep_damage(void *context, gi_severity severity, const char *file, const char *text) {
    (void)file;
    if (severity == GI_WARNING || severity == GI_FLAW) gi_buffer_add(context, text, strlen(text) + 1);
}

// All pixels, in bands that are forgotten.
static gi_status decode_all(gi_decoder *decoder, gi_error *err) {
    enum { BAND_BYTES = 4 << 20 };
    gi_shape shape = gi_decoder_header(decoder)->shape, band = shape;
    size_t row = gi_row_bytes(shape.width, shape.channels, shape.sample), bytes = 0;
    band.height = row < BAND_BYTES ? (uint32_t)(BAND_BYTES / row) : 1;
    if (band.height > shape.height) band.height = shape.height;
    gi_status status = gi_shape_bytes(band, &bytes, err);
    if (status != GI_OK) return status;
    gi_view rows = gi_view_packed(gi_large_alloc(bytes), band, GI_HOST);
    if (!rows.data) return gi_fail(err, GI_ERR_MEMORY, "out of memory for %zu bytes of pixels", bytes);
    for (uint32_t y = 0; y < shape.height && status == GI_OK; y += band.height) {
        rows.height = shape.height - y < band.height ? shape.height - y : band.height;
        status = gi_interrupt ? gi_fail(err, GI_ERR_CANCELLED, "interrupted") : gi_decoder_rows(decoder, &rows, err);
    }
    free(rows.data);
    return status;
}

// Why no decoder was opened is said already; the header may be sound all the same.
static gi_status look_at_header(const gi_item *item, gi_status why, gi_file_facts *facts) {
    const gi_read_options reading = {.regular_only = true, .cancel = &gi_interrupt};
    gi_error err;
    if (!item->in || (why != GI_ERR_FORMAT && why != GI_ERR_LIMIT && why != GI_ERR_UNSUPPORTED)) return why;
    facts->opened = gi_image_of_refused(item->in, &reading, &facts->header, &facts->bytes, &err) == GI_OK;
    facts->quick = true;
    return why;
}

static gi_status look_at(const gi_item *item, const gi_options *options, gi_file_facts *facts, gi_error *err) {
    const gi_messages messages = {keep_damage, &facts->damage};
    const gi_read_options reading = {.regular_only = item->from_directory, .cancel = &gi_interrupt};
    const gi_decode_options decoding = {.max_pixels = options->max_pixels,
                                        .metadata = true,
                                        .codec = (gi_codec_choice)gi_options_choice(options, GI_GLOBAL_codec),
                                        .threads = gi_cpu_cores(),
                                        .messages = &messages,
                                        .file = facts->file};
    gi_file_data file;
    gi_decoder *decoder = NULL;
    gi_error other;
    gi_status array = GI_OK;
    if (item->in && !item->from_directory)
        array = gi_array_peek(item->in, &facts->array, &facts->bytes, &facts->is_array, &other);
    if (facts->is_array || array == GI_ERR_FORMAT) {
        facts->opened = facts->array.header_bytes > 0;
        facts->quick = false;
        *err = other;
        return array;
    }
    gi_status status = gi_image_open(item->in, &reading, &decoding, &file, &decoder, err);
    if (status != GI_OK) return look_at_header(item, status, facts);
    facts->opened = true;
    facts->bytes = file.size;
    facts->header = *gi_decoder_header(decoder);
    facts->metadata = gi_decoder_take_metadata(decoder);
    if (!facts->quick) status = decode_all(decoder, err);
    gi_decoder_close(decoder);
    gi_file_data_free(&file);
    return status;
}

// Prints what is known of one item.
static gi_status tell_item(const gi_item *item, const gi_options *options, bool first) {
    gi_file_facts facts = {.file = item->in ? item->in : "-", .quick = options->file_quick};
    gi_buffer text = {0};
    gi_error err = {0};
    gi_status status = look_at(item, options, &facts, &err);
    if (status == GI_ERR_CANCELLED) goto out;
    if (status) {
        gi_console console = {false, false};
        facts.error = err.text;
        gi_console_say(&console, GI_FAILURE, gi_path_input(item->in), err.text);
    }
    if (options->file_json) {
        if (!first) gi_buffer_puts(&text, ",\n");
        gi_info_add_json(&text, &facts);
    } else if (facts.opened) {
        if (!first) gi_buffer_puts(&text, "\n");
        gi_info_add_text(&text, &facts);
    }
    if (text.failed) {
        gi_complain("out of memory");
        status = GI_ERR_MEMORY;
    } else if (text.size) {
        fwrite(text.data, 1, text.size, stdout);
    }
out:
    gi_metadata_free((gi_metadata *)(uintptr_t)facts.metadata);
    gi_buffer_free(&facts.damage);
    gi_buffer_free(&text);
    return status;
}

static gi_status tell_all(const gi_item_list *list, const gi_options *options) {
    gi_status worst = list->failed ? GI_ERR_IO : GI_OK;
    if (options->file_json) printf("{\"schema\":1,\"images\":[\n");
    // Nobody is left to be told, or there is no room: what has failed is said by main.
    for (size_t i = 0; i < list->count && worst != GI_ERR_CANCELLED && !ferror(stdout); i++) {
        gi_status status = tell_item(&list->items[i], options, i == 0);
        if (status != GI_OK) worst = status == GI_ERR_CANCELLED ? status : GI_ERR_FORMAT;
    }
    if (options->file_json && worst != GI_ERR_CANCELLED) printf("\n]}\n");
    return worst;
}

int gi_info_files(const gi_command *command, const gi_options *options) {
    gi_console console = {false, false};
    const gi_messages messages = {gi_console_say, &console};
    const gi_inputs_request request = {.inputs = options->operands,
                                       .input_count = options->operand_count,
                                       .list = options->files_from,
                                       .list_nul = options->null,
                                       .recursive = options->recursive,
                                       .messages = &messages};
    gi_item_list list = {0};
    gi_error err = {0};
    gi_status status =
        options->null && !options->files_from ? gi_fail(&err, GI_ERR_USAGE, "-0 needs --files-from") : GI_OK;
    if (status == GI_OK) status = gi_options_check_codec(options, true, &err);
    if (status == GI_OK) status = gi_inputs_collect(&request, &list, &err);
    gi_confinement confinement = {.options = options, .device = {.kind = GI_DEVICE_CPU}};
    if (status == GI_OK) status = gi_confine(&confinement, &err);
    if (status != GI_OK) {
        gi_complain_error(&err, NULL);
        if (status == GI_ERR_USAGE) gi_suggest_help(command->name);
    } else {
        if (list.count == 0 && list.failed == 0 && !gi_interrupt) gi_complain("no PNG or JPEG images found");
        status = tell_all(&list, options);
    }
    gi_item_list_free(&list);
    return gi_exit_status(status);
}
