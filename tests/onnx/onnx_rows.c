/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_rows.c - operators that compute, one row each: our op and how attributes translate, or a
   function where that is not all. Those that move elements are in onnx_shapes.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "onnx_map.h"

static int ndim_of(const tsr_tensor *x)
{
    return tsr_tensor_spec(x)->shape.ndim;
}

/* ---- lists, of which our ops take two ---- */

static void fold(onnx_call *c, const char *op)
{
    tsr_tensor *y = c->in[0];

    for (int k = 1; k < c->n_in && y; k++)
        y = onnx_run2(c, op, y, c->in[k]);
    c->out[0] = y;
}

static void run_sum(onnx_call *c)
{
    fold(c, "add");
}

static void run_max(onnx_call *c)
{
    fold(c, "maximum");
}

static void run_min(onnx_call *c)
{
    fold(c, "minimum");
}

static void run_mean(onnx_call *c)
{
    fold(c, "add");
    if (c->out[0])
        c->out[0] = onnx_run(c, "affine", c->out, 1, "mul=%.17g", 1.0 / c->n_in);
}

/* ---- pointwise ---- */

static void run_clip(onnx_call *c)
{
    char low[64] = "", high[64] = "";

    if (onnx_attr(c, "min") || (c->n_in > 1 && c->in[1]))
        snprintf(low, sizeof low, "min=%.9g",
                 onnx_attr(c, "min") ? onnx_float(c, "min", 0) : onnx_number(c, 1));
    if (onnx_attr(c, "max") || (c->n_in > 2 && c->in[2]))
        snprintf(high, sizeof high, "max=%.9g",
                 onnx_attr(c, "max") ? onnx_float(c, "max", 0) : onnx_number(c, 2));
    c->out[0] = low[0] || high[0] ? onnx_run(c, "clamp", c->in, 1, "%s %s", low, high) : c->in[0];
}

static const char *dtype_word(int number)
{
    tsr_dtype dtype;

    return onnx_dtype(number, &dtype) ? tsr_dtype_name(dtype) : NULL;
}

static void cast_to(onnx_call *c, const char *to)
{
    if (!to)
        onnx_differs(c, "strings");
    else if (strcmp(to, "bf16") == 0)
        onnx_differs(c, "bf16 truncated, not rounded");
    else
        c->out[0] = onnx_run(c, "cast", c->in, 1, "dtype=%s", to);
}

static void run_cast(onnx_call *c)
{
    cast_to(c, dtype_word((int)onnx_int(c, "to", 1)));
}

static void run_cast_like(onnx_call *c)
{
    cast_to(c, tsr_dtype_name(tsr_tensor_spec(c->in[1])->dtype));
}

static bool is_whole(const tsr_tensor *x)
{
    const tsr_dtype dtype = tsr_tensor_spec(x)->dtype;

    return dtype == TSR_I32 || dtype == TSR_I64 || dtype == TSR_U8;
}

static void run_pow(onnx_call *c)
{
    const char *a = tsr_dtype_name(tsr_tensor_spec(c->in[0])->dtype);
    const char *by = is_whole(c->in[0]) && is_whole(c->in[1]) ? a : "f64";
    tsr_tensor *in[2] = {c->in[0], c->in[1]};

    for (int k = 0; k < 2; k++) /* dtypes may differ; the result is of the first */
        in[k] = onnx_run(c, "cast", &in[k], 1, "dtype=%s", by);
    c->out[0] = onnx_run2(c, "pow", in[0], in[1]);
    if (c->out[0])
        c->out[0] = onnx_run(c, "cast", c->out, 1, "dtype=%s", a);
}

static void run_div(onnx_call *c)
{
    c->out[0] = onnx_run2(c, is_whole(c->in[0]) ? "trunc_divide" : "div", c->in[0], c->in[1]);
}

static void run_mod(onnx_call *c)
{
    c->out[0] = onnx_run2(c, onnx_int(c, "fmod", 0) ? "fmod" : "remainder", c->in[0], c->in[1]);
}

