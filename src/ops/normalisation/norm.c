/* SPDX-License-Identifier: Apache-2.0 */
/* norm.c - batch and group normalisation and their gradients: which rows and statistics a call has,
   and the two steps of merge.h. Called through the ops' rows, and in steps by
   run/merged.c. */
#include "ops/normalisation/norm.h"

#include "base/stream.h"
#include "kernel/index.h"
#include "ops/normalisation/normalisation_ops.h"
#include "ops/normalisation/normalisation_attrs.h"
#include "kernel/norm_rows.h"
#include "kernel/sku.h"

#include <math.h>
#include <string.h>

/* x as [n, channels, space]; statistics are [channels], or with groups [n, groups]. */
typedef struct view {
    tsr_dtype dtype;
    tsr_kernel_variant variant;
    int64_t n, channels, space;
    int64_t groups;  /* 0: statistics of channels */
    int64_t n_stats; /* on this rank */
    size_t bytes;    /* of x */
} view;

static bool is_backward(int kind)
{
    return kind == TSR_NORM_BATCH_BACKWARD || kind == TSR_NORM_GROUP_BACKWARD;
}

static bool is_grouped(int kind)
{
    return kind == TSR_NORM_GROUP || kind == TSR_NORM_GROUP_BACKWARD;
}

static view view_of(const tsr_kernel_call *call)
{
    const bool grouped = is_grouped(call->kind);
    const tsr_operand *x = &call->in[is_backward(call->kind) ? TSR_NORM_GRAD_X : TSR_NORM_X];
    view v = {.dtype = x->dtype,
              .variant = tsr__variant_best(TSR_CATEGORY_NORM, (uint16_t)call->kind, x->dtype,
                                           call->variant),
              .n = x->shape.size[0],
              .channels = x->shape.size[1],
              .space = tsr__product(x->shape.ndim - 2, x->shape.size + 2),
              .groups = grouped ? call->attrs.value[TSR_NORM_GROUPS].i[0] : 0};

    /* without channels there are no groups either */
    v.n_stats = grouped ? v.n * v.groups : v.channels;
    v.bytes = (size_t)tsr__operand_count(x) * tsr_dtype_size(x->dtype);
    return v;
}

static bool is_wanted(const tsr_kernel_call *call, int k)
{
    return k < call->n_out && call->out[k].shape.ndim >= 0;
}

/* ---- scratch ---- */

/* Arrays of doubles, one after the other. */
typedef struct room {
    double *weight, *bias;          /* [channels] */
    double *mean, *rstd;            /* [statistics] */
    double *center;                 /* [channels] of one sample */
    double *sum, *dot;              /* [n, channels] of gradients of groups */
    double *high, *low, *by, *plus; /* [channels] factors; those of f32 need half */
    double *grad_by;
} room;

static int64_t set_room(const view *v, bool backward, double *at, room *out)
{
    const int64_t rows = backward ? (v->groups > 0 ? v->n * v->channels : v->channels) : 0;
    const int64_t size[] = {v->channels, v->channels, v->n_stats,  v->n_stats,
                            v->channels, rows,        rows,        v->channels,
                            v->channels, v->channels, v->channels, v->channels};
    double **const to[] = {&out->weight, &out->bias, &out->mean, &out->rstd,
                           &out->center, &out->sum,  &out->dot,  &out->high,
                           &out->low,    &out->by,   &out->plus, &out->grad_by};
    int64_t total = 0;

    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        *to[i] = at ? at + total : NULL;
        total += size[i];
    }
    return total;
}

/* A vector in f64, or `other` where it is absent. */
static void load_vector(const tsr_kernel_call *call, int k, int64_t n, double other, double *out)
{
    if (tsr__operand_given(call, k))
        tsr__convert(TSR_F64, out, call->in[k].dtype, call->in[k].data, n);
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = other;
}

static void store_vector(const tsr_kernel_call *call, int k, int64_t n, const double *value)
{
    if (is_wanted(call, k))
        tsr__convert(call->out[k].dtype, call->out[k].data, TSR_F64, value, n);
}

