/* SPDX-License-Identifier: Apache-2.0 */
/* message_faults.c - cases in which a rank fails, strays, is late or leaves: all ranks must return
   in time, with the right code and sentence, and nobody may touch memory that has been freed. */
#include "message_faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "numbers.h"
#include "sampling.h"

/* Message lengths: in the head, in one chunk, in many. */
static int64_t length(int64_t i)
{
    const int64_t lengths[] = {100, 2 * TSR_CHUNK_DIRECT + 8, 20000};
    return lengths[i % 3];
}

typedef struct flat {
    char *memory; /* what goes out to each, then what comes in from each */
    int64_t bytes;
    tsr_call call;
    tsr_pending *pending;
    tsr_piece out, in[CASE_RANKS];
    tsr_msg send[CASE_RANKS], recv[CASE_RANKS];
} flat;

static void flat_make(rank_state *r, int64_t bytes, const char *what, flat *f)
{
    int n = 0;

    *f = (flat){.bytes = bytes, .memory = malloc((size_t)(bytes + 1) * (size_t)(r->size + 1))};
    if (!f->memory)
        abort();
    memset(f->memory, r->rank + 1, (size_t)bytes);
    f->out = (tsr_piece){.n = 1, .count = {bytes}, .stride = {1}};
    for (int i = 0; i < r->size; i++) {
        if (i == r->rank)
            continue;
        f->in[n] = f->out;
        f->in[n].offset = bytes * (i + 1);
        f->send[n] = (tsr_msg){.peer = i, .n_pieces = 1, .piece = &f->out};
        f->recv[n] = (tsr_msg){.peer = i, .n_pieces = 1, .piece = &f->in[n]};
        n++;
    }
    f->call = (tsr_call){.group = r->all,
                         .fingerprint = (uint64_t)strlen(what) * 1000 + (unsigned char)what[0],
                         .dtype = TSR_U8,
                         .send_base = f->memory,
                         .recv_base = f->memory,
                         .n_send = n,
                         .n_recv = n,
                         .send = f->send,
                         .recv = f->recv};
    snprintf(f->call.what, sizeof f->call.what, "%s", what);
}

static void flat_check(rank_state *r, const flat *f)
{
    for (int i = 0; i < r->size; i++)
        for (int64_t k = 0; i != r->rank && k < f->bytes; k++)
            if (f->memory[f->bytes * (i + 1) + k] != i + 1) {
                case_wrong(r, __LINE__, "byte %lld from rank %d is wrong", (long long)k, i);
                return;
            }
}

tsr_status case_shuffle(rank_state *r, int64_t bytes, const char *what)
{
    flat f;
    flat_make(r, bytes, what, &f);
    tsr_status st = tsr__call(&f.call);
    if (st == TSR_OK)
        flat_check(r, &f);
    free(f.memory);
    return st;
}

static void expect(rank_state *r, int line, tsr_status st, tsr_status want, const char *text)
{
    if (st != want)
        case_wrong(r, line, "status %d (%s), not %d", (int)st, r->ctx.error.text, (int)want);
    else if (text && !strstr(r->ctx.error.text, text))
        case_wrong(r, line, "'%s' is not in: %s", text, r->ctx.error.text);
}
#define EXPECT(st, want, text) expect(r, __LINE__, st, want, text)

/* Everybody must be back before the timeout of 20 s; sanitizers slow everything down. */
static double patience(void)
{
    return is_slow_build() ? 60 : 15;
}

/* One rank fails at call arg / 2 + 1 of a row of six. */
void fault_each_call(rank_state *r)
{
    int victim = (int)(r->arg % 2) * (r->size - 1);
    tsr_status st = TSR_OK;
    double begin = now();
    int i = 0;

    if (r->rank == victim)
        r->world->fail_call_at = r->arg / 2 + 1;
    for (; i < 6 && st == TSR_OK; i++)
        st = case_shuffle(r, length(i + r->arg), "shuffle");
    if (r->rank == victim) {
        EXPECT(st, TSR_ERR_STATE, "fault injected");
        CASE_CHECK(r, i == r->arg / 2 + 1, "failed in call %d", i);
    } else {
        char text[100];
        snprintf(text, sizeof text, "rank %d failed: fault injected at call %d", victim,
                 (int)(r->arg / 2 + 1));
        EXPECT(st, TSR_ERR_PEER, text);
        CASE_CHECK(r, i <= r->arg / 2 + 1, "failed only in call %d", i);
    }
    r->ctx.error = (tsr_error){0};
    EXPECT(case_shuffle(r, 10, "shuffle"), r->rank == victim ? TSR_ERR_STATE : TSR_ERR_PEER, NULL);
    CASE_CHECK(r, now() - begin < patience(), "it took %g s", now() - begin);
}

