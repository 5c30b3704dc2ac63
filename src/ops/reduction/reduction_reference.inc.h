/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_reference.inc.h - body of reduction_reference.c for one dtype; see
   reference_types.inc.h. */

/* Where the largest or smallest of them is, of equal ones the first; the first NaN wins. -1 of
   none. */
static void FN(arg)(const tsr_kernel_call *call, bool min)
{
    const tsr_operand *in = &call->in[0], *out = &call->out[0];
    const tsr_reduced_view v = tsr__reduced_view(in, tsr__arg_dims(call));

    for (int64_t i = 0; i < tsr__operand_count(out); i++) {
        int64_t best = -1;
        ACC top = 0;

        for (int64_t k = 0; k < v.n; k++) {
            ACC x = LD(((const T *)in->data)[tsr__reduced_at(&v, i, k)]);

            if (k > 0 && (IS_NAN(top) || !(IS_NAN(x) || (min ? LESS(x, top) : LESS(top, x)))))
                continue;
            best = k;
            top = x;
        }
        ((int64_t *)out->data)[i] = best;
    }
}

/* All elements of its row up to each, or from each on. */
static void FN(scan)(const tsr_kernel_call *call, bool product)
{
    const tsr_operand *in = &call->in[0], *out = &call->out[0];
    const int dim = tsr__operand_dim(in, call->attrs.value[TSR_ATTR_CUMSUM_DIM].i[0]);
    const bool reverse = call->attrs.value[TSR_ATTR_CUMSUM_REVERSE].i[0];
    const int64_t n = in->shape.size[dim];
    const int64_t step = tsr__product(in->shape.ndim - dim - 1, in->shape.size + dim + 1);

    for (int64_t i = 0; i < tsr__operand_count(out); i++) {
        const int64_t place = i / step % n, first = i - place * step;
        ACC acc = product;

        for (int64_t k = reverse ? place : 0; k <= (reverse ? n - 1 : place); k++) {
            ACC x = LD(((const T *)in->data)[first + k * step]);

            acc = product ? MUL(acc, x) : ADD(acc, x);
        }
        ((T *)out->data)[i] = ST(acc);
    }
}

static const bodies FN(entry) = {FN(arg), FN(scan)};
