// The loops for one width of vectors; the macros are listed, and undefined, at the end. The last vectors of a row
// overlap those before them, so that there is no rest.

// Words of two rows are interleaved, which splits every 128-bit lane in a low and a high half; packing joins them
// again.
TARGET static inline void NAME(column_block)(const gi_narrow_columns *columns, const gi_narrow_taps *taps, size_t i) {
    VECTOR low_0 = SPREAD(128), high_0 = low_0, low_1 = low_0, high_1 = low_0;
    for (int p = 0; p < taps->down_pairs; p++) {
        const uint8_t *above = columns->above[2 * p] + i, *below = columns->below[2 * p] + i;
        const uint8_t *above_next = columns->above[2 * p + 1] + i, *below_next = columns->below[2 * p + 1] + i;
        VECTOR tap = SPREAD(taps->down[p]);
        VECTOR a = ADD_16(LOAD_BYTES(above), LOAD_BYTES(below));
        VECTOR b = ADD_16(LOAD_BYTES(above_next), LOAD_BYTES(below_next));
        low_0 = ADD_32(low_0, MULTIPLY_ADD(LOW_16(a, b), tap));
        high_0 = ADD_32(high_0, MULTIPLY_ADD(HIGH_16(a, b), tap));
        a = ADD_16(LOAD_BYTES(above + 2 * LANES), LOAD_BYTES(below + 2 * LANES));
        b = ADD_16(LOAD_BYTES(above_next + 2 * LANES), LOAD_BYTES(below_next + 2 * LANES));
        low_1 = ADD_32(low_1, MULTIPLY_ADD(LOW_16(a, b), tap));
        high_1 = ADD_32(high_1, MULTIPLY_ADD(HIGH_16(a, b), tap));
    }
    STORE(columns->out + i, PACK_32(SHIFT_RIGHT(low_0, 8), SHIFT_RIGHT(high_0, 8)));
    STORE(columns->out + i + 2 * LANES, PACK_32(SHIFT_RIGHT(low_1, 8), SHIFT_RIGHT(high_1, 8)));
}

TARGET static size_t NAME(columns)(const gi_narrow_columns *columns, const gi_narrow_taps *taps) {
    const size_t block = 4 * LANES, samples = columns->samples;
    if (samples < block) return 0;
    for (size_t i = 0; i + block <= samples; i += block) NAME(column_block)(columns, taps, i);
    if (samples % block) NAME(column_block)(columns, taps, samples - block);
    return samples;
}

TARGET static inline void NAME(line_block)(const gi_narrow_line *line, const gi_narrow_taps *taps, size_t i) {
    VECTOR sum_0 = SPREAD(1 << 21), sum_1 = sum_0, sum_2 = sum_0, sum_3 = sum_0;
    const uint32_t *pairs = line->pairs + i;
    for (int p = 0; p < taps->across_pairs; p++, pairs += 2 * line->channels) {
        VECTOR tap = SPREAD(taps->across[p]);
        sum_0 = ADD_32(sum_0, MULTIPLY_ADD(LOAD(pairs), tap));
        sum_1 = ADD_32(sum_1, MULTIPLY_ADD(LOAD(pairs + LANES), tap));
        sum_2 = ADD_32(sum_2, MULTIPLY_ADD(LOAD(pairs + 2 * LANES), tap));
        sum_3 = ADD_32(sum_3, MULTIPLY_ADD(LOAD(pairs + 3 * LANES), tap));
    }
    VECTOR words_0 = PACK_32(SHIFT_RIGHT(sum_0, 22), SHIFT_RIGHT(sum_1, 22));
    VECTOR words_1 = PACK_32(SHIFT_RIGHT(sum_2, 22), SHIFT_RIGHT(sum_3, 22));
    STORE(line->out + i, IN_ORDER(PACK_16(words_0, words_1)));
}

TARGET static size_t NAME(line)(const gi_narrow_line *line, const gi_narrow_taps *taps) {
    const size_t block = 4 * LANES, samples = line->samples;
    if (samples < block) return 0;
    for (size_t i = 0; i + block <= samples; i += block) NAME(line_block)(line, taps, i);
    if (samples % block) NAME(line_block)(line, taps, samples - block);
    return samples;
}

#undef NAME
#undef TARGET
#undef VECTOR
#undef LANES
#undef LOAD
#undef LOAD_BYTES
#undef STORE
#undef SPREAD
#undef ADD_16
#undef ADD_32
#undef MULTIPLY_ADD
#undef LOW_16
#undef HIGH_16
#undef SHIFT_RIGHT
#undef PACK_32
#undef PACK_16
#undef IN_ORDER
