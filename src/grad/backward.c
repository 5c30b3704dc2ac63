/* SPDX-License-Identifier: Apache-2.0 */
/* backward.c - autograd: through a tape from its last call to the first, each call's gradient, by
   its row, goes to the calls that made its inputs and to watched tensors. Called by programs, and
   by recompute.c. */
#include "grad/backward.h"

#include "dispatch/dispatch.h"
#include "grad/grad.h"
#include "grad/grad_row.h"
#include "redist/program.h"
#include "tensor/scope.h"
#include "tessera_train.h"

/* ---- gradients add up ---- */

/* *sum += g. The tensor is the caller's, not a scope's. */
static tsr_status add_to(tsr_ctx *ctx, tsr_tensor **sum, tsr_tensor *g)
{
    tsr_tensor *total = tsr__grad_added(*sum, g);
    tsr_status st;

    TSR_TRY(tsr__tensor_check(ctx, total, "tsr_backward"));
    tsr_ref(total);
    tsr_unref(*sum);
    *sum = total;
done:
    return st;
}

/* Where a watched tensor is sharded its gradient need not be held in whole; elsewhere it stays as
   it came: what is partial is reduced once, when it is used. */
static tsr_status fit_to_leaf(const tsr_tensor *leaf, tsr_tensor **g)
{
    const tsr_spec *want = &leaf->local_spec->spec;
    tsr_spec to = (*g)->local_spec->spec;

    for (int m = 0; m < want->mesh.ndim; m++)
        if (want->place[m].kind == TSR_SHARD || want->place[m].kind == TSR_STRIDED)
            to.place[m] = want->place[m];
    return tsr_spec_equal(&to, &(*g)->local_spec->spec) ? TSR_OK
                                                        : tsr__redistribute(*g, leaf->mesh, &to, g);
}

tsr_status tsr__grad_give(tsr_ctx *ctx, const tsr_source *to, tsr_tensor *g)
{
    tsr_taped *node;
    tsr_status st = TSR_OK;

    if (to->leaf) {
        TSR_TRY(fit_to_leaf(to->leaf, &g));
        return add_to(ctx, &to->leaf->leaf->grad, g);
    }
    node = to->node ? tsr__tape_node(ctx->tape, to->node) : NULL;
    return node ? add_to(ctx, &node->grad[to->out], g) : TSR_OK;
done:
    return st;
}

/* ---- one node ---- */

/* The saved tensors are what they were. */
static tsr_status check_saved(tsr_ctx *ctx, const tsr_taped *node)
{
    const char *name = node->op ? node->op->name : "the call";
    char text[TSR_TEXT_LEN];

    for (int k = 0; k < node->n_in + node->n_out; k++) {
        const bool is_in = k < node->n_in;
        const int number = is_in ? k : k - node->n_in;
        const tsr_saved *s = is_in ? &node->in[number] : &node->out[number];

        if (s->x && !s->x->released && s->x->version != s->version)
            return tsr__fail(&ctx->error, TSR_ERR_STATE,
                             "tsr_backward: the gradient of %s needs its %s %d, %s, which was "
                             "overwritten after the call",
                             name, is_in ? "input" : "output", number,
                             tsr_spec_text(&s->x->local_spec->spec, text, sizeof text));
    }
    return TSR_OK;
}

static bool is_wanted(const tsr_source *s)
{
    return s->leaf || s->node;
}

/* Who gives the gradient of this watched table (may be NULL) row-sparse; NULL: nobody. */
static const tsr_family *gives_rows(const tsr_op *op, const tsr_tensor *table)
{
    if (!table || !table->leaf->by_rows)
        return NULL;
    for (const tsr_family *family = tsr__op_families(); family->rows; family++)
        if (family->gives_rows && family->gives_rows(op, table))
            return family;
    return NULL;
}

static tsr_status back_op(tsr_ctx *ctx, tsr_taped *node)
{
    tsr_grad_lists l = {0};
    const tsr_grad_call call = tsr__grad_call_of(node->op, &l);
    const tsr_family *family;
    tsr_op_entry *entry;
    bool some = false;
    tsr_status st;

    TSR_TRY(tsr__op_entry_of(&ctx->heap, &ctx->ops, node->op, &entry, &ctx->error));
    for (int i = 0; i < entry->n_attrs; i++)
        l.attrs.value[i] = node->attrs[i];
    for (int k = 0; k < node->n_in; k++) {
        l.in[k] = node->in[k].x;
        l.wanted[k] = is_wanted(&node->source[k]);
    }
    for (int k = 0; k < node->n_out; k++) {
        l.out[k] = node->out[k].x;
        l.grad_out[k] = node->grad[k];
    }
    family = l.wanted[0] ? gives_rows(node->op, node->source[0].leaf) : NULL;
    if (family) {
        TSR_TRY(family->give_rows(&call, node->source[0].leaf));
        l.wanted[0] = false;
    }
    for (int k = 0; k < node->n_in; k++)
        some = some || l.wanted[k];
    if (!some)
        return TSR_OK;
    TSR_TRY(tsr__grad_row(ctx, &call));
    for (int k = 0; k < node->n_in; k++)
        if (l.grad_in[k] && l.wanted[k])
            TSR_TRY(tsr__grad_give(ctx, &node->source[k], l.grad_in[k]));
done:
    return st;
}

/* The same value elsewhere: its gradient goes back to where the input was, unless that was partial,
   which a gradient need not be. */
