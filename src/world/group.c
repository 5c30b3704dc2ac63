/* SPDX-License-Identifier: Apache-2.0 */
/* group.c - groups of ranks that make calls together. What a group is to the transport, its
   channel, is the transport's business. Opened by meshes and by collective.c. */
#include "world/world.h"

tsr_status tsr__group_open_lane(tsr_world *world, const int *ranks, int n, int lane,
                                tsr_group **out)
{
    tsr_ctx *ctx = world->ctx;
    tsr_group *group = NULL;
    tsr_status st;

    if (n < 1)
        return tsr__fail(&ctx->error, TSR_ERR_ARG, "a group needs at least 1 rank, not %d", n);
    TSR_TRY(
        tsr__alloc(&ctx->heap, 1, sizeof *group + (size_t)n * sizeof *ranks, &group, &ctx->error));
    group->world = world;
    group->n = n;
    group->me = -1;
    group->rank = (int *)(group + 1);
    group->lane = lane;
    group->along = TSR_MAX_MESH;
    for (int i = 0; i < n; i++) {
        if (ranks[i] < 0 || ranks[i] >= world->size) {
            st = tsr__fail(&ctx->error, TSR_ERR_ARG,
                           "a group cannot have rank %d: the world has %d ranks", ranks[i],
                           world->size);
            goto done;
        }
        group->rank[i] = ranks[i];
        if (ranks[i] == world->rank)
            group->me = i;
    }
    if (group->me < 0) {
        st = tsr__fail(&ctx->error, TSR_ERR_OUTSIDE, "rank %d is not in the group that it opens",
                       world->rank);
        goto done;
    }
    if (world->ops->group_open)
        TSR_TRY(world->ops->group_open(group));
    *out = group;
    group = NULL;
done:
    tsr__free(&ctx->heap, group);
    return st;
}

tsr_status tsr__group_open(tsr_world *world, const int *ranks, int n, tsr_group **out)
{
    return tsr__group_open_lane(world, ranks, n, 0, out);
}

void tsr__group_close(tsr_group *group)
{
    if (!group)
        return;
    if (group->world->ops->group_close)
        group->world->ops->group_close(group);
    tsr__free(&group->world->ctx->heap, group);
}
