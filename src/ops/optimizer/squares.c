/* SPDX-License-Identifier: Apache-2.0 */
/* squares.c - sums of squares, for norms that are put together from parts. Terms are added in f64
   in eight sums side by side, so that a compiler may keep them in vectors. */
#include "base/half.h"
#include "ops/optimizer/optimizer_step.h"

enum { SUMS = 8, BLOCK = 1024 };

static double total(const double sum[SUMS])
{
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

static double squares_f32(const float *x, int64_t n)
{
    double sum[SUMS] = {0};
    int64_t i = 0;

    for (; i + SUMS <= n; i += SUMS)
        for (int k = 0; k < SUMS; k++)
            sum[k] += (double)x[i + k] * (double)x[i + k];
    for (; i < n; i++)
        sum[0] += (double)x[i] * (double)x[i];
    return total(sum);
}

static double squares_f64(const double *x, int64_t n)
{
    double sum[SUMS] = {0};
    int64_t i = 0;

    for (; i + SUMS <= n; i += SUMS)
        for (int k = 0; k < SUMS; k++)
            sum[k] += x[i + k] * x[i + k];
    for (; i < n; i++)
        sum[0] += x[i] * x[i];
    return total(sum);
}

double tsr__squares(tsr_dtype dtype, const void *x, int64_t n)
{
    float wide[BLOCK];
    double sum = 0;

    if (dtype == TSR_F32)
        return squares_f32(x, n);
    if (dtype == TSR_F64)
        return squares_f64(x, n);
    for (int64_t i = 0; i < n; i += BLOCK) {
        const int64_t m = n - i < BLOCK ? n - i : BLOCK;

        tsr__half_widen(dtype, (const uint16_t *)x + i, m, wide);
        sum += squares_f32(wide, m);
    }
    return sum;
}
