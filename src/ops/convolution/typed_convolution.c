/* SPDX-License-Identifier: Apache-2.0 */
/* typed_convolution.c - convolution of tessera_ops.h: options become attributes, in the order of
   the rows (ops/convolution/conv_call.h); and its gradients together, composed of the single ones.
   */
#include <string.h>

#include "ops/convolution/typed_space.h"
#include "ops/convolution/conv_call.h"
#include "ops/convolution/convolution_ops.h"
#include "base/args.h"
#include "op/schema.h"
#include "ops/op_ids.h"
#include "tessera_ops.h"

/* ---- attributes ---- */

typedef struct conv_attrs {
    tsr_attr value[TSR_CONV_OWN + 1]; /* and one of an op's own */
} conv_attrs;

/* NULL options are the defaults; own (may be NULL) are the numbers of an op's own attribute. */
static tsr_status attrs_of(int op, const tsr_conv_opts *opts, int ndim, const int64_t *own,
                           tsr_error *err, conv_attrs *a)
{
    const tsr_conv_opts usual = tsr_conv_opts_default(), *o = opts ? opts : &usual;
    tsr_status st;

    TSR_TRY(TSR_SIZE_CHECK(tsr__op_by_id(op)->name, o, "tsr_conv_opts_default", err));
    a->value[TSR_CONV_STRIDE] = typed_numbers(o->stride, ndim);
    a->value[TSR_CONV_DILATION] = typed_numbers(o->dilation, ndim);
    a->value[TSR_CONV_OUTPUT_PADDING] = typed_numbers(o->output_padding, ndim);
    a->value[TSR_CONV_PADDING] = typed_padding(o->padding, o->padding_end, ndim);
    a->value[TSR_CONV_GROUPS] = (tsr_attr){.n = 1, .i = {o->groups}};
    a->value[TSR_CONV_TRANSPOSED] = typed_bool(o->transposed);
    a->value[TSR_CONV_OWN] = typed_numbers(own, ndim);
done:
    return st;
}

static tsr_tensor *run(int op, tsr_tensor *const *in, int n, const tsr_conv_opts *opts,
                       const int64_t *own)
{
    conv_attrs a;
    const tsr_status st = attrs_of(op, opts, typed_space(in[0]), own, tsr__typed_error(in, n), &a);

    return st == TSR_OK ? tsr__dispatch_typed(op, in, n, a.value, NULL)
                        : tsr__typed_failed(in, n, st, NULL);
}

/* ---- functions ---- */

tsr_tensor *tsr_conv(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias, const tsr_conv_opts *opts)
{
    return run(TSR_ID_CONV, (tsr_tensor *[]){x, weight, bias}, 3, opts, NULL);
}

tsr_tensor *tsr_conv_grad_input(tsr_tensor *grad, tsr_tensor *weight, const int64_t *input,
                                const tsr_conv_opts *opts)
{
    return run(TSR_ID_CONV_GRAD_INPUT, (tsr_tensor *[]){grad, weight}, 2, opts, input);
}

tsr_tensor *tsr_conv_grad_weight(tsr_tensor *grad, tsr_tensor *x, const int64_t *kernel,
                                 const tsr_conv_opts *opts)
{
    return run(TSR_ID_CONV_GRAD_WEIGHT, (tsr_tensor *[]){grad, x}, 2, opts, kernel);
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
    tsr_schema s = {.op = tsr__op_by_id(TSR_ID_CONV), .n_in = 2, .attrs = *attrs};
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
        return tsr__fail(err, TSR_ERR_ARG, "conv_backward: takes inputs grad, x and weight");
    if (mask->n > 0 && mask->n != 3)
        return tsr__fail(err, TSR_ERR_ARG,
                         "conv_backward: output_mask has %d numbers, must have 3 (x, weight, bias)",
                         mask->n);
    TSR_TRY(check_sizes(grad, x, weight, attrs, err));
    for (int i = 0; i < TSR_CONV_OWN; i++)
        a.value[i] = attrs->value[i];
    if (mask->n < 1 || mask->i[0]) {
        a.value[TSR_CONV_OWN] = typed_sizes(x, ndim);
        out[0] = tsr__dispatch_typed(TSR_ID_CONV_GRAD_INPUT, (tsr_tensor *[]){grad, weight}, 2,
                                     a.value, NULL);
    }
    if (mask->n < 1 || mask->i[1]) {
        a.value[TSR_CONV_OWN] = typed_sizes(weight, ndim);
        out[1] = tsr__dispatch_typed(TSR_ID_CONV_GRAD_WEIGHT, (tsr_tensor *[]){grad, x}, 2, a.value,
                                     NULL);
    }
    if (mask->n < 1 || mask->i[2])
        out[2] = bias_grad(grad);
done:
    return st;
}

tsr_status tsr_conv_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *weight,
                             const tsr_conv_opts *opts, tsr_tensor **grad_x,
                             tsr_tensor **grad_weight, tsr_tensor **grad_bias)
{
    tsr_tensor **const grads[] = {grad_x, grad_weight, grad_bias};
    tsr_tensor *in[] = {grad, x, weight};
    conv_attrs a;
    const tsr_status st =
        attrs_of(TSR_ID_CONV_BACKWARD, opts, typed_space(x), NULL, tsr__typed_error(in, 3), &a);

    return tsr__typed_grads(TSR_ID_CONV_BACKWARD, in, 3, st, a.value, TSR_CONV_OWN, grads, 3);
}
