// texture: reads beyond an image's edge and between its pixels, by the texture unit and by hand.
//
// The image has n x n pixels; the output has 2n x 2n and shows it with its surroundings. Output (x, y) is the image at
//     u = x - n/2 + 5/6,  v = y - n/2 + 5/6          in pixels, where pixel i covers [i, i + 1)
//     point filter    the pixel in which (u, v) lies
//     linear filter   a mix of four pixels, by how far (u, v) is from their centres:
//                     i = floor(u - 1/2), f = u - 1/2 - i = 1/3, (1 - f) a[i] + f a[i + 1], in x and in y
// Beyond the edge the address mode decides which pixel is meant. The picture, of a row ABCD:
//     wrap    ...CD ABCD ABCD AB...      i mod n
//     mirror  ...BA ABCD DCBA AB...      every second copy is reversed
//     clamp   ...AA AAAA ABCD DDDD       the nearest pixel
//     border  ...00 0000 ABCD 0000       nothing
// The texture unit does addresses and mix in the read itself: the kernel has one instruction where the one by hand has
// four reads and a page of arithmetic. The price is precision: weights are fixed-point numbers with 8 bits after the
// point. 1/3 becomes 85/256, wrong by 1/768 of the difference between neighbours: see the column `error`.
//
// What to look at in ncu:
//     l1tex__t_requests_pipe_tex_mem_texture.sum     one for a warp; by hand
//     l1tex__t_requests_pipe_lsu_mem_global_op_ld sm__inst_executed.sum                          the arithmetic that
//     the unit saves l1tex__texin_sm2tex_req_cycles_active.avg.pct_of_peak_sustained_elapsed     a texture unit has a
//     rate of its own
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/demos.h"
#include "core/host_device.h"

typedef enum mode { WRAP, MIRROR, CLAMP, BORDER, MODES } mode;

// ---- addresses and filter by hand, on either device -----------------------------------------------------------------

// The pixel that i, from -n to 2n, stands for; -1: none.
GI_HOST_DEVICE static inline int resolve(int i, int n, mode address) {
    if (i >= 0 && i < n) return i;
    switch (address) {
    case WRAP: return i < 0 ? i + n : i - n;
    case MIRROR: return i < 0 ? -1 - i : 2 * n - 1 - i;
    case CLAMP: return i < 0 ? 0 : n - 1;
    default: return -1;
    }
}

GI_HOST_DEVICE static inline float pixel(const float *image, int n, int x, int y, mode address) {
    const int at_x = resolve(x, n, address), at_y = resolve(y, n, address);
    return at_x < 0 || at_y < 0 ? 0.0F : image[(size_t)at_y * (size_t)n + (size_t)at_x];
}

#define SHIFT (5.0F / 6.0F) // of the output against the image, in pixels

GI_HOST_DEVICE static inline float sample(const float *image, int n, int x, int y, mode address, bool linear) {
    const int left = x - n / 2, top = y - n / 2; // floor(u), and floor(u - 1/2): SHIFT is beyond 1/2
    if (!linear) return pixel(image, n, left, top, address);
    const float f = SHIFT - 0.5F;
    const float a = pixel(image, n, left, top, address), b = pixel(image, n, left + 1, top, address);
    const float c = pixel(image, n, left, top + 1, address), d = pixel(image, n, left + 1, top + 1, address);
    const float upper = a + f * (b - a), lower = c + f * (d - c);
    return upper + f * (lower - upper);
}

// ---- on the CPU -----------------------------------------------------------------------------------------------------

typedef struct job {
    const float *image; // n x n, of [-1, 1)
    float *out;         // 2n x 2n
    int n;              // even
    mode address;
    bool linear;
} job;

static void sample_openmp(void *context) {
    const job *work = (const job *)context;
    const int side = 2 * work->n;
#pragma omp parallel for
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++)
            work->out[(size_t)y * (size_t)side + (size_t)x] =
                sample(work->image, work->n, x, y, work->address, work->linear);
}

