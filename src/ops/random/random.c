/* SPDX-License-Identifier: Apache-2.0 */
/* random.c - uniform, normal, bernoulli, randint, permutation and dropout: runs of elements that
   follow each other in the whole tensor are made of runs of random words. Called through the rows
   of ops/random/random_ops.c. */
#ifdef __clang__
/* Before the functions of math_f64.h; gcc contracts nothing in C11. */
#pragma STDC FP_CONTRACT OFF
#endif
#include "ops/random/random.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/half.h"
#include "base/stream.h"
#include "kernel/index.h"
#include "kernel/kinds.h"
#include "kernel/math_f64.h"
#include "kernel/positions.h"

/* 53 digits: 32 of the first stream, 21 of the second. Conversions are of signed numbers, which
   processors have. */
TSR__INLINE double fraction(uint32_t word, uint32_t more)
{
    const double high = (double)(int32_t)(word ^ 0x80000000u) + 0x1p31;

    return (high * 0x1p21 + (double)(int32_t)(more >> 11)) * 0x1p-53;
}

/* What one set of instructions does. */
typedef struct transforms {
    void (*uniform_f32)(const tsr_random *r, const uint32_t *w, int64_t n, float *y);
    void (*uniform_f64)(const tsr_random *r, const uint32_t *w, const uint32_t *more, int64_t n,
                        double *y);
    void (*normals_f32)(const tsr_random *r, const uint32_t *w, int64_t n, float *y);
    void (*normals_f64)(const tsr_random *r, const uint32_t *w, const uint32_t *more, int64_t n,
                        double *y);
    void (*drop_f32)(const tsr_random *r, const uint32_t *w, int64_t n, const float *x, float *y);
    void (*drop_f64)(const tsr_random *r, const uint32_t *w, int64_t n, const double *x, double *y);
    void (*bernoulli_1)(uint32_t cut, uint8_t one, const uint32_t *w, int64_t n, uint8_t *y);
    void (*bernoulli_2)(uint32_t cut, uint16_t one, const uint32_t *w, int64_t n, uint16_t *y);
    void (*bernoulli_4)(uint32_t cut, uint32_t one, const uint32_t *w, int64_t n, uint32_t *y);
    void (*bernoulli_8)(uint32_t cut, uint64_t one, const uint32_t *w, int64_t n, uint64_t *y);
} transforms;

#define TABLE random_kernels
#define BODY "ops/random/random.inc.h"
#define TYPES "base/untyped.inc.h"
#define AVX2 TSR__AVX2
#define AVX512 TSR__AVX512
#include "base/kernel_table.inc.h"

enum { BLOCKS = 256, WORDS = 4 * BLOCKS, TOGETHER = 16 }; /* at a time, in the cache */

typedef struct job {
    tsr_random random;
    tsr_kernel_variant variant;
    const transforms *by;
    size_t size; /* of an element */
    const char *x;
    char *y;
    size_t past; /* bytes that may go past the caches: not where they were just read */
} job;

/* ---- a call ---- */

/* The largest number of a dtype below x. */
static double below(tsr_dtype dtype, double x)
{
    uint64_t bits = 0;
    double near;

    tsr__put(dtype, &bits, 0, x);
    near = tsr__get(dtype, &bits, 0);
    if (near < x)
        return near;
    if (near == 0) { /* minus the smallest */
        bits = 1 | UINT64_C(1) << (8 * tsr_dtype_size(dtype) - 1);
        return tsr__get(dtype, &bits, 0);
    }
    bits += near < 0 ? 1 : -1;
    return tsr__get(dtype, &bits, 0);
}

static void prepare_permutation(tsr_random *r, uint64_t range)
{
    int bits = 0;

    r->range = range;
    while (bits < 63 && UINT64_C(1) << bits < r->range)
        bits++;
    r->left = bits / 2;
    r->right = bits - r->left;
    tsr__random_words(&r->stream, 0, sizeof r->round / sizeof *r->round / 4, TSR_VARIANT_PLAIN,
                      r->round);
}

