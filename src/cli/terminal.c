#include "cli/terminal.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int clamp_width(long width) { return width < 20 ? 20 : width > 1000 ? 1000 : (int)width; }

int gi_terminal_columns(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static int width_of(int descriptor) {
    const char *columns = getenv("COLUMNS");
    if (columns && *columns) {
        char *end = NULL;
        long width = strtol(columns, &end, 10);
        if (*end == '\0' && width > 0) return clamp_width(width);
    }
    struct winsize size;
    if (isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return clamp_width(size.ws_col);
    return 80;
}

gi_terminal gi_terminal_of(int descriptor) {
    gi_terminal terminal = {.width = 80, .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
    if (descriptor < 0) return terminal;
    terminal.width = width_of(descriptor);
    const char *none = getenv("NO_COLOR"), *kind = getenv("TERM");
    terminal.there = isatty(descriptor);
    terminal.colour = terminal.there && !(none && *none) && kind && strcmp(kind, "dumb") != 0;
    return terminal;
}
