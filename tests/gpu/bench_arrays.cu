// Times the reductions and scans of arrays side by side: every algorithm, CUB as its users call it (in the element's
// own type; 64 bits for integers), and a copy. Each is a graph of some launches over different arrays, so that neither
// the host nor the second-level cache is what is measured; graphs take turns; medians.
//
//     gpu_bench_arrays [--json FILE] [--commit TEXT] [--driver VERSION] [--only TEXT] [LOG2_OF_COUNT]...
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "kernels/arrays.h"
extern "C" {
#include "cpu/primitives.h"
}

namespace {

constexpr int ROUNDS = 11;
constexpr size_t IN_POOL = (size_t)2 << 30, OUT_POOL = (size_t)4 << 30, SCRATCH = (size_t)1 << 30;
constexpr size_t SETS = 16; // at most

cudaStream_t stream;
unsigned char *in_pool, *out_pool;
void *scratch;
gi_device_number *number;
uint32_t *ticket;
uint64_t *refused;
bool failed = false;

struct result {
    std::string what, name;
    int log2;
    double ms, gbps, of_cub, of_copy, call_us;
};
std::vector<result> results;

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

__device__ uint32_t mixed(size_t i) {
    uint32_t x = (uint32_t)i * 2654435761U + (uint32_t)(i >> 32);
    x = (x ^ x >> 16) * 0x85ebca6bU;
    return x ^ x >> 13;
}

// Floats of [0, 1), small integers: sums that fit.
template <typename T> __global__ void fill_kernel(T *data, size_t count) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    data[i] = (T)0.5 > 0 ? (T)((mixed(i) >> 8) * 0x1p-24) : (T)(mixed(i) % 251);
}

// Adds up how many of the results are further apart than a relative tolerance.
template <typename T> __global__ void compare_kernel(const T *a, const T *b, size_t count, uint64_t *wrong) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const double x = (double)a[i], y = (double)b[i];
    if (!(fabs(x - y) <= 1e-4 * fabs(y))) atomicAdd((unsigned long long *)wrong, 1ULL);
}

unsigned blocks_for(size_t count) { return (unsigned)((count + 255) / 256); }

// One way to do a job, on the arrays of set number i.
struct contender {
    std::string name;
    std::function<void(size_t)> launch;
    cudaGraphExec_t graph;
    std::vector<double> times;
    double call_us = 0; // from the call to the result
};

struct job {
    gi_element element;
    gi_operation operation;
    bool scans;
    int log2;
    size_t count() const { return (size_t)1 << log2; }
    size_t in_bytes() const { return count() * gi_element_bytes(element); }
    size_t out_bytes() const { return scans ? count() * gi_element_bytes(gi_scan_element(element)) : 0; }
    size_t sets() const {
        const size_t fit = IN_POOL / in_bytes(), out = scans ? OUT_POOL / out_bytes() : SETS;
        return std::max<size_t>(1, std::min({SETS, fit, out}));
    }
    const void *in(size_t set) const { return in_pool + set % sets() * in_bytes(); }
    void *out(size_t set) const { return out_pool + set % sets() * out_bytes(); }
};

gi_device_reduce_job reduce_job(const job &j, int algorithm, size_t set) {
    return {j.in(set), j.element, j.count(), j.operation, algorithm, number, ticket, scratch, stream};
}
gi_device_scan_job scan_job(const job &j, int algorithm, size_t set) {
    return {j.in(set), j.out(set), j.element, j.count(), j.operation, false, algorithm, refused, scratch, stream};
}

void run_ours(const job &j, int algorithm, size_t set) {
    gi_error err;
    if (j.scans) {
        const gi_device_scan_job scan = scan_job(j, algorithm, set);
        need(gi_cuda_scan(&scan, &err), err);
    } else {
        const gi_device_reduce_job reduce = reduce_job(j, algorithm, set);
        need(gi_cuda_reduce(&reduce, &err), err);
    }
}

// CUB in type A. `found` shares the result's place.
template <typename E, typename A> void run_cub(const job &j, size_t set) {
    const E *in = (const E *)j.in(set);
    size_t bytes = SCRATCH;
    cudaError_t error;
    if (j.scans)
        error = j.operation == GI_OPERATION_MAX
                    ? cub::DeviceScan::InclusiveScan(scratch, bytes, in, (A *)j.out(set), cuda::maximum<>{},
                                                     (int64_t)j.count(), stream)
                    : cub::DeviceScan::InclusiveScanInit(scratch, bytes, in, (A *)j.out(set), cuda::std::plus<>{}, A(0),
                                                         (int64_t)j.count(), stream);
    else
        error = j.operation == GI_OPERATION_MAX
                    ? cub::DeviceReduce::Max(scratch, bytes, in, (E *)number, (int64_t)j.count(), stream)
                    : cub::DeviceReduce::Reduce(scratch, bytes, in, (A *)number, (int64_t)j.count(),
                                                cuda::std::plus<>{}, A(0), stream);
    need(error, "CUB");
}

