/* SPDX-License-Identifier: Apache-2.0 */
/* message_link.c - moves the bytes of one call: heads (a message's header, by which ranks notice
   that they called different ops), chunks sent from or received into the tensors' memory or through
   small rings of packed chunks, and reductions chunk by chunk. Posts and handles requests, never
   waits; message_wait.c drives it. */
#include "world/message.h"

#include <assert.h>
#include <string.h>

/* Both ends compute it: the ring buffers of a rank stay small however many peers it has. */
size_t tsr__message_chunk(const tsr_group *group)
{
    size_t share = (size_t)TSR_CHUNK_RING * 32 / (size_t)group->n / 64 * 64;
    return share > TSR_CHUNK_RING ? TSR_CHUNK_RING : share < TSR_CHUNK_MIN ? TSR_CHUNK_MIN : share;
}

/* The message's memory if it is one contiguous range, else NULL. */
char *tsr__message_direct(size_t size, const tsr_msg *msg, const void *base)
{
    const char *first = NULL, *end = NULL;

    for (int i = 0; i < msg->n_pieces; i++) {
        const tsr_piece *piece = &msg->piece[i];
        const char *begin = (const char *)base + piece->offset;
        int64_t n = tsr__piece_count(piece);
        if (n == 0)
            continue;
        if (!tsr__piece_contiguous(size, piece) || (end && begin != end))
            return NULL;
        first = first ? first : begin;
        end = begin + (size_t)n * size;
    }
    return (
        char *)(uintptr_t)first; /* const is the caller's matter: it knows sends from receives */
}

/* The next n elements of the message, to or from contiguous memory. */
static void pack(size_t size, const tsr_msg *msg, const void *base, tsr_cursor *at, char *dst,
                 int64_t n)
{
    while (n > 0) {
        const tsr_piece *piece = &msg->piece[at->piece];
        int64_t left = tsr__piece_count(piece) - at->begin, k = left < n ? left : n;
        if (k > 0)
            tsr__piece_pack(size, dst, base, piece, at->begin, k);
        dst += (size_t)k * size;
        n -= k;
        at->begin = k == left ? 0 : at->begin + k;
        at->piece += k == left;
    }
}

static void unpack(size_t size, const tsr_msg *msg, void *base, tsr_cursor *at, const char *src,
                   int64_t n)
{
    while (n > 0) {
        const tsr_piece *piece = &msg->piece[at->piece];
        int64_t left = tsr__piece_count(piece) - at->begin, k = left < n ? left : n;
        if (k > 0)
            tsr__piece_unpack(size, base, piece, src, at->begin, k);
        src += (size_t)k * size;
        n -= k;
        at->begin = k == left ? 0 : at->begin + k;
        at->piece += k == left;
    }
}

static int chunk_slot(const tsr_link *k, int64_t i)
{
    return k->slot + 2 + (int)(i % k->window);
}

static char *chunk_memory(const tsr_link *k, int64_t i)
{
    return k->direct ? k->direct + (size_t)i * k->chunk
                     : k->ring + (size_t)(i % k->window) * k->chunk;
}

static size_t chunk_bytes(int64_t bytes, size_t chunk, int64_t i)
{
    size_t left = (size_t)bytes - (size_t)i * chunk;
    return left < chunk ? left : chunk;
}

/* Chunks of two messages under way to one peer never have the same tag, whichever was begun first:
   message.c sees to it that one is free. */
static int take_tag(tsr_peer *peer)
{
    unsigned tag;

    do
        tag = peer->next_tag++ % TSR_CHUNK_TAGS;
    while (peer->tags[tag / 8] >> tag % 8 & 1);
    peer->tags[tag / 8] |= (uint8_t)(1u << tag % 8);
    return TSR_HEAD_TAGS + (int)tag;
}

static void give_tag(tsr_peer *peer, int tag)
{
    peer->tags[(tag - TSR_HEAD_TAGS) / 8] &= (uint8_t)~(1u << tag % 8);
}

static void check_finished(tsr_pending *p, tsr_link *k)
{
    if (!k->finished && k->head_done && k->go == k->ask && k->done == k->n_chunks) {
        k->finished = true;
        p->n_unfinished--;
        if (k->sending && k->tag)
            give_tag(&p->world->peer[k->peer], k->tag);
    }
}

