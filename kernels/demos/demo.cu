// The device on which demonstrations are measured. As they are, this is compiled with CUDA and without.
#include "bench/demos.h"

#ifdef __CUDACC__
#include <cuda_runtime.h>

#include "cuda/cuda_status.h"
#include "kernels/launch.h"

gi_status gi_demo_use_device(int index, gi_error *err) {
    gi_status status = gi_cuda_check(cudaSetDevice(index), "taking the device", err);
    return status == GI_OK ? gi_cuda_probe(err) : status;
}
#else
gi_status gi_demo_use_device(int index, gi_error *err) {
    (void)index;
    return gi_fail(err, GI_ERR_DEVICE, "this gpuimg was built without CUDA");
}
#endif
