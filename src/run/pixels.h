// How much work is ahead: the pixels of files that nobody has opened yet.
#ifndef GI_RUN_PIXELS_H
#define GI_RUN_PIXELS_H

#include "run/inputs.h"

// Pixels of the image in that file by its first bytes, or roughly by its size; a guess for what is no regular file.
// Nothing is checked.
unsigned long long gi_file_pixels(const char *path);

// Pixels of all inputs of the list, of which only the first are looked at.
unsigned long long gi_list_pixels(const gi_item_list *list);

#endif
