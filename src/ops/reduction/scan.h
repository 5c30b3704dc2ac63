/* SPDX-License-Identifier: Apache-2.0 */
/* scan.h - sums and products of all elements so far along a dim. */
#ifndef TSR_OPS_SCAN_H
#define TSR_OPS_SCAN_H

#include "kernel/merge.h"

void tsr__reference_scan(const tsr_kernel_call *call, bool product);

extern const tsr_merge_steps tsr__scan_steps;

#endif
