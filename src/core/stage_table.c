#include "core/stage_table.h"

#include <string.h>

#define OPTION_ROW(stage, type, name, standard, min, max, words, help)                                                 \
    {#name, words, help, standard, min, max, offsetof(gi_##stage##_args, name), GI_OPTION_##type},
#define OPTION_ROWS(kind, name, summary, detail, example1, example2)                                                   \
    static const gi_stage_option options_##name[] = {GI_OPTIONS_##name(OPTION_ROW)};
GI_STAGES(OPTION_ROWS)

#define POINT_OF_POINT(name) gi_##name##_point
#define POINT_OF_WINDOW(name) NULL
#define POINT_OF_MEASURE(name) NULL
#define HALO_OF_POINT(name) NULL
#define HALO_OF_WINDOW(name) gi_##name##_halo
#define HALO_OF_MEASURE(name) NULL
#define SCRATCH_OF_POINT(name) NULL
#define SCRATCH_OF_WINDOW(name) gi_##name##_scratch
#define SCRATCH_OF_MEASURE(name) NULL
#define CHECK_OF_POINT(name) NULL
#define CHECK_OF_WINDOW(name) gi_##name##_check
#define CHECK_OF_MEASURE(name) NULL
#define COST_OF_POINT(name) NULL
#define COST_OF_WINDOW(name) gi_##name##_cost
#define COST_OF_MEASURE(name) NULL
#define STAGE_ROW(kind, name, summary, detail, example1, example2)                                                     \
    {#name,                                                                                                            \
     summary,                                                                                                          \
     detail,                                                                                                           \
     {example1, example2},                                                                                             \
     options_##name,                                                                                                   \
     (int)(sizeof options_##name / sizeof options_##name[0]),                                                          \
     GI_STAGE_##kind,                                                                                                  \
     GI_STAGE_ID_##name,                                                                                               \
     POINT_OF_##kind(name),                                                                                            \
     HALO_OF_##kind(name),                                                                                             \
     SCRATCH_OF_##kind(name),                                                                                          \
     CHECK_OF_##kind(name),                                                                                            \
     COST_OF_##kind(name)},
const gi_stage gi_stage_table[] = {GI_STAGES(STAGE_ROW)};

#define STAGE_NAME(kind, name, summary, detail, example1, example2) #name,
static const char *const stage_names[] = {GI_STAGES(STAGE_NAME)};

static bool same_word(const char *word, const char *text, size_t length) {
    return strlen(word) == length && memcmp(word, text, length) == 0;
}

const gi_stage *gi_stage_find(const char *name, size_t length) {
    for (int i = 0; i < GI_STAGE_COUNT; i++)
        if (same_word(stage_names[i], name, length)) return &gi_stage_table[i];
    return NULL;
}

const gi_stage_option *gi_stage_option_find(const gi_stage *stage, const char *name, size_t length) {
    for (int i = 0; i < stage->option_count; i++)
        if (same_word(stage->options[i].name, name, length)) return &stage->options[i];
    return NULL;
}

const char *gi_stage_nearest(const char *name, size_t length) {
    return gi_nearest_word(name, length, stage_names, GI_STAGE_COUNT);
}

static void set_default(const gi_stage_option *option, gi_stage_args *args) {
    char *field = (char *)args + option->field_offset;
    int choice = (int)option->standard;
    int32_t integer = (int32_t)option->standard;
    switch (option->type) {
    case GI_OPTION_CHOICE: memcpy(field, &choice, sizeof choice); break;
    case GI_OPTION_INTEGER:
    case GI_OPTION_LEVEL: memcpy(field, &integer, sizeof integer); break;
    case GI_OPTION_REAL: memcpy(field, &option->standard, sizeof option->standard); break;
    }
}

void gi_stage_defaults(const gi_stage *stage, gi_stage_args *args) {
    memset(args, 0, sizeof *args);
    for (int i = 0; i < stage->option_count; i++) set_default(&stage->options[i], args);
}
