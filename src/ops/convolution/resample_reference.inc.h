/* SPDX-License-Identifier: Apache-2.0 */
/* resample_reference.inc.h - body of resample_reference.c for one dtype: needs T (stored), ACC
   (computed), LD, ST, ADD, MUL, DIV and FN; undefines them. */

/* The sum along dims d and up, for the result at `r`; `x` is the source there. */
static ACC FN(sum_from)(const tsr_resample_geometry *g, int d, const int64_t *r, const T *x)
{
    const int64_t below = d == 0 ? g->dim[1].n * g->dim[2].n : d == 1 ? g->dim[2].n : 1;
    ACC sum = 0;

    if (d == TSR_CONV_DIMS)
        return LD(*x);
    for (int64_t s = 0; s < g->dim[d].n; s++) {
        const tsr_fraction w = resample_weight(g, d, g->dim[d].source + s, g->dim[d].result + r[d]);

        if (w.num != 0) {
            const ACC weight = DIV((ACC)w.num, w.den);

            sum = ADD(sum, MUL(weight, FN(sum_from)(g, d + 1, r, x + s * below)));
        }
    }
    return sum;
}

static void FN(results)(const tsr_resample_geometry *g, const void *source, void *result)
{
    const int64_t m1 = g->dim[1].m, m2 = g->dim[2].m;

    for (int64_t i = 0; i < g->planes * g->m_count; i++) {
        const int64_t at = i % g->m_count, r[] = {at / m2 / m1, at / m2 % m1, at % m2};
        const T *plane = (const T *)source + i / g->m_count * g->n_count;

        ((T *)result)[i] = ST(FN(sum_from)(g, 0, r, plane));
    }
}

static const bodies FN(entry) = {FN(results)};
