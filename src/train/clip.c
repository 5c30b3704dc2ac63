/* SPDX-License-Identifier: Apache-2.0 */
/* clip.c - the norm of all gradients, and scaling them down to it. Every element is counted by one
   rank; partial gradients are redistributed to the placements of the step first. */
#include <math.h>

#include "base/args.h"
#include "kernel/kinds.h"
#include "ops/pointwise/pointwise_attrs.h"
#include "ops/pointwise/pointwise_ops.h"
#include "ops/optimizer/optimizer_step.h"
#include "redist/program.h"
#include "tape/tape.h"
#include "tensor/scope.h"
#include "train/rows_update.h"
#include "tessera_train.h"

/* Where a gradient has nothing pending: where it is, or where the next step wants it. */
static tsr_spec reduced(const tsr_tensor *x)
{
    const tsr_local_spec *wanted = x->leaf->stepped ? x->leaf->stepped : x->local_spec;
    tsr_spec to = x->leaf->grad->local_spec->spec;
    bool pending = false;

    for (int m = 0; m < to.mesh.ndim; m++)
        pending = pending || to.place[m].kind == TSR_PARTIAL;
    for (int m = 0; m < to.mesh.ndim && pending; m++)
        to.place[m] = wanted->spec.place[m];
    return to;
}

static tsr_status check_param(tsr_ctx *ctx, const tsr_tensor *first, const tsr_tensor *x, int i)
{
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    tsr_status st;

    TSR_TRY(tsr__tensor_check(ctx, x, "tsr_clip_grad_norm"));
    TSR_TRY(tsr__tensor_needs_data(x, "tsr_clip_grad_norm"));
    if (!x->leaf)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_STATE,
                          "tsr_clip_grad_norm: parameter %d is not watched, so it has no gradient",
                          i));
    if (!tsr__mesh_equal(&first->mesh->shape, &x->mesh->shape))
        TSR_TRY(
            tsr__fail(&ctx->error, TSR_ERR_MESH,
                      "tsr_clip_grad_norm: parameter %d is on another mesh, %s, than the first, "
                      "%s",
                      i, tsr_mesh_text(&x->mesh->shape, a, sizeof a),
                      tsr_mesh_text(&first->mesh->shape, b, sizeof b)));
done:
    return st;
}

/* Is this the rank that counts what it has in common with others? Along mesh dims where all have
   the same, the first one does. */
static bool counts_here(const tsr_mesh *mesh, const tsr_spec *spec)
{
    for (int m = 0; m < spec->mesh.ndim; m++)
        if (spec->place[m].kind == TSR_REPLICATE && mesh->coord[m] > 0)
            return false;
    return mesh->index >= 0;
}

/* The gradient of x, nothing of it pending; what this rank counts is added. */
static tsr_status add_squares(tsr_tensor *x, double *squares)
{
    tsr_leaf *leaf = x->leaf;
    tsr_status st = TSR_OK;

    if (leaf->by_rows)
        TSR_TRY(tsr__rows_gather(x));
    if (leaf->grad) {
        const tsr_spec to = reduced(x);
        tsr_tensor *g = leaf->grad;

        if (!tsr_spec_equal(&g->local_spec->spec, &to)) {
            TSR_TRY(tsr__redistribute(g, g->mesh, &to, &g));
            TSR_TRY(tsr_grad_set(x, g));
        }
        if (counts_here(x->mesh, &to))
            *squares +=
                tsr__squares(to.dtype, tsr__tensor_data(g), tsr_shape_count(&g->local_spec->local));
    }
    for (int i = 0; i < leaf->n_sparse; i++)
        if (counts_here(x->mesh, &x->local_spec->spec))
            *squares += tsr__squares(leaf->sparse[i].table.dtype, leaf->sparse[i].values,
                                     leaf->sparse[i].n * leaf->sparse[i].columns);
done:
    return st;
}

static void scale_rows(const tsr_row_sparse *t, double by)
{
    tsr_kernel_call call = {.kind = TSR_POINTWISE_AFFINE, .n_in = 1, .n_out = 1};

    call.in[0] = (tsr_operand){.dtype = t->table.dtype,
                               .shape = {.ndim = 1, .size = {t->n * t->columns}},
                               .data = t->values};
    call.out[0] = call.in[0];
    call.attrs.value[TSR_ATTR_AFFINE_MUL].f = by;
    tsr__kernel_pointwise(&call);
}

/* A tensor that is the gradient of something else too must not be scaled twice. */
static tsr_status scale(tsr_tensor *x, double by)
{
    tsr_leaf *leaf = x->leaf;
    tsr_status st = TSR_OK;

    if (leaf->grad && leaf->grad->refs == 1)
        TSR_TRY(tsr__tensor_status(tsr_affine_inplace(leaf->grad, by, 0)));
    else if (leaf->grad)
        TSR_TRY(tsr_grad_set(x, tsr_affine(leaf->grad, by, 0)));
    for (int i = 0; i < leaf->n_sparse; i++)
        scale_rows(&leaf->sparse[i], by);
done:
    return st;
}

tsr_status tsr_clip_grad_norm(tsr_tensor *const *params, int n, double max_norm, double *norm)
{
    tsr_ctx *ctx;
    double squares = 0, factor;
    bool scoped = false;
    tsr_status st;

    if (norm)
        *norm = 0;
    if (n <= 0)
        return TSR_OK;
    TSR_NEED(TSR_ERR_ARG, NULL, params);
    TSR_NEED(TSR_ERR_ARG, NULL, params[0]);
    ctx = params[0]->mesh->ctx;
    ctx->unrecorded++;
    TSR_TRY(tsr__scope_push(ctx));
    scoped = true;
    if (!(max_norm >= 0))
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG,
                          "tsr_clip_grad_norm: max_norm is %g, it must be at least 0", max_norm));
    for (int i = 0; i < n; i++)
        TSR_TRY(check_param(ctx, params[0], params[i], i));
    for (int i = 0; i < n; i++)
        TSR_TRY(add_squares(params[i], &squares));
    if (params[0]->mesh->index >= 0)
        TSR_TRY(tsr_all_reduce(params[0]->mesh, TSR_F64, TSR_SUM, &squares, 1, &squares));
    if (norm)
        *norm = sqrt(squares);
    factor = max_norm / (sqrt(squares) + 1e-6); /* as PyTorch has it */
    for (int i = 0; i < n && factor < 1 && isfinite(squares); i++)
        TSR_TRY(scale(params[i], factor));
done:
    if (scoped)
        tsr__scope_pop(ctx);
    ctx->unrecorded--;
    return tsr__poison_if_local(ctx, st);
}
