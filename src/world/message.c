/* SPDX-License-Identifier: Apache-2.0 */
/* message.c - the world whose ranks send messages (net.h: MPI, or a mock in tests): joins it, lays
   a call out as links with their buffers, begins and ends it. How bytes move is in message_link.c,
   waiting and failing in message_wait.c. */
#include "world/message.h"

#include <sched.h>
#include <string.h>

#include "base/hash.h"
#include "world/verdict.h"

enum { DEFAULT_MS = 60 * 1000 }; /* timeout */
enum { LISTEN_EVERY = 16 };      /* calls */

/* ---- groups ---------------------------------------------------------------------------------- */

static tsr_msg_channel *find_channel(tsr_msg_world *w, const tsr_group *group)
{
    tsr_msg_channel *c = w->channels;
    size_t bytes = (size_t)group->n * sizeof *group->rank;

    while (c && !(c->n == group->n && c->lane == group->lane &&
                  memcmp(c->rank, group->rank, bytes) == 0))
        c = c->next;
    return c;
}

/* All members must find the same tag without a word. Two channels may get the same one: then their
   calls must come in one order, too, or they are taken for diverged. */
static int channel_tag(const tsr_group *group)
{
    uint64_t h = tsr__hash_mix((uint64_t)group->n, (uint64_t)group->lane);

    for (int i = 0; i < group->n; i++)
        h = tsr__hash_mix(h, (uint64_t)group->rank[i]);
    return (int)(tsr__hash_final(h) % TSR_HEAD_TAGS);
}

/* Channels live as long as the world: a group of the same ranks may be opened again. */
static tsr_status message_group_open(tsr_group *group)
{
    tsr_msg_world *w = (tsr_msg_world *)group->world;
    tsr_ctx *ctx = w->base.ctx;
    tsr_msg_channel *c = find_channel(w, group);
    size_t bytes = (size_t)group->n * sizeof *group->rank;
    tsr_status st = TSR_OK;

    if (!c) {
        TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *c + bytes, &c, &ctx->error));
        c->n = group->n;
        c->lane = group->lane;
        c->rank = (int *)(c + 1);
        memcpy(c->rank, group->rank, bytes);
        c->tag = channel_tag(group);
        c->next = w->channels;
        w->channels = c;
    }
    group->channel = c;
    group->started = c->seq;
done:
    return st;
}

static void message_group_close(tsr_group *group)
{
    tsr_msg_channel *c = group->channel;

    if (c && c->history == group->history)
        c->history = NULL;
}

/* ---- a call ---------------------------------------------------------------------------------- */

static int64_t msg_bytes(size_t size, const tsr_msg *msg)
{
    int64_t n = 0;
    for (int i = 0; i < msg->n_pieces; i++)
        n += tsr__piece_count(&msg->piece[i]);
    return n * (int64_t)size;
}

static tsr_link make_link(const tsr_call *call, size_t size, size_t chunk, bool sending,
                          const tsr_msg *msg)
{
    tsr_link k = {.peer = call->group->rank[msg->peer],
                  .sending = sending,
                  .msg = msg,
                  .bytes = msg_bytes(size, msg)};

    if (sending && (k.bytes <= TSR_EAGER || k.bytes >= TSR_DIRECT_MIN))
        k.direct = tsr__message_direct(size, msg, call->send_base);
    else if (!sending && !call->reduce)
        k.direct = tsr__message_direct(size, msg, call->recv_base);
    if (k.bytes > TSR_EAGER) {
        k.ask = sending && k.direct;
        k.chunk = chunk;
        k.n_chunks = (k.bytes + (int64_t)chunk - 1) / (int64_t)chunk;
        k.window = k.direct ? TSR_WINDOW_DIRECT : TSR_WINDOW_RING;
        if (k.n_chunks < k.window)
            k.window = (int)k.n_chunks;
    }
    return k;
}

