// Histogram reports as one page of HTML: a section for each image, and an overview of several.
#include "cli/html_page.h"
#include "cli/markup.h"
#include "cli/plot.h"
#include "cli/report_svg.h"
#include "core/histogram.h"
#include "core/text.h"

enum { THUMBNAIL_SIDE = 320, COARSE_SIDE = 80, SMALL_SIDE = 72, JPEG_QUALITY = 85 };

// ---- thumbnail ----------------------------------------------------------------------------------------------------

static gi_status add_to_buffer(void *context, const void *data, size_t size, gi_error *err) {
    gi_buffer *buffer = context;
    gi_buffer_add(buffer, data, size);
    return buffer->failed ? gi_fail(err, GI_ERR_MEMORY, "out of memory") : GI_OK;
}

// Encodes into `bytes`, which stays failed when that is impossible.
static void encode(const gi_view *view, gi_format format, gi_buffer *bytes) {
    gi_encode_options options = {.format = format, .quality = JPEG_QUALITY, .png_level = GI_PNG_LEVEL};
    gi_sink sink = {add_to_buffer, bytes};
    gi_encoder *encoder = NULL;
    gi_status status = gi_encoder_open(gi_view_shape(view), &options, &sink, &encoder, NULL);
    if (status == GI_OK) status = gi_encoder_rows(encoder, view, NULL);
    if (status == GI_OK) status = gi_encoder_finish(encoder, NULL);
    gi_encoder_close(encoder);
    if (status != GI_OK) bytes->failed = true;
}

// Drawings are smaller and exact as PNG, photographs are far smaller as JPEG; alpha only PNG has.
static void add_data_uri(gi_buffer *html, const gi_view *view) {
    gi_buffer png = {0}, jpeg = {0};
    encode(view, GI_FORMAT_PNG, &png);
    if (!gi_has_alpha(view->channels)) encode(view, GI_FORMAT_JPEG, &jpeg);
    bool take_jpeg = jpeg.size && jpeg.size < png.size;
    const gi_buffer *taken = take_jpeg ? &jpeg : &png;
    if (png.failed || jpeg.failed) html->failed = true;
    gi_buffer_puts(html, take_jpeg ? "data:image/jpeg;base64," : "data:image/png;base64,");
    if (!taken->failed) gi_base64_add(html, taken->data, taken->size);
    gi_buffer_free(&png);
    gi_buffer_free(&jpeg);
}

// How many screen pixels one of the thumbnail's takes: tiny images are enlarged.
static uint32_t zoom_of(const gi_view *view, uint32_t side) {
    uint32_t longest = view->width > view->height ? view->width : view->height;
    return longest < side ? side / longest : 1;
}

static const char *clear_class(const gi_view *view) { return gi_has_alpha(view->channels) ? " clear" : ""; }

static void add_thumbnail(gi_buffer *html, const gi_report_image *image) {
    const gi_view *view = image->thumbnail;
    if (!view) return;
    uint32_t zoom = zoom_of(view, COARSE_SIDE);
    gi_buffer_printf(html,
                     "<figure><svg class=\"thumb%s%s\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" role=\"img\"",
                     clear_class(view), zoom > 1 ? " coarse" : "", view->width * zoom, view->height * zoom, view->width,
                     view->height);
    gi_buffer_puts(html, " aria-label=\"thumbnail of ");
    gi_markup_add(html, image->file);
    gi_buffer_printf(html, "\"><image id=\"thumbnail%zu\" width=\"%u\" height=\"%u\" href=\"", image->index,
                     view->width, view->height);
    add_data_uri(html, view);
    gi_buffer_puts(html, "\"/></svg>");
    if (image->piped) gi_buffer_puts(html, "<figcaption>the input, before the pipeline</figcaption>");
    gi_buffer_puts(html, "</figure>\n");
}

// The same picture again in the overview, without its bytes.
static void add_small_thumbnail(gi_buffer *html, const gi_report_image *image) {
    const gi_view *view = image->thumbnail;
    if (!view) return;
    uint32_t longest = view->width > view->height ? view->width : view->height, zoom = zoom_of(view, SMALL_SIDE / 2);
    double scale = longest > SMALL_SIDE ? (double)SMALL_SIDE / longest : zoom;
    gi_buffer_printf(
        html,
        "<svg class=\"thumb%s%s\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %u %u\" aria-hidden=\"true\">"
        "<use href=\"#thumbnail%zu\"/></svg>",
        clear_class(view), zoom > 1 ? " coarse" : "", view->width * scale + 0.5, view->height * scale + 0.5,
        view->width, view->height, image->index);
}

// ---- tables -------------------------------------------------------------------------------------------------------

static void add_percentage(gi_buffer *html, uint64_t count, uint64_t of) {
    gi_buffer text = {0};
    gi_plot_add_share(&text, count, of);
    if (text.failed)
        html->failed = true;
    else
        gi_markup_add(html, text.data);
    gi_buffer_free(&text);
}

