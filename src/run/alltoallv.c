/* SPDX-License-Identifier: Apache-2.0 */
/* alltoallv.c - ragged all-to-all (alltoallv.h). Each exchange is one call of the world, which also
   copies what a rank keeps for itself. Payloads lie one after the other in one buffer, so a message
   to a rank has one piece per payload, and nothing is packed. */
#include "run/alltoallv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

enum { ALIGN = 64 };
enum { MOST_ITEMS_LOG2 = 40 }; /* that one rank sends: sums of them are far from overflow */

tsr_status tsr__alltoallv_open(tsr_alltoallv *t, tsr_mesh *mesh, unsigned mdims, int n_lists,
                               const char *what)
{
    tsr_ctx *ctx = mesh->ctx;
    int64_t n;
    tsr_status st;

    memset(t, 0, sizeof *t);
    t->ctx = ctx;
    t->what = what;
    t->n_lists = n_lists;
    for (const char *p = what; *p; p++)
        t->fingerprint = tsr__hash_mix(t->fingerprint, (uint8_t)*p);
    TSR_TRY(tsr__mesh_group(mesh, mdims, &t->group));
    n = (int64_t)n_lists * t->group->n;
    TSR_TRY(tsr__alloc(&ctx->heap, 2 * n, sizeof *t->sent, &t->sent, &ctx->error));
    t->got = t->sent + n;
done:
    return st;
}

void tsr__alltoallv_close(tsr_alltoallv *t)
{
    tsr__free(&t->ctx->heap, t->sent);
    while (t->n_buffers > 0)
        tsr__pool_put(&t->ctx->pool, t->buffer[--t->n_buffers]);
}

int64_t tsr__alltoallv_count(const tsr_alltoallv *t, const int64_t *count)
{
    int64_t n = 0;

    for (int i = 0; i < t->group->n; i++)
        n += count[i];
    return n;
}

void tsr__alltoallv_first_items(const tsr_alltoallv *t, const int64_t *count, int64_t *out)
{
    int64_t n = 0;

    for (int i = 0; i < t->group->n; i++) {
        out[i] = n;
        n += count[i];
    }
}

/* One message to, or from, each rank, of `most` pieces at most. */
typedef struct messages {
    tsr_msg *msg;
    tsr_piece *piece;
} messages;

static void add_piece(messages *l, int peer, const tsr_piece *piece)
{
    l->piece[l->msg[peer].n_pieces++] = *piece;
}

static void write_counts(const tsr_alltoallv *t, messages *l, int peer)
{
    add_piece(l, peer,
              &(tsr_piece){.offset = (int64_t)sizeof *t->sent * peer,
                           .n = 1,
                           .count = {t->n_lists},
                           .stride = {(int64_t)sizeof *t->sent * t->group->n}});
}

static void write_payloads(const tsr_alltoallv *t, tsr_payload *const *payloads, int n, bool in,
                           messages *l, int peer, const char *base)
{
    for (int k = 0; k < n; k++) {
        const int64_t *count = (in != payloads[k]->is_response ? t->got : t->sent) +
                               (int64_t)payloads[k]->list * t->group->n;
        int64_t before = 0, bytes = count[peer] * (int64_t)payloads[k]->width;
        for (int i = 0; i < peer; i++)
            before += count[i];
        if (bytes > 0)
            add_piece(
                l, peer,
                &(tsr_piece){.offset = (const char *)(in ? payloads[k]->in : payloads[k]->out) -
                                       base + before * (int64_t)payloads[k]->width,
                             .n = 1,
                             .count = {bytes},
                             .stride = {1}});
    }
}

