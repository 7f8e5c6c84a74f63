// Blur and heat, beside NPP's box and Gaussian where the toolkit has them; tables from counts, and equalize as a whole.
#include <cstdlib>
#include <cstring>
#include <vector>

#ifdef GPUIMG_BENCH_NPP
#include <nppi_filtering_functions.h>
#endif

#include "bench.h"

namespace {

void *scratch;
size_t scratch_bytes;

void reserve(size_t bytes) {
    if (bytes <= scratch_bytes) return;
    need(cudaFree(scratch), "freeing");
    need(cudaMalloc(&scratch, bytes), "allocating");
    scratch_bytes = bytes;
}

using window_fn = gi_status (*)(const gi_window_job *, gi_error *);
using launch_fn = gi_status (*)(const gi_job *, gi_error *);

// A stage, and the image that it is timed on.
struct window {
    const void *args;
    uint32_t halo;
    window_fn on_cpu;
    launch_fn launch;
    size_t (*scratch)(const gi_job *);
    gi_shape shape;

    gi_job job(int i) const {
        gi_job j = {};
        j.in = gi_view_packed(inputs[i], shape, GI_DEVICE);
        j.out = gi_view_packed(outputs[i], shape, GI_DEVICE);
        j.place.image_height = shape.height;
        j.args = args;
        j.scratch = ::scratch;
        j.stream = stream;
        return j;
    }
    size_t bytes() const { return gi_row_bytes(shape.width, shape.channels, shape.sample) * shape.height; }
};

// A few rows from the first buffer's middle beside the CPU's.
void check_window(const std::string &name, const window &w) {
    constexpr uint32_t ROWS = 8;
    const size_t row = gi_row_bytes(w.shape.width, w.shape.channels, w.shape.sample);
    const uint32_t y = w.shape.height / 2, first = y > w.halo ? y - w.halo : 0;
    const uint32_t end = y + ROWS + w.halo < w.shape.height ? y + ROWS + w.halo : w.shape.height;
    std::vector<unsigned char> in((end - first) * row), wanted(ROWS * row), got(ROWS * row);
    need(cudaStreamSynchronize(stream), "waiting");
    need(cudaMemcpy(in.data(), inputs[0] + first * row, in.size(), cudaMemcpyDeviceToHost), "reading back");
    need(cudaMemcpy(got.data(), outputs[0] + y * row, got.size(), cudaMemcpyDeviceToHost), "reading back");
    gi_error err;
    gi_window_job job = {};
    gi_shape shape = w.shape;
    shape.height = end - first;
    job.in = gi_view_packed(in.data(), shape, GI_HOST);
    shape.height = ROWS;
    job.out = gi_view_packed(wanted.data(), shape, GI_HOST);
    job.place = {w.shape.height, first, y};
    job.args = w.args;
    job.threads = 8;
    need(w.on_cpu(&job, &err), err);
    check(got == wanted, name);
}

void bench_window(const std::string &name, const window &w) {
    const gi_job any = w.job(0);
    reserve(w.scratch(&any));
    auto launch = [&](int i) {
        gi_error err;
        const gi_job job = w.job(i);
        need(w.launch(&job, &err), err);
    };
    launch(0);
    check_window(name, w);
    report(name, median_ms(launch), w.bytes(), w.bytes());
}

std::string kind_of(int channels, gi_sample sample) {
    static const char *const names[] = {"", ", gray", ", gray+alpha", ", RGB", ", RGBA"};
    return names[channels] + std::string(sample == GI_U8 ? " u8" : " u16");
}

// A box of that radius, or a Gaussian where sigma is positive.
void bench_blur(int radius, double sigma, int channels, gi_sample sample) {
    gi_blur_args args = {};
    args.radius = sigma > 0 ? GI_BLUR_UNSET : radius;
    args.sigma = sigma > 0 ? sigma : GI_BLUR_UNSET;
    const window w = {&args,        gi_blur_halo(&args),  gi_cpu_blur,
                      gi_cuda_blur, gi_cuda_blur_scratch, {WIDTH, HEIGHT, channels, sample}};
    const std::string kernel =
        sigma > 0 ? "Gaussian s=" + std::to_string((int)sigma) : "box r=" + std::to_string(radius);
    bench_window(kernel + kind_of(channels, sample), w);
}

// --- heat ------------------------------------------------------------------------------------------------------------

constexpr gi_shape HEAT_SHAPE = {3840, 2160, 1, GI_U8};

gi_heat_args heat_args(int mode, int steps, int tile) {
    gi_heat_args args = {};
    args.mode = mode;
    args.steps = steps;
    args.inner = 100;
    args.alpha = 0.25;
    args.dt = 0.1;
    args.tile = tile;
    return args;
}

void bench_heat(int mode, int steps, int tile) {
    const gi_heat_args args = heat_args(mode, steps, tile);
    const window w = {&args, gi_heat_halo(&args), gi_cpu_heat, gi_cuda_heat, gi_cuda_heat_scratch, HEAT_SHAPE};
    bench_window((mode == GI_HEAT_LINEAR ? "heat linear" : "heat inner=100") + std::string(", steps=") +
                     std::to_string(steps) + ", tile=" + std::to_string(tile) + ", 3840x2160",
                 w);
}

// As a lecture shows it: a thread a pixel, no shared memory, the library's tanhf and sinf.
__global__ void lecture_heat_kernel(const unsigned char *in, unsigned char *out, int width, int height, float rate,
                                    int inner) {
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= width || y >= height) return;
    auto at = [&](int i, int j) {
        return i < 0 || i >= width || j < 0 || j >= height ? 0.0F : in[(size_t)j * width + i] / 255.0F;
    };
    const float s = at(x, y - 1) + at(x, y + 1) + at(x - 1, y) + at(x + 1, y);
    float t = at(x, y);
    for (int k = 0; k < inner; k++) {
        const float next = t + rate * tanhf(s - 4 * t);
        t = 0.99F * next + 0.01F * sinf(next);
    }
    out[(size_t)y * width + x] = (unsigned char)(fminf(fmaxf(t, 0.0F), 1.0F) * 255 + 0.5F);
}