static tsr_norm_factors factors_of(const room *r)
{
    return (tsr_norm_factors){
        .high = r->high, .low = r->low, .by = r->by, .plus = r->plus, .grad_by = r->grad_by};
}

/* ---- forward: how many values, their means, their squared distances ---- */

enum { OUT_Y = 0, OUT_MEAN = 1, OUT_RSTD = 2, OUT_VAR = 3 };

/* Factors of the channels of one sample, from statistic `first` on, one for `each` channels. */
static void set_forward(const view *v, const room *r, int64_t first, int64_t each)
{
    for (int64_t c = 0; c < v->channels; first++) {
        const double mean = r->mean[first], rest = tsr__norm_rest(v->dtype, mean);

        for (const int64_t end = c + each; c < end; c++) {
            tsr__norm_put(v->dtype, r->high, c, mean);
            tsr__norm_put(v->dtype, r->low, c, rest);
            tsr__norm_put(v->dtype, r->by, c, r->rstd[first] * r->weight[c]);
            tsr__norm_put(v->dtype, r->plus, c, r->bias[c]);
        }
    }
}

static int64_t forward_count(const tsr_kernel_call *call)
{
    const view v = view_of(call);

    return 1 + 2 * v.n_stats;
}

/* Without training the running statistics are those of one value. */
static void batch_local(const tsr_kernel_call *call, const view *v, double *numbers)
{
    if (call->attrs.value[TSR_NORM_TRAINING].i[0]) {
        numbers[0] = (double)(v->n * v->space);
        tsr__norm_moments(v->dtype, v->variant, v->n, v->channels, v->space,
                          call->in[TSR_NORM_X].data, numbers + 1, numbers + 1 + v->n_stats);
        return;
    }
    numbers[0] = 1;
    load_vector(call, TSR_NORM_RUNNING_MEAN, v->channels, 0, numbers + 1);
    load_vector(call, TSR_NORM_RUNNING_VAR, v->channels, 1, numbers + 1 + v->n_stats);
}

static void group_local(const tsr_kernel_call *call, const view *v, double *numbers)
{
    const int64_t values = v->groups > 0 ? v->channels / v->groups * v->space : 0;

    numbers[0] = (double)values;
    tsr__norm_moments(v->dtype, v->variant, 1, v->n_stats, values, call->in[TSR_NORM_X].data,
                      numbers + 1, numbers + 1 + v->n_stats);
}

static void forward_local(const tsr_kernel_call *call, double *numbers)
{
    const view v = view_of(call);

    (is_grouped(call->kind) ? group_local : batch_local)(call, &v, numbers);
}

static void forward_finish(const tsr_kernel_call *call, const double *numbers)
{
    const view v = view_of(call);
    const double n = numbers[0], eps = call->attrs.value[TSR_NORM_EPS].f;
    const double *m2 = numbers + 1 + v.n_stats;
    const size_t sample = v.n > 0 ? v.bytes / (size_t)v.n : 0;
    room r;

    set_room(&v, false, call->scratch, &r);
    load_vector(call, TSR_NORM_WEIGHT, v.channels, 1, r.weight);
    load_vector(call, TSR_NORM_BIAS, v.channels, 0, r.bias);
    for (int64_t k = 0; k < v.n_stats; k++) {
        r.mean[k] = numbers[1 + k];
        r.rstd[k] = 1 / sqrt((n > 0 ? m2[k] / n : 0) + eps);
        if (is_wanted(call, OUT_VAR))
            tsr__put(call->out[OUT_VAR].dtype, call->out[OUT_VAR].data, k,
                     n > 1 ? m2[k] / (n - 1) : 0);
    }
    store_vector(call, OUT_MEAN, v.n_stats, r.mean);
    store_vector(call, OUT_RSTD, v.n_stats, r.rstd);
    const tsr_norm_factors f = factors_of(&r);

    for (int64_t i = 0; i < v.n && v.bytes > 0; i++) {
        if (v.groups > 0 || i == 0)
            set_forward(&v, &r, i * v.groups, v.groups > 0 ? v.channels / v.groups : 1);
        tsr__norm_apply(v.dtype, v.variant, v.channels, v.space, NULL,
                        (const char *)call->in[TSR_NORM_X].data + (size_t)i * sample, &f, v.bytes,
                        (char *)call->out[OUT_Y].data + (size_t)i * sample);
    }
    tsr__stream_fence();
}

