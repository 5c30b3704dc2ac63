/* SPDX-License-Identifier: Apache-2.0 */
/* resample_copy.inc.h - body of resample_copy.c for one size of elements. */

TSR__INLINE void FN(repeat)(int64_t times, int64_t n, const T *restrict x, T *restrict y)
{
    for (int64_t i = 0; i < n; i++, y += times) {
        const T value = x[i];

        for (int64_t k = 0; k < times; k++)
            y[k] = value;
    }
}

static void FN(row)(int64_t times, int64_t lead, int64_t whole, int64_t n, const int32_t *index,
                    const void *from, void *to)
{
    const T *x = from, *start = x + (whole ? index[lead] : 0);
    T *y = to;
    int64_t j = lead < n ? lead : n;

    for (int64_t i = 0; i < j; i++)
        y[i] = x[index[0]];
    if (times == 2)
        FN(repeat)(2, whole, start, y + j);
    else if (times == 4)
        FN(repeat)(4, whole, start, y + j);
    else
        FN(repeat)(times, whole, start, y + j);
    for (j += whole * times; j < n; j++)
        y[j] = x[index[j]];
}

static const bodies FN(entry) = {FN(row)};
