// Times the kernels on 8K images beside a streaming copy of the same bytes, or a read of them, and beside the vendor's
// libraries. Medians of single launches by events. Every result is checked before it is timed.
//
//     gpu_bench_stages [--only points|hists|windows|heat|barriers] [--json FILE] [--commit TEXT] [--driver VERSION]
#include "bench.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

cudaStream_t stream;
unsigned char *inputs[BUFFERS], *outputs[BUFFERS];

namespace {

constexpr int WARM_UPS = 5, REPEATS = 50;

bool failed = false;

struct result {
    std::string name;
    double ms, gbps, percent_of_copy;
};
std::vector<result> results;

__global__ void copy_kernel(const uint4 *in, uint4 *out, size_t packets) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < packets) __stcs(out + i, __ldcs(in + i));
}

__global__ void read_kernel(const uint4 *in, size_t packets, uint32_t *never) {
    uint32_t all = 0;
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < packets; i += stride) {
        uint4 v = __ldcs(in + i);
        all |= (v.x ^ 0x12345678) & (v.y ^ 0x9abcdef0) & v.z & ~v.w;
    }
    if (all == 0xdeadbeef) *never = all;
}

__device__ uint32_t hash(uint32_t x) {
    x ^= x >> 16;
    x *= 0x85ebca6bU;
    x ^= x >> 13;
    x *= 0xc2b2ae35U;
    return x ^ x >> 16;
}

// photo: a vertical gradient with noise in the low two bits of each byte.
__global__ void fill_kernel(uint32_t *words, size_t count, content kind, uint32_t seed) {
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        uint32_t noise = hash((uint32_t)i * 2654435761U + seed);
        uint32_t slope = (uint32_t)(i * 255 / count) * 0x01010101U;
        words[i] = kind == content::random     ? noise
                   : kind == content::constant ? 0x80808080U
                                               : slope ^ (noise & 0x03030303U);
    }
}

// Times of a copy of so many bytes (half read, half written), or of a read where nothing is written.
double ceiling_ms(size_t read, size_t written) {
    if (written == 0) {
        return median_ms([&](int i) {
            read_kernel<<<132 * 8, 512, 0, stream>>>((const uint4 *)inputs[i], read / 16, (uint32_t *)outputs[0]);
        });
    }
    // What is more than a buffer holds takes longer in proportion.
    const size_t wanted = (read + written) / 32, packets = wanted < ROOM / 16 ? wanted : ROOM / 16;
    return (double)wanted / (double)packets * median_ms([&](int i) {
               copy_kernel<<<(unsigned)((packets + 255) / 256), 256, 0, stream>>>((const uint4 *)inputs[i],
                                                                                  (uint4 *)outputs[i], packets);
           });
}

bool write_json(const char *path, const char *commit, const char *driver) {
    cudaDeviceProp device;
    char date[32];
    const time_t now = time(nullptr);
    need(cudaGetDeviceProperties(&device, 0), "asking for the device");
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    FILE *file = std::fopen(path, "w");
    if (!file) return false;
    std::fprintf(file, "{\"gpu\":\"%s\",\"driver\":\"%s\",\"toolkit\":\"%d.%d\",\"date\":\"%s\",\"commit\":\"%s\",",
                 device.name, driver, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, date, commit);
    std::fprintf(file, "\"results\":[");
    for (size_t i = 0; i < results.size(); i++)
        std::fprintf(file, "%s\n{\"name\":\"%s\",\"ms\":%.5f,\"gbps\":%.1f,\"percent_of_copy\":%.1f}", i ? "," : "",
                     results[i].name.c_str(), results[i].ms, results[i].gbps, results[i].percent_of_copy);
    std::fprintf(file, "\n]}\n");
    return std::fclose(file) == 0;
}

} // namespace

void need(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}

void need(gi_status status, const gi_error &err) {
    if (status == GI_OK) return;
    std::fprintf(stderr, "%s\n", err.text);
    std::exit(1);
}

