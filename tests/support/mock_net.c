/* SPDX-License-Identifier: Apache-2.0 */
/* mock_net.c - see mock_net.h. One lock; each rank's poll matches the messages sent to it. */
#include "mock_net.h"
#include "numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERED = 4096 }; /* bytes; larger messages complete when they are received */

struct mock_request {
    mock_request *next;
    tsr_net_channel channel;
    int peer, tag; /* receives: may be TSR_NET_ANY */
    const char *from;
    char *copy; /* of a small message; it is its own block then, apart from the request */
    char *to;
    size_t bytes;
    int delay;
    bool sending, done;
    int error;
};

struct tsr_net {
    mock_hub *hub;
    int rank;
    int ops;
};

static void append(mock_request ***end, mock_request *m)
{
    m->next = NULL;
    **end = m;
    *end = &m->next;
}

/* Take the request at *at out of a list. */
static mock_request *unlink_at(mock_request **at, mock_request ***end)
{
    mock_request *m = *at;
    *at = m->next;
    if (*end == &m->next)
        *end = at;
    return m;
}

void mock_open(mock_hub *hub)
{
    pthread_mutex_init(&hub->lock, NULL);
    hub->random = 88172645463325252ULL;
    for (int i = 0; i < MOCK_RANKS; i++) {
        hub->sent[i] = hub->posted[i] = NULL;
        hub->sent_end[i] = &hub->sent[i];
        hub->posted_end[i] = &hub->posted[i];
    }
}

/* Small messages were reported to their sender when they left: the rest belongs to the hub. */
void mock_close(mock_hub *hub)
{
    for (int i = 0; i < MOCK_RANKS; i++) {
        while (hub->sent[i]) {
            mock_request *m = unlink_at(&hub->sent[i], &hub->sent_end[i]);
            free(m->copy);
            free(m);
        }
        while (hub->posted[i])
            free(unlink_at(&hub->posted[i], &hub->posted_end[i]));
    }
    pthread_mutex_destroy(&hub->lock);
}

static tsr_status net_open(tsr_net_open *io)
{
    mock_arg *arg = io->arg;
    tsr_net *net = calloc(1, sizeof *net);

    if (!net)
        return TSR_ERR_MEMORY;
    net->hub = arg->hub;
    net->rank = arg->rank;
    io->net = net;
    io->rank = arg->rank;
    io->size = io->here = arg->hub->size;
    return TSR_OK;
}

static void net_close(tsr_net *net, bool together)
{
    (void)together;
    free(net);
}

static bool fails(tsr_net *net)
{
    return ++net->ops == net->hub->fail_at && net->rank == net->hub->fail_rank;
}

static int begin(tsr_net *net, mock_request m, int owner, tsr_net_request *out)
{
    mock_hub *hub = net->hub;
    mock_request *p;

    pthread_mutex_lock(&hub->lock);
    bool fail = fails(net);
    p = fail ? NULL : malloc(sizeof *p);
    if (p) {
        *p = m;
        if (m.sending) {
            p->delay = hub->delay ? (int)below(&hub->random, hub->delay + 1) : 0;
            append(&hub->sent_end[owner], p);
        } else {
            append(&hub->posted_end[owner], p);
        }
        *out = (tsr_net_request)(uintptr_t)p;
    }
    pthread_mutex_unlock(&hub->lock);
    return p ? 0 : 7;
}

/* A small message is two requests: one in the receiver's queue, and one, done, for the sender. */
static int net_isend(tsr_net *net, tsr_net_channel channel, int to, int tag, const void *data,
                     size_t bytes, tsr_net_request *out)
{
    mock_request m = {.channel = channel,
                      .peer = net->rank,
                      .tag = tag,
                      .from = data,
                      .bytes = bytes,
                      .sending = true};
    if (bytes > BUFFERED)
        return begin(net, m, to, out);
    mock_request *receipt = calloc(1, sizeof *receipt);
    tsr_net_request ignored;
    m.copy = malloc(bytes + 1);
    if (!receipt || !m.copy)
        abort();
    if (bytes > 0)
        memcpy(m.copy, data, bytes);
    m.from = m.copy;
    if (net->hub->alter && channel == TSR_NET_DATA)
        net->hub->alter(net->hub, net->rank, tag, m.copy, bytes);
    int rc = begin(net, m, to, &ignored);
    if (rc) {
        free(m.copy);
        free(receipt);
        return rc;
    }
    receipt->done = true;
    *out = (tsr_net_request)(uintptr_t)receipt;
    return 0;
}

