/* SPDX-License-Identifier: Apache-2.0 */
/* indexing.c - gather, index_select, take, scatter, the gradient of a scatter's src, and one_hot:
   what only moves elements. The naive versions go through the map of gather_map.c one element at a
   time; they also serve where operands are sharded differently. Called through the rows of
   ops/indexing/indexing_ops.c. */
#include "ops/indexing/indexing.h"

#include <string.h>

#include "base/stream.h"
#include "kernel/gather_rows.h"
#include "kernel/kinds.h"
#include "kernel/index.h"
#include "kernel/positions.h"
#include "kernel/sku.h"

enum { BLOCK = 1024 }; /* elements that are brought together before they go past the caches */

typedef struct moves {
    bool (*gather)(const tsr_gather_map *map); /* false: an index is out of range */
    void (*scatter)(const tsr_gather_map *map, const void *old);
    void (*last)(const tsr_gather_map *map, int64_t *last);
} moves;

#define TABLE move_kernels
#define BODY "ops/indexing/indexing_ids.inc.h"
#define TYPES "base/size_types.inc.h"
#include "base/kernel_table.inc.h"

static const moves *moves_for(const tsr_gather_map *map)
{
    const moves *by_index = tsr__kernel_for(&move_kernels, map->x->dtype, TSR_VARIANT_PLAIN);

    return &by_index[map->index->dtype == TSR_I64];
}

static bool by_reference(const tsr_kernel_call *call, tsr_index_kind kind)
{
    return tsr__variant_of(call, TSR_CATEGORY_INDEX, kind) == TSR_VARIANT_REFERENCE;
}

/* Element i of `to` = element k of `from`, or 0 if k is -1. */
static void move(const tsr_operand *to, int64_t i, const tsr_operand *from, int64_t k)
{
    const size_t size = tsr_dtype_size(to->dtype);
    char *at = (char *)to->data + (size_t)i * size;

    if (k < 0)
        memset(at, 0, size);
    else
        memcpy(at, (const char *)from->data + (size_t)k * size, size);
}

static void copy(const tsr_operand *from, const tsr_operand *to)
{
    if (from->data != to->data && from->data)
        memcpy(to->data, from->data, (size_t)tsr__operand_count(to) * tsr_dtype_size(to->dtype));
}

/* ---- read ---- */

static void read_naively(const tsr_kernel_call *call, const tsr_gather_map *map)
{
    int64_t x, v;

    if (!tsr__indices_good(call, map->index, tsr__indices_of(map->size)))
        return;
    for (int64_t i = 0; i < tsr__gather_map_count(map); i++)
        if (tsr__gather_map_at(map, i, &x, &v))
            move(map->values, v, map->x, x);
}

/* Indices are checked on the way: which one was bad is asked only then. Where nothing is read they
   are checked nevertheless: ranks that read something must not be the only ones that fail. */
static void gather_by_map(const tsr_kernel_call *call, const tsr_gather_map *map)
{
    if (tsr__gather_map_count(map) == 0 || !moves_for(map)->gather(map))
        tsr__indices_good(call, map->index, tsr__indices_of(map->size));
}

void tsr__kernel_gather(const tsr_kernel_call *call)
{
    tsr_gather_map map;

    tsr__gather_map_make(call, &call->in[0], &call->in[1], &call->out[0], false, &map);
    if (!map.alike || by_reference(call, TSR_INDEX_GATHER))
        read_naively(call, &map);
    else
        gather_by_map(call, &map);
}

/* Rows of inner elements are those of a table, of which nothing but the bytes counts: as words of
   4 bytes, or of 2. */
static void select_rows(const tsr_gather_map *map, tsr_kernel_variant variant)
{
    const size_t row = (size_t)map->inner * tsr_dtype_size(map->x->dtype);
    const int64_t n = map->x->shape.size[map->dim], along = map->count[map->dim];
    tsr_lookup lookup = {.dtype = row % 4 == 0 ? TSR_F32 : TSR_F16,
                         .dim = (int64_t)row / (row % 4 == 0 ? 4 : 2),
                         .variant = variant,
                         .ids = {.dtype = map->index->dtype,
                                 .data = map->index->data,
                                 .n = along,
                                 .vocab = map->size,
                                 .row_first = map->x->first[map->dim],
                                 .n_rows = n,
                                 .padding = -1}};

    for (int64_t o = 0; o < map->outer; o++) {
        lookup.table = (const char *)map->x->data + (size_t)(o * n) * row;
        lookup.out = (char *)map->values->data + (size_t)(o * along) * row;
        tsr__embedding_forward(&lookup);
    }
}

void tsr__kernel_index_select(const tsr_kernel_call *call)
{
    tsr_gather_map map;

    tsr__gather_map_make(call, &call->in[0], &call->in[1], &call->out[0], false, &map);
    if (!map.alike || by_reference(call, TSR_INDEX_SELECT))
        read_naively(call, &map);
    else if (map.inner == 1 || map.inner * (int64_t)tsr_dtype_size(map.x->dtype) % 2 != 0)
        gather_by_map(call, &map);
    else if (tsr__indices_good(call, map.index, tsr__indices_of(map.size)))
        select_rows(&map, call->variant);
}

