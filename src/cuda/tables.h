// The tables of point operations on their way to the device.
#ifndef GI_CUDA_TABLES_H
#define GI_CUDA_TABLES_H

#include <stdbool.h>

#include "cuda/buffer.h"
#include "kernels/launch.h"

// A slot's place for tables. All zero but for `taken` is empty.
typedef struct gi_cuda_tables {
    gi_cuda_buffer staging;   // page-locked: the caller's tables, copied before the call returns
    gi_cuda_buffer curves;    // device
    gi_cuda_buffer linear[2]; // device: the gray weights=linear tables of u8 and u16, once they have been used
    bool linear_ready[2];
    cudaEvent_t taken; // the device has read the staging, which may be written again
} gi_cuda_tables;

// *out = the operation with its tables on the device, once the copies that this enqueues on `stream` are done. Valid
// until the next call. `point` may be freed at once.
gi_status gi_cuda_tables_stage(gi_cuda_tables *tables, const gi_point *point, cudaStream_t stream, gi_device_point *out,
                               gi_error *err);
void gi_cuda_tables_free(gi_cuda_tables *tables);

#endif
