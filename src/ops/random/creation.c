/* SPDX-License-Identifier: Apache-2.0 */
/* creation.c - arange, linspace and eye: numbers that follow from an element's place in the
   whole tensor. Called through the rows of ops/random/creation_ops.c. */
#include "ops/random/creation.h"
#include "ops/random/random_attrs.h"

#include <math.h>
#include <string.h>

#include "kernel/element.h"
#include "kernel/kinds.h"
#include "kernel/index.h"
#include "kernel/positions.h"
#include "kernel/sku.h"

enum { BLOCK = 512 };

/* A formula of an element's number, and where its values go. */
typedef struct formula {
    bool linspace, exact; /* exact: integers, which f64 may not hold */
    double start, step, stop;
    int64_t first, by; /* start and step of an exact one */
    int64_t n;         /* elements of the whole tensor */
    const tsr_operand *y;
} formula;

static formula formula_of(const tsr_kernel_call *call, bool linspace)
{
    const tsr_operand *y = &call->out[0];
    const double a = call->attrs.value[TSR_ATTR_ARANGE_START].f,
                 b = call->attrs.value[TSR_ATTR_ARANGE_STEP].f;
    formula f = {.linspace = linspace, .start = a, .step = b, .stop = b, .y = y};

    f.n = tsr__product(y->shape.ndim, call->number);
    f.exact = !linspace && !tsr__dtype_is_float(y->dtype);
    if (f.exact) {
        f.first = call->attrs.value[TSR_ATTR_ARANGE_START].i[TSR_ELEMENT_INTEGER];
        f.by = call->attrs.value[TSR_ATTR_ARANGE_STEP].i[TSR_ELEMENT_INTEGER];
    }
    if (linspace)
        f.step = f.n > 1 ? (b - a) / (double)(f.n - 1) : 0;
    return f;
}

/* Element g of the whole; a linspace counts from its nearer end, so that it hits both. */
static double value_at(const formula *f, int64_t g)
{
    if (f->linspace && g >= f->n / 2 && f->n > 1)
        return f->stop - (double)(f->n - 1 - g) * f->step;
    return f->start + (double)g * f->step;
}

static int64_t integer_at(const formula *f, int64_t g)
{
    return (int64_t)((uint64_t)f->first + (uint64_t)g * (uint64_t)f->by);
}

static void fill_run(void *arg, int64_t at, int64_t global, int64_t n)
{
    const formula *f = arg;
    const size_t size = tsr_dtype_size(f->y->dtype);
    char *y = (char *)f->y->data + (size_t)at * size;
    union {
        double real[BLOCK];
        int64_t integer[BLOCK];
    } values;

    for (int64_t i = 0; i < n; i += BLOCK) {
        const int64_t count = n - i < BLOCK ? n - i : BLOCK;

        for (int64_t k = 0; k < count; k++)
            if (f->exact)
                values.integer[k] = integer_at(f, global + i + k);
            else
                values.real[k] = value_at(f, global + i + k);
        tsr__convert(f->y->dtype, y + (size_t)i * size, f->exact ? TSR_I64 : TSR_F64, &values,
                     count);
    }
}

/* The same one by one. */
static void fill_naively(const tsr_kernel_call *call, const formula *f)
{
    const size_t size = tsr_dtype_size(f->y->dtype);

    for (int64_t i = 0; i < tsr__operand_count(f->y); i++) {
        const int64_t at = tsr__position_number(f->y, call->number, i), integer = integer_at(f, at);

        if (f->exact)
            tsr__convert(f->y->dtype, (char *)f->y->data + (size_t)i * size, TSR_I64, &integer, 1);
        else
            tsr__put(f->y->dtype, f->y->data, i, value_at(f, at));
    }
}

void tsr__kernel_formula(const tsr_kernel_call *call)
{
    formula f = formula_of(call, call->kind == TSR_CREATION_LINSPACE);

    if (tsr__variant_of(call, TSR_CATEGORY_CREATION, (uint16_t)call->kind) == TSR_VARIANT_REFERENCE)
        fill_naively(call, &f);
    else
        tsr__positions_walk(f.y, call->number, fill_run, &f);
}

/* ---- eye ---- */

static void reference_eye(const tsr_operand *y)
{
    const int64_t *size = y->shape.size;
    const int rows = y->shape.ndim - 2, columns = y->shape.ndim - 1;

    for (int64_t i = 0; i < tsr__operand_count(y); i++)
        tsr__put(y->dtype, y->data, i,
                 tsr__position(y, columns, i % size[columns]) ==
                     tsr__position(y, rows, i / size[columns] % size[rows]));
}

/* Indices ascend along both dims: one pass over the diagonal of a matrix finds the ones. */
void tsr__kernel_eye(const tsr_kernel_call *call)
{
    const tsr_operand *y = &call->out[0];
    const int dim = y->shape.ndim - 2;
    const int64_t rows = y->shape.size[dim], columns = y->shape.size[dim + 1];
    const int64_t matrices = tsr__product(dim, y->shape.size);

    if (tsr__variant_of(call, TSR_CATEGORY_CREATION, TSR_CREATION_EYE) == TSR_VARIANT_REFERENCE) {
        reference_eye(y);
        return;
    }
    memset(y->data, 0, (size_t)tsr__operand_count(y) * tsr_dtype_size(y->dtype));
    for (int64_t m = 0; m < matrices; m++)
        for (int64_t i = 0, k = 0; i < rows && k < columns;) {
            const int64_t row = tsr__position(y, dim, i), column = tsr__position(y, dim + 1, k);

            if (row == column)
                tsr__put(y->dtype, y->data, (m * rows + i) * columns + k, 1);
            i += row <= column;
            k += column <= row;
        }
}
