/* SPDX-License-Identifier: Apache-2.0 */
/* reference_reduce.c - reductions by plain index loops: to be checked by eye. Called when a call
   asks for the reference. */
#include "base/reduce.h"
#include "kernel/reduce_dims.h"
#include "kernel/reduced_view.h"

typedef struct bodies {
    void (*reduce)(const tsr_kernel_call *call, tsr_fold how, int64_t times, int64_t divisor);
    void (*any_all)(const tsr_kernel_call *call, bool all);
} bodies;

#define TABLE reference_kernels
#define BODY "kernel/reference_reduce.inc.h"
#include "kernel/reference_types.inc.h"

void tsr__reference_reduce(const tsr_kernel_call *call, tsr_fold how, int64_t times,
                           int64_t divisor)
{
    const tsr_dtype from = call->in[0].dtype;
    const bodies *b = tsr__kernel_for(&reference_kernels, from, TSR_VARIANT_REFERENCE);

    if (from != call->out[0].dtype)
        b->any_all(call, how == TSR_FOLD_MIN);
    else
        b->reduce(call, how, times, divisor);
}
