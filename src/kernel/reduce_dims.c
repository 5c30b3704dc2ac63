/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_dims.c - sum, mean, max over dims of one operand: joins neighbouring dims that are all
   kept or all reduced, then walks blocks of outputs, each either by runs along memory or by rows
   added to rows. f16 and bf16 add in f32, f32 in f64. Called through the ops' rows. */
#include "kernel/kernels.h"

#include "base/half.h"
#include "kernel/fast_types.h"
#include "kernel/index.h"
#include "kernel/reference.h"
#include "kernel/sku.h"

enum {
    SHORT = 32,    /* elements of a run that are too few for all lanes of sum_run */
    RUN = 4096,    /* elements of a run that are summed before they are added to others */
    LONG = 512,    /* elements of a row that is long enough */
    HEIGHT = 256,  /* rows likewise */
    WIDTH = 32768, /* outputs computed together; their accumulators stay in the second cache */
    NEAR = 2048,   /* the same for runs, in the first cache */
    EIGHT = 8192   /* bytes of a row whose accumulators leave the first cache: eight rows at once */
};

/* out = mask ? yes : no, of vectors */
#define CHOOSE(out, mask, yes, no)                                                                 \
    ((out) = (__typeof__(out))(((mask) & (__typeof__(mask))(yes)) |                                \
                               (~(mask) & (__typeof__(mask))(no))))

#define BODY "kernel/reduce_dims.inc.h"
#define HALVES
#define NAME(name, dtype) name##_##dtype##_plain
#define SET
#include "kernel/fast_types.inc.h"

#ifdef TSR__X86
#define NAME(name, dtype) name##_##dtype##_avx2
#define SET TSR__AVX2
#include "kernel/fast_types.inc.h"
#endif

typedef struct parts {
    void (*rows)(bool max, const void *x, int64_t n_out, int64_t step, int64_t n, void *acc);
    void (*columns)(bool max, const void *x, int64_t n_out, int64_t step, int64_t n, void *acc);
    void (*merge)(bool max, int64_t n, int64_t times, void *acc);
    void (*start)(bool max, int64_t n, void *acc);
    void (*scale)(int64_t times, int64_t divisor, int64_t n, void *acc);
    void (*store)(bool max, int64_t n, const void *acc, void *out);
} parts;

static const parts plain[TSR__DTYPES] = {
    [TSR_F32] = {rows_f32_plain, columns_f32_plain, merge_f32_plain, start_f32_plain,
                 scale_f32_plain, store_f32_plain},
    [TSR_F64] = {rows_f64_plain, columns_f64_plain, merge_f64_plain, start_f64_plain,
                 scale_f64_plain, store_f64_plain},
    [TSR_F16] = {rows_f16_plain, columns_f16_plain, merge_f16_plain, start_f16_plain,
                 scale_f16_plain, store_f16_plain},
    [TSR_BF16] = {rows_bf16_plain, columns_bf16_plain, merge_bf16_plain, start_bf16_plain,
                  scale_bf16_plain, store_bf16_plain},
    [TSR_I32] = {rows_i32_plain, columns_i32_plain, merge_i32_plain, start_i32_plain,
                 scale_i32_plain, store_i32_plain},
    [TSR_I64] = {rows_i64_plain, columns_i64_plain, merge_i64_plain, start_i64_plain,
                 scale_i64_plain, store_i64_plain},
    [TSR_U8] = {rows_u8_plain, columns_u8_plain, merge_u8_plain, start_u8_plain, scale_u8_plain,
                store_u8_plain},
    [TSR__FIELD] = {rows_field_plain, columns_field_plain, merge_field_plain, start_field_plain,
                    scale_field_plain, store_field_plain},
};

