#include "fake_runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "core/clock.h"
#include "cuda/driver.h"

struct call_counts calls;

// ---- streams and events -------------------------------------------------------------------------------------------

typedef struct task {
    struct task *next;
    void (*run)(void *data);
    max_align_t data[];
} task;

struct CUstream_st {
    struct CUstream_st *next;
    task *first, *last;
    unsigned long number;         // of all streams that there were
    unsigned long enqueued, done; // tasks
};

// Of the moment when it was recorded.
struct CUevent_st {
    cudaStream_t stream; // NULL: never
    unsigned long number, at;
    double at_ms;
    bool sleeps; // who waits for it
};

static pthread_mutex_t mutex;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static cudaStream_t streams;

static void make_mutex(void) {
    pthread_mutexattr_t about;
    pthread_mutexattr_init(&about);
    pthread_mutexattr_settype(&about, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutex, &about);
    pthread_mutexattr_destroy(&about);
}

static void lock(void) {
    pthread_once(&once, make_mutex);
    pthread_mutex_lock(&mutex);
}

static void unlock(void) { pthread_mutex_unlock(&mutex); }

static void require(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "fake CUDA: %s\n", what);
    abort();
}

// Does the stream's tasks up to number `until`.
static void run_until(cudaStream_t stream, unsigned long until) {
    while (stream->done < until) {
        task *t = stream->first;
        stream->first = t->next;
        if (!stream->first) stream->last = NULL;
        stream->done++;
        t->run(t->data);
        free(t);
    }
}

static void run_all(void) {
    for (cudaStream_t s = streams; s; s = s->next) run_until(s, s->enqueued);
}

// Does what came before that moment. Streams that were destroyed have done all.
static void reach(const struct CUevent_st *moment) {
    for (cudaStream_t s = streams; s; s = s->next)
        if (s == moment->stream && s->number == moment->number) run_until(s, moment->at);
}

static bool is_over(const struct CUevent_st *moment) {
    for (cudaStream_t s = streams; s; s = s->next)
        if (s == moment->stream && s->number == moment->number) return s->done >= moment->at;
    return true;
}

void fake_enqueue(cudaStream_t stream, void (*run)(void *data), const void *data, size_t bytes) {
    task *t = malloc(sizeof *t + bytes);
    require(t != NULL && stream != NULL, "work on the default stream");
    t->next = NULL;
    t->run = run;
    memcpy(t->data, data, bytes);
    lock();
    if (stream->last)
        stream->last->next = t;
    else
        stream->first = t;
    stream->last = t;
    stream->enqueued++;
    unlock();
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    (void)flags;
    *stream = calloc(1, sizeof **stream);
    lock();
    (*stream)->number = ++calls.made;
    (*stream)->next = streams;
    streams = *stream;
    unlock();
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    cudaStream_t *at = &streams;
    lock();
    run_until(stream, stream->enqueued);
    while (*at != stream) at = &(*at)->next;
    *at = stream->next;
    unlock();
    free(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    lock();
    calls.synchronised++;
    run_until(stream, stream->enqueued);
    unlock();
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    *event = calloc(1, sizeof **event);
    (*event)->sleeps = flags & cudaEventBlockingSync;
    lock();
    calls.made++;
    unlock();
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    free(event);
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    lock();
    event->stream = stream;
    event->number = stream->number;
    event->at = stream->enqueued;
    event->at_ms = gi_clock_ms();
    unlock();
    return cudaSuccess;
}

// As if all were done when it is asked for.
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) {
    cudaError_t error = cudaSuccess;
    lock();
    if (!from->stream || !to->stream)
        error = cudaErrorInvalidResourceHandle;
    else if (from->stream->done < from->at || to->stream->done < to->at)
        error = cudaErrorNotReady;
    *ms = (float)(to->at_ms - from->at_ms);
    unlock();
    return error;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    require(event->sleeps, "a thread would spin for an event");
    lock();
    calls.waits++;
    reach(event);
    unlock();
    return cudaSuccess;
}

// Once in two times, work that could be done is not.
cudaError_t cudaEventQuery(cudaEvent_t event) {
    static unsigned asked;
    lock();
    const bool done = is_over(event);
    if (!done && asked++ % 2) reach(event);
    unlock();
    return done ? cudaSuccess : cudaErrorNotReady;
}

static void wait_for(void *data) { reach(data); }

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    (void)flags;
    lock();
    if (event->stream) fake_enqueue(stream, wait_for, event, sizeof *event);
    unlock();
    return cudaSuccess;
}

// ---- memory -------------------------------------------------------------------------------------------------------

typedef struct block {
    struct block *next;
    char *data;
    size_t bytes;
    bool device;
    bool registered; // it is the caller's
} block;

static block *blocks;

static block *find(const void *data, size_t bytes) {
    const char *p = data;
    for (block *b = blocks; b; b = b->next)
        if (p >= b->data && p + bytes <= b->data + b->bytes) return b;
    return NULL;
}

void fake_require_device(const void *data, size_t bytes) {
    lock();
    const block *b = find(data, bytes);
    require(b && b->device, "a kernel's memory is not the device's");
    unlock();
}

