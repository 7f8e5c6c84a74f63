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

// The residuals of the bytes at `row`. `type` is a constant where this is inlined.
TARGET static inline __attribute__((always_inline)) V NAME(residual)(gi_png_filter_type type, const uint8_t *row,
                                                                     const uint8_t *above, size_t pixel) {
    V value = NAME(load)(row);
    switch (type) {
    case GI_PNG_SUB: return NAME(subtract)(value, NAME(load)(row - pixel));
    case GI_PNG_UP: return NAME(subtract)(value, NAME(load)(above));
    case GI_PNG_AVERAGE: return NAME(subtract)(value, NAME(average)(NAME(load)(row - pixel), NAME(load)(above)));
    case GI_PNG_PAETH:
        return NAME(subtract)(value,
                              NAME(paeth)(NAME(load)(row - pixel), NAME(load)(above), NAME(load)(above - pixel)));
    default: return value;
    }
}

TARGET static inline __attribute__((always_inline)) void NAME(filter_type)(gi_png_filter_type type,
                                                                           const gi_png_row *in, uint8_t *out) {
    size_t i = 0;
    for (; i + VECTOR_BYTES <= in->size; i += VECTOR_BYTES)
        NAME(store)(out + i, NAME(residual)(type, in->row + i, in->above + i, in->pixel));
    if (i == in->size) return;
    row_end end = row_end_of(in, i);
    uint8_t last[VECTOR_BYTES];
    NAME(store)(last, NAME(residual)(type, end.row + GI_PNG_MARGIN, end.above + GI_PNG_MARGIN, in->pixel));
    memcpy(out + i, last, in->size - i);
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

// Sums of absolute residuals. `inside` masks those past the row's end; NULL: there are none.
typedef struct NAME(costs) {
    V sums[GI_PNG_FILTERS]; // 64 bits each
} NAME(costs);

TARGET static inline __attribute__((always_inline)) void
NAME(add_costs)(NAME(costs) * costs, const uint8_t *row, const uint8_t *above, size_t pixel, const uint8_t *inside) {
    for (int type = 0; type < GI_PNG_FILTERS; type++) {
        V residual = NAME(residual)((gi_png_filter_type)type, row, above, pixel);
        if (inside) residual = NAME(and)(residual, NAME(load)(inside));
        costs->sums[type] = NAME(add_absolute)(costs->sums[type], residual);
    }
}

TARGET static void NAME(row_costs)(const gi_png_row *in, uint64_t out[GI_PNG_FILTERS]) {
    NAME(costs) costs;
    for (int type = 0; type < GI_PNG_FILTERS; type++) costs.sums[type] = NAME(zero)();
    size_t i = 0;
    for (; i + VECTOR_BYTES <= in->size; i += VECTOR_BYTES)
        NAME(add_costs)(&costs, in->row + i, in->above + i, in->pixel, NULL);
    if (i < in->size) {
        row_end end = row_end_of(in, i);
        NAME(add_costs)(&costs, end.row + GI_PNG_MARGIN, end.above + GI_PNG_MARGIN, in->pixel, end.inside);
    }
    for (int type = 0; type < GI_PNG_FILTERS; type++) {
        uint64_t sums[VECTOR_BYTES / 8];
        NAME(store)(sums, costs.sums[type]);
        out[type] = 0;
        for (int k = 0; k < VECTOR_BYTES / 8; k++) out[type] += sums[k];
    }
}

#undef V
#undef VECTOR_BYTES
#undef TARGET
#undef NAME
