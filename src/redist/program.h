/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - a plan made ready for this rank: its messages for every step, computed once and run
   often; and the cache that holds them, keyed by the value of both specs. */
#ifndef TSR_REDIST_PROGRAM_H
#define TSR_REDIST_PROGRAM_H

#include "exchange/exchange.h"
#include "layout/redist_plan.h"
#include "tensor/tensor.h"

typedef struct tsr_program_step {
    const tsr_redist_plan_step *plan;
    tsr_exchange move;       /* the messages; of an all-reduce its first half */
    tsr_exchange all_gather; /* second half of an all-reduce, if it has one */
    int64_t part;            /* all-reduce: element where the own chunk begins */
    size_t bytes;            /* of this rank's part afterwards */
    uint64_t fingerprint;
    char what[TSR_WHAT_LEN];
} tsr_program_step;

typedef struct tsr_program {
    tsr_cached cached;
    tsr_redist *plan;
    int cost_version; /* of the costs that it was planned with */
    size_t memory_limit;
    tsr_program_step *step; /* plan->n_steps of them */
    tsr_group *both;        /* all ranks of two meshes; NULL on one mesh */
    tsr_redist_info info;   /* sim: what a run counts */
} tsr_program;

/* The program from one spec to another, from the cache or new. It stays until the next one is
   asked for. `mesh` is a handle of the source's mesh, for its groups; `other` of the target's. */
tsr_status tsr__program_get(tsr_mesh *mesh, tsr_mesh *other, const tsr_spec *from,
                            uint64_t from_hash, const tsr_spec *to, tsr_program **out);

/* Move the part at src (of program->plan->from) to dst (of plan->to). Collective over the ranks of
   both meshes; src or dst is NULL where the rank is outside of that mesh. */
tsr_status tsr__program_run(const tsr_program *program, tsr_mesh *mesh, tsr_mesh *other,
                            const void *src, void *dst);

/* Sim: count what a run would cost. */
void tsr__program_count(tsr_ctx *ctx, const tsr_program *program);

/* redistribute.c: x on `mesh` with the placements of `to`, in the current scope. Collective. */
tsr_status tsr__redistribute(tsr_tensor *x, tsr_mesh *mesh, const tsr_spec *to, tsr_tensor **out);

void tsr__programs_free(tsr_ctx *ctx);

#endif
