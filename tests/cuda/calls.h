// How often the program has called the CUDA runtime: counted by the fake one, or on the way to the real one (wrap.c).
#ifndef TESTS_CUDA_CALLS_H
#define TESTS_CUDA_CALLS_H

struct call_counts {
    unsigned long made;         // memory, streams and events
    unsigned long freed;        // memory
    unsigned long synchronised; // waits for a whole stream or device
    unsigned long waits;        // for an event
};

extern struct call_counts calls;

#endif
