// A directory of JPEGs again and again in one process, through the C API: the speed of a program that keeps its
// context, whose first pass alone pays for the GPU's start.
//
//     gpu_bench_files FOLDER OUT DEVICE auto|auto-fast|nvjpeg PASSES [WORKERS]
//
// prints the images/s of each pass of `gray`, from file to file; 77 where there is no such device.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "gpuimg.h"

enum { FILES_MAX = 4096, SKIPPED = 77 };

static gpuimg_file files[FILES_MAX];
static size_t count;

static void need(gpuimg_status status, const gpuimg_error *error) {
    if (status == GPUIMG_OK) return;
    fprintf(stderr, "%s\n", error->text);
    exit(status == GPUIMG_ERR_DEVICE ? SKIPPED : 1);
}

static char *join(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return strdup(path);
}

static void list(const char *in, const char *out) {
    DIR *folder = opendir(in);
    if (!folder) {
        perror(in);
        exit(1);
    }
    for (struct dirent *entry; (entry = readdir(folder)) && count < FILES_MAX;)
        if (entry->d_name[0] != '.') files[count++] = (gpuimg_file){join(in, entry->d_name), join(out, entry->d_name)};
    closedir(folder);
}

static gpuimg_codec codec_named(const char *name) {
    if (strcmp(name, "nvjpeg") == 0) return GPUIMG_CODEC_NVJPEG;
    return strcmp(name, "auto-fast") == 0 ? GPUIMG_CODEC_AUTO_FAST : GPUIMG_CODEC_AUTO;
}

int main(int argc, char **argv) {
    if (argc < 6) return 2;
    gpuimg_error error;
    gpuimg_context *context;
    gpuimg_pipeline *gray;
    gpuimg_options options;
    gpuimg_options_init(&options, sizeof options);
    options.codec = codec_named(argv[4]);
    options.workers = argc > 6 ? atoi(argv[6]) : 0;
    list(argv[1], argv[2]);
    need(gpuimg_context_open(argv[3], 0, &context, &error), &error);
    need(gpuimg_pipeline_parse("gray", &gray, &error), &error);
    for (int i = atoi(argv[5]); i > 0; i--) {
        const double begun = gi_clock_ms();
        need(gpuimg_run_files(context, gray, files, count, &options, NULL, &error), &error);
        printf("%.1f\n", (double)count / ((gi_clock_ms() - begun) / 1e3));
    }
    gpuimg_pipeline_free(gray);
    gpuimg_context_close(context);
    return 0;
}
