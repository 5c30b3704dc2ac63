/* SPDX-License-Identifier: Apache-2.0 */
/* partial.h - making a replicated value partial: which rank keeps it, and which takes an
   identity. */
#ifndef TSR_TENSOR_PARTIAL_H
#define TSR_TENSOR_PARTIAL_H

#include "layout/layout.h"

/* Make the mesh dims in `made` (bit mask), partial in `layout`, so in the n elements of data that
   the rank at `coord` holds: for sum and prod the first rank along a dim keeps the value. */
void tsr__make_partial(const tsr_layout *layout, unsigned made, const int *coord, void *data,
                       int64_t n);
/* The partial dims of a layout, as a mask. */
unsigned tsr__partial_mdims(const tsr_layout *layout);

#endif
