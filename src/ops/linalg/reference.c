/* SPDX-License-Identifier: Apache-2.0 */
/* reference.c - kernels that compute, by plain index loops over the output: to be checked by eye.
   Called when a call asks for the reference, and for number types without a fast kernel. */
#include "ops/linalg/reference.h"

#include "kernel/index.h"

#include <math.h>

#define BODY "ops/linalg/reference.inc.h"
#include "kernel/reference_types.inc.h"

typedef struct bodies {
    void (*matmul)(const tsr_kernel_call *call, bool turned);
} bodies;

static const bodies of[TSR__DTYPES] = {
    [TSR_F32] = {matmul_f32},   [TSR_F64] = {matmul_f64},   [TSR_F16] = {matmul_f16},
    [TSR_BF16] = {matmul_bf16}, [TSR_I32] = {matmul_i32},   [TSR_I64] = {matmul_i64},
    [TSR_U8] = {matmul_u8},     [TSR_BOOL] = {matmul_bool}, [TSR__FIELD] = {matmul_field},
};

void tsr__reference_matmul(const tsr_kernel_call *call)
{
    of[call->out[0].dtype].matmul(call, false);
}

void tsr__reference_linear(const tsr_kernel_call *call)
{
    of[call->out[0].dtype].matmul(call, true);
}
