/* SPDX-License-Identifier: Apache-2.0 */
/* reference_reduce.inc.h - body of reference_reduce.c for one dtype; see reference_types.inc.h. */

/* For element i of out, all elements of x that belong to it, in order; of none the least or the
   largest number there is, if one of them was to be chosen. */
static void FN(reduce)(const tsr_kernel_call *call, tsr_fold how, int64_t times, int64_t divisor)
{
    const tsr_operand *in = &call->in[0], *out = &call->out[0];
    const view v = view_of(in, tsr__reduced_dims(call));

    for (int64_t i = 0; i < tsr__operand_count(out); i++) {
        ACC acc = how == TSR_FOLD_PROD;

        for (int64_t k = 0; k < v.n; k++) {
            ACC x = LD(((const T *)in->data)[element_at(&v, i, k)]);

            if (how == TSR_FOLD_SUM)
                acc = ADD(acc, x);
            else if (how == TSR_FOLD_PROD)
                acc = MUL(acc, x);
            else if (k == 0 || (how == TSR_FOLD_MAX ? LESS(acc, x) : LESS(x, acc)) || IS_NAN(x))
                acc = x; /* a NaN wins */
        }
        ((T *)out->data)[i] = ST(times == divisor ? acc : DIV(MUL(acc, times), divisor));
        if (v.n == 0 && (how == TSR_FOLD_MAX || how == TSR_FOLD_MIN))
            tsr__reduce_identity(out->dtype, how == TSR_FOLD_MAX ? TSR_MAX : TSR_MIN,
                                 (T *)out->data + i, 1);
    }
}

/* Is any of them, or are all of them, not 0? */
static void FN(truth)(const tsr_kernel_call *call, bool all)
{
    const tsr_operand *in = &call->in[0], *out = &call->out[0];
    const view v = view_of(in, tsr__reduced_dims(call));

    for (int64_t i = 0; i < tsr__operand_count(out); i++) {
        bool found = all;

        for (int64_t k = 0; k < v.n; k++) {
            const bool x = LD(((const T *)in->data)[element_at(&v, i, k)]) != 0;

            found = all ? found && x : found || x;
        }
        ((uint8_t *)out->data)[i] = found;
    }
}

/* Where the largest or smallest of them is, of equal ones the first; the first NaN wins. -1 of
   none. */
static void FN(arg)(const tsr_kernel_call *call, bool min)
{
    const tsr_operand *in = &call->in[0], *out = &call->out[0];
    const view v = view_of(in, tsr__arg_dims(call));

    for (int64_t i = 0; i < tsr__operand_count(out); i++) {
        int64_t best = -1;
        ACC top = 0;

        for (int64_t k = 0; k < v.n; k++) {
            ACC x = LD(((const T *)in->data)[element_at(&v, i, k)]);

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
    const int dim = tsr__operand_dim(in, call->attrs.value[0].i[0]);
    const bool reverse = call->attrs.value[1].i[0];
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

#undef T
#undef LD
#undef ST
#undef LOWEST
#undef FN
