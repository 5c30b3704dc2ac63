/* SPDX-License-Identifier: Apache-2.0 */
/* tessera_ext.h - for those who test, measure or extend Tessera: faults on request, and a library's
   own collectives to compare with. Later also ops, rules, kernels and transports. */
#ifndef TESSERA_EXT_H
#define TESSERA_EXT_H

#include <tessera.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Make the n-th allocation of this rank from now on fail (1 is the next one); 0: none. Local. */
TSR_API void tsr_fault_alloc(tsr_mesh *mesh, int64_t n);
/* Make the n-th collective call of this rank from now on fail before it begins; 0: none. Local. */
TSR_API void tsr_fault_call(tsr_mesh *mesh, int64_t n);
/* Allocations made by this rank so far, and those not yet freed. Local. */
TSR_API int64_t tsr_allocations(const tsr_mesh *mesh);
TSR_API int64_t tsr_allocations_live(const tsr_mesh *mesh);

/* The transport's own collective over all ranks of the world (MPI_Allgather and so on) as a
   yardstick: no fingerprints, no timeouts. TSR_ERR_UNAVAILABLE where there is none. Collective. */
TSR_API tsr_status tsr_native(tsr_mesh *mesh, const tsr_collective *call);

/* ---- ops by name: for tools, bindings and tests ---- */

/* A row of the op table. Strings belong to the library. */
typedef struct tsr_op_info {
    const char *name;
    const char *inputs; /* "a,b,bias?": ? is optional, * a list */
    const char *attrs;  /* "dim:int=-1,keepdim:bool=false", "" if there are none */
    const char *doc;
    const char *axes; /* how it shards, "" if a function says so */
} tsr_op_info;
TSR_API int tsr_op_count(void);        /* Pure. */
TSR_API tsr_op_info tsr_op_row(int i); /* Pure. 0 <= i < count. */

/* An op by name; attributes as text, "dim=1"; absent optional inputs are NULL. Collective. */
TSR_API tsr_tensor *tsr_op_run(tsr_mesh *mesh, const char *name, tsr_tensor *const *in, int n_in,
                               const char *const *attrs, int n_attrs);

enum { TSR_OP_INPUTS = 12 };

/* How a call would run: the specs that inputs are brought to and that the output has, and what that
   costs in seconds. */
typedef struct tsr_op_way {
    tsr_spec in[TSR_OP_INPUTS], out;
    double inputs;  /* bringing the inputs there */
    double pending; /* what a partial output will cost, or the move to what was asked for */
    double seconds; /* all of it */
} tsr_op_way;

/* The cheapest way, among all that the op's rules allow; `exhaustive` tries them one by one. A spec
   of ndim -1 is an absent input; want may be NULL. Pure. */
TSR_API tsr_status tsr_op_plan(const char *name, const tsr_spec *in, int n_in,
                               const char *const *attrs, int n_attrs, const tsr_cost *cost,
                               const tsr_placement *want, bool exhaustive, tsr_op_way *out,
                               tsr_error *err);
/* The rules for one mesh dim, filled for these inputs: rule i puts in[i][k] and out[i]. At most
   cap; *n is how many there are. Pure. */
TSR_API tsr_status tsr_op_rules(const char *name, const tsr_spec *in, int n_in,
                                const char *const *attrs, int n_attrs,
                                tsr_placement (*ins)[TSR_OP_INPUTS], tsr_placement *outs, int cap,
                                int *n, tsr_error *err);

/* ---- are the rules of an op right? ---- */

typedef enum tsr_flaw_kind {
    TSR_FLAW_UNSOUND = 0, /* a rule claims what does not hold */
    TSR_FLAW_MISSING = 1, /* placements that hold always follow from no rule */
    TSR_FLAW_WRONG = 2    /* a run on sharded inputs differs from one on whole inputs */
} tsr_flaw_kind;

typedef struct tsr_flaw {
    tsr_flaw_kind kind;
    char text[TSR_TEXT_LEN]; /* one sentence */
    char line[TSR_TEXT_LEN]; /* tessera verify "...": a call to look at it */
} tsr_flaw;

enum { TSR_FLAWS = 16 };

typedef struct tsr_validation {
    int cases;      /* shapes and attributes tried, those of the op's row */
    int rules;      /* different ones */
    int64_t tuples; /* placements of inputs and output that were enumerated, over all cases */
    int64_t runs;   /* calls on thread ranks */
    int unsound, missing, wrong;
    double seconds;
    int n_flaws; /* as many of them as there is room for */
    tsr_flaw flaw[TSR_FLAWS];
} tsr_validation;

/* Check an op against its definition, the reference kernel on whole values: every rule on one mesh
   dim, exactly where the op is linear; every tuple of placements that no rule gives; and runs on
   threads. Finding flaws is a success. Local; starts threads. */
TSR_API tsr_status tsr_validate(const char *op, tsr_validation *out, tsr_error *err);

#ifdef __cplusplus
}
#endif

#endif
