/* Makes an image gray and prints its histogram, all in memory.
 *
 *     cc gray_and_histogram.c $(pkg-config --cflags --libs gpuimg) -o gray_and_histogram
 *     ./gray_and_histogram ../landscape.png gray.png */
#include <gpuimg.h>
#include <stdio.h>

static void print_histogram(const gpuimg_histogram *histogram) {
    const uint64_t *counts = gpuimg_histogram_counts(histogram, 0);
    size_t bins = gpuimg_histogram_bins(histogram), i;
    gpuimg_statistics s;
    uint64_t most = 1;
    s.size = sizeof s;
    gpuimg_histogram_statistics(histogram, 0, &s, NULL);
    printf("levels %d..%d, mean %.2f, median %d, Otsu %d\n", (int)s.min, (int)s.max, s.mean, (int)s.median,
           (int)s.otsu);
    for (i = 0; i < bins; i++)
        if (counts[i] > most) most = counts[i];
    for (i = 0; i < bins; i++) {
        int bar = (int)(counts[i] * 50 / most);
        printf("%5d %8lu %.*s\n", (int)(i * 256 / bins), (unsigned long)counts[i], bar,
               "##################################################");
    }
}

int main(int argc, char **argv) {
    gpuimg_context *context = NULL;
    gpuimg_pipeline *to_gray = NULL, *sixteen_bins = NULL;
    gpuimg_histogram *histogram = NULL;
    gpuimg_image colour = {0}, gray = {0};
    gpuimg_error error = {0};
    if (argc != 3) return fprintf(stderr, "usage: %s IN OUT\n", argv[0]), 2;
    if (gpuimg_context_open("auto", 0, &context, &error) || gpuimg_pipeline_parse("gray", &to_gray, &error) ||
        gpuimg_pipeline_parse("hist bins=16", &sixteen_bins, &error) || gpuimg_load(argv[1], &colour, NULL, &error) ||
        gpuimg_pipeline_output(to_gray, &colour, &gray, &error) || gpuimg_image_allocate(&gray, &error) ||
        gpuimg_run_image(context, to_gray, &colour, &gray, &error) ||
        gpuimg_histogram_of_image(context, sixteen_bins, &gray, &histogram, &error) ||
        gpuimg_save(argv[2], &gray, NULL, &error)) {
        fprintf(stderr, "%s to %s: %s (%s)\n", argv[1], argv[2], error.text, gpuimg_status_name(error.status));
    } else {
        printf("%s: %d x %d pixels, gray in %s\n", argv[1], gray.width, gray.height, argv[2]);
        print_histogram(histogram);
    }
    gpuimg_histogram_free(histogram);
    gpuimg_image_free(&gray);
    gpuimg_image_free(&colour);
    gpuimg_pipeline_free(sixteen_bins);
    gpuimg_pipeline_free(to_gray);
    gpuimg_context_close(context);
    return error.status != GPUIMG_OK;
}
