/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_check.c - see kernel_check.h. */
#include "kernel_check.h"

#include <float.h>
#include <inttypes.h>

#include "test.h"
#include "kernel/kinds.h"
#include "kernel/sku.h"

const kernel_op add = {"add", tsr__kernel_pointwise, TSR_CATEGORY_POINTWISE, TSR_POINTWISE_ADD};
const kernel_op mul = {"mul", tsr__kernel_pointwise, TSR_CATEGORY_POINTWISE, TSR_POINTWISE_MUL};
const kernel_op neg = {"neg", tsr__kernel_pointwise, TSR_CATEGORY_POINTWISE, TSR_POINTWISE_NEG};
const kernel_op relu = {"relu", tsr__kernel_pointwise, TSR_CATEGORY_POINTWISE, TSR_POINTWISE_RELU};
const kernel_op matmul = {"matmul", tsr__kernel_matmul, TSR_CATEGORY_LINALG, TSR_LINALG_MATMUL};
const kernel_op sum = {"sum", tsr__kernel_reduce, TSR_CATEGORY_REDUCTION, TSR_REDUCTION_SUM};
const kernel_op mean = {"mean", tsr__kernel_reduce, TSR_CATEGORY_REDUCTION, TSR_REDUCTION_MEAN};
const kernel_op max = {"max", tsr__kernel_reduce, TSR_CATEGORY_REDUCTION, TSR_REDUCTION_MAX};
const kernel_op softmax = {"softmax", tsr__kernel_softmax, TSR_CATEGORY_SOFTMAX, TSR_SOFTMAX};
const kernel_op cat = {"cat", tsr__kernel_cat, TSR_CATEGORY_MOVE, TSR_MOVE_CAT};
const kernel_op transpose = {"transpose", tsr__kernel_transpose, TSR_CATEGORY_MOVE,
                             TSR_MOVE_TRANSPOSE};
const kernel_op reshape = {"reshape", tsr__kernel_reshape, TSR_CATEGORY_MOVE, TSR_MOVE_RESHAPE};
const kernel_op slice = {"slice", tsr__kernel_slice, TSR_CATEGORY_MOVE, TSR_MOVE_SLICE};

tsr_shape shape_of(size_t ndim, const int64_t *size)
{
    tsr_shape s = {.ndim = (int)ndim};

    memcpy(s.size, size, ndim * sizeof *size);
    return s;
}

/* As often above 1 as below it; sometimes 0. */
static double a_factor(uint64_t *seed)
{
    return below(seed, 256) ? exp2((double)(below(seed, 17) - 8) / 64) : 0;
}

void fill(const tsr_operand *x, numbers content, uint64_t *seed)
{
    static const double special[] = {0.0, -0.0, 1, INFINITY, -INFINITY, NAN, 1e-42, -3};

    for (int64_t i = 0; i < tsr_shape_count(&x->shape); i++) {
        if ((int)x->dtype == TSR__FIELD)
            ((uint64_t *)x->data)[i] = next_random(seed) * 0x1234567 % TSR__FIELD_P;
        else if (x->dtype == TSR_BOOL)
            ((uint8_t *)x->data)[i] = (uint8_t)below(seed, 2);
        else if (tsr__dtype_is_integer(x->dtype))
            tsr__put_integer(x->dtype, x->data, i, next_random(seed) << 32 | next_random(seed));
        else if (content == INTEGERS)
            tsr__put(x->dtype, x->data, i, (double)(below(seed, 7) - 3));
        else if (content == FACTORS)
            tsr__put(x->dtype, x->data, i, (below(seed, 2) ? 1 : -1) * a_factor(seed));
        else if (content == SPECIALS && below(seed, 3) == 0)
            tsr__put(x->dtype, x->data, i, special[below(seed, 8)]);
        else
            tsr__put(x->dtype, x->data, i, (double)below(seed, 1 << 20) / (1 << 16) - 8);
    }
}

tsr_operand operand(tsr_dtype dtype, tsr_shape shape)
{
    const int64_t n = tsr_shape_count(&shape);

    return (tsr_operand){.dtype = dtype, .shape = shape, .data = n ? exact_memory(dtype, n) : NULL};
}

void free_call(tsr_kernel_call *call)
{
    for (int k = 0; k < call->n_in; k++)
        free(call->in[k].data);
    free(call->out[0].data);
}

/* ---- comparing ---- */

void describe(const kernel_op *op, const tsr_kernel_call *call)
{
    fprintf(stderr, "%s %s", op->name, tsr_dtype_name(call->out[0].dtype));
    for (int k = 0; k <= call->n_in; k++) {
        const tsr_shape *s = k < call->n_in ? &call->in[k].shape : &call->out[0].shape;

        fprintf(stderr, k < call->n_in ? " [" : " -> [");
        for (int d = 0; d < s->ndim; d++)
            fprintf(stderr, "%s%" PRId64, d ? "," : "", s->size[d]);
        fprintf(stderr, "]");
    }
    for (int k = 0; k < TSR_OP_ATTRS; k++)
        fprintf(stderr, " %" PRId64, call->attrs.value[k].i[0]);
    fprintf(stderr, "\n");
}

