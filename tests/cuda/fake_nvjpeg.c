// An nvJPEG without a GPU, over libjpeg-turbo and the fake runtime: the functions that cuda/nvjpeg.h names, and no
// others. What the real one may do late is done late: a file is read, and an image written or encoded, when something
// waits for the stream. Every sample it decodes is one level brighter than libjpeg's (but for 255), so that it shows
// who decoded.
//
// Environment: FAKE_NVJPEG_ENGINES  decoding engines of the device (0)
//              FAKE_NVJPEG_FAIL     NAME=CODE: that function (without nvjpeg) returns the code and does nothing
//              FAKE_NVJPEG_SLOW_MS  that a file takes on the processors (0)
//              FAKE_NVJPEG_LOG      file to which every call's name is added, a line each; and "engine_state" and
//              "engine"
//                                   for a decoder of the engine, and for a file by one
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jpeglib.h>

#include "cuda/nvjpeg.h"
#include "fake_runtime.h"

#define API __attribute__((visibility("default")))
enum { NOT_INITIALIZED = 1, INVALID_PARAMETER = 2, ARCH_MISMATCH = 7 };

#define DECLARE(name, parameters) API int nvjpeg##name parameters;
GI_NVJPEG_FUNCTIONS(DECLARE)
#undef DECLARE

struct nvjpegHandle {
    int backend;
};
struct nvjpegJpegDecoder {
    int backend;
};
struct nvjpegBufferPinned {
    bool there;
};
struct nvjpegBufferDevice {
    bool there;
};
struct nvjpegDecodeParams {
    int format;
};
struct nvjpegJpegState {
    int backend;
    const struct nvjpegBufferPinned *pinned;
    const struct nvjpegBufferDevice *memory;
    int format;                            // of the file that the host's part is done of; -1: none
    const struct nvjpegJpegStream *parsed; // ... and the device has got
};
struct nvjpegJpegStream {
    const unsigned char *data; // NULL: nothing is parsed
    size_t size;
    bool plain; // what an engine can do
};
struct nvjpegEncoderState {
    unsigned char *file; // of the last image, once it is done
    unsigned long size;
};
struct nvjpegEncoderParams {
    int quality, optimize, chroma;
};

