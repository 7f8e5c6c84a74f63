// Point operations and histograms, beside CUB's and the lectures'.
#include <algorithm>
#include <vector>

#include <cub/device/device_histogram.cuh>

#ifdef GPUIMG_BENCH_NPP
#include <nppi_color_conversion.h>
#include <nppi_statistics_functions.h>
#include <nppi_threshold_and_compare_operations.h>
#endif

#include "bench.h"

namespace {

// What one pixel becomes, channel by channel.
void expect(const gi_point &host, const gi_linear_tables *linear, const unsigned char *pixel, uint32_t *out) {
    uint32_t in[4], v[3];
    const uint32_t max = gi_sample_max(host.shape.sample);
    const int channels = host.shape.channels, colours = gi_colour_channels(channels);
    for (int c = 0; c < channels; c++) in[c] = max == 255 ? pixel[c] : ((const uint16_t *)pixel)[c];
    for (int c = 0; c < colours; c++) out[c] = v[c] = gi_curve_at(&host.before[c], in[c], max);
    if (gi_has_alpha(channels)) out[gi_point_channels_out(&host) - 1] = in[channels - 1];
    if (host.mix == GI_MIX_NONE) return;
    const uint32_t gray =
        host.mix == GI_MIX_LINEAR
            ? gi_linear_encode(linear, linear->red[v[0]] + linear->green[v[1]] + linear->blue[v[2]])
            : (host.weights[0] * v[0] + host.weights[1] * v[1] + host.weights[2] * v[2] + 16384) >> 15;
    out[0] = gi_curve_at(&host.after, gray, max);
    if (host.mix != GI_MIX_SHIFT) return;
    const int64_t by = (int64_t)out[0] - gray;
    for (int c = 0; c < 3; c++) out[c] = (uint32_t)std::min(std::max((int64_t)v[c] + by, (int64_t)0), (int64_t)max);
}

// Every 997th pixel of the first buffer.
void check_point(const std::string &name, const gi_point &host) {
    const gi_linear_tables *linear = gi_linear_tables_get(host.shape.sample);
    const int channels = gi_point_channels_out(&host);
    const size_t bytes = gi_sample_bytes(host.shape.sample), in_pixel = bytes * host.shape.channels;
    const size_t out_pixel = bytes * channels;
    std::vector<unsigned char> in(PIXELS * in_pixel), out(PIXELS * out_pixel);
    need(cudaMemcpy(in.data(), inputs[0], in.size(), cudaMemcpyDeviceToHost), "reading back");
    need(cudaMemcpy(out.data(), outputs[0], out.size(), cudaMemcpyDeviceToHost), "reading back");
    bool right = true;
    for (size_t p = 0; p < PIXELS; p += 997) {
        uint32_t wanted[4];
        expect(host, linear, &in[p * in_pixel], wanted);
        const unsigned char *got = &out[p * out_pixel];
        for (int c = 0; c < channels; c++)
            right = right && (bytes == 1 ? got[c] : ((const uint16_t *)got)[c]) == wanted[c];
    }
    check(right, name);
}

void bench_point(const std::string &name, const gi_point &host) {
    const size_t levels = gi_sample_max(host.shape.sample) + 1;
    gi_device_point op = {host, {}};
    std::vector<void *> owned;
    for (gi_curve *curve : {&op.point.before[0], &op.point.before[1], &op.point.before[2], &op.point.after})
        if (curve->kind == GI_CURVE_TABLE) owned.push_back(curve->table = to_device(curve->table, levels));
    if (host.mix == GI_MIX_LINEAR) {
        const gi_linear_tables *h = gi_linear_tables_get(host.shape.sample);
        op.linear = {to_device(h->red, levels), to_device(h->green, levels), to_device(h->blue, levels),
                     to_device(h->threshold, levels), to_device(h->coarse, GI_LINEAR_COARSE_COUNT)};
        for (const void *table :
             {(const void *)op.linear.red, (const void *)op.linear.green, (const void *)op.linear.blue,
              (const void *)op.linear.threshold, (const void *)op.linear.coarse})
            owned.push_back((void *)table);
    }
    const int channels_out = gi_point_channels_out(&host);
    auto launch = [&](int i) {
        gi_error err;
        gi_job job = {};
        job.in = view_of(inputs[i], host.shape.channels, host.shape.sample);
        job.out = view_of(outputs[i], channels_out, host.shape.sample);
        job.args = &op;
        job.stream = stream;
        need(gi_cuda_point(&job, &err), err);
    };
    launch(0);
    need(cudaStreamSynchronize(stream), "waiting");
    check_point(name, host);
    const size_t sample = gi_sample_bytes(host.shape.sample);
    report(name, median_ms(launch), PIXELS * sample * host.shape.channels, PIXELS * sample * channels_out);
    for (void *table : owned) cudaFree(table);
}

gi_point gray(gi_sample sample, gi_mix_kind mix) {
    gi_point op = gi_point_identity(3, sample);
    op.mix = mix;
    op.weights[0] = 9798;
    op.weights[1] = 19235;
    op.weights[2] = 3735;
    return op;
}

} // namespace

