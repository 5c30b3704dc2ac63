/* SPDX-License-Identifier: Apache-2.0 */
/* families.h - the tables of rows, one per family, each ended by a row without a name; and the
   kernels that the rows name. */
#ifndef TSR_OP_FAMILIES_H
#define TSR_OP_FAMILIES_H

#include "kernel/kernels.h"
#include "op/op.h"

extern const tsr_op tsr__ops_pointwise[];
extern const tsr_op tsr__ops_linalg[];
extern const tsr_op tsr__ops_reduction[];
extern const tsr_op tsr__ops_softmax[];
extern const tsr_op tsr__ops_views[];
extern const tsr_op tsr__ops_reshape[];

#endif
