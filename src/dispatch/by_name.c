/* SPDX-License-Identifier: Apache-2.0 */
/* by_name.c - ops by name and attributes by text, for tools, bindings and tests. */
#include <string.h>

#include "dispatch/dispatch.h"
#include "op/schema.h"

const tsr_op *tsr_op_row(int i)
{
    for (const tsr_op *const *family = tsr__op_families(); *family; family++)
        for (const tsr_op *op = *family; op->name; op++)
            if (i-- == 0)
                return op;
    return NULL;
}

int tsr_op_count(void)
{
    int n = 0;

    while (tsr_op_row(n))
        n++;
    return n;
}

const tsr_op *tsr_op_find(const tsr_mesh *mesh, const char *name)
{
    const tsr_op *op = name && mesh ? tsr__op_registered(mesh->ctx->ops, name) : NULL;

    return op || !name ? op : tsr__op_find(name);
}

tsr_tensor *tsr_op_run(tsr_mesh *mesh, const char *name, tsr_tensor *const *in, int n_in,
                       const char *const *attrs, int n_attrs)
{
    tsr_ctx *ctx = mesh->ctx;
    const tsr_op *op = tsr_op_find(mesh, name);
    tsr_tensor *all[TSR_MAX_IN] = {NULL}; /* absent ones at the end need not be given */
    tsr_attrs values;
    int n;
    tsr_status st;

    if (!op)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG, "there is no op \"%s\"", name ? name : ""));
    TSR_TRY(tsr__attrs_default(op, &values, &ctx->error));
    for (int i = 0; i < n_attrs; i++)
        TSR_TRY(tsr__attr_parse(op, attrs[i], strlen(attrs[i]), &values, &ctx->error));
    n = tsr__op_takes_list(op) ? n_in : tsr__op_inputs(op);
    if (n_in < 1 || n_in > n || n_in > TSR_MAX_IN)
        TSR_TRY(tsr__inputs_wrong(op, n_in, &ctx->error));
    if (!in[0])
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG, "%s: its first input is NULL", name));
    memcpy(all, in, (size_t)n_in * sizeof *in);
    return tsr__dispatch_row(ctx, op, all, n, &values);
done:
    return tsr__tensor_or_error(ctx, st, NULL);
}
