/* SPDX-License-Identifier: Apache-2.0 */
/* merge.c - merging numbers of several ranks (Welford statistics, log-sum-exp, sums), see merge.h.
   Called by the kernels that have two steps. */
#include "kernel/merge.h"

#include <math.h>
#include <string.h>

/* Chan's parallel form of Welford's algorithm, statistic by statistic. */
void tsr__welford_combine(int64_t k, double a, double *mean, double *m2, double b,
                          const double *more_mean, const double *more_m2)
{
    const double n = a + b;

    if (b == 0)
        return;
    if (a == 0) {
        memcpy(mean, more_mean, (size_t)k * sizeof *mean);
        memcpy(m2, more_m2, (size_t)k * sizeof *m2);
        return;
    }
    for (int64_t i = 0; i < k; i++) {
        const double delta = more_mean[i] - mean[i];

        mean[i] += delta * (b / n);
        m2[i] += more_m2[i] + delta * delta * (a * (b / n));
    }
}

void tsr__welford_combine_n(const tsr_kernel_call *call, int64_t count, double *numbers,
                            const double *more)
{
    const int64_t k = (count - 1) / 2;

    (void)call;
    tsr__welford_combine(k, numbers[0], numbers + 1, numbers + 1 + k, more[0], more + 1,
                         more + 1 + k);
    numbers[0] += more[0];
}

void tsr__merge_sums(const tsr_kernel_call *call, int64_t count, double *numbers,
                     const double *more)
{
    (void)call;
    for (int64_t i = 0; i < count; i++)
        numbers[i] += more[i];
}

static double below(double top, double max, double sum)
{
    return max > -INFINITY && max < top ? sum * exp(max - top) : sum;
}

void tsr__lse_combine(double *max, double *sum, double more_max, double more_sum)
{
    const double top = more_max > *max ? more_max : *max;

    *sum = below(top, *max, *sum) + below(top, more_max, more_sum);
    *max = top;
}

void tsr__lse_combine_n(const tsr_kernel_call *call, int64_t count, double *numbers,
                        const double *more)
{
    const int64_t rows = count / 2;

    (void)call;
    for (int64_t r = 0; r < rows; r++)
        tsr__lse_combine(&numbers[r], &numbers[rows + r], more[r], more[rows + r]);
}
