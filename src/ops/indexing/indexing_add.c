/* SPDX-License-Identifier: Apache-2.0 */
/* indexing_add.c - scatter_add and index_add: the values of a line are added in their order, those
   of f16 and bf16 in f32. Called through the rows of ops/indexing/indexing_ops.c. */
#include <string.h>

#include "base/half.h"
#include "kernel/index.h"
#include "kernel/kinds.h"
#include "ops/indexing/indexing.h"
#include "kernel/sku.h"

enum { BLOCK = 512 }; /* values that are widened at a time */

typedef struct naive_bodies {
    void (*added)(const tsr_kernel_call *call, const tsr_gather_map *map);
} naive_bodies;

#define TABLE naive_kernels
#define BODY "ops/indexing/indexing_reference.inc.h"
#include "kernel/reference_types.inc.h"

TSR__INLINE int64_t id_at(bool narrow, const void *index, int64_t i)
{
    return narrow ? ((const int32_t *)index)[i] : ((const int64_t *)index)[i];
}

typedef struct bodies {
    void (*add)(const tsr_gather_map *map, int64_t o, void *sums);
    void (*add_apart)(const tsr_gather_map *map, void *sums);
} bodies;

#define TABLE add_kernels
#define BODY "ops/indexing/indexing_add.inc.h"
#define DTYPES (TSR__HALVES | TSR__INTEGERS | TSR__PRIME)
#include "base/kernel_table.inc.h"

size_t tsr__scratch_index_add(const tsr_kernel_call *call)
{
    const tsr_operand *y = &call->out[0];

    return tsr__dtype_is_half(y->dtype) ? (size_t)tsr__operand_count(y) * sizeof(float) : 0;
}

/* `n` elements of x from `first` on become sums, and sums become those of y. */
static void *open_sums(const tsr_kernel_call *call, int64_t first, int64_t n)
{
    const tsr_operand *x = &call->in[0], *y = &call->out[0];
    const int64_t size = (int64_t)tsr_dtype_size(y->dtype);
    char *to = (char *)y->data + first * size;

    if (tsr__dtype_is_half(y->dtype)) {
        tsr__half_widen(y->dtype, (const char *)x->data + first * size, n, call->scratch);
        return call->scratch;
    }
    if (x->data != y->data)
        memcpy(to, (const char *)x->data + first * size, (size_t)(n * size));
    return to;
}

static void close_sums(const tsr_kernel_call *call, int64_t first, int64_t n)
{
    const tsr_operand *y = &call->out[0];

    if (tsr__dtype_is_half(y->dtype))
        tsr__half_narrow(y->dtype, call->scratch, n,
                         (char *)y->data + first * (int64_t)tsr_dtype_size(y->dtype));
}

/* Each o by itself: what was copied is still in the cache when it is added to. */
void tsr__kernel_index_add(const tsr_kernel_call *call)
{
    const tsr_operand *y = &call->out[0];
    const bodies *b = tsr__kernel_for(&add_kernels, y->dtype, TSR_VARIANT_PLAIN);
    const int64_t n = tsr__operand_count(y);
    tsr_gather_map map;

    tsr__gather_map_make(call, y, &call->in[1], &call->in[2], true, &map);
    if (!tsr__indices_good(call, map.index, tsr__indices_of(map.size)))
        return;
    if (tsr__variant_of(call, TSR_CATEGORY_INDEX, (uint16_t)call->kind) == TSR_VARIANT_REFERENCE) {
        const naive_bodies *naive =
            tsr__kernel_for(&naive_kernels, y->dtype, TSR_VARIANT_REFERENCE);

        naive->added(call, &map);
        return;
    }
    if (n == 0)
        return;
    if (!map.alike) {
        b->add_apart(&map, open_sums(call, 0, n));
        close_sums(call, 0, n);
        return;
    }
    for (int64_t o = 0; o < map.outer; o++) {
        b->add(&map, o, open_sums(call, o * (n / map.outer), n / map.outer));
        close_sums(call, o * (n / map.outer), n / map.outer);
    }
}
