/* SPDX-License-Identifier: Apache-2.0 */
/* scan.c - cumsum and cumprod along a dim, from what came before on other ranks on: f16 and bf16
   add in f32, f32 in f64. Called through the ops' rows, and by run/merged.c. */
#include "ops/reduction/scan.h"

#include "base/half.h"
#include "base/minmax.h"
#include "kernel/index.h"
#include "kernel/kinds.h"
#include "ops/reduction/reduction_ops.h"
#include "kernel/sku.h"

enum {
    WIDTH = 2048, /* elements of a row of sums */
    CHUNK = 1024  /* elements of a row that are widened at a time */
};
enum { ATTR_DIM = 0, ATTR_REVERSE = 1 };

/* What sums are gathered as. */
#define WORD __typeof__(_Generic((WIDE)0, float: 0.0, double: 0.0, default: INT64_C(0)))

typedef struct parts {
    void (*along)(bool product, bool one_by_one, const void *x, int64_t step, int64_t n, void *acc,
                  void *y);
    void (*row)(bool product, const void *x, int64_t n, void *acc, void *y);
    void (*load)(bool product, const void *word, int64_t n, void *acc);
    void (*save)(const void *acc, int64_t n, void *word);
} parts;

#define TABLE scan_kernels
#define BODY "ops/reduction/scan.inc.h"
#define DTYPES (TSR__HALVES | TSR__INTEGERS | TSR__PRIME)
#define AVX2 TSR__AVX2
#include "base/kernel_table.inc.h"

/* x as [outer, n, inner], scanned along n. */
typedef struct walk {
    const parts *parts;
    tsr_dtype dtype;
    bool product, reverse, half;
    bool one_by_one; /* in an order that does not depend on sizes */
    int64_t size, outer, n, inner;
} walk;

/* Reproducible mode has no need of the reference: it adds one by one. */
static tsr_kernel_variant variant_of(const tsr_kernel_call *call)
{
    return tsr__variant_best(TSR_CATEGORY_REDUCTION, (uint16_t)call->kind, call->in[0].dtype,
                             tsr__variant_asked(call));
}

static bool is_product(const tsr_kernel_call *call)
{
    return call->kind == TSR_REDUCTION_CUMPROD;
}

static walk walk_of(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0];
    const int dim = tsr__operand_dim(x, call->attrs.value[ATTR_DIM].i[0]);
    walk w = {.parts = tsr__kernel_for(&scan_kernels, x->dtype, variant_of(call)),
              .dtype = x->dtype,
              .product = is_product(call),
              .reverse = call->attrs.value[ATTR_REVERSE].i[0],
              .half = x->dtype == TSR_F16 || x->dtype == TSR_BF16,
              .one_by_one = call->reproducible,
              .size = (int64_t)tsr_dtype_size(x->dtype),
              .outer = tsr__product(dim, x->shape.size),
              .n = x->shape.size[dim],
              .inner = tsr__product(x->shape.ndim - dim - 1, x->shape.size + dim + 1)};

    return w;
}

/* A row of halves, chunk by chunk. */
static void half_row(const walk *w, const char *x, void *acc, char *y)
{
    float wide[CHUNK];

    for (int64_t i = 0; i < w->n; i += CHUNK) {
        const int64_t m = tsr__min(CHUNK, w->n - i), from = w->reverse ? w->n - i - m : i;
        float *first = w->reverse ? wide + m - 1 : wide;

        tsr__half_widen(w->dtype, x + from * w->size, m, wide);
        w->parts->along(w->product, w->one_by_one, first, w->reverse ? -1 : 1, m, acc,
                        y ? first : NULL);
        if (y)
            tsr__half_narrow(w->dtype, wide, m, y + from * w->size);
    }
}

