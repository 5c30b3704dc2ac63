/* SPDX-License-Identifier: Apache-2.0 */
/* truth.h - numbers as truth values: anything but 0 is true. */
#ifndef TSR_KERNEL_TRUTH_H
#define TSR_KERNEL_TRUTH_H

#include "base/dtype.h"
#include "tessera_ext.h"

/* out[i] = x[i] != 0, as bytes 0 and 1 */
void tsr__truth(tsr_dtype dtype, tsr_kernel_variant variant, const void *x, int64_t n,
                uint8_t *out);

#endif