static void log_line(const char *name) {
    const char *log = getenv("FAKE_NVJPEG_LOG");
    char line[64];
    int fd = log ? open(log, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    if (fd < 0) return;
    int size = snprintf(line, sizeof line, "%s\n", name);
    if (write(fd, line, (size_t)size) != size) abort();
    close(fd);
}

static int begin(const char *name) {
    const char *fail = getenv("FAKE_NVJPEG_FAIL");
    const size_t length = strlen(name);
    log_line(name);
    return fail && strncmp(fail, name, length) == 0 && fail[length] == '=' ? atoi(fail + length + 1) : 0;
}

#define BEGIN(name)                                                                                                    \
    do {                                                                                                               \
        int code_ = begin(name);                                                                                       \
        if (code_ != GI_NVJPEG_SUCCESS) return code_;                                                                  \
    } while (0)

static long slow_ms(void) {
    const char *text = getenv("FAKE_NVJPEG_SLOW_MS");
    return text ? atol(text) : 0;
}

static unsigned engines(void) {
    const char *text = getenv("FAKE_NVJPEG_ENGINES");
    return text ? (unsigned)atoi(text) : 0;
}

static void *make(size_t bytes) {
    void *made = calloc(1, bytes);
    if (!made) abort();
    return made;
}

// ---- libjpeg ------------------------------------------------------------------------------------------------------

typedef struct failures {
    struct jpeg_error_mgr manager;
    jmp_buf back;
} failures;

static void give_up(j_common_ptr library) { longjmp(((failures *)library->err)->back, 1); }
static void be_strict(j_common_ptr library, int level) {
    if (level < 0) give_up(library);
}

typedef struct decoding {
    const unsigned char *data;
    size_t size;
    int format;
    gi_nvjpeg_image to; // channel NULL: only whether it can be decoded
    bool header_only, plain;
} decoding;

static void set_up(struct jpeg_decompress_struct *library, failures *errors) {
    library->err = jpeg_std_error(&errors->manager);
    errors->manager.error_exit = give_up;
    errors->manager.emit_message = be_strict;
}

static void write_row(const decoding *d, unsigned y, const unsigned char *row, size_t bytes) {
    unsigned char *to = d->to.channel[0] + y * d->to.pitch[0];
    for (size_t i = 0; i < bytes; i++) to[i] = (unsigned char)(row[i] < 255 ? row[i] + 1 : 255);
}

static void decode_rows(struct jpeg_decompress_struct *library, const decoding *d) {
    library->out_color_space = d->format == GI_NVJPEG_OUTPUT_Y ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(library);
    const size_t bytes = (size_t)library->output_width * (unsigned)library->output_components;
    JSAMPARRAY row = library->mem->alloc_sarray((j_common_ptr)library, JPOOL_IMAGE, (JDIMENSION)bytes, 1);
    if (d->to.channel[0]) fake_require_device(d->to.channel[0], d->to.pitch[0] * library->output_height);
    while (library->output_scanline < library->output_height) {
        const unsigned y = library->output_scanline;
        jpeg_read_scanlines(library, row, 1);
        if (d->to.channel[0]) write_row(d, y, row[0], bytes);
    }
    jpeg_finish_decompress(library);
}

static bool decode(decoding *d) {
    struct jpeg_decompress_struct library;
    failures errors;
    set_up(&library, &errors);
    if (setjmp(errors.back)) {
        jpeg_destroy_decompress(&library);
        return false;
    }
    jpeg_create_decompress(&library);
    jpeg_mem_src(&library, d->data, (unsigned long)d->size);
    jpeg_read_header(&library, TRUE);
    d->plain = !library.progressive_mode && library.comp_info[0].h_samp_factor <= 2;
    if (!d->header_only) decode_rows(&library, d);
    jpeg_destroy_decompress(&library);
    return true;
}

static void decode_late(void *data) {
    decoding *d = data;
    if (decode(d)) return;
    fprintf(stderr, "fake nvJPEG: the file has changed before it was decoded\n");
    abort();
}

static int decode_on(cudaStream_t stream, decoding d) {
    decoding tried = d;
    tried.to.channel[0] = NULL;
    if (!decode(&tried)) return GI_NVJPEG_BAD_JPEG;
    fake_enqueue(stream, decode_late, &d, sizeof d);
    return GI_NVJPEG_SUCCESS;
}

typedef struct encoding {
    struct nvjpegEncoderState *encoder;
    struct nvjpegEncoderParams params;
    gi_nvjpeg_image from;
    int channels, width, height;
} encoding;

static void encode_late(void *data) {
    const encoding *e = data;
    struct jpeg_compress_struct library;
    struct jpeg_error_mgr errors;
    library.err = jpeg_std_error(&errors);
    jpeg_create_compress(&library);
    jpeg_mem_dest(&library, &e->encoder->file, &e->encoder->size);
    library.image_width = (JDIMENSION)e->width;
    library.image_height = (JDIMENSION)e->height;
    library.input_components = e->channels;
    library.in_color_space = e->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&library);
    jpeg_set_quality(&library, e->params.quality, TRUE);
    library.comp_info[0].h_samp_factor =
        e->params.chroma == GI_NVJPEG_CSS_420 || e->params.chroma == GI_NVJPEG_CSS_422 ? 2 : 1;
    library.comp_info[0].v_samp_factor = e->params.chroma == GI_NVJPEG_CSS_420 ? 2 : 1;
    library.optimize_coding = e->params.optimize != 0;
    jpeg_start_compress(&library, TRUE);
    fake_require_device(e->from.channel[0], e->from.pitch[0] * (size_t)e->height);
    while (library.next_scanline < library.image_height) {
        JSAMPROW row = e->from.channel[0] + library.next_scanline * e->from.pitch[0];
        jpeg_write_scanlines(&library, &row, 1);
    }
    jpeg_finish_compress(&library);
    jpeg_destroy_compress(&library);
}

