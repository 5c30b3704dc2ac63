/* SPDX-License-Identifier: Apache-2.0 */
/* arg.c - argmax and argmin: of a run the best is found first, then the place where it is; across
   memory places are kept with the best so far. Called through the ops' rows, and by
   run/merged.c. */
#include "ops/reduction/arg.h"

#include "ops/reduction/reduction_ops.h"
#include "kernel/kinds.h"
#include "ops/reduction/reduction_attrs.h"
#include "kernel/sku.h"

enum {
    RUN = 2048,    /* elements that are searched for the place of the best */
    WIDTH = 1024,  /* results that are found together, */
    ROWS = 1 << 30 /* at most */
};

/* What best elements are kept as, and places among ROWS: as wide as elements, for vectors. */
#define WORD __typeof__(_Generic((ACC)0, float: 0.0, double: 0.0, default: INT64_C(0)))
#define PLACE __typeof__(_Generic((ACC)0, double: INT64_C(0), int64_t: INT64_C(0), default: 0))

typedef struct parts {
    int64_t (*row)(bool min, const void *x, int64_t n, void *word);
    void (*columns)(bool min, const void *x, int64_t n_out, int64_t step, int64_t n, int64_t from,
                    void *words, int64_t *at);
} parts;

#define TABLE arg_kernels
#define BODY "ops/reduction/arg.inc.h"
#define DTYPES (TSR__HALVES | TSR__INTEGERS)
#define AVX2 TSR__AVX2
#include "base/kernel_table.inc.h"

static tsr_kernel_variant variant_of(const tsr_kernel_call *call)
{
    return tsr__variant_best(TSR_CATEGORY_REDUCTION, (uint16_t)call->kind, call->in[0].dtype,
                             tsr__variant_asked(call));
}

static bool is_min(const tsr_kernel_call *call)
{
    return call->kind == TSR_REDUCTION_ARGMIN;
}

/* Best elements and their places along the dim, or among all elements; x is not empty. */
static void find(const tsr_kernel_call *call, double *words, int64_t *at)
{
    const bool min = is_min(call);
    const tsr_operand *x = &call->in[0];
    const tsr_attr *dim = &call->attrs.value[TSR_ATTR_ARGMAX_DIM];
    const parts *p = tsr__kernel_for(&arg_kernels, x->dtype, variant_of(call));
    const int d = dim->n < 0 ? 0 : tsr__operand_dim(x, dim->i[0]);
    const int64_t count = tsr__operand_count(x), size = (int64_t)tsr_dtype_size(x->dtype);
    const int64_t n = dim->n < 0 ? count : x->shape.ndim > 0 ? x->shape.size[d] : 1;
    const int64_t step = dim->n < 0 || x->shape.ndim == 0
                             ? 1
                             : tsr__product(x->shape.ndim - d - 1, x->shape.size + d + 1);
    const char *data = x->data;

    for (int64_t i = 0; i < count / n / step; i++, data += n * step * size) {
        if (step == 1) {
            at[i] = p->row(min, data, n, &words[i]);
            continue;
        }
        for (int64_t k = 0; k < step; k += WIDTH)
            for (int64_t from = 0; from < n; from += ROWS)
                p->columns(min, data + (from * step + k) * size,
                           step - k < WIDTH ? step - k : WIDTH, step,
                           n - from < ROWS ? n - from : ROWS, from, &words[i * step + k],
                           &at[i * step + k]);
    }
}

/* ---- the two steps: best elements, and their places in the whole tensor, -1 of none ---- */

static int64_t arg_count(const tsr_kernel_call *call)
{
    return 2 * tsr__operand_count(&call->out[0]);
}