/* Fill the link's window. */
static void post_chunks(tsr_pending *p, tsr_link *k)
{
    tsr_msg_world *w = p->world;

    while (k->posted < k->n_chunks && k->posted - k->done < k->window) {
        size_t n = chunk_bytes(k->bytes, k->chunk, k->posted);
        tsr_net_request *request = &p->slot[chunk_slot(k, k->posted)];
        char *data = chunk_memory(k, k->posted);
        int rc;
        if (k->sending) {
            if (!k->direct)
                pack(p->size, k->msg, p->call->send_base, &k->at, data, (int64_t)(n / p->size));
            rc = w->ops->isend(w->net, TSR_NET_DATA, k->peer, k->tag, data, n, request);
        } else {
            rc = w->ops->irecv(w->net, TSR_NET_DATA, k->peer, k->tag, data, n, request);
        }
        if (rc) {
            tsr__message_net_failed(w, rc, k->sending ? "sending to" : "receiving from", k->peer);
            return;
        }
        k->posted++;
    }
}

static void set_chunk(tsr_link *k, uint64_t chunk)
{
    k->chunk = chunk;
    k->n_chunks = (k->bytes + (int64_t)chunk - 1) / (int64_t)chunk;
}

/* The word to a sender that may now send from its caller's memory, in chunks of this size. */
static void exchange_go(tsr_pending *p, tsr_link *k)
{
    tsr_msg_world *w = p->world;
    tsr_net_request *request = &p->slot[k->slot + 1];
    int tag = k->tag + TSR_CHUNK_TAGS, rc;

    if (k->sending)
        rc = w->ops->irecv(w->net, TSR_NET_DATA, k->peer, tag, &k->chunk, sizeof k->chunk, request);
    else
        rc = w->ops->isend(w->net, TSR_NET_DATA, k->peer, tag, &k->chunk, sizeof k->chunk, request);
    if (rc)
        tsr__message_net_failed(w, rc, k->sending ? "receiving from" : "sending to", k->peer);
}

/* ---- reductions ------------------------------------------------------------------------------ */

static bool round_ready(const tsr_pending *p)
{
    for (int i = 0; i < p->call->n_recv; i++) {
        const tsr_link *k = p->source_link[i];
        if (!k)
            continue;
        if (!k->head_done || (k->n_chunks > 0 && !p->arrived[chunk_slot(k, p->round)]))
            return false;
    }
    return true;
}

/* All sources of one chunk go through a single tsr__reduce, so the order is that of recv[] and half
   floats are rounded once. */
static void reduce_round(tsr_pending *p)
{
    const tsr_call *call = p->call;
    size_t n = chunk_bytes(p->reduce_bytes, p->chunk, p->round);
    size_t offset = (size_t)p->round * p->chunk;
    int64_t count = (int64_t)(n / p->size);
    char *dst = p->to_direct ? p->to_direct + offset : p->to_pack;

    for (int i = 0; i < call->n_recv; i++) {
        const tsr_link *k = p->source_link[i];
        if (k) {
            p->source[i] = k->n_chunks > 0 ? chunk_memory(k, p->round) : k->payload;
        } else if (p->own_direct) {
            p->source[i] = p->own_direct + offset;
        } else {
            pack(p->size, p->own, call->send_base, &p->own_at, p->own_pack, count);
            p->source[i] = p->own_pack;
        }
    }
    tsr__reduce(call->dtype, call->op, call->divisor, call->n_recv, p->source, count, dst);
    if (!p->to_direct)
        unpack(p->size, &call->recv[0], call->recv_base, &p->to_at, dst, count);
}

void tsr__message_reduce(tsr_pending *p)
{
    while (p->round < p->n_rounds && round_ready(p)) {
        reduce_round(p);
        for (int i = 0; i < p->n_links; i++) {
            tsr_link *k = &p->link[i];
            if (k->sending || k->n_chunks == 0)
                continue;
            p->arrived[chunk_slot(k, k->done)] = false;
            k->done++;
            post_chunks(p, k);
            check_finished(p, k);
        }
        p->round++;
    }
}

/* ---- heads ----------------------------------------------------------------------------------- */

/* What only a fault of the network, or another version of the library, can send. */
static bool damaged(const tsr_pending *p, const tsr_link *k, const char *field, uint64_t value)
{
    tsr__message_break(p->world, TSR_ERR_IO,
                       "rank %d received a damaged message from rank %d in %s: its %s is %llu",
                       p->world->base.rank, k->peer, p->call->what, field,
                       (unsigned long long)value);
    return false;
}

