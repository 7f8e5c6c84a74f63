// Uses the library as a stranger would: the public header alone. Arguments: VERSION IN OUT.
#include <gpuimg.h>
#include <stdio.h>
#include <string.h>

static int is_png(const char *path) {
    unsigned char signature[8] = {0};
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    size_t count = fread(signature, 1, sizeof signature, file);
    fclose(file);
    return count == sizeof signature && memcmp(signature, "\x89PNG\r\n\x1a\n", sizeof signature) == 0;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    if (strcmp(gpuimg_version(), argv[1]) != 0) {
        fprintf(stderr, "version is %s, not %s\n", gpuimg_version(), argv[1]);
        return 1;
    }
    gpuimg_error error;
    remove(argv[3]);
    if (gpuimg_process_file("gray | threshold otsu", argv[2], argv[3], "cpu", &error) != GPUIMG_OK) {
        fprintf(stderr, "%s: %s\n", gpuimg_status_name(error.status), error.text);
        return 1;
    }
    if (!is_png(argv[3])) {
        fprintf(stderr, "%s is no PNG\n", argv[3]);
        return 1;
    }
    if (gpuimg_process_file("gary", argv[2], argv[3], NULL, &error) != GPUIMG_ERR_USAGE || error.text[0] == '\0') {
        fprintf(stderr, "an unknown stage must be refused with a reason\n");
        return 1;
    }
    return gpuimg_process_file("gray", "no such file.png", argv[3], "cpu", NULL) == GPUIMG_OK;
}
