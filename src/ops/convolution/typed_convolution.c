/* SPDX-License-Identifier: Apache-2.0 */
/* typed_convolution.c - convolution of tessera_ops.h: options become attributes, in the order of
   the rows (ops/convolution/conv_call.h); and its gradients together, composed of the single ones.
   */
#include <string.h>

#include "base/args.h"
#include "ops/convolution/typed_space.h"
#include "ops/convolution/conv_call.h"
#include "ops/convolution/convolution_ops.h"
#include "op/schema.h"
#include "tessera_ops.h"

/* ---- attributes ---- */

typedef struct conv_attrs {
    tsr_attr value[TSR_CONV_OWN + 1]; /* and one of an op's own */
} conv_attrs;

static conv_attrs attrs_of(const tsr_conv_opts *opts, int ndim)
{
    static const tsr_conv_opts usual = {0};
    const tsr_conv_opts *o = opts ? opts : &usual;
    conv_attrs a;

    a.value[TSR_CONV_STRIDE] = typed_numbers(o->stride, ndim, 1);
    a.value[TSR_CONV_DILATION] = typed_numbers(o->dilation, ndim, 1);
    a.value[TSR_CONV_OUTPUT_PADDING] = typed_numbers(o->output_padding, ndim, 0);
    a.value[TSR_CONV_PADDING] = typed_padding(o->padding, o->padding_end, ndim);
    a.value[TSR_CONV_GROUPS] = (tsr_attr){.n = 1, .i = {o->groups ? o->groups : 1}};
    a.value[TSR_CONV_TRANSPOSED] = typed_bool(o->transposed);
    a.value[TSR_CONV_OWN] = (tsr_attr){.n = -1};
    return a;
}

/* ---- functions ---- */

tsr_tensor *tsr_conv(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias, const tsr_conv_opts *opts)
{
    return tsr__dispatch_typed("conv", (tsr_tensor *[]){x, weight, bias}, 3,
                               attrs_of(opts, typed_space(x)).value, NULL);
}

tsr_tensor *tsr_conv_grad_input(tsr_tensor *grad, tsr_tensor *weight, const int64_t *input,
                                const tsr_conv_opts *opts)
{
    const int ndim = typed_space(grad);
    conv_attrs a = attrs_of(opts, ndim);

    a.value[TSR_CONV_OWN] = typed_numbers(input, ndim, 0);
    return tsr__dispatch_typed("conv_grad_input", (tsr_tensor *[]){grad, weight}, 2, a.value, NULL);
}

tsr_tensor *tsr_conv_grad_weight(tsr_tensor *x, tsr_tensor *grad, const int64_t *kernel,
                                 const tsr_conv_opts *opts)
{
    const int ndim = typed_space(x);
    conv_attrs a = attrs_of(opts, ndim);

    a.value[TSR_CONV_OWN] = typed_numbers(kernel, ndim, 0);
    return tsr__dispatch_typed("conv_grad_weight", (tsr_tensor *[]){x, grad}, 2, a.value, NULL);
}

/* ---- all gradients ---- */

static tsr_tensor *bias_grad(tsr_tensor *grad)
{
    const int dims[] = {0, 2, 3, 4};

    return tsr_sum(grad, dims, 1 + typed_space(grad), false);
}

/* Is it the gradient of what x and weight give? Not every part of the op sees all three. */
static tsr_status check_sizes(const tsr_tensor *grad, const tsr_tensor *x, const tsr_tensor *weight,
                              const tsr_attrs *attrs, tsr_error *err)
{
    const tsr_spec *g = &grad->local_spec->spec;
    tsr_schema s = {.op = tsr__op_find("conv"), .n_in = 2, .attrs = *attrs};
    char text[TSR_TEXT_LEN], shape[TSR_TEXT_LEN];
    tsr_status st;

    s.in[0] = x->local_spec->spec;
    s.in[1] = weight->local_spec->spec;
    TSR_TRY(tsr__schema_check(&s, err));
    if (g->shape.ndim != s.out_shape[0].ndim ||
        memcmp(g->shape.size, s.out_shape[0].size,
               (size_t)g->shape.ndim * sizeof g->shape.size[0]) != 0)
        st = tsr__fail(err, TSR_ERR_SHAPE,
                       "conv_backward: the output has shape %s, its gradient is %s",
                       tsr__shape_text(&s.out_shape[0], shape, sizeof shape),
                       tsr_spec_text(g, text, sizeof text));
done:
    return st;
}

tsr_status tsr__compose_conv_backward(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                                      tsr_tensor **out, tsr_error *err)
{
    tsr_tensor *grad = in[0], *x = in[1], *weight = in[2];
    const tsr_attr *mask = &attrs->value[TSR_CONV_OWN];
    const int ndim = typed_space(x);
    conv_attrs a;
    tsr_status st;

    if (n_in != 3 || !grad || !x || !weight)
        return tsr__fail(err, TSR_ERR_ARG, "conv_backward: it takes grad, x and weight");
    if (mask->n > 0 && mask->n != 3)
        return tsr__fail(err, TSR_ERR_ARG,
                         "conv_backward: output_mask has %d numbers, it takes 3: of x, weight and "
                         "bias",
                         mask->n);
    TSR_TRY(check_sizes(grad, x, weight, attrs, err));
    for (int i = 0; i < TSR_CONV_OWN; i++)
        a.value[i] = attrs->value[i];
    if (mask->n < 1 || mask->i[0]) {
        a.value[TSR_CONV_OWN] = typed_sizes(x, ndim);
        out[0] = tsr__dispatch_typed("conv_grad_input", (tsr_tensor *[]){grad, weight}, 2, a.value,
                                     NULL);
    }
    if (mask->n < 1 || mask->i[1]) {
        a.value[TSR_CONV_OWN] = typed_sizes(weight, ndim);
        out[1] =
            tsr__dispatch_typed("conv_grad_weight", (tsr_tensor *[]){x, grad}, 2, a.value, NULL);
    }
    if (mask->n < 1 || mask->i[2])
        out[2] = bias_grad(grad);
done:
    return st;
}

tsr_status tsr_conv_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *weight,
                             const tsr_conv_opts *opts, const bool wanted[3], tsr_tensor *out[3])
{
    for (int k = 0; k < 3 && out; k++)
        out[k] = NULL;
    TSR_NEED(TSR_ERR_ARG, tsr__tensor_error(x ? x : grad), x, out);

    conv_attrs a = attrs_of(opts, typed_space(x));
    tsr_tensor *all[TSR_MAX_OUT] = {NULL}, *first;

    a.value[TSR_CONV_OWN] = (tsr_attr){.n = 3, .i = {1, 1, 1}};
    for (int k = 0; k < 3 && wanted; k++)
        a.value[TSR_CONV_OWN].i[k] = wanted[k];
    first =
        tsr__dispatch_typed("conv_backward", (tsr_tensor *[]){grad, x, weight}, 3, a.value, all);
    for (int k = 0; k < 3; k++)
        out[k] = first || k ? all[k] : NULL;
    return tsr_mesh_status(x->mesh);
}
