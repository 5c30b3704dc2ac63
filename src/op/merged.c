/* SPDX-License-Identifier: Apache-2.0 */
/* merged.c - see merged.h. Called by the rows of merging_reductions.c and scan_ops.c, and by
   run/moments.c. */
#include "op/merged.h"

#include <math.h>

#include "kernel/merge_steps.h"
#include "layout/cost.h"
#include "layout/layout.h"
#include "op/infer.h"
#include "op/local_call.h"

tsr_status tsr__merged_dims(const tsr_schema *s, unsigned *out, tsr_error *err)
{
    const tsr_attr *dim;
    int d;
    tsr_status st = TSR_OK;

    if (tsr__attr_index(s->op, "dims") >= 0)
        return tsr__dims_mask(s, out, err);
    dim = tsr_schema_attr(s, "dim");
    *out = (1u << s->in[0].shape.ndim) - 1;
    if (dim->n >= 0) {
        TSR_TRY(tsr__dim_normalise(s, dim->i[0], s->in[0].shape.ndim, &d, err));
        *out = 1u << d;
    }
done:
    return st;
}

/* Sums and maxima of absolute values stay partial. */
static bool is_merged(const tsr_schema *s)
{
    return tsr__attr_index(s->op, "p") < 0 || tsr_schema_attr(s, "p")->f == 2;
}

unsigned tsr__merged_mdims(const tsr_schema *s, const tsr_spec *in)
{
    const tsr_spec *x = &in[0];
    unsigned dims, mdims = 0;

    if (!is_merged(s) || tsr__merged_dims(s, &dims, NULL) != TSR_OK)
        return 0;
    for (int m = 0; m < x->mesh.ndim; m++) {
        const tsr_placement *p = &x->place[m];
        bool sharded = p->kind == TSR_SHARD || p->kind == TSR_STRIDED;
        if (x->mesh.size[m] > 1 && sharded && (dims >> p->dim & 1))
            mdims |= 1u << m;
    }
    return mdims;
}

tsr_comm tsr__merged_comm(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                          const tsr_cost *cost)
{
    const tsr_merge_steps *steps = tsr__reduction_steps(s->op->kernel);
    const int first[TSR_MAX_MESH] = {0};
    const tsr_windows none = {0};
    tsr_move move = {.kind = TSR_STEP_ALL_GATHER, .mdims = tsr__merged_mdims(s, in), .group = 1};
    tsr_kernel_call call = {0};

    if (!move.mdims)
        return (tsr_comm){0};
    tsr__local_call(s, in, out, &none, first, &call);
    for (int m = 0; m < in->mesh.ndim; m++)
        move.group *= move.mdims >> m & 1 ? in->mesh.size[m] : 1;
    move.before = 8 * fmax((double)steps->count(&call), 1);
    move.after = move.before * move.group;
    move.key = tsr__spec_hash(in);
    return (tsr_comm){tsr__move_seconds(cost, &move), tsr__move_bytes(&move)};
}
