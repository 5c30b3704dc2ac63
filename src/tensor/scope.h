/* SPDX-License-Identifier: Apache-2.0 */
/* scope.h - scopes own the tensors made in them. */
#ifndef TSR_TENSOR_SCOPE_H
#define TSR_TENSOR_SCOPE_H

#include "tensor/tensor.h"

struct tsr_scope {
    struct tsr_scope *outer;
    tsr_tensor *first;
    bool taped; /* it is a tape's, and goes with that */
    bool limited;
    int64_t budget; /* bytes that redistributions may still bring a rank, if it is limited */
};

tsr_status tsr__scope_push(tsr_ctx *ctx);
void tsr__scope_pop(tsr_ctx *ctx); /* no-op without one */
/* The same, but what is among x (none of it failed; NULL is left out) goes to the outer scope. */
void tsr__scope_pop_but(tsr_ctx *ctx, tsr_tensor *const *x, int n);
void tsr__scope_add(tsr_ctx *ctx, tsr_tensor *x); /* takes the caller's reference */
void tsr__scope_remove(tsr_tensor *x);            /* gives it back */

/* Take the bytes of a redistribution from the budgets of all scopes; an error if one is too small.
   All ranks count the same bytes, those of the rank that gets most. */
tsr_status tsr__scope_spend(tsr_ctx *ctx, int64_t bytes, const tsr_spec *from, const tsr_spec *to);
bool tsr__scope_is_limited(const tsr_ctx *ctx);

#endif
