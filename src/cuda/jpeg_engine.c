#include "cuda/jpeg_engine.h"

#include <string.h>

typedef struct gi_jpeg_wait {
    const gi_jpeg_source *source;
    int format;
    const gi_nvjpeg_image *to;
    struct gi_jpeg_wait *next;
    bool over, decoded;
} file;

void gi_jpeg_engine_init(gi_jpeg_engine *engine) {
    memset(engine, 0, sizeof *engine);
    pthread_mutex_init(&engine->mutex, NULL);
    pthread_cond_init(&engine->ended, NULL);
}

// ---- by the thread that has the engine ----------------------------------------------------------------------------

static void free_all(gi_jpeg_engine *engine) {
    if (engine->parsed) engine->library->JpegStreamDestroy(engine->parsed);
    if (engine->state) engine->library->JpegStateDestroy(engine->state);
    if (engine->done) cudaEventDestroy(engine->done);
    if (engine->stream) cudaStreamDestroy(engine->stream);
    engine->parsed = NULL;
    engine->state = NULL;
    engine->done = NULL;
    engine->stream = NULL;
}

static bool make_all(gi_jpeg_engine *engine, const gi_nvjpeg_device *device) {
    if (engine->state) return true;
    engine->library = device->library;
    engine->handle = device->hardware;
    engine->count = 0;
    bool made = cudaStreamCreateWithFlags(&engine->stream, cudaStreamNonBlocking) == cudaSuccess;
    if (!made) engine->stream = NULL;
    // Who waits for the engine sleeps.
    made =
        made && cudaEventCreateWithFlags(&engine->done, cudaEventDisableTiming | cudaEventBlockingSync) == cudaSuccess;
    if (made && engine->library->JpegStreamCreate(engine->handle, &engine->parsed) != GI_NVJPEG_SUCCESS) {
        engine->parsed = NULL;
        made = false;
    }
    if (made && engine->library->JpegStateCreate(engine->handle, &engine->state) != GI_NVJPEG_SUCCESS) {
        engine->state = NULL;
        made = false;
    }
    if (!made) free_all(engine);
    return made;
}

static bool can_do(const gi_jpeg_engine *engine, const file *f) {
    int not_supported = 1;
    return engine->library->JpegStreamParseHeader(engine->handle, f->source->data, f->source->size, engine->parsed) ==
               GI_NVJPEG_SUCCESS &&
           engine->library->DecodeBatchedSupported(engine->handle, engine->parsed, &not_supported) ==
               GI_NVJPEG_SUCCESS &&
           !not_supported;
}

static bool set_up(gi_jpeg_engine *engine, int count, int format) {
    if (engine->count == count && engine->format == format) return true;
    engine->count =
        engine->library->DecodeBatchedInitialize(engine->handle, engine->state, count, 1, format) == GI_NVJPEG_SUCCESS
            ? count
            : 0;
    engine->format = format;
    return engine->count > 0;
}

// All of them or none.
static bool decode_all(gi_jpeg_engine *engine, file *const *files, int count) {
    const unsigned char *data[GI_JPEG_BATCH];
    size_t sizes[GI_JPEG_BATCH];
    gi_nvjpeg_image to[GI_JPEG_BATCH];
    for (int i = 0; i < count; i++) {
        data[i] = files[i]->source->data;
        sizes[i] = files[i]->source->size;
        to[i] = *files[i]->to;
    }
    if (!set_up(engine, count, files[0]->format)) return false;
    int code = engine->library->DecodeBatched(engine->handle, engine->state, data, sizes, to, engine->stream);
    if (code != GI_NVJPEG_SUCCESS) engine->count = 0; // setting it up again is what brings it back
    // After a failure, too: some of it may be on its way.
    bool ended = cudaEventRecord(engine->done, engine->stream) == cudaSuccess &&
                 cudaEventSynchronize(engine->done) == cudaSuccess;
    return ended && code == GI_NVJPEG_SUCCESS;
}

// Where a call fails, one file may be to blame.
static void decode_batch(gi_jpeg_engine *engine, file **files, int count) {
    int fit = 0;
    for (int i = 0; i < count; i++)
        if (can_do(engine, files[i])) files[fit++] = files[i];
    const bool together = fit > 1 && decode_all(engine, files, fit);
    for (int i = 0; i < fit; i++) files[i]->decoded = together || decode_all(engine, &files[i], 1);
}

// ---- who has it ---------------------------------------------------------------------------------------------------

// Takes those of the first one's format out of the list. With the mutex held.
static int take_batch(gi_jpeg_engine *engine, file **batch) {
    const int format = engine->first->format;
    int count = 0;
    for (file **at = &engine->first; *at && count < GI_JPEG_BATCH;) {
        if ((*at)->format != format) {
            at = &(*at)->next;
            continue;
        }
        batch[count++] = *at;
        *at = (*at)->next;
    }
    return count;
}

// Likewise; lets go of it meanwhile.
static void work(gi_jpeg_engine *engine, const gi_nvjpeg_device *device) {
    file *batch[GI_JPEG_BATCH], *fit[GI_JPEG_BATCH];
    const int count = take_batch(engine, batch);
    memcpy(fit, batch, sizeof *batch * (size_t)count);
    engine->working = true;
    pthread_mutex_unlock(&engine->mutex);
    if (make_all(engine, device)) decode_batch(engine, fit, count);
    pthread_mutex_lock(&engine->mutex);
    engine->working = false;
    for (int i = 0; i < count; i++) batch[i]->over = true;
    pthread_cond_broadcast(&engine->ended);
}

bool gi_jpeg_engine_decode(gi_jpeg_engine *engine, const gi_nvjpeg_device *device, const gi_jpeg_source *source,
                           int format, const gi_nvjpeg_image *to) {
    file mine = {.source = source, .format = format, .to = to};
    if (!device->hardware) return false;
    pthread_mutex_lock(&engine->mutex);
    file **last = &engine->first;
    while (*last) last = &(*last)->next;
    *last = &mine;
    while (!mine.over)
        if (engine->working)
            pthread_cond_wait(&engine->ended, &engine->mutex);
        else
            work(engine, device);
    pthread_mutex_unlock(&engine->mutex);
    return mine.decoded;
}

void gi_jpeg_engine_make(gi_jpeg_engine *engine, const gi_nvjpeg_device *device) {
    if (!device->hardware) return;
    pthread_mutex_lock(&engine->mutex);
    if (!engine->working) {
        engine->working = true;
        pthread_mutex_unlock(&engine->mutex);
        make_all(engine, device);
        pthread_mutex_lock(&engine->mutex);
        engine->working = false;
        pthread_cond_broadcast(&engine->ended);
    }
    pthread_mutex_unlock(&engine->mutex);
}

void gi_jpeg_engine_end(gi_jpeg_engine *engine) {
    free_all(engine);
    pthread_cond_destroy(&engine->ended);
    pthread_mutex_destroy(&engine->mutex);
}
