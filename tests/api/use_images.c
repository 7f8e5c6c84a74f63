// Images in memory through the public library: every layout that it promises to take, against plain loops; misuse; and
// threads on one context and on their own. Argument: the device.
#include <gpuimg.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, error.text);                            \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

enum { GUARD = 0xA5, MARGIN = 64 };

// How an image lies in memory.
typedef struct layout {
    int width, height, channels;
    gpuimg_sample sample;
    size_t padding, shift; // bytes after each row, and of the first pixel past an aligned place
} layout;

typedef struct picture {
    unsigned char *memory;
    size_t bytes;
    gpuimg_image image;
} picture;

static size_t row_bytes(const gpuimg_image *image) {
    return (size_t)image->width * (size_t)image->channels << (int)image->sample;
}

static picture make(const layout *lay) {
    picture p = {.image = {NULL, 0, lay->width, lay->height, lay->channels, lay->sample}};
    p.image.pitch_bytes = row_bytes(&p.image) + lay->padding;
    p.bytes = p.image.pitch_bytes * (size_t)lay->height + 2 * MARGIN;
    p.memory = malloc(p.bytes);
    if (!p.memory) exit(3);
    memset(p.memory, GUARD, p.bytes);
    p.image.data = p.memory + MARGIN + lay->shift;
    return p;
}

static unsigned get(const gpuimg_image *image, int x, int y, int c) {
    const unsigned char *row = (const unsigned char *)image->data + (size_t)y * image->pitch_bytes;
    size_t i = (size_t)x * (size_t)image->channels + (size_t)c;
    unsigned short wide;
    if (image->sample == GPUIMG_U8) return row[i];
    memcpy(&wide, row + 2 * i, 2);
    return wide;
}

static void fill(gpuimg_image *image, unsigned seed) {
    for (int y = 0; y < image->height; y++) {
        unsigned char *row = (unsigned char *)image->data + (size_t)y * image->pitch_bytes;
        for (size_t i = 0; i < row_bytes(image); i++) {
            seed = seed * 1664525U + 1013904223U;
            row[i] = (unsigned char)(seed >> 24);
        }
    }
}

static unsigned gray_of(const gpuimg_image *image, int x, int y) {
    if (image->channels < 3) return get(image, x, y, 0);
    return (9798 * get(image, x, y, 0) + 19235 * get(image, x, y, 1) + 3735 * get(image, x, y, 2) + 16384) >> 15;
}

// True when nothing but the rows' pixels was written.
static int guards_hold(const picture *p) {
    const unsigned char *first = p->image.data;
    for (size_t i = 0; i < p->bytes; i++) {
        const unsigned char *at = p->memory + i;
        size_t from_first = (size_t)(at - first); // wraps before it
        int inside = at >= first && from_first / p->image.pitch_bytes < (size_t)p->image.height &&
                     from_first % p->image.pitch_bytes < row_bytes(&p->image);
        if (!inside && *at != GUARD) return 0;
    }
    return 1;
}

static int gray_is_right(const gpuimg_image *in, const gpuimg_image *out) {
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            if (get(out, x, y, 0) != gray_of(in, x, y)) return 0;
            if (out->channels == 2 && get(out, x, y, 1) != get(in, x, y, in->channels - 1)) return 0;
        }
    return 1;
}

// Gray from one layout into another.
static int gray(gpuimg_context *context, const layout *from, size_t padding, size_t shift) {
    gpuimg_error error = {.text = ""};
    gpuimg_pipeline *pipeline = NULL;
    gpuimg_image shape;
    picture in = make(from);
    fill(&in.image, 7);
    CHECK(!gpuimg_pipeline_parse("gray", &pipeline, &error));
    CHECK(!gpuimg_pipeline_output(pipeline, &in.image, &shape, &error));
    CHECK(shape.width == from->width && shape.height == from->height && shape.sample == from->sample);
    CHECK(shape.channels == (from->channels > 2 ? from->channels - 2 : from->channels));
    CHECK(shape.pitch_bytes == row_bytes(&shape) && !shape.data);
    picture out = make(&(layout){shape.width, shape.height, shape.channels, shape.sample, padding, shift});
    CHECK(!gpuimg_run_image(context, pipeline, &in.image, &out.image, &error));
    CHECK(guards_hold(&in) && guards_hold(&out));
    CHECK(gray_is_right(&in.image, &out.image));
    gpuimg_pipeline_free(pipeline);
    free(in.memory);
    free(out.memory);
    return 0;
}

