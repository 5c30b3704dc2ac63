/* SPDX-License-Identifier: Apache-2.0 */
/* convert.inc.h - body of convert.c for one dtype: needs T, FN, WIDE (int64_t or double: it
   holds every value of T), LD, FROM_F64 and FROM_I64; undefines them. */

static void FN(load)(const void *src, int64_t n, void *wide)
{
    const T *x = src;
    WIDE *w = wide;

    for (int64_t i = 0; i < n; i++)
        w[i] = LD(x[i]);
}

static void FN(from_f64)(const void *wide, int64_t n, void *dst)
{
    const double *w = wide;
    T *y = dst;

    for (int64_t i = 0; i < n; i++)
        y[i] = FROM_F64(w[i]);
}

static void FN(from_i64)(const void *wide, int64_t n, void *dst)
{
    const int64_t *w = wide;
    T *y = dst;

    for (int64_t i = 0; i < n; i++)
        y[i] = FROM_I64(w[i]);
}

#undef T
#undef FN
#undef WIDE
#undef LD
#undef FROM_F64
#undef FROM_I64
