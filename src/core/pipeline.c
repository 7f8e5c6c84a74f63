#include "core/pipeline.h"

#include <stdarg.h>
#include <string.h>

#include "core/text.h"

enum { MAX_BYTES = 65536 }; // far past any sensible pipeline; keeps places within int

// A piece of the text: the word at hand, or a part of it.
typedef struct span {
    const char *start;
    size_t length;
} span;

typedef struct parser {
    const char *text; // start of the whole text, for places
    const char *next; // not yet consumed
    gi_pipeline *pipeline;
    gi_error *err;
    span name;      // of the stage at hand
    uint64_t given; // options of the stage at hand: bit i for option i
    bool bare;      // ... a word without key was among them
} parser;

// White space of the C locale, whatever the program's.
static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Fails with a caret under `place`.
__attribute__((format(printf, 3, 4))) static gi_status fail_at(const parser *p, span place, const char *format, ...) {
    va_list list;
    va_start(list, format);
    gi_failv(p->err, GI_ERR_USAGE, format, list);
    va_end(list);
    if (p->err) {
        p->err->place_offset = (int)(place.start - p->text);
        p->err->place_length = place.length > 0 ? (int)place.length : 1;
    }
    return GI_ERR_USAGE;
}

static void skip_space(parser *p) {
    while (is_space(*p->next)) p->next++;
}

// The next word; empty where a '|' or the end comes first.
static span next_word(parser *p) {
    skip_space(p);
    span word = {p->next, 0};
    while (*p->next != '\0' && *p->next != '|' && !is_space(*p->next)) p->next++;
    word.length = (size_t)(p->next - word.start);
    return word;
}

// "a, b and c"
static void list_options(const gi_stage *stage, char *list, size_t size) {
    gi_text text = gi_text_over(list, size);
    for (int i = 0; i < stage->option_count; i++) {
        const char *between = i == 0 ? "" : i + 1 < stage->option_count ? ", " : " and ";
        gi_text_add(&text, "%s%s", between, stage->options[i].name);
    }
}

static void list_stages(char *list, size_t size) {
    gi_text text = gi_text_over(list, size);
    for (int i = 0; i < GI_STAGE_COUNT; i++) {
        const char *between = i == 0 ? "" : i + 1 < GI_STAGE_COUNT ? ", " : " and ";
        gi_text_add(&text, "%s%s", between, gi_stage_table[i].name);
    }
}

static gi_status fail_stage(const parser *p, span name) {
    char quoted[GI_QUOTE_BYTES], value[GI_QUOTE_BYTES], list[200];
    const char *equals = memchr(name.start, '=', name.length);
    gi_quote(quoted, name.start, name.length);
    if (equals) {
        size_t before = (size_t)(equals - name.start), after = name.length - before - 1;
        const gi_stage *stage = gi_stage_find(name.start, before);
        if (!stage) return fail_at(p, name, "'%s' stands where a stage's name belongs", quoted);
        return fail_at(p, name, "unknown stage '%s': write '%s %s=%s'", quoted, stage->name, stage->options[0].name,
                       gi_quote(value, equals + 1, after));
    }
    const char *nearest = gi_stage_nearest(name.start, name.length);
    if (nearest) return fail_at(p, name, "unknown stage '%s': did you mean '%s'?", quoted, nearest);
    list_stages(list, sizeof list);
    return fail_at(p, name, "unknown stage '%s': stages are %s", quoted, list);
}

static const char *nearest_option(const gi_stage *stage, span key) {
    const char *names[64];
    size_t count = 0;
    for (; count < (size_t)stage->option_count && count < 64; count++) names[count] = stage->options[count].name;
    return gi_nearest_word(key.start, key.length, names, count);
}

