// Reports as JSON added up into one (hist --merge): what shards of a listing counted is what one run would have.
#ifndef GI_CLI_MERGE_H
#define GI_CLI_MERGE_H

#include "cli/report.h"

// Reads the JSON report `path`, "-" for standard input, and adds its images and totals to `report`, which makes a
// total. A report without images adds nothing. The statistics in it are not looked at: they follow from the counts.
// GI_ERR_IO, GI_ERR_MEMORY; GI_ERR_FORMAT with the place of what is no report of ours, contradicts itself, or has not a
// bin for each level; GI_ERR_LIMIT where a sum passes 64 bits.
gi_status gi_merge_report(const char *path, gi_report *report, gi_error *err);

#endif
