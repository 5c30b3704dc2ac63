/* SPDX-License-Identifier: Apache-2.0 */
/* random_ops.h - random numbers and creation: the gradients and rows of the family. Rows end with
   one without a name. */
#ifndef TSR_OPS_RANDOM_OPS_H
#define TSR_OPS_RANDOM_OPS_H

#include "op/op.h"

extern const tsr_op tsr__ops_random[];
extern const tsr_op tsr__ops_creation[];

#endif