static gi_status fail_key(const parser *p, const gi_stage *stage, span key) {
    char quoted[GI_QUOTE_BYTES], list[200];
    const char *nearest = nearest_option(stage, key);
    gi_quote(quoted, key.start, key.length);
    list_options(stage, list, sizeof list);
    if (key.length == 0) return fail_at(p, key, "'=' without a key before it: %s takes %s", stage->name, list);
    if (nearest)
        return fail_at(p, key, "unknown option '%s' of %s: did you mean '%s'? (%s takes %s)", quoted, stage->name,
                       nearest, stage->name, list);
    return fail_at(p, key, "unknown option '%s': %s takes %s", quoted, stage->name, list);
}

// Parses the value into the call and marks the option as given.
static gi_status set_option(parser *p, gi_stage_call *call, const gi_stage_option *option, span value) {
    gi_error reason;
    if (gi_stage_option_parse(option, value.start, value.length, &call->args, &reason) != GI_OK)
        return fail_at(p, value, "%s", reason.text);
    p->given |= (uint64_t)1 << (option - call->stage->options);
    return GI_OK;
}

static bool is_given(const parser *p, const gi_stage *stage, const gi_stage_option *option) {
    return (p->given >> (option - stage->options) & 1) != 0;
}

// True where the rest of the stage begins with '=', as in 'level = 5'.
static bool equals_follows(const parser *p) {
    const char *c = p->next;
    while (is_space(*c)) c++;
    return *c == '=';
}

static gi_status fail_spaced(const parser *p, span word, const gi_stage_option *option) {
    return fail_at(p, word, "no space may stand beside '=': write %s=VALUE in one word", option->name);
}

// key=value
static gi_status parse_pair(parser *p, gi_stage_call *call, span word, const char *equals) {
    span key = {word.start, (size_t)(equals - word.start)};
    span value = {equals + 1, word.length - key.length - 1};
    const gi_stage_option *option = gi_stage_option_find(call->stage, key.start, key.length);
    if (!option) return fail_key(p, call->stage, key);
    if (is_given(p, call->stage, option)) return fail_at(p, word, "%s is given twice", option->name);
    if (value.length == 0) {
        char accepts[200];
        parser ahead = *p;
        if (next_word(&ahead).length > 0) return fail_spaced(p, word, option);
        gi_stage_option_accepts(option, accepts, sizeof accepts);
        return fail_at(p, word, "%s= has no value: it must be %s", option->name, accepts);
    }
    return set_option(p, call, option, value);
}

// A word without key: the stage's first option, once.
static gi_status parse_bare(parser *p, gi_stage_call *call, span word) {
    const gi_stage *stage = call->stage;
    const gi_stage_option *first = &stage->options[0];
    const gi_stage_option *named = gi_stage_option_find(stage, word.start, word.length);
    char quoted[GI_QUOTE_BYTES], accepts[200];
    gi_quote(quoted, word.start, word.length);
    if (named && equals_follows(p)) return fail_spaced(p, word, named);
    if (named) {
        gi_stage_option_accepts(named, accepts, sizeof accepts);
        return fail_at(p, word, "%s has no value: write %s=VALUE, where VALUE must be %s", named->name, named->name,
                       accepts);
    }
    if (gi_stage_find(word.start, word.length)) return fail_at(p, word, "a '|' must stand before stage '%s'", quoted);
    if (word.length > 2 && memcmp(word.start, "--", 2) == 0)
        return fail_at(p, word, "options in a pipeline are written KEY=VALUE, not '%s'", quoted);
    if (p->bare)
        return fail_at(p, word, "second word without a key, '%s': %s takes one, for %s", quoted, stage->name,
                       first->name);
    if (is_given(p, stage, first)) return fail_at(p, word, "%s is given twice", first->name);
    p->bare = true;
    return set_option(p, call, first, word);
}

// What holds for some depth is left to the plan, which knows the image: 16 bits allow the most.
static gi_status check_window(const gi_stage_call *call, gi_error *err) {
    return call->stage->check ? call->stage->check(&call->args, GI_U16, err) : GI_OK;
}

