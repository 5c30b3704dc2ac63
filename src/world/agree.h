/* SPDX-License-Identifier: Apache-2.0 */
/* agree.h - turning what one rank saw into the same error on all ranks, without poison. */
#ifndef TSR_WORLD_AGREE_H
#define TSR_WORLD_AGREE_H

#include "world/mesh_handle.h"

/* If st is an error on some rank of the mesh (seen there in err), all ranks return that of the
   first such rank, with its sentence in their context. Collective. */
tsr_status tsr__agree(tsr_mesh *mesh, tsr_status st, const tsr_error *err);

#endif
