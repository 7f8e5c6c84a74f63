// The heat stage on the CPU: rows of floats, several pixels a lane group, all inner iterations of a group in turn.
// core/heat_math.h has the rules.
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "core/heat_math.h"
#include "core/large.h"
#include "core/simd.h"
#include "core/stage_table.h"
#include "cpu/team.h"
#include "cpu/window_band.h"

enum {
    GROUP = 64,                // samples iterated together: enough vectors to hide the latency of tanh
    WORK_PER_THREAD = 1 << 16, // sample updates for which another thread is worth starting
};

uint32_t gi_heat_halo(const void *args) { return (uint32_t)((const gi_heat_args *)args)->steps; }

static uint32_t field_count(const gi_heat_args *args) { return args->steps > 1 ? 2 : 1; }

uint32_t gi_heat_scratch(const void *args) { return field_count(args) * (uint32_t)sizeof(float); }

gi_cost gi_heat_cost(const void *args) {
    const gi_heat_args *heat = args;
    const double inner = heat->mode == GI_HEAT_LINEAR ? 0.5e-9 : 0.7e-9 * heat->inner;
    return (gi_cost){heat->steps * inner, heat->steps * 0.3e-9};
}

gi_status gi_heat_check(const void *args, gi_sample sample, gi_error *err) {
    const gi_heat_args *heat = args;
    (void)sample;
    double rate = heat->alpha * heat->dt;
    if (!(rate > 0 && rate <= 0.25))
        return gi_fail(err, GI_ERR_USAGE, "alpha*dt must be above 0 and at most 0.25, not %g*%g = %g", heat->alpha,
                       heat->dt, rate);
    if (heat->steps < 1 || heat->inner < 1)
        return gi_fail(err, GI_ERR_USAGE, "heat takes at least one step and one inner iteration");
    return GI_OK;
}

// One field of temperatures: the rows that the band's input holds, colours interleaved without alpha, one pixel of 0 at
// both ends of each row.
typedef struct heat {
    const gi_window_job *job;
    const gi_heat_args *args;
    size_t colours, samples, pitch; // samples: of a row; pitch: floats from row to row
    float rate;                     // alpha * dt
    int threads;
    float *now, *next; // next: NULL for a single step
    float *zero;       // a row outside the image
} heat;

// A row to make, and the rows around it; at[-colours] and at[samples] on may be read.
typedef struct heat_line {
    const float *up, *at, *down;
    float *out;
    size_t samples, colours;
    float rate;
    int inner;
} heat_line;

GI_SIMD_BODY void nonlinear_rows(const heat_line *line, bool fused) {
    float t[GROUP], s[GROUP];
    for (size_t x = 0; x < line->samples; x += GROUP) {
        const size_t count = line->samples - x < GROUP ? line->samples - x : GROUP;
        const float *up = line->up + x, *at = line->at + x, *down = line->down + x;
        memset(t, 0, sizeof t);
        memset(s, 0, sizeof s);
        for (size_t i = 0; i < count; i++) {
            t[i] = at[i];
            s[i] = ((up[i] + down[i]) + at[(ptrdiff_t)i - (ptrdiff_t)line->colours]) + at[i + line->colours];
        }
        for (int k = 0; k < line->inner; k++)
            for (int i = 0; i < GROUP; i++) t[i] = gi_heat_nonlinear(t[i], s[i], line->rate, fused);
        memcpy(line->out + x, t, count * sizeof *t);
    }
}

GI_SIMD_BODY void nonlinear_body(const heat_line *line) { nonlinear_rows(line, false); }
GI_SIMD_BODY void nonlinear_fused_body(const heat_line *line) { nonlinear_rows(line, true); }
GI_SIMD_VARIANTS_FUSED(nonlinear, nonlinear_body, nonlinear_fused_body, (const heat_line *line), (line))

GI_SIMD_BODY void linear_body(const heat_line *line) {
    const float *up = line->up, *at = line->at, *down = line->down, rate = line->rate;
    const float *left = at - line->colours, *right = at + line->colours;
    float *out = line->out;
    const size_t samples = line->samples;
#pragma omp simd
    for (size_t i = 0; i < samples; i++) out[i] = gi_heat_linear(at[i], ((up[i] + down[i]) + left[i]) + right[i], rate);
}
GI_SIMD_VARIANTS(linear, linear_body, (const heat_line *line), (line))

GI_SIMD_BODY void to_temperatures_body(const void *row, gi_sample sample, float *restrict out, size_t samples) {
    const uint8_t *u8 = row;
    const uint16_t *u16 = row;
    if (sample == GI_U8)
        for (size_t i = 0; i < samples; i++) out[i] = (float)u8[i] / 255.0F;
    else
        for (size_t i = 0; i < samples; i++) out[i] = (float)u16[i] / 65535.0F;
}
GI_SIMD_VARIANTS(to_temperatures, to_temperatures_body,
                 (const void *row, gi_sample sample, float *restrict out, size_t samples), (row, sample, out, samples))

GI_SIMD_BODY void to_samples_body(const float *t, gi_sample sample, void *restrict row, size_t samples) {
    uint8_t *u8 = row;
    uint16_t *u16 = row;
    if (sample == GI_U8)
        for (size_t i = 0; i < samples; i++) u8[i] = (uint8_t)gi_heat_sample(t[i], 255.0F);
    else
        for (size_t i = 0; i < samples; i++) u16[i] = (uint16_t)gi_heat_sample(t[i], 65535.0F);
}
GI_SIMD_VARIANTS(to_samples, to_samples_body, (const float *t, gi_sample sample, void *restrict row, size_t samples),
                 (t, sample, row, samples))