/* ---- gradients: two sums of each statistic ---- */

enum { OUT_GRAD_X = 0, OUT_GRAD_WEIGHT = 1, OUT_GRAD_BIAS = 2 };

/* gx = grad * rstd * weight - (a + (x - mean) * rstd^2 * b) * rstd / count, where a and b are the
   statistic's sums of grad and of grad * (x - mean), with the weights in them. */
static void set_backward(const view *v, const room *r, const double *a, const double *b,
                         double count, int64_t first, int64_t each)
{
    for (int64_t c = 0; c < v->channels; first++) {
        const double mean = a ? r->mean[first] : 0, rest = tsr__norm_rest(v->dtype, mean);
        const double rstd = r->rstd[first], plus = a ? -rstd * a[first] / count : 0;
        const double by = a ? -rstd * rstd * rstd * b[first] / count : 0;

        for (const int64_t end = c + each; c < end; c++) {
            const double own = v->groups > 0 ? 1 : r->weight[c];

            tsr__norm_put(v->dtype, r->high, c, mean);
            tsr__norm_put(v->dtype, r->low, c, rest);
            tsr__norm_put(v->dtype, r->by, c, by * own);
            tsr__norm_put(v->dtype, r->plus, c, plus * own);
            tsr__norm_put(v->dtype, r->grad_by, c, rstd * r->weight[c]);
        }
    }
}

/* The gradient of x; a and b are NULL where statistics do not depend on it. */
static void finish_grad_x(const tsr_kernel_call *call, const view *v, const room *r,
                          const double *a, const double *b)
{
    const double count = (double)call->number[TSR_NORM_COUNT];
    const size_t sample = v->n > 0 ? v->bytes / (size_t)v->n : 0;
    tsr_norm_factors f = factors_of(r);

    if (!a) { /* the gradient takes the place of x */
        f.by = r->grad_by;
        f.grad_by = NULL;
    }
    for (int64_t i = 0; i < v->n && v->bytes > 0; i++) {
        const char *grad = (const char *)call->in[TSR_NORM_GRAD].data + (size_t)i * sample;
        const char *x = (const char *)call->in[TSR_NORM_GRAD_X].data + (size_t)i * sample;

        if (v->groups > 0 || i == 0)
            set_backward(v, r, a, b, count, i * v->groups,
                         v->groups > 0 ? v->channels / v->groups : 1);
        tsr__norm_apply(v->dtype, v->variant, v->channels, v->space, a ? grad : NULL, a ? x : grad,
                        &f, v->bytes, (char *)call->out[OUT_GRAD_X].data + (size_t)i * sample);
    }
    tsr__stream_fence();
}

static void load_statistics(const tsr_kernel_call *call, const view *v, room *r)
{
    set_room(v, true, call->scratch, r);
    load_vector(call, TSR_NORM_GRAD_WEIGHT, v->channels, 1, r->weight);
    load_vector(call, TSR_NORM_GRAD_MEAN, v->n_stats, 0, r->mean);
    load_vector(call, TSR_NORM_GRAD_RSTD, v->n_stats, 1, r->rstd);
}

static bool is_training(const tsr_kernel_call *call)
{
    return call->attrs.value[TSR_NORM_TRAINING].i[0];
}

static int64_t backward_count(const tsr_kernel_call *call)
{
    const view v = view_of(call);

    return 2 * v.n_stats;
}

