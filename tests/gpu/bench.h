// What the parts of gpu_bench_stages share: buffers, timing, results.
#ifndef TESTS_GPU_BENCH_H
#define TESTS_GPU_BENCH_H

#include <functional>
#include <string>

#include <cuda_runtime.h>

#ifdef GPUIMG_BENCH_NPP
#include <nppdefs.h>
#endif

#include "kernels/launch.h"

// 8K images. The buffers together are many times the second-level cache, and are used in turn.
constexpr uint32_t WIDTH = 7680, HEIGHT = 4320;
constexpr size_t PIXELS = (size_t)WIDTH * HEIGHT;
constexpr int BUFFERS = 8;
constexpr size_t ROOM = PIXELS * 8; // bytes of one buffer: RGBA of 16 bits

extern cudaStream_t stream;
extern unsigned char *inputs[BUFFERS], *outputs[BUFFERS];

// End the program with a message unless all is well.
void need(cudaError_t error, const char *what);
void need(gi_status status, const gi_error &err);

enum class content { random, constant, photo };

// Fills the first `bytes` of each input, differently.
void fill(content kind, size_t bytes);

// A view of packed 8K rows over a buffer.
gi_view view_of(unsigned char *data, int channels, gi_sample sample);

// The median time of single launches, over the buffers in turn.
double median_ms(const std::function<void(int)> &launch);

// Keeps and prints a result beside a copy of the same bytes, or a read where nothing is written.
void report(const std::string &name, double ms, size_t read, size_t written);

// Fails the program in the end, with a message, where a result is wrong.
void check(bool holds, const std::string &name);

template <typename T> T *to_device(const T *host, size_t count) {
    T *data = nullptr;
    need(cudaMalloc((void **)&data, count * sizeof(T)), "allocating");
    need(cudaMemcpy(data, host, count * sizeof(T), cudaMemcpyHostToDevice), "uploading");
    return data;
}

// Kernels as lectures show them, beside which ours are measured (bench_lectures.cu): gray by rounded float weights, a
// thread a pixel; threshold, likewise; counts of 256 levels, by atomics in global memory or in one copy for each block.
void lecture_gray(const unsigned char *rgb, unsigned char *gray, size_t pixels);
void lecture_threshold(const unsigned char *in, unsigned char *out, size_t pixels, int level);
void lecture_hist_global(const unsigned char *in, size_t pixels, unsigned *counts);
void lecture_hist_shared(const unsigned char *in, size_t pixels, unsigned *counts);

#ifdef GPUIMG_BENCH_NPP
NppStreamContext npp_context();
#endif

void bench_points();
void bench_hists();
void bench_windows();
void bench_heats();
void bench_barriers();

#endif
