#include "core/simd.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { LEVEL_UNKNOWN = -1 };

static atomic_int current_level = LEVEL_UNKNOWN;

static gi_simd best_level(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
            return GI_SIMD_AVX512;
        return GI_SIMD_AVX2;
    }
#endif
    return GI_SIMD_PORTABLE;
}

bool gi_simd_named(const char *name, gi_simd *level) {
    static const char *const names[] = {"portable", "avx2", "avx512"};
    for (int i = GI_SIMD_PORTABLE; i <= GI_SIMD_AVX512; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *level = (gi_simd)i;
        return true;
    }
    return false;
}

static gi_simd wanted_level(void) {
    gi_simd best = best_level(), wanted;
    const char *name = getenv("GPUIMG_SIMD");
    return name && gi_simd_named(name, &wanted) && wanted < best ? wanted : best;
}

gi_simd gi_simd_level(void) {
    int level = atomic_load_explicit(&current_level, memory_order_relaxed);
    if (level == LEVEL_UNKNOWN) {
        level = (int)wanted_level();
        atomic_store_explicit(&current_level, level, memory_order_relaxed);
    }
    return (gi_simd)level;
}

gi_simd gi_simd_force(gi_simd level) {
    gi_simd best = best_level();
    if (level > best) level = best;
    atomic_store_explicit(&current_level, (int)level, memory_order_relaxed);
    return level;
}

const char *gi_simd_name(gi_simd level) {
    switch (level) {
    case GI_SIMD_AVX512: return "AVX-512";
    case GI_SIMD_AVX2: return "AVX2";
    default: return "portable";
    }
}
