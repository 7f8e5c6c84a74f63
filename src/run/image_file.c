#include "run/image_file.h"

#include <stdlib.h>

#include "core/large.h"
#include "run/output.h"
#include "run/path.h"

gi_status gi_image_open(const char *path, const gi_read_options *reading, const gi_decode_options *decoding,
                        gi_file_data *file, gi_decoder **decoder, gi_error *err) {
    gi_read_options options = *reading;
    options.image_only = options.leave_open = true;
    options.max_pixels = decoding->max_pixels;
    *decoder = NULL;
    gi_status status = gi_read_file(path, &options, file, err);
    if (status != GI_OK) return status;
    if (file->open) {
        const gi_input input = gi_open_file_input(file->open, file->size);
        status = gi_decoder_open_png(&input, decoding, decoder, err);
    } else {
        status = gi_decoder_open((gi_bytes){file->data, file->size}, decoding, decoder, err);
    }
    if (status != GI_OK) gi_file_data_free(file);
    return status;
}

gi_status gi_image_of_refused(const char *path, const gi_read_options *reading, gi_header *header, uint64_t *bytes,
                              gi_error *err) {
    gi_read_options options = *reading;
    gi_file_data file;
    options.image_only = options.leave_open = true;
    gi_status status = gi_read_file(path, &options, &file, err);
    if (status != GI_OK) return status;
    const gi_bytes memory = {file.data, file.size};
    const gi_input input = file.open ? gi_open_file_input(file.open, file.size) : gi_bytes_input(&memory);
    *bytes = file.size;
    const bool jpeg = !file.open && gi_format_sniff(memory) == GI_FORMAT_JPEG; // those are never left open
    status = jpeg ? gi_header_of_refused_jpeg(memory, header, err) : gi_header_of_damaged(&input, header, err);
    gi_file_data_free(&file);
    return status;
}

static gi_status decode(gi_decoder *decoder, gi_view *image, gi_error *err) {
    gi_shape shape = gi_decoder_header(decoder)->shape;
    size_t bytes = 0;
    gi_status status = gi_shape_bytes(shape, &bytes, err);
    if (status != GI_OK) return status;
    *image = gi_view_packed(gi_large_alloc(bytes), shape, GI_HOST);
    if (!image->data) return gi_fail(err, GI_ERR_MEMORY, "out of memory for an image of %zu bytes", bytes);
    return gi_decoder_rows(decoder, image, err);
}

gi_status gi_image_load(const char *path, const gi_batch_options *options, gi_view *image, gi_error *err) {
    return gi_image_load_begun(path, NULL, options, image, err);
}

gi_status gi_image_load_begun(const char *path, const gi_begun *begun, const gi_batch_options *options, gi_view *image,
                              gi_error *err) {
    gi_read_options reading = {.begun = begun, .cancel = options->cancel};
    gi_decode_options decoding = options->decode;
    gi_file_data file;
    gi_decoder *decoder;
    *image = (gi_view){.data = NULL};
    if (path) decoding.file = path; // else what the caller calls standard input
    decoding.threads = gi_batch_cores(options);
    gi_status status = gi_image_open(path, &reading, &decoding, &file, &decoder, err);
    if (status != GI_OK) return status;
    status = decode(decoder, image, err);
    gi_decoder_close(decoder);
    gi_file_data_free(&file);
    if (status != GI_OK) {
        free(image->data);
        image->data = NULL;
    }
    return status;
}

static gi_status encode(gi_output *output, const gi_encode_options *options, const gi_view *image, gi_error *err) {
    gi_sink sink = gi_output_sink(output);
    gi_encoder *encoder = NULL;
    gi_status status = gi_encoder_open(gi_view_shape(image), options, &sink, &encoder, err);
    if (status == GI_OK) status = gi_encoder_rows(encoder, image, err);
    if (status == GI_OK) status = gi_encoder_finish(encoder, err);
    gi_encoder_close(encoder);
    return status;
}

gi_status gi_image_save(const char *path, const gi_batch_options *options, const gi_view *image, gi_error *err) {
    gi_encode_options encoding = options->encode;
    gi_output *output = NULL;
    char shown[GI_PATH_SHOWN];
    encoding.file = path;
    encoding.threads = gi_batch_cores(options);
    if (encoding.format == GI_FORMAT_UNKNOWN) encoding.format = gi_format_of_name(path);
    if (encoding.format == GI_FORMAT_UNKNOWN)
        return gi_fail(err, GI_ERR_USAGE, "%s: neither .png nor .jpg, and no format was given",
                       gi_path_show(path, shown));
    if ((options->skip_existing || options->no_clobber) && gi_output_replaces(path))
        return options->skip_existing ? GI_OK : gi_path_fail_existing(err, path);
    gi_status status = gi_output_open_cancellable(path, options->cancel, &output, err);
    if (status == GI_OK) status = encode(output, &encoding, image, err);
    if (status == GI_OK) status = gi_output_commit(output, options->no_clobber, err);
    gi_output_close(output);
    return status;
}
