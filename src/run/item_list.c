#include "run/item_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "run/path.h"

gi_status gi_item_list_add(gi_item_list *list, const gi_item *item, gi_error *err) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity : 32, bytes = 0;
        gi_item *items = NULL;
        if (gi_mul(capacity, 2 * sizeof *items, &bytes)) items = realloc(list->items, bytes);
        if (!items) {
            free(item->in);
            free(item->out);
            return gi_fail(err, GI_ERR_MEMORY, "out of memory for %zu names", list->count);
        }
        list->items = items;
        list->capacity = capacity * 2;
    }
    list->items[list->count++] = *item;
    return GI_OK;
}

void gi_item_list_free(gi_item_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].in);
        free(list->items[i].out);
    }
    free(list->items);
    free(list->out_directory);
    *list = (gi_item_list){0};
}

char *gi_output_name(const char *name, size_t length, gi_format format) {
    char *same = strndup(name, length);
    gi_format known = same ? gi_format_of_name(same) : GI_FORMAT_UNKNOWN;
    if (!same || format == GI_FORMAT_UNKNOWN || known == format) return same;
    char *dot = known != GI_FORMAT_UNKNOWN ? strrchr(same, '.') : NULL;
    if (dot) *dot = '\0';
    char *changed = NULL;
    if (asprintf(&changed, "%s.%s", same, gi_format_extension(format)) < 0) changed = NULL;
    free(same);
    return changed;
}