static void run_isinf(onnx_call *c)
{
    const bool below = onnx_int(c, "detect_negative", 1), above = onnx_int(c, "detect_positive", 1);

    c->out[0] = onnx_run1(c, below && above ? "isinf" : above ? "isposinf" : "isneginf", c->in[0]);
}

static void run_gelu(onnx_call *c)
{
    c->out[0] = onnx_run(c, "gelu", c->in, 1, "tanh=%d",
                         strcmp(onnx_text(c, "approximate", "none"), "tanh") == 0);
}

static void run_shrink(onnx_call *c)
{
    const double lambd = onnx_float(c, "lambd", 0.5), bias = onnx_float(c, "bias", 0);

    if (bias != 0 && bias != lambd)
        onnx_differs(c, "another bias than lambd");
    else
        c->out[0] =
            onnx_run(c, bias == 0 ? "hardshrink" : "softshrink", c->in, 1, "lambd=%.9g", lambd);
}

static void run_batch_norm(onnx_call *c)
{
    tsr_tensor *out[TSR_OP_OUTPUTS];
    const double eps = onnx_float(c, "epsilon", 1e-5), m = onnx_float(c, "momentum", 0.9);
    char attrs[64];

    if (!onnx_int(c, "training_mode", 0)) {
        c->out[0] = onnx_run(c, "batch_norm", c->in, 5, "training=false eps=%.9g", eps);
        return;
    }
    /* statistics as they are: mean, 1/deviation, and the biased variance from that */
    snprintf(attrs, sizeof attrs, "eps=%.9g", eps);
    onnx_run_all(c, "batch_norm", c->in, 3, attrs, out);
    c->out[0] = out[0];
    for (int k = 1; k < 3 && out[k]; k++) {
        tsr_tensor *now = out[k], *before = c->in[2 + k];

        if (k == 2) {
            now = onnx_run1(c, "reciprocal", onnx_run1(c, "square", now));
            now = now ? onnx_run(c, "affine", &now, 1, "add=%.9g", -eps) : NULL;
        }
        before = onnx_run(c, "affine", &before, 1, "mul=%.9g", m);
        now = now ? onnx_run(c, "affine", &now, 1, "mul=%.9g", 1 - m) : NULL;
        c->out[k] = onnx_run2(c, "add", before, now);
    }
}

/* ---- products ---- */

static tsr_tensor *transposed(onnx_call *c, tsr_tensor *x, bool really)
{
    return really ? onnx_run1(c, "transpose", x) : x;
}

static tsr_tensor *scaled(onnx_call *c, tsr_tensor *x, double by)
{
    return by == 1 || !x ? x : onnx_run(c, "affine", &x, 1, "mul=%.9g", by);
}

static void run_gemm(onnx_call *c)
{
    tsr_tensor *in[] = {transposed(c, c->in[0], onnx_int(c, "transA", 0)),
                        transposed(c, c->in[1], onnx_int(c, "transB", 0))};
    tsr_tensor *y = scaled(c, onnx_run(c, "matmul", in, 2, "%s", ""), onnx_float(c, "alpha", 1));

    c->out[0] = y;
    if (c->n_in > 2 && c->in[2] && y)
        c->out[0] = onnx_run2(c, "add", y, scaled(c, c->in[2], onnx_float(c, "beta", 1)));
}

static void run_einsum(onnx_call *c)
{
    const Onnx__AttributeProto *a = onnx_attr(c, "equation");
    char text[64] = "";
    size_t n = 0;

    for (size_t i = 0; i < a->s.len && n + 1 < sizeof text; i++)
        if (a->s.data[i] != ' ')
            text[n++] = (char)a->s.data[i];
    c->out[0] = onnx_run(c, "einsum", c->in, c->n_in, "equation=%s", text);
}

/* ---- sliding ---- */

typedef struct sliding {
    int n;
    int64_t kernel[8], stride[8], dilation[8], pads[16];
} sliding;