// A large count may stand above its share, but it is never broken.
static void add_share(gi_buffer *html, uint64_t count, uint64_t of) {
    gi_buffer_puts(html, "<td><span class=\"count\">");
    gi_plot_add_number(html, count);
    gi_buffer_puts(html, "</span> <small>(");
    add_percentage(html, count, of);
    gi_buffer_puts(html, ")</small></td>");
}

static void add_channel(gi_buffer *html, const gi_report_image *image, const gi_report_channel *channel) {
    gi_statistics s;
    gi_statistics_of(channel->counts, image->levels, &s);
    gi_buffer_printf(html, "<tr><th scope=\"row\"><i class=\"%s\"></i>%s</th><td>%u</td>", channel->name, channel->name,
                     s.min);
    for (int i = 0; i < GI_PERCENTILE_COUNT; i++) {
        if (gi_percentile_points[i] > 50 && gi_percentile_points[i - 1] < 50)
            gi_buffer_printf(html, "<td>%u</td>", s.median);
        gi_buffer_printf(html, "<td>%u</td>", s.percentiles[i]);
    }
    gi_buffer_printf(html, "<td>%u</td><td>%.2f</td><td>%.2f</td><td>%.4f</td><td>%u</td>", s.max, s.mean, s.std,
                     s.entropy, s.otsu);
    add_share(html, s.clipped_shadows, s.pixels);
    add_share(html, s.clipped_highlights, s.pixels);
    gi_buffer_puts(html, "</tr>\n");
}

static void add_table(gi_buffer *html, const gi_report_image *image) {
    gi_buffer_puts(html, "<div class=\"table channels\"><table>\n<thead><tr><th scope=\"col\">channel</th>"
                         "<th scope=\"col\">min</th>");
    for (int i = 0; i < GI_PERCENTILE_COUNT; i++) {
        if (gi_percentile_points[i] > 50 && gi_percentile_points[i - 1] < 50)
            gi_buffer_puts(html, "<th scope=\"col\">median</th>");
        gi_buffer_printf(html, "<th scope=\"col\">%d%%</th>", gi_percentile_points[i]);
    }
    gi_buffer_printf(html,
                     "<th scope=\"col\">max</th><th scope=\"col\">mean</th><th scope=\"col\">std</th>"
                     "<th scope=\"col\">entropy</th><th scope=\"col\">Otsu</th><th scope=\"col\">pixels at 0</th>"
                     "<th scope=\"col\">pixels at %u</th></tr></thead>\n<tbody>\n",
                     image->levels - 1);
    for (int c = 0; c < image->channel_count; c++) add_channel(html, image, &image->channels[c]);
    gi_buffer_puts(html, "</tbody></table></div>\n");
}

// ---- page ---------------------------------------------------------------------------------------------------------

// The curves of another form in the rectangle that they have in this one.
static void use_curves(gi_buffer *html, size_t index, const gi_plot_layers *others, const gi_plot_layers *own) {
    const float across = (own->right - own->left) / (others->right - others->left);
    const float down = (own->base - own->top) / (others->base - others->top);
    gi_buffer_printf(html, "<use href=\"#curves%zu\" transform=\"matrix(%.5f 0 0 %.5f %.3f %.3f)\"/>\n", index, across,
                     down, own->left - others->left * across, own->base - others->base * down);
}

static void add_form(gi_buffer *html, const gi_report_image *image, gi_plot_form form, const gi_plot_layers *layers,
                     const gi_plot_layers *curves) {
    const gi_plot_form_data *data = &gi_plot_forms[form];
    gi_buffer_printf(html, "<svg class=\"plot %s\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"histogram of ",
                     data->name, data->width, data->height);
    gi_markup_add(html, image->file);
    gi_buffer_puts(html, "\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n");
    gi_svg_add_plot(html, &layers->below);
    if (curves == layers) {
        gi_buffer_printf(html, "<g id=\"curves%zu\">\n", image->index);
        gi_svg_add_plot(html, &layers->curves);
        gi_buffer_puts(html, "</g>\n");
    } else {
        use_curves(html, image->index, curves, layers);
    }
    gi_svg_add_plot(html, &layers->above);
    gi_buffer_puts(html, "</svg>\n");
}

// In each form that a screen may have room for; the first has the curves. A total has no picture beside its plot, which
// may be broader.
static void add_plot(gi_buffer *html, const gi_report_image *image) {
    const gi_plot_form first = image->files ? GI_PLOT_BROAD : GI_PLOT_WIDE;
    gi_plot_layers layers, curves;
    gi_plot_layout(&curves, image, first);
    gi_buffer_printf(html, "<div class=\"chart%s\">\n", image->files ? " alone" : "");
    add_form(html, image, first, &curves, &curves);
    for (gi_plot_form form = first + 1; form < GI_PLOT_FORMS; form++) {
        gi_plot_layout(&layers, image, form);
        add_form(html, image, form, &layers, &curves);
        gi_plot_layers_free(&layers);
    }
    gi_buffer_puts(html, "<p class=\"note narrow\">");
    gi_plot_add_measure(html, image);
    gi_buffer_puts(html, "</p>\n");
    if (curves.cut) gi_buffer_printf(html, "<p class=\"note\">%s</p>\n", gi_plot_cut_note);
    gi_buffer_puts(html, "</div>\n");
    gi_plot_layers_free(&curves);
}

