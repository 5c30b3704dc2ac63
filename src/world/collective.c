/* SPDX-License-Identifier: Apache-2.0 */
/* collective.c - the public collectives on plain memory: broadcast, all-gather, reduce-scatter,
   all-reduce, all-to-all, send and recv. All take one path: check the arguments, write the
   messages, start a call on the ranks of the mesh, finish it. Used by programs; the library itself
   makes calls directly. */
#include "world/collective.h"

#include "base/activity.h"

static void request_free(tsr_request *r)
{
    tsr_mesh *mesh;

    if (!r)
        return;
    mesh = r->mesh;
    tsr__group_close(r->own_group);
    tsr__free(&mesh->ctx->heap, r);
    tsr_mesh_unref(mesh);
}

/* A request and all its arrays in one block. */
static tsr_status request_make(tsr_mesh *mesh, const tsr_collective *args, tsr_group *group,
                               tsr_request **out)
{
    tsr_ctx *ctx = mesh->ctx;
    size_t n = (size_t)group->n, pieces = (size_t)tsr__collective_pieces(args, group->n);
    int64_t chunk = tsr__collective_chunk(args, group->n);
    bool copies = args->kind == TSR_COLL_ALL_REDUCE && chunk == 0 && args->send == args->recv &&
                  args->n > 0 && n > 1;
    size_t copy = copies ? (size_t)args->n * tsr_dtype_size(args->dtype) : 0;
    tsr_request *r;
    tsr_status st;

    TSR_TRY(tsr__alloc(&ctx->heap, 1,
                       sizeof *r + 2 * n * sizeof *r->msg + pieces * sizeof *r->piece + copy, &r,
                       &ctx->error));
    r->mesh = tsr_mesh_ref(mesh);
    r->args = *args;
    r->group = group;
    r->chunk = chunk;
    r->msg = (tsr_msg *)(r + 1);
    r->piece = (tsr_piece *)(r->msg + 2 * n);
    r->copy = copies ? r->piece + pieces : NULL;
    *out = r;
done:
    return st;
}

/* Sends from A to B and from B to A are different groups: they do not wait for each other. */
static tsr_status open_pair(tsr_request *r)
{
    const tsr_group *group = r->group;
    bool sends = r->args.kind == TSR_COLL_SEND;
    int me = group->rank[group->me], peer = group->rank[r->args.peer];
    int pair[2] = {sends ? me : peer, sends ? peer : me};

    tsr_status st;

    TSR_TRY(tsr__group_open(group->world, pair, 2, &r->own_group));
    r->own_group->along = group->along;
done:
    return st;
}

/* The second phase begins when the first is finished: on a lane of its own, as requests that were
   started in the meantime may have taken all places of the group. */
static tsr_status open_lane(tsr_request *r)
{
    const tsr_group *group = r->group;

    tsr_status st;

    TSR_TRY(tsr__group_open_lane(group->world, group->rank, group->n, 1, &r->own_group));
    r->own_group->along = group->along;
done:
    return st;
}

tsr_status tsr_collective_start(tsr_mesh *mesh, const tsr_collective *call, tsr_request **out)
{
    tsr_group *group;
    tsr_request *r = NULL;
    tsr_booking b;
    tsr_ctx *ctx;
    tsr_status st;

    if (!mesh)
        return TSR_ERR_ARG;
    ctx = mesh->ctx;
    if (!call || !out)
        return tsr__fail(&ctx->error, TSR_ERR_ARG, "tsr_collective_start: %s is NULL",
                         call ? "out" : "call");
    b = tsr__activity_begin(ctx);
    TSR_TRY(tsr__mesh_group(mesh, (1u << mesh->shape.ndim) - 1, &group));
    TSR_TRY(tsr__collective_check(call, group, &ctx->error));
    TSR_TRY(request_make(mesh, call, group, &r));
    if (call->kind >= TSR_COLL_SEND)
        TSR_TRY(open_pair(r));
    tsr__collective_build(r);
    TSR_TRY(tsr__call_start(&r->call, &r->pending));
    r->number = group->started;
    *out = r;
    r = NULL;
done:
    tsr__activity_end(ctx, &b, TSR_DO_COLLECTIVE, 1);
    request_free(r);
    return tsr__poison_if_local(ctx, st);
}

