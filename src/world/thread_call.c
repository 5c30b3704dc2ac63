/* SPDX-License-Identifier: Apache-2.0 */
/* thread_call.c - a call among thread ranks: each publishes its call in its seat and arrives; when
   all have, each compares the fingerprints and reads what it receives straight from its peers'
   memory; a rank that sends returns when all are done. thread_wait.c waits. */
#include "world/thread.h"

#include <sched.h>
#include <string.h>

#include "world/verdict.h"

static bool sends_to_others(const tsr_call *call)
{
    for (int i = 0; i < call->n_send; i++)
        if (call->send[i].peer != call->group->me && call->send[i].n_pieces > 0)
            return true;
    return false;
}

static tsr_status get_pending(tsr_thread_world *world, tsr_pending **out)
{
    tsr_ctx *ctx = world->base.ctx;
    tsr_status st = TSR_OK;

    if (!world->unused)
        TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof **out, &world->unused, &ctx->error));
    *out = world->unused;
    world->unused = (*out)->next;
done:
    return st;
}

static void put_pending(tsr_pending *p)
{
    p->next = p->world->unused;
    p->world->unused = p;
}

/* The slot of a member's next call. In the round before it all must be done, and it is waited for
   if this member has finished it: the others need nothing more of this member for that. If not,
   waiting could be in vain, so all move on to a larger ring. The first member that comes decides.
   */
static tsr_status claim_slot(tsr_thread_world *world, tsr_channel *channel, int me, tsr_slot **out)
{
    tsr_channel_member *member = &channel->member[me];
    tsr_status st = TSR_OK;

    for (;; member->ring = member->ring->next) {
        tsr_ring *ring = member->ring;
        tsr_slot *slot = &ring->slot[member->next_seq % ring->size];
        const tsr_seat *seat = &slot->seat[me];
        uint64_t use = 2 * (seat->round + 1), claim = atomic_load(&slot->claim), mine = use;

        if (claim < use && !tsr__event_complete(&slot->done, seat->round)) {
            const tsr_place before = {.slot = slot, .seq = seat->seq, .round = seat->round};
            if (seat->open) {
                TSR_TRY(tsr__ring_next(world, channel, ring));
                mine = use + 1;
            } else {
                TSR_TRY(tsr__thread_wait_for(world, &before, true));
            }
        }
        if (claim < use && atomic_compare_exchange_strong(&slot->claim, &claim, mine))
            claim = mine;
        if (claim != use + 1) { /* those ahead may even have moved on from the round after this */
            *out = slot;
            return TSR_OK;
        }
    }
done:
    return st;
}

static void publish_history(const tsr_history *h, tsr_seat *seat)
{
    seat->past = h;
    seat->history = h ? h->hash : 0;
    seat->has_verdict = h && h->verdict.number;
    if (seat->has_verdict)
        seat->verdict = h->verdict;
}

tsr_status tsr__thread_start(const tsr_call *call, tsr_pending **out)
{
    tsr_thread_world *world = (tsr_thread_world *)call->group->world;
    tsr_channel *channel = call->group->channel;
    int me = call->group->me;
    uint64_t seq = channel->member[me].next_seq;
    tsr_pending *p = NULL;
    tsr_slot *slot;
    tsr_seat *seat;
    tsr_status st;

    if (tsr__poisoned(world->hub))
        return tsr__thread_peer_error(world);
    TSR_TRY(get_pending(world, &p));
    p->world = world;
    TSR_TRY(claim_slot(world, channel, me, &slot));

    channel->member[me].next_seq = seq + 1;
    call->group->started = seq; /* other handles of these ranks count too; call.c adds this one */
    seat = &slot->seat[me];
    seat->offer = sends_to_others(call) ? call : NULL;
    seat->fingerprint = call->fingerprint;
    publish_history(call->group->history, seat);
    seat->seq = seq;
    seat->round++;
    seat->open = true;
    tsr__what_put(seat, call->what);
    p->at = (tsr_place){.slot = slot, .seq = seq, .round = seat->round};
    p->me = me;
    p->call = call;
    p->sends = seat->offer != NULL;
    p->taken = false;
    p->status = TSR_OK;
    p->next = world->open;
    world->open = p;
    world->n_untaken++;
    atomic_store_explicit(&seat->stage, 2 * seq + 1, memory_order_release);
    tsr__event_come(world->hub, &slot->arrive, channel->n);
    *out = p, p = NULL;
done:
    if (p)
        put_pending(p);
    return st;
}