static int layouts(gpuimg_context *context) {
    static const int sizes[][2] = {{1, 1}, {17, 31}, {1, 1000}, {1000, 1}, {640, 403}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int channels = 1; channels <= 4; channels++)
            for (int sample = 0; sample < 2; sample++)
                for (size_t odd = 0; odd < 4; odd++) {
                    layout from = {sizes[i][0], sizes[i][1], channels, (gpuimg_sample)sample, odd * 3, odd & 1};
                    if (gray(context, &from, 7 - 2 * odd, odd >> 1)) return 1;
                }
    return 0;
}

// The result in the input's own memory, and shifted against it.
static int shared_memory(gpuimg_context *context) {
    gpuimg_error error = {.text = ""};
    gpuimg_pipeline *mask = NULL, *to_gray = NULL;
    enum { WIDTH = 301, HEIGHT = 203 };
    picture a = make(&(layout){WIDTH, HEIGHT, 3, GPUIMG_U8, 5, 0}), before = make(&(layout){WIDTH, HEIGHT, 3, 0, 5, 0});
    fill(&a.image, 9);
    memcpy(before.memory, a.memory, a.bytes);
    CHECK(!gpuimg_pipeline_parse("threshold 99", &mask, &error));
    CHECK(!gpuimg_pipeline_parse("gray", &to_gray, &error));
    CHECK(!gpuimg_run_image(context, mask, &a.image, &a.image, &error));
    for (int i = 0; i < WIDTH * HEIGHT * 3; i++) {
        int x = i / 3 % WIDTH, y = i / 3 / WIDTH;
        CHECK(get(&a.image, x, y, i % 3) == (get(&before.image, x, y, i % 3) > 99 ? 255 : 0));
    }
    CHECK(guards_hold(&a));
    memcpy(a.memory, before.memory, a.bytes);
    gpuimg_image inside = {(unsigned char *)a.image.data + 1, WIDTH + 2, WIDTH, HEIGHT, 1, GPUIMG_U8};
    CHECK(!gpuimg_run_image(context, to_gray, &a.image, &inside, &error));
    CHECK(gray_is_right(&before.image, &inside));
    gpuimg_pipeline_free(mask);
    gpuimg_pipeline_free(to_gray);
    free(a.memory);
    free(before.memory);
    return 0;
}

