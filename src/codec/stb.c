// The only file that holds stb_image and stb_image_write. Beyond their public functions it uses the parts that they
// are made of (the zlib decoder's state, the JPEG decoder's scans and colour conversion), because the whole cannot
// tell a cut scan from a complete one, bound what a zlib stream expands to, or deliver rows.
#include "codec/stb.h"

#include <limits.h>
#include <setjmp.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/bytes.h"
#include "codec/reader.h"

// Much of both headers is static and not used here; gcc tells that at the end of the file, so no pop.
#pragma GCC diagnostic ignored "-Wunused-function"

// Zeroed, so that whatever a damaged file leaves out is defined.
#define STBI_MALLOC(size) calloc(1, size)
#define STBI_REALLOC(memory, size) realloc(memory, size)
#define STBI_FREE(memory) free(memory)
// Damaged files may break what stb asserts of Huffman codes; it then reads a wrong symbol, within its tables.
#define STBI_ASSERT(condition) ((void)0)
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#define STBI_MAX_DIMENSIONS INT_MAX
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb_image.h>

// stb's compressor goes on with NULL when an array cannot grow: allocations of its leave it by a jump instead.
static void *compressor_grow(void *memory, size_t size);
static void compressor_free(void *memory);
#define STBIW_MALLOC(size) compressor_grow(NULL, size)
#define STBIW_REALLOC(memory, size) compressor_grow(memory, size)
#define STBIW_FREE(memory) compressor_free(memory)
#define STBIW_ASSERT(condition) ((void)0)
#define STBI_WRITE_NO_STDIO
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb_image_write.h>

// ---- zlib ---------------------------------------------------------------------------------------------------------

// What stopped stb short of the final block's end. It checks that a token's input is there before it looks for room.
static gi_inflate_state why_short(const stbi__zbuf *z, size_t in_size, size_t used, gi_stb_inflated *job) {
    size_t written = (size_t)(z->zout - z->zout_start);
    const char *reason = stbi__g_failure_reason ? stbi__g_failure_reason : "invalid block";
    bool cut = 8 * used - (size_t)z->num_bits > 8 * in_size; // bits past the end were used
    // A stored block of which a part is missing: what is there may be more than fits.
    if (!cut && strcmp(reason, "read past buffer") == 0)
        return in_size - used > job->room - written ? GI_INFLATE_BEYOND : GI_INFLATE_CUT;
    if (!cut && strcmp(reason, "output buffer limit") == 0) return GI_INFLATE_BEYOND;
    job->reason = reason;
    return used >= in_size ? GI_INFLATE_CUT : GI_INFLATE_CORRUPT;
}

void gi_stb_inflate(gi_bytes in, gi_stb_inflated *job) {
    stbi__zbuf z;
    memset(&z, 0, sizeof z);
    stbi__g_failure_reason = NULL; // an invalid block type sets none
    z.zbuffer = (stbi_uc *)(uintptr_t)in.data;
    // With the padding stb never finds its input exhausted within the last symbols, where it would fail or count bytes
    // that are not there.
    z.zbuffer_end = z.zbuffer + in.size + GI_INFLATE_PADDING;
    bool whole = stbi__do_zlib(&z, (char *)job->out, (int)job->room, 0, 0);
    size_t used = (size_t)(z.zbuffer - in.data);
    if (whole) {
        used -= (size_t)z.num_bits / 8; // whole bytes read ahead
        job->state = used <= in.size ? GI_INFLATE_ENDED : GI_INFLATE_CUT;
    } else {
        job->state = why_short(&z, in.size, used, job);
    }
    bool good = job->state == GI_INFLATE_ENDED || job->state == GI_INFLATE_BEYOND;
    job->size = good ? (size_t)(z.zout - z.zout_start) : 0;
    job->used = used < in.size ? used : in.size;
}

// What stands before each block of the compressor: all of a thread's blocks are linked, to be freed after a jump.
typedef struct block {
    alignas(max_align_t) struct block *next;
    struct block *previous;
} block;

static _Thread_local block *compressor_blocks;
static _Thread_local jmp_buf *compressor_exit;

static void compressor_unlink(block *b) {
    if (b->next) b->next->previous = b->previous;
    if (b->previous)
        b->previous->next = b->next;
    else
        compressor_blocks = b->next;
}

