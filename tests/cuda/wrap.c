// Counts calls on their way to the real runtime: the linker is told to --wrap each of these.
#include <cuda_runtime_api.h>

#include "calls.h"

struct call_counts calls;

#define WRAP(counter, name, parameters, arguments)                                                                     \
    cudaError_t __real_##name parameters;                                                                              \
    cudaError_t __wrap_##name parameters;                                                                              \
    cudaError_t __wrap_##name parameters {                                                                             \
        calls.counter++;                                                                                               \
        return __real_##name arguments;                                                                                \
    }

WRAP(made, cudaMalloc, (void **data, size_t bytes), (data, bytes))
WRAP(made, cudaHostAlloc, (void **data, size_t bytes, unsigned flags), (data, bytes, flags))
WRAP(made, cudaHostRegister, (void *data, size_t bytes, unsigned flags), (data, bytes, flags))
WRAP(made, cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags), (stream, flags))
WRAP(made, cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags), (event, flags))
WRAP(freed, cudaFree, (void *data), (data))
WRAP(freed, cudaFreeHost, (void *data), (data))
WRAP(freed, cudaHostUnregister, (void *data), (data))
WRAP(synchronised, cudaStreamSynchronize, (cudaStream_t stream), (stream))
WRAP(synchronised, cudaDeviceSynchronize, (void), ())
WRAP(waits, cudaEventSynchronize, (cudaEvent_t event), (event))
