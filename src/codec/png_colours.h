// A set of at most 256 colours: what a palette can hold.
#ifndef GI_CODEC_PNG_COLOURS_H
#define GI_CODEC_PNG_COLOURS_H

#include <stdbool.h>
#include <stdint.h>

enum { GI_PNG_COLOURS = 256, GI_PNG_COLOUR_SLOTS = 1024 };

// A colour is R << 24 | G << 16 | B << 8 | A. All zero: the empty set.
typedef struct gi_png_colours {
    int count;
    uint32_t colour[GI_PNG_COLOURS];
    uint16_t slot[GI_PNG_COLOUR_SLOTS]; // a hash table of indices, each plus 1; 0: free
} gi_png_colours;

// The colour of a pixel of 1..4 channels of 8 bits.
static inline uint32_t gi_png_colour(const uint8_t *pixel, int channels) {
    uint32_t alpha = channels == 2 ? pixel[1] : channels == 4 ? pixel[3] : 255U;
    if (channels < 3) return pixel[0] * 0x01010100U | alpha;
    return (uint32_t)pixel[0] << 24 | (uint32_t)pixel[1] << 16 | (uint32_t)pixel[2] << 8 | alpha;
}

// False when the colour is new and there are 256 already.
bool gi_png_colours_add(gi_png_colours *colours, uint32_t colour);

// From dark to bright, so that neighbours in a picture are near in number too; the order depends on the set alone.
void gi_png_colours_sort(gi_png_colours *colours);

// Its place in the set; 0 where it is not in.
int gi_png_colours_find(const gi_png_colours *colours, uint32_t colour);

#endif
