#include "cli/console.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "cli/buffer.h"
#include "cli/command.h"
#include "cli/signals.h"
#include "cli/terminal.h"

// ---- the line at the bottom ---------------------------------------------------------------------------------------

static const char erase[] = "\r\x1b[K";
static pthread_mutex_t screen = PTHREAD_MUTEX_INITIALIZER; // held while something is written
static volatile sig_atomic_t line_is_shown;

static void put(const void *bytes, size_t size) {
    // A message that cannot be written has nowhere else to go.
    (void)gi_write_all(STDERR_FILENO, bytes, size);
}

static void drop_line(void) {
    if (line_is_shown) put(erase, sizeof erase - 1);
    line_is_shown = 0;
}

void gi_console_line_drop(void) { drop_line(); }

void gi_console_line(const char *text) {
    gi_buffer bytes = {0};
    pthread_mutex_lock(&screen);
    if (*text) {
        // The rest of a longer line goes last, so that nothing flickers.
        gi_buffer_printf(&bytes, "\r%s\x1b[K", text);
        if (!bytes.failed) put(bytes.data, bytes.size);
        line_is_shown = 1;
    } else {
        drop_line();
    }
    pthread_mutex_unlock(&screen);
    gi_buffer_free(&bytes);
}

// ---- messages -----------------------------------------------------------------------------------------------------

static void flush_to_stderr(gi_buffer *text) {
    static const char short_of_memory[] = "gpuimg: out of memory\n";
    pthread_mutex_lock(&screen);
    drop_line();
    if (text->failed)
        put(short_of_memory, sizeof short_of_memory - 1);
    else
        put(text->data, text->size);
    pthread_mutex_unlock(&screen);
    gi_buffer_free(text);
}

void gi_console_data(const char *text) {
    gi_buffer line = {0};
    gi_buffer_printf(&line, "%s\n", text);
    flush_to_stderr(&line);
}

void gi_console_say(void *context, gi_severity severity, const char *file, const char *text) {
    const gi_console *console = context;
    if ((severity == GI_NOTE || severity == GI_FLAW) && !console->verbose) return;
    if (severity == GI_WARNING && console->quiet) return;
    gi_buffer line = {0};
    gi_buffer_puts(&line, "gpuimg: ");
    if (file) {
        gi_buffer_safe(&line, file);
        gi_buffer_puts(&line, ": ");
    }
    if (severity == GI_WARNING) gi_buffer_puts(&line, "warning: ");
    gi_buffer_safe(&line, text);
    gi_buffer_puts(&line, "\n");
    flush_to_stderr(&line);
}

void gi_complain(const char *format, ...) {
    char text[8192];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    gi_console console = {0};
    gi_console_say(&console, GI_FAILURE, NULL, text);
}

// One character of the pipeline as shown: its bytes in the source and its columns.
typedef struct cell {
    size_t bytes;
    int columns;
    bool shown; // as it is; otherwise as a blank or '?'
} cell;

static cell cell_at(const char *source, size_t left) {
    uint32_t code = 0;
    cell c = {gi_utf8_decode(source, left, &code), 1, true};
    if (c.bytes == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0)) {
        c.bytes = c.bytes ? c.bytes : 1;
        c.shown = false;
        return c;
    }
    int columns = wcwidth((wchar_t)code);
    if (columns >= 0) c.columns = columns;
    return c;
}

static int columns_between(const char *source, size_t from, size_t to, size_t size) {
    int columns = 0;
    while (from < to) {
        cell c = cell_at(source + from, size - from);
        columns += c.columns;
        from += c.bytes;
    }
    return columns;
}

// Steps back from `place` over characters of at most `columns` columns in all.
static size_t window_start(const char *source, size_t place, int columns) {
    size_t start = place;
    while (start > 0 && columns > 0) {
        start--;
        while (start > 0 && ((unsigned char)source[start] & 0xc0) == 0x80) start--;
        columns -= cell_at(source + start, place - start).columns;
    }
    return start;
}

static void add_source_lines(gi_buffer *text, const char *source, const gi_error *err) {
    size_t size = strlen(source), place = (size_t)err->place_offset, length = (size_t)err->place_length;
    int width = gi_terminal_of(STDERR_FILENO).width - 10; // indent, two ellipses, a margin
    if (place > size) place = size;
    if (length > size - place) length = size - place;
    bool whole = columns_between(source, 0, size, size) <= width;
    size_t at = whole ? 0 : window_start(source, place, width / 2);
    const char *before = at > 0 ? "  ..." : "  ";
    int lead = (int)strlen(before) + columns_between(source, at, place, size), shown = 0;
    gi_buffer_puts(text, before);
    while (at < size && shown < width) {
        cell c = cell_at(source + at, size - at);
        bool blank = source[at] == '\t' || source[at] == '\n' || source[at] == '\r';
        if (c.shown)
            gi_buffer_add(text, source + at, c.bytes);
        else
            gi_buffer_puts(text, blank ? " " : "?");
        shown += c.columns;
        at += c.bytes;
    }
    int underline = columns_between(source, place, at < place + length ? at : place + length, size);
    gi_buffer_printf(text, "%s\n%*s^", at < size ? "..." : "", lead, "");
    if (underline > 1) gi_buffer_repeat(text, "~", (size_t)underline - 1);
    gi_buffer_puts(text, "\n");
}

void gi_complain_error(const gi_error *err, const char *source) {
    gi_buffer text = {0};
    gi_buffer_puts(&text, "gpuimg: ");
    gi_buffer_safe(&text, err->text);
    gi_buffer_puts(&text, "\n");
    if (source && *source && err->place_offset >= 0) add_source_lines(&text, source, err);
    flush_to_stderr(&text);
}

void gi_suggest_help(const char *topic) {
    gi_buffer text = {0};
    gi_buffer_printf(&text, "Try 'gpuimg help%s%s'.\n", topic ? " " : "", topic ? topic : "");
    flush_to_stderr(&text);
}

void gi_complain_unknown_command(const char *name) {
    const char *near = gi_command_nearest(name, false);
    if (*name == '-')
        gi_complain("option '%.100s' where a command is expected: options follow the command", name);
    else if (near)
        gi_complain("unknown command '%.100s': did you mean '%s'?", name, near);
    else
        gi_complain("unknown command '%.100s'", name);
    gi_suggest_help(NULL);
}

void gi_complain_unknown_topic(const char *name) {
    const char *near = gi_command_nearest(name, true);
    gi_complain("no command or topic is named '%.100s'%s%s%s", name, near ? ": did you mean '" : "", near ? near : "",
                near ? "'?" : "");
    gi_suggest_help(NULL);
}

bool gi_reader_is_gone(void) {
    struct pollfd standard_output = {STDOUT_FILENO, POLLOUT, 0};
    return poll(&standard_output, 1, 0) > 0 && (standard_output.revents & POLLERR);
}

int gi_exit_status(gi_status status) {
    if (gi_interrupt > 0) return 128 + (int)gi_interrupt;
    return status == GI_OK ? 0 : status == GI_ERR_USAGE ? 2 : status == GI_ERR_DEVICE ? 3 : 1;
}