/* Attributes with their defaults; auto_pad made explicit, `back` for transposed ones. */
static void read_sliding(const onnx_call *c, const int64_t *kernel, sliding *s)
{
    const tsr_shape *x = &tsr_tensor_spec(c->in[0])->shape;
    const char *automatic = onnx_text(c, "auto_pad", "NOTSET");
    int64_t v[64];

    memset(s, 0, sizeof *s);
    s->n = x->ndim - 2;
    for (int d = 0; d < s->n; d++) {
        s->kernel[d] = kernel ? kernel[d] : 1;
        s->stride[d] = s->dilation[d] = 1;
    }
    if (onnx_ints(c, "kernel_shape", -1, v) > 0)
        memcpy(s->kernel, v, sizeof s->kernel[0] * (size_t)s->n);
    if (onnx_ints(c, "strides", -1, v) > 0)
        memcpy(s->stride, v, sizeof s->stride[0] * (size_t)s->n);
    if (onnx_ints(c, "dilations", -1, v) > 0)
        memcpy(s->dilation, v, sizeof s->dilation[0] * (size_t)s->n);
    if (onnx_ints(c, "pads", -1, v) > 0)
        memcpy(s->pads, v, sizeof s->pads[0] * 2 * (size_t)s->n);
    for (int d = 0; d < s->n && strncmp(automatic, "SAME", 4) == 0; d++) {
        int64_t out = (x->size[2 + d] + s->stride[d] - 1) / s->stride[d];
        int64_t all =
            (out - 1) * s->stride[d] + (s->kernel[d] - 1) * s->dilation[d] + 1 - x->size[2 + d];
        int64_t less = all > 0 ? all / 2 : 0, more = all > 0 ? all - less : 0;
        bool upper = strcmp(automatic, "SAME_UPPER") == 0;

        s->pads[d] = upper ? less : more;
        s->pads[s->n + d] = upper ? more : less;
    }
}

static const char *sliding_text(const sliding *s, char buf[1400])
{
    char a[512], b[512], d[512];

    snprintf(buf, 1400, "stride=%.300s padding=%.300s dilation=%.300s",
             onnx_list(s->stride, s->n, a), onnx_list(s->pads, 2 * s->n, b),
             onnx_list(s->dilation, s->n, d));
    return buf;
}

static void run_conv(onnx_call *c)
{
    sliding s;
    char text[1400];

    read_sliding(c, tsr_tensor_spec(c->in[1])->shape.size + 2, &s);
    c->out[0] = onnx_run(c, "conv", c->in, c->n_in, "%s groups=%lld", sliding_text(&s, text),
                         (long long)onnx_int(c, "group", 1));
}

/* Padding of the result is made explicit: what is cut off at both ends, and what is added. */
static void run_conv_transpose(onnx_call *c)
{
    const tsr_shape *x = &tsr_tensor_spec(c->in[0])->shape;
    const char *automatic = onnx_text(c, "auto_pad", "NOTSET");
    int64_t more[64] = {0}, size[64];
    char text[1400], list[512];
    sliding s;
    int n;

    read_sliding(c, tsr_tensor_spec(c->in[1])->shape.size + 2, &s);
    onnx_ints(c, "output_padding", -1, more);
    n = onnx_ints(c, "output_shape", -1, size);
    for (int d = 0; d < s.n && (n > 0 || strncmp(automatic, "SAME", 4) == 0); d++) {
        int64_t want = n > 0 ? size[n - s.n + d] : x->size[2 + d] * s.stride[d];
        int64_t all = s.stride[d] * (x->size[2 + d] - 1) + more[d] +
                      (s.kernel[d] - 1) * s.dilation[d] + 1 - want;

        if (all < 0) { /* more than there is: zeros behind */
            more[d] -= all;
            all = 0;
        }
        s.pads[d] = strcmp(automatic, "SAME_UPPER") == 0 ? all / 2 : all - all / 2;
        s.pads[s.n + d] = all - s.pads[d];
    }
    c->out[0] = onnx_run(
        c, "conv", c->in, c->n_in, "%s groups=%lld transposed=true output_padding=%.300s",
        sliding_text(&s, text), (long long)onnx_int(c, "group", 1), onnx_list(more, s.n, list));
}

