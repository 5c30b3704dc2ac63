/* SPDX-License-Identifier: Apache-2.0 */
/* tape.c - writing calls down: which, with what of their tensors, and where the gradients of their
   inputs go. Called by dispatch, by redistribution and by grad/. */
#include "tape/tape.h"

#include <string.h>

#include "base/dtype.h"
#include "tensor/scope.h"

/* ---- tapes ---- */

tsr_status tsr__tape_push(tsr_ctx *ctx)
{
    tsr_tape *tape = NULL;
    tsr_status st;

    TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *tape, &tape, &ctx->error));
    TSR_TRY(tsr__scope_push(ctx));
    tape->outer = ctx->tape;
    tape->scope = ctx->scope;
    tape->scope->taped = true;
    tape->first = ctx->tape_next + 1;
    ctx->tape = tape;
    tape = NULL;
done:
    tsr__free(&ctx->heap, tape);
    return st;
}

static void free_node(tsr_ctx *ctx, tsr_taped *node)
{
    for (int k = 0; k < node->n_in; k++) {
        tsr_unref(node->in[k].x);
        tsr_unref(node->source[k].leaf);
    }
    for (int k = 0; k < node->n_out; k++) {
        tsr_unref(node->out[k].x);
        tsr_unref(node->grad[k]);
    }
    tsr__free(&ctx->heap, node);
}

void tsr__tape_drop(tsr_ctx *ctx, tsr_tape *tape, int i)
{
    if (tape->node[i])
        free_node(ctx, tape->node[i]);
    tape->node[i] = NULL;
}

void tsr__tape_pop(tsr_ctx *ctx)
{
    tsr_tape *tape = ctx->tape;

    for (int i = tape->n - 1; i >= 0; i--)
        tsr__tape_drop(ctx, tape, i);
    ctx->tape = tape->outer;
    tsr__free(&ctx->heap, tape->node);
    tsr__free(&ctx->heap, tape);
}

/* Scopes that the program pushed since and did not pop go too, after an error for example. */
void tsr__tape_close_scope(tsr_ctx *ctx, tsr_tensor *const *x, int n)
{
    struct tsr_scope *last = ctx->tape->scope;
    bool is_last = false;

    ctx->tape->scope = NULL;
    while (last && !is_last) {
        is_last = ctx->scope == last;
        tsr__scope_pop_but(ctx, x, n);
    }
}

tsr_taped *tsr__tape_node(const tsr_tape *tape, uint64_t number)
{
    return number >= tape->first && number < tape->first + (uint64_t)tape->n
               ? tape->node[number - tape->first]
               : NULL;
}

bool tsr__tape_has(const tsr_ctx *ctx, const tsr_tensor *x)
{
    return x->leaf || (ctx->tape && tsr__tape_node(ctx->tape, x->node));
}

/* ---- a call ---- */

/* An input that an outer tape knows cannot be followed from here. */
static tsr_status check_outer(tsr_ctx *ctx, const tsr_record *call)
{
    char text[TSR_TEXT_LEN];

    for (int k = 0; k < call->n_in; k++)
        for (const tsr_tape *t = ctx->tape->outer; t && call->in[k]; t = t->outer)
            if (tsr__tape_node(t, call->in[k]->node))
                return tsr__fail(
                    &ctx->error, TSR_ERR_STATE,
                    "%s uses %s, which depends on watched tensors outside the recomputed "
                    "function: make it one of the function's inputs",
                    call->op ? call->op->name : "tsr_redistribute",
                    tsr_spec_text(&call->in[k]->local_spec->spec, text, sizeof text));
    return TSR_OK;
}

static bool depends(const tsr_ctx *ctx, const tsr_record *call)
{
    for (int k = 0; k < call->n_in; k++)
        if (call->in[k] && tsr__tape_has(ctx, call->in[k]) &&
            tsr__dtype_is_float(call->in[k]->local_spec->spec.dtype))
            return true;
    return false;
}

tsr_status tsr__tape_check_inplace(tsr_ctx *ctx, const tsr_record *call)
{
    const char *name = call->op->name;

    if (!depends(ctx, call))
        return TSR_OK;
    for (int k = 0; k < call->op->inplace; k++) {
        if (call->in[k]->leaf)
            return tsr__fail(&ctx->error, TSR_ERR_STATE,
                             "%s: input %d is watched, so it cannot be overwritten while calls are "
                             "recorded",
                             name, k);
        if (call->saves_in >> k & 1)
            return tsr__fail(
                &ctx->error, TSR_ERR_STATE,
                "%s: its gradient needs input %d, which it overwrites; use the out-of-place op",
                name, k);
    }
    return TSR_OK;
}

