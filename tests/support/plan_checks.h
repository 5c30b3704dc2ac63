/* SPDX-License-Identifier: Apache-2.0 */
/* plan_checks.h - what must hold for every plan: its steps lead from the source to the target, and
   each of them is a move that can be made and means what it says. Fails the running test. */
#ifndef TSR_TESTS_PLAN_CHECKS_H
#define TSR_TESTS_PLAN_CHECKS_H

#include "layout/cost.h"
#include "layout/redist_plan.h"

void check_plan(const tsr_redist *plan);

/* R, S, SS with a factor up to 3, or P of sum, avg, max. */
tsr_placement random_placement(uint64_t *seed, int ndim);

#endif
