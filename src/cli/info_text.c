// What is known of an image file, for people and as JSON.
#include <string.h>

#include "cli/info_files.h"
#include "cli/json.h"
#include "codec/bytes.h"
#include "codec/icc.h"
#include "core/text.h"

static const char *unit_name(gi_density_unit unit) {
    static const char *const names[] = {"", "ratio", "inch", "centimetre", "metre"};
    return names[unit];
}

// ---- lines --------------------------------------------------------------------------------------------------------

enum { COLUMN = 14 };

static void begin_line(gi_buffer *text, const char *name) { gi_buffer_printf(text, "  %-*s", COLUMN - 2, name); }

// NULL where there is none to speak of.
static const char *byte_order(const gi_npy_header *h) {
    const uint16_t probe = 1;
    const bool little = *(const uint8_t *)&probe == 1;
    if (gi_element_bytes(h->array.element) == 1) return NULL;
    return little != h->swapped ? "little" : "big";
}

static void add_coding(gi_buffer *text, const gi_header *h) {
    const gi_stored *s = &h->stored;
    begin_line(text, "samples");
    gi_buffer_printf(text, "%d bit%s, %s%s%s%s%s%s\n", h->bits, gi_plural((unsigned)h->bits), s->colour,
                     *s->sampling ? " " : "", s->sampling, s->interlaced ? ", interlaced" : "",
                     s->progressive ? ", progressive" : "", s->arithmetic ? ", arithmetic coding" : "");
    if (!s->quality) return;
    begin_line(text, "quality");
    gi_buffer_printf(text, "%s%d\n", s->exact ? "" : "about ", s->quality);
}

static void add_profile(gi_buffer *text, const gi_metadata *m) {
    char name[GI_ICC_NAME], space[5];
    if (!m->icc.size) return;
    gi_icc_name(gi_blob_bytes(&m->icc), name);
    gi_icc_space(gi_blob_bytes(&m->icc), space);
    begin_line(text, "profile");
    gi_buffer_printf(text, "%s (%s, %zu byte%s)\n", *name ? name : "without a name", space, m->icc.size,
                     gi_plural(m->icc.size));
}

static void add_light(gi_buffer *text, const gi_metadata *m) {
    const uint8_t *c = m->code_points.data;
    bool srgb = m->srgb.size, gamma = m->gamma.size, primaries = m->primaries.size, points = m->code_points.size;
    if (!srgb && !gamma && !primaries && !points) return;
    begin_line(text, "colour");
    if (srgb) gi_buffer_puts(text, "sRGB");
    if (gamma) gi_buffer_printf(text, "%sgAMA %.5f", srgb ? ", " : "", gi_be32(m->gamma.data) / 1e5);
    if (primaries) gi_buffer_printf(text, "%scHRM", srgb || gamma ? ", " : "");
    if (points)
        gi_buffer_printf(text, "%scICP %d/%d/%d/%d", srgb || gamma || primaries ? ", " : "", c[0], c[1], c[2], c[3]);
    gi_buffer_puts(text, "\n");
}

static void add_bytes(gi_buffer *text, const char *name, size_t bytes) {
    if (!bytes) return;
    begin_line(text, name);
    gi_buffer_printf(text, "%zu byte%s\n", bytes, gi_plural(bytes));
}

// Of XMP's extension, without the name that it has in the file.
static size_t more_xmp(const gi_metadata *m) { return m->xmp_more.size ? m->xmp_more.size - GI_XMP_GUID : 0; }

static void add_damage(gi_buffer *text, const gi_file_facts *facts) {
    gi_buffer words = {0};
    for (size_t at = 0; at < facts->damage.size; at += strlen(facts->damage.data + at) + 1) {
        gi_buffer_puts(&words, words.size ? "; " : "");
        gi_buffer_safe(&words, facts->damage.data + at);
    }
    if (facts->error) {
        gi_buffer_puts(&words, words.size ? "; " : "");
        gi_buffer_safe(&words, facts->error);
    }
    if (!words.size) gi_buffer_puts(&words, facts->quick ? "not looked for" : "none");
    begin_line(text, "damage");
    if (words.failed)
        text->failed = true;
    else
        gi_buffer_wrap(text, words.data, COLUMN, COLUMN, gi_help_width());
    gi_buffer_puts(text, "\n");
    gi_buffer_free(&words);
}

