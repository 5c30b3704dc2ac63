/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_ref.c - the reduction by plain loops, element by element: the oracle for reduce.c, which
   must give the same bits. Integers wrap: they add and multiply as unsigned. */
#include "base/fold.h"

typedef struct bodies {
    void (*reduce)(tsr_reduce op, int64_t divisor, int n_src, const void *const *src, int64_t n,
                   void *dst);
} bodies;

#define TABLE reference_kernels
#define BODY "base/reduce.inc.h"
#define DTYPES (TSR__HALVES | TSR__INTEGERS | TSR__BOOLEANS | TSR__PRIME)
#include "base/kernel_table.inc.h"

void tsr__reduce_ref(tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src,
                     const void *const *src, int64_t n, void *dst)
{
    const bodies *b = tsr__kernel_for(&reference_kernels, dtype, TSR_VARIANT_REFERENCE);

    b->reduce(op, divisor, n_src, src, n, dst);
}
