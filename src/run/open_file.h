// A regular file that stays open and is read where its bytes are asked for.
#ifndef GI_RUN_OPEN_FILE_H
#define GI_RUN_OPEN_FILE_H

#include <signal.h>

#include "codec/codec.h"

typedef struct gi_open_file gi_open_file;

// Takes `fd` over, on success. `cancel` as in gi_read_options. GI_ERR_MEMORY.
gi_status gi_open_file_new(int fd, volatile sig_atomic_t *cancel, gi_open_file **file, gi_error *err);

// Its first `size` bytes. GI_ERR_IO: they cannot be read, or the file has become shorter. GI_ERR_CANCELLED: from when
// the signal has come on, nothing is read any more.
gi_input gi_open_file_input(gi_open_file *file, size_t size);

// NULL is fine.
void gi_open_file_close(gi_open_file *file);

#endif
