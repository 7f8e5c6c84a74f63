// Does this build hold code that runs on the current device? All kernel files are compiled for the same architectures,
// so an empty kernel answers for all of them, before any image is at stake.
#include "kernels/common.cuh"

namespace {

__global__ void probe() {}

} // namespace

gi_status gi_cuda_probe(gi_error *err) {
    cudaFuncAttributes attributes;
    return gi_cuda_check(cudaFuncGetAttributes(&attributes, probe), "loading the kernels", err);
}
