/* SPDX-License-Identifier: Apache-2.0 */
/* pooling_reference.c - pooling by its definition, for every dtype: one window per output, and one
   sum per element of a gradient. The oracle of the fast ones. */
#include "ops/convolution/pooling_geometry.h"

#include <math.h>

static int64_t count_of(const tsr_pooling_geometry *p, int64_t o)
{
    const int64_t *y = p->g.y;

    return pooling_count(p, 2, o % y[2]) * pooling_count(p, 1, o / y[2] % y[1]) *
           pooling_count(p, 0, o / y[2] / y[1]);
}

typedef struct bodies {
    void (*max)(const tsr_pooling_geometry *p, const void *in, void *out, int64_t *index);
    void (*average)(const tsr_pooling_geometry *p, const void *in, void *out);
    void (*max_grad)(const tsr_pooling_geometry *p, const void *grad_out, const int64_t *index,
                     void *grad_in);
    void (*average_grad)(const tsr_pooling_geometry *p, const void *grad_out, void *grad_in);
} bodies;

#define TABLE reference_kernels
#define BODY "ops/convolution/pooling_reference.inc.h"
#include "kernel/reference_types.inc.h"

static const bodies *of(tsr_dtype dtype)
{
    return tsr__kernel_for(&reference_kernels, dtype, TSR_VARIANT_REFERENCE);
}

void tsr__pooling_reference_max(const tsr_pooling_geometry *p, tsr_dtype dtype, const void *in,
                                void *out, int64_t *index)
{
    of(dtype)->max(p, in, out, index);
}

void tsr__pooling_reference_average(const tsr_pooling_geometry *p, tsr_dtype dtype, const void *in,
                                    void *out)
{
    of(dtype)->average(p, in, out);
}

void tsr__pooling_reference_max_grad(const tsr_pooling_geometry *p, tsr_dtype dtype,
                                     const void *grad_out, const int64_t *index, void *grad_in)
{
    of(dtype)->max_grad(p, grad_out, index, grad_in);
}

void tsr__pooling_reference_average_grad(const tsr_pooling_geometry *p, tsr_dtype dtype,
                                         const void *grad_out, void *grad_in)
{
    of(dtype)->average_grad(p, grad_out, grad_in);
}
