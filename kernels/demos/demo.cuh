// What the demonstrations share on the GPU's side: errors, arrays on the device, and times by events.
#ifndef GI_KERNELS_DEMOS_DEMO_CUH
#define GI_KERNELS_DEMOS_DEMO_CUH

#include <cuda_runtime.h>

#include <type_traits>

#include "bench/bench.h"
#include "cuda/cuda_status.h"

// Both leave the function with the status, unless all went well. A call's own text is what the message says was done.
#define GI_TRY(call)                                                                                                   \
    do {                                                                                                               \
        const gi_status status_of_call = (call);                                                                       \
        if (status_of_call != GI_OK) return status_of_call;                                                            \
    } while (0)
#define GI_TRY_CUDA(call) GI_TRY(gi_cuda_check((call), #call, err))

namespace gi {
namespace demo {

// An array in device memory, freed at the end of its scope.
template <typename T> struct device_array {
    T *data = nullptr;
    size_t count = 0;

    device_array() = default;
    device_array(const device_array &) = delete;
    device_array &operator=(const device_array &) = delete;
    ~device_array() { cudaFree(data); }

    size_t bytes() const { return count * sizeof(T); }

    gi_status allocate(size_t wanted, gi_error *err) {
        cudaFree(data);
        data = nullptr;
        count = wanted;
        GI_TRY_CUDA(cudaMalloc((void **)&data, bytes() ? bytes() : 1));
        return GI_OK;
    }
    gi_status upload(const T *from, gi_error *err) {
        GI_TRY_CUDA(cudaMemcpy(data, from, bytes(), cudaMemcpyHostToDevice));
        return GI_OK;
    }
    gi_status download(T *to, gi_error *err) const {
        GI_TRY_CUDA(cudaMemcpy(to, data, bytes(), cudaMemcpyDeviceToHost));
        return GI_OK;
    }
    gi_status clear(gi_error *err) {
        GI_TRY_CUDA(cudaMemset(data, 0, bytes()));
        return GI_OK;
    }
};

// Reads all of `data`, so that nothing else is left in the L2 cache. The sum keeps the compiler from leaving it out.
inline __global__ void flush_kernel(const uint4 *data, size_t count, unsigned *sink) {
    unsigned sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        const uint4 v = data[i];
        sum += v.x ^ v.y ^ v.z ^ v.w;
    }
    if (sum == 0x9e3779b9U) *sink = sum;
}

// Times what is launched on the default stream. Opened once by each demonstration.
class meter {
  public:
    meter() = default;
    meter(const meter &) = delete;
    meter &operator=(const meter &) = delete;
    ~meter() {
        if (begin_) cudaEventDestroy(begin_);
        if (end_) cudaEventDestroy(end_);
        cudaFreeHost(pinned_);
    }

