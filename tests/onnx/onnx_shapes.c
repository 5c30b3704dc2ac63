/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_shapes.c - operators that move elements, look them up or make them, one row each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_map.h"

static const tsr_shape *shape_of(const tsr_tensor *x)
{
    return &tsr_tensor_spec(x)->shape;
}

static int64_t counted(int64_t axis, int ndim)
{
    return axis < 0 ? axis + ndim : axis;
}

/* ---- shapes ---- */

static void run_reshape(onnx_call *c)
{
    const tsr_shape *x = shape_of(c->in[0]);
    int64_t size[64];
    int n = onnx_ints(c, "shape", 1, size);

    for (int d = 0; d < n && !onnx_int(c, "allowzero", 0); d++)
        if (size[d] == 0)
            size[d] = x->size[d];
    c->out[0] = onnx_reshape(c, c->in[0], size, n);
}

static void run_flatten(onnx_call *c)
{
    const tsr_shape *x = shape_of(c->in[0]);
    int64_t axis = counted(onnx_int(c, "axis", 1), x->ndim), size[2] = {1, 1};

    for (int d = 0; d < x->ndim; d++)
        size[d >= axis] *= x->size[d];
    c->out[0] = onnx_reshape(c, c->in[0], size, 2);
}

static void run_squeeze(onnx_call *c)
{
    int64_t axes[64];
    int n = onnx_ints(c, "axes", 1, axes);
    char list[512];

    c->out[0] = n < 0 ? onnx_run1(c, "squeeze", c->in[0])
                      : onnx_run(c, "squeeze", c->in, 1, "dims=%s", onnx_list(axes, n, list));
}

/* Axes count in the result, in any order. */
static void run_unsqueeze(onnx_call *c)
{
    const tsr_shape *x = shape_of(c->in[0]);
    int64_t axes[64], size[TSR_MAX_DIM] = {0};
    int n = onnx_ints(c, "axes", 1, axes), from = 0;

    for (int i = 0; i < n; i++)
        size[counted(axes[i], x->ndim + n)] = 1;
    for (int d = 0; d < x->ndim + n; d++)
        if (!size[d])
            size[d] = x->size[from++];
    c->out[0] = onnx_reshape(c, c->in[0], size, x->ndim + n);
}

static void run_transpose(onnx_call *c)
{
    const int ndim = shape_of(c->in[0])->ndim;
    int64_t perm[64];
    char list[512];

    if (onnx_ints(c, "perm", -1, perm) < 0)
        for (int d = 0; d < ndim; d++)
            perm[d] = ndim - 1 - d;
    c->out[0] = onnx_run(c, "permute", c->in, 1, "dims=%s", onnx_list(perm, ndim, list));
}

static void run_expand(onnx_call *c)
{
    const tsr_shape *x = shape_of(c->in[0]);
    int64_t size[64], out[64];
    char list[512];
    int n = onnx_ints(c, "", 1, size), ndim = n > x->ndim ? n : x->ndim;

    for (int d = 0; d < ndim; d++) { /* both broadcast */
        int64_t a = d - ndim + x->ndim >= 0 ? x->size[d - ndim + x->ndim] : 1;
        int64_t b = d - ndim + n >= 0 ? size[d - ndim + n] : 1;
        out[d] = a == 1 ? b : a;
    }
    c->out[0] = onnx_run(c, "expand", c->in, 1, "sizes=%s", onnx_list(out, ndim, list));
}

static void run_tile(onnx_call *c)
{
    int64_t times[64];
    char list[512];
    int n = onnx_ints(c, "", 1, times);

    c->out[0] = onnx_run(c, "tile", c->in, 1, "counts=%s", onnx_list(times, n, list));
}

static tsr_tensor *cut(onnx_call *c, tsr_tensor *x, int64_t dim, int64_t from, int64_t to,
                       int64_t step)
{
    return onnx_run(c, "slice", &x, 1, "dim=%lld start=%lld stop=%lld step=%lld", (long long)dim,
                    (long long)from, (long long)to, (long long)step);
}

static int64_t within(int64_t i, int64_t low, int64_t high)
{
    return i < low ? low : i > high ? high : i;
}

