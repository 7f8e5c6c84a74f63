// A slot's part of nvJPEG: decoder, encoder and their page-locked buffers, made when they are first needed.
#ifndef GI_CUDA_SLOT_JPEG_H
#define GI_CUDA_SLOT_JPEG_H

#include "core/backend.h"
#include "cuda/buffer.h"
#include "cuda/nvjpeg.h"

// All zero has nothing made.
typedef struct gi_cuda_jpeg {
    const gi_nvjpeg *library;
    gi_nvjpeg_state state;
    gi_nvjpeg_state hardware; // NULL: the device has no engine for it
    gi_nvjpeg_stream parsed;  // for it
    int hardware_format;      // that it was last set up for; 0: none
    gi_nvjpeg_encoder encoder;
    gi_nvjpeg_params params;
    gi_cuda_buffer in, out; // page-locked: files
} gi_cuda_jpeg;

void gi_cuda_jpeg_free(gi_cuda_jpeg *jpeg);

// gi_backend_ops of JPEG.
gi_status gi_cuda_slot_jpeg_check(gi_backend *backend, gi_error *err);
gi_status gi_cuda_slot_jpeg_decode(gi_slot *slot, const gi_jpeg_source *source, gi_error *err);
gi_status gi_cuda_slot_jpeg_encode(gi_slot *slot, const gi_jpeg_form *form, const uint8_t **data, size_t *size,
                                   gi_error *err);

#endif
