/* SPDX-License-Identifier: Apache-2.0 */
/* cached_call.h - the plan cache: the calls that a context has met, of each its op plan, as compact
   as it can be, and what it is on this rank. */
#ifndef TSR_DISPATCH_CACHED_CALL_H
#define TSR_DISPATCH_CACHED_CALL_H

#include "propagate/propagate.h"
#include "tensor/tensor.h"

struct tsr_rank_call;

/* Arrays have as many members as the call needs, behind the struct. Specs are held. */
typedef struct tsr_cached_call {
    tsr_cached cached; /* held by calls that run */
    /* the call */
    tsr_op_entry *entry;
    int cost_version;
    uint8_t n_given;           /* inputs as they were given */
    uint8_t n_in, n_out;       /* as the op has them, optional ones too; 0 if it is impossible */
    const tsr_spec **given;    /* each the spec of a local spec; NULL: absent */
    const tsr_attr *attrs;     /* numbers are those of the first such call */
    const tsr_placement *want; /* NULL: any */
    const char *why;           /* the call is impossible; NULL: it is not */
    tsr_status why_code;
    /* its op plan: the strategy */
    bool own_run, reverse_halo; /* tsr_algorithm */
    bool all_stay;              /* all inputs are where they are needed */
    bool prepared;              /* rank is known */
    uint16_t stays, direct;     /* tsr_op_plan_full */
    uint8_t out_dtype[TSR_MAX_OUT];
    tsr_local_spec **in, **out; /* NULL: absent, or switched off */
    tsr_comm comm;              /* what the op moves by itself */
    double inputs;              /* seconds for bringing inputs where they are needed */
    /* what it is on this rank (dispatch/rank_call.c); NULL: there is nothing to compute */
    struct tsr_rank_call *rank;
} tsr_cached_call;

/* A call with all that belongs to it, for those who ask more than dispatch does. */
typedef struct tsr_call_in_full {
    tsr_schema schema;
    tsr_spec in[TSR_MAX_IN], out[TSR_MAX_OUT]; /* of the strategy */
} tsr_call_in_full;

/* The cached call of this key; NULL if it is new. It stays until the next one is made, or as long
   as it is held. Local. */
tsr_cached_call *tsr__cached_call_find(tsr_ctx *ctx, const tsr_op_plan_key *key);
/* A new one, also if the call is impossible; the mesh is that of its first input. Local. */
tsr_status tsr__cached_call_make(tsr_ctx *ctx, const tsr_mesh *mesh, const tsr_op_plan_key *key,
                                 tsr_cached_call **out);
/* With these attributes; what the call has not is not set. */
void tsr__cached_call_expand(const tsr_cached_call *c, const tsr_attr *attrs,
                             tsr_call_in_full *out);
void tsr__cached_calls_free(tsr_ctx *ctx);

#endif