#ifdef GPUIMG_BENCH_NPP
namespace {

// NPP's gray, threshold and histogram of u8.
const NppiSize npp_size = {(int)WIDTH, (int)HEIGHT};

void bench_npp_points() {
    const NppStreamContext context = npp_context();
    auto gray = [&](int i) {
        check(nppiRGBToGray_8u_C3C1R_Ctx(inputs[i], 3 * (int)WIDTH, outputs[i], (int)WIDTH, npp_size, context) ==
                  NPP_SUCCESS,
              "NPP's gray");
    };
    report("NPP gray, RGB u8", median_ms(gray), 3 * PIXELS, PIXELS);
    auto threshold = [&](int i) {
        check(nppiThreshold_LTValGTVal_8u_C1R_Ctx(inputs[i], (int)WIDTH, outputs[i], (int)WIDTH, npp_size, 129, 0, 128,
                                                  255, context) == NPP_SUCCESS,
              "NPP's threshold");
    };
    report("NPP threshold, gray u8", median_ms(threshold), PIXELS, PIXELS);
}

void bench_npp_hist(const std::string &what) {
    const NppStreamContext context = npp_context();
    size_t bytes = 0;
    int *bins;
    unsigned char *buffer;
    check(nppiHistogramEvenGetBufferSize_8u_C1R_Ctx(npp_size, 257, &bytes, context) == NPP_SUCCESS, "NPP's buffer");
    need(cudaMalloc((void **)&buffer, bytes), "allocating");
    need(cudaMalloc((void **)&bins, 256 * sizeof *bins), "allocating");
    auto hist = [&](int i) {
        check(nppiHistogramEven_8u_C1R_Ctx(inputs[i], (int)WIDTH, npp_size, bins, 257, 0, 256, buffer, context) ==
                  NPP_SUCCESS,
              "NPP's histogram");
    };
    report("NPP hist" + what, median_ms(hist), PIXELS, 0);
    cudaFree(bins);
    cudaFree(buffer);
}

} // namespace
#else
static void bench_npp_points() {}
static void bench_npp_hist(const std::string &) {}
#endif

void bench_points() {
    static std::vector<uint16_t> table8(256), table16(65536);
    for (size_t v = 0; v < 256; v++) table8[v] = (uint16_t)((v * 37 + 11) & 255);
    for (size_t v = 0; v < 65536; v++) table16[v] = (uint16_t)(v * 40503 + 11);
    fill(content::random, ROOM);
    for (gi_sample sample : {GI_U8, GI_U16}) {
        const std::string kind = sample == GI_U8 ? " u8" : " u16";
        const uint32_t half = gi_sample_max(sample) / 2 + 1;
        const gi_curve threshold = {GI_CURVE_THRESHOLD, half, nullptr};
        const gi_curve table = {GI_CURVE_TABLE, 0, sample == GI_U8 ? table8.data() : table16.data()};
        bench_point("gray 601, RGB" + kind, gray(sample, GI_MIX_WEIGHTS));
        bench_point("gray linear, RGB" + kind, gray(sample, GI_MIX_LINEAR));
        gi_point op = gray(sample, GI_MIX_WEIGHTS);
        op.after = threshold;
        bench_point("gray | threshold, RGB" + kind, op);
        op.after = table;
        bench_point("gray | table, RGB" + kind, op);
        op = gray(sample, GI_MIX_LINEAR);
        op.after = table;
        bench_point("gray linear | table, RGB" + kind, op);
        op = gray(sample, GI_MIX_SHIFT);
        op.after = table;
        bench_point("shift by luma, RGB" + kind, op);
        for (int channels : {1, 2, 3, 4}) {
            static const char *const names[] = {"", ", gray", ", gray+alpha", ", RGB", ", RGBA"};
            const std::string name = names[channels] + kind;
            op = gi_point_identity(channels, sample);
            for (int c = 0; c < gi_colour_channels(channels); c++) op.before[c] = threshold;
            bench_point("threshold" + name, op);
            for (int c = 0; c < gi_colour_channels(channels); c++) op.before[c] = table;
            bench_point("table" + name, op);
        }
    }
    report("lecture gray, RGB u8", median_ms([](int i) { lecture_gray(inputs[i], outputs[i], PIXELS); }), 3 * PIXELS,
           PIXELS);
    report("lecture threshold, gray u8",
           median_ms([](int i) { lecture_threshold(inputs[i], outputs[i], PIXELS, 128); }), PIXELS, PIXELS);
    bench_npp_points();
}

// --- histograms ------------------------------------------------------------------------------------------------------

