#include "core/large.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "core/checked.h"

enum { ALIGNMENT = 64 };

void *gi_large_alloc(size_t bytes) {
    size_t alignment = bytes >= GI_HUGE_PAGE_BYTES ? GI_HUGE_PAGE_BYTES : ALIGNMENT, size;
    if (!gi_round_up(bytes ? bytes : 1, alignment, &size)) return NULL;
    void *data = aligned_alloc(alignment, size);
    // A hint: without it all works as well.
    if (data && alignment == GI_HUGE_PAGE_BYTES) madvise(data, size, MADV_HUGEPAGE);
    return data;
}