static void *compressor_grow(void *memory, size_t size) {
    block *old = memory ? (block *)memory - 1 : NULL;
    if (old) compressor_unlink(old);
    block *b = size > SIZE_MAX - sizeof *b ? NULL : realloc(old, size + sizeof *b);
    if (!b) {
        free(old);
        longjmp(*compressor_exit, 1);
    }
    *b = (block){compressor_blocks, NULL};
    if (b->next) b->next->previous = b;
    compressor_blocks = b;
    return b + 1;
}

static void compressor_free(void *memory) {
    if (!memory) return;
    compressor_unlink((block *)memory - 1);
    free((block *)memory - 1);
}

gi_status gi_stb_deflate(gi_bytes data, int level, gi_stb_stream *out, gi_error *err) {
    // The number of earlier places that are tried for a match; 5 is the least stb takes, 8 its default.
    static const int effort[10] = {5, 5, 5, 5, 6, 7, 8, 12, 20, 32};
    jmp_buf failed;
    int size = 0;
    compressor_exit = &failed;
    if (setjmp(failed)) {
        while (compressor_blocks) compressor_free(compressor_blocks + 1);
        return gi_fail(err, GI_ERR_MEMORY, "no memory to compress %zu bytes", data.size);
    }
    out->data = stbi_zlib_compress((unsigned char *)(uintptr_t)data.data, (int)data.size, &size, effort[level]);
    out->size = (size_t)size;
    return GI_OK;
}

void gi_stb_stream_free(gi_stb_stream *stream) {
    compressor_free(stream->data);
    stream->data = NULL;
}

// ---- JPEG decoding ------------------------------------------------------------------------------------------------

// A component's way from its plane to full resolution. The kernels are stb's.
typedef struct upsampler {
    resample_row_func resample;
    uint8_t *line;
    const uint8_t *near_first, *near_second; // plane rows above and below the next row
    int expand_x, expand_y, phase;           // factors; rows delivered of the current pair
    int width, row;                          // samples a row; plane row of near_second
} upsampler;

struct gi_stb_jpeg {
    stbi__jpeg state;
    stbi__context context;
    gi_jpeg_info info;
    upsampler up[4];
};

// What stb reads past the end of a scan: zeros, counted.
static int read_padding(void *user, char *data, int size) {
    memset(data, 0, (size_t)size);
    *(size_t *)user += (size_t)size;
    return size;
}

static void point_at(stbi__context *s, gi_bytes bytes, size_t from, size_t end) {
    s->img_buffer = s->img_buffer_original = (stbi_uc *)(uintptr_t)bytes.data + from;
    s->img_buffer_end = s->img_buffer_original_end = (stbi_uc *)(uintptr_t)bytes.data + end;
    s->read_from_callbacks = 0;
}

static void tell(char *damage, const char *text) {
    if (!damage[0]) snprintf(damage, GI_JPEG_DAMAGE_BYTES, "%s", text);
}

static bool is_padding(unsigned byte) { return byte == 0 || byte == 0xFF; }

// True when bytes are left between the last code and the end of the scan. Zeros, fill bytes and a restart marker too
// many are taken for padding.
static bool has_leftover(const stbi__jpeg *j) {
    uint32_t bits = j->code_buffer << (j->code_bits > 0 ? j->code_bits % 8 : 0);
    for (int whole = j->code_bits / 8; whole > 0; whole--, bits <<= 8)
        if (!is_padding(bits >> 24)) return true;
    const uint8_t *p = j->s->img_buffer, *begin = p;
    for (; p < j->s->img_buffer_end; p++) {
        bool restart = p > begin && p[-1] == 0xFF && *p >= GI_JPEG_RST0 && *p <= GI_JPEG_RST7;
        if (!is_padding(*p) && !restart) return true;
    }
    return false;
}

static void decode_scan(gi_stb_jpeg *jpeg, gi_bytes bytes, size_t *at, char *damage) {
    stbi__jpeg *j = &jpeg->state;
    stbi__context *s = &jpeg->context;
    size_t from = *at, padding = 0;
    *at = gi_jpeg_scan_end(bytes, from);
    point_at(s, bytes, from, *at);
    s->io.read = read_padding;
    s->io_user_data = &padding;
    s->buflen = 16;
    s->read_from_callbacks = 1;
    if (!stbi__parse_entropy_coded_data(j)) {
        tell(damage, "the image data holds an invalid code");
    } else if (padding) {
        size_t unread = (size_t)(s->img_buffer_end - s->img_buffer);
        if (8 * (padding - unread) > (size_t)(j->code_bits > 0 ? j->code_bits : 0))
            tell(damage, "the image data ends early");
    } else if (has_leftover(j)) {
        tell(damage, "some of the image data is not used");
    }
    j->marker = STBI__MARKER_none;
}

