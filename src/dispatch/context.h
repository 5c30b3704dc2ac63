/* SPDX-License-Identifier: Apache-2.0 */
/* context.h - filling and emptying a rank's context above the world. */
#ifndef TSR_DISPATCH_CONTEXT_H
#define TSR_DISPATCH_CONTEXT_H

#include "world/mesh_handle.h"

/* The outermost scope and the error tensor. */
tsr_status tsr__context_open(tsr_ctx *ctx, tsr_mesh *mesh);
void tsr__context_close(tsr_ctx *ctx);

/* tsr_run; *known: an earlier rank, of another process, has the same error and reports it. */
tsr_status tsr__run(const tsr_run_opts *opts, tsr_job job, void *arg, bool *known, tsr_error *err);

tsr_status tsr__world_parse(const char *text, tsr_world_kind *out, tsr_error *err);
tsr_status tsr__timeout_parse(const char *text, int *out, tsr_error *err); /* to ms */

#endif
