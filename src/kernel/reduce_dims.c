/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_dims.c - reductions over dims of one operand: joins neighbouring dims that are all kept or
   all reduced, then walks blocks of outputs, each either by runs along memory or by rows added to
   rows. f16 and bf16 add in f32, f32 in f64. Called through the ops' rows, and by statistic.c. */
#include "kernel/reduce_dims.h"
#include "kernel/kinds.h"

#include "base/half.h"
#include "base/kernel_table.h"
#include "kernel/dims_loops.h"
#include "kernel/index.h"
#include "kernel/sku.h"
#include "kernel/nonzero.h"

enum {
    SHORT = 32,    /* elements of a run that are too few for all lanes of sum_run */
    RUN = 4096,    /* elements of a run that are summed before they are added to others */
    LONG = 512,    /* elements of a row that is long enough */
    HEIGHT = 256,  /* rows likewise */
    WIDTH = 32768, /* outputs computed together; their accumulators stay in the second cache */
    NEAR = 2048,   /* the same for runs, in the first cache */
    EIGHT = 8192   /* bytes of a row whose accumulators leave the first cache: eight rows at once */
};

/* Is one of the elements chosen, not all of them joined? */
TSR__INLINE bool is_ordered(tsr_fold how)
{
    return how == TSR_FOLD_MAX || how == TSR_FOLD_MIN || how == TSR_FOLD_MAX_ABS;
}

/* out = mask ? yes : no, of vectors */
#define CHOOSE(out, mask, yes, no)                                                                 \
    ((out) = (__typeof__(out))(((mask) & (__typeof__(mask))(yes)) |                                \
                               (~(mask) & (__typeof__(mask))(no))))

typedef struct parts {
    void (*rows)(tsr_fold how, const void *x, int64_t n_out, int64_t step, int64_t n, void *acc);
    void (*columns)(tsr_fold how, const void *x, int64_t n_out, int64_t step, int64_t n, void *acc);
    void (*merge)(tsr_fold how, int64_t n, int64_t times, void *acc);
    void (*start)(tsr_fold how, int64_t n, void *acc);
    void (*scale)(int64_t times, int64_t divisor, int64_t n, void *acc);
    void (*store)(tsr_fold how, int64_t n, const void *acc, void *out);
} parts;

#define TABLE reduce_kernels
#define BODY "kernel/reduce_dims.inc.h"
#define DTYPES (TSR__HALVES | TSR__INTEGERS | TSR__PRIME)
#define AVX2 TSR__AVX2
#include "base/kernel_table.inc.h"

typedef struct walk {
    const parts *parts;
    tsr_fold how;
    int64_t times, divisor;
    tsr_dtype dtype; /* as which elements are reduced */
    tsr_dtype from;  /* other numbers become booleans first, */
    bool nonzero;    /* if so */
    bool wide;       /* results are f64, not of dtype */
    tsr_kernel_variant variant;
    size_t size;
    tsr_dims_loops loops;
    char *out; /* where the next result goes */
    uint64_t acc[WIDTH];
} walk;

static const char *at(const walk *w, const char *base, int64_t i)
{
    return base + i * (int64_t)w->size;
}

/* Many short rows are joined to fewer long ones; then each output has this many accumulators. */
static int64_t rows_together(const walk *w, int64_t n_out)
{
    const tsr_loop *rows = &w->loops.gone[0];
    const int64_t times = LONG / n_out;

    if (w->loops.by_rows || w->nonzero || times < 2 || rows->stride != n_out ||
        rows->count < 4 * times)
        return 1;
    return times;
}

