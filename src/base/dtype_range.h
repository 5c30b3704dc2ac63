/* SPDX-License-Identifier: Apache-2.0 */
/* dtype_range.h - which numbers an integer dtype has. */
#ifndef TSR_BASE_DTYPE_RANGE_H
#define TSR_BASE_DTYPE_RANGE_H

#include "base/dtype.h"

/* Does a dtype have this number? An integer one has whole numbers in its range, others have all. */
bool tsr__dtype_has(tsr_dtype dtype, double x);
/* An error that says why not, of a number called `what`. */
tsr_status tsr__dtype_check(tsr_dtype dtype, double x, const char *what, tsr_error *err);

#endif
