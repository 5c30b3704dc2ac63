/* SPDX-License-Identifier: Apache-2.0 */
/* einsum_reference.inc.h - body of einsum_reference.c for one dtype, as reference_types.inc.h says;
   undefines what that asks for. */

static void FN(sum)(const tsr_einsum_axes *e, const tsr_kernel_call *call)
{
    int64_t at[TSR_EINSUM_AXES] = {0};

    do { /* output axes count first: their digits come before those that are summed */
        int64_t into = index_of(e, TSR_EINSUM_OUT, &call->out[0].shape, at);
        ACC sum = 0;

        do {
            ACC product = 1;

            for (int k = 0; k < e->n; k++) {
                const T *x = call->in[k].data;
                product = MUL(product, LD(x[index_of(e, k, &call->in[k].shape, at)]));
            }
            sum = ADD(sum, product);
        } while (next_index(e, false, at));
        ((T *)call->out[0].data)[into] = ST(sum);
    } while (next_index(e, true, at));
}

static const bodies FN(entry) = {FN(sum)};
