/* SPDX-License-Identifier: Apache-2.0 */
/* typed_join.c - cat and stack of tessera_ops.h, of any number of tensors. */
#include "dispatch/typed_attr.h"
#include "ops/op_ids.h"
#include "tessera_ops.h"

/* Lists that are longer than a row's are joined in groups, and these in turn. */
static tsr_tensor *join(int op, tsr_tensor *const *x, int n, int dim)
{
    tsr_tensor *group[TSR_MAX_IN];
    int each = 1, groups = 0;

    if (n <= TSR_MAX_IN || !x)
        return tsr__dispatch_typed(op, x, n, (const tsr_attr[]){typed_int(dim)}, NULL);
    while (each * TSR_MAX_IN < n)
        each *= TSR_MAX_IN;
    for (int k = 0; k < n; k += each)
        group[groups++] = join(op, x + k, each < n - k ? each : n - k, dim);
    return join(TSR_ID_CAT, group, groups, dim);
}

tsr_tensor *tsr_cat(tsr_tensor *const *x, int n, int dim)
{
    return join(TSR_ID_CAT, x, n, dim);
}

tsr_tensor *tsr_stack(tsr_tensor *const *x, int n, int dim)
{
    return join(TSR_ID_STACK, x, n, dim);
}
