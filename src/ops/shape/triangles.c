/* SPDX-License-Identifier: Apache-2.0 */
/* triangles.c - tril and triu: of each row a part is copied, the rest is 0. Rows and columns know
   where they are in the whole matrix. */
#include "ops/shape/padding.h"
#include "ops/shape/shape_attrs.h"

#include <string.h>

#include "kernel/index.h"
#include "kernel/kinds.h"
#include "kernel/sku.h"

static int64_t place(const tsr_operand *x, int dim, int64_t i)
{
    return x->index[dim] ? x->index[dim][i] : x->first[dim] + i;
}

/* The diagonal, or one as far away: no tensor reaches so far. */
static int64_t diagonal_of(const tsr_kernel_call *call)
{
    const int64_t diagonal = call->attrs.value[TSR_ATTR_TRIL_DIAGONAL].i[0], far = INT64_C(1) << 61;

    return diagonal > far ? far : diagonal < -far ? -far : diagonal;
}

static void by_definition(const tsr_kernel_call *call, bool lower)
{
    const tsr_operand *x = &call->in[0], *out = &call->out[0];
    const size_t size = tsr_dtype_size(out->dtype);
    const int ndim = out->shape.ndim;
    const int64_t columns = out->shape.size[ndim - 1], rows = out->shape.size[ndim - 2];

    for (int64_t i = 0; i < tsr__operand_count(out); i++) {
        const int64_t above = place(out, ndim - 1, i % columns) -
                              place(out, ndim - 2, i / columns % rows) - diagonal_of(call);
        char *to = (char *)out->data + (size_t)i * size;

        if (lower ? above <= 0 : above >= 0)
            memcpy(to, (const char *)x->data + (size_t)i * size, size);
        else
            memset(to, 0, size);
    }
}

/* One row: the columns before `end` are copied and the others are 0, or the other way round. */
static void split_row(bool lower, int64_t end, int64_t columns, size_t size, char *to,
                      const char *from)
{
    const size_t head = (size_t)(end < 0 ? 0 : end > columns ? columns : end) * size;
    const size_t all = (size_t)columns * size;

    if (lower) {
        memcpy(to, from, head);
        memset(to + head, 0, all - head);
    } else {
        memset(to, 0, head);
        memcpy(to + head, from + head, all - head);
    }
}

void tsr__kernel_triangle(const tsr_kernel_call *call)
{
    const bool lower = call->kind == TSR_MOVE_TRIL;
    const tsr_operand *x = &call->in[0], *out = &call->out[0];
    const size_t size = tsr_dtype_size(out->dtype);
    const int ndim = out->shape.ndim;
    const int64_t columns = out->shape.size[ndim - 1], rows = out->shape.size[ndim - 2];
    const int64_t diagonal = diagonal_of(call), n = tsr__operand_count(out);

    if (out->index[ndim - 1] || /* pieces of rows are few */
        tsr__variant_of(call, TSR_CATEGORY_MOVE, (uint16_t)call->kind) == TSR_VARIANT_REFERENCE) {
        by_definition(call, lower);
        return;
    }
    for (int64_t i = 0; i < n; i += columns) {
        const int64_t row = place(out, ndim - 2, i / columns % rows);
        const int64_t end = row + diagonal + (lower ? 1 : 0) - out->first[ndim - 1];

        split_row(lower, end, columns, size, (char *)out->data + (size_t)i * size,
                  (const char *)x->data + (size_t)i * size);
    }
}
