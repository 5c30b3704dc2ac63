/* SPDX-License-Identifier: Apache-2.0 */
/* space.h - the states that a redistribution passes through, in a form small enough to search.

   A state says for every mesh dim of more than one rank: replicated, partial, or which tensor dim
   it shards, at which place in that dim's ordered list. The moves between states:
     all-gather      drop the last mesh dim of a list
     slice           append a replicated mesh dim to a list
     all-to-all      move the last mesh dim of a list to the end of another (or change its factor)
     all-reduce,     resolve the innermost run of pending partial dims of one kind, all of them as
     reduce-scatter  one reduction over their product group, to R or to the ends of lists
     exchange        once: to the target, from the source, or, where it is partial, from what
                     reductions make of it (each run all to R, or in order to one tensor dim); only
                     if two mesh dims or more change and something must be received
     to-partial      once, at the end: R -> P where the target is partial
   Under collectives_only there is no exchange, and partial dims may be resolved one by one. */
#ifndef TSR_LAYOUT_SPACE_H
#define TSR_LAYOUT_SPACE_H

#include "layout/cost.h"
#include "layout/layout.h"

enum { TSR_STATE_R = 0, TSR_STATE_PENDING = 1, TSR_STATE_KEPT = 2 };
enum { TSR_STATE_SHARD = 0x8000 }; /* | dim << 8 | place in the list << 4 | variant */
enum { TSR_VARIANTS = 4 };         /* factors that a mesh dim may shard with; 0 is plain */

typedef union tsr_state {
    uint16_t code[TSR_MAX_MESH]; /* per active mesh dim */
    uint64_t word[2];
} tsr_state;

typedef struct tsr_space {
    const tsr_spec *from;
    const tsr_cost *cost;
    size_t memory_limit;
    int n_mdims;            /* active: more than one rank */
    int mdim[TSR_MAX_MESH]; /* their numbers in the mesh */
    int size[TSR_MAX_MESH];
    bool dims[TSR_MAX_DIM]; /* tensor dims that may be sharded on the way */
    int n_variants[TSR_MAX_MESH];
    int64_t factor[TSR_MAX_MESH][TSR_VARIANTS];
    int factor_dim[TSR_MAX_MESH][TSR_VARIANTS]; /* the tensor dim that a strided variant is for */
    tsr_state source;   /* partial dims: PENDING, or KEPT where the target keeps them */
    double source_part; /* bytes of its largest part */
    double whole;       /* elements, for unrounded parts */
} tsr_space;

static inline bool tsr__state_sharded(uint16_t code)
{
    return code & TSR_STATE_SHARD;
}

static inline int tsr__state_dim(uint16_t code)
{
    return code >> 8 & 7;
}

static inline int tsr__state_place(uint16_t code)
{
    return code >> 4 & 7;
}

/* 0 also where nothing is sharded */
static inline int tsr__state_variant(uint16_t code)
{
    return code & TSR_STATE_SHARD ? code & 15 : 0;
}

static inline bool tsr__state_equal(const tsr_state *a, const tsr_state *b)
{
    return a->word[0] == b->word[0] && a->word[1] == b->word[1];
}

/* Lists of active mesh dims per tensor dim, outermost first. */
typedef struct tsr_lists {
    int n[TSR_MAX_DIM];
    int k[TSR_MAX_DIM][TSR_MAX_MESH];
} tsr_lists;

/* Begin a space for moves away from `from`; kept[] are the partial mesh dims to leave alone. */
void tsr__space_open(tsr_space *space, const tsr_spec *from, const bool *kept, const tsr_cost *cost,
                     size_t memory_limit);
/* Make the placements of `to` reachable (its dims and factors). False: too many factors. */
bool tsr__space_admit(tsr_space *space, const tsr_placement *to);
/* The state of placements; partial dims of `to` that are not kept become R (to-partial comes
   last). */
tsr_state tsr__space_state(const tsr_space *space, const tsr_placement *to);
void tsr__space_lists(const tsr_state *state, int n_mdims, tsr_lists *out);
double tsr__space_part(const tsr_space *space, const tsr_state *state); /* bytes of the largest */
/* Bytes of a part as costs count them: of the largest one, or unrounded. */
double tsr__space_bytes(const tsr_space *space, const tsr_state *state);
tsr_layout tsr__space_layout(const tsr_space *space, const tsr_state *state);
unsigned tsr__space_mdims(const tsr_space *space, unsigned active); /* masks: active -> mesh */

/* The innermost run of pending dims of one kind, as a mask of active dims; 0: none pending. */
unsigned tsr__space_pending(const tsr_space *space, const tsr_state *state);

/* Which partial dims of `from` that `to` has too can stay as they are? Those that cannot (a dim
   further left of another kind must be resolved) are resolved and made partial again. */
void tsr__space_kept(const tsr_spec *from, const tsr_placement *to, bool *kept);

/* The one-shot exchange as a move, by a closed formula. Not a move if its bytes are 0: then slices
   do it. */
tsr_move tsr__space_exchange(const tsr_space *space, const tsr_state *from, const tsr_state *to,
                             double from_bytes, double to_bytes);
/* Key of a move for random costs: 17, mixed with both states, and of these with every active mesh
   dim: its number << 16 | code without variant, then its factor if it shards, else its code. */
uint64_t tsr__space_key(const tsr_space *space, const tsr_state *from, const tsr_state *to);

#endif
