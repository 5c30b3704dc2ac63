/* SPDX-License-Identifier: Apache-2.0 */
/* reference.inc.h - body of reference.c for one dtype: needs T (stored), ACC (computed), LD, ST,
   ADD, MUL, NEG, DIV (by an int64_t), LESS, IS_NAN, LOWEST and FN; undefines what
   reference_types.inc.h says. ACC is wide enough that sums and products are exact or nearly so, and
   ST rounds once. */

/* c[..,r,j] = sum over l of a[..,r,l] b[..,l,j]; turned: of a[..,l] b[j,l], for c[..,j] */
static void FN(matmul)(const tsr_kernel_call *call, bool turned)
{
    const tsr_shape *sa = &call->in[0].shape, *sb = &call->in[1].shape, *sc = &call->out[0].shape;
    const int64_t m = sc->ndim > 1 ? sc->size[sc->ndim - 2] : 1, n = sc->size[sc->ndim - 1];
    const int64_t k = sa->size[sa->ndim - 1];
    const T *a = call->in[0].data, *b = call->in[1].data;
    const T *bias = tsr__operand_given(call, 2) ? call->in[2].data : NULL;

    for (int64_t i = 0; i < tsr__operand_count(&call->out[0]); i++) {
        int64_t j = i % n, r = i / n % m, batch = i / n / m;
        int64_t p = tsr__broadcast_at(sa->ndim - 2, sa->size, sc->ndim - 2, sc->size, batch);
        int64_t q = tsr__broadcast_at(sb->ndim - 2, sb->size, sc->ndim - 2, sc->size, batch);
        ACC sum = 0;

        for (int64_t l = 0; l < k; l++)
            sum = ADD(sum, MUL(LD(a[(p * m + r) * k + l]),
                               LD(b[turned ? j * k + l : (q * k + l) * n + j])));
        if (bias)
            sum = ADD(sum, LD(bias[j]));
        ((T *)call->out[0].data)[i] = ST(sum);
    }
}

static const bodies FN(entry) = {FN(matmul)};
