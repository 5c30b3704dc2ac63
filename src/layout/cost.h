/* SPDX-License-Identifier: Apache-2.0 */
/* cost.h - what a move costs. Pure; all ranks hold equal numbers, so all decide alike. */
#ifndef TSR_LAYOUT_COST_H
#define TSR_LAYOUT_COST_H

#include "base/error.h"

/* What a public function was given, or in *usual the default if that is NULL. */
tsr_status tsr__cost_given(const char *function, const tsr_cost *given, tsr_cost *usual,
                           const tsr_cost **out, tsr_error *err);
bool tsr__cost_equal(const tsr_cost *a, const tsr_cost *b);

/* One move, as the cost function sees it. */
typedef struct tsr_move {
    tsr_step_kind kind;
    unsigned mdims;       /* mesh dims it runs over */
    int group;            /* ranks that take part together */
    double before, after; /* bytes of a part before and after */
    double bytes;         /* exchange: bytes received; else derived from before and after */
    double peers;         /* exchange: ranks received from */
    uint64_t key;         /* hash of from and to, for random costs */
} tsr_move;

double tsr__move_bytes(const tsr_move *move); /* received by a rank */
double tsr__move_seconds(const tsr_cost *cost, const tsr_move *move);

#endif