static void run_pool(onnx_call *c)
{
    const bool max = strcmp(c->node->op_type, "MaxPool") == 0;
    tsr_tensor *out[TSR_OP_OUTPUTS];
    char text[1400], kernel[512], attrs[2000];
    sliding s;

    if (onnx_int(c, "storage_order", 0)) {
        onnx_differs(c, "indices by columns");
        return;
    }
    read_sliding(c, NULL, &s);
    for (int d = 0; d < 2 * s.n; d++)
        if (2 * s.pads[d] > s.kernel[d % s.n])
            onnx_differs(c, "padding of more than half the kernel");
    if (tsr_tensor_spec(c->in[0])->dtype == TSR_U8)
        onnx_differs(c, "windows of integers");
    if (c->n_out > 1 &&
        tsr_tensor_spec(c->in[0])->shape.size[0] * tsr_tensor_spec(c->in[0])->shape.size[1] != 1)
        onnx_differs(c, "indices that count on over planes");
    if (!max && onnx_int(c, "ceil_mode", 0) && onnx_int(c, "count_include_pad", 0))
        onnx_differs(c, "windows beyond the padding count what is not there");
    if (c->differs[0])
        return;
    snprintf(attrs, sizeof attrs, "kernel=%.300s %s ceil=%d", onnx_list(s.kernel, s.n, kernel),
             sliding_text(&s, text), (int)onnx_int(c, "ceil_mode", 0));
    if (!max)
        snprintf(attrs + strlen(attrs), 64, " count_include_pad=%d",
                 (int)onnx_int(c, "count_include_pad", 0));
    onnx_run_all(c, max ? "max_pool" : "avg_pool", c->in, 1, attrs, out);
    c->out[0] = out[0];
    c->out[1] = out[1];
}

/* Over all of space, which stays as dims of size 1. */
static void run_global(onnx_call *c, const char *op)
{
    int64_t dims[TSR_MAX_DIM];
    char list[512];
    int n = 0;

    for (int d = 2; d < ndim_of(c->in[0]); d++)
        dims[n++] = d;
    c->out[0] = onnx_run(c, op, c->in, 1, "dims=%s keepdim=true", onnx_list(dims, n, list));
}

static void run_global_average(onnx_call *c)
{
    run_global(c, "mean");
}

static void run_global_max(onnx_call *c)
{
    run_global(c, "max");
}

/* Only what our two ways of interpolating say too. */
static void run_resize(onnx_call *c)
{
    const bool upsample = strcmp(c->node->op_type, "Upsample") == 0;
    const char *mode = onnx_text(c, "mode", "nearest");
    const char *where =
        onnx_text(c, "coordinate_transformation_mode", upsample ? "asymmetric" : "half_pixel");
    const tsr_shape *x = &tsr_tensor_spec(c->in[0])->shape;
    const bool linear = strcmp(mode, "linear") == 0, corners = !strcmp(where, "align_corners");
    int64_t size[64];
    char list[512];
    int scales = upsample ? 1 : 2;
    bool single = false;

    for (int d = 0; d < x->ndim; d++)
        size[d] = x->size[d];
    if (c->n_in > 3 && c->in[3])
        onnx_ints(c, "", 3, size);
    else if (c->in[scales]) {
        double f[TSR_MAX_DIM];
        float host[TSR_MAX_DIM] = {0};

        tsr_to_host(c->in[scales], host, sizeof host[0] * (size_t)x->ndim);
        for (int d = 0; d < x->ndim; d++) {
            f[d] = (double)host[d] * (double)x->size[d];
            size[d] = (int64_t)floor(f[d]);
            if (f[d] != floor(f[d])) { /* ours go by sizes alone */
                onnx_differs(c, "scales that sizes do not say");
                return;
            }
        }
    }
    for (int d = 2; d < x->ndim; d++) /* of one point, where it is taken */
        single = single || size[d] == 1;
    if (onnx_int(c, "antialias", 0))
        onnx_differs(c, "smoothed before it is made smaller");
    else if (linear && (!strcmp(where, "half_pixel") || corners ||
                        (!strcmp(where, "pytorch_half_pixel") && !single)))
        c->out[0] = onnx_run(c, "upsample_linear", c->in, 1, "size=%s align_corners=%d",
                             onnx_list(size + 2, x->ndim - 2, list), corners);
    else if (!strcmp(mode, "nearest") && !strcmp(where, "asymmetric") &&
             (upsample || !strcmp(onnx_text(c, "nearest_mode", "round_prefer_floor"), "floor")))
        c->out[0] = onnx_run(c, "upsample_nearest", c->in, 1, "size=%s",
                             onnx_list(size + 2, x->ndim - 2, list));
    else
        onnx_differs(c, "another way to interpolate");
}

