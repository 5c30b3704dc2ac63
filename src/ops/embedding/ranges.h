/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.h - a list that is sharded along some mesh dims, of which every rank needs one range that
   only it knows: all ranks tell theirs, then ranges come from the parts that they meet. For ops
   whose data decides what moves. */
#ifndef TSR_OPS_RANGES_H
#define TSR_OPS_RANGES_H

#include "run/owners.h"

typedef struct tsr_ranges {
    tsr_ctx *ctx;
    tsr_group *group;
    const char *what; /* for messages: "bag_sum" */
    tsr_owners parts;
    int64_t *range; /* [2 n]: that of member i is range[2 i] .. range[2 i + 1] - 1 */
} tsr_ranges;

/* This rank needs begin .. end - 1. Collective over the mesh dims that shard the list. */
tsr_status tsr__ranges_open(tsr_ranges *r, tsr_mesh *mesh, const tsr_spec *list, int64_t begin,
                            int64_t end, const char *what);
/* From the parts of a list, of elements of `width` bytes, to ranges. Collective. */
tsr_status tsr__ranges_fetch(tsr_ranges *r, const void *part, size_t width, void *range);
/* And back; what is in no range stays as it is. Collective. */
tsr_status tsr__ranges_return(tsr_ranges *r, const void *range, size_t width, void *part);
void tsr__ranges_close(tsr_ranges *r);

#endif
