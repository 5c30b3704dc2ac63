/* SPDX-License-Identifier: Apache-2.0 */
/* pair_loss.h - losses of x and a target of the same shape, element by element, on one rank:
   mse_loss, l1_loss and bce_with_logits. Called through the rows of ops/loss/pair_losses.c. */
#ifndef TSR_OPS_PAIR_LOSS_H
#define TSR_OPS_PAIR_LOSS_H

#include "kernel/kernel.h"
#include "kernel/kinds.h"

/* Inputs; gradients have grad as 0, and each of these one later. Weights broadcast to x. */
enum {
    TSR_PAIR_X = 0,
    TSR_PAIR_TARGET = 1,
    TSR_PAIR_WEIGHT = 2,
    TSR_PAIR_POSITIVE = 3,
    TSR_PAIR_INPUTS = 4
};
/* The attribute is the reduction, as in class_loss.h; what bind_rank says: elements in all. */
enum { TSR_PAIR_REDUCTION = 0 };
enum { TSR_PAIR_COUNT = 0 };

/* The definitions, in f64, of a tsr_loss_kind: the loss of one element, and its slope by operand
   k. */
double tsr__pair_loss(int kind, const double in[TSR_PAIR_INPUTS]);
double tsr__pair_slope(int kind, int k, const double in[TSR_PAIR_INPUTS]);

#endif
