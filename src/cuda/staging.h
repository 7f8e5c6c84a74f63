// Copies between the caller's memory, which is not page-locked, and the device's. They go in pieces through page-locked
// memory, which threads fill or empty while other pieces are on the bus: a plain cudaMemcpy has a seventh of its speed.
#ifndef GI_CUDA_STAGING_H
#define GI_CUDA_STAGING_H

#include "cuda/buffer.h"

// As for bands of images: with less, the calls for a piece take longer than its way. Three keep the bus busy.
enum { GI_STAGING_PIECE_BYTES = 4 << 20, GI_STAGING_PIECES = 4 };

typedef struct gi_staging_piece {
    gi_cuda_buffer buffer; // page-locked
    cudaEvent_t passed;    // its copy is done
} gi_staging_piece;

// All zero is one that holds nothing yet.
typedef struct gi_staging {
    gi_staging_piece pieces[GI_STAGING_PIECES];
    unsigned next; // piece to use, modulo their number
    int threads;   // of the CPU's that fill and empty pieces, at most
    cudaStream_t stream;
} gi_staging;

// Rows of bytes: on the host `row_bytes` each, `host_pitch` apart; on the device `device_pitch` apart, which is at
// least row_bytes, and followed by more rows up to device_rows. What the device has more is zero.
typedef struct gi_staged_rows {
    size_t rows, row_bytes, host_pitch;
    size_t device_rows, device_pitch; // their product fits
} gi_staged_rows;

// `bytes` in one row.
gi_staged_rows gi_staged_bytes(size_t bytes);

// Enqueues the last of it on staging->stream when it returns; the host's memory has been read then.
gi_status gi_staging_upload(gi_staging *staging, void *device, const void *host, const gi_staged_rows *shape,
                            gi_error *err);

// Waits until all is there. On the device nothing but the rows is read, and what lies between them.
gi_status gi_staging_download(gi_staging *staging, void *host, const void *device, const gi_staged_rows *shape,
                              gi_error *err);

// Nothing may be in work on the stream.
void gi_staging_free(gi_staging *staging);

#endif
