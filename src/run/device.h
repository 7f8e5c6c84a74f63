// Which backend a run uses, and why.
#ifndef GI_RUN_DEVICE_H
#define GI_RUN_DEVICE_H

#include "core/backend.h"
#include "core/pipeline.h"
#include "core/status.h"

typedef enum gi_device_kind { GI_DEVICE_AUTO, GI_DEVICE_CPU, GI_DEVICE_CUDA } gi_device_kind;

typedef struct gi_device_request {
    gi_device_kind kind;
    int index; // CUDA device; 0 for plain "cuda"
} gi_device_request;

// "auto", "cpu", "cuda" or "cuda:N". GI_ERR_USAGE otherwise, with what is accepted.
gi_status gi_device_parse(const char *text, gi_device_request *request, gi_error *err);

// What is known of the work before it starts.
typedef struct gi_work_estimate {
    const gi_pipeline *pipeline;
    size_t files;
    unsigned long long input_bytes; // 0 when unknown
} gi_work_estimate;

// Opens the backend. `auto` never fails for want of a GPU. `why` receives the reason of the choice in one line ("the
// work is done before a CUDA context is up"); which device it is, the backend says. GI_ERR_DEVICE when what was asked
// for is not usable.
gi_status gi_device_open(gi_device_request request, const gi_work_estimate *work, gi_backend **backend, char *why,
                         size_t why_size, gi_error *err);

#endif
