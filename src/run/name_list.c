// Lists of names: --files-from.
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "core/text.h"
#include "run/item_list.h"
#include "run/path.h"
#include "run/read.h"

// Ends every name with NUL in place and counts those that are not empty. `shown` is what the list is called.
static gi_status split(gi_name_list *list, const char *shown, size_t size, char end, gi_error *err) {
    size_t count = 0, bytes = 0;
    for (size_t i = 0; i < size; i++) {
        if (list->text[i] == '\0' && end != '\0')
            return gi_fail(err, GI_ERR_USAGE,
                           "the list %s has a NUL byte, where one name a line is wanted: give -0 for names that end so",
                           shown);
        if (list->text[i] == end) list->text[i] = '\0';
        bool last = i + 1 == size || list->text[i + 1] == end;
        count += last && list->text[i] != '\0';
    }
    if (!gi_mul(count + 1, sizeof *list->names, &bytes) || !(list->names = malloc(bytes)))
        return gi_fail(err, GI_ERR_MEMORY, "out of memory for %zu name%s", count, gi_plural(count));
    for (char *p = list->text; p < list->text + size; p += strlen(p) + 1)
        if (*p) list->names[list->count++] = p;
    return GI_OK;
}

gi_status gi_name_list_read(const char *path, bool nul, gi_name_list *list, gi_error *err) {
    *list = (gi_name_list){0};
    const char *file_path = gi_path_of_argument(path);
    gi_file_data file = {.data = NULL};
    gi_error why = {.status = GI_OK};
    gi_status status = gi_read_file(file_path, &(gi_read_options){0}, &file, &why);
    if (status == GI_ERR_FORMAT) return GI_OK; // an empty list
    char shown[GI_PATH_SHOWN];
    gi_path_show(gi_path_input(file_path), shown);
    if (status != GI_OK) return gi_fail(err, status, "the list %s: %s", shown, why.text);
    // One byte more, for the end of a last name without one.
    list->text = realloc(file.data, file.size + 1);
    if (!list->text) {
        free(file.data);
        return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    }
    list->text[file.size] = '\0';
    return split(list, shown, file.size, nul ? '\0' : '\n', err);
}

void gi_name_list_free(gi_name_list *list) {
    free(list->text);
    free(list->names);
    *list = (gi_name_list){0};
}
