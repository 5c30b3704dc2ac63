/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_quantised.c - operators on quantised numbers, and windows of signals: as several ops of
   ours. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "onnx_map.h"

/* ---- quantised numbers ---- */

/* A vector so that it runs along dim `axis` of x; what has one element is left alone. */
static tsr_tensor *along(onnx_call *c, tsr_tensor *v, const tsr_tensor *x, int64_t axis)
{
    const int ndim = tsr_tensor_spec(x)->shape.ndim;
    int64_t size[TSR_MAX_DIM];

    if (!v || tsr_tensor_spec(v)->shape.ndim == 0 || tsr_tensor_spec(v)->shape.size[0] == 1)
        return v;
    for (int d = 0; d < ndim; d++)
        size[d] = 1;
    size[axis < 0 ? axis + ndim : axis] = tsr_tensor_spec(v)->shape.size[0];
    return onnx_reshape(c, v, size, ndim);
}

static tsr_tensor *as(onnx_call *c, tsr_tensor *x, const char *dtype)
{
    return x ? onnx_run(c, "cast", &x, 1, "dtype=%s", dtype) : NULL;
}

/* x - zero, as floating point numbers. */
static tsr_tensor *centred(onnx_call *c, tsr_tensor *x, tsr_tensor *zero, int64_t axis)
{
    tsr_tensor *y = as(c, x, "f32");

    return zero && y ? onnx_run2(c, "sub", y, as(c, along(c, zero, x, axis), "f32")) : y;
}

/* x / scale + zero as u8: rounded, and what is too large or too small at its ends. */
static tsr_tensor *quantised(onnx_call *c, tsr_tensor *x, tsr_tensor *scale, tsr_tensor *zero,
                             int64_t axis)
{
    tsr_tensor *y = onnx_run1(c, "round", onnx_run2(c, "div", x, along(c, scale, x, axis)));

    if (y && zero)
        y = onnx_run2(c, "add", y, as(c, along(c, zero, x, axis), "f32"));
    if (y)
        y = onnx_run(c, "clamp", &y, 1, "min=0 max=255");
    return as(c, y, "u8");
}

static tsr_tensor *input(const onnx_call *c, int k)
{
    return k < c->n_in ? c->in[k] : NULL;
}

/* A scale for each block of elements? */
static bool by_blocks(onnx_call *c)
{
    if (onnx_int(c, "block_size", 0))
        onnx_differs(c, "scales of blocks");
    return c->differs[0];
}

static void run_quantize(onnx_call *c)
{
    if (!by_blocks(c))
        c->out[0] = quantised(c, c->in[0], c->in[1], input(c, 2), onnx_int(c, "axis", 1));
}

static void run_dequantize(onnx_call *c)
{
    const int64_t axis = onnx_int(c, "axis", 1);

    if (!by_blocks(c))
        c->out[0] = onnx_run2(c, "mul", centred(c, c->in[0], input(c, 2), axis),
                              along(c, c->in[1], c->in[0], axis));
}

/* Scale and zero from the least and the largest element, 0 among them. */
static void run_dynamic(onnx_call *c)
{
    tsr_tensor *low = onnx_run1(c, "min", c->in[0]), *high = onnx_run1(c, "max", c->in[0]);
    tsr_tensor *scale, *zero;

    low = low ? onnx_run(c, "clamp", &low, 1, "max=0") : NULL;
    high = high ? onnx_run(c, "clamp", &high, 1, "min=0") : NULL;
    scale = low && high ? onnx_run2(c, "sub", high, low) : NULL;
    scale = scale ? onnx_run(c, "affine", &scale, 1, "mul=%.17g", 1.0 / 255) : NULL;
    zero =
        scale ? onnx_run1(c, "round", onnx_run1(c, "neg", onnx_run2(c, "div", low, scale))) : NULL;
    if (!zero)
        return;
    c->out[1] = scale;
    c->out[2] = as(c, onnx_run(c, "clamp", &zero, 1, "min=0 max=255"), "u8");
    c->out[0] = quantised(c, c->in[0], scale, c->out[2], 0);
}

static void run_matmul_integer(onnx_call *c)
{
    tsr_tensor *a = centred(c, c->in[0], input(c, 2), -2),
               *b = centred(c, c->in[1], input(c, 3), -1);

    c->out[0] = as(c, onnx_run2(c, "matmul", a, b), "i32");
}

