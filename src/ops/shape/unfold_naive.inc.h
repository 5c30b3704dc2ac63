/* SPDX-License-Identifier: Apache-2.0 */
/* unfold_naive.inc.h - the naive body of unfold_back.c for one dtype, see reference_types.inc.h:
   every run [p, k] is asked whether it meets output i. */

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

static const naive_bodies FN(entry) = {FN(naive)};
