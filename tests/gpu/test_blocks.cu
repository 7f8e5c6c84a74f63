// Reduction and scan of the device beside plain loops, for every length at which something changes: a warp, a block, a
// tile, the tiles' totals; for values of 4 bytes to 24; in place; through functions that load and store. And heat's
// reciprocal beside IEEE division, for every divisor.
#include <cstdio>
#include <vector>

#include "core/heat_math.h"
#include "kernels/scan.cuh"

extern "C" {
#include "support.h"
}

namespace {

using namespace gi;

cudaStream_t stream;
constexpr size_t GUARD = 64; // values before and after what is written

template <typename T> struct device_array {
    T *data = nullptr;
    explicit device_array(const std::vector<T> &from) {
        cuda_ok(cudaMalloc((void **)&data, (from.size() + 1) * sizeof(T)));
        cuda_ok(cudaMemcpy(data, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~device_array() { cuda_ok(cudaFree(data)); }
    std::vector<T> get(size_t count) const {
        std::vector<T> to(count);
        cuda_ok(cudaStreamSynchronize(stream));
        cuda_ok(cudaMemcpy(to.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
        return to;
    }
};

// A value with an operation that is not a sum: how many, the smallest, and the exclusive or of all.
struct digest {
    uint64_t count, least, mixed;
    bool operator==(const digest &other) const {
        return count == other.count && least == other.least && mixed == other.mixed;
    }
};

struct join {
    __host__ __device__ digest identity() const { return {0, UINT64_MAX, 0}; }
    __host__ __device__ digest operator()(const digest &a, const digest &b) const {
        return {a.count + b.count, a.least < b.least ? a.least : b.least, a.mixed ^ b.mixed};
    }
};

template <typename T> struct add {
    __host__ __device__ T identity() const { return 0; }
    __host__ __device__ T operator()(T a, T b) const { return a + b; }
};

template <typename T> struct greatest {
    __host__ __device__ T identity() const { return 0; }
    __host__ __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};

template <typename T> T value_of(uint64_t random) { return (T)random; }
template <> digest value_of<digest>(uint64_t random) { return {1, random, random * 3}; }

template <typename T, typename Op> void try_length(size_t n, Op op, rng *r) {
    gi_error err;
    std::vector<T> values(n + 2 * GUARD), wanted(n + 2 * GUARD);
    for (auto &v : values) v = value_of<T>(rng_next(r));
    wanted = values;
    T all = op.identity();
    for (size_t i = 0; i < n; i++) wanted[GUARD + i] = all = op(all, values[GUARD + i]);

    device_array<T> array(values), result({value_of<T>(1), value_of<T>(2), value_of<T>(3)});
    const size_t bytes = larger(scan_scratch<T>(n), reduce_scratch<T>(n));
    device_array<unsigned char> scratch(std::vector<unsigned char>(bytes + GUARD, 0xa5));
    gi_status status = reduce<T>(n, array_load<T>{array.data + GUARD}, op, result.data + 1, scratch.data, stream, &err);
    succeeded(status, &err);
    const std::vector<T> reduced = result.get(3);
    CHECK(reduced[0] == value_of<T>(1) && reduced[1] == all && reduced[2] == value_of<T>(3));

    status = scan<T>(n, array_load<T>{array.data + GUARD}, op, array_store<T>{array.data + GUARD}, scratch.data, stream,
                     &err);
    succeeded(status, &err);
    CHECK(array.get(n + 2 * GUARD) == wanted);
    const std::vector<unsigned char> guard = scratch.get(bytes + GUARD);
    bool intact = true;
    for (size_t i = bytes; i < guard.size(); i++) intact = intact && guard[i] == 0xa5;
    CHECK(intact);
}

template <typename T, typename Op> void test_type(const char *name, Op op, const options &o) {
    rng r = {o.seed + 40};
    const size_t tile = SCAN_TILE<T>;
    std::vector<size_t> lengths = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025};
    for (size_t n : {tile, 2 * tile, (size_t)REDUCE_THREADS * REDUCE_VALUES})
        for (size_t more : {n - 1, n, n + 1}) lengths.push_back(more);
    if (!o.quick)
        for (size_t n :
             {(size_t)(1 << 20) + 3, tile * tile - 1, tile * tile, tile * tile + 1, 3 * tile * tile / 2 + 77})
            lengths.push_back(n);
    for (size_t n : lengths) {
        case_name("%s, %zu values", name, n);
        try_length<T>(n, op, &r);
    }
}

// A block's scan of an array in shared memory, of any length, carried on from one call to the next.
template <int Threads> __global__ void block_kernel(const uint32_t *in, int count, uint32_t *out, uint32_t *carries) {
    __shared__ uint32_t values[4000];
    __shared__ block_room<Threads, uint32_t> room;
    uint32_t carry = 1000;
    for (int round = 0; round < 2; round++) {
        for (int i = (int)threadIdx.x; i < count; i += Threads) values[i] = in[i];
        carry = block_scan_array(values, count, carry, sum<uint32_t>{}, room);
        for (int i = (int)threadIdx.x; i < count; i += Threads) out[round * count + i] = values[i];
        __syncthreads();
    }
    if (threadIdx.x == 0) *carries = carry;
}

template <int Threads> void try_block(int count, rng *r) {
    std::vector<uint32_t> in((size_t)count), wanted;
    for (auto &v : in) v = (uint32_t)rng_next(r);
    uint32_t carry = 1000;
    for (int round = 0; round < 2; round++)
        for (uint32_t v : in) wanted.push_back(carry += v);
    case_name("a block of %d threads, %d values", Threads, count);
    device_array<uint32_t> from(in), to(std::vector<uint32_t>(2 * (size_t)count)), end({0});
    block_kernel<Threads><<<1, Threads, 0, stream>>>(from.data, count, to.data, end.data);
    cuda_ok(cudaGetLastError());
    CHECK(to.get(wanted.size()) == wanted);
    CHECK(end.get(1)[0] == carry);
}

__global__ void reciprocals_kernel(uint32_t first, uint32_t end, uint32_t step, uint32_t *wrong) {
    const uint32_t stride = gridDim.x * blockDim.x * step;
    for (uint32_t bits = first + (blockIdx.x * blockDim.x + threadIdx.x) * step; bits <= end; bits += stride) {
        const float q = __uint_as_float(bits);
        if (__float_as_uint(gi_reciprocal(q)) != __float_as_uint(__fdiv_rn(1.0F, q))) atomicAdd(wrong, 1U);
    }
}

// All floats from 1 to 16: those that tanh divides by.
void test_reciprocals(const options &o) {
    case_name("reciprocals of 1 to 16");
    device_array<uint32_t> wrong({0});
    reciprocals_kernel<<<o.quick ? 4 : 1024, 256, 0, stream>>>(0x3f800000, 0x41800000, o.quick ? 499 : 1, wrong.data);
    cuda_ok(cudaGetLastError());
    CHECK(wrong.get(1)[0] == 0);
}

} // namespace

int main(int argc, char **argv) {
    const options o = options_parse(argc, argv);
    if (!usable_device()) return EXIT_SKIPPED;
    if (!cuda_ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))) return 1;
    test_type<uint32_t>("sums of 32 bits", add<uint32_t>{}, o);
    test_type<uint64_t>("sums of 64 bits", add<uint64_t>{}, o);
    test_type<uint32_t>("maxima", greatest<uint32_t>{}, o);
    test_type<digest>("values of 24 bytes", join{}, o);
    rng r = {o.seed + 41};
    for (int count : {0, 1, 31, 32, 33, 255, 256, 257, 1000, 1024, 4000}) {
        try_block<32>(count, &r);
        try_block<96>(count, &r);
        try_block<256>(count, &r);
        try_block<1024>(count, &r);
    }
    test_reciprocals(o);
    cuda_ok(cudaStreamDestroy(stream));
    device_release();
    return checks_report("blocks");
}
