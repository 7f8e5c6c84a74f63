// A demonstration: one file below kernels/demos/, which measures and fills tables.
//
// The file is read by students from top to bottom: what is shown, the formula, the picture in words and what to look at
// in ncu; the CPU's version; the kernels, simplest first; the measuring; the gi_demo. With CUDA it is compiled by nvcc,
// without CUDA as C11: so what stands outside #ifdef __CUDACC__ is in the language that C11 and C++17 share.
#ifndef GI_BENCH_DEMO_H
#define GI_BENCH_DEMO_H

#include "bench/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gi_demo {
    const char *name;
    const char *summary; // one line, for the list
    const char *lesson;  // a sentence: what the tables show
    // Fills the tables. Fails when a result is wrong or a device fails; where there is no GPU, the CPU's rows are
    // measured all the same, and a row says why the others are not.
    gi_status (*run)(gi_bench *bench, gi_error *err);
} gi_demo;

#ifdef __cplusplus
}
#endif
#endif
