// The matrix product on the device: C = A B, row-major float32. A boundary as launch.h is: C types only, and launchers
// that enqueue and return.
#ifndef GI_KERNELS_MATMUL_H
#define GI_KERNELS_MATMUL_H

#include <stddef.h>
#include <stdint.h>

#include "core/primitives.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gi_cublas gi_cublas;

// A is m x k, B is k x n, C is m x n, in device memory, aligned as floats are; strides as those of gi_matmul_job. A
// side may be 0 (k = 0: C is zero) and is at most 2^31 - 1; the number of elements has no limit. C overlaps neither A
// nor B. Aligned to 16 bytes, and with strides that are multiples of 4, matrices are read and written in wider pieces.
typedef struct gi_matmul_launch {
    const float *a, *b;
    float *c;
    size_t m, k, n;
    size_t a_stride, b_stride, c_stride;
    int algorithm;     // GI_MATMUL_...
    gi_cublas *cublas; // for the two algorithms of that name, opened on the current device
    void *scratch;     // device, at least what the scratch function said, 256-byte aligned
    void *stream;      // cudaStream_t
} gi_matmul_launch;

// Bytes of device memory that the job needs; pure: by m, k, n and algorithm alone. At most 32 MiB.
size_t gi_cuda_matmul_scratch(const gi_matmul_launch *job);

// Enqueues and returns, as every launcher. Two runs of one algorithm give the same bits. NaN and infinities come out as
// the formula has them.
//   GI_ERR_USAGE   a cublas algorithm without job->cublas
//   GI_ERR_LIMIT   a side above 2^31 - 1
//   GI_ERR_DEVICE  the device cannot: tf32 before compute capability 8.0, or wgmma with these matrices
gi_status gi_cuda_matmul(const gi_matmul_launch *job, gi_error *err);

// What GI_MATMUL_AUTO stands for with these sides. Pure.
int gi_matmul_choose(size_t m, size_t k, size_t n);

// A bound of the rounding error: |computed - exact|, each element, is at most this times that of |A| |B|; hence also
// the Frobenius norms, ||computed - exact|| <= bound ||A|| ||B||. For finite results without underflow.
//   float32  k u / (1 - k u), u = 2^-24: any order of the sum, fused or not (Higham, Accuracy and Stability of
//            Numerical Algorithms, 2nd ed., section 3.5, eq. 3.13)
//   tf32     (1 + v)^2 (1 + k w) - 1, where v is the rounding of a factor to 11 bits and w = 2^-22 a step of the tensor
//            core's sum, which truncates (Blanchard, Higham, Lopez, Mary, Pranesh, Mixed precision block fused
//            multiply-add, SIAM J. Sci. Comput. 42, 2020; w allows the aligned truncation two bits more).
//            v = 2^-11, rounding to nearest, for ours; 2^-10 for cuBLAS, which does not say.
double gi_matmul_error_bound(int algorithm, size_t k);

// libcublas, looked for at run time. The handle serves the device that was current, one thread at a time.
//   GI_ERR_DEVICE  with a reason: not found (and what the loader said), too old, or it cannot start
gi_status gi_cublas_open(gi_cublas **out, gi_error *err);
void gi_cublas_close(gi_cublas *cublas); // NULL: nothing

// The library's version as cublasGetVersion has it, 130002 for 13.0.2.
int gi_cublas_version(const gi_cublas *cublas);

#ifdef __cplusplus
}
#endif
#endif
