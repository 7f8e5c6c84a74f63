// THE TABLE: every stage, its kind, its options, their ranges, defaults and help.
//
// Adding a stage is one row here plus its code and its test:
//   POINT    src/core/NAME.c   gi_NAME_point                      tests/oracle/test_NAME.py
//   WINDOW   src/cpu/NAME.c    gi_cpu_NAME    kernels/NAME.cu     tests/oracle/test_NAME.py
//   MEASURE  src/cpu/NAME.c    gi_cpu_NAME    kernels/NAME.cu     tests/oracle/test_NAME.py
// From the row the preprocessor makes the argument struct, the parser with its range checks, help, man page and
// completion, and the prototypes of the functions above (stage_table.h, kernels/launch.h). CMake reads the rows too:
// a stage without its test does not configure.
//
// STAGE(KIND, name, summary, detail, example1, example2)
//   detail: a sentence or two for `gpuimg help NAME`; an example is the text after "gpuimg ".
// OPTION(stage, TYPE, name, default, min, max, words, help): each stage has at least one
//   TYPE    field      accepted text
//   CHOICE  int        one of `words` ("a|b|c"), stored as its index
//   INTEGER int32_t    a decimal integer in [min, max]
//   REAL    double     a decimal number in [min, max]
//   LEVEL   int32_t    an integer in [min, max] in the image's own units, or one of `words`, stored as -2 - index;
//                      the default GI_LEVEL_HALF is half of the range: 128, or 32768 for 16 bits
// The first option of a stage is the one that a bare word sets (`threshold otsu`).
#ifndef GI_CORE_STAGES_H
#define GI_CORE_STAGES_H

#define GI_STAGES(STAGE)                                                                                              \
    STAGE(POINT, gray, "one gray channel from colour",                                                                \
          "601 and 709 weigh the samples as they are, in 15-bit fixed point, rounding half up; linear decodes sRGB "  \
          "to linear light first and encodes the sum again. Gray images pass unchanged; alpha is kept.",              \
          "gray photo.jpg gray.png", "gray -r --weights 709 photos/ gray/")                                           \
    STAGE(POINT, threshold, "black and white by a level",                                                             \
          "Samples above the level become the maximum, all others 0, in each colour channel; alpha is kept. otsu "    \
          "makes the image gray and takes the level from its exact histogram (shown with -v).",                       \
          "threshold scan.png mask.png", "threshold --level otsu --format png scans/ masks/")                         \
    STAGE(MEASURE, hist, "exact histogram and statistics",                                                            \
          "Counts every sample of every channel; alpha is reported apart. Minimum, maximum, mean, deviation, "        \
          "median, percentiles, entropy, Otsu level and clipping come from the exact counts whatever the bins.",      \
          "hist photo.jpg", "hist -o report.html photos/")

#define GI_OPTIONS_gray(OPTION)                                                                                       \
    OPTION(gray, CHOICE, weights, GI_GRAY_601, 0, 2, "601|709|linear",                                                \
           "what red, green and blue weigh: Rec. 601 luma, Rec. 709 luma, or 709 in linear light")

#define GI_OPTIONS_threshold(OPTION)                                                                                  \
    OPTION(threshold, LEVEL, level, GI_LEVEL_HALF, 0, 65535, "otsu", "samples above this level become white")

#define GI_OPTIONS_hist(OPTION)                                                                                       \
    OPTION(hist, INTEGER, bins, 0, 0, 65536, "", "bins per channel, at most one for each level; 0: one for each level")

enum { GI_GRAY_601, GI_GRAY_709, GI_GRAY_LINEAR };
enum { GI_LEVEL_HALF = -1, GI_LEVEL_OTSU = -2 };

#endif
