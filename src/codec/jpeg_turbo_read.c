// JPEG to rows by libjpeg-turbo. The library is given only the segments that take part in decoding, one after another:
// what gi_jpeg_check skips, it does not see.
#include "codec/jpeg_turbo.h"

#ifdef GPUIMG_HAVE_JPEG

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

#include "codec/jpeg_turbo_error.h"
#include "core/ahead.h"

enum {
    ROWS_A_CALL = 16,       // as many as an MCU of 4:2:0 has
    MAX_MCU_BLOCKS = 10,    // T.81, B.2.3
    AHEAD_PIXELS = 1 << 19, // smaller images are decoded before a thread pays
    AHEAD_BYTES = 1 << 19,  // of a block, as far as its rows are
    AHEAD_LEAST_ROWS = 16,  // a multiple of ROWS_A_CALL, as is the next
    AHEAD_MOST_ROWS = 64,
    AHEAD_DEPTH = 3
};

bool gi_turbo_has_arithmetic(void) {
#ifdef D_ARITH_CODING_SUPPORTED
    return true;
#else
    return false;
#endif
}

bool gi_turbo_reads(const gi_jpeg_info *info) {
    int blocks = 0;
    for (int i = 0; i < info->components; i++) blocks += info->component[i].h * info->component[i].v;
    bool mcu = info->components == 1 || blocks <= MAX_MCU_BLOCKS;
    return mcu && !info->full_code && info->width <= JPEG_MAX_DIMENSION && info->height <= JPEG_MAX_DIMENSION;
}

bool gi_turbo_reads_rows(const gi_jpeg_info *info) {
    bool all = info->scans == 1 && !info->progressive;
    for (int i = 0; i < info->components; i++) all = all && info->component[i].scanned;
    return all;
}

// ---- the library --------------------------------------------------------------------------------------------------

// Used by one thread at a time.
typedef struct decoder {
    struct jpeg_decompress_struct library;
    struct jpeg_source_mgr source;
    gi_turbo_errors errors;
    gi_jpeg_info info;
    gi_bytes bytes;  // up to info.end
    size_t at;       // where the next segment is looked for
    gi_bytes given;  // what the library reads now
    gi_bytes before; // what it has read before that
    bool luma, started;
    uint8_t *inks;                     // one row of a CMYK image; the library's
    const gi_view *out;                // rows that are asked for
    char damage[GI_JPEG_DAMAGE_BYTES]; // what the library warns of first; empty: nothing
} decoder;

static bool takes_part(int code) {
    bool frame = code >= GI_JPEG_SOF0 && code < GI_JPEG_RST0; // DHT and DAC are among these
    return frame || code == GI_JPEG_SOI || code == GI_JPEG_DQT || code == GI_JPEG_DRI || code == GI_JPEG_SOS;
}

// The next segment, a scan with its data; EOI without end.
static boolean give_segment(j_decompress_ptr library) {
    static const uint8_t eoi[2] = {0xFF, GI_JPEG_EOI};
    decoder *d = library->client_data;
    gi_jpeg_segment segment;
    size_t skipped = 0;
    d->before = d->given;
    d->given = (gi_bytes){eoi, sizeof eoi};
    while (gi_jpeg_next_segment(d->bytes, &d->at, &segment, &skipped) && segment.code != GI_JPEG_EOI) {
        if (!takes_part(segment.code)) continue;
        if (segment.code == GI_JPEG_SOS) d->at = gi_jpeg_scan_end(d->bytes, d->at);
        size_t marker = segment.offset - 2;
        d->given = (gi_bytes){d->bytes.data + marker, d->at - marker};
        break;
    }
    d->source.next_input_byte = d->given.data;
    d->source.bytes_in_buffer = d->given.size;
    return TRUE;
}

static void skip_input(j_decompress_ptr library, long count) {
    struct jpeg_source_mgr *source = library->src;
    while (count > 0) {
        size_t part = (size_t)count < source->bytes_in_buffer ? (size_t)count : source->bytes_in_buffer;
        source->next_input_byte += part;
        source->bytes_in_buffer -= part;
        count -= (long)part;
        if (count > 0) give_segment(library);
    }
}

static void no_source_step(j_decompress_ptr library) { (void)library; }

// What follows the last code of a scan is taken for padding as stb.c does: zeros, fill bytes, a restart marker too
// many.
static bool is_padding(gi_bytes scan, size_t size) {
    if (size > scan.size) return false;
    const uint8_t *begin = scan.data + scan.size - size;
    for (const uint8_t *p = begin; p < scan.data + scan.size; p++) {
        bool restart = p > begin && p[-1] == 0xFF && *p >= GI_JPEG_RST0 && *p <= GI_JPEG_RST7;
        if (*p != 0 && *p != 0xFF && !restart) return false;
    }
    return true;
}