static void batch_back_local(const tsr_kernel_call *call, const view *v, double *numbers)
{
    const size_t sample = v->n > 0 ? v->bytes / (size_t)v->n : 0;
    room r;

    load_statistics(call, v, &r);
    memset(numbers, 0, 2 * (size_t)v->channels * sizeof *numbers);
    if (!is_training(call) && !is_wanted(call, OUT_GRAD_WEIGHT) && !is_wanted(call, OUT_GRAD_BIAS))
        return;
    for (int64_t i = 0; i < v->n; i++)
        tsr__norm_sums(v->dtype, v->variant, v->channels, v->space,
                       (const char *)call->in[TSR_NORM_GRAD].data + (size_t)i * sample,
                       (const char *)call->in[TSR_NORM_GRAD_X].data + (size_t)i * sample, r.mean,
                       numbers, numbers + v->channels);
}

static void batch_back_finish(const tsr_kernel_call *call, const view *v, const double *numbers)
{
    const double *sum = numbers, *dot = numbers + v->channels;
    const bool training = is_training(call);
    room r;

    load_statistics(call, v, &r);
    for (int64_t c = 0; c < v->channels; c++)
        r.center[c] = dot[c] * r.rstd[c];
    store_vector(call, OUT_GRAD_WEIGHT, v->channels, r.center);
    store_vector(call, OUT_GRAD_BIAS, v->channels, sum);
    if (is_wanted(call, OUT_GRAD_X))
        finish_grad_x(call, v, &r, training ? sum : NULL, training ? dot : NULL);
}

/* Sums of the channels of every sample stay; those of groups are what ranks share. */
static void group_back_local(const tsr_kernel_call *call, const view *v, double *numbers)
{
    const size_t sample = v->n > 0 ? v->bytes / (size_t)v->n : 0;
    const int64_t each = v->groups > 0 ? v->channels / v->groups : 0;
    room r;

    load_statistics(call, v, &r);
    memset(numbers, 0, 2 * (size_t)v->n_stats * sizeof *numbers);
    memset(r.sum, 0, (size_t)(v->n * v->channels) * sizeof *r.sum);
    memset(r.dot, 0, (size_t)(v->n * v->channels) * sizeof *r.dot);
    for (int64_t i = 0; i < v->n && v->channels > 0; i++) {
        double *sum = r.sum + i * v->channels, *dot = r.dot + i * v->channels;

        for (int64_t c = 0, k = i * v->groups; c < v->channels; k++)
            for (const int64_t end = c + each; c < end; c++)
                r.center[c] = r.mean[k];
        tsr__norm_sums(v->dtype, v->variant, v->channels, v->space,
                       (const char *)call->in[TSR_NORM_GRAD].data + (size_t)i * sample,
                       (const char *)call->in[TSR_NORM_GRAD_X].data + (size_t)i * sample, r.center,
                       sum, dot);
        for (int64_t c = 0, k = i * v->groups; c < v->channels; k++)
            for (const int64_t end = c + each; c < end; c++) {
                numbers[k] += r.weight[c] * sum[c];
                numbers[v->n_stats + k] += r.weight[c] * dot[c];
            }
    }
}

/* Over samples, in their order. */
static void group_vectors(const tsr_kernel_call *call, const view *v, const room *r)
{
    const int64_t each = v->groups > 0 ? v->channels / v->groups : 0;
    double *weight = r->center, *bias = r->bias;

    memset(weight, 0, (size_t)v->channels * sizeof *weight);
    memset(bias, 0, (size_t)v->channels * sizeof *bias);
    for (int64_t i = 0; i < v->n; i++)
        for (int64_t c = 0, k = i * v->groups; c < v->channels; k++)
            for (const int64_t end = c + each; c < end; c++) {
                weight[c] += r->dot[i * v->channels + c] * r->rstd[k];
                bias[c] += r->sum[i * v->channels + c];
            }
    store_vector(call, OUT_GRAD_WEIGHT, v->channels, weight);
    store_vector(call, OUT_GRAD_BIAS, v->channels, bias);
}

