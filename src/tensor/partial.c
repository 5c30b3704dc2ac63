/* SPDX-License-Identifier: Apache-2.0 */
/* partial.c - R -> P. For avg, min and max every rank keeps the value. For sum and prod the first
   one does; the others take what leaves the reduction, from the last mesh dim outwards, unchanged:
   the identity of the innermost partial dim along which they are not the first. */
#include "tensor/partial.h"

#include "base/reduce.h"

static bool has_identity(tsr_reduce op)
{
    return op == TSR_SUM || op == TSR_PROD;
}

void tsr__make_partial(const tsr_layout *layout, unsigned made, const int *coord, void *data,
                       int64_t n)
{
    bool keeps = true;
    int innermost = -1;

    for (int m = 0; m < layout->mesh.ndim; m++) {
        if (!layout->partial[m] || !has_identity(layout->reduce[m]) || coord[m] == 0)
            continue;
        keeps = keeps && !(made >> m & 1);
        innermost = m;
    }
    if (!keeps)
        tsr__reduce_identity(layout->dtype, layout->reduce[innermost], data, n);
}

unsigned tsr__partial_mdims(const tsr_layout *layout)
{
    unsigned mdims = 0;
    for (int m = 0; m < layout->mesh.ndim; m++)
        mdims |= (unsigned)layout->partial[m] << m;
    return mdims;
}
