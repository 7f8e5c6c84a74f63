// Box blur at a cost per pixel that does not depend on the radius, in one pass over memory.
//
// Formula   the mean over a square of side 2R + 1, rounded half up once at the end; with alpha the mean of A, and the
//           mean of C weighted by A (core/blur_rules.h).
// Shapes    u8 and u16, 1..4 channels, any size, pitch and alignment, four borders; R as long as a block can hold
//           2R columns beside those it makes (blur_box_wide.cu does the rest).
// Exact     integers. Sums are taken modulo 2^16, 2^32 or 2^64, whatever the window's own sum fits: differences of
//           wrapped sums are right.
// Threads   a block owns a strip of columns, with R more on either side, and walks down some rows of it. A thread owns
//           some neighbouring columns and keeps in registers the sum of each over the window's rows: the row that
//           enters is added, the one that leaves subtracted. Prefix sums F of these sums over the block then make each
//           window's sum a difference, F(x + R + 1) - F(x - R). Columns outside the image are not there: F is
//           continued past the row's ends by the border rule.
//           First windows: term by term, or, where R is larger than a block's rows are many, by a table of prefix sums
//           down the columns, one entry for every SEGMENT rows, which two launches before have made.
// Shared    the prefix sums of a row of the strip, a word left out after every 32 so that neither the threads that
//           write runs nor those that read every fourth value meet in the same banks.
// Bytes     u8: read 2 (the second time from the second-level cache) and the first windows', written 1 a sample.
// Bound     the cache's bandwidth and the exchange of prefix sums.
#include "kernels/blur_box_rows.cuh"
#include "kernels/blur_box_table.cuh"

namespace {

using namespace gi;
using namespace gi::box;

// --- the blur --------------------------------------------------------------------------------------------------------

template <typename Form>
__global__ void __launch_bounds__(Form::MOST_THREADS) strips_kernel(const __grid_constant__ strips s) {
    using Total = typename Form::Total;
    extern __shared__ uint4 shared[];
    __shared__ Total warps[Form::CHANNELS][WARP];
    const int64_t x0 = (int64_t)blockIdx.x * s.width, x1 = min(x0 + s.width, s.b.width);
    const int64_t tile = max(x0 - s.radius, (int64_t)0) / ALIGN * ALIGN;
    const columns<Form> own(s, tile + threadIdx.x * Form::COLUMNS, min(x1 + s.radius, s.b.width));
    const prefix_sums<Form> prefix = {(Total *)shared};
    const row_end<Form> end(s, prefix, tile, x0, x1);
    for (int64_t y0 = s.b.out_y0 + blockIdx.y * s.rows; y0 < s.b.out_end; y0 += gridDim.y * s.rows) {
        const int64_t y1 = min(y0 + s.rows, s.b.out_end);
        column_sums<Form> sums;
        own.first_window(sums, y0);
        const unsigned char *entering = own.row(y0 + 1 + s.radius) + own.first * own.PIXEL_BYTES;
        const unsigned char *leaving = own.row(y0 - s.radius) + own.first * own.PIXEL_BYTES;
        for (int64_t y = y0; y < y1; y++) {
            // What changes the sums for the next row is on its way while this one is finished.
            uint32_t enters[Form::WORDS], leaves[Form::WORDS];
            if (own.aligned && y >= s.radius && y + 1 + s.radius < s.b.height) {
                if (y + 1 < y1) load_aligned(entering, enters);
                load_aligned(leaving, leaves);
            } else {
                own.fetch(min(y + 1, y1 - 1) + s.radius, enters);
                own.fetch(y - s.radius, leaves);
            }
            entering += s.b.in_pitch;
            leaving += s.b.in_pitch;
            Total before[Form::CHANNELS];
            sum_before(sums, before, warps);
            write_prefix(sums, before, prefix);
            __syncthreads();
            end.write(y);
            sums.slide(enters, leaves);
        }
    }
}

// --- launching -------------------------------------------------------------------------------------------------------

// How an image is divided, and what was found best on an H200 (tests/gpu/bench_windows.cu).
struct tuning {
    int64_t tile;    // columns of a block, more where the halo takes more than one part of `share` of them
    int64_t share;   // ... but no more than `threads` have, so that several blocks find room, as long as the halo takes
    int64_t worst;   // no more than one part of `worst` of those
    int64_t threads; // half as many where registers are scarce
    int waves;       // the blocks that a device runs at once, so many times over
    int64_t ratio;   // of the rows of a first window to the rows of a strip, from which on a table pays
};
constexpr tuning USUAL = {4096, 32, 12, 512, 1, 4};

struct plan {
    int64_t width; // of a strip; 0 where no block holds one
    unsigned strips, threads;
    size_t shared;
};

constexpr int64_t round_up(int64_t a, int64_t b) { return (a + b - 1) / b * b; }

template <typename Form> size_t shared_bytes(int64_t threads) {
    const int64_t samples = threads * Form::SAMPLES + Form::CHANNELS;
    return (size_t)(prefix_sums<Form>::place((int)samples) + 1) * sizeof(typename Form::Total);
}

// room: bytes of shared memory that a block may have.
template <typename Form> plan plan_strips(const gi_job *job, const tuning &t, size_t room) {
    const int64_t width = job->in.width,
                  reach = 2 * (int64_t)gi_blur_box_radius((const gi_blur_args *)job->args) + ALIGN;
    int64_t most = Form::MOST_THREADS;
    while (most > WARP && shared_bytes<Form>(most) > room) most -= WARP;
    most *= Form::COLUMNS;
    plan p = {};
    const int64_t wanted = t.share * reach > t.tile ? t.share * reach : t.tile, held = t.threads * Form::COLUMNS;
    const int64_t several = Form::HEAVY ? held / 2 : held > t.tile ? held : t.tile;
    int64_t tile = t.worst * reach > several ? most : several < wanted ? several : wanted;
    if (tile > most) tile = most;
    if (width <= tile) {
        p.width = round_up(width, ALIGN);
    } else if (tile - reach < most / 4 && tile == most) {
        return p;
    } else {
        const int64_t widest = (tile - reach) / ALIGN * ALIGN, strips = (width + widest - 1) / widest;
        p.width = round_up((width + strips - 1) / strips, ALIGN);
    }
    const int64_t columns = p.width >= width ? width : p.width + reach < width ? p.width + reach : width;
    p.strips = (unsigned)divide_up((size_t)width, (size_t)p.width);
    p.threads = (unsigned)(round_up(columns, WARP * Form::COLUMNS) / Form::COLUMNS);
    p.shared = shared_bytes<Form>(p.threads);
    return p;
}

// Shared memory that every device gives a block, with sm_75 the least.
constexpr size_t LEAST_ROOM = 63 << 10;

template <typename Form> gi_status launch_strips(const gi_job *job, const plan &p, const tuning &t, gi_error *err) {
    strips s = {};
    s.b = blur_band_of(job);
    s.radius = gi_blur_box_radius((const gi_blur_args *)job->args);
    s.width = p.width;
    prepare_division(&s, side_of(job) * side_of(job), gi_sample_max(job->in.sample), sizeof(typename Form::Total) == 8);
    auto kernel = strips_kernel<Form>;
    size_t blocks = 0;
    // As much as any plan asks for: what a kernel may have is the process's, and other threads start it for other
    // images.
    gi_status status =
        gi_cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)LEAST_ROOM),
                      "asking for shared memory", err);
    if (status == GI_OK) status = resident_blocks(kernel, (int)p.threads, &blocks, err, p.shared);
    if (status != GI_OK) return status;
    const size_t lines = larger(blocks * (size_t)t.waves / p.strips, 1);
    s.rows = (int64_t)larger(divide_up((size_t)job->out.height, lines), 4);
    if (wants_table(job) && (int64_t)side_of(job) > t.ratio * s.rows) {
        s.table = job->scratch;
        s.entries = (int64_t)table_entries(job);
        launch_table<Form>(job, s);
    }
    const dim3 grid(p.strips, grid_rows(divide_up((size_t)job->out.height, (size_t)s.rows)));
    kernel<<<grid, p.threads, p.shared, (cudaStream_t)job->stream>>>(s);
    return gi_cuda_check(cudaGetLastError(), "starting a box blur", err);
}