static int count_links(const tsr_call *call)
{
    int n = call->n_send + call->n_recv;
    for (int i = 0; i < call->n_send; i++)
        n -= call->send[i].peer == call->group->me;
    for (int i = 0; i < call->n_recv; i++)
        n -= call->recv[i].peer == call->group->me;
    return n;
}

/* The links come after the struct in one block, the per-slot arrays in another. */
static tsr_status make_pending(tsr_msg_world *w, const tsr_call *call, tsr_pending **out,
                               tsr_error *err)
{
    tsr_heap *heap = &w->base.ctx->heap;
    int n_links = count_links(call), n_slots = 0;
    tsr_pending *p = NULL;
    tsr_status st;

    TSR_TRY(tsr__alloc(heap, 1,
                       sizeof *p + (size_t)n_links * sizeof(tsr_link) +
                           (size_t)call->n_recv * 2 * sizeof(void *),
                       &p, err));
    p->world = w;
    p->call = call;
    p->channel = call->group->channel;
    p->size = tsr_dtype_size(call->dtype);
    p->chunk = tsr__message_chunk(call->group);
    p->link = (tsr_link *)(p + 1);
    p->source_link = (const tsr_link **)(p->link + n_links);
    p->source = (const void **)(p->source_link + call->n_recv);

    for (int i = 0; i < call->n_send; i++) {
        if (call->send[i].peer == call->group->me)
            p->own = &call->send[i];
        else
            p->link[p->n_links++] = make_link(call, p->size, p->chunk, true, &call->send[i]);
    }
    for (int i = 0; i < call->n_recv; i++) {
        if (call->recv[i].peer == call->group->me)
            continue;
        p->source_link[i] = &p->link[p->n_links];
        p->link[p->n_links++] = make_link(call, p->size, p->chunk, false, &call->recv[i]);
    }
    p->n_unfinished = p->n_links;
    for (int i = 0; i < p->n_links; i++) {
        p->link[i].slot = n_slots;
        n_slots += 2 + p->link[i].window;
    }
    TSR_TRY(tsr__alloc(heap, n_slots, sizeof(tsr_net_request) + 2 * sizeof(int) + sizeof(bool),
                       &p->slot, err));
    p->n_slots = n_slots;
    p->slot_link = (int *)(p->slot + n_slots);
    p->slot_done = p->slot_link + n_slots;
    p->arrived = (bool *)(p->slot_done + n_slots);
    for (int i = 0, s = 0; i < p->n_links; i++) {
        for (int j = 0; j < 2 + p->link[i].window; j++)
            p->slot_link[s++] = i;
    }
    *out = p, p = NULL;
done:
    tsr__message_free(p);
    return st;
}

/* The reduction's result and own source: in place if contiguous, else a packed chunk of each. */
static void plan_reduce(tsr_pending *p, size_t *room)
{
    const tsr_call *call = p->call;

    p->reduce_bytes = msg_bytes(p->size, &call->recv[0]);
    p->n_rounds = (p->reduce_bytes + (int64_t)p->chunk - 1) / (int64_t)p->chunk;
    p->to_direct = tsr__message_direct(p->size, &call->recv[0], call->recv_base);
    if (p->own)
        p->own_direct = tsr__message_direct(p->size, p->own, call->send_base);
    if (!p->to_direct)
        *room += p->chunk;
    if (p->own && !p->own_direct)
        *room += p->chunk;
}

