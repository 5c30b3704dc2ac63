/* SPDX-License-Identifier: Apache-2.0 */
/* message_cases.c - cases in which all goes well: pieces of all forms and sizes, reductions,
   several calls at once, groups. Those in which something fails are in message_faults.c. */
#include "message_cases.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "message_faults.h"
#include "sampling.h"

int64_t case_sample(const message_case *c, int size, int64_t *step)
{
    const int64_t many = c->n_args > 8 && sample_every() > 1 ? 4 : 1, quick = sample_quick();

    *step = quick > many ? quick : many;
    if (*step > c->n_args)
        *step = c->n_args;
    return (sample_first(*step) + size) % *step; /* others for each size */
}

void case_wrong(rank_state *r, int line, const char *format, ...)
{
    va_list args;
    int n;

    if (r->why[0])
        return;
    n = snprintf(r->why, sizeof r->why, "rank %d, arg %lld, line %d: ", r->rank, (long long)r->arg,
                 line);
    va_start(args, format);
    vsnprintf(r->why + n, sizeof r->why - (size_t)n, format, args);
    va_end(args);
}

void case_run_joined(rank_state *r, const message_case *c)
{
    int ranks[CASE_RANKS];

    r->rank = r->world->rank;
    r->size = r->world->size;
    r->ctx.world = r->world;
    for (int i = 0; i < r->size; i++)
        ranks[i] = i;
    if (tsr__group_open(r->world, ranks, r->size, &r->all) != TSR_OK)
        case_wrong(r, __LINE__, "%s", r->ctx.error.text);
    else
        c->run(r);
    if (r->world) {
        tsr__group_close(r->all);
        r->world->ops->close(r->world);
    }
    CASE_CHECK(r, r->ctx.pool.used == 0, "%zu bytes of the pool are still in use",
               r->ctx.pool.used);
    tsr__pool_trim(&r->ctx.pool);
    CASE_CHECK(r, r->ctx.heap.live == 0, "%lld blocks leaked", (long long)r->ctx.heap.live);
}

/* ---- a random shuffle ------------------------------------------------------------------------ */

/* Numbers that all ranks draw alike. */
static uint64_t draw(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t h = tsr__hash_mix(tsr__hash_mix(tsr__hash_mix(seed, a), b), c);
    return tsr__hash_final(h);
}

static int64_t some_count(uint64_t seed, size_t size, const tsr_group *group)
{
    const int64_t eager = TSR_EAGER / (int64_t)size;
    const int64_t chunk = (int64_t)(tsr__message_chunk(group) / size);
    const int64_t counts[] = {0,
                              1,
                              7,
                              60,
                              eager - 1,
                              eager,
                              eager + 1,
                              10000,
                              chunk - 1,
                              chunk,
                              chunk + 1,
                              2 * chunk,
                              64,
                              0,
                              12,
                              2 * chunk + 777,
                              4 * chunk + 1,
                              30};
    return counts[seed % (sizeof counts / sizeof counts[0])];
}

/* A piece of the given counts from *at on: contiguous, in another order of the loops, or with gaps;
   *at moves on. Forms differ between the two ends of a message, the counts do not. */
static tsr_piece lay_out(const int64_t *count, size_t size, uint64_t form, int64_t *at)
{
    tsr_piece p = {.offset = *at, .n = 3};
    int64_t step = (int64_t)size;
    int order[3] = {0, 1, 2};

    if (form % 3 == 1)
        order[0] = 2, order[2] = 0;
    for (int i = 2; i >= 0; i--) {
        int k = order[i];
        p.count[k] = count[k];
        p.stride[k] = step;
        step *= count[k];
        if (form % 3 == 2)
            step += 3 * (int64_t)size;
    }
    *at += step + (int64_t)size * (int64_t)(form % 5);
    return p;
}

enum { MAX_PIECES = 3 };

typedef struct side {
    char *memory;
    int64_t bytes;
    int n;
    tsr_msg msg[CASE_RANKS];
    tsr_piece piece[CASE_RANKS][MAX_PIECES];
} side;