static tsr_status back_move(tsr_ctx *ctx, tsr_taped *node)
{
    tsr_tensor *from = node->in[0].x, *g = node->grad[0];
    tsr_spec to = from->local_spec->spec;
    tsr_status st;

    for (int m = 0; m < to.mesh.ndim; m++)
        if (to.place[m].kind == TSR_PARTIAL)
            to.place[m] = (tsr_placement){.kind = TSR_REPLICATE};
    TSR_TRY(tsr__redistribute(g, from->mesh, &to, &g));
    TSR_TRY(tsr__grad_give(ctx, &node->source[0], g));
done:
    return st;
}

static tsr_status back_node(tsr_ctx *ctx, tsr_taped *node)
{
    switch (node->kind) {
    case TSR_TAPED_OP: return back_op(ctx, node);
    case TSR_TAPED_MOVE: return back_move(ctx, node);
    case TSR_TAPED_CALL: return node->back(ctx, node);
    case TSR_TAPED_FUNCTION: return tsr__back_function(ctx, node);
    }
    return TSR_OK;
}

/* ---- all of them ---- */

static bool is_reached(const tsr_taped *node)
{
    for (int k = 0; k < node->n_out; k++)
        if (node->grad[k])
            return true;
    return false;
}

tsr_status tsr__backward(tsr_ctx *ctx)
{
    tsr_tape *tape = ctx->tape;
    tsr_status st = TSR_OK;

    ctx->unrecorded++;
    for (int i = tape->n - 1; i >= 0 && st == TSR_OK; i--) {
        tsr_taped *node = tape->node[i];

        if (is_reached(node)) {
            TSR_TRY(check_saved(ctx, node));
            TSR_TRY(tsr__scope_push(ctx));
            st = back_node(ctx, node);
            tsr__scope_pop(ctx);
        }
        tsr__tape_drop(ctx, tape, i);
    }
done:
    ctx->unrecorded--;
    return st;
}

tsr_status tsr__backward_seed(tsr_ctx *ctx, tsr_tensor *x, tsr_tensor *g)
{
    tsr_spec spec = x->local_spec->spec;
    tsr_taped *node = tsr__tape_node(ctx->tape, x->node);
    const tsr_source to = {.leaf = x->leaf ? x : NULL, .node = x->node, .out = x->node_out};
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    tsr_status st;

    if (!x->leaf && !node && x->no_grad_op)
        return tsr__fail(&ctx->error, TSR_ERR_STATE,
                         "tsr_backward: %s depends on watched tensors through %s only, which has "
                         "no gradient",
                         tsr_spec_text(&spec, a, sizeof a), x->no_grad_op);
    if (!x->leaf && !node)
        return tsr__fail(&ctx->error, TSR_ERR_STATE,
                         "tsr_backward: %s depends on no watched tensor",
                         tsr_spec_text(&spec, a, sizeof a));
    if (g) {
        TSR_TRY(tsr__tensor_check(ctx, g, "tsr_backward"));
        if (g->local_spec->spec.dtype != spec.dtype ||
            !tsr_shape_equal(&g->local_spec->spec.shape, &spec.shape))
            TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_SHAPE,
                              "tsr_backward: gradient %s does not match tensor %s",
                              tsr_spec_text(&g->local_spec->spec, b, sizeof b),
                              tsr_spec_text(&spec, a, sizeof a)));
    } else {
        for (int m = 0; m < spec.mesh.ndim; m++)
            spec.place[m] = (tsr_placement){.kind = TSR_REPLICATE};
        g = tsr_full(x->mesh, tsr_spec_text(&spec, a, sizeof a), 1);
        TSR_TRY(tsr__tensor_check(ctx, g, "tsr_backward"));
    }
    TSR_TRY(tsr__grad_give(ctx, &to, g));
done:
    return st;
}

tsr_status tsr_backward_from(tsr_tensor *const *x, tsr_tensor *const *grads, int n)
{
    tsr_ctx *ctx;
    bool begun = false;
    tsr_status st = TSR_OK;

    if (n < 1 || !x || !x[0])
        return TSR_ERR_ARG;
    ctx = x[0]->mesh->ctx;
    begun = ctx->tape;
    for (int i = 0; i < n; i++)
        TSR_TRY(tsr__tensor_check(ctx, x[i], "tsr_backward"));
    if (!begun)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_STATE,
                          "tsr_backward: no tape is active; call tsr_tape_begin first"));
    ctx->unrecorded++;
    for (int i = 0; i < n && st == TSR_OK; i++)
        st = tsr__backward_seed(ctx, x[i], grads ? grads[i] : NULL);
    ctx->unrecorded--;
    TSR_TRY(st);
    tsr__tape_close_scope(ctx, x, n);
    TSR_TRY(tsr__backward(ctx));
done:
    if (begun) {
        tsr__tape_close_scope(ctx, x, n); /* after an error, too, the given ones stay */
        tsr__tape_pop(ctx);
    }
    return tsr__poison_if_local(ctx, st);
}

tsr_status tsr_backward(tsr_tensor *loss)
{
    char text[TSR_TEXT_LEN];

    if (!loss)
        return TSR_ERR_ARG;
    if (tsr_tensor_ok(loss) && tsr_shape_count(&loss->local_spec->spec.shape) != 1) {
        tsr_ctx *ctx = loss->mesh->ctx;
        tsr_status st = tsr__fail(
            &ctx->error, TSR_ERR_SHAPE,
            "tsr_backward: the loss must be a scalar, not %s; tsr_backward_from takes gradients "
            "of other tensors",
            tsr_spec_text(&loss->local_spec->spec, text, sizeof text));

        tsr_tape_drop(loss->mesh);
        return st;
    }
    return tsr_backward_from(&loss, NULL, 1);
}
