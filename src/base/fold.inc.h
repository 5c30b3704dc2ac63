/* SPDX-License-Identifier: Apache-2.0 */
/* fold.inc.h - body of fold.c for one dtype and instruction set; see kernel_types.inc.h. Sources
   may be equal to dst, so every value is read before its place is written. */

TSR__INLINE T FN(combine)(tsr_reduce op, T a, T b)
{
    switch (op) {
    case TSR_MIN: return (LESS(b, a) | UNORDERED(b)) ? b : a;
    case TSR_MAX: return (LESS(a, b) | UNORDERED(b)) ? b : a;
    case TSR_PROD: return (T)MUL(a, b);
    default: return (T)ADD(a, b);
    }
}

TSR__INLINE void FN(fold_n)(tsr_reduce op, int n_src, const void *const *src, int64_t n, void *dst)
{
    const T *a = src[0], *b = src[1];
    const T *c = n_src > 2 ? src[2] : NULL, *d = n_src > 3 ? src[3] : NULL;
    T *y = dst;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        T v = FN(combine)(op, a[i], b[i]);

        if (n_src > 2)
            v = FN(combine)(op, v, c[i]);
        if (n_src > 3)
            v = FN(combine)(op, v, d[i]);
        y[i] = v;
    }
}

/* Any number of sources, in chunks that the compiler can keep close. */
TSR__INLINE void FN(fold_many)(tsr_reduce op, int n_src, const void *const *src, int64_t n,
                               void *dst)
{
    enum { CHUNK = 256 / sizeof(T) };
    T v[CHUNK];

    for (int64_t i = 0; i < n; i += CHUNK) {
        const int m = n - i < CHUNK ? (int)(n - i) : CHUNK;

        memcpy(v, (const T *)src[0] + i, (size_t)m * sizeof(T));
        for (int k = 1; k < n_src; k++) {
            const T *x = (const T *)src[k] + i;

            if (m == CHUNK)
                for (int j = 0; j < CHUNK; j++)
                    v[j] = FN(combine)(op, v[j], x[j]);
            else
                for (int j = 0; j < m; j++)
                    v[j] = FN(combine)(op, v[j], x[j]);
        }
        memcpy((T *)dst + i, v, (size_t)m * sizeof(T));
    }
}

TSR__INLINE void FN(fold_op)(tsr_reduce op, int n_src, const void *const *src, int64_t n, void *dst)
{
    switch (n_src) {
    case 2: FN(fold_n)(op, 2, src, n, dst); break;
    case 3: FN(fold_n)(op, 3, src, n, dst); break;
    case 4: FN(fold_n)(op, 4, src, n, dst); break;
    default: FN(fold_many)(op, n_src, src, n, dst); break;
    }
}

SET static void FN(fold)(tsr_reduce op, int n_src, const void *const *src, int64_t n, void *dst)
{
    switch (op) {
    case TSR_MIN: FN(fold_op)(TSR_MIN, n_src, src, n, dst); break;
    case TSR_MAX: FN(fold_op)(TSR_MAX, n_src, src, n, dst); break;
    case TSR_PROD: FN(fold_op)(TSR_PROD, n_src, src, n, dst); break;
    default: FN(fold_op)(TSR_SUM, n_src, src, n, dst); break;
    }
}

SET static void FN(divide)(int64_t divisor, int64_t n, void *data)
{
    T *y = data;

    for (int64_t i = 0; i < n; i++)
#if defined FLOATING
        y[i] /= (T)divisor;
#elif defined PRIME
        y[i] = tsr__field_mul(y[i], (uint64_t)divisor);
#else
        y[i] = (T)(y[i] / divisor);
#endif
}

static const fold_kernels FN(entry) = {FN(fold), FN(divide)};
