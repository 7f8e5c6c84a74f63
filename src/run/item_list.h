// Building the list of items: what inputs.c and walk.c share.
#ifndef GI_RUN_ITEM_LIST_H
#define GI_RUN_ITEM_LIST_H

#include "run/inputs.h"

// Appends an item and takes both names over, also on failure (GI_ERR_MEMORY).
gi_status gi_item_list_add(gi_item_list *list, const gi_item *item, gi_error *err);

// Notes a directory that cannot be read; copies all three. `out` may be NULL. GI_ERR_MEMORY.
gi_status gi_item_list_add_unread(gi_item_list *list, const gi_unread *unread, gi_error *err);

// The name of an item's input below the directory that was walked, or as it was named but for "./" in front: the same
// on every machine. "-" for standard input.
const char *gi_item_relative(const gi_item *item);

// Drops the items for which `keep` is false; the others stay in their order.
void gi_item_list_keep(gi_item_list *list, bool (*keep)(void *context, const gi_item *item), void *context);

// The name of the result of `name` (length bytes) in a directory OUT: --format replaces a known extension that means
// another format and is appended to any other name. The caller frees; NULL when memory is exhausted.
char *gi_output_name(const char *name, size_t length, gi_format format);

// Adds the images of a directory, and with request->recursive those below it, to the list; results go to the directory
// request->output (NULL: none). What cannot be read is said and counted; only GI_ERR_MEMORY fails.
gi_status gi_walk(const char *directory, const gi_inputs_request *request, gi_item_list *list, gi_error *err);

// Refuses outputs that two items share, or that are another item's input. GI_ERR_USAGE with both names.
gi_status gi_collisions_check(const gi_item_list *list, gi_error *err);

// Names of a --files-from list.
typedef struct gi_name_list {
    char *text; // the list's bytes; each name ends with NUL
    const char **names;
    size_t count;
} gi_name_list;

// Reads the list `path`, or standard input for "-". Empty names are left out. Free with gi_name_list_free, also after
// failure. GI_ERR_IO, GI_ERR_USAGE (a NUL byte in a list of lines), GI_ERR_LIMIT, GI_ERR_MEMORY.
gi_status gi_name_list_read(const char *path, bool nul, gi_name_list *list, gi_error *err);
void gi_name_list_free(gi_name_list *list);

#endif
