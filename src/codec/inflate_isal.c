// Inflate by ISA-L's igzip.
#include "codec/inflate_engine.h"

#ifdef GPUIMG_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#include <stdlib.h>

enum { PIECE = 1 << 30 }; // igzip counts bytes in 32 bits

static gi_status isal_open(size_t need, void **self, gi_error *err) {
    (void)need;
    struct inflate_state *state = calloc(1, sizeof *state);
    if (!state) return gi_fail(err, GI_ERR_MEMORY, "no memory for a decoder");
    isal_inflate_init(state);
    state->crc_flag = ISAL_DEFLATE;
    *self = state;
    return GI_OK;
}

// igzip loads 8 bytes at a time and keeps what the stream does not need, after the bits that fill the last byte up.
static void give_back(const struct inflate_state *state, gi_inflate_io *io) {
    uint64_t left = state->read_in >> state->read_in_length % 8;
    io->rest_size = (size_t)state->read_in_length / 8;
    for (size_t i = 0; i < io->rest_size; i++) io->rest[i] = (uint8_t)(left >> 8 * i);
}

static const char *reason_of(int failure) {
    switch (failure) {
    case ISAL_INVALID_SYMBOL: return "bad huffman code";
    case ISAL_INVALID_LOOKBACK: return "bad dist";
    default: return "invalid block";
    }
}

static gi_inflate_state isal_run(void *self, gi_inflate_io *io) {
    struct inflate_state *state = self;
    uint32_t in = (uint32_t)(io->in.size < PIECE ? io->in.size : PIECE);
    uint32_t room = (uint32_t)(io->room < PIECE ? io->room : PIECE);
    // By the total some versions tell whether a distance leads before the beginning: it may not wrap to a few bytes.
    if (state->total_out >= 2U * PIECE) state->total_out -= PIECE;
    state->next_in = (uint8_t *)(uintptr_t)io->in.data;
    state->avail_in = in;
    state->next_out = io->out;
    state->avail_out = room;
    int result = isal_inflate(state);
    io->in.data += in - state->avail_in;
    io->in.size -= in - state->avail_in;
    io->out += room - state->avail_out;
    io->room -= room - state->avail_out;
    if (result < 0) {
        io->reason = reason_of(result);
        return GI_INFLATE_CORRUPT;
    }
    if (state->block_state != ISAL_BLOCK_FINISH) return GI_INFLATE_GOES_ON;
    give_back(state, io);
    return GI_INFLATE_ENDED;
}

static gi_inflate_state isal_resume(void *self, uint8_t first, int bits, gi_bytes window) {
    struct inflate_state *state = self;
    state->read_in = first;
    state->read_in_length = bits;
    // It fails only where the window is too large, or after a block has begun.
    isal_inflate_set_dict(state, (uint8_t *)(uintptr_t)window.data, (uint32_t)window.size);
    return GI_INFLATE_GOES_ON;
}

const gi_inflate_engine gi_inflate_isal = {false, isal_open, isal_run, isal_resume, free};
#endif
