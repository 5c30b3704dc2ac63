/* SPDX-License-Identifier: Apache-2.0 */
/* scope.h - scopes own the tensors made in them. */
#ifndef TSR_TENSOR_SCOPE_H
#define TSR_TENSOR_SCOPE_H

#include "tensor/tensor.h"

struct tsr_scope {
    struct tsr_scope *outer;
    tsr_tensor *first;
};

tsr_status tsr__scope_push(tsr_ctx *ctx);
void tsr__scope_pop(tsr_ctx *ctx);                /* no-op without one */
void tsr__scope_add(tsr_ctx *ctx, tsr_tensor *x); /* takes the caller's reference */
void tsr__scope_remove(tsr_tensor *x);            /* gives it back */

#endif
