/* SPDX-License-Identifier: Apache-2.0 */
/* reference_reduce.inc.h - body of reference_reduce.c for one dtype; see reference_types.inc.h. */

/* For element i of out, all elements of x that belong to it, in order; of none the least or the
   largest number there is, if one of them was to be chosen. */
static void FN(reduce)(const tsr_kernel_call *call, tsr_fold how, int64_t times, int64_t divisor)
{
    const tsr_operand *in = &call->in[0], *out = &call->out[0];
    const tsr_reduced_view v = tsr__reduced_view(in, tsr__reduced_dims(call));

    for (int64_t i = 0; i < tsr__operand_count(out); i++) {
        ACC acc = how == TSR_FOLD_PROD;

        for (int64_t k = 0; k < v.n; k++) {
            ACC x = LD(((const T *)in->data)[tsr__reduced_at(&v, i, k)]);

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
static void FN(any_all)(const tsr_kernel_call *call, bool all)
{
    const tsr_operand *in = &call->in[0], *out = &call->out[0];
    const tsr_reduced_view v = tsr__reduced_view(in, tsr__reduced_dims(call));

    for (int64_t i = 0; i < tsr__operand_count(out); i++) {
        bool found = all;

        for (int64_t k = 0; k < v.n; k++) {
            const bool x = LD(((const T *)in->data)[tsr__reduced_at(&v, i, k)]) != 0;

            found = all ? found && x : found || x;
        }
        ((uint8_t *)out->data)[i] = found;
    }
}

static const bodies FN(entry) = {FN(reduce), FN(any_all)};
