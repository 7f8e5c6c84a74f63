// A crew: threads that do tasks while the thread that hands them out goes on.
#ifndef GI_CORE_CREW_H
#define GI_CORE_CREW_H

#include "core/status.h"

// One piece of work. Embed it in a struct of what the work needs; `run` is all that is to be filled in. The memory stays
// the caller's, and untouched by it from gi_crew_give until gi_crew_wait has returned.
typedef struct gi_task gi_task;
struct gi_task {
    void (*run)(gi_task *task);
    gi_task *next; // the crew's own, as is the next
    int done;
};

typedef struct gi_crew gi_crew;

// `threads` beside the calling one, 0 or more; those that cannot be started leave the work to the others. GI_ERR_MEMORY.
gi_status gi_crew_open(int threads, gi_crew **crew, gi_error *err);

// How many threads were started.
int gi_crew_threads(const gi_crew *crew);

// Puts the task behind those that were given before. Only one thread gives to a crew and waits for it.
void gi_crew_give(gi_crew *crew, gi_task *task);

// Returns once the task is done. Meanwhile the calling thread does what no other has begun; without threads, that is
// where all work is done.
void gi_crew_wait(gi_crew *crew, gi_task *task);

// Every task given must have been waited for. NULL is fine.
void gi_crew_close(gi_crew *crew);

#endif