static int histograms(gpuimg_context *context) {
    gpuimg_error error = {.text = ""};
    for (int sample = 0; sample < 2; sample++) {
        picture p = make(&(layout){123, 77, 4, (gpuimg_sample)sample, 3, 1});
        size_t levels = sample ? 65536 : 256;
        gpuimg_pipeline *coarse = NULL;
        gpuimg_histogram *exact = NULL, *binned = NULL;
        gpuimg_statistics s = {.size = sizeof s}, alone = {.size = offsetof(gpuimg_statistics, min)};
        fill(&p.image, 3);
        CHECK(!gpuimg_pipeline_parse("gray | hist bins=10", &coarse, &error));
        CHECK(!gpuimg_histogram_of_image(context, NULL, &p.image, &exact, &error));
        CHECK(!gpuimg_histogram_of_image(context, coarse, &p.image, &binned, &error));
        CHECK(gpuimg_histogram_channels(exact) == 4 && gpuimg_histogram_bins(exact) == levels);
        CHECK(gpuimg_histogram_channels(binned) == 2 && gpuimg_histogram_bins(binned) == 10);
        CHECK(strcmp(gpuimg_histogram_name(exact, 2), "blue") == 0 && !gpuimg_histogram_name(exact, 4));
        CHECK(!gpuimg_histogram_counts(exact, -1) && !gpuimg_histogram_counts(binned, 2));
        uint64_t *counts = calloc(levels, sizeof *counts), ten[10] = {0}, sum = 0;
        for (int i = 0; i < 123 * 77; i++) {
            unsigned v = get(&p.image, i % 123, i / 123, 1);
            counts[v]++;
            sum += v;
            ten[gray_of(&p.image, i % 123, i / 123) * 10 / levels]++;
        }
        CHECK(memcmp(gpuimg_histogram_counts(exact, 1), counts, levels * sizeof *counts) == 0);
        CHECK(memcmp(gpuimg_histogram_counts(binned, 0), ten, sizeof ten) == 0);
        CHECK(!gpuimg_histogram_statistics(exact, 1, &s, &error));
        CHECK(s.size == sizeof s && s.pixels == 123 * 77 && s.clipped_shadows == counts[0]);
        CHECK(s.mean * 123 * 77 - (double)sum < 1e-3 && (double)sum - s.mean * 123 * 77 < 1e-3);
        CHECK(s.percentiles[0] <= s.percentiles[5] && s.min <= s.median && s.median <= s.max && s.entropy > 7);
        CHECK(!gpuimg_histogram_statistics(binned, 0, &alone, &error) && alone.pixels == 123 * 77 && alone.max == 0);
        CHECK(gpuimg_histogram_statistics(exact, 4, &s, &error) == GPUIMG_ERR_USAGE && s.pixels == 0);
        free(counts);
        free(p.memory);
        gpuimg_histogram_free(binned);
        gpuimg_histogram_free(exact);
        gpuimg_pipeline_free(coarse);
    }
    return 0;
}

static unsigned char six[6], eighteen[18]; // 3 x 2 pixels, gray and RGB

static int refused(gpuimg_context *context, const gpuimg_pipeline *pipeline, gpuimg_image input, gpuimg_image output) {
    gpuimg_error error;
    return gpuimg_run_image(context, pipeline, &input, &output, &error) == GPUIMG_ERR_USAGE && *error.text;
}

static int bad_images(gpuimg_context *context, const gpuimg_pipeline *gray) {
    gpuimg_error error = {.text = ""};
    const gpuimg_image in = {eighteen, 0, 3, 2, 3, GPUIMG_U8}, out = {six, 0, 3, 2, 1, GPUIMG_U8};
    const gpuimg_image bad_in[] = {{NULL, 0, 3, 2, 3, GPUIMG_U8},      {eighteen, 0, 0, 2, 3, GPUIMG_U8},
                                   {eighteen, 0, 3, -2, 3, GPUIMG_U8}, {eighteen, 0, 3, 2, 0, GPUIMG_U8},
                                   {eighteen, 0, 3, 2, 5, GPUIMG_U8},  {eighteen, 0, 3, 2, 3, (gpuimg_sample)2},
                                   {eighteen, 8, 3, 2, 3, GPUIMG_U8},  {eighteen, (size_t)-9, 3, 2, 3, GPUIMG_U8},
                                   {NULL, 0, 0, 0, 0, GPUIMG_U8}};
    const gpuimg_image bad_out[] = {{six, 0, 2, 2, 1, GPUIMG_U8},
                                    {six, 0, 3, 1, 1, GPUIMG_U8},
                                    {six, 0, 3, 2, 3, GPUIMG_U8},
                                    {six, 0, 3, 2, 1, GPUIMG_U16},
                                    {NULL, 0, 3, 2, 1, GPUIMG_U8}};
    for (size_t i = 0; i < sizeof bad_in / sizeof *bad_in; i++) CHECK(refused(context, gray, bad_in[i], out));
    for (size_t i = 0; i < sizeof bad_out / sizeof *bad_out; i++) CHECK(refused(context, gray, in, bad_out[i]));
    CHECK(gpuimg_run_image(context, gray, NULL, &out, NULL) == GPUIMG_ERR_USAGE);
    CHECK(gpuimg_run_image(context, gray, &in, NULL, NULL) == GPUIMG_ERR_USAGE);
    CHECK(!gpuimg_run_image(context, gray, &in, &out, &error));
    return 0;
}

