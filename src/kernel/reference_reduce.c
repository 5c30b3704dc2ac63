/* SPDX-License-Identifier: Apache-2.0 */
/* reference_reduce.c - reductions by plain index loops: to be checked by eye. Called when a call
   asks for the reference. */
#include "base/reduce.h"
#include "kernel/reduce_dims.h"
#include "kernel/reduced_view.h"

#define BODY "kernel/reference_reduce.inc.h"
#include "kernel/reference_types.inc.h"

typedef struct bodies {
    void (*reduce)(const tsr_kernel_call *call, tsr_fold how, int64_t times, int64_t divisor);
    void (*any_all)(const tsr_kernel_call *call, bool all);
} bodies;

static const bodies of[TSR__DTYPES] = {
    [TSR_F32] = {reduce_f32, any_all_f32},        [TSR_F64] = {reduce_f64, any_all_f64},
    [TSR_F16] = {reduce_f16, any_all_f16},        [TSR_BF16] = {reduce_bf16, any_all_bf16},
    [TSR_I32] = {reduce_i32, any_all_i32},        [TSR_I64] = {reduce_i64, any_all_i64},
    [TSR_U8] = {reduce_u8, any_all_u8},           [TSR_BOOL] = {reduce_bool, any_all_bool},
    [TSR__FIELD] = {reduce_field, any_all_field},
};

void tsr__reference_reduce(const tsr_kernel_call *call, tsr_fold how, int64_t times,
                           int64_t divisor)
{
    const tsr_dtype from = call->in[0].dtype;

    if (from != call->out[0].dtype)
        of[from].any_all(call, how == TSR_FOLD_MIN);
    else
        of[from].reduce(call, how, times, divisor);
}
