// What the preprocessor makes of stages.h: ids, argument structs, descriptors and prototypes; and the look-ups on them.
#ifndef GI_CORE_STAGE_TABLE_H
#define GI_CORE_STAGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/point.h"
#include "core/stages.h"
#include "core/status.h"
#include "core/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gi_stage_kind {
    GI_STAGE_POINT,  // output sample depends on the same pixel alone (and perhaps on the image's histogram)
    GI_STAGE_WINDOW, // ... on a neighbourhood
    GI_STAGE_MEASURE // a sink: produces counts, not pixels
} gi_stage_kind;

// GI_STAGE_ID_gray, GI_STAGE_ID_threshold, ...
#define GI_STAGE_ENUM(kind, name, summary, detail, example1, example2) GI_STAGE_ID_##name,
typedef enum gi_stage_id { GI_STAGES(GI_STAGE_ENUM) GI_STAGE_COUNT } gi_stage_id;
#undef GI_STAGE_ENUM

// struct gi_gray_args { int weights; }; ...
#define GI_FIELD_CHOICE int
#define GI_FIELD_INTEGER int32_t
#define GI_FIELD_REAL double
#define GI_FIELD_LEVEL int32_t
#define GI_ARGS_FIELD(stage, type, name, standard, min, max, words, help) GI_FIELD_##type name;
#define GI_ARGS_STRUCT(kind, name, summary, detail, example1, example2)                                                \
    typedef struct gi_##name##_args {                                                                                  \
        GI_OPTIONS_##name(GI_ARGS_FIELD)                                                                               \
    } gi_##name##_args;
GI_STAGES(GI_ARGS_STRUCT)
#undef GI_ARGS_STRUCT
#undef GI_ARGS_FIELD

// Room for the arguments of any stage.
#define GI_ARGS_MEMBER(kind, name, summary, detail, example1, example2) gi_##name##_args name;
typedef union gi_stage_args {
    GI_STAGES(GI_ARGS_MEMBER)
} gi_stage_args;
#undef GI_ARGS_MEMBER

typedef enum gi_option_type { GI_OPTION_CHOICE, GI_OPTION_INTEGER, GI_OPTION_REAL, GI_OPTION_LEVEL } gi_option_type;

typedef struct gi_stage_option {
    const char *name;
    const char *words; // "a|b|c" or ""
    const char *help;
    double standard; // the default, as stored
    double min, max;
    size_t field_offset; // into the stage's argument struct
    gi_option_type type;
} gi_stage_option;

typedef struct gi_stage {
    const char *name;
    const char *summary;
    const char *detail;
    const char *examples[2];
    const gi_stage_option *options;
    int option_count;
    gi_stage_kind kind;
    gi_stage_id id;
    gi_point_fn point;        // POINT stages; NULL for the others
    gi_halo_fn halo;          // WINDOW stages; NULL for the others
    gi_scratch_fn scratch;    // likewise
    gi_window_check_fn check; // likewise
    gi_cost_fn cost;          // likewise
} gi_stage;

// All stages in table order, GI_STAGE_COUNT of them.
extern const gi_stage gi_stage_table[];

// The stage of that name (`length` bytes, no terminator needed), or NULL.
const gi_stage *gi_stage_find(const char *name, size_t length);

// The stage's option of that name, or NULL.
const gi_stage_option *gi_stage_option_find(const gi_stage *stage, const char *name, size_t length);

// The known stage name nearest to what was typed, or NULL when none is near.
const char *gi_stage_nearest(const char *name, size_t length);

// Sets every field of *args to its default.
void gi_stage_defaults(const gi_stage *stage, gi_stage_args *args);

// Parses `value` (`length` bytes) into the option's field of *args. GI_ERR_USAGE names the option and what it accepts.
gi_status gi_stage_option_parse(const gi_stage_option *option, const char *value, size_t length, gi_stage_args *args,
                                gi_error *err);

// Writes the option's value in *args as a user would type it; truncates. False, and an empty text, for a default that
// has no words of its own (GI_LEVEL_HALF).
bool gi_stage_option_value(const gi_stage_option *option, const gi_stage_args *args, char *text, size_t size);

// Writes what the option accepts ("601, 709 or linear", "an integer from 0 to 65535, or otsu") into text; truncates.
void gi_stage_option_accepts(const gi_stage_option *option, char *text, size_t size);

// Writes the default as a user would type it ("601", "half of the range (128; 16-bit: 32768)"); truncates.
void gi_stage_option_standard(const gi_stage_option *option, char *text, size_t size);

// The nearest of `count` words to what was typed (edit distance with transpositions, at most a third of the length
// rounded up; letter case does not count), or NULL. Ties go to the earlier word.
const char *gi_nearest_word(const char *typed, size_t length, const char *const *words, size_t count);

// Prototypes of the stages' functions: gi_gray_point (see gi_point_fn); of a WINDOW stage gi_blur_halo,
// gi_blur_scratch, gi_blur_check, gi_blur_cost and gi_cpu_blur (see window.h).
#define GI_PROTOTYPE_POINT(name)                                                                                       \
    gi_status gi_##name##_point(const void *args, const gi_point_input *in, gi_point *out, gi_error *err);
#define GI_PROTOTYPE_WINDOW(name)                                                                                      \
    uint32_t gi_##name##_halo(const void *args);                                                                       \
    uint32_t gi_##name##_scratch(const void *args);                                                                    \
    gi_status gi_##name##_check(const void *args, gi_sample sample, gi_error *err);                                    \
    gi_cost gi_##name##_cost(const void *args);                                                                        \
    gi_status gi_cpu_##name(const gi_window_job *job, gi_error *err);
#define GI_PROTOTYPE_MEASURE(name)
#define GI_PROTOTYPE(kind, name, summary, detail, example1, example2) GI_PROTOTYPE_##kind(name)
GI_STAGES(GI_PROTOTYPE)
#undef GI_PROTOTYPE
#undef GI_PROTOTYPE_POINT
#undef GI_PROTOTYPE_WINDOW
#undef GI_PROTOTYPE_MEASURE

#ifdef __cplusplus
}
#endif
#endif