// The library's warning in the words of stb.c; NULL for what is no damage, or was found by gi_jpeg_check.
static const char *words(const decoder *d) {
    const struct jpeg_error_mgr *manager = &d->errors.manager;
    switch (manager->msg_code) {
    case JWRN_HIT_MARKER:
    case JWRN_JPEG_EOF: return "the image data ends early";
    case JWRN_HUFF_BAD_CODE: return "the image data holds an invalid code";
    case JWRN_MUST_RESYNC: return "restart markers are missing or out of order";
    case JWRN_EXTRANEOUS_DATA: {
        int marker = manager->msg_parm.i[1];
        bool within = marker >= GI_JPEG_RST0 && marker <= GI_JPEG_RST7; // the scan goes on
        bool padding = !within && is_padding(d->before, (size_t)manager->msg_parm.i[0]);
        return padding ? NULL : "some of the image data is not used";
    }
    case JWRN_ADOBE_XFORM:
    case JWRN_JFIF_MAJOR:
    case JWRN_NOT_SEQUENTIAL: return NULL;
    default: return "the image data is corrupt";
    }
}

static void keep_warning(j_common_ptr library, int level) {
    decoder *d = library->client_data;
    if (level >= 0 || d->damage[0]) return;
    const char *text = words(d);
    if (text) snprintf(d->damage, sizeof d->damage, "%s", text);
}

static void start_step(void *context) {
    decoder *d = context;
    j_decompress_ptr library = &d->library;
    jpeg_create_decompress(library);
    d->started = true;
    library->client_data = d;
    library->src = &d->source;
    d->source.init_source = d->source.term_source = no_source_step;
    d->source.fill_input_buffer = give_segment;
    d->source.skip_input_data = skip_input;
    d->source.resync_to_restart = jpeg_resync_to_restart;
    jpeg_read_header(library, TRUE);
    // The library has not seen what gi_jpeg_check has decided this by.
    static const J_COLOR_SPACE stored[] = {[GI_JPEG_GRAY] = JCS_GRAYSCALE,
                                           [GI_JPEG_YCC] = JCS_YCbCr,
                                           [GI_JPEG_RGB] = JCS_RGB,
                                           [GI_JPEG_CMYK] = JCS_CMYK,
                                           [GI_JPEG_YCCK] = JCS_YCCK};
    library->jpeg_color_space = stored[d->info.colour];
    library->out_color_space = d->luma ? JCS_GRAYSCALE : d->info.components == 4 ? JCS_CMYK : JCS_RGB;
    library->dct_method = JDCT_ISLOW;
    library->do_fancy_upsampling = TRUE;
    jpeg_start_decompress(library);
    if (library->out_color_space == JCS_CMYK)
        d->inks = library->mem->alloc_large((j_common_ptr)library, JPOOL_IMAGE, 4 * (size_t)d->info.width);
}

static uint8_t times(unsigned a, unsigned b) { return (uint8_t)((a * b + 127) / 255); }

static void inks_step(void *context) {
    decoder *d = context;
    for (uint32_t y = 0; y < d->out->height; y++) {
        uint8_t *rgb = gi_view_row(d->out, y), *inks = d->inks;
        jpeg_read_scanlines(&d->library, &inks, 1);
        // Adobe stores ink inverted: 255 is none.
        for (uint32_t x = 0; x < d->info.width; x++, rgb += 3, inks += 4)
            for (int c = 0; c < 3; c++) rgb[c] = times(inks[c], inks[3]);
    }
}

static void rows_step(void *context) {
    decoder *d = context;
    JSAMPROW rows[ROWS_A_CALL];
    for (uint32_t y = 0; y < d->out->height;) {
        uint32_t count = d->out->height - y < ROWS_A_CALL ? d->out->height - y : ROWS_A_CALL;
        for (uint32_t i = 0; i < count; i++) rows[i] = gi_view_row(d->out, y + i);
        y += jpeg_read_scanlines(&d->library, rows, count);
    }
}

// To EOI, for the warnings about what is behind the last row.
static void finish_step(void *context) { jpeg_finish_decompress(&((decoder *)context)->library); }

// The next out->height rows.
static gi_status decode_rows(decoder *d, const gi_view *out, gi_error *err) {
    gi_status status = d->started ? GI_OK : gi_turbo_try(&d->errors, start_step, d, err);
    d->out = out;
    if (status == GI_OK) status = gi_turbo_try(&d->errors, d->inks ? inks_step : rows_step, d, err);
    if (status != GI_OK || d->library.output_scanline < d->library.output_height) return status;
    // The image is there: a failure now is about what it does not need.
    if (gi_turbo_try(&d->errors, finish_step, d, NULL) != GI_OK && !d->damage[0])
        snprintf(d->damage, sizeof d->damage, "some of the image data is not used");
    return GI_OK;
}

// ---- rows ---------------------------------------------------------------------------------------------------------

typedef struct turbo_reader {
    gi_reader reader;
    const gi_decode_options *options;
    decoder decoder;
    bool told;             // of damage
    gi_ahead *ahead;       // NULL: rows are decoded where they are wanted
    uint32_t block_rows;   // of each block ahead but the last; its damage follows the rows
    uint32_t decoded, got; // rows that went into blocks, rows that came out of them
    const uint8_t *rest;   // the rows left of the block in use
} turbo_reader;

