/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_table.inc.h - makes `static const tsr_kernel_table TABLE`: includes BODY for every dtype
   and instruction set. Needs TABLE; BODY, which ends with the functions of one entry, `static const
   type FN(entry) = {FN(function), ...};`; DTYPES, of the sets in kernel_table.h; AVX2 and AVX512,
   the attributes of the sets that pay, with AVX512_DTYPES if these are fewer; TYPES, if the body is
   not written in the macros of kernel_types.inc.h. Undefines them. The body sees ISA (0, 2 or 512),
   SET (the attribute) and FUSED (has the processor fma). */
#include "base/kernel_table.h"

#ifndef TYPES
#define TYPES "base/kernel_types.inc.h"
#endif
#ifndef AVX512_DTYPES
#define AVX512_DTYPES DTYPES
#endif

#define NAME(name, dtype) name##_##dtype##_plain
#define ISA 0
#define SET
#define FUSED false
#define SOME DTYPES
#include TYPES
#undef NAME
#undef ISA
#undef SET
#undef FUSED
#undef SOME

#if defined TSR__X86 && defined AVX2
#define NAME(name, dtype) name##_##dtype##_avx2
#define ISA 2
#define SET AVX2
#define FUSED true
#define SOME DTYPES
#include TYPES
#undef NAME
#undef ISA
#undef SET
#undef FUSED
#undef SOME
#endif

#if defined TSR__X86_512 && defined AVX512
#define NAME(name, dtype) name##_##dtype##_avx512
#define ISA 512
#define SET AVX512
#define FUSED true
#define SOME AVX512_DTYPES
#include TYPES
#undef NAME
#undef ISA
#undef SET
#undef FUSED
#undef SOME
#endif

static const tsr_kernel_table TABLE = {
    .plain = entries_all_plain,
#if defined TSR__X86 && defined AVX2
    .avx2 = entries_all_avx2,
#endif
#if defined TSR__X86_512 && defined AVX512
    .avx512 = entries_all_avx512,
#endif
};

#undef TABLE
#undef BODY
#undef DTYPES
#undef AVX2
#undef AVX512
#undef AVX512_DTYPES
#undef TYPES