tsr_random tsr__random_of(const tsr_kernel_call *call, tsr_random_kind kind)
{
    static const int digits[] = {[TSR_F32] = 24, [TSR_F64] = 53, [TSR_F16] = 11, [TSR_BF16] = 8};
    const tsr_attr *a = call->attrs.value;
    const int seed = kind == TSR_RANDOM_PERMUTATION                               ? 0
                     : kind == TSR_RANDOM_BERNOULLI || kind == TSR_RANDOM_DROPOUT ? 1
                                                                                  : 2;
    tsr_random r = {.kind = kind,
                    .dtype = call->out[0].dtype,
                    .stream = {tsr__seed_of(&a[seed]), tsr__seed_of(&a[seed + 1])},
                    .wide = kind == TSR_RANDOM_RANDINT ||
                            (kind <= TSR_RANDOM_NORMAL && call->out[0].dtype == TSR_F64)};

    r.more = (tsr_stream){r.stream.seed, r.stream.offset ^ UINT64_C(1) << 63};

    switch (kind) {
    case TSR_RANDOM_UNIFORM:
    case TSR_RANDOM_NORMAL:
        r.bits = digits[r.dtype];
        r.a = a[0].f;
        r.b = a[1].f;
        if (kind == TSR_RANDOM_UNIFORM) {
            r.limit = r.a < r.b ? fmax(below(r.dtype, r.b), r.a) : r.a;
            r.scale = r.b - r.a > (r.wide ? DBL_MAX : FLT_MAX) ? 2 : 1;
            r.a /= r.scale;
            r.b /= r.scale;
        }
        break;
    case TSR_RANDOM_RANDINT:
        r.low = a[0].i[0];
        r.range = (uint64_t)a[1].i[0] - (uint64_t)a[0].i[0];
        break;
    case TSR_RANDOM_PERMUTATION: prepare_permutation(&r, (uint64_t)call->number[0]); break;
    default: /* BERNOULLI, DROPOUT */
        r.cut = (uint64_t)(a[0].f * 0x1p32);
        r.scale = a[0].f < 1 ? 1 / (1 - a[0].f) : 0;
        break;
    }
    return r;
}

tsr_random tsr__permutation_of(const tsr_stream *stream, int64_t n)
{
    tsr_random r = {.kind = TSR_RANDOM_PERMUTATION, .dtype = TSR_I64, .stream = *stream};

    prepare_permutation(&r, (uint64_t)n);
    return r;
}

/* ---- numbers of words ---- */

/* floor(64 bits / 2^64 range): no number is preferred by more than range / 2^64. */
int64_t tsr__randint_at(const tsr_random *r, uint32_t word, uint32_t more)
{
    __extension__ unsigned __int128 product =
        (unsigned __int128)((uint64_t)word << 32 | more) * r->range;

    return (int64_t)((uint64_t)r->low + (uint64_t)(product >> 64));
}

/* A Feistel network over the next power of two: each half in turn is changed by a function of the
   other, which can be undone, so it is a permutation. n of them side by side, since the steps of
   one wait for each other. */
TSR__INLINE void shuffle(const tsr_random *r, int n, uint64_t *i)
{
    const uint64_t low = (UINT64_C(1) << r->right) - 1, high = (UINT64_C(1) << r->left) - 1;
    uint64_t a[TOGETHER], b[TOGETHER];

    for (int e = 0; e < n; e++) {
        a[e] = i[e] >> r->right;
        b[e] = i[e] & low;
    }
    for (size_t k = 0; k < sizeof r->round / sizeof *r->round; k += 2)
        for (int e = 0; e < n; e++) {
            const uint64_t p = ((a[e] ^ r->round[k]) & UINT32_MAX) * UINT64_C(0x9E3779B1);
            uint64_t q;

            b[e] ^= (p ^ p >> 32) & low;
            q = ((b[e] ^ r->round[k + 1]) & UINT32_MAX) * UINT64_C(0x85EBCA77);
            a[e] ^= (q ^ q >> 32) & high;
        }
    for (int e = 0; e < n; e++)
        i[e] = a[e] << r->right | b[e];
}

/* Where it leaves the range it goes on: the cycle of an element of the range comes back into it.
   Every element is found by itself. */
uint64_t tsr__permuted(const tsr_random *r, uint64_t i)
{
    do
        shuffle(r, 1, &i);
    while (i >= r->range);
    return i;
}

/* Uniform or normal numbers of whole blocks. */
static void fill_floats(const job *j, const uint32_t *w, const uint32_t *more, int64_t n, void *y)
{
    const tsr_random *r = &j->random;
    const bool normal = r->kind == TSR_RANDOM_NORMAL;
    float wide[WORDS], *to = r->dtype == TSR_F32 ? y : wide;

    if (r->dtype == TSR_F64) {
        if (normal)
            j->by->normals_f64(r, w, more, n, y);
        else
            j->by->uniform_f64(r, w, more, n, y);
        return;
    }
    if (normal)
        j->by->normals_f32(r, w, n, to);
    else
        j->by->uniform_f32(r, w, n, to);
    if (to == wide)
        tsr__half_narrow(r->dtype, wide, n, y);
}

/* n integers of the dtype. */
static void fill_integers(const job *j, const uint32_t *w, const uint32_t *more, int64_t n, char *y)
{
    const tsr_random *r = &j->random;

    for (int64_t i = 0; i < n; i++)
        tsr__put_integer(r->dtype, y, i, (uint64_t)tsr__randint_at(r, w[i], more[i]));
}

static void fill_bernoulli(const job *j, const uint32_t *w, int64_t n, char *y)
{
    const uint32_t cut = (uint32_t)j->random.cut;
    uint64_t one = 0;

    tsr__put(j->random.dtype, &one, 0, 1);
    if (j->random.cut >> 32) { /* all of them */
        for (int64_t i = 0; i < n; i++)
            memcpy(y + (size_t)i * j->size, &one, j->size);
        return;
    }
    switch (j->size) {
    case 1: j->by->bernoulli_1(cut, (uint8_t)one, w, n, (void *)y); break;
    case 2: j->by->bernoulli_2(cut, (uint16_t)one, w, n, (void *)y); break;
    case 4: j->by->bernoulli_4(cut, (uint32_t)one, w, n, (void *)y); break;
    default: j->by->bernoulli_8(cut, one, w, n, (void *)y); break;
    }
}

