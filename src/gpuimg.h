/* gpuimg: image pipelines on an NVIDIA GPU or on all CPU cores, with the same bytes out on either.
 *
 * The public C API, and the only installed header. Every function may be called from any thread; different calls
 * share no state that a caller can see. Strings are UTF-8 or literal bytes; file names are passed to the system as
 * they are. */
#ifndef GPUIMG_H
#define GPUIMG_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GPUIMG_API __attribute__((visibility("default")))
#else
#define GPUIMG_API
#endif

typedef enum gpuimg_status {
    GPUIMG_OK = 0,
    GPUIMG_ERR_USAGE,
    GPUIMG_ERR_IO,
    GPUIMG_ERR_FORMAT,
    GPUIMG_ERR_UNSUPPORTED,
    GPUIMG_ERR_LIMIT,
    GPUIMG_ERR_EXISTS,
    GPUIMG_ERR_MEMORY,
    GPUIMG_ERR_DEVICE,
    GPUIMG_ERR_DEVICE_MEMORY,
    GPUIMG_ERR_CANCELLED
} gpuimg_status;

/* Caller-owned reason of a failure: one line without newline. */
typedef struct gpuimg_error {
    gpuimg_status status;
    char text[512];
} gpuimg_error;

/* "MAJOR.MINOR.PATCH", valid for ever. */
GPUIMG_API const char *gpuimg_version(void);

/* The name of a status in lower case words; "unknown" for others. */
GPUIMG_API const char *gpuimg_status_name(gpuimg_status status);

/* Runs a pipeline such as "gray | threshold otsu" on one PNG or JPEG file and writes the result to another, whose
 * format follows its extension (.png .jpg .jpeg), else the input's. The output is complete or absent. `device` is
 * "auto", "cpu", "cuda" or "cuda:N"; NULL means "auto". `error` may be NULL. Pipelines that end in hist are
 * GPUIMG_ERR_USAGE here: they produce no image. */
GPUIMG_API gpuimg_status gpuimg_process_file(const char *pipeline, const char *input, const char *output,
                                             const char *device, gpuimg_error *error);

#ifdef __cplusplus
}
#endif
#endif
