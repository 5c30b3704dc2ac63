/* SPDX-License-Identifier: Apache-2.0 */
/* gradients.h - the gradient functions that rows name; they stand in src/grad/, by family. */
#ifndef TSR_OP_GRADIENTS_H
#define TSR_OP_GRADIENTS_H

#include "tessera_ext.h"

/* pointwise_grad.c; that of maximum is minimum's too */
tsr_status tsr__grad_add(const tsr_grad_call *call);
tsr_status tsr__grad_sub(const tsr_grad_call *call);
tsr_status tsr__grad_mul(const tsr_grad_call *call);
tsr_status tsr__grad_div(const tsr_grad_call *call);
tsr_status tsr__grad_pow(const tsr_grad_call *call);
tsr_status tsr__grad_remainder(const tsr_grad_call *call);
tsr_status tsr__grad_fmod(const tsr_grad_call *call);
tsr_status tsr__grad_maximum(const tsr_grad_call *call);
tsr_status tsr__grad_neg(const tsr_grad_call *call);
tsr_status tsr__grad_abs(const tsr_grad_call *call);
tsr_status tsr__grad_relu(const tsr_grad_call *call);
tsr_status tsr__grad_exp(const tsr_grad_call *call);
tsr_status tsr__grad_log(const tsr_grad_call *call);
tsr_status tsr__grad_log1p(const tsr_grad_call *call);
tsr_status tsr__grad_sqrt(const tsr_grad_call *call);
tsr_status tsr__grad_rsqrt(const tsr_grad_call *call);
tsr_status tsr__grad_reciprocal(const tsr_grad_call *call);
tsr_status tsr__grad_tanh(const tsr_grad_call *call);
tsr_status tsr__grad_sigmoid(const tsr_grad_call *call);
tsr_status tsr__grad_silu(const tsr_grad_call *call);
tsr_status tsr__grad_mish(const tsr_grad_call *call);
tsr_status tsr__grad_sinh(const tsr_grad_call *call);
tsr_status tsr__grad_asinh(const tsr_grad_call *call);
tsr_status tsr__grad_acosh(const tsr_grad_call *call);
tsr_status tsr__grad_gelu(const tsr_grad_call *call);
tsr_status tsr__grad_softplus(const tsr_grad_call *call);
tsr_status tsr__grad_sin(const tsr_grad_call *call);
tsr_status tsr__grad_cos(const tsr_grad_call *call);
tsr_status tsr__grad_erf(const tsr_grad_call *call);
tsr_status tsr__grad_leaky_relu(const tsr_grad_call *call);
tsr_status tsr__grad_elu(const tsr_grad_call *call);
tsr_status tsr__grad_affine(const tsr_grad_call *call);
tsr_status tsr__grad_clamp(const tsr_grad_call *call);
tsr_status tsr__grad_cast(const tsr_grad_call *call);
tsr_status tsr__grad_where(const tsr_grad_call *call);
tsr_status tsr__grad_masked_fill(const tsr_grad_call *call);
tsr_status tsr__grad_lerp(const tsr_grad_call *call);
tsr_status tsr__grad_addcmul(const tsr_grad_call *call);
tsr_status tsr__grad_addcdiv(const tsr_grad_call *call);

/* reduction_grad.c; total is sum, extreme is max and min */
tsr_status tsr__grad_total(const tsr_grad_call *call);
tsr_status tsr__grad_mean(const tsr_grad_call *call);
tsr_status tsr__grad_prod(const tsr_grad_call *call);
tsr_status tsr__grad_extreme(const tsr_grad_call *call);
tsr_status tsr__grad_norm(const tsr_grad_call *call);
tsr_status tsr__grad_var(const tsr_grad_call *call);
tsr_status tsr__grad_std(const tsr_grad_call *call);
tsr_status tsr__grad_logsumexp(const tsr_grad_call *call);
tsr_status tsr__grad_cumsum(const tsr_grad_call *call);
tsr_status tsr__grad_cumprod(const tsr_grad_call *call);

