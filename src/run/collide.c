// Two inputs that map to one output, and outputs that would replace an input not read yet.
//
// Files are compared by their keys (run/path_key.h). Sorting these by their folded text puts together all that may be
// one file. Lists are long and hardly any two names fold to one: so hashes are sorted first, and only what shares one
// gets an entry.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/checked.h"
#include "run/fold.h"
#include "run/item_list.h"
#include "run/path.h"
#include "run/path_key.h"

typedef struct entry {
    char *key, *folded; // folded may be key itself
    size_t index;       // of the item
    bool output;
} entry;

typedef struct mark {
    uint64_t hash; // of the folded key
    size_t place;  // twice the index, and one for outputs
} mark;

typedef struct table {
    const gi_item_list *list;
    mark *marks;
    size_t marked;
    entry *entries;
    size_t count;
    gi_path_parents inputs, outputs;
} table;

// Both texts are the caller's; folded may be key itself. NULL in both: there is no such file.
static gi_status make_keys(table *t, size_t place, entry *e, gi_error *err) {
    *e = (entry){.index = place / 2, .output = place % 2};
    const gi_item *item = &t->list->items[e->index];
    const char *path = e->output ? item->out : item->in;
    if (!path) return GI_OK;
    e->key = gi_path_key(path, e->output ? &t->outputs : &t->inputs);
    e->folded = e->key ? gi_fold_case(e->key) : NULL;
    if (!e->folded) {
        free(e->key);
        return gi_fail(err, GI_ERR_MEMORY, "out of memory for names");
    }
    if (strcmp(e->folded, e->key) == 0) {
        free(e->folded);
        e->folded = e->key;
    }
    return GI_OK;
}

static void free_keys(const entry *e) {
    if (e->folded != e->key) free(e->folded);
    free(e->key);
}

static uint64_t hash_of(const char *text) { // FNV-1a
    uint64_t hash = 0xCBF29CE484222325u;
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001B3u;
    return hash;
}

static gi_status add_mark(table *t, size_t place, gi_error *err) {
    entry e;
    gi_status status = make_keys(t, place, &e, err);
    if (status != GI_OK || !e.key) return status;
    t->marks[t->marked++] = (mark){hash_of(e.folded), place};
    free_keys(&e);
    return GI_OK;
}

