/* SPDX-License-Identifier: Apache-2.0 */
/* collective_call.c - writes a collective as a call: which elements go to whom, the fingerprint by
   which the ranks compare, and the text for messages. Pure; called by collective.c. */
#include "world/collective.h"

#include <string.h>

#include "base/hash.h"

/* ---- the text. By hand: printf would cost more than a barrier. ------------------------------- */

typedef struct text {
    char *at, *end;
} text;

static void put(text *t, const char *s)
{
    while (*s && t->at < t->end)
        *t->at++ = *s++;
    *t->at = 0;
}

static void put_int(text *t, int64_t value)
{
    char digits[24], *p = digits + sizeof digits;
    uint64_t v = (uint64_t)value; /* never negative here */

    *--p = 0;
    do
        *--p = (char)('0' + v % 10);
    while (v /= 10);
    put(t, p);
}

static void put_mesh(text *t, const tsr_mesh_shape *mesh)
{
    const char *before = " over ";

    for (int i = 0; i < mesh->ndim; i++)
        if (mesh->name[i][0]) {
            put(t, before);
            put(t, mesh->name[i]);
            before = ",";
        }
}

static void describe(const tsr_request *r, char *what)
{
    const tsr_collective *args = &r->args;
    text t = {what, what + TSR_WHAT_LEN - 1};

    put(&t, tsr__collective_name(args->kind));
    if (r->call.reduce) {
        put(&t, " ");
        put(&t, tsr_reduce_name(args->op));
    }
    if (args->kind != TSR_COLL_BARRIER) {
        put(&t, " ");
        put(&t, tsr_dtype_name(args->dtype));
    }
    if (args->kind != TSR_COLL_BARRIER && args->kind != TSR_COLL_ALL_TO_ALL) {
        put(&t, "[");
        put_int(&t, args->n);
        put(&t, "]");
    }
    if (args->kind == TSR_COLL_BROADCAST || args->kind == TSR_COLL_RECV)
        put(&t, " from rank ");
    if (args->kind == TSR_COLL_SEND)
        put(&t, " to rank ");
    if (args->kind == TSR_COLL_BROADCAST || args->kind >= TSR_COLL_SEND)
        put_int(&t, r->group->rank[args->peer]);
    put_mesh(&t, &r->mesh->shape);
}

/* All that must be equal on the ranks; send and receive are one call. */
static uint64_t fingerprint(const tsr_request *r)
{
    const tsr_collective *args = &r->args;
    tsr_collective_kind kind = args->kind == TSR_COLL_RECV ? TSR_COLL_SEND : args->kind;
    uint64_t h = tsr__hash_mix(0x636f6c6c, (uint64_t)kind);

    if (kind == TSR_COLL_BARRIER)
        return tsr__hash_final(h);
    h = tsr__hash_mix(h, (uint64_t)args->dtype);
    if (kind != TSR_COLL_ALL_TO_ALL)
        h = tsr__hash_mix(h, (uint64_t)args->n);
    if (r->call.reduce)
        h = tsr__hash_mix(h, (uint64_t)args->op);
    if (kind == TSR_COLL_BROADCAST)
        h = tsr__hash_mix(h, (uint64_t)args->peer);
    return tsr__hash_final(h);
}

/* ---- the messages ---------------------------------------------------------------------------- */

/* Elements first .. first+n; NULL if there are none. */
static const tsr_piece *flat(tsr_request *r, int64_t first, int64_t n)
{
    int64_t size = (int64_t)tsr_dtype_size(r->args.dtype);
    tsr_piece *piece = &r->piece[r->n_pieces];

    if (n == 0)
        return NULL;
    r->n_pieces++;
    *piece = (tsr_piece){.offset = first * size, .n = 1, .count = {n}, .stride = {size}};
    return piece;
}

static void add(tsr_request *r, int peer, const tsr_piece *piece)
{
    r->msg[r->n_msgs++] = (tsr_msg){.peer = peer, .n_pieces = piece ? 1 : 0, .piece = piece};
}

/* Messages added so far are sends; those that follow are receives. */
static void end_sends(tsr_request *r)
{
    r->call.send = r->msg;
    r->call.n_send = r->n_msgs;
    r->call.recv = r->msg + r->n_msgs;
}

static void build_barrier(tsr_request *r)
{
    int n = r->group->n, me = r->group->me;

    for (int i = 0; i < n; i++)
        if (i != me)
            add(r, i, NULL);
    end_sends(r);
    for (int i = 0; i < n; i++)
        if (i != me)
            add(r, i, NULL);
}

static void build_broadcast(tsr_request *r)
{
    const tsr_piece *all = flat(r, 0, r->args.n);
    int me = r->group->me, root = r->args.peer;

    for (int i = 0; me == root && i < r->group->n; i++)
        if (i != root)
            add(r, i, all);
    end_sends(r);
    if (me != root)
        add(r, root, all);
}

static void build_all_gather(tsr_request *r)
{
    int64_t n = r->args.n, me = r->group->me;
    size_t size = tsr_dtype_size(r->args.dtype);
    bool in_place = (const char *)r->args.send == (char *)r->args.recv + (size_t)(me * n) * size;
    const tsr_piece *own = flat(r, 0, n);

    for (int i = 0; i < r->group->n; i++)
        if (i != me || !in_place)
            add(r, i, own);
    end_sends(r);
    for (int i = 0; i < r->group->n; i++)
        if (i != me || !in_place)
            add(r, i, flat(r, i * n, n));
}

/* Elements i * chunk .. of n: the part of rank i, cut off at the end. */
static const tsr_piece *part(tsr_request *r, int i, int64_t chunk, int64_t n)
{
    int64_t begin = chunk > 0 && i > n / chunk ? n : i * chunk;

    return flat(r, begin, n - begin < chunk ? n - begin : chunk);
}