static tsr_status get_buffers(tsr_pending *p, tsr_error *err)
{
    tsr_pool *pool = &p->world->base.ctx->pool;
    size_t room = 0;
    tsr_status st = TSR_OK;

    for (int i = 0; i < p->n_links; i++)
        room += p->link[i].direct ? 0 : (size_t)p->link[i].window * p->chunk;
    if (p->call->reduce && p->call->n_recv > 0)
        plan_reduce(p, &room);
    if (p->n_links > 0)
        TSR_TRY(tsr__pool_get(pool, (size_t)p->n_links * TSR_HEAD_ROOM, &p->heads, err));
    if (room > 0 && room < TSR_HUGE)
        room = TSR_HUGE;
    if (room > 0)
        TSR_TRY(tsr__pool_get(pool, room, &p->rings, err));

    char *at = p->rings;
    for (int i = 0; i < p->n_links; i++) {
        tsr_link *k = &p->link[i];
        k->head = p->heads + (size_t)i * TSR_HEAD_ROOM;
        if (!k->direct && k->window > 0) {
            k->ring = at;
            at += (size_t)k->window * p->chunk;
        }
    }
    if (p->n_rounds > 0 && !p->to_direct) {
        p->to_pack = at;
        at += p->chunk;
    }
    if (p->n_rounds > 0 && p->own && !p->own_direct)
        p->own_pack = at;
done:
    return st;
}

void tsr__message_free(tsr_pending *p)
{
    if (!p)
        return;
    tsr_ctx *ctx = p->world->base.ctx;
    tsr__pool_put(&ctx->pool, p->heads);
    tsr__pool_put(&ctx->pool, p->rings);
    tsr__free(&ctx->heap, p->slot);
    tsr__free(&ctx->heap, p);
}

/* The sentence of the broken world becomes the context's error. */
static tsr_status broken(tsr_msg_world *w)
{
    return tsr__fail(&w->base.ctx->error, w->broken.code, "%s", w->broken.text);
}

/* A call that failed leaves nothing behind that the network could touch, if its peers play along;
   if they do not, its buffers stay until the world is closed. */
static void give_up(tsr_pending *p)
{
    tsr_msg_world *w = p->world;

    tsr__message_quiesce(w);
    for (tsr_pending **at = &w->calls; *at; at = &(*at)->next) {
        if (*at == p) {
            *at = p->next;
            break;
        }
    }
    if (tsr__message_idle(p)) {
        tsr__message_free(p);
    } else {
        p->next = w->dead;
        w->dead = p;
    }
}

/* Where a new call goes in the list. Each call under way may have a message to each rank, and there
   are no more tags than TSR_CHUNK_TAGS: beyond, the first one must have done its part. */
static tsr_pending **end_of_calls(tsr_msg_world *w)
{
    tsr_pending **last = &w->calls, *first = NULL;
    int n = 0;

    for (; *last; last = &(*last)->next) {
        if (tsr__message_complete(*last))
            continue;
        first = first ? first : *last;
        n++;
    }
    if (n >= TSR_CHUNK_TAGS)
        tsr__message_wait(first); /* fails if the world is broken, which the caller sees */
    return last;
}

static tsr_status message_start(const tsr_call *call, tsr_pending **out)
{
    tsr_msg_world *w = (tsr_msg_world *)call->group->world;
    tsr_msg_channel *channel = call->group->channel;
    tsr_pending *p = NULL, **last = end_of_calls(w);
    tsr_error err = {0};
    tsr_status st;

    /* Waits look at the control channel; only calls that never wait need this. It is not cheap. */
    if (w->base.calls % LISTEN_EVERY == 0)
        tsr__message_control(w);
    if (w->broken.code)
        return broken(w);
    TSR_TRY(make_pending(w, call, &p, &err));
    TSR_TRY(get_buffers(p, &err));
    *last = p;
    call->group->started = channel->seq; /* other groups of these ranks count; call.c adds this */
    p->seq = channel->seq++;
    tsr__message_begin(p);
    if (w->broken.code) {
        give_up(p);
        return broken(w);
    }
    *out = p;
    return TSR_OK;
done: /* no message has left; the others are told */
    tsr__message_free(p);
    tsr__message_poison(&w->base, &err);
    return broken(w);
}

