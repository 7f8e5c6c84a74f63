// Where our PNG reader and libpng differ in their verdict on a file, and why: what fuzz_png_libpng takes for explained.
#ifndef GI_TESTS_FUZZ_PNG_DIFFERENCES_H
#define GI_TESTS_FUZZ_PNG_DIFFERENCES_H

typedef struct png_difference {
    const char *ours;    // in our reason, "": any; NULL: we accept
    const char *libpng;  // in its error, "": any; NULL: it accepts
    const char *warning; // among its warnings; NULL: does not matter
    const char *why;
} png_difference;

// We refuse whatever breaks a rule of the specification about chunks that decide on pixels, or a checksum: a PNG that
// was damaged must not pass for sound. libpng drops such chunks with a warning, and the pixels turn out otherwise than
// they were meant.
static const png_difference png_differences[] = {
    {"its CRC does not match", NULL, "CRC error", "an ancillary chunk with a wrong CRC is left out by libpng"},
    {"chunk tRNS", NULL, "tRNS: ", "a tRNS of a wrong length, place or number is left out by libpng"},
    {"chunk PLTE", NULL, "PLTE: ", "so is a palette in a gray image or behind the image data"},
    {"a palette after tRNS", NULL, "PLTE: ", "in RGB, where the palette is a suggestion: libpng drops tRNS or PLTE"},
    {"chunk IEND at", NULL, NULL, "libpng does not look at the length of IEND"},
    {"compressed data", NULL, "IDAT: ", "the stream is damaged behind the last row, or its checksum is wrong"},
    {"image data is not consecutive", NULL, "Too many IDATs found",
     "IDATs behind another chunk are not used by libpng"},
    {"the first chunk is not IHDR", NULL, NULL, "libpng passes over what it does not know, also in front of IHDR"},
    // Once it has the last row, libpng reads no further IDAT: what is wrong in these is not said.
    {"the checksum of the compressed data", NULL, NULL, "the checksum is in an IDAT behind the one with the last row"},
    {"compressed data ends early", NULL, NULL, "likewise, the end of the stream"},
    {"compressed data is corrupt", NULL, NULL, "likewise, what is left of it"},
    // We stop at the first byte that no row needs, as what follows may go on for long: with a warning.
    {NULL, "behind the image: Not enough image data", NULL, "the stream goes on behind the last row, and has no end"},
};

#endif
