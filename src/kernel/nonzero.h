/* SPDX-License-Identifier: Apache-2.0 */
/* nonzero.h - numbers as booleans: anything but 0 is true. */
#ifndef TSR_KERNEL_NONZERO_H
#define TSR_KERNEL_NONZERO_H

#include "base/dtype.h"
#include "tessera_ext.h"

/* out[i] = x[i] != 0, as bytes 0 and 1 */
void tsr__nonzero(tsr_dtype dtype, tsr_kernel_variant variant, const void *x, int64_t n,
                  uint8_t *out);

#endif
