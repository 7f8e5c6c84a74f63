// The formats that a report can be written in: a row here, and a file of its own.
#include <string.h>

#include "cli/report.h"
#include "core/text.h"

static const gi_report_style *const styles[] = {
    &gi_report_text, &gi_report_json, &gi_report_csv, &gi_report_svg, &gi_report_png, &gi_report_html,
};
enum { STYLES = sizeof styles / sizeof styles[0] };

const gi_report_style *gi_report_style_of_word(const char *word) {
    for (int i = 0; i < STYLES; i++)
        if (gi_same_word(word, styles[i]->word)) return styles[i];
    return NULL;
}

const gi_report_style *gi_report_style_of_name(const char *name) {
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    const char *dot = strrchr(last, '.');
    return dot ? gi_report_style_of_word(dot + 1) : NULL;
}

void gi_report_add_words(gi_buffer *text, const char *mark) {
    for (int i = 0; i < STYLES; i++)
        gi_buffer_printf(text, "%s%s%s", i == 0 ? "" : i + 1 < STYLES ? ", " : " and ", mark, styles[i]->word);
}