/* From a place on this rank to that in the whole; number d is the size of dim d of all. */
static int64_t place_in_whole(const tsr_kernel_call *call, int64_t at)
{
    const tsr_operand *x = &call->in[0];
    const tsr_attr *dim = &call->attrs.value[TSR_ATTR_ARGMAX_DIM];
    int64_t whole = 0, stride = 1;

    if (dim->n >= 0)
        return at + x->first[tsr__operand_dim(x, dim->i[0])];
    for (int d = x->shape.ndim - 1; d >= 0; d--) {
        whole += (at % x->shape.size[d] + x->first[d]) * stride;
        at /= x->shape.size[d];
        stride *= call->number[d];
    }
    return whole;
}

static void arg_local(const tsr_kernel_call *call, double *words)
{
    const int64_t n = tsr__operand_count(&call->out[0]);
    int64_t *at = (int64_t *)(void *)(words + n);

    for (int64_t i = 0; i < n; i++) {
        words[i] = 0;
        at[i] = -1;
    }
    if (n == 0 || tsr__operand_count(&call->in[0]) == 0)
        return;
    find(call, words, at);
    for (int64_t i = 0; i < n; i++)
        at[i] = place_in_whole(call, at[i]);
}

/* Is b better than a, or as good? The smaller place wins then. */
static bool takes_over(bool better, bool worse, int64_t have, int64_t other)
{
    return other >= 0 && (have < 0 || better || (!worse && other < have));
}

static bool is_better(bool min, double a, double b)
{
    return (min ? b < a : a < b) || (b != b && a == a);
}

static void merge_floats(bool min, int64_t n, double *words, const double *more)
{
    int64_t *at = (int64_t *)(void *)(words + n);
    const int64_t *other = (const int64_t *)(const void *)(more + n);

    for (int64_t i = 0; i < n; i++)
        if (takes_over(is_better(min, words[i], more[i]), is_better(min, more[i], words[i]), at[i],
                       other[i])) {
            words[i] = more[i];
            at[i] = other[i];
        }
}

/* They are compared as unsigned, and those that are not from the least one on. */
static void merge_integers(bool min, uint64_t least, int64_t n, double *words, const double *more)
{
    int64_t *a = (int64_t *)(void *)words;
    const int64_t *b = (const int64_t *)(const void *)more;

    for (int64_t i = 0; i < n; i++) {
        const uint64_t mine = (uint64_t)a[i] - least, other = (uint64_t)b[i] - least;

        if (takes_over(min ? other < mine : mine < other, min ? mine < other : other < mine,
                       a[n + i], b[n + i])) {
            a[i] = b[i];
            a[n + i] = b[n + i];
        }
    }
}

static void arg_finish(const tsr_kernel_call *call, const double *words)
{
    const int64_t n = tsr__operand_count(&call->out[0]);

    if (n > 0)
        memcpy(call->out[0].data, words + n, (size_t)n * sizeof(int64_t));
}

static void arg_merge(const tsr_kernel_call *call, int64_t count, double *words, const double *more)
{
    const tsr_dtype dtype = call->in[0].dtype;

    if (tsr__dtype_is_float(dtype))
        merge_floats(is_min(call), count / 2, words, more);
    else
        merge_integers(is_min(call), (uint64_t)tsr__dtype_min(dtype), count / 2, words, more);
}

const tsr_merge_steps tsr__arg_steps = {arg_count, arg_local, arg_merge, arg_finish, NULL};

/* Best elements alone: places are the output. */
size_t tsr__scratch_arg(const tsr_kernel_call *call)
{
    return (size_t)tsr__operand_count(&call->out[0]) * sizeof(double);
}

void tsr__kernel_arg(const tsr_kernel_call *call)
{
    const int64_t n = tsr__operand_count(&call->out[0]);
    int64_t *at = call->out[0].data;

    if (variant_of(call) == TSR_VARIANT_REFERENCE)
        tsr__reference_arg(call, is_min(call));
    else if (tsr__operand_count(&call->in[0]) > 0)
        find(call, call->scratch, at);
    else
        for (int64_t i = 0; i < n; i++)
            at[i] = -1;
}
