/* SPDX-License-Identifier: Apache-2.0 */
/* random_grad.c - the gradient of dropout: the same elements of it are dropped. */
#include "grad/grad.h"
#include "ops/random/random_ops.h"
#include "kernel/seed.h"

tsr_status tsr__grad_dropout(const tsr_grad_call *c)
{
    const tsr_attr *a = c->attrs->value;

    if (c->wanted[0])
        c->grad_in[0] =
            tsr_dropout(c->grad_out[0], a[0].f, tsr__seed_of(&a[1]), tsr__seed_of(&a[2]));
    return TSR_OK;
}
