#include "bench/demos.h"

#include <string.h>

const gi_demo *gi_demo_at(int i) {
#define ROW(name) &gi_demo_##name,
    static const gi_demo *const demos[] = {GI_DEMOS(ROW)};
#undef ROW
    return i >= 0 && i < (int)(sizeof demos / sizeof demos[0]) ? demos[i] : NULL;
}

const gi_demo *gi_demo_find(const char *name) {
    const gi_demo *demo;
    for (int i = 0; (demo = gi_demo_at(i)) != NULL; i++)
        if (strcmp(demo->name, name) == 0) return demo;
    return NULL;
}