static int net_irecv(tsr_net *net, tsr_net_channel channel, int from, int tag, void *data,
                     size_t bytes, tsr_net_request *out)
{
    mock_request m = {.channel = channel, .peer = from, .tag = tag, .to = data, .bytes = bytes};
    return begin(net, m, net->rank, out);
}

static bool fits(const mock_request *recv, const mock_request *sent)
{
    return recv->channel == sent->channel &&
           (recv->peer == TSR_NET_ANY || recv->peer == sent->peer) &&
           (recv->tag == TSR_NET_ANY || recv->tag == sent->tag);
}

static void deliver(mock_request *recv, mock_request *sent)
{
    if (sent->bytes > recv->bytes)
        recv->error = 9;
    else if (sent->bytes > 0)
        memcpy(recv->to, sent->from, sent->bytes);
    recv->done = true;
    sent->done = true;
    if (sent->copy) { /* nobody else knows it */
        free(sent->copy);
        free(sent);
    }
}

/* Is there an earlier message from the same rank with the same tag that is still on its way? */
static bool overtakes(const mock_request *first, const mock_request *m)
{
    for (const mock_request *e = first; e != m; e = e->next)
        if (e->peer == m->peer && e->tag == m->tag && e->channel == m->channel && e->delay > 0)
            return true;
    return false;
}

static void match(mock_hub *hub, int rank)
{
    for (mock_request *m = hub->sent[rank]; m; m = m->next)
        m->delay -= m->delay > 0;
    for (mock_request **r = &hub->posted[rank]; *r;) {
        mock_request **s = &hub->sent[rank];
        while (*s && (!fits(*r, *s) || (*s)->delay > 0 || overtakes(hub->sent[rank], *s)))
            s = &(*s)->next;
        if (*s) {
            mock_request *recv = unlink_at(r, &hub->posted_end[rank]);
            deliver(recv, unlink_at(s, &hub->sent_end[rank]));
        } else {
            r = &(*r)->next;
        }
    }
}

static int net_poll(tsr_net *net, int n, tsr_net_request *requests, int *done, int *n_done)
{
    int error = 0;

    *n_done = 0;
    pthread_mutex_lock(&net->hub->lock);
    match(net->hub, net->rank);
    for (int i = 0; i < n; i++) {
        mock_request *m = (mock_request *)(uintptr_t)requests[i];
        if (!m || !m->done)
            continue;
        error = m->error ? m->error : error;
        free(m);
        requests[i] = 0;
        done[(*n_done)++] = i;
    }
    pthread_mutex_unlock(&net->hub->lock);
    return error;
}

static void net_cancel(tsr_net *net, tsr_net_request request)
{
    mock_hub *hub = net->hub;
    mock_request *m = (mock_request *)(uintptr_t)request;

    pthread_mutex_lock(&hub->lock);
    for (mock_request **r = &hub->posted[net->rank]; *r; r = &(*r)->next) {
        if (*r == m) {
            unlink_at(r, &hub->posted_end[net->rank]);
            m->done = true;
            break;
        }
    }
    pthread_mutex_unlock(&hub->lock);
}

static void net_abort(tsr_net *net, int status)
{
    (void)status;
    pthread_mutex_lock(&net->hub->lock);
    net->hub->aborted++;
    pthread_mutex_unlock(&net->hub->lock);
}

static void net_error_text(tsr_net *net, int error, char *text, size_t n)
{
    (void)net;
    snprintf(text, n, "mock error %d", error);
}

const tsr_net_ops mock_ops = {
    .abi = TSR_NET_ABI,
    .name = "mock",
    .open = net_open,
    .close = net_close,
    .isend = net_isend,
    .irecv = net_irecv,
    .poll = net_poll,
    .cancel = net_cancel,
    .abort = net_abort,
    .error_text = net_error_text,
};