// Row y of the whole image in a field, or zeros outside the image.
static float *field_row(const heat *h, float *field, int64_t y) {
    if (y < 0 || y >= h->job->place.image_height) return h->zero;
    return field + (size_t)(y - h->job->place.in_y0) * h->pitch + h->colours;
}

// Moves the colours of one row: alpha, where there is one, lies between them in the image but not in a field.
static void read_row(const heat *h, int64_t y) {
    const gi_view *in = &h->job->in;
    const size_t bytes = gi_sample_bytes(in->sample), channels = (size_t)in->channels;
    const char *row = gi_view_row(in, (uint32_t)(y - h->job->place.in_y0));
    float *out = field_row(h, h->now, y);
    memset(out - h->colours, 0, h->colours * sizeof *out);
    memset(out + h->samples, 0, h->colours * sizeof *out);
    if (h->colours == channels) {
        to_temperatures(row, in->sample, out, h->samples);
        return;
    }
    for (size_t x = 0; x < in->width; x++)
        to_temperatures_body(row + x * channels * bytes, in->sample, out + x * h->colours, h->colours);
}

static void write_row(const heat *h, int64_t y, const float *t) {
    const gi_view *in = &h->job->in, *out = &h->job->out;
    const size_t bytes = gi_sample_bytes(in->sample), channels = (size_t)in->channels;
    const char *from = gi_view_row(in, (uint32_t)(y - h->job->place.in_y0));
    char *row = gi_view_row(out, (uint32_t)(y - h->job->place.out_y0));
    if (h->colours == channels) {
        to_samples(t, in->sample, row, h->samples);
        return;
    }
    for (size_t x = 0; x < in->width; x++) {
        size_t at = x * channels * bytes, alpha = at + h->colours * bytes;
        to_samples_body(t + x * h->colours, in->sample, row + at, h->colours);
        memcpy(row + alpha, from + alpha, bytes);
    }
}

// Makes row y of the next step: in the other field, or, in the last step, in the output.
static void make_row(const heat *h, int64_t y, bool last, float *spare) {
    float *out = last ? spare : field_row(h, h->next, y);
    heat_line line = {.up = field_row(h, h->now, y - 1),
                      .at = field_row(h, h->now, y),
                      .down = field_row(h, h->now, y + 1),
                      .out = out,
                      .samples = h->samples,
                      .colours = h->colours,
                      .rate = h->rate,
                      .inner = h->args->inner};
    if (h->args->mode == GI_HEAT_LINEAR)
        linear(&line);
    else
        nonlinear(&line);
    if (last) {
        write_row(h, y, out);
        return;
    }
    memset(out - h->colours, 0, h->colours * sizeof *out);
    memset(out + h->samples, 0, h->colours * sizeof *out);
}

static void run(heat *h, float *spares) {
    const gi_window_place *place = &h->job->place;
    const int64_t in_end = (int64_t)place->in_y0 + h->job->in.height;
    const int64_t out_end = (int64_t)place->out_y0 + h->job->out.height;
#pragma omp parallel for schedule(static) num_threads(h->threads) if (h->threads > 1)
    for (int64_t y = place->in_y0; y < in_end; y++) read_row(h, y);

    for (int step = 1; step <= h->args->steps; step++) {
        // Each step needs one row less on either side, but at the image's edge.
        const int64_t halo = h->args->steps - step;
        const int64_t first = place->out_y0 > halo ? place->out_y0 - halo : 0;
        const int64_t end = out_end + halo < place->image_height ? out_end + halo : place->image_height;
        const bool last = halo == 0;
#pragma omp parallel for schedule(static) num_threads(h->threads) if (h->threads > 1)
        for (int64_t y = first; y < end; y++) make_row(h, y, last, spares + (size_t)omp_get_thread_num() * h->pitch);
        float *made = h->next;
        h->next = h->now;
        h->now = made;
    }
}

static int useful_threads(const heat *h) {
    const double inner = h->args->mode == GI_HEAT_LINEAR ? 1 : h->args->inner;
    const double useful = (double)h->samples * h->job->out.height * inner / WORK_PER_THREAD + 1;
    return gi_cpu_team(useful < h->job->threads ? (int)useful : h->job->threads);
}

gi_status gi_cpu_heat(const gi_window_job *job, gi_error *err) {
    const gi_heat_args *args = job->args;
    gi_status status = gi_heat_check(args, job->in.sample, err);
    if (status == GI_OK) status = gi_window_check_band(job, gi_heat_halo(args), "heat", err);
    if (status != GI_OK || job->out.width == 0 || job->out.height == 0) return status;

    heat h = {.job = job, .args = args, .rate = (float)(args->alpha * args->dt)};
    h.colours = (size_t)gi_colour_channels(job->in.channels);
    h.samples = job->in.width * h.colours;
    h.pitch = h.samples + 2 * h.colours;
    h.threads = useful_threads(&h);

    // One field, or two; a row of zeros; and a row for each thread.
    const size_t fields = field_count(args);
    size_t floats, rows;
    float *memory = NULL;
    if (gi_mul(fields, job->in.height, &rows) && gi_add(rows, (size_t)h.threads + 1, &rows) &&
        gi_mul(rows, h.pitch, &floats) && gi_mul(floats, sizeof *memory, &floats))
        memory = gi_large_alloc(floats);
    if (!memory) return gi_fail(err, GI_ERR_MEMORY, "out of memory for the fields of heat");
    float *zero = memory, *spares = zero + h.pitch;
    memset(zero, 0, h.pitch * sizeof *zero);
    h.zero = zero + h.colours;
    h.now = spares + (size_t)h.threads * h.pitch;
    h.next = fields == 2 ? h.now + job->in.height * h.pitch : NULL;
    run(&h, spares + h.colours);
    free(memory);
    return GI_OK;
}
