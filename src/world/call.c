/* SPDX-License-Identifier: Apache-2.0 */
/* call.c - what every call passes through, whatever the transport: the fault hook and the counters;
   and which errors poison the world. */
#include "world/verdict.h"

/* Bytes of all messages but the own one. */
static int64_t bytes_of(const tsr_call *call, const tsr_msg *msg, int n)
{
    int64_t elements = 0;

    for (int i = 0; i < n; i++)
        for (int k = 0; msg[i].peer != call->group->me && k < msg[i].n_pieces; k++)
            elements += tsr__piece_count(&msg[i].piece[k]);
    return elements * (int64_t)tsr_dtype_size(call->dtype);
}

tsr_status tsr__call_start(const tsr_call *call, tsr_pending **out)
{
    tsr_world *world = call->group->world;
    tsr_ctx *ctx = world->ctx;
    int64_t bytes;
    tsr_status st;

    if (++world->calls == world->fail_call_at) {
        tsr_error err = {0};
        tsr__fail(&err, TSR_ERR_STATE, "fault injected at call %lld: %s", (long long)world->calls,
                  call->what);
        world->ops->poison(world, &err);
        return tsr__fail(&ctx->error, err.code, "%s", err.text);
    }
    TSR_TRY(world->ops->start(call, out));
    call->group->started++;
    ctx->counters.calls++;
    bytes = bytes_of(call, call->recv, call->n_recv);
    ctx->counters.bytes_in += bytes;
    ctx->counters.along[call->group->along] += bytes;
    ctx->counters.bytes_out += bytes_of(call, call->send, call->n_send);
done:
    return st;
}

tsr_status tsr__call_finish_take(tsr_world *world, tsr_pending *pending)
{
    return world->ops->finish_take(pending);
}

tsr_status tsr__call(const tsr_call *call)
{
    tsr_pending *pending;
    tsr_status st;

    TSR_TRY(tsr__call_start(call, &pending));
    TSR_TRY(tsr__call_finish_take(call->group->world, pending));
done:
    return st;
}

/* Memory and files are one rank's own; of a wait that ran out of time or ranks that diverged the
   transport has told all already. Everything else (arguments, shapes, specs, limits, a state of the
   program) is seen by all ranks alike if they run the same program. If they do not, they diverge,
   which the next call finds. */
static bool is_one_sided(tsr_status st)
{
    return st == TSR_ERR_MEMORY || st == TSR_ERR_IO || st == TSR_ERR_FORMAT;
}

tsr_status tsr__poison_if_local(tsr_ctx *ctx, tsr_status st)
{
    tsr_error err = {0};

    if (st == TSR_OK)
        return tsr__verdict_report(ctx);
    if (!is_one_sided(st) || !ctx->world)
        return st;
    /* the context keeps its first error, which may be an older one */
    tsr__fail(&err, st, "%s", ctx->error.code == st ? ctx->error.text : tsr_status_text(st));
    ctx->world->ops->poison(ctx->world, &err);
    return st;
}
