// All demonstrations, in the order of the list, which is one to learn by (a kernel, the memories, what threads do,
// whole algorithms, the CPU): kernels/demos/NAME.cu has gi_demo_NAME, and includes this.
#ifndef GI_BENCH_DEMOS_H
#define GI_BENCH_DEMOS_H

#include "bench/demo.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GI_DEMOS(DEMO)                                                                                                 \
    DEMO(add)                                                                                                          \
    DEMO(points)                                                                                                       \
    DEMO(transfer)                                                                                                     \
    DEMO(streams)                                                                                                      \
    DEMO(zerocopy)                                                                                                     \
    DEMO(coalescing)                                                                                                   \
    DEMO(banks)                                                                                                        \
    DEMO(constant)                                                                                                     \
    DEMO(texture)                                                                                                      \
    DEMO(divergence)                                                                                                   \
    DEMO(ilp)                                                                                                          \
    DEMO(unrolling)                                                                                                    \
    DEMO(precision)                                                                                                    \
    DEMO(intrinsics)                                                                                                   \
    DEMO(launch)                                                                                                       \
    DEMO(reduce)                                                                                                       \
    DEMO(scan)                                                                                                         \
    DEMO(hist)                                                                                                         \
    DEMO(matmul)                                                                                                       \
    DEMO(sort)                                                                                                         \
    DEMO(median)                                                                                                       \
    DEMO(heat)                                                                                                         \
    DEMO(diffusion)                                                                                                    \
    DEMO(threads)

// "|add|..."
#define GI_DEMO_WORD(name) "|" #name
#define GI_DEMO_WORDS GI_DEMOS(GI_DEMO_WORD)

#define GI_DEMO_EXTERN(name) extern const gi_demo gi_demo_##name;
GI_DEMOS(GI_DEMO_EXTERN)
#undef GI_DEMO_EXTERN

// Demonstration i, NULL past the last; by its name, NULL for others.
const gi_demo *gi_demo_at(int i);
const gi_demo *gi_demo_find(const char *name);

// Makes CUDA device `index` the current one and looks whether this build's kernels run on it: GI_ERR_DEVICE with the
// reason when not, and in builds without CUDA. Creates its context.
gi_status gi_demo_use_device(int index, gi_error *err);

#ifdef __cplusplus
}
#endif
#endif
