// Histogram reports in several formats, one after the other in the order of the inputs, or all added up.
#ifndef GI_CLI_REPORT_H
#define GI_CLI_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/buffer.h"
#include "cli/terminal.h"
#include "codec/codec.h"
#include "core/status.h"
#include "run/batch.h"

// ---- one report ---------------------------------------------------------------------------------------------------

enum { GI_REPORT_CHANNELS = 5 };
extern const char *const gi_report_channel_names[GI_REPORT_CHANNELS]; // gray, red, green, blue, alpha

typedef struct gi_report_channel {
    const char *name;
    const uint64_t *counts; // levels of them
} gi_report_channel;

// One image, or the total of several (files > 0; width and height are 0 then).
typedef struct gi_report_image {
    const char *file; // "-" for standard input
    size_t files;
    size_t index; // its place among the inputs
    uint32_t width, height;
    uint64_t pixels;
    uint32_t levels, bins;
    int channel_count;
    gi_report_channel channels[GI_REPORT_CHANNELS];
    const gi_view *thumbnail; // of the image as decoded, u8; NULL where the format has none, and for totals
    bool piped;               // other stages came before hist: they are in the counts, not in the thumbnail
} gi_report_image;

// Bin b of `bins` over `levels` holds the levels first..last, both included.
void gi_report_bin_range(uint32_t levels, uint32_t bins, uint32_t b, uint32_t *first, uint32_t *last);

// An image that there is no report of, or the file of one that is damaged.
typedef enum gi_report_flaw_kind { GI_REPORT_MISSING, GI_REPORT_DAMAGED, GI_REPORT_FLAWS } gi_report_flaw_kind;

typedef struct gi_report_flaw {
    gi_report_flaw_kind kind;
    const char *file, *reason;
    size_t index; // of the image
    bool shown;   // the report has that image
} gi_report_flaw;

// The flaws of a kind, of which there is one at least.
typedef struct gi_report_flaws {
    gi_report_flaw_kind kind;
    uint64_t count;
    const gi_buffer
        *all;   // what `flaw` of the style made of each, in order; of reports that were merged there is nothing
    bool total; // the report is one of a total, which tells how many there are
} gi_report_flaws;

// How a format is written: head (in two parts, as C limits a string), images with `between` between them, what closes
// these, overview, flaws, foot. What is not set is left out.
typedef struct gi_report_style {
    const char *word; // of --format, and the extension
    const char *head, *more_head, *between, *close, *foot;
    // Appends what the image is in the file; called from several threads.
    void (*image)(gi_buffer *text, const gi_report_image *image, const gi_terminal *terminal);
    // Appends a flaw; and what becomes of all of a kind before the foot.
    void (*flaw)(gi_buffer *text, const gi_report_flaw *flaw);
    void (*flaws)(gi_buffer *text, const gi_report_flaws *flaws);
    // An overview before the foot: a row for each image, and what becomes of all rows, in order.
    void (*row)(gi_buffer *row, const gi_report_image *image);
    void (*overview)(gi_buffer *text, const gi_buffer *rows, size_t count);
    // For files that begin with what only their end tells: writes everything once all images are there, in order,
    // from what `image` made of each; the rest is not used.
    gi_status (*all)(const gi_buffer *images, size_t count, const gi_sink *sink, gi_error *err);
    size_t most;             // images in a file; 0: any number
    bool binary;             // nothing for a terminal
    uint32_t thumbnail_side; // at most, pixels; 0: no thumbnails
} gi_report_style;

// By the word of --format or a name's extension, in any letter case. NULL for others.
const gi_report_style *gi_report_style_of_word(const char *word);
const gi_report_style *gi_report_style_of_name(const char *name);

// Appends all words, each behind `mark`: "txt, json and csv".
void gi_report_add_words(gi_buffer *text, const char *mark);

// Text for people: sizes, statistics, a plot of each channel as wide as the terminal allows.
extern const gi_report_style gi_report_text;

// {"schema":1,"images":[...]} as documented in DESIGN section 3. "bins" holds the counts, "count" is their sum.
// A file name that is no UTF-8 has U+FFFD for each wrong byte, and its exact bytes in a further member "file_hex".
// A total has "files" (how many) instead of "width" and "height"; "pixels" is the sum over its images.
// Behind the images, where there are such: "failed":[{"file","reason"}], inputs that are not among them, and
// "damaged":[{"file","reason"}], those among them that were decoded only in part; for a total, how many there are:
// "failed_files" and "damaged_files".
extern const gi_report_style gi_report_json;

// A tidy table with a header: file,channel,bin,from,to,count; the bin holds the levels from..to. Names are literal
// bytes, quoted where they need it; on a terminal without what could drive it.
extern const gi_report_style gi_report_csv;

// A picture of 1000 x 600 for each image: axes, a curve for each channel, statistics.
extern const gi_report_style gi_report_svg;
extern const gi_report_style gi_report_png;

// A page of its own, without script and without anything from elsewhere: thumbnail, plot and table of each image, and
// an overview of several. Written as the images come.
extern const gi_report_style gi_report_html;

// The bars of one channel with axes; part of the text report.
void gi_report_plot(gi_buffer *text, const gi_report_image *image, int channel, const gi_terminal *terminal);

// ---- all reports of a run -----------------------------------------------------------------------------------------

typedef struct gi_report_request {
    const gi_report_style *style;
    const char *path; // NULL: standard output
    size_t count;     // images to come
    bool total, no_clobber;
    uint32_t bins; // of the total; 0: those of the first image
    bool piped;    // of gi_report_image
} gi_report_request;

typedef struct gi_report gi_report;

// Creates the output's temporary, so that an unwritable directory shows before the work. GI_ERR_LIMIT: more images than
// the format holds.
gi_status gi_report_open(const gi_report_request *request, gi_report **report, gi_error *err);

// Takes the result of image `index`. Thread-safe; each index once. Images print in order as soon as their turn comes.
void gi_report_add(gi_report *report, size_t index, const gi_measured *measured);

// Adds an image or a total, which need not be of this run, to the report's total (request.total). GI_ERR_FORMAT:
// another number of levels; GI_ERR_LIMIT: a sum passes 64 bits.
gi_status gi_report_add_up(gi_report *report, const gi_report_image *image, gi_error *err);

// Image `index`, of that file (NULL: standard input), will not come for that reason. Thread-safe.
void gi_report_pass(gi_report *report, size_t index, const char *file, const char *reason);

// Image `index`, which was added, is of a file that is damaged in that way. Thread-safe.
void gi_report_damaged(gi_report *report, size_t index, const char *file, const char *damage);

// A directory that could not be read: what lies in it will not come.
void gi_report_unread(gi_report *report, const char *directory, const char *reason);

// Adds as many flaws to those of the report's total (request.total). GI_ERR_LIMIT: the sum passes 64 bits.
gi_status gi_report_add_flaws(gi_report *report, gi_report_flaw_kind kind, uint64_t count, gi_error *err);

// GI_OK so far, or why the report cannot be completed.
gi_status gi_report_state(gi_report *report, gi_error *err);

// Writes what is left and makes the file appear.
gi_status gi_report_finish(gi_report *report, gi_error *err);

// NULL is fine; unless finished, no file appears.
void gi_report_close(gi_report *report);

#endif
