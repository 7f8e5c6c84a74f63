// --shard: I/N, or auto, which asks Slurm's variables.
#ifndef GI_CLI_SHARD_OPTION_H
#define GI_CLI_SHARD_OPTION_H

#include "run/shard.h"

enum { GI_SHARDS_MOST = 1000000 };

// "I/N" with 1 <= I <= N <= GI_SHARDS_MOST.
bool gi_shard_parse(const char *text, gi_shard *shard);

// The option's value: "I/N" or "auto"; NULL: *shard = all. For auto, a job array's SLURM_ARRAY_TASK_ID less
// SLURM_ARRAY_TASK_MIN, of SLURM_ARRAY_TASK_COUNT, where there is an array whose ids are evenly spaced; else
// SLURM_PROCID of SLURM_NTASKS. GI_ERR_USAGE.
gi_status gi_shard_choose(const char *text, gi_shard *shard, gi_error *err);

#endif
