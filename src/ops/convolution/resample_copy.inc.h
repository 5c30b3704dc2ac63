/* SPDX-License-Identifier: Apache-2.0 */
/* resample_copy.inc.h - body of resample_copy.c for one size of elements. */

TSR__INLINE void FN(repeat)(int64_t times, int64_t n, const T *restrict x, T *restrict y)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < times; k++)
            y[i * times + k] = x[i];
}

/* `times` of each, if not 0; a row may start and end within those of one element. */
static void FN(row)(int64_t times, int64_t n, const int32_t *index, const void *from, void *to)
{
    const T *x = from;
    T *y = to;
    int64_t j = 0, whole;

    if (times != 0) {
        while (j < n && index[j] == index[0])
            y[j] = x[index[0]], j++;
        whole = (n - j) / times;
        if (times == 2)
            FN(repeat)(2, whole, x + index[0] + 1, y + j);
        else if (times == 4)
            FN(repeat)(4, whole, x + index[0] + 1, y + j);
        else
            FN(repeat)(times, whole, x + index[0] + 1, y + j);
        j += whole * times;
    }
    for (; j < n; j++)
        y[j] = x[index[j]];
}

static const bodies FN(entry) = {FN(row)};
