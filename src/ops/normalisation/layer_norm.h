/* SPDX-License-Identifier: Apache-2.0 */
/* layer_norm.h - normalisation of the last dims on one rank, by mean and deviation (layer_norm) or
   by the root of the mean square (rms_norm), in the two steps of merge.h: x is rows[n], weight and
   bias are [n], statistics one per row. */
#ifndef TSR_OPS_LAYER_NORM_H
#define TSR_OPS_LAYER_NORM_H

#include "kernel/kinds.h"
#include "kernel/merge.h"

/* Inputs of the rows of ops/normalisation/layer_norms.c; rms_norm has no bias and no mean. */
enum {
    TSR_LAYER_X = 0,
    TSR_LAYER_WEIGHT = 1,
    TSR_LAYER_BIAS = 2,
    TSR_LAYER_GRAD = 0, /* of the gradients */
    TSR_LAYER_GRAD_X = 1,
    TSR_LAYER_GRAD_WEIGHT = 2,
    TSR_LAYER_GRAD_STATISTICS = 3 /* mean and rstd, or rstd */
};
/* Their attributes, and what bind_rank says. */
enum { TSR_LAYER_DIMS = 0, TSR_LAYER_EPS = 1 };
enum { TSR_LAYER_COUNT = 0 }; /* values of a statistic, on all ranks */

/* The steps of a tsr_layer_norm_kind. */
extern const tsr_merge_steps tsr__layer_norm_steps, tsr__layer_norm_backward_steps;

/* By their definitions, in f64: the oracle. */
void tsr__reference_layer_norm(const tsr_kernel_call *call);

#endif