namespace {

uint64_t *counts; // device, 65536 * 4
void *cub_scratch;
size_t cub_bytes;
int *cub_counts;

void launch_hist(int i, int channels, gi_sample sample) {
    gi_error err;
    gi_job job = {};
    job.in = view_of(inputs[i], channels, sample);
    job.counts = counts;
    job.stream = stream;
    need(gi_cuda_hist(&job, &err), err);
}

template <typename Sample> void launch_cub(int i) {
    constexpr int LEVELS = 1 << 8 * sizeof(Sample);
    size_t bytes = cub_bytes;
    need(cub::DeviceHistogram::HistogramEven(cub_scratch, bytes, (const Sample *)inputs[i], cub_counts, LEVELS + 1, 0,
                                             LEVELS, (int)PIXELS, stream),
         "CUB");
}

void check_hist(const std::string &name, int channels, gi_sample sample, bool with_cub) {
    const size_t levels = gi_sample_max(sample) + 1, count = levels * channels;
    std::vector<uint64_t> got(count);
    std::vector<int> other(levels);
    need(cudaMemsetAsync(counts, 0, count * sizeof *counts, stream), "clearing");
    launch_hist(0, channels, sample);
    need(cudaStreamSynchronize(stream), "waiting");
    need(cudaMemcpy(got.data(), counts, count * sizeof *counts, cudaMemcpyDeviceToHost), "reading back");
    uint64_t sum = 0;
    for (uint64_t n : got) sum += n;
    check(sum == PIXELS * channels, name + ", sum");
    if (!with_cub) return;
    need(cudaMemcpy(other.data(), cub_counts, levels * sizeof *cub_counts, cudaMemcpyDeviceToHost), "reading back");
    for (size_t v = 0; v < levels; v++)
        if (got[v] != (uint64_t)other[v]) return check(false, name + ", beside CUB's");
}

void bench_hist(content pattern, int channels, gi_sample sample) {
    static const char *const patterns[] = {"random", "constant", "photo-like"};
    const std::string kind = sample == GI_U8 ? " u8" : " u16";
    const std::string what = (channels == 1   ? ", gray"
                              : channels == 2 ? ", gray+alpha"
                              : channels == 3 ? ", RGB"
                                              : ", RGBA") +
                             kind + ", " + patterns[(int)pattern];
    const size_t bytes = PIXELS * channels * gi_sample_bytes(sample);
    fill(pattern, bytes);
    auto cub = sample == GI_U8 ? launch_cub<uint8_t> : launch_cub<uint16_t>;
    if (channels == 1) {
        cub(0);
        need(cudaStreamSynchronize(stream), "waiting");
    }
    check_hist("hist" + what, channels, sample, channels == 1);
    report("hist" + what, median_ms([&](int i) { launch_hist(i, channels, sample); }), bytes, 0);
    if (channels > 1) return;
    report("CUB hist" + what, median_ms(cub), bytes, 0);
    if (sample == GI_U16) return;
    bench_npp_hist(what);
    auto lecture = [&](void (*count)(const unsigned char *, size_t, unsigned *), const std::string &name) {
        need(cudaMemsetAsync(cub_counts, 0, 256 * sizeof *cub_counts, stream), "clearing");
        count(inputs[0], PIXELS, (unsigned *)cub_counts);
        check_hist(name, channels, sample, true);
        report(name, median_ms([&](int i) { count(inputs[i], PIXELS, (unsigned *)cub_counts); }), bytes, 0);
    };
    lecture(lecture_hist_global, "lecture hist, global atomics" + what.substr(what.rfind(',')));
    lecture(lecture_hist_shared, "lecture hist, a copy a block" + what.substr(what.rfind(',')));
}

} // namespace

void bench_hists() {
    size_t bytes8 = 0, bytes16 = 0; // CUB's scratch: it only says how much when given none
    cub::DeviceHistogram::HistogramEven(nullptr, bytes8, (const uint8_t *)nullptr, (int *)nullptr, 257, 0, 256,
                                        (int)PIXELS);
    cub::DeviceHistogram::HistogramEven(nullptr, bytes16, (const uint16_t *)nullptr, (int *)nullptr, 65537, 0, 65536,
                                        (int)PIXELS);
    cub_bytes = std::max(bytes8, bytes16);
    need(cudaMalloc(&cub_scratch, cub_bytes), "allocating");
    need(cudaMalloc(&cub_counts, 65536 * sizeof *cub_counts), "allocating");
    need(cudaMalloc(&counts, 4 * 65536 * sizeof *counts), "allocating");
    for (content pattern : {content::random, content::constant, content::photo}) {
        for (gi_sample sample : {GI_U8, GI_U16})
            for (int channels : {1, 2, 3, 4}) bench_hist(pattern, channels, sample);
    }
    cudaFree(counts);
    cudaFree(cub_counts);
    cudaFree(cub_scratch);
}
