/* SPDX-License-Identifier: Apache-2.0 */
/* conv_reference.c - convolution by its definition, for every dtype: one sum per element of the
   result. The oracle of the fast ones, and what runs over the field. */
#include "ops/convolution/conv_geometry.h"

#include <math.h>

typedef struct bodies {
    void (*find[3])(const tsr_conv_geometry *g, const tsr_conv_operands *on); /* by result */
} bodies;

#define TABLE reference_kernels
#define BODY "ops/convolution/conv_reference.inc.h"
#include "kernel/reference_types.inc.h"

void tsr__conv_reference(const tsr_conv_geometry *g, tsr_dtype dtype, tsr_conv_result what,
                         const tsr_conv_operands *on)
{
    const bodies *b = tsr__kernel_for(&reference_kernels, dtype, TSR_VARIANT_REFERENCE);

    b->find[what](g, on);
}