void run_cub_of(const job &j, size_t set) {
    switch (j.element) {
    case GI_ELEMENT_F32: return run_cub<float, float>(j, set);
    case GI_ELEMENT_F64: return run_cub<double, double>(j, set);
    case GI_ELEMENT_I32: return run_cub<int32_t, int64_t>(j, set);
    case GI_ELEMENT_I64: return run_cub<int64_t, int64_t>(j, set);
    default: return run_cub<uint8_t, int64_t>(j, set);
    }
}

void fill(const job &j) {
    const size_t all = j.sets() * j.count();
    switch (j.element) {
    case GI_ELEMENT_F32: fill_kernel<<<blocks_for(all), 256, 0, stream>>>((float *)in_pool, all); break;
    case GI_ELEMENT_F64: fill_kernel<<<blocks_for(all), 256, 0, stream>>>((double *)in_pool, all); break;
    case GI_ELEMENT_I32: fill_kernel<<<blocks_for(all), 256, 0, stream>>>((int32_t *)in_pool, all); break;
    case GI_ELEMENT_I64: fill_kernel<<<blocks_for(all), 256, 0, stream>>>((int64_t *)in_pool, all); break;
    default: fill_kernel<<<blocks_for(all), 256, 0, stream>>>((uint8_t *)in_pool, all); break;
    }
    need(cudaStreamSynchronize(stream), "filling");
}

void check(bool holds, const job &j, const char *name) {
    if (holds) return;
    failed = true;
    std::fprintf(stderr, "wrong result: %s of 2^%d %s, %s\n", j.scans ? "scan" : "reduction", j.log2,
                 gi_element_name(j.element), name);
}

// A reduction: beside the CPU's. A scan: its last result beside that, all results beside those of set 1 by `auto`,
// where set 1 has the values of set 0.
void validate_reduce(const job &j, const std::vector<unsigned char> &host, int algorithm, const char *name) {
    gi_reduce_job cpu = {host.data(), j.element, j.count(), j.operation, GI_ALGORITHM_AUTO, 16};
    gi_number want;
    gi_device_number got;
    gi_error err;
    need(gi_cpu_reduce(&cpu, &want, &err), err);
    need(cudaMemsetAsync(number, 0xff, sizeof *number, stream), "poisoning");
    run_ours(j, algorithm, 0);
    need(cudaStreamSynchronize(stream), "reducing");
    need(cudaMemcpy(&got, number, sizeof got, cudaMemcpyDeviceToHost), "downloading");
    const double a = want.is_integer ? (double)want.integer : want.real;
    const double b = want.is_integer ? (double)got.integer : got.real;
    check(std::fabs(a - b) <= 1e-12 * std::fabs(a) && got.overflow == 0, j, name);
}

template <typename Out> uint64_t differing(const job &j, const void *a, const void *b) {
    uint64_t wrong = 0, *place = (uint64_t *)scratch;
    need(cudaMemsetAsync(place, 0, sizeof *place, stream), "clearing");
    compare_kernel<<<blocks_for(j.count()), 256, 0, stream>>>((const Out *)a, (const Out *)b, j.count(), place);
    need(cudaStreamSynchronize(stream), "comparing");
    need(cudaMemcpy(&wrong, place, sizeof wrong, cudaMemcpyDeviceToHost), "downloading");
    return wrong;
}

void validate_scan(const job &j, const void *wanted, int algorithm, const char *name) {
    need(cudaMemsetAsync(j.out(0), 0xff, j.out_bytes(), stream), "poisoning");
    run_ours(j, algorithm, 0);
    const uint64_t wrong = j.element == GI_ELEMENT_F32   ? differing<float>(j, j.out(0), wanted)
                           : j.element == GI_ELEMENT_F64 ? differing<double>(j, j.out(0), wanted)
                                                         : differing<int64_t>(j, j.out(0), wanted);
    check(wrong == 0, j, name);
}

void validate(const job &j, const std::vector<int> &algorithms) {
    std::vector<unsigned char> host(j.in_bytes());
    char name[GI_ALGORITHM_BYTES];
    need(cudaMemcpy(host.data(), j.in(0), j.in_bytes(), cudaMemcpyDeviceToHost), "downloading");
    if (!j.scans) {
        for (int algorithm : algorithms)
            validate_reduce(j, host, algorithm, gi_algorithm_name(GI_PRIMITIVE_REDUCE, algorithm, name));
        return;
    }
    std::vector<unsigned char> want(j.out_bytes());
    gi_scan_job cpu = {host.data(), want.data(), j.element, j.count(), j.operation, false, GI_ALGORITHM_AUTO, 16};
    gi_error err;
    void *wanted;
    need(gi_cpu_scan(&cpu, &err), err);
    need(cudaMalloc(&wanted, j.out_bytes()), "allocating");
    need(cudaMemcpy(wanted, want.data(), j.out_bytes(), cudaMemcpyHostToDevice), "uploading");
    for (int algorithm : algorithms)
        validate_scan(j, wanted, algorithm, gi_algorithm_name(GI_PRIMITIVE_SCAN, algorithm, name));
    need(cudaFree(wanted), "freeing");
}

