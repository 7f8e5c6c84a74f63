// The record of a run: a line of JSON for each input, written as it ends (--manifest).
//
// {"path":"in/a.png","status":"done","reason":null,"output":"out/a.png","bytes":5120,"ms":12.345,
//  "pipeline":"gray weights=601"}
//
//   path    the input as it was named or found; null: standard input
//   status  done, skipped (its output exists), failed, or "not started" (the run was stopped before)
//   reason  of a failure, else null
//   output  null: standard output, or a report
//   bytes   of the output's file, 0 unless it is done
//   ms      from the input's opening to the output's rename
//   pipeline  that was run, in its canonical text
//   sha256  of the output's bytes where asked for, null unless done
//   directory  true: `path` is a directory that could not be read, `output` where its results would go
//
// A name that is no UTF-8 has U+FFFD for each wrong byte, and its exact bytes in a further member "path_hex" or
// "output_hex". Each line is one write to a file opened for appending, so that a killed run leaves whole lines, the
// last one perhaps excepted. Lines stand in the order in which the inputs ended.
#ifndef GI_CLI_MANIFEST_H
#define GI_CLI_MANIFEST_H

#include "run/batch.h"

typedef struct gi_manifest gi_manifest;

typedef struct gi_manifest_request {
    const char *path; // "-": standard output
    bool append;      // behind the whole lines that are there, else in their place
    bool no_clobber;  // refuse a file that exists
    bool sha256;
    const char *pipeline; // its text
} gi_manifest_request;

// Opens the file for this run alone, and records the directories that could not be read. The list must stay until
// gi_manifest_close. GI_ERR_EXISTS, GI_ERR_IO (another run writes it; it cannot be made), GI_ERR_MEMORY.
gi_status gi_manifest_open(const gi_manifest_request *request, const gi_item_list *list, gi_manifest **manifest,
                           gi_error *err);

// Records item `index`; one call at a time. After a failure nothing more is written, and it is returned every time.
gi_status gi_manifest_add(gi_manifest *manifest, size_t index, const gi_outcome *outcome, gi_error *err);

// Records the items that have no line as not started.
gi_status gi_manifest_finish(gi_manifest *manifest, gi_error *err);

// NULL is fine.
void gi_manifest_close(gi_manifest *manifest);

#endif