/* One block for a node and its lists. */
static tsr_status make_node(tsr_ctx *ctx, const tsr_record *call, tsr_taped **out)
{
    const size_t n_in = (size_t)call->n_in, n_out = (size_t)call->n_out;
    const size_t n_attrs = (size_t)call->n_attrs;
    tsr_taped *node;
    char *at;
    tsr_status st;

    TSR_TRY(tsr__alloc(&ctx->heap, 1,
                       sizeof *node + (n_in + n_out) * sizeof *node->in +
                           n_in * sizeof *node->source + n_out * sizeof *node->grad +
                           n_attrs * sizeof *node->attrs + call->back_bytes,
                       &node, &ctx->error));
    at = (char *)(node + 1);
    node->in = (tsr_saved *)at;
    node->out = node->in + n_in;
    node->source = (tsr_source *)(node->out + n_out);
    node->grad = (tsr_tensor **)(node->source + n_in);
    node->attrs = (tsr_attr *)(node->grad + n_out);
    node->back_data = node->attrs + n_attrs;
    node->kind = call->kind;
    node->n_in = call->n_in;
    node->n_out = call->n_out;
    node->op = call->op;
    node->function = call->function;
    node->arg = call->arg;
    node->back = call->back;
    if (n_attrs)
        memcpy(node->attrs, call->attrs, n_attrs * sizeof *node->attrs);
    if (call->back_bytes)
        memcpy(node->back_data, call->back_data, call->back_bytes);
    *out = node;
done:
    return st;
}

static tsr_status save(tsr_tensor *x, bool whole, tsr_saved *out)
{
    tsr_status st = TSR_OK;

    if (!x)
        return TSR_OK;
    if (whole)
        out->x = tsr_ref(x);
    else
        TSR_TRY(tsr__tensor_shape_only(x, &out->x));
    out->version = x->version;
done:
    return st;
}

static tsr_status fill_node(tsr_ctx *ctx, const tsr_record *call, tsr_taped *node)
{
    tsr_status st = TSR_OK;

    for (int k = 0; k < call->n_in; k++) {
        tsr_tensor *x = call->in[k];
        tsr_source *source = &node->source[k];

        TSR_TRY(save(x, k > 31 || call->saves_in >> k & 1, &node->in[k]));
        if (!x || !tsr__dtype_is_float(x->local_spec->spec.dtype))
            continue;
        if (x->leaf)
            source->leaf = tsr_ref(x);
        else if (tsr__tape_node(ctx->tape, x->node))
            *source = (tsr_source){.node = x->node, .out = x->node_out};
    }
    for (int k = 0; k < call->n_out; k++)
        TSR_TRY(save(call->out[k], k > 31 || call->saves_out >> k & 1, &node->out[k]));
done:
    return st;
}

void tsr__tape_cut(const tsr_ctx *ctx, const tsr_record *call)
{
    const char *no_grad_op = depends(ctx, call) ? call->op->name : NULL;

    for (int k = 0; k < call->n_in && !no_grad_op; k++)
        no_grad_op = call->in[k] ? call->in[k]->no_grad_op : NULL;
    for (int k = 0; k < call->n_out && no_grad_op; k++)
        if (call->out[k])
            call->out[k]->no_grad_op = no_grad_op;
}

tsr_status tsr__tape_record(tsr_ctx *ctx, const tsr_record *call)
{
    tsr_tape *tape = ctx->tape;
    tsr_taped *node = NULL;
    tsr_status st;

    TSR_TRY(check_outer(ctx, call));
    if (tape->recording_off)
        return TSR_OK;
    if (call->kind != TSR_TAPED_FUNCTION && !depends(ctx, call)) { /* it may use watched tensors */
        tsr__tape_cut(ctx, call);
        return TSR_OK;
    }
    TSR_TRY(
        tsr__grow(&ctx->heap, &tape->node, &tape->cap, tape->n, sizeof *tape->node, &ctx->error));
    TSR_TRY(make_node(ctx, call, &node));
    TSR_TRY(fill_node(ctx, call, node));
    for (int k = 0; k < call->n_out; k++)
        if (call->out[k]) {
            call->out[k]->node = tape->first + (uint64_t)tape->n;
            call->out[k]->node_out = k;
        }
    tape->node[tape->n++] = node;
    ctx->tape_next = tape->first + (uint64_t)tape->n;
    node = NULL;
done:
    if (node)
        free_node(ctx, node);
    return st;
}
