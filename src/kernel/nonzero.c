/* SPDX-License-Identifier: Apache-2.0 */
/* nonzero.c - see nonzero.h: bits tell, and the sign of a float is none of them, for -0 is 0.
   Called by reduce_dims.c. */
#include "kernel/nonzero.h"

typedef struct bodies {
    void (*nonzero)(const void *x, uint64_t mask, int64_t n, uint8_t *out);
} bodies;

#define TABLE nonzero_kernels
#define BODY "kernel/nonzero.inc.h"
#define TYPES "base/size_types.inc.h"
#define AVX2 TSR__AVX2
#include "base/kernel_table.inc.h"

void tsr__nonzero(tsr_dtype dtype, tsr_kernel_variant variant, const void *x, int64_t n,
                  uint8_t *out)
{
    const bodies *b = tsr__kernel_for(&nonzero_kernels, dtype, variant);
    const size_t sign = 8 * tsr_dtype_size(dtype) - 1;

    b->nonzero(x, tsr__dtype_is_float(dtype) ? ~(UINT64_C(1) << sign) : UINT64_MAX, n, out);
}