static void drop(const job *j, const uint32_t *w, int64_t n, const char *x, char *y)
{
    const tsr_random *r = &j->random;
    float wide[WORDS];

    if (r->cut >> 32) { /* all of them */
        memset(y, 0, (size_t)n * j->size);
        return;
    }
    if (r->dtype == TSR_F64) {
        j->by->drop_f64(r, w, n, (const void *)x, (void *)y);
        return;
    }
    if (r->dtype == TSR_F32) {
        j->by->drop_f32(r, w, n, (const void *)x, (void *)y);
        return;
    }
    tsr__half_widen(r->dtype, x, n, wide);
    j->by->drop_f32(r, w, n, wide, wide);
    tsr__half_narrow(r->dtype, wide, n, y);
}

/* ---- runs ---- */

/* n elements to y, of x from `at` on; w are words of blocks, of whose elements `head` come before.
   Floats are made in pairs, so blocks are computed whole. */
static void fill_some(const job *j, const uint32_t *w, const uint32_t *more, int64_t head,
                      int64_t n, int64_t at, char *y)
{
    const int64_t all = (head + n + 3) / 4 * 4;
    double whole[WORDS];

    switch (j->random.kind) {
    case TSR_RANDOM_UNIFORM:
    case TSR_RANDOM_NORMAL:
        if (all == n) {
            fill_floats(j, w, more, n, y);
            return;
        }
        fill_floats(j, w, more, all, whole);
        memcpy(y, (const char *)whole + (size_t)head * j->size, (size_t)n * j->size);
        return;
    case TSR_RANDOM_RANDINT: fill_integers(j, w + head, more + head, n, y); return;
    case TSR_RANDOM_BERNOULLI: fill_bernoulli(j, w + head, n, y); return;
    default: drop(j, w + head, n, j->x + (size_t)at * j->size, y); return;
    }
}

static void fill_run(void *arg, int64_t at, int64_t global, int64_t n)
{
    const job *j = arg;
    uint32_t words[WORDS], more[WORDS];
    const bool stream =
        tsr__stream_pays(j->past, (size_t)n * j->size, (uintptr_t)(j->y + (size_t)at * j->size));
    double room[WORDS];

    while (n > 0) {
        const int64_t head = global % 4, count = n < WORDS - head ? n : WORDS - head;
        const int64_t blocks = (head + count + 3) / 4;
        char *y = j->y + (size_t)at * j->size, *to = stream ? (char *)room : y;

        tsr__random_words(&j->random.stream, (uint64_t)(global / 4), blocks, j->variant, words);
        if (j->random.wide)
            tsr__random_words(&j->random.more, (uint64_t)(global / 4), blocks, j->variant, more);
        fill_some(j, words, more, head, count, at, to);
        if (stream)
            tsr__stream_copy(y, room, (size_t)count * j->size);
        at += count;
        global += count;
        n -= count;
    }
}

static void permute_run(void *arg, int64_t at, int64_t global, int64_t n)
{
    const job *j = arg;
    uint64_t to[TOGETHER];

    for (int64_t i = 0; i < n; i += TOGETHER) {
        const int64_t count = n - i < TOGETHER ? n - i : TOGETHER;

        for (int k = 0; k < TOGETHER; k++)
            to[k] = (uint64_t)(global + i + (k < count ? k : 0));
        shuffle(&j->random, TOGETHER, to);
        for (int64_t k = 0; k < count; k++) {
            if (to[k] >= j->random.range)
                to[k] = tsr__permuted(&j->random, to[k]);
            tsr__put_integer(j->random.dtype, j->y, at + i + k, to[k]);
        }
    }
}

/* ---- the kernel ---- */

void tsr__kernel_random(const tsr_kernel_call *call)
{
    job j = {.random = tsr__random_of(call, (tsr_random_kind)call->kind),
             .variant = tsr__variant_of(call, TSR_CATEGORY_RANDOM, (uint16_t)call->kind),
             .size = tsr_dtype_size(call->out[0].dtype),
             .x = call->in[0].data,
             .y = call->out[0].data};

    if (j.variant == TSR_VARIANT_REFERENCE) {
        tsr__reference_random(call, &j.random);
        return;
    }
    j.by = tsr__kernel_for(&random_kernels, TSR__UNTYPED, j.variant);
    if (j.x != j.y)
        j.past = (size_t)tsr__operand_count(&call->out[0]) * j.size;
    tsr__positions_walk(&call->out[0], call->number,
                        call->kind == TSR_RANDOM_PERMUTATION ? permute_run : fill_run, &j);
    if (tsr__stream_large(j.past))
        tsr__stream_fence();
}