static void run_qlinear_matmul(onnx_call *c)
{
    tsr_tensor *a = centred(c, c->in[0], c->in[2], -2), *b = centred(c, c->in[3], c->in[5], -1);
    tsr_tensor *y = onnx_run2(c, "matmul", a, b), *scale = onnx_run2(c, "mul", c->in[1], c->in[4]);

    y = y ? onnx_run2(c, "mul", y, as(c, scale, "f32")) : NULL; /* scales may be f16 */
    c->out[0] = y ? quantised(c, y, as(c, c->in[6], "f32"), c->in[7], -1) : NULL;
}

/* Padding is of the zero point, so it is 0 once that is taken off. */
static tsr_tensor *convolved(onnx_call *c, tsr_tensor *x, tsr_tensor *w)
{
    const int n = tsr_tensor_spec(x)->shape.ndim - 2;
    int64_t pads[64] = {0}, stride[64];
    char a[512], b[512];
    tsr_tensor *in[] = {x, w};

    if (onnx_ints(c, "strides", -1, stride) < 0)
        for (int d = 0; d < n; d++)
            stride[d] = 1;
    onnx_ints(c, "pads", -1, pads);
    return w ? onnx_run(c, "conv", in, 2, "padding=%s stride=%s", onnx_list(pads, 2 * n, a),
                        onnx_list(stride, n, b))
             : NULL;
}

static void run_conv_integer(onnx_call *c)
{
    tsr_tensor *x = centred(c, c->in[0], input(c, 2), 0), *w = centred(c, c->in[1], input(c, 3), 0);

    c->out[0] = x ? as(c, convolved(c, x, w), "i32") : NULL;
}

static void run_qlinear_conv(onnx_call *c)
{
    tsr_tensor *x = centred(c, c->in[0], c->in[2], 0), *w = centred(c, c->in[3], c->in[5], 0);
    tsr_tensor *y = x ? convolved(c, x, w) : NULL, *scale = onnx_run2(c, "mul", c->in[1], c->in[4]);

    y = y && scale ? onnx_run2(c, "mul", y, along(c, scale, y, 1)) : NULL;
    c->out[0] = y ? quantised(c, y, c->in[6], c->in[7], 1) : NULL;
}

/* ---- windows of signals ---- */

/* a - b cos(k) + d cos(2 k) over a full turn, which the last element ends unless it is periodic. */
static void run_window(onnx_call *c)
{
    static const struct {
        const char *onnx;
        double a, b, d;
    } all[] = {{"HannWindow", 0.5, 0.5, 0},
               {"HammingWindow", 25.0 / 46, 21.0 / 46, 0},
               {"BlackmanWindow", 0.42, 0.5, 0.08}};
    const int n = (int)onnx_number(c, 0), turn = onnx_int(c, "periodic", 1) ? n : n - 1;
    char spec[TSR_TEXT_LEN];
    tsr_tensor *angle, *one, *two;

    snprintf(spec, sizeof spec, "f32[%d]", n);
    angle = tsr_arange(c->mesh, spec, 0, 2 * 3.14159265358979323846 / turn);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(all[i].onnx, c->node->op_type) != 0)
            continue;
        one = onnx_run1(c, "cos", angle);
        two = onnx_run1(c, "cos", onnx_run(c, "affine", &angle, 1, "mul=2"));
        one =
            one ? onnx_run(c, "affine", &one, 1, "mul=%.17g add=%.17g", -all[i].b, all[i].a) : NULL;
        two = two ? onnx_run(c, "affine", &two, 1, "mul=%.17g", all[i].d) : NULL;
        c->out[0] = one ? onnx_run2(c, "add", one, two) : NULL;
    }
}

const onnx_row onnx_quantised_rows[] = {
    {.onnx = "BlackmanWindow", .run = run_window},
    {.onnx = "ConvInteger", .run = run_conv_integer},
    {.onnx = "DequantizeLinear", .run = run_dequantize},
    {.onnx = "DynamicQuantizeLinear", .run = run_dynamic},
    {.onnx = "HammingWindow", .run = run_window},
    {.onnx = "HannWindow", .run = run_window},
    {.onnx = "MatMulInteger", .run = run_matmul_integer},
    {.onnx = "QLinearConv", .run = run_qlinear_conv},
    {.onnx = "QLinearMatMul", .run = run_qlinear_matmul},
    {.onnx = "QuantizeLinear", .run = run_quantize},
    {0},
};
