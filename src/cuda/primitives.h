// The primitives on arrays by CUDA (core/primitives.h).
#ifndef GI_CUDA_PRIMITIVES_H
#define GI_CUDA_PRIMITIVES_H

#include "core/primitives.h"

extern const gi_primitives gi_cuda_primitives;

#endif
