#include "codec/png_colours.h"

#include <stdlib.h>
#include <string.h>

// Where the colour is in the table, or where it belongs. The table is never full.
static unsigned slot_of(const gi_png_colours *colours, uint32_t colour) {
    unsigned slot = colour * 2654435761U >> 22; // the golden ratio's share of 2^32; its upper 10 bits
    while (colours->slot[slot] && colours->colour[colours->slot[slot] - 1] != colour)
        slot = (slot + 1) % GI_PNG_COLOUR_SLOTS;
    return slot;
}

bool gi_png_colours_add(gi_png_colours *colours, uint32_t colour) {
    unsigned slot = slot_of(colours, colour);
    if (colours->slot[slot]) return true;
    if (colours->count == GI_PNG_COLOURS) return false;
    colours->colour[colours->count++] = colour;
    colours->slot[slot] = (uint16_t)colours->count;
    return true;
}

// Rec. 601 to the nearest thousandth is exact enough for an order.
static uint32_t brightness(uint32_t colour) {
    return 299 * (colour >> 24) + 587 * (colour >> 16 & 255) + 114 * (colour >> 8 & 255);
}

static int compare(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    uint32_t left_key = brightness(left), right_key = brightness(right);
    if (left_key != right_key) return left_key < right_key ? -1 : 1;
    return left < right ? -1 : left > right;
}

void gi_png_colours_sort(gi_png_colours *colours) {
    qsort(colours->colour, (size_t)colours->count, sizeof *colours->colour, compare);
    memset(colours->slot, 0, sizeof colours->slot);
    for (int i = 0; i < colours->count; i++) colours->slot[slot_of(colours, colours->colour[i])] = (uint16_t)(i + 1);
}

int gi_png_colours_find(const gi_png_colours *colours, uint32_t colour) {
    int place = colours->slot[slot_of(colours, colour)];
    return place ? place - 1 : 0;
}
