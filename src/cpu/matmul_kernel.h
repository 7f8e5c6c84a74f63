// The inner kernels of the matrix product: a tile of C in registers.
#ifndef GI_CPU_MATMUL_KERNEL_H
#define GI_CPU_MATMUL_KERNEL_H

#include <stddef.h>

// A tile of C is `rows` x `columns`. `a` holds a panel of A, packed: k columns of `rows` numbers; `b` one of B: k rows
// of `columns` numbers.
typedef struct gi_matmul_kernel {
    size_t rows, columns; // at most GI_MATMUL_ROWS_MAX and GI_MATMUL_COLUMNS_MAX
    // c[i][j] = (add ? c[i][j] : 0) + the sum over p of a[p][i] * b[p][j]: the sum first, p upwards, with fused
    // multiply-adds where the instruction set has them. The rows of C are c_stride numbers apart. k >= 1.
    void (*run)(size_t k, const float *a, const float *b, float *c, size_t c_stride, int add);
} gi_matmul_kernel;

enum { GI_MATMUL_ROWS_MAX = 14, GI_MATMUL_COLUMNS_MAX = 32 };

// That of gi_simd_level().
const gi_matmul_kernel *gi_matmul_kernel_now(void);

#endif
