#include "codec/jpeg_check.h"

#include <stdio.h>
#include <string.h>

#include "codec/bytes.h"
#include "codec/exif.h"
#include "core/text.h"

#define DAMAGED "damaged JPEG: "

typedef struct walker {
    gi_bytes bytes;
    gi_jpeg_info *info;
    bool arithmetic; // can be decoded
    gi_jpeg_segment segment;
    const uint8_t *body; // of the segment, past its length field
    size_t body_size;
    bool frame;                // a SOF has been seen
    bool exif;                 // so has an Exif segment: the first counts
    bool huffman[2][4];        // defined: DC and AC tables
    bool quantization[4];      // defined
    uint32_t restart_interval; // MCUs, 0: none
    gi_error *err;
} walker;

static const char *segment_name(int code, char text[16]) {
    switch (code) {
    case GI_JPEG_DHT: return "DHT";
    case GI_JPEG_DAC: return "DAC";
    case GI_JPEG_SOS: return "SOS";
    case GI_JPEG_DQT: return "DQT";
    case GI_JPEG_DNL: return "DNL";
    case GI_JPEG_DRI: return "DRI";
    case GI_JPEG_COM: return "COM";
    case GI_JPEG_SOI: return "SOI";
    case GI_JPEG_EOI: return "EOI";
    default: break;
    }
    if (code >= GI_JPEG_APP0 && code <= GI_JPEG_APP15)
        snprintf(text, 16, "APP%d", code - GI_JPEG_APP0);
    else if (code >= 0xC0 && code <= 0xCF)
        snprintf(text, 16, "SOF%d", code - 0xC0);
    else
        snprintf(text, 16, "0x%02X", (unsigned)code & 255);
    return text;
}

static gi_status damaged(const walker *walk, const char *reason) {
    char text[16];
    return gi_fail(walk->err, GI_ERR_FORMAT, DAMAGED "segment %s at byte %zu: %s",
                   segment_name(walk->segment.code, text), walk->segment.offset - 2, reason);
}

// Keeps the first.
static void note_damage(gi_jpeg_info *info, const char *text) {
    if (!info->damage[0]) snprintf(info->damage, sizeof info->damage, "%s", text);
}

size_t gi_jpeg_scan_end(gi_bytes bytes, size_t from) {
    while (from < bytes.size) {
        const uint8_t *ff = memchr(bytes.data + from, 0xFF, bytes.size - from);
        if (!ff) break;
        size_t at = (size_t)(ff - bytes.data), next = at + 1;
        while (next < bytes.size && bytes.data[next] == 0xFF) next++;
        if (next == bytes.size) break;
        int code = bytes.data[next];
        if (code != 0 && !(code >= GI_JPEG_RST0 && code <= GI_JPEG_RST7)) return at;
        from = next + 1;
    }
    return bytes.size;
}

bool gi_jpeg_next_segment(gi_bytes bytes, size_t *at, gi_jpeg_segment *segment, size_t *skipped) {
    size_t p = *at;
    for (;; p++) {
        size_t from = p;
        while (p < bytes.size && bytes.data[p] != 0xFF) p++;
        size_t fill = p;
        while (p < bytes.size && bytes.data[p] == 0xFF) p++;
        bool stuffed = p < bytes.size && bytes.data[p] == 0; // data, however many fill bytes are before it
        *skipped += stuffed ? p + 1 - from : fill - from;
        if (!stuffed) break;
    }
    if (p >= bytes.size) return false;
    *segment = (gi_jpeg_segment){bytes.data[p], p + 1, 0};
    *at = p + 1;
    if (segment->code == GI_JPEG_SOI || segment->code == GI_JPEG_EOI || segment->code == 0x01 ||
        (segment->code >= GI_JPEG_RST0 && segment->code <= GI_JPEG_RST7))
        return true;
    if (bytes.size - *at < 2) return false;
    segment->size = gi_be16(bytes.data + *at);
    if (segment->size > bytes.size - *at) return false;
    *at += segment->size;
    return true;
}

static gi_status read_dqt(walker *walk) {
    const uint8_t *p = walk->body;
    size_t left = walk->body_size;
    while (left > 0) {
        size_t precision = *p >> 4, size = 65 + 64 * precision;
        if (precision > 1) return damaged(walk, "unknown precision of a quantization table");
        if ((*p & 15) > 3) return damaged(walk, "quantization table number over 3");
        if (left < size) return damaged(walk, "a quantization table is cut short");
        walk->quantization[*p & 15] = true;
        for (size_t i = 0; i < 64 && walk->info->scans == 0; i++)
            walk->info->tables[*p & 15][i] = precision ? gi_be16(p + 1 + 2 * i) : p[1 + i];
        p += size;
        left -= size;
    }
    return GI_OK;
}

