/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_attrs.h - printed by make ops from the rows: where attributes are, by
   name. In-place forms have those of their ops. */
#ifndef TSR_OPS_OPTIMIZER_ATTRS_H
#define TSR_OPS_OPTIMIZER_ATTRS_H

/* sgd_step */
enum { TSR_ATTR_SGD_STEP_LR, TSR_ATTR_SGD_STEP_DECAY };

/* sgd_momentum_step */
enum {
    TSR_ATTR_SGD_MOMENTUM_STEP_LR,
    TSR_ATTR_SGD_MOMENTUM_STEP_MOMENTUM,
    TSR_ATTR_SGD_MOMENTUM_STEP_DAMPENING,
    TSR_ATTR_SGD_MOMENTUM_STEP_NESTEROV,
    TSR_ATTR_SGD_MOMENTUM_STEP_DECAY
};

/* adam_step */
enum {
    TSR_ATTR_ADAM_STEP_LR,
    TSR_ATTR_ADAM_STEP_BETA1,
    TSR_ATTR_ADAM_STEP_BETA2,
    TSR_ATTR_ADAM_STEP_EPS,
    TSR_ATTR_ADAM_STEP_DECAY,
    TSR_ATTR_ADAM_STEP_DECOUPLED,
    TSR_ATTR_ADAM_STEP_STEP
};

/* adagrad_step */
enum { TSR_ATTR_ADAGRAD_STEP_LR, TSR_ATTR_ADAGRAD_STEP_EPS, TSR_ATTR_ADAGRAD_STEP_DECAY };

#endif
