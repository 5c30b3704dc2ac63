/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_reference.c - steps of optimizers, element by element in f64, rounded once. Called when
   a call asks for the reference. */
#include "ops/optimizer/optimizer_step.h"

#include "kernel/index.h"
#include "kernel/kinds.h"

#include <math.h>

/* x is w, the states and the gradient; w and the states are overwritten. */
static void step_one(const tsr_update *s, double x[TSR_STEP_INPUTS])
{
    double g = x[1 + s->states] + (s->decay > 0 ? s->decay * x[0] : 0); /* w may be infinite */

    switch (s->kind) {
    case TSR_OPTIMIZER_SGD: x[0] -= s->lr * g; break;
    case TSR_OPTIMIZER_SGD_MOMENTUM:
        x[1] = s->first * x[1] + s->take * g;
        x[0] -= s->lr * (s->nesterov ? g + s->first * x[1] : x[1]);
        break;
    case TSR_OPTIMIZER_ADAM:
        x[1] += s->first * (g - x[1]);
        x[2] = s->take * x[2] + s->square * g * g;
        x[0] = x[0] * s->keep - s->lr * x[1] / (sqrt(x[2]) * s->root + s->eps);
        break;
    default: /* adagrad */ x[1] += g * g; x[0] -= s->lr * g / (sqrt(x[1]) + s->eps);
    }
}

void tsr__step_reference(const tsr_kernel_call *call, const tsr_update *step)
{
    double x[TSR_STEP_INPUTS];

    for (int64_t i = 0; i < tsr__operand_count(&call->in[0]); i++) {
        for (int k = 0; k < call->n_in; k++)
            x[k] = tsr__get(call->in[k].dtype, call->in[k].data, i);
        step_one(step, x);
        for (int k = 0; k < call->n_out; k++)
            tsr__put(call->out[k].dtype, call->out[k].data, i, x[k]);
    }
}
