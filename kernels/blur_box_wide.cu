// Box blur of radii and images that blur_box.cu's blocks cannot hold, or only with more halo than strip.
//
// Formula   the mean over a square of side 2R + 1, rounded half up once at the end; with alpha the mean of A, and the
//           mean of C weighted by A (core/blur_rules.h).
// Shapes    u8 and u16, 1..4 channels, any size, pitch and alignment, R = 0..16384, four borders.
// Exact     integers. Sums are taken modulo 2^32 or 2^64, whatever the window's own sum fits: differences of wrapped
//           sums are right. So are differences of columns, with 32 bits as long as they fit those with their sign.
// Threads   from pixel to pixel a window gains a column and loses one. A thread keeps, for some neighbouring columns
//           of a block's strip, the difference of the two over the window's rows: of either column the row that enters
//           is added, the one that leaves subtracted. The block's prefix sums over these differences, from the strip's
//           first window on, are the windows of a row. Columns outside the image are read from where the border rule
//           has them, so that nothing but the sums' types depends on R.
//           First windows of a strip's rows: by the table of prefix sums down the columns (blur_box_table.cuh), here
//           of differences. First windows of its columns: blur_box_starts.cuh.
// Shared    what a row's warps add up to, for two rows in turn; pixels that no access of a power of two bytes holds, on
//           their way out, so that neighbouring lanes write neighbouring packets.
// Bytes     u8: read 2 for the first windows and 4 (half of each from the caches), written 1 a sample; a quarter of a
//           word for the table, written once and read twice.
// Bound     issue slots: unpacking and adding four terms a sample, division.
#include "kernels/blur_box_means.cuh"
#include "kernels/blur_box_starts.cuh"