static void meet_verdict(tsr_pending *p, const tsr_head *h, tsr_link *k)
{
    tsr_verdict v = {.number = h->verdict,
                     .rank = h->verdict_rank,
                     .code = h->verdict_code,
                     .known = h->verdict_known};

    memcpy(v.text, k->payload, sizeof v.text);
    v.text[sizeof v.text - 1] = 0;
    k->payload += sizeof v.text;
    tsr__verdict_merge(&p->met, &v);
}

/* Is it the message that this call expects? If not, all ranks learn which two calls met. The lower
   rank comes first, so both say the same. */
static bool head_fits(tsr_pending *p, tsr_link *k)
{
    tsr_msg_world *w = p->world;
    tsr_head h;
    int me = w->base.rank;

    memcpy(&h, k->head, sizeof h);
    h.what[TSR_WHAT_LEN - 1] = 0;
    if (h.magic != TSR_HEAD_MAGIC)
        return damaged(p, k, "first word", h.magic);
    if (h.seq == p->seq && h.history != p->history) {
        tsr__message_diverged(p, k->peer);
        return false;
    }
    if (h.fingerprint != p->call->fingerprint || h.seq != p->seq) {
        const char *mine = p->call->what;
        tsr__message_break(w, TSR_ERR_DIVERGED,
                           "ranks diverged: rank %d called %s, rank %d called %s",
                           me < k->peer ? me : k->peer, me < k->peer ? mine : h.what,
                           me < k->peer ? k->peer : me, me < k->peer ? h.what : mine);
        return false;
    }
    if (h.bytes != (uint64_t)k->bytes) {
        tsr__message_break(w, TSR_ERR_DIVERGED,
                           "ranks diverged in %s: rank %d sends %llu elements to rank %d, which "
                           "expects %lld",
                           p->call->what, k->peer, (unsigned long long)(h.bytes / p->size), me,
                           (long long)(k->bytes / (int64_t)p->size));
        return false;
    }
    if (k->n_chunks > 0 && (h.tag < TSR_HEAD_TAGS || h.tag >= TSR_HEAD_TAGS + TSR_CHUNK_TAGS))
        return damaged(p, k, "tag", h.tag);
    if (h.ask > (k->n_chunks > 0))
        return damaged(p, k, "request for an answer", h.ask);
    k->tag = h.tag;
    k->ask = h.ask;
    k->payload = k->head + sizeof h;
    if (h.verdict)
        meet_verdict(p, &h, k);
    return true;
}

static void head_arrived(tsr_pending *p, tsr_link *k)
{
    if (!head_fits(p, k))
        return;
    k->head_done = true;
    if (k->n_chunks > 0) {
        if (k->ask && k->direct)
            set_chunk(k, TSR_CHUNK_DIRECT);
        post_chunks(p, k);
        if (k->ask && !p->world->broken.code)
            exchange_go(p, k);
    } else if (p->call->reduce) {
        tsr__message_reduce(p);
    } else if (k->bytes > 0) {
        if (k->direct)
            memcpy(k->direct, k->payload, (size_t)k->bytes);
        else
            unpack(p->size, k->msg, p->call->recv_base, &k->at, k->payload,
                   k->bytes / (int64_t)p->size);
    }
    check_finished(p, k);
}

static void send_head(tsr_pending *p, tsr_link *k)
{
    tsr_msg_world *w = p->world;
    tsr_head h = {.magic = TSR_HEAD_MAGIC,
                  .tag = (uint16_t)k->tag,
                  .ask = k->ask,
                  .seq = p->seq,
                  .fingerprint = p->call->fingerprint,
                  .bytes = (uint64_t)k->bytes,
                  .history = p->history,
                  .verdict = p->sent.number,
                  .verdict_rank = p->sent.rank,
                  .verdict_code = p->sent.code,
                  .verdict_known = p->sent.known};
    size_t n = sizeof h;

    memcpy(h.what, p->call->what, sizeof h.what);
    memcpy(k->head, &h, sizeof h);
    if (h.verdict) {
        memcpy(k->head + n, p->sent.text, sizeof p->sent.text);
        n += sizeof p->sent.text;
    }
    if (k->n_chunks == 0 && k->bytes > 0) {
        if (k->direct)
            memcpy(k->head + n, k->direct, (size_t)k->bytes);
        else
            pack(p->size, k->msg, p->call->send_base, &k->at, k->head + n,
                 k->bytes / (int64_t)p->size);
        n += (size_t)k->bytes;
    }
    int rc = w->ops->isend(w->net, TSR_NET_DATA, k->peer, p->channel->tag, k->head, n,
                           &p->slot[k->slot]);
    if (rc)
        tsr__message_net_failed(w, rc, "sending to", k->peer);
}

