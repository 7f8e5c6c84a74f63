#include "run/source.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/trace.h"

enum { DECODE_CHUNK_BYTES = 8 << 20 }; // rows asked for at once, so that a cancel is seen in between

gi_source gi_source_of_image(const gi_view *image) {
    return (gi_source){.view = *image, .height = image->height, .held = {0, image->height}};
}

void gi_source_close(gi_source *source) {
    gi_decoder_close(source->decoder);
    gi_file_data_free(&source->file);
    source->decoder = NULL;
}

static uint32_t end_of(gi_rows rows) { return rows.y + rows.count; }

// Drops the held rows above row y and moves the others to the top.
static void slide(gi_source *source, uint32_t y) {
    gi_rows *held = &source->held;
    uint32_t dropped = y < end_of(*held) ? y - held->y : held->count;
    size_t pitch = source->view.pitch_bytes;
    if (dropped == 0) return;
    memmove(source->view.data, gi_view_row(&source->view, dropped), pitch * (held->count - dropped));
    held->y += dropped;
    held->count -= dropped;
}

static gi_status decode(gi_source *source, uint32_t count, gi_error *err) {
    const gi_view *view = &source->view;
    uint32_t chunk = view->pitch_bytes < DECODE_CHUNK_BYTES ? (uint32_t)(DECODE_CHUNK_BYTES / view->pitch_bytes) : 1;
    gi_status status = GI_OK;
    while (count > 0 && status == GI_OK) {
        if (source->stop && gi_stopped(source->stop)) return gi_fail(err, GI_ERR_CANCELLED, "interrupted");
        if (chunk > count) chunk = count;
        gi_view rows = gi_view_rows(view, source->held.count, chunk);
        gi_trace_begin("decode");
        gi_lap_enter(source->lap, GI_PHASE_DECODE);
        status = gi_decoder_rows(source->decoder, &rows, err);
        gi_trace_end();
        if (status == GI_OK && source->thumbnail) gi_thumbnail_rows(source->thumbnail, &rows);
        source->held.count += chunk;
        count -= chunk;
    }
    // The file is not needed any more, and may be as large as the pixels.
    if (end_of(source->held) == source->height) gi_source_close(source);
    return status;
}

bool gi_source_moves(const gi_source *source, gi_rows rows) {
    return rows.y >= source->held.y && end_of(rows) > source->held.y + source->view.height;
}

gi_status gi_source_rows(gi_source *source, gi_rows rows, gi_view *view, gi_error *err) {
    const gi_rows *held = &source->held;
    const uint32_t room = source->view.height, end = end_of(rows);
    gi_status status = GI_OK;
    if (gi_source_moves(source, rows)) slide(source, rows.y);
    if (rows.y < held->y || end > held->y + room || end > source->height)
        return gi_fail(err, GI_ERR_USAGE, "rows %u to %u were asked for out of order", rows.y, end);
    if (end > end_of(*held)) status = decode(source, end - end_of(*held), err);
    if (status == GI_OK) *view = gi_view_rows(&source->view, rows.y - held->y, rows.count);
    return status;
}
