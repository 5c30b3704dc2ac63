/* SPDX-License-Identifier: Apache-2.0 */
/* sim.c - the world without data: one thread stands for all ranks, of any number. Time and bytes
   are counted by those who plan; whoever asks for data here gets an error. */
#include "world/world.h"

static tsr_status sim_start(const tsr_call *call, tsr_pending **out)
{
    tsr_world *world = call->group->world;

    (void)out;
    return tsr__fail(&world->ctx->error, TSR_ERR_NO_DATA,
                     "%s: the sim world holds no data, only specs and costs", call->what);
}

/* Never reached: no call starts. */
static tsr_status sim_finish_take(tsr_pending *pending)
{
    (void)pending;
    return TSR_ERR_NO_DATA;
}

/* There is nobody to tell. */
static void sim_poison(tsr_world *world, const tsr_error *err)
{
    (void)world;
    (void)err;
}

static void sim_close(tsr_world *world)
{
    tsr__free(&world->ctx->heap, world);
}

static const tsr_world_ops sim_ops = {
    .name = "sim",
    .start = sim_start,
    .finish_take = sim_finish_take,
    .poison = sim_poison,
    .close = sim_close,
};

tsr_status tsr__sim_join(tsr_ctx *ctx, int size, tsr_world **out)
{
    tsr_world *world;
    tsr_status st;

    if (size < 1)
        return tsr__fail(&ctx->error, TSR_ERR_ARG, "a sim world needs at least 1 rank, not %d",
                         size);
    TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *world, &world, &ctx->error));
    *world = (tsr_world){.ops = &sim_ops, .kind = TSR_WORLD_SIM, .size = size, .ctx = ctx};
    *out = world;
done:
    return st;
}
