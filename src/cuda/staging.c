#include "cuda/staging.h"

#include <string.h>

#include "cuda/cuda_status.h"
#include "cuda/fault.h"
#include "cuda/trace.h"

// What a thread copies at a time; a piece that is smaller takes one thread. So many threads outdo the bus.
enum { BLOCK_BYTES = 256 << 10, MOST_THREADS = 8 };

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

gi_staged_rows gi_staged_bytes(size_t bytes) { return (gi_staged_rows){1, bytes, bytes, 1, bytes}; }

// ---- one piece ----------------------------------------------------------------------------------------------------

// The part of the device's rows, seen as one sequence of bytes, that lies in [from, from + bytes).
typedef struct part {
    const gi_staged_rows *shape;
    size_t from, bytes;
} part;

// Of the row at `from` on: how many bytes belong to the row, and to the gap behind it, up to the part's end.
typedef struct run {
    size_t row, column, data, gap;
} run;

static run run_at(const part *p, size_t from, size_t end) {
    const gi_staged_rows *s = p->shape;
    run r = {from / s->device_pitch, from % s->device_pitch, 0, 0};
    const size_t length = smaller(s->device_pitch - r.column, end - from);
    if (r.row < s->rows && r.column < s->row_bytes) r.data = smaller(s->row_bytes - r.column, length);
    r.gap = length - r.data;
    return r;
}

static void fill_block(const part *p, size_t from, size_t end, unsigned char *to, const unsigned char *host) {
    while (from < end) {
        const run r = run_at(p, from, end);
        if (r.data) memcpy(to, host + r.row * p->shape->host_pitch + r.column, r.data);
        memset(to + r.data, 0, r.gap);
        to += r.data + r.gap;
        from += r.data + r.gap;
    }
}

static void empty_block(const part *p, size_t from, size_t end, const unsigned char *piece, unsigned char *host) {
    while (from < end) {
        const run r = run_at(p, from, end);
        if (r.data) memcpy(host + r.row * p->shape->host_pitch + r.column, piece, r.data);
        piece += r.data + r.gap;
        from += r.data + r.gap;
    }
}

static int threads_for(const gi_staging *staging, int64_t blocks) {
    const int most = staging->threads < MOST_THREADS ? staging->threads : MOST_THREADS;
    return blocks < most ? (int)blocks : most > 1 ? most : 1;
}

// Fills the piece from `host`, or empties it there where `source` is NULL.
static void move(const gi_staging *staging, const part *p, unsigned char *piece, const void *source, void *target) {
    const int64_t blocks = (int64_t)((p->bytes + BLOCK_BYTES - 1) / BLOCK_BYTES);
#pragma omp parallel for num_threads(threads_for(staging, blocks)) schedule(static) if (blocks > 1)
    for (int64_t i = 0; i < blocks; i++) {
        const size_t at = (size_t)i * BLOCK_BYTES, end = smaller(p->bytes, at + BLOCK_BYTES);
        if (source)
            fill_block(p, p->from + at, p->from + end, piece + at, source);
        else
            empty_block(p, p->from + at, p->from + end, piece + at, target);
    }
}

static gi_status passed(const gi_staging_piece *piece, gi_error *err) {
    return gi_cuda_check(gi_cuda_fault(GI_FAULT_LOST, cudaEventSynchronize(piece->passed)), "copying an array", err);
}

// *piece = the next one, with room for so much, once its last copy is done.
static gi_status next_piece(gi_staging *staging, size_t bytes, gi_staging_piece **out, gi_error *err) {
    gi_staging_piece *piece = *out = &staging->pieces[staging->next++ % GI_STAGING_PIECES];
    gi_status status = GI_OK;
    if (!piece->passed) // a thread that waits for it sleeps
        status = gi_cuda_check(cudaEventCreateWithFlags(&piece->passed, cudaEventDisableTiming | cudaEventBlockingSync),
                               "creating an event", err);
    else
        status = passed(piece, err);
    return status == GI_OK ? gi_cuda_buffer_reserve(&piece->buffer, bytes, GI_PINNED, staging->stream, err) : status;
}

// ---- arrays -------------------------------------------------------------------------------------------------------

gi_status gi_staging_upload(gi_staging *staging, void *device, const void *host, const gi_staged_rows *shape,
                            gi_error *err) {
    const size_t all = shape->device_rows * shape->device_pitch;
    gi_status status = GI_OK;
    gi_trace_begin("upload");
    for (part p = {shape, 0, 0}; p.from < all && status == GI_OK; p.from += p.bytes) {
        gi_staging_piece *piece;
        p.bytes = smaller(all - p.from, GI_STAGING_PIECE_BYTES);
        status = next_piece(staging, p.bytes, &piece, err);
        if (status != GI_OK) break;
        move(staging, &p, piece->buffer.data, host, NULL);
        status = gi_cuda_check(cudaMemcpyAsync((char *)device + p.from, piece->buffer.data, p.bytes,
                                               cudaMemcpyHostToDevice, staging->stream),
                               "uploading an array", err);
        if (status == GI_OK)
            status = gi_cuda_check(cudaEventRecord(piece->passed, staging->stream), "uploading an array", err);
    }
    gi_trace_end();
    return status;
}

// Begins to bring the part into a piece.
static gi_status send(gi_staging *staging, const part *p, const void *device, gi_staging_piece **piece, gi_error *err) {
    gi_status status = next_piece(staging, p->bytes, piece, err);
    if (status == GI_OK)
        status = gi_cuda_check(cudaMemcpyAsync((*piece)->buffer.data, (const char *)device + p->from, p->bytes,
                                               cudaMemcpyDeviceToHost, staging->stream),
                               "downloading an array", err);
    if (status == GI_OK)
        status = gi_cuda_check(cudaEventRecord((*piece)->passed, staging->stream), "downloading an array", err);
    return status;
}

gi_status gi_staging_download(gi_staging *staging, void *host, const void *device, const gi_staged_rows *shape,
                              gi_error *err) {
    const size_t all = shape->rows ? (shape->rows - 1) * shape->device_pitch + shape->row_bytes : 0;
    struct {
        part p;
        gi_staging_piece *piece;
    } sent[GI_STAGING_PIECES];
    size_t from = 0;
    unsigned first = 0, count = 0;
    gi_status status = GI_OK;
    gi_trace_begin("download");
    while (status == GI_OK && (from < all || count > 0)) {
        if (from < all && count < GI_STAGING_PIECES) {
            part *p = &sent[(first + count) % GI_STAGING_PIECES].p;
            *p = (part){shape, from, smaller(all - from, GI_STAGING_PIECE_BYTES)};
            status = send(staging, p, device, &sent[(first + count) % GI_STAGING_PIECES].piece, err);
            from += p->bytes;
            count++;
            continue;
        }
        status = passed(sent[first].piece, err);
        if (status == GI_OK) move(staging, &sent[first].p, sent[first].piece->buffer.data, NULL, host);
        first = (first + 1) % GI_STAGING_PIECES;
        count--;
    }
    gi_trace_end();
    return status;
}

void gi_staging_free(gi_staging *staging) {
    for (int i = 0; i < GI_STAGING_PIECES; i++) {
        gi_cuda_buffer_free(&staging->pieces[i].buffer, GI_PINNED);
        if (staging->pieces[i].passed) cudaEventDestroy(staging->pieces[i].passed);
    }
    *staging = (gi_staging){.next = 0};
}
