// Names that some file systems take for one: letter case.
#ifndef GI_RUN_FOLD_H
#define GI_RUN_FOLD_H

#include <stdbool.h>

// The text in lower case (UTF-8; bytes that are none stay). The caller frees; NULL when memory is exhausted.
char *gi_fold_case(const char *text);

// True when the directory takes names that differ by case alone for the same file. Found by a dot-file made and removed
// there; false where none can be made.
bool gi_folds_case(const char *directory);

#endif
