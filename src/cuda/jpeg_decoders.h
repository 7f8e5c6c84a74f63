// nvJPEG's decoders on a device, one for each file in work. Those of the processors, which leave the Huffman codes to
// the CPU, are there at once. Those of the device's engine for JPEG, where it has one, need next to nothing of the CPU
// and are faster, but each takes long to make (on an H200 55 ms, the first 300): they are made beside other work, and
// taken before the others as far as they go. A file for a decoder at a time is also what is fastest there: with 16 of
// them the engine does a third more images in a second than by nvJPEG's calls for batches.
#ifndef GI_CUDA_JPEG_DECODERS_H
#define GI_CUDA_JPEG_DECODERS_H

#include "core/backend.h"
#include "core/pool.h"
#include "cuda/nvjpeg.h"

typedef struct gi_jpeg_decoders {
    const gi_nvjpeg_device *nvjpeg;
    gi_pool processors, engine;
} gi_jpeg_decoders;

void gi_jpeg_decoders_init(gi_jpeg_decoders *decoders, const gi_nvjpeg_device *nvjpeg);

// Makes one more for the engine, on the thread's current device. False: there are enough, or it cannot be had. For one
// thread at a time; the others may decode. After gi_nvjpeg_device_start.
bool gi_jpeg_decoders_grow(gi_jpeg_decoders *decoders);

// Decodes the file, in page-locked memory, into *to, as nvJPEG's `format`; nothing may be in work on *to. Waits.
// GI_ERR_FORMAT, GI_ERR_UNSUPPORTED or GI_ERR_DEVICE_MEMORY with nvJPEG's reason; what a lost device says. Thread-safe,
// after gi_nvjpeg_device_start.
gi_status gi_jpeg_decoders_run(gi_jpeg_decoders *decoders, const gi_jpeg_source *source, int format,
                               gi_nvjpeg_image *to, cudaStream_t stream, gi_error *err);

// Nobody may use them. The device must be the thread's current one if anything was made.
void gi_jpeg_decoders_end(gi_jpeg_decoders *decoders);

#endif
