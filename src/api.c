// The public API's errors, options and views.
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "api_internal.h"

#define SAME(name) static_assert((int)GPUIMG_##name == (int)GI_##name, #name " differs")
SAME(OK);
SAME(ERR_USAGE);
SAME(ERR_IO);
SAME(ERR_FORMAT);
SAME(ERR_UNSUPPORTED);
SAME(ERR_LIMIT);
SAME(ERR_EXISTS);
SAME(ERR_MEMORY);
SAME(ERR_DEVICE);
SAME(ERR_DEVICE_MEMORY);
SAME(ERR_CANCELLED);
static_assert((int)GI_STATUS_COUNT == (int)GPUIMG_ERR_CANCELLED + 1, "a status is missing from gpuimg.h");
SAME(U8);
SAME(U16);
static_assert((int)GPUIMG_FORMAT_AUTO == (int)GI_FORMAT_UNKNOWN, "formats differ");
static_assert((int)GPUIMG_PNG == (int)GI_FORMAT_PNG && (int)GPUIMG_JPEG == (int)GI_FORMAT_JPEG, "formats differ");
SAME(CODEC_AUTO);
SAME(CODEC_ZLIB);
SAME(CODEC_STB);
SAME(CODEC_AUTO_FAST);
SAME(CODEC_NVJPEG);
SAME(SUBSAMPLING_420);
SAME(SUBSAMPLING_422);
SAME(SUBSAMPLING_444);
SAME(PNG_REDUCE_AUTO);
SAME(PNG_REDUCE_ON);
SAME(PNG_REDUCE_OFF);
SAME(NOTE);
SAME(WARNING);
SAME(FAILURE);

const char *gpuimg_version(void) { return GPUIMG_VERSION; }

const char *gpuimg_status_name(gpuimg_status status) { return gi_status_name((gi_status)status); }