/* The local element of x at place `flat` of the whole, -1 if it is elsewhere. */
static int64_t flat_here(const tsr_operand *x, const int64_t *whole, int64_t flat)
{
    int64_t at = 0, stride = 1;

    for (int d = x->shape.ndim - 1; d >= 0; d--) {
        const int64_t i = flat % whole[d] - x->first[d];

        if (i < 0 || i >= x->shape.size[d])
            return -1;
        at += i * stride;
        stride *= x->shape.size[d];
        flat /= whole[d];
    }
    return at;
}

void tsr__kernel_take(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0], *index = &call->in[1], *y = &call->out[0];
    const int64_t n = tsr__product(x->shape.ndim, call->number);
    tsr_operand flat = *x, list = *index, out = *y;
    tsr_gather_map map = {
        .x = &flat, .index = &list, .values = &out, .size = n, .ndim = 1, .outer = 1, .inner = 1};

    if (n > tsr__operand_count(x) || by_reference(call, TSR_INDEX_TAKE)) {
        if (!tsr__indices_good(call, index, tsr__indices_of(n)))
            return;
        for (int64_t i = 0; i < tsr__operand_count(y); i++)
            move(y, i, x, flat_here(x, call->number, tsr__index_at(index, i)));
        return;
    }
    flat.shape = (tsr_shape){.ndim = 1, .size = {n}};
    flat.first[0] = 0;
    map.count[0] = tsr__operand_count(y);
    gather_by_map(call, &map);
}

/* ---- written ---- */

void tsr__kernel_scatter(const tsr_kernel_call *call)
{
    const tsr_operand *old = &call->in[0], *y = &call->out[0];
    tsr_gather_map map;
    int64_t x, v;

    tsr__gather_map_make(call, y, &call->in[1], &call->in[2], true, &map);
    if (!tsr__indices_good(call, map.index, tsr__indices_of(map.size)))
        return;
    if (map.alike && !by_reference(call, TSR_INDEX_SCATTER)) {
        moves_for(&map)->scatter(&map, old->data == y->data ? NULL : old->data);
        return;
    }
    copy(old, y);
    for (int64_t i = 0; i < tsr__gather_map_count(&map); i++)
        if (tsr__gather_map_at(&map, i, &x, &v) && x >= 0)
            move(y, x, &call->in[2], v);
}

size_t tsr__scratch_scatter_backward(const tsr_kernel_call *call)
{
    return (size_t)tsr__operand_count(&call->in[0]) * sizeof(int64_t);
}

/* Who writes an element of x last is found first. */
void tsr__kernel_scatter_backward(const tsr_kernel_call *call)
{
    const tsr_operand *y = &call->out[0];
    int64_t *last = call->scratch, x, v;
    tsr_gather_map map;

    tsr__gather_map_make(call, &call->in[0], &call->in[1], y, false, &map);
    if (!tsr__indices_good(call, map.index, tsr__indices_of(map.size)))
        return;
    if (map.alike && !by_reference(call, TSR_INDEX_SCATTER_BACKWARD)) {
        moves_for(&map)->last(&map, last);
        return;
    }
    for (int64_t i = 0; i < tsr__gather_map_count(&map); i++)
        if (tsr__gather_map_at(&map, i, &x, &v) && x >= 0)
            last[x] = v;
    for (int64_t i = 0; i < tsr__gather_map_count(&map); i++)
        if (tsr__gather_map_at(&map, i, &x, &v))
            move(y, v, &call->in[0], x >= 0 && last[x] == v ? x : -1);
}

/* ---- one_hot ---- */

void tsr__kernel_one_hot(const tsr_kernel_call *call)
{
    const tsr_operand *ids = &call->in[0], *y = &call->out[0];
    const int last = y->shape.ndim - 1;
    const int64_t n = tsr__operand_count(ids), classes = y->shape.size[last];
    const size_t size = tsr_dtype_size(y->dtype);
    uint64_t one = 0;

    if (!tsr__indices_good(call, ids, tsr__indices_of(call->number[0])))
        return;
    if (by_reference(call, TSR_INDEX_ONE_HOT)) {
        for (int64_t i = 0; i < n * classes; i++)
            tsr__put(y->dtype, y->data, i,
                     tsr__index_at(ids, i / classes) == tsr__position(y, last, i % classes));
        return;
    }
    tsr__put(y->dtype, &one, 0, 1);
    if (n * classes > 0)
        memset(y->data, 0, (size_t)(n * classes) * size);
    for (int64_t i = 0; i < n; i++) {
        const int64_t id = tsr__index_at(ids, i);
        int64_t k = id - y->first[last];

        if (y->index[last]) /* in pieces */
            for (k = 0; k < classes && y->index[last][k] != id; k++)
                continue;
        if (k >= 0 && k < classes)
            memcpy((char *)y->data + (size_t)(i * classes + k) * size, &one, size);
    }
}
