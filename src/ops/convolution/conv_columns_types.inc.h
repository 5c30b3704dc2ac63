/* SPDX-License-Identifier: Apache-2.0 */
/* conv_columns_types.inc.h - includes conv_columns.inc.h for f32 and f64 and one instruction set:
   needs SET (its attribute) and NAME; undefines them. */
#define T float
#define FN(name) NAME(name##_f32)
#include "ops/convolution/conv_columns.inc.h"

#define T double
#define FN(name) NAME(name##_f64)
#include "ops/convolution/conv_columns.inc.h"

#undef SET
#undef NAME
