/* SPDX-License-Identifier: Apache-2.0 */
/* sku.h - the kernels of tessera_ext.h from inside: how many of each there are, and whether one
   exists. */
#ifndef TSR_KERNEL_SKU_H
#define TSR_KERNEL_SKU_H

#include "base/dtype.h"
#include "tessera_ext.h"

enum { TSR__EMBEDDING_KINDS = 8, TSR__CATEGORIES = 1, TSR__VARIANTS = 5 };

/* Is there such a kernel (the prime field included, where an op is linear)? AUTO names none.
   Pure. */
bool tsr__sku_exists(const tsr_kernel_sku *sku);

#endif
