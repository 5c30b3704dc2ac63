/* SPDX-License-Identifier: Apache-2.0 */
/* loss_attrs.h - printed by make ops from the rows: where attributes are, by
   name. In-place forms have those of their ops. */
#ifndef TSR_OPS_LOSS_ATTRS_H
#define TSR_OPS_LOSS_ATTRS_H

/* cross_entropy */
enum {
    TSR_ATTR_CROSS_ENTROPY_REDUCTION,
    TSR_ATTR_CROSS_ENTROPY_IGNORE_INDEX,
    TSR_ATTR_CROSS_ENTROPY_LABEL_SMOOTHING,
    TSR_ATTR_CROSS_ENTROPY_CLASSES
};

/* cross_entropy_backward */
enum {
    TSR_ATTR_CROSS_ENTROPY_BACKWARD_REDUCTION,
    TSR_ATTR_CROSS_ENTROPY_BACKWARD_IGNORE_INDEX,
    TSR_ATTR_CROSS_ENTROPY_BACKWARD_LABEL_SMOOTHING,
    TSR_ATTR_CROSS_ENTROPY_BACKWARD_CLASSES
};

/* nll_loss */
enum { TSR_ATTR_NLL_LOSS_REDUCTION, TSR_ATTR_NLL_LOSS_IGNORE_INDEX, TSR_ATTR_NLL_LOSS_CLASSES };

/* nll_loss_backward */
enum {
    TSR_ATTR_NLL_LOSS_BACKWARD_REDUCTION,
    TSR_ATTR_NLL_LOSS_BACKWARD_IGNORE_INDEX,
    TSR_ATTR_NLL_LOSS_BACKWARD_CLASSES
};

/* mse_loss */
enum { TSR_ATTR_MSE_LOSS_REDUCTION };

/* mse_loss_backward */
enum { TSR_ATTR_MSE_LOSS_BACKWARD_REDUCTION };

/* l1_loss */
enum { TSR_ATTR_L1_LOSS_REDUCTION };

/* l1_loss_backward */
enum { TSR_ATTR_L1_LOSS_BACKWARD_REDUCTION };

/* bce_with_logits */
enum { TSR_ATTR_BCE_WITH_LOGITS_REDUCTION };

/* bce_with_logits_backward */
enum { TSR_ATTR_BCE_WITH_LOGITS_BACKWARD_REDUCTION, TSR_ATTR_BCE_WITH_LOGITS_BACKWARD_OUTPUT_MASK };

#endif