// stb_image 2.27 writes and reads past its tables when the counts of code lengths are inconsistent (CVE-2022-28042).
static gi_status check_code(const walker *walk, const uint8_t *counts, size_t *symbols) {
    uint32_t code = 0; // one more than the last of the length
    *symbols = 0;
    for (int length = 1; length <= 16; length++) {
        code += counts[length - 1];
        *symbols += counts[length - 1];
        if (code > 1U << length) return damaged(walk, "a Huffman table has more codes than their lengths allow");
        walk->info->full_code = walk->info->full_code || code == 1U << length;
        code <<= 1;
    }
    if (*symbols == 0) return damaged(walk, "a Huffman table without codes");
    return *symbols > 256 ? damaged(walk, "a Huffman table has over 256 symbols") : GI_OK;
}

static gi_status read_dht(walker *walk) {
    const uint8_t *p = walk->body;
    size_t left = walk->body_size, symbols;
    while (left > 0) {
        if (left < 17) return damaged(walk, "a Huffman table is cut short");
        int class = *p >> 4, id = *p & 15;
        if (class > 1) return damaged(walk, "Huffman table class over 1");
        if (id > 3) return damaged(walk, "Huffman table number over 3");
        gi_status status = check_code(walk, p + 1, &symbols);
        if (status != GI_OK) return status;
        if (left < 17 + symbols) return damaged(walk, "a Huffman table is cut short");
        for (size_t i = 0; class == 0 && i < symbols; i++)
            if (p[17 + i] > 15) return damaged(walk, "a DC difference of over 15 bits in a Huffman table");
        walk->huffman[class][id] = true;
        p += 17 + symbols;
        left -= 17 + symbols;
    }
    return GI_OK;
}

static gi_status read_components(walker *walk) {
    gi_jpeg_info *info = walk->info;
    const uint8_t *p = walk->body + 6;
    for (int i = 0; i < info->components; i++, p += 3) {
        gi_jpeg_component c = {p[0], p[1] >> 4, p[1] & 15, p[2], false};
        if (c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4) return damaged(walk, "a sampling factor is not 1 to 4");
        if (c.quantization > 3) return damaged(walk, "quantization table number over 3");
        for (int k = 0; k < i; k++)
            if (info->component[k].id == c.id) return damaged(walk, "two components with one identifier");
        info->component[i] = c;
        if (c.h > info->h_max) info->h_max = c.h;
        if (c.v > info->v_max) info->v_max = c.v;
    }
    for (int i = 0; i < info->components; i++)
        if (info->h_max % info->component[i].h || info->v_max % info->component[i].v)
            return gi_fail(walk->err, GI_ERR_UNSUPPORTED, "JPEG with fractional subsampling is not supported");
    return GI_OK;
}

static gi_status unsupported(const walker *walk, const char *kind) {
    return gi_fail(walk->err, GI_ERR_UNSUPPORTED, "%s JPEG is not supported", kind);
}

// Conditioning of arithmetic coding: pairs of a table and its bounds, for DC L <= U of 4 bits each, for AC 1 to 63.
static gi_status read_dac(walker *walk) {
    if (!walk->arithmetic) return unsupported(walk, "arithmetic-coded");
    if (walk->body_size % 2) return damaged(walk, "its length is wrong");
    for (size_t i = 0; i < walk->body_size; i += 2) {
        int class = walk->body[i] >> 4, id = walk->body[i] & 15, value = walk->body[i + 1];
        bool sound = class == 0 ? (value & 15) <= value >> 4 : value >= 1 && value <= 63;
        if (class > 1 || id > 3 || !sound) return damaged(walk, "conditioning of arithmetic coding out of range");
    }
    return GI_OK;
}