/* Backwards: the same indices, turned round, forwards. */
static void run_slice(onnx_call *c)
{
    const tsr_shape *x = shape_of(c->in[0]);
    int64_t from[64], to[64], axes[64], step[64];
    int n = onnx_ints(c, "starts", 1, from);
    bool some = onnx_ints(c, "axes", 3, axes) >= 0, steps = onnx_ints(c, "steps", 4, step) >= 0;
    tsr_tensor *y = c->in[0];

    onnx_ints(c, "ends", 2, to);
    for (int i = 0; i < n && y; i++) {
        int64_t dim = some ? counted(axes[i], x->ndim) : i, by = steps ? step[i] : 1;
        int64_t size = x->size[dim], a = from[i] < 0 ? from[i] + size : from[i];
        int64_t b = to[i] < 0 ? to[i] + size : to[i];

        if (by > 0) {
            a = within(a, 0, size);
            b = within(b, a, size);
            y = cut(c, y, dim, a, b, by);
            continue;
        }
        a = within(a, -1, size - 1);
        b = within(b, -1, a);
        y = onnx_run(c, "flip", &y, 1, "dims=%lld", (long long)dim);
        if (y)
            y = cut(c, y, dim, size - 1 - a, size - 1 - b, -by);
    }
    c->out[0] = y;
}

static void run_split(onnx_call *c)
{
    const tsr_shape *x = shape_of(c->in[0]);
    int64_t axis = counted(onnx_int(c, "axis", 0), x->ndim), size[64], at = 0;
    int n = onnx_ints(c, "split", 1, size);

    for (int k = 0; k < c->n_out; k++) {
        int64_t length = n > 0 ? size[k] : (x->size[axis] + c->n_out - 1) / c->n_out;

        length = length < x->size[axis] - at ? length : x->size[axis] - at;
        c->out[k] = cut(c, c->in[0], axis, at, at + length, 1);
        at += length;
    }
}

static void run_depth(onnx_call *c)
{
    c->out[0] = onnx_run(
        c, strcmp(c->node->op_type, "DepthToSpace") == 0 ? "depth_to_space" : "space_to_depth",
        c->in, 1, "block=%lld crd=%d", (long long)onnx_int(c, "blocksize", 1),
        strcmp(onnx_text(c, "mode", "DCR"), "CRD") == 0);
}

/* Of all axes, or of those that are given. */
static void run_pad(onnx_call *c)
{
    const char *mode = onnx_text(c, "mode", "constant");
    int64_t pads[64], axes[64], begin[TSR_MAX_DIM] = {0}, end[TSR_MAX_DIM] = {0};
    const int ndim = shape_of(c->in[0])->ndim, n = onnx_ints(c, "pads", 1, pads) / 2;
    const bool some = onnx_ints(c, "axes", 3, axes) >= 0;
    char a[512], b[512];

    for (int i = 0; i < n; i++) {
        const int64_t d = some ? counted(axes[i], ndim) : i;

        begin[d] = pads[i];
        end[d] = pads[n + i];
    }
    onnx_list(begin, ndim, a);
    onnx_list(end, ndim, b);
    if (strcmp(mode, "constant") == 0)
        c->out[0] =
            onnx_run(c, "pad", c->in, 1, "before=%s after=%s value=%.9g", a, b, onnx_number(c, 2));
    else
        c->out[0] = onnx_run(c,
                             strcmp(mode, "edge") == 0   ? "pad_replicate"
                             : strcmp(mode, "wrap") == 0 ? "pad_circular"
                                                         : "pad_reflect",
                             c->in, 1, "before=%s after=%s", a, b);
}

static void run_trilu(onnx_call *c)
{
    c->out[0] = onnx_run(c, onnx_int(c, "upper", 1) ? "triu" : "tril", c->in, 1, "diagonal=%lld",
                         (long long)onnx_number(c, 1));
}

/* ---- what the host knows or makes ---- */

static void run_shape(onnx_call *c)
{
    const tsr_shape *x = shape_of(c->in[0]);
    int64_t from = within(counted(onnx_int(c, "start", 0), x->ndim), 0, x->ndim);
    int64_t to = within(counted(onnx_int(c, "end", x->ndim), x->ndim), from, x->ndim),
            n = to - from;

    c->out[0] = onnx_from(c, TSR_I64, &n, 1, x->size + from);
}

