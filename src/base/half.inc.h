/* SPDX-License-Identifier: Apache-2.0 */
/* half.inc.h - body of half.c for one instruction set: needs FN and ISA, undefines them. Written
   without branches, so that compilers vectorise it. */

ISA static void FN(widen_bf16)(const tsr_bf16 *src, int64_t n, float *dst)
{
    for (int64_t i = 0; i < n; i++)
        dst[i] = tsr__f32_of((uint32_t)src[i] << 16);
}

ISA static void FN(narrow_bf16)(const float *src, int64_t n, tsr_bf16 *dst)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t u = tsr__bits_f32(src[i]);
        uint32_t rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
        uint32_t quiet = u >> 16 | 0x40;

        dst[i] = (tsr_bf16)((u & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
    }
}

/* Shifted into place the exponent is 112 too small, for subnormals as well: one exact product. */
ISA static void FN(widen_f16)(const tsr_f16 *src, int64_t n, float *dst)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t rest = src[i] & 0x7fffu;
        uint32_t finite = tsr__bits_f32(tsr__f32_of(rest << 13) * 0x1p112f);
        uint32_t special = 0x7f800000 | rest << 13 | (rest > 0x7c00 ? 0x400000u : 0);

        dst[i] = tsr__f32_of((src[i] & 0x8000u) << 16 | (rest < 0x7c00 ? finite : special));
    }
}

/* Normal: the bias changes by 112 and half of the last place is added, less one if even.
   Subnormal: adding 0.5 makes the hardware round at 2^-24, the last place of 0.5f. */
ISA static void FN(narrow_f16)(const float *src, int64_t n, tsr_f16 *dst)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t u = tsr__bits_f32(src[i]);
        uint32_t rest = u & 0x7fffffff;
        uint32_t normal = (rest - (112u << 23) + 0xfff + (rest >> 13 & 1)) >> 13;
        uint32_t tiny = tsr__bits_f32(tsr__f32_of(rest) + 0.5f) - 0x3f000000;
        uint32_t quiet = 0x7e00 | (rest >> 13 & 0x3ff);
        uint32_t h = rest < 0x38800000 ? tiny : normal;

        h = rest >= 0x47800000 ? 0x7c00 : h;
        h = rest > 0x7f800000 ? quiet : h;
        dst[i] = (tsr_f16)(u >> 16 & 0x8000) | (tsr_f16)h;
    }
}

#undef FN
#undef ISA
