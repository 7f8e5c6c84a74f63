// What the place that a text goes to can show.
#ifndef GI_CLI_TERMINAL_H
#define GI_CLI_TERMINAL_H

#include <stdbool.h>

typedef struct gi_terminal {
    int width;   // columns: COLUMNS, else the terminal's own, else 80; 20 to 1000
    bool utf8;   // the locale's encoding is UTF-8
    bool there;  // it is a terminal
    bool colour; // a terminal that is not dumb, and NO_COLOR is unset or empty
} gi_terminal;

// Columns of the terminal as it is now, 80 where it does not say. COLUMNS does not count: what is drawn over must fit.
int gi_terminal_columns(int descriptor);

// Descriptor -1: a file, which has 80 columns and no colour.
gi_terminal gi_terminal_of(int descriptor);

#endif