static void run_size(onnx_call *c)
{
    int64_t n = tsr_shape_count(shape_of(c->in[0]));

    c->out[0] = onnx_from(c, TSR_I64, NULL, 0, &n);
}

static void run_identity(onnx_call *c)
{
    c->out[0] = c->in[0];
}

static void run_constant(onnx_call *c)
{
    const Onnx__AttributeProto *a = onnx_attr(c, "value");
    onnx_host host;

    if (a && !onnx_tensor_of(a->t, &host)) {
        c->out[0] = onnx_from(c, host.dtype, host.shape.size, host.shape.ndim, host.data);
        onnx_host_free(&host);
    } else if ((a = onnx_attr(c, "value_float"))) {
        c->out[0] = onnx_from(c, TSR_F32, NULL, 0, &a->f);
    } else if ((a = onnx_attr(c, "value_int"))) {
        c->out[0] = onnx_from(c, TSR_I64, NULL, 0, &a->i);
    } else if ((a = onnx_attr(c, "value_floats"))) {
        c->out[0] = onnx_from(c, TSR_F32, &(int64_t){(int64_t)a->n_floats}, 1, a->floats);
    } else if ((a = onnx_attr(c, "value_ints"))) {
        c->out[0] = onnx_from(c, TSR_I64, &(int64_t){(int64_t)a->n_ints}, 1, a->ints);
    } else {
        onnx_differs(c, "strings");
    }
}

static void run_constant_of_shape(onnx_call *c)
{
    const Onnx__AttributeProto *a = onnx_attr(c, "value");
    tsr_spec spec = {.dtype = TSR_F32, .mesh = *tsr_mesh_shape_get(c->mesh)};
    onnx_host host = {0};
    double value = 0;
    int64_t size[64];
    char text[TSR_TEXT_LEN];

    spec.shape.ndim = onnx_ints(c, "", 0, size);
    for (int d = 0; d < spec.shape.ndim; d++)
        spec.shape.size[d] = size[d];
    if (a && !onnx_tensor_of(a->t, &host)) {
        spec.dtype = host.dtype;
        value = host.dtype == TSR_F32   ? (double)((float *)host.data)[0]
                : host.dtype == TSR_I64 ? (double)((int64_t *)host.data)[0]
                : host.dtype == TSR_I32 ? (double)((int32_t *)host.data)[0]
                                        : 0;
        onnx_host_free(&host);
    }
    c->out[0] = tsr_full(c->mesh, tsr_spec_text(&spec, text, sizeof text), value);
}

static void run_range(onnx_call *c)
{
    const double start = onnx_number(c, 0), stop = onnx_number(c, 1), step = onnx_number(c, 2);
    tsr_spec spec = {.dtype = tsr_tensor_spec(c->in[0])->dtype,
                     .mesh = *tsr_mesh_shape_get(c->mesh),
                     .shape = {.ndim = 1}};
    char text[TSR_TEXT_LEN];

    for (double x = start; step > 0 ? x < stop : x > stop; x += step)
        spec.shape.size[0]++;
    c->out[0] = tsr_arange(c->mesh, tsr_spec_text(&spec, text, sizeof text), start, step);
}

/* ---- looking up ---- */

/* Indices below 0 count from the end of `size`. */
static tsr_tensor *from_front(onnx_call *c, tsr_tensor *i, int64_t size)
{
    tsr_tensor *in[3];

    if (!i)
        return NULL;
    in[0] = onnx_run2(c, "lt", i, onnx_scalar(c, tsr_tensor_spec(i)->dtype, 0));
    in[1] = onnx_run(c, "affine", &i, 1, "add=%lld", (long long)size);
    in[2] = i;
    return onnx_run(c, "where", in, 3, "%s", "");
}

