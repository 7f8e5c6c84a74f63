// Images of more than 2^32 pixels, and what happens when memory runs out. Needs 16 GiB of free device memory; with less
// it is skipped.
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#include "cuda/buffer.h"
#include "kernels/launch.h"
#include "support.h"

enum { FILL = 77, LAST = 200 };

static cudaStream_t stream;
static uint64_t *counts;      // device, 65536 * 2
static void *memory, *result; // device

// The count of one level of one channel.
static uint64_t count_of(const gi_view *view, size_t index) {
    gi_error err;
    uint64_t count = 0;
    const size_t bytes = ((size_t)gi_sample_max(view->sample) + 1) * (size_t)view->channels * sizeof *counts;
    gi_job job = {.in = *view, .counts = counts, .stream = stream};
    cuda_ok(cudaMemsetAsync(counts, 0, bytes, stream));
    succeeded(gi_cuda_hist(&job, &err), &err);
    cuda_ok(cudaMemcpyAsync(&count, counts + index, sizeof count, cudaMemcpyDeviceToHost, stream));
    cuda_ok(cudaStreamSynchronize(stream));
    return count;
}

// All FILL but the last pixel.
static gi_view constant_view(gi_shape shape, uint32_t pad) {
    gi_view view = gi_view_packed(memory, shape, GI_DEVICE);
    const size_t row = view.pitch_bytes, pixel = gi_row_bytes(1, shape.channels, shape.sample);
    view.pitch_bytes += pad;
    cuda_ok(cudaMemset(memory, FILL, view.pitch_bytes * shape.height));
    cuda_ok(cudaMemset((char *)gi_view_row(&view, shape.height - 1) + row - pixel, LAST, pixel));
    cuda_ok(cudaDeviceSynchronize());
    return view;
}

static const gi_shape large_gray = {70001, 65537, 1, GI_U8}; // 4.6e9 pixels

static void test_large_histograms(void) {
    const uint64_t pixels = (uint64_t)large_gray.width * large_gray.height;
    for (uint32_t pad = 0; pad < 16; pad += 15) {
        case_name("a constant image of 4.6e9 pixels, pad %u", pad);
        gi_view view = constant_view(large_gray, pad);
        CHECK(count_of(&view, FILL) == pixels - 1);
        CHECK(count_of(&view, LAST) == 1);
    }
    case_name("a constant 16-bit image of 2 channels and 2.3e9 pixels");
    gi_view deep = constant_view((gi_shape){70001, 32769, 2, GI_U16}, 0);
    CHECK(count_of(&deep, 65536 + FILL * 257) == (uint64_t)70001 * 32769 - 1);
    CHECK(count_of(&deep, 65536 + LAST * 257) == 1);
}

static void test_large_points(void) {
    gi_error err;
    gi_device_point op = {.point = gi_point_identity(1, GI_U8)};
    op.point.before[0] = (gi_curve){.kind = GI_CURVE_THRESHOLD, .level = FILL};
    case_name("threshold of 4.6e9 pixels");
    gi_job job = {.in = constant_view(large_gray, 0),
                  .out = gi_view_packed(result, large_gray, GI_DEVICE),
                  .args = &op,
                  .stream = stream};
    succeeded(gi_cuda_point(&job, &err), &err);
    CHECK(count_of(&job.out, 0) == (uint64_t)large_gray.width * large_gray.height - 1);
    CHECK(count_of(&job.out, 255) == 1);

    case_name("gray of 1.6e9 RGB pixels");
    gi_shape rgb = {40001, 40001, 3, GI_U8}, gray = {40001, 40001, 1, GI_U8};
    op.point = gi_point_identity(3, GI_U8);
    op.point.mix = GI_MIX_WEIGHTS;
    op.point.weights[0] = 9798;
    op.point.weights[1] = 19235;
    op.point.weights[2] = 3735;
    job.in = constant_view(rgb, 0);
    job.out = gi_view_packed(result, gray, GI_DEVICE);
    succeeded(gi_cuda_point(&job, &err), &err);
    CHECK(count_of(&job.out, FILL) == (uint64_t)gray.width * gray.height - 1);
    CHECK(count_of(&job.out, LAST) == 1);
}

