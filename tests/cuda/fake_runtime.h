// A CUDA runtime without a device, so that the host's side of the backend can be tested on any machine: it is linked in
// the place of the real one. Work on a stream is put off until something waits for it, and then no more of it is done
// than must be, so that a wait or an order that is missing shows in the bytes.
#ifndef TESTS_CUDA_FAKE_RUNTIME_H
#define TESTS_CUDA_FAKE_RUNTIME_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

// For libraries that the program loads, too.
#define FAKE_API __attribute__((visibility("default")))

// Puts a task off on the stream. `data` is copied.
FAKE_API void fake_enqueue(cudaStream_t stream, void (*run)(void *data), const void *data, size_t bytes);

// Ends the program unless all of these bytes lie within one allocation on the device.
FAKE_API void fake_require_device(const void *data, size_t bytes);

#endif
