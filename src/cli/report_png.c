// Histogram reports as a PNG picture, one plot below the other.
#include "cli/canvas.h"
#include "cli/plot.h"
#include "cli/plot_paint.h"

// What many viewers still show: they stop at 2^15 rows.
enum { MOST_IMAGES = 32767 / GI_PLOT_HEIGHT };

static void add_image(gi_buffer *plot, const gi_report_image *image, const gi_terminal *terminal) {
    (void)terminal;
    gi_plot_layout_page(plot, image);
}

static gi_status write_all(const gi_buffer *images, size_t count, const gi_sink *sink, gi_error *err) {
    gi_buffer empty = {0};
    gi_canvas canvas = {0};
    gi_encoder *encoder = NULL;
    gi_encode_options options = {.format = GI_FORMAT_PNG, .png_level = GI_PNG_LEVEL};
    if (count == 0) gi_plot_layout_empty(&empty);
    size_t plots = count ? count : 1;
    gi_shape shape = {GI_PLOT_WIDTH, (uint32_t)plots * GI_PLOT_HEIGHT, 3, GI_U8};
    gi_status status = gi_encoder_open(shape, &options, sink, &encoder, err);
    if (status == GI_OK) status = gi_canvas_init(&canvas, GI_PLOT_WIDTH, GI_PLOT_HEIGHT, err);
    if (status == GI_OK && empty.failed) status = gi_fail(err, GI_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < plots && status == GI_OK; i++) {
        shape.height = GI_PLOT_HEIGHT;
        gi_view rows = gi_view_packed(canvas.pixels, shape, GI_HOST);
        gi_plot_paint(&canvas, count ? &images[i] : &empty);
        status = gi_encoder_rows(encoder, &rows, err);
    }
    if (status == GI_OK) status = gi_encoder_finish(encoder, err);
    gi_canvas_free(&canvas);
    gi_encoder_close(encoder);
    gi_buffer_free(&empty);
    return status;
}

const gi_report_style gi_report_png = {
    .word = "png", .image = add_image, .all = write_all, .binary = true, .most = MOST_IMAGES};
