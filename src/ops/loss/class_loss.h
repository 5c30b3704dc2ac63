/* SPDX-License-Identifier: Apache-2.0 */
/* class_loss.h - losses of rows x[..., classes] and the class that each row should have, on one
   rank: cross_entropy of logits, nll_loss of log-probabilities. A rank may have a part of the
   classes. Called through the rows of ops/loss/class_losses.c, and in steps by
   ops/loss/class_merge.c. */
#ifndef TSR_OPS_CLASS_LOSS_H
#define TSR_OPS_CLASS_LOSS_H

#include "kernel/kernel.h"
#include "tessera_ops.h"

/* Inputs; gradients have grad as 0, and each of these one later. Weights are of all classes. */
enum {
    TSR_CLASS_X = 0,
    TSR_CLASS_TARGET = 1,
    TSR_CLASS_WEIGHT = 2,
    TSR_CLASS_BACK = 1, /* what is added to those for gradients */
    TSR_CLASS_LSE = 4   /* of cross_entropy's gradient; the last input is what a mean divided by */
};
/* Attributes of all, reduction a tsr_loss_reduction; cross_entropy has smoothing besides. What
   bind_rank says: classes in all. */
enum { TSR_CLASS_REDUCTION = 0, TSR_CLASS_IGNORE = 1, TSR_CLASS_SMOOTHING = 2 };
enum { TSR_CLASS_COUNT = 0 };
/* Outputs of cross_entropy: the loss; of every row the log of the sum of exponentials, in f64, for
   f32 would be too coarse for large logits; what a mean was divided by. nll_loss has no second. */
enum { TSR_CLASS_OUT_LSE = 1 };

/* cross_entropy in steps: first numbers of every row, four of each, which are merged over ranks
   that have other classes; then the sum of the losses here and of what their mean is divided by,
   which are added up over ranks that have other rows. An error of the call is in its `error`. */
int64_t tsr__class_count(const tsr_kernel_call *call);
void tsr__class_local(const tsr_kernel_call *call, double *numbers);
void tsr__class_merge(int64_t count, double *numbers, const double *more);
void tsr__class_rows(const tsr_kernel_call *call, const double *numbers, double sum[2]);
/* The same of nll_loss, in one step: parts of the classes give parts of the loss. */
void tsr__nll_rows(const tsr_kernel_call *call, double sum[2]);
/* The loss of all rows. */
void tsr__class_put(const tsr_kernel_call *call, const double sum[2]);

/* By their definitions: the oracle. */
void tsr__reference_class_loss(const tsr_kernel_call *call);

#endif
