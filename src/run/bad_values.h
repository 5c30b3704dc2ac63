/* SPDX-License-Identifier: Apache-2.0 */
/* bad_values.h - what a kernel or a run says when it finds indices out of range in its rank's part.
   Called by runs and by dispatch/rank_call.c. */
#ifndef TSR_RUN_BAD_VALUES_H
#define TSR_RUN_BAD_VALUES_H

#include "tensor/tensor.h"
#include "tessera_ext.h"

/* If err says that values are bad: the error of all ranks if all of them hold the same indices,
   else TSR_OK, and the verdict is piggybacked on messages (world/verdict.h): go on with values that
   do no harm. Local. */
tsr_status tsr__bad_values(tsr_mesh *mesh, tsr_tensor *const *in, int n_in, const char *part,
                           const tsr_error *err);

#endif
