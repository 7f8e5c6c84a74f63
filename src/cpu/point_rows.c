#include "cpu/point_rows.h"

#include "core/simd.h"

#define SAMPLE uint8_t
#define SAMPLE_MAX UINT8_MAX
#define DIFFERENCE int16_t
#define FIELD u8
#define NAME(x) x##_u8
#define MIX_RGB_FIRST(in, out, pixels, weights) gi_mix_rgb8_x86(in, out, pixels, weights)
#define MIX_RGBA_FIRST(in, out, pixels, weights) gi_mix_rgba8_x86(in, out, pixels, weights)
#define STREAM_FIRST(in, out, samples, level) gi_threshold_stream8_x86(in, out, samples, level)
#include "cpu/point_rows_template.h"
#undef STREAM_FIRST
#undef MIX_RGBA_FIRST
#undef MIX_RGB_FIRST
#undef NAME
#undef FIELD
#undef DIFFERENCE
#undef SAMPLE_MAX
#undef SAMPLE

#define SAMPLE uint16_t
#define SAMPLE_MAX UINT16_MAX
#define DIFFERENCE int32_t
#define FIELD u16
#define NAME(x) x##_u16
#define MIX_RGB_FIRST(in, out, pixels, weights) 0
#define MIX_RGBA_FIRST(in, out, pixels, weights) 0
#define STREAM_FIRST(in, out, samples, level) 0
#include "cpu/point_rows_template.h"
