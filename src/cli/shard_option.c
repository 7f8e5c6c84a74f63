#include "cli/shard_option.h"

#include <stdlib.h>
#include <string.h>

// Decimal digits and nothing else.
static bool parse_number(const char *text, size_t length, uint64_t *number) {
    *number = 0;
    if (length == 0 || length > 10 || strspn(text, "0123456789") < length) return false;
    for (size_t i = 0; i < length; i++) *number = *number * 10 + (uint64_t)(text[i] - '0');
    return true;
}

bool gi_shard_parse(const char *text, gi_shard *shard) {
    uint64_t index = 0, count = 0;
    const char *slash = strchr(text, '/');
    if (!slash || !parse_number(text, (size_t)(slash - text), &index) ||
        !parse_number(slash + 1, strlen(slash + 1), &count) || index < 1 || index > count || count > GI_SHARDS_MOST)
        return false;
    *shard = (gi_shard){(uint32_t)index, (uint32_t)count};
    return true;
}

// False where the variable is not set or empty; *number = UINT64_MAX where it holds no number.
static bool variable(const char *name, uint64_t *number) {
    const char *text = getenv(name);
    if (!text || !*text) return false;
    if (!parse_number(text, strlen(text), number)) *number = UINT64_MAX;
    return true;
}

// Share `place`, counted from 0, of `count`.
static gi_status take_place(uint64_t place, uint64_t count, const char *names, gi_shard *shard, gi_error *err) {
    if (count < 1 || count > GI_SHARDS_MOST || place >= count)
        return gi_fail(err, GI_ERR_USAGE, "--shard auto: %s do not make a share of at most %d", names,
                       (int)GI_SHARDS_MOST);
    *shard = (gi_shard){(uint32_t)place + 1, (uint32_t)count};
    return GI_OK;
}

// Of a job array, whose ids are MIN, MIN + STEP, ... MAX.
static gi_status choose_by_array(uint64_t id, gi_shard *shard, gi_error *err) {
    uint64_t count = 0, first = 0, last = 0, step = 1;
    if (!variable("SLURM_ARRAY_TASK_COUNT", &count) || !variable("SLURM_ARRAY_TASK_MIN", &first))
        return gi_fail(err, GI_ERR_USAGE, "--shard auto: SLURM_ARRAY_TASK_ID is set, but not its COUNT and MIN");
    if (!variable("SLURM_ARRAY_TASK_STEP", &step)) step = 1;
    bool even = step >= 1 && step <= UINT32_MAX && id >= first && (id - first) % step == 0;
    if (even && count >= 1 && count <= GI_SHARDS_MOST && variable("SLURM_ARRAY_TASK_MAX", &last))
        even = last == first + (count - 1) * step;
    if (!even)
        return gi_fail(err, GI_ERR_USAGE,
                       "--shard auto: the ids of the job array are not evenly spaced: give it "
                       "--array=1-N, or name the share");
    return take_place((id - first) / step, count, "SLURM_ARRAY_TASK_ID, MIN and COUNT", shard, err);
}

static gi_status choose_by_slurm(gi_shard *shard, gi_error *err) {
    uint64_t id = 0, count = 0;
    if (variable("SLURM_ARRAY_TASK_ID", &id)) return choose_by_array(id, shard, err);
    if (variable("SLURM_PROCID", &id) && variable("SLURM_NTASKS", &count))
        return take_place(id, count, "SLURM_PROCID and SLURM_NTASKS", shard, err);
    return gi_fail(err, GI_ERR_USAGE,
                   "--shard auto: this is no job of Slurm's: neither SLURM_ARRAY_TASK_ID nor SLURM_PROCID and "
                   "SLURM_NTASKS are set");
}

gi_status gi_shard_choose(const char *text, gi_shard *shard, gi_error *err) {
    *shard = (gi_shard){0, 0};
    if (!text) return GI_OK;
    if (strcmp(text, "auto") == 0) return choose_by_slurm(shard, err);
    if (gi_shard_parse(text, shard)) return GI_OK;
    return gi_fail(err, GI_ERR_USAGE, "option --shard must be I/N with I from 1 to N, or auto, not '%.100s'", text);
}
