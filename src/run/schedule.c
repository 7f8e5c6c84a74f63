#include "run/schedule.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "core/text.h"

// Among more files than that, one is seldom worth a look at all of them.
enum { WEIGHED = 10000 };

// Bytes of the file that a worker reads, 0 for what is none.
static uint64_t weight_of(const gi_item *item) {
    struct stat about;
    return item->in && stat(item->in, &about) == 0 && S_ISREG(about.st_mode) ? (uint64_t)about.st_size : 0;
}

static int by_threads(const void *a, const void *b) {
    const gi_large *x = a, *y = b;
    if (x->threads != y->threads) return x->threads < y->threads ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

// Cores that are done with an image of that part of all the work when the others are done with the rest; 0 where
// `share` of them are about as many.
static int cores_for(uint64_t weight, uint64_t all, int cores, int share) {
    double part = (double)weight / (double)all * cores;
    if (part < 1.25 * share) return 0;
    int whole = (int)part;
    return whole + (whole < cores && (double)whole < part);
}

static void find_large(const uint64_t *weights, size_t count, int cores, int share, gi_schedule *schedule) {
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++) all += weights[i];
    for (size_t i = 0; i < count && all > 0; i++) {
        int threads = cores_for(weights[i], all, cores, share);
        if (threads <= share) continue;
        schedule->large[schedule->large_count++] = (gi_large){i, threads};
        schedule->taken[i] = true;
    }
    qsort(schedule->large, schedule->large_count, sizeof *schedule->large, by_threads);
}

gi_status gi_schedule_make(const gi_item_list *list, int cores, int share, gi_schedule *schedule, gi_error *err) {
    *schedule = (gi_schedule){.next = 0};
    if (list->count < 2 || list->count > WEIGHED || share >= cores) return GI_OK;
    uint64_t *weights = malloc(list->count * sizeof *weights);
    schedule->large = malloc(list->count * sizeof *schedule->large);
    schedule->taken = calloc(list->count, sizeof *schedule->taken);
    bool good = weights && schedule->large && schedule->taken;
    for (size_t i = 0; i < list->count && good; i++) weights[i] = weight_of(&list->items[i]);
    if (good) find_large(weights, list->count, cores, share, schedule);
    free(weights);
    return good ? GI_OK
                : gi_fail(err, GI_ERR_MEMORY, "out of memory for %zu file%s", list->count, gi_plural(list->count));
}

void gi_schedule_free(gi_schedule *schedule) {
    free(schedule->large);
    free(schedule->taken);
    *schedule = (gi_schedule){.next = 0};
}

bool gi_schedule_next(gi_schedule *schedule, const gi_item_list *list, size_t *index, int *threads) {
    if (schedule->begun < schedule->large_count) {
        const gi_large *large = &schedule->large[schedule->begun++];
        *index = large->index;
        if (large->threads > *threads) *threads = large->threads;
        return true;
    }
    while (schedule->taken && schedule->next < list->count && schedule->taken[schedule->next]) schedule->next++;
    if (schedule->next >= list->count) return false;
    *index = schedule->next++;
    return true;
}
