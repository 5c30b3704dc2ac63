/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h - what computes an op on one rank: local buffers and numbers in, local buffers out
   (tsr_kernel_call in tessera_ext.h). Knows nothing of meshes. Every kernel has a naive reference
   beside it, which stays. */
#ifndef TSR_KERNEL_KERNEL_H
#define TSR_KERNEL_KERNEL_H

#include "base/dtype.h"
#include "base/heap.h"
#include "base/pool.h"
#include "tessera_ext.h"

/* The variant that a call asks for. */
static inline tsr_kernel_variant tsr__variant_asked(const tsr_kernel_call *call)
{
    return call->reference ? TSR_VARIANT_REFERENCE : call->variant;
}

#endif
