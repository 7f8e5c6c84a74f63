/* Uses the library as a stranger would: the public header alone, in C89. Arguments: VERSION IN OUT. */
#include <gpuimg.h>
#include <stdio.h>
#include <string.h>

static int is_png(const char *path) {
    unsigned char signature[8] = {0};
    size_t count;
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    count = fread(signature, 1, sizeof signature, file);
    fclose(file);
    return count == sizeof signature && memcmp(signature, "\x89PNG\r\n\x1a\n", sizeof signature) == 0;
}

static int complain(const char *what, const gpuimg_error *error) {
    fprintf(stderr, "%s: %s: %s\n", what, gpuimg_status_name(error->status), error->text);
    return 1;
}

static int run(gpuimg_context *context, const gpuimg_pipeline *pipeline, const char *in, const char *out) {
    gpuimg_error error;
    gpuimg_options options;
    remove(out);
    if (gpuimg_run_file(context, pipeline, in, out, NULL, &error)) return complain("run", &error);
    if (!is_png(out)) return complain("no PNG", &error);
    gpuimg_options_init(&options, sizeof options);
    options.codec = GPUIMG_CODEC_STB;
    options.png_reduce = GPUIMG_PNG_REDUCE_OFF;
    if (gpuimg_run_file(context, pipeline, in, out, &options, &error)) return complain("stb", &error);
    if (!is_png(out)) return complain("no PNG of stb", &error);
    options.no_clobber = 1;
    if (gpuimg_run_file(context, pipeline, in, out, &options, &error) != GPUIMG_ERR_EXISTS)
        return complain("an output was replaced", &error);
    return gpuimg_run_file(context, pipeline, "no such file.png", out, NULL, NULL) != GPUIMG_ERR_IO;
}

int main(int argc, char **argv) {
    gpuimg_context *context = NULL;
    gpuimg_pipeline *pipeline = NULL;
    gpuimg_error error;
    int failed = 0;
    if (argc != 4) return 2;
    if (strcmp(gpuimg_version(), argv[1]) != 0) {
        fprintf(stderr, "version is %s, not %s\n", gpuimg_version(), argv[1]);
        return 1;
    }
    if (gpuimg_pipeline_parse("gary", &pipeline, &error) != GPUIMG_ERR_USAGE || pipeline || error.place_length != 4)
        failed |= complain("an unknown stage must be refused at its place", &error);
    if (gpuimg_context_open("cpu", 0, &context, &error) ||
        gpuimg_pipeline_parse("gray | threshold otsu", &pipeline, &error))
        failed |= complain("open", &error);
    else
        failed |= run(context, pipeline, argv[2], argv[3]);
    gpuimg_pipeline_free(pipeline);
    gpuimg_context_close(context);
    return failed;
}
