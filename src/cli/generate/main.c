// Writes the man pages and completions below a folder, as they are installed below share/. Runs at build time.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/generate/generate.h"

static const char *source; // the folder with the completions' scripts
static const char *target; // what is written lies below it

static bool complain(const char *path) {
    fprintf(stderr, "gpuimg_generate: %s: %s\n", path, strerror(errno));
    return false;
}

// Makes the folders of a path below the target.
static bool make_folders(char *path) {
    for (char *slash = path + strlen(target) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        if (!made) return complain(path);
        *slash = '/';
    }
    return true;
}

// Writes and frees the text.
static bool write_file(const char *name, gi_buffer *text) {
    char path[4096];
    bool good = !text->failed;
    snprintf(path, sizeof path, "%s/%s", target, name);
    if (good) good = make_folders(path);
    FILE *file = good ? fopen(path, "wb") : NULL;
    if (good && !file) good = complain(path);
    if (file) {
        good = fwrite(text->data, 1, text->size, file) == text->size;
        good = fclose(file) == 0 && good;
        if (!good) complain(path);
    }
    gi_buffer_free(text);
    return good;
}

static bool read_file(const char *name, gi_buffer *text) {
    char path[4096], bytes[4096];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/%s", source, name);
    FILE *file = fopen(path, "rb");
    if (!file) return complain(path);
    while ((count = fread(bytes, 1, sizeof bytes, file)) > 0) gi_buffer_add(text, bytes, count);
    bool good = !ferror(file);
    fclose(file);
    return good && !text->failed;
}

// A shell's script with the tables in the place of its line "# @tables@".
static bool write_completion(const char *script, const char *name, void (*tables)(gi_buffer *text)) {
    static const char mark[] = "# @tables@\n";
    gi_buffer frame = {0}, text = {0};
    bool good = read_file(script, &frame);
    char *place = good && frame.data ? strstr(frame.data, mark) : NULL;
    if (good && !place) {
        fprintf(stderr, "gpuimg_generate: %s has no line %s", script, mark);
        good = false;
    }
    if (good) {
        gi_buffer_add(&text, frame.data, (size_t)(place - frame.data));
        tables(&text);
        gi_buffer_puts(&text, place + strlen(mark));
    }
    gi_buffer_free(&frame);
    return good && write_file(name, &text);
}

static bool write_pages(const char *date) {
    gi_command command;
    gi_buffer text = {0};
    gi_man_overview(&text, date);
    bool good = write_file("man/man1/gpuimg.1", &text);
    for (int i = 0; good && gi_command_at(i, &command); i++) {
        char name[128];
        snprintf(name, sizeof name, "man/man1/gpuimg-%s.1", command.name);
        gi_man_command(&text, &command, date);
        good = write_file(name, &text);
    }
    return good;
}

// Today, or what SOURCE_DATE_EPOCH says, so that builds can be repeated.
static void find_date(char *date, size_t size) {
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t now = epoch && *epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm parts = {0};
    gmtime_r(&now, &parts);
    strftime(date, size, "%Y-%m-%d", &parts);
}

int main(int argc, char **argv) {
    char date[32];
    if (argc != 3) {
        fputs("usage: gpuimg_generate SCRIPTS TARGET\n", stderr);
        return 2;
    }
    source = argv[1];
    target = argv[2];
    find_date(date, sizeof date);
    bool good = write_pages(date) &&
                write_completion("completion.bash", "bash-completion/completions/gpuimg", gi_complete_bash) &&
                write_completion("completion.zsh", "zsh/site-functions/_gpuimg", gi_complete_zsh) &&
                write_completion("completion.fish", "fish/vendor_completions.d/gpuimg.fish", gi_complete_fish);
    return good ? 0 : 1;
}
