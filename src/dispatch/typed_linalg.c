/* SPDX-License-Identifier: Apache-2.0 */
/* typed_linalg.c - the linear algebra of tessera_ops.h: inputs and attributes, in the order of the
   rows (op/linalg.c, op/einsum_op.c, op/attention_op.c), go to dispatch. */
#include <string.h>

#include "base/args.h"
#include "dispatch/dispatch.h"
#include "tessera_ops.h"

tsr_tensor *tsr_matmul(tsr_tensor *a, tsr_tensor *b, tsr_tensor *bias)
{
    return tsr__dispatch_typed("matmul", (tsr_tensor *[]){a, b, bias}, 3, NULL, NULL);
}

tsr_tensor *tsr_bmm(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("bmm", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_linear(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias)
{
    return tsr__dispatch_typed("linear", (tsr_tensor *[]){x, weight, bias}, 3, NULL, NULL);
}

tsr_tensor *tsr_dot(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("dot", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_outer(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("outer", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_einsum(const char *equation, tsr_tensor *const *in, int n)
{
    const size_t length = equation ? strlen(equation) : 0;
    tsr_attr text = {.n = -1};

    if (length > TSR_ATTR_TEXT)
        return tsr__typed_refuse(in, n, NULL,
                                 "einsum: the equation has %zu characters, at most %d are possible",
                                 length, TSR_ATTR_TEXT);
    if (equation)
        text = tsr__attr_text(equation, length);
    return tsr__dispatch_typed("einsum", in, n, &text, NULL);
}

static const tsr_attention_opts USUAL = {0};

/* causal, scale, group and whether the mask's gradient is wanted */
static void set_attrs(const tsr_attention_opts *o, bool mask_grad, tsr_attr out[4])
{
    out[0] = (tsr_attr){.n = 1, .i = {o->causal}};
    out[1] = o->scale != 0 ? (tsr_attr){.n = 1, .f = o->scale} : (tsr_attr){.n = -1};
    out[2] = o->group != 0 ? (tsr_attr){.n = 1, .i = {o->group}} : (tsr_attr){.n = -1};
    out[3] = (tsr_attr){.n = 1, .i = {mask_grad}};
}

tsr_tensor *tsr_attention(tsr_tensor *q, tsr_tensor *k, tsr_tensor *v, tsr_tensor *mask,
                          const tsr_attention_opts *opts, tsr_tensor **lse)
{
    tsr_tensor *out[TSR_MAX_OUT] = {NULL}, *y;
    tsr_attr attrs[4];

    set_attrs(opts ? opts : &USUAL, false, attrs);
    y = tsr__dispatch_typed("attention", (tsr_tensor *[]){q, k, v, mask}, 4, attrs, out);
    if (lse)
        *lse = out[1];
    return y;
}

tsr_status tsr_attention_backward(tsr_tensor *grad, tsr_tensor *q, tsr_tensor *k, tsr_tensor *v,
                                  tsr_tensor *y, tsr_tensor *lse, tsr_tensor *grad_lse,
                                  tsr_tensor *mask, const tsr_attention_opts *opts,
                                  tsr_tensor *out[3], tsr_tensor **grad_mask)
{
    TSR_NEED(TSR_ERR_ARG, tsr__tensor_error(q ? q : grad), q, out);

    tsr_tensor *in[] = {grad, q, k, v, y, lse, grad_lse, mask}, *given[TSR_MAX_OUT] = {NULL};
    tsr_attr attrs[4];

    set_attrs(opts ? opts : &USUAL, grad_mask != NULL, attrs);
    tsr__dispatch_typed("attention_backward", in, 8, attrs, given);
    for (int i = 0; i < 3; i++)
        out[i] = given[i];
    if (grad_mask)
        *grad_mask = given[3];
    return tsr_mesh_status(q->mesh);
}