/* The messages of rank r from or to all peers. Equal draws at both ends give equal counts. */
static void make_side(const rank_state *r, uint64_t seed, size_t size, bool sending, side *s)
{
    int64_t at = 64;

    for (int peer = 0; peer < r->size; peer++) {
        uint64_t from = (uint64_t)(sending ? r->rank : peer),
                 to = (uint64_t)(sending ? peer : r->rank);
        uint64_t d = draw(seed, from, to, 1);
        tsr_msg *m = &s->msg[s->n];
        if (d % 7 == 0)
            continue; /* no message at all */
        m->peer = peer;
        m->n_pieces = d % 7 == 1 ? 0 : d % 7 == 2 ? MAX_PIECES : 1;
        m->piece = s->piece[s->n];
        for (int i = 0; i < m->n_pieces; i++) {
            int64_t n = some_count(draw(seed, from, to, 10 + (uint64_t)i), size, r->all);
            int64_t count[3] = {1, 1, n};
            if (n % 2 == 0)
                count[0] = 2, count[2] = n / 2;
            if (count[2] % 5 == 0)
                count[1] = 5, count[2] /= 5;
            s->piece[s->n][i] = lay_out(count, size, draw(seed, from, to, sending ? 20 : 30), &at);
        }
        s->n++;
    }
    s->bytes = at + 64;
}

/* Sizes that the compiler sees are no calls, of which sanitizers make much. */
static void set_element(char *p, size_t size, uint64_t value)
{
    if (size == 1)
        memcpy(p, &value, 1);
    else if (size == 2)
        memcpy(p, &value, 2);
    else if (size == 4)
        memcpy(p, &value, 4);
    else
        memcpy(p, &value, 8);
}

static uint64_t element(const char *p, size_t size)
{
    uint64_t value = 0;

    if (size == 1)
        memcpy(&value, p, 1);
    else if (size == 2)
        memcpy(&value, p, 2);
    else if (size == 4)
        memcpy(&value, p, 4);
    else
        memcpy(&value, p, 8);
    return value;
}

/* Run over all elements of a message: write its values, or count those that differ. */
static int64_t walk(side *s, const tsr_msg *m, size_t size, uint64_t seed, bool writing)
{
    int64_t wrong = 0;
    uint64_t index = 0;

    for (int i = 0; i < m->n_pieces; i++) {
        const tsr_piece *p = &m->piece[i];
        for (int64_t a = 0; a < p->count[0]; a++)
            for (int64_t b = 0; b < p->count[1]; b++)
                for (int64_t c = 0; c < p->count[2]; c++) {
                    char *at = s->memory + p->offset + a * p->stride[0] + b * p->stride[1] +
                               c * p->stride[2];
                    const uint64_t value = seed + index++ * UINT64_C(0x9e3779b97f4a7c15);
                    if (writing) {
                        set_element(at, size, value);
                        continue;
                    }
                    wrong += element(at, size) != (value & UINT64_MAX >> (64 - 8 * size));
                    set_element(at, size, UINT64_C(0x5a5a5a5a5a5a5a5a)); /* for the rest */
                }
    }
    return wrong;
}

typedef struct shuffle {
    side send, recv;
    tsr_call call;
    tsr_pending *pending;
    uint64_t seed;
    size_t size;
} shuffle;

static bool shuffle_make(rank_state *r, uint64_t seed, tsr_dtype dtype, tsr_group *group,
                         shuffle *s)
{
    *s = (shuffle){.seed = seed, .size = tsr_dtype_size(dtype)};
    make_side(r, seed, s->size, true, &s->send);
    make_side(r, seed, s->size, false, &s->recv);
    s->send.memory = malloc((size_t)s->send.bytes);
    s->recv.memory = malloc((size_t)s->recv.bytes);
    if (!s->send.memory || !s->recv.memory) {
        case_wrong(r, __LINE__, "no memory");
        return false;
    }
    memset(s->send.memory, 0x11, (size_t)s->send.bytes);
    memset(s->recv.memory, 0x5a, (size_t)s->recv.bytes);
    for (int i = 0; i < s->send.n; i++)
        walk(&s->send, &s->send.msg[i], s->size,
             draw(seed, (uint64_t)r->rank, (uint64_t)s->send.msg[i].peer, 2), true);
    s->call = (tsr_call){.group = group,
                         .fingerprint = seed,
                         .dtype = dtype,
                         .send_base = s->send.memory,
                         .recv_base = s->recv.memory,
                         .n_send = s->send.n,
                         .n_recv = s->recv.n,
                         .send = s->send.msg,
                         .recv = s->recv.msg};
    snprintf(s->call.what, sizeof s->call.what, "shuffle %llu", (unsigned long long)seed);
    return true;
}

