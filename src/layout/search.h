/* SPDX-License-Identifier: Apache-2.0 */
/* search.h - cheapest ways through a space (space.h) from its source. Pure. */
#ifndef TSR_LAYOUT_SEARCH_H
#define TSR_LAYOUT_SEARCH_H

#include "layout/space.h"

enum { TSR_SEARCH_SMALL = 640, TSR_SEARCH_SLOTS = 2048, TSR_SEARCH_LARGE = 1 << 14 };

typedef struct tsr_node {
    tsr_state state;
    double seconds, bytes; /* of the best way here; seconds is infinite if none is known */
    double part;           /* bytes of the largest part in this state */
    int steps;
    int parent;   /* node before, -1 at the source */
    uint8_t kind; /* of the last move */
    bool settled;
    bool fresh;    /* an exchange may start here */
    uint8_t mdims; /* mesh dims of the last move */
} tsr_node;

/* A way to a node, with its own copy of the key: nodes improve while they wait. */
typedef struct tsr_queued {
    double seconds, bytes;
    int steps, node;
} tsr_queued;

typedef struct tsr_search {
    tsr_space *space;
    const tsr_state *goal; /* stop when it is reached; NULL: go everywhere */
    bool exchange;         /* may the exchange to the goal be used? */
    bool narrow;           /* mesh dims shard only as in the source and in the goal: few states */
    tsr_node *node;
    int n_nodes, cap;
    uint16_t *slot; /* hash table of node numbers + 1, of size n_slots (a power of two) */
    int n_slots;
    tsr_queued *queue; /* binary heap; entries of settled nodes are passed over */
    int n_queue, queue_cap;
    bool overflow; /* more states than cap: the answer is not complete */
} tsr_search;

/* Run over the given memory. After it, nodes hold the best way to each state reached. */
void tsr__search_run(tsr_search *search);
int tsr__search_find(const tsr_search *search, const tsr_state *state); /* -1: not reached */

/* Has the space, as far as can be told beforehand, few enough states to be searched whole? */
bool tsr__search_possible(const tsr_space *space);

/* States that reductions alone make of the source (the source itself if nothing is pending): there
   the exchange may start. At most cap. */
int tsr__search_fresh(const tsr_space *space, tsr_state *out, int cap);

/* Ready for tsr__search_run, with what `ask` says about space, goal and moves: small ones have
   their memory on the stack, large ones from the heap. */
typedef struct tsr_search_small {
    tsr_node node[TSR_SEARCH_SMALL];
    uint16_t slot[TSR_SEARCH_SLOTS];
    tsr_queued queue[4 * TSR_SEARCH_SMALL];
} tsr_search_small;
void tsr__search_open_small(tsr_search *search, tsr_search_small *memory, const tsr_search *ask);
tsr_status tsr__search_open_large(tsr_search *search, const tsr_search *ask, tsr_heap *heap,
                                  tsr_error *err);
void tsr__search_close_large(tsr_search *search, tsr_heap *heap);

#endif
