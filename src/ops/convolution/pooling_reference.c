/* SPDX-License-Identifier: Apache-2.0 */
/* pooling_reference.c - pooling by its definition, for every dtype: one window per output, and one
   sum per element of a gradient. The oracle of the fast ones. */
#include "ops/convolution/pooling_geometry.h"

#include <math.h>

static int64_t count_of(const tsr_pooling_geometry *p, int64_t o)
{
    const int64_t *y = p->g.y;

    return pooling_count(p, 2, o % y[2]) * pooling_count(p, 1, o / y[2] % y[1]) *
           pooling_count(p, 0, o / y[2] / y[1]);
}

#define BODY "ops/convolution/pooling_reference.inc.h"
#include "kernel/reference_types.inc.h"

typedef struct bodies {
    void (*max)(const tsr_pooling_geometry *p, const void *in, void *out, int64_t *index);
    void (*average)(const tsr_pooling_geometry *p, const void *in, void *out);
    void (*max_grad)(const tsr_pooling_geometry *p, const void *grad_out, const int64_t *index,
                     void *grad_in);
    void (*average_grad)(const tsr_pooling_geometry *p, const void *grad_out, void *grad_in);
} bodies;

static const bodies of[TSR__DTYPES] = {
    [TSR_F32] = {max_f32, average_f32, max_grad_f32, average_grad_f32},
    [TSR_F64] = {max_f64, average_f64, max_grad_f64, average_grad_f64},
    [TSR_F16] = {max_f16, average_f16, max_grad_f16, average_grad_f16},
    [TSR_BF16] = {max_bf16, average_bf16, max_grad_bf16, average_grad_bf16},
    [TSR_I32] = {max_i32, average_i32, max_grad_i32, average_grad_i32},
    [TSR_I64] = {max_i64, average_i64, max_grad_i64, average_grad_i64},
    [TSR_U8] = {max_u8, average_u8, max_grad_u8, average_grad_u8},
    [TSR_BOOL] = {max_bool, average_bool, max_grad_bool, average_grad_bool},
    [TSR__FIELD] = {max_field, average_field, max_grad_field, average_grad_field},
};

void tsr__pooling_reference_max(const tsr_pooling_geometry *p, tsr_dtype dtype, const void *in,
                                void *out, int64_t *index)
{
    of[dtype].max(p, in, out, index);
}

void tsr__pooling_reference_average(const tsr_pooling_geometry *p, tsr_dtype dtype, const void *in,
                                    void *out)
{
    of[dtype].average(p, in, out);
}

void tsr__pooling_reference_max_grad(const tsr_pooling_geometry *p, tsr_dtype dtype,
                                     const void *grad_out, const int64_t *index, void *grad_in)
{
    of[dtype].max_grad(p, grad_out, index, grad_in);
}

void tsr__pooling_reference_average_grad(const tsr_pooling_geometry *p, tsr_dtype dtype,
                                         const void *grad_out, void *grad_in)
{
    of[dtype].average_grad(p, grad_out, grad_in);
}
