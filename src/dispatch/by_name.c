/* SPDX-License-Identifier: Apache-2.0 */
/* by_name.c - ops by name and attributes by text, for tools, bindings and tests. */
#include <string.h>

#include "base/args.h"
#include "dispatch/dispatch.h"
#include "op/schema.h"

const tsr_op *tsr_op_row(int i)
{
    for (const tsr_family *family = tsr__op_families(); family->rows; family++)
        for (const tsr_op *op = family->rows; op->name; op++)
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
    const tsr_op *op = name && mesh ? tsr__op_known(mesh->ctx->ops, name) : NULL;

    return op || !name ? op : tsr__op_find(name);
}

/* A call as dispatch wants it. */
typedef struct named {
    tsr_op_call call;
    tsr_tensor *in[TSR_MAX_IN]; /* absent ones at the end need not be given */
    tsr_attrs attrs;
} named;

static tsr_status make_call(tsr_mesh *mesh, const char *name, tsr_tensor *const *in, int n_in,
                            const char *const *attrs, int n_attrs, named *out)
{
    tsr_ctx *ctx = mesh->ctx;
    const tsr_op *op = tsr_op_find(mesh, name);
    tsr_status st;

    memset(out, 0, sizeof *out);
    if (!op)
        return tsr__fail(&ctx->error, TSR_ERR_ARG, "unknown op \"%s\"", name);
    TSR_TRY(tsr__op_entry_of(&ctx->heap, &ctx->ops, op, &out->call.entry, &ctx->error));
    out->attrs = out->call.entry->defaults;
    TSR_TRY(tsr__attrs_parse(op, attrs, n_attrs, &out->attrs, &ctx->error));
    out->call.n_in = out->call.entry->list ? n_in : out->call.entry->n_in;
    if (n_in < 1 || n_in > out->call.n_in || n_in > TSR_MAX_IN)
        TSR_TRY(tsr__inputs_wrong(op, n_in, &ctx->error));
    if (!in[0])
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG, "%s: its first input is NULL", name));
    memcpy(out->in, in, (size_t)n_in * sizeof *in);
    out->call.in = out->in;
    out->call.attrs = out->attrs.value;
done:
    return st;
}

tsr_tensor *tsr_op_run(tsr_mesh *mesh, const char *name, tsr_tensor *const *in, int n_in,
                       const char *const *attrs, int n_attrs)
{
    TSR_NEED(tsr__error_tensor(mesh), tsr__mesh_error(mesh), mesh, name, in);

    tsr_tensor *out[TSR_MAX_OUT];
    tsr_status st = tsr_op_run_all(mesh, name, in, n_in, attrs, n_attrs, out);

    return st == TSR_OK ? out[0] : tsr__tensor_failed(mesh->ctx, st);
}

tsr_status tsr_op_run_all(tsr_mesh *mesh, const char *name, tsr_tensor *const *in, int n_in,
                          const char *const *attrs, int n_attrs, tsr_tensor **out)
{
    TSR_NEED(TSR_ERR_ARG, tsr__mesh_error(mesh), mesh, name, in, out);

    named n;
    tsr_status st;

    for (int k = 0; k < TSR_MAX_OUT; k++)
        out[k] = NULL;
    TSR_TRY(make_call(mesh, name, in, n_in, attrs, n_attrs, &n));
    TSR_TRY(tsr__dispatch(mesh->ctx, &n.call, out));
done:
    return tsr__poison_if_local(mesh->ctx, st);
}

/* The spec that the first output would have with these placements. */
static tsr_status read_want(tsr_ctx *ctx, const named *n, const char *placements, tsr_spec *out)
{
    const tsr_op *op = n->call.entry->op;
    tsr_schema s = {.op = op, .n_in = n->call.n_in, .attrs = n->attrs};
    tsr_spec like;
    tsr_status st = TSR_OK;

    if (op->inplace || tsr_op_is_composed(op))
        return tsr__fail(&ctx->error, TSR_ERR_ARG,
                         "%s: the placements of its output cannot be chosen", op->name);
    for (int k = 0; k < s.n_in; k++) {
        s.in[k].shape.ndim = -1;
        if (!n->in[k])
            continue;
        TSR_TRY(tsr__tensor_check(ctx, n->in[k], op->name));
        s.in[k] = n->in[k]->local_spec->spec;
    }
    TSR_TRY(tsr__schema_check(&s, &ctx->error));
    like = (tsr_spec){.dtype = s.out_dtype[0], .shape = s.out_shape[0], .mesh = s.in[0].mesh};
    TSR_TRY(tsr_placements_parse(placements, &like, out, &ctx->error));
done:
    return st;
}

tsr_tensor *tsr_op_run_to(tsr_mesh *mesh, const char *name, tsr_tensor *const *in, int n_in,
                          const char *const *attrs, int n_attrs, const char *placements)
{
    TSR_NEED(tsr__error_tensor(mesh), tsr__mesh_error(mesh), mesh, name, in, placements);

    tsr_tensor *out[TSR_MAX_OUT] = {NULL};
    tsr_spec want;
    named n;
    tsr_status st;

    TSR_TRY(make_call(mesh, name, in, n_in, attrs, n_attrs, &n));
    TSR_TRY(read_want(mesh->ctx, &n, placements, &want));
    n.call.want = &want;
    TSR_TRY(tsr__dispatch(mesh->ctx, &n.call, out));
done:
    return tsr__tensor_or_error(mesh->ctx, st, out[0]);
}

tsr_status tsr_op_kernel(const char *name, tsr_tensor *const *in, int n_in,
                         const char *const *attrs, int n_attrs, tsr_tensor *out, int64_t n)
{
    TSR_NEED(TSR_ERR_ARG, tsr__tensor_error(out || !in ? out : in[0]), name, in, out);

    named call;
    tsr_status st;

    TSR_TRY(make_call(out->mesh, name, in, n_in, attrs, n_attrs, &call));
    TSR_TRY(tsr__dispatch_kernel(out->mesh->ctx, &call.call, out, n));
done:
    return st;
}
