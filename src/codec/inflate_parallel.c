#include "codec/inflate_parallel.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "codec/inflate_segment.h"
#include "core/checked.h"
#include "core/crew.h"

enum {
    // Memory for what is inflated of a segment: bytes for each compressed one, and some more. Where there is more of
    // it, that is done in several parts.
    OUT_RATIO = 8,
    LEAST_OUT = 128 << 10,
    MISSES = 3, // so many more of them than hits, and the library goes on
};

// A segment and what it is read from. Places are a ring of an even number; two that follow each other are one task,
// which is that of the first, the even one.
typedef struct place place;
struct place {
    gi_task task;
    place *other; // NULL: it is alone
    gi_segment segment;
    uint8_t *in;
    size_t size;     // bytes in it
    uint64_t origin; // in the stream, of the first of them
    bool is_first;   // the stream's beginning
};

typedef struct parallel {
    gi_parallel_job job;
    gi_crew *crew;
    atomic_bool stop;
    place *places;
    int count;
    uint64_t first, full; // places: the one to write from, the one to fill
    bool filling;         // the one to fill was begun
    bool exhausted;       // all input is in places
    bool handed_over;     // the library goes on, at byte `feed`
    bool ready;           // the first place's segment follows what was written
    size_t written;       // symbols and bytes of it
    int misses, hits;
    uint64_t at;   // bits of the stream up to which all is known to be right: a block begins there
    uint64_t feed; // byte of the stream
    size_t window_size;
    uint8_t known[256 + GI_WINDOW_BYTES]; // what symbols are: bytes as such, then the window, which ends at its end
} parallel;

static place *place_of(const parallel *p, uint64_t index) { return &p->places[index % (uint64_t)p->count]; }

static const uint8_t *window_of(const parallel *p) { return p->known + sizeof p->known - p->window_size; }

// ---- input --------------------------------------------------------------------------------------------------------

static void begin_segment(place *s) {
    if (s->is_first)
        gi_segment_continue(&s->segment, 0, NULL, 0);
    else
        gi_segment_search(&s->segment);
}

static void run_task(gi_task *task) {
    place *s = (place *)((char *)task - offsetof(place, task));
    begin_segment(s);
    if (s->other) begin_segment(s->other);
    gi_segment_finish(&s->segment, s->other ? &s->other->segment : NULL);
}

// The place being filled has all that it gets. The crew gets it with the one before, or, the last one, alone.
static void end_place(parallel *p, place *s, bool last) {
    memset(s->in + s->size, 0, GI_PACKED_PADDING);
    s->segment.in = (gi_packed){s->in, s->size};
    s->segment.next = last ? UINT64_MAX : 8 * (uint64_t)p->job.segment_bytes;
    place *even = place_of(p, p->full & ~(uint64_t)1);
    even->other = even == s ? NULL : s;
    even->task.run = run_task;
    if (even != s || last) gi_crew_give(p->crew, &even->task);
    p->full++;
}

// Waits for the task of a place that is full.
static void wait_for(parallel *p, uint64_t index) {
    uint64_t even = index & ~(uint64_t)1;
    if (even + 1 < p->full || p->exhausted) gi_crew_wait(p->crew, &place_of(p, even)->task);
}

// A place begins with what the one before holds of it; that one is not filled anew before this one is full.
static void begin_place(parallel *p, place *s) {
    s->is_first = p->full == 0;
    s->origin = p->full * p->job.segment_bytes;
    s->size = 0;
    if (s->is_first) return;
    const place *before = place_of(p, p->full - 1);
    s->size = before->size - p->job.segment_bytes;
    memcpy(s->in, before->in + p->job.segment_bytes, s->size);
}

// Fills places and gives them to the crew, until all are given or the input is used up.
static void take_input(parallel *p, gi_inflate_io *io, bool is_end) {
    const size_t full = p->job.segment_bytes + p->job.overlap_bytes;
    while (!p->exhausted && p->full - p->first < (uint64_t)p->count) {
        place *s = place_of(p, p->full);
        if (!p->filling) begin_place(p, s);
        p->filling = true;
        size_t part = full - s->size < io->in.size ? full - s->size : io->in.size;
        memcpy(s->in + s->size, io->in.data, part);
        s->size += part;
        io->in.data += part;
        io->in.size -= part;
        if (s->size < full && !is_end) return;
        p->filling = false;
        p->exhausted = s->size < full;
        end_place(p, s, p->exhausted);
    }
}

