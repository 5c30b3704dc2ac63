/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_step.h - the steps of optimizers, as PyTorch defines them: what one element of a
   parameter and of its states becomes. Inputs are w, its states and the gradient; outputs w and the
   states, which may be the inputs' memory. A half w may have f32 states and gradients. */
#ifndef TSR_OPS_OPTIMIZER_STEP_H
#define TSR_OPS_OPTIMIZER_STEP_H

#include "kernel/kernel.h"
#include "kernel/kinds.h"

enum { TSR_STEP_STATES = 2, TSR_STEP_INPUTS = TSR_STEP_STATES + 2 };

/* What the elements of one call have in common. */
typedef struct tsr_update {
    tsr_optimizer_step_kind kind;
    int states;
    bool nesterov;
    double decay;  /* times w, added to the gradient */
    double keep;   /* w is multiplied by it first: 1 - lr decay where decay is decoupled */
    double lr;     /* of adam divided by its bias correction */
    double first;  /* momentum, or 1 - beta1 */
    double take;   /* of the gradient into the momentum, or beta2 */
    double square; /* 1 - beta2 */
    double root;   /* times the root of v: its bias correction */
    double eps;
} tsr_update;

/* From the attributes of the row of that kind. */
tsr_update tsr__update_of(const tsr_kernel_call *call, tsr_optimizer_step_kind kind);

/* Of a call whose operands are w, its states and the gradient, this update. */
void tsr__update_run(const tsr_kernel_call *call, const tsr_update *update);

/* The sum of squares of n floats, in f64. */
double tsr__squares(tsr_dtype dtype, const void *x, int64_t n);

/* The definition, element by element. */
void tsr__step_reference(const tsr_kernel_call *call, const tsr_update *step);

#endif
