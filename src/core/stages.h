// THE TABLE: every stage, its kind, its options, their ranges, defaults and help.
//
// Adding a stage is one row here plus its code and its test:
//   POINT    src/core/NAME.c   gi_NAME_point                      tests/oracle/test_NAME.py
//   WINDOW   src/cpu/NAME.c    gi_cpu_NAME       kernels/NAME.cu     tests/oracle/test_NAME.py
//            and gi_NAME_halo, gi_NAME_scratch, gi_NAME_check, gi_NAME_cost
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
//                      (the default of an INTEGER or REAL outside [min, max] means that it is not given)
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
    STAGE(POINT, equalize, "levels spread out evenly",                                                                \
          "Each level becomes the share of the pixels at or below it, in exact integers, as OpenCV's equalizeHist "   \
          "has it. luma moves all colours of a pixel by what its Rec. 601 luma gains, so that pale colours stay "     \
          "pale; channel does each colour on its own. An image of one level stays as it is; alpha is kept.",          \
          "equalize dull.jpg clear.jpg", "equalize --mode channel -r photos/ clear/")                                 \
    STAGE(WINDOW, blur, "smoothing by a box or a Gaussian",                                                           \
          "radius means over a square of side 2*radius + 1, in time that does not depend on it; sigma blurs by a "    \
          "Gaussian instead, summed in fixed point to ceil(4*sigma). Either is rounded half up. Colours weigh by "    \
          "their alpha. The border mirrors the image without repeating its edge unless another is chosen.",           \
          "blur --sigma 2 noisy.png smooth.png", "blur -r --radius 5 --border replicate photos/ soft/")               \
    STAGE(WINDOW, heat, "heat flow: steps of a diffusion equation",                                                   \
          "Each step moves every sample towards its four neighbours, 0 outside the image, in 32-bit floats from 0 "   \
          "to 1. nonlinear: inner iterations of T + alpha*dt*tanh(lap), each damped by a hundredth of T - sin(T); "   \
          "linear: T + alpha*dt*lap. alpha*dt must lie in (0, 0.25]. Either darkens the image from its border "       \
          "inwards; nonlinear dims bright areas too. Alpha is kept.",                                                 \
          "heat --steps 10 plate.png later.png", "heat --mode linear --steps 50 plate.png flat.png")                  \
    STAGE(MEASURE, hist, "exact histogram and statistics",                                                            \
          "Counts every sample of every channel; alpha is reported apart. Minimum, maximum, mean, deviation, "        \
          "median, percentiles, entropy, Otsu level and clipping come from the exact counts whatever the bins.",      \
          "hist photo.jpg", "hist -o report.html photos/")

#define GI_OPTIONS_gray(OPTION)                                                                                       \
    OPTION(gray, CHOICE, weights, GI_GRAY_601, 0, 2, "601|709|linear",                                                \
           "what red, green and blue weigh: Rec. 601 luma, Rec. 709 luma, or 709 in linear light")

#define GI_OPTIONS_threshold(OPTION)                                                                                  \
    OPTION(threshold, LEVEL, level, GI_LEVEL_HALF, 0, 65535, "otsu", "samples above this level become white")

#define GI_OPTIONS_equalize(OPTION)                                                                                   \
    OPTION(equalize, CHOICE, mode, GI_EQUALIZE_LUMA, 0, 1, "luma|channel",                                            \
           "of colour images: by the luma, which keeps the hues, or each channel on its own")

#define GI_OPTIONS_blur(OPTION)                                                                                       \
    OPTION(blur, INTEGER, radius, GI_BLUR_UNSET, 0, 16384, "",                                                        \
           "box of side 2*radius + 1; 1 where neither radius nor sigma is given; not with sigma")                     \
    OPTION(blur, REAL, sigma, GI_BLUR_UNSET, 0, 256, "",                                                              \
           "Gaussian of that standard deviation in pixels, above 0; not with radius")                                 \
    OPTION(blur, CHOICE, border, GI_BORDER_REFLECT101, 0, 3, "reflect101|replicate|shrink|constant",                  \
           "what lies outside the image: its mirror, its edge, nothing (the mean is over fewer pixels), or value")    \
    OPTION(blur, LEVEL, value, 0, 0, 65535, "", "what lies outside with border=constant, and with no other")

#define GI_OPTIONS_heat(OPTION)                                                                                       \
    OPTION(heat, CHOICE, mode, GI_HEAT_NONLINEAR, 0, 1, "nonlinear|linear", "the equation")                           \
    OPTION(heat, INTEGER, steps, 1, 1, 10000, "", "steps in time")                                                    \
    OPTION(heat, INTEGER, inner, 100, 1, 10000, "", "iterations at each pixel in a step; linear ignores it")          \
    OPTION(heat, REAL, alpha, 0.25, 0, 1000, "", "diffusivity; alpha*dt must lie in (0, 0.25]")                       \
    OPTION(heat, REAL, dt, 0.1, 0, 1000, "", "length of a step in time")                                              \
    OPTION(heat, INTEGER, tile, 0, 0, 64, "",                                                                         \
           "side of a block's tile on the GPU, which then takes one step at a time; 0: chosen by the program")        \
    OPTION(heat, CHOICE, precision, GI_HEAT_EXACT, 0, 1, "exact|fast",                                                \
           "fast: the GPU's own tanh, within 0.0005 of the range a step, not the same bits; the CPU is always exact")

#define GI_OPTIONS_hist(OPTION)                                                                                       \
    OPTION(hist, INTEGER, bins, 0, 0, 65536, "", "bins per channel, at most one for each level; 0: one for each level")

enum { GI_GRAY_601, GI_GRAY_709, GI_GRAY_LINEAR };
enum { GI_LEVEL_HALF = -1, GI_LEVEL_OTSU = -2 };
enum { GI_EQUALIZE_LUMA, GI_EQUALIZE_CHANNEL };
enum { GI_BLUR_UNSET = -1 }; // of radius and sigma
enum { GI_BORDER_REFLECT101, GI_BORDER_REPLICATE, GI_BORDER_SHRINK, GI_BORDER_CONSTANT };
enum { GI_HEAT_NONLINEAR, GI_HEAT_LINEAR };
enum { GI_HEAT_EXACT, GI_HEAT_FAST };

#endif
