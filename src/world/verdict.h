/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h - values that only one rank can see are wrong (an index out of range, bad offsets), as
   an error on every rank, without a call of their own and without ending the world. The rank goes
   on with zeros in place of the result, so that all ranks stay in step; the verdict is piggybacked
   on the messages of the mesh (history.h), and as soon as every rank has it, all of them report it
   in the same call. What was made since the failing call is then invalid on all ranks. */
#ifndef TSR_WORLD_VERDICT_H
#define TSR_WORLD_VERDICT_H

#include "world/mesh_handle.h"

/* This rank found bad values in the latest call on the mesh. If every rank sees them too, `shared`,
   that is an ordinary error, which is returned. If not, TSR_OK: go on with harmless values. Local.
   */
tsr_status tsr__verdict_raise(tsr_mesh *mesh, bool shared, tsr_status code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Is the latest call on the mesh one that failed so on all ranks? */
static inline bool tsr__verdict_shared(const tsr_mesh *mesh)
{
    return mesh->history.count > 0 && mesh->history.reported == mesh->history.count;
}
/* What the members of a call have said of verdicts; `dense`: each of them to all others. Local. */
void tsr__verdict_met(const tsr_group *group, tsr_verdict *met, bool dense);
/* The error of a call that ended because a peer failed: the verdict if that came with the call, for
   then it is why. */
tsr_status tsr__verdict_why(tsr_ctx *ctx, const tsr_verdict *met, tsr_status st);
/* Report verdicts that all ranks have: the context's error, and what was made since is invalid.
   Local, on all ranks in the same call. */
tsr_status tsr__verdict_report(tsr_ctx *ctx);
/* Values are to be handed out: an error if this rank has a verdict, though it may be the only one.
   Nothing else changes, for the ranks must stay in step. Local. */
tsr_status tsr__verdict_before_read(tsr_ctx *ctx);

#endif
