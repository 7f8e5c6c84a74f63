// Along the rows of the box blur: from the sums of a strip's columns to finished samples (blur_box.cu).
#ifndef GI_KERNELS_BLUR_BOX_ROWS_CUH
#define GI_KERNELS_BLUR_BOX_ROWS_CUH

#include "kernels/blur_box_means.cuh"
#include "kernels/scan.cuh"

namespace gi {
namespace box {

// The prefix sums of a row of the strip: F(i), i pixels from the strip's first on, for each channel.
template <typename Form> struct prefix_sums {
    using Total = typename Form::Total;
    Total *places;

    static __host__ __device__ __forceinline__ int place(int sample) { return sample + (sample >> 5); }
    __device__ __forceinline__ Total &at(int sample) const { return places[place(sample)]; }
};

// What it takes to finish the pixels of a strip's rows. Samples are numbered from the strip's first on, pixels from the
// tile's, which is where the prefix sums begin.
template <typename Form> struct row_end : means<Form> {
    using means<Form>::s;
    using Sample = typename Form::Sample;
    using Total = typename Form::Total;
    static constexpr int CHANNELS = Form::CHANNELS, FINISHED = Form::FINISHED, WORDS = FINISHED * sizeof(Sample) / 4;
    prefix_sums<Form> prefix;
    int64_t x0;       // the strip's first pixel in the image
    int skipped;      // pixels of the tile before it
    int count;        // samples
    int image_end;    // pixels of the tile before the image's end, or what is far away
    int left, right;  // runs that begin in [left, right) have windows inside the image, and are simple
    int step;         // from one of the thread's runs to the next
    int middle, rest; // the thread's first run from left on, and from right on

    __device__ __forceinline__ row_end(const strips &all, const prefix_sums<Form> &sums, int64_t tile, int64_t from,
                                       int64_t to)
        : means<Form>{all}, prefix(sums), x0(from), skipped((int)(from - tile)), count((int)(to - from) * CHANNELS) {
        image_end = (int)min(s.b.width - tile, (int64_t)1 << 28);
        left = max((int)s.radius - (int)min(x0, (int64_t)1 << 28), 0) * CHANNELS;
        right = min((image_end - skipped - (int)s.radius) * CHANNELS, count) - FINISHED + 1;
        // Runs in the middle are written as such, and divided by multiplication.
        const uintptr_t place = (uintptr_t)s.b.out + (size_t)x0 * CHANNELS * sizeof(Sample);
        const bool aligned = ((place | s.b.out_pitch) & (4 * WORDS - 1)) == 0;
        if (!aligned || !s.multiplier || right <= left) left = right = count;
        step = (int)blockDim.x * FINISHED;
        middle = (int)threadIdx.x * FINISHED;
        while (middle < left) middle += step;
        rest = middle;
        while (rest < right) rest += step;
    }

    __device__ __forceinline__ Total at(int pixel, int c) const { return prefix.at(pixel * CHANNELS + c); }

    // F at the lower or the upper ends of the windows of a run; with border=reflect101 where one reflection brings in
    // those that lie outside.
    template <bool Upper> __device__ __forceinline__ void ends(int first, Total (&sums)[FINISHED]) const {
        const int n = image_end, reach = skipped + (Upper ? (int)s.radius + 1 : -(int)s.radius);
        const int low = reach + first / CHANNELS, high = reach + (first + FINISHED - 1) / CHANNELS;
        const bool whole = first + FINISHED <= count, mirror = s.b.border == GI_BORDER_REFLECT101 && s.b.width > 1;
        if (whole && (Upper ? high <= n : low >= 0)) {
#pragma unroll
            for (int i = 0; i < FINISHED; i++) sums[i] = prefix.at(reach * CHANNELS + first + i);
        } else if (whole && mirror && (Upper ? low > n : high < 0)) {
#pragma unroll
            for (int i = 0; i < FINISHED; i++) {
                const int c = (first + i) % CHANNELS, pixel = reach + (first + i) / CHANNELS;
                sums[i] = mirrored_once<Upper>(pixel, c);
            }
        } else {
            any_ends<Upper>(first, sums);
        }
    }

    // F at a pixel outside, but not by more than the image is wide.
    template <bool Upper> __device__ __forceinline__ Total mirrored_once(int pixel, int c) const {
        const int n = image_end;
        return (Upper ? at(n, c) + at(n - 1, c) : at(1, c)) - at(Upper ? 2 * n - 1 - pixel : 1 - pixel, c);
    }

    // ... of a run some of whose ends may lie inside, and some outside.
    template <bool Upper> __device__ __forceinline__ void any_ends(int first, Total (&sums)[FINISHED]) const {
        const int n = image_end, border = s.b.border;
#pragma unroll
        for (int i = 0; i < FINISHED; i++) {
            const int sample = min(first + i, count - 1), c = sample % CHANNELS; // past the end: anything
            const int pixel = skipped + sample / CHANNELS + (Upper ? (int)s.radius + 1 : -(int)s.radius);
            const bool outside = Upper ? pixel > n : pixel < 0;
            const int edge = Upper ? n : 0;
            if (outside && border == GI_BORDER_REFLECT101 && s.b.width > 1) {
                sums[i] = mirrored_once<Upper>(pixel, c);
                continue;
            }
            sums[i] = at(outside ? edge : pixel, c);
            if (!outside) continue;
            if (border == GI_BORDER_CONSTANT)
                sums[i] += (Total)(int64_t)(pixel - edge) * (Total)(2 * s.radius + 1) *
                           term_outside<Sample, Form::WEIGHTED>(s.b, c);
            else if (border != GI_BORDER_SHRINK)
                sums[i] += (Total)(int64_t)(pixel - edge) * (Upper ? at(n, c) - at(n - 1, c) : at(1, c));
        }
    }

    // The sum over the window of pixel x of the image, all of which the tile holds, that reflects more than once.
    __device__ __noinline__ Total mirrored(int64_t x, int c) const {
        const int64_t n = s.b.width, low = x - s.radius, high = x + s.radius + 1;
        const int64_t before = max(-low, (int64_t)0), after = max(high - n, (int64_t)0);
        Total sum = at((int)(high - after), c) - at((int)(low + before), c);
        auto add = [&](int64_t from, int64_t to, int64_t times) {
            sum += (Total)times * (at((int)to, c) - at((int)from, c));
        };
        mirror_before(before, n, add);
        mirror_after(after, n, add);
        return sum;
    }

    // sums[i] = the sum over the window of sample first + i.
    __device__ __forceinline__ void windows(int first, Total (&sums)[FINISHED]) const {
        if (s.b.border == GI_BORDER_REFLECT101 && s.radius >= s.b.width && s.b.width > 1) {
#pragma unroll
            for (int i = 0; i < FINISHED; i++) {
                const int sample = min(first + i, count - 1);
                sums[i] = mirrored(x0 + sample / CHANNELS, sample % CHANNELS);
            }
            return;
        }
        Total lower[FINISHED];
        ends<true>(first, sums);
        ends<false>(first, lower);
#pragma unroll
        for (int i = 0; i < FINISHED; i++) sums[i] -= lower[i];
    }

    // The thread writes its runs of row y in the middle, which are the rule.
    __device__ __forceinline__ void write_middle(int64_t y, Sample *out) const {
        const int low = (skipped - (int)s.radius) * CHANNELS, reach = (2 * (int)s.radius + 1) * CHANNELS;
        const Total *from[FINISHED], *to[FINISHED];
#pragma unroll
        for (int i = 0; i < FINISHED; i++) {
            from[i] = prefix.places + prefix.place(low + middle + i);
            to[i] = prefix.places + prefix.place(low + reach + middle + i);
        }
        const int ahead = prefix.place(step);
        for (int first = middle; first < right; first += step) {
            Total sums[FINISHED];
            uint32_t words[WORDS];
#pragma unroll
            for (int i = 0; i < FINISHED; i++) {
                sums[i] = *to[i] - *from[i];
                to[i] += ahead;
                from[i] += ahead;
            }
            this->template finish<true>(x0 * CHANNELS + first, y, sums, words);
            store_aligned(out + first, words);
        }
    }

    // The block writes row y.
    __device__ __forceinline__ void write(int64_t y) const {
        Sample *out = s.b.template out_row<Sample>(y) + x0 * CHANNELS;
        const bool same = s.b.border != GI_BORDER_SHRINK || (y >= s.radius && y + s.radius < s.b.height);
        if (same) write_middle(y, out);
        // Those at the ends, or all.
        int first = (int)threadIdx.x * FINISHED;
        while (true) {
            if (same && first >= left && first < rest) first = rest;
            if (first >= count) break;
            Total sums[FINISHED];
            uint32_t words[WORDS];
            windows(first, sums);
            this->template finish<false>(x0 * CHANNELS + first, y, sums, words);
            store_words<Sample>(out + first, words, count - first);
            first += step;
        }
    }
};

// before[c] = the sum of channel c of the columns of the threads before. One barrier: what was in `warps` and shared
// memory before has been read by then.
template <typename Form>
__device__ __forceinline__ void sum_before(const column_sums<Form> &sums,
                                           typename Form::Total (&before)[Form::CHANNELS],
                                           typename Form::Total (&warps)[Form::CHANNELS][WARP]) {
    using Total = typename Form::Total;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
#pragma unroll
    for (int c = 0; c < Form::CHANNELS; c++) {
        const Total own = sums.total(c), upto = warp_scan(own, sum<Total>{});
        if (lane == WARP - 1) warps[c][warp] = upto;
        before[c] = upto - own;
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < Form::CHANNELS; c++) before[c] += warp_sum(lane < warp ? warps[c][lane] : (Total)0);
}

// Writes the thread's prefix sums: of what is before each of its columns, and the last thread of what is up to its end.
template <typename Form>
__device__ __forceinline__ void write_prefix(const column_sums<Form> &sums,
                                             typename Form::Total (&upto)[Form::CHANNELS],
                                             const prefix_sums<Form> &prefix) {
    const int first = (int)threadIdx.x * Form::SAMPLES;
#pragma unroll
    for (int i = 0; i < Form::SAMPLES; i++) {
        const int c = i % Form::CHANNELS;
        // The thread's part of a group of 32 is the same for all its samples if it has 16.
        if (Form::SAMPLES == 16)
            prefix.places[prefix.place(first) + i] = upto[c];
        else
            prefix.at(first + i) = upto[c];
        upto[c] = sums.plus(upto[c], i);
    }
    if (threadIdx.x == blockDim.x - 1)
        for (int c = 0; c < Form::CHANNELS; c++) prefix.at(first + Form::SAMPLES + c) = upto[c];
}

} // namespace box
} // namespace gi

#endif
