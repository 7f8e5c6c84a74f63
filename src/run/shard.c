#include "run/shard.h"

#include "run/item_list.h"

uint32_t gi_shard_of_name(const char *name, uint32_t count) {
    uint64_t h = 0xcbf29ce484222325u;
    for (; *name; name++) h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    // The low bits of FNV-1a know little of a name's first letters.
    h = (h ^ h >> 33) * 0xff51afd7ed558ccdu;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
    return (uint32_t)((h ^ h >> 33) % count) + 1;
}

static bool is_ours(void *context, const gi_item *item) {
    const gi_shard *shard = context;
    return gi_shard_of_name(gi_item_relative(item), shard->count) == shard->index;
}

void gi_shard_keep(gi_shard shard, gi_item_list *list) {
    if (shard.count > 0) gi_item_list_keep(list, is_ours, &shard);
}