static gi_status read_sof(walker *walk) {
    gi_jpeg_info *info = walk->info;
    int code = walk->segment.code;
    if (!walk->frame && walk->body_size >= 6) { // also of kinds that are not supported
        info->precision = walk->body[0];
        info->height = gi_be16(walk->body + 1);
        info->width = gi_be16(walk->body + 3);
        info->components = walk->body[5];
        info->arithmetic = code >= GI_JPEG_SOF9;
        info->progressive = code % 4 == GI_JPEG_SOF2 % 4;
    }
    if (code >= GI_JPEG_SOF9 && !walk->arithmetic) return unsupported(walk, "arithmetic-coded");
    if (code == 0xC3 || code == 0xCB) return unsupported(walk, "lossless");
    if (code > GI_JPEG_SOF2 && code != GI_JPEG_SOF9 && code != GI_JPEG_SOF10) return unsupported(walk, "hierarchical");
    if (walk->frame) return damaged(walk, "a second frame");
    if (walk->body_size < 6) return damaged(walk, "its length is wrong");
    if (info->precision == 12) return unsupported(walk, "12-bit");
    if (info->precision != 8) return damaged(walk, "the precision is not 8 bits");
    if (info->width == 0) return damaged(walk, "the width is 0");
    if (info->height == 0) return damaged(walk, "the height is 0 (a height told later is not supported)");
    if (info->components == 2) return unsupported(walk, "two-component");
    if (info->components != 1 && info->components != 3 && info->components != 4)
        return damaged(walk, "the number of components is not 1, 3 or 4");
    if (walk->body_size != 6 + 3 * (size_t)info->components) return damaged(walk, "its length is wrong");
    walk->frame = true;
    return read_components(walk);
}

// Colour as libjpeg decides it.
static gi_status decide_colour(walker *walk) {
    gi_jpeg_info *info = walk->info;
    const gi_jpeg_component *c = info->component;
    if (info->components == 1) {
        info->colour = GI_JPEG_GRAY;
    } else if (info->components == 3) {
        bool named = c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B';
        bool rgb = !info->jfif && (info->adobe < 0 ? named : info->adobe == 0);
        info->colour = rgb ? GI_JPEG_RGB : GI_JPEG_YCC;
    } else if (info->adobe == 0 || info->adobe == 2) {
        info->colour = info->adobe == 0 ? GI_JPEG_CMYK : GI_JPEG_YCCK;
    } else {
        info->colour = GI_JPEG_CMYK;
        return gi_fail(walk->err, GI_ERR_UNSUPPORTED, "CMYK JPEG %s is not supported: what its inks mean is not told",
                       info->adobe < 0 ? "without an Adobe marker" : "with an unknown Adobe colour transform");
    }
    return GI_OK;
}

static void read_app(walker *walk) {
    gi_jpeg_info *info = walk->info;
    const uint8_t *p = walk->body;
    size_t size = walk->body_size;
    if (walk->info->scans) return; // too late to change how the components are read
    if (walk->segment.code == GI_JPEG_APP0 && size >= GI_JFIF_LEAST && memcmp(p, "JFIF", 5) == 0) info->jfif = true;
    if (walk->segment.code == GI_JPEG_APP14 && size >= 12 && memcmp(p, "Adobe", 5) == 0) info->adobe = p[11];
    if (walk->segment.code == GI_JPEG_APP1 && size >= 6 && memcmp(p, "Exif\0\0", 6) == 0 && !walk->exif) {
        walk->exif = true;
        info->orientation = gi_exif_orientation((gi_bytes){p + 6, size - 6});
    }
}

// Spectral selection and successive approximation (T.81, G.1.1.1).
static gi_status check_bands(const walker *walk, const uint8_t *p, int count) {
    int first = p[0], last = p[1], high = p[2] >> 4, low = p[2] & 15;
    if (!walk->info->progressive)
        return first != 0 || p[2] != 0 ? damaged(walk, "not the bands of a sequential scan") : GI_OK;
    if (first > last || last > 63) return damaged(walk, "spectral selection out of range");
    if (first == 0 && last != 0) return damaged(walk, "DC and AC coefficients in one progressive scan");
    if (first > 0 && count != 1) return damaged(walk, "AC coefficients of several components in one scan");
    if (low > 13 || high > 13 || (high != 0 && high != low + 1))
        return damaged(walk, "successive approximation out of range");
    return GI_OK;
}

static gi_status check_tables(const walker *walk, const gi_jpeg_component *c, int tables, const uint8_t *bands) {
    int dc = tables >> 4, ac = tables & 15;
    bool progressive = walk->info->progressive, huffman = !walk->info->arithmetic;
    bool needs_dc = huffman && (progressive ? bands[0] == 0 && bands[2] >> 4 == 0 : true);
    bool needs_ac = huffman && (progressive ? bands[0] > 0 : true);
    if (dc > 3 || ac > 3) return damaged(walk, "entropy coding table number over 3");
    if (needs_dc && !walk->huffman[0][dc]) return damaged(walk, "its DC Huffman table is not defined");
    if (needs_ac && !walk->huffman[1][ac]) return damaged(walk, "its AC Huffman table is not defined");
    if (!walk->quantization[c->quantization]) return damaged(walk, "its quantization table is not defined");
    return GI_OK;
}