static void add_image(gi_buffer *html, const gi_report_image *image, const gi_terminal *terminal) {
    (void)terminal;
    gi_buffer_printf(html, "<section id=\"image%zu\">\n<h2>", image->index);
    gi_markup_add(html, image->file);
    gi_buffer_puts(html, "</h2>\n<p>");
    gi_plot_add_size(html, image);
    gi_buffer_puts(html, "</p>\n<div class=\"pictures\">\n");
    add_thumbnail(html, image);
    add_plot(html, image);
    gi_buffer_puts(html, "</div>\n");
    add_table(html, image);
    gi_buffer_puts(html, "</section>\n");
}

enum { NAME, MEAN, STD, SHADOWS, HIGHLIGHTS, COLUMNS };

// A line for each channel, so that the cells of a row stand side by side.
static void add_lines(gi_buffer *html, const gi_report_image *image, int column) {
    gi_buffer_puts(html, column == NAME ? "<td class=\"name\">" : "<td>");
    for (int c = 0; c < image->channel_count; c++) {
        const char *name = image->channels[c].name;
        gi_statistics s;
        gi_statistics_of(image->channels[c].counts, image->levels, &s);
        if (c) gi_buffer_puts(html, "<br>");
        switch (column) {
        case NAME: gi_buffer_printf(html, "<i class=\"%s\"></i>%s", name, name); break;
        case MEAN: gi_buffer_printf(html, "%.2f", s.mean); break;
        case STD: gi_buffer_printf(html, "%.2f", s.std); break;
        default: add_percentage(html, column == SHADOWS ? s.clipped_shadows : s.clipped_highlights, s.pixels);
        }
    }
    gi_buffer_puts(html, "</td>");
}

static void add_row(gi_buffer *row, const gi_report_image *image) {
    if (image->files) return; // a total stands alone
    gi_buffer_puts(row, "<tr><td class=\"picture\">");
    add_small_thumbnail(row, image);
    gi_buffer_printf(row, "</td><td class=\"file\"><a href=\"#image%zu\">", image->index);
    gi_markup_add(row, image->file);
    gi_buffer_printf(row, "</a></td><td class=\"size\">%u x %u <small>%s</small></td>", image->width, image->height,
                     gi_channels_name(image->channel_count));
    for (int column = 0; column < COLUMNS; column++) add_lines(row, image, column);
    gi_buffer_puts(row, "</tr>\n");
}

static void add_overview(gi_buffer *html, const gi_buffer *rows, size_t count) {
    if (count == 0) gi_buffer_puts(html, "<section><p>no images</p></section>\n");
    if (count < 2) return;
    gi_buffer_printf(html,
                     "<section id=\"overview\">\n<h2>%zu images</h2>\n<div class=\"table\"><table>\n<thead><tr>"
                     "<th class=\"picture\"></th>"
                     "<th scope=\"col\" class=\"file\">file</th><th scope=\"col\" class=\"size\">size</th>"
                     "<th scope=\"col\" class=\"name\">channel</th><th scope=\"col\">mean</th>"
                     "<th scope=\"col\">std</th><th scope=\"col\">at 0</th><th scope=\"col\">at maximum</th>"
                     "</tr></thead>\n<tbody>\n",
                     count);
    gi_buffer_add(html, rows->data, rows->size);
    gi_buffer_puts(html, "</tbody></table></div>\n</section>\n");
}

static void add_flaw(gi_buffer *html, const gi_report_flaw *flaw) {
    gi_buffer_puts(html, "<li><span class=\"file\">");
    if (flaw->shown) gi_buffer_printf(html, "<a href=\"#image%zu\">", flaw->index);
    gi_markup_add(html, flaw->file);
    gi_buffer_printf(html, "%s</span>: ", flaw->shown ? "</a>" : "");
    gi_markup_add(html, flaw->reason);
    gi_buffer_puts(html, "</li>\n");
}

static void add_flaws(gi_buffer *html, const gi_report_flaws *flaws) {
    const bool missing = flaws->kind == GI_REPORT_MISSING;
    gi_buffer_printf(html, "<section id=\"%s\" class=\"flaws\">\n<h2>%s</h2>\n<ul>\n", missing ? "failures" : "damaged",
                     missing ? "not in this report" : "damaged");
    if (flaws->all->size == 0)
        gi_buffer_printf(html, "<li>%llu file%s</li>\n", (unsigned long long)flaws->count, gi_plural(flaws->count));
    gi_buffer_add(html, flaws->all->data, flaws->all->size);
    gi_buffer_puts(html, "</ul>\n</section>\n");
}

const gi_report_style gi_report_html = {.word = "html",
                                        .head = gi_html_head,
                                        .more_head = gi_html_more_head,
                                        .foot = gi_html_foot,
                                        .image = add_image,
                                        .flaw = add_flaw,
                                        .flaws = add_flaws,
                                        .row = add_row,
                                        .overview = add_overview,
                                        .thumbnail_side = THUMBNAIL_SIDE};
