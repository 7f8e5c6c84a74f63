#include "run/pixels.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/codec.h"

enum { HEAD_BYTES = 64 << 10 }; // most JPEGs have their frame header by then
enum { LOOKED_AT = 64 };        // files of a list; more are taken to be alike

static const unsigned long long unknown_pixels = 4000000;

unsigned long long gi_file_pixels(const char *path) {
    uint8_t head[HEAD_BYTES];
    struct stat about;
    unsigned long long pixels = 0;
    // Opening a FIFO, if only to close it, would take its writer from the one that reads it later.
    if (!path || stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return unknown_pixels;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) return unknown_pixels;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) {
        ssize_t got = pread(fd, head, sizeof head, 0);
        if (got > 0) pixels = gi_peek_pixels((gi_bytes){head, (size_t)got});
        // Between PNG, with about two bytes a pixel, and JPEG with a third of one.
        if (pixels == 0) pixels = (unsigned long long)about.st_size;
    }
    close(fd);
    return pixels ? pixels : unknown_pixels;
}

unsigned long long gi_list_pixels(const gi_item_list *list) {
    const size_t looked_at = list->count < LOOKED_AT ? list->count : LOOKED_AT;
    unsigned long long pixels = 0;
    for (size_t i = 0; i < looked_at; i++) pixels += gi_file_pixels(list->items[i].in);
    return looked_at ? pixels / looked_at * list->count : 0;
}
