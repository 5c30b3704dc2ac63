/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - the local kernels, one per op. Shapes were checked before; each also runs its naive
   reference when the call asks for it. */
#ifndef TSR_KERNEL_KERNELS_H
#define TSR_KERNEL_KERNELS_H

#include "kernel/kernel.h"

/* out[...] = f(in[...]), shapes broadcast from the last dim; f by the call's kind, a
   tsr_pointwise_kind. Numbers and flags are attributes 0 and 1. */
void tsr__kernel_pointwise(const tsr_kernel_call *call);
/* out = in as the output's dtype; what is behind the point is cut off */
void tsr__kernel_cast(const tsr_kernel_call *call);

/* out[...,m,n] = sum over k of a[...,m,k] b[...,k,n] (+ bias[n]); leading dims broadcast */
void tsr__kernel_matmul(const tsr_kernel_call *call);
/* out[...,n] = sum over k of x[...,k] weight[n,k] (+ bias[n]) */
void tsr__kernel_linear(const tsr_kernel_call *call);
/* What the text of attribute 0 says, einsum.h; dot and outer are two such texts. */
void tsr__kernel_einsum(const tsr_kernel_call *call);
void tsr__kernel_dot(const tsr_kernel_call *call);
void tsr__kernel_outer(const tsr_kernel_call *call);
size_t tsr__scratch_einsum(const tsr_kernel_call *call);
size_t tsr__scratch_dot(const tsr_kernel_call *call);
size_t tsr__scratch_outer(const tsr_kernel_call *call);

/* Attention and its gradients; inputs, outputs and attributes as in attention.h. Number 0 is how
   many heads of queries share one of keys. */
void tsr__kernel_attention(const tsr_kernel_call *call);
size_t tsr__scratch_attention(const tsr_kernel_call *call);

/* Reductions, as in reduce_dims.h. Of floats. Attribute 2: which norm, 1, 2 or infinity; what is
   subtracted from the number of elements that a variance, or the square of a standard deviation, is
   divided by. */
void tsr__kernel_norm(const tsr_kernel_call *call);
void tsr__kernel_var(const tsr_kernel_call *call);
void tsr__kernel_logsumexp(const tsr_kernel_call *call);
size_t tsr__scratch_norm(const tsr_kernel_call *call);
size_t tsr__scratch_var(const tsr_kernel_call *call);
size_t tsr__scratch_logsumexp(const tsr_kernel_call *call);
/* Where the largest or smallest element is along the dim of attribute 0, or among all if that is
   left out: an i64, of equal ones the first, of NaN too; -1 of no elements. Numbers: sizes of the
   dims of the whole tensor. */
void tsr__kernel_arg(const tsr_kernel_call *call);
size_t tsr__scratch_arg(const tsr_kernel_call *call);
/* out = the sum or product of all elements up to each along the dim of attribute 0, or from each on
   if attribute 1 is true */
void tsr__kernel_scan(const tsr_kernel_call *call);

/* Along the dim of attribute 0 (negative: from the end): exp(x - max) / sum of that, or its
   logarithm. Their gradients: from that of such an output (input 0) and the output itself (input 1)
   that of x. */
void tsr__kernel_softmax(const tsr_kernel_call *call);

/* Lookups and bags (op/lookups.c has the inputs; kernels see no attributes of theirs). Numbers:
   rows of the whole table, the padding's row or -1, offsets of the whole list, and attributes that
   are set. Of bags by offsets those of the output, or of the gradient, are meant; the offsets may
   be just theirs and the next. An id out of range is an error that names it. */
enum { TSR_NUMBER_ROWS = 0, TSR_NUMBER_PADDING = 1, TSR_NUMBER_OFFSETS = 2, TSR_NUMBER_FLAGS = 3 };
enum {
    TSR_FLAG_KEEP_PADDING = 1,
    TSR_FLAG_ZERO_OUT_OF_RANGE = 2,
    TSR_FLAG_INCLUDE_LAST = 4,
    TSR_FLAG_LAST = 8,
    TSR_FLAG_SCALE_BY_FREQ = 16
};
void tsr__kernel_embedding(const tsr_kernel_call *call);
void tsr__kernel_embedding_backward(const tsr_kernel_call *call);
void tsr__kernel_bag(const tsr_kernel_call *call);
void tsr__kernel_bag_max(const tsr_kernel_call *call);
void tsr__kernel_bag_backward(const tsr_kernel_call *call);
void tsr__kernel_bag_max_backward(const tsr_kernel_call *call);
void tsr__kernel_bag_weights_backward(const tsr_kernel_call *call);
/* Attributes 0 and 1: the largest norm, and which norm. */
void tsr__kernel_embedding_renorm(const tsr_kernel_call *call);
size_t tsr__scratch_embedding_renorm(const tsr_kernel_call *call);
size_t tsr__scratch_embedding_backward(const tsr_kernel_call *call);
size_t tsr__scratch_bag(const tsr_kernel_call *call);
size_t tsr__scratch_bag_weights_backward(const tsr_kernel_call *call);
size_t tsr__scratch_bag_backward(const tsr_kernel_call *call);
size_t tsr__scratch_bag_max_backward(const tsr_kernel_call *call);

/* Losses of rows x[..., classes] and targets, inputs and attributes as in class_loss.h. A target
   that is no class is an error that names it. */
void tsr__kernel_class_loss(const tsr_kernel_call *call);
size_t tsr__scratch_class_loss(const tsr_kernel_call *call);
/* Losses of x and a target element by element, as in pair_loss.h. */
void tsr__kernel_pair_loss(const tsr_kernel_call *call);

/* Normalisation of x [samples, channels, space...], kinds, inputs and attributes as in norm.h:
   y, and the mean and reciprocal standard deviation of each statistic. Of gradients, outputs
   that are switched off have ndim -1; number 0 is how many values a statistic is of. */
void tsr__kernel_channel_norm(const tsr_kernel_call *call);
size_t tsr__scratch_channel_norm(const tsr_kernel_call *call);
/* The same for the last dims of x, inputs and attributes as in layer_norm.h. */
void tsr__kernel_layer_norm(const tsr_kernel_call *call);
size_t tsr__scratch_layer_norm(const tsr_kernel_call *call);
/* out = (1 - momentum) in0 + momentum in1, momentum attribute 0; the dtypes may differ */
void tsr__kernel_running_update(const tsr_kernel_call *call);

/* Steps of optimizers: inputs w, its states and the gradient, outputs w and the states; attributes
   in the order of the rows in op/optimizer_ops.c. */
void tsr__kernel_optimizer_step(const tsr_kernel_call *call);

#endif
