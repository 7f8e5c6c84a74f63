// Ranges by which profilers (Nsight Systems) show what a thread does: decode, upload, kernels, download, encode. They
// cost next to nothing where no profiler listens, and are nothing in a build without CUDA.
#ifndef GI_CUDA_TRACE_H
#define GI_CUDA_TRACE_H

// Begins a range of the calling thread's within the one it is in; `name` is a literal.
void gi_trace_begin(const char *name);

// Ends the thread's innermost range.
void gi_trace_end(void);

#endif