static uint64_t ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

uint64_t gi_jpeg_blocks(const gi_jpeg_info *info, int i) {
    const gi_jpeg_component *c = &info->component[i];
    uint64_t width = ceil_div((uint64_t)info->width * (uint64_t)c->h, (uint64_t)info->h_max);
    uint64_t height = ceil_div((uint64_t)info->height * (uint64_t)c->v, (uint64_t)info->v_max);
    return ceil_div(width, 8) * ceil_div(height, 8);
}

// Restart markers must come in sequence, one after each interval but the last.
static void check_restarts(walker *walk, size_t from, size_t end, uint64_t mcus) {
    const uint8_t *data = walk->bytes.data;
    uint64_t found = 0;
    bool in_order = true;
    for (size_t at = from; at + 1 < end;) {
        const uint8_t *ff = memchr(data + at, 0xFF, end - at);
        if (!ff || (size_t)(ff - data) + 1 >= end) break;
        at = (size_t)(ff - data) + 1;
        if (data[at] < GI_JPEG_RST0 || data[at] > GI_JPEG_RST7) continue;
        in_order = in_order && (uint64_t)(data[at] - GI_JPEG_RST0) == found % 8;
        found++;
    }
    uint64_t expected = walk->restart_interval ? (mcus - 1) / walk->restart_interval : 0;
    // Some encoders write one more after the last interval.
    bool all = found == expected || (walk->restart_interval && found == expected + 1);
    if (!in_order || !all) note_damage(walk->info, "restart markers are missing or out of order");
}

static gi_status read_scan_components(walker *walk, int count, int *only) {
    gi_jpeg_info *info = walk->info;
    const uint8_t *bands = walk->body + 1 + 2 * count;
    bool used[4] = {false};
    for (int k = 0; k < count; k++) {
        const uint8_t *p = walk->body + 1 + 2 * k;
        int i = 0;
        while (i < info->components && info->component[i].id != p[0]) i++;
        if (i == info->components) return damaged(walk, "a component that the frame does not have");
        if (used[i]) return damaged(walk, "a component twice in one scan");
        // T.81 wants the frame's order (B.2.3); of others, libjpeg-turbo takes those where no component comes later in
        // the scan than in the frame.
        if (i < k) return damaged(walk, "components in another order than the frame's");
        used[i] = true;
        gi_status status = check_tables(walk, &info->component[i], p[1], bands);
        if (status != GI_OK) return status;
        info->component[i].scanned = info->component[i].scanned || bands[0] == 0;
        *only = i;
    }
    return GI_OK;
}

// The scan header and the entropy-coded data after it, which *at is moved past.
static gi_status read_sos(walker *walk, size_t *at) {
    gi_jpeg_info *info = walk->info;
    if (!walk->frame) return damaged(walk, "no frame header before it");
    if (walk->body_size < 1) return damaged(walk, "its length is wrong");
    int count = walk->body[0], only = 0;
    if (count < 1 || count > info->components) return damaged(walk, "the number of components is wrong");
    if (walk->body_size != 4 + 2 * (size_t)count) return damaged(walk, "its length is wrong");
    gi_status status = check_bands(walk, walk->body + 1 + 2 * count, count);
    if (status == GI_OK) status = read_scan_components(walk, count, &only);
    if (status != GI_OK) return status;
    if (++info->scans > GI_JPEG_MAX_SCANS)
        return gi_fail(walk->err, GI_ERR_LIMIT, "the JPEG has more than %d scans", GI_JPEG_MAX_SCANS);
    size_t from = *at;
    *at = gi_jpeg_scan_end(walk->bytes, from);
    info->entropy_bytes += *at - from;
    if (*at == walk->bytes.size) return GI_OK; // cut: told once the walk ends
    uint64_t mcus = count == 1 ? gi_jpeg_blocks(info, only)
                               : ceil_div(info->width, 8 * (uint64_t)info->h_max) *
                                     ceil_div(info->height, 8 * (uint64_t)info->v_max);
    check_restarts(walk, from, *at, mcus);
    return GI_OK;
}

