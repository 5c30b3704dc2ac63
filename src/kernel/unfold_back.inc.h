/* SPDX-License-Identifier: Apache-2.0 */
/* unfold_back.inc.h - body of unfold_back.c for one dtype: needs T (stored), ACC (computed), LD,
   ST, ADD and FN; undefines them. */

/* By definition: every run [p, k] is asked whether it meets output i. */
static void FN(naive)(const unfolding *u, const void *in, void *out)
{
    const T *x = in;
    T *y = out;

    for (int64_t o = 0; o < u->outer; o++)
        for (int64_t i = 0; i < u->n; i++)
            for (int64_t j = 0; j < u->inner; j++) {
                ACC sum = 0;
                for (int64_t p = 0; p < u->runs; p++)
                    for (int64_t k = 0; k < u->size; k++)
                        if (u->start + (u->first_run + p) * u->step + k == u->first + i)
                            sum = ADD(sum, LD(x[((o * u->runs + p) * u->inner + j) * u->size + k]));
                y[(o * u->n + i) * u->inner + j] = ST(sum);
            }
}

/* Those that meet output i are k = (i - start) mod step, and every step-th from there on. */
static void FN(fast)(const unfolding *u, const void *in, void *out)
{
    const int64_t run = u->inner * u->size, at = u->first - u->start;
    const int64_t next = run - u->step; /* from a run's element to the one of the run before */

    for (int64_t o = 0; o < u->outer; o++) {
        const T *x = (const T *)in + o * u->runs * run;
        T *y = (T *)out + o * u->n * u->inner;
        int64_t least = tsr__modulo(at, u->step), end = (at - least) / u->step - u->first_run;

        for (int64_t i = 0; i < u->n; i++, y += u->inner) {
            /* run end - c is here with its element least + c step */
            const int64_t c0 = end < u->runs ? 0 : end - u->runs + 1;
            const T *from = x + (end - c0) * run + least + c0 * u->step;
            int64_t n = end + 1 - c0, left = u->size - least - c0 * u->step;

            for (int64_t j = 0; j < u->inner; j++) {
                ACC sum = 0;
                for (int64_t c = 0, k = left; c < n && k > 0; c++, k -= u->step)
                    sum = ADD(sum, LD(from[j * u->size - c * next]));
                y[j] = ST(sum);
            }
            if (++least == u->step) {
                least = 0;
                end++;
            }
        }
    }
}

#undef T
#undef LD
#undef ST
#undef LOWEST
#undef FN
