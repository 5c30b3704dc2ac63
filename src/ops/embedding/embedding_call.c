/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_call.c - the embedding kernels (embedding.h) as op rows call them: operands, attributes
   and numbers of a kernel call become arguments; scratch is carved up; ids out of range are found
   before anything is computed. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "ops/embedding/embedding_reference.h"
#include "kernel/index.h"
#include "kernel/index_check.h"
#include "ops/embedding/embedding_ops.h"
#include "ops/embedding/embedding_attrs.h"
#include "kernel/positions.h"

static bool has_flag(const tsr_kernel_call *call, int64_t flag)
{
    return call->number[TSR_NUMBER_FLAGS] & flag;
}

static bool by_reference(const tsr_kernel_call *call, tsr_embedding_kind op)
{
    return tsr__variant_of(call, TSR_CATEGORY_EMBEDDING, op) == TSR_VARIANT_REFERENCE;
}

static void *carve(char **at, size_t bytes)
{
    char *p = *at;

    *at += (bytes + 63) & ~(size_t)63;
    return p;
}

static size_t room(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

/* ---- ids ---- */

/* The ids at input k, of a table or a gradient of one. */
static tsr_ids ids_of(const tsr_kernel_call *call, int k, const tsr_operand *table)
{
    const tsr_operand *ids = &call->in[k];

    return (tsr_ids){.dtype = ids->dtype,
                     .data = ids->data,
                     .n = tsr__operand_count(ids),
                     .vocab = call->number[TSR_NUMBER_ROWS],
                     .row_first = table->first[0],
                     .n_rows = table->shape.size[0],
                     .padding = call->number[TSR_NUMBER_PADDING]};
}

/* Is every id a row of the table? If not, the error says so, unless they are let pass. */
static bool ids_are_good(const tsr_kernel_call *call, int k, const tsr_ids *ids)
{
    return has_flag(call, TSR_FLAG_ZERO_OUT_OF_RANGE) ||
           tsr__indices_good(call, &call->in[k],
                             (tsr_index_range){.noun = "id", .size = ids->vocab});
}

/* ---- lookup ---- */

void tsr__kernel_embedding(const tsr_kernel_call *call)
{
    const tsr_operand *table = &call->in[0];
    tsr_lookup lookup = {.dtype = table->dtype,
                         .dim = table->shape.size[1],
                         .ids = ids_of(call, 1, table),
                         .padding_keep = has_flag(call, TSR_FLAG_KEEP_PADDING),
                         .table = table->data,
                         .variant = call->variant,
                         .out = call->out[0].data};

    if (!ids_are_good(call, 1, &lookup.ids))
        return;
    if (by_reference(call, TSR_EMBEDDING))
        tsr__reference_embedding(&lookup);
    else
        tsr__embedding_forward(&lookup);
}

/* ---- bags ---- */

/* The bags of `rows` by ids at input k, of a table or a gradient of one; begin has room for them
   and one more. Ids before the first bag are skipped. */
static bool bags_of(const tsr_kernel_call *call, int k, const tsr_operand *table,
                    const tsr_operand *rows, int64_t *begin, tsr_bags *out, int64_t *skipped)
{
    const tsr_operand *ids = &call->in[k], *offsets = &call->in[k + 1];
    bool given = tsr__operand_given(call, k + 1);
    const int64_t n_bags = rows->shape.size[0];

    *out = (tsr_bags){.ids = ids_of(call, k, table),
                      .n_bags = n_bags,
                      .begin = given ? begin : NULL,
                      .length = given ? 0 : ids->shape.size[1]};
    *skipped = 0;
    if (!ids_are_good(call, k, &out->ids))
        return false;
    if (!given)
        return true;
    if (tsr__bag_offsets(&(tsr_offsets){.dtype = offsets->dtype,
                                        .data = offsets->data,
                                        .first = offsets->first[0],
                                        .n = offsets->shape.size[0],
                                        .total = call->number[TSR_NUMBER_OFFSETS],
                                        .with_last = has_flag(call, TSR_FLAG_INCLUDE_LAST),
                                        .n_ids = out->ids.n},
                         rows->first[0], n_bags, begin, call->error) != TSR_OK)
        return false;
    *skipped = begin[0];
    for (int64_t b = 0; b <= n_bags; b++)
        begin[b] -= *skipped;
    if (out->ids.data)
        out->ids.data = (const char *)out->ids.data + (size_t)*skipped * tsr_dtype_size(ids->dtype);
    out->ids.n = begin[n_bags];
    return true;
}

/* begin, counts, winners, and what the kernel itself needs: for bags of ids at input k. */
static size_t bag_room(const tsr_kernel_call *call, int k, int64_t n_bags, int64_t dim)
{
    tsr_bags bags = {.ids = {.n = tsr__operand_count(&call->in[k])}, .n_bags = n_bags};

    return room((size_t)(n_bags + 1) * 8) + room((size_t)n_bags * 8) +
           room((size_t)(n_bags * dim) * 8) + room(tsr__bag_bytes(&bags));
}

size_t tsr__scratch_bag(const tsr_kernel_call *call)
{
    return bag_room(call, 1, call->out[0].shape.size[0], call->out[0].shape.size[1]);
}

size_t tsr__scratch_bag_weights_backward(const tsr_kernel_call *call)
{
    return bag_room(call, 2, call->in[0].shape.size[0], 0);
}

typedef struct bag_scratch {
    int64_t *begin, *counts, *position;
    void *rest;
} bag_scratch;

static bag_scratch carve_bags(char *at, int64_t n_bags, int64_t dim)
{
    bag_scratch s;

    s.begin = carve(&at, (size_t)(n_bags + 1) * 8);
    s.counts = carve(&at, (size_t)n_bags * 8);
    s.position = carve(&at, (size_t)(n_bags * dim) * 8);
    s.rest = at;
    return s;
}

/* The weights of ids from that one on, NULL if there are none. */
static const void *weights_from(const tsr_kernel_call *call, int64_t skipped)
{
    const tsr_operand *weights = &call->in[3];

    if (!tsr__operand_given(call, 3) || !weights->data)
        return NULL;
    return (const char *)weights->data + (size_t)skipped * tsr_dtype_size(weights->dtype);
}

static bool make_pool(const tsr_kernel_call *call, tsr_bag_pool *out)
{
    const tsr_operand *table = &call->in[0];
    const int64_t n_bags = call->out[0].shape.size[0], dim = table->shape.size[1];
    bag_scratch s = carve_bags(call->scratch, n_bags, dim);
    int64_t skipped;

    *out = (tsr_bag_pool){.dtype = table->dtype,
                          .dim = dim,
                          .table = table->data,
                          .scratch = s.rest,
                          .variant = call->variant,
                          .out = call->out[0].data,
                          .position = s.position};
    if (!bags_of(call, 1, table, &call->out[0], s.begin, &out->bags, &skipped))
        return false;
    out->weights = weights_from(call, skipped);
    return true;
}

void tsr__kernel_bag(const tsr_kernel_call *call)
{
    const bool mean = call->kind == TSR_EMBEDDING_BAG_MEAN;
    tsr_bag_pool pool;

    if (!make_pool(call, &pool))
        return;
    if (by_reference(call, (tsr_embedding_kind)call->kind))
        (mean ? tsr__reference_bag_mean : tsr__reference_bag_sum)(&pool);
    else
        (mean ? tsr__bag_mean : tsr__bag_sum)(&pool);
}

void tsr__kernel_bag_max(const tsr_kernel_call *call)
{
    tsr_bag_pool pool;

    if (!make_pool(call, &pool))
        return;
    pool.last = has_flag(call, TSR_FLAG_LAST);
    (by_reference(call, TSR_EMBEDDING_BAG_MAX) ? tsr__reference_bag_max : tsr__bag_max)(&pool);
    if (call->out[1].data)
        tsr__bag_winners(&pool.bags.ids, pool.bags.n_bags * pool.dim, pool.position,
                         call->out[1].dtype, call->out[1].data);
}

void tsr__kernel_bag_weights_backward(const tsr_kernel_call *call)
{
    const tsr_operand *grad = &call->in[0], *table = &call->in[1];
    bag_scratch s = carve_bags(call->scratch, grad->shape.size[0], 0);
    const tsr_operand *out = &call->out[0];
    const size_t size = tsr_dtype_size(out->dtype);
    int64_t skipped;
    tsr_bag_pool pool = {.dtype = table->dtype,
                         .dim = table->shape.size[1],
                         .table = table->data,
                         .variant = call->variant,
                         .scratch = s.rest};

    if (!bags_of(call, 2, table, grad, s.begin, &pool.bags, &skipped))
        return;
    if (tsr__operand_count(out) == 0)
        return;
    memset(out->data, 0, (size_t)tsr__operand_count(out) * size); /* ids of others' bags */
    (by_reference(call, TSR_EMBEDDING_BAG_WEIGHTS_BACKWARD) ? tsr__reference_bag_weights_backward
                                                            : tsr__bag_weights_backward)(
        &pool, grad->data, (char *)out->data + (size_t)skipped * size);
}

/* ---- gradients of the table ---- */

static tsr_table_grad grad_of(const tsr_kernel_call *call)
{
    const tsr_operand *out = &call->out[0];

    return (tsr_table_grad){.dtype = out->dtype,
                            .dim = out->shape.size[1],
                            .n_rows = out->shape.size[0],
                            .grad_out = call->in[0].data,
                            .variant = call->variant,
                            .out = out->data};
}

/* Rows are divided by how often they occur. */
static void set_freq(const tsr_ids *ids, int64_t *counts, tsr_table_grad *grad)
{
    memset(counts, 0, (size_t)grad->n_rows * sizeof *counts);
    tsr__embedding_count(ids, TSR_I64, counts);
    grad->freq_dtype = TSR_I64;
    grad->freq = counts;
}

size_t tsr__scratch_embedding_backward(const tsr_kernel_call *call)
{
    return room(tsr__scatter_bytes(tsr__operand_count(&call->in[1]))) +
           room((size_t)call->out[0].shape.size[0] * 8);
}

void tsr__kernel_embedding_backward(const tsr_kernel_call *call)
{
    tsr_table_grad grad = grad_of(call);
    tsr_ids ids = ids_of(call, 1, &call->out[0]);
    tsr_scattered scatter;
    char *at = call->scratch;
    int64_t *counts;

    if (!ids_are_good(call, 1, &ids))
        return;
    counts = carve(&at, (size_t)grad.n_rows * 8);
    if (has_flag(call, TSR_FLAG_SCALE_BY_FREQ))
        set_freq(&ids, counts, &grad);
    if (by_reference(call, TSR_EMBEDDING_BACKWARD)) {
        tsr_bags single = {.ids = ids, .n_bags = ids.n, .length = 1};
        tsr__reference_bag_backward(&single, NULL, NULL, &grad);
        return;
    }
    tsr__embedding_scatter(&ids, at, &scatter);
    tsr__scatter_dense(&scatter, &grad);
}

size_t tsr__scratch_bag_backward(const tsr_kernel_call *call)
{
    return room((size_t)call->out[0].shape.size[0] * 8) +
           bag_room(call, 1, call->in[0].shape.size[0], 0) +
           room(tsr__scatter_bytes(tsr__operand_count(&call->in[1])));
}

void tsr__kernel_bag_backward(const tsr_kernel_call *call)
{
    const bool mean = call->kind == TSR_EMBEDDING_BAG_MEAN_BACKWARD;
    const int64_t n_bags = call->in[0].shape.size[0];
    tsr_table_grad grad = grad_of(call);
    char *at = call->scratch;
    int64_t *freq = carve(&at, (size_t)grad.n_rows * 8), skipped;
    bag_scratch s = carve_bags(at, n_bags, 0);
    const void *weights;
    tsr_scattered scatter;
    tsr_bags bags;

    if (!bags_of(call, 1, &call->out[0], &call->in[0], s.begin, &bags, &skipped))
        return;
    weights = weights_from(call, skipped);
    if (mean)
        tsr__bag_counts(&bags, s.counts);
    if (has_flag(call, TSR_FLAG_SCALE_BY_FREQ))
        set_freq(&bags.ids, freq, &grad);
    if (by_reference(call, (tsr_embedding_kind)call->kind)) {
        tsr__reference_bag_backward(&bags, weights, mean ? s.counts : NULL, &grad);
        return;
    }
    tsr__bag_scatter(&bags, grad.dtype, weights, mean ? s.counts : NULL, s.rest, &scatter);
    tsr__scatter_dense(&scatter, &grad);
}

size_t tsr__scratch_bag_max_backward(const tsr_kernel_call *call)
{
    return room(tsr__scatter_bytes(tsr__operand_count(&call->in[1])));
}

/* Winners of -1 are empty bags: they get nothing. */
void tsr__kernel_bag_max_backward(const tsr_kernel_call *call)
{
    tsr_table_grad grad = grad_of(call);
    tsr_ids winners = ids_of(call, 1, &call->out[0]);
    const tsr_index_range range = {.noun = "index", .least = -1, .size = winners.vocab};
    tsr_scattered scatter;

    if (!tsr__indices_good(call, &call->in[1], range))
        return;
    if (by_reference(call, TSR_EMBEDDING_BAG_MAX_BACKWARD)) {
        tsr__reference_bag_max_backward(&winners, &grad);
        return;
    }
    tsr__bag_max_scatter(&winners, call->scratch, &scatter);
    tsr__scatter_dense(&scatter, &grad);
}

/* ---- max_norm ---- */

size_t tsr__scratch_embedding_renorm(const tsr_kernel_call *call)
{
    return room(tsr__scatter_bytes(tsr__operand_count(&call->in[1])));
}

void tsr__kernel_embedding_renorm(const tsr_kernel_call *call)
{
    const tsr_operand *table = &call->in[0], *out = &call->out[0];
    tsr_renorm renorm = {.dtype = out->dtype,
                         .dim = out->shape.size[1],
                         .max_norm = call->attrs.value[TSR_ATTR_EMBEDDING_RENORM_MAX_NORM].f,
                         .p = call->attrs.value[TSR_ATTR_EMBEDDING_RENORM_NORM_TYPE].f,
                         .table = out->data};
    tsr_ids ids = ids_of(call, 1, out);

    ids.padding = -1; /* it is looked up too */
    if (!ids_are_good(call, 1, &ids))
        return;
    if (out->data != table->data)
        memcpy(out->data, table->data,
               (size_t)tsr__operand_count(out) * tsr_dtype_size(out->dtype));
    if (by_reference(call, TSR_EMBEDDING_RENORM))
        tsr__reference_embedding_renorm(&renorm, &ids);
    else
        tsr__embedding_renorm(&renorm, &ids, call->scratch);
}
