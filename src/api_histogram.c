// Histograms of the public API.
#include <stdlib.h>
#include <string.h>

#include "api_internal.h"
#include "core/checked.h"

struct gpuimg_histogram {
    gi_histogram exact;
    uint64_t *rebinned; // owned; NULL: the exact counts serve
    uint32_t bins;
};

// Called while the run goes on, in the same thread.
static void take(void *context, size_t index, gi_measured *measured) {
    gpuimg_histogram *histogram = context;
    (void)index;
    histogram->exact = *measured->histogram;
    histogram->bins = measured->bins;
    *measured->histogram = (gi_histogram){.counts = NULL};
}

static gi_status rebin(gpuimg_histogram *histogram, gi_error *err) {
    size_t bytes, bins = histogram->bins;
    int channels = histogram->exact.channels;
    if (histogram->bins == histogram->exact.levels) return GI_OK;
    bool fits = gi_mul(bins, (size_t)channels * sizeof *histogram->rebinned, &bytes);
    histogram->rebinned = fits ? malloc(bytes) : NULL;
    if (!histogram->rebinned) return gi_fail(err, GI_ERR_MEMORY, "out of memory for a histogram");
    for (int c = 0; c < channels; c++)
        gi_histogram_rebin(gi_histogram_channel(&histogram->exact, c), histogram->exact.levels,
                           histogram->rebinned + (size_t)c * bins, histogram->bins);
    return GI_OK;
}

// *stages = the pipeline (NULL: none) with hist at its end.
static gi_status with_hist(const gpuimg_pipeline *pipeline, gi_pipeline *stages, gi_error *err) {
    *stages = (gi_pipeline){.count = 0};
    if (pipeline) *stages = pipeline->stages;
    if (stages->count > 0 && stages->calls[stages->count - 1].stage->kind == GI_STAGE_MEASURE) return GI_OK;
    if (gi_pipeline_append(stages, &gi_stage_table[GI_STAGE_ID_hist])) return GI_OK;
    return gi_fail(err, GI_ERR_USAGE, "a pipeline of %d stages leaves no room for hist", stages->count);
}

// Measures what the request names.
static gi_status measure(gpuimg_context *context, const gi_pipeline *stages, gi_api_setup *setup,
                         const gi_process_request *request, gpuimg_histogram **out, gi_error *err) {
    gpuimg_histogram *histogram = calloc(1, sizeof *histogram);
    if (!histogram) return gi_fail(err, GI_ERR_MEMORY, "out of memory for a histogram");
    setup->batch.pipeline = stages;
    setup->batch.on_measured = take;
    setup->batch.context = histogram;
    gi_status status = gi_context_process(context, &setup->batch, request, err);
    if (status == GI_OK) status = rebin(histogram, err);
    if (status == GI_OK)
        *out = histogram;
    else
        gpuimg_histogram_free(histogram);
    return status;
}

// An image in memory, or a file.
typedef struct source {
    const gpuimg_image *image;
    const char *file;
    const gpuimg_options *options;
} source;

static gi_status histogram_of(gpuimg_context *context, const gpuimg_pipeline *pipeline, const source *from,
                              gpuimg_histogram **out, gi_error *err) {
    gi_pipeline stages;
    gi_api_setup setup;
    gi_view pixels;
    gi_item item = {.in = (char *)from->file}; // the name is only read
    gi_process_request request = {.item = &item, .pixels = from->file ? NULL : &pixels};
    if (!out) return gi_fail(err, GI_ERR_USAGE, "histogram: no place for it");
    *out = NULL;
    if (!context) return gi_fail(err, GI_ERR_USAGE, "no context");
    gi_status status = with_hist(pipeline, &stages, err);
    if (status == GI_OK && !from->file) status = gi_api_view(from->image, "input", &pixels, err);
    if (status != GI_OK) return status;
    status = gi_api_setup_begin(from->options, &setup, err);
    if (status == GI_OK) status = measure(context, &stages, &setup, &request, out, err);
    gi_api_setup_end(&setup);
    return status;
}

gpuimg_status gpuimg_histogram_of_image(gpuimg_context *context, const gpuimg_pipeline *pipeline,
                                        const gpuimg_image *input, gpuimg_histogram **histogram, gpuimg_error *error) {
    gi_error err = {.status = GI_OK};
    source from = {.image = input};
    return gi_api_result(histogram_of(context, pipeline, &from, histogram, &err), &err, error);
}

gpuimg_status gpuimg_histogram_of_file(gpuimg_context *context, const gpuimg_pipeline *pipeline, const char *input,
                                       const gpuimg_options *options, gpuimg_histogram **histogram,
                                       gpuimg_error *error) {
    gi_error err = {.status = GI_OK};
    source from = {.file = input, .options = options};
    return gi_api_result(histogram_of(context, pipeline, &from, histogram, &err), &err, error);
}

void gpuimg_histogram_free(gpuimg_histogram *histogram) {
    if (!histogram) return;
    gi_histogram_free(&histogram->exact);
    free(histogram->rebinned);
    free(histogram);
}

// ---- what it holds ------------------------------------------------------------------------------------------------

int gpuimg_histogram_channels(const gpuimg_histogram *histogram) { return histogram ? histogram->exact.channels : 0; }

size_t gpuimg_histogram_bins(const gpuimg_histogram *histogram) { return histogram ? histogram->bins : 0; }

static bool has_channel(const gpuimg_histogram *histogram, int channel) {
    return channel >= 0 && channel < gpuimg_histogram_channels(histogram);
}

const char *gpuimg_histogram_name(const gpuimg_histogram *histogram, int channel) {
    return has_channel(histogram, channel) ? gi_channel_name(histogram->exact.channels, channel) : NULL;
}

const uint64_t *gpuimg_histogram_counts(const gpuimg_histogram *histogram, int channel) {
    if (!has_channel(histogram, channel)) return NULL;
    return histogram->rebinned ? histogram->rebinned + (size_t)channel * histogram->bins
                               : gi_histogram_channel(&histogram->exact, channel);
}

static gi_status statistics_of(const gpuimg_histogram *histogram, int channel, gpuimg_statistics *out, gi_error *err) {
    if (!out || out->size <= sizeof out->size)
        return gi_fail(err, GI_ERR_USAGE, "statistics: size is to be set to sizeof(gpuimg_statistics)");
    size_t size = out->size;
    memset(out, 0, size); // a later header's members, too
    out->size = size;
    if (!has_channel(histogram, channel))
        return gi_fail(err, GI_ERR_USAGE, "statistics: there is no channel %d", channel);
    gi_statistics s;
    gi_statistics_of(gi_histogram_channel(&histogram->exact, channel), histogram->exact.levels, &s);
    gpuimg_statistics full = {.size = size,
                              .pixels = s.pixels,
                              .min = s.min,
                              .max = s.max,
                              .median = s.median,
                              .otsu = s.otsu,
                              .mean = s.mean,
                              .std = s.std,
                              .entropy = s.entropy,
                              .clipped_shadows = s.clipped_shadows,
                              .clipped_highlights = s.clipped_highlights};
    memcpy(full.percentiles, s.percentiles, sizeof full.percentiles);
    memcpy(out, &full, size < sizeof full ? size : sizeof full);
    return GI_OK;
}

gpuimg_status gpuimg_histogram_statistics(const gpuimg_histogram *histogram, int channel, gpuimg_statistics *statistics,
                                          gpuimg_error *error) {
    gi_error err = {.status = GI_OK};
    return gi_api_result(statistics_of(histogram, channel, statistics, &err), &err, error);
}
