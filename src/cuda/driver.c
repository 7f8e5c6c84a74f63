#include "cuda/driver.h"

#include <dlfcn.h>
#include <string.h>

// The library stays loaded: it is the one that the runtime uses.
int gi_cuda_driver_version(void) {
    int (*get)(int *version) = NULL;
    int version = 0;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "cuDriverGetVersion") : NULL;
    memcpy(&get, &symbol, sizeof get); // ISO C has no cast for it
    return get && get(&version) == 0 ? version : 0;
}
