// A build without CUDA has no ranges.
#include "cuda/trace.h"

void gi_trace_begin(const char *name) { (void)name; }

void gi_trace_end(void) {}
