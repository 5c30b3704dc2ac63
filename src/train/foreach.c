/* SPDX-License-Identifier: Apache-2.0 */
/* foreach.c - one op on each tensor of a list: its name and attributes are read once, and tensors
   of one spec share a plan. Called by optimizers, as a rule with ops in place. */
#include <string.h>

#include "dispatch/dispatch.h"
#include "op/schema.h"
#include "tessera_ext.h"
#include "tessera_ops.h"

static tsr_status read_call(tsr_mesh *mesh, const char *name, int n_in, const char *const *text,
                            int n_attrs, tsr_attrs *attrs, tsr_op_entry **out)
{
    tsr_ctx *ctx = mesh->ctx;
    const tsr_op *op = tsr_op_find(mesh, name);
    tsr_status st;

    if (!op)
        return tsr__fail(&ctx->error, TSR_ERR_ARG, "tsr_foreach: unknown op \"%s\"",
                         name ? name : "");
    TSR_TRY(tsr__op_entry_of(&ctx->heap, &ctx->ops, op, out, &ctx->error));
    if (n_in > ((*out)->list ? TSR_MAX_IN : (*out)->n_in))
        TSR_TRY(tsr__inputs_wrong(op, n_in, &ctx->error));
    *attrs = (*out)->defaults;
    TSR_TRY(tsr__attrs_parse(op, text, n_attrs, attrs, &ctx->error));
done:
    return st;
}

tsr_status tsr_foreach(const char *op, tsr_tensor *const *const *in, int n_in, int n,
                       const char *const *attrs, int n_attrs, tsr_tensor **out)
{
    tsr_tensor *now[TSR_MAX_IN], *y[TSR_MAX_OUT];
    tsr_attrs values;
    tsr_op_call call = {.n_in = n_in, .in = now, .attrs = values.value};
    tsr_ctx *ctx;
    tsr_status st;

    if (n <= 0)
        return TSR_OK;
    if (n_in < 1 || !in || !in[0] || !in[0][0])
        return TSR_ERR_ARG;
    ctx = in[0][0]->mesh->ctx;
    if (!out)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG, "tsr_foreach: out is NULL"));
    TSR_TRY(read_call(in[0][0]->mesh, op, n_in, attrs, n_attrs, &values, &call.entry));
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n_in; k++)
            now[k] = in[k] ? in[k][i] : NULL;
        TSR_TRY(tsr__dispatch(ctx, &call, y));
        out[i] = y[0];
    }
done:
    return tsr__poison_if_local(ctx, st);
}
