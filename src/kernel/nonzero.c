/* SPDX-License-Identifier: Apache-2.0 */
/* nonzero.c - see nonzero.h: bits tell, and the sign of a float is none of them, for -0 is 0.
   Called by reduce_dims.c. */
#include "kernel/nonzero.h"

#include "base/cpu.h"

#define SET
#define T uint8_t
#define FN(name) name##_8_plain
#include "kernel/nonzero.inc.h"
#define T uint16_t
#define FN(name) name##_16_plain
#include "kernel/nonzero.inc.h"
#define T uint32_t
#define FN(name) name##_32_plain
#include "kernel/nonzero.inc.h"
#define T uint64_t
#define FN(name) name##_64_plain
#include "kernel/nonzero.inc.h"
#undef SET

#ifdef TSR__X86
#define SET TSR__AVX2
#define T uint8_t
#define FN(name) name##_8_avx2
#include "kernel/nonzero.inc.h"
#define T uint16_t
#define FN(name) name##_16_avx2
#include "kernel/nonzero.inc.h"
#define T uint32_t
#define FN(name) name##_32_avx2
#include "kernel/nonzero.inc.h"
#define T uint64_t
#define FN(name) name##_64_avx2
#include "kernel/nonzero.inc.h"
#undef SET
#endif

void tsr__nonzero(tsr_dtype dtype, tsr_kernel_variant variant, const void *x, int64_t n,
                  uint8_t *out)
{
    static void (*const plain[])(const void *, uint64_t, int64_t, uint8_t *) = {
        nonzero_8_plain, nonzero_16_plain, nonzero_32_plain, nonzero_64_plain};
    const int size = (int)tsr_dtype_size(dtype), at = size == 1 ? 0 : size == 2 ? 1 : size / 4 + 1;
    const uint64_t sign = tsr__dtype_is_float(dtype) ? UINT64_C(1) << (8 * size - 1) : 0;

#ifdef TSR__X86
    static void (*const avx2[])(const void *, uint64_t, int64_t, uint8_t *) = {
        nonzero_8_avx2, nonzero_16_avx2, nonzero_32_avx2, nonzero_64_avx2};

    if (variant >= TSR_VARIANT_AVX2) {
        avx2[at](x, ~sign, n, out);
        return;
    }
#endif
    (void)variant;
    plain[at](x, ~sign, n, out);
}
