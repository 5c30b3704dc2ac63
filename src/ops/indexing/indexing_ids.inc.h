/* SPDX-License-Identifier: Apache-2.0 */
/* indexing_ids.inc.h - body of indexing.c for elements of one size: includes indexing.inc.h for
   both types of indices. */

#define ID int32_t
#define BY(name) FN(name##_i32)
#include "ops/indexing/indexing.inc.h"

#define ID int64_t
#define BY(name) FN(name##_i64)
#include "ops/indexing/indexing.inc.h"

static const moves FN(entry)[2] = {
    {FN(gather_i32), FN(scatter_i32), FN(last_i32)},
    {FN(gather_i64), FN(scatter_i64), FN(last_i64)},
};