// No level of the first output is further from the other's than 1.
bool are_near(const unsigned char *a, const unsigned char *b, size_t bytes) {
    std::vector<unsigned char> x(bytes), y(bytes);
    need(cudaStreamSynchronize(stream), "waiting");
    need(cudaMemcpy(x.data(), a, bytes, cudaMemcpyDeviceToHost), "reading back");
    need(cudaMemcpy(y.data(), b, bytes, cudaMemcpyDeviceToHost), "reading back");
    bool near = true;
    for (size_t i = 0; i < bytes; i++) near = near && std::abs(x[i] - y[i]) <= 1;
    return near;
}

// precision=fast and the lecture's kernel beside the exact result, of which neither has the bits.
void bench_near_heats() {
    gi_heat_args args = heat_args(GI_HEAT_NONLINEAR, 1, 0);
    const window w = {&args, gi_heat_halo(&args), gi_cpu_heat, gi_cuda_heat, gi_cuda_heat_scratch, HEAT_SHAPE};
    auto ours = [&](int i) {
        gi_error err;
        const gi_job job = w.job(i);
        need(gi_cuda_heat(&job, &err), err);
    };
    auto lecture = [&](int i) {
        const dim3 threads(32, 8), blocks((HEAT_SHAPE.width + 31) / 32, (HEAT_SHAPE.height + 7) / 8);
        lecture_heat_kernel<<<blocks, threads, 0, stream>>>(inputs[i], outputs[i], (int)HEAT_SHAPE.width,
                                                            (int)HEAT_SHAPE.height, 0.25F * 0.1F, args.inner);
    };
    unsigned char *exact = outputs[BUFFERS - 1];
    ours(0);
    need(cudaMemcpyAsync(exact, outputs[0], w.bytes(), cudaMemcpyDeviceToDevice, stream), "copying");
    lecture(0);
    check(are_near(outputs[0], exact, w.bytes()), "lecture heat");
    args.precision = GI_HEAT_FAST;
    ours(0);
    check(are_near(outputs[0], exact, w.bytes()), "fast heat");
    report("heat inner=100, fast, 3840x2160", median_ms(ours), w.bytes(), w.bytes());
    report("lecture heat inner=100, 3840x2160", median_ms(lecture), w.bytes(), w.bytes());
}

