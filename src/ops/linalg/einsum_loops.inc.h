/* SPDX-License-Identifier: Apache-2.0 */
/* einsum_loops.inc.h - body of einsum.c for f32 or f64: one row of a strided product, c += a b or
   c += a; needs T and FN; undefines them. */

static T FN(dot_row)(int64_t n, const T *a, int64_t sa, const T *b, int64_t sb)
{
    enum { LANES = 16 };
    T lane[LANES] = {0}, sum = 0;
    int64_t i = 0;

    for (; sa == 1 && sb == 1 && i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sum += a[i * sa] * b[i * sb];
    for (int k = 0; k < LANES; k++)
        sum += lane[k];
    return sum;
}

static T FN(sum_row)(int64_t n, const T *a, int64_t sa)
{
    enum { LANES = 16 };
    T lane[LANES] = {0}, sum = 0;
    int64_t i = 0;

    for (; sa == 1 && i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] += a[i + k];
    for (; i < n; i++)
        sum += a[i * sa];
    for (int k = 0; k < LANES; k++)
        sum += lane[k];
    return sum;
}

/* Elements of one row are s[] apart: those of a, b and c. `add`: to what is in c. */
static void FN(row)(int64_t n, const void *in0, const void *in1, void *out, const int64_t s[3],
                    bool add)
{
    const T *a = in0, *b = in1;
    T *c = out;

    if (s[2] == 0) {
        T sum = b ? FN(dot_row)(n, a, s[0], b, s[1]) : FN(sum_row)(n, a, s[0]);
        *c = add ? *c + sum : sum;
    } else if (!b) {
        for (int64_t i = 0; i < n; i++)
            c[i * s[2]] = add ? c[i * s[2]] + a[i * s[0]] : a[i * s[0]];
    } else if (s[2] == 1 && s[1] == 1 && s[0] <= 1) {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            c[i] = (add ? c[i] : 0) + a[s[0] ? i : 0] * b[i];
    } else {
        for (int64_t i = 0; i < n; i++)
            c[i * s[2]] = (add ? c[i * s[2]] : 0) + a[i * s[0]] * b[i * s[1]];
    }
}

#undef T
#undef FN
