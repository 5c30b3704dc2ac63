/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.c - from two layouts to messages, and running them. Both ends of a message are computed
   by the same function from the same global facts, so they agree without talking. */
#include "exchange/exchange.h"

#include <string.h>

#include "layout/redist_plan.h"

/* The overlaps of one giver and one taker, per tensor dim. */
typedef struct pair {
    bool meets; /* is there anything to give? */
    tsr_overlaps dim[TSR_MAX_DIM];
    tsr_shape give, take; /* local shapes */
} pair;

static void free_pair(tsr_heap *heap, pair *p)
{
    for (int d = 0; d < TSR_MAX_DIM; d++)
        tsr__free(heap, p->dim[d].v);
}

/* Does this member of `from` give to that member of `to`? Replicas and kept partials: only to those
   at the same place as themselves. In a reduction everybody gives to everybody. */
static bool gives(const tsr_exchange_ask *ask, const int *giver, int taker_rank)
{
    int coord[TSR_MAX_MESH];

    if (ask->mode == TSR_EXCHANGE_REDUCE)
        return true;
    tsr__holder(ask->from, taker_rank, giver, coord);
    return memcmp(coord, giver, (size_t)ask->from->mesh.ndim * sizeof *coord) == 0;
}

/* Where the parts of two members meet. Stops at the first dim in which they do not. */
static tsr_status meet(tsr_heap *heap, const tsr_exchange_ask *ask, int giver, int taker, pair *p,
                       tsr_error *err)
{
    int a = tsr__mesh_find(&ask->from->mesh, ask->ranks[giver]);
    int b = tsr__mesh_find(&ask->to->mesh, ask->ranks[taker]);
    int give[TSR_MAX_MESH] = {0}, take[TSR_MAX_MESH] = {0};
    tsr_runs x = {0}, y = {0};
    tsr_status st = TSR_OK;

    if (a < 0 || b < 0)
        return TSR_OK;
    tsr__mesh_coords(&ask->from->mesh, a, give);
    tsr__mesh_coords(&ask->to->mesh, b, take);
    if (!gives(ask, give, ask->ranks[taker]))
        return TSR_OK;
    p->give = tsr__layout_local_shape(ask->from, give);
    p->take = tsr__layout_local_shape(ask->to, take);
    for (int d = 0; d < p->give.ndim; d++) {
        TSR_TRY(tsr__layout_runs(heap, ask->from, d, give, &x, err));
        TSR_TRY(tsr__layout_runs(heap, ask->to, d, take, &y, err));
        TSR_TRY(tsr__runs_meet(heap, &x, &y, &p->dim[d], err));
        tsr__runs_free(heap, &x);
        tsr__runs_free(heap, &y);
        if (p->dim[d].n == 0)
            goto done;
    }
    p->meets = true;
done:
    tsr__runs_free(heap, &x);
    tsr__runs_free(heap, &y);
    return st;
}

static void add_loop(tsr_piece *piece, int64_t count, int64_t stride)
{
    if (count == 1)
        return;
    piece->count[piece->n] = count;
    piece->stride[piece->n] = stride;
    piece->n++;
}

/* The piece of memory of one overlap per dim, on the giving or the taking side. Loops of count 1
   are left out, which both sides see alike. */
static tsr_piece piece_of(const pair *p, const int *choice, bool giving, size_t size)
{
    const tsr_shape *local = giving ? &p->give : &p->take;
    int64_t stride[TSR_MAX_DIM], step = (int64_t)size;
    tsr_piece piece = {0};

    for (int d = local->ndim - 1; d >= 0; d--) {
        stride[d] = step;
        step *= local->size[d];
    }
    for (int d = 0; d < local->ndim; d++) {
        const tsr_overlap *o = &p->dim[d].v[choice[d]];
        piece.offset += (giving ? o->a : o->b) * stride[d];
        add_loop(&piece, o->count, (giving ? o->a_step : o->b_step) * stride[d]);
        add_loop(&piece, o->len, stride[d]);
    }
    return piece;
}

/* Append all pieces of a pair; returns how many through *n. */
static tsr_status add_pieces(tsr_heap *heap, tsr_exchange *x, const pair *p, bool giving,
                             size_t size, int *n, tsr_error *err)
{
    int choice[TSR_MAX_DIM] = {0}, d;
    tsr_status st = TSR_OK;

    *n = 0;
    if (!p->meets)
        return TSR_OK;
    do {
        TSR_TRY(tsr__grow(heap, &x->piece, &x->cap, x->n_pieces, sizeof *x->piece, err));
        x->piece[x->n_pieces++] = piece_of(p, choice, giving, size);
        ++*n;
        for (d = p->give.ndim - 1; d >= 0; d--) {
            if (++choice[d] < p->dim[d].n)
                break;
            choice[d] = 0;
        }
    } while (d >= 0);
done:
    return st;
}

/* In ADD mode arrivals land one after the other in a buffer of their own. */
static void land(tsr_exchange *x, tsr_msg *msg, size_t size)
{
    for (int i = 0; i < msg->n_pieces; i++) {
        tsr_piece *piece = &x->piece[x->n_pieces - msg->n_pieces + i];
        int64_t step = (int64_t)size;
        piece->offset = x->landing * (int64_t)size;
        x->landing += tsr__piece_count(piece);
        for (int k = piece->n - 1; k >= 0; k--) {
            piece->stride[k] = step;
            step *= piece->count[k];
        }
    }
}