// --- NPP -------------------------------------------------------------------------------------------------------------

#ifdef GPUIMG_BENCH_NPP
void bench_npp() {
    const NppStreamContext context = npp_context();
    const NppiSize size = {(int)WIDTH, (int)HEIGHT};
    const NppiPoint origin = {0, 0};
    fill(content::random, ROOM);
    for (int radius : {1, 5, 15}) {
        const NppiSize mask = {2 * radius + 1, 2 * radius + 1};
        const NppiPoint anchor = {radius, radius};
        auto launch = [&](int i) {
            check(nppiFilterBoxBorder_8u_C1R_Ctx(inputs[i], (int)WIDTH, size, origin, outputs[i], (int)WIDTH, size,
                                                 mask, anchor, NPP_BORDER_REPLICATE, context) == NPP_SUCCESS,
                  "NPP's box");
        };
        report("NPP box r=" + std::to_string(radius) + ", gray u8", median_ms(launch), PIXELS, PIXELS);
    }
    auto launch = [&](int i) {
        check(nppiFilterGaussBorder_8u_C1R_Ctx(inputs[i], (int)WIDTH, size, origin, outputs[i], (int)WIDTH, size,
                                               NPP_MASK_SIZE_15_X_15, NPP_BORDER_REPLICATE, context) == NPP_SUCCESS,
              "NPP's Gaussian");
    };
    report("NPP Gaussian 15x15, gray u8", median_ms(launch), PIXELS, PIXELS);
}
#else
void bench_npp() {}
#endif

// --- operations from counts ------------------------------------------------------------------------------------------

// The counts of the first channels of the first buffer, and room for tables.
struct tables {
    uint64_t *counts;
    uint16_t *entries;
    uint32_t *level;
    gi_curve then[3];
    gi_table_job job;

    tables(gi_sample sample, int channels) : then(), job() {
        const size_t levels = gi_sample_max(sample) + 1;
        need(cudaMalloc((void **)&counts, 3 * levels * sizeof *counts), "allocating");
        need(cudaMalloc((void **)&entries, 3 * levels * sizeof *entries), "allocating");
        need(cudaMalloc((void **)&level, sizeof *level), "allocating");
        job.counts = counts;
        job.sample = sample;
        job.channels = channels;
        job.then = then;
        job.tables = entries;
        job.level = level;
        job.stream = stream;
        reserve(gi_cuda_otsu_scratch(&job) + gi_cuda_equalize_scratch(&job));
        job.scratch = scratch;
    }
    ~tables() {
        cudaFree(counts);
        cudaFree(entries);
        cudaFree(level);
    }
    void count(int i) {
        gi_error err;
        const size_t bytes = job.channels * (gi_sample_max(job.sample) + 1) * sizeof *counts;
        need(cudaMemsetAsync(counts, 0, bytes, stream), "clearing");
        gi_job hist = {};
        hist.in = view_of(inputs[i], job.channels, job.sample);
        hist.counts = counts;
        hist.stream = stream;
        need(gi_cuda_hist(&hist, &err), err);
    }
};

