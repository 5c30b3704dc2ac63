/* SPDX-License-Identifier: Apache-2.0 */
/* gather.h - what every rank of a group found, to all of them. */
#ifndef TSR_RUN_GATHER_H
#define TSR_RUN_GATHER_H

#include "tensor/tensor.h"

/* numbers[rank][count], each of 8 bytes; those of this rank are there. `what` is the op's name.
   Collective over the group. */
tsr_status tsr__gather(tsr_ctx *ctx, tsr_group *group, const char *what, int64_t count,
                       void *numbers);

#endif