/* ---- norms and losses ---- */

static void run_layer_norm(onnx_call *c)
{
    const int ndim = ndim_of(c->in[0]);
    const int64_t axis = onnx_int(c, "axis", -1);
    tsr_tensor *out[TSR_OP_OUTPUTS];
    char attrs[128];

    snprintf(attrs, sizeof attrs, "n_dims=%d eps=%.9g", (int)(axis < 0 ? -axis : ndim - axis),
             onnx_float(c, "epsilon", 1e-5));
    onnx_run_all(c, "layer_norm", c->in, c->n_in, attrs, out);
    for (int k = 0; k < 3; k++)
        c->out[k] = out[k];
}

/* x with its classes, dim 1, as the last one. */
static tsr_tensor *classes_last(onnx_call *c, tsr_tensor *x)
{
    int64_t dims[TSR_MAX_DIM];
    char list[512];
    int n = 0;

    for (int d = 0; d < ndim_of(x); d++)
        if (d != 1)
            dims[n++] = d;
    dims[n++] = 1;
    return onnx_run(c, "permute", &x, 1, "dims=%s", onnx_list(dims, n, list));
}

static void run_loss(onnx_call *c)
{
    const bool sce = strcmp(c->node->op_type, "SoftmaxCrossEntropyLoss") == 0;
    const char *how = onnx_text(c, "reduction", "mean");
    tsr_tensor *in[3] = {classes_last(c, c->in[0]), c->in[1], c->n_in > 2 ? c->in[2] : NULL};

    c->out[0] =
        onnx_run(c, sce ? "cross_entropy" : "nll_loss", in, 3, "reduction=%s ignore_index=%lld",
                 how, (long long)onnx_int(c, "ignore_index", -100));
    if (sce && c->n_out > 1)
        c->out[1] = onnx_run(c, "log_softmax", c->in, 1, "dim=1");
}

static void run_mvn(onnx_call *c)
{
    int64_t axes[64] = {0, 2, 3};
    int n = onnx_ints(c, "axes", -1, axes);
    char list[512];
    tsr_tensor *x = c->in[0], *mean, *deviation;

    onnx_list(axes, n < 0 ? 3 : n, list);
    mean = onnx_run(c, "mean", &x, 1, "dims=%s keepdim=true", list);
    deviation = onnx_run(c, "std", &x, 1, "dims=%s keepdim=true correction=0", list);
    if (mean && deviation)
        c->out[0] = onnx_run2(c, "div", onnx_run2(c, "sub", x, mean), deviation);
}

static void run_argmax(onnx_call *c)
{
    const bool max = strcmp(c->node->op_type, "ArgMax") == 0;

    if (onnx_int(c, "select_last_index", 0)) {
        onnx_differs(c, "the last of equal ones");
        return;
    }
    c->out[0] = onnx_run(c, max ? "argmax" : "argmin", c->in, 1, "dim=%lld keepdim=%lld",
                         (long long)onnx_int(c, "axis", 0), (long long)onnx_int(c, "keepdims", 1));
}

static void run_cumsum(onnx_call *c)
{
    char dim[64];
    tsr_tensor *y;

    snprintf(dim, sizeof dim, "dim=%d reverse=%d", (int)onnx_number(c, 1),
             (int)onnx_int(c, "reverse", 0));
    y = onnx_run(c, "cumsum", c->in, 1, "%s", dim);
    c->out[0] = onnx_int(c, "exclusive", 0) && y ? onnx_run2(c, "sub", y, c->in[0]) : y;
}

static void run_prelu(onnx_call *c)
{
    c->out[0] = onnx_run2(c, "prelu", c->in[0], c->in[1]);
}