static int by_hash(const void *a, const void *b) {
    const mark *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

// Moves the marks that share their hash to the front, and forgets the others.
static void keep_shared(table *t) {
    size_t kept = 0;
    for (size_t begin = 0, end; begin < t->marked; begin = end) {
        for (end = begin + 1; end < t->marked && t->marks[end].hash == t->marks[begin].hash;) end++;
        for (size_t i = begin; end - begin > 1 && i < end; i++) t->marks[kept++] = t->marks[i];
    }
    t->marked = kept;
}

// By folded key, then key, then outputs first, then place in the list.
static int by_key(const void *a, const void *b) {
    const entry *x = a, *y = b;
    int order = strcmp(x->folded, y->folded);
    if (order == 0) order = strcmp(x->key, y->key);
    if (order == 0) order = (int)y->output - (int)x->output;
    if (order == 0) order = (x->index > y->index) - (x->index < y->index);
    return order;
}

// Of two paths of one file, why they are: ", as LINK is a symbolic link", or nothing where neither is.
static const char *tell_link(const char *a, const char *b, char text[GI_PATH_SHOWN + 32]) {
    const char *const paths[] = {a, b};
    char shown[GI_PATH_SHOWN];
    struct stat st;
    text[0] = '\0';
    for (size_t i = 0; i < 2 && !*text; i++)
        if (paths[i] && lstat(paths[i], &st) == 0 && S_ISLNK(st.st_mode))
            snprintf(text, GI_PATH_SHOWN + 32, ", as %.80s is a symbolic link", gi_path_show(paths[i], shown));
    return text;
}

// Where an output comes to lie.
static void show_target(const char *out, char text[GI_PATH_SHOWN]) {
    char *target = NULL;
    gi_path_show(gi_path_follow(out, &target, NULL) == GI_OK ? target : out, text);
    free(target);
}

// The names are cut to fit the reason together.
static gi_status refuse(const table *t, const entry *output, const entry *other, gi_error *err) {
    char a[GI_PATH_SHOWN], b[GI_PATH_SHOWN], o[GI_PATH_SHOWN], link[GI_PATH_SHOWN + 32];
    const gi_item *first = &t->list->items[output->index], *second = &t->list->items[other->index];
    gi_path_show(gi_path_input(first->in), a);
    gi_path_show(gi_path_input(second->in), b);
    show_target(first->out, o);
    if (!other->output)
        return gi_fail(err, GI_ERR_USAGE, "the result of %.140s would replace the input %.140s%s", a, b,
                       tell_link(first->out, second->in, link));
    if (first->in && second->in && strcmp(first->in, second->in) == 0)
        return gi_fail(err, GI_ERR_USAGE, "%.140s is named twice: both results would be %.140s", a, o);
    return gi_fail(err, GI_ERR_USAGE, "%.110s and %.110s would both be written to %.110s%s", a, b, o,
                   tell_link(first->out, second->out, link));
}

// Entries [begin, end) are one file. Its first output must be the only one, and its inputs the same item's.
static gi_status check_group(const table *t, size_t begin, size_t end, gi_error *err) {
    const entry *output = NULL;
    for (size_t i = begin; i < end; i++) {
        const entry *e = &t->entries[i];
        if (e->output && output) return refuse(t, output, e, err);
        if (e->output) output = e;
    }
    for (size_t i = begin; output && i < end; i++)
        if (t->entries[i].index != output->index) return refuse(t, output, &t->entries[i], err);
    return GI_OK;
}

// Whether case is folded where the entry's output goes: in the nearest directory that exists.
static bool folds_at(const table *t, const entry *e, char **probed, bool *folds) {
    const gi_item *item = &t->list->items[e->index];
    char *rest = NULL, *parent = gi_path_parent(e->output ? item->out : item->in);
    char *base = parent ? gi_path_nearest(parent, &rest) : NULL;
    if (base && (!*probed || strcmp(*probed, base) != 0)) {
        *folds = gi_folds_case(base);
        free(*probed);
        *probed = base;
        base = NULL;
    }
    free(base);
    free(rest);
    free(parent);
    return *probed && *folds;
}

static gi_status check_all(const table *t, gi_error *err) {
    gi_status status = GI_OK;
    char *probed = NULL;
    bool folds = false;
    for (size_t begin = 0, end; begin < t->count && status == GI_OK; begin = end) {
        size_t exact = begin, outputs = 0, keys = 0;
        for (end = begin; end < t->count && strcmp(t->entries[end].folded, t->entries[begin].folded) == 0; end++) {
            outputs += t->entries[end].output;
            if (end > begin && strcmp(t->entries[end].key, t->entries[end - 1].key) == 0) continue;
            if (status == GI_OK && end > begin) status = check_group(t, exact, end, err);
            exact = end;
            keys++;
        }
        if (status == GI_OK) status = check_group(t, exact, end, err);
        if (status == GI_OK && keys > 1 && outputs > 0 && folds_at(t, &t->entries[begin], &probed, &folds))
            status = check_group(t, begin, end, err);
    }
    free(probed);
    return status;
}

static gi_status mark_all(table *t, gi_error *err) {
    size_t bytes = 0;
    gi_status status = GI_OK;
    if (!gi_mul(t->list->count, 2 * sizeof *t->marks, &bytes) || !(t->marks = malloc(bytes)))
        return gi_fail(err, GI_ERR_MEMORY, "out of memory for names");
    for (size_t i = 0; i < t->list->count && status == GI_OK; i++) {
        if (!t->list->items[i].out) continue;
        status = add_mark(t, 2 * i + 1, err);
        if (status == GI_OK) status = add_mark(t, 2 * i, err);
    }
    if (t->marked > 1) qsort(t->marks, t->marked, sizeof *t->marks, by_hash);
    keep_shared(t);
    return status;
}

gi_status gi_collisions_check(const gi_item_list *list, gi_error *err) {
    table t = {.list = list};
    size_t bytes = 0;
    gi_status status = list->count < 2 ? GI_OK : mark_all(&t, err);
    if (status == GI_OK && t.marked && (!gi_mul(t.marked, sizeof *t.entries, &bytes) || !(t.entries = malloc(bytes))))
        status = gi_fail(err, GI_ERR_MEMORY, "out of memory for names");
    for (size_t i = 0; i < t.marked && status == GI_OK; i++) {
        status = make_keys(&t, t.marks[i].place, &t.entries[t.count], err);
        if (status == GI_OK && t.entries[t.count].key) t.count++;
    }
    if (status == GI_OK && t.count > 1) {
        qsort(t.entries, t.count, sizeof *t.entries, by_key);
        status = check_all(&t, err);
    }
    for (size_t i = 0; i < t.count; i++) free_keys(&t.entries[i]);
    free(t.entries);
    free(t.marks);
    gi_path_parents_free(&t.inputs);
    gi_path_parents_free(&t.outputs);
    return status;
}
