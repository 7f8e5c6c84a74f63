// How lower layers speak: through a function of the caller's. Only cli prints.
#ifndef GI_CORE_MESSAGE_H
#define GI_CORE_MESSAGE_H

#include "core/status.h"

typedef enum gi_severity {
    GI_NOTE,    // shown with -v
    GI_WARNING, // shown unless -q
    GI_FAILURE, // always shown
    GI_FLAW     // shown with -v: damage of which the pixels know nothing
} gi_severity;

// `file` is the input's name as the user gave it, or NULL; `text` is one line without prefix or newline, valid during
// the call. May be called from several threads at once.
typedef struct gi_messages {
    void (*say)(void *context, gi_severity severity, const char *file, const char *text);
    void *context;
} gi_messages;

// Formats and says. NULL messages or NULL say: nothing happens.
void gi_say(const gi_messages *messages, gi_severity severity, const char *file, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
