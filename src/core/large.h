// Memory for what is large: pixels and files.
#ifndef GI_CORE_LARGE_H
#define GI_CORE_LARGE_H

#include <stddef.h>

enum { GI_HUGE_PAGE_BYTES = 2 << 20 };

// At least `bytes`, aligned to 64 bytes, for free() to release; NULL: there are not so many. From GI_HUGE_PAGE_BYTES
// on, the memory is aligned to that, shares its pages with nothing else, and the system is asked for huge ones: fresh
// memory then costs one page fault for 2 MiB rather than 512, which would take longer than a copy of it.
void *gi_large_alloc(size_t bytes);

#endif
