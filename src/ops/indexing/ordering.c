/* SPDX-License-Identifier: Apache-2.0 */
/* ordering.c - sort and topk: values become unsigned keys of the same order, which are sorted by
   their bytes; or the best of a line are kept in a heap while it is read. Called through the rows
   of ops/indexing/ordering_ops.c, and by ops/indexing/top_merge.c for lines that several ranks
   share. */
#include "ops/indexing/indexing_attrs.h"
#include "ops/indexing/ordering.h"

#include <string.h>

#include "base/kernel_table.h"
#include "kernel/index.h"
#include "kernel/kinds.h"
#include "kernel/positions.h"
#include "kernel/sku.h"

enum { SMALL = 32, BLOCK = 256 }; /* so few are sorted by inserting; keys made at a time */

typedef struct pair {
    uint64_t key;
    int64_t index;
} pair;

#define ITEM pair
#define KEY(x) ((x).key)
#define BYTES 8
#define FN(name) name##_pairs
#include "ops/indexing/radix.inc.h"

#define ITEM uint64_t /* a key of 32 bits above, an index below */
#define KEY(x) ((x) >> 32)
#define BYTES 4
#define FN(name) name##_packed
#include "ops/indexing/radix.inc.h"

/* ---- keys ---- */

typedef struct keys {
    void (*make)(const void *data, int64_t first, int64_t stride, int64_t n, uint64_t flip,
                 uint64_t *out);
} keys;

#define TABLE key_makers
#define BODY "ops/indexing/order_keys.inc.h"
#define DTYPES (TSR__HALVES | TSR__INTEGERS)
#include "base/kernel_table.inc.h"

/* Keys of n elements from `first` on, `stride` apart, for which the first in order is the smallest.
   Of dtypes of up to 4 bytes they have 32 bits. */
static void order_keys(tsr_dtype dtype, const void *data, int64_t first, int64_t stride, int64_t n,
                       bool down, uint64_t *out)
{
    const keys *k = tsr__kernel_for(&key_makers, dtype, TSR_VARIANT_PLAIN);
    const uint64_t all = tsr_dtype_size(dtype) == 8 ? UINT64_MAX : UINT32_MAX;

    k->make(data, first, stride, n, down ? all : 0, out);
}

static uint64_t order_key(tsr_dtype dtype, const void *data, int64_t i, bool down)
{
    uint64_t key;

    order_keys(dtype, data, i, 1, 1, down, &key);
    return key;
}

/* ---- lines ---- */

/* A line of x along dim. */
typedef struct line {
    const tsr_operand *x;
    int dim;
    bool down; /* the largest first */
    int64_t n, first, stride;
} line;

static line line_at(const tsr_operand *x, int dim, bool down, int64_t i)
{
    const int64_t n = x->shape.size[dim];
    const int64_t inner = tsr__product(x->shape.ndim - dim - 1, x->shape.size + dim + 1);

    return (line){x, dim, down, n, i / inner * n * inner + i % inner, inner};
}

static int64_t count_lines(const tsr_operand *x, int dim)
{
    return tsr__product(dim, x->shape.size) *
           tsr__product(x->shape.ndim - dim - 1, x->shape.size + dim + 1);
}

/* Keys of n elements from i on, at most BLOCK. */
static void line_keys(const line *l, int64_t i, int64_t n, uint64_t out[BLOCK])
{
    order_keys(l->x->dtype, l->x->data, l->first + i * l->stride, l->stride, n, l->down, out);
}

static uint64_t line_key(const line *l, int64_t i)
{
    return order_key(l->x->dtype, l->x->data, l->first + i * l->stride, l->down);
}

/* Element i of the line becomes element k of line number `to` of the outputs. */
static void put(const tsr_kernel_call *call, const line *l, int64_t i, int64_t k, int64_t to)
{
    const tsr_operand *y = &call->out[0];
    const line out = line_at(y, l->dim, false, to);
    const size_t size = tsr_dtype_size(y->dtype);
    const int64_t at = out.first + k * out.stride;

    memcpy((char *)y->data + (size_t)at * size,
           (const char *)l->x->data + (size_t)(l->first + i * l->stride) * size, size);
    ((int64_t *)call->out[1].data)[at] = tsr__position(l->x, l->dim, i);
}