static size_t row_bytes(const turbo_reader *turbo) {
    gi_shape shape = turbo->reader.header.shape;
    return gi_row_bytes(shape.width, shape.channels, shape.sample);
}

// What gi_jpeg_check found was told when the file was opened.
static gi_status tell(turbo_reader *turbo, const char *damage, gi_error *err) {
    if (turbo->told || !damage[0] || turbo->decoder.info.damage[0]) return GI_OK;
    turbo->told = true;
    return gi_jpeg_tell_damage(turbo->options, damage, err);
}

// In the thread that decodes ahead.
static gi_status make_block(void *context, void *block, gi_error *err) {
    turbo_reader *turbo = context;
    gi_shape shape = turbo->reader.header.shape;
    uint32_t left = shape.height - turbo->decoded;
    shape.height = left < turbo->block_rows ? left : turbo->block_rows;
    gi_view rows = gi_view_packed(block, shape, GI_HOST);
    gi_status status = decode_rows(&turbo->decoder, &rows, err);
    turbo->decoded += shape.height;
    memcpy((uint8_t *)block + turbo->block_rows * row_bytes(turbo), turbo->decoder.damage, GI_JPEG_DAMAGE_BYTES);
    return status;
}

static gi_status start_ahead(turbo_reader *turbo, gi_error *err) {
    gi_shape shape = turbo->reader.header.shape;
    if (turbo->options->threads <= 1 || (uint64_t)shape.width * shape.height < AHEAD_PIXELS) return GI_OK;
    uint32_t rows = (uint32_t)(AHEAD_BYTES / row_bytes(turbo)) & ~(uint32_t)(AHEAD_LEAST_ROWS - 1);
    rows = rows < AHEAD_LEAST_ROWS ? AHEAD_LEAST_ROWS : rows > AHEAD_MOST_ROWS ? AHEAD_MOST_ROWS : rows;
    turbo->block_rows = rows;
    gi_ahead_job job = {.make = make_block,
                        .context = turbo,
                        .blocks = (shape.height + rows - 1) / rows,
                        .block_bytes = rows * row_bytes(turbo) + GI_JPEG_DAMAGE_BYTES,
                        .depth = AHEAD_DEPTH,
                        .threaded = true};
    return gi_ahead_open(&job, &turbo->ahead, err);
}

static gi_status next_block(turbo_reader *turbo, gi_error *err) {
    void *block;
    gi_status status = gi_ahead_next(turbo->ahead, &block, err);
    if (status != GI_OK) return status;
    turbo->rest = block;
    return tell(turbo, (const char *)block + turbo->block_rows * row_bytes(turbo), err);
}

static gi_status copy_rows(turbo_reader *turbo, const gi_view *out, gi_error *err) {
    for (uint32_t y = 0; y < out->height; y++, turbo->got++) {
        gi_status status = turbo->got % turbo->block_rows ? GI_OK : next_block(turbo, err);
        if (status != GI_OK) return status;
        memcpy(gi_view_row(out, y), turbo->rest, row_bytes(turbo));
        turbo->rest += row_bytes(turbo);
    }
    return GI_OK;
}

static gi_status turbo_rows(gi_reader *reader, const gi_view *out, gi_error *err) {
    turbo_reader *turbo = (turbo_reader *)reader;
    if (!turbo->ahead && !turbo->decoder.started) {
        turbo->decoder.luma = reader->header.shape.channels == 1;
        gi_status status = start_ahead(turbo, err);
        if (status != GI_OK) return status;
    }
    if (turbo->ahead) return copy_rows(turbo, out, err);
    gi_status status = decode_rows(&turbo->decoder, out, err);
    return status == GI_OK ? tell(turbo, turbo->decoder.damage, err) : status;
}

static void turbo_close(gi_reader *reader) {
    turbo_reader *turbo = (turbo_reader *)reader;
    gi_ahead_close(turbo->ahead);
    if (turbo->decoder.started) jpeg_destroy_decompress(&turbo->decoder.library);
    free(turbo);
}

gi_status gi_turbo_reader_open(gi_bytes bytes, const gi_decode_options *options, const gi_jpeg_info *info,
                               gi_reader **reader, gi_error *err) {
    turbo_reader *turbo = calloc(1, sizeof *turbo);
    if (!turbo) return gi_fail(err, GI_ERR_MEMORY, "no memory for a JPEG decoder");
    decoder *d = &turbo->decoder;
    d->info = *info;
    d->bytes = (gi_bytes){bytes.data, info->end};
    gi_turbo_errors_init(&d->errors, "damaged JPEG", GI_ERR_FORMAT);
    d->errors.manager.emit_message = keep_warning;
    d->library.err = &d->errors.manager;
    turbo->options = options;
    turbo->reader.rows = turbo_rows;
    turbo->reader.close = turbo_close;
    *reader = &turbo->reader;
    return GI_OK;
}

#endif
