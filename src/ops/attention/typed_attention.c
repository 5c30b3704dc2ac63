/* SPDX-License-Identifier: Apache-2.0 */
/* typed_attention.c - attention of tessera_ops.h: options become attributes, in the order of the
   rows (ops/attention/attention_op.c). */
#include "base/args.h"
#include "dispatch/dispatch.h"
#include "tessera_ops.h"

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