/* ---- sort ---- */

static size_t sort_bytes(int64_t n)
{
    return 2 * (size_t)n * sizeof(pair);
}

/* The first k in order; scratch is sort_bytes(l->n). */
static void sort_line(const tsr_kernel_call *call, const line *l, int64_t to, int64_t k,
                      void *scratch)
{
    if (tsr_dtype_size(l->x->dtype) < 8 && l->n <= UINT32_MAX) {
        uint64_t *a = scratch;

        for (int64_t i = 0; i < l->n; i += BLOCK) {
            const int64_t count = l->n - i < BLOCK ? l->n - i : BLOCK;

            line_keys(l, i, count, a + i);
            for (int64_t j = i; j < i + count; j++)
                a[j] = a[j] << 32 | (uint64_t)j;
        }
        a = radix_packed(a, a + l->n, l->n);
        for (int64_t i = 0; i < k; i++)
            put(call, l, (int64_t)(a[i] & UINT32_MAX), i, to);
    } else {
        pair *a = scratch;

        for (int64_t i = 0; i < l->n; i++)
            a[i] = (pair){line_key(l, i), i};
        a = radix_pairs(a, a + l->n, l->n);
        for (int64_t i = 0; i < k; i++)
            put(call, l, a[i].index, i, to);
    }
}

/* The naive version: the place of an element is how many come before it. */
static void rank_line(const tsr_kernel_call *call, const line *l, int64_t to, int64_t k)
{
    for (int64_t i = 0; i < l->n; i++) {
        const uint64_t key = line_key(l, i);
        int64_t place = 0;

        for (int64_t j = 0; j < l->n; j++)
            place += line_key(l, j) < key || (line_key(l, j) == key && j < i);
        if (place < k)
            put(call, l, i, place, to);
    }
}

size_t tsr__scratch_sort(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0];

    return sort_bytes(
        x->shape.size[tsr__operand_dim(x, call->attrs.value[TSR_ATTR_SORT_DIM].i[0])]);
}

void tsr__kernel_sort(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0];
    const int dim = tsr__operand_dim(x, call->attrs.value[TSR_ATTR_SORT_DIM].i[0]);
    const bool reference =
        tsr__variant_of(call, TSR_CATEGORY_ORDER, TSR_ORDER_SORT) == TSR_VARIANT_REFERENCE;

    for (int64_t i = 0; i < count_lines(x, dim); i++) {
        const line l = line_at(x, dim, call->attrs.value[TSR_ATTR_SORT_DESCENDING].i[0], i);

        if (reference)
            rank_line(call, &l, i, l.n);
        else
            sort_line(call, &l, i, l.n, call->scratch);
    }
}

/* ---- topk ---- */

static bool is_worse(const pair *a, const pair *b)
{
    return a->key > b->key || (a->key == b->key && a->index > b->index);
}

/* The worst of a heap is on top; that at `i` may be better than those below it. */
static void sink(pair *heap, int64_t n, int64_t i)
{
    const pair x = heap[i];

    for (int64_t k; (k = 2 * i + 1) < n; i = k) {
        k += k + 1 < n && is_worse(&heap[k + 1], &heap[k]);
        if (!is_worse(&heap[k], &x))
            break;
        heap[i] = heap[k];
    }
    heap[i] = x;
}

/* From a heap to a list, the best first. */
static void heap_sort(pair *heap, int64_t n)
{
    for (int64_t i = n - 1; i > 0; i--) {
        const pair worst = heap[0];

        heap[0] = heap[i];
        sink(heap, i, 0);
        heap[i] = worst;
    }
}

/* The k best of a line, in order; returns how many there are. */
static int64_t best_of(const line *l, int64_t k, pair *heap)
{
    int64_t n = l->n < k ? l->n : k;

    for (int64_t i = 0; i < n; i++)
        heap[i] = (pair){line_key(l, i), i};
    for (int64_t i = n / 2 - 1; i >= 0; i--)
        sink(heap, n, i);
    for (int64_t i = n; i < l->n && n > 0; i += BLOCK) {
        const int64_t count = l->n - i < BLOCK ? l->n - i : BLOCK;
        uint64_t key[BLOCK];
        bool better = false;

        line_keys(l, i, count, key);
        for (int64_t j = 0; j < count; j++) /* most blocks have none */
            better |= key[j] < heap[0].key;
        for (int64_t j = 0; better && j < count; j++)
            if (key[j] < heap[0].key) { /* of equal ones the first stays */
                heap[0] = (pair){key[j], i + j};
                sink(heap, n, 0);
            }
    }
    heap_sort(heap, n);
    return n;
}