/* ---- the call -------------------------------------------------------------------------------- */

void tsr__message_own(tsr_pending *p)
{
    const tsr_call *call = p->call;

    for (int i = 0; i < call->n_recv; i++) {
        const tsr_msg *to = &call->recv[i];
        if (to->peer != call->group->me || !p->own)
            continue;
        assert(to->n_pieces == p->own->n_pieces);
        for (int j = 0; j < to->n_pieces; j++)
            tsr__piece_copy(p->size, call->recv_base, &to->piece[j], call->send_base,
                            &p->own->piece[j]);
    }
    p->own_done = true;
}

/* Receives come first, in the order of the calls: a channel's heads match in order, and a head that
   finds its receive posted is not copied twice. Then all heads, so that peers can check them while
   we pack. */
void tsr__message_begin(tsr_pending *p)
{
    const tsr_history *history = p->call->group->history;
    tsr_msg_world *w = p->world;

    p->channel->history = history;
    if (history) {
        p->history = history->hash;
        p->sent = p->met = history->verdict;
    }
    for (int i = 0; i < p->n_links && !w->broken.code; i++) {
        tsr_link *k = &p->link[i];
        tsr_peer *peer = &w->peer[k->peer];
        k->number = k->sending ? peer->sent++ : peer->received++;
        if (k->sending && k->n_chunks > 0)
            k->tag = take_tag(peer);
        if (k->sending && k->ask)
            exchange_go(p, k);
        if (k->sending)
            continue;
        int rc = w->ops->irecv(w->net, TSR_NET_DATA, k->peer, p->channel->tag, k->head,
                               TSR_HEAD_LEN, &p->slot[k->slot]);
        if (rc)
            tsr__message_net_failed(w, rc, "receiving from", k->peer);
    }
    for (int i = 0; i < p->n_links && !w->broken.code; i++) {
        if (p->link[i].sending)
            send_head(p, &p->link[i]);
    }
    for (int i = 0; i < p->n_links && !w->broken.code; i++) {
        if (p->link[i].sending && !p->link[i].ask)
            post_chunks(p, &p->link[i]);
    }
    p->own_done = p->call->reduce || !p->own;
}

/* It has come to the sender, which now knows the size of its chunks, or has left the receiver. */
static void take_go(tsr_pending *p, tsr_link *k)
{
    k->go = true;
    if (!k->sending)
        return;
    if (k->chunk == p->chunk || k->chunk == TSR_CHUNK_DIRECT)
        set_chunk(k, k->chunk);
    else
        damaged(p, k, "size of chunks", k->chunk);
}

void tsr__message_slot_done(tsr_pending *p, int slot)
{
    tsr_link *k = &p->link[p->slot_link[slot]];

    if (slot == k->slot && !k->sending) {
        head_arrived(p, k);
        return;
    }
    if (slot == k->slot)
        k->head_done = true;
    else if (slot == k->slot + 1)
        take_go(p, k);
    else
        p->arrived[slot] = true;
    if (p->world->broken.code)
        return;
    if (!k->sending && p->call->reduce)
        tsr__message_reduce(p);
    /* The network may complete chunks in another order; the cursor takes them in theirs. */
    while (k->done < k->posted && p->arrived[chunk_slot(k, k->done)] &&
           (k->sending || !p->call->reduce)) {
        if (!k->sending && !k->direct)
            unpack(p->size, k->msg, p->call->recv_base, &k->at, chunk_memory(k, k->done),
                   (int64_t)(chunk_bytes(k->bytes, k->chunk, k->done) / p->size));
        p->arrived[chunk_slot(k, k->done)] = false;
        k->done++;
    }
    if (k->go || !k->ask || !k->sending)
        post_chunks(p, k);
    check_finished(p, k);
}

bool tsr__message_complete(const tsr_pending *p)
{
    return p->n_unfinished == 0 && p->round == p->n_rounds && p->own_done;
}