/* send has a part for each rank; the own ones of all are reduced into recv, to the part's own place
   or to the beginning. */
static void build_reduce_parts(tsr_request *r, int64_t chunk, int64_t n, bool to_own_place)
{
    int me = r->group->me;
    const tsr_piece *result;

    for (int i = 0; i < r->group->n; i++)
        add(r, i, part(r, i, chunk, n));
    result = r->msg[me].piece;
    if (result && !to_own_place)
        result = flat(r, 0, chunk);
    end_sends(r);
    for (int i = 0; i < r->group->n; i++)
        add(r, i, result);
}

static void build_all_reduce_whole(tsr_request *r)
{
    const tsr_piece *all = flat(r, 0, r->args.n);

    for (int i = 0; i < r->group->n; i++)
        add(r, i, all);
    end_sends(r);
    for (int i = 0; i < r->group->n; i++)
        add(r, i, all);
    if (r->copy) { /* in place: peers read the data while this rank writes the result */
        memcpy(r->copy, r->args.send, (size_t)r->args.n * tsr_dtype_size(r->args.dtype));
        r->call.send_base = r->copy;
    }
}

/* Messages are there for all ranks, also without elements: a rank that expects more than it gets
   must be found out. */
static void build_all_to_all(tsr_request *r)
{
    int64_t first = 0;

    for (int i = 0; i < r->group->n; first += r->args.send_counts[i++])
        add(r, i, flat(r, first, r->args.send_counts[i]));
    end_sends(r);
    first = 0;
    for (int i = 0; i < r->group->n; first += r->args.recv_counts[i++])
        add(r, i, flat(r, first, r->args.recv_counts[i]));
}

/* The group is {sender, receiver}. */
static void build_pair(tsr_request *r)
{
    const tsr_piece *all = flat(r, 0, r->args.n);

    if (r->args.kind == TSR_COLL_SEND)
        add(r, 1, all);
    end_sends(r);
    if (r->args.kind == TSR_COLL_RECV)
        add(r, 0, all);
}

/* Parts are whole cache lines, so that ranks do not write into one line. */
int64_t tsr__collective_chunk(const tsr_collective *args, int n_ranks)
{
    int64_t size = (int64_t)tsr_dtype_size(args->dtype), line = 64 / size;

    if (args->kind != TSR_COLL_ALL_REDUCE ||
        tsr__all_reduce_one_phase(args->dtype, args->n, n_ranks))
        return 0;
    return (args->n / n_ranks / line + 1) * line;
}

int tsr__collective_pieces(const tsr_collective *args, int n_ranks)
{
    switch (args->kind) {
    case TSR_COLL_BARRIER: return 0;
    case TSR_COLL_ALL_TO_ALL: return 2 * n_ranks;
    case TSR_COLL_ALL_GATHER:
    case TSR_COLL_REDUCE_SCATTER:
    case TSR_COLL_ALL_REDUCE: return n_ranks + 1;
    default: return 1;
    }
}

void tsr__collective_build(tsr_request *r)
{
    const tsr_collective *args = &r->args;
    bool reduce = args->kind == TSR_COLL_REDUCE_SCATTER || args->kind == TSR_COLL_ALL_REDUCE;

    r->call = (tsr_call){.group = args->kind >= TSR_COLL_SEND ? r->own_group : r->group,
                         .dtype = args->dtype,
                         .send_base = args->kind == TSR_COLL_BROADCAST ? args->recv : args->send,
                         .recv_base = args->recv,
                         .dense = args->kind != TSR_COLL_BROADCAST && args->kind < TSR_COLL_SEND,
                         .reduce = reduce,
                         .op = args->op == TSR_AVG ? TSR_SUM : args->op,
                         .divisor = args->op == TSR_AVG ? r->group->n : 1};
    r->call.fingerprint = fingerprint(r);
    describe(r, r->call.what);
    switch (args->kind) {
    case TSR_COLL_BARRIER: build_barrier(r); break;
    case TSR_COLL_BROADCAST: build_broadcast(r); break;
    case TSR_COLL_ALL_GATHER: build_all_gather(r); break;
    case TSR_COLL_REDUCE_SCATTER:
        build_reduce_parts(r, args->n, args->n * r->group->n, false);
        break;
    case TSR_COLL_ALL_REDUCE:
        if (r->chunk)
            build_reduce_parts(r, r->chunk, args->n, true);
        else
            build_all_reduce_whole(r);
        break;
    case TSR_COLL_ALL_TO_ALL: build_all_to_all(r); break;
    case TSR_COLL_SEND:
    case TSR_COLL_RECV: build_pair(r); break;
    }
    r->call.n_recv = r->n_msgs - r->call.n_send;
}

/* The parts are in their places in recv; all get those of the others. The number of the first call
   tells ranks that finish their all-reduces in different order. */
void tsr__collective_build_second(tsr_request *r)
{
    int me = r->group->me;
    const tsr_piece *own;

    r->n_msgs = r->n_pieces = 0;
    r->call.group = r->own_group;
    r->call.fingerprint = tsr__hash_mix(r->call.fingerprint, r->number);
    r->call.send_base = r->args.recv;
    r->call.reduce = false;
    own = part(r, me, r->chunk, r->args.n);
    for (int i = 0; i < r->group->n; i++)
        if (i != me)
            add(r, i, own);
    end_sends(r);
    for (int i = 0; i < r->group->n; i++)
        if (i != me)
            add(r, i, part(r, i, r->chunk, r->args.n));
    r->call.n_recv = r->n_msgs - r->call.n_send;
}