// Calls use(form) with the form that suits the job: the smallest types that hold its sums.
template <typename Sample, int Channels, typename Use> auto with_sums(const gi_job *job, const Use &use) {
    constexpr bool WEIGHTED = Channels == 2 || Channels == 4;
    const uint64_t side = side_of(job), max = gi_sample_max(job->in.sample), most = WEIGHTED ? max * max : max;
    // Half of the divisor is added to a sum before it is divided; near_half_up does without.
    const bool narrow = most <= (WEIGHTED ? UINT32_MAX : (uint32_t)INT32_MAX) / (side * side);
    if constexpr (sizeof(Sample) == 2 && WEIGHTED) {
        return use(form<Sample, Channels, uint64_t, uint64_t>());
    } else {
        if constexpr (sizeof(Sample) == 1 && !WEIGHTED)
            if (max * side <= UINT16_MAX) return use(form<Sample, Channels, uint16_t, uint32_t>());
        return narrow ? use(form<Sample, Channels, uint32_t, uint32_t>())
                      : use(form<Sample, Channels, uint32_t, uint64_t>());
    }
}

template <typename Sample, typename Use> auto with_channels(const gi_job *job, const Use &use) {
    switch (job->in.channels) {
    case 1: return with_sums<Sample, 1>(job, use);
    case 2: return with_sums<Sample, 2>(job, use);
    case 3: return with_sums<Sample, 3>(job, use);
    default: return with_sums<Sample, 4>(job, use);
    }
}

template <typename Use> auto with_form(const gi_job *job, const Use &use) {
    return job->in.sample == GI_U8 ? with_channels<uint8_t>(job, use) : with_channels<uint16_t>(job, use);
}

} // namespace

size_t gi::blur_box_scratch(const gi_job *job) {
    return with_form(job, [&](auto form) {
        using Form = decltype(form);
        if (plan_strips<Form>(job, USUAL, LEAST_ROOM).width == 0) return blur_box_wide_scratch(job);
        if (!wants_table(job)) return (size_t)0;
        return table_bytes<Form>(job);
    });
}

gi_status gi::blur_box(const gi_job *job, gi_error *err) {
    return with_form(job, [&](auto form) {
        using Form = decltype(form);
        const plan p = plan_strips<Form>(job, USUAL, LEAST_ROOM);
        return p.width ? launch_strips<Form>(job, p, USUAL, err) : blur_box_wide(job, err);
    });
}
