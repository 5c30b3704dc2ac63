/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.h - which instruction sets this processor has, asked at run time: the binary runs on any
   x86-64, and elsewhere as plain C. Asking is a load from memory. */
#ifndef TSR_BASE_CPU_H
#define TSR_BASE_CPU_H

#include <stdbool.h>

#if defined(__x86_64__) && !defined(TSR__PLAIN) /* -DTSR__PLAIN: as on other processors */
#define TSR__X86 1
#define TSR__AVX2 __attribute__((target("avx2,f16c")))
#define TSR__AVX2_FMA __attribute__((target("avx2,f16c,fma")))
#define TSR__AVX512 __attribute__((target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl")))
#endif

#if defined(TSR__X86) && !defined(TSR__NO_AVX512) /* -DTSR__NO_AVX512: half the compiling */
#define TSR__X86_512 1
#endif

/* Loops whose iterations do not depend on each other even where pointers might be equal. */
#if defined(__clang__)
#define TSR__INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TSR__INDEPENDENT _Pragma("GCC ivdep")
#endif

#define TSR__INLINE static inline __attribute__((always_inline))

/* With fma and f16c; clang cannot ask for f16c, and no processor has avx2 and fma without it. */
static inline bool tsr__cpu_avx2(void)
{
#ifdef TSR__X86
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

static inline bool tsr__cpu_avx512(void)
{
#ifdef TSR__X86_512
    return tsr__cpu_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

#endif
