// Times the matrix products side by side: every algorithm in turn, again and again, medians; TFLOP/s, and per cent of
// cuBLAS in the same precision. Every result is first checked, all elements of it, against a float64 product.
//
//     gpu_bench_matmul [--json FILE] [--commit TEXT] [--driver TEXT] [ALGORITHM | M | MxKxN]...
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "kernels/matmul.h"

namespace {

constexpr int ROUNDS = 9;
constexpr double BATCH_MS = 4;                         // launches that take about so long are timed together
constexpr size_t POOL = (size_t)256 << 20;             // bytes for each matrix: the sets in it are used in turn
constexpr int SETS = 8;                                // at most
constexpr double SLOW_FLOP = 2 * 4096.0 * 4096 * 4096; // naive and tiled are not run on more

struct sides {
    size_t m, k, n;
    double flop() const { return 2.0 * (double)m * (double)k * (double)n; }
};

struct result {
    sides s;
    int algorithm;
    double ms, tflops, percent, error;
};

const char *name_of(int algorithm) {
    static char name[GI_ALGORITHM_BYTES];
    return gi_algorithm_name(GI_PRIMITIVE_MATMUL, algorithm, name);
}

cudaStream_t stream;
gi_cublas *cublas;
float *pool_a, *pool_b, *pool_c;
double *wanted, *sizes, *sums; // device
void *scratch;
std::vector<result> results;
bool failed = false;

void need(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}

// Of [-1, 1), no two seeds alike.
__global__ void fill_kernel(float *data, size_t count, uint32_t seed) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint32_t x = (uint32_t)i * 2654435761U + seed * 0x9e3779b9U;
    x = (x ^ x >> 16) * 0x85ebca6bU;
    x = (x ^ x >> 13) * 0xc2b2ae35U;
    data[i] = (float)(x >> 8) * 0x1p-23F - 1;
}

// A B and |A| |B| in float64.
__global__ void reference_kernel(const float *a, const float *b, sides s, double *out, double *size) {
    const size_t i = blockIdx.y * (size_t)blockDim.y + threadIdx.y, j = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= s.m || j >= s.n) return;
    double sum = 0, all = 0;
    for (size_t p = 0; p < s.k; p++) {
        const double term = (double)a[i * s.k + p] * b[p * s.n + j];
        sum += term;
        all += fabs(term);
    }
    out[i * s.n + j] = sum;
    size[i * s.n + j] = all;
}

// sums[0] += (c - wanted)^2, sums[1] += wanted^2, sums[2] += how many differ by more than bound * size.
__global__ void compare_kernel(const float *c, const double *out, const double *size, size_t count, double bound,
                               double *totals) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const double difference = c[i] - out[i];
    atomicAdd(totals, difference * difference);
    atomicAdd(totals + 1, out[i] * out[i]);
    if (!(fabs(difference) <= bound * size[i])) atomicAdd(totals + 2, 1.0);
}

unsigned blocks_for(size_t count) { return (unsigned)((count + 255) / 256); }

int sets_of(sides s) {
    const size_t most = std::max({s.m * s.k, s.k * s.n, s.m * s.n}) * sizeof(float);
    return (int)std::min<size_t>(SETS, POOL / most);
}

gi_matmul_launch job_of(int algorithm, sides s, int set) {
    gi_matmul_launch job = {};
    job.m = s.m;
    job.k = s.k;
    job.n = s.n;
    job.a_stride = s.k;
    job.b_stride = job.c_stride = s.n;
    job.algorithm = algorithm;
    // Sets begin at multiples of 256 bytes, as allocations do.
    const auto at = [set](float *pool, size_t count) { return pool + (size_t)set * ((count + 63) / 64 * 64); };
    job.a = at(pool_a, s.m * s.k);
    job.b = at(pool_b, s.k * s.n);
    job.c = at(pool_c, s.m * s.n);
    job.cublas = cublas;
    job.scratch = scratch;
    job.stream = stream;
    return job;
}

// False where this device or these sides are not for the algorithm.
bool launch(int algorithm, sides s, int set) {
    gi_error err;
    const gi_matmul_launch job = job_of(algorithm, s, set);
    const gi_status status = gi_cuda_matmul(&job, &err);
    if (status == GI_OK) return true;
    if (status != GI_ERR_DEVICE) failed = true;
    std::printf("%-12s %s\n", name_of(algorithm), err.text);
    return false;
}

