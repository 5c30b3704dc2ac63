/* SPDX-License-Identifier: Apache-2.0 */
/* fill.h - inputs that are in no file: small integers that follow from seed=, the same on
   every mesh. Used by verify and run. */
#ifndef CLI_FILL_H
#define CLI_FILL_H

#include "op_problem.h"

/* The source of a redistribution, of terms where it is partial (values.h). Collective. */
tsr_status fill_source(const problem *p, tsr_mesh *mesh, tsr_tensor **out);

/* Whole input k of an op, within the range that the text gives it; for free(). NULL: out of
   memory. */
double *fill_values(const op_problem *p, int k);
/* This rank's part of it as `spec` places it, of terms that make up `whole` where it is partial;
   the absolute values of terms of a sum exceed that of the whole by 2 at most. Collective. */
tsr_status fill_input(const op_problem *p, tsr_mesh *mesh, int k, const tsr_spec *spec,
                      const double *whole, tsr_tensor **out);

#endif