// Any segment but SOI and EOI.
static gi_status read_segment(walker *walk, size_t *at) {
    int code = walk->segment.code;
    if (code == GI_JPEG_SOI) return damaged(walk, "a second SOI");
    if (code == 0x01 || (code >= GI_JPEG_RST0 && code <= GI_JPEG_RST7)) return GI_OK;
    if (walk->segment.size < 2) return damaged(walk, "its length is under 2");
    walk->body = walk->bytes.data + walk->segment.offset + 2;
    walk->body_size = walk->segment.size - 2;
    switch (code) {
    case GI_JPEG_DHT: return read_dht(walk);
    case GI_JPEG_DQT: return read_dqt(walk);
    case GI_JPEG_SOS: return read_sos(walk, at);
    case GI_JPEG_DRI:
        if (walk->body_size != 2) return damaged(walk, "its length is not 4");
        walk->restart_interval = gi_be16(walk->body);
        return GI_OK;
    case GI_JPEG_DNL:
        if (walk->body_size != 2 || !walk->frame || gi_be16(walk->body) != walk->info->height)
            return damaged(walk, "another height than the frame header's");
        return GI_OK;
    case GI_JPEG_DAC: return read_dac(walk);
    case 0xDE:
    case 0xDF: return unsupported(walk, "hierarchical");
    default: break;
    }
    if (code >= 0xC0 && code <= 0xCF) return read_sof(walk);
    if (code >= GI_JPEG_APP0 && code <= GI_JPEG_APP15) read_app(walk);
    if (code < 0xC0) return damaged(walk, "an unknown marker");
    return GI_OK;
}

gi_status gi_jpeg_check_plausible(const gi_jpeg_info *info, gi_error *err) {
    uint64_t blocks = 0;
    for (int i = 0; i < info->components; i++) blocks += gi_jpeg_blocks(info, i);
    // A block takes at least one bit. An eighth of that is asked for, so that the beginning of a cut file still decodes
    // and yet a few bytes cannot claim gigabytes. Arithmetic coding does with 2^-15 bits in the best case.
    uint64_t blocks_a_byte = info->arithmetic ? (uint64_t)8 << 15 : 64;
    if (blocks / blocks_a_byte <= info->entropy_bytes) return GI_OK;
    return gi_fail(err, GI_ERR_FORMAT, DAMAGED "%llu byte%s of image data cannot hold %ux%u pixels",
                   (unsigned long long)info->entropy_bytes, gi_plural(info->entropy_bytes), info->width, info->height);
}

gi_status gi_jpeg_tell_damage(const gi_decode_options *options, const char *damage, gi_error *err) {
    if (!damage[0]) return GI_OK;
    if (options->strict) return gi_fail(err, GI_ERR_FORMAT, DAMAGED "%s", damage);
    gi_say(options->messages, GI_WARNING, options->file, "damaged JPEG, decoded as far as it goes: %s", damage);
    return GI_OK;
}

// Walks to EOI, to the end of the file, or to damage behind the first scan.
static gi_status walk_segments(walker *walk) {
    gi_jpeg_info *info = walk->info;
    size_t at = 2, skipped = 0;
    info->end = walk->bytes.size;
    for (;;) {
        size_t before = at;
        if (!gi_jpeg_next_segment(walk->bytes, &at, &walk->segment, &skipped)) {
            note_damage(info, "the file is cut short: no EOI marker");
            break;
        }
        if (walk->segment.code == GI_JPEG_EOI) {
            info->trailing_bytes = walk->bytes.size - at;
            break;
        }
        gi_status status = read_segment(walk, &at);
        if (status == GI_ERR_FORMAT && info->scans > 0) {
            note_damage(info, walk->err->text + sizeof DAMAGED - 1);
            info->end = before;
            break;
        }
        if (status != GI_OK) return status;
    }
    if (skipped) note_damage(info, "bytes between the segments that belong to none");
    if (info->scans > 0) return GI_OK;
    return gi_fail(walk->err, GI_ERR_FORMAT, DAMAGED "it ends at byte %zu before any image data", at);
}

gi_status gi_jpeg_check(gi_bytes bytes, bool arithmetic, gi_jpeg_info *info, gi_error *err) {
    gi_error own; // its text is needed even when the caller wants none
    memset(info, 0, sizeof *info);
    info->orientation = 1;
    info->adobe = -1;
    if (gi_format_sniff(bytes) != GI_FORMAT_JPEG) return gi_fail(err, GI_ERR_FORMAT, "no JPEG signature");
    walker walk = {.bytes = bytes, .info = info, .arithmetic = arithmetic, .err = err ? err : &own};
    gi_status status = walk_segments(&walk);
    if (status != GI_OK) {
        walk.err = NULL;
        (void)decide_colour(&walk);
        return status;
    }
    for (int i = 0; i < info->components; i++)
        if (!info->component[i].scanned) note_damage(info, "a colour component has no scan");
    return decide_colour(&walk);
}