void make_reference(sides s) {
    const gi_matmul_launch job = job_of(GI_ALGORITHM_AUTO, s, 0);
    const dim3 block(32, 8), grid((unsigned)((s.n + 31) / 32), (unsigned)((s.m + 7) / 8));
    reference_kernel<<<grid, block, 0, stream>>>(job.a, job.b, s, wanted, sizes);
    need(cudaStreamSynchronize(stream), "multiplying in float64");
}

// The relative error in Frobenius norms; fails the program where an element is worse than promised.
bool validate(int algorithm, sides s, double *error) {
    const gi_matmul_launch job = job_of(algorithm, s, 0);
    const size_t count = s.m * s.n;
    double totals[3] = {};
    need(cudaMemsetAsync(job.c, 0xff, count * sizeof(float), stream), "poisoning");
    if (!launch(algorithm, s, 0)) return false;
    need(cudaMemsetAsync(sums, 0, sizeof totals, stream), "clearing");
    compare_kernel<<<blocks_for(count), 256, 0, stream>>>(job.c, wanted, sizes, count,
                                                          gi_matmul_error_bound(algorithm, s.k), sums);
    need(cudaMemcpyAsync(totals, sums, sizeof totals, cudaMemcpyDeviceToHost, stream), "downloading");
    need(cudaStreamSynchronize(stream), "comparing");
    *error = std::sqrt(totals[0] / totals[1]);
    if (totals[2] == 0) return true;
    failed = true;
    std::fprintf(stderr, "wrong result: %s: %.0f elements of %zu, relative error %g\n", name_of(algorithm), totals[2],
                 count, *error);
    return true;
}

// Milliseconds of one launch, from `count` in a row.
double time_ms(int algorithm, sides s, int count) {
    static cudaEvent_t before, after;
    static int next = 0;
    float ms = 0;
    if (!before) {
        need(cudaEventCreate(&before), "event");
        need(cudaEventCreate(&after), "event");
    }
    need(cudaEventRecord(before, stream), "event");
    for (int i = 0; i < count; i++) launch(algorithm, s, next++ % sets_of(s));
    need(cudaEventRecord(after, stream), "event");
    need(cudaEventSynchronize(after), "waiting");
    need(cudaEventElapsedTime(&ms, before, after), "event");
    return ms / count;
}

bool is_slow(int algorithm) { return algorithm >= GI_MATMUL_NAIVE && algorithm <= GI_MATMUL_TILED32; }
bool is_tf32(int algorithm) {
    return algorithm == GI_MATMUL_TF32_MMA || algorithm == GI_MATMUL_TF32_WGMMA || algorithm == GI_MATMUL_CUBLAS_TF32;
}

struct contender {
    int algorithm;
    double error;
    int batch;
    std::vector<double> times;
};

void report(sides s, const std::vector<contender> &all) {
    double library[2] = {}; // cuBLAS's time in float32 and tf32
    for (const contender &c : all)
        if (c.algorithm == GI_MATMUL_CUBLAS || c.algorithm == GI_MATMUL_CUBLAS_TF32)
            library[is_tf32(c.algorithm)] = c.times[ROUNDS / 2];
    for (const contender &c : all) {
        const double ms = c.times[ROUNDS / 2], other = library[is_tf32(c.algorithm)];
        results.push_back({s, c.algorithm, ms, s.flop() / ms * 1e-9, 100 * other / ms, c.error});
        const result &r = results.back();
        std::printf("%6zu %6zu %6zu  %-12s %9.4f ms (%.4f .. %.4f) %7.2f TFLOP/s %6.1f %% of cuBLAS  error %.1e\n", s.m,
                    s.k, s.n, name_of(r.algorithm), ms, c.times[0], c.times[ROUNDS - 1], r.tflops, r.percent, r.error);
    }
}

