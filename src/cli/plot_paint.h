// Plots (plot.h) as pixels.
#ifndef GI_CLI_PLOT_PAINT_H
#define GI_CLI_PLOT_PAINT_H

#include "cli/buffer.h"
#include "cli/canvas.h"

// Draws the plot's list from the canvas' upper left corner on. A line has at most 2 GI_PLOT_COLUMNS + 2 points.
void gi_plot_paint(gi_canvas *canvas, const gi_buffer *plot);

#endif
