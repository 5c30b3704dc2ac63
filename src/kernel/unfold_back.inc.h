/* SPDX-License-Identifier: Apache-2.0 */
/* unfold_back.inc.h - body of unfold_back.c for one dtype: needs T (stored), ACC (computed), LD, ST,
   ADD and FN; undefines them. */

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
    const int64_t run = u->inner * u->size;

    for (int64_t o = 0; o < u->outer; o++)
        for (int64_t i = 0; i < u->n; i++) {
            const int64_t at = u->first + i - u->start;
            const int64_t least = tsr__modulo(at, u->step), most = (at - least) / u->step;
            /* run most - c is at its element least + c step */
            const int64_t begin = most - u->first_run - (u->runs - 1), end = most - u->first_run;
            int64_t c0 = begin > 0 ? begin : 0, c1 = (u->size - least + u->step - 1) / u->step - 1;
            const T *x = (const T *)in + o * u->runs * run;
            T *y = (T *)out + (o * u->n + i) * u->inner;

            c1 = c1 < end ? c1 : end;
            for (int64_t j = 0; j < u->inner; j++) {
                ACC sum = 0;
                for (int64_t c = c0; c <= c1; c++)
                    sum = ADD(sum, LD(x[(end - c) * run + j * u->size + least + c * u->step]));
                y[j] = ST(sum);
            }
        }
}

#undef T
#undef LD
#undef ST
#undef LOWEST
#undef FN
