// The values of global options: what they accept and how they are read.
#ifndef GI_CLI_OPTION_VALUES_H
#define GI_CLI_OPTION_VALUES_H

#include "cli/options.h"

// Reads `value` into the option's field. GI_ERR_USAGE names the option and what it accepts.
gi_status gi_global_parse(const gi_global_option *option, const char *value, gi_options *options, gi_error *err);

// "#rgb", "#rrggbb", "r,g,b", "white" or "black" (letters in any case).
bool gi_colour_parse(const char *text, gi_colour *colour);

// Writes "a, b or c" for "a|b|c"; truncates.
void gi_words_text(const char *words, char *text, size_t size);

// The only word that begins with what was typed, else the nearest one, else NULL.
const char *gi_word_meant(const char *typed, size_t length, const char *const *words, size_t count);

#endif
