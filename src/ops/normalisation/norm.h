/* SPDX-License-Identifier: Apache-2.0 */
/* norm.h - normalisation on one rank, in the two steps of merge.h, with a few numbers per
   statistic. x is [samples, channels, space...]; a statistic is of one channel, or of one group of
   channels of one sample. */
#ifndef TSR_OPS_NORM_H
#define TSR_OPS_NORM_H

#include "kernel/kinds.h"
#include "kernel/merge.h"

/* Inputs of the rows of ops/normalisation/norms.c; vectors are of x's dtype, or f32 where that is
   f16 or bf16. */
enum {
    TSR_NORM_X = 0,
    TSR_NORM_WEIGHT = 1,
    TSR_NORM_BIAS = 2,
    TSR_NORM_RUNNING_MEAN = 3,
    TSR_NORM_RUNNING_VAR = 4,
    TSR_NORM_GRAD = 0, /* of the gradients */
    TSR_NORM_GRAD_X = 1,
    TSR_NORM_GRAD_WEIGHT = 2,
    TSR_NORM_GRAD_MEAN = 3,
    TSR_NORM_GRAD_RSTD = 4
};
/* Their attributes, and what bind_rank says. */
enum { TSR_NORM_TRAINING = 0, TSR_NORM_GROUPS = 0, TSR_NORM_EPS = 1 };
enum { TSR_NORM_COUNT = 0 }; /* values of a statistic, on all ranks */

extern const tsr_merge_steps tsr__norm_steps, tsr__norm_backward_steps;

/* By their definitions, in f64: the oracle. */
void tsr__reference_channel_norm(const tsr_kernel_call *call);

#endif
