/* SPDX-License-Identifier: Apache-2.0 */
/* soft_rows.c - the loops of soft_rows.h for all types and instruction sets. Called by softmax.c
   and cross_entropy.c of this folder. */
#include "kernel/soft_rows.h"

#include "kernel/exp.h"

#include <math.h>
#include <string.h>

#ifdef __clang__ /* with a sanitizer's checks in them loops are not vectorised, and it says so */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

enum {
    BLOCK = 512, /* terms of a sum between two folds */
    WIDTH = 1024
};

#define T float
#define EXP(x) tsr__exp_f32(false, x)
#define SET
#define FN(name) name##_f32_plain
#include "kernel/soft_rows.inc.h"

#define T double
#define EXP(x) tsr__exp_f64(false, x)
#define SET
#define FN(name) name##_f64_plain
#include "kernel/soft_rows.inc.h"

#ifdef TSR__X86
#define T float
#define EXP(x) tsr__exp_f32(true, x)
#define SET TSR__AVX2_FMA
#define FN(name) name##_f32_avx2
#include "kernel/soft_rows.inc.h"

#define T double
#define EXP(x) tsr__exp_f64(true, x)
#define SET TSR__AVX2_FMA
#define FN(name) name##_f64_avx2
#include "kernel/soft_rows.inc.h"

#define T float
#define EXP(x) tsr__exp_f32(true, x)
#define SET TSR__AVX512
#define FN(name) name##_f32_avx512
#include "kernel/soft_rows.inc.h"

#define T double
#define EXP(x) tsr__exp_f64(true, x)
#define SET TSR__AVX512
#define FN(name) name##_f64_avx512
#include "kernel/soft_rows.inc.h"
#endif

const tsr_soft_parts *tsr__soft_parts(tsr_dtype dtype, tsr_kernel_variant variant)
{
    const bool wide = dtype == TSR_F64;

#ifdef TSR__X86
    if (variant == TSR_VARIANT_AVX512)
        return wide ? &parts_f64_avx512 : &parts_f32_avx512;
    if (variant == TSR_VARIANT_AVX2)
        return wide ? &parts_f64_avx2 : &parts_f32_avx2;
#endif
    (void)variant;
    return wide ? &parts_f64_plain : &parts_f32_plain;
}
