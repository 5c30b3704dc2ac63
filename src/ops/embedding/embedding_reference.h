/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_reference.h - the embedding kernels by their definitions: the oracle for the fast ones.
   The same arguments as in embedding.h; no scratch is needed and the variant does not matter. */
#ifndef TSR_OPS_EMBEDDING_REFERENCE_H
#define TSR_OPS_EMBEDDING_REFERENCE_H

#include "ops/embedding/embedding.h"

void tsr__reference_embedding(const tsr_lookup *call);
void tsr__reference_bag_sum(const tsr_bag_pool *call);
void tsr__reference_bag_mean(const tsr_bag_pool *call);
void tsr__reference_bag_max(const tsr_bag_pool *call);

/* Dense gradients. A lookup is a bag for each id: bags of length 1. `weights` and `counts` as in
   tsr__bag_scatter. */
void tsr__reference_bag_backward(const tsr_bags *bags, const void *weights, const int64_t *counts,
                                 const tsr_table_grad *call);
void tsr__reference_bag_max_backward(const tsr_ids *winners, const tsr_table_grad *call);
void tsr__reference_bag_weights_backward(const tsr_bag_pool *call, const void *grad_out, void *out);

void tsr__reference_embedding_renorm(const tsr_renorm *call, const tsr_ids *ids);

#endif
