/* SPDX-License-Identifier: Apache-2.0 */
/* typed_pooling.c - pooling of tessera_ops.h: options become attributes, in the order of the rows
   (ops/convolution/pooling_call.h). */
#include "base/args.h"
#include "ops/convolution/typed_space.h"
#include "ops/convolution/pooling_call.h"
#include "ops/op_ids.h"
#include "tessera_ops.h"

typedef struct pool_attrs {
    tsr_attr value[TSR_POOLING_OWN + 2]; /* and those of an op's own */
} pool_attrs;

/* NULL options are the defaults; `sizes` is attribute number `own` of ops that have it; 0: none. */
static tsr_tensor *run(int op, tsr_tensor *const *in, int n, const tsr_pool_opts *opts,
                       const int64_t *sizes, int own, tsr_tensor **out)
{
    const tsr_pool_opts usual = tsr_pool_opts_default(), *o = opts ? opts : &usual;
    const int ndim = typed_space(in[0]);
    pool_attrs a;
    tsr_status st;

    TSR_TRY(TSR_SIZE_CHECK(tsr__op_by_id(op)->name, o, "tsr_pool_opts_default",
                           tsr__typed_error(in, n)));
    a.value[TSR_POOLING_KERNEL] = typed_numbers(o->kernel, ndim);
    a.value[TSR_POOLING_STRIDE] = typed_numbers(o->has_stride ? o->stride : o->kernel, ndim);
    a.value[TSR_POOLING_PADDING] = typed_padding(o->padding, o->padding_end, ndim);
    a.value[TSR_POOLING_DILATION] = typed_numbers(o->dilation, ndim);
    a.value[TSR_POOLING_CEIL] = typed_bool(o->ceil);
    a.value[TSR_POOLING_OWN] = typed_bool(!o->exclude_padding);
    if (own)
        a.value[own] = typed_numbers(sizes, ndim);
    return tsr__dispatch_typed(op, in, n, a.value, out);
done:
    return tsr__typed_failed(in, n, st, out);
}

tsr_tensor *tsr_max_pool(tsr_tensor *x, const tsr_pool_opts *opts, tsr_tensor **index)
{
    tsr_tensor *out[TSR_MAX_OUT] = {NULL};
    tsr_tensor *y = run(TSR_ID_MAX_POOL, &x, 1, opts, NULL, 0, out);

    if (index)
        *index = out[1];
    return y;
}

tsr_tensor *tsr_avg_pool(tsr_tensor *x, const tsr_pool_opts *opts)
{
    return run(TSR_ID_AVG_POOL, &x, 1, opts, NULL, 0, NULL);
}

tsr_tensor *tsr_max_pool_backward(tsr_tensor *grad, tsr_tensor *index, const int64_t *input,
                                  const tsr_pool_opts *opts)
{
    return run(TSR_ID_MAX_POOL_BACKWARD, (tsr_tensor *[]){grad, index}, 2, opts, input,
               TSR_POOLING_OWN, NULL);
}

tsr_tensor *tsr_avg_pool_backward(tsr_tensor *grad, const int64_t *input, const tsr_pool_opts *opts)
{
    return run(TSR_ID_AVG_POOL_BACKWARD, &grad, 1, opts, input, TSR_POOLING_OWN + 1, NULL);
}
