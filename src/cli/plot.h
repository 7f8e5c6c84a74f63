// The picture of a histogram: axes, curves and statistics as a list of areas, lines and texts, for any painter.
#ifndef GI_CLI_PLOT_H
#define GI_CLI_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/buffer.h"
#include "cli/report.h"
#include "cli/xy.h"

enum { GI_PLOT_WIDTH = 1000, GI_PLOT_HEIGHT = 600 }; // of a page, pixels

// ---- the list -----------------------------------------------------------------------------------------------------

typedef enum gi_plot_ink {
    GI_PLOT_PAPER,
    GI_PLOT_GRID,
    GI_PLOT_AXIS,
    GI_PLOT_INK,
    GI_PLOT_MUTED,
    GI_PLOT_GRAY, // the channels, in the order of gi_report_channel_names
    GI_PLOT_RED,
    GI_PLOT_GREEN,
    GI_PLOT_BLUE,
    GI_PLOT_ALPHA,
    GI_PLOT_INKS
} gi_plot_ink;

typedef struct gi_plot_colour {
    const char *name; // a class in SVG
    uint8_t rgb[3];   // on white
} gi_plot_colour;

extern const gi_plot_colour gi_plot_colours[GI_PLOT_INKS];

typedef enum gi_plot_kind { GI_PLOT_AREA, GI_PLOT_LINE, GI_PLOT_TEXT } gi_plot_kind;
typedef enum gi_plot_anchor { GI_PLOT_START, GI_PLOT_MIDDLE, GI_PLOT_END } gi_plot_anchor;

typedef struct gi_plot_style {
    gi_plot_ink ink;
    float opacity; // of an area
    float size;    // of a line: its width; of a text: the height of its em
    gi_plot_anchor anchor;
    bool bold;
    bool upwards; // a text that reads from below
    float room;   // a text that is wider loses its middle; 0: any width
} gi_plot_style;

// What follows the struct: `count` points; for a text one point, on its base line, and its bytes with a NUL.
typedef struct gi_plot_item {
    gi_plot_kind kind;
    gi_plot_style style;
    uint32_t count;
    uint32_t bytes; // to the next item
} gi_plot_item;

// A list is the contents of a gi_buffer. Points of an area: its outline, closed by itself.
void gi_plot_add_shape(gi_buffer *plot, gi_plot_kind kind, gi_plot_style style, const gi_xy *points, size_t count);
// An empty text adds nothing.
void gi_plot_add_text(gi_buffer *plot, gi_plot_style style, gi_xy at, const char *text);

// The first item (item NULL) or the next one; NULL at the end.
const gi_plot_item *gi_plot_next(const gi_buffer *plot, const gi_plot_item *item);
const gi_xy *gi_plot_points(const gi_plot_item *item);
const char *gi_plot_text(const gi_plot_item *item);

// Pixels that a text takes in either font: that of a picture, and a viewer's, of about 0.62 em a letter.
float gi_plot_text_width(const char *text, float size);

// Appends valid UTF-8 in at most `columns` columns (wide characters take two): what is too much gives way to three dots
// in the middle, as a name's beginning and end tell most.
void gi_plot_elide(gi_buffer *out, const char *text, size_t columns);

// ---- scales -------------------------------------------------------------------------------------------------------

enum { GI_PLOT_COLUMNS = 512 };

// Bins as they are drawn: no more than there is room for. Column i holds the levels edges[i] .. edges[i + 1] - 1.
typedef struct gi_plot_columns {
    uint32_t count;
    uint32_t edges[GI_PLOT_COLUMNS + 1];
    double shares[GI_REPORT_CHANNELS][GI_PLOT_COLUMNS]; // of the channel's samples, 0..1
} gi_plot_columns;

uint32_t gi_plot_column_count(const gi_report_image *image);
void gi_plot_columns_of(const gi_report_image *image, gi_plot_columns *columns);

// The largest share that the scale must show. Where a few columns (at most four a channel) tower over all others, it
// is the largest of the others: blown-out highlights must not flatten the rest. 0 when there are no samples.
double gi_plot_limit(const gi_plot_columns *columns, int channels);

// The step of 1, 2 or 5 times a power of ten by which at most `steps` steps reach `limit` (> 0); and the decimals
// that a multiple of it needs.
double gi_plot_nice_step(double limit, int steps);
int gi_plot_decimals(double step);

// An integer with thin groups of three: 33 177 600.
void gi_plot_add_number(gi_buffer *text, uint64_t number);

// A percentage of two decimals; "< 0.01%" rather than a zero that is none.
void gi_plot_add_share(gi_buffer *text, uint64_t count, uint64_t of);

// "640 x 480, RGB, 307 200 pixels", or how many images a total has.
void gi_plot_add_size(gi_buffer *text, const gi_report_image *image);

// ---- the picture --------------------------------------------------------------------------------------------------

// The same plot for places of several widths: shown about as large as it is, its letters can be read.
typedef enum gi_plot_form { GI_PLOT_PAGE, GI_PLOT_BROAD, GI_PLOT_WIDE, GI_PLOT_NARROW, GI_PLOT_FORMS } gi_plot_form;

typedef struct gi_plot_form_data {
    const char *name; // a class in HTML
    float width, height;
    float left, right; // margins beside the axes: the left one at least so wide
    float head;        // above the labels of what is higher than the scale
    float letters, small_letters;
    int label_rows;
    bool titles; // of the axes
} gi_plot_form_data;

extern const gi_plot_form_data gi_plot_forms[GI_PLOT_FORMS];

// A plot in three lists, which lie one over the other. The curves of any form serve all others: only their rectangle is
// another.
typedef struct gi_plot_layers {
    gi_buffer below, curves, above; // owned
    float left, right, top, base;   // of the curves' rectangle
    bool cut;                       // something is higher than the scale: a triangle shows where
} gi_plot_layers;

void gi_plot_layout(gi_plot_layers *layers, const gi_report_image *image, gi_plot_form form);
void gi_plot_layers_free(gi_plot_layers *layers);

// "share of the pixels at each level", the title of the upper axis.
void gi_plot_add_measure(gi_buffer *text, const gi_report_image *image);

extern const char gi_plot_cut_note[]; // what the triangles mean

// A page: the plot, a title and statistics, in GI_PLOT_WIDTH x GI_PLOT_HEIGHT.
void gi_plot_layout_page(gi_buffer *plot, const gi_report_image *image);
float gi_plot_table_height(const gi_report_image *image); // of the statistics

gi_plot_ink gi_plot_ink_of(const char *channel);
void gi_plot_add_box(gi_buffer *plot, gi_plot_ink ink, gi_xy from, gi_xy to);

// A page that says that there was nothing to plot.
void gi_plot_layout_empty(gi_buffer *plot);

#endif