double eps_of(tsr_dtype dtype)
{
    return dtype == TSR_F32   ? FLT_EPSILON
           : dtype == TSR_F64 ? DBL_EPSILON
           : dtype == TSR_F16 ? 0x1p-10
                              : 0x1p-7;
}

double tiniest(tsr_dtype dtype)
{
    return dtype == TSR_F16 ? 0x1p-24 : dtype == TSR_F64 ? 0x1p-1074 : 0x1p-133;
}

void run_op(const kernel_op *op, tsr_kernel_call *call)
{
    call->kind = op->kind;
    op->run(call);
}

/* The sums of the absolute terms: the reference in f64 on absolute values. */
static tsr_operand bounds(const kernel_op *op, const tsr_kernel_call *call)
{
    tsr_kernel_call c = *call;
    tsr_operand out;

    c.reference = true;
    c.out[0] = operand(TSR_F64, call->out[0].shape);
    for (int k = 0; k < call->n_in; k++) {
        const int64_t n = call->in[k].shape.ndim < 0 ? 0 : tsr_shape_count(&call->in[k].shape);

        if (call->in[k].shape.ndim < 0)
            continue;
        c.in[k] = operand(TSR_F64, call->in[k].shape);
        for (int64_t i = 0; i < n; i++)
            ((double *)c.in[k].data)[i] = fabs(tsr__get(call->in[k].dtype, call->in[k].data, i));
    }
    run_op(op, &c);
    out = c.out[0];
    c.out[0].data = NULL;
    free_call(&c);
    return out;
}

static bool close_enough(tsr_dtype dtype, double x, double want, double bound)
{
    if (isnan(want) || isinf(want))
        return isnan(want) ? isnan(x) : x == want;
    if (!isfinite(bound)) /* an infinity went into it, and was not chosen */
        return x == want;
    return fabs(x - want) <= 8 * eps_of(dtype) * bound + tiniest(dtype);
}

/* `bound` without data: they must be the same. */
static void compare(const kernel_op *op, const tsr_kernel_call *call, const tsr_operand *want,
                    const tsr_operand *bound)
{
    const tsr_dtype dtype = call->out[0].dtype;
    const size_t size = tsr_dtype_size(dtype);
    const bool exact = !bound->data;

    for (int64_t i = 0; i < tsr_shape_count(&want->shape); i++) {
        bool same = !memcmp((char *)want->data + (size_t)i * size,
                            (char *)call->out[0].data + (size_t)i * size, size);
        double x = exact ? 0 : tsr__get(dtype, call->out[0].data, i);
        double y = exact ? 0 : tsr__get(dtype, want->data, i);
        double b = exact ? 0 : fabs(tsr__get(bound->dtype, bound->data, i));

        if (op == &softmax)
            b *= 5; /* also the rounding of x - max, here up to 16 */
        if (!same && (exact || !close_enough(dtype, x, y, b))) {
            describe(op, call);
            fail_msg("%s, element %" PRId64 ": %.17g, reference %.17g, bound %g",
                     tsr_kernel_variant_name(call->variant), i,
                     tsr__get(dtype, call->out[0].data, i), tsr__get(dtype, want->data, i), b);
        }
    }
}

/* Run in all variants that run here and by reference; compare. Frees the operands. */
void check(const kernel_op *op, numbers content, tsr_kernel_call *call)
{
    const tsr_dtype dtype = call->out[0].dtype;
    const size_t bytes = (size_t)tsr_shape_count(&call->out[0].shape) * tsr_dtype_size(dtype);
    const bool exact =
        !tsr__dtype_is_float(dtype) || (content == INTEGERS && op != &softmax && op != &mean);
    tsr_operand want = operand(dtype, call->out[0].shape), bound = {0};
    tsr_kernel_call reference = *call;

    reference.reference = true;
    reference.out[0] = want;
    run_op(op, &reference);
    if (!exact)
        bound = op == &softmax ? want : bounds(op, call);
    for (tsr_kernel_variant v = TSR_VARIANT_PLAIN; v <= TSR_VARIANT_LIBRARY; v++) {
        if (tsr__variant_best(op->category, op->kind, dtype, v) != v)
            continue;
        call->variant = v;
        if (bytes)
            memset(call->out[0].data, 0xff, bytes);
        run_op(op, call);
        compare(op, call, &want, &bound);
    }
    if (!exact && op != &softmax)
        free(bound.data);
    free(want.data);
    free_call(call);
}

/* ---- making calls ---- */

