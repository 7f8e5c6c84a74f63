// That cuda/nvjpeg.h declares the same as the header of nvJPEG: compiled where there is one, and never run.
#include <assert.h>
#include <nvjpeg.h>

#include "cuda/nvjpeg.h"

#define SAME(ours, theirs) static_assert((int)(ours) == (int)(theirs), #theirs)
SAME(GI_NVJPEG_SUCCESS, NVJPEG_STATUS_SUCCESS);
SAME(GI_NVJPEG_BAD_JPEG, NVJPEG_STATUS_BAD_JPEG);
SAME(GI_NVJPEG_JPEG_NOT_SUPPORTED, NVJPEG_STATUS_JPEG_NOT_SUPPORTED);
SAME(GI_NVJPEG_ALLOCATOR_FAILURE, NVJPEG_STATUS_ALLOCATOR_FAILURE);
SAME(GI_NVJPEG_INCOMPLETE_BITSTREAM, NVJPEG_STATUS_INCOMPLETE_BITSTREAM);
SAME(GI_NVJPEG_BACKEND_DEFAULT, NVJPEG_BACKEND_DEFAULT);
SAME(GI_NVJPEG_BACKEND_HYBRID, NVJPEG_BACKEND_HYBRID);
SAME(GI_NVJPEG_BACKEND_HARDWARE, NVJPEG_BACKEND_HARDWARE);
SAME(GI_NVJPEG_FLAG_STRICT, NVJPEG_FLAGS_BITSTREAM_STRICT);
#ifdef NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION
SAME(GI_NVJPEG_FLAG_INTERPOLATE, NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION);
#endif
SAME(GI_NVJPEG_OUTPUT_Y, NVJPEG_OUTPUT_Y);
SAME(GI_NVJPEG_OUTPUT_RGBI, NVJPEG_OUTPUT_RGBI);
SAME(GI_NVJPEG_INPUT_RGBI, NVJPEG_INPUT_RGBI);
SAME(GI_NVJPEG_CSS_444, NVJPEG_CSS_444);
SAME(GI_NVJPEG_CSS_422, NVJPEG_CSS_422);
SAME(GI_NVJPEG_CSS_420, NVJPEG_CSS_420);
SAME(GI_NVJPEG_CSS_GRAY, NVJPEG_CSS_GRAY);
static_assert(sizeof(gi_nvjpeg_image) == sizeof(nvjpegImage_t), "nvjpegImage_t");
static_assert(offsetof(gi_nvjpeg_image, pitch) == offsetof(nvjpegImage_t, pitch), "nvjpegImage_t.pitch");
static_assert(sizeof(nvjpegStatus_t) == sizeof(int) && sizeof(nvjpegOutputFormat_t) == sizeof(int), "enumerations");

// Each of our calls, by their prototypes: another number or kind of arguments does not compile.
void gi_nvjpeg_prototypes(gi_nvjpeg_handle h, gi_nvjpeg_state s, gi_nvjpeg_stream p, gi_nvjpeg_encoder e);
void gi_nvjpeg_prototypes(gi_nvjpeg_handle h, gi_nvjpeg_state s, gi_nvjpeg_stream p, gi_nvjpeg_encoder e) {
    const unsigned char *data = NULL;
    unsigned char *out = NULL;
    size_t size = 0;
    unsigned number = 0;
    int value = 0;
    nvjpegImage_t image = {{NULL}, {0}};
    gi_nvjpeg_params q = NULL;
    gi_nvjpeg_decoder d = NULL;
    gi_nvjpeg_pinned pinned = NULL;
    gi_nvjpeg_memory memory = NULL;
    gi_nvjpeg_decode_params params = NULL;
    cudaStream_t stream = NULL;
    nvjpegGetProperty(MAJOR_VERSION, &value);
    nvjpegCreateEx(NVJPEG_BACKEND_HARDWARE, NULL, NULL, number, &h);
    nvjpegGetHardwareDecoderInfo(h, &number, &number);
    nvjpegDecoderCreate(h, NVJPEG_BACKEND_HYBRID, &d);
    nvjpegDecoderStateCreate(h, d, &s);
    nvjpegBufferPinnedCreate(h, NULL, &pinned);
    nvjpegBufferDeviceCreate(h, NULL, &memory);
    nvjpegStateAttachPinnedBuffer(s, pinned);
    nvjpegStateAttachDeviceBuffer(s, memory);
    nvjpegJpegStreamCreate(h, &p);
    nvjpegJpegStreamParse(h, data, size, 0, 0, p);
    nvjpegDecodeParamsCreate(h, &params);
    nvjpegDecodeParamsSetOutputFormat(params, NVJPEG_OUTPUT_Y);
    nvjpegDecoderJpegSupported(d, p, params, &value);
    nvjpegDecodeJpegHost(h, d, s, params, p);
    nvjpegDecodeJpegTransferToDevice(h, d, s, p, stream);
    nvjpegDecodeJpegDevice(h, d, s, &image, stream);
    nvjpegDecodeParamsDestroy(params);
    nvjpegBufferDeviceDestroy(memory);
    nvjpegBufferPinnedDestroy(pinned);
    nvjpegDecoderDestroy(d);
    nvjpegEncoderStateCreate(h, &e, stream);
    nvjpegEncoderParamsCreate(h, &q, stream);
    nvjpegEncoderParamsSetQuality(q, value, stream);
    nvjpegEncoderParamsSetOptimizedHuffman(q, value, stream);
    nvjpegEncoderParamsSetSamplingFactors(q, NVJPEG_CSS_GRAY, stream);
    nvjpegEncodeYUV(h, e, q, &image, NVJPEG_CSS_GRAY, value, value, stream);
    nvjpegEncodeImage(h, e, q, &image, NVJPEG_INPUT_RGBI, value, value, stream);
    nvjpegEncodeRetrieveBitstream(h, e, out, &size, stream);
    nvjpegEncoderParamsDestroy(q);
    nvjpegEncoderStateDestroy(e);
    nvjpegJpegStreamDestroy(p);
    nvjpegJpegStateDestroy(s);
    nvjpegDestroy(h);
}
