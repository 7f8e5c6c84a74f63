// Interrupts: the first one asks the run to stop, a second one (or a run that does not stop) ends the process at once.
#ifndef GI_CLI_SIGNALS_H
#define GI_CLI_SIGNALS_H

#include <signal.h>

// 0; the number of the signal that asked to stop; or -1 when the command itself stops its run.
extern volatile sig_atomic_t gi_interrupt;

// SIGINT, SIGTERM and SIGHUP set gi_interrupt (unless they were ignored from the start); SIGPIPE and SIGXFSZ are
// ignored, so that a failed write says why.
void gi_signals_install(void);

#endif