static tsr_status add_message(tsr_heap *heap, const tsr_exchange_ask *ask, tsr_exchange *x,
                              int peer, bool giving, tsr_error *err)
{
    size_t size = tsr_dtype_size(ask->from->dtype);
    tsr_msg *msg = giving ? &x->send[x->n_send] : &x->recv[x->n_recv];
    pair p = {0};
    tsr_status st;

    TSR_TRY(meet(heap, ask, giving ? ask->me : peer, giving ? peer : ask->me, &p, err));
    TSR_TRY(add_pieces(heap, x, &p, giving, size, &msg->n_pieces, err));
    msg->peer = peer;
    if (!giving && ask->mode == TSR_EXCHANGE_ADD && msg->n_pieces > 0) {
        int n;
        land(x, msg, size);
        /* behind the landing pieces stand those that they are added to */
        TSR_TRY(add_pieces(heap, x, &p, false, size, &n, err));
    }
    if (msg->n_pieces > 0 || ask->dense)
        *(giving ? &x->n_send : &x->n_recv) += 1;
done:
    free_pair(heap, &p);
    return st;
}

/* Messages refer to pieces by pointer, which is known only when all are there; all may be empty. */
static void link_pieces(tsr_exchange *x)
{
    int at = 0;

    if (x->n_pieces == 0)
        return;
    for (int i = 0; i < x->n_send; i++) {
        x->send[i].piece = x->piece + at;
        at += x->send[i].n_pieces;
    }
    for (int i = 0; i < x->n_recv; i++) {
        x->recv[i].piece = x->piece + at;
        at += x->recv[i].n_pieces * (x->mode == TSR_EXCHANGE_ADD ? 2 : 1);
    }
}

tsr_status tsr__exchange_make(tsr_heap *heap, const tsr_exchange_ask *ask, tsr_exchange *out,
                              tsr_error *err)
{
    tsr_exchange x = {.mode = ask->mode, .dense = ask->dense};
    tsr_status st;

    TSR_TRY(tsr__alloc(heap, ask->n, sizeof *x.send, &x.send, err));
    TSR_TRY(tsr__alloc(heap, ask->n, sizeof *x.recv, &x.recv, err));
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < ask->n; i++)
            if (i != ask->me || !ask->in_place)
                TSR_TRY(add_message(heap, ask, &x, i, pass == 0, err));
    link_pieces(&x);
    *out = x;
    memset(&x, 0, sizeof x);
done:
    tsr__exchange_free(heap, &x);
    return st;
}

void tsr__exchange_free(tsr_heap *heap, tsr_exchange *x)
{
    tsr__free(heap, x->send);
    tsr__free(heap, x->recv);
    tsr__free(heap, x->piece);
    memset(x, 0, sizeof *x);
}

tsr_status tsr__exchange_own(tsr_heap *heap, const tsr_layout *from, const void *src,
                             const tsr_layout *to, void *dst, int rank, tsr_error *err)
{
    tsr_exchange_ask ask = {.from = from, .to = to, .ranks = &rank, .n = 1};
    tsr_exchange x = {0};
    tsr_status st;

    TSR_TRY(tsr__exchange_make(heap, &ask, &x, err));
    for (int i = 0; x.n_send && i < x.send[0].n_pieces; i++)
        tsr__piece_copy(tsr_dtype_size(from->dtype), dst, &x.recv[0].piece[i], src,
                        &x.send[0].piece[i]);
done:
    tsr__exchange_free(heap, &x);
    return st;
}

/* ---- running ---- */

tsr_status tsr__exchange_start(const tsr_exchange *x, tsr_exchange_run *run)
{
    tsr_ctx *ctx = run->call.group->world->ctx;
    tsr_status st = TSR_OK;

    run->exchange = x;
    run->call.n_send = x->n_send;
    run->call.n_recv = x->n_recv;
    run->call.send = x->send;
    run->call.recv = x->recv;
    run->call.dense = x->dense;
    run->call.reduce = x->mode == TSR_EXCHANGE_REDUCE;
    if (x->mode == TSR_EXCHANGE_ADD) {
        size_t bytes = (size_t)x->landing * tsr_dtype_size(run->call.dtype);
        TSR_TRY(tsr__pool_get(&ctx->pool, bytes, &run->landing, &ctx->error));
        run->sum = run->call.recv_base;
        run->call.recv_base = run->landing;
    }
    TSR_TRY(tsr__call_start(&run->call, &run->pending));
done:
    if (st != TSR_OK) {
        tsr__pool_put(&ctx->pool, run->landing);
        run->landing = NULL;
    }
    return st;
}

/* In the order of the givers, so that sums are the same from run to run. */
static void add_arrivals(const tsr_exchange_run *run)
{
    for (int i = 0; i < run->call.n_recv; i++) {
        const tsr_msg *msg = &run->call.recv[i];
        for (int k = 0; k < msg->n_pieces; k++) {
            const tsr_piece *landed = &msg->piece[k], *sum = &msg->piece[msg->n_pieces + k];
            tsr__piece_reduce(run->call.dtype, TSR_SUM, 1, 2, run->sum, sum,
                              (const void *const[]){run->sum, run->landing},
                              (const tsr_piece *const[]){sum, landed});
        }
    }
}

tsr_status tsr__exchange_finish(tsr_exchange_run *run)
{
    tsr_world *world = run->call.group->world;
    tsr_status st;

    TSR_TRY(tsr__call_finish_take(world, run->pending));
    if (run->exchange->mode == TSR_EXCHANGE_ADD)
        add_arrivals(run);
done:
    tsr__pool_put(&world->ctx->pool, run->landing);
    run->landing = NULL;
    return st;
}
