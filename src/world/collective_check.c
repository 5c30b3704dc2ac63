/* SPDX-License-Identifier: Apache-2.0 */
/* collective_check.c - judges the arguments of the public collectives before anything moves: one
   sentence for each mistake. Called by collective.c. */
#include "world/collective.h"

static bool reduces(tsr_collective_kind kind)
{
    return kind == TSR_COLL_REDUCE_SCATTER || kind == TSR_COLL_ALL_REDUCE;
}

static bool has_peer(tsr_collective_kind kind)
{
    return kind == TSR_COLL_BROADCAST || kind == TSR_COLL_SEND || kind == TSR_COLL_RECV;
}

const char *tsr__collective_name(tsr_collective_kind kind)
{
    switch (kind) {
    case TSR_COLL_BARRIER: return "barrier";
    case TSR_COLL_BROADCAST: return "broadcast";
    case TSR_COLL_ALL_GATHER: return "all-gather";
    case TSR_COLL_REDUCE_SCATTER: return "reduce-scatter";
    case TSR_COLL_ALL_REDUCE: return "all-reduce";
    case TSR_COLL_ALL_TO_ALL: return "all-to-all";
    case TSR_COLL_SEND: return "send";
    case TSR_COLL_RECV: return "receive";
    }
    return "unknown collective";
}

/* What a rank hands over, in elements: both for overlap and for NULL. */
typedef struct extent {
    int64_t send, recv;
    int64_t own_send, own_recv; /* where send and recv may be the same memory, -1: nowhere */
} extent;

/* Bytes of an array of n elements of each of k ranks must be countable. */
static tsr_status check_size(const tsr_collective *args, int64_t k, tsr_error *err)
{
    int64_t bytes;

    if (args->n < 0)
        return tsr__fail(err, TSR_ERR_ARG, "%s: %lld elements: a count cannot be negative",
                         tsr__collective_name(args->kind), (long long)args->n);
    if (__builtin_mul_overflow(args->n, k, &bytes) ||
        __builtin_mul_overflow(bytes, (int64_t)tsr_dtype_size(args->dtype), &bytes))
        return tsr__fail(err, TSR_ERR_ARG, "%s: %lld x %lld elements are more than memory can hold",
                         tsr__collective_name(args->kind), (long long)k, (long long)args->n);
    return TSR_OK;
}

static tsr_status sum_counts(const char *name, const int64_t *counts, int n, size_t size,
                             int64_t *out, tsr_error *err)
{
    int64_t sum = 0, bytes;

    if (!counts)
        return tsr__fail(err, TSR_ERR_ARG, "all-to-all: %s is NULL", name);
    for (int i = 0; i < n; i++) {
        if (counts[i] < 0)
            return tsr__fail(err, TSR_ERR_ARG, "all-to-all: %s[%d] is %lld, and cannot be negative",
                             name, i, (long long)counts[i]);
        if (__builtin_add_overflow(sum, counts[i], &sum) ||
            __builtin_mul_overflow(sum, (int64_t)size, &bytes))
            return tsr__fail(err, TSR_ERR_ARG, "all-to-all: %s are more than memory can hold",
                             name);
    }
    *out = sum;
    return TSR_OK;
}

static tsr_status check_counts(const tsr_collective *args, const tsr_group *group, extent *e,
                               tsr_error *err)
{
    size_t size = tsr_dtype_size(args->dtype);
    tsr_status st;

    TSR_TRY(sum_counts("send_counts", args->send_counts, group->n, size, &e->send, err));
    TSR_TRY(sum_counts("recv_counts", args->recv_counts, group->n, size, &e->recv, err));
    if (args->send_counts[group->me] != args->recv_counts[group->me])
        st = tsr__fail(err, TSR_ERR_ARG,
                       "all-to-all: rank %d sends %lld elements to itself and expects %lld",
                       group->rank[group->me], (long long)args->send_counts[group->me],
                       (long long)args->recv_counts[group->me]);
done:
    return st;
}

static tsr_status find_extent(const tsr_collective *args, const tsr_group *group, extent *e,
                              tsr_error *err)
{
    int64_t n = args->n, all = group->n, me = group->me;
    tsr_status st = TSR_OK;

    *e = (extent){.own_send = -1, .own_recv = -1};
    if (args->kind == TSR_COLL_ALL_TO_ALL)
        return check_counts(args, group, e, err);
    TSR_TRY(check_size(args, all, err));
    switch (args->kind) {
    case TSR_COLL_ALL_GATHER: *e = (extent){n, all * n, 0, me * n}; break;
    case TSR_COLL_REDUCE_SCATTER: *e = (extent){all * n, n, me * n, 0}; break;
    case TSR_COLL_ALL_REDUCE: *e = (extent){n, n, 0, 0}; break;
    case TSR_COLL_SEND: e->send = n; break;
    case TSR_COLL_BROADCAST:
    case TSR_COLL_RECV: e->recv = n; break;
    default: break;
    }
done:
    return st;
}

/* Peers read `send` while this rank writes `recv`. Where the part that only this rank reads is the
   part that it writes, both may be the same. */
static tsr_status check_buffers(const tsr_collective *args, const extent *e, tsr_error *err)
{
    const char *name = tsr__collective_name(args->kind);
    uintptr_t send = (uintptr_t)args->send, recv = (uintptr_t)args->recv;
    size_t size = tsr_dtype_size(args->dtype);

    if (e->send > 0 && !send)
        return tsr__fail(err, TSR_ERR_ARG, "%s: send is NULL for %lld elements", name,
                         (long long)e->send);
    if (e->recv > 0 && !recv)
        return tsr__fail(err, TSR_ERR_ARG, "%s: recv is NULL for %lld elements", name,
                         (long long)e->recv);
    if (e->send == 0 || e->recv == 0)
        return TSR_OK;
    if (send + (size_t)e->send * size <= recv || recv + (size_t)e->recv * size <= send)
        return TSR_OK;
    if (e->own_send >= 0 && send + (size_t)e->own_send * size == recv + (size_t)e->own_recv * size)
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_ARG, "%s: send and recv overlap", name);
}

tsr_status tsr__collective_check(const tsr_collective *args, const tsr_group *group, tsr_error *err)
{
    const char *name = tsr__collective_name(args->kind);
    extent e;
    tsr_status st = TSR_OK;

    if ((unsigned)args->kind > TSR_COLL_RECV)
        return tsr__fail(err, TSR_ERR_ARG, "%d is not a kind of collective", (int)args->kind);
    if (args->kind == TSR_COLL_BARRIER)
        return TSR_OK;
    if (!tsr__dtype_valid(args->dtype))
        return tsr__fail(err, TSR_ERR_DTYPE, "%s: %d is not a dtype", name, (int)args->dtype);
    if (has_peer(args->kind) && (args->peer < 0 || args->peer >= group->n))
        return tsr__fail(err, TSR_ERR_ARG, "%s: index %d is not in a mesh of %d ranks", name,
                         args->peer, group->n);
    if (args->kind != TSR_COLL_BROADCAST && has_peer(args->kind) && args->peer == group->me)
        return tsr__fail(err, TSR_ERR_ARG, "%s: index %d is the calling rank itself", name,
                         args->peer);
    if (reduces(args->kind) && (unsigned)args->op > TSR_PROD)
        return tsr__fail(err, TSR_ERR_ARG, "%s: %d is not a reduction", name, (int)args->op);
    if (reduces(args->kind))
        TSR_TRY(tsr__reduce_check(args->dtype, args->op, err));
    TSR_TRY(find_extent(args, group, &e, err));
    TSR_TRY(check_buffers(args, &e, err));
done:
    return st;
}
