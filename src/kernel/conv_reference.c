/* SPDX-License-Identifier: Apache-2.0 */
/* conv_reference.c - convolution by its definition, for every dtype: one sum per element of the
   result. The oracle of the fast ones, and what runs over the field. */
#include "kernel/conv_geometry.h"

#include <math.h>

/* The element of x, in its plane, that element p of y meets with tap t; -1: outside. */
static int64_t x_of(const tsr_conv_geometry *g, int64_t p, int64_t t)
{
    int64_t at = 0, step = 1;

    for (int d = TSR_CONV_DIMS - 1; d >= 0; d--) {
        int64_t q = p % g->y[d] * g->stride[d] + t % g->k[d] * g->dilation[d] - g->pad[d];

        if (q < 0 || q >= g->x[d])
            return -1;
        at += q * step;
        step *= g->x[d];
        p /= g->y[d];
        t /= g->k[d];
    }
    return at;
}

/* The other way: the element of y that meets element q of x with tap t; -1: none. */
static int64_t y_of(const tsr_conv_geometry *g, int64_t q, int64_t t)
{
    int64_t at = 0, step = 1;

    for (int d = TSR_CONV_DIMS - 1; d >= 0; d--) {
        int64_t p = q % g->x[d] + g->pad[d] - t % g->k[d] * g->dilation[d];

        if (p < 0 || p % g->stride[d] != 0 || p / g->stride[d] >= g->y[d])
            return -1;
        at += p / g->stride[d] * step;
        step *= g->y[d];
        q /= g->x[d];
        t /= g->k[d];
    }
    return at;
}

#define BODY "kernel/conv_reference.inc.h"
#include "kernel/reference_types.inc.h"

typedef void (*body)(const tsr_conv_geometry *g, const tsr_conv_operands *on);

static const body bodies[TSR__DTYPES][3] = {
    [TSR_F32] = {find_y_f32, find_x_f32, find_w_f32},
    [TSR_F64] = {find_y_f64, find_x_f64, find_w_f64},
    [TSR_F16] = {find_y_f16, find_x_f16, find_w_f16},
    [TSR_BF16] = {find_y_bf16, find_x_bf16, find_w_bf16},
    [TSR_I32] = {find_y_i32, find_x_i32, find_w_i32},
    [TSR_I64] = {find_y_i64, find_x_i64, find_w_i64},
    [TSR_U8] = {find_y_u8, find_x_u8, find_w_u8},
    [TSR_BOOL] = {find_y_bool, find_x_bool, find_w_bool},
    [TSR__FIELD] = {find_y_field, find_x_field, find_w_field},
};

void tsr__conv_reference(const tsr_conv_geometry *g, tsr_dtype dtype, tsr_conv_result what,
                         const tsr_conv_operands *on)
{
    bodies[dtype][what](g, on);
}
