/* SPDX-License-Identifier: Apache-2.0 */
/* seed.h - seeds as attributes. Pure. */
#ifndef TSR_KERNEL_SEED_H
#define TSR_KERNEL_SEED_H

#include "base/bits.h"
#include "tessera_ext.h"

/* Seeds and offsets are attributes of 64 bits that planning does not see, so that a new one is no
   new plan: the bits stand in the attribute's number. */
static inline tsr_attr tsr__seed(uint64_t bits)
{
    tsr_attr attr = {.n = 1};

    memcpy(&attr.f, &bits, sizeof attr.f);
    return attr;
}

static inline uint64_t tsr__seed_of(const tsr_attr *attr)
{
    return tsr__bits_f64(attr->f);
}

#endif
