/* SPDX-License-Identifier: Apache-2.0 */
/* row_parts.c - rows and statistics that are cut: see row_parts.h. Called by the rows of softmax,
   normalisations, losses and lookups. */
#include "op/row_parts.h"

#include <math.h>

#include "layout/cost.h"
#include "layout/spec.h"
#include "op/local_call.h"

unsigned tsr__sharded_mdims(const tsr_spec *x, unsigned dims)
{
    unsigned mdims = 0;

    for (int m = 0; m < x->mesh.ndim; m++) {
        const tsr_placement *p = &x->place[m];
        bool sharded = p->kind == TSR_SHARD || p->kind == TSR_STRIDED;
        if (x->mesh.size[m] > 1 && sharded && dims >> p->dim & 1)
            mdims |= 1u << m;
    }
    return mdims;
}

int tsr__ranks_along(const tsr_spec *x, unsigned mdims)
{
    int n = 1;

    for (int m = 0; m < x->mesh.ndim; m++)
        n *= mdims >> m & 1 ? x->mesh.size[m] : 1;
    return n;
}

tsr_comm tsr__gather_comm(const tsr_spec *x, unsigned mdims, double numbers, const tsr_cost *cost)
{
    tsr_move move = {.kind = TSR_STEP_ALL_GATHER, .mdims = mdims};

    if (!mdims)
        return (tsr_comm){0};
    move.group = tsr__ranks_along(x, mdims);
    move.before = 8 * numbers;
    move.after = move.before * move.group;
    move.key = tsr__spec_hash(x);
    return (tsr_comm){tsr__move_seconds(cost, &move), tsr__move_bytes(&move)};
}

tsr_comm tsr__merge_comm(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                         const tsr_cost *cost)
{
    const unsigned mdims = s->op->merge->mdims(s, in);
    const int first[TSR_MAX_MESH] = {0};
    const tsr_windows none = {0};
    tsr_kernel_call call = {0};

    if (!mdims)
        return (tsr_comm){0};
    tsr__local_call(s, in, out, &none, first, &call);
    return tsr__gather_comm(in, mdims, fmax((double)s->op->merge->steps->count(&call), 1), cost);
}
