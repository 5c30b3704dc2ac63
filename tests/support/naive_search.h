/* SPDX-License-Identifier: Apache-2.0 */
/* naive_search.h - the cheapest redistribution by brute force: all states that the moves documented
   in layout/space.h reach, all moves between them, and Bellman-Ford over both. */
#ifndef TSR_TESTS_NAIVE_SEARCH_H
#define TSR_TESTS_NAIVE_SEARCH_H

#include "layout/cost.h"
#include "naive_layout.h"

/* What each mesh dim does: R, S (and where), P for a partial that must be resolved, K for one that
   stays. Unused fields are 0. */
typedef struct naive_state {
    char kind[TSR_MAX_MESH];
    int dim[TSR_MAX_MESH], place[TSR_MAX_MESH]; /* S: tensor dim, and place in its list */
    int64_t factor[TSR_MAX_MESH];
} naive_state;

typedef struct naive_edge {
    int from, to;
    tsr_step_kind kind;
    unsigned mdims;
    bool single;         /* resolves one of several partials: only under collectives_only */
    double bytes, peers; /* exchange */
    uint64_t key;
} naive_edge;

typedef struct naive_graph {
    const tsr_spec *from;
    bool kept[TSR_MAX_MESH];
    bool allow[TSR_MAX_MESH][TSR_MAX_DIM][16]; /* mesh dim, tensor dim, factor */
    bool dims[TSR_MAX_DIM];
    int n, n_edges, state_cap, edge_cap;
    naive_state *state;
    double *part, *unrounded; /* bytes of the largest part, and of an unrounded one */
    naive_edge *edge;
} naive_graph;

/* The partial mesh dims of `from` that a move to `to` leaves alone, by trying all subsets. */
void naive_kept(const tsr_spec *from, const tsr_placement *to, bool *kept);

/* All states and moves from `from`, with the tensor dims and factors of n targets (factor < 16). */
void naive_open(naive_graph *graph, const tsr_spec *from, const tsr_placement (*to)[TSR_MAX_MESH],
                int n, const bool *kept);
void naive_close(naive_graph *graph);

/* The cheapest way to `to` in seconds, INFINITY if none stays within the limit (0: none). */
double naive_best(naive_graph *graph, const tsr_placement *to, const tsr_cost *cost, size_t limit);
/* open, best and close for one pair. */
double naive_pair(const tsr_spec *from, const tsr_spec *to, const tsr_cost *cost, size_t limit);

/* The layout of a state. */
tsr_layout naive_layout_of(const naive_graph *graph, const naive_state *state);

#endif