/* The leaf of a walk over numbers that become booleans: pieces of rows, as bytes. */
static void over_nonzero(walk *w, const char *x, int64_t n_out, int64_t step, int64_t n)
{
    uint8_t bytes[RUN], *acc = (uint8_t *)w->acc;
    const int64_t along = w->loops.by_rows ? n : n_out, across = w->loops.by_rows ? n_out : n;
    const int64_t together = along < RUN && step == along ? RUN / along : 1;

    for (int64_t i = 0; i < across; i += together) {
        const int64_t rows = across - i < together ? across - i : together;

        for (int64_t j = 0; j < along; j += RUN) {
            const int64_t m = along - j < RUN ? along - j : RUN;

            tsr__nonzero(w->from, w->variant, at(w, x, i * step + j), rows * m, bytes);
            if (w->loops.by_rows)
                w->parts->rows(w->how, bytes, rows, m, m, acc + i);
            else
                w->parts->columns(w->how, bytes, m, m, rows, acc + j);
        }
    }
}

/* All elements of n_out neighbouring outputs. */
static void over_gone(walk *w, int depth, const char *x, int64_t n_out, int64_t times)
{
    const tsr_loop *l = &w->loops.gone[depth];
    const int64_t n = l->count / times, together = n_out * times;

    if (depth > 0)
        for (int64_t i = 0; i < l->count; i++)
            over_gone(w, depth - 1, at(w, x, i * l->stride), n_out, times);
    else if (w->nonzero)
        over_nonzero(w, x, n_out, w->loops.by_rows ? w->loops.keep[0].stride : l->stride, l->count);
    else if (w->loops.by_rows)
        w->parts->rows(w->how, x, n_out, w->loops.keep[0].stride, l->count, w->acc);
    else {
        w->parts->columns(w->how, x, together, l->stride * times, n, w->acc);
        w->parts->columns(w->how, at(w, x, n * together), n_out, l->stride, l->count % times,
                          w->acc);
    }
}

/* n outputs from their accumulators, which are f32 for f16 and bf16, and f64 in sums of f32. */
static void finish(walk *w, int64_t n)
{
    const bool half = w->dtype == TSR_F16 || w->dtype == TSR_BF16;
    const bool narrow = half || (w->dtype == TSR_F32 && is_ordered(w->how));

    if (w->how == TSR_FOLD_SUM && w->times != w->divisor)
        w->parts->scale(w->times, w->divisor, n, w->acc);
    if (w->wide)
        tsr__convert(TSR_F64, w->out, narrow ? TSR_F32 : TSR_F64, w->acc, n);
    else if (half)
        tsr__half_narrow(w->dtype, (const float *)w->acc, n, w->out);
    else
        w->parts->store(w->how, n, w->acc, w->out);
}

static void over_keep(walk *w, int depth, const char *x)
{
    const tsr_loop *l = &w->loops.keep[depth];
    const int64_t most = w->loops.by_rows ? NEAR : WIDTH;

    if (depth > 0) {
        for (int64_t i = 0; i < l->count; i++)
            over_keep(w, depth - 1, at(w, x, i * l->stride));
        return;
    }
    for (int64_t i = 0; i < l->count; i += most) {
        const int64_t n = l->count - i < most ? l->count - i : most;
        const int64_t times = rows_together(w, n);

        w->parts->start(w->how, n * times, w->acc);
        over_gone(w, w->loops.n_gone - 1, at(w, x, i * l->stride), n, times);
        w->parts->merge(w->how, n, times, w->acc);
        finish(w, n);
        w->out += n * (w->wide ? 8 : (int64_t)tsr_dtype_size(w->dtype));
    }
}

/* Bool is u8, of which or is max and and is min. */
static tsr_fold fold_of(tsr_dtype dtype, tsr_fold how)
{
    if (dtype != TSR_BOOL)
        return how;
    return how == TSR_FOLD_SUM ? TSR_FOLD_MAX : how == TSR_FOLD_PROD ? TSR_FOLD_MIN : how;
}

