// Files and streams: read into memory, or left open.
#ifndef GI_RUN_READ_H
#define GI_RUN_READ_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/codec.h"
#include "core/status.h"
#include "run/open_file.h"

enum { GI_READ_MAX = 0x7fffffff }; // bytes: what every codec library can take

// A stream of which some bytes were read already, to find out what it holds.
typedef struct gi_begun {
    int fd; // stays open
    gi_bytes bytes;
} gi_begun;

typedef struct gi_read_options {
    size_t limit;          // more bytes are refused without reading them all; 0: GI_READ_MAX
    bool image_only;       // nothing past the signature is read, nor memory taken, unless it is a PNG's or JPEG's; and
                           // of a stream no more than such an image can need, or its header where that is refused
    uint64_t max_pixels;   // of the image of a stream, as of gi_decode_options; 0: no limit
    bool leave_open;       // a PNG that is large and a regular file is not read
    bool regular_only;     // found by a walk: anything but a regular file is refused without waiting on it
    const gi_begun *begun; // to go on with, whatever the path; NULL: there is none
    volatile sig_atomic_t *cancel; // set when a signal interrupts a read: GI_ERR_CANCELLED; may be NULL
} gi_read_options;

// What was read, or what can be.
typedef struct gi_file_data {
    uint8_t *data; // owned
    size_t size;
    gi_open_file *open; // owned: the file that was left open, and of which there are no data
} gi_file_data;

// From here on a PNG is read while it is decoded: that hides the time which the pages of so much memory take.
enum { GI_LEAVE_OPEN_BYTES = 1 << 20 };

// Reads the file `path`, or standard input where it is NULL, to its end. FIFOs and devices are read as streams. A file
// that grows or shrinks meanwhile gives what was there when read. GI_ERR_IO with the system's reason, GI_ERR_LIMIT past
// the limit (which is not for a file that is left open) or more than an image needs or may have, GI_ERR_FORMAT when
// empty or, with image_only, when no image begins there.
gi_status gi_read_file(const char *path, const gi_read_options *options, gi_file_data *file, gi_error *err);

// Opens the file; `path` NULL: *fd is that of standard input. Of the options count regular_only and cancel.
gi_status gi_read_open(const char *path, const gi_read_options *options, int *fd, gi_error *err);

// Reads `size` bytes, or those up to the end: then *got is less. Of the options counts cancel.
gi_status gi_read_full(int fd, void *to, size_t size, const gi_read_options *options, size_t *got, gi_error *err);

// Frees or closes what it holds, and forgets it.
void gi_file_data_free(gi_file_data *file);

#endif