// The input in the places from byte `at` of the stream on, as far as it lies together; places before are let go.
static gi_bytes input_from(parallel *p, uint64_t at) {
    for (uint64_t end = p->full + p->filling; p->first < end; p->first++) {
        const place *s = place_of(p, p->first);
        if (at - s->origin < s->size) return (gi_bytes){s->in + (at - s->origin), s->size - (size_t)(at - s->origin)};
    }
    return (gi_bytes){NULL, 0};
}

// Once the stream has ended before byte `at`: what of it was taken is given back, as far as it is of use.
static void give_back(parallel *p, gi_inflate_io *io, uint64_t at) {
    while (io->rest_size < sizeof io->rest) {
        gi_bytes left = input_from(p, at);
        if (!left.size) return;
        io->rest[io->rest_size++] = *left.data;
        at++;
    }
}

// ---- the library --------------------------------------------------------------------------------------------------

// The crew gives up what it is at.
static void dismiss(parallel *p) {
    atomic_store(&p->stop, true);
    for (uint64_t i = p->first; p->crew && i < p->full; i++) wait_for(p, i);
    gi_crew_close(p->crew);
    p->crew = NULL;
    for (int i = 0; i < p->count; i++) {
        free(p->places[i].segment.memory);
        p->places[i].segment.memory = NULL;
    }
}

static gi_inflate_state hand_over(parallel *p) {
    dismiss(p);
    int bits = (int)(-p->at & 7); // of the byte before `feed`
    p->feed = (p->at + 7) / 8;
    p->handed_over = true;
    uint8_t last = (uint8_t)(bits ? *input_from(p, p->feed - 1).data >> (8 - bits) : 0);
    gi_bytes window = {window_of(p), p->window_size};
    return p->job.engine->resume(p->job.self, last, bits, window);
}

// Lets the library go on: with what is in places first.
static gi_inflate_state run_library(parallel *p, gi_inflate_io *io) {
    const gi_inflate_engine *engine = p->job.engine;
    for (gi_bytes in = input_from(p, p->feed); in.size; in = input_from(p, p->feed)) {
        gi_bytes behind = io->in;
        io->in = in;
        gi_inflate_state state = engine->run(p->job.self, io);
        p->feed += in.size - io->in.size;
        bool stuck = io->in.size == in.size;
        io->in = behind;
        if (state == GI_INFLATE_ENDED) give_back(p, io, p->feed);
        if (state != GI_INFLATE_GOES_ON || !io->room || stuck) return state;
    }
    return engine->run(p->job.self, io);
}

// ---- output -------------------------------------------------------------------------------------------------------

// True where a symbol is of the window's bytes before the stream's beginning.
static bool leads_back_too_far(const parallel *p, const gi_segment *segment) {
    size_t unknown = 256 + GI_WINDOW_BYTES - p->window_size;
    if (p->window_size == GI_WINDOW_BYTES) return false;
    for (size_t i = 0; i < segment->symbol_count; i++) {
        uint16_t symbol = gi_segment_symbol(segment->symbols, i);
        if (symbol > 255 && symbol < unknown) return true;
    }
    return false;
}

// Inflates the first place's segment from where all is known to be right.
static void go_on(parallel *p, place *s) {
    gi_segment_continue(&s->segment, p->at - 8 * s->origin, window_of(p), p->window_size);
    gi_segment_finish(&s->segment, NULL);
    p->written = 0;
}

// Gets the first place ready. False: it is better not to go on so.
static bool prepare(parallel *p, place *s) {
    gi_segment *segment = &s->segment;
    if (p->first % 2 == 0) wait_for(p, p->first); // the odd one was done with it
    p->ready = true;
    p->written = 0;
    if (segment->found && segment->begin + 8 * s->origin == p->at && !leads_back_too_far(p, segment)) {
        p->hits++;
        return true;
    }
    if (++p->misses > p->hits + MISSES) return false;
    go_on(p, s);
    return true;
}

// Writes what there is room for. True: all is written.
static bool write_segment(parallel *p, const gi_segment *segment, gi_inflate_io *io) {
    size_t symbols = segment->symbol_count, all = symbols + segment->byte_count;
    size_t part = all - p->written < io->room ? all - p->written : io->room;
    size_t end = p->written + part, i = p->written;
    uint8_t *out = io->out;
    for (; i < end && i < symbols; i++) *out++ = p->known[gi_segment_symbol(segment->symbols, i)];
    if (i < end) memcpy(out, segment->bytes + (i - symbols), end - i);
    io->out += part;
    io->room -= part;
    p->written = end;
    return end == all;
}

