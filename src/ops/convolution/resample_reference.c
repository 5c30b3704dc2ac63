/* SPDX-License-Identifier: Apache-2.0 */
/* resample_reference.c - resampling by its definition, for every dtype: each result asks every
   source for its weight. The oracle of the fast ones. */
#include "ops/convolution/resample_geometry.h"

#include <math.h>

typedef struct bodies {
    void (*results)(const tsr_resample_geometry *g, const void *source, void *result);
} bodies;

#define TABLE reference_kernels
#define BODY "ops/convolution/resample_reference.inc.h"
#include "kernel/reference_types.inc.h"

void tsr__resample_reference(const tsr_resample_geometry *g, tsr_dtype dtype, const void *source,
                             void *result)
{
    const bodies *b = tsr__kernel_for(&reference_kernels, dtype, TSR_VARIANT_REFERENCE);

    b->results(g, source, result);
}
