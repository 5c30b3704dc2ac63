/* SPDX-License-Identifier: Apache-2.0 */
/* naive_layout.h - who holds what, by literally cutting arrays of indices: the model that layouts
   are compared with. Shares no code with src/layout but its plain structs. */
#ifndef TSR_TESTS_NAIVE_LAYOUT_H
#define TSR_TESTS_NAIVE_LAYOUT_H

#include "layout/layout.h"

enum { NAIVE_MAX = 4096 }; /* indices along a dim, and elements of a tensor */

/* Part r of p of the n indices, in `factor` pieces, in place; returns how many remain. */
int naive_shard(int64_t *index, int n, int p, int r, int64_t factor);
/* The indices along dim at coord; returns how many. Windows included. */
int naive_indices(const tsr_layout *layout, int dim, const int *coord, int64_t *out);
/* held[e] for every element e in row-major order; returns how many are held. */
int naive_elements(const tsr_layout *layout, const int *coord, bool *held);
/* Elements of the largest part, over all ranks. */
int naive_largest(const tsr_layout *layout);
/* The same elements at the same coordinates, and the same partial dims. */
bool naive_same(const tsr_layout *a, const tsr_layout *b);

#endif
