#include "core/ahead.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/checked.h"

enum { ALIGNMENT = 64 };

struct gi_ahead {
    gi_ahead_job job;
    uint8_t *memory; // the ring's blocks
    size_t stride;
    uint64_t places;
    pthread_t thread;
    bool started;
    pthread_mutex_t mutex; // of all below
    pthread_cond_t changed;
    uint64_t made, used; // blocks; the user holds block used - 1
    bool stop;
    gi_error failure; // of block `made`
};

static uint8_t *place_of(const gi_ahead *ahead, uint64_t block) {
    return ahead->memory + (size_t)(block % ahead->places) * ahead->stride;
}

// Waits until there is a place for the next block. False: there is no more to make.
static bool wait_for_place(gi_ahead *ahead) {
    // The block in use has a place, too, until the next is asked for.
    while (!ahead->stop && ahead->made - ahead->used >= (uint64_t)ahead->job.depth)
        pthread_cond_wait(&ahead->changed, &ahead->mutex);
    return !ahead->stop && ahead->made < ahead->job.blocks && ahead->failure.status == GI_OK;
}

static void *work(void *context) {
    gi_ahead *ahead = context;
    pthread_mutex_lock(&ahead->mutex);
    while (wait_for_place(ahead)) {
        uint8_t *block = place_of(ahead, ahead->made);
        gi_error why = {.status = GI_OK};
        pthread_mutex_unlock(&ahead->mutex);
        gi_status status = ahead->job.make(ahead->job.context, block, &why);
        pthread_mutex_lock(&ahead->mutex);
        if (status == GI_OK)
            ahead->made++;
        else
            ahead->failure = why;
        pthread_cond_signal(&ahead->changed);
    }
    pthread_mutex_unlock(&ahead->mutex);
    return NULL;
}

gi_status gi_ahead_open(const gi_ahead_job *job, gi_ahead **ahead, gi_error *err) {
    gi_ahead *made = calloc(1, sizeof *made);
    if (!made) return gi_fail(err, GI_ERR_MEMORY, "no memory for a decoder");
    made->job = *job;
    made->places = job->threaded ? (uint64_t)job->depth + 1 : 1;
    if (made->places > job->blocks) made->places = job->blocks ? job->blocks : 1;
    size_t bytes = 0;
    if (gi_round_up(job->block_bytes ? job->block_bytes : 1, ALIGNMENT, &made->stride) &&
        gi_mul(made->stride, (size_t)made->places, &bytes))
        made->memory = aligned_alloc(ALIGNMENT, bytes);
    if (!made->memory) {
        free(made);
        return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu bytes of pixels", bytes);
    }
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->changed, NULL);
    made->started = job->threaded && job->blocks > 1 && pthread_create(&made->thread, NULL, work, made) == 0;
    *ahead = made;
    return GI_OK;
}

static void make_here(gi_ahead *ahead) {
    if (ahead->failure.status != GI_OK) return;
    gi_error why = {.status = GI_OK};
    if (ahead->job.make(ahead->job.context, place_of(ahead, ahead->made), &why) == GI_OK)
        ahead->made++;
    else
        ahead->failure = why;
}

gi_status gi_ahead_next(gi_ahead *ahead, void **block, gi_error *err) {
    if (ahead->used == ahead->job.blocks) return gi_fail(err, GI_ERR_USAGE, "more blocks were asked for than there are");
    pthread_mutex_lock(&ahead->mutex);
    if (!ahead->started) make_here(ahead);
    while (ahead->made == ahead->used && ahead->failure.status == GI_OK)
        pthread_cond_wait(&ahead->changed, &ahead->mutex);
    gi_status status = GI_OK;
    if (ahead->made > ahead->used) {
        *block = place_of(ahead, ahead->used);
        ahead->used++;
        pthread_cond_signal(&ahead->changed);
    } else {
        status = ahead->failure.status;
        if (err) *err = ahead->failure;
    }
    pthread_mutex_unlock(&ahead->mutex);
    return status;
}

void gi_ahead_close(gi_ahead *ahead) {
    if (!ahead) return;
    if (ahead->started) {
        pthread_mutex_lock(&ahead->mutex);
        ahead->stop = true;
        pthread_cond_signal(&ahead->changed);
        pthread_mutex_unlock(&ahead->mutex);
        pthread_join(ahead->thread, NULL);
    }
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->mutex);
    free(ahead->memory);
    free(ahead);
}
