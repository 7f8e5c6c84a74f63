// A slot's part of nvJPEG: page-locked memory for files. The rest is the device's (jpeg_device.h).
#ifndef GI_CUDA_SLOT_JPEG_H
#define GI_CUDA_SLOT_JPEG_H

#include "core/backend.h"
#include "cuda/buffer.h"

typedef struct gi_cuda_jpeg {
    gi_cuda_buffer in, out;
} gi_cuda_jpeg;

void gi_cuda_jpeg_free(gi_cuda_jpeg *jpeg);

// gi_backend_ops of JPEG.
gi_status gi_cuda_slot_jpeg_check(gi_backend *backend, gi_error *err);
const char *gi_cuda_slot_jpeg_busy(gi_backend *backend);
gi_status gi_cuda_slot_jpeg_decode(gi_slot *slot, const gi_jpeg_source *source, gi_error *err);
gi_status gi_cuda_slot_jpeg_encode(gi_slot *slot, const gi_jpeg_form *form, const uint8_t **data, size_t *size,
                                   gi_error *err);

#endif
