/* SPDX-License-Identifier: Apache-2.0 */
/* typed_pooling.c - pooling of tessera_ops.h: options become attributes, in the order of the rows
   (ops/convolution/pooling_call.h). */
#include "ops/convolution/typed_space.h"
#include "ops/convolution/pooling_call.h"
#include "tessera_ops.h"

typedef struct pool_attrs {
    tsr_attr value[TSR_POOLING_OWN + 2]; /* and those of an op's own */
} pool_attrs;

static pool_attrs attrs_of(const tsr_pool_opts *opts, int ndim)
{
    static const tsr_pool_opts usual = {0};
    const tsr_pool_opts *o = opts ? opts : &usual;
    pool_attrs a;

    a.value[TSR_POOLING_KERNEL] = typed_numbers(o->kernel, ndim, 1);
    a.value[TSR_POOLING_STRIDE] = (tsr_attr){.n = ndim};
    for (int d = 0; d < ndim; d++)
        a.value[TSR_POOLING_STRIDE].i[d] =
            o->stride[d] ? o->stride[d] : a.value[TSR_POOLING_KERNEL].i[d];
    a.value[TSR_POOLING_PADDING] = typed_padding(o->padding, o->padding_end, ndim);
    a.value[TSR_POOLING_DILATION] = typed_numbers(o->dilation, ndim, 1);
    a.value[TSR_POOLING_CEIL] = typed_bool(o->ceil);
    a.value[TSR_POOLING_OWN] = typed_bool(!o->exclude_padding);
    return a;
}

tsr_tensor *tsr_max_pool(tsr_tensor *x, const tsr_pool_opts *opts, tsr_tensor **index)
{
    tsr_tensor *out[TSR_MAX_OUT] = {NULL};
    tsr_tensor *y =
        tsr__dispatch_typed("max_pool", &x, 1, attrs_of(opts, typed_space(x)).value, out);

    if (index)
        *index = out[1];
    return y;
}

tsr_tensor *tsr_avg_pool(tsr_tensor *x, const tsr_pool_opts *opts)
{
    return tsr__dispatch_typed("avg_pool", &x, 1, attrs_of(opts, typed_space(x)).value, NULL);
}

tsr_tensor *tsr_max_pool_backward(tsr_tensor *grad, tsr_tensor *index, const int64_t *input,
                                  const tsr_pool_opts *opts)
{
    const int ndim = typed_space(grad);
    pool_attrs a = attrs_of(opts, ndim);

    a.value[TSR_POOLING_OWN] = typed_numbers(input, ndim, 0);
    return tsr__dispatch_typed("max_pool_backward", (tsr_tensor *[]){grad, index}, 2, a.value,
                               NULL);
}

tsr_tensor *tsr_avg_pool_backward(tsr_tensor *grad, const int64_t *input, const tsr_pool_opts *opts)
{
    const int ndim = typed_space(grad);
    pool_attrs a = attrs_of(opts, ndim);

    a.value[TSR_POOLING_OWN + 1] = typed_numbers(input, ndim, 0);
    return tsr__dispatch_typed("avg_pool_backward", &grad, 1, a.value, NULL);
}
