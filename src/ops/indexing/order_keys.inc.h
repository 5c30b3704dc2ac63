/* SPDX-License-Identifier: Apache-2.0 */
/* order_keys.inc.h - body of ordering.c for one dtype, see kernel_types.inc.h: unsigned keys, the
   larger the value the larger. */

/* Of a float, without branches, so that compilers vectorise it: adding 0 makes -0 a 0, and all
   NaN are the largest. Of an integer, the least one is 0. */
#ifdef FLOATING
#define WORD __typeof__(_Generic((ACC)0, float: UINT32_C(0), default: UINT64_C(0)))
#else
#define WORD U
#endif
TSR__INLINE WORD FN(key)(T x)
{
    const WORD top = (WORD)1 << (8 * sizeof(WORD) - 1);
#ifdef FLOATING
    const ACC value = LD(x) + (ACC)0;
    const WORD nan = (WORD)0 - (WORD)(value != value);
    WORD bits;

    memcpy(&bits, &value, sizeof bits);
    return (bits ^ (((WORD)0 - (bits >> (8 * sizeof(WORD) - 1))) | top)) | nan;
#else
    return (WORD)x ^ (TSR__IS_SIGNED(T) ? top : 0);
#endif
}
#undef WORD

static void FN(make)(const void *data, int64_t first, int64_t stride, int64_t n, uint64_t flip,
                     uint64_t *out)
{
    const T *x = (const T *)data + first;

    if (stride == 1) {
        for (int64_t i = 0; i < n; i++)
            out[i] = FN(key)(x[i]) ^ flip;
        return;
    }
    for (int64_t i = 0; i < n; i++)
        out[i] = FN(key)(x[i * stride]) ^ flip;
}

static const keys FN(entry) = {FN(make)};
