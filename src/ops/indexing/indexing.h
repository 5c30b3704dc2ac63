/* SPDX-License-Identifier: Apache-2.0 */
/* indexing.h - elements of a tensor by indices along one dim: read (gather, index_select, take),
   written (scatter) or added to (scatter_add, index_add); and one_hot. A rank may have only some of
   the indices along that dim: what lies elsewhere is read as 0 and not written. An index out of
   range is an error that names it and its place. */
#ifndef TSR_OPS_INDEXING_H
#define TSR_OPS_INDEXING_H

#include "kernel/index_check.h"
#include "kernel/kernel.h"

/* How operands lie to each other. Along the indexed dim, and along all dims if the index has as
   many as x, the *anchor* of a dim is the index; along the others of a list of ids it is the
   values: the output, or what is written. Numbers of all but take and one_hot: masks of dims
   along which x, anchor and values are sharded, and the size of the whole x along the indexed dim.
   Where x is written, the anchor of another dim is cut like it. */
enum {
    TSR_INDEXING_X = 0,
    TSR_INDEXING_ANCHOR = 1,
    TSR_INDEXING_VALUES = 2,
    TSR_INDEXING_SIZE = 3
};

/* Attribute 0 is the dim. Inputs x, index; or x, index, src. */
void tsr__kernel_gather(const tsr_kernel_call *call);
void tsr__kernel_index_select(const tsr_kernel_call *call);
void tsr__kernel_scatter(const tsr_kernel_call *call);
void tsr__kernel_index_add(const tsr_kernel_call *call); /* and scatter_add */
/* Inputs grad, index: what a scatter's src gets, nothing where a later one was written over it. */
void tsr__kernel_scatter_backward(const tsr_kernel_call *call);
size_t tsr__scratch_scatter_backward(const tsr_kernel_call *call);
size_t tsr__scratch_index_add(const tsr_kernel_call *call); /* and scatter_add */

/* Inputs x, index; the numbers are the sizes of the whole x. */
void tsr__kernel_take(const tsr_kernel_call *call);
/* Input ids; number 0 is how many classes there are. */
void tsr__kernel_one_hot(const tsr_kernel_call *call);

/* ---- gather maps: for indexing.c and indexing_add.c ----

   Which element of x an index and an element of values belong to. A line is all elements along
   dim. */

typedef struct tsr_gather_map {
    const tsr_operand *x, *index, *values;
    int dim, ndim;
    bool list;                  /* the index is a list, the same for all lines */
    bool writes;                /* x is written; else values are */
    unsigned sharded[3];        /* masks: x, anchor, values */
    int64_t size;               /* of the whole x along dim */
    int64_t count[TSR_MAX_DIM]; /* along every dim, what is gone through: the anchor's */
    /* if lines are alike: an element is [outer, along dim, inner] in all operands */
    bool alike;
    int64_t outer, inner;
} tsr_gather_map;

void tsr__gather_map_make(const tsr_kernel_call *call, const tsr_operand *x,
                          const tsr_operand *index, const tsr_operand *values, bool writes,
                          tsr_gather_map *out);
int64_t tsr__gather_map_count(const tsr_gather_map *map);
/* The i-th pair: elements of x and values; *x is -1 where this rank does not have it. False:
   there is none. */
bool tsr__gather_map_at(const tsr_gather_map *map, int64_t i, int64_t *x, int64_t *values);

static inline int64_t tsr__index_at(const tsr_operand *index, int64_t i)
{
    return index->dtype == TSR_I32 ? ((const int32_t *)index->data)[i]
                                   : ((const int64_t *)index->data)[i];
}

/* Of an index into a dim of this size. */
static inline tsr_index_range tsr__indices_of(int64_t size)
{
    return (tsr_index_range){.noun = "index", .size = size};
}

#endif
