/* SPDX-License-Identifier: Apache-2.0 */
/* mesh_handle.h - a mesh as the user holds it: a mesh shape tied to this rank's context, with the
   groups along its dims opened when they are first needed. */
#ifndef TSR_WORLD_MESH_HANDLE_H
#define TSR_WORLD_MESH_HANDLE_H

#include "mesh/mesh_shape.h"
#include "world/world.h"

struct tsr_mesh {
    int refs;
    bool of_job; /* one reference is the job's, until it ends */
    tsr_ctx *ctx;
    tsr_mesh *next, **link; /* in ctx->meshes, and what points to it there */
    tsr_mesh_shape shape;
    int index;                           /* own row-major index, -1 outside */
    int coord[TSR_MAX_MESH];             /* own coordinates, -1 outside */
    tsr_group *group[1 << TSR_MAX_MESH]; /* by mask of mesh dims; NULL: not opened yet */
    size_t kept;                         /* bytes of windows that its tensors keep */
    tsr_history history;
};

/* Where a public function says what is wrong; NULL without a mesh. */
static inline tsr_error *tsr__mesh_error(const tsr_mesh *mesh)
{
    return mesh ? &mesh->ctx->error : NULL;
}

tsr_status tsr__mesh_open(tsr_ctx *ctx, const tsr_mesh_shape *shape, tsr_mesh **out);

/* A plan or a local spec is about to go: no history of the context's meshes can name its calls any
   more. */
void tsr__histories_forget(tsr_ctx *ctx, const tsr_cached *subject);

/* The ranks that this rank reaches along the dims of the mask, itself included, in row-major order.
   Kept by the mesh. An error outside the mesh. */
tsr_status tsr__mesh_group(tsr_mesh *mesh, unsigned mdims, tsr_group **out);

#endif