// The same from the formula in double, with periods instead of cases.
static double exact(const job *work, int x, int y) {
    const double n = work->n, u = x - n / 2 + 5.0 / 6, v = y - n / 2 + 5.0 / 6, half = work->linear ? 0.5 : 0;
    double sum = 0;
    for (int corner = 0; corner < (work->linear ? 4 : 1); corner++) {
        const double f = work->linear ? (corner & 1 ? 1.0 / 3 : 2.0 / 3) * (corner & 2 ? 1.0 / 3 : 2.0 / 3) : 1;
        double i[2] = {floor(u - half) + (corner & 1), floor(v - half) + (corner >> 1)};
        bool inside = true;
        for (int axis = 0; axis < 2; axis++) {
            const double place = i[axis];
            if (work->address == WRAP) i[axis] = place - n * floor(place / n);
            if (work->address == CLAMP) i[axis] = fmin(fmax(place, 0), n - 1);
            if (work->address == MIRROR) {
                const double in_period = place - 2 * n * floor(place / (2 * n));
                i[axis] = in_period < n ? in_period : 2 * n - 1 - in_period;
            }
            if (work->address == BORDER) inside = inside && place >= 0 && place < n;
        }
        if (inside) sum += f * work->image[(size_t)i[1] * (size_t)work->n + (size_t)i[0]];
    }
    return sum;
}

static double largest_error(const job *work) {
    const int side = 2 * work->n;
    double largest = 0;
#pragma omp parallel for reduction(max : largest)
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            const double error = fabs(work->out[(size_t)y * (size_t)side + (size_t)x] - exact(work, x, y));
            if (!(error <= largest)) largest = error;
        }
    return largest;
}

#ifdef __CUDACC__
// ---- on the GPU -----------------------------------------------------------------------------------------------------

#include "kernels/demos/demo.cuh"

namespace {

using gi::demo::device_array;
using gi::demo::meter;

// From global memory, by hand.
__global__ void by_hand_kernel(const float *image, float *out, int n, mode address, bool linear) {
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < 2 * n && y < 2 * n) out[(size_t)y * (2 * n) + x] = sample(image, n, x, y, address, linear);
}

// By the texture unit: wrap and mirror ask for coordinates in image widths. `width` is 1 / n, n a power of two, so that
// the products round nothing.
__global__ void texture_kernel(cudaTextureObject_t texture, float *out, int n, float width) {
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= 2 * n || y >= 2 * n) return;
    const float u = (float)(x - n / 2) + SHIFT, v = (float)(y - n / 2) + SHIFT;
    out[(size_t)y * (2 * n) + x] = tex2D<float>(texture, u * width, v * width);
}

// The image in the layout of textures, in which neighbours in x and in y lie close together.
struct image_array {
    cudaArray_t data = nullptr;
    ~image_array() {
        if (data) cudaFreeArray(data);
    }
    gi_status create(const job &work, gi_error *err) {
        const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
        const size_t row = work.n * sizeof(float);
        GI_TRY_CUDA(cudaMallocArray(&data, &format, work.n, work.n));
        GI_TRY_CUDA(cudaMemcpy2DToArray(data, 0, 0, work.image, row, row, work.n, cudaMemcpyHostToDevice));
        return GI_OK;
    }
};

struct texture_object {
    cudaTextureObject_t object = 0;
    ~texture_object() {
        if (object) cudaDestroyTextureObject(object);
    }
    gi_status create(cudaArray_t array, mode address, bool linear, gi_error *err) {
        static const cudaTextureAddressMode modes[MODES] = {cudaAddressModeWrap, cudaAddressModeMirror,
                                                            cudaAddressModeClamp, cudaAddressModeBorder};
        cudaResourceDesc resource = {};
        cudaTextureDesc description = {}; // the border is zero
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        description.addressMode[0] = description.addressMode[1] = modes[address];
        description.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
        description.readMode = cudaReadModeElementType;
        description.normalizedCoords = 1;
        GI_TRY_CUDA(cudaCreateTextureObject(&object, &resource, &description, nullptr));
        return GI_OK;
    }
};

struct figures {
    double texture_ms, by_hand_ms, error;
};

