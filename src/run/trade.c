/* SPDX-License-Identifier: Apache-2.0 */
/* trade.c - lists of different lengths between all pairs of a group (trade.h). Each exchange is one
   call of the world; what a rank keeps for itself is copied by it too. */
#include "run/trade.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

tsr_status tsr__trade_open(tsr_trade *t, tsr_mesh *mesh, unsigned mdims, const char *what)
{
    tsr_ctx *ctx = mesh->ctx;
    tsr_status st;

    memset(t, 0, sizeof *t);
    t->ctx = ctx;
    t->what = what;
    for (const char *p = what; *p; p++)
        t->fingerprint = tsr__hash_mix(t->fingerprint, (uint8_t)*p);
    TSR_TRY(tsr__mesh_group(mesh, mdims, &t->group));
    TSR_TRY(
        tsr__alloc(&ctx->heap, 2 * (int64_t)t->group->n, sizeof *t->sent, &t->sent, &ctx->error));
    t->got = t->sent + t->group->n;
    TSR_TRY(tsr__alloc(&ctx->heap, 2 * (int64_t)t->group->n, sizeof *t->msg, &t->msg, &ctx->error));
    TSR_TRY(
        tsr__alloc(&ctx->heap, 2 * (int64_t)t->group->n, sizeof *t->piece, &t->piece, &ctx->error));
done:
    return st;
}

void tsr__trade_close(tsr_trade *t)
{
    tsr__free(&t->ctx->heap, t->sent);
    tsr__free(&t->ctx->heap, t->msg);
    tsr__free(&t->ctx->heap, t->piece);
}

/* One message for each rank: count[i] times width elements, one rank's after the other's. */
static void fill(tsr_trade *t, int at, size_t size, const int64_t *count, int64_t width)
{
    int64_t offset = 0, bytes = (int64_t)size;

    for (int i = 0; i < t->group->n; i++) {
        int64_t n = count ? count[i] * width : width;
        t->piece[at + i] =
            (tsr_piece){.offset = offset * bytes, .n = 1, .count = {n}, .stride = {bytes}};
        t->msg[at + i] = (tsr_msg){.peer = i, .n_pieces = n > 0, .piece = &t->piece[at + i]};
        offset += n;
    }
}

static tsr_status exchange(tsr_trade *t, tsr_dtype dtype, int64_t width, const int64_t *out_count,
                           const int64_t *in_count, const void *out, void *in)
{
    tsr_call call = {.group = t->group,
                     .dtype = dtype,
                     .send_base = out,
                     .recv_base = in,
                     .n_send = t->group->n,
                     .n_recv = t->group->n,
                     .send = t->msg,
                     .recv = t->msg + t->group->n,
                     .divisor = 1};

    t->fingerprint = tsr__hash_mix(t->fingerprint, (uint64_t)dtype);
    call.fingerprint = tsr__hash_final(t->fingerprint);
    snprintf(call.what, sizeof call.what, "%s, an exchange of %s", t->what, tsr_dtype_name(dtype));
    fill(t, 0, tsr_dtype_size(dtype), out_count, width);
    fill(t, t->group->n, tsr_dtype_size(dtype), in_count, width);
    return tsr__call(&call);
}

tsr_status tsr__trade_agree(tsr_trade *t)
{
    tsr_status st;

    TSR_TRY(exchange(t, TSR_I64, 1, NULL, NULL, t->sent, t->got));
    t->n_sent = t->n_got = 0;
    for (int i = 0; i < t->group->n; i++) {
        t->n_sent += t->sent[i];
        t->n_got += t->got[i];
    }
done:
    return st;
}

tsr_status tsr__trade_send(tsr_trade *t, tsr_dtype dtype, int64_t width, const void *sent,
                           void *got)
{
    return exchange(t, dtype, width, t->sent, t->got, sent, got);
}

tsr_status tsr__trade_return(tsr_trade *t, tsr_dtype dtype, int64_t width, const void *got,
                             void *back)
{
    return exchange(t, dtype, width, t->got, t->sent, got, back);
}
