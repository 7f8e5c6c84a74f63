#include "codec/png_chunks.h"

#include <string.h>

#include "codec/bytes.h"
#include "codec/checksum.h"

static gi_status put(const gi_sink *sink, const void *data, size_t size, gi_error *err) {
    return sink->write(sink->context, data, size, err);
}

gi_status gi_png_put_chunk(const gi_sink *sink, const char *name, gi_bytes body, gi_error *err) {
    uint8_t head[GI_PNG_CHUNK_HEAD], tail[GI_PNG_CHUNK_TAIL];
    gi_put_be32(head, (uint32_t)body.size);
    memcpy(head + 4, name, 4);
    gi_put_be32(tail, gi_crc32(gi_crc32(0, name, 4), body.data, body.size));
    gi_status status = put(sink, head, sizeof head, err);
    if (status == GI_OK && body.size) status = put(sink, body.data, body.size, err);
    if (status == GI_OK) status = put(sink, tail, sizeof tail, err);
    return status;
}

static gi_status put_palette(const gi_png_job *job, gi_error *err) {
    const gi_png_colours *colours = &job->form.colours;
    uint8_t rgb[3 * GI_PNG_COLOURS], alpha[GI_PNG_COLOURS];
    size_t count = (size_t)colours->count, alphas = 0; // tRNS may end before the last colours that are opaque
    for (size_t i = 0; i < count; i++) {
        for (unsigned c = 0; c < 3; c++) rgb[3 * i + c] = (uint8_t)(colours->colour[i] >> (24 - 8 * c));
        alpha[i] = (uint8_t)colours->colour[i];
        if (alpha[i] != 255) alphas = i + 1;
    }
    gi_status status = gi_png_put_chunk(job->sink, "PLTE", (gi_bytes){rgb, 3 * count}, err);
    if (status == GI_OK && alphas) status = gi_png_put_chunk(job->sink, "tRNS", (gi_bytes){alpha, alphas}, err);
    return status;
}

gi_status gi_png_put_head(const gi_png_job *job, gi_error *err) {
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    uint8_t ihdr[13] = {0};
    gi_put_be32(ihdr, job->shape.width);
    gi_put_be32(ihdr + 4, job->shape.height);
    ihdr[8] = (uint8_t)job->form.depth;
    ihdr[9] = (uint8_t)job->form.colour;
    gi_status status = put(job->sink, signature, sizeof signature, err);
    if (status == GI_OK) status = gi_png_put_chunk(job->sink, "IHDR", (gi_bytes){ihdr, sizeof ihdr}, err);
    if (status == GI_OK) status = gi_png_put_colour(job->sink, job->options->metadata, err);
    if (status == GI_OK && job->form.colour == GI_PNG_PALETTE) status = put_palette(job, err);
    if (status == GI_OK) status = gi_png_put_about(job->sink, job->options->metadata, err);
    return status;
}

gi_status gi_png_put_end(const gi_png_job *job, gi_error *err) {
    return gi_png_put_chunk(job->sink, "IEND", (gi_bytes){NULL, 0}, err);
}
