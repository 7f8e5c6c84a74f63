// Which backend a run uses, and why.
#ifndef GI_RUN_DEVICE_H
#define GI_RUN_DEVICE_H

#include <stdbool.h>

#include "codec/codec.h"
#include "core/backend.h"
#include "core/pipeline.h"
#include "core/status.h"

typedef enum gi_device_kind { GI_DEVICE_AUTO, GI_DEVICE_CPU, GI_DEVICE_CUDA } gi_device_kind;

enum { GI_DEVICES_MAX = 64 }; // of one machine, more than there are in any

typedef struct gi_device_request {
    gi_device_kind kind;
    bool all;                    // every usable CUDA device
    int count;                   // of CUDA devices that are named, where not `all`
    int indices[GI_DEVICES_MAX]; // ... 0 for plain "cuda"
} gi_device_request;

// "auto", "cpu", "cuda", "cuda:N", "cuda:N,M,..." or "cuda:all". GI_ERR_USAGE otherwise, with what is accepted.
gi_status gi_device_parse(const char *text, gi_device_request *request, gi_error *err);

// What is known of the work before it starts.
typedef struct gi_work_estimate {
    const gi_pipeline *pipeline;
    size_t files;              // or images in memory
    unsigned long long pixels; // of all of them
    bool decoded;              // they are files
    bool started;              // a GPU is in use already: there is no start to pay for
    gi_codec_choice codec;     // with one of a device's, a GPU decodes and encodes by itself
    bool told;                 // the reason is shown: then it is worth a look whether there is a driver at all
} gi_work_estimate;

// Seconds by which a piece of work is longer than its codecs take, which is the same on either side.
typedef struct gi_device_times {
    double cpu, gpu;
} gi_device_times;

// The cost model of `auto`, on so many cores and a GPU as it was measured on.
gi_device_times gi_device_model(const gi_work_estimate *work, int cores);

// True when `auto` takes a GPU for that work, if one is usable. `why`: the reason, in one line.
bool gi_device_pays(const gi_work_estimate *work, char *why, size_t size);

// Likewise of a primitive that takes so long on one CPU core, and moves so many bytes to a GPU and back. `started`: one
// is in use already.
typedef struct gi_primitive_work {
    double core_seconds;
    double bus_bytes;
    bool started;
} gi_primitive_work;
bool gi_device_pays_primitive(const gi_primitive_work *work, const char **why);

// What the primitives on arrays are.
gi_primitive_work gi_matmul_work(const gi_matmul_job *job);
gi_primitive_work gi_reduce_work(const gi_reduce_job *job);
gi_primitive_work gi_scan_work(const gi_scan_job *job);

// Opens the first usable GPU, looked for and started in the background. False: `reason` says why there can be none, and
// *backend is NULL.
bool gi_device_open_any(gi_backend **backend, char *reason, size_t size);

// What was asked for, opened.
typedef struct gi_devices {
    gi_backend *backends[GI_DEVICES_MAX];
    int count; // 1 or more
} gi_devices;

// Opens the backends that were asked for: GI_ERR_DEVICE when one of them is not usable, or none of all. `auto` opens
// the CPU, which it needs in any case: where there is no GPU, and where one runs out of memory.
gi_status gi_devices_open(const gi_device_request *request, gi_devices *devices, gi_error *err);

// Closes them.
void gi_devices_close(gi_devices *devices);

#endif
