// Progress as text.
#include <string.h>

#include "cli/progress.h"

enum { BAR_LEAST = 8, BAR_MOST = 30 }; // columns within the brackets

static size_t ended(const gi_progress_state *s) { return s->done + s->skipped + s->failed; }

// Images that took time; skipped ones do not tell how long the others will take.
static size_t worked(const gi_progress_state *s) { return s->done + s->failed; }

static double per_second(double amount, const gi_progress_state *s) { return s->seconds > 0 ? amount / s->seconds : 0; }

// Below 0: not known yet.
static double seconds_left(const gi_progress_state *s) {
    return worked(s) > 0 ? (double)(s->total - ended(s)) * s->seconds / (double)worked(s) : -1;
}

static void add_duration(gi_buffer *text, double seconds) {
    if (seconds > 359999) seconds = 359999; // 99:59:59
    unsigned long whole = (unsigned long)(seconds + 0.5), hours = whole / 3600;
    if (hours > 0)
        gi_buffer_printf(text, "%lu:%02lu:%02lu left", hours, whole / 60 % 60, whole % 60);
    else
        gi_buffer_printf(text, "%lu:%02lu left", whole / 60, whole % 60);
}

// Three digits or so.
static void add_rate(gi_buffer *text, double rate, const char *unit) {
    gi_buffer_printf(text, rate < 10 ? "%.2f %s" : rate < 100 ? "%.1f %s" : "%.0f %s", rate, unit);
}

enum { PIECES = 5 }; // in the order in which they stand

static void make_pieces(const gi_progress_state *s, gi_buffer pieces[PIECES]) {
    gi_buffer_printf(&pieces[0], "%zu/%zu", ended(s), s->total);
    if (worked(s) > 0) {
        add_rate(&pieces[1], per_second((double)worked(s), s), "images/s");
        add_rate(&pieces[2], per_second((double)s->bytes_in, s) / 1e6, "MB/s");
        add_duration(&pieces[3], seconds_left(s));
    }
    if (s->failed > 0) gi_buffer_printf(&pieces[4], "%zu failed", s->failed);
}

// Marks the pieces that find room, the important ones first; returns the columns they take.
static int choose(const gi_buffer pieces[PIECES], int columns, bool chosen[PIECES]) {
    static const int by_importance[PIECES] = {0, 4, 3, 1, 2};
    int used = 0;
    for (int i = 0; i < PIECES; i++) {
        int p = by_importance[i], need = (int)pieces[p].size + (used > 0 ? 2 : 0);
        chosen[p] = pieces[p].size > 0 && used + need <= columns && (i == 0 || chosen[0]);
        if (chosen[p]) used += need;
    }
    return used;
}

static void add_bar(gi_buffer *text, const gi_progress_state *s, int width, bool utf8) {
    size_t full = s->total > 0 ? (size_t)((double)width * (double)ended(s) / (double)s->total) : 0;
    gi_buffer_puts(text, "[");
    gi_buffer_repeat(text, utf8 ? "\u2588" : "#", full);
    gi_buffer_repeat(text, utf8 ? "\u2591" : ".", (size_t)width - full);
    gi_buffer_puts(text, "] ");
}

void gi_progress_bar(const gi_progress_state *state, int columns, bool utf8, gi_buffer *text) {
    gi_buffer pieces[PIECES] = {{0}};
    bool chosen[PIECES];
    make_pieces(state, pieces);
    int width = columns - choose(pieces, columns, chosen) - 3;
    if (chosen[0] && width >= BAR_LEAST) add_bar(text, state, width < BAR_MOST ? width : BAR_MOST, utf8);
    if (!chosen[0] && columns >= 4 && state->total > 0)
        gi_buffer_printf(text, "%d%%", (int)(100.0 * (double)ended(state) / (double)state->total));
    const char *separator = "";
    for (int p = 0; p < PIECES; p++) {
        if (chosen[p]) {
            gi_buffer_printf(text, "%s%s", separator, pieces[p].data);
            separator = ", ";
        }
        gi_buffer_free(&pieces[p]);
    }
}

void gi_progress_json(const gi_progress_state *s, bool final, gi_buffer *text) {
    gi_buffer_printf(text, "{\"done\":%zu,\"skipped\":%zu,\"failed\":%zu,\"total\":%zu", s->done, s->skipped, s->failed,
                     s->total);
    gi_buffer_printf(text, ",\"bytes_in\":%llu,\"bytes_out\":%llu,\"seconds\":%.3f", (unsigned long long)s->bytes_in,
                     (unsigned long long)s->bytes_out, s->seconds);
    gi_buffer_printf(text, ",\"images_per_second\":%.3f,\"mb_per_second\":%.3f,\"seconds_left\":",
                     per_second((double)worked(s), s), per_second((double)s->bytes_in, s) / 1e6);
    if (seconds_left(s) >= 0)
        gi_buffer_printf(text, "%.3f", seconds_left(s));
    else
        gi_buffer_puts(text, "null");
    gi_buffer_printf(text, ",\"final\":%s}", final ? "true" : "false");
}