static void walk_all(walk *w, const tsr_operand *in, unsigned gone, bool is_bool, int64_t n_out)
{
    const size_t size = w->wide ? sizeof(double) : tsr_dtype_size(w->dtype);

    if (n_out == 0)
        return;
    if (tsr__operand_count(in) > 0) {
        w->loops = tsr__dims_loops(&in->shape, gone);
        over_keep(w, w->loops.n_keep - 1, in->data);
        return;
    }
    w->parts->start(w->how, 1, w->acc);
    finish(w, 1);
    if (is_bool) /* and of nothing is true, not 255 */
        *w->out = w->how == TSR_FOLD_MIN;
    tsr__repeat(size, w->out, n_out);
}

static void reduce(const tsr_kernel_call *call, tsr_kernel_variant variant, tsr_fold how,
                   int64_t times, int64_t divisor)
{
    const tsr_operand *out = &call->out[0];
    const tsr_dtype dtype = out->dtype == TSR_BOOL ? TSR_U8 : out->dtype;
    walk w;

    w.parts = tsr__kernel_for(&reduce_kernels, dtype, variant);
    w.how = fold_of(out->dtype, how);
    w.times = times;
    w.divisor = divisor;
    w.dtype = dtype;
    w.from = call->in[0].dtype;
    w.nonzero = out->dtype == TSR_BOOL && w.from != TSR_BOOL;
    w.variant = variant;
    w.wide = false;
    w.size = tsr_dtype_size(w.from);
    w.out = out->data;
    walk_all(&w, &call->in[0], tsr__reduced_dims(call), out->dtype == TSR_BOOL,
             tsr__operand_count(out));
}

void tsr__reduce_wide(tsr_fold how, tsr_kernel_variant variant, const tsr_operand *in,
                      unsigned gone, int64_t n_out, double *out)
{
    walk w;

    w.parts = tsr__kernel_for(&reduce_kernels, in->dtype, variant);
    w.how = how;
    w.times = w.divisor = 1;
    w.dtype = w.from = in->dtype;
    w.nonzero = false;
    w.variant = variant;
    w.wide = true;
    w.size = tsr_dtype_size(in->dtype);
    w.out = (char *)out;
    walk_all(&w, in, gone, false, n_out);
}

/* Fast sums go by the sizes of all dims; which element is chosen does not. */
static tsr_kernel_variant variant_of(const tsr_kernel_call *call, tsr_fold how)
{
    return call->reference || (call->reproducible && !is_ordered(how))
               ? TSR_VARIANT_REFERENCE
               : tsr__variant_best(TSR_CATEGORY_REDUCTION, (uint16_t)call->kind, call->in[0].dtype,
                                   call->variant);
}

static tsr_fold how_of(tsr_reduction_kind kind)
{
    switch (kind) {
    case TSR_REDUCTION_MAX:
    case TSR_REDUCTION_ANY: return TSR_FOLD_MAX;
    case TSR_REDUCTION_MIN:
    case TSR_REDUCTION_ALL: return TSR_FOLD_MIN;
    case TSR_REDUCTION_PROD: return TSR_FOLD_PROD;
    default: return TSR_FOLD_SUM;
    }
}

/* What a mean is divided by; 0 by 0 is NaN. */
static int64_t divisor_of(const tsr_kernel_call *call)
{
    const int64_t n = call->number[0];

    if (n == TSR_MEAN_OF_NOTHING)
        return tsr__dtype_is_float(call->out[0].dtype) ? 0 : 1;
    return n ? n : 1;
}

void tsr__kernel_reduce(const tsr_kernel_call *call)
{
    const tsr_fold how = how_of((tsr_reduction_kind)call->kind);
    const tsr_kernel_variant v = variant_of(call, how);
    const bool mean = call->kind == TSR_REDUCTION_MEAN;
    const int64_t times = mean && call->number[1] ? call->number[1] : 1;
    const int64_t divisor = mean ? divisor_of(call) : 1;

    if (v == TSR_VARIANT_REFERENCE)
        tsr__reference_reduce(call, how, times, divisor);
    else
        reduce(call, v, how, times, divisor);
}
