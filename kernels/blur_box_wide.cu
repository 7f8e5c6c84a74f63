// Box blur of radii and images that blur_box.cu's blocks cannot hold: in two passes, with the sums in scratch memory.
//
// Formula   the mean over a square of side 2R + 1, rounded half up once at the end; with alpha the mean of A, and the
//           mean of C weighted by A (core/blur_rules.h).
// Shapes    u8 and u16, 1..4 channels, any size, pitch and alignment, R = 0..16384, four borders.
// Exact     integers. Sums are taken modulo 2^32 or 2^64, whatever the window's own sum fits: differences of wrapped
//           sums are right.
// Threads   down: one for each sample of a row and strip of rows. It keeps the sum over its column's window: the row
//           that enters is added, the one that leaves subtracted. The first window of a strip is summed term by term,
//           which strips half as long as the window keep to four reads a row.
//           along: prefix sums over whole planes by the scan of the device (scan.cuh). They run from row to row, which
//           a difference within a row does not see. F is continued past a row's ends by the border rule.
// Bytes     u8: read 2, scratch 4 + 4 and three times 8 (partly in the second-level cache), written 1 a sample.
// Bound     memory bandwidth.
#include "kernels/blur.cuh"
#include "kernels/scan.cuh"

namespace {

using namespace gi;

constexpr int THREADS = 256;
constexpr uint64_t LARGEST_SIDE = 2 * 16384 + 1;

// --- down the columns ------------------------------------------------------------------------------------------------

// A column of one plane.
template <typename Sample, bool Weighted> struct column {
    const blur_band &b;
    int64_t x;
    int c;
    __device__ __forceinline__ uint32_t at(int64_t y) const { return term_at<Sample, Weighted>(b, y, x, c); }
    __device__ __forceinline__ uint32_t inside(int64_t y) const {
        return term_of<Sample, Weighted>(b, b.in_row<Sample>(y), x, c);
    }
    __device__ __forceinline__ uint32_t outside() const { return term_outside<Sample, Weighted>(b, c); }
};

// The sum over rows y-radius..y+radius. Of a window that leaves the image each row inside counts as often as the border
// rule has it; the block's threads work that out together, for THREADS rows at a time. All of them take part, those
// without a column too.
template <typename Sum, typename Column>
__device__ Sum first_window(const Column &column, bool takes_part, int64_t y, int64_t radius) {
    __shared__ uint32_t times[THREADS];
    const blur_band &b = column.b;
    const int64_t low = y - radius, high = y + radius;
    const int64_t first = max(low, (int64_t)0), last = min(high, b.height - 1);
    Sum sum = 0;
    for (int64_t from = first; from <= last; from += THREADS) {
        const int count = (int)min(last - from + 1, (int64_t)THREADS);
        __syncthreads();
        if ((int)threadIdx.x < count)
            times[threadIdx.x] = low == first && high == last
                                     ? 1
                                     : (uint32_t)gi_border_count(from + threadIdx.x, low, high, b.height, b.border);
        __syncthreads();
        if (!takes_part) continue;
#pragma unroll 4
        for (int i = 0; i < count; i++) sum += (Sum)times[i] * column.inside(from + i);
    }
    if (b.border == GI_BORDER_CONSTANT && takes_part)
        sum += (Sum)(2 * radius + 1 - (last - first + 1)) * column.outside();
    return sum;
}

// sums: planes of the sums over each window's rows.
template <typename Sample, bool Weighted, typename Stored>
__global__ void __launch_bounds__(THREADS) columns_kernel(const __grid_constant__ blur_band b, const chunk part,
                                                          int64_t radius, int64_t strip_rows, Stored *sums) {
    const size_t s = (size_t)blockIdx.x * THREADS + threadIdx.x;
    const bool takes_part = s < (size_t)b.width * b.channels;
    const column<Sample, Weighted> own = {b, (int64_t)(s / b.channels), (int)(s % b.channels)};
    const int64_t end = part.y0 + part.rows;
    for (int64_t y0 = part.y0 + blockIdx.y * strip_rows; y0 < end; y0 += gridDim.y * strip_rows) {
        const int64_t y1 = min(y0 + strip_rows, end);
        Stored sum = first_window<Stored>(own, takes_part, y0, radius);
        if (!takes_part) continue;
        Stored *out = plane_row(sums, b, part, own.c, y0) + own.x;
        *out = sum;
#pragma unroll 4
        for (int64_t y = y0 + 1; y < y1; y++) {
            sum += own.at(y + radius);
            sum -= own.at(y - 1 - radius);
            out += b.width;
            *out = sum;
        }
    }
}

// --- along the rows --------------------------------------------------------------------------------------------------

// A pixel's samples from the sums over its window, plane after plane from the last on: the weight comes before what it
// weighs.
template <typename Sample, bool Weighted, typename Sum> struct mean {
    Sum pixels, weight;
    __device__ __forceinline__ Sample of(Sum sum, bool last_plane) {
        if constexpr (!Weighted) return (Sample)half_up(sum, pixels);
        if (!last_plane) return (Sample)(weight ? half_up(sum, weight) : 0);
        weight = sum;
        return (Sample)half_up(sum, pixels);
    }
};

template <typename Stored> struct widen {
    const Stored *from;
    __device__ uint64_t operator()(size_t i) const { return from[i]; }
};

// Prefix sums of one row, by those of its plane, and their continuation past the ends. All are off by the same
// constant, what came before the row.
struct row_prefix {
    const uint64_t *upto; // of the plane: upto[i] is the sum of values 0..i
    size_t first;         // of the row, in the plane
    int64_t n;            // values of the row
    uint64_t outside;     // what each position past the ends adds with border=constant, shrink

