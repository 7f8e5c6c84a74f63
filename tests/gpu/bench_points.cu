// Point operations and histograms, beside CUB's.
#include <algorithm>
#include <vector>

#include <cub/device/device_histogram.cuh>

#include "bench.h"

namespace {

uint32_t expected(const gi_point &host, const gi_linear_tables *linear, const unsigned char *pixel) {
    uint32_t v[3];
    const uint32_t max = gi_sample_max(host.shape.sample);
    for (int c = 0; c < gi_colour_channels(host.shape.channels); c++) {
        uint32_t sample = max == 255 ? pixel[c] : ((const uint16_t *)pixel)[c];
        v[c] = gi_curve_at(&host.before[c], sample, max);
    }
    if (host.mix == GI_MIX_NONE) return v[0];
    uint32_t gray = host.mix == GI_MIX_LINEAR
                        ? gi_linear_encode(linear, linear->red[v[0]] + linear->green[v[1]] + linear->blue[v[2]])
                        : (host.weights[0] * v[0] + host.weights[1] * v[1] + host.weights[2] * v[2] + 16384) >> 15;
    return gi_curve_at(&host.after, gray, max);
}

// The first channel of every 997th pixel of the first buffer.
void check_point(const std::string &name, const gi_point &host) {
    const gi_linear_tables *linear = gi_linear_tables_get(host.shape.sample);
    const size_t bytes = gi_sample_bytes(host.shape.sample), in_pixel = bytes * host.shape.channels;
    const size_t out_pixel = bytes * gi_point_channels_out(&host);
    std::vector<unsigned char> in(PIXELS * in_pixel), out(PIXELS * out_pixel);
    need(cudaMemcpy(in.data(), inputs[0], in.size(), cudaMemcpyDeviceToHost), "reading back");
    need(cudaMemcpy(out.data(), outputs[0], out.size(), cudaMemcpyDeviceToHost), "reading back");
    bool right = true;
    for (size_t p = 0; p < PIXELS; p += 997) {
        const unsigned char *got = &out[p * out_pixel];
        right = right && (bytes == 1 ? *got : *(const uint16_t *)got) == expected(host, linear, &in[p * in_pixel]);
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
        for (int channels : {1, 3}) {
            const std::string name = (channels == 1 ? ", gray" : ", RGB") + kind;
            op = gi_point_identity(channels, sample);
            for (int c = 0; c < channels; c++) op.before[c] = threshold;
            bench_point("threshold" + name, op);
            for (int c = 0; c < channels; c++) op.before[c] = table;
            bench_point("table" + name, op);
        }
    }
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
    if (channels == 1) report("CUB hist" + what, median_ms(cub), bytes, 0);
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
        bench_hist(pattern, 1, GI_U8);
        bench_hist(pattern, 3, GI_U8);
        bench_hist(pattern, 4, GI_U8);
        bench_hist(pattern, 1, GI_U16);
    }
    cudaFree(counts);
    cudaFree(cub_counts);
    cudaFree(cub_scratch);
}
