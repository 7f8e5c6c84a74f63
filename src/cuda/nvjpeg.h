// NVIDIA's nvJPEG, found when it is first asked for: nothing is linked, and none of its headers is needed. What is
// declared here is its binary interface, the same in versions 12 and 13 (tests/cuda/nvjpeg_values.c compares it with
// the header where there is one). Enumerations go as int.
#ifndef GI_CUDA_NVJPEG_H
#define GI_CUDA_NVJPEG_H

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

typedef struct nvjpegHandle *gi_nvjpeg_handle;
typedef struct nvjpegJpegDecoder *gi_nvjpeg_decoder; // a way to decode, which states share
typedef struct nvjpegJpegState *gi_nvjpeg_state;
typedef struct nvjpegBufferPinned *gi_nvjpeg_pinned;
typedef struct nvjpegBufferDevice *gi_nvjpeg_memory;
typedef struct nvjpegDecodeParams *gi_nvjpeg_decode_params;
typedef struct nvjpegJpegStream *gi_nvjpeg_stream; // a parsed header; no CUDA stream
typedef struct nvjpegEncoderState *gi_nvjpeg_encoder;
typedef struct nvjpegEncoderParams *gi_nvjpeg_params;

typedef struct gi_nvjpeg_image {
    unsigned char *channel[4];
    size_t pitch[4];
} gi_nvjpeg_image;

enum {
    GI_NVJPEG_SUCCESS = 0,
    GI_NVJPEG_BAD_JPEG = 3,
    GI_NVJPEG_JPEG_NOT_SUPPORTED = 4,
    GI_NVJPEG_ALLOCATOR_FAILURE = 5,
    GI_NVJPEG_INCOMPLETE_BITSTREAM = 10
};
enum { GI_NVJPEG_BACKEND_DEFAULT = 0, GI_NVJPEG_BACKEND_HYBRID = 1, GI_NVJPEG_BACKEND_HARDWARE = 3 };
enum { GI_NVJPEG_FLAG_STRICT = 4, GI_NVJPEG_FLAG_INTERPOLATE = 32 };
enum { GI_NVJPEG_OUTPUT_Y = 2, GI_NVJPEG_OUTPUT_RGBI = 5, GI_NVJPEG_INPUT_RGBI = 5 };
enum { GI_NVJPEG_CSS_444 = 0, GI_NVJPEG_CSS_422 = 1, GI_NVJPEG_CSS_420 = 2, GI_NVJPEG_CSS_GRAY = 6 };

