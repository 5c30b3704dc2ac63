/* SPDX-License-Identifier: Apache-2.0 */
/* reference.c - kernels that compute, by plain index loops over the output: to be checked by eye.
   Called when a call asks for the reference, and for number types without a fast kernel. */
#include "ops/linalg/reference.h"

#include "kernel/index.h"

#include <math.h>

typedef struct bodies {
    void (*matmul)(const tsr_kernel_call *call, bool turned);
} bodies;

#define TABLE reference_kernels
#define BODY "ops/linalg/reference.inc.h"
#include "kernel/reference_types.inc.h"

static void matmul(const tsr_kernel_call *call, bool turned)
{
    const bodies *b =
        tsr__kernel_for(&reference_kernels, call->out[0].dtype, TSR_VARIANT_REFERENCE);

    b->matmul(call, turned);
}

void tsr__reference_matmul(const tsr_kernel_call *call)
{
    matmul(call, false);
}

void tsr__reference_linear(const tsr_kernel_call *call)
{
    matmul(call, true);
}
