// The PNG filters a vector at a time; png_filter_x86.c includes this once for each instruction set, with V (a vector of
// VECTOR_BYTES bytes), TARGET and NAME(name) defined, and the operations on V named below.
//
// All arithmetic is on bytes. Paeth: with pa = |above - corner| and pb = |left - corner|, the distance to the corner is
// pa + pb where both neighbours lie on one side of it, which is no less than either, so that 255 serves; else |pa -
// pb|.

TARGET static inline V NAME(paeth)(V left, V above, V corner) {
    V to_left = NAME(distance)(above, corner), to_above = NAME(distance)(left, corner);
    V to_corner = NAME(or_where_same_side)(NAME(distance)(to_left, to_above), left, above, corner);
    V above_or_corner = NAME(select_le)(to_above, to_corner, above, corner);
    return NAME(select_le)(to_left, NAME(min)(to_above, to_corner), left, above_or_corner);
}

// A vector of the row, and of its three neighbours.
typedef struct NAME(place) {
    V value, left, above, corner;
} NAME(place);

TARGET static inline __attribute__((always_inline)) NAME(place) NAME(place_at)(const gi_png_row *in, size_t i) {
    const uint8_t *row = in->row + i, *above = in->above + i;
    return (NAME(place)){NAME(load)(row), NAME(load)(row - in->pixel), NAME(load)(above),
                         NAME(load)(above - in->pixel)};
}

// The last bytes of the row, fewer than a vector's.
TARGET static inline __attribute__((always_inline)) NAME(place) NAME(last_place)(const gi_png_row *in, size_t i) {
    const uint8_t *row = in->row + i, *above = in->above + i;
    size_t size = in->size - i;
    return (NAME(place)){NAME(load_part)(row, size), NAME(load_part)(row - in->pixel, size),
                         NAME(load_part)(above, size), NAME(load_part)(above - in->pixel, size)};
}

// `type` is a constant where this is inlined.
TARGET static inline __attribute__((always_inline)) V NAME(residual)(gi_png_filter_type type, const NAME(place) * at) {
    switch (type) {
    case GI_PNG_SUB: return NAME(subtract)(at->value, at->left);
    case GI_PNG_UP: return NAME(subtract)(at->value, at->above);
    case GI_PNG_AVERAGE: return NAME(subtract)(at->value, NAME(average)(at->left, at->above));
    case GI_PNG_PAETH: return NAME(subtract)(at->value, NAME(paeth)(at->left, at->above, at->corner));
    default: return at->value;
    }
}

TARGET static inline __attribute__((always_inline)) void NAME(filter_type)(gi_png_filter_type type,
                                                                           const gi_png_row *in, uint8_t *out) {
    size_t i = 0;
    for (; i + VECTOR_BYTES <= in->size; i += VECTOR_BYTES) {
        NAME(place) place = NAME(place_at)(in, i);
        NAME(store)(out + i, NAME(residual)(type, &place));
    }
    if (i == in->size) return;
    NAME(place) last = NAME(last_place)(in, i);
    NAME(store_part)(out + i, NAME(residual)(type, &last), in->size - i);
}

TARGET static void NAME(filter)(gi_png_filter_type type, const gi_png_row *in, uint8_t *out) {
    switch (type) {
    case GI_PNG_SUB: NAME(filter_type)(GI_PNG_SUB, in, out); break;
    case GI_PNG_UP: NAME(filter_type)(GI_PNG_UP, in, out); break;
    case GI_PNG_AVERAGE: NAME(filter_type)(GI_PNG_AVERAGE, in, out); break;
    case GI_PNG_PAETH: NAME(filter_type)(GI_PNG_PAETH, in, out); break;
    default: memcpy(out, in->row, in->size); break;
    }
}

// Sums of absolute residuals, 64 bits each. No array: these are to stay in registers.
typedef struct NAME(costs) {
    V none, sub, up, average, paeth;
} NAME(costs);

// Of the place's first `size` bytes.
TARGET static inline __attribute__((always_inline)) V NAME(add_cost)(V sum, gi_png_filter_type type,
                                                                     const NAME(place) * at, size_t size) {
    V residual = NAME(residual)(type, at);
    return NAME(add_absolute)(sum, size < VECTOR_BYTES ? NAME(keep_part)(residual, size) : residual);
}

TARGET static inline __attribute__((always_inline)) void NAME(add_costs)(NAME(costs) * costs, const NAME(place) * at,
                                                                         size_t size) {
    costs->none = NAME(add_cost)(costs->none, GI_PNG_NONE, at, size);
    costs->sub = NAME(add_cost)(costs->sub, GI_PNG_SUB, at, size);
    costs->up = NAME(add_cost)(costs->up, GI_PNG_UP, at, size);
    costs->average = NAME(add_cost)(costs->average, GI_PNG_AVERAGE, at, size);
    costs->paeth = NAME(add_cost)(costs->paeth, GI_PNG_PAETH, at, size);
}

TARGET static void NAME(row_costs)(const gi_png_row *in, uint64_t out[GI_PNG_FILTERS]) {
    V zero = NAME(zero)();
    NAME(costs) costs = {zero, zero, zero, zero, zero};
    size_t i = 0;
    for (; i + VECTOR_BYTES <= in->size; i += VECTOR_BYTES) {
        NAME(place) place = NAME(place_at)(in, i);
        NAME(add_costs)(&costs, &place, VECTOR_BYTES);
    }
    if (i < in->size) {
        NAME(place) last = NAME(last_place)(in, i);
        NAME(add_costs)(&costs, &last, in->size - i);
    }
    out[GI_PNG_NONE] = NAME(sum)(costs.none);
    out[GI_PNG_SUB] = NAME(sum)(costs.sub);
    out[GI_PNG_UP] = NAME(sum)(costs.up);
    out[GI_PNG_AVERAGE] = NAME(sum)(costs.average);
    out[GI_PNG_PAETH] = NAME(sum)(costs.paeth);
}

#undef V
#undef VECTOR_BYTES
#undef TARGET
#undef NAME
