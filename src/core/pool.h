// Things that threads borrow from each other because each takes long to make: those that lie idle, and a limit to how
// many there are.
#ifndef GI_CORE_POOL_H
#define GI_CORE_POOL_H

#include <pthread.h>

enum { GI_POOL_MOST = 32 };

typedef struct gi_pool {
    pthread_mutex_t mutex; // of all below
    pthread_cond_t given;
    int most, there; // that there may be and are, the lent ones among them
    int idle_count;
    void *idle[GI_POOL_MOST];
} gi_pool;

// `most`: 1 .. GI_POOL_MOST.
void gi_pool_init(gi_pool *pool, int most);

// One that lies idle, or NULL: there is none at the moment. Thread-safe, as all but init and end.
void *gi_pool_try(gi_pool *pool);

// Likewise, but waits where all there may be are lent. NULL: the caller makes one, or calls gi_pool_less.
void *gi_pool_take(gi_pool *pool);

// Gives back what was taken, or what was made in its place.
void gi_pool_give(gi_pool *pool, void *thing);

// What was to be made could not be had.
void gi_pool_less(gi_pool *pool);

// Another one, made beside: `there` grows. The caller sees to it that it does not exceed `most`.
void gi_pool_add(gi_pool *pool, void *thing);

// After everything has been given back, and taken out by gi_pool_try.
void gi_pool_end(gi_pool *pool);

#endif
