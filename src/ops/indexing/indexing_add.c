/* SPDX-License-Identifier: Apache-2.0 */
/* indexing_add.c - scatter_add and index_add: the values of a line are added in their order, those
   of f16 and bf16 in f32. Called through the rows of ops/indexing/indexing_ops.c. */
#include <string.h>

#include "base/half.h"
#include "kernel/fast_types.h"
#include "kernel/index.h"
#include "ops/indexing/indexing.h"
#include "kernel/sku.h"

enum { BLOCK = 512 }; /* values that are widened at a time */

#define BODY "ops/indexing/indexing_reference.inc.h"
#include "kernel/reference_types.inc.h"

TSR__INLINE int64_t id_at(bool narrow, const void *index, int64_t i)
{
    return narrow ? ((const int32_t *)index)[i] : ((const int64_t *)index)[i];
}

#define BODY "ops/indexing/indexing_add.inc.h"
#define NAME(name, dtype) name##_##dtype##_plain
#define SET
#define HALVES
#include "kernel/fast_types.inc.h"

typedef struct bodies {
    void (*add)(const tsr_gather_map *map, int64_t o, void *sums);
    void (*add_apart)(const tsr_gather_map *map, void *sums);
    void (*reference)(const tsr_kernel_call *call, const tsr_gather_map *map);
} bodies;

static const bodies of[TSR__DTYPES] = {
    [TSR_F32] = {add_f32_plain, add_apart_f32_plain, added_f32},
    [TSR_F64] = {add_f64_plain, add_apart_f64_plain, added_f64},
    [TSR_F16] = {add_f16_plain, add_apart_f16_plain, added_f16},
    [TSR_BF16] = {add_bf16_plain, add_apart_bf16_plain, added_bf16},
    [TSR_I32] = {add_i32_plain, add_apart_i32_plain, added_i32},
    [TSR_I64] = {add_i64_plain, add_apart_i64_plain, added_i64},
    [TSR_U8] = {add_u8_plain, add_apart_u8_plain, added_u8},
    [TSR_BOOL] = {NULL, NULL, added_bool},
    [TSR__FIELD] = {add_field_plain, add_apart_field_plain, added_field},
};

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
    const int64_t n = tsr__operand_count(y);
    tsr_gather_map map;

    tsr__gather_map_make(call, y, &call->in[1], &call->in[2], true, &map);
    if (!tsr__indices_good(call, map.index, tsr__indices_of(map.size)))
        return;
    if (tsr__variant_of(call, TSR_CATEGORY_INDEX, (uint16_t)call->kind) == TSR_VARIANT_REFERENCE) {
        of[y->dtype].reference(call, &map);
        return;
    }
    if (n == 0)
        return;
    if (!map.alike) {
        of[y->dtype].add_apart(&map, open_sums(call, 0, n));
        close_sums(call, 0, n);
        return;
    }
    for (int64_t o = 0; o < map.outer; o++) {
        of[y->dtype].add(&map, o, open_sums(call, o * (n / map.outer), n / map.outer));
        close_sums(call, o * (n / map.outer), n / map.outer);
    }
}
