#include "core/pool.h"

#include <string.h>

void gi_pool_init(gi_pool *pool, int most) {
    memset(pool, 0, sizeof *pool);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->given, NULL);
    pool->most = most;
}

void *gi_pool_try(gi_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    void *thing = pool->idle_count > 0 ? pool->idle[--pool->idle_count] : NULL;
    pthread_mutex_unlock(&pool->mutex);
    return thing;
}

void *gi_pool_take(gi_pool *pool) {
    void *thing = NULL;
    pthread_mutex_lock(&pool->mutex);
    while (pool->idle_count == 0 && pool->there == pool->most) pthread_cond_wait(&pool->given, &pool->mutex);
    if (pool->idle_count > 0)
        thing = pool->idle[--pool->idle_count];
    else
        pool->there++;
    pthread_mutex_unlock(&pool->mutex);
    return thing;
}

void gi_pool_give(gi_pool *pool, void *thing) {
    pthread_mutex_lock(&pool->mutex);
    pool->idle[pool->idle_count++] = thing;
    pthread_cond_signal(&pool->given);
    pthread_mutex_unlock(&pool->mutex);
}

void gi_pool_less(gi_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    pool->there--;
    pthread_cond_signal(&pool->given);
    pthread_mutex_unlock(&pool->mutex);
}

void gi_pool_add(gi_pool *pool, void *thing) {
    pthread_mutex_lock(&pool->mutex);
    pool->there++;
    pthread_mutex_unlock(&pool->mutex);
    gi_pool_give(pool, thing);
}

void gi_pool_end(gi_pool *pool) {
    pthread_cond_destroy(&pool->given);
    pthread_mutex_destroy(&pool->mutex);
}