static const tsr_msg *find(const tsr_msg *msg, int n, int peer)
{
    int lo = 0, hi = n;

    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (msg[mid].peer < peer)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && msg[lo].peer == peer ? &msg[lo] : NULL;
}

static int64_t elements(const tsr_msg *msg)
{
    int64_t n = 0;

    for (int i = 0; i < msg->n_pieces; i++)
        n += tsr__piece_count(&msg->piece[i]);
    return n;
}

static bool same_counts(const tsr_msg *a, const tsr_msg *b)
{
    for (int i = 0; i < a->n_pieces; i++) {
        const tsr_piece *p = &a->piece[i], *q = &b->piece[i];
        if (p->n != q->n || memcmp(p->count, q->count, (size_t)p->n * sizeof p->count[0]) != 0)
            return false;
    }
    return true;
}

static const tsr_call *call_of(const tsr_pending *p, int j)
{
    return j == p->me ? p->call : p->at.slot->seat[j].offer;
}

/* Both ends of the message from member j must agree, or memory would be overrun. A message
   without elements need not be there. */
static tsr_status match(const tsr_pending *p, int j, const tsr_msg *to, tsr_error *err)
{
    static const tsr_msg none = {0};
    const tsr_channel *channel = p->at.slot->channel;
    const tsr_call *call = call_of(p, j);
    const tsr_msg *from = call ? find(call->send, call->n_send, p->me) : NULL;

    from = from ? from : &none;
    to = to ? to : &none;
    if (from->n_pieces == to->n_pieces && same_counts(from, to))
        return TSR_OK;
    int64_t sent = elements(from), expected = elements(to);
    if (sent != expected)
        return tsr__fail(err, TSR_ERR_DIVERGED,
                         "ranks diverged in %s: rank %d sends %lld elements to rank %d, which "
                         "expects %lld",
                         p->call->what, channel->rank[j], (long long)sent, channel->rank[p->me],
                         (long long)expected);
    if (sent == 0)
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_DIVERGED,
                     "ranks diverged in %s: rank %d sends %lld elements to rank %d in %d pieces, "
                     "which expects them in %d other ones",
                     p->call->what, channel->rank[j], (long long)sent, channel->rank[p->me],
                     from->n_pieces, to->n_pieces);
}

/* The k-th piece of every message, reduced into the one destination. */
static void reduce_messages(const tsr_pending *p)
{
    const tsr_call *call = p->call;
    const void **src = p->world->src;
    const tsr_piece **from = p->world->from;

    if (call->n_recv == 0 || call->recv[0].n_pieces == 0)
        return;
    for (int i = 0; i < call->n_recv; i++) {
        const tsr_call *peer = call_of(p, call->recv[i].peer);
        src[i] = peer->send_base;
        from[i] = find(peer->send, peer->n_send, p->me)->piece;
    }
    for (int k = 0; k < call->recv[0].n_pieces; k++) {
        tsr__piece_reduce(call->dtype, call->op, call->divisor, call->n_recv, call->recv_base,
                          &call->recv[0].piece[k], src, from);
        for (int i = 0; i < call->n_recv; i++)
            from[i]++;
    }
}

/* Beginning after the own place: not all from the same rank at once. */
static void copy_messages(const tsr_pending *p)
{
    const tsr_call *call = p->call;
    size_t size = tsr_dtype_size(call->dtype);
    int n = p->at.slot->channel->n;

    for (int i = 1; i <= n; i++) {
        int j = (p->me + i) % n;
        const tsr_msg *to = find(call->recv, call->n_recv, j);
        if (!to || to->n_pieces == 0)
            continue;
        const tsr_call *peer = call_of(p, j);
        const tsr_msg *from = find(peer->send, peer->n_send, p->me);
        for (int k = 0; k < to->n_pieces; k++)
            tsr__piece_copy(size, call->recv_base, &to->piece[k], peer->send_base, &from->piece[k]);
    }
}

static tsr_status read_messages(const tsr_pending *p, tsr_error *err)
{
    const tsr_call *call = p->call;
    tsr_status st = TSR_OK;

    for (int j = 0; j < p->at.slot->channel->n; j++)
        TSR_TRY(match(p, j, find(call->recv, call->n_recv, j), err));
    if (call->reduce)
        reduce_messages(p);
    else
        copy_messages(p);
done:
    return st;
}

/* Two members' histories differ, so none of them goes on from here: where did they part? Both are
   looked at while this rank counts as a reader of the others' memory. */