    // The sum of what comes before position i, 0 <= i <= n.
    __device__ __forceinline__ uint64_t inside(int64_t i) const {
        const size_t before = first + (size_t)i;
        return before ? upto[before - 1] : 0;
    }

    // Mirrored at both ends the row has the period 2 (n - 1): value 0, values 1..n-2 twice, value n-1.
    __device__ uint64_t mirrored(int64_t i) const {
        const uint64_t start = inside(0), value_0 = inside(1) - start;
        if (n == 1) return start + (uint64_t)i * value_0;
        const uint64_t all = inside(n) - start, last = inside(n) - inside(n - 1);
        const int64_t period = 2 * (n - 1);
        int64_t periods = i / period, rest = i % period;
        if (rest < 0) {
            rest += period;
            periods--;
        }
        const uint64_t part = rest <= n ? inside(rest) - start : all + inside(n - 1) - inside(2 * n - 1 - rest);
        return start + (uint64_t)periods * (2 * all - value_0 - last) + part;
    }

    // ... for any i.
    __device__ uint64_t at(int64_t i, int border) const {
        if (i >= 0 && i <= n) return inside(i);
        if (border == GI_BORDER_REFLECT101) return mirrored(i);
        const int64_t end = i < 0 ? 0 : n, beyond = i - end;
        uint64_t each = outside;
        if (border == GI_BORDER_REPLICATE) each = i < 0 ? inside(1) - inside(0) : inside(n) - inside(n - 1);
        return inside(end) + (uint64_t)beyond * each;
    }
};

template <typename Sample, bool Weighted>
__global__ void __launch_bounds__(THREADS)
    rows_kernel(const __grid_constant__ blur_band b, const chunk part, int64_t radius, const uint64_t *prefixes) {
    const int64_t x = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const size_t plane = (size_t)part.rows * (size_t)b.width;
    if (x >= b.width) return;
    for (int64_t y = part.y0 + blockIdx.y; y < part.y0 + part.rows; y += gridDim.y) {
        Sample *out = b.out_row<Sample>(y) + x * b.channels;
        mean<Sample, Weighted, uint64_t> own = {};
        own.pixels = (uint64_t)positions_counted(b, y, radius, b.height) * positions_counted(b, x, radius, b.width);
        for (int c = b.channels - 1; c >= 0; c--) {
            const uint64_t outside = (uint64_t)(2 * radius + 1) * term_outside<Sample, Weighted>(b, c);
            const row_prefix row = {prefixes + c * plane, (size_t)(y - part.y0) * (size_t)b.width, b.width, outside};
            const uint64_t window = row.at(x + radius + 1, b.border) - row.at(x - radius, b.border);
            out[c] = own.of(window, c == b.channels - 1);
        }
    }
}

// --- launching -------------------------------------------------------------------------------------------------------

// How a radius is worked on.
struct plan {
    int64_t radius;
    int64_t rows; // of a chunk
    size_t sums_bytes, prefix_bytes, scan_bytes;
};

// Bytes of a sum over a window's rows: 32 bits hold those of 16-bit samples without alpha, and of 8-bit ones with it,
// at any radius.
size_t stored_bytes(const gi_job *job) {
    const uint64_t max = gi_sample_max(job->in.sample), most = is_weighted(job->in) ? max * max : max;
    return most * LARGEST_SIDE <= UINT32_MAX ? 4 : 8;
}

size_t aligned(size_t bytes) { return divide_up(bytes, 256) * 256; }

plan plan_of(const gi_job *job) {
    plan p = {};
    p.radius = gi_blur_box_radius((const gi_blur_args *)job->args);
    const size_t values = (size_t)job->in.width * (size_t)job->in.channels;
    // A chunk's first windows are summed term by term: chunks as long as that keep it to two reads a row.
    p.rows = chunk_rows(job, values * (stored_bytes(job) + sizeof(uint64_t)), (size_t)p.radius);
    p.sums_bytes = aligned((size_t)p.rows * values * stored_bytes(job));
    p.prefix_bytes = aligned((size_t)p.rows * values * sizeof(uint64_t));
    p.scan_bytes = scan_scratch<uint64_t>((size_t)p.rows * job->in.width);
    return p;
}

template <typename Sample, bool Weighted, typename Stored>
gi_status launch_rows(const gi_job *job, const plan &p, const chunk &part, gi_error *err) {
    const blur_band b = blur_band_of(job);
    const cudaStream_t stream = (cudaStream_t)job->stream;
    const size_t plane = (size_t)part.rows * (size_t)b.width;
    const Stored *sums = (const Stored *)job->scratch;
    uint64_t *prefixes = (uint64_t *)((char *)job->scratch + p.sums_bytes);
    void *inner = (char *)prefixes + p.prefix_bytes;
    for (int c = 0; c < b.channels; c++) {
        gi_status status = scan<uint64_t>(plane, widen<Stored>{sums + c * plane}, sum<uint64_t>{},
                                          array_store<uint64_t>{prefixes + c * plane}, inner, stream, err);
        if (status != GI_OK) return status;
    }
    const dim3 grid(grid_blocks(divide_up(b.width, THREADS)), grid_rows(part.rows));
    rows_kernel<Sample, Weighted><<<grid, THREADS, 0, stream>>>(b, part, p.radius, prefixes);
    return gi_cuda_check(cudaGetLastError(), "starting a box blur", err);
}

template <typename Sample, bool Weighted, typename Stored>
gi_status launch_chunk(const gi_job *job, const plan &p, const chunk &part, gi_error *err) {
    const blur_band b = blur_band_of(job);
    const int64_t strip_rows = 32 + p.radius / 2;
    const dim3 grid(grid_blocks(divide_up((size_t)b.width * b.channels, THREADS)),
                    grid_rows(divide_up(part.rows, strip_rows)));
    columns_kernel<Sample, Weighted>
        <<<grid, THREADS, 0, (cudaStream_t)job->stream>>>(b, part, p.radius, strip_rows, (Stored *)job->scratch);
    gi_status status = gi_cuda_check(cudaGetLastError(), "starting a box blur", err);
    return status == GI_OK ? launch_rows<Sample, Weighted, Stored>(job, p, part, err) : status;
}

} // namespace

size_t gi::blur_box_wide_scratch(const gi_job *job) {
    const plan p = plan_of(job);
    return p.sums_bytes + p.prefix_bytes + p.scan_bytes;
}

gi_status gi::blur_box_wide(const gi_job *job, gi_error *err) {
    const plan p = plan_of(job);
    const bool weighted = is_weighted(job->in);
    const blur_band b = blur_band_of(job);
    gi_status status = GI_OK;
    for (int64_t y = b.out_y0; y < b.out_end && status == GI_OK; y += p.rows) {
        const chunk part = {y, b.out_end - y < p.rows ? b.out_end - y : p.rows};
        if (job->in.sample == GI_U8)
            status = weighted ? launch_chunk<uint8_t, true, uint32_t>(job, p, part, err)
                              : launch_chunk<uint8_t, false, uint32_t>(job, p, part, err);
        else
            status = weighted ? launch_chunk<uint16_t, true, uint64_t>(job, p, part, err)
                              : launch_chunk<uint16_t, false, uint32_t>(job, p, part, err);
    }
    return status;
}