static void shuffle_check(rank_state *r, shuffle *s)
{
    for (int i = 0; i < s->recv.n; i++) {
        const tsr_msg *m = &s->recv.msg[i];
        int64_t wrong = walk(&s->recv, m, s->size,
                             draw(s->seed, (uint64_t)m->peer, (uint64_t)r->rank, 2), false);
        CASE_CHECK(r, wrong == 0, "%s: %lld elements from rank %d are wrong", s->call.what,
                   (long long)wrong, m->peer);
    }
    int64_t touched = 0;
    for (int64_t i = 0; i < s->recv.bytes; i++)
        touched += s->recv.memory[i] != 0x5a;
    CASE_CHECK(r, touched == 0, "%s: %lld bytes beside the pieces were written", s->call.what,
               (long long)touched);
}

static void shuffle_free(shuffle *s)
{
    free(s->send.memory);
    free(s->recv.memory);
}

static void case_shuffles(rank_state *r)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_U8, TSR_F64, TSR_BF16};

    for (uint64_t i = 0; i < 4 && !r->why[0]; i++) {
        shuffle s;
        if (shuffle_make(r, (uint64_t)r->arg * 100 + i, dtypes[(r->arg + (int64_t)i) % 4], r->all,
                         &s)) {
            tsr_status st = tsr__call(&s.call);
            CASE_CHECK(r, st == TSR_OK, "%s", r->ctx.error.text);
            shuffle_check(r, &s);
        }
        shuffle_free(&s);
    }
}

/* Calls are started in one order everywhere and finished in another on each rank. */
static void case_started(rank_state *r)
{
    enum { N = 40 };
    shuffle s[N];
    int n = N, left = n;
    tsr_status st;

    for (int i = 0; i < n; i++) {
        if (!shuffle_make(r, 7000 + (uint64_t)(r->arg * n + i), TSR_F32, r->all, &s[i]))
            return;
        st = tsr__call_start(&s[i].call, &s[i].pending);
        CASE_CHECK(r, st == TSR_OK, "%s", r->ctx.error.text);
    }
    for (uint64_t k = 0; left > 0; k++) {
        int i = (int)(draw((uint64_t)r->arg, (uint64_t)r->rank, k, 3) % (uint64_t)n);
        if (!s[i].pending)
            continue;
        st = tsr__call_finish_take(r->world, s[i].pending);
        CASE_CHECK(r, st == TSR_OK, "%s", r->ctx.error.text);
        shuffle_check(r, &s[i]);
        s[i].pending = NULL;
        left--;
    }
    for (int i = 0; i < n; i++)
        shuffle_free(&s[i]);
}

/* Calls of different groups of the same ranks need not come in one order. */
static void case_groups(rank_state *r)
{
    int ranks[CASE_RANKS];
    tsr_group *group[3] = {r->all};
    shuffle s[3];

    for (int i = 0; i < r->size; i++)
        ranks[i] = i;
    CASE_CHECK(r, tsr__group_open_lane(r->world, ranks, r->size, 1, &group[1]) == TSR_OK, "%s",
               r->ctx.error.text);
    CASE_CHECK(r, tsr__group_open_lane(r->world, ranks, r->size, 2, &group[2]) == TSR_OK, "%s",
               r->ctx.error.text);
    for (int i = 0; i < 3; i++)
        if (!shuffle_make(r, 9000 + (uint64_t)(r->arg * 3 + i), TSR_F32, group[i], &s[i]))
            return;
    for (int i = 0; i < 3; i++) {
        int k = (i + r->rank) % 3;
        CASE_CHECK(r, tsr__call_start(&s[k].call, &s[k].pending) == TSR_OK, "%s",
                   r->ctx.error.text);
    }
    for (int i = 0; i < 3; i++) {
        int k = (2 * i + r->rank) % 3;
        CASE_CHECK(r, tsr__call_finish_take(r->world, s[k].pending) == TSR_OK, "%s",
                   r->ctx.error.text);
        shuffle_check(r, &s[k]);
    }
    for (int i = 0; i < 3; i++)
        shuffle_free(&s[i]);
    tsr__group_close(group[1]);
    tsr__group_close(group[2]);
}

/* ---- reductions ------------------------------------------------------------------------------ */

static double term(int rank, int64_t i)
{
    return (double)((rank * 7 + i * 3) % 11) - 4 + (double)rank / 3;
}

