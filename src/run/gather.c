/* SPDX-License-Identifier: Apache-2.0 */
/* gather.c - see gather.h. Called by moments.c and top_merge.c. */
#include "run/gather.h"

#include <stdio.h>

#include "base/hash.h"

tsr_status tsr__gather(tsr_ctx *ctx, tsr_group *group, const char *what, int64_t count,
                       void *numbers)
{
    const int64_t bytes = count * 8;
    tsr_call call = {
        .group = group, .dtype = TSR_F64, .send_base = numbers, .recv_base = numbers, .divisor = 1};
    uint64_t hash = tsr__hash_mix(0x6e6f726d, (uint64_t)count);
    tsr_msg *msg = NULL;
    tsr_piece *piece = NULL;
    tsr_status st;

    TSR_TRY(tsr__alloc(&ctx->heap, 2 * (int64_t)group->n, sizeof *msg, &msg, &ctx->error));
    TSR_TRY(tsr__alloc(&ctx->heap, group->n, sizeof *piece, &piece, &ctx->error));
    for (int i = 0; i < group->n; i++) {
        piece[i] = (tsr_piece){.offset = i * bytes, .n = 1, .count = {count}, .stride = {8}};
        if (i == group->me)
            continue;
        msg[call.n_send++] =
            (tsr_msg){.peer = i, .n_pieces = count > 0, .piece = &piece[group->me]};
        msg[group->n + call.n_recv++] =
            (tsr_msg){.peer = i, .n_pieces = count > 0, .piece = &piece[i]};
    }
    call.send = msg;
    call.recv = msg + group->n;
    for (const char *p = what; *p; p++)
        hash = tsr__hash_mix(hash, (uint8_t)*p);
    call.fingerprint = tsr__hash_final(hash);
    snprintf(call.what, sizeof call.what, "%s, a gathering of what its ranks found", what);
    TSR_TRY(tsr__call(&call));
done:
    tsr__free(&ctx->heap, msg);
    tsr__free(&ctx->heap, piece);
    return st;
}
