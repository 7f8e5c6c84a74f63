// nvJPEG by itself over a folder of JPEGs, luma decoded and encoded as gray JPEGs, as fast as it goes: what gpuimg's
// use of it is measured against. Each thread has decoder, encoder and stream of its own, and does files by
// nvjpegDecode, which takes the engine for JPEG where there is one, or batches of them by nvjpegDecodeBatched.
//
//     gpu_bench_nvjpeg FOLDER OUT THREADS single|batched BATCH [all|decode|encode]
//
// prints images/s from the first file to the last, of all of it or of one of the two alone, and then what was not
// counted: the milliseconds for the device's start, the library's, and the threads' decoders and encoders. 77 where
// there is no device.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "cuda/nvjpeg.h"

enum { BATCH_MAX = 128, FILES_MAX = 4096, THREADS_MAX = 256, SKIPPED = 77 };

static struct {
    const gi_nvjpeg *library;
    gi_nvjpeg_handle handle, batches; // batches NULL: files one by one
    const char *in, *out;
    char *names[FILES_MAX];
    int count, batch;
    bool decodes, encodes;
    atomic_int next;
    double started_ms[4]; // before anything; with the device, the library, the threads' own
} job;

// The library's calls that gpuimg has no use for.
static struct {
    int (*create)(gi_nvjpeg_handle handle, gi_nvjpeg_state *state);
    int (*decode)(gi_nvjpeg_handle handle, gi_nvjpeg_state state, const unsigned char *data, size_t size, int format,
                  gi_nvjpeg_image *to, cudaStream_t stream);
    int (*set_up)(gi_nvjpeg_handle handle, gi_nvjpeg_state state, int count, int threads, int format);
    int (*decode_batch)(gi_nvjpeg_handle handle, gi_nvjpeg_state state, const unsigned char *const *data,
                        const size_t *sizes, gi_nvjpeg_image *to, cudaStream_t stream);
} whole;

static void need(long code, const char *what) {
    if (code == 0) return;
    fprintf(stderr, "%s: code %ld\n", what, code);
    exit(1);
}

static void take(void *file, const char *name, void *function) {
    void *address = dlsym(file, name);
    need(address == NULL, name);
    memcpy(function, &address, sizeof address);
}

static void find_whole(void) {
    void *file = dlopen("libnvjpeg.so.13", RTLD_NOW);
    if (!file) file = dlopen("libnvjpeg.so.12", RTLD_NOW);
    need(file == NULL, "nvJPEG");
    take(file, "nvjpegJpegStateCreate", &whole.create);
    take(file, "nvjpegDecode", &whole.decode);
    take(file, "nvjpegDecodeBatchedInitialize", &whole.set_up);
    take(file, "nvjpegDecodeBatched", &whole.decode_batch);
}

// One file on its way.
typedef struct place {
    unsigned char *in, *out; // page-locked
    size_t in_room, out_room, size;
    unsigned char *image; // device
    size_t image_room;
    gi_nvjpeg_image view;
    int width, height;
} place;

typedef struct worker {
    cudaStream_t stream;
    cudaEvent_t done;
    gi_nvjpeg_state state;
    gi_nvjpeg_encoder encoder;
    gi_nvjpeg_params params;
    int set_up; // the batch's size
    place places[BATCH_MAX];
} worker;

static void grow(unsigned char **data, size_t *room, size_t bytes, bool device) {
    if (bytes <= *room) return;
    if (*data) need(device ? cudaFree(*data) : cudaFreeHost(*data), "freeing");
    *room = bytes + bytes / 2;
    cudaError_t error =
        device ? cudaMalloc((void **)data, *room) : cudaHostAlloc((void **)data, *room, cudaHostAllocPortable);
    need(error, "allocating");
}

// Baseline or progressive: the first frame header.
static void find_size(place *p) {
    size_t at = 2;
    while (at + 9 < p->size) {
        const unsigned char *s = p->in + at;
        if (s[0] != 0xFF) break;
        if (s[1] >= 0xC0 && s[1] <= 0xC2) {
            p->height = s[5] << 8 | s[6];
            p->width = s[7] << 8 | s[8];
            return;
        }
        at += 2 + (size_t)(s[2] << 8 | s[3]);
    }
    need(1, "no frame header");
}

static void load(place *p, const char *name) {
    char path[4096];
    struct stat about;
    snprintf(path, sizeof path, "%s/%s", job.in, name);
    int fd = open(path, O_RDONLY);
    need(fd < 0 || fstat(fd, &about) != 0, path);
    p->size = (size_t)about.st_size;
    grow(&p->in, &p->in_room, p->size, false);
    need(read(fd, p->in, p->size) != (ssize_t)p->size, path);
    close(fd);
    find_size(p);
    grow(&p->image, &p->image_room, (size_t)p->width * (size_t)p->height, true);
    p->view = (gi_nvjpeg_image){{p->image}, {(size_t)p->width}};
}

static void decode(worker *w, int count) {
    const unsigned char *data[BATCH_MAX];
    size_t sizes[BATCH_MAX];
    gi_nvjpeg_image to[BATCH_MAX];
    for (int i = 0; i < count; i++) {
        const place *p = &w->places[i];
        data[i] = p->in;
        sizes[i] = p->size;
        to[i] = p->view;
        if (!job.batches)
            need(whole.decode(job.handle, w->state, p->in, p->size, GI_NVJPEG_OUTPUT_Y, &to[i], w->stream), "decoding");
    }
    if (job.batches && w->set_up != count)
        need(whole.set_up(job.batches, w->state, count, 1, GI_NVJPEG_OUTPUT_Y), "setting up a batch");
    w->set_up = count;
    if (!job.batches) return;
    need(whole.decode_batch(job.batches, w->state, data, sizes, to, w->stream), "decoding a batch");
}

