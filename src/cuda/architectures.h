// What a list of compiled architectures covers.
#ifndef GI_CUDA_ARCHITECTURES_H
#define GI_CUDA_ARCHITECTURES_H

#include <stdbool.h>

// True when code built for `list` runs on a device of compute capability major.minor. `list` is CMake's: numbers as in
// sm_NN separated by spaces, each with "-real" (machine code: runs on the same major and an equal or higher minor),
// "-virtual" (PTX: the driver compiles it for any equal or higher capability) or nothing (both). A number that ends in
// a letter runs on its own capability ("a") or family ("f") alone. A word without a number ("native", "all") leaves it
// to the driver to say: true.
bool gi_cuda_architectures_cover(const char *list, int major, int minor);

#endif