/* Axes are an attribute or, from opset 18 on, an input; empty ones may mean none of them. */
static void reduce(onnx_call *c, const char *op)
{
    int64_t axes[64];
    char list[512] = "", dims[600] = "";
    int n = onnx_ints(c, "axes", 1, axes);

    if ((strcmp(op, "max") == 0 || strcmp(op, "min") == 0) &&
        tsr_shape_count(&tsr_tensor_spec(c->in[0])->shape) == 0) {
        onnx_differs(c, "the largest or least of no elements");
        return;
    }
    if (n <= 0 && onnx_int(c, "noop_with_empty_axes", 0)) {
        c->out[0] = c->in[0];
        return;
    }
    if (n > 0)
        snprintf(dims, sizeof dims, "dims=%s", onnx_list(axes, n, list));
    c->out[0] =
        onnx_run(c, op, c->in, 1, "%s keepdim=%lld", dims, (long long)onnx_int(c, "keepdims", 1));
}

static void run_reduce(onnx_call *c)
{
    static const char *const all[][2] = {{"ReduceLogSumExp", "logsumexp"}, {"ReduceMax", "max"},
                                         {"ReduceMean", "mean"},           {"ReduceMin", "min"},
                                         {"ReduceProd", "prod"},           {"ReduceSum", "sum"}};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i][0], c->node->op_type) == 0)
            reduce(c, all[i][1]);
}

/* A sum of what another op makes of the elements; and what a third makes of the sum. */
static void run_sum_of(onnx_call *c)
{
    static const struct {
        const char *onnx, *before, *after;
    } all[] = {{"ReduceL1", "abs", NULL},
               {"ReduceL2", "square", "sqrt"},
               {"ReduceLogSum", NULL, "log"},
               {"ReduceSumSquare", "square", NULL}};
    tsr_tensor *x = c->in[0];

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(all[i].onnx, c->node->op_type) != 0)
            continue;
        if (all[i].before)
            c->in[0] = onnx_run1(c, all[i].before, x);
        if (c->in[0])
            reduce(c, "sum");
        if (all[i].after && c->out[0])
            c->out[0] = onnx_run1(c, all[i].after, c->out[0]);
    }
}