// A constant image stays constant but around its last pixel.
static void test_large_blurs(void) {
    gi_error err;
    const uint64_t pixels = (uint64_t)large_gray.width * large_gray.height;
    gi_blur_args args = {.radius = 2, .sigma = GI_BLUR_UNSET, .border = GI_BORDER_REPLICATE};
    gi_job job = {.in = constant_view(large_gray, 0),
                  .out = gi_view_packed(result, large_gray, GI_DEVICE),
                  .place = {large_gray.height, 0, 0},
                  .args = &args,
                  .stream = stream};
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        case_name("%s of 4.6e9 pixels", gaussian ? "Gaussian" : "box");
        if (gaussian) args = (gi_blur_args){.radius = GI_BLUR_UNSET, .sigma = 1, .border = GI_BORDER_REPLICATE};
        if (!cuda_ok(cudaMalloc(&job.scratch, gi_cuda_blur_scratch(&job)))) return;
        cuda_ok(cudaMemset(result, 0, pixels));
        cuda_ok(cudaDeviceSynchronize());
        succeeded(gi_cuda_blur(&job, &err), &err);
        const uint64_t same = count_of(&job.out, FILL);
        CHECK(gaussian ? same < pixels && same >= pixels - 25 : same == pixels - 9);
        CHECK(count_of(&job.out, 0) == 0);
        cuda_ok(cudaFree(job.scratch));
    }
}

// Memory that is not there: the status says so, and all still works.
static void test_exhaustion(void) {
    gi_error err;
    gi_cuda_buffer buffer = {NULL, 0, false};
    case_name("out of memory");
    size_t free_bytes = 0, total = 0;
    cuda_ok(cudaMemGetInfo(&free_bytes, &total));
    CHECK(gi_cuda_buffer_reserve(&buffer, total + (total >> 1), GI_DEVICE, stream, &err) == GI_ERR_DEVICE_MEMORY);
    CHECK(buffer.data == NULL && buffer.bytes == 0 && strstr(err.text, "out of device memory"));
    CHECK(cudaGetLastError() == cudaSuccess);
    // Half as much again does not fit: the buffer grows to what is asked for.
    size_t most = free_bytes / 4 * 3;
    succeeded(gi_cuda_buffer_reserve(&buffer, most, GI_DEVICE, stream, &err), &err);
    succeeded(gi_cuda_buffer_reserve(&buffer, most + (most >> 5), GI_DEVICE, stream, &err), &err);
    CHECK(buffer.bytes >= most + (most >> 5));
    gi_cuda_buffer_free(&buffer, GI_DEVICE);
    CHECK(count_of(&(gi_view){memory, 1, 1, 1, 1, GI_U8, GI_DEVICE}, FILL) == 1);
}

int main(int argc, char **argv) {
    options_parse(argc, argv);
    const size_t bytes = (size_t)70100 * 65537, needed = (size_t)16 << 30;
    size_t free_bytes = 0, total = 0;
    if (!usable_device()) return EXIT_SKIPPED;
    if (!cuda_ok(cudaMemGetInfo(&free_bytes, &total))) return 1;
    if (free_bytes < needed) {
        printf("skipped: %zu MiB of device memory are free, and the test takes 16 GiB\n", free_bytes >> 20);
        return EXIT_SKIPPED;
    }
    if (!cuda_ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) ||
        !cuda_ok(cudaMalloc(&memory, 2 * bytes)) || !cuda_ok(cudaMalloc(&result, bytes)) ||
        !cuda_ok(cudaMalloc((void **)&counts, 2 * 65536 * sizeof *counts)))
        return 1;
    test_large_histograms();
    test_large_points();
    test_large_blurs();
    test_exhaustion();
    cuda_ok(cudaFree(counts));
    cuda_ok(cudaFree(result));
    cuda_ok(cudaFree(memory));
    cuda_ok(cudaStreamDestroy(stream));
    device_release();
    return checks_report("large");
}