// The window behind a segment that was written.
static void move_window(parallel *p, const gi_segment *segment) {
    uint8_t next[GI_WINDOW_BYTES], *window = p->known + 256;
    size_t all = segment->symbol_count + segment->byte_count, size = p->window_size + all;
    if (size > GI_WINDOW_BYTES || size < all) size = GI_WINDOW_BYTES;
    if (segment->bytes) { // with the window before them
        memcpy(next, segment->bytes + segment->byte_count - size, size);
    } else {
        const uint8_t *last = segment->symbols + segment->symbol_count * sizeof(uint16_t) - size * sizeof(uint16_t);
        for (size_t i = 0; i < size; i++) next[i] = p->known[gi_segment_symbol(last, i)];
    }
    memcpy(window + GI_WINDOW_BYTES - size, next, size);
    p->window_size = size;
}

// After the first place's segment was written.
static gi_inflate_state end_segment(parallel *p, place *s, gi_inflate_io *io) {
    const gi_segment *segment = &s->segment;
    bool moved = segment->end > segment->begin;
    move_window(p, segment);
    p->at = segment->end + 8 * s->origin;
    if (segment->final) {
        dismiss(p);
        io->rest_size = 0;
        give_back(p, io, (p->at + 7) / 8);
        return GI_INFLATE_ENDED;
    }
    if (segment->complete) {
        p->first++;
        p->ready = false;
        return GI_INFLATE_GOES_ON;
    }
    if (!moved) return hand_over(p);
    go_on(p, s);
    return GI_INFLATE_GOES_ON;
}

static gi_inflate_state parallel_run(void *self, gi_inflate_io *io) {
    parallel *p = self;
    bool is_end = io->in.size == 0;
    gi_inflate_state state = GI_INFLATE_GOES_ON;
    while (state == GI_INFLATE_GOES_ON && io->room && !p->handed_over) {
        take_input(p, io, is_end);
        bool full = p->full - p->first == (uint64_t)p->count;
        if (!full && !p->exhausted) return state;
        place *s = place_of(p, p->first);
        if (!p->ready && !prepare(p, s))
            state = hand_over(p);
        else if (write_segment(p, &s->segment, io))
            state = end_segment(p, s, io);
    }
    return state == GI_INFLATE_GOES_ON && io->room ? run_library(p, io) : state;
}

// ---- beginning and end --------------------------------------------------------------------------------------------

static void free_all(parallel *p) {
    dismiss(p);
    for (int i = 0; i < p->count; i++) free(p->places[i].in);
    free(p->places);
    free(p);
}

static void parallel_close(void *self) {
    parallel *p = self;
    p->job.engine->close(p->job.self);
    free_all(p);
}

static bool open_place(parallel *p, place *s, size_t in_bytes, size_t room) {
    s->in = malloc(in_bytes);
    s->segment.memory = malloc(room);
    s->segment.room = room;
    s->segment.stop = &p->stop;
    return s->in && s->segment.memory;
}

// Two for each thread, and two that are written from and filled.
static bool open_places(parallel *p) {
    size_t in_bytes = 0, room = 0;
    bool fits = gi_add(p->job.segment_bytes, p->job.overlap_bytes + GI_PACKED_PADDING, &in_bytes) &&
                gi_mul(p->job.segment_bytes, OUT_RATIO, &room) && gi_add(room, GI_SEGMENT_ROOM(LEAST_OUT), &room);
    int count = 2 * (p->job.threads + 1);
    if (fits) p->places = calloc((size_t)count, sizeof *p->places);
    if (!p->places) return false;
    p->count = count;
    for (int i = 0; i < count; i++)
        if (!open_place(p, &p->places[i], in_bytes, room)) return false;
    return true;
}

gi_status gi_parallel_open(const gi_parallel_job *job, void **made, gi_error *err) {
    parallel *p = calloc(1, sizeof *p);
    if (!p) return gi_fail(err, GI_ERR_MEMORY, "no memory for a decoder");
    p->job = *job;
    atomic_init(&p->stop, false);
    for (int i = 0; i < 256; i++) p->known[i] = (uint8_t)i;
    gi_status status = gi_crew_open(job->threads - 1, &p->crew, err);
    if (status == GI_OK && !open_places(p)) status = gi_fail(err, GI_ERR_MEMORY, "no memory for a decoder");
    if (status == GI_OK)
        *made = p;
    else
        free_all(p);
    return status;
}

const gi_inflate_engine gi_inflate_parallel = {.run = parallel_run, .close = parallel_close};
