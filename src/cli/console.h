// Everything that goes to standard error: `gpuimg: FILE: reason`, one write per line so that threads do not mix.
#ifndef GI_CLI_CONSOLE_H
#define GI_CLI_CONSOLE_H

#include <stdbool.h>

#include "core/message.h"
#include "core/status.h"

typedef struct gi_console {
    bool quiet;   // no warnings, notes or summary
    bool verbose; // notes too
} gi_console;

// A gi_messages function; the context is a gi_console.
void gi_console_say(void *context, gi_severity severity, const char *file, const char *text);

// Shows one line of text at the bottom of the terminal on standard error, in place of the one before; "" takes it away.
// A message takes it away, too: whoever shows it shows it again. Longer than the terminal is wide, it would not go
// away.
void gi_console_line(const char *text);

// Takes the line away from within a signal handler, if it is shown.
void gi_console_line_drop(void);

// A line for programs, as it is.
void gi_console_data(const char *text);

// `gpuimg: TEXT` whatever the console's settings.
void gi_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The reason of a failure; with `source` (the pipeline as typed) and a place in err, the source line and a caret line
// ^~~~ under the place. Long sources show a window round it.
void gi_complain_error(const gi_error *err, const char *source);

// "Try 'gpuimg help TOPIC'."; without a topic "Try 'gpuimg help'.".
void gi_suggest_help(const char *topic);

// A command name that does not exist, with the nearest known one.
void gi_complain_unknown_command(const char *name);
void gi_complain_unknown_topic(const char *name);

// True when whoever read our standard output through a pipe is gone, as head is after its lines: he knows that there
// was more, and is told nothing. The exit status is that of an output which cannot be written.
bool gi_reader_is_gone(void);

// The exit status that a failure means: 2 usage, 3 device, 128 + signal when interrupted, else 1.
int gi_exit_status(gi_status status);

#endif
