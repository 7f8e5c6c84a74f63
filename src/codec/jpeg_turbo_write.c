// Rows to JPEG by libjpeg-turbo, in one piece.
#include "codec/jpeg_turbo.h"

#ifdef GPUIMG_HAVE_JPEG

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "codec/jpeg_turbo_error.h"

enum { ROWS_A_CALL = 16 }; // as many as an MCU of 4:2:0 has

typedef struct piece {
    gi_writer writer;
    struct jpeg_compress_struct library;
    struct jpeg_destination_mgr destination;
    gi_turbo_errors errors;
    gi_turbo_job job;
    const gi_sink *sink;
    const gi_view *rows; // that are given
    bool created;
    uint8_t buffer[65536];
} piece;

bool gi_turbo_writes(gi_shape shape) { return shape.width <= JPEG_MAX_DIMENSION && shape.height <= JPEG_MAX_DIMENSION; }

static uint32_t blocks_across(const gi_turbo_job *job) {
    return job->shape.channels == 3 && job->options->subsampling != GI_SUBSAMPLING_444 ? 2 : 1;
}

static uint32_t blocks_down(const gi_turbo_job *job) {
    return job->shape.channels == 3 && job->options->subsampling == GI_SUBSAMPLING_420 ? 2 : 1;
}

uint32_t gi_turbo_mcu_width(const gi_turbo_job *job) { return DCTSIZE * blocks_across(job); }
uint32_t gi_turbo_mcu_height(const gi_turbo_job *job) { return DCTSIZE * blocks_down(job); }

// ---- the library's sink -------------------------------------------------------------------------------------------

static void begin_buffer(j_compress_ptr library) {
    piece *p = library->client_data;
    p->destination.next_output_byte = p->buffer;
    p->destination.free_in_buffer = sizeof p->buffer;
}

static void write_out(piece *p, size_t size) {
    gi_turbo_errors *errors = &p->errors;
    gi_status status = size ? p->sink->write(p->sink->context, p->buffer, size, &errors->failure) : GI_OK;
    if (status == GI_OK) return;
    errors->failure.status = status;
    gi_turbo_give_up(errors);
}

// The library wants the whole buffer written, whatever it says is free.
static boolean write_buffer(j_compress_ptr library) {
    write_out(library->client_data, sizeof((piece *)library->client_data)->buffer);
    begin_buffer(library);
    return TRUE;
}

static void write_rest(j_compress_ptr library) {
    piece *p = library->client_data;
    write_out(p, sizeof p->buffer - p->destination.free_in_buffer);
}

// ---- steps --------------------------------------------------------------------------------------------------------

static void start_step(void *context) {
    piece *p = context;
    j_compress_ptr library = &p->library;
    const gi_turbo_job *job = &p->job;
    jpeg_create_compress(library);
    p->created = true;
    library->client_data = p;
    library->dest = &p->destination;
    p->destination.init_destination = begin_buffer;
    p->destination.empty_output_buffer = write_buffer;
    p->destination.term_destination = write_rest;
    library->image_width = job->shape.width;
    library->image_height = job->shape.height;
    library->input_components = job->shape.channels;
    library->in_color_space = job->shape.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(library);
    jpeg_set_quality(library, job->options->quality, TRUE);
    library->comp_info[0].h_samp_factor = (int)blocks_across(job);
    library->comp_info[0].v_samp_factor = (int)blocks_down(job);
    library->dct_method = JDCT_ISLOW;
    library->restart_interval = job->restart_interval;
    library->optimize_coding = job->options->optimize;
    if (job->options->progressive) jpeg_simple_progression(library);
    jpeg_start_compress(library, TRUE);
}

static void rows_step(void *context) {
    piece *p = context;
    JSAMPROW rows[ROWS_A_CALL];
    for (uint32_t y = 0; y < p->rows->height;) {
        uint32_t count = p->rows->height - y < ROWS_A_CALL ? p->rows->height - y : ROWS_A_CALL;
        for (uint32_t i = 0; i < count; i++) rows[i] = gi_view_row(p->rows, y + i);
        y += jpeg_write_scanlines(&p->library, rows, count);
    }
}

static void finish_step(void *context) { jpeg_finish_compress(&((piece *)context)->library); }

// ---- the writer ---------------------------------------------------------------------------------------------------

static gi_status piece_rows(gi_writer *writer, const gi_view *rows, gi_error *err) {
    piece *p = (piece *)writer;
    p->rows = rows;
    return gi_turbo_try(&p->errors, rows_step, p, err);
}

static gi_status piece_finish(gi_writer *writer, gi_error *err) {
    piece *p = (piece *)writer;
    return gi_turbo_try(&p->errors, finish_step, p, err);
}

static void piece_close(gi_writer *writer) {
    piece *p = (piece *)writer;
    if (p->created) jpeg_destroy_compress(&p->library);
    free(p);
}

gi_status gi_turbo_piece_open(const gi_turbo_job *job, const gi_sink *sink, gi_writer **writer, gi_error *err) {
    piece *p = malloc(sizeof *p);
    if (!p) return gi_fail(err, GI_ERR_MEMORY, "no memory for a JPEG encoder");
    memset(p, 0, offsetof(piece, buffer));
    p->writer = (gi_writer){piece_rows, piece_finish, piece_close};
    p->job = *job;
    p->sink = sink;
    gi_turbo_errors_init(&p->errors, "libjpeg-turbo cannot write the JPEG", GI_ERR_UNSUPPORTED);
    p->library.err = &p->errors.manager;
    gi_status status = gi_turbo_try(&p->errors, start_step, p, err);
    if (status == GI_OK)
        *writer = &p->writer;
    else
        piece_close(&p->writer);
    return status;
}

#endif
