// What is told about a run beside its results: manifest, progress, statistics.
#ifndef GI_CLI_RECORDS_H
#define GI_CLI_RECORDS_H

#include "cli/session.h"

// Refuses a file of records that is an image of the listing, read or written, or another one's, and likewise what would
// mix on standard output or another descriptor, and an image written to a descriptor of a file that is read.
// GI_ERR_USAGE.
gi_status gi_records_check(const gi_session *session, gi_error *err);

// True when two paths of outputs name one file, whether or not there is one, and however they are written, or one open
// descriptor ("-": standard output), or descriptors of one regular file; false for devices.
bool gi_records_are_one(const char *a, const char *b);

// False where gi_records_open is going to fail. Leaves nothing where the files are.
bool gi_records_can_open(const gi_session *session);

// Opens what the options ask for, before any work; complaints are printed. *batch gets what it measures for them.
gi_status gi_records_open(gi_session *session, gi_batch_options *batch);

// An item has ended; one call at a time. A manifest that cannot be written any more stops the run.
void gi_records_add(gi_session *session, size_t index, const gi_outcome *outcome);

// After the batch, which returned `status`; the status of the run.
gi_status gi_records_finish(gi_session *session, const gi_batch_result *result, gi_status status);

void gi_records_close(gi_session *session);

#endif
