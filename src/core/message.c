#include "core/message.h"

#include <stdarg.h>
#include <stdio.h>

void gi_say(const gi_messages *messages, gi_severity severity, const char *file, const char *format, ...) {
    if (!messages || !messages->say) return;
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    messages->say(messages->context, severity, file, text);
}
