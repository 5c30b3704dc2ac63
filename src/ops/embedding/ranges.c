/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.c - ranges of a sharded list (ranges.h). Each exchange is one call of the world; who sends
   what to whom follows from parts and ranges, which all know. */
#include "ops/embedding/ranges.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "ops/embedding/lookups.h"
#include "run/alltoallv.h"

/* One call, in bytes; messages of one piece each. */
static tsr_status call_all(const tsr_ranges *r, const char *of, tsr_msg *msg, int n_send,
                           int n_recv, const void *from, void *to)
{
    tsr_call call = {.group = r->group,
                     .dtype = TSR_U8,
                     .send_base = from,
                     .recv_base = to,
                     .n_send = n_send,
                     .n_recv = n_recv,
                     .send = msg,
                     .recv = msg + r->group->n,
                     .divisor = 1};

    for (const char *p = r->what; *p; p++)
        call.fingerprint = tsr__hash_mix(call.fingerprint, (uint8_t)*p);
    call.fingerprint = tsr__hash_final(tsr__hash_mix(call.fingerprint, (uint8_t)*of));
    snprintf(call.what, sizeof call.what, "%s, an exchange of %s", r->what, of);
    return tsr__call(&call);
}

/* Room for messages to and from all, each with its piece. */
static tsr_status make_messages(const tsr_ranges *r, tsr_msg **msg, tsr_piece **piece)
{
    tsr_ctx *ctx = r->ctx;
    const int64_t n = 2 * (int64_t)r->group->n;
    tsr_status st;

    TSR_TRY(tsr__alloc(&ctx->heap, n, sizeof **msg, msg, &ctx->error));
    TSR_TRY(tsr__alloc(&ctx->heap, n, sizeof **piece, piece, &ctx->error));
done:
    return st;
}

static void set_message(tsr_msg *msg, tsr_piece *piece, int peer, int64_t offset, int64_t bytes)
{
    *piece = (tsr_piece){.offset = offset, .n = 1, .count = {bytes}, .stride = {1}};
    *msg = (tsr_msg){.peer = peer, .n_pieces = 1, .piece = piece};
}

static tsr_status tell_ranges(tsr_ranges *r, const int64_t own[2])
{
    const int n = r->group->n;
    const int64_t size = 2 * (int64_t)sizeof *own;
    tsr_msg *msg = NULL;
    tsr_piece *piece = NULL;
    tsr_status st;

    TSR_TRY(make_messages(r, &msg, &piece));
    for (int i = 0; i < n; i++) {
        set_message(&msg[i], &piece[i], i, 0, size);
        set_message(&msg[n + i], &piece[n + i], i, i * size, size);
    }
    TSR_TRY(call_all(r, "ranges", msg, n, n, own, r->range));
done:
    tsr__free(&r->ctx->heap, msg);
    tsr__free(&r->ctx->heap, piece);
    return st;
}

tsr_status tsr__ranges_open(tsr_ranges *r, tsr_mesh *mesh, const tsr_spec *list, int64_t begin,
                            int64_t end, const char *what)
{
    const unsigned mdims = tsr__list_mdims(list);
    tsr_ctx *ctx = mesh->ctx;
    tsr_status st;

    *r = (tsr_ranges){.ctx = ctx, .what = what};
    TSR_TRY(tsr__mesh_group(mesh, mdims, &r->group));
    TSR_TRY(tsr__owners_open(mesh, list, mdims, mdims, &r->parts));
    TSR_TRY(
        tsr__alloc(&ctx->heap, 2 * (int64_t)r->group->n, sizeof *r->range, &r->range, &ctx->error));
    TSR_TRY(tell_ranges(r, (const int64_t[]){begin, end}));
    TSR_TRY(tsr__received_check(ctx, what, "end of a range", r->range, 2 * (int64_t)r->group->n, 0,
                                list->shape.size[0]));
done:
    return st;
}

void tsr__ranges_close(tsr_ranges *r)
{
    if (!r->ctx)
        return;
    tsr__free(&r->ctx->heap, r->range);
    tsr__owners_close(r->ctx, &r->parts);
}

/* What a part and a range have in common, seen from where `from` begins; nothing is no message. */
static int add_message(tsr_msg *msg, tsr_piece *piece, int n, int peer, const int64_t *part,
                       const int64_t *range, int64_t from, size_t width)
{
    const int64_t begin = part[0] > range[0] ? part[0] : range[0];
    const int64_t end = part[1] < range[1] ? part[1] : range[1];

    if (begin >= end)
        return n;
    set_message(&msg[n], &piece[n], peer, (begin - from) * (int64_t)width,
                (end - begin) * (int64_t)width);
    return n + 1;
}

/* Every part and every range that meet are a message, there or back. */
static tsr_status move(tsr_ranges *r, const void *from, size_t width, void *to, bool back)
{
    const int n = r->group->n, me = r->group->me;
    const int64_t *part = &r->parts.begin[2 * me], *range = &r->range[2 * me];
    int n_part = 0, n_range = 0;
    tsr_msg *msg = NULL, *of_part, *of_range;
    tsr_piece *piece = NULL;
    tsr_status st;

    TSR_TRY(make_messages(r, &msg, &piece));
    of_part = msg + (back ? n : 0);
    of_range = msg + (back ? 0 : n);
    for (int i = 0; i < n; i++) {
        n_part = add_message(of_part, piece, n_part, i, part, &r->range[2 * i], part[0], width);
        n_range = add_message(of_range, piece + n, n_range, i, &r->parts.begin[2 * i], range,
                              range[0], width);
    }
    TSR_TRY(call_all(r, "parts", msg, back ? n_range : n_part, back ? n_part : n_range, from, to));
done:
    tsr__free(&r->ctx->heap, msg);
    tsr__free(&r->ctx->heap, piece);
    return st;
}

tsr_status tsr__ranges_fetch(tsr_ranges *r, const void *part, size_t width, void *range)
{
    return move(r, part, width, range, false);
}

tsr_status tsr__ranges_return(tsr_ranges *r, const void *range, size_t width, void *part)
{
    return move(r, range, width, part, true);
}