size_t launches_of(const job &j) { return j.log2 >= 27 ? 2 : j.log2 >= 23 ? 8 : 32; }

void capture(const job &j, contender *c) {
    cudaGraph_t graph;
    c->launch(0); // what is made at a first launch
    need(cudaStreamSynchronize(stream), c->name.c_str());
    need(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing");
    for (size_t i = 0; i < launches_of(j); i++) c->launch(i);
    need(cudaStreamEndCapture(stream, &graph), "capturing");
    need(cudaGraphInstantiate(&c->graph, graph, 0), "making a graph");
    need(cudaGraphDestroy(graph), "freeing");
}

double time_ms(const job &j, const contender &c) {
    static cudaEvent_t before, after;
    float ms = 0;
    if (!before) {
        need(cudaEventCreate(&before), "event");
        need(cudaEventCreate(&after), "event");
    }
    need(cudaEventRecord(before, stream), "event");
    need(cudaGraphLaunch(c.graph, stream), "launching");
    need(cudaEventRecord(after, stream), "event");
    need(cudaEventSynchronize(after), "waiting");
    need(cudaEventElapsedTime(&ms, before, after), "event");
    return ms / (double)launches_of(j);
}

// The median of single calls that are waited for.
double call_us(const contender &c) {
    using clock = std::chrono::steady_clock;
    std::vector<double> times;
    for (int i = 0; i < 200; i++) {
        const auto before = clock::now();
        c.launch((size_t)i);
        need(cudaStreamSynchronize(stream), "waiting");
        times.push_back(std::chrono::duration<double, std::micro>(clock::now() - before).count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

void report(const job &j, std::vector<contender> &all) {
    double cub = 0, copy = 0;
    const std::string what =
        std::string(j.scans ? "scan " : "reduce ") + gi_operation_name(j.operation) + " " + gi_element_name(j.element);
    for (contender &c : all) {
        std::sort(c.times.begin(), c.times.end());
        if (c.name == "CUB") cub = c.times[ROUNDS / 2];
        if (c.name == "copy") copy = c.times[ROUNDS / 2];
    }
    for (const contender &c : all) {
        const double ms = c.times[ROUNDS / 2];
        const double bytes = (double)j.in_bytes() + (double)(c.name == "copy" ? j.in_bytes() : j.out_bytes());
        results.push_back({what, c.name, j.log2, ms, bytes / ms * 1e-6, 100 * cub / ms, 100 * copy / ms, c.call_us});
        std::printf("%-18s 2^%-2d %-12s %9.5f ms (%.5f .. %.5f) %7.0f GB/s %6.1f %% of CUB's speed\n", what.c_str(),
                    j.log2, c.name.c_str(), ms, c.times.front(), c.times.back(), bytes / ms * 1e-6, 100 * cub / ms);
        if (c.call_us > 0) std::printf("%-36s %9.2f us from call to result\n", "", c.call_us);
    }
}

void bench(const job &j, const std::vector<int> &algorithms) {
    std::vector<contender> all;
    char name[GI_ALGORITHM_BYTES];
    fill(j);
    validate(j, algorithms);
    for (int algorithm : algorithms)
        all.push_back({gi_algorithm_name(j.scans ? GI_PRIMITIVE_SCAN : GI_PRIMITIVE_REDUCE, algorithm, name),
                       [j, algorithm](size_t set) { run_ours(j, algorithm, set); },
                       nullptr,
                       {}});
    all.push_back({"CUB", [j](size_t set) { run_cub_of(j, set); }, nullptr, {}});
    all.push_back({"copy",
                   [j](size_t set) {
                       need(cudaMemcpyAsync(out_pool + set % j.sets() * j.in_bytes(), j.in(set), j.in_bytes(),
                                            cudaMemcpyDeviceToDevice, stream),
                            "copying");
                   },
                   nullptr,
                   {}});
    for (contender &c : all) capture(j, &c);
    for (contender &c : all) time_ms(j, c);
    for (int round = 0; round < ROUNDS; round++)
        for (contender &c : all) c.times.push_back(time_ms(j, c));
    if (j.log2 <= 20)
        for (contender &c : all) c.call_us = call_us(c);
    report(j, all);
    for (contender &c : all) need(cudaGraphExecDestroy(c.graph), "freeing");
}

bool write_json(const char *path, const char *commit, const char *driver) {
    cudaDeviceProp device;
    char date[32];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    need(cudaGetDeviceProperties(&device, 0), "asking for the device");
    FILE *file = std::fopen(path, "w");
    if (!file) return false;
    std::fprintf(file, "{\"gpu\":\"%s\",\"driver\":\"%s\",\"toolkit\":\"%d.%d\",\"date\":\"%s\",\"commit\":\"%s\",",
                 device.name, driver, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, date, commit);
    std::fprintf(file, "\"results\":[");
    for (size_t i = 0; i < results.size(); i++) {
        const result &r = results[i];
        std::fprintf(file,
                     "%s\n{\"job\":\"%s\",\"name\":\"%s\",\"log2_count\":%d,\"ms\":%.5f,\"gbps\":%.1f,"
                     "\"percent_of_cub\":%.1f,\"percent_of_copy\":%.1f,\"call_us\":%.2f}",
                     i ? "," : "", r.what.c_str(), r.name.c_str(), r.log2, r.ms, r.gbps, r.of_cub, r.of_copy,
                     r.call_us);
    }
    std::fprintf(file, "\n]}\n");
    return std::fclose(file) == 0;
}

void set_up() {
    need(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    need(cudaMalloc((void **)&in_pool, IN_POOL), "allocating");
    need(cudaMalloc((void **)&out_pool, OUT_POOL), "allocating");
    need(cudaMalloc(&scratch, SCRATCH), "allocating");
    need(cudaMalloc((void **)&number, sizeof *number), "allocating");
    need(cudaMalloc((void **)&ticket, sizeof *ticket), "allocating");
    need(cudaMalloc((void **)&refused, sizeof *refused), "allocating");
    need(cudaMemset(ticket, 0, sizeof *ticket), "clearing");
}

// Everything of float32 sums; of the others the default beside CUB.
void bench_all(const std::vector<int> &sizes, const char *only) {
    const std::vector<int> every = {1, 2, 3, 4};
    const struct {
        gi_element element;
        gi_operation operation;
    } kinds[] = {{GI_ELEMENT_F32, GI_OPERATION_SUM}, {GI_ELEMENT_F32, GI_OPERATION_MAX},
                 {GI_ELEMENT_F64, GI_OPERATION_SUM}, {GI_ELEMENT_I32, GI_OPERATION_SUM},
                 {GI_ELEMENT_I64, GI_OPERATION_SUM}, {GI_ELEMENT_U8, GI_OPERATION_SUM},
                 {GI_ELEMENT_U8, GI_OPERATION_MAX}};
    for (int scans = 0; scans < 2; scans++)
        for (const auto &kind : kinds)
            for (int log2 : sizes) {
                const job j = {kind.element, kind.operation, scans == 1, log2};
                const bool all = kind.element == GI_ELEMENT_F32 && kind.operation == GI_OPERATION_SUM;
                const std::string what = std::string(scans ? "scan " : "reduce ") + gi_operation_name(kind.operation) +
                                         " " + gi_element_name(kind.element);
                if (only && what.find(only) == std::string::npos) continue;
                if (scans && kind.operation == GI_OPERATION_MAX && kind.element == GI_ELEMENT_U8) continue;
                if (j.in_bytes() > IN_POOL || j.out_bytes() > OUT_POOL) continue;
                bench(j, all ? every : std::vector<int>{scans ? (int)GI_SCAN_LOOKBACK : (int)GI_REDUCE_SHUFFLE});
            }
}

} // namespace

int main(int argc, char **argv) {
    const char *json = nullptr, *commit = "unknown", *driver = "unknown", *only = nullptr;
    std::vector<int> sizes;
    for (int i = 1; i < argc; i++) {
        const bool more = i + 1 < argc;
        if (std::strcmp(argv[i], "--json") == 0 && more)
            json = argv[++i];
        else if (std::strcmp(argv[i], "--commit") == 0 && more)
            commit = argv[++i];
        else if (std::strcmp(argv[i], "--driver") == 0 && more)
            driver = argv[++i];
        else if (std::strcmp(argv[i], "--only") == 0 && more)
            only = argv[++i];
        else if (std::atoi(argv[i]) > 9 && std::atoi(argv[i]) < 31)
            sizes.push_back(std::atoi(argv[i]));
        else {
            std::fprintf(stderr, "usage: %s [--json FILE] [--commit TEXT] [--driver VERSION] [--only TEXT] [LOG2]...\n",
                         argv[0]);
            return 2;
        }
    }
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::printf("skipped: no CUDA device\n");
        return 77;
    }
    if (sizes.empty()) sizes = {20, 24, 28};
    set_up();
    bench_all(sizes, only);
    if (json && !write_json(json, commit, driver)) {
        std::perror(json);
        failed = true;
    }
    return failed ? 1 : 0;
}
