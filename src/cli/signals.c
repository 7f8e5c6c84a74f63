#include "cli/signals.h"

#include <stddef.h>
#include <unistd.h>

#include "cli/console.h"
#include "run/output.h"

// A read from a terminal or a slow pipe cannot look at the flag: after so long the process ends all the same.
enum { GRACE_SECONDS = 2 };

volatile sig_atomic_t gi_interrupt = 0;

static void end_at_once(int number) {
    gi_output_remove_all();
    gi_console_line_drop();
    _exit(128 + number);
}

static void on_stop(int number) {
    if (gi_interrupt > 0) end_at_once(gi_interrupt);
    gi_interrupt = number;
    alarm(GRACE_SECONDS);
}

static void on_alarm(int number) {
    (void)number;
    if (gi_interrupt > 0) end_at_once(gi_interrupt);
}

static void handle(int number, void (*handler)(int)) {
    struct sigaction action = {0}, old;
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    // What was ignored stays so: nohup, and background jobs of a shell without job control.
    if (handler == on_stop && sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN) return;
    sigaction(number, &action, NULL);
}

void gi_signals_install(void) {
    handle(SIGPIPE, SIG_IGN);
    handle(SIGXFSZ, SIG_IGN);
    handle(SIGALRM, on_alarm);
    handle(SIGINT, on_stop);
    handle(SIGTERM, on_stop);
    handle(SIGHUP, on_stop);
}