static int bad_pipelines(gpuimg_context *context, const gpuimg_pipeline *gray) {
    gpuimg_error error = {.text = ""};
    gpuimg_pipeline *hist = NULL, *deep = NULL;
    const gpuimg_image in = {eighteen, 0, 3, 2, 3, GPUIMG_U8}, out = {six, 0, 3, 2, 1, GPUIMG_U8};
    gpuimg_image shape;
    CHECK(!gpuimg_pipeline_parse("gray | hist", &hist, &error) &&
          !gpuimg_pipeline_parse("threshold 256", &deep, &error));
    CHECK(refused(NULL, gray, in, out) && refused(context, NULL, in, out) && refused(context, hist, in, out));
    CHECK(refused(context, deep, in, in)); // no such level in 8 bits
    CHECK(gpuimg_pipeline_output(deep, &in, &shape, &error) == GPUIMG_ERR_USAGE && shape.width == 0);
    CHECK(gpuimg_pipeline_output(hist, &in, &shape, &error) == GPUIMG_ERR_USAGE);
    CHECK(gpuimg_pipeline_output(NULL, &in, &shape, &error) == GPUIMG_ERR_USAGE);
    CHECK(gpuimg_pipeline_output(gray, NULL, &shape, &error) == GPUIMG_ERR_USAGE);
    CHECK(gpuimg_pipeline_output(gray, &in, NULL, &error) == GPUIMG_ERR_USAGE);
    gpuimg_pipeline_free(deep);
    gpuimg_pipeline_free(hist);
    return 0;
}

static int bad_histograms(gpuimg_context *context) {
    gpuimg_error error = {.text = ""};
    const gpuimg_image in = {eighteen, 0, 3, 2, 3, GPUIMG_U8};
    gpuimg_histogram *histogram = NULL;
    gpuimg_statistics s = {.size = 0};
    CHECK(gpuimg_histogram_of_image(NULL, NULL, &in, &histogram, &error) == GPUIMG_ERR_USAGE && !histogram);
    CHECK(gpuimg_histogram_of_image(context, NULL, NULL, &histogram, &error) == GPUIMG_ERR_USAGE);
    CHECK(gpuimg_histogram_of_image(context, NULL, &in, NULL, &error) == GPUIMG_ERR_USAGE);
    CHECK(gpuimg_histogram_of_file(context, NULL, NULL, NULL, &histogram, &error) == GPUIMG_ERR_USAGE);
    CHECK(gpuimg_histogram_of_file(context, NULL, "no such", NULL, &histogram, &error) == GPUIMG_ERR_IO && !histogram);
    CHECK(!gpuimg_histogram_of_image(context, NULL, &in, &histogram, &error));
    CHECK(gpuimg_histogram_statistics(histogram, 0, &s, &error) == GPUIMG_ERR_USAGE);
    CHECK(gpuimg_histogram_statistics(histogram, 0, NULL, &error) == GPUIMG_ERR_USAGE);
    s.size = sizeof s;
    CHECK(gpuimg_histogram_statistics(NULL, 0, &s, &error) == GPUIMG_ERR_USAGE);
    CHECK(gpuimg_histogram_channels(NULL) == 0 && gpuimg_histogram_bins(NULL) == 0);
    CHECK(!gpuimg_histogram_name(NULL, 0) && !gpuimg_histogram_counts(NULL, 0));
    gpuimg_histogram_free(histogram);
    gpuimg_histogram_free(NULL);
    return 0;
}

