// What a manifest says is still to be done (--retry-failed): the inputs whose last line says failed or not started.
#ifndef GI_CLI_RETRY_H
#define GI_CLI_RETRY_H

#include "run/inputs.h"

// Of one input.
typedef struct gi_retry_entry {
    char *path, *output; // owned; NULL: none
    size_t line;         // counted from 1
    bool failed;         // or not started
    bool directory;      // that could not be read
    bool other;          // it was to go through another pipeline
} gi_retry_entry;

typedef struct gi_retry {
    gi_retry_entry *entries;
    size_t count, capacity;
    bool lost; // standard input failed, which cannot be read again
} gi_retry;

// Reads the manifest, for a run of `pipeline` (its text), and warns where what is to be done was to go through another
// one: the results would not be what was asked for then. Several manifests may have been joined into one file: the last
// line of an input counts. A torn last line is left out with a warning. GI_ERR_USAGE names the line that is no
// manifest's, and why; GI_ERR_IO, GI_ERR_MEMORY. Free in either case.
gi_status gi_retry_read(const char *path, const char *pipeline, const gi_messages *messages, gi_retry *retry,
                        gi_error *err);
void gi_retry_free(gi_retry *retry);

// Lists what is to be done with inputs and outputs as recorded, as gi_inputs_collect would; standard input is one that
// failed already. Of the request count output
// (NULL: outputs are where they were; else they must lie in it), recursive, format and messages; `sink`: there is no
// output at all. GI_ERR_USAGE also where an output is wanted and none recorded.
gi_status gi_retry_collect(const gi_retry *retry, const gi_inputs_request *request, bool sink, gi_item_list *list,
                           gi_error *err);

// Keeps, of a listing, what is to be done, and what lies in a directory that could not be read. GI_ERR_MEMORY.
gi_status gi_retry_keep(const gi_retry *retry, gi_item_list *list, gi_error *err);

#endif
