// A profiler that NVTX finds by NVTX_INJECTION64_PATH: writes the names of ranges as they begin, and "end", to the file
// in the variable RANGES.
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;

static void say(const char *name) {
    pthread_mutex_lock(&mutex);
    if (file) fprintf(file, "%s\n", name);
    if (file) fflush(file);
    pthread_mutex_unlock(&mutex);
}

static int NVTX_API push(const char *name) {
    say(name);
    return 0;
}

static int NVTX_API pop(void) {
    say("end");
    return 0;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
    const NvtxExportTableCallbacks *callbacks = get_table(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table;
    unsigned size;
    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size)) return 0;
    file = fopen(getenv("RANGES"), "w");
    *table[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push;
    *table[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)pop;
    return 1;
}