static void group_back_finish(const tsr_kernel_call *call, const view *v, const double *numbers)
{
    room r;

    set_room(v, true, call->scratch, &r); /* all was loaded by the first step */
    if (is_wanted(call, OUT_GRAD_WEIGHT) || is_wanted(call, OUT_GRAD_BIAS))
        group_vectors(call, v, &r);
    if (is_wanted(call, OUT_GRAD_X))
        finish_grad_x(call, v, &r, numbers, numbers + v->n_stats);
}

static void backward_local(const tsr_kernel_call *call, double *numbers)
{
    const view v = view_of(call);

    (is_grouped(call->kind) ? group_back_local : batch_back_local)(call, &v, numbers);
}

static void backward_finish(const tsr_kernel_call *call, const double *numbers)
{
    const view v = view_of(call);

    (is_grouped(call->kind) ? group_back_finish : batch_back_finish)(call, &v, numbers);
}

/* ---- kernels ---- */

const tsr_merge_steps tsr__norm_steps = {forward_count, forward_local, tsr__welford_combine_n,
                                         forward_finish, NULL};
const tsr_merge_steps tsr__norm_backward_steps = {backward_count, backward_local, tsr__merge_sums,
                                                  backward_finish, NULL};

static const tsr_merge_steps *steps_of(int kind)
{
    return is_backward(kind) ? &tsr__norm_backward_steps : &tsr__norm_steps;
}

/* The numbers stand behind what the steps keep. */
static int64_t numbers_at(const tsr_kernel_call *call)
{
    const view v = view_of(call);
    room r;

    return set_room(&v, is_backward(call->kind), NULL, &r);
}

size_t tsr__scratch_channel_norm(const tsr_kernel_call *call)
{
    return (size_t)(numbers_at(call) + steps_of(call->kind)->count(call)) * sizeof(double);
}

static void run_steps(const tsr_kernel_call *call)
{
    const tsr_merge_steps *steps = steps_of(call->kind);
    double *numbers = (double *)call->scratch + numbers_at(call);

    steps->local(call, numbers);
    steps->finish(call, numbers);
}

/* Sample by sample: what the first step has read is in the cache for the second. */
static void run_samples(const tsr_kernel_call *call)
{
    const view v = view_of(call);
    const int64_t channels = v.channels * v.space * (int64_t)tsr_dtype_size(v.dtype);
    tsr_kernel_call one = *call;

    one.in[TSR_NORM_X].shape.size[0] = 1;
    for (int64_t i = 0; i < v.n; i++) {
        one.in[TSR_NORM_X].data = (char *)call->in[TSR_NORM_X].data + i * channels;
        one.out[OUT_Y].data = (char *)call->out[OUT_Y].data + i * channels;
        for (int k = OUT_MEAN; k <= OUT_RSTD; k++)
            one.out[k].data = (char *)call->out[k].data +
                              i * v.groups * (int64_t)tsr_dtype_size(call->out[k].dtype);
        run_steps(&one);
    }
}

void tsr__kernel_channel_norm(const tsr_kernel_call *call)
{
    if (tsr__variant_asked(call) == TSR_VARIANT_REFERENCE)
        tsr__reference_channel_norm(call);
    else if (call->kind == TSR_NORM_GROUP)
        run_samples(call);
    else
        run_steps(call);
}

/* a + (b - a) * momentum, in f64. */
void tsr__kernel_running_update(const tsr_kernel_call *call)
{
    const tsr_operand *a = &call->in[0], *b = &call->in[1], *out = &call->out[0];
    const double momentum = call->attrs.value[TSR_ATTR_RUNNING_UPDATE_MOMENTUM].f;

    for (int64_t i = 0; i < tsr__operand_count(out); i++)
        tsr__put(out->dtype, out->data, i,
                 (1 - momentum) * tsr__get(a->dtype, a->data, i) +
                     momentum * tsr__get(b->dtype, b->data, i));
}