const onnx_row onnx_rows[] = {
    {.onnx = "Abs", .op = "abs"},
    {.onnx = "Acos", .op = "acos"},
    {.onnx = "Acosh", .op = "acosh"},
    {.onnx = "Add", .op = "add"},
    {.onnx = "And", .op = "logical_and"},
    {.onnx = "ArgMax", .run = run_argmax},
    {.onnx = "ArgMin", .run = run_argmax},
    {.onnx = "Asin", .op = "asin"},
    {.onnx = "Asinh", .op = "asinh"},
    {.onnx = "Atan", .op = "atan"},
    {.onnx = "Atanh", .op = "atanh"},
    {.onnx = "AveragePool", .run = run_pool},
    {.onnx = "BatchNormalization", .run = run_batch_norm},
    {.onnx = "Cast", .run = run_cast},
    {.onnx = "CastLike", .run = run_cast_like},
    {.onnx = "Ceil", .op = "ceil"},
    {.onnx = "Celu", .op = "celu", .attrs = "alpha=alpha:1"},
    {.onnx = "Clip", .run = run_clip},
    {.onnx = "Conv", .run = run_conv},
    {.onnx = "ConvTranspose", .run = run_conv_transpose},
    {.onnx = "Cos", .op = "cos"},
    {.onnx = "Cosh", .op = "cosh"},
    {.onnx = "CumSum", .run = run_cumsum},
    {.onnx = "Div", .run = run_div},
    {.onnx = "Einsum", .run = run_einsum},
    {.onnx = "Elu", .op = "elu", .attrs = "alpha=alpha:1"},
    {.onnx = "Equal", .op = "eq"},
    {.onnx = "Erf", .op = "erf"},
    {.onnx = "Exp", .op = "exp"},
    {.onnx = "Floor", .op = "floor"},
    {.onnx = "Gelu", .run = run_gelu},
    {.onnx = "Gemm", .run = run_gemm},
    {.onnx = "GlobalAveragePool", .run = run_global_average},
    {.onnx = "GlobalMaxPool", .run = run_global_max},
    {.onnx = "Greater", .op = "gt"},
    {.onnx = "GreaterOrEqual", .op = "ge"},
    {.onnx = "GroupNormalization",
     .op = "group_norm",
     .attrs = "groups=num_groups eps=epsilon:1e-5"},
    {.onnx = "HardSigmoid", .op = "hardsigmoid", .attrs = "alpha=alpha:0.2 beta=beta:0.5"},
    {.onnx = "HardSwish", .op = "hardswish"},
    {.onnx = "InstanceNormalization", .op = "instance_norm", .attrs = "eps=epsilon:1e-5"},
    {.onnx = "IsInf", .run = run_isinf},
    {.onnx = "IsNaN", .op = "isnan"},
    {.onnx = "LayerNormalization", .run = run_layer_norm},
    {.onnx = "LeakyRelu", .op = "leaky_relu", .attrs = "negative_slope=alpha:0.01"},
    {.onnx = "Less", .op = "lt"},
    {.onnx = "LessOrEqual", .op = "le"},
    {.onnx = "Log", .op = "log"},
    {.onnx = "LogSoftmax", .op = "log_softmax", .attrs = "dim=axis:-1"},
    {.onnx = "MatMul", .op = "matmul"},
    {.onnx = "Max", .run = run_max},
    {.onnx = "MaxPool", .run = run_pool},
    {.onnx = "Mean", .run = run_mean},
    {.onnx = "MeanVarianceNormalization", .run = run_mvn},
    {.onnx = "Min", .run = run_min},
    {.onnx = "Mish", .op = "mish"},
    {.onnx = "Mod", .run = run_mod},
    {.onnx = "Mul", .op = "mul"},
    {.onnx = "Neg", .op = "neg"},
    {.onnx = "NegativeLogLikelihoodLoss", .run = run_loss},
    {.onnx = "Not", .op = "logical_not"},
    {.onnx = "Or", .op = "logical_or"},
    {.onnx = "PRelu", .run = run_prelu},
    {.onnx = "Pow", .run = run_pow},
    {.onnx = "Reciprocal", .op = "reciprocal"},
    {.onnx = "ReduceL1", .run = run_sum_of},
    {.onnx = "ReduceL2", .run = run_sum_of},
    {.onnx = "ReduceLogSum", .run = run_sum_of},
    {.onnx = "ReduceLogSumExp", .run = run_reduce},
    {.onnx = "ReduceMax", .run = run_reduce},
    {.onnx = "ReduceMean", .run = run_reduce},
    {.onnx = "ReduceMin", .run = run_reduce},
    {.onnx = "ReduceProd", .run = run_reduce},
    {.onnx = "ReduceSum", .run = run_reduce},
    {.onnx = "ReduceSumSquare", .run = run_sum_of},
    {.onnx = "Relu", .op = "relu"},
    {.onnx = "Resize", .run = run_resize},
    {.onnx = "Round", .op = "round"},
    {.onnx = "Selu",
     .op = "selu",
     .attrs = "alpha=alpha:1.67326319217681884765625 scale=gamma:1.05070102214813232421875"},
    {.onnx = "Shrink", .run = run_shrink},
    {.onnx = "Sigmoid", .op = "sigmoid"},
    {.onnx = "Sign", .op = "sign"},
    {.onnx = "Sin", .op = "sin"},
    {.onnx = "Sinh", .op = "sinh"},
    {.onnx = "Softmax", .op = "softmax", .attrs = "dim=axis:-1"},
    {.onnx = "SoftmaxCrossEntropyLoss", .run = run_loss},
    {.onnx = "Softplus", .op = "softplus"},
    {.onnx = "Softsign", .op = "softsign"},
    {.onnx = "Sqrt", .op = "sqrt"},
    {.onnx = "Sub", .op = "sub"},
    {.onnx = "Sum", .run = run_sum},
    {.onnx = "Tan", .op = "tan"},
    {.onnx = "Tanh", .op = "tanh"},
    {.onnx = "ThresholdedRelu", .op = "threshold", .attrs = "threshold=alpha:1"},
    {.onnx = "Upsample", .run = run_resize},
    {.onnx = "Where", .op = "where"},
    {.onnx = "Xor", .op = "logical_xor"},
    {0},
};