/* Rows along memory: from the sums before to those after, each with one number. */
static void along(const walk *w, const char *x, const double *before, double *after, char *y)
{
    const int64_t last = w->reverse && w->n > 0 ? (w->n - 1) * w->size : 0;

    for (int64_t r = 0; r < w->outer; r++) {
        const int64_t at = r * w->n * w->size;
        double acc;

        w->parts->load(w->product, before ? before + r : NULL, 1, &acc);
        if (w->half)
            half_row(w, x + at, &acc, y ? y + at : NULL);
        else
            w->parts->along(w->product, w->one_by_one, x + at + last, w->reverse ? -1 : 1, w->n,
                            &acc, y ? y + at + last : NULL);
        if (after)
            w->parts->save(&acc, 1, after + r);
    }
}

/* Up to WIDTH columns. */
static void columns(const walk *w, const char *x, int64_t width, void *acc, char *y)
{
    float wide[WIDTH];

    for (int64_t k = 0; k < w->n; k++) {
        const int64_t at = (w->reverse ? w->n - 1 - k : k) * w->inner * w->size;

        if (!w->half) {
            w->parts->row(w->product, x + at, width, acc, y ? y + at : NULL);
            continue;
        }
        tsr__half_widen(w->dtype, x + at, width, wide);
        w->parts->row(w->product, wide, width, acc, y ? wide : NULL);
        if (y)
            tsr__half_narrow(w->dtype, wide, width, y + at);
    }
}

static void across(const walk *w, const char *x, const double *before, double *after, char *y)
{
    double acc[WIDTH];

    for (int64_t i = 0; i < w->outer; i++)
        for (int64_t k = 0; k < w->inner; k += WIDTH) {
            const int64_t width = tsr__min(WIDTH, w->inner - k), result = i * w->inner + k;
            const int64_t at = (i * w->n * w->inner + k) * w->size;

            w->parts->load(w->product, before ? before + result : NULL, width, acc);
            columns(w, x + at, width, acc, y ? y + at : NULL);
            if (after)
                w->parts->save(acc, width, after + result);
        }
}

/* before NULL: nothing came before; y NULL: only the sums after all elements are asked for. */
static void scan(const tsr_kernel_call *call, const double *before, double *after, char *y)
{
    const walk w = walk_of(call);

    if (w.inner == 1)
        along(&w, call->in[0].data, before, after, y);
    else
        across(&w, call->in[0].data, before, after, y);
}

/* ---- the two steps: the sums of all elements here ---- */

static int64_t scan_count(const tsr_kernel_call *call)
{
    const walk w = walk_of(call);

    return w.outer * w.inner;
}

static int scan_side(const tsr_kernel_call *call)
{
    return call->attrs.value[ATTR_REVERSE].i[0] ? 1 : -1;
}

static void scan_local(const tsr_kernel_call *call, double *words)
{
    scan(call, NULL, words, NULL);
}

static void merge_floats(bool product, int64_t count, double *words, const double *more)
{
    for (int64_t i = 0; i < count; i++)
        words[i] = product ? words[i] * more[i] : words[i] + more[i];
}

/* Modulo 2^64, from which any smaller integer follows. */
static void merge_integers(bool product, int64_t count, double *words, const double *more)
{
    uint64_t *a = (uint64_t *)(void *)words;
    const uint64_t *b = (const uint64_t *)(const void *)more;

    for (int64_t i = 0; i < count; i++)
        a[i] = product ? a[i] * b[i] : a[i] + b[i];
}

static void scan_merge(const tsr_kernel_call *call, int64_t count, double *words,
                       const double *more)
{
    (tsr__dtype_is_float(call->in[0].dtype) ? merge_floats : merge_integers)(is_product(call),
                                                                             count, words, more);
}

static void scan_finish(const tsr_kernel_call *call, const double *words)
{
    scan(call, words, NULL, call->out[0].data);
}

const tsr_merge_steps tsr__scan_steps = {scan_count, scan_local, scan_merge, scan_finish,
                                         scan_side};

void tsr__kernel_scan(const tsr_kernel_call *call)
{
    if (variant_of(call) == TSR_VARIANT_REFERENCE)
        tsr__reference_scan(call, is_product(call));
    else if (tsr__operand_count(&call->out[0]) > 0)
        scan(call, NULL, NULL, call->out[0].data);
}
