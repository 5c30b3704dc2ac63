/* SPDX-License-Identifier: Apache-2.0 */
/* copy_into.c - assigning a tensor: the values of another one, redistributed into its memory. To a
   tape it is a redistribution whose result is not new. */
#include <string.h>

#include "dispatch/dispatch.h"
#include "redist/program.h"
#include "tape/tape.h"
#include "tensor/scope.h"

static tsr_status check(tsr_ctx *ctx, const tsr_tensor *to, const tsr_tensor *from)
{
    const tsr_spec *a, *b;
    char text[2][TSR_TEXT_LEN];
    tsr_status st;

    TSR_TRY(tsr__tensor_check(ctx, to, "tsr_copy_into"));
    TSR_TRY(tsr__tensor_check(ctx, from, "tsr_copy_into"));
    a = &to->local_spec->spec;
    b = &from->local_spec->spec;
    if (a->dtype != b->dtype || !tsr_shape_equal(&a->shape, &b->shape))
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_SHAPE,
                          "tsr_copy_into: %s cannot be copied into %s: shape and dtype must agree",
                          tsr_spec_text(b, text[0], sizeof text[0]),
                          tsr_spec_text(a, text[1], sizeof text[1])));
    if (to->leaf && tsr__tape_is_on(ctx))
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_STATE,
                          "tsr_copy_into: %s is watched, so it cannot be overwritten while calls "
                          "are recorded",
                          tsr_spec_text(a, text[0], sizeof text[0])));
done:
    return st;
}

/* from's values into the memory of `to`, which is its own. */
static tsr_status copy(tsr_ctx *ctx, tsr_tensor *to, tsr_tensor *from)
{
    const tsr_spec *a = &from->local_spec->spec, *b = &to->local_spec->spec;
    tsr_program *program = NULL;
    tsr_status st = TSR_OK;

    if (!tsr_spec_equal(a, b))
        TSR_TRY(
            tsr__program_get(from->mesh, to->mesh, a, from->local_spec->cached.hash, b, &program));
    if (!program || program->plan->n_steps == 0) {
        if (to->buffer && to->local_spec->bytes > 0)
            memcpy(to->buffer->data, from->buffer->data, to->local_spec->bytes);
        return TSR_OK;
    }
    if (tsr__scope_is_limited(ctx))
        TSR_TRY(tsr__scope_spend(ctx, tsr_redist_info_get(program->plan).bytes, a, b));
    if (ctx->world->kind == TSR_WORLD_SIM)
        tsr__program_count(ctx, program);
    else
        TSR_TRY(tsr__program_run(program, from->mesh, to->mesh, tsr__tensor_data(from),
                                 tsr__tensor_data(to)));
done:
    return st;
}

tsr_status tsr_copy_into(tsr_tensor *to, tsr_tensor *from)
{
    tsr_ctx *ctx = to ? to->mesh->ctx : from ? from->mesh->ctx : NULL;
    tsr_buffer *before = NULL;
    tsr_status st;

    if (!ctx)
        return TSR_ERR_ARG;
    TSR_TRY(check(ctx, to, from));
    if (to == from)
        return TSR_OK;
    TSR_TRY(tsr__strict_check(ctx, "tsr_copy_into", &from->local_spec->spec, &to->local_spec->spec,
                              &ctx->error));
    TSR_TRY(tsr__tensor_own(to, &before)); /* `from` may share it */
    if (to->mesh->index >= 0 || from->mesh->index >= 0 || ctx->world->kind == TSR_WORLD_SIM)
        TSR_TRY(copy(ctx, to, from));
    to->version++;
    to->node = 0; /* what it was before is gone */
    to->no_grad_op = NULL;
    if (tsr__tape_is_on(ctx))
        TSR_TRY(tsr__tape_record(
            ctx,
            &(tsr_record){.kind = TSR_TAPED_MOVE, .n_in = 1, .in = &from, .n_out = 1, .out = &to}));
done:
    tsr__buffer_release(before);
    return tsr__poison_if_local(ctx, st);
}
