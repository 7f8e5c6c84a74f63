// Deflate with matches, made for rows of pixels: cheap looks at the pixel before and the row above, then hash chains.
#ifndef GI_CODEC_DEFLATE_MATCH_H
#define GI_CODEC_DEFLATE_MATCH_H

#include "codec/codec.h"
#include "codec/deflate_code.h"
#include "core/status.h"

typedef struct gi_match_options {
    uint32_t pixel, row; // distances to try first; at least 1
    uint32_t chain;      // most earlier places to compare with; 0: the near distances alone
    uint32_t brief;      // 3..7: matches of so few bytes are found, if at the last place alone; 0: of 8 and more
    uint32_t nice;       // a match of that length is good enough
    uint32_t ends;       // bytes at either end of a match that later ones may begin at; at least 1
    bool lazy;           // looks whether a match one byte later is better
} gi_match_options;

// The scratch of one thread.
typedef struct gi_matcher gi_matcher;

// NULL when there is no memory.
gi_matcher *gi_matcher_open(void);
void gi_matcher_close(gi_matcher *matcher);

// Bytes after the data that may be read.
enum { GI_MATCH_SLACK = 8 };

// Appends blocks for `data` (below 2^30 bytes), none of them final; stored blocks where those are smaller. Writes no
// more than gi_matcher_bound bytes, with those that wait and the 8 of a put.
void gi_matcher_deflate(gi_matcher *matcher, gi_bytes data, const gi_match_options *options, gi_bits *bits);

size_t gi_matcher_bound(size_t size);

// About how many bits gi_matcher_deflate would write.
uint64_t gi_matcher_estimate(gi_matcher *matcher, gi_bytes data, const gi_match_options *options);

#endif