static void add(block made) {
    block *b = malloc(sizeof *b);
    require(b != NULL, "no memory for a test");
    lock();
    *b = made;
    b->next = blocks;
    blocks = b;
    calls.made++;
    unlock();
}

static cudaError_t allocate(void **data, size_t bytes, bool device) {
    require(bytes > 0 && posix_memalign(data, 256, bytes) == 0, "no memory for a test");
    memset(*data, 0xA5, bytes);
    add((block){.data = *data, .bytes = bytes, .device = device});
    return cudaSuccess;
}

// As the real one does, waits for the device.
static cudaError_t release(void *data, bool registered) {
    lock();
    run_all();
    for (block **at = &blocks; data && *at; at = &(*at)->next) {
        block *b = *at;
        if (b->data != data) continue;
        require(b->registered == registered, "memory is released by the wrong call");
        *at = b->next;
        if (!registered) free(b->data);
        free(b);
        calls.freed++;
        break;
    }
    unlock();
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **data, size_t bytes) { return allocate(data, bytes, true); }
cudaError_t cudaHostAlloc(void **data, size_t bytes, unsigned flags) {
    (void)flags;
    return allocate(data, bytes, false);
}
cudaError_t cudaFree(void *data) { return release(data, false); }
cudaError_t cudaFreeHost(void *data) { return release(data, false); }
cudaError_t cudaHostRegister(void *data, size_t bytes, unsigned flags) {
    (void)flags;
    add((block){.data = data, .bytes = bytes, .registered = true});
    return cudaSuccess;
}
cudaError_t cudaHostUnregister(void *data) { return release(data, true); }

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *data) {
    lock();
    const block *b = find(data, 1);
    *attributes = (struct cudaPointerAttributes){.type = !b          ? cudaMemoryTypeUnregistered
                                                         : b->device ? cudaMemoryTypeDevice
                                                                     : cudaMemoryTypeHost};
    unlock();
    return cudaSuccess;
}

typedef struct copy {
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, bytes, rows;
} copy;

static void do_copy(void *data) {
    const copy *c = data;
    for (size_t y = 0; y < c->rows; y++) memcpy(c->to + y * c->to_pitch, c->from + y * c->from_pitch, c->bytes);
}

// Copies of memory that is not page-locked are done when they return, as the real ones nearly are.
static cudaError_t enqueue_copy(const copy *c, enum cudaMemcpyKind kind, cudaStream_t stream) {
    const size_t to_bytes = (c->rows - 1) * c->to_pitch + c->bytes;
    const size_t from_bytes = (c->rows - 1) * c->from_pitch + c->bytes;
    lock();
    const block *to = find(c->to, to_bytes), *from = find(c->from, from_bytes);
    require((kind != cudaMemcpyHostToDevice) == (from && from->device), "the source of a copy lies elsewhere");
    require((kind != cudaMemcpyDeviceToHost) == (to && to->device), "the target of a copy lies elsewhere");
    fake_enqueue(stream, do_copy, c, sizeof *c);
    if (!to || !from) run_until(stream, stream->enqueued);
    unlock();
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
    const copy c = {to, from, bytes, bytes, bytes, 1};
    return enqueue_copy(&c, kind, stream);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t bytes, size_t rows,
                              enum cudaMemcpyKind kind, cudaStream_t stream) {
    const copy c = {to, from, to_pitch, from_pitch, bytes, rows};
    return enqueue_copy(&c, kind, stream);
}

typedef struct fill {
    char *data;
    int value;
    size_t bytes;
} fill;

static void do_fill(void *data) {
    const fill *f = data;
    memset(f->data, f->value, f->bytes);
}

cudaError_t cudaMemsetAsync(void *data, int value, size_t bytes, cudaStream_t stream) {
    const fill f = {data, value, bytes};
    fake_require_device(data, bytes);
    fake_enqueue(stream, do_fill, &f, sizeof f);
    return cudaSuccess;
}

// ---- devices, one unless the environment asks for more --------------------------------------------------------------

static int device_count(void) {
    const char *count = getenv("FAKE_CUDA_DEVICES");
    return count ? atoi(count) : 1;
}

int gi_cuda_driver_version(void) { return CUDART_VERSION; }
cudaError_t cudaGetDeviceCount(int *count) {
    *count = device_count();
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
    return device >= 0 && device < device_count() ? cudaSuccess : cudaErrorInvalidDevice;
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
    (void)flags;
    const char *ms = getenv("FAKE_CUDA_START_MS"); // how long a context takes
    if (ms) usleep((unsigned)atoi(ms) * 1000);
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
    (void)device;
    *value = attribute == cudaDevAttrComputeCapabilityMajor ? 9 : 0;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
    (void)device;
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "no GPU but a test of one");
    properties->major = 9;
    properties->multiProcessorCount = 1;
    properties->totalGlobalMem = (size_t)1 << 30;
    return cudaSuccess;
}
cudaError_t cudaGetLastError(void) { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t error) {
    (void)error;
    return "a reason";
}
const char *cudaGetErrorName(cudaError_t error) {
    (void)error;
    return "cudaErrorName";
}
cudaError_t cudaDeviceReset(void) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize(void) {
    lock();
    calls.synchronised++;
    run_all();
    unlock();
    return cudaSuccess;
}