static int encode_on(cudaStream_t stream, encoding e) {
    if (e.params.quality == 0) return NOT_INITIALIZED;
    free(e.encoder->file);
    e.encoder->file = NULL;
    e.encoder->size = 0;
    fake_enqueue(stream, encode_late, &e, sizeof e);
    return GI_NVJPEG_SUCCESS;
}

// ---- the library's functions --------------------------------------------------------------------------------------

int nvjpegGetProperty(int type, int *value) {
    static const int version[] = {13, 0, 1};
    *value = version[type];
    return GI_NVJPEG_SUCCESS;
}

int nvjpegCreateEx(int backend, void *device, void *pinned, unsigned flags, gi_nvjpeg_handle *handle) {
    BEGIN("CreateEx");
    if (device || pinned || flags & ~(unsigned)(GI_NVJPEG_FLAG_STRICT | GI_NVJPEG_FLAG_INTERPOLATE))
        return INVALID_PARAMETER;
    if (backend == GI_NVJPEG_BACKEND_HARDWARE && engines() == 0) return ARCH_MISMATCH;
    *handle = make(sizeof **handle);
    (*handle)->backend = backend;
    return GI_NVJPEG_SUCCESS;
}

int nvjpegDestroy(gi_nvjpeg_handle handle) {
    free(handle);
    return begin("Destroy");
}

int nvjpegGetHardwareDecoderInfo(gi_nvjpeg_handle handle, unsigned *count, unsigned *cores) {
    BEGIN("GetHardwareDecoderInfo");
    if (handle->backend != GI_NVJPEG_BACKEND_HARDWARE) return INVALID_PARAMETER;
    *count = engines();
    *cores = 1;
    return GI_NVJPEG_SUCCESS;
}

int nvjpegDecoderCreate(gi_nvjpeg_handle handle, int backend, gi_nvjpeg_decoder *decoder) {
    BEGIN("DecoderCreate");
    if (backend == GI_NVJPEG_BACKEND_HARDWARE && handle->backend != backend) return ARCH_MISMATCH;
    *decoder = make(sizeof **decoder);
    (*decoder)->backend = backend;
    return GI_NVJPEG_SUCCESS;
}

int nvjpegDecoderDestroy(gi_nvjpeg_decoder decoder) {
    free(decoder);
    return begin("DecoderDestroy");
}

int nvjpegDecoderStateCreate(gi_nvjpeg_handle handle, gi_nvjpeg_decoder decoder, gi_nvjpeg_state *state) {
    BEGIN("DecoderStateCreate");
    (void)handle;
    if (decoder->backend == GI_NVJPEG_BACKEND_HARDWARE) BEGIN("engine_state");
    *state = make(sizeof **state);
    (*state)->backend = decoder->backend;
    (*state)->format = -1;
    return GI_NVJPEG_SUCCESS;
}

int nvjpegJpegStateDestroy(gi_nvjpeg_state state) {
    free(state);
    return begin("JpegStateDestroy");
}

#define BUFFER(kind, type)                                                                                             \
    int nvjpeg##kind##Create(gi_nvjpeg_handle handle, void *allocator, type *buffer) {                                 \
        BEGIN(#kind "Create");                                                                                         \
        (void)handle;                                                                                                  \
        if (allocator) return INVALID_PARAMETER;                                                                       \
        *buffer = make(sizeof **buffer);                                                                               \
        return GI_NVJPEG_SUCCESS;                                                                                      \
    }                                                                                                                  \
    int nvjpeg##kind##Destroy(type buffer) {                                                                           \
        free(buffer);                                                                                                  \
        return begin(#kind "Destroy");                                                                                 \
    }
BUFFER(BufferPinned, gi_nvjpeg_pinned)
BUFFER(BufferDevice, gi_nvjpeg_memory)
#undef BUFFER

int nvjpegStateAttachPinnedBuffer(gi_nvjpeg_state state, gi_nvjpeg_pinned buffer) {
    BEGIN("StateAttachPinnedBuffer");
    state->pinned = buffer;
    return GI_NVJPEG_SUCCESS;
}

int nvjpegStateAttachDeviceBuffer(gi_nvjpeg_state state, gi_nvjpeg_memory buffer) {
    BEGIN("StateAttachDeviceBuffer");
    state->memory = buffer;
    return GI_NVJPEG_SUCCESS;
}