static int allocation(void) {
    gpuimg_error error = {.text = ""};
    gpuimg_image image = {six, 0, 1 << 30, 1 << 30, 4, GPUIMG_U16};
    CHECK(gpuimg_image_allocate(&image, &error) != GPUIMG_OK && !image.data);
    CHECK(gpuimg_image_allocate(NULL, &error) == GPUIMG_ERR_USAGE);
    image = (gpuimg_image){NULL, 0, 5, 2, 3, GPUIMG_U16};
    CHECK(!gpuimg_image_allocate(&image, &error) && image.pitch_bytes == 30);
    memset(image.data, 0, 60);
    gpuimg_image_free(&image);
    CHECK(!image.data);
    gpuimg_image_free(NULL);
    return 0;
}

static int misuse(gpuimg_context *context) {
    gpuimg_error error = {.text = ""};
    gpuimg_pipeline *gray = NULL;
    CHECK(!gpuimg_pipeline_parse("gray", &gray, &error));
    int failed = bad_images(context, gray) || bad_pipelines(context, gray) || bad_histograms(context) || allocation();
    gpuimg_pipeline_free(gray);
    return failed;
}

// ---- threads ------------------------------------------------------------------------------------------------------

typedef struct job {
    gpuimg_context *context; // NULL: its own
    const gpuimg_pipeline *pipeline;
    const char *device;
    int failed;
} job;

static void *work(void *argument) {
    job *j = argument;
    gpuimg_context *context = j->context;
    j->failed = !context && gpuimg_context_open(j->device, 1, &context, NULL);
    for (int i = 0; i < 12 && !j->failed; i++) {
        picture in = make(&(layout){50 + 31 * i, 40, 3, (gpuimg_sample)(i & 1), 0, 0});
        picture out = make(&(layout){50 + 31 * i, 40, 1, (gpuimg_sample)(i & 1), 1, 0});
        gpuimg_histogram *histogram = NULL;
        fill(&in.image, (unsigned)i);
        j->failed = gpuimg_run_image(context, j->pipeline, &in.image, &out.image, NULL) ||
                    !gray_is_right(&in.image, &out.image) || !guards_hold(&out) ||
                    gpuimg_histogram_of_image(context, j->pipeline, &in.image, &histogram, NULL) ||
                    gpuimg_histogram_channels(histogram) != 1;
        gpuimg_histogram_free(histogram);
        free(in.memory);
        free(out.memory);
    }
    if (!j->context) gpuimg_context_close(context);
    return NULL;
}

static int threads(const char *device) {
    enum { COUNT = 6 };
    gpuimg_error error = {.text = ""};
    gpuimg_context *shared = NULL;
    gpuimg_pipeline *pipeline = NULL;
    pthread_t ids[COUNT];
    job jobs[COUNT];
    CHECK(!gpuimg_context_open(device, 1, &shared, &error) && !gpuimg_pipeline_parse("gray", &pipeline, &error));
    for (int i = 0; i < COUNT; i++) {
        jobs[i] = (job){i < COUNT / 2 ? shared : NULL, pipeline, device, 0};
        CHECK(pthread_create(&ids[i], NULL, work, &jobs[i]) == 0);
    }
    for (int i = 0; i < COUNT; i++) pthread_join(ids[i], NULL);
    for (int i = 0; i < COUNT; i++) CHECK(!jobs[i].failed);
    gpuimg_pipeline_free(pipeline);
    gpuimg_context_close(shared);
    return 0;
}

int main(int argc, char **argv) {
    const char *device = argc > 1 ? argv[1] : "cpu";
    gpuimg_context *context = NULL;
    gpuimg_error error;
    if (gpuimg_context_open(device, 0, &context, &error)) {
        fprintf(stderr, "%s: %s\n", device, error.text);
        return error.status == GPUIMG_ERR_DEVICE ? 77 : 1;
    }
    int failed = layouts(context) || shared_memory(context) || histograms(context) || misuse(context);
    gpuimg_context_close(context);
    return failed || threads(device);
}
