// Histogram reports as SVG 1.1, one plot below the other.
#include "cli/report_svg.h"

#include <math.h>

#include "cli/markup.h"
#include "cli/plot.h"

// Two decimals at most, and no zeros at the end.
static void add_coordinate(gi_buffer *svg, const char *prefix, float value) {
    long hundredths = lroundf(value * 100);
    const char *sign = hundredths < 0 ? "-" : "";
    if (hundredths < 0) hundredths = -hundredths;
    gi_buffer_printf(svg, "%s%s%ld", prefix, sign, hundredths / 100);
    long rest = hundredths % 100;
    if (rest % 10)
        gi_buffer_printf(svg, ".%02ld", rest);
    else if (rest)
        gi_buffer_printf(svg, ".%ld", rest / 10);
}

static void add_path(gi_buffer *svg, const gi_plot_item *item) {
    const gi_xy *p = gi_plot_points(item);
    for (uint32_t i = 0; i < item->count; i++) {
        // Steps are most of it: one coordinate says them.
        bool across = i && fabsf(p[i].y - p[i - 1].y) < 0.005F, down = i && fabsf(p[i].x - p[i - 1].x) < 0.005F;
        if (across) {
            add_coordinate(svg, "H", p[i].x);
        } else if (down) {
            add_coordinate(svg, "V", p[i].y);
        } else {
            add_coordinate(svg, i ? "L" : "M", p[i].x);
            add_coordinate(svg, " ", p[i].y);
        }
    }
}

static void add_shape(gi_buffer *svg, const gi_plot_item *item) {
    const gi_plot_colour *colour = &gi_plot_colours[item->style.ink];
    unsigned r = colour->rgb[0], g = colour->rgb[1], b = colour->rgb[2];
    if (item->kind == GI_PLOT_AREA) {
        gi_buffer_printf(svg, "<path class=\"area %s\" fill=\"#%02x%02x%02x\"", colour->name, r, g, b);
        if (item->style.opacity < 1) add_coordinate(svg, " fill-opacity=\"", item->style.opacity);
    } else {
        gi_buffer_printf(svg, "<path class=\"line %s\" fill=\"none\" stroke=\"#%02x%02x%02x\"", colour->name, r, g, b);
        add_coordinate(svg, " stroke-linejoin=\"round\" stroke-width=\"", item->style.size);
    }
    bool quoted = item->kind == GI_PLOT_AREA && item->style.opacity >= 1;
    gi_buffer_puts(svg, quoted ? " d=\"" : "\" d=\"");
    add_path(svg, item);
    gi_buffer_puts(svg, item->kind == GI_PLOT_AREA ? "Z\"/>\n" : "\"/>\n");
}

static void add_text(gi_buffer *svg, const gi_plot_item *item) {
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    const gi_plot_style *style = &item->style;
    const gi_plot_colour *colour = &gi_plot_colours[style->ink];
    const gi_xy *at = gi_plot_points(item);
    gi_buffer text = {0};
    // The font is the viewer's: about 0.62 em a column, bold capitals excepted.
    gi_plot_elide(&text, gi_plot_text(item),
                  style->room > 0 ? (size_t)(style->room / (0.62F * style->size)) : SIZE_MAX);
    add_coordinate(svg, "<text x=\"", at->x);
    add_coordinate(svg, "\" y=\"", at->y);
    add_coordinate(svg, "\" font-size=\"", style->size);
    gi_buffer_printf(svg, "\" class=\"%s\" fill=\"#%02x%02x%02x\"%s%s", colour->name, colour->rgb[0], colour->rgb[1],
                     colour->rgb[2], anchors[style->anchor], style->bold ? " font-weight=\"bold\"" : "");
    if (style->upwards) {
        add_coordinate(svg, " transform=\"rotate(-90 ", at->x);
        add_coordinate(svg, " ", at->y);
        gi_buffer_puts(svg, ")\"");
    }
    gi_buffer_puts(svg, ">");
    if (text.failed) svg->failed = true;
    if (text.size && !text.failed) gi_markup_add(svg, text.data);
    gi_buffer_puts(svg, "</text>\n");
    gi_buffer_free(&text);
}

void gi_svg_add_plot(gi_buffer *svg, const gi_buffer *plot) {
    for (const gi_plot_item *item = gi_plot_next(plot, NULL); item; item = gi_plot_next(plot, item))
        if (item->kind == GI_PLOT_TEXT)
            add_text(svg, item);
        else
            add_shape(svg, item);
    if (plot->failed) svg->failed = true;
}

static void add_image(gi_buffer *svg, const gi_report_image *image, const gi_terminal *terminal) {
    (void)terminal;
    gi_buffer plot = {0};
    gi_plot_layout_page(&plot, image);
    gi_svg_add_plot(svg, &plot);
    gi_buffer_free(&plot);
}

static gi_status put(const gi_sink *sink, gi_buffer *text, gi_error *err) {
    gi_status status = text->failed ? gi_fail(err, GI_ERR_MEMORY, "out of memory")
                                    : sink->write(sink->context, text->data, text->size, err);
    gi_buffer_free(text);
    return status;
}

static gi_status write_all(const gi_buffer *images, size_t count, const gi_sink *sink, gi_error *err) {
    gi_buffer text = {0}, empty = {0}, plot = {0};
    size_t height = (count ? count : 1) * GI_PLOT_HEIGHT;
    gi_buffer_printf(&text,
                     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" viewBox=\"0 0 %d %zu\" "
                     "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n<title>Histogram</title>\n",
                     GI_PLOT_WIDTH, height, GI_PLOT_WIDTH, height);
    gi_status status = put(sink, &text, err);
    if (count == 0) {
        gi_plot_layout_empty(&plot);
        gi_svg_add_plot(&empty, &plot);
        images = &empty;
        count = 1;
    }
    for (size_t i = 0; i < count && status == GI_OK; i++) {
        gi_buffer_printf(&text, "<g transform=\"translate(0 %zu)\">\n", i * GI_PLOT_HEIGHT);
        status = put(sink, &text, err);
        if (status == GI_OK) status = sink->write(sink->context, images[i].data, images[i].size, err);
        gi_buffer_puts(&text, "</g>\n");
        if (status == GI_OK) status = put(sink, &text, err);
    }
    gi_buffer_puts(&text, "</svg>\n");
    if (status == GI_OK) status = put(sink, &text, err);
    gi_buffer_free(&text);
    gi_buffer_free(&empty);
    gi_buffer_free(&plot);
    return status;
}

const gi_report_style gi_report_svg = {.word = "svg", .image = add_image, .all = write_all};
