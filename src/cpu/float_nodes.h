// The upper part of the trees of core/float_tree.h: values that come one after the other, and are reduced by
// neighbours.
#ifndef GI_CPU_FLOAT_NODES_H
#define GI_CPU_FLOAT_NODES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/float_tree.h"

// How many values came, and for each binary digit of that number which is set the value of a group of so many.
typedef struct gi_nodes {
    size_t count;
    bool product; // else the sum
    double group[GI_TREE_LEVELS];
} gi_nodes;

static inline double gi_nodes_op(const gi_nodes *nodes, double a, double b) { return nodes->product ? a * b : a + b; }

static inline gi_nodes gi_nodes_none(bool product) {
    gi_nodes nodes;
    nodes.count = 0;
    nodes.product = product;
    return nodes;
}

static inline void gi_nodes_add(gi_nodes *nodes, double value) {
    int level = 0;
    for (; nodes->count >> level & 1; level++) value = gi_nodes_op(nodes, nodes->group[level], value);
    nodes->group[level] = value;
    nodes->count++;
}

// The value of the balanced tree, in which what has no neighbour passes on.
static inline double gi_nodes_value(const gi_nodes *nodes) {
    double value = nodes->product ? GI_TREE_PROD_IDENTITY : GI_TREE_SUM_IDENTITY;
    for (int level = 0; level < GI_TREE_LEVELS && nodes->count >> level; level++)
        if (nodes->count >> level & 1) value = gi_nodes_op(nodes, nodes->group[level], value);
    return value;
}

// What stands before the next value of a scan: the groups from the largest on.
static inline double gi_nodes_prefix(const gi_nodes *nodes) {
    double value = nodes->product ? GI_TREE_PROD_IDENTITY : GI_TREE_SUM_IDENTITY;
    for (int level = GI_TREE_LEVELS - 1; level >= 0; level--)
        if (nodes->count >> level & 1) value = gi_nodes_op(nodes, value, nodes->group[level]);
    return value;
}

#endif
