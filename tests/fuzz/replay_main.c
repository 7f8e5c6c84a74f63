// Feeds every file of the given directories to a fuzz target once: what libFuzzer's -runs=0 does, for any compiler.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path) {
    int failed = 1;
    uint8_t *data = NULL;
    FILE *file = fopen(path, "rb");
    struct stat about;
    if (!file || fstat(fileno(file), &about) != 0) goto out;
    if (!S_ISREG(about.st_mode)) {
        failed = 0;
        goto out;
    }
    // Exactly as large as the file, so that a sanitizer sees the first byte read past it.
    size_t size = (size_t)about.st_size;
    data = malloc(size > 0 ? size : 1);
    if (!data || fread(data, 1, size, file) != size) goto out;
    failed = LLVMFuzzerTestOneInput(data, size) != 0;
out:
    if (failed) fprintf(stderr, "replay: %s failed\n", path);
    free(data);
    if (file) fclose(file);
    return failed;
}

static int replay_directory(const char *path, int *files) {
    int failed = 0;
    DIR *directory = opendir(path);
    if (!directory) {
        perror(path);
        return 1;
    }
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        char name[4096];
        int length = snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.' || length < 0 || (size_t)length >= sizeof name) continue;
        failed |= replay_file(name);
        ++*files;
    }
    closedir(directory);
    return failed;
}

int main(int argc, char **argv) {
    int failed = 0;
    int files = 0;
    for (int i = 1; i < argc; ++i) failed |= replay_directory(argv[i], &files);
    printf("replayed %d files\n", files);
    return failed != 0 || files == 0;
}
