// Which files a command reads and where each result goes: cp's rules, directory walks, lists of names, collisions.
#ifndef GI_RUN_INPUTS_H
#define GI_RUN_INPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/codec.h"
#include "core/message.h"
#include "core/status.h"

// One image to do. Names are literal bytes as the system takes them.
typedef struct gi_item {
    char *in;            // NULL: standard input
    char *out;           // NULL: standard output, or no output at all (hist)
    bool from_directory; // found by a walk: never a FIFO or device
    size_t root_length;  // bytes of `in` that are the walked directory as it was named; 0: `in` was named itself
} gi_item;

// A directory that could not be read, or another input of which that is known already.
typedef struct gi_unread {
    char *in, *out; // `out`: where the results of what is in it would go; NULL where an item's is
    char *reason;
} gi_unread;

typedef struct gi_item_list {
    gi_item *items;
    size_t count;
    size_t capacity;
    size_t skipped;    // files in directories that are no images
    gi_unread *unread; // `failed` of them, each said as a GI_FAILURE; gi_batch_run counts them as failed
    size_t failed;
    char *out_directory;    // OUT where it is a directory, which may not exist yet; else NULL
    bool makes_directories; // those above an output are made where they are missing, as below an OUT
} gi_item_list;

typedef struct gi_inputs_request {
    const char *const *inputs; // "-" is standard input; "./-" the file of that name
    size_t input_count;
    const char *list;   // --files-from FILE or "-"; NULL: none. Its names are taken after `inputs`, all literally
    bool list_nul;      // names in the list end with NUL rather than newline
    const char *output; // OUT, "-" for standard output; NULL for sinks
    bool recursive;
    gi_format format; // --format, or GI_FORMAT_UNKNOWN
    const gi_messages *messages;
} gi_inputs_request;

// Lists every input, sorted by name within a directory, and fits each with its output by DESIGN section 2. Writes
// nothing, but for a probe of OUT's file system where two names differ by case alone; OUT directories are created by
// gi_batch_run. A list of names counts as several inputs, unless OUT's name ends as an image's and it holds just one.
// GI_ERR_USAGE: collisions (both names in the text), an output that would replace another input, several inputs and a
// file OUT, ...; GI_ERR_IO: a list that cannot be read. An input that does not exist is listed all the same: it fails
// by name when its turn comes.
gi_status gi_inputs_collect(const gi_inputs_request *request, gi_item_list *list, gi_error *err);
void gi_item_list_free(gi_item_list *list);

#endif