/* Along an axis, by indices of any shape; negative ones count from the end. */
static void run_gather(onnx_call *c)
{
    const tsr_shape *x = shape_of(c->in[0]), *i = shape_of(c->in[1]);
    const int64_t axis = counted(onnx_int(c, "axis", 0), x->ndim);
    int64_t flat = tsr_shape_count(i), size[TSR_MAX_DIM];
    tsr_tensor *in[2] = {c->in[0], onnx_reshape(c, c->in[1], &flat, 1)};
    int n = 0;

    for (int d = 0; d < axis; d++)
        size[n++] = x->size[d];
    for (int d = 0; d < i->ndim; d++)
        size[n++] = i->size[d];
    for (int d = (int)axis + 1; d < x->ndim; d++)
        size[n++] = x->size[d];
    in[1] = from_front(c, in[1], x->size[axis]);
    in[0] = in[1] ? onnx_run(c, "index_select", in, 2, "dim=%lld", (long long)axis) : NULL;
    if (in[0])
        c->out[0] = onnx_reshape(c, in[0], size, n);
}

/* A new last dim goes where dim `axis` of the result is. */
static tsr_tensor *last_to(onnx_call *c, tsr_tensor *x, int64_t axis)
{
    const int ndim = shape_of(x)->ndim;
    int64_t dims[TSR_MAX_DIM], to = counted(axis, ndim);
    char list[512];

    for (int d = 0; d < ndim; d++)
        dims[d] = d < to ? d : d == to ? ndim - 1 : d - 1;
    return onnx_run(c, "permute", &x, 1, "dims=%s", onnx_list(dims, ndim, list));
}

/* off + (on - off) one_hot; negative indices count from the end, what is too large is nowhere. */
static void run_one_hot(onnx_call *c)
{
    const tsr_dtype dtype = tsr_tensor_spec(c->in[2])->dtype;
    const long long depth = (long long)onnx_number(c, 1);
    tsr_tensor *i = onnx_run(c, "cast", c->in, 1, "dtype=i64"), *y, *part[2];

    i = from_front(c, i, depth);
    y = i ? onnx_run(c, "one_hot", &i, 1, "classes=%lld dtype=%s", depth, tsr_dtype_name(dtype))
          : NULL;
    if (!y)
        return;
    for (int k = 0; k < 2; k++)
        part[k] = onnx_reshape(c, cut(c, c->in[2], 0, k, k + 1, 1), NULL, 0);
    y = onnx_run2(c, "mul", y, onnx_run2(c, "sub", part[1], part[0]));
    y = y ? onnx_run2(c, "add", y, part[0]) : NULL;
    c->out[0] = y ? last_to(c, y, onnx_int(c, "axis", -1)) : NULL;
}

/* 1 at the largest, the first of equal ones. */
static void run_hardmax(onnx_call *c)
{
    const tsr_spec *x = tsr_tensor_spec(c->in[0]);
    const int64_t axis = counted(onnx_int(c, "axis", -1), x->shape.ndim);
    tsr_tensor *i = onnx_run(c, "argmax", c->in, 1, "dim=%lld", (long long)axis), *y;

    y = i ? onnx_run(c, "one_hot", &i, 1, "classes=%lld dtype=%s", (long long)x->shape.size[axis],
                     tsr_dtype_name(x->dtype))
          : NULL;
    c->out[0] = y ? last_to(c, y, axis) : NULL;
}

static void run_topk(onnx_call *c)
{
    tsr_tensor *out[TSR_OP_OUTPUTS];
    char attrs[128];

    snprintf(attrs, sizeof attrs, "k=%lld dim=%lld largest=%lld", (long long)onnx_number(c, 1),
             (long long)onnx_int(c, "axis", -1), (long long)onnx_int(c, "largest", 1));
    onnx_run_all(c, "topk", c->in, 1, attrs, out);
    c->out[0] = out[0];
    c->out[1] = out[1];
}

static void run_gather_elements(onnx_call *c)
{
    const tsr_shape *x = shape_of(c->in[0]);
    const int64_t axis = counted(onnx_int(c, "axis", 0), x->ndim);
    tsr_tensor *in[2] = {c->in[0], from_front(c, c->in[1], x->size[axis])};

    c->out[0] = onnx_run(c, "gather", in, 2, "dim=%lld", (long long)axis);
}

