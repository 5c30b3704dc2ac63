/* SPDX-License-Identifier: Apache-2.0 */
/* layer_norm.inc.h - body of layer_norm.c for f32 or f64 and one instruction set; see
   kernel_types.inc.h. Sums are of few terms in T, and of these in f64. Distances are x - high -
   low, which together are more exact than T. A weight or bias that is NULL is 1 or 0. */

TSR__INLINE double FN(fold)(const T *lane)
{
    double wide[LANES];

    for (int k = 0; k < LANES; k++)
        wide[k] = (double)lane[k];
    for (int half = LANES / 2; half; half /= 2)
        for (int k = 0; k < half; k++)
            wide[k] += wide[k + half];
    return wide[0];
}

/* The sums of x - center and of its square. */
SET static void FN(spread)(const void *data, int64_t n, double center, double *sum, double *square)
{
    const T *x = data, at = (T)center;

    *sum = *square = 0;
    for (int64_t i = 0; i < n; i += BLOCK) {
        const int64_t end = n - i < BLOCK ? n : i + BLOCK;
        T one[LANES] = {0}, two[LANES] = {0};
        int64_t j = i;

        for (; j + LANES <= end; j += LANES)
            for (int k = 0; k < LANES; k++) {
                const T d = x[j + k] - at;

                one[k] += d;
                two[k] += d * d;
            }
        for (; j < end; j++) {
            const T d = x[j] - at;

            one[0] += d;
            two[0] += d * d;
        }
        *sum += FN(fold)(one);
        *square += FN(fold)(two);
    }
}

/* The sum of x; `ahead` is what will be read next, or NULL. */
SET static double FN(total)(const void *data, int64_t n, const void *ahead)
{
    const T *x = data;
    double sum = 0;

    for (int64_t i = 0; i < n; i += BLOCK) {
        const int64_t end = n - i < BLOCK ? n : i + BLOCK;
        T one[LANES] = {0};
        int64_t j = i;

        for (; j + LANES <= end; j += LANES) {
            for (int k = 0; k < LANES; k++)
                one[k] += x[j + k];
            for (size_t k = 0; ahead && k < LANES * sizeof(T); k += 64)
                __builtin_prefetch((const void *)((uintptr_t)ahead + (uintptr_t)j * sizeof(T) + k));
        }
        for (; j < end; j++)
            one[0] += x[j];
        sum += FN(fold)(one);
    }
    return sum;
}

SET static void FN(apply)(const void *data, int64_t n, double high, double low, double by,
                          const void *weight, const void *bias, void *result)
{
    const T *x = data, *w = weight, *b = bias, h = (T)high, l = (T)low, r = (T)by;
    T *y = result;

    if (w && b) {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            y[i] = (x[i] - h - l) * r * w[i] + b[i];
    } else if (w) {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            y[i] = (x[i] - h - l) * r * w[i];
    } else if (b) {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            y[i] = (x[i] - h - l) * r + b[i];
    } else {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            y[i] = (x[i] - h - l) * r;
    }
}

/* The sums of grad * weight and of that times the distance. */
SET static void FN(grad_sums)(const void *grad, const void *data, int64_t n, double mean,
                              const void *weight, double *sum, double *dot)
{
    const T *g = grad, *x = data, *w = weight, at = (T)mean;

    *sum = *dot = 0;
    for (int64_t i = 0; i < n; i += BLOCK) {
        const int64_t end = n - i < BLOCK ? n : i + BLOCK;
        T one[LANES] = {0}, two[LANES] = {0};
        int64_t j = i;

        for (; w && j + LANES <= end; j += LANES)
            for (int k = 0; k < LANES; k++) {
                const T own = g[j + k] * w[j + k];

                one[k] += own;
                two[k] += own * (x[j + k] - at);
            }
        for (; j + LANES <= end; j += LANES)
            for (int k = 0; k < LANES; k++) {
                one[k] += g[j + k];
                two[k] += g[j + k] * (x[j + k] - at);
            }
        for (; j < end; j++) {
            const T own = w ? g[j] * w[j] : g[j];

            one[0] += own;
            two[0] += own * (x[j] - at);
        }
        *sum += FN(fold)(one);
        *dot += FN(fold)(two);
    }
}

/* grad * weight * by + (x - mean) * x_by + plus */
SET static void FN(grad_apply)(const void *grad, const void *data, int64_t n, double mean,
                               const void *weight, double by, double x_by, double plus,
                               void *result)
{
    const T *g = grad, *x = data, *w = weight;
    const T at = (T)mean, a = (T)by, b = (T)x_by, c = (T)plus;
    T *y = result;

    if (w) {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            y[i] = g[i] * w[i] * a + (x[i] - at) * b + c;
    } else {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            y[i] = g[i] * a + (x[i] - at) * b + c;
    }
}

/* Adds grad * (x - mean) * rstd to those of weight, and grad to those of bias; NULL: not wanted. */
SET static void FN(grad_vectors)(const void *grad, const void *data, int64_t n, double mean,
                                 double rstd, void *weight, void *bias)
{
    const T *g = grad, *x = data, at = (T)mean, by = (T)rstd;
    T *w = weight, *b = bias;

    if (w) {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            w[i] += g[i] * ((x[i] - at) * by);
    }
    if (b) {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            b[i] += g[i];
    }
}

/* wide += narrow, and narrow is 0 again. */
SET static void FN(flush)(void *narrow, int64_t n, double *wide)
{
    T *x = narrow;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        wide[i] += (double)x[i];
        x[i] = 0;
    }
}

static const parts FN(entry) = {FN(spread),     FN(total),        FN(apply), FN(grad_sums),
                                FN(grad_apply), FN(grad_vectors), FN(flush)};