// One stage up to its '|' or the end. `bar` is the '|' before it, for blame when nothing follows.
static gi_status parse_stage(parser *p, const char *bar) {
    span name = next_word(p);
    if (name.length == 0) {
        span place = {*p->next == '|' ? p->next : bar, 1};
        if (!bar && *p->next == '\0')
            return fail_at(p, (span){p->text, 1}, "the pipeline is empty: name a stage, such as 'gray'");
        return fail_at(p, place, "empty stage: %s this '|'",
                       place.start == bar ? "nothing follows" : "nothing precedes");
    }
    int before = p->pipeline->count;
    if (before > 0 && p->pipeline->calls[before - 1].stage->kind == GI_STAGE_MEASURE)
        return fail_at(p, p->name, "%s measures and passes no image on: it must be the last stage",
                       p->pipeline->calls[before - 1].stage->name);
    const gi_stage *stage = gi_stage_find(name.start, name.length);
    if (!stage) return fail_stage(p, name);
    gi_stage_call *call = gi_pipeline_append(p->pipeline, stage);
    if (!call) return fail_at(p, name, "more than %d stages", (int)GI_MAX_STAGES);
    p->name = name;
    p->given = 0;
    p->bare = false;
    gi_status status = GI_OK;
    for (span word; status == GI_OK && (word = next_word(p)).length > 0;) {
        const char *equals = memchr(word.start, '=', word.length);
        status = equals ? parse_pair(p, call, word, equals) : parse_bare(p, call, word);
    }
    gi_error reason;
    if (status == GI_OK && check_window(call, &reason) != GI_OK) status = fail_at(p, name, "%s", reason.text);
    return status;
}

gi_status gi_pipeline_parse(const char *text, gi_pipeline *pipeline, gi_error *err) {
    parser p = {.text = text, .next = text, .pipeline = pipeline, .err = err};
    pipeline->count = 0;
    if (strlen(text) > MAX_BYTES)
        return gi_fail(err, GI_ERR_USAGE, "the pipeline is longer than %d bytes", (int)MAX_BYTES);
    gi_status status = parse_stage(&p, NULL);
    while (status == GI_OK && *p.next == '|') {
        const char *bar = p.next++;
        status = parse_stage(&p, bar);
    }
    return status;
}

gi_stage_call *gi_pipeline_append(gi_pipeline *pipeline, const gi_stage *stage) {
    if (pipeline->count >= GI_MAX_STAGES) return NULL;
    gi_stage_call *call = &pipeline->calls[pipeline->count++];
    call->stage = stage;
    gi_stage_defaults(stage, &call->args);
    return call;
}

gi_status gi_pipeline_check(const gi_pipeline *pipeline, gi_error *err) {
    if (pipeline->count == 0) return gi_fail(err, GI_ERR_USAGE, "the pipeline is empty");
    for (int i = 0; i < pipeline->count; i++) {
        const gi_stage *stage = pipeline->calls[i].stage;
        gi_status status = check_window(&pipeline->calls[i], err);
        if (status != GI_OK) return status;
        if (stage->kind == GI_STAGE_MEASURE && i + 1 < pipeline->count)
            return gi_fail(err, GI_ERR_USAGE, "%s measures and passes no image on: it must be the last stage",
                           stage->name);
    }
    return GI_OK;
}

void gi_pipeline_text(const gi_pipeline *pipeline, char *text, size_t size) {
    gi_text out = gi_text_over(text, size);
    char value[64];
    for (int i = 0; i < pipeline->count; i++) {
        const gi_stage_call *call = &pipeline->calls[i];
        gi_text_add(&out, "%s%s", i == 0 ? "" : " | ", call->stage->name);
        for (int k = 0; k < call->stage->option_count; k++) {
            const gi_stage_option *option = &call->stage->options[k];
            if (gi_stage_option_value(option, &call->args, value, sizeof value))
                gi_text_add(&out, " %s=%s", option->name, value);
        }
    }
}