static void run_scatter(onnx_call *c)
{
    const char *how = onnx_text(c, "reduction", "none");
    const tsr_shape *x = shape_of(c->in[0]);
    const int64_t axis = counted(onnx_int(c, "axis", 0), x->ndim);
    tsr_tensor *in[3] = {c->in[0], from_front(c, c->in[1], x->size[axis]), c->in[2]};

    if (strcmp(how, "none") != 0 && strcmp(how, "add") != 0)
        onnx_differs(c, "scattered products, minima or maxima");
    else
        c->out[0] = onnx_run(c, strcmp(how, "add") == 0 ? "scatter_add" : "scatter", in, 3,
                             "dim=%lld", (long long)axis);
}

static void run_random(onnx_call *c)
{
    onnx_differs(c, "random numbers of another generator");
}

static void run_eye_like(onnx_call *c)
{
    const tsr_shape *x = shape_of(c->in[0]);
    int64_t n = x->size[0] * x->size[1], shift = onnx_int(c, "k", 0), *ones;
    tsr_dtype dtype = tsr_tensor_spec(c->in[0])->dtype;
    tsr_tensor *y;

    if (onnx_attr(c, "dtype"))
        onnx_dtype((int)onnx_int(c, "dtype", 1), &dtype);
    ones = calloc((size_t)n + 1, sizeof *ones);
    for (int64_t i = 0; ones && i < n; i++)
        ones[i] = i % x->size[1] == i / x->size[1] + shift;
    y = onnx_from(c, TSR_I64, x->size, 2, ones);
    free(ones);
    c->out[0] = onnx_run(c, "cast", &y, 1, "dtype=%s", tsr_dtype_name(dtype));
}

/* Not training: the input, and a mask of ones. */
static void run_dropout(onnx_call *c)
{
    tsr_spec spec = {.dtype = TSR_BOOL, .shape = *shape_of(c->in[0])};
    char text[TSR_TEXT_LEN];

    spec.mesh = *tsr_mesh_shape_get(c->mesh);
    if (c->n_in > 2 && onnx_number(c, 2) != 0 && !(c->in[1] && onnx_number(c, 1) == 0)) {
        onnx_differs(c, "random numbers of another generator");
        return;
    }
    c->out[0] = c->in[0];
    if (c->n_out > 1)
        c->out[1] = tsr_full(c->mesh, tsr_spec_text(&spec, text, sizeof text), 1);
}

const onnx_row onnx_shape_rows[] = {
    {.onnx = "Bernoulli", .run = run_random},
    {.onnx = "Concat", .op = "cat", .attrs = "dim=axis"},
    {.onnx = "Constant", .run = run_constant},
    {.onnx = "ConstantOfShape", .run = run_constant_of_shape},
    {.onnx = "DepthToSpace", .run = run_depth},
    {.onnx = "Dropout", .run = run_dropout},
    {.onnx = "Expand", .run = run_expand},
    {.onnx = "EyeLike", .run = run_eye_like},
    {.onnx = "Flatten", .run = run_flatten},
    {.onnx = "Gather", .run = run_gather},
    {.onnx = "GatherElements", .run = run_gather_elements},
    {.onnx = "Hardmax", .run = run_hardmax},
    {.onnx = "Identity", .run = run_identity},
    {.onnx = "OneHot", .run = run_one_hot},
    {.onnx = "Pad", .run = run_pad},
    {.onnx = "RandomNormal", .run = run_random},
    {.onnx = "RandomNormalLike", .run = run_random},
    {.onnx = "RandomUniform", .run = run_random},
    {.onnx = "RandomUniformLike", .run = run_random},
    {.onnx = "Range", .run = run_range},
    {.onnx = "Reshape", .run = run_reshape},
    {.onnx = "Scatter", .run = run_scatter},
    {.onnx = "ScatterElements", .run = run_scatter},
    {.onnx = "Shape", .run = run_shape},
    {.onnx = "Size", .run = run_size},
    {.onnx = "Slice", .run = run_slice},
    {.onnx = "SpaceToDepth", .run = run_depth},
    {.onnx = "Split", .run = run_split},
    {.onnx = "Squeeze", .run = run_squeeze},
    {.onnx = "Tile", .run = run_tile},
    {.onnx = "TopK", .run = run_topk},
    {.onnx = "Transpose", .run = run_transpose},
    {.onnx = "Trilu", .run = run_trilu},
    {.onnx = "Unsqueeze", .run = run_unsqueeze},
    {0},
};