gi_status time_gpu(meter &gpu, const image_array &array, job *work, figures *out_figures, gi_error *err) {
    texture_object texture;
    device_array<float> image, out;
    const size_t pixels = (size_t)work->n * work->n;
    const dim3 block(32, 8),
        grid((unsigned)gi::demo::divide_up(2 * work->n, 32), (unsigned)gi::demo::divide_up(2 * work->n, 8));
    GI_TRY(texture.create(array.data, work->address, work->linear, err));
    GI_TRY(image.allocate(pixels, err));
    GI_TRY(out.allocate(4 * pixels, err));
    GI_TRY(image.upload(work->image, err));
    auto by_hand = [&] { by_hand_kernel<<<grid, block>>>(image.data, out.data, work->n, work->address, work->linear); };
    auto by_unit = [&] { texture_kernel<<<grid, block>>>(texture.object, out.data, work->n, 1.0F / (float)work->n); };
    GI_TRY(out.clear(err));
    GI_TRY(gpu.run(by_hand, err));
    GI_TRY(out.download(work->out, err));
    GI_TRY(gi_bench_expect(largest_error(work) <= 1e-6, "by hand", err));
    GI_TRY(out.clear(err));
    GI_TRY(gpu.run(by_unit, err));
    GI_TRY(out.download(work->out, err));
    out_figures->error = largest_error(work);
    // Two axes, each with a weight that is off by at most 2^-9, of differences below 2.
    GI_TRY(gi_bench_expect(out_figures->error <= (work->linear ? 2 * 2 * 0x1p-9 + 1e-6 : 0), "texture unit", err));
    GI_TRY(gpu.median_ms(by_hand, &out_figures->by_hand_ms, err));
    return gpu.median_ms(by_unit, &out_figures->texture_ms, err);
}

} // namespace
#endif

// ---- the table ------------------------------------------------------------------------------------------------------

static void add_row(gi_bench *bench, const char *label, const double *cells) {
    gi_bench_row(bench, label);
    for (int i = 0; i < 5; i++) gi_bench_number(bench, cells[i]);
}

static gi_status measure(gi_bench *bench, job *work, gi_error *err) {
    static const char *const columns[] = {"texture ms", "by hand ms", "OpenMP ms", "times OpenMP", "error"};
    static const char *const names[] = {"wrap", "mirror", "clamp", "border"};
#ifdef __CUDACC__
    meter gpu;
    image_array array;
    if (gi_bench_gpu(bench)) {
        GI_TRY(gpu.open(bench, err));
        GI_TRY(array.create(*work, err));
    }
#endif
    gi_bench_table(bench, "an image and its surroundings", columns, 5);
    for (int linear = 0; linear < 2; linear++)
        for (int address = 0; address < MODES; address++) {
            char label[32];
            double cells[5] = {NAN, NAN, NAN, NAN, NAN};
            work->address = (mode)address;
            work->linear = linear != 0;
            snprintf(label, sizeof label, "%s, %s", names[address], linear ? "linear" : "point");
            sample_openmp(work);
            gi_status status = gi_bench_expect(largest_error(work) <= 1e-6, label, err);
            if (status != GI_OK) return status;
            cells[2] = gi_bench_cpu_ms(bench, sample_openmp, work);
#ifdef __CUDACC__
            if (gi_bench_gpu(bench)) {
                figures gpu_figures;
                GI_TRY(time_gpu(gpu, array, work, &gpu_figures, err));
                cells[0] = gpu_figures.texture_ms;
                cells[1] = gpu_figures.by_hand_ms;
                cells[3] = cells[2] / gpu_figures.texture_ms;
                cells[4] = gpu_figures.error;
            }
#endif
            add_row(bench, label, cells);
        }
    if (!gi_bench_gpu(bench)) gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
    gi_bench_note(bench, "%d x %d pixels from %d x %d; error of the texture unit against double", 2 * work->n,
                  2 * work->n, work->n, work->n);
    return GI_OK;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    const long long wanted = gi_bench_size(bench, 2048, 64);
    job work = {NULL, NULL, 16, WRAP, false};
    gi_status status = gi_bench_at_most(bench, 16384, err);
    if (status != GI_OK) return status;
    while (work.n * 2 <= wanted) work.n *= 2; // a power of two, from 16 on
    const size_t pixels = (size_t)work.n * (size_t)work.n;
    float *image = (float *)malloc(pixels * sizeof(float));
    work.image = image;
    work.out = (float *)malloc(4 * pixels * sizeof(float));
    if (!image || !work.out) status = gi_fail(err, GI_ERR_MEMORY, "no memory for five images of %zu pixels", pixels);
    if (status == GI_OK) {
        gi_bench_fill_floats(image, pixels, 1);
        status = measure(bench, &work, err);
    }
    free(image);
    free(work.out);
    return status;
}

const gi_demo gi_demo_texture = {
    "texture",
    "reads beyond the edge: wrap, mirror, clamp, border, point and linear filter",
    "The texture unit does addresses and filter within the read, with weights of 8 bits: what it saves is arithmetic "
    "and code, and what it costs is the error.",
    run,
};