static void add_array(gi_buffer *text, const gi_file_facts *facts) {
    const gi_npy_header *h = &facts->array;
    const char *order = byte_order(h);
    begin_line(text, "format");
    gi_buffer_printf(text, "NPY, %llu bytes\n", (unsigned long long)facts->bytes);
    begin_line(text, "elements");
    gi_buffer_printf(text, "%zu of %s%s%s%s\n", h->array.count, gi_element_name(h->array.element), order ? ", " : "",
                     order ? order : "", order ? "-endian" : "");
    begin_line(text, "shape");
    for (int i = 0; i < h->array.dimensions; i++) gi_buffer_printf(text, "%s%zu", i ? " x " : "", h->array.shape[i]);
    gi_buffer_puts(text, h->array.dimensions ? "\n" : "a single number\n");
    begin_line(text, "order");
    gi_buffer_puts(text, h->fortran ? "Fortran: the first index runs fastest\n" : "C: the last index runs fastest\n");
    add_damage(text, facts);
}

static void add_density(gi_buffer *text, const gi_metadata *m) {
    if (!m->density.unit) return;
    begin_line(text, "density");
    gi_buffer_printf(text, "%ux%u %s%s\n", m->density.x, m->density.y,
                     m->density.unit == GI_DENSITY_RATIO ? "" : "per ", unit_name(m->density.unit));
}

void gi_info_add_text(gi_buffer *text, const gi_file_facts *facts) {
    const gi_header *h = &facts->header;
    const gi_metadata *m = facts->metadata;
    gi_buffer_safe(text, facts->file);
    gi_buffer_puts(text, "\n");
    if (facts->is_array) {
        add_array(text, facts);
        return;
    }
    begin_line(text, "format");
    gi_buffer_printf(text, "%s, %llu bytes\n", gi_format_name(h->format), (unsigned long long)facts->bytes);
    begin_line(text, "size");
    gi_buffer_printf(text, "%ux%u\n", h->shape.width, h->shape.height);
    add_coding(text, h);
    begin_line(text, "orientation");
    gi_buffer_printf(text, "%d\n", h->orientation);
    if (m) {
        add_density(text, m);
        add_profile(text, m);
        add_light(text, m);
        add_bytes(text, "EXIF", m->exif.size);
        add_bytes(text, "XMP", m->xmp.size);
        add_bytes(text, "more XMP", more_xmp(m));
        add_bytes(text, "IPTC", m->iptc.size);
    }
    add_damage(text, facts);
}

// ---- JSON ---------------------------------------------------------------------------------------------------------

static void add_flag(gi_buffer *text, const char *key, bool value) {
    gi_buffer_printf(text, ",\"%s\":%s", key, value ? "true" : "false");
}

static void add_stored(gi_buffer *text, const gi_header *h) {
    const gi_stored *s = &h->stored;
    gi_buffer_printf(text, ",\"format\":\"%s\",\"width\":%u,\"height\":%u,\"bits\":%d,\"channels\":%d",
                     gi_format_name(h->format), h->shape.width, h->shape.height, h->bits, h->shape.channels);
    gi_buffer_printf(text, ",\"colour\":\"%s\",\"sampling\":", s->colour);
    if (*s->sampling)
        gi_buffer_printf(text, "\"%s\"", s->sampling);
    else
        gi_buffer_puts(text, "null");
    add_flag(text, "interlaced", s->interlaced);
    add_flag(text, "progressive", s->progressive);
    add_flag(text, "arithmetic", s->arithmetic);
    if (s->quality)
        gi_buffer_printf(text, ",\"quality\":%d,\"quality_exact\":%s", s->quality, s->exact ? "true" : "false");
    else
        gi_buffer_puts(text, ",\"quality\":null,\"quality_exact\":null");
    gi_buffer_printf(text, ",\"orientation\":%d", h->orientation);
}