namespace {

using namespace gi;
using namespace gi::box;

constexpr int THREADS = TABLE_THREADS;

// What the warps of a block add up to.
template <typename Form> using warp_totals = typename Form::Total[Form::CHANNELS][STRIP_WARPS];

// The windows of a thread's pixels of a row, one after the other.
template <typename Form> struct windows_along {
    using Register = typename Form::Register;
    using Total = typename Form::Total;
    // A warp's differences may add up in 32 bits at any radius.
    static constexpr uint64_t MOST = (uint64_t)(2 * 16384 + 1) * WARP * Form::COLUMNS * ((typename Form::Sample) - 1);
    static constexpr bool NARROW = sizeof(Total) == 4 || (!Form::WEIGHTED && MOST <= INT32_MAX);
    using Signed = typename std::conditional<sizeof(Register) == 8, int64_t, int32_t>::type;
    using Sum = typename std::conditional<NARROW, int32_t, int64_t>::type;
    Total at[Form::CHANNELS]; // the window of the next pixel

    // From the window of the strip's first pixel to that of the thread's. One barrier: the same room may be used again
    // after another.
    __device__ __forceinline__ void begin(const column_sums<Form> &sums, const uint64_t (&start)[Form::CHANNELS],
                                          warp_totals<Form> &totals) {
        const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
#pragma unroll
        for (int c = 0; c < Form::CHANNELS; c++) {
            Sum own = 0;
#pragma unroll
            for (int i = 0; i < Form::COLUMNS; i++) own += (Sum)(Signed)sums.of[i * Form::CHANNELS + c];
            const Sum upto = warp_scan(own, sum<Sum>{});
            if (lane == WARP - 1) totals[c][warp] = (Total)upto;
            at[c] = (Total)start[c] + (Total)(upto - own);
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < Form::CHANNELS; c++)
#pragma unroll
            for (int i = 0; i < STRIP_WARPS - 1; i++) at[c] += i < warp ? totals[c][i] : 0;
    }

    // The window of sample i, the next.
    __device__ __forceinline__ Total next(const column_sums<Form> &sums, int i) {
        const Total window = at[i % Form::CHANNELS];
        at[i % Form::CHANNELS] += (Total)(Signed)sums.of[i];
        return window;
    }
};

template <typename Form> struct strip_row {
    using Sample = typename Form::Sample;
    static constexpr bool TURNED = Form::WORDS != 2 && Form::WORDS != 4;
    means<Form> mean;

    // The lane's samples of row y, whose first is sample `first` of the row.
    template <bool Inside>
    __device__ __forceinline__ void finish(int64_t first, int64_t y, const column_sums<Form> &sums,
                                           windows_along<Form> &windows, uint32_t (&words)[Form::WORDS]) const {
        constexpr int RUN = Form::FINISHED, RUN_WORDS = means<Form>::WORDS;
#pragma unroll
        for (int run = 0; run < Form::SAMPLES / RUN; run++) {
            typename Form::Total of[RUN];
            uint32_t made[RUN_WORDS];
#pragma unroll
            for (int i = 0; i < RUN; i++) of[i] = windows.next(sums, run * RUN + i);
            mean.template finish<Inside>(first + run * RUN, y, of, made);
#pragma unroll
            for (int i = 0; i < RUN_WORDS; i++) words[run * RUN_WORDS + i] = made[i];
        }
    }

    // Writes what the warp's lanes have, `count` samples from `to` on; none where that is not positive. `room`: for all
    // of them.
    static __device__ __forceinline__ void store(Sample *to, const uint32_t (&words)[Form::WORDS], int count,
                                                 unsigned char *room) {
        const int lane = threadIdx.x % WARP;
        if constexpr (!TURNED) {
            store_words<Sample>(to + lane * Form::SAMPLES, words, count - lane * Form::SAMPLES);
        } else {
            uint32_t *own = (uint32_t *)room + lane * Form::WORDS;
#pragma unroll
            for (int i = 0; i < Form::WORDS; i++) own[i] = words[i];
            __syncwarp();
            store_run((Sample *)to, (const Sample *)room, count, lane, WARP);
            __syncwarp();
        }
    }
};

// Blocks of a multiprocessor that registers are to be found for.
template <typename Form> constexpr int LEAST_BLOCKS = sizeof(typename Form::Register) == 8 && Form::SAMPLES > 8 ? 3 : 4;

// The starts of a row of each channel, `rows` apart.
template <typename Form>
__device__ __forceinline__ void load_starts(const uint64_t *from, int64_t rows, uint64_t (&to)[Form::CHANNELS]) {
#pragma unroll
    for (int c = 0; c < Form::CHANNELS; c++) to[c] = from[c * rows];
}

// starts: starts_kernel's.
template <typename Form>
__global__ void __launch_bounds__(THREADS, LEAST_BLOCKS<Form>)
    wide_kernel(const __grid_constant__ strips s, const uint64_t *starts) {
    using Row = strip_row<Form>;
    __shared__ warp_totals<Form> totals[2];
    __shared__ uint4 rooms[Row::TURNED ? THREADS * Form::WORDS / PACKET_WORDS : 1];
    const int64_t x0 = (int64_t)blockIdx.x * s.width, x = x0 + threadIdx.x * Form::COLUMNS;
    const int64_t warp_x = x0 + threadIdx.x / WARP * WARP * Form::COLUMNS, rows = s.b.out_end - s.b.out_y0;
    const int count = (int)min((s.b.width - warp_x) * Form::CHANNELS, (int64_t)WARP * Form::SAMPLES);
    unsigned char *room =
        (unsigned char *)(rooms + (Row::TURNED ? threadIdx.x / WARP * WARP * Form::WORDS / PACKET_WORDS : 0));
    const differences<Form> own(s, x, s.b.width);
    const Row row = {{s}};
    const bool same = s.multiplier && s.b.border != GI_BORDER_SHRINK; // all windows count the same pixels
    const uint64_t *lines = starts + (int64_t)blockIdx.x * Form::CHANNELS * rows - s.b.out_y0;
    int turn = 0;
    for (int64_t y0 = s.b.out_y0 + blockIdx.y * s.rows; y0 < s.b.out_end; y0 += gridDim.y * s.rows) {
        const int64_t y1 = min(y0 + s.rows, s.b.out_end);
        column_sums<Form> sums;
        own.first_window(sums, y0);
        uint64_t start[Form::CHANNELS], next[Form::CHANNELS];
        load_starts<Form>(lines + y0, rows, start);
        for (int64_t y = y0; y < y1; y++, turn ^= 1) {
            // What the next row takes is on its way while this one is finished.
            typename differences<Form>::row_words below, above;
            own.fetch(min(y + 1, y1 - 1) + s.radius, below);
            own.fetch(y - s.radius, above);
            load_starts<Form>(lines + min(y + 1, y1 - 1), rows, next);
            windows_along<Form> windows;
            windows.begin(sums, start, totals[turn]);
            uint32_t words[Form::WORDS];
            if (same)
                row.template finish<true>(x * Form::CHANNELS, y, sums, windows, words);
            else
                row.template finish<false>(x * Form::CHANNELS, y, sums, windows, words);
            Row::store(s.b.template out_row<typename Form::Sample>(y) + warp_x * Form::CHANNELS, words, count, room);
            own.slide(sums, below, above);
#pragma unroll
            for (int c = 0; c < Form::CHANNELS; c++) start[c] = next[c];
        }
    }
}

// --- launching -------------------------------------------------------------------------------------------------------

// The rows of a first window to those of a strip from which on a table pays.
constexpr int64_t TABLE_RATIO = 1;

// How scratch memory is divided.
struct plan {
    int64_t warps, strips, lines;             // lines: of starts
    size_t table, totals, sums, starts, scan; // bytes
};

size_t aligned(size_t bytes) { return divide_up(bytes, 256) * 256; }

template <typename Form> plan plan_of(const gi_job *job) {
    plan p = {};
    p.warps = (int64_t)divide_up(job->in.width, WARP * Form::COLUMNS);
    p.strips = (int64_t)divide_up((size_t)p.warps, STRIP_WARPS);
    p.lines = p.strips * Form::CHANNELS;
    p.table = aligned(table_bytes<Form>(job));
    p.totals = aligned((size_t)p.warps * Form::CHANNELS * job->in.height * sizeof(uint64_t));
    p.sums = aligned((size_t)p.lines * job->in.height * sizeof(uint64_t));
    p.starts = aligned((size_t)p.lines * job->out.height * sizeof(uint64_t));
    p.scan = scan_scratch<uint64_t>((size_t)p.lines * job->in.height);
    return p;
}

// The table, and *starts, the windows' sums at the strips' beginnings.
template <typename Form>
gi_status launch_starts(const gi_job *job, const plan &p, const strips &s, uint64_t **starts, gi_error *err) {
    const cudaStream_t stream = (cudaStream_t)job->stream;
    uint64_t *totals = (uint64_t *)((char *)job->scratch + p.table);
    uint64_t *sums = (uint64_t *)((char *)totals + p.totals);
    *starts = (uint64_t *)((char *)sums + p.sums);
    const dim3 segments(grid_blocks((size_t)p.strips), grid_rows(divide_up(job->in.height, SEGMENT)));
    difference_segments_kernel<Form><<<segments, THREADS, 0, stream>>>(s, totals);
    if (s.table) launch_entries<Form>(job, s);
    row_starts_kernel<Form><<<grid_blocks(job->in.height), THREADS, 0, stream>>>(s, p.warps, totals, sums);
    const gi_status status =
        scan<uint64_t>((size_t)p.lines * job->in.height, array_load<uint64_t>{sums}, sum<uint64_t>{},
                       array_store<uint64_t>{sums}, (char *)*starts + p.starts, stream, err);
    if (status != GI_OK) return status;
    const size_t blocks = divide_up((size_t)p.lines * job->out.height, THREADS);
    starts_kernel<Form><<<grid_blocks(blocks), THREADS, 0, stream>>>(s, p.lines, sums, *starts);
    return gi_cuda_check(cudaGetLastError(), "starting a box blur", err);
}

template <typename Form> gi_status launch(const gi_job *job, gi_error *err) {
    const plan p = plan_of<Form>(job);
    strips s = {};
    s.b = blur_band_of(job);
    s.radius = gi_blur_box_radius((const gi_blur_args *)job->args);
    s.width = THREADS * Form::COLUMNS;
    prepare_division(&s, side_of(job) * side_of(job), gi_sample_max(job->in.sample), sizeof(typename Form::Total) == 8);
    size_t resident = 0;
    uint64_t *starts = nullptr;
    gi_status status = resident_blocks(wide_kernel<Form>, THREADS, &resident, err);
    if (status != GI_OK) return status;
    s.rows = (int64_t)larger(divide_up((size_t)job->out.height, larger(resident / (size_t)p.strips, 1)), 4);
    if ((int64_t)side_of(job) > TABLE_RATIO * s.rows) {
        s.table = job->scratch;
        s.entries = (int64_t)table_entries(job);
    }
    status = launch_starts<Form>(job, p, s, &starts, err);
    if (status != GI_OK) return status;
    const dim3 grid(grid_blocks((size_t)p.strips), grid_rows(divide_up((size_t)job->out.height, (size_t)s.rows)));
    wide_kernel<Form><<<grid, THREADS, 0, (cudaStream_t)job->stream>>>(s, starts);
    return gi_cuda_check(cudaGetLastError(), "starting a box blur", err);
}

// A thread's columns: fewer than in blur_box.cu, as they are read twice.
template <typename S, int Channels>
constexpr int WIDE_COLUMNS = Channels == 1 || (Channels == 2 && sizeof(S) == 1) ? 8 : 4;
template <typename S, int Channels, typename Sums, typename Total>
using wide_form = form<S, Channels, Sums, Total, WIDE_COLUMNS<S, Channels>>;

// Calls use(form) with the form that suits the job: the smallest types that hold its sums, and differences with sign.
template <typename Sample, int Channels, typename Use> auto with_sums(const gi_job *job, const Use &use) {
    constexpr bool WEIGHTED = Channels == 2 || Channels == 4;
    const uint64_t side = side_of(job), max = gi_sample_max(job->in.sample), most = WEIGHTED ? max * max : max;
    const bool narrow = most <= INT32_MAX / (side * side);
    if constexpr (sizeof(Sample) == 2 && WEIGHTED) {
        return use(wide_form<Sample, Channels, uint64_t, uint64_t>());
    } else {
        if (narrow) return use(wide_form<Sample, Channels, uint32_t, uint32_t>());
        if constexpr (sizeof(Sample) == 2)
            if (most * side > INT32_MAX) return use(wide_form<Sample, Channels, uint64_t, uint64_t>());
        return use(wide_form<Sample, Channels, uint32_t, uint64_t>());
    }
}

template <typename Use> auto with_form(const gi_job *job, const Use &use) {
    const bool bytes = job->in.sample == GI_U8;
    switch (job->in.channels) {
    case 1: return bytes ? with_sums<uint8_t, 1>(job, use) : with_sums<uint16_t, 1>(job, use);
    case 2: return bytes ? with_sums<uint8_t, 2>(job, use) : with_sums<uint16_t, 2>(job, use);
    case 3: return bytes ? with_sums<uint8_t, 3>(job, use) : with_sums<uint16_t, 3>(job, use);
    default: return bytes ? with_sums<uint8_t, 4>(job, use) : with_sums<uint16_t, 4>(job, use);
    }
}

} // namespace

size_t gi::blur_box_wide_scratch(const gi_job *job) {
    return with_form(job, [&](auto form) {
        const plan p = plan_of<decltype(form)>(job);
        return p.table + p.totals + p.sums + p.starts + p.scan;
    });
}

gi_status gi::blur_box_wide(const gi_job *job, gi_error *err) {
    return with_form(job, [&](auto form) { return launch<decltype(form)>(job, err); });
}
