#include "cli/progress.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/terminal.h"
#include "core/clock.h"

enum { TICK_MS = 100, BAR_AFTER_MS = 1000, SAY_AGAIN_MS = 1000 };

struct gi_progress {
    gi_progress_kind kind;
    double begun_ms, said_ms;
    pthread_t thread;
    pthread_mutex_t mutex; // of all below
    pthread_cond_t ended;
    gi_progress_state state;
    bool changed, closing;
};

// Called with the mutex held, which nobody waits for long: the console does not call back.
static void show(gi_progress *progress, bool final) {
    gi_buffer text = {0};
    double now = gi_clock_ms();
    progress->state.seconds = (now - progress->begun_ms) / 1e3;
    progress->changed = false;
    progress->said_ms = now;
    if (progress->kind == GI_PROGRESS_JSON) {
        gi_progress_json(&progress->state, final, &text);
        if (!text.failed) gi_console_data(text.data);
    } else if (!final) {
        // The last column stays free: a terminal may wrap behind it.
        int columns = gi_terminal_columns(STDERR_FILENO) - 1;
        gi_progress_bar(&progress->state, columns, gi_terminal_of(STDERR_FILENO).utf8, &text);
        gi_console_line(text.failed || text.size == 0 ? "" : text.data);
    }
    gi_buffer_free(&text);
}

// True when there is something to show now. The time left changes by itself, and messages take the bar away.
static bool is_due(const gi_progress *progress) {
    double now = gi_clock_ms();
    if (progress->kind == GI_PROGRESS_BAR) return now - progress->begun_ms >= BAR_AFTER_MS;
    return progress->changed || now - progress->said_ms >= SAY_AGAIN_MS;
}

static void *run(void *context) {
    gi_progress *progress = context;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    pthread_mutex_lock(&progress->mutex);
    while (!progress->closing) {
        until.tv_nsec += TICK_MS * 1000000L;
        if (until.tv_nsec >= 1000000000L) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000L;
        }
        while (!progress->closing && pthread_cond_timedwait(&progress->ended, &progress->mutex, &until) != ETIMEDOUT) {
        }
        if (!progress->closing && is_due(progress)) {
            show(progress, false);
            // After a stop of the whole process, no row of refreshes makes up for it.
            clock_gettime(CLOCK_MONOTONIC, &until);
        }
    }
    pthread_mutex_unlock(&progress->mutex);
    return NULL;
}

// Signals are for the threads that read and write: there they end a call that waits.
static bool start_thread(gi_progress *progress) {
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
    bool started = pthread_create(&progress->thread, NULL, run, progress) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

gi_progress *gi_progress_open(gi_progress_kind kind, size_t total) {
    gi_progress *progress = calloc(1, sizeof *progress);
    pthread_condattr_t monotonic;
    if (!progress) return NULL;
    progress->kind = kind;
    progress->state.total = total;
    progress->begun_ms = progress->said_ms = gi_clock_ms();
    pthread_mutex_init(&progress->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&progress->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (start_thread(progress)) return progress;
    pthread_cond_destroy(&progress->ended);
    pthread_mutex_destroy(&progress->mutex);
    free(progress);
    return NULL;
}

void gi_progress_add(gi_progress *progress, const gi_outcome *outcome) {
    if (!progress) return;
    pthread_mutex_lock(&progress->mutex);
    gi_progress_state *s = &progress->state;
    if (outcome->status != GI_OK)
        s->failed++;
    else if (outcome->skipped)
        s->skipped++;
    else
        s->done++;
    s->bytes_in += outcome->bytes_in;
    s->bytes_out += outcome->bytes_out;
    progress->changed = true;
    pthread_mutex_unlock(&progress->mutex);
}

void gi_progress_close(gi_progress *progress) {
    if (!progress) return;
    pthread_mutex_lock(&progress->mutex);
    progress->closing = true;
    pthread_cond_signal(&progress->ended);
    pthread_mutex_unlock(&progress->mutex);
    pthread_join(progress->thread, NULL);
    show(progress, true);
    gi_console_line("");
    pthread_cond_destroy(&progress->ended);
    pthread_mutex_destroy(&progress->mutex);
    free(progress);
}