void bench_tables(gi_sample sample) {
    const std::string kind = sample == GI_U8 ? ", u8" : ", u16";
    const size_t bytes = (gi_sample_max(sample) + 1) * sizeof(uint64_t);
    gi_error err;
    tables t(sample, 1);
    t.count(0);
    report("otsu's level and table" + kind, median_ms([&](int) { need(gi_cuda_otsu(&t.job, &err), err); }), bytes, 0);
    report("equalize's table" + kind, median_ms([&](int) { need(gi_cuda_equalize(&t.job, &err), err); }), bytes, 0);
}

// Counts, tables and look-up of an image, as one barrier does them.
void bench_equalize(int channels, gi_sample sample) {
    const std::string name = "equalize channel" + kind_of(channels, sample);
    const size_t levels = gi_sample_max(sample) + 1, bytes = PIXELS * channels * gi_sample_bytes(sample);
    tables t(sample, channels);
    gi_device_point op = {gi_point_identity(channels, sample), {}};
    for (int c = 0; c < channels; c++) op.point.before[c] = {GI_CURVE_TABLE, 0, t.entries + c * levels};
    auto launch = [&](int i) {
        gi_error err;
        gi_job job = {};
        t.count(i);
        need(gi_cuda_equalize(&t.job, &err), err);
        job.in = view_of(inputs[i], channels, sample);
        job.out = view_of(outputs[i], channels, sample);
        job.args = &op;
        job.stream = stream;
        need(gi_cuda_point(&job, &err), err);
    };
    launch(0);
    std::vector<uint64_t> counts(channels * levels);
    std::vector<uint16_t> entries(channels * levels);
    need(cudaStreamSynchronize(stream), "waiting");
    need(cudaMemcpy(counts.data(), t.counts, counts.size() * 8, cudaMemcpyDeviceToHost), "reading back");
    need(cudaMemcpy(entries.data(), t.entries, entries.size() * 2, cudaMemcpyDeviceToHost), "reading back");
    gi_error err;
    gi_point made;
    gi_equalize_args args = {GI_EQUALIZE_CHANNEL};
    const gi_histogram histogram = {counts.data(), (uint32_t)levels, channels};
    const gi_point_input in = {channels, sample, &histogram};
    need(gi_equalize_point(&args, &in, &made, &err), err);
    for (int c = 0; c < channels; c++)
        check(std::memcmp(made.before[c].table, &entries[c * levels], levels * sizeof(uint16_t)) == 0, name);
    gi_point_free(&made);
    report(name, median_ms(launch), 2 * bytes, bytes);
}

} // namespace

void bench_windows() {
    fill(content::random, ROOM);
    for (int radius : {1, 5, 15, 50, 128, 300, 1000, 4000}) bench_blur(radius, 0, 1, GI_U8);
    for (double sigma : {1, 3, 10, 32}) bench_blur(0, sigma, 1, GI_U8);
    for (gi_sample sample : {GI_U8, GI_U16})
        for (int channels : {1, 2, 3, 4}) {
            if (channels == 1 && sample == GI_U8) continue;
            for (int radius : {5, 50, 128, 300, 1000, 4000}) bench_blur(radius, 0, channels, sample);
            bench_blur(0, 3, channels, sample);
        }
    bench_npp();
}

void bench_heats() {
    fill(content::random, ROOM);
    for (int tile : {0, 8, 16, 25, 32}) bench_heat(GI_HEAT_NONLINEAR, 1, tile);
    bench_near_heats();
    bench_heat(GI_HEAT_NONLINEAR, 10, 0);
    for (int steps : {10, 100})
        for (int tile : {0, 32}) bench_heat(GI_HEAT_LINEAR, steps, tile); // 32: a launch for each step
}

void bench_barriers() {
    fill(content::photo, ROOM);
    for (gi_sample sample : {GI_U8, GI_U16}) {
        bench_tables(sample);
        for (int channels : {1, 3}) bench_equalize(channels, sample);
    }
    need(cudaFree(scratch), "freeing");
}
