/* SPDX-License-Identifier: Apache-2.0 */
/* einsum_reference.c - the definition: for every element of the output, the sum over all other axes
   of the product of all operands. The oracle of einsum.c, which calls it. */
#include "ops/linalg/einsum.h"

#include "kernel/index.h"

#include <math.h>

/* The element of a tensor where each axis is at this index; an axis of size 1 broadcasts. */
static int64_t index_of(const tsr_einsum_axes *e, int tensor, const tsr_shape *shape,
                        const int64_t *at)
{
    int64_t i = 0;

    for (int d = 0; d < e->ndim[tensor]; d++)
        i = i * shape->size[d] + (shape->size[d] == 1 ? 0 : at[e->axis[tensor][d]]);
    return i;
}

static bool in_output(const tsr_einsum_axes *e, int axis)
{
    bool in = false;

    for (int d = 0; d < e->ndim[TSR_EINSUM_OUT]; d++)
        in = in || e->axis[TSR_EINSUM_OUT][d] == axis;
    return in;
}

/* The next index of the axes that the output has, or of those that it lacks; false, and all of them
   0, after the last. */
static bool next_index(const tsr_einsum_axes *e, bool output, int64_t *at)
{
    for (int axis = 0; axis < e->n_axes; axis++) {
        if (in_output(e, axis) != output)
            continue;
        if (++at[axis] < e->size[axis])
            return true;
        at[axis] = 0;
    }
    return false;
}

typedef struct bodies {
    void (*sum)(const tsr_einsum_axes *e, const tsr_kernel_call *call);
} bodies;

#define TABLE reference_kernels
#define BODY "ops/linalg/einsum_reference.inc.h"
#include "kernel/reference_types.inc.h"

void tsr__reference_einsum(const tsr_einsum_axes *e, const tsr_kernel_call *call)
{
    const bodies *b =
        tsr__kernel_for(&reference_kernels, call->out[0].dtype, TSR_VARIANT_REFERENCE);

    b->sum(e, call);
}