static int topk_dim(const tsr_kernel_call *call)
{
    return tsr__operand_dim(&call->in[0], call->attrs.value[TSR_ATTR_TOPK_DIM].i[0]);
}

size_t tsr__scratch_topk(const tsr_kernel_call *call)
{
    return sort_bytes(call->in[0].shape.size[topk_dim(call)]);
}

void tsr__kernel_topk(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0];
    const int dim = topk_dim(call);
    const int64_t k = call->out[0].shape.size[dim];
    const bool reference =
        tsr__variant_of(call, TSR_CATEGORY_ORDER, TSR_ORDER_TOPK) == TSR_VARIANT_REFERENCE;
    pair *heap = call->scratch;

    for (int64_t i = 0; i < count_lines(x, dim); i++) {
        const line l = line_at(x, dim, call->attrs.value[TSR_ATTR_TOPK_LARGEST].i[0], i);

        if (reference) {
            rank_line(call, &l, i, k);
        } else if (k > l.n / 8) {
            sort_line(call, &l, i, k, call->scratch);
        } else {
            best_of(&l, k, heap);
            for (int64_t j = 0; j < k; j++)
                put(call, &l, heap[j].index, j, i);
        }
    }
}

void tsr__topk_candidates(const tsr_kernel_call *call, tsr_candidate *out)
{
    const tsr_operand *x = &call->in[0];
    const int dim = topk_dim(call);
    const int64_t k = call->attrs.value[TSR_ATTR_TOPK_K].i[0];
    const size_t size = tsr_dtype_size(x->dtype);
    pair *heap = call->scratch;

    for (int64_t i = 0; i < count_lines(x, dim); i++, out += k) {
        const line l = line_at(x, dim, call->attrs.value[TSR_ATTR_TOPK_LARGEST].i[0], i);
        const int64_t n = best_of(&l, k, heap);

        for (int64_t j = 0; j < k; j++) {
            out[j] = (tsr_candidate){.index = -1};
            if (j >= n)
                continue;
            out[j].index = tsr__position(x, dim, heap[j].index);
            memcpy(&out[j].value,
                   (const char *)x->data + (size_t)(l.first + heap[j].index * l.stride) * size,
                   size);
        }
    }
}

void tsr__topk_merge(const tsr_kernel_call *call, int n, const tsr_candidate *all, int64_t *taken)
{
    const tsr_operand *y = &call->out[0];
    const int dim = topk_dim(call);
    const int64_t k = y->shape.size[dim], lines = count_lines(y, dim);
    const size_t size = tsr_dtype_size(y->dtype);

    for (int64_t i = 0; i < lines; i++) {
        const line out = line_at(y, dim, false, i);

        memset(taken, 0, (size_t)n * sizeof *taken);
        for (int64_t j = 0; j < k; j++) {
            const int64_t at = out.first + j * out.stride;
            const tsr_candidate *best = NULL;
            pair first = {0};
            int whose = 0;

            for (int r = 0; r < n; r++) { /* each rank's are in order */
                const tsr_candidate *c = &all[(r * lines + i) * k + taken[r]];
                pair own;

                if (taken[r] == k || c->index < 0)
                    continue;
                own = (pair){order_key(y->dtype, &c->value, 0,
                                       call->attrs.value[TSR_ATTR_TOPK_LARGEST].i[0]),
                             c->index};
                if (best && !is_worse(&first, &own))
                    continue;
                best = c;
                first = own;
                whose = r;
            }
            if (!best) /* shape sees to it that a line has k elements */
                return;
            taken[whose]++;
            memcpy((char *)y->data + (size_t)at * size, &best->value, size);
            ((int64_t *)call->out[1].data)[at] = best->index;
        }
    }
}