static void wait_for(worker *w) {
    need(cudaEventRecord(w->done, w->stream), "waiting");
    need(cudaEventSynchronize(w->done), "waiting");
}

static void encode(worker *w, place *p, const char *name) {
    const gi_nvjpeg *nvjpeg = job.library;
    char path[4096];
    size_t size = 0;
    need(nvjpeg->EncodeYUV(job.handle, w->encoder, w->params, &p->view, GI_NVJPEG_CSS_GRAY, p->width, p->height,
                           w->stream),
         "encoding");
    wait_for(w);
    need(nvjpeg->EncodeRetrieveBitstream(job.handle, w->encoder, NULL, &size, w->stream), "encoding");
    grow(&p->out, &p->out_room, size, false);
    need(nvjpeg->EncodeRetrieveBitstream(job.handle, w->encoder, p->out, &size, w->stream), "encoding");
    wait_for(w);
    if (!job.decodes) return;
    snprintf(path, sizeof path, "%s/%s", job.out, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    need(fd < 0 || write(fd, p->out, size) != (ssize_t)size, path);
    close(fd);
}

static void *work(void *context) {
    worker *w = context;
    need(cudaSetDevice(0), "the device");
    for (int first; (first = atomic_fetch_add(&job.next, job.batch)) < job.count;) {
        const int count = job.count - first < job.batch ? job.count - first : job.batch;
        const bool load_anew = job.decodes || !w->set_up;
        for (int i = 0; i < count && load_anew; i++) load(&w->places[i], job.names[first + i]);
        if (load_anew) decode(w, count);
        for (int i = 0; i < count && job.encodes; i++) encode(w, &w->places[i], job.names[first + i]);
        if (!job.encodes) wait_for(w);
    }
    return NULL;
}

static void open_worker(worker *w) {
    const gi_nvjpeg *nvjpeg = job.library;
    need(cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking), "a stream");
    need(cudaEventCreateWithFlags(&w->done, cudaEventDisableTiming | cudaEventBlockingSync), "an event");
    need(whole.create(job.batches ? job.batches : job.handle, &w->state), "a decoder");
    need(nvjpeg->EncoderStateCreate(job.handle, &w->encoder, w->stream), "an encoder");
    need(nvjpeg->EncoderParamsCreate(job.handle, &w->params, w->stream), "an encoder");
    need(nvjpeg->EncoderParamsSetQuality(w->params, 90, w->stream), "an encoder");
    need(nvjpeg->EncoderParamsSetSamplingFactors(w->params, GI_NVJPEG_CSS_GRAY, w->stream), "an encoder");
}

static void list_files(void) {
    DIR *folder = opendir(job.in);
    need(folder == NULL, job.in);
    for (struct dirent *entry; (entry = readdir(folder)) && job.count < FILES_MAX;)
        if (entry->d_name[0] != '.') job.names[job.count++] = strdup(entry->d_name);
    closedir(folder);
}

static bool start(bool batched) {
    gi_error why;
    int devices = 0;
    job.library = gi_nvjpeg_find(&why);
    if (!job.library || cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return false;
    need(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync), "the device");
    need(cudaFree(NULL), "the device");
    job.started_ms[1] = gi_clock_ms();
    need(job.library->CreateEx(GI_NVJPEG_BACKEND_DEFAULT, NULL, NULL, 0, &job.handle), "nvJPEG");
    return !batched || job.library->CreateEx(GI_NVJPEG_BACKEND_HARDWARE, NULL, NULL, 0, &job.batches) == 0;
}

// The milliseconds of each part, and how many engines there are.
static void tell_start(void) {
    const double *ms = job.started_ms;
    unsigned engines = 0, cores = 0;
    if (job.batches) job.library->GetHardwareDecoderInfo(job.batches, &engines, &cores);
    printf("device %.0f ms, library %.0f ms, threads %.0f ms; %u engines of %u cores\n", ms[1] - ms[0], ms[2] - ms[1],
           ms[3] - ms[2], engines, cores);
}

static void take_arguments(int argc, char **argv) {
    const char *part = argc > 6 ? argv[6] : "all";
    job.in = argv[1];
    job.out = argv[2];
    job.batch = atoi(argv[5]);
    job.decodes = strcmp(part, "encode") != 0;
    job.encodes = strcmp(part, "decode") != 0;
    need(job.batch < 1 || job.batch > BATCH_MAX, "the batch's size");
}

int main(int argc, char **argv) {
    if (argc < 6) return 2;
    const int threads = atoi(argv[3]);
    pthread_t ids[THREADS_MAX];
    take_arguments(argc, argv);
    if (threads < 1 || threads > THREADS_MAX) return 2;
    list_files();
    job.started_ms[0] = gi_clock_ms();
    if (!start(strcmp(argv[4], "batched") == 0)) return SKIPPED;
    job.started_ms[2] = gi_clock_ms();
    find_whole();
    worker *workers = calloc((size_t)threads, sizeof *workers);
    need(workers == NULL, "memory");
    for (int i = 0; i < threads; i++) open_worker(&workers[i]);
    const double begun = job.started_ms[3] = gi_clock_ms();
    for (int i = 0; i < threads; i++) need(pthread_create(&ids[i], NULL, work, &workers[i]), "a thread");
    for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
    printf("%.1f\n", job.count / ((gi_clock_ms() - begun) / 1e3));
    tell_start();
    return 0;
}