#ifdef TSR__X86
static const parts avx2[TSR__DTYPES] = {
    [TSR_F32] = {rows_f32_avx2, columns_f32_avx2, merge_f32_avx2, start_f32_avx2, scale_f32_avx2,
                 store_f32_avx2},
    [TSR_F64] = {rows_f64_avx2, columns_f64_avx2, merge_f64_avx2, start_f64_avx2, scale_f64_avx2,
                 store_f64_avx2},
    [TSR_F16] = {rows_f16_avx2, columns_f16_avx2, merge_f16_avx2, start_f16_avx2, scale_f16_avx2,
                 store_f16_avx2},
    [TSR_BF16] = {rows_bf16_avx2, columns_bf16_avx2, merge_bf16_avx2, start_bf16_avx2,
                  scale_bf16_avx2, store_bf16_avx2},
    [TSR_I32] = {rows_i32_avx2, columns_i32_avx2, merge_i32_avx2, start_i32_avx2, scale_i32_avx2,
                 store_i32_avx2},
    [TSR_I64] = {rows_i64_avx2, columns_i64_avx2, merge_i64_avx2, start_i64_avx2, scale_i64_avx2,
                 store_i64_avx2},
    [TSR_U8] = {rows_u8_avx2, columns_u8_avx2, merge_u8_avx2, start_u8_avx2, scale_u8_avx2,
                store_u8_avx2},
    [TSR__FIELD] = {rows_field_avx2, columns_field_avx2, merge_field_avx2, start_field_avx2,
                    scale_field_avx2, store_field_avx2},
};
#endif

static const parts *parts_for(tsr_dtype dtype, tsr_kernel_variant variant)
{
#ifdef TSR__X86
    if (variant == TSR_VARIANT_AVX2)
        return &avx2[dtype];
#endif
    (void)variant;
    return &plain[dtype];
}

typedef struct loop {
    int64_t count, stride; /* in elements */
} loop;

/* Loops over kept and over reduced dims, the innermost first; at least one of each. */
typedef struct walk {
    const parts *parts;
    bool max, by_rows;
    int64_t times, divisor;
    tsr_dtype dtype;
    size_t size;
    int n_keep, n_gone;
    loop keep[TSR_MAX_DIM + 1], gone[TSR_MAX_DIM + 1];
    char *out; /* where the next result goes */
    uint64_t acc[WIDTH];
} walk;

static const char *at(const walk *w, const char *base, int64_t i)
{
    return base + i * (int64_t)w->size;
}

static void find_loops(const tsr_shape *s, unsigned gone, walk *w)
{
    int64_t stride = 1;
    int last = -1; /* was the previous dim reduced? */

    for (int d = s->ndim - 1; d >= 0; d--) {
        int now = (int)(gone >> d & 1), *n = now ? &w->n_gone : &w->n_keep;
        loop *list = now ? w->gone : w->keep;

        if (s->size[d] == 1)
            continue;
        if (now == last)
            list[*n - 1].count *= s->size[d];
        else
            list[(*n)++] = (loop){s->size[d], stride};
        last = now;
        stride *= s->size[d];
    }
    w->by_rows = w->n_gone && w->gone[0].stride == 1;
    if (w->n_keep == 0)
        w->keep[w->n_keep++] = (loop){1, 1};
    if (w->n_gone == 0)
        w->gone[w->n_gone++] = (loop){1, 1};
}

/* Many short rows are joined to fewer long ones; then each output has this many accumulators. */
static int64_t rows_together(const walk *w, int64_t n_out)
{
    const loop *rows = &w->gone[0];
    const int64_t times = LONG / n_out;

    if (w->by_rows || times < 2 || rows->stride != n_out || rows->count < 4 * times)
        return 1;
    return times;
}

/* All elements of n_out neighbouring outputs. */
static void over_gone(walk *w, int depth, const char *x, int64_t n_out, int64_t times)
{
    const loop *l = &w->gone[depth];
    const int64_t n = l->count / times, together = n_out * times;

    if (depth > 0)
        for (int64_t i = 0; i < l->count; i++)
            over_gone(w, depth - 1, at(w, x, i * l->stride), n_out, times);
    else if (w->by_rows)
        w->parts->rows(w->max, x, n_out, w->keep[0].stride, l->count, w->acc);
    else {
        w->parts->columns(w->max, x, together, l->stride * times, n, w->acc);
        w->parts->columns(w->max, at(w, x, n * together), n_out, l->stride, l->count % times,
                          w->acc);
    }
}

