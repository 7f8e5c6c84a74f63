#include "cuda/nvjpeg.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifndef GPUIMG_NVJPEG_LIBRARIES // tests have one of their own
#define GPUIMG_NVJPEG_LIBRARIES                                                                                        \
    "libnvjpeg.so.13", "libnvjpeg.so.12", "/usr/local/cuda/lib64/libnvjpeg.so.13",                                     \
        "/usr/local/cuda/lib64/libnvjpeg.so.12"
#endif

// ---- the library --------------------------------------------------------------------------------------------------

static struct {
    gi_nvjpeg library;
    gi_error why; // GI_OK: it is there
} found;

static void *open_library(const char **name) {
    static const char *const names[] = {GPUIMG_NVJPEG_LIBRARIES};
    void *file = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !file; i++) {
        *name = names[i];
        file = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    }
    if (!file) gi_fail(&found.why, GI_ERR_DEVICE, "nvJPEG was not found (%s, of the CUDA Toolkit)", names[0]);
    return file;
}

static void take_functions(void *file, const char *name) {
    gi_nvjpeg *library = &found.library;
    const char *missing = NULL;
    void *address;
#define TAKE(function, parameters)                                                                                     \
    address = dlsym(file, "nvjpeg" #function);                                                                         \
    if (!address && !missing) missing = "nvjpeg" #function;                                                            \
    memcpy(&library->function, &address, sizeof address); // POSIX lets a function's address be an object's
    GI_NVJPEG_FUNCTIONS(TAKE)
#undef TAKE
    if (missing) gi_fail(&found.why, GI_ERR_DEVICE, "%s has no %s", name, missing);
}

// As "13.3.2 (libnvjpeg.so.13)".
static void describe(const char *name) {
    int version[3] = {0, 0, 0}; // MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL
    const char *slash = strrchr(name, '/');
    for (int i = 0; i < 3; i++) found.library.GetProperty(i, &version[i]);
    snprintf(found.library.about, sizeof found.library.about, "%d.%d.%d (%.40s)", version[0], version[1], version[2],
             slash ? slash + 1 : name);
}

static void find(void) {
    const char *name = "";
    void *file = open_library(&name);
    if (file) take_functions(file, name);
    if (found.why.status == GI_OK) describe(name);
}

const gi_nvjpeg *gi_nvjpeg_find(gi_error *err) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    if (found.why.status == GI_OK) return &found.library;
    if (err) *err = found.why;
    return NULL;
}

static const char *meaning(int code) {
    static const char *const meanings[] = {"success",
                                           "not initialized",
                                           "invalid parameter",
                                           "a bad JPEG",
                                           "a kind of JPEG that it does not do",
                                           "no memory could be had",
                                           "the device failed",
                                           "not for this architecture",
                                           "internal error",
                                           "not implemented",
                                           "the data are cut short"};
    return code >= 0 && code < (int)(sizeof meanings / sizeof meanings[0]) ? meanings[code] : "unknown failure";
}

gi_status gi_nvjpeg_check(int code, const char *doing, gi_error *err) {
    switch (code) {
    case GI_NVJPEG_SUCCESS: return GI_OK;
    case GI_NVJPEG_BAD_JPEG:
    case GI_NVJPEG_INCOMPLETE_BITSTREAM: return gi_fail(err, GI_ERR_FORMAT, "nvJPEG: %s: %s", doing, meaning(code));
    case GI_NVJPEG_ALLOCATOR_FAILURE:
        return gi_fail(err, GI_ERR_DEVICE_MEMORY, "nvJPEG: %s: out of device memory", doing);
    default: return gi_fail(err, GI_ERR_UNSUPPORTED, "nvJPEG: %s: %s (code %d)", doing, meaning(code), code);
    }
}

// ---- on a device --------------------------------------------------------------------------------------------------

void gi_nvjpeg_device_init(gi_nvjpeg_device *device) {
    memset(device, 0, sizeof *device);
    pthread_mutex_init(&device->mutex, NULL);
}

// With chroma interpolated as libjpeg does it, and damage told; older versions know neither.
static int create(const gi_nvjpeg *library, int backend, gi_nvjpeg_handle *handle) {
    const unsigned flags = GI_NVJPEG_FLAG_STRICT | GI_NVJPEG_FLAG_INTERPOLATE;
    int code = library->CreateEx(backend, NULL, NULL, flags, handle);
    if (code != GI_NVJPEG_SUCCESS) code = library->CreateEx(backend, NULL, NULL, 0, handle);
    if (code != GI_NVJPEG_SUCCESS) *handle = NULL;
    return code;
}

static void find_engine(gi_nvjpeg_device *device) {
    const gi_nvjpeg *library = device->library;
    unsigned engines = 0, cores = 0;
    if (library->GetHardwareDecoderInfo(device->handle, &engines, &cores) != GI_NVJPEG_SUCCESS || engines == 0) return;
    if (library->DecoderCreate(device->handle, GI_NVJPEG_BACKEND_HARDWARE, &device->engine) == GI_NVJPEG_SUCCESS)
        device->engines = engines;
    else
        device->engine = NULL;
}

// One handle for all: each takes a quarter of a second.
static gi_status start(gi_nvjpeg_device *device) {
    device->library = gi_nvjpeg_find(&device->why);
    const gi_nvjpeg *library = device->library;
    if (!library) return GI_ERR_UNSUPPORTED;
    int code = create(library, GI_NVJPEG_BACKEND_HARDWARE, &device->handle);
    const bool has_engine = code == GI_NVJPEG_SUCCESS;
    if (!has_engine) code = create(library, GI_NVJPEG_BACKEND_DEFAULT, &device->handle);
    if (code == GI_NVJPEG_SUCCESS) {
        code = library->DecoderCreate(device->handle, GI_NVJPEG_BACKEND_HYBRID, &device->processors);
        if (code != GI_NVJPEG_SUCCESS) device->processors = NULL;
    }
    if (code == GI_NVJPEG_SUCCESS && has_engine) find_engine(device);
    return gi_nvjpeg_check(code, "starting", &device->why);
}

gi_status gi_nvjpeg_device_start(gi_nvjpeg_device *device, gi_error *err) {
    pthread_mutex_lock(&device->mutex);
    if (!device->tried) {
        device->tried = true;
        device->status = start(device);
    }
    gi_status status = device->status;
    if (status != GI_OK && err) *err = device->why;
    pthread_mutex_unlock(&device->mutex);
    return status;
}

void gi_nvjpeg_device_end(gi_nvjpeg_device *device) {
    if (device->engine) device->library->DecoderDestroy(device->engine);
    if (device->processors) device->library->DecoderDestroy(device->processors);
    if (device->handle) device->library->Destroy(device->handle);
    pthread_mutex_destroy(&device->mutex);
}
