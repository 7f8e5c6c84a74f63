// The first kernels of every lecture on CUDA: one thread a pixel, one byte an access.
#include "bench.h"

namespace {

constexpr int THREADS = 256;

__global__ void gray_kernel(const unsigned char *rgb, unsigned char *gray, size_t pixels) {
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= pixels) return;
    const float r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    gray[i] = (unsigned char)(0.299F * r + 0.587F * g + 0.114F * b + 0.5F);
}

__global__ void threshold_kernel(const unsigned char *in, unsigned char *out, size_t pixels, int level) {
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < pixels) out[i] = in[i] > level ? 255 : 0;
}

__global__ void hist_global_kernel(const unsigned char *in, size_t pixels, unsigned *counts) {
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < pixels) atomicAdd(&counts[in[i]], 1U);
}

// Privatised: a copy for each block, and blocks that go round the image.
__global__ void hist_shared_kernel(const unsigned char *in, size_t pixels, unsigned *counts) {
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < pixels; i += (size_t)gridDim.x * THREADS)
        atomicAdd(&mine[in[i]], 1U);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

unsigned blocks(size_t pixels) { return (unsigned)((pixels + THREADS - 1) / THREADS); }

} // namespace

void lecture_gray(const unsigned char *rgb, unsigned char *gray, size_t pixels) {
    gray_kernel<<<blocks(pixels), THREADS, 0, stream>>>(rgb, gray, pixels);
}

void lecture_threshold(const unsigned char *in, unsigned char *out, size_t pixels, int level) {
    threshold_kernel<<<blocks(pixels), THREADS, 0, stream>>>(in, out, pixels, level);
}

void lecture_hist_global(const unsigned char *in, size_t pixels, unsigned *counts) {
    hist_global_kernel<<<blocks(pixels), THREADS, 0, stream>>>(in, pixels, counts);
}

void lecture_hist_shared(const unsigned char *in, size_t pixels, unsigned *counts) {
    hist_shared_kernel<<<132 * 8, THREADS, 0, stream>>>(in, pixels, counts);
}
