// A plot as SVG elements, for the SVG report and inside the HTML one.
#ifndef GI_CLI_REPORT_SVG_H
#define GI_CLI_REPORT_SVG_H

#include "cli/buffer.h"

// Appends the elements of a plot (plot.h) with the colours for white paper. Each has its ink's name as a class, and
// `area` or `line`, so that a style sheet can give others.
void gi_svg_add_plot(gi_buffer *svg, const gi_buffer *plot);

#endif
