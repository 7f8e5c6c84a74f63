// Exact histograms. Each thread counts into 32-bit tables of its own, which are flushed into the 64-bit counts before a
// counter could wrap.
//
// u8: consecutive pixels count into different copies of the table, since an increment that follows another of the same
// counter waits for its store; flat images would run at that latency. u16: 65536 counters a channel fill the cache
// already, and one copy serves.
#include <stdlib.h>

#include "cpu/ops.h"
#include "cpu/point_spans.h"
#include "cpu/spans.h"

// Pixels between flushes: no 32-bit counter can wrap.
#define FLUSH_PIXELS ((size_t)1 << 30)

typedef struct hist_work {
    gi_view in;
    gi_spans spans;
    const gi_point_work *through; // NULL: `in` is counted as it is
    int channels;                 // of what is counted
    uint64_t *counts;             // the job's
    size_t levels;
    size_t table_size; // counters of one thread: copies * channels * levels
    int copies;
} hist_work;

// Copies such that copies * channels increments lie between two of one counter, enough to hide the latency.
static int copies_of(int channels, gi_sample sample) {
    static const int copies[GI_MAX_CHANNELS + 1] = {1, 8, 4, 4, 2};
    return sample == GI_U8 ? copies[channels] : 1;
}

// `channels` and `copies` are constants in each call. Layout: table[(copy * channels + channel) * 256 + value].
static inline __attribute__((always_inline)) void count_u8(const uint8_t *in, size_t pixels, uint32_t *table,
                                                           size_t channels, size_t copies) {
    size_t step = channels * copies, left = pixels * channels;
    for (; left >= step; left -= step, in += step)
        for (size_t k = 0; k < step; k++) table[k * 256 + in[k]]++;
    for (size_t k = 0; k < left; k++) table[k * 256 + in[k]]++;
}

static void count_pixels_u8(const hist_work *work, const uint8_t *in, size_t pixels, uint32_t *table) {
    switch (work->channels) {
    case 1: count_u8(in, pixels, table, 1, 8); break;
    case 2: count_u8(in, pixels, table, 2, 4); break;
    case 3: count_u8(in, pixels, table, 3, 4); break;
    default: count_u8(in, pixels, table, 4, 2); break;
    }
}

static void count_pixels_u16(const hist_work *work, const uint16_t *in, size_t pixels, uint32_t *table) {
    size_t channels = (size_t)work->channels;
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < channels; c++) table[c * 65536 + *in++]++;
}

static void count_span(const hist_work *work, gi_span at, uint32_t *table) {
    uint16_t made[GI_SPAN_SHORT * GI_MAX_CHANNELS];
    const void *in = gi_view_pixel(&work->in, at.row, at.x);
    if (work->through) {
        gi_point_apply(work->through, in, made, at.pixels);
        in = made;
    }
    if (work->in.sample == GI_U8)
        count_pixels_u8(work, in, at.pixels, table);
    else
        count_pixels_u16(work, in, at.pixels, table);
}

// Adds a thread's table to the counts and zeroes it.
static void flush(const hist_work *work, uint32_t *table) {
    size_t bins = (size_t)work->channels * work->levels;
#pragma omp critical(gi_hist_flush)
    for (size_t copy = 0; copy < (size_t)work->copies; copy++, table += bins)
        for (size_t i = 0; i < bins; i++) {
            work->counts[i] += table[i];
            table[i] = 0;
        }
}

// One thread's share of the spans, in order.
static void count_share(const hist_work *work, uint32_t *table, int64_t first, int64_t end) {
    size_t pixels = 0;
    for (int64_t i = first; i < end; i++) {
        gi_span at = gi_spans_at(&work->spans, i);
        if (pixels + at.pixels > FLUSH_PIXELS) {
            flush(work, table);
            pixels = 0;
        }
        pixels += at.pixels;
        count_span(work, at, table);
    }
    flush(work, table);
}

// Makes the point ready that the image is seen through, if any.
static gi_status look_through(const gi_cpu_job *job, gi_point_work *through, hist_work *work, gi_error *err) {
    if (!job->through) return GI_OK;
    if (job->through->shape.channels != job->in.channels || job->through->shape.sample != job->in.sample)
        return gi_fail(err, GI_ERR_USAGE, "the operation is not for images of %d channels", job->in.channels);
    gi_status status = gi_point_prepare(job->through, through, err);
    work->through = through;
    work->channels = gi_point_channels_out(job->through);
    return status;
}

gi_status gi_cpu_hist(const gi_cpu_job *job, gi_error *err) {
    const gi_view *in = &job->in;
    if (in->channels < 1 || in->channels > GI_MAX_CHANNELS || (in->sample != GI_U8 && in->sample != GI_U16))
        return gi_fail(err, GI_ERR_UNSUPPORTED, "histograms take 1 to 4 channels of 8 or 16 bits");

    gi_point_work through;
    hist_work work = {.in = *in, .counts = job->counts, .channels = in->channels};
    gi_status status = look_through(job, &through, &work, err);
    if (status != GI_OK) return status;
    work.copies = copies_of(work.channels, in->sample);
    work.spans = gi_spans_make(in, gi_view_is_packed(in), job->through ? GI_SPAN_SHORT : GI_SPAN_LONG);
    work.levels = (size_t)gi_sample_max(in->sample) + 1;
    work.table_size = (size_t)work.copies * (size_t)work.channels * work.levels;
    int threads = gi_spans_threads(in, job->threads);
    // A thread's table has to be filled and added up: not for fewer pixels than it has counters.
    int64_t spans_per_table = (int64_t)(work.table_size / work.spans.span_pixels) + 1;
    if (work.spans.count / spans_per_table < threads) threads = (int)(work.spans.count / spans_per_table);
    if (threads < 1) threads = 1;

    uint32_t *tables = calloc((size_t)threads * work.table_size, sizeof *tables);
    if (!tables) return gi_fail(err, GI_ERR_MEMORY, "out of memory for the histogram");
    const int64_t count = work.spans.count;
#pragma omp parallel for schedule(static, 1) num_threads(threads) if (threads > 1)
    for (int t = 0; t < threads; t++)
        count_share(&work, tables + (size_t)t * work.table_size, count / threads * t + count % threads * t / threads,
                    count / threads * (t + 1) + count % threads * (t + 1) / threads);
    free(tables);
    return GI_OK;
}
