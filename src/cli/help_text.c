#include "cli/help_text.h"

#include <stdio.h>
#include <string.h>

#include "cli/report.h"

const char gi_help_summary[] = "image pipelines on a GPU or on all CPU cores";
const char gi_help_about[] = "Runs image pipelines on an NVIDIA GPU, or on all CPU cores, with the same bytes out on "
                             "either.";

static const gi_help_item statuses[] = {
    {"0", "all done; also where there was nothing to do, as in a directory without images, which is said unless -q "
          "is given"},
    {"1", "an input failed or an output could not be written"},
    {"2", "usage error, nothing touched"},
    {"3", "the device asked for, or the sandbox required, is not to be had"},
    {"130 or 143", "interrupted"},
    {NULL, NULL}};

static const gi_help_item variables[] = {
    {"GPUIMG_DEVICE", "where to compute when --device is not given: auto, cpu, cuda, cuda:N, cuda:N,M,... or cuda:all"},
    {"GPUIMG_SANDBOX", "the sandbox when --sandbox is not given: auto, off or require"},
    {"COLUMNS", "width of help and of the plots in reports as text; without it the terminal's"},
    {"NO_COLOR", "anything in it: no colours on a terminal"},
    {NULL, NULL}};

const char *const gi_help_examples[] = {"gray in.png out.png", "gray photos/ out/", "hist photo.jpg",
                                        "run 'gray 709 | threshold otsu' scans/ masks/", NULL};

static const char images_paragraph[] =
    "IN is a PNG or JPEG file, a directory of them, or - for standard input; OUT is a file, or a directory when there "
    "are several images, or - for standard output. The format follows OUT's extension (.png, .jpg, .jpeg), else the "
    "input's. Samples of 16 bits stay so from PNG to PNG, unless --depth 8 is given. A JPEG has 8 bits and its usual "
    "losses: exact values, such as masks, want PNG. Masks of threshold are PNGs of one bit a pixel, or palettes of "
    "eight colours, but with alpha or 16 bits, which stay: Pillow gives 0 and 255 for them after convert('L') or "
    "convert('RGB'), or with --png-reduce off.";
static const char reports_paragraph[] =
    "Several images: their reports follow each other in the order of the inputs; --total adds gray, red, green, blue "
    "and alpha up, each over the images that have it, and --merge adds up reports as JSON, to what one run over all "
    "their images would report. JSON: {\"schema\":1, \"images\":[{file, width, height, pixels, "
    "channels:[{name, bins, count, min, max, mean, std, median, percentiles, entropy, otsu, clipped_shadows, "
    "clipped_highlights}]}], failed:[{file, reason}], damaged:[{file, reason}]}; bins are the counts, count is their "
    "sum; the last two only where there are such files, and as numbers, failed_files and damaged_files, of a total. "
    "CSV: the columns file, channel, bin, from, to, "
    "count; a bin holds the levels from..to.";

static const char arrays_paragraph[] =
    "Arrays are NumPy's .npy files of float32, float64, int32, int64 or uint8, in either byte order; - is standard "
    "input or output. Fortran order is turned into C order. matmul and scan write C order in this machine's byte "
    "order; float64 and integers are not for matmul.";

static const char manifests_paragraph[] =
    "A manifest has a line for each input, in the order in which they ended: {path, status, reason, output, bytes, ms, "
    "pipeline, sha256}; status is done, skipped (its output was there), failed or not started; reason says why it "
    "failed, or what is damaged in one that was done all the same. Files of a directory that are neither PNG nor JPEG "
    "have no line; a directory that cannot be read has one. A path or output that is no UTF-8 has U+FFFD for each "
    "wrong byte, and its exact bytes as hexadecimal digits in path_hex or output_hex. The last line of a path counts, "
    "so manifests may be joined, and a retry may go on in the manifest that it reads. A killed run leaves whole lines.";

const gi_help_topic gi_help_topics[] = {
    {"manifests", "what --manifest writes", "MANIFESTS", GI_FOR_RUN, manifests_paragraph, NULL},
    {"status", "what the exit status means", "EXIT STATUS", GI_FOR_ALL, NULL, statuses},
    {"variables", "variables of the environment", "ENVIRONMENT", GI_FOR_ALL, NULL, variables},
    {NULL, NULL, NULL, 0, NULL, NULL}};

const gi_help_topic *gi_help_topic_find(const char *name) {
    for (const gi_help_topic *topic = gi_help_topics; topic->name; topic++)
        if (strcmp(topic->name, name) == 0) return topic;
    return NULL;
}

