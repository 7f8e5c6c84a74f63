// In which order a batch takes its images, and with how many threads each. As a rule in the order of the list, each
// with a worker's share of the cores. But an image that would outlast all others on that share is begun first and gets
// a larger one, so that in the end no core waits for another.
#ifndef GI_RUN_SCHEDULE_H
#define GI_RUN_SCHEDULE_H

#include "core/status.h"
#include "run/inputs.h"

// An image that is large beside the others.
typedef struct gi_large {
    size_t index; // in the list
    int threads;
} gi_large;

// All zero is the order of the list.
typedef struct gi_schedule {
    gi_large *large; // owned, the largest first
    size_t large_count;
    bool *taken; // owned, for each item: it is a large one; NULL: none is
    size_t begun, next;
} gi_schedule;

// Weighs the files by their sizes, which are looked at unless there are too many of them for one to matter. `share`: a
// worker's threads. GI_ERR_MEMORY.
gi_status gi_schedule_make(const gi_item_list *list, int cores, int share, gi_schedule *schedule, gi_error *err);
void gi_schedule_free(gi_schedule *schedule);

// The next item, and its threads where it has more than the share; false: there is none left.
bool gi_schedule_next(gi_schedule *schedule, const gi_item_list *list, size_t *index, int *threads);

#endif