// Numbers of `bytes` bytes each, as a list; null where there are none.
static void add_numbers(gi_buffer *text, const char *key, const gi_small *small, size_t bytes) {
    gi_buffer_printf(text, ",\"%s\":", key);
    for (size_t i = 0; i < small->size; i += bytes) {
        const uint8_t *at = small->data + i;
        gi_buffer_puts(text, i ? "," : "[");
        gi_buffer_number(text, bytes == 4 ? gi_be32(at) : *at);
    }
    gi_buffer_puts(text, small->size ? "]" : "null");
}

static void add_metadata(gi_buffer *text, const gi_metadata *m) {
    char name[GI_ICC_NAME], space[5];
    if (m->density.unit)
        gi_buffer_printf(text, ",\"density\":{\"x\":%u,\"y\":%u,\"unit\":\"%s\"}", m->density.x, m->density.y,
                         unit_name(m->density.unit));
    else
        gi_buffer_puts(text, ",\"density\":null");
    if (m->icc.size) {
        gi_icc_name(gi_blob_bytes(&m->icc), name);
        gi_icc_space(gi_blob_bytes(&m->icc), space);
        gi_buffer_puts(text, ",\"profile\":{\"name\":");
        gi_json_add_string(text, name);
        gi_buffer_puts(text, ",\"space\":");
        gi_json_add_string(text, space);
        gi_buffer_printf(text, ",\"bytes\":%zu}", m->icc.size);
    } else {
        gi_buffer_puts(text, ",\"profile\":null");
    }
    if (m->gamma.size)
        gi_buffer_printf(text, ",\"gamma\":%.5f", gi_be32(m->gamma.data) / 1e5);
    else
        gi_buffer_puts(text, ",\"gamma\":null");
    if (m->srgb.size)
        gi_buffer_printf(text, ",\"srgb\":%d", m->srgb.data[0]);
    else
        gi_buffer_puts(text, ",\"srgb\":null");
    add_numbers(text, "primaries", &m->primaries, 4);
    add_numbers(text, "cicp", &m->code_points, 1);
    gi_buffer_printf(text, ",\"exif\":%zu,\"xmp\":%zu,\"xmp_extended\":%zu,\"iptc\":%zu", m->exif.size, m->xmp.size,
                     more_xmp(m), m->iptc.size);
}

static void add_array_members(gi_buffer *text, const gi_file_facts *facts) {
    const gi_npy_header *h = &facts->array;
    const char *order = byte_order(h), *quote = order ? "\"" : "";
    gi_buffer_printf(text, ",\"bytes\":%llu,\"format\":\"NPY\",\"element\":\"%s\",\"byte_order\":%s%s%s,\"shape\":[",
                     (unsigned long long)facts->bytes, gi_element_name(h->array.element), quote, order ? order : "null",
                     quote);
    for (int i = 0; i < h->array.dimensions; i++) gi_buffer_printf(text, "%s%zu", i ? "," : "", h->array.shape[i]);
    gi_buffer_printf(text, "],\"count\":%zu,\"order\":\"%s\"", h->array.count, h->fortran ? "Fortran" : "C");
}

static void add_damage_members(gi_buffer *text, const gi_file_facts *facts) {
    gi_buffer_puts(text, ",\"damage\":[");
    for (size_t at = 0; at < facts->damage.size; at += strlen(facts->damage.data + at) + 1) {
        if (at) gi_buffer_puts(text, ",");
        gi_json_add_string(text, facts->damage.data + at);
    }
    gi_buffer_puts(text, "]");
    add_flag(text, "checked", !facts->quick);
}

void gi_info_add_json(gi_buffer *text, const gi_file_facts *facts) {
    gi_buffer_puts(text, "{");
    gi_json_add_name(text, "file", facts->file);
    if (facts->opened && facts->is_array) {
        add_array_members(text, facts);
    } else if (facts->opened) {
        gi_buffer_printf(text, ",\"bytes\":%llu", (unsigned long long)facts->bytes);
        add_stored(text, &facts->header);
        if (facts->metadata) add_metadata(text, facts->metadata);
    }
    if (facts->opened) add_damage_members(text, facts);
    gi_buffer_puts(text, ",\"error\":");
    if (facts->error)
        gi_json_add_string(text, facts->error);
    else
        gi_buffer_puts(text, "null");
    gi_buffer_puts(text, "}");
}
