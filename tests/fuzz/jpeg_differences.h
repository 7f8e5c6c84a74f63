// Where our JPEG reader and libjpeg-turbo alone differ in their verdict on a file, and why: what fuzz_jpeg_turbo takes
// for explained.
#ifndef GI_TESTS_FUZZ_JPEG_DIFFERENCES_H
#define GI_TESTS_FUZZ_JPEG_DIFFERENCES_H

// Damaged: decoded, with a warning, or an error where one is strict.
typedef enum jpeg_verdict { JPEG_SOUND, JPEG_DAMAGED, JPEG_REFUSED, JPEG_DECODED /* sound or damaged */ } jpeg_verdict;

typedef struct jpeg_difference {
    jpeg_verdict ours, libjpeg;
    const char *our_words, *its_words; // parts of what is said; "": any
    const char *why;
} jpeg_difference;

static const jpeg_difference jpeg_differences[] = {
    // What does not touch the image.
    {JPEG_SOUND, JPEG_REFUSED, "", "Unsupported marker type 0xf", "JPG0 to JPG13 are passed over as APPn are"},
    {JPEG_SOUND, JPEG_DAMAGED, "", "unknown JFIF revision number", "a number that nothing depends on"},
    {JPEG_SOUND, JPEG_DAMAGED, "", "Unknown Adobe color transform code",
     "with three components it means YCbCr to both"},
    {JPEG_SOUND, JPEG_DAMAGED, "", "Invalid SOS parameters for sequential JPEG", "the end of a band that is always 63"},
    {JPEG_SOUND, JPEG_DAMAGED, "", "extraneous bytes before marker", "zeros and fill bytes behind a scan are padding"},
    // What stb decodes in its place.
    {JPEG_SOUND, JPEG_REFUSED, "", "Sampling factors too large for interleaved scan", "more than 10 blocks in an MCU"},
    {JPEG_SOUND, JPEG_REFUSED, "", "Bogus Huffman table definition", "a code of ones alone"},
    // What has no meaning that is told.
    {JPEG_REFUSED, JPEG_DECODED, "what its inks mean is not told", "",
     "CMYK is stored either way: the library leaves it as it is"},
    {JPEG_REFUSED, JPEG_DECODED, "the number of components is not 1, 3 or 4", "", "colours of no known kind; likewise"},
    // Rules whose breach before the first scan means that what follows cannot be trusted: the library warns, of that
    // or of what comes of it, or does not look.
    {JPEG_REFUSED, JPEG_DAMAGED, "damaged JPEG: ", "", "both tell of damage"},
    {JPEG_REFUSED, JPEG_SOUND, "not the bands of a sequential scan", "", "it takes 0, 63 and 0 for what is told"},
    {JPEG_REFUSED, JPEG_SOUND, "segment DNL", "", "it passes over DNL wherever it is"},
    {JPEG_REFUSED, JPEG_SOUND, "Huffman table is not defined", "",
     "it takes those of T.81 annex K, as Motion JPEG means"},
    {JPEG_REFUSED, JPEG_SOUND, "a Huffman table", "", "it looks at those alone that are used"},
    {JPEG_REFUSED, JPEG_SOUND, "in a Huffman table", "", "likewise"},
    {JPEG_REFUSED, JPEG_SOUND, "two components with one identifier", "",
     "it takes the next one of that name for each that a scan names"},
    {JPEG_REFUSED, JPEG_SOUND, "entropy coding table number over 3", "", "likewise, of the numbers"},
    {JPEG_REFUSED, JPEG_SOUND, "conditioning of arithmetic coding out of range", "",
     "it does not look at the bounds of AC, which T.81 has from 1 to 63"},
    // Damage behind the beginning of an image: we decode what comes before it, the library stops.
    {JPEG_DAMAGED, JPEG_REFUSED, "", "", "the pixels before the damage are worth a warning"},
    {JPEG_DAMAGED, JPEG_SOUND, "restart markers are missing or out of order", "",
     "some where none are told; they are passed over"},
    {JPEG_DAMAGED, JPEG_SOUND, "segment DNL", "", "it passes over DNL wherever it is"},
    {JPEG_DAMAGED, JPEG_SOUND, "a Huffman table", "", "it looks at those alone that are used"},
    {JPEG_DAMAGED, JPEG_SOUND, "in a Huffman table", "", "likewise"},
    {JPEG_DAMAGED, JPEG_SOUND, "conditioning of arithmetic coding out of range", "", "likewise, at no bounds of AC"},
    {JPEG_DAMAGED, JPEG_SOUND, "entropy coding table number over 3", "",
     "it does not look at numbers of tables that a scan does without"},
};

#endif