/* The last rank calls something else: all are told both calls. */
void fault_diverged(rank_state *r)
{
    char text[100];
    int last = r->size - 1;
    double begin = now();
    tsr_status st = TSR_OK;

    /* a rank that is still here when others have diverged already is told so here */
    if (r->arg >= 2)
        st = case_shuffle(r, length(r->arg), "warm up");
    if (st == TSR_OK)
        st = case_shuffle(r, length(r->arg), r->rank == last ? "another" : "all-gather f32[8]");
    snprintf(text, sizeof text, "called all-gather f32[8], rank %d called another", last);
    EXPECT(st, TSR_ERR_DIVERGED, text);
    EXPECT(st, TSR_ERR_DIVERGED, "ranks diverged: rank ");
    CASE_CHECK(r, now() - begin < patience(), "it took %g s", now() - begin);
}

void fault_sizes(rank_state *r)
{
    tsr_status st = case_shuffle(r, length(r->arg) - (r->rank == 0), "shuffle");
    EXPECT(st, TSR_ERR_DIVERGED, "ranks diverged in shuffle: rank ");
}

/* The last rank comes when the others have given up. Timeout: 600 ms. */
void fault_late(rank_state *r)
{
    int last = r->size - 1;
    double begin = now();

    if (r->rank == last)
        usleep(2000 * 1000);
    tsr_status st = case_shuffle(r, length(r->arg), "shuffle");
    if (r->rank == last) {
        if (st == TSR_OK) /* all was here already, so it did not have to wait */
            st = case_shuffle(r, 10, "shuffle");
        EXPECT(st, TSR_ERR_PEER, "failed: rank ");
    } else { /* whoever was first; on a busy machine it may have waited for yet another one */
        EXPECT(st, st == TSR_ERR_PEER ? TSR_ERR_PEER : TSR_ERR_TIMEOUT,
               "waited 0.6 s in shuffle for rank");
    }
    CASE_CHECK(r, now() - begin < patience(), "it took %g s", now() - begin);
}

void fault_early_leave(rank_state *r)
{
    int last = r->size - 1;
    char text[100];
    double begin = now();

    tsr_status st = case_shuffle(r, length(r->arg + 1), "shuffle");
    if (r->rank == last) {
        EXPECT(st, TSR_OK, NULL);
        return;
    }
    if (st == TSR_OK) /* else another one is ahead, and has told us */
        st = case_shuffle(r, length(r->arg), "shuffle");
    snprintf(text, sizeof text, "waits in shuffle for rank %d, which has left the world", last);
    EXPECT(st, TSR_ERR_DIVERGED, text);
    CASE_CHECK(r, now() - begin < patience(), "it took %g s", now() - begin);
}

/* A rank starts a call and leaves; its memory goes after the world. */
void fault_unfinished(rank_state *r)
{
    flat f;

    flat_make(r, length(r->arg), "shuffle", &f);
    tsr_status st = tsr__call_start(&f.call, &f.pending);
    if (r->rank == 0) {
        tsr__group_close(r->all);
        r->world->ops->close(r->world);
        r->world = NULL;
    } else {
        if (st == TSR_OK)
            st = tsr__call_finish_take(r->world, f.pending);
        if (st == TSR_OK)
            st = case_shuffle(r, 100, "shuffle");
        EXPECT(st, TSR_ERR_PEER, "rank 0 left the world without finishing shuffle");
    }
    free(f.memory);
}

/* On the last rank the n-th allocation from now on fails. */
void fault_allocations(rank_state *r)
{
    tsr_status st = TSR_OK;
    int last = r->size - 1;

    if (r->rank == last)
        r->ctx.heap.fail_at = r->ctx.heap.calls + r->arg + 1;
    for (int i = 0; i < 4 && st == TSR_OK; i++)
        st = case_shuffle(r, length(i), "shuffle");
    r->ctx.heap.fail_at = 0;
    if (st == TSR_OK) /* all ranks must see the same: this fails if the last one does not */
        st = case_shuffle(r, 1, "shuffle");
    if (st != TSR_OK && r->rank == last)
        EXPECT(st, TSR_ERR_MEMORY, NULL);
    else if (st != TSR_OK)
        EXPECT(st, TSR_ERR_PEER, "failed: ");
}

/* A rank poisons the world between calls, the others are in one. */
void fault_poison(rank_state *r)
{
    tsr_error err = {.code = TSR_ERR_IO, .text = "cannot read x.npy"};
    tsr_status st;

    if (r->rank == 0) {
        usleep(20 * 1000);
        r->world->ops->poison(r->world, &err);
        st = r->arg >= 2 ? case_shuffle(r, length(r->arg), "shuffle") : TSR_ERR_IO;
        EXPECT(st, TSR_ERR_IO, NULL);
        return;
    }
    st = case_shuffle(r, length(r->arg), "shuffle");
    EXPECT(st, TSR_ERR_PEER, "rank 0 failed: cannot read x.npy");
}