/* shape_grad.c */
tsr_status tsr__grad_cat(const tsr_grad_call *call);
tsr_status tsr__grad_stack(const tsr_grad_call *call);
tsr_status tsr__grad_split(const tsr_grad_call *call);
tsr_status tsr__grad_transpose(const tsr_grad_call *call);
tsr_status tsr__grad_permute(const tsr_grad_call *call);
tsr_status tsr__grad_reshape(const tsr_grad_call *call);
tsr_status tsr__grad_depth_to_space(const tsr_grad_call *call);
tsr_status tsr__grad_space_to_depth(const tsr_grad_call *call);
tsr_status tsr__grad_expand(const tsr_grad_call *call);
tsr_status tsr__grad_tile(const tsr_grad_call *call);
tsr_status tsr__grad_slice(const tsr_grad_call *call);
tsr_status tsr__grad_narrow(const tsr_grad_call *call);
tsr_status tsr__grad_select(const tsr_grad_call *call);
tsr_status tsr__grad_unfold(const tsr_grad_call *call);
tsr_status tsr__grad_diagonal(const tsr_grad_call *call);
tsr_status tsr__grad_slice_backward(const tsr_grad_call *call);
tsr_status tsr__grad_unfold_backward(const tsr_grad_call *call);
tsr_status tsr__grad_flip(const tsr_grad_call *call);
tsr_status tsr__grad_roll(const tsr_grad_call *call);
tsr_status tsr__grad_pad(const tsr_grad_call *call);
tsr_status tsr__grad_pad_reflect(const tsr_grad_call *call);
tsr_status tsr__grad_pad_replicate(const tsr_grad_call *call);
tsr_status tsr__grad_pad_circular(const tsr_grad_call *call);
tsr_status tsr__grad_tril(const tsr_grad_call *call);
tsr_status tsr__grad_triu(const tsr_grad_call *call);

/* softmax_grad.c */
tsr_status tsr__grad_softmax(const tsr_grad_call *call);
tsr_status tsr__grad_log_softmax(const tsr_grad_call *call);
tsr_status tsr__grad_layer_norm(const tsr_grad_call *call);
tsr_status tsr__grad_rms_norm(const tsr_grad_call *call);

/* loss_grad.c */
tsr_status tsr__grad_cross_entropy(const tsr_grad_call *call);
tsr_status tsr__grad_nll_loss(const tsr_grad_call *call);
tsr_status tsr__grad_mse_loss(const tsr_grad_call *call);
tsr_status tsr__grad_l1_loss(const tsr_grad_call *call);
tsr_status tsr__grad_bce_with_logits(const tsr_grad_call *call);

/* linalg_grad.c */
tsr_status tsr__grad_matmul(const tsr_grad_call *call); /* and of bmm */
tsr_status tsr__grad_linear(const tsr_grad_call *call);
tsr_status tsr__grad_dot(const tsr_grad_call *call);
tsr_status tsr__grad_outer(const tsr_grad_call *call);
tsr_status tsr__grad_einsum(const tsr_grad_call *call);

/* attention_grad.c */
tsr_status tsr__grad_attention(const tsr_grad_call *call);

/* index_grad.c */
tsr_status tsr__grad_gather(const tsr_grad_call *call);
tsr_status tsr__grad_index_select(const tsr_grad_call *call);
tsr_status tsr__grad_take(const tsr_grad_call *call);
tsr_status tsr__grad_scatter(const tsr_grad_call *call);
tsr_status tsr__grad_scatter_add(const tsr_grad_call *call);
tsr_status tsr__grad_index_add(const tsr_grad_call *call);
tsr_status tsr__grad_sort(const tsr_grad_call *call);
tsr_status tsr__grad_topk(const tsr_grad_call *call);

/* random_grad.c */
tsr_status tsr__grad_dropout(const tsr_grad_call *call);

/* lookup_grad.c */
tsr_status tsr__grad_embedding(const tsr_grad_call *call);
tsr_status tsr__grad_bag_sum(const tsr_grad_call *call);
tsr_status tsr__grad_bag_mean(const tsr_grad_call *call);
tsr_status tsr__grad_bag_max(const tsr_grad_call *call);

/* conv_grad.c */
tsr_status tsr__grad_conv(const tsr_grad_call *call);

/* pooling_grad.c */
tsr_status tsr__grad_max_pool(const tsr_grad_call *call);
tsr_status tsr__grad_avg_pool(const tsr_grad_call *call);

/* resample_grad.c */
tsr_status tsr__grad_adaptive_avg_pool(const tsr_grad_call *call);
tsr_status tsr__grad_upsample_nearest(const tsr_grad_call *call);
tsr_status tsr__grad_upsample_linear(const tsr_grad_call *call);

/* norm_grad.c */
tsr_status tsr__grad_batch_norm(const tsr_grad_call *call);
tsr_status tsr__grad_group_norm(const tsr_grad_call *call); /* and of instance_norm */

#endif
