// Pass 2 of the Gaussian on lines of numbers. Included with NUMBER (double, or uint64_t where double would round) and
// NAME(x), which stay defined. A line holds one or more interleaved channels, continued by R pixels past both ends.

enum { NAME(CHUNK) = 512 };

// sums[i] += t(k) * (line[i - k * step] + line[i + k * step]) for `taps` values of k from `first` on. Several at a time
// spare loads and stores of the sums.
GI_SIMD_BODY void NAME(across_taps)(const NUMBER *line, ptrdiff_t step, const int32_t *first_tap, int first, int taps,
                                    NUMBER *restrict sums, size_t count) {
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        const NUMBER *at = line + i;
        NUMBER sum = sums[i];
        for (int j = 0; j < taps; j++) sum += (NUMBER)first_tap[j] * (at[-(first + j) * step] + at[(first + j) * step]);
        sums[i] = sum;
    }
}

// sums[i] = the sum of t(k) * line[i + k * step] for |k| <= R; `line` points at the first of `count` samples.
GI_SIMD_BODY void NAME(across_body)(const NUMBER *line, ptrdiff_t step, const gi_gauss *gauss, NUMBER *restrict sums,
                                    size_t count) {
    const NUMBER centre = (NUMBER)gauss->taps[0];
    for (size_t i = 0; i < count; i++) sums[i] = centre * line[i];
    int k = 1;
    for (; k + 3 <= gauss->radius; k += 4) NAME(across_taps)(line, step, gauss->taps + k, k, 4, sums, count);
    for (; k <= gauss->radius; k++) NAME(across_taps)(line, step, gauss->taps + k, k, 1, sums, count);
}
GI_SIMD_VARIANTS(NAME(across), NAME(across_body),
                 (const NUMBER *line, ptrdiff_t step, const gi_gauss *gauss, NUMBER *restrict sums, size_t count),
                 (line, step, gauss, sums, count))

// Continues one channel past both ends; `line` points at its first sample. `outside` is what border=constant has there.
static void NAME(extend)(NUMBER *line, ptrdiff_t step, int64_t width, int radius, int border, NUMBER outside) {
    for (int k = 1; k <= radius; k++) {
        int64_t left = gi_border_index(-k, width, border), right = gi_border_index(width - 1 + k, width, border);
        line[-k * step] = left < 0 ? outside : line[left * step];
        line[(width - 1 + k) * step] = right < 0 ? outside : line[right * step];
    }
}
