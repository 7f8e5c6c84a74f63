#include "run/item_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "core/text.h"
#include "run/path.h"

gi_status gi_item_list_add(gi_item_list *list, const gi_item *item, gi_error *err) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity : 32, bytes = 0;
        gi_item *items = NULL;
        if (gi_mul(capacity, 2 * sizeof *items, &bytes)) items = realloc(list->items, bytes);
        if (!items) {
            free(item->in);
            free(item->out);
            return gi_fail(err, GI_ERR_MEMORY, "out of memory for %zu name%s", list->count, gi_plural(list->count));
        }
        list->items = items;
        list->capacity = capacity * 2;
    }
    list->items[list->count++] = *item;
    return GI_OK;
}

static void unread_free(gi_unread *unread) {
    free(unread->in);
    free(unread->out);
    free(unread->reason);
}

gi_status gi_item_list_add_unread(gi_item_list *list, const gi_unread *unread, gi_error *err) {
    gi_unread copy = {strdup(unread->in), unread->out ? strdup(unread->out) : NULL, strdup(unread->reason)};
    size_t count = 0, bytes = 0;
    gi_unread *all = NULL;
    if (copy.in && copy.reason && (copy.out || !unread->out) && gi_add(list->failed, 1, &count) &&
        gi_mul(count, sizeof *all, &bytes))
        all = realloc(list->unread, bytes);
    if (!all) {
        unread_free(&copy);
        return gi_fail(err, GI_ERR_MEMORY, "out of memory for names");
    }
    all[list->failed] = copy;
    list->unread = all;
    list->failed = count;
    return GI_OK;
}

const char *gi_item_relative(const gi_item *item) {
    if (!item->in) return "-";
    const char *name = item->in + item->root_length;
    if (item->root_length > 0) return name + strspn(name, "/");
    while (name[0] == '.' && name[1] == '/') name += 1 + strspn(name + 1, "/");
    return name;
}

void gi_item_list_keep(gi_item_list *list, bool (*keep)(void *context, const gi_item *item), void *context) {
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (keep(context, &list->items[i])) {
            list->items[kept++] = list->items[i];
        } else {
            free(list->items[i].in);
            free(list->items[i].out);
        }
    }
    list->count = kept;
}

void gi_item_list_free(gi_item_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].in);
        free(list->items[i].out);
    }
    for (size_t i = 0; i < list->failed; i++) unread_free(&list->unread[i]);
    free(list->items);
    free(list->unread);
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