int nvjpegJpegStreamCreate(gi_nvjpeg_handle handle, gi_nvjpeg_stream *parsed) {
    BEGIN("JpegStreamCreate");
    (void)handle;
    *parsed = make(sizeof **parsed);
    return GI_NVJPEG_SUCCESS;
}

int nvjpegJpegStreamDestroy(gi_nvjpeg_stream parsed) {
    free(parsed);
    return begin("JpegStreamDestroy");
}

int nvjpegJpegStreamParse(gi_nvjpeg_handle handle, const unsigned char *data, size_t size, int save_metadata,
                          int save_stream, gi_nvjpeg_stream parsed) {
    BEGIN("JpegStreamParse");
    (void)handle, (void)save_metadata, (void)save_stream;
    decoding d = {.data = data, .size = size, .header_only = true};
    *parsed = (struct nvjpegJpegStream){NULL, 0, false};
    if (!decode(&d)) return GI_NVJPEG_BAD_JPEG;
    *parsed = (struct nvjpegJpegStream){data, size, d.plain};
    return GI_NVJPEG_SUCCESS;
}

int nvjpegDecodeParamsCreate(gi_nvjpeg_handle handle, gi_nvjpeg_decode_params *params) {
    BEGIN("DecodeParamsCreate");
    (void)handle;
    *params = make(sizeof **params);
    return GI_NVJPEG_SUCCESS;
}

int nvjpegDecodeParamsDestroy(gi_nvjpeg_decode_params params) {
    free(params);
    return begin("DecodeParamsDestroy");
}

int nvjpegDecodeParamsSetOutputFormat(gi_nvjpeg_decode_params params, int format) {
    BEGIN("DecodeParamsSetOutputFormat");
    params->format = format;
    return GI_NVJPEG_SUCCESS;
}

int nvjpegDecoderJpegSupported(gi_nvjpeg_decoder decoder, gi_nvjpeg_stream parsed, gi_nvjpeg_decode_params params,
                               int *not_supported) {
    BEGIN("DecoderJpegSupported");
    if (!parsed->data || !params) return INVALID_PARAMETER;
    *not_supported = decoder->backend == GI_NVJPEG_BACKEND_HARDWARE && !parsed->plain;
    return GI_NVJPEG_SUCCESS;
}

int nvjpegDecodeJpegHost(gi_nvjpeg_handle handle, gi_nvjpeg_decoder decoder, gi_nvjpeg_state state,
                         gi_nvjpeg_decode_params params, gi_nvjpeg_stream parsed) {
    BEGIN("DecodeJpegHost");
    (void)handle;
    if (!parsed->data || !state->pinned || decoder->backend != state->backend) return INVALID_PARAMETER;
    if (decoder->backend != GI_NVJPEG_BACKEND_HARDWARE && slow_ms() > 0)
        nanosleep(&(struct timespec){.tv_nsec = slow_ms() * 1000000L}, NULL);
    state->format = params->format;
    return GI_NVJPEG_SUCCESS;
}

int nvjpegDecodeJpegTransferToDevice(gi_nvjpeg_handle handle, gi_nvjpeg_decoder decoder, gi_nvjpeg_state state,
                                     gi_nvjpeg_stream parsed, cudaStream_t stream) {
    BEGIN("DecodeJpegTransferToDevice");
    (void)handle, (void)decoder, (void)stream;
    if (state->format < 0 || !state->memory) return NOT_INITIALIZED;
    state->parsed = parsed;
    return GI_NVJPEG_SUCCESS;
}

int nvjpegDecodeJpegDevice(gi_nvjpeg_handle handle, gi_nvjpeg_decoder decoder, gi_nvjpeg_state state,
                           gi_nvjpeg_image *to, cudaStream_t stream) {
    const decoding d = {.format = state->format, .to = *to};
    const struct nvjpegJpegStream *parsed = state->parsed;
    state->format = -1;
    state->parsed = NULL;
    BEGIN("DecodeJpegDevice");
    (void)handle;
    if (!parsed) return NOT_INITIALIZED;
    if (decoder->backend == GI_NVJPEG_BACKEND_HARDWARE) BEGIN("engine");
    return decode_on(stream, (decoding){.data = parsed->data, .size = parsed->size, .format = d.format, .to = d.to});
}

