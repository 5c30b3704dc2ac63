/* SPDX-License-Identifier: Apache-2.0 */
/* typed_attention.c - attention of tessera_ops.h: options become attributes of the rows
   (ops/attention/attention_op.c). */
#include "base/args.h"
#include "dispatch/dispatch.h"
#include "ops/attention/attention_attrs.h"
#include "ops/op_ids.h"
#include "tessera_ops.h"

enum { ATTRS = TSR_ATTR_ATTENTION_BACKWARD_MASK_GRAD + 1 };

/* The gradient's row has attention's attributes in their places, and one more. */
_Static_assert((int)TSR_ATTR_ATTENTION_CAUSAL == TSR_ATTR_ATTENTION_BACKWARD_CAUSAL &&
                   (int)TSR_ATTR_ATTENTION_SCALE == TSR_ATTR_ATTENTION_BACKWARD_SCALE &&
                   (int)TSR_ATTR_ATTENTION_GROUP == TSR_ATTR_ATTENTION_BACKWARD_GROUP,
               "one order of attributes");

/* mask_grad: whether the mask's gradient is wanted. NULL options are the defaults. */
static tsr_status attrs_of(int op, const tsr_attention_opts *opts, bool mask_grad, tsr_error *err,
                           tsr_attr out[ATTRS])
{
    const tsr_attention_opts usual = tsr_attention_opts_default(), *o = opts ? opts : &usual;
    tsr_status st;

    TSR_TRY(TSR_SIZE_CHECK(tsr__op_by_id(op)->name, o, "tsr_attention_opts_default", err));
    out[TSR_ATTR_ATTENTION_CAUSAL] = (tsr_attr){.n = 1, .i = {o->causal}};
    out[TSR_ATTR_ATTENTION_SCALE] =
        o->has_scale ? (tsr_attr){.n = 1, .f = o->scale} : (tsr_attr){.n = -1};
    out[TSR_ATTR_ATTENTION_GROUP] =
        o->has_group ? (tsr_attr){.n = 1, .i = {o->group}} : (tsr_attr){.n = -1};
    out[TSR_ATTR_ATTENTION_BACKWARD_MASK_GRAD] = (tsr_attr){.n = 1, .i = {mask_grad}};
done:
    return st;
}

tsr_tensor *tsr_attention(tsr_tensor *q, tsr_tensor *k, tsr_tensor *v, tsr_tensor *mask,
                          const tsr_attention_opts *opts, tsr_tensor **lse)
{
    tsr_tensor *in[] = {q, k, v, mask}, *out[TSR_MAX_OUT] = {NULL}, *y;
    tsr_attr attrs[ATTRS];
    const tsr_status st = attrs_of(TSR_ID_ATTENTION, opts, false, tsr__typed_error(in, 4), attrs);

    y = st == TSR_OK ? tsr__dispatch_typed(TSR_ID_ATTENTION, in, 4, attrs, out)
                     : tsr__typed_failed(in, 4, st, out);
    if (lse)
        *lse = out[1];
    return y;
}

tsr_status tsr_attention_backward(tsr_tensor *grad, tsr_tensor *q, tsr_tensor *k, tsr_tensor *v,
                                  tsr_tensor *y, tsr_tensor *lse, tsr_tensor *grad_lse,
                                  tsr_tensor *mask, const tsr_attention_opts *opts,
                                  tsr_tensor **grad_q, tsr_tensor **grad_k, tsr_tensor **grad_v,
                                  tsr_tensor **grad_mask)
{
    tsr_tensor **const grads[] = {grad_q, grad_k, grad_v, grad_mask};
    tsr_tensor *in[] = {grad, q, k, v, y, lse, grad_lse, mask};
    tsr_attr attrs[ATTRS];
    const tsr_status st = attrs_of(TSR_ID_ATTENTION_BACKWARD, opts, grad_mask != NULL,
                                   tsr__typed_error(in, 8), attrs);

    return tsr__typed_grads(TSR_ID_ATTENTION_BACKWARD, in, 8, st, attrs, -1, grads, 4);
}