const tsr_dtype dtypes[DTYPES] = {
    TSR_F32, TSR_F64, TSR_F16, TSR_BF16, TSR_I32, TSR_I64,  TSR_U8,
    TSR_I8,  TSR_I16, TSR_U16, TSR_U32,  TSR_U64, TSR_BOOL, (tsr_dtype)TSR__FIELD};

tsr_shape random_shape(uint64_t *seed)
{
    tsr_shape s = {.ndim = (int)below(seed, 6)};

    for (int d = 0; d < s.ndim; d++)
        s.size[d] = below(seed, 20) ? 1 + below(seed, 9) : 0;
    return s;
}

static tsr_attr ints(int n, const int64_t *i)
{
    tsr_attr attr = {.n = n};

    for (int k = 0; k < n; k++)
        attr.i[k] = i[k];
    return attr;
}

tsr_attr one_int(int64_t i)
{
    return ints(1, &i);
}

tsr_kernel_call unary_call(tsr_dtype dtype, tsr_shape in, tsr_shape out)
{
    return (tsr_kernel_call){.n_in = 1,
                             .n_out = 1,
                             .in = {operand(dtype, in)},
                             .out = {operand(dtype, out)},
                             .number = {1}};
}

void check_unary(const kernel_op *op, tsr_dtype dtype, numbers content, tsr_shape shape,
                 uint64_t *seed)
{
    tsr_kernel_call call = unary_call(dtype, shape, shape);

    fill(&call.in[0], content, seed);
    check(op, content, &call);
}

void check_binary(const kernel_op *op, tsr_dtype dtype, numbers content, tsr_shape a, tsr_shape b,
                  uint64_t *seed)
{
    tsr_shape s = a.ndim > b.ndim ? a : b;
    tsr_kernel_call call = {.n_in = 2, .n_out = 1};

    for (int e = 1; e <= s.ndim; e++) {
        int64_t n = e <= a.ndim ? a.size[a.ndim - e] : 1, m = e <= b.ndim ? b.size[b.ndim - e] : 1;

        s.size[s.ndim - e] = n == 1 ? m : n;
    }
    call.in[0] = operand(dtype, a);
    call.in[1] = operand(dtype, b);
    call.out[0] = operand(dtype, s);
    fill(&call.in[0], content, seed);
    fill(&call.in[1], content, seed);
    check(op, content, &call);
}

/* dims as a mask. */
void check_reduce(const kernel_op *op, tsr_dtype dtype, numbers content, tsr_shape in,
                  unsigned mask, bool keep, uint64_t *seed)
{
    tsr_kernel_call call;
    tsr_shape out = {0};
    tsr_attr dims = {0};

    for (int d = 0; d < in.ndim; d++) {
        if (mask >> d & 1)
            dims.i[dims.n++] = below(seed, 2) ? d : d - in.ndim;
        if (!(mask >> d & 1) || keep)
            out.size[out.ndim++] = mask >> d & 1 ? 1 : in.size[d];
    }
    if (dims.n == 0) {
        out.ndim = keep ? in.ndim : 0;
        for (int d = 0; d < in.ndim; d++)
            out.size[d] = 1;
        dims.n = below(seed, 2) ? -1 : 0;
    }
    call = unary_call(dtype, in, out);
    call.attrs.value[0] = dims;
    call.attrs.value[1] = one_int(keep);
    if (op == &mean) {
        call.number[0] = 1 + below(seed, 1000);
        call.number[1] = 1 + below(seed, 4);
    }
    fill(&call.in[0], content, seed);
    check(op, content, &call);
}

void check_matmul(tsr_dtype dtype, numbers content, tsr_shape a, tsr_shape b, bool bias,
                  uint64_t *seed)
{
    tsr_shape s = a.ndim > b.ndim ? a : b;
    tsr_kernel_call call = {.n_in = 3, .n_out = 1};

    for (int e = 3; e <= s.ndim; e++) {
        int64_t n = e <= a.ndim ? a.size[a.ndim - e] : 1, m = e <= b.ndim ? b.size[b.ndim - e] : 1;

        s.size[s.ndim - e] = n == 1 ? m : n;
    }
    s.size[s.ndim - 2] = a.size[a.ndim - 2];
    s.size[s.ndim - 1] = b.size[b.ndim - 1];
    call.in[0] = operand(dtype, a);
    call.in[1] = operand(dtype, b);
    call.in[2] = bias ? operand(dtype, SHAPE(b.size[b.ndim - 1]))
                      : (tsr_operand){.dtype = dtype, .shape = {.ndim = -1}};
    call.out[0] = operand(dtype, s);
    for (int k = 0; k < 2 + bias; k++)
        fill(&call.in[k], content, seed);
    check(&matmul, content, &call);
}

void check_softmax(tsr_dtype dtype, numbers content, tsr_shape shape, int64_t dim, uint64_t *seed)
{
    tsr_kernel_call call = unary_call(dtype, shape, shape);

    call.attrs.value[0] = one_int(dim);
    fill(&call.in[0], content, seed);
    check(&softmax, content, &call);
}
