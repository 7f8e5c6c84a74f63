// Inflate by stb_image: all of it at the first call, then handed out.
#include <stdlib.h>
#include <string.h>

#include "codec/inflate.h"
#include "codec/inflate_engine.h"
#include "codec/stb.h"
#include "core/checked.h"

typedef struct inflated {
    gi_stb_inflated job;
    bool ran;
    size_t at; // bytes handed out
} inflated;

static gi_status stb_open(size_t need, void **self, gi_error *err) {
    size_t size = 0;
    inflated *made = calloc(1, sizeof *made);
    if (made && gi_add(need, GI_INFLATE_EXCESS, &size)) made->job.out = calloc(1, size);
    if (!made || !made->job.out) {
        free(made);
        return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu bytes of pixels", need);
    }
    made->job.room = size;
    *self = made;
    return GI_OK;
}

static gi_inflate_state stb_run(void *self, gi_inflate_io *io) {
    inflated *made = self;
    gi_stb_inflated *job = &made->job;
    if (!made->ran) {
        gi_stb_inflate(io->in, job);
        io->in = (gi_bytes){io->in.data + job->used, io->in.size - job->used};
        made->ran = true;
    }
    size_t left = job->size - made->at, part = left < io->room ? left : io->room;
    if (part) memcpy(io->out, job->out + made->at, part);
    made->at += part;
    io->out += part;
    io->room -= part;
    io->reason = job->reason;
    return made->at < job->size ? GI_INFLATE_GOES_ON : job->state;
}

static void stb_close(void *self) {
    inflated *made = self;
    free(made->job.out);
    free(made);
}

const gi_inflate_engine gi_inflate_stb = {true, stb_open, stb_run, NULL, stb_close};
