/* SPDX-License-Identifier: Apache-2.0 */
/* convert.inc.h - body of convert.c for one dtype; see kernel_types.inc.h. */

#ifdef FLOATING
#define HOLDS double
#else
#define HOLDS __typeof__(_Generic((T)0, uint64_t: UINT64_C(0), default: INT64_C(0)))
#endif

static void FN(load)(const void *src, int64_t n, void *wide)
{
    const T *x = src;
    HOLDS *w = wide;

    for (int64_t i = 0; i < n; i++)
        w[i] = (HOLDS)LD(x[i]);
}

TSR__INLINE T FN(of_f64)(double x)
{
#if defined FLOATING
    return ROUND(x);
#elif defined LOGIC
    return x != 0;
#else
    T whole = x != x                 ? 0
              : x <= (double)LOWEST  ? LOWEST
              : x >= (double)HIGHEST ? HIGHEST
                                     : (T)__builtin_rint(x);
    return whole;
#endif
}

TSR__INLINE T FN(of_i64)(int64_t x)
{
#if defined FLOATING
    return sizeof(T) > 2 ? (T)x : ROUND(odd_i64(x));
#elif defined LOGIC
    return x != 0;
#elif defined PRIME
    return field_of(x);
#else
    return x < (int64_t)LOWEST ? LOWEST : x > 0 && (uint64_t)x > (uint64_t)HIGHEST ? HIGHEST : (T)x;
#endif
}

TSR__INLINE T FN(of_u64)(uint64_t x)
{
#if defined FLOATING
    return sizeof(T) > 2 ? (T)x : ROUND(odd_u64(x));
#elif defined LOGIC
    return x != 0;
#elif defined PRIME
    return x % TSR__FIELD_P;
#else
    return x > (uint64_t)HIGHEST ? HIGHEST : (T)x;
#endif
}

static void FN(from_f64)(const double *w, int64_t n, void *dst)
{
    T *y = dst;

    for (int64_t i = 0; i < n; i++)
        y[i] = FN(of_f64)(w[i]);
}

static void FN(from_i64)(const int64_t *w, int64_t n, void *dst)
{
    T *y = dst;

    for (int64_t i = 0; i < n; i++)
        y[i] = FN(of_i64)(w[i]);
}

static void FN(from_u64)(const uint64_t *w, int64_t n, void *dst)
{
    T *y = dst;

    for (int64_t i = 0; i < n; i++)
        y[i] = FN(of_u64)(w[i]);
}

static const parts FN(entry) = {FN(load), FN(from_f64), FN(from_i64), FN(from_u64)};

#undef HOLDS
