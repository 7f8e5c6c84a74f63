// The blur stage on the CPU: checks, the row outside, and the sharing out of rows. core/blur_rules.h has the rules.
#include "cpu/blur.h"

#include <stdlib.h>

#include "core/gauss.h"
#include "cpu/team.h"
#include "cpu/window_band.h"

// Samples for which another thread is worth starting.
enum { SAMPLES_PER_THREAD = 1 << 14 };

uint32_t gi_blur_halo(const void *args) {
    const gi_blur_args *blur = args;
    return (uint32_t)(gi_blur_is_gaussian(blur) ? gi_gauss_radius(blur->sigma) : gi_blur_box_radius(blur));
}

uint32_t gi_blur_scratch(const void *args) {
    (void)args;
    return 0;
}

gi_cost gi_blur_cost(const void *args) {
    const gi_blur_args *blur = args;
    const double taps = gi_blur_is_gaussian(blur) ? 2 * gi_gauss_radius(blur->sigma) + 1 : 0;
    return (gi_cost){taps > 0 ? 0.3e-9 + 0.035e-9 * taps : 0.5e-9, 0};
}

gi_status gi_blur_check(const void *args, gi_sample sample, gi_error *err) {
    const gi_blur_args *blur = args;
    if (gi_blur_is_gaussian(blur) && blur->radius >= 0)
        return gi_fail(err, GI_ERR_USAGE,
                       "blur takes radius (a box) or sigma (a Gaussian), not both: radius=%d sigma=%g", blur->radius,
                       blur->sigma);
    if (gi_blur_is_gaussian(blur) && !(blur->sigma > 0))
        return gi_fail(err, GI_ERR_USAGE, "sigma must be above 0: radius=0 leaves an image as it is");
    if (blur->value != 0 && blur->border != GI_BORDER_CONSTANT)
        return gi_fail(err, GI_ERR_USAGE, "blur takes value=%d with border=constant alone, as what lies outside then",
                       blur->value);
    if (blur->value > (int32_t)gi_sample_max(sample))
        return gi_fail(err, GI_ERR_USAGE, "value %d is above %u, the maximum of this image's samples", blur->value,
                       gi_sample_max(sample));
    return GI_OK;
}

// Fills a row with what lies outside the image: `value`, opaque.
static void fill_outside(void *row, const gi_blur_band *band, uint32_t value) {
    size_t samples = gi_blur_row_samples(band), channels = (size_t)band->in.channels;
    for (size_t i = 0; i < samples; i++) {
        bool alpha = gi_has_alpha(band->in.channels) && i % channels == channels - 1;
        uint32_t v = alpha ? gi_sample_max(band->in.sample) : value;
        if (band->in.sample == GI_U8)
            ((uint8_t *)row)[i] = (uint8_t)v;
        else
            ((uint16_t *)row)[i] = (uint16_t)v;
    }
}

gi_status gi_cpu_blur(const gi_window_job *job, gi_error *err) {
    const gi_blur_args *args = job->args;
    gi_status status = gi_blur_check(args, job->in.sample, err);
    if (status == GI_OK) status = gi_window_check_band(job, gi_blur_halo(args), "blur", err);
    if (status != GI_OK || job->out.width == 0 || job->out.height == 0) return status;

    gi_blur_band band = {
        .in = job->in, .out = job->out, .place = job->place, .border = args->border, .threads = job->threads};
    size_t row_bytes = gi_row_bytes(job->in.width, job->in.channels, job->in.sample);
    char *rows = calloc(2, row_bytes);
    if (!rows) return gi_fail(err, GI_ERR_MEMORY, "out of memory for the rows of blur");
    if (args->border == GI_BORDER_CONSTANT) fill_outside(rows, &band, (uint32_t)args->value);
    band.outside = rows;
    band.blank = rows + row_bytes;
    if (gi_blur_is_gaussian(args))
        status = gi_cpu_blur_gauss(&band, args->sigma, err);
    else
        status = gi_cpu_blur_box(&band, gi_blur_box_radius(args), err);
    free(rows);
    return status;
}

static int useful_threads(const gi_blur_band *band) {
    uint64_t useful = (uint64_t)gi_blur_row_samples(band) * band->out.height / SAMPLES_PER_THREAD + 1;
    if (useful > band->out.height) useful = band->out.height;
    return gi_cpu_team(band->threads > 0 && useful < (uint64_t)band->threads ? (int)useful : band->threads);
}

gi_status gi_blur_run(const gi_blur_rows *plan, gi_blur_rows_fn make, size_t scratch_bytes, gi_error *err) {
    const gi_blur_band *band = plan->band;
    const int threads = useful_threads(band);
    size_t each, bytes;
    char *scratch = NULL;
    if (gi_round_up(scratch_bytes, 64, &each) && gi_mul(each, (size_t)threads, &bytes))
        scratch = aligned_alloc(64, bytes);
    if (!scratch) return gi_fail(err, GI_ERR_MEMORY, "out of memory for the rows of blur");

    const int64_t y0 = band->place.out_y0, rows = band->out.height;
#pragma omp parallel for schedule(static, 1) num_threads(threads) if (threads > 1)
    for (int i = 0; i < threads; i++) {
        gi_blur_rows part = *plan;
        part.scratch = scratch + (size_t)i * each;
        part.y0 = y0 + rows * i / threads;
        part.y1 = y0 + rows * (i + 1) / threads;
        make(&part);
    }
    free(scratch);
    return GI_OK;
}
