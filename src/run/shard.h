// Shares of a listing for several machines or processes, each of which lists it whole: by a hash of the relative name,
// so that neither the order nor the other names move an input to another share.
//
// The hash is FNV-1a of 64 bits over the name's bytes, then h ^= h >> 33, h *= 0xff51afd7ed558ccd, h ^= h >> 33,
// h *= 0xc4ceb9fe1a85ec53, h ^= h >> 33 (the finalizer of MurmurHash3); share h mod N + 1 of N. It stays so for ever.
#ifndef GI_RUN_SHARD_H
#define GI_RUN_SHARD_H

#include <stdint.h>

#include "run/inputs.h"

typedef struct gi_shard {
    uint32_t index, count; // index 1..count; count 0: all of the listing
} gi_shard;

// The share that a name falls to, 1..count.
uint32_t gi_shard_of_name(const char *name, uint32_t count);

// Drops the items of other shares, by gi_item_relative.
void gi_shard_keep(gi_shard shard, gi_item_list *list);

#endif