int nvjpegEncoderStateCreate(gi_nvjpeg_handle handle, gi_nvjpeg_encoder *encoder, cudaStream_t stream) {
    BEGIN("EncoderStateCreate");
    (void)handle;
    if (!stream) return INVALID_PARAMETER;
    *encoder = make(sizeof **encoder);
    return GI_NVJPEG_SUCCESS;
}

int nvjpegEncoderStateDestroy(gi_nvjpeg_encoder encoder) {
    free(encoder->file);
    free(encoder);
    return begin("EncoderStateDestroy");
}

int nvjpegEncoderParamsCreate(gi_nvjpeg_handle handle, gi_nvjpeg_params *params, cudaStream_t stream) {
    BEGIN("EncoderParamsCreate");
    (void)handle, (void)stream;
    *params = make(sizeof **params);
    return GI_NVJPEG_SUCCESS;
}

int nvjpegEncoderParamsDestroy(gi_nvjpeg_params params) {
    free(params);
    return begin("EncoderParamsDestroy");
}

int nvjpegEncoderParamsSetQuality(gi_nvjpeg_params params, int quality, cudaStream_t stream) {
    BEGIN("EncoderParamsSetQuality");
    (void)stream;
    params->quality = quality;
    return quality >= 1 && quality <= 100 ? GI_NVJPEG_SUCCESS : INVALID_PARAMETER;
}

int nvjpegEncoderParamsSetOptimizedHuffman(gi_nvjpeg_params params, int on, cudaStream_t stream) {
    BEGIN("EncoderParamsSetOptimizedHuffman");
    (void)stream;
    params->optimize = on;
    return GI_NVJPEG_SUCCESS;
}

int nvjpegEncoderParamsSetSamplingFactors(gi_nvjpeg_params params, int chroma, cudaStream_t stream) {
    BEGIN("EncoderParamsSetSamplingFactors");
    (void)stream;
    params->chroma = chroma;
    return GI_NVJPEG_SUCCESS;
}

#ifndef FAKE_NVJPEG_LACKS // a library without one of the functions
int nvjpegEncodeYUV(gi_nvjpeg_handle handle, gi_nvjpeg_encoder encoder, gi_nvjpeg_params params,
                    const gi_nvjpeg_image *from, int chroma, int width, int height, cudaStream_t stream) {
    BEGIN("EncodeYUV");
    (void)handle;
    if (chroma != GI_NVJPEG_CSS_GRAY || params->chroma != chroma) return INVALID_PARAMETER;
    return encode_on(stream, (encoding){encoder, *params, *from, 1, width, height});
}
#endif

int nvjpegEncodeImage(gi_nvjpeg_handle handle, gi_nvjpeg_encoder encoder, gi_nvjpeg_params params,
                      const gi_nvjpeg_image *from, int format, int width, int height, cudaStream_t stream) {
    BEGIN("EncodeImage");
    (void)handle;
    if (format != GI_NVJPEG_INPUT_RGBI || params->chroma == GI_NVJPEG_CSS_GRAY) return INVALID_PARAMETER;
    return encode_on(stream, (encoding){encoder, *params, *from, 3, width, height});
}

typedef struct fetching {
    const struct nvjpegEncoderState *encoder;
    unsigned char *to;
} fetching;

static void fetch_late(void *data) {
    const fetching *f = data;
    memcpy(f->to, f->encoder->file, f->encoder->size);
}

int nvjpegEncodeRetrieveBitstream(gi_nvjpeg_handle handle, gi_nvjpeg_encoder encoder, unsigned char *data, size_t *size,
                                  cudaStream_t stream) {
    BEGIN("EncodeRetrieveBitstream");
    (void)handle;
    if (!encoder->file) return NOT_INITIALIZED; // nobody has waited for it
    if (data && *size < encoder->size) return INVALID_PARAMETER;
    *size = encoder->size;
    const fetching f = {encoder, data};
    if (data) fake_enqueue(stream, fetch_late, &f, sizeof f);
    return GI_NVJPEG_SUCCESS;
}