static bool decode_segment(gi_stb_jpeg *jpeg, gi_bytes bytes, const gi_jpeg_segment *segment) {
    stbi__jpeg *j = &jpeg->state;
    point_at(&jpeg->context, bytes, segment->offset, segment->offset + segment->size);
    switch (segment->code) {
    case GI_JPEG_SOF0:
    case GI_JPEG_SOF1:
    case GI_JPEG_SOF2: {
        j->progressive = segment->code == GI_JPEG_SOF2;
        if (!stbi__process_frame_header(j, STBI__SCAN_load)) return false;
        // What a damaged sequential file leaves out is mid-gray, as it is in a progressive one.
        for (int i = 0; i < jpeg->info.components; i++)
            memset(j->img_comp[i].data, 128, (size_t)j->img_comp[i].w2 * (size_t)j->img_comp[i].h2);
        return true;
    }
    case GI_JPEG_DHT:
    case GI_JPEG_DQT:
    case GI_JPEG_DRI: return stbi__process_marker(j, segment->code);
    case GI_JPEG_SOS: return stbi__process_scan_header(j);
    default: return true;
    }
}

static void start_rows(gi_stb_jpeg *jpeg) {
    stbi__jpeg *j = &jpeg->state;
    for (int i = 0; i < jpeg->info.components; i++) {
        upsampler *up = &jpeg->up[i];
        up->expand_x = j->img_h_max / j->img_comp[i].h;
        up->expand_y = j->img_v_max / j->img_comp[i].v;
        up->phase = up->expand_y >> 1;
        up->width = ((int)jpeg->info.width + up->expand_x - 1) / up->expand_x;
        up->near_first = up->near_second = j->img_comp[i].data;
        int factors = up->expand_x * 8 + up->expand_y;
        up->resample = factors == 9    ? resample_row_1
                       : factors == 10 ? stbi__resample_row_v_2
                       : factors == 17 ? stbi__resample_row_h_2
                       : factors == 18 ? j->resample_row_hv_2_kernel
                                       : stbi__resample_row_generic;
    }
}

gi_status gi_stb_jpeg_decode(gi_bytes bytes, const gi_jpeg_info *info, gi_stb_jpeg **jpeg, char *damage,
                             gi_error *err) {
    damage[0] = '\0';
    gi_stb_jpeg *made = calloc(1, sizeof *made);
    if (!made) return gi_fail(err, GI_ERR_MEMORY, "no memory for a JPEG decoder");
    made->info = *info;
    made->state.s = &made->context;
    made->state.marker = STBI__MARKER_none;
    stbi__setup_jpeg(&made->state);
    bytes.size = info->end;
    stbi__g_failure_reason = NULL;
    size_t at = 2, skipped = 0;
    gi_jpeg_segment segment;
    gi_status status = GI_OK;
    while (gi_jpeg_next_segment(bytes, &at, &segment, &skipped) && segment.code != GI_JPEG_EOI) {
        if (!decode_segment(made, bytes, &segment)) {
            const char *reason = stbi_failure_reason();
            bool memory = reason && strcmp(reason, "outofmem") == 0;
            status = memory ? gi_fail(err, GI_ERR_MEMORY, "no memory for %ux%u pixels", info->width, info->height)
                            : gi_fail(err, GI_ERR_FORMAT, "damaged JPEG: %s", reason ? reason : "unknown damage");
            goto out;
        }
        if (segment.code == GI_JPEG_SOS) decode_scan(made, bytes, &at, damage);
    }
    if (info->progressive) stbi__jpeg_finish(&made->state);
    for (int i = 0; i < info->components; i++) {
        made->up[i].line = malloc((size_t)info->width + 16);
        if (made->up[i].line) continue;
        status = gi_fail(err, GI_ERR_MEMORY, "no memory for rows of %u pixels", info->width);
        goto out;
    }
    start_rows(made);
    *jpeg = made;
    made = NULL;
out:
    gi_stb_jpeg_free(made);
    return status;
}