/* One call: payloads from and to `base`, or without payloads the counts. */
static tsr_status exchange(tsr_alltoallv *t, tsr_payload *const *payloads, int n, const void *out,
                           void *in)
{
    const int ranks = t->group->n, most = n > 0 ? n : 1;
    tsr_call call = {.group = t->group,
                     .dtype = n > 0 ? TSR_U8 : TSR_I64,
                     .send_base = out,
                     .recv_base = in,
                     .n_send = ranks,
                     .n_recv = ranks,
                     .dense = true,
                     .divisor = 1};
    tsr_msg *msg = NULL;
    tsr_piece *piece = NULL;
    tsr_status st;

    TSR_TRY(tsr__alloc(&t->ctx->heap, 2 * (int64_t)ranks, sizeof *msg, &msg, &t->ctx->error));
    TSR_TRY(tsr__alloc(&t->ctx->heap, 2 * (int64_t)ranks * most, sizeof *piece, &piece,
                       &t->ctx->error));
    for (int i = 0; i < 2 * ranks; i++) {
        messages l = {.msg = msg + (i < ranks ? 0 : ranks), .piece = piece + (int64_t)i * most};
        msg[i] = (tsr_msg){.peer = i % ranks, .piece = l.piece};
        if (n > 0)
            write_payloads(t, payloads, n, i >= ranks, &l, i % ranks, i < ranks ? out : in);
        else
            write_counts(t, &l, i % ranks);
    }
    call.send = msg;
    call.recv = msg + ranks;
    t->fingerprint = tsr__hash_mix(t->fingerprint, (uint64_t)n);
    call.fingerprint = tsr__hash_final(t->fingerprint);
    snprintf(call.what, sizeof call.what, "%s, an exchange of %s", t->what,
             n > 0 ? "rows" : "lengths");
    TSR_TRY(tsr__call(&call));
done:
    tsr__free(&t->ctx->heap, msg);
    tsr__free(&t->ctx->heap, piece);
    return st;
}

tsr_status tsr__received_check(tsr_ctx *ctx, const char *what, const char *field,
                               const int64_t *numbers, int64_t n, int64_t low, int64_t high)
{
    bool good = true;

    for (int64_t i = 0; i < n; i++)
        good &= numbers[i] >= low && numbers[i] <= high;
    for (int64_t i = 0; !good && i < n; i++)
        if (numbers[i] < low || numbers[i] > high)
            return tsr__fail(&ctx->error, TSR_ERR_IO,
                             "%s: rank %d received damaged data: %s %" PRId64
                             " is out of range %" PRId64 " to %" PRId64,
                             what, ctx->world->rank, field, numbers[i], low, high);
    return TSR_OK;
}

tsr_status tsr__alltoallv_exchange_counts(tsr_alltoallv *t)
{
    tsr_status st;

    TSR_TRY(exchange(t, NULL, 0, t->sent, t->got));
    TSR_TRY(tsr__received_check(t->ctx, t->what, "length", t->got,
                                (int64_t)t->n_lists * t->group->n, 0,
                                INT64_C(1) << MOST_ITEMS_LOG2));
done:
    return st;
}

tsr_status tsr__alltoallv_alloc(tsr_alltoallv *t, tsr_payload *const *payloads, int n)
{
    size_t bytes = 0, more;
    tsr_status st = TSR_OK;

    for (int pass = 0; pass < 2; pass++) {
        size_t at = 0;
        if (pass == 1) {
            TSR_TRY(tsr__pool_get(&t->ctx->pool, bytes, &t->buffer[t->n_buffers], &t->ctx->error));
            t->n_buffers++;
        }
        for (int k = 0; k < 2 * n; k++) {
            tsr_payload *payload = payloads[k / 2];
            const int64_t *count = (payload->is_response == (k % 2 == 0) ? t->got : t->sent) +
                                   (int64_t)payload->list * t->group->n;
            if (pass == 1)
                *(k % 2 ? &payload->in : &payload->out) = (char *)t->buffer[t->n_buffers - 1] + at;
            if (__builtin_mul_overflow((size_t)tsr__alltoallv_count(t, count), payload->width,
                                       &more) ||
                __builtin_add_overflow(at, more + ALIGN - 1, &at) || more > PTRDIFF_MAX)
                TSR_TRY(tsr__fail(&t->ctx->error, TSR_ERR_MEMORY,
                                  "%s: rows to exchange are more than memory can hold", t->what));
            at = at / ALIGN * ALIGN;
        }
        bytes = at;
    }
done:
    return st;
}

tsr_status tsr__alltoallv_exchange(tsr_alltoallv *t, tsr_payload *const *payloads, int n)
{
    void *buffer = t->buffer[t->n_buffers - 1];

    return exchange(t, payloads, n, buffer, buffer);
}