tsr_status tsr_request_finish_take(tsr_request *request)
{
    tsr_request *r = request;
    tsr_booking b;
    tsr_ctx *ctx;
    tsr_status st;

    if (!r)
        return TSR_ERR_ARG;
    ctx = r->mesh->ctx;
    b = tsr__activity_begin(ctx);
    TSR_TRY(tsr__call_finish_take(ctx->world, r->pending));
    if (r->chunk) {
        TSR_TRY(open_lane(r));
        tsr__collective_build_second(r);
        TSR_TRY(tsr__call(&r->call));
    }
done:
    tsr__activity_end(ctx, &b, TSR_DO_COLLECTIVE, 0);
    request_free(r);
    return tsr__poison_if_local(ctx, st);
}

static tsr_status run(tsr_mesh *mesh, const tsr_collective *call)
{
    tsr_request *request;
    tsr_status st;

    TSR_TRY(tsr_collective_start(mesh, call, &request));
    TSR_TRY(tsr_request_finish_take(request));
done:
    return st;
}

tsr_status tsr_barrier(tsr_mesh *mesh)
{
    return run(mesh, &(tsr_collective){.kind = TSR_COLL_BARRIER});
}

tsr_status tsr_broadcast(tsr_mesh *mesh, tsr_dtype dtype, void *data, int64_t n, int root)
{
    return run(mesh,
               &(tsr_collective){
                   .kind = TSR_COLL_BROADCAST, .dtype = dtype, .recv = data, .n = n, .peer = root});
}

tsr_status tsr_all_gather(tsr_mesh *mesh, tsr_dtype dtype, const void *send, int64_t n, void *recv)
{
    return run(
        mesh, &(tsr_collective){
                  .kind = TSR_COLL_ALL_GATHER, .dtype = dtype, .send = send, .recv = recv, .n = n});
}

tsr_status tsr_reduce_scatter(tsr_mesh *mesh, tsr_dtype dtype, tsr_reduce op, const void *send,
                              int64_t n, void *recv)
{
    return run(mesh, &(tsr_collective){.kind = TSR_COLL_REDUCE_SCATTER,
                                       .dtype = dtype,
                                       .op = op,
                                       .send = send,
                                       .recv = recv,
                                       .n = n});
}

tsr_status tsr_all_reduce(tsr_mesh *mesh, tsr_dtype dtype, tsr_reduce op, const void *send,
                          int64_t n, void *recv)
{
    return run(mesh, &(tsr_collective){.kind = TSR_COLL_ALL_REDUCE,
                                       .dtype = dtype,
                                       .op = op,
                                       .send = send,
                                       .recv = recv,
                                       .n = n});
}

tsr_status tsr_all_to_all(tsr_mesh *mesh, tsr_dtype dtype, const void *send,
                          const int64_t *send_counts, void *recv, const int64_t *recv_counts)
{
    return run(mesh, &(tsr_collective){.kind = TSR_COLL_ALL_TO_ALL,
                                       .dtype = dtype,
                                       .send = send,
                                       .recv = recv,
                                       .send_counts = send_counts,
                                       .recv_counts = recv_counts});
}

tsr_status tsr_send(tsr_mesh *mesh, tsr_dtype dtype, const void *data, int64_t n, int to)
{
    return run(mesh, &(tsr_collective){
                         .kind = TSR_COLL_SEND, .dtype = dtype, .send = data, .n = n, .peer = to});
}

tsr_status tsr_recv(tsr_mesh *mesh, tsr_dtype dtype, void *data, int64_t n, int from)
{
    return run(mesh,
               &(tsr_collective){
                   .kind = TSR_COLL_RECV, .dtype = dtype, .recv = data, .n = n, .peer = from});
}