// The next row of component i at full resolution.
static const uint8_t *next_line(gi_stb_jpeg *jpeg, int i) {
    upsampler *up = &jpeg->up[i];
    bool lower = up->phase >= up->expand_y >> 1;
    const uint8_t *near = lower ? up->near_second : up->near_first, *far = lower ? up->near_first : up->near_second;
    const uint8_t *line =
        up->resample(up->line, (stbi_uc *)(uintptr_t)near, (stbi_uc *)(uintptr_t)far, up->width, up->expand_x);
    if (++up->phase >= up->expand_y) {
        up->phase = 0;
        up->near_first = up->near_second;
        if (++up->row < jpeg->state.img_comp[i].y) up->near_second += jpeg->state.img_comp[i].w2;
    }
    return line;
}

static uint8_t times(unsigned a, unsigned b) { return (uint8_t)((a * b + 127) / 255); }

static void ycc_to_rgb(const stbi__jpeg *j, uint8_t *row, const uint8_t *const line[4], uint32_t width) {
    // stb writes a fourth byte after every pixel: the last one goes elsewhere.
    uint32_t last = width - 1;
    uint8_t pixel[4];
    j->YCbCr_to_RGB_kernel(row, line[0], line[1], line[2], (int)last, 3);
    j->YCbCr_to_RGB_kernel(pixel, line[0] + last, line[1] + last, line[2] + last, 1, 3);
    memcpy(row + 3 * (size_t)last, pixel, 3);
}

void gi_stb_jpeg_row(gi_stb_jpeg *jpeg, bool luma, uint8_t *row) {
    const gi_jpeg_info *info = &jpeg->info;
    const uint8_t *line[4] = {NULL};
    int wanted = luma ? 1 : info->components;
    for (int i = 0; i < wanted; i++) line[i] = next_line(jpeg, i);
    size_t width = info->width;
    if (wanted == 1) {
        memcpy(row, line[0], width);
        return;
    }
    if (info->colour == GI_JPEG_YCC || info->colour == GI_JPEG_YCCK) ycc_to_rgb(&jpeg->state, row, line, info->width);
    for (size_t x = 0; x < width && info->colour == GI_JPEG_RGB; x++)
        for (size_t c = 0; c < 3; c++) row[3 * x + c] = line[c][x];
    // Adobe stores ink inverted: 255 is none. YCCK holds the inks' complement.
    for (size_t x = 0; x < width && info->colour == GI_JPEG_CMYK; x++)
        for (size_t c = 0; c < 3; c++) row[3 * x + c] = times(line[c][x], line[3][x]);
    for (size_t x = 0; x < width && info->colour == GI_JPEG_YCCK; x++)
        for (size_t c = 0; c < 3; c++) row[3 * x + c] = times(255U - row[3 * x + c], line[3][x]);
}

void gi_stb_jpeg_free(gi_stb_jpeg *jpeg) {
    if (!jpeg) return;
    stbi__free_jpeg_components(&jpeg->state, 4, 0);
    for (int i = 0; i < 4; i++) free(jpeg->up[i].line);
    free(jpeg);
}

// ---- JPEG encoding ------------------------------------------------------------------------------------------------

// stb writes bytes one by one and takes no answer: they are gathered, and the sink's first failure is kept.
typedef struct gather {
    const gi_sink *sink;
    gi_error *err;
    gi_status status;
    size_t used;
    uint8_t buffer[65536];
} gather;

static void flush(gather *g) {
    if (g->status == GI_OK && g->used) g->status = g->sink->write(g->sink->context, g->buffer, g->used, g->err);
    g->used = 0;
}

static void put_bytes(gather *g, const uint8_t *data, size_t size) {
    while (size) {
        if (g->used == sizeof g->buffer) flush(g);
        size_t room = sizeof g->buffer - g->used, part = size < room ? size : room;
        memcpy(g->buffer + g->used, data, part);
        g->used += part;
        data += part;
        size -= part;
    }
}

static void take(void *context, void *data, int size) {
    gather *g = context;
    put_bytes(g, data, (size_t)size);
}

gi_status gi_stb_jpeg_encode(const gi_stb_jpeg_job *job, const gi_sink *sink, gi_error *err) {
    gather *g = calloc(1, sizeof *g);
    if (!g) return gi_fail(err, GI_ERR_MEMORY, "no memory for a JPEG encoder");
    g->sink = sink;
    g->err = err;
    if (!stbi_write_jpg_to_func(take, g, (int)job->shape.width, (int)job->shape.height, job->shape.channels,
                                job->pixels, job->quality))
        g->status = gi_fail(err, GI_ERR_UNSUPPORTED, "stb_image_write refuses the image");
    flush(g);
    gi_status status = g->status;
    free(g);
    return status;
}
