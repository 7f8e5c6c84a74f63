// Function multiversioning: one body compiled for several instruction sets, chosen at run time by gi_simd_level().
#ifndef GI_CORE_SIMD_H
#define GI_CORE_SIMD_H

#include <stdbool.h>

// Instruction set of the vectorised loops: the best that the processor has, or what GPUIMG_SIMD names
// (portable, avx2, avx512; one the processor lacks is ignored).
typedef enum gi_simd { GI_SIMD_PORTABLE, GI_SIMD_AVX2, GI_SIMD_AVX512 } gi_simd;
gi_simd gi_simd_level(void);
const char *gi_simd_name(gi_simd level);

// False where no level is named so.
bool gi_simd_named(const char *name, gi_simd *level);

// Forces a level for the tests and the benchmark; one the processor lacks is lowered to the best it has. Returns the
// level now in force. Not while operations run.
gi_simd gi_simd_force(gi_simd level);

// What every body must be, so that it is compiled anew with the instruction set of the variant it is inlined into.
#define GI_SIMD_BODY static inline __attribute__((always_inline))

#if defined(__x86_64__)
#define GI_TARGET_AVX2 __attribute__((target("avx2,fma,bmi,bmi2")))
#define GI_TARGET_AVX512 __attribute__((target("avx2,fma,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl")))

// GI_SIMD_VARIANTS(rows, rows_body, (const int *in, int n), (in, n)) defines `static void rows(const int *in, int n)`,
// which calls the variant of rows_body for gi_simd_level(). GI_SIMD_VARIANTS_FUSED has a body of its own for the levels
// with fused multiply-add instructions. (The macros in between let `name` be a macro's result.)
#define GI_SIMD_VARIANTS(name, body, parameters, arguments)                                                            \
    GI_SIMD_VARIANTS_NAMED(name, body, body, parameters, arguments)
#define GI_SIMD_VARIANTS_FUSED(name, body, fused_body, parameters, arguments)                                          \
    GI_SIMD_VARIANTS_NAMED(name, body, fused_body, parameters, arguments)
#define GI_SIMD_VARIANTS_NAMED(name, body, fused_body, parameters, arguments)                                          \
    static void name##_portable parameters { body arguments; }                                                         \
    GI_TARGET_AVX2 static void name##_avx2 parameters { fused_body arguments; }                                        \
    GI_TARGET_AVX512 static void name##_avx512 parameters { fused_body arguments; }                                    \
    static void name parameters {                                                                                      \
        switch (gi_simd_level()) {                                                                                     \
        case GI_SIMD_AVX512: name##_avx512 arguments; break;                                                           \
        case GI_SIMD_AVX2: name##_avx2 arguments; break;                                                               \
        default: name##_portable arguments; break;                                                                     \
        }                                                                                                              \
    }
#else
#define GI_SIMD_VARIANTS(name, body, parameters, arguments)                                                            \
    static void name parameters { body arguments; }
#if defined(__FP_FAST_FMAF)
#define GI_SIMD_VARIANTS_FUSED(name, body, fused_body, parameters, arguments)                                          \
    static void name parameters { fused_body arguments; }
#else
#define GI_SIMD_VARIANTS_FUSED(name, body, fused_body, parameters, arguments)                                          \
    static void name parameters { body arguments; }
#endif
#endif

#endif
