#include "cpu/team.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cpu/backend_cpu.h"

enum { TRIED_MAX = 4096 };

// Threads that wait until all have been started.
typedef struct gathering {
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    bool open;
} gathering;

static void *wait_open(void *context) {
    gathering *g = context;
    pthread_mutex_lock(&g->mutex);
    while (!g->open) pthread_cond_wait(&g->opened, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
    return NULL;
}

// How many of `count` threads can be alive at once, with stacks as those of a team have by default.
static int startable(int count) {
    gathering g = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    int started = 0;
    if (!threads) return 0;
    while (started < count && pthread_create(&threads[started], NULL, wait_open, &g) == 0) started++;
    pthread_mutex_lock(&g.mutex);
    g.open = true;
    pthread_cond_broadcast(&g.opened);
    pthread_mutex_unlock(&g.mutex);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    pthread_cond_destroy(&g.opened);
    pthread_mutex_destroy(&g.mutex);
    free(threads);
    return started;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int tried, started; // threads beside those there already

static void try_once(void) {
    int cores = gi_cpu_cores();
    tried = cores < TRIED_MAX ? cores : TRIED_MAX;
    started = startable(tried);
}

int gi_cpu_team(int wanted) {
    if (wanted <= 1) return 1;
    pthread_once(&once, try_once);
    if (started == tried) return wanted;
    // The teams of all workers together are as large as `tried` at most, so that their parts fit what could be started:
    // into half of it, as a thread that has ended may still count for a moment.
    long long part = (long long)(wanted - 1) * started / tried / 2;
    return 1 + (int)(part < started ? part : started);
}