/* n outputs from their accumulators, which are f32 for f16 and bf16. */
static void finish(walk *w, int64_t n)
{
    if (!w->max && w->times != w->divisor)
        w->parts->scale(w->times, w->divisor, n, w->acc);
    if (w->dtype == TSR_F16 || w->dtype == TSR_BF16)
        tsr__half_narrow(w->dtype, (const float *)w->acc, n, w->out);
    else
        w->parts->store(w->max, n, w->acc, w->out);
}

static void over_keep(walk *w, int depth, const char *x)
{
    const loop *l = &w->keep[depth];
    const int64_t most = w->by_rows ? NEAR : WIDTH;

    if (depth > 0) {
        for (int64_t i = 0; i < l->count; i++)
            over_keep(w, depth - 1, at(w, x, i * l->stride));
        return;
    }
    for (int64_t i = 0; i < l->count; i += most) {
        const int64_t n = l->count - i < most ? l->count - i : most;
        const int64_t times = rows_together(w, n);

        w->parts->start(w->max, n * times, w->acc);
        over_gone(w, w->n_gone - 1, at(w, x, i * l->stride), n, times);
        w->parts->merge(w->max, n, times, w->acc);
        finish(w, n);
        w->out += n * (int64_t)w->size;
    }
}

static void reduce(const tsr_kernel_call *call, tsr_kernel_variant variant, bool max, int64_t times,
                   int64_t divisor)
{
    const tsr_operand *out = &call->out[0];
    const tsr_dtype dtype = out->dtype == TSR_BOOL ? TSR_U8 : out->dtype;
    walk w;

    if (tsr__operand_count(out) == 0)
        return;
    w.parts = parts_for(dtype, variant);
    w.max = max || out->dtype == TSR_BOOL; /* or is max */
    w.times = times;
    w.divisor = divisor;
    w.dtype = dtype;
    w.size = tsr_dtype_size(dtype);
    w.n_keep = w.n_gone = 0;
    w.out = out->data;
    if (tsr__operand_count(&call->in[0]) == 0) {
        w.parts->start(w.max, 1, w.acc);
        finish(&w, 1);
        tsr__repeat(w.size, w.out, tsr__operand_count(out));
        return;
    }
    find_loops(&call->in[0].shape, tsr__reduced_dims(call), &w);
    over_keep(&w, w.n_keep - 1, call->in[0].data);
}

void tsr__kernel_sum(const tsr_kernel_call *call)
{
    const tsr_kernel_variant v = tsr__variant_of(call, TSR_CATEGORY_REDUCTION, TSR_REDUCTION_SUM);

    if (v == TSR_VARIANT_REFERENCE)
        tsr__reference_sum(call);
    else
        reduce(call, v, false, 1, 1);
}

void tsr__kernel_mean(const tsr_kernel_call *call)
{
    const tsr_kernel_variant v = tsr__variant_of(call, TSR_CATEGORY_REDUCTION, TSR_REDUCTION_MEAN);

    if (v == TSR_VARIANT_REFERENCE)
        tsr__reference_mean(call);
    else
        reduce(call, v, false, call->number[1] ? call->number[1] : 1,
               call->number[0] ? call->number[0] : 1);
}

void tsr__kernel_max(const tsr_kernel_call *call)
{
    const tsr_kernel_variant v = tsr__variant_of(call, TSR_CATEGORY_REDUCTION, TSR_REDUCTION_MAX);

    if (v == TSR_VARIANT_REFERENCE)
        tsr__reference_max(call);
    else
        reduce(call, v, true, 1, 1);
}
