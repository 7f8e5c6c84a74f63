// How far a run is: a bar on a terminal, or lines of JSON for programs; both on standard error.
//
// A line of JSON: {"done":3,"skipped":0,"failed":1,"total":9,"bytes_in":5242880,"bytes_out":1048576,"seconds":1.204,
// "images_per_second":3.322,"mb_per_second":4.355,"seconds_left":1.505,"final":false}. seconds_left is null while
// nothing is done; images are those done and failed, mb_per_second (10^6) counts bytes_in; the last line has
// "final":true.
#ifndef GI_CLI_PROGRESS_H
#define GI_CLI_PROGRESS_H

#include "cli/buffer.h"
#include "run/batch.h"

typedef enum gi_progress_kind { GI_PROGRESS_BAR, GI_PROGRESS_JSON } gi_progress_kind;

// What is known at a moment.
typedef struct gi_progress_state {
    size_t done, skipped, failed, total;
    uint64_t bytes_in, bytes_out;
    double seconds;
} gi_progress_state;

// The bar as text of at most `columns` columns, and that of a line of JSON without its end. What finds no room in the
// bar is left out, the count last of all; then there is a percentage.
void gi_progress_bar(const gi_progress_state *state, int columns, bool utf8, gi_buffer *text);
void gi_progress_json(const gi_progress_state *state, bool final, gi_buffer *text);

typedef struct gi_progress gi_progress;

// Begins: a thread shows what changes, at most ten times a second, the bar from the second second on. NULL where there
// is no memory or thread for it: a run goes on without.
gi_progress *gi_progress_open(gi_progress_kind kind, size_t total);

// An item has ended. Thread-safe; NULL is fine.
void gi_progress_add(gi_progress *progress, const gi_outcome *outcome);

// Takes the bar away, or says the last line. NULL is fine.
void gi_progress_close(gi_progress *progress);

#endif
