/* SPDX-License-Identifier: Apache-2.0 */
/* resample_reference.c - resampling by its definition, for every dtype: each result asks every
   source for its weight. The oracle of the fast ones. */
#include "ops/convolution/resample_geometry.h"

#include <math.h>

#define BODY "ops/convolution/resample_reference.inc.h"
#include "kernel/reference_types.inc.h"

typedef void (*body)(const tsr_resample_geometry *g, const void *source, void *result);

static const body of[TSR__DTYPES] = {
    [TSR_F32] = results_f32,   [TSR_F64] = results_f64,   [TSR_F16] = results_f16,
    [TSR_BF16] = results_bf16, [TSR_I32] = results_i32,   [TSR_I64] = results_i64,
    [TSR_U8] = results_u8,     [TSR_BOOL] = results_bool, [TSR__FIELD] = results_field,
};

void tsr__resample_reference(const tsr_resample_geometry *g, tsr_dtype dtype, const void *source,
                             void *result)
{
    of[dtype](g, source, result);
}
