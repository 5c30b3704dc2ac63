/* SPDX-License-Identifier: Apache-2.0 */
/* message_wait.c - where the message world waits. A wait drives all calls of the rank, looks at the
   control channel (a rank failed, a rank left) and at the clock; so it ends, with a sentence, also
   when a peer is lost. Also how a broken world comes to rest, and how a world is left. */
#include "world/message.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/text.h"

enum {
    YIELD_EVERY = 8,  /* idle polls; MPI may yield in each of them, and twice is too often */
    LOOK_EVERY = 32,  /* idle polls between looks at the control channel and the clock */
    REST_MS = 1000,   /* for the messages of a failed call to end */
    ANSWER_MS = 5000, /* for a rank to say which calls it made */
    LEAVE_MS = 5000,  /* at least, for the others to leave */
    HANG_MS = 60000   /* for the same after a failure, if waits have no timeout */
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void relax(const tsr_msg_world *w)
{
    if (w->yield)
        sched_yield();
}

/* ---- failing --------------------------------------------------------------------------------- */

/* Small messages, which the network buffers: nobody has to be ready to receive. */
static void tell(tsr_msg_world *w, int to, const tsr_control *c, size_t bytes)
{
    tsr_net_request *request = &w->peer[to].out[c->kind];
    /* If the network fails here nobody can be told; their clocks do the rest. */
    if (w->ops->isend(w->net, TSR_NET_CONTROL, to, 0, c, bytes, request) != 0)
        *request = 0;
}

void tsr__message_poison(tsr_world *world, const tsr_error *err)
{
    tsr_msg_world *w = (tsr_msg_world *)world;

    if (w->broken.code)
        return;
    w->broken = *err;
    w->poison = (tsr_control){.magic = TSR_HEAD_MAGIC,
                              .kind = TSR_CONTROL_POISON,
                              .rank = world->rank,
                              .code = (int32_t)err->code};
    memcpy(w->poison.text, err->text, sizeof w->poison.text);
    for (int i = 0; i < world->size; i++) {
        if (i != world->rank)
            tell(w, i, &w->poison, sizeof w->poison);
    }
}

void tsr__message_break(tsr_msg_world *w, tsr_status code, const char *format, ...)
{
    tsr_error err = {.code = code};
    va_list args;

    va_start(args, format);
    tsr__vformat(err.text, sizeof err.text, format, args);
    va_end(args);
    tsr__escape(err.text, sizeof err.text);
    tsr__message_poison(&w->base, &err);
}

void tsr__message_net_failed(tsr_msg_world *w, int error, const char *doing, int peer)
{
    char text[TSR_NET_TEXT];

    w->ops->error_text(w->net, error, text, sizeof text);
    tsr__message_break(w, TSR_ERR_IO, "rank %d: %s rank %d failed: %s", w->base.rank, doing, peer,
                       text);
}

/* ---- the control channel --------------------------------------------------------------------- */

bool tsr__message_listen(tsr_msg_world *w)
{
    int rc = w->ops->irecv(w->net, TSR_NET_CONTROL, TSR_NET_ANY, TSR_NET_ANY, &w->in, sizeof w->in,
                           &w->in_request);
    if (rc) {
        w->in_request = 0;
        tsr__message_net_failed(w, rc, "listening on", w->base.rank);
    }
    return rc == 0;
}

/* Divergence concerns all ranks alike and is told as it is; so is what another rank was told. */
static void take_poison(tsr_msg_world *w, const tsr_control *c)
{
    if (w->broken.code)
        return;
    if (c->code == TSR_ERR_DIVERGED || c->code == TSR_ERR_PEER) {
        w->broken.code = (tsr_status)c->code;
        memcpy(w->broken.text, c->text, sizeof w->broken.text);
        w->broken.text[TSR_ERROR_LEN - 1] = 0;
        return;
    }
    w->broken.code = TSR_ERR_PEER;
    snprintf(w->broken.text, sizeof w->broken.text, "rank %d failed: %.*s", c->rank,
             TSR_ERROR_LEN - 40, c->text);
}

/* Another rank has found that its calls and ours differ. */
static void answer(tsr_msg_world *w, const tsr_control *ask)
{
    tsr_control *a = &w->peer[ask->rank].answer;
    const tsr_msg_channel *c = w->channels;
    uint64_t number;

    while (c && !(c->history && c->tag == (int)ask->tag))
        c = c->next;
    if (!c || w->peer[ask->rank].out[TSR_CONTROL_ANSWER])
        return;
    number = tsr__history_differs(c->history, ask->count, ask->hash);
    *a = (tsr_control){
        .magic = TSR_HEAD_MAGIC, .kind = TSR_CONTROL_ANSWER, .rank = w->base.rank, .count = number};
    tsr__history_text(c->history, number, a->text, sizeof a->text);
    tell(w, ask->rank, a, sizeof *a);
}

void tsr__message_diverged(tsr_pending *p, int peer)
{
    const tsr_history *h = p->call->group->history;
    tsr_msg_world *w = p->world;
    int limit = w->base.timeout_ms < ANSWER_MS ? w->base.timeout_ms : ANSWER_MS;
    int64_t end = now_ms() + limit;
    char mine[TSR_TEXT_LEN];
    tsr_error err = {0};

    w->ask = (tsr_control){.magic = TSR_HEAD_MAGIC,
                           .kind = TSR_CONTROL_ASK,
                           .rank = w->base.rank,
                           .count = h->count,
                           .tag = p->channel->tag};
    for (int i = 0; i < TSR_HISTORY_LEN; i++)
        w->ask.hash[i] = h->past[i].hash;
    w->answered = (tsr_control){.text = "something else"};
    tell(w, peer, &w->ask, sizeof w->ask);
    while (!w->answered.kind && !w->broken.code && now_ms() < end) {
        tsr__message_control(w);
        relax(w);
    }
    tsr__history_text(h, w->answered.kind ? w->answered.count : h->count, mine, sizeof mine);
    if (w->base.rank < peer)
        tsr__histories_diverged(p->call->what, w->base.rank, mine, peer, w->answered.text, &err);
    else
        tsr__histories_diverged(p->call->what, peer, w->answered.text, w->base.rank, mine, &err);
    tsr__message_poison(&w->base, &err);
}

static bool is_known(const tsr_msg_world *w, const tsr_control *c)
{
    const tsr_error *own = &w->base.ctx->error;

    return own->code && c->rank < w->base.rank && strncmp(own->text, c->text, TSR_ERROR_LEN) == 0;
}

static void take(tsr_msg_world *w, const tsr_control *c)
{
    if (c->magic != TSR_HEAD_MAGIC || c->rank < 0 || c->rank >= w->base.size)
        return;
    tsr_peer *peer = &w->peer[c->rank];
    if (c->code != TSR_OK)
        take_poison(w, c);
    if (c->code != TSR_ERR_PEER && !w->base.ctx->peer_code)
        w->base.ctx->peer_code = (tsr_status)c->code;
    if (c->kind == TSR_CONTROL_ASK)
        answer(w, c);
    if (c->kind == TSR_CONTROL_ANSWER) {
        w->answered = *c;
        w->answered.text[TSR_ERROR_LEN - 1] = 0;
    }
    if (c->kind == TSR_CONTROL_EMPTY)
        peer->empty = true;
    if (c->kind == TSR_CONTROL_GOODBYE && !peer->left) {
        peer->left = true;
        peer->left_sent = c->sent;
        peer->left_received = c->received;
        w->n_left++;
        if (c->code != TSR_OK && is_known(w, c))
            w->base.ctx->error_known = true;
    }
}

void tsr__message_control(tsr_msg_world *w)
{
    while (w->in_request) {
        int done, n = 0;
        int rc = w->ops->poll(w->net, 1, &w->in_request, &done, &n);
        if (rc)
            tsr__message_net_failed(w, rc, "listening on", w->base.rank);
        if (rc || n == 0)
            return;
        take(w, &w->in);
        tsr__message_listen(w);
    }
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* Poll all calls of the rank and handle what is done. Its number. */
static int drive(tsr_msg_world *w)
{
    int total = 0;

    for (tsr_pending *p = w->calls; p && !w->broken.code; p = p->next) {
        int n = 0;
        int rc = w->ops->poll(w->net, p->n_slots, p->slot, p->slot_done, &n);
        if (rc)
            tsr__message_net_failed(w, rc, "messages of", w->base.rank);
        for (int i = 0; i < n && !w->broken.code; i++)
            tsr__message_slot_done(p, p->slot_done[i]);
        total += n;
    }
    return total;
}

/* A peer that has left before it came to this message never will. All calls are looked at: their
   messages may have come in another order, but in all there are not enough. */
static void check_left(tsr_msg_world *w)
{
    for (const tsr_pending *p = w->calls; p; p = p->next) {
        for (int i = 0; i < p->n_links; i++) {
            const tsr_link *k = &p->link[i];
            const tsr_peer *peer = &w->peer[k->peer];
            if (k->finished || !peer->left ||
                k->number < (k->sending ? peer->left_received : peer->left_sent))
                continue;
            tsr__message_break(
                w, TSR_ERR_DIVERGED,
                "ranks diverged: rank %d waits in %s for rank %d, which has left the world",
                w->base.rank, p->call->what, k->peer);
            return;
        }
    }
}

static void timed_out(tsr_pending *p)
{
    tsr_msg_world *w = p->world;

    for (int i = 0; i < p->n_links; i++) {
        const tsr_link *k = &p->link[i];
        if (k->finished)
            continue;
        tsr__message_break(w, TSR_ERR_TIMEOUT, "rank %d waited %g s in %s for rank %d",
                           w->base.rank, w->base.timeout_ms * 1e-3, p->call->what, k->peer);
        return;
    }
}

tsr_status tsr__message_wait(tsr_pending *p)
{
    tsr_msg_world *w = p->world;
    int64_t since = 0; /* of the last progress, once we have looked at the clock */
    unsigned idle = 0;

    if (p->call->reduce)
        tsr__message_reduce(p); /* nothing may come if there is no source but ourselves */
    while (!w->broken.code && !tsr__message_complete(p)) {
        if (drive(w) > 0) {
            idle = 0;
            since = 0;
            continue;
        }
        if (!p->own_done) { /* now that there is time */
            tsr__message_own(p);
            continue;
        }
        if (++idle % YIELD_EVERY == 0)
            relax(w);
        if (idle % LOOK_EVERY != 0)
            continue;
        tsr__message_control(w);
        int64_t now = now_ms();
        since = since ? since : now;
        if (w->n_left > 0 && !w->broken.code)
            check_left(w);
        if (w->base.timeout_ms >= 0 && now - since > w->base.timeout_ms && !w->broken.code)
            timed_out(p);
    }
    return w->broken.code;
}

/* ---- coming to rest -------------------------------------------------------------------------- */

bool tsr__message_idle(const tsr_pending *p)
{
    for (int i = 0; i < p->n_slots; i++) {
        if (p->slot[i])
            return false;
    }
    return true;
}

static void cancel_receives(tsr_msg_world *w, tsr_pending *p)
{
    for (int i = 0; i < p->n_slots && !p->cancelled; i++) {
        const tsr_link *k = &p->link[p->slot_link[i]];
        if (p->slot[i] && k->sending == (i == k->slot + 1)) /* go runs the other way */
            w->ops->cancel(w->net, p->slot[i]);
    }
    p->cancelled = true;
}

/* One step of a broken world: receives are cancelled, sends complete because every rank takes
   what is sent to it. True when nothing of ours is under way. */
static bool rest(tsr_msg_world *w)
{
    bool idle = true;
    int n = 0, done;

    for (int list = 0; list < 2; list++) {
        for (tsr_pending *p = list ? w->dead : w->calls; p; p = p->next) {
            cancel_receives(w, p);
            w->ops->poll(w->net, p->n_slots, p->slot, p->slot_done, &n);
            idle = idle && tsr__message_idle(p);
        }
    }
    if (w->drain_request)
        w->ops->poll(w->net, 1, &w->drain_request, &done, &n);
    if (!w->drain_request && w->ops->irecv(w->net, TSR_NET_DATA, TSR_NET_ANY, TSR_NET_ANY, w->drain,
                                           TSR_CHUNK_DIRECT, &w->drain_request) != 0)
        w->drain_request = 0;
    return idle;
}

void tsr__message_quiesce(tsr_msg_world *w)
{
    bool brief = w->base.timeout_ms >= 0 && w->base.timeout_ms < REST_MS;
    int64_t end = now_ms() + (brief ? w->base.timeout_ms : REST_MS);

    while (!rest(w) && now_ms() < end) {
        tsr__message_control(w);
        relax(w);
    }
}

/* ---- leaving --------------------------------------------------------------------------------- */

/* With the failure, if there is one, and this rank's own rather than what it heard: the goodbye may
   overtake the failed rank's own word. */
static void say_goodbye(tsr_msg_world *w)
{
    const tsr_error *own = &w->base.ctx->error, *why = own->code ? own : &w->broken;

    for (int i = 0; i < w->base.size; i++) {
        tsr_peer *peer = &w->peer[i];
        if (i == w->base.rank)
            continue;
        peer->goodbye = (tsr_control){.magic = TSR_HEAD_MAGIC,
                                      .kind = TSR_CONTROL_GOODBYE,
                                      .rank = w->base.rank,
                                      .code = (int32_t)(w->broken.code ? why->code : TSR_OK),
                                      .sent = peer->sent,
                                      .received = peer->received};
        memcpy(peer->goodbye.text, why->text, sizeof peer->goodbye.text);
        tell(w, i, &peer->goodbye, sizeof peer->goodbye);
    }
}

static void say_empty(tsr_msg_world *w)
{
    w->empty =
        (tsr_control){.magic = TSR_HEAD_MAGIC, .kind = TSR_CONTROL_EMPTY, .rank = w->base.rank};
    for (int i = 0; i < w->base.size; i++) {
        if (i != w->base.rank)
            tell(w, i, &w->empty, offsetof(tsr_control, text));
    }
}

/* Are all others gone, and have our own control messages left? */
static bool all_gone(tsr_msg_world *w)
{
    bool gone = true;
    int done[TSR_CONTROL_KINDS], n;

    for (int i = 0; i < w->base.size; i++) {
        tsr_peer *peer = &w->peer[i];
        if (i == w->base.rank)
            continue;
        w->ops->poll(w->net, TSR_CONTROL_KINDS, peer->out, done, &n);
        gone = gone && peer->left && peer->empty;
        for (int j = 0; j < TSR_CONTROL_KINDS; j++)
            gone = gone && !peer->out[j];
    }
    return gone;
}

/* End a receive that nobody will send to. */
static void unpost(tsr_msg_world *w, tsr_net_request *request)
{
    int64_t end = now_ms() + REST_MS;
    int done, n;

    if (*request)
        w->ops->cancel(w->net, *request);
    while (*request && now_ms() < end) {
        if (w->ops->poll(w->net, 1, request, &done, &n) != 0)
            *request = 0;
    }
}

/* For the others to leave. Without a timeout they may work as long as they like, but not in a world
   that is broken. */
static int64_t patience(const tsr_msg_world *w)
{
    if (w->base.timeout_ms < 0)
        return w->broken.code ? HANG_MS : INT64_MAX;
    return w->base.timeout_ms > LEAVE_MS ? w->base.timeout_ms : LEAVE_MS;
}

/* Wait for all others to leave too, so that nobody's message comes to a rank that is gone. */
static bool leave(tsr_msg_world *w)
{
    int64_t begin = now_ms();
    bool told = false, idle = true;

    say_goodbye(w);
    for (;;) {
        if (w->broken.code)
            idle = rest(w);
        if (idle && !told) {
            say_empty(w);
            told = true;
        }
        tsr__message_control(w);
        if (told && all_gone(w))
            return true;
        if (now_ms() - begin > patience(w))
            return false;
        relax(w);
    }
}

void tsr__message_close(tsr_world *world)
{
    tsr_msg_world *w = (tsr_msg_world *)world;
    tsr_heap *heap = &world->ctx->heap;

    if (w->calls)
        tsr__message_break(w, TSR_ERR_STATE, "rank %d left the world without finishing %s",
                           world->rank, w->calls->call->what);
    bool together = leave(w);
    /* Ranks that still work may take longer than the timeout, and MPI_Finalize waits for them. In
       a broken world there is no such work: they hang. */
    if (!together && w->broken.code) {
        tsr__log(world->ctx, TSR_LOG_WARN,
                 "rank %d: not all ranks left the world within %g s of a failure; ending the job",
                 world->rank, (double)patience(w) * 1e-3);
        w->ops->abort(w->net, 1);
    }
    if (w->broken.code) /* also on a rank that has left before: the context keeps its first error */
        tsr__fail(&world->ctx->error, w->broken.code, "%s", w->broken.text);
    unpost(w, &w->in_request);
    unpost(w, &w->drain_request);
    w->ops->close(w->net, together);
    while (w->calls || w->dead) {
        tsr_pending **list = w->calls ? &w->calls : &w->dead, *p = *list;
        *list = p->next;
        tsr__message_free(p);
    }
    while (w->channels) {
        tsr_msg_channel *c = w->channels;
        w->channels = c->next;
        tsr__free(heap, c);
    }
    tsr__free(heap, w->peer);
    tsr__free(heap, w->drain);
    tsr__free(heap, w);
}
