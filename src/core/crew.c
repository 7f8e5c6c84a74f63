#include "core/crew.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct gi_crew {
    int threads;
    pthread_t *ids;
    pthread_mutex_t mutex; // of all below, and of the tasks' own members
    pthread_cond_t given, done;
    gi_task *first, *last; // not begun
    bool stop;
};

static gi_task *take(gi_crew *crew) {
    gi_task *task = crew->first;
    crew->first = task->next;
    if (!crew->first) crew->last = NULL;
    return task;
}

// Does the first task, with the mutex held before and after.
static void do_first(gi_crew *crew) {
    gi_task *task = take(crew);
    pthread_mutex_unlock(&crew->mutex);
    task->run(task);
    pthread_mutex_lock(&crew->mutex);
    task->done = 1;
    pthread_cond_signal(&crew->done);
}

static void *work(void *context) {
    gi_crew *crew = context;
    pthread_mutex_lock(&crew->mutex);
    while (!crew->stop) {
        if (crew->first)
            do_first(crew);
        else
            pthread_cond_wait(&crew->given, &crew->mutex);
    }
    pthread_mutex_unlock(&crew->mutex);
    return NULL;
}

gi_status gi_crew_open(int threads, gi_crew **crew, gi_error *err) {
    gi_crew *made = calloc(1, sizeof *made);
    if (made && threads > 0) made->ids = calloc((size_t)threads, sizeof *made->ids);
    if (!made || (threads > 0 && !made->ids)) {
        free(made);
        return gi_fail(err, GI_ERR_MEMORY, "out of memory for %d threads", threads);
    }
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->given, NULL);
    pthread_cond_init(&made->done, NULL);
    while (made->threads < threads && pthread_create(&made->ids[made->threads], NULL, work, made) == 0) made->threads++;
    *crew = made;
    return GI_OK;
}

int gi_crew_threads(const gi_crew *crew) { return crew->threads; }

void gi_crew_give(gi_crew *crew, gi_task *task) {
    pthread_mutex_lock(&crew->mutex);
    task->next = NULL;
    task->done = 0;
    if (crew->last)
        crew->last->next = task;
    else
        crew->first = task;
    crew->last = task;
    pthread_cond_signal(&crew->given);
    pthread_mutex_unlock(&crew->mutex);
}

void gi_crew_wait(gi_crew *crew, gi_task *task) {
    pthread_mutex_lock(&crew->mutex);
    while (!task->done) {
        if (crew->first)
            do_first(crew);
        else
            pthread_cond_wait(&crew->done, &crew->mutex);
    }
    pthread_mutex_unlock(&crew->mutex);
}

void gi_crew_close(gi_crew *crew) {
    if (!crew) return;
    pthread_mutex_lock(&crew->mutex);
    crew->stop = true;
    pthread_cond_broadcast(&crew->given);
    pthread_mutex_unlock(&crew->mutex);
    for (int i = 0; i < crew->threads; i++) pthread_join(crew->ids[i], NULL);
    pthread_cond_destroy(&crew->done);
    pthread_cond_destroy(&crew->given);
    pthread_mutex_destroy(&crew->mutex);
    free(crew->ids);
    free(crew);
}