static tsr_status histories_differ(tsr_pending *p, int i, int j, tsr_error *err)
{
    tsr_seat *seat = p->at.slot->seat;
    const tsr_channel *channel = p->at.slot->channel;
    const tsr_history *a, *b;
    uint64_t hash[TSR_HISTORY_LEN], number;
    char one[TSR_TEXT_LEN], other[TSR_TEXT_LEN];
    tsr_status st = TSR_ERR_PEER;

    atomic_store(&seat[p->me].reading, 1);
    if (!tsr__poisoned(p->world->hub)) {
        a = seat[i].past;
        b = seat[j].past;
        for (int k = 0; k < TSR_HISTORY_LEN; k++)
            hash[k] = b->past[k].hash;
        number = tsr__history_differs(a, b->count, hash);
        st = tsr__histories_diverged(
            p->call->what, channel->rank[i], tsr__history_text(a, number, one, sizeof one),
            channel->rank[j], tsr__history_text(b, number, other, sizeof other), err);
        tsr__thread_poison(p->world->hub, p->world->base.rank, err);
    }
    atomic_store(&seat[p->me].reading, 0);
    return st;
}

/* Compare with the first member, so that all ranks report the same two. *any: is there anything to
   read? */
static tsr_status compare_calls(tsr_pending *p, bool *any, tsr_error *err)
{
    const tsr_seat *seat = p->at.slot->seat;
    const tsr_channel *channel = p->at.slot->channel;
    char first[TSR_WHAT_LEN], other[TSR_WHAT_LEN];

    *any = p->call->n_recv > 0 || p->call->n_send > 0;
    for (int j = 0; j < channel->n; j++) {
        if (seat[j].history != seat[0].history)
            return histories_differ(p, 0, j, err);
        if (seat[j].fingerprint != seat[0].fingerprint)
            return tsr__fail(err, TSR_ERR_DIVERGED,
                             "ranks diverged: rank %d called %s, rank %d called %s",
                             channel->rank[0], tsr__what_get(&seat[0], first), channel->rank[j],
                             tsr__what_get(&seat[j], other));
        *any |= seat[j].offer != NULL;
        if (seat[j].has_verdict)
            tsr__verdict_merge(&p->met, &seat[j].verdict);
    }
    return TSR_OK;
}

/* All have arrived: read what is ours. Nobody begins to read after the poison: one who fails
   returns, and its caller frees memory, as soon as those are out who are seen reading. */
static void take(tsr_pending *p)
{
    tsr_thread_world *world = p->world;
    tsr_slot *slot = p->at.slot;
    tsr_seat *seat = &slot->seat[p->me];
    tsr_error err = {0};
    bool any;

    p->taken = true;
    p->met.number = 0;
    world->n_untaken--;
    p->status = compare_calls(p, &any, &err);
    if (p->status == TSR_OK && any) {
        atomic_store(&seat->reading, 1);
        p->status = tsr__poisoned(world->hub) ? TSR_ERR_PEER : read_messages(p, &err);
        atomic_store(&seat->reading, 0);
    }
    if (p->status == TSR_OK) {
        atomic_store_explicit(&seat->stage, 2 * p->at.seq + 2, memory_order_release);
        tsr__event_come(world->hub, &slot->done, slot->channel->n);
    } else {
        p->status = err.code ? tsr__thread_fail(world, &err) : tsr__thread_peer_error(world);
    }
}

void tsr__thread_progress(tsr_thread_world *world)
{
    for (tsr_pending *p = world->open; p; p = p->next)
        if (!p->taken && tsr__event_complete(&p->at.slot->arrive, p->at.round))
            take(p);
}

void tsr__thread_wait_readers(tsr_pending *pending)
{
    tsr_slot *slot = pending->at.slot;

    for (int j = 0; j < slot->channel->n; j++)
        while (atomic_load(&slot->seat[j].reading))
            sched_yield();
}

tsr_status tsr__thread_finish_take(tsr_pending *p)
{
    tsr_thread_world *world = p->world;
    tsr_seat *seat = &p->at.slot->seat[p->me];
    tsr_pending **link = &world->open;
    tsr_status st = TSR_OK;

    if (!p->taken)
        TSR_TRY(tsr__thread_wait_for(world, &p->at, false));
    if (!p->taken)
        take(p);
    TSR_TRY(p->status);
    if (p->sends)
        TSR_TRY(tsr__thread_wait_for(world, &p->at, true));
    tsr__verdict_met(p->call->group, &p->met, true);
done:
    if (st != TSR_OK) {
        tsr__thread_wait_readers(p);
        st = p->taken ? tsr__verdict_why(world->base.ctx, &p->met, st) : st;
    }
    if (!p->taken)
        world->n_untaken--;
    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
    if (seat->seq == p->at.seq)
        seat->open = false;
    put_pending(p);
    return st;
}