// FUNCTION(name behind nvjpeg, (parameters))
#define GI_NVJPEG_FUNCTIONS(FUNCTION)                                                                                  \
    FUNCTION(GetProperty, (int type, int *value))                                                                      \
    FUNCTION(CreateEx, (int backend, void *device, void *pinned, unsigned flags, gi_nvjpeg_handle *handle))            \
    FUNCTION(Destroy, (gi_nvjpeg_handle handle))                                                                       \
    FUNCTION(GetHardwareDecoderInfo, (gi_nvjpeg_handle handle, unsigned *engines, unsigned *cores))                    \
    FUNCTION(DecoderCreate, (gi_nvjpeg_handle handle, int backend, gi_nvjpeg_decoder *decoder))                        \
    FUNCTION(DecoderDestroy, (gi_nvjpeg_decoder decoder))                                                              \
    FUNCTION(DecoderStateCreate, (gi_nvjpeg_handle handle, gi_nvjpeg_decoder decoder, gi_nvjpeg_state * state))        \
    FUNCTION(JpegStateDestroy, (gi_nvjpeg_state state))                                                                \
    FUNCTION(BufferPinnedCreate, (gi_nvjpeg_handle handle, void *allocator, gi_nvjpeg_pinned *buffer))                 \
    FUNCTION(BufferPinnedDestroy, (gi_nvjpeg_pinned buffer))                                                           \
    FUNCTION(BufferDeviceCreate, (gi_nvjpeg_handle handle, void *allocator, gi_nvjpeg_memory *buffer))                 \
    FUNCTION(BufferDeviceDestroy, (gi_nvjpeg_memory buffer))                                                           \
    FUNCTION(StateAttachPinnedBuffer, (gi_nvjpeg_state state, gi_nvjpeg_pinned buffer))                                \
    FUNCTION(StateAttachDeviceBuffer, (gi_nvjpeg_state state, gi_nvjpeg_memory buffer))                                \
    FUNCTION(JpegStreamCreate, (gi_nvjpeg_handle handle, gi_nvjpeg_stream * parsed))                                   \
    FUNCTION(JpegStreamDestroy, (gi_nvjpeg_stream parsed))                                                             \
    FUNCTION(JpegStreamParse, (gi_nvjpeg_handle handle, const unsigned char *data, size_t size, int save_metadata,     \
                               int save_stream, gi_nvjpeg_stream parsed))                                              \
    FUNCTION(DecodeParamsCreate, (gi_nvjpeg_handle handle, gi_nvjpeg_decode_params * params))                          \
    FUNCTION(DecodeParamsDestroy, (gi_nvjpeg_decode_params params))                                                    \
    FUNCTION(DecodeParamsSetOutputFormat, (gi_nvjpeg_decode_params params, int format))                                \
    FUNCTION(DecoderJpegSupported,                                                                                     \
             (gi_nvjpeg_decoder decoder, gi_nvjpeg_stream parsed, gi_nvjpeg_decode_params params, int *not_supported)) \
    FUNCTION(DecodeJpegHost, (gi_nvjpeg_handle handle, gi_nvjpeg_decoder decoder, gi_nvjpeg_state state,               \
                              gi_nvjpeg_decode_params params, gi_nvjpeg_stream parsed))                                \
    FUNCTION(DecodeJpegTransferToDevice, (gi_nvjpeg_handle handle, gi_nvjpeg_decoder decoder, gi_nvjpeg_state state,   \
                                          gi_nvjpeg_stream parsed, cudaStream_t stream))                               \
    FUNCTION(DecodeJpegDevice, (gi_nvjpeg_handle handle, gi_nvjpeg_decoder decoder, gi_nvjpeg_state state,             \
                                gi_nvjpeg_image * to, cudaStream_t stream))                                            \
    FUNCTION(EncoderStateCreate, (gi_nvjpeg_handle handle, gi_nvjpeg_encoder * encoder, cudaStream_t stream))          \
    FUNCTION(EncoderStateDestroy, (gi_nvjpeg_encoder encoder))                                                         \
    FUNCTION(EncoderParamsCreate, (gi_nvjpeg_handle handle, gi_nvjpeg_params * params, cudaStream_t stream))           \
    FUNCTION(EncoderParamsDestroy, (gi_nvjpeg_params params))                                                          \
    FUNCTION(EncoderParamsSetQuality, (gi_nvjpeg_params params, int quality, cudaStream_t stream))                     \
    FUNCTION(EncoderParamsSetOptimizedHuffman, (gi_nvjpeg_params params, int on, cudaStream_t stream))                 \
    FUNCTION(EncoderParamsSetSamplingFactors, (gi_nvjpeg_params params, int chroma, cudaStream_t stream))              \
    FUNCTION(EncodeYUV, (gi_nvjpeg_handle handle, gi_nvjpeg_encoder encoder, gi_nvjpeg_params params,                  \
                         const gi_nvjpeg_image *from, int chroma, int width, int height, cudaStream_t stream))         \
    FUNCTION(EncodeImage, (gi_nvjpeg_handle handle, gi_nvjpeg_encoder encoder, gi_nvjpeg_params params,                \
                           const gi_nvjpeg_image *from, int format, int width, int height, cudaStream_t stream))       \
    FUNCTION(EncodeRetrieveBitstream, (gi_nvjpeg_handle handle, gi_nvjpeg_encoder encoder, unsigned char *data,        \
                                       size_t *size, cudaStream_t stream))

#define GI_NVJPEG_MEMBER(name, parameters) int(*name) parameters;
typedef struct gi_nvjpeg {
    GI_NVJPEG_FUNCTIONS(GI_NVJPEG_MEMBER)
    char about[64]; // version and file name
} gi_nvjpeg;
#undef GI_NVJPEG_MEMBER

// The library, loaded at the first call and kept for good. NULL, with the reason as GI_ERR_DEVICE: there is none, or it
// lacks a function. Thread-safe.
const gi_nvjpeg *gi_nvjpeg_find(gi_error *err);

// GI_OK, or what the library's code means: GI_ERR_FORMAT for damage, GI_ERR_DEVICE_MEMORY, else GI_ERR_UNSUPPORTED.
gi_status gi_nvjpeg_check(int code, const char *doing, gi_error *err);

// The library on one device.
typedef struct gi_nvjpeg_device {
    pthread_mutex_t mutex; // of all below, and held during the start
    bool tried;
    gi_status status;
    gi_error why;
    const gi_nvjpeg *library;
    gi_nvjpeg_handle handle;
    gi_nvjpeg_decoder processors; // decodes with the CPU and the GPU's processors
    gi_nvjpeg_decoder engine;     // decodes with the device's engine for it; NULL: it has none
    unsigned engines;             // in it: decoders of the device
} gi_nvjpeg_device;

void gi_nvjpeg_device_init(gi_nvjpeg_device *device);

// Starts the library on the thread's current device, once. GI_ERR_UNSUPPORTED with the reason. Thread-safe.
gi_status gi_nvjpeg_device_start(gi_nvjpeg_device *device, gi_error *err);

// The device must be the thread's current one if it was started.
void gi_nvjpeg_device_end(gi_nvjpeg_device *device);

#endif
