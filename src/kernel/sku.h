/* SPDX-License-Identifier: Apache-2.0 */
/* sku.h - the kernels of tessera_ext.h from inside: whether one exists, and which variant of it a
   call runs. Kernels choose by this alone, so that they run what is listed. */
#ifndef TSR_KERNEL_SKU_H
#define TSR_KERNEL_SKU_H

#include "base/dtype.h"
#include "tessera_ext.h"

/* Is there such a kernel (the prime field included, where an op is linear)? AUTO names none.
   Pure. */
bool tsr__sku_exists(const tsr_kernel_sku *sku);

/* tsr_kernel_variant_best without the index, on which no choice depends. Local. */
tsr_kernel_variant tsr__variant_best(tsr_kernel_category category, uint16_t op, tsr_dtype dtype,
                                     tsr_kernel_variant wanted);
/* What a call of an op's kernel runs: the reference if it says so. Local. */
tsr_kernel_variant tsr__variant_of(const tsr_kernel_call *call, tsr_kernel_category category,
                                   uint16_t op);

#endif