    gi_status open(const gi_bench *bench, gi_error *err) {
        int device = 0, l2_bytes = 0;
        quick_ = gi_bench_quick(bench);
        GI_TRY_CUDA(cudaGetDevice(&device));
        GI_TRY_CUDA(cudaGetDeviceProperties(&properties, device));
        GI_TRY_CUDA(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
        GI_TRY_CUDA(cudaEventCreate(&begin_));
        GI_TRY_CUDA(cudaEventCreate(&end_));
        GI_TRY(flush_.allocate(quick_ ? 1 << 16 : (size_t)l2_bytes * 2 / sizeof(uint4) + 1, err));
        GI_TRY(flush_.clear(err));
        return sink_.allocate(1, err);
    }

    // The median of several runs, each with a cold L2 cache: a kernel that finds its input there, left by the run
    // before, would look faster than the memory is. `launch` enqueues on the default stream; it returns nothing, or a
    // gi_status. Two events lie round each run, which adds about two microseconds.
    template <typename Launch> gi_status median_ms(Launch launch, double *ms, gi_error *err) {
        const int least = quick_ ? 2 : 5, most = quick_ ? 2 : 25;
        double times[25], spent_ms = 0;
        GI_TRY(run(launch, err)); // code and memory are there from now on
        for (int count = 0;;) {
            GI_TRY(flush(err));
            GI_TRY(time_once(launch, &times[count], err));
            spent_ms += times[count++];
            if (count < least || (count < most && spent_ms < 200)) continue;
            *ms = gi_bench_median(times, count);
            return GI_OK;
        }
    }

    // What a copy within the device takes that reads and writes so many bytes together.
    gi_status copy_ms(size_t bytes, double *ms, gi_error *err) {
        device_array<unsigned char> from, to;
        const size_t half = bytes / 2 ? bytes / 2 : 1;
        GI_TRY(from.allocate(half, err));
        GI_TRY(to.allocate(half, err));
        GI_TRY(from.clear(err));
        return median_ms([&] { cudaMemcpyAsync(to.data, from.data, half, cudaMemcpyDeviceToDevice); }, ms, err);
    }

    // What it takes to bring `up` bytes to the device and `down` bytes back, from and to page-locked memory.
    gi_status transfers_ms(size_t up, size_t down, double *ms, gi_error *err) {
        constexpr size_t MOST = (size_t)32 << 20; // page-locking takes longer than copying: pieces go again and again
        const size_t larger = up > down ? up : down, piece = larger < MOST ? larger : MOST;
        device_array<unsigned char> there;
        if (piece > pinned_bytes_) {
            cudaFreeHost(pinned_);
            pinned_ = nullptr;
            GI_TRY_CUDA(cudaMallocHost(&pinned_, piece));
            pinned_bytes_ = piece;
        }
        GI_TRY(there.allocate(piece, err));
        GI_TRY(there.clear(err));
        auto copy = [&](size_t bytes, cudaMemcpyKind kind) {
            for (size_t done = 0; done < bytes; done += piece) {
                const size_t now = bytes - done < piece ? bytes - done : piece;
                const bool upward = kind == cudaMemcpyHostToDevice;
                cudaMemcpyAsync(upward ? there.data : pinned_, upward ? pinned_ : there.data, now, kind);
            }
        };
        double times[3];
        auto both = [&] {
            copy(up, cudaMemcpyHostToDevice);
            copy(down, cudaMemcpyDeviceToHost);
        };
        for (double &time : times) GI_TRY(time_once(both, &time, err));
        *ms = gi_bench_median(times, 3);
        return GI_OK;
    }

    // Blocks of the kernel that a multiprocessor holds at once, and the share of its warps that they use, 0 to 1.
    template <typename Kernel>
    gi_status occupancy(Kernel kernel, int threads, size_t shared_bytes, int *blocks, double *share, gi_error *err) {
        GI_TRY_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared_bytes));
        const int warps = (threads + 31) / 32, most = properties.maxThreadsPerMultiProcessor / 32;
        *share = (double)(*blocks * warps) / most;
        return GI_OK;
    }

    // Runs it once to its end.
    template <typename Launch> gi_status run(Launch launch, gi_error *err) {
        GI_TRY(enqueue(launch, err));
        GI_TRY_CUDA(cudaDeviceSynchronize());
        return GI_OK;
    }

    cudaDeviceProp properties = {};

  private:
    template <typename Launch> gi_status enqueue(Launch launch, gi_error *err) {
        if constexpr (std::is_void_v<decltype(launch())>)
            launch();
        else
            GI_TRY(launch());
        return gi_cuda_check(cudaGetLastError(), "launching a kernel", err);
    }

    gi_status flush(gi_error *err) {
        flush_kernel<<<4 * properties.multiProcessorCount, 256>>>(flush_.data, flush_.count, sink_.data);
        return gi_cuda_check(cudaGetLastError(), "emptying the cache", err);
    }

    template <typename Launch> gi_status time_once(Launch launch, double *ms, gi_error *err) {
        float elapsed = 0;
        GI_TRY_CUDA(cudaEventRecord(begin_));
        GI_TRY(enqueue(launch, err));
        GI_TRY_CUDA(cudaEventRecord(end_));
        GI_TRY_CUDA(cudaEventSynchronize(end_));
        GI_TRY_CUDA(cudaEventElapsedTime(&elapsed, begin_, end_));
        *ms = elapsed;
        return GI_OK;
    }

    bool quick_ = false;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
    device_array<uint4> flush_;
    device_array<unsigned> sink_;
    void *pinned_ = nullptr;
    size_t pinned_bytes_ = 0;
};

inline size_t divide_up(size_t a, size_t b) { return a / b + (a % b != 0); }

} // namespace demo
} // namespace gi

#endif