void fill(content kind, size_t bytes) {
    for (int i = 0; i < BUFFERS; i++)
        fill_kernel<<<4096, 256, 0, stream>>>((uint32_t *)inputs[i], bytes / 4, kind, i + 1);
    need(cudaStreamSynchronize(stream), "filling");
}

gi_view view_of(unsigned char *data, int channels, gi_sample sample) {
    return gi_view_packed(data, {WIDTH, HEIGHT, channels, sample}, GI_DEVICE);
}

double median_ms(const std::function<void(int)> &launch) {
    cudaEvent_t before, after;
    std::vector<float> times;
    need(cudaEventCreate(&before), "event");
    need(cudaEventCreate(&after), "event");
    for (int i = 0; i < WARM_UPS + REPEATS; i++) {
        float ms = 0;
        need(cudaEventRecord(before, stream), "event");
        launch(i % BUFFERS);
        need(cudaEventRecord(after, stream), "event");
        need(cudaEventSynchronize(after), "waiting");
        need(cudaEventElapsedTime(&ms, before, after), "event");
        if (i >= WARM_UPS) times.push_back(ms);
    }
    need(cudaGetLastError(), "launching");
    cudaEventDestroy(before);
    cudaEventDestroy(after);
    std::nth_element(times.begin(), times.begin() + REPEATS / 2, times.end());
    return times[REPEATS / 2];
}

void report(const std::string &name, double ms, size_t read, size_t written) {
    const double ceiling = ceiling_ms(read, written);
    results.push_back({name, ms, (double)(read + written) / ms / 1e6, 100 * ceiling / ms});
    const result &r = results.back();
    std::printf("%-36s %9.4f ms %8.0f GB/s %6.1f %%  (%s of the same bytes %.4f ms)\n", name.c_str(), r.ms, r.gbps,
                r.percent_of_copy, written ? "copy" : "read", ceiling);
}

void check(bool holds, const std::string &name) {
    if (holds) return;
    failed = true;
    std::fprintf(stderr, "wrong result: %s\n", name.c_str());
}

#ifdef GPUIMG_BENCH_NPP
NppStreamContext npp_context() {
    cudaDeviceProp device;
    NppStreamContext context = {};
    need(cudaGetDeviceProperties(&device, 0), "asking for the device");
    context.hStream = stream;
    context.nMultiProcessorCount = device.multiProcessorCount;
    context.nMaxThreadsPerMultiProcessor = device.maxThreadsPerMultiProcessor;
    context.nMaxThreadsPerBlock = device.maxThreadsPerBlock;
    context.nSharedMemPerBlock = device.sharedMemPerBlock;
    context.nCudaDevAttrComputeCapabilityMajor = device.major;
    context.nCudaDevAttrComputeCapabilityMinor = device.minor;
    context.nStreamFlags = cudaStreamNonBlocking;
    return context;
}
#endif

int main(int argc, char **argv) {
    const char *json = nullptr, *commit = "unknown", *driver = "unknown", *only = nullptr;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (std::strcmp(argv[i], "--json") == 0) json = argv[i + 1];
        if (std::strcmp(argv[i], "--commit") == 0) commit = argv[i + 1];
        if (std::strcmp(argv[i], "--driver") == 0) driver = argv[i + 1];
        if (std::strcmp(argv[i], "--only") == 0) only = argv[i + 1];
    }
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::printf("skipped: no CUDA device\n");
        return 77;
    }
    need(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    for (int i = 0; i < BUFFERS; i++) {
        need(cudaMalloc(&inputs[i], ROOM), "allocating");
        need(cudaMalloc(&outputs[i], ROOM), "allocating");
    }
    const struct {
        const char *name;
        void (*run)();
    } parts[] = {{"points", bench_points},
                 {"hists", bench_hists},
                 {"windows", bench_windows},
                 {"heat", bench_heats},
                 {"barriers", bench_barriers}};
    for (const auto &part : parts)
        if (!only || std::strcmp(only, part.name) == 0) part.run();
    if (json && !write_json(json, commit, driver)) {
        std::perror(json);
        failed = true;
    }
    return failed ? 1 : 0;
}