void bench(sides s, const std::vector<int> &algos) {
    std::vector<contender> all;
    make_reference(s);
    for (int algorithm : algos) {
        contender c = {algorithm, 0, 1, {}};
        if ((is_slow(algorithm) && s.flop() > SLOW_FLOP) || !validate(algorithm, s, &c.error)) continue;
        c.batch = std::max(1, std::min(200, (int)(BATCH_MS / time_ms(algorithm, s, 2))));
        all.push_back(c);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (contender &c : all) c.times.push_back(time_ms(c.algorithm, s, c.batch));
    for (contender &c : all) std::sort(c.times.begin(), c.times.end());
    report(s, all);
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
    std::fprintf(file, "\"cublas\":%d,\"results\":[", cublas ? gi_cublas_version(cublas) : 0);
    for (size_t i = 0; i < results.size(); i++) {
        const result &r = results[i];
        std::fprintf(file,
                     "%s\n{\"m\":%zu,\"k\":%zu,\"n\":%zu,\"name\":\"%s\",\"ms\":%.5f,\"tflops\":%.3f,"
                     "\"percent_of_cublas\":%.1f,\"relative_error\":%.3e}",
                     i ? "," : "", r.s.m, r.s.k, r.s.n, name_of(r.algorithm), r.ms, r.tflops, r.percent, r.error);
    }
    std::fprintf(file, "\n]}\n");
    return std::fclose(file) == 0;
}

bool parse_algo(const char *text, std::vector<int> *algos) {
    for (int i = GI_MATMUL_NAIVE; i < GI_MATMUL_COUNT; i++)
        if (std::strcmp(text, name_of(i)) == 0) {
            algos->push_back(i);
            return true;
        }
    return false;
}

bool parse_sides(const char *text, std::vector<sides> *shapes) {
    sides s = {};
    const int count = std::sscanf(text, "%zux%zux%zu", &s.m, &s.k, &s.n);
    if (count == 1) s.k = s.n = s.m;
    if (count != 1 && count != 3) return false;
    shapes->push_back(s);
    return s.m > 0 && s.k > 0 && s.n > 0 && sets_of(s) > 0;
}

void set_up() {
    gi_error err;
    need(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    for (float **pool : {&pool_a, &pool_b, &pool_c}) {
        need(cudaMalloc((void **)pool, POOL + SETS * 256), "allocating");
        fill_kernel<<<blocks_for(POOL / 4), 256, 0, stream>>>(*pool, POOL / 4, (uint32_t)(pool == &pool_a) + 1);
    }
    need(cudaMalloc((void **)&wanted, 2 * POOL), "allocating");
    need(cudaMalloc((void **)&sizes, 2 * POOL), "allocating");
    need(cudaMalloc((void **)&sums, 3 * sizeof *sums), "allocating");
    need(cudaMalloc(&scratch, (size_t)32 << 20), "allocating");
    need(cudaStreamSynchronize(stream), "filling");
    if (gi_cublas_open(&cublas, &err) != GI_OK) std::printf("without cuBLAS: %s\n", err.text);
}

} // namespace

int main(int argc, char **argv) {
    const char *json = nullptr, *commit = "unknown", *driver = "unknown";
    std::vector<int> algos;
    std::vector<sides> shapes;
    for (int i = 1; i < argc; i++) {
        if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            json = argv[++i];
        else if (std::strcmp(argv[i], "--commit") == 0 && i + 1 < argc)
            commit = argv[++i];
        else if (std::strcmp(argv[i], "--driver") == 0 && i + 1 < argc)
            driver = argv[++i];
        else if (!parse_algo(argv[i], &algos) && !parse_sides(argv[i], &shapes)) {
            std::fprintf(stderr, "usage: %s [--json FILE] [--commit TEXT] [--driver TEXT] [ALGORITHM | M | MxKxN]...\n",
                         argv[0]);
            return 2;
        }
    }
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::printf("skipped: no CUDA device\n");
        return 77;
    }
    if (algos.empty())
        for (int i = GI_MATMUL_NAIVE; i < GI_MATMUL_COUNT; i++)
            if (i != GI_MATMUL_TF32) algos.push_back(i);
    if (shapes.empty()) shapes = {{1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096}, {8192, 8192, 8192}};
    set_up();
    if (!cublas) algos.erase(std::remove(algos.begin(), algos.end(), GI_MATMUL_CUBLAS), algos.end());
    if (!cublas) algos.erase(std::remove(algos.begin(), algos.end(), GI_MATMUL_CUBLAS_TF32), algos.end());
    for (sides s : shapes) bench(s, algos);
    if (json && !write_json(json, commit, driver)) {
        std::perror(json);
        failed = true;
    }
    return failed ? 1 : 0;
}
