/* SPDX-License-Identifier: Apache-2.0 */
/* conv_reference.c - convolution by its definition, for every dtype: one sum per element of the
   result. The oracle of the fast ones, and what runs over the field. */
#include "ops/convolution/conv_geometry.h"

#include <math.h>

#define BODY "ops/convolution/conv_reference.inc.h"
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