/* Every rank reduces its slice of n elements over all ranks; with stride 2 if `strided`. */
static void reduce_once(rank_state *r, tsr_dtype dtype, tsr_reduce op, int64_t n, bool strided)
{
    size_t size = tsr_dtype_size(dtype);
    int64_t step = strided ? 2 : 1, divisor = op == TSR_SUM && n % 2 == 0 ? r->size : 1;
    size_t slice = (size_t)(n * step) * size;
    char *a = calloc((size_t)r->size + 2, slice + 8), *out = a ? a + slice * (size_t)r->size : NULL;
    char *want = malloc((size_t)n * size + 8),
         *terms = calloc((size_t)r->size, (size_t)n * size + 8);
    const void *src[CASE_RANKS];
    tsr_piece piece[CASE_RANKS + 1];
    tsr_msg send[CASE_RANKS], recv[CASE_RANKS];

    if (!a || !want || !terms)
        abort();
    if (!tsr__dtype_is_float(dtype))
        divisor = 1;
    for (int i = 0; i <= r->size; i++)
        piece[i] = (tsr_piece){.offset = i == r->size ? 0 : (int64_t)slice * i,
                               .n = 1,
                               .count = {n},
                               .stride = {step * (int64_t)size}};
    for (int i = 0; i < r->size; i++) {
        send[i] = (tsr_msg){.peer = i, .n_pieces = 1, .piece = &piece[i]};
        recv[i] = (tsr_msg){.peer = i, .n_pieces = 1, .piece = &piece[r->size]};
        for (int64_t k = 0; k < n; k++) {
            tsr__put(dtype, a + (size_t)i * slice, k * step, term(r->rank, k + i));
            tsr__put(dtype, terms + (size_t)i * (size_t)n * size, k, term(i, k + r->rank));
        }
        src[i] = terms + (size_t)i * (size_t)n * size;
    }
    tsr__reduce_ref(dtype, op, divisor, r->size, src, n, want);
    tsr_call call = {.group = r->all,
                     .fingerprint = (uint64_t)n,
                     .what = "reduction",
                     .dtype = dtype,
                     .send_base = a,
                     .recv_base = out,
                     .n_send = r->size,
                     .n_recv = r->size,
                     .send = send,
                     .recv = recv,
                     .reduce = true,
                     .op = op,
                     .divisor = divisor};
    CASE_CHECK(r, tsr__call(&call) == TSR_OK, "%s", r->ctx.error.text);
    for (int64_t k = 0; k < n; k++) {
        if (memcmp(out + (size_t)(k * step) * size, want + (size_t)k * size, size) == 0)
            continue;
        case_wrong(r, __LINE__, "%s %s of %lld: element %lld is %g, not %g", tsr_dtype_name(dtype),
                   tsr_reduce_name(op), (long long)n, (long long)k, tsr__get(dtype, out, k * step),
                   tsr__get(dtype, want, k));
        break;
    }
    free(a);
    free(want);
    free(terms);
}

static void case_reductions(rank_state *r)
{
    static const tsr_reduce ops[] = {TSR_SUM, TSR_MIN, TSR_MAX, TSR_PROD};
    tsr_dtype dtype = (tsr_dtype)(r->arg < TSR_BOOL ? r->arg : r->arg + 1); /* bool has none */
    int64_t size = (int64_t)tsr_dtype_size(dtype);
    int64_t chunk = (int64_t)tsr__message_chunk(r->all) / size;
    const int64_t counts[] = {
        0, 1, 5, TSR_EAGER / size, TSR_EAGER / size + 1, chunk, 2 * chunk + 1};

    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 7; k++)
            if (k < 5 || (i == 0 && size == 4))
                reduce_once(r, dtype, ops[i], counts[k], k % 2 == 1);
    reduce_once(r, dtype, TSR_SUM, chunk + 1, true);
}

const message_case message_cases[] = {
    {"shuffles", case_shuffles, 6, 20000, 1},
    {"started calls finish in any order", case_started, 2, 20000, 1},
    {"groups do not wait for each other", case_groups, 3, 20000, 1},
    {"reductions of all dtypes", case_reductions, TSR__FIELD - 1, 20000, 1},
    {"fault at each call", fault_each_call, 12, 20000, 2},
    {"diverged calls", fault_diverged, 4, 20000, 2},
    {"diverged sizes", fault_sizes, 3, 20000, 2},
    {"a rank is late", fault_late, 2, 600, 2},
    {"a rank leaves early", fault_early_leave, 4, 20000, 2},
    {"a call is never finished", fault_unfinished, 2, 20000, 2},
    {"each allocation fails", fault_allocations, 30, 20000, 2},
    {"a rank fails while others wait", fault_poison, 4, 20000, 2},
};
const int n_message_cases = sizeof message_cases / sizeof message_cases[0];