void gi_help_add_topics(gi_buffer *text, unsigned mask) {
    bool first = true;
    for (const gi_help_topic *topic = gi_help_topics; topic->name; topic++) {
        if (!(topic->taken_by & mask)) continue;
        gi_buffer_printf(text, "%s%s", first ? "" : "|", topic->name);
        first = false;
    }
}

static void add_report_paragraph(gi_buffer *text) {
    gi_buffer_puts(text, "IN is a PNG or JPEG file, a directory of them, or - for standard input. The format of the "
                         "report follows the extension of -o (");
    gi_report_add_words(text, ".");
    gi_buffer_puts(text, "), else it is text. SVG and PNG hold a plot for each image, one below the other; HTML is a "
                         "page of its own with thumbnails, plots, tables and an overview. Samples of 16 bits are "
                         "counted in 65536 levels, unless --depth 8 is given.");
}

bool gi_help_paragraph(const gi_command *command, int i, gi_buffer *text) {
    bool images = command->mask & GI_FOR_IMAGE, reports = command->mask & GI_FOR_HIST;
    if (i == 0)
        gi_buffer_puts(text, command->detail);
    else if (i == 1 && images)
        gi_buffer_puts(text, images_paragraph);
    else if (i == 1 && reports)
        add_report_paragraph(text);
    else if (i == 1 && (command->mask & GI_FOR_ARRAYS))
        gi_buffer_puts(text, arrays_paragraph);
    else if (i == 2 && reports)
        gi_buffer_puts(text, reports_paragraph);
    else
        return false;
    return true;
}

bool gi_help_stage_option_at(const gi_command *command, int i, gi_help_option *out) {
    char accepts[200], standard[96];
    if (!command->stage || i < 0 || i >= command->stage->option_count) return false;
    const gi_stage_option *option = &command->stage->options[i];
    memset(out, 0, sizeof *out);
    out->name = option->name;
    out->argument = option->type == GI_OPTION_CHOICE ? option->words : option->type == GI_OPTION_REAL ? "X" : "N";
    gi_stage_option_accepts(option, accepts, sizeof accepts);
    gi_stage_option_standard(option, standard, sizeof standard);
    gi_buffer_puts(&out->meaning, option->help);
    if (option->type != GI_OPTION_CHOICE) gi_buffer_printf(&out->meaning, ": %s", accepts);
    gi_buffer_printf(&out->meaning, " (default %s)", standard);
    return true;
}

// The first row from `from` on that the mask takes; with a name, of those of that name. GI_GLOBAL_COUNT: there is none.
static int taken_from(unsigned mask, const char *name, int from) {
    int id = from;
    while (id < GI_GLOBAL_COUNT &&
           (!(gi_global_table[id].taken_by & mask) || (name && strcmp(gi_global_table[id].name, name) != 0)))
        id++;
    return id;
}

// Row i of those that the mask takes; rows of one name count once.
static int taken_at(unsigned mask, int i) {
    for (int id = taken_from(mask, NULL, 0); id < GI_GLOBAL_COUNT; id = taken_from(mask, NULL, id + 1))
        if (taken_from(mask, gi_global_table[id].name, 0) == id && i-- == 0) return id;
    return GI_GLOBAL_COUNT;
}

static void add_meaning(gi_buffer *text, const gi_global_option *option) {
    char accepts[200];
    gi_global_accepts(option, accepts, sizeof accepts);
    gi_buffer_puts(text, option->help);
    if (option->type == GI_TYPE_COUNT || *option->words) gi_buffer_printf(text, ": %s", accepts);
    if (*option->standard) gi_buffer_printf(text, " (default %s)", option->standard);
}

bool gi_help_global_option_at(const gi_command *command, int i, gi_help_option *out) {
    int id = i < 0 ? GI_GLOBAL_COUNT : taken_at(command->mask, i);
    if (id == GI_GLOBAL_COUNT) return false;
    const gi_global_option *option = &gi_global_table[id];
    memset(out, 0, sizeof *out);
    out->letter = option->letter;
    out->name = option->name;
    out->argument = option->argument;
    out->shared = option->taken_by & GI_FOR_IMAGE;
    for (; id < GI_GLOBAL_COUNT; id = taken_from(command->mask, option->name, id + 1)) {
        if (out->meaning.size) gi_buffer_puts(&out->meaning, "; or ");
        add_meaning(&out->meaning, &gi_global_table[id]);
    }
    return true;
}

void gi_help_option_free(gi_help_option *option) { gi_buffer_free(&option->meaning); }
