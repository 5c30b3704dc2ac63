/* SPDX-License-Identifier: Apache-2.0 */
/* op_halo.h - operands of an op that ranks see through windows: what each needs of which other, for
   draw and explain. Made by op_halo.c from what the library says of the windows. */
#ifndef CLI_OP_HALO_H
#define CLI_OP_HALO_H

#include "op_problem.h"

enum { OP_HALO_RANKS = 4096 }; /* of which all pairs are looked at */

/* What one rank holds, and what it sees, along one dim. */
typedef struct op_halo_range {
    int64_t begin, end;
    tsr_window_range window;
} op_halo_range;

/* One operand of the strategy by which a call would run. */
typedef struct op_halo {
    const op_problem *p;
    int operand;                /* number of an input, or TSR_OUTPUT(k) */
    const tsr_spec *spec;       /* where the operand is then */
    bool reverse;               /* its halo is scattered back, not fetched */
    bool along[TSR_MAX_DIM];    /* dims that have a window */
    bool circular[TSR_MAX_DIM]; /* of them, those whose windows go around the end */
    bool meets[TSR_MAX_MESH];   /* mesh dims along which ranks need something of each other */
    int n_ranks;
    op_halo_range *range; /* n_ranks * TSR_MAX_DIM */
} op_halo;

/* The operands of p->strategy that are seen through windows; gives an exit status. */
int op_halos_make(const op_problem *p, op_halo out[TSR_OP_WINDOWS], int *n);
void op_halos_free(op_halo *halos, int n);
const char *op_halo_name(const op_halo *h, char buf[CLI_TEXT]); /* "x", "the output" */
const op_halo_range *op_halo_range_of(const op_halo *h, int index, int dim);
/* Bytes that go from one mesh index to another. */
int64_t op_halo_bytes(const op_halo *h, int from, int to);
/* Bytes that a mesh index receives, or sends, in all; *peers: from or to how many. */
int64_t op_halo_received(const op_halo *h, int index, int *peers);
int64_t op_halo_sent(const op_halo *h, int index, int *peers);
/* The first mesh index that receives, or sends, most. */
int op_halo_busiest(const op_halo *h, bool sent);
/* "2 before and 2 behind along dim 3; rank 1 gets most, 96 B from 2 ranks" */
const char *op_halo_text(const op_halo *h, char *buf, size_t n);

#endif