gpuimg_status gi_api_result(gi_status status, const gi_error *err, gpuimg_error *error) {
    if (!error) return (gpuimg_status)status;
    *error = (gpuimg_error){.status = (gpuimg_status)status, .place_offset = -1};
    if (status == GI_OK) return GPUIMG_OK;
    if (err->place_length > 0) {
        error->place_offset = err->place_offset;
        error->place_length = err->place_length;
    }
    snprintf(error->text, sizeof error->text, "%s", err->text);
    // One line, whatever names and words of the caller's it tells.
    for (char *c = error->text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
    return (gpuimg_status)status;
}

// ---- options ------------------------------------------------------------------------------------------------------

static const gpuimg_options standard = {.size = sizeof standard,
                                        .max_pixels = 1000000000,
                                        .auto_orient = 1,
                                        .jpeg_luma = 1,
                                        .quality = 90,
                                        .png_level = GI_PNG_LEVEL,
                                        .background = {255, 255, 255}};

void gpuimg_options_init(gpuimg_options *options, size_t size) {
    if (!options || size < sizeof options->size) return;
    memset(options, 0, size); // a later header's members, too
    memcpy(options, &standard, size < sizeof standard ? size : sizeof standard);
    options->size = size;
}

static gi_status check_number(const char *what, int number, int last, gi_error *err) {
    if (number >= 0 && number <= last) return GI_OK;
    return gi_fail(err, GI_ERR_USAGE, "options: no %s has the number %d", what, number);
}

static gi_status check_options(const gpuimg_options *o, gi_error *err) {
    gi_status status = check_number("format", (int)o->format, GPUIMG_JPEG, err);
    if (status == GI_OK) status = check_number("codec", (int)o->codec, GPUIMG_CODEC_NVJPEG, err);
    if (status == GI_OK) status = check_number("subsampling", (int)o->subsampling, GPUIMG_SUBSAMPLING_444, err);
    if (status == GI_OK) status = check_number("png_reduce", (int)o->png_reduce, GPUIMG_PNG_REDUCE_OFF, err);
    if (status != GI_OK) return status;
    if (o->quality < 1 || o->quality > 100)
        return gi_fail(err, GI_ERR_USAGE, "options: quality %d is not in 1..100", o->quality);
    if (o->png_level < 0 || o->png_level > 9)
        return gi_fail(err, GI_ERR_USAGE, "options: png_level %d is not in 0..9", o->png_level);
    if (o->depth != 0 && o->depth != 8 && o->depth != 16)
        return gi_fail(err, GI_ERR_USAGE, "options: depth is 0, 8 or 16, not %d", o->depth);
    if (o->workers < 0 || o->streams < 0 || o->slots < 0)
        return gi_fail(err, GI_ERR_USAGE, "options: workers, slots and streams are 0 or more");
    if (o->skip_existing && o->no_clobber)
        return gi_fail(err, GI_ERR_USAGE, "options: skip_existing and no_clobber exclude each other");
    return gi_codec_check((gi_codec_choice)o->codec, err);
}

static void say(void *context, gi_severity severity, const char *file, const char *text) {
    gi_api_voice *voice = context;
    const gpuimg_options *options = voice->options;
    pthread_mutex_lock(&voice->mutex);
    if (severity == GI_FAILURE && !voice->failed) {
        voice->failed = file;
        snprintf(voice->reason, sizeof voice->reason, "%s", text);
    }
    if (severity == GI_FLAW) severity = GI_NOTE;
    if (options->on_message) options->on_message(options->user, (gpuimg_severity)severity, file, text);
    pthread_mutex_unlock(&voice->mutex);
}

static gi_encode_options encoding(const gpuimg_options *o) {
    gi_encode_options encode = {.format = (gi_format)o->format,
                                .codec = (gi_codec_choice)o->codec,
                                .quality = o->quality,
                                .subsampling = (gi_subsampling)o->subsampling,
                                .optimize = o->optimize != 0,
                                .progressive = o->progressive != 0,
                                .png_level = o->png_level,
                                .png_reduce = (gi_png_reduce)o->png_reduce};
    memcpy(encode.background, o->background, sizeof encode.background);
    return encode;
}

gi_status gi_api_setup_begin(const gpuimg_options *options, gi_api_setup *setup, gi_error *err) {
    *setup = (gi_api_setup){.options = standard};
    pthread_mutex_init(&setup->voice.mutex, NULL);
    gpuimg_options *o = &setup->options;
    if (options && options->size < offsetof(gpuimg_options, max_pixels))
        return gi_fail(err, GI_ERR_USAGE, "options: they are to begin with gpuimg_options_init");
    if (options) memcpy(o, options, options->size < sizeof *o ? options->size : sizeof *o);
    gi_status status = check_options(o, err);
    if (status != GI_OK) return status;
    setup->voice.options = o;
    setup->messages = (gi_messages){say, &setup->voice};
    gi_batch_options *batch = &setup->batch;
    batch->decode = (gi_decode_options){.max_pixels = o->max_pixels,
                                        .depth = o->depth,
                                        .strict = o->strict != 0,
                                        .auto_orient = o->auto_orient != 0,
                                        .codec = (gi_codec_choice)o->codec,
                                        .messages = &setup->messages};
    batch->encode = encoding(o);
    batch->encode.messages = &setup->messages;
    batch->strip = o->strip != 0;
    batch->jpeg_luma = o->jpeg_luma != 0;
    batch->skip_existing = o->skip_existing != 0;
    batch->no_clobber = o->no_clobber != 0;
    batch->fail_fast = o->fail_fast != 0;
    batch->workers = o->workers;
    batch->slots = o->slots;
    batch->streams = o->streams;
    batch->messages = &setup->messages;
    batch->cancel = o->cancel;
    return GI_OK;
}

void gi_api_setup_end(gi_api_setup *setup) { pthread_mutex_destroy(&setup->voice.mutex); }

// ---- views --------------------------------------------------------------------------------------------------------

gi_status gi_api_shape(const gpuimg_image *image, const char *what, gi_shape *shape, gi_error *err) {
    if (!image) return gi_fail(err, GI_ERR_USAGE, "%s: no image", what);
    if (image->width < 1 || image->height < 1)
        return gi_fail(err, GI_ERR_USAGE, "%s: %dx%d is no size of an image", what, image->width, image->height);
    if (image->channels < 1 || image->channels > GI_MAX_CHANNELS)
        return gi_fail(err, GI_ERR_USAGE, "%s: %d channels are not 1..4", what, image->channels);
    if (image->sample != GPUIMG_U8 && image->sample != GPUIMG_U16)
        return gi_fail(err, GI_ERR_USAGE, "%s: no sample has the number %d", what, (int)image->sample);
    *shape = (gi_shape){(uint32_t)image->width, (uint32_t)image->height, image->channels, (gi_sample)image->sample};
    size_t bytes;
    return gi_shape_bytes(*shape, &bytes, err);
}

gi_status gi_api_view(const gpuimg_image *image, const char *what, gi_view *view, gi_error *err) {
    gi_shape shape;
    gi_status status = gi_api_shape(image, what, &shape, err);
    if (status != GI_OK) return status;
    if (!image->data) return gi_fail(err, GI_ERR_USAGE, "%s: data is NULL", what);
    *view = gi_view_packed(image->data, shape, GI_HOST);
    size_t row_bytes = view->pitch_bytes;
    if (image->pitch_bytes) view->pitch_bytes = image->pitch_bytes;
    if (view->pitch_bytes < row_bytes)
        return gi_fail(err, GI_ERR_USAGE, "%s: a pitch of %zu bytes is less than a row of %zu", what, view->pitch_bytes,
                       row_bytes);
    // A negative pitch comes as a huge one.
    if (view->pitch_bytes > (UINTPTR_MAX - (uintptr_t)image->data) / view->height)
        return gi_fail(err, GI_ERR_USAGE, "%s: %u rows at a pitch of %zu bytes leave the memory", what, view->height,
                       view->pitch_bytes);
    return GI_OK;
}