static tsr_status message_finish_take(tsr_pending *p)
{
    tsr_msg_world *w = p->world;
    tsr_verdict met;

    if (tsr__message_wait(p) != TSR_OK) {
        met = p->met;
        give_up(p);
        return tsr__verdict_why(w->base.ctx, &met, broken(w));
    }
    for (tsr_pending **at = &w->calls; *at; at = &(*at)->next) {
        if (*at == p) {
            *at = p->next;
            break;
        }
    }
    tsr__verdict_met(p->call->group, &p->met, p->call->dense);
    tsr__message_free(p);
    return TSR_OK;
}

static tsr_status message_native(tsr_world *world, const tsr_collective *call)
{
    tsr_msg_world *w = (tsr_msg_world *)world;

    tsr_status st = w->ops->native ? w->ops->native(w->net, call) : TSR_ERR_UNAVAILABLE;
    if (st != TSR_OK)
        tsr__fail(&world->ctx->error, st, "%s has no such collective of its own", w->ops->name);
    return st;
}

/* ---- joining --------------------------------------------------------------------------------- */

static const tsr_world_ops message_ops = {
    .name = "mpi",
    .group_open = message_group_open,
    .group_close = message_group_close,
    .start = message_start,
    .finish_take = message_finish_take,
    .poison = tsr__message_poison,
    .close = tsr__message_close,
    .native = message_native,
};

static bool oversubscribed(int ranks)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) != 0 || ranks > CPU_COUNT(&set);
}

tsr_status tsr__message_join(const tsr_net_ops *ops, void *arg, tsr_ctx *ctx, int timeout_ms,
                             tsr_world **out)
{
    tsr_net_open io = {.arg = arg, .timeout_ms = timeout_ms ? timeout_ms : DEFAULT_MS};
    tsr_msg_world *w = NULL;
    tsr_status st;

    /* What can be had before the network is opened cannot fail when others have joined already. */
    TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *w, &w, &ctx->error));
    TSR_TRY(tsr__alloc(&ctx->heap, 1, TSR_CHUNK_DIRECT, &w->drain, &ctx->error));
    st = ops->open(&io);
    if (st != TSR_OK) {
        tsr__fail(&ctx->error, st, "%s", io.text);
        goto done;
    }
    w->ops = ops;
    w->net = io.net;
    w->yield = oversubscribed(io.here);
    w->base = (tsr_world){.ops = &message_ops,
                          .kind = TSR_WORLD_MPI,
                          .rank = io.rank,
                          .size = io.size,
                          .timeout_ms = io.timeout_ms,
                          .ctx = ctx};
    st = tsr__alloc(&ctx->heap, io.size, sizeof *w->peer, &w->peer, &ctx->error);
    if (st != TSR_OK) {
        ops->abort(io.net, 1); /* the others count on us, and cannot be told yet */
        goto done;
    }
    if (!tsr__message_listen(w)) {
        st = broken(w);
        ops->abort(io.net, 1);
        goto done;
    }
    *out = &w->base, w = NULL;
done:
    if (w) {
        tsr__free(&ctx->heap, w->peer);
        tsr__free(&ctx->heap, w->drain);
    }
    tsr__free(&ctx->heap, w);
    return st;
}

tsr_status tsr__mpi_join(tsr_ctx *ctx, int timeout_ms, tsr_world **out)
{
    const tsr_net_ops *ops;
    int launched = tsr__mpi_launched_size();
    tsr_world *world;
    tsr_status st;

    TSR_TRY(tsr__plugin_load("mpi", &ops, &ctx->error));
    TSR_TRY(tsr__message_join(ops, NULL, ctx, timeout_ms, &world));
    if (launched > 0 && launched != world->size) {
        st = tsr__fail(&ctx->error, TSR_ERR_UNAVAILABLE,
                       "%d ranks were launched, but the MPI that Tessera was built with sees %d: "
                       "use the mpirun that belongs to it",
                       launched, world->size);
        world->ops->close(world);
        goto done;
    }
    *out = world;
done:
    return st;
}
