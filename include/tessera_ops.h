/* SPDX-License-Identifier: Apache-2.0 */
/* tessera_ops.h - one typed function per op. Each finds the cheapest strategy for the inputs'
   placements, redistributes what it must, computes locally and returns a tensor of the current
   scope; on failure the error tensor (see tessera.h); NULL of no tensor at all, as there is no mesh
   to tell.
   Inputs are on one mesh and of one dtype unless said otherwise. All of them are Collective over
   that mesh.
   Arguments come in this order: inputs, attributes or options, places for further outputs, which
   may be NULL. NAME_backward takes the gradient of the output first, then what NAME was given and
   gave. Where there are gradients of several inputs it returns the status of this call and puts
   each into its own place, *grad_x; NULL: that one is not wanted, and not computed. */
#ifndef TESSERA_OPS_H
#define TESSERA_OPS_H

#include <tessera.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- element by element ---------------------------------------------------------------------- */

/* Shapes broadcast from the last dim. Numbers are rounded to the tensor's dtype. Comparisons give
   bool; cond and mask are bool. For logical ops, nonzero is true. Pass -INFINITY or INFINITY to
   clamp for no bound. Gradients take that of the output and the output y or the input x. */

/* make ops prints pointwise, activation gradients, comparison and selection: */
/* Computes a + b elementwise. Integers wrap. */
TSR_API tsr_tensor *tsr_add(tsr_tensor *a, tsr_tensor *b);
/* Computes a - b elementwise. Integers wrap. */
TSR_API tsr_tensor *tsr_sub(tsr_tensor *a, tsr_tensor *b);
/* Multiplies a and b elementwise. Integers wrap. */
TSR_API tsr_tensor *tsr_mul(tsr_tensor *a, tsr_tensor *b);
/* Computes a / b elementwise. */
TSR_API tsr_tensor *tsr_div(tsr_tensor *a, tsr_tensor *b);
/* Raises a to the power b elementwise. Integers wrap; a negative integer exponent truncates the
   result toward zero, and 0 to it gives 0. */
TSR_API tsr_tensor *tsr_pow(tsr_tensor *a, tsr_tensor *b);
/* Computes floor(a / b) elementwise. Integer division by 0 gives 0. */
TSR_API tsr_tensor *tsr_floor_divide(tsr_tensor *a, tsr_tensor *b);
/* Computes trunc(a / b) elementwise. Integer division by 0 gives 0. */
TSR_API tsr_tensor *tsr_trunc_divide(tsr_tensor *a, tsr_tensor *b);
/* Computes a - b floor(a / b) elementwise, with the sign of b. An integer remainder by 0 is a. */
TSR_API tsr_tensor *tsr_remainder(tsr_tensor *a, tsr_tensor *b);
/* Computes a - b trunc(a / b) elementwise, with the sign of a. An integer remainder by 0 is a. */
TSR_API tsr_tensor *tsr_fmod(tsr_tensor *a, tsr_tensor *b);
/* Takes the elementwise maximum of a and b; NaN propagates. Where they are equal, each gets half of
   the gradient. */
TSR_API tsr_tensor *tsr_maximum(tsr_tensor *a, tsr_tensor *b);
/* Takes the elementwise minimum of a and b; NaN propagates. Where they are equal, each gets half of
   the gradient. */
TSR_API tsr_tensor *tsr_minimum(tsr_tensor *a, tsr_tensor *b);
/* Computes -x. */
TSR_API tsr_tensor *tsr_neg(tsr_tensor *x);
/* Computes the absolute value. */
TSR_API tsr_tensor *tsr_abs(tsr_tensor *x);
/* Returns -1, 0 or 1 by the sign of x; NaN stays NaN. */
TSR_API tsr_tensor *tsr_sign(tsr_tensor *x);
/* Computes max(x, 0); NaN propagates. */
TSR_API tsr_tensor *tsr_relu(tsr_tensor *x);
/* Computes e^x. */
TSR_API tsr_tensor *tsr_exp(tsr_tensor *x);
/* Computes the natural logarithm. */
TSR_API tsr_tensor *tsr_log(tsr_tensor *x);
/* Computes log(1 + x), accurate for small x. */
TSR_API tsr_tensor *tsr_log1p(tsr_tensor *x);
/* Computes the square root. */
TSR_API tsr_tensor *tsr_sqrt(tsr_tensor *x);
/* Computes 1 / sqrt(x). */
TSR_API tsr_tensor *tsr_rsqrt(tsr_tensor *x);
/* Computes 1 / x. */
TSR_API tsr_tensor *tsr_reciprocal(tsr_tensor *x);
/* Computes the hyperbolic tangent. */
TSR_API tsr_tensor *tsr_tanh(tsr_tensor *x);
/* Computes 1 / (1 + e^-x). */
TSR_API tsr_tensor *tsr_sigmoid(tsr_tensor *x);
/* Computes x Phi(x), with the normal CDF Phi; tanh selects the tanh approximation. */
TSR_API tsr_tensor *tsr_gelu(tsr_tensor *x, bool by_tanh);
/* Computes x sigmoid(x). */
TSR_API tsr_tensor *tsr_silu(tsr_tensor *x);
/* Computes x tanh(softplus(x)). */
TSR_API tsr_tensor *tsr_mish(tsr_tensor *x);
/* Computes log(1 + e^x). */
TSR_API tsr_tensor *tsr_softplus(tsr_tensor *x);
/* Computes the sine. */
TSR_API tsr_tensor *tsr_sin(tsr_tensor *x);
/* Computes the cosine. */
TSR_API tsr_tensor *tsr_cos(tsr_tensor *x);
/* Computes the inverse sine, from -pi / 2 to pi / 2; NaN beyond 1. */
TSR_API tsr_tensor *tsr_asin(tsr_tensor *x);
/* Computes the inverse cosine, from 0 to pi; NaN beyond 1. */
TSR_API tsr_tensor *tsr_acos(tsr_tensor *x);
/* Computes the inverse tangent, from -pi / 2 to pi / 2. */
TSR_API tsr_tensor *tsr_atan(tsr_tensor *x);
/* Rounds down to an integer. */
TSR_API tsr_tensor *tsr_floor(tsr_tensor *x);
/* Rounds up to an integer. */
TSR_API tsr_tensor *tsr_ceil(tsr_tensor *x);
/* Rounds to the nearest integer, half to even. */
TSR_API tsr_tensor *tsr_round(tsr_tensor *x);
/* Computes the error function. */
TSR_API tsr_tensor *tsr_erf(tsr_tensor *x);
/* Computes x where x > 0, else negative_slope x. */
TSR_API tsr_tensor *tsr_leaky_relu(tsr_tensor *x, double negative_slope);
/* Computes x where x > 0, else alpha (e^x - 1). */
TSR_API tsr_tensor *tsr_elu(tsr_tensor *x, double alpha);
/* Computes x mul + add. */
TSR_API tsr_tensor *tsr_affine(tsr_tensor *x, double mul, double add);
/* Clamps x to [min, max]; either bound may be left out. NaN stays NaN, and max wins where min >
   max. */
TSR_API tsr_tensor *tsr_clamp(tsr_tensor *x, double min, double max);
/* Returns a tensor filled with value, with the shape, dtype and placements of x. */
TSR_API tsr_tensor *tsr_fill(tsr_tensor *x, double value);
/* Replaces x by value where mask is true. mask is bool. */
TSR_API tsr_tensor *tsr_masked_fill(tsr_tensor *x, tsr_tensor *mask, double value);
/* Computes x + value a b elementwise. */
TSR_API tsr_tensor *tsr_addcmul(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value);
/* Computes x + value a / b elementwise. */
TSR_API tsr_tensor *tsr_addcdiv(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value);
/* Computes the gradient of relu's input from grad and the output y: 0 where y <= 0, else grad. */
TSR_API tsr_tensor *tsr_relu_backward(tsr_tensor *grad, tsr_tensor *y);
/* Computes the gradient of tanh's input from grad and the output y: grad (1 - y^2). */
TSR_API tsr_tensor *tsr_tanh_backward(tsr_tensor *grad, tsr_tensor *y);
/* Computes the gradient of sigmoid's input from grad and the output y: grad y (1 - y). */
TSR_API tsr_tensor *tsr_sigmoid_backward(tsr_tensor *grad, tsr_tensor *y);
/* Computes the gradient of silu's input x from grad. */
TSR_API tsr_tensor *tsr_silu_backward(tsr_tensor *grad, tsr_tensor *x);
/* Computes the gradient of mish's input x from grad. */
TSR_API tsr_tensor *tsr_mish_backward(tsr_tensor *grad, tsr_tensor *x);
/* Computes the gradient of gelu's input x from grad; tanh as in gelu. */
TSR_API tsr_tensor *tsr_gelu_backward(tsr_tensor *grad, tsr_tensor *x, bool by_tanh);
/* True where a == b. */
TSR_API tsr_tensor *tsr_eq(tsr_tensor *a, tsr_tensor *b);
/* True where a != b. */
TSR_API tsr_tensor *tsr_ne(tsr_tensor *a, tsr_tensor *b);
/* True where a < b. */
TSR_API tsr_tensor *tsr_lt(tsr_tensor *a, tsr_tensor *b);
/* True where a <= b. */
TSR_API tsr_tensor *tsr_le(tsr_tensor *a, tsr_tensor *b);
/* True where a > b. */
TSR_API tsr_tensor *tsr_gt(tsr_tensor *a, tsr_tensor *b);
/* True where a >= b. */
TSR_API tsr_tensor *tsr_ge(tsr_tensor *a, tsr_tensor *b);
/* True where both a and b are nonzero. */
TSR_API tsr_tensor *tsr_logical_and(tsr_tensor *a, tsr_tensor *b);
/* True where a or b is nonzero. */
TSR_API tsr_tensor *tsr_logical_or(tsr_tensor *a, tsr_tensor *b);
/* True where x is zero. */
TSR_API tsr_tensor *tsr_logical_not(tsr_tensor *x);
/* Selects a where cond is true, else b. cond is bool. */
TSR_API tsr_tensor *tsr_where(tsr_tensor *cond, tsr_tensor *a, tsr_tensor *b);
/* Converts x to another dtype. Float-to-integer conversion truncates toward zero; out-of-range
   values saturate. */
TSR_API tsr_tensor *tsr_cast(tsr_tensor *x, tsr_dtype dtype);
/* end of what is printed */

/* Linear interpolation, a + weight (b - a). */
TSR_API tsr_tensor *tsr_lerp(tsr_tensor *a, tsr_tensor *b, tsr_tensor *weight);
TSR_API tsr_tensor *tsr_lerp_by(tsr_tensor *a, tsr_tensor *b, double weight);

/* In place: the same, written into the first input, which keeps its placements; they return it. */

/* make ops prints in place: */
TSR_API tsr_tensor *tsr_add_inplace(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_sub_inplace(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_mul_inplace(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_div_inplace(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_pow_inplace(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_floor_divide_inplace(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_trunc_divide_inplace(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_remainder_inplace(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_fmod_inplace(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_maximum_inplace(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_minimum_inplace(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_neg_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_abs_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_sign_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_relu_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_exp_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_log_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_log1p_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_sqrt_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_rsqrt_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_reciprocal_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_tanh_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_sigmoid_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_gelu_inplace(tsr_tensor *x, bool by_tanh);
TSR_API tsr_tensor *tsr_silu_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_mish_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_softplus_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_sin_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_cos_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_asin_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_acos_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_atan_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_floor_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_ceil_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_round_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_erf_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_leaky_relu_inplace(tsr_tensor *x, double negative_slope);
TSR_API tsr_tensor *tsr_elu_inplace(tsr_tensor *x, double alpha);
TSR_API tsr_tensor *tsr_affine_inplace(tsr_tensor *x, double mul, double add);
TSR_API tsr_tensor *tsr_clamp_inplace(tsr_tensor *x, double min, double max);
TSR_API tsr_tensor *tsr_fill_inplace(tsr_tensor *x, double value);
TSR_API tsr_tensor *tsr_masked_fill_inplace(tsr_tensor *x, tsr_tensor *mask, double value);
TSR_API tsr_tensor *tsr_addcmul_inplace(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value);
TSR_API tsr_tensor *tsr_addcdiv_inplace(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value);
/* end of what is printed */

TSR_API tsr_tensor *tsr_lerp_inplace(tsr_tensor *a, tsr_tensor *b, tsr_tensor *weight);
TSR_API tsr_tensor *tsr_lerp_by_inplace(tsr_tensor *a, tsr_tensor *b, double weight);

/* Any op on each of n tensors, or of n pairs and so on: in[k] is the list of its k-th inputs, attrs
   are texts as for tsr_op_run, read once. tsr_foreach("addcdiv_inplace", (tsr_tensor *const *[]){x,
   m, v}, 3, n, (const char *[]){"value=-0.1"}, 1, x); out may be one of the lists. */
TSR_API tsr_status tsr_foreach(const char *op, tsr_tensor *const *const *in, int n_in, int n,
                               const char *const *attrs, int n_attrs, tsr_tensor **out);

/* ---- reductions, scans and softmax ----------------------------------------------------------- */

/* Over the listed dims (negative: from the end), or over all dims if the list is empty; with
   keepdim they stay, of size 1. A sharded dim that is reduced is never gathered: ranks exchange the
   results of their shards. dim NULL of argmax and argmin: over all elements, row-major. */

/* make ops prints reductions, statistics, scans, softmax: */
/* Sums over dims (default: all). Integers wrap in their own dtype. */
TSR_API tsr_tensor *tsr_sum(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);
/* Averages over dims (default: all). The mean of no elements is NaN. */
TSR_API tsr_tensor *tsr_mean(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);
/* Takes the maximum over dims (default: all). Equal maxima share the gradient equally. */
TSR_API tsr_tensor *tsr_max(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);
/* Takes the minimum over dims (default: all). Equal minima share the gradient equally. */
TSR_API tsr_tensor *tsr_min(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);
/* Multiplies over dims (default: all). Integers wrap in their own dtype. */
TSR_API tsr_tensor *tsr_prod(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);
/* Computes the p-norm over dims (default: all); p is 1, 2 or inf. */
TSR_API tsr_tensor *tsr_norm(tsr_tensor *x, double p, const int *dims, int n_dims, bool keepdim);
/* Computes the variance over dims (default: all), divided by the number of elements minus
   correction. */
TSR_API tsr_tensor *tsr_var(tsr_tensor *x, const int *dims, int n_dims, int64_t correction,
                            bool keepdim);
/* Computes the standard deviation over dims (default: all): the square root of var. */
TSR_API tsr_tensor *tsr_std(tsr_tensor *x, const int *dims, int n_dims, int64_t correction,
                            bool keepdim);
/* Computes log(sum(exp(x))) over dims (default: all) without overflow. */
TSR_API tsr_tensor *tsr_logsumexp(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);
/* True where any element over dims (default: all) is nonzero. The result is bool. */
TSR_API tsr_tensor *tsr_any(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);
/* True where all elements over dims (default: all) are nonzero. The result is bool. */
TSR_API tsr_tensor *tsr_all(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);
/* Returns the index of the maximum along dim as i64, or in the flattened tensor. The first of equal
   elements wins; NaN counts as the maximum. */
TSR_API tsr_tensor *tsr_argmax(tsr_tensor *x, const int *dim, bool keepdim);
/* Returns the index of the minimum along dim as i64, or in the flattened tensor. The first of equal
   elements wins; NaN counts as the minimum. */
TSR_API tsr_tensor *tsr_argmin(tsr_tensor *x, const int *dim, bool keepdim);
/* Computes the cumulative sum along dim; reverse sums from the end. */
TSR_API tsr_tensor *tsr_cumsum(tsr_tensor *x, int dim, bool reverse);
/* Computes the cumulative product along dim; reverse multiplies from the end. */
TSR_API tsr_tensor *tsr_cumprod(tsr_tensor *x, int dim, bool reverse);
/* Computes softmax along dim. */
TSR_API tsr_tensor *tsr_softmax(tsr_tensor *x, int dim);
/* Computes the logarithm of softmax along dim. */
TSR_API tsr_tensor *tsr_log_softmax(tsr_tensor *x, int dim);
/* Computes the gradient of softmax's input from grad and the output y. */
TSR_API tsr_tensor *tsr_softmax_backward(tsr_tensor *grad, tsr_tensor *y, int dim);
/* Computes the gradient of log_softmax's input from grad and the output y. */
TSR_API tsr_tensor *tsr_log_softmax_backward(tsr_tensor *grad, tsr_tensor *y, int dim);
/* end of what is printed */

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Negative dims count from the end. Lists of sizes and dims have at most TSR_MAX_DIM numbers. */

/* Concatenates along dim; stacks along a new dim, of which each x is one index. n is at least 1. */
TSR_API tsr_tensor *tsr_cat(tsr_tensor *const *x, int n, int dim);
TSR_API tsr_tensor *tsr_stack(tsr_tensor *const *x, int n, int dim);

/* make ops prints permutation, shapes, repeating, slicing, padding, splitting: */
/* Swaps two dims. */
TSR_API tsr_tensor *tsr_transpose(tsr_tensor *x, int dim0, int dim1);
/* Permutes the dims of x into the given order. */
TSR_API tsr_tensor *tsr_permute(tsr_tensor *x, const int *dims, int n_dims);
/* Reverses the order of elements along dims (default: all). */
TSR_API tsr_tensor *tsr_flip(tsr_tensor *x, const int *dims, int n_dims);
/* Rolls elements by shifts along dims, wrapping around; without dims, along the flattened tensor.
   Positive shifts move toward the end. */
TSR_API tsr_tensor *tsr_roll(tsr_tensor *x, const int64_t *shifts, int n_shifts, const int *dims,
                             int n_dims);
/* Reshapes x in row-major order; one size may be -1. */
TSR_API tsr_tensor *tsr_reshape(tsr_tensor *x, const int64_t *shape, int n_shape);
/* Removes those of the given dims that have size 1, or all dims of size 1. */
TSR_API tsr_tensor *tsr_squeeze(tsr_tensor *x, const int *dims, int n_dims);
/* Inserts dims of size 1 at the given positions of the output. */
TSR_API tsr_tensor *tsr_unsqueeze(tsr_tensor *x, const int *dims, int n_dims);
/* Flattens dims start to end, both included, into one. */
TSR_API tsr_tensor *tsr_flatten(tsr_tensor *x, int start, int end);
/* Broadcasts dims of size 1 to the given sizes and adds leading dims; -1 keeps a size. */
TSR_API tsr_tensor *tsr_expand(tsr_tensor *x, const int64_t *sizes, int n_sizes);
/* Repeats x counts[i] times along each of its last dims; more counts than dims add leading dims. */
TSR_API tsr_tensor *tsr_tile(tsr_tensor *x, const int64_t *counts, int n_counts);
/* Slices x[start:stop:step] along dim. Negative indices count from the end. */
TSR_API tsr_tensor *tsr_slice(tsr_tensor *x, int dim, int64_t start, int64_t stop, int64_t step);
/* Slices x[start:start+length] along dim. A negative start counts from the end. */
TSR_API tsr_tensor *tsr_narrow(tsr_tensor *x, int dim, int64_t start, int64_t length);
/* Selects one index of dim and removes dim. A negative index counts from the end. */
TSR_API tsr_tensor *tsr_select(tsr_tensor *x, int dim, int64_t index);
/* Returns the sliding windows of the given size and step along dim, as a new last dim. */
TSR_API tsr_tensor *tsr_unfold(tsr_tensor *x, int dim, int64_t size, int64_t step);
/* Returns the diagonal elements [i, i + offset] of dim1 and dim2, as a new last dim in their
   place. */
TSR_API tsr_tensor *tsr_diagonal(tsr_tensor *x, int64_t offset, int dim1, int dim2);
/* Pads x with value, before[d] and after[d] elements along dim d. Negative padding crops. */
TSR_API tsr_tensor *tsr_pad(tsr_tensor *x, const int64_t *before, int n_before,
                            const int64_t *after, int n_after, double value);
/* Pads x by reflection, without repeating the edge element; before[d] and after[d] elements along
   dim d. */
TSR_API tsr_tensor *tsr_pad_reflect(tsr_tensor *x, const int64_t *before, int n_before,
                                    const int64_t *after, int n_after);
/* Pads x by repeating the edge element; before[d] and after[d] elements along dim d. */
TSR_API tsr_tensor *tsr_pad_replicate(tsr_tensor *x, const int64_t *before, int n_before,
                                      const int64_t *after, int n_after);
/* Pads x by wrapping around; before[d] and after[d] elements along dim d. */
TSR_API tsr_tensor *tsr_pad_circular(tsr_tensor *x, const int64_t *before, int n_before,
                                     const int64_t *after, int n_after);
/* Computes the gradient of slice's input, whose dim has the given length: grad at the sliced
   positions, else 0. */
TSR_API tsr_tensor *tsr_slice_backward(tsr_tensor *grad, int dim, int64_t start, int64_t step,
                                       int64_t length);
/* Computes the gradient of unfold's input, whose dim has the given length; overlapping windows add
   up. */
TSR_API tsr_tensor *tsr_unfold_backward(tsr_tensor *grad, int dim, int64_t size, int64_t step,
                                        int64_t length);
/* Keeps the lower triangle of the last two dims, where j - i <= diagonal, and zeroes the rest. */
TSR_API tsr_tensor *tsr_tril(tsr_tensor *x, int64_t diagonal);
/* Keeps the upper triangle of the last two dims, where j - i >= diagonal, and zeroes the rest. */
TSR_API tsr_tensor *tsr_triu(tsr_tensor *x, int64_t diagonal);
/* Rearranges [n, c, h, w] to [n, c / block^2, h block, w block]. Channels are [block, block, c], or
   with crd [c, block, block] as in PyTorch's pixel_shuffle. */
TSR_API tsr_tensor *tsr_depth_to_space(tsr_tensor *x, int64_t block, bool crd);
/* Rearranges [n, c, h block, w block] to [n, c block^2, h, w]. Channels are [block, block, c], or
   with crd [c, block, block] as in PyTorch's pixel_unshuffle. */
TSR_API tsr_tensor *tsr_space_to_depth(tsr_tensor *x, int64_t block, bool crd);
/* end of what is printed */

/* n parts along dim, into out: of these sizes, which add up to dim's; or of equal size, the last
   one smaller, and NULL where fewer parts are enough. */
TSR_API tsr_status tsr_split(tsr_tensor *x, int dim, const int64_t *sizes, int n, tsr_tensor **out);
TSR_API tsr_status tsr_chunk(tsr_tensor *x, int dim, int n, tsr_tensor **out);

/* ---- linear algebra -------------------------------------------------------------------------- */

/* make ops prints linear algebra: */
/* Multiplies matrices: c[...,m,n] = sum over k of a[...,m,k] b[...,k,n], plus bias[n] if given.
   Leading dims broadcast. */
TSR_API tsr_tensor *tsr_matmul(tsr_tensor *a, tsr_tensor *b, tsr_tensor *bias);
/* Multiplies batches of matrices: c[batch,m,n] = sum over k of a[batch,m,k] b[batch,k,n]. */
TSR_API tsr_tensor *tsr_bmm(tsr_tensor *a, tsr_tensor *b);
/* Applies a linear layer: y[...,n] = sum over k of x[...,k] weight[n,k], plus bias[n] if given. */
TSR_API tsr_tensor *tsr_linear(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias);
/* Computes the dot product of two vectors: the sum of a[i] b[i]. */
TSR_API tsr_tensor *tsr_dot(tsr_tensor *a, tsr_tensor *b);
/* Computes the outer product of two vectors: c[m,n] = a[m] b[n]. */
TSR_API tsr_tensor *tsr_outer(tsr_tensor *a, tsr_tensor *b);
/* end of what is printed */

/* The product of 1 to 4 tensors, a letter for each of their axes: "bij,bjk->bik". Axes that the
   output lacks are summed; a letter twice in one operand is its diagonal; ... stands for dims
   without a letter, which broadcast. Without -> the output has the dims of ... and then the letters
   that occur once, in the order of the alphabet. At most 63 characters. */
TSR_API tsr_tensor *tsr_einsum(const char *equation, tsr_tensor *const *in, int n);

typedef struct tsr_attention_opts {
    size_t size; /* of this struct */
    bool causal; /* row i sees keys 0 to i only */
    bool has_scale, has_group;
    double scale;  /* of the scores; without it 1 / sqrt(dim) */
    int64_t group; /* head h of queries reads head h / group of keys; without it as they divide */
} tsr_attention_opts;

static inline tsr_attention_opts tsr_attention_opts_default(void)
{
    tsr_attention_opts opts = {sizeof(tsr_attention_opts), false, false, false, 0, 0};

    return opts;
}

/* softmax(scale q k^T + mask) v for q [batch, heads, rows, dim], k [batch, key heads, keys, dim]
   and v [batch, key heads, keys, width]: [batch, heads, rows, width]. mask (may be NULL) broadcasts
   to [batch, heads, rows, keys]: of type bool it says which keys a row sees, else it is added. A
   row that sees nothing gives zeros; hide keys by bool or -infinity, for of a row that large finite
   numbers hide altogether the gradient is not exact. *lse (may be NULL) gets the logarithm of each
   row's sum, [batch, heads, rows], which the gradient needs; f32 where q is f16 or bf16. Scores are
   never stored as a whole. All dims shard but `dim`; of sharded keys that stay where they are the
   output is a pending sum. */
TSR_API tsr_tensor *tsr_attention(tsr_tensor *q, tsr_tensor *k, tsr_tensor *v, tsr_tensor *mask,
                                  const tsr_attention_opts *opts, tsr_tensor **lse);
/* Its gradients from those of the outputs; grad_lse may be NULL: nothing depends on lse. Those of
   q, k and v are computed together, whichever are wanted. */
TSR_API tsr_status tsr_attention_backward(tsr_tensor *grad, tsr_tensor *q, tsr_tensor *k,
                                          tsr_tensor *v, tsr_tensor *y, tsr_tensor *lse,
                                          tsr_tensor *grad_lse, tsr_tensor *mask,
                                          const tsr_attention_opts *opts, tsr_tensor **grad_q,
                                          tsr_tensor **grad_k, tsr_tensor **grad_v,
                                          tsr_tensor **grad_mask);

/* ---- convolution ----------------------------------------------------------------------------- */

enum { TSR_MAX_SPATIAL = 3 }; /* spatial dims, at most */

/* Per spatial dim. Stride, dilation and groups are 1 by default, all else 0. */
typedef struct tsr_conv_opts {
    size_t size; /* of this struct */
    int64_t stride[TSR_MAX_SPATIAL], dilation[TSR_MAX_SPATIAL];
    int64_t padding[TSR_MAX_SPATIAL];        /* zeros before and behind the dim */
    int64_t padding_end[TSR_MAX_SPATIAL];    /* added to it behind the dim; may be negative */
    int64_t output_padding[TSR_MAX_SPATIAL]; /* transposed only: added to the output's end */
    int64_t groups;
    bool transposed;
} tsr_conv_opts;

static inline tsr_conv_opts tsr_conv_opts_default(void)
{
    tsr_conv_opts opts = {
        sizeof(tsr_conv_opts), {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 1, false};

    return opts;
}

/* x [batch, in, space...] with 1 to 3 spatial dims, weight [out, in / groups, kernel...], bias
   [out] or NULL -> [batch, out, space...]. Transposed: weight [in, out / groups, kernel...]. Batch,
   channels and space of x may be sharded; along space only halos are exchanged. */
TSR_API tsr_tensor *tsr_conv(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias,
                             const tsr_conv_opts *opts);
/* Its gradients from that of the output. */
TSR_API tsr_status tsr_conv_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *weight,
                                     const tsr_conv_opts *opts, tsr_tensor **grad_x,
                                     tsr_tensor **grad_weight, tsr_tensor **grad_bias);
/* Single ones: of an input whose space has these sizes, and of a weight whose space has these. */
TSR_API tsr_tensor *tsr_conv_grad_input(tsr_tensor *grad, tsr_tensor *weight, const int64_t *input,
                                        const tsr_conv_opts *opts);
TSR_API tsr_tensor *tsr_conv_grad_weight(tsr_tensor *grad, tsr_tensor *x, const int64_t *kernel,
                                         const tsr_conv_opts *opts);

/* ---- pooling --------------------------------------------------------------------------------- */

/* Per spatial dim. Kernel and dilation are 1 by default, padding 0. */
typedef struct tsr_pool_opts {
    size_t size; /* of this struct */
    bool has_stride;
    int64_t kernel[TSR_MAX_SPATIAL], dilation[TSR_MAX_SPATIAL];
    int64_t stride[TSR_MAX_SPATIAL];  /* without it as the kernel */
    int64_t padding[TSR_MAX_SPATIAL]; /* before and behind the dim, at most half of the kernel */
    int64_t padding_end[TSR_MAX_SPATIAL]; /* and so much more behind it */
    bool ceil;                            /* sizes are rounded up */
    bool exclude_padding;                 /* averages: padding is left out, not counted as zeros */
} tsr_pool_opts;

static inline tsr_pool_opts tsr_pool_opts_default(void)
{
    tsr_pool_opts opts = {sizeof(tsr_pool_opts),
                          false,
                          {1, 1, 1},
                          {1, 1, 1},
                          {1, 1, 1},
                          {0, 0, 0},
                          {0, 0, 0},
                          false,
                          false};

    return opts;
}

/* x [batch, channels, space...]; as for convolution, space may be sharded. *index (may be NULL)
   gets where each maximum is in its plane of space, of equal ones the first. */
TSR_API tsr_tensor *tsr_max_pool(tsr_tensor *x, const tsr_pool_opts *opts, tsr_tensor **index);
TSR_API tsr_tensor *tsr_avg_pool(tsr_tensor *x, const tsr_pool_opts *opts);
/* The gradient of an input whose space has these sizes. */
TSR_API tsr_tensor *tsr_max_pool_backward(tsr_tensor *grad, tsr_tensor *index, const int64_t *input,
                                          const tsr_pool_opts *opts);
TSR_API tsr_tensor *tsr_avg_pool_backward(tsr_tensor *grad, const int64_t *input,
                                          const tsr_pool_opts *opts);

/* ---- losses ---------------------------------------------------------------------------------- */

/* By name, attribute reduction of the rows: mean, sum or none. */
typedef enum tsr_loss_reduction {
    TSR_LOSS_MEAN = 0,
    TSR_LOSS_SUM = 1,
    TSR_LOSS_NONE = 2 /* the loss of each */
} tsr_loss_reduction;

typedef struct tsr_class_opts {
    size_t size; /* of this struct */
    tsr_loss_reduction reduction;
    int64_t ignore_index;   /* targets of this value do not count, a class or not; default -100 */
    double label_smoothing; /* 0 to 1: what of the target goes to all classes alike */
} tsr_class_opts;

static inline tsr_class_opts tsr_class_opts_default(void)
{
    tsr_class_opts opts = {sizeof(tsr_class_opts), TSR_LOSS_MEAN, -100, 0};

    return opts;
}

/* Minus the logarithm of softmax at the target: x is [..., classes], target i32 or i64 [...],
   weight [classes] or NULL. A mean is divided by the weights of the targets that count. *lse (may
   be NULL) is the logarithm of each row's sum of exponentials, in f64, and *divisor what a mean was
   divided by, NULL of others: the gradient needs them. A target that is no class is an error. Where
   classes are sharded only a few numbers of each row travel. */
TSR_API tsr_tensor *tsr_cross_entropy(tsr_tensor *x, tsr_tensor *target, tsr_tensor *weight,
                                      const tsr_class_opts *opts, tsr_tensor **lse,
                                      tsr_tensor **divisor);
/* The same of log-probabilities x. */
TSR_API tsr_tensor *tsr_nll_loss(tsr_tensor *x, tsr_tensor *target, tsr_tensor *weight,
                                 const tsr_class_opts *opts, tsr_tensor **divisor);
/* The gradient of x. */
TSR_API tsr_tensor *tsr_cross_entropy_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                               tsr_tensor *weight, tsr_tensor *lse,
                                               tsr_tensor *divisor, const tsr_class_opts *opts);
TSR_API tsr_tensor *tsr_nll_loss_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                          tsr_tensor *weight, tsr_tensor *divisor,
                                          const tsr_class_opts *opts);

/* make ops prints regression and binary losses: */
/* Computes the squared error (x - target)^2, reduced by mean, sum or none. */
TSR_API tsr_tensor *tsr_mse_loss(tsr_tensor *x, tsr_tensor *target, tsr_loss_reduction reduction);
/* Computes the gradient of mse_loss's x; that of target is its negative. */
TSR_API tsr_tensor *tsr_mse_loss_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                          tsr_loss_reduction reduction);
/* Computes the absolute error |x - target|, reduced by mean, sum or none. */
TSR_API tsr_tensor *tsr_l1_loss(tsr_tensor *x, tsr_tensor *target, tsr_loss_reduction reduction);
/* Computes the gradient of l1_loss's x; that of target is its negative. */
TSR_API tsr_tensor *tsr_l1_loss_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                         tsr_loss_reduction reduction);
/* Computes the binary cross entropy of logits, weight ((1 - target) x + (1 + (pos_weight - 1)
   target) log(1 + e^-x)), reduced by mean, sum or none. weight and pos_weight broadcast to x. */
TSR_API tsr_tensor *tsr_bce_with_logits(tsr_tensor *x, tsr_tensor *target, tsr_tensor *weight,
                                        tsr_tensor *pos_weight, tsr_loss_reduction reduction);
/* end of what is printed */

/* The gradients, all of x's shape; at least one must be wanted. */
TSR_API tsr_status tsr_bce_with_logits_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                                tsr_tensor *weight, tsr_tensor *pos_weight,
                                                tsr_loss_reduction reduction, tsr_tensor **grad_x,
                                                tsr_tensor **grad_target, tsr_tensor **grad_weight,
                                                tsr_tensor **grad_pos_weight);

/* ---- normalisation --------------------------------------------------------------------------- */

/* x is [samples, channels, space...] with any number of space dims, 0 included. weight and bias are
   [channels] and may be NULL: 1 and 0. Vectors are of x's dtype, or f32 where that is f16 or bf16;
   statistics come as f32 there. */
typedef struct tsr_norm_opts {
    size_t size;     /* of this struct */
    double eps;      /* added to variances; default 1e-5 */
    double momentum; /* of the running statistics, 0 to 1; default 0.1 */
    bool inference;  /* batch_norm: by the running statistics, which stay as they are */
} tsr_norm_opts;

static inline tsr_norm_opts tsr_norm_opts_default(void)
{
    tsr_norm_opts opts = {sizeof(tsr_norm_opts), 1e-5, 0.1, false};

    return opts;
}

/* y = (x - mean) * rstd * weight + bias, with the mean of each channel over samples and space and
   rstd = 1 / sqrt(biased variance + eps). In training the running statistics, [channels] each or
   NULL, are updated in place: (1 - momentum) old + momentum new, with the unbiased variance; x
   needs more than one value per channel, and an empty x updates nothing. *mean and *rstd (may be
   NULL), [channels] each, are what the gradient needs; in inference *mean is running_mean. */
TSR_API tsr_tensor *tsr_batch_norm(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias,
                                   tsr_tensor *running_mean, tsr_tensor *running_var,
                                   const tsr_norm_opts *opts, tsr_tensor **mean, tsr_tensor **rstd);
/* The same with statistics of each sample's groups of channels: mean and rstd are [samples,
   groups]. */
TSR_API tsr_tensor *tsr_group_norm(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias, int groups,
                                   const tsr_norm_opts *opts, tsr_tensor **mean, tsr_tensor **rstd);
/* A group for every channel, each of more than one value; its gradient is that of group_norm with
   as many groups as channels. */
TSR_API tsr_tensor *tsr_instance_norm(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias,
                                      const tsr_norm_opts *opts, tsr_tensor **mean,
                                      tsr_tensor **rstd);
/* The last n_dims dims of x less their mean, by their standard deviation (eps, 1e-5 as a rule, is
   added to the variance), times weight, plus bias, which are of the shape of these dims and may be
   NULL. *mean and *rstd (may be NULL) are what the gradient needs, of size 1 along these dims. */
TSR_API tsr_tensor *tsr_layer_norm(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias, int n_dims,
                                   double eps, tsr_tensor **mean, tsr_tensor **rstd);
/* By the root of the mean square instead: there is no mean and no bias. */
TSR_API tsr_tensor *tsr_rms_norm(tsr_tensor *x, tsr_tensor *weight, int n_dims, double eps,
                                 tsr_tensor **rstd);
TSR_API tsr_status tsr_layer_norm_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *weight,
                                           tsr_tensor *mean, tsr_tensor *rstd, int n_dims,
                                           tsr_tensor **grad_x, tsr_tensor **grad_weight,
                                           tsr_tensor **grad_bias);
TSR_API tsr_status tsr_rms_norm_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *weight,
                                         tsr_tensor *rstd, int n_dims, tsr_tensor **grad_x,
                                         tsr_tensor **grad_weight);
/* Gradients from that of y, at least one must be wanted; of the options only `inference` counts. */
TSR_API tsr_status tsr_batch_norm_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *weight,
                                           tsr_tensor *mean, tsr_tensor *rstd,
                                           const tsr_norm_opts *opts, tsr_tensor **grad_x,
                                           tsr_tensor **grad_weight, tsr_tensor **grad_bias);
TSR_API tsr_status tsr_group_norm_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *weight,
                                           tsr_tensor *mean, tsr_tensor *rstd, int groups,
                                           tsr_tensor **grad_x, tsr_tensor **grad_weight,
                                           tsr_tensor **grad_bias);
/* (1 - momentum) running + momentum new into running; returns that. */
TSR_API tsr_tensor *tsr_running_update(tsr_tensor *running, tsr_tensor *new_values,
                                       double momentum);

/* Space in other sizes, one number per spatial dim: means of pieces, or interpolation. size 1 in
   every dim is a global pool; the mean over those dims is the same and gathers nothing. */
TSR_API tsr_tensor *tsr_adaptive_avg_pool(tsr_tensor *x, const int64_t *size);
typedef enum tsr_upsample_mode {
    TSR_UPSAMPLE_NEAREST = 0,
    TSR_UPSAMPLE_LINEAR = 1,        /* along every spatial dim: bilinear, trilinear */
    TSR_UPSAMPLE_LINEAR_CORNERS = 2 /* the same, corners fall on corners */
} tsr_upsample_mode;
TSR_API tsr_tensor *tsr_upsample(tsr_tensor *x, const int64_t *size, tsr_upsample_mode mode);
/* The gradients of inputs whose space has these sizes. */
TSR_API tsr_tensor *tsr_adaptive_avg_pool_backward(tsr_tensor *grad, const int64_t *input);
TSR_API tsr_tensor *tsr_upsample_backward(tsr_tensor *grad, const int64_t *input,
                                          tsr_upsample_mode mode);

/* ---- by indices ------------------------------------------------------------------------------ */

/* Indices are i32 or i64 and count from 0. One that is out of range is an error on every rank,
   which names it and its place. */

/* *index (may be NULL) gets the positions, as i64. */

/* make ops prints indexing, sorting: */
/* Gathers elements along dim: for dim 1, out[i][j][k] = x[i][index[i][j][k]][k]. The index has as
   many dims as x and is not larger than x in the other dims. */
TSR_API tsr_tensor *tsr_gather(tsr_tensor *x, int dim, tsr_tensor *index);
/* Selects the slices of x along dim that a 1-D index lists. */
TSR_API tsr_tensor *tsr_index_select(tsr_tensor *x, int dim, tsr_tensor *index);
/* Takes elements of x, flattened in row-major order, at indices of any shape. */
TSR_API tsr_tensor *tsr_take(tsr_tensor *x, tsr_tensor *index);
/* Writes src into a copy of x along dim: for dim 1, out[i][index[i][j][k]][k] = src[i][j][k]. If
   indices repeat, the last write along dim wins. src is at least as large as the index. */
TSR_API tsr_tensor *tsr_scatter(tsr_tensor *x, int dim, tsr_tensor *index, tsr_tensor *src);
/* Adds src to a copy of x along dim: for dim 1, out[i][index[i][j][k]][k] += src[i][j][k]. */
TSR_API tsr_tensor *tsr_scatter_add(tsr_tensor *x, int dim, tsr_tensor *index, tsr_tensor *src);
/* Adds slices of src to a copy of x at the positions along dim that a 1-D index lists. */
TSR_API tsr_tensor *tsr_index_add(tsr_tensor *x, int dim, tsr_tensor *index, tsr_tensor *src);
/* Computes the gradient of scatter's src in the shape of the index; overwritten elements get 0. */
TSR_API tsr_tensor *tsr_scatter_backward(tsr_tensor *grad, int dim, tsr_tensor *index);
/* Encodes each id as a vector of the given number of classes: 1 at the id, 0 elsewhere. */
TSR_API tsr_tensor *tsr_one_hot(tsr_tensor *ids, int64_t classes, tsr_dtype dtype);
/* Sorts the elements along dim, and returns their original indices. Always stable; NaN is greater
   than any number. */
TSR_API tsr_tensor *tsr_sort(tsr_tensor *x, int dim, bool descending, tsr_tensor **index);
/* Returns the k largest elements along dim, or the smallest, and their indices. Always sorted; the
   first of equal elements comes first. Across shards, only each rank's best k elements are
   communicated. */
TSR_API tsr_tensor *tsr_topk(tsr_tensor *x, int64_t k, int dim, bool largest, tsr_tensor **index);
/* end of what is printed */

/* ---- made by formulas ------------------------------------------------------------------------ */

/* Tensors of a spec, "f32[1000,64]@[S(0),R]", as tsr_zeros makes them; tsr_full and tsr_arange are
   in tessera.h. */
/* Equal steps from start to stop, both included, in row-major order. */
TSR_API tsr_tensor *tsr_linspace(tsr_mesh *mesh, const char *spec, double start, double stop);
/* Ones on the diagonal of the last two dims. */
TSR_API tsr_tensor *tsr_eye(tsr_mesh *mesh, const char *spec);

/* Random numbers. Each element has those of its place in the whole tensor (Philox4x32-10, the seed
   is the key): meshes, layouts and worlds do not matter, and the same call gives the same. Calls
   with one seed give numbers that depend on each other; rows also have an `offset`, which tells
   streams of one seed apart. */
TSR_API tsr_tensor *tsr_uniform(tsr_mesh *mesh, const char *spec, double low, double high,
                                uint64_t seed); /* low to below high */
TSR_API tsr_tensor *tsr_normal(tsr_mesh *mesh, const char *spec, double mean, double std,
                               uint64_t seed);
TSR_API tsr_tensor *tsr_randn(tsr_mesh *mesh, const char *spec, uint64_t seed);
/* 1 with probability p, else 0; of any type. */
TSR_API tsr_tensor *tsr_bernoulli(tsr_mesh *mesh, const char *spec, double p, uint64_t seed);
/* Integers from low to high - 1. */
TSR_API tsr_tensor *tsr_randint(tsr_mesh *mesh, const char *spec, int64_t low, int64_t high,
                                uint64_t seed);
/* 0 to n - 1 in random order, for a list of n. */
TSR_API tsr_tensor *tsr_permutation(tsr_mesh *mesh, const char *spec, uint64_t seed);
/* Each element is 0 with probability p, else divided by 1 - p. No mask is stored: the gradient is
   tsr_dropout of the gradient with the same numbers. */
TSR_API tsr_tensor *tsr_dropout(tsr_tensor *x, double p, uint64_t seed, uint64_t offset);

/* ---- lookups in tables ----------------------------------------------------------------------- */

/* Ids are i32 or i64. An out-of-range id fails on every rank; the message gives the id and its
   position. */
typedef struct tsr_embedding_opts {
    size_t size; /* of this struct */
    bool has_padding_idx;
    int64_t padding_idx;     /* a row that lookups leave out; negative: from the end */
    bool keep_padding;       /* the lookup reads that row all the same; bags and gradients do not */
    bool zero_out_of_range;  /* ids that are no rows give zeros instead of an error */
    bool scale_grad_by_freq; /* gradients are divided by how often a row occurs in all ids */
    bool include_last;       /* the last offset is the end of the last bag */
    bool last;               /* of equal largest values the last one wins, not the first */
} tsr_embedding_opts;

static inline tsr_embedding_opts tsr_embedding_opts_default(void)
{
    tsr_embedding_opts opts = {
        sizeof(tsr_embedding_opts), false, 0, false, false, false, false, false};

    return opts;
}

/* out[...,:] = table[ids[...],:] */
TSR_API tsr_tensor *tsr_embedding(tsr_tensor *table, tsr_tensor *ids,
                                  const tsr_embedding_opts *opts);
/* The gradient of a table with `rows` rows; rows that no id names are 0. */
TSR_API tsr_tensor *tsr_embedding_backward(tsr_tensor *grad, tsr_tensor *ids, int64_t rows,
                                           const tsr_embedding_opts *opts);
/* Rows of which a norm is above max_norm are scaled down to it in the table, if ids name them. The
   norm is the p-norm, of p above 0. Returns table. */
TSR_API tsr_tensor *tsr_embedding_renorm(tsr_tensor *table, tsr_tensor *ids, double max_norm,
                                         double p);

/* Bags: ids [bags, length] without offsets, or ids [n] and offsets [bags], where each begins.
   weights, of the shape of ids, may be NULL. Empty bags give zeros. */
TSR_API tsr_tensor *tsr_bag_sum(tsr_tensor *table, tsr_tensor *ids, tsr_tensor *offsets,
                                tsr_tensor *weights, const tsr_embedding_opts *opts);
TSR_API tsr_tensor *tsr_bag_mean(tsr_tensor *table, tsr_tensor *ids, tsr_tensor *offsets,
                                 const tsr_embedding_opts *opts);
/* *index (may be NULL) gets the row that each element is from, -1 in an empty bag. */
TSR_API tsr_tensor *tsr_bag_max(tsr_tensor *table, tsr_tensor *ids, tsr_tensor *offsets,
                                const tsr_embedding_opts *opts, tsr_tensor **index);
TSR_API tsr_tensor *tsr_bag_sum_backward(tsr_tensor *grad, tsr_tensor *ids, tsr_tensor *offsets,
                                         tsr_tensor *weights, int64_t rows,
                                         const tsr_embedding_opts *opts);
TSR_API tsr_tensor *tsr_bag_mean_backward(tsr_tensor *grad, tsr_tensor *ids, tsr_tensor *offsets,
                                          int64_t rows, const tsr_embedding_opts *opts);
TSR_API tsr_tensor *tsr_bag_max_backward(tsr_tensor *grad, tsr_tensor *index, int64_t rows);
TSR_API tsr_tensor *tsr_bag_weights_backward(tsr_tensor *grad, tsr_tensor *table, tsr_tensor *ids,
                                             tsr_tensor *offsets, const tsr_embedding_opts *opts);

/* ---- row-sparse gradients -------------------------------------------------------------------- */

/* The rows of a table's gradient that ids named, of the rows that this rank holds: what an
   optimizer needs that updates only those. The caller's: tsr_row_sparse_free. Zero is empty. */
typedef struct tsr_row_sparse {
    tsr_spec table;  /* whose gradient it is: rows are where that table's are */
    int64_t n;       /* rows; each rank has its own number */
    int64_t columns; /* that this rank holds */
    int64_t *rows;   /* [n] rows of the whole table, ascending */
    void *values;    /* [n, columns], of the table's dtype */
    tsr_mesh *mesh;  /* of the library */
    void *memory;    /* of the library */
} tsr_row_sparse;

/* The gradients above, row-sparse: values are those of the dense gradient, bit by bit, added in
   the order of the ids, so they do not depend on the mesh (partial gradients aside). The placements
   of `table`, not its values, say who owns which rows. For each mesh dim,
     table S(0)  gradients of all ranks, or ids by offsets: ids are gathered, nothing else moves;
                 other gradients are sharded with their ids, and both travel to the owners;
     table S(1)  ids are gathered, of gradients the columns stay or come;
     table R     ids and gradients are gathered, all ranks have all rows.
   Strided rows and partial tables are errors. Not in the sim world. *out is empty on failure. */
TSR_API tsr_status tsr_embedding_backward_sparse(tsr_tensor *grad, tsr_tensor *ids,
                                                 tsr_tensor *table, const tsr_embedding_opts *opts,
                                                 tsr_row_sparse *out);
TSR_API tsr_status tsr_bag_sum_backward_sparse(tsr_tensor *grad, tsr_tensor *ids,
                                               tsr_tensor *offsets, tsr_tensor *weights,
                                               tsr_tensor *table, const tsr_embedding_opts *opts,
                                               tsr_row_sparse *out);
TSR_API tsr_status tsr_bag_mean_backward_sparse(tsr_tensor *grad, tsr_tensor *ids,
                                                tsr_tensor *offsets, tsr_tensor *table,
                                                const tsr_embedding_opts *opts,
                                                tsr_row_sparse *out);
/* Local. */
TSR_API void tsr_row_sparse_free(tsr_row_sparse *rows);
/* table[row] += scale * value, in the table, which has the placements that the rows were made for.
   Computed in f64 for f64, else in f32. Moves nothing. Local. */
TSR_API tsr_status tsr_row_sparse_add(tsr_tensor *table, const tsr_row_sparse *rows, double scale);

/* ---- several tables at once ------------------------------------------------------------------ */

typedef enum tsr_bag_mode {
    TSR_BAG_NONE = 0, /* a row for every id */
    TSR_BAG_SUM = 1,
    TSR_BAG_MEAN = 2,
    TSR_BAG_MAX = 3
} tsr_bag_mode;

/* A table and the ids to look up in it, as for the single functions above. The ids of all tables
   are on one mesh. A table is on that mesh too, or it lives on one of its ranks: on a mesh of one
   rank (tsr_mesh_part). */
typedef struct tsr_table_use {
    tsr_tensor *table, *ids;
    tsr_tensor *offsets, *weights; /* of bags, may be NULL */
    tsr_bag_mode pooling;
    const tsr_embedding_opts *opts; /* NULL: the defaults */
    tsr_tensor *
        *index; /* max: where the lookup leaves the winning rows (may be NULL) and the gradient
                           finds them */
} tsr_table_use;

/* out[i] is what the single function gives for uses[i]; where rows have to travel, the ids of all
   tables go in one message to each rank and the rows of all tables come back in one. The result
   for a table on one rank is sharded as its ids are by dim 0, and by bags where there are
   offsets. An error names the table by its number, from 0. Collective over the mesh of the ids.
   */
TSR_API tsr_status tsr_lookup_group(const tsr_table_use *uses, int n, tsr_tensor **out);
/* From gradients of the results to those of the tables, which end where the tables are. */
TSR_API tsr_status tsr_lookup_group_backward(const tsr_table_use *uses, tsr_tensor *const *grads,
                                             int n, tsr_tensor **table_grads);

/* Where tables should live: in whole on every rank, by rows, by columns, or on one rank. */
typedef enum tsr_table_sharding {
    TSR_TABLE_REPLICATE = 0,
    TSR_TABLE_ROWS = 1,
    TSR_TABLE_COLUMNS = 2,
    TSR_TABLE_ONE_RANK = 3
} tsr_table_sharding;
enum { TSR_TABLE_SHARDINGS = 4 };

typedef struct tsr_table_facts {
    int64_t rows, columns;
    tsr_dtype dtype;
    int64_t lookups; /* results per batch, of all ranks: bags, or ids without pooling */
    double length;   /* mean ids of a bag; 1 without pooling */
    tsr_bag_mode pooling;
} tsr_table_facts;

typedef struct tsr_tables_opts {
    size_t size; /* of this struct */
    int ranks;   /* along the mesh dim that batch and tables are sharded by; default 1 */
    bool has_memory;
    int64_t memory;       /* bytes for tables per rank; without it there is no limit */
    bool training;        /* gradients too: their memory and their exchange */
    const tsr_cost *cost; /* NULL: the default */
} tsr_tables_opts;

static inline tsr_tables_opts tsr_tables_opts_default(void)
{
    tsr_tables_opts opts = {sizeof(tsr_tables_opts), 1, false, 0, false, NULL};

    return opts;
}

/* What a table, or all of them, cost a rank per batch. */
typedef struct tsr_table_load {
    int64_t memory; /* bytes that stay there */
    double bytes;   /* received or sent, whichever is more */
    double seconds; /* looking up and exchanging */
} tsr_table_load;

typedef struct tsr_table_choice {
    tsr_table_sharding sharding;
    int rank;                                  /* of TSR_TABLE_ONE_RANK, else -1 */
    tsr_table_load load;                       /* of the rank that this table costs most */
    tsr_table_load could[TSR_TABLE_SHARDINGS]; /* the same for each sharding */
} tsr_table_choice;

/* Choose for each table so that the busiest rank takes little time and no rank holds more than
   the memory: largest tables first, then single tables and pairs are moved as long as that helps.
   Ids are taken as uniform. loads (may be NULL) gets the totals of every rank, fixed costs
   included. An error says how many bytes are missing. Pure. */
TSR_API tsr_status tsr_tables_plan(const tsr_table_facts *tables, int n,
                                   const tsr_tables_opts *opts, tsr_table_choice *choices,
                                   tsr_table_load *loads, tsr_error *err);

/* ---- made of others -------------------------------------------------------------------------- */

/* Composite ops, given as expressions of others (tessera ops OP shows them), and so are their
   gradients. */

/* make ops prints composite: */
/* Computes x times x. */
TSR_API tsr_tensor *tsr_square(tsr_tensor *x);
/* Computes the tangent. */
TSR_API tsr_tensor *tsr_tan(tsr_tensor *x);
/* Computes the hyperbolic sine. */
TSR_API tsr_tensor *tsr_sinh(tsr_tensor *x);
/* Computes the hyperbolic cosine. */
TSR_API tsr_tensor *tsr_cosh(tsr_tensor *x);
/* Computes the inverse hyperbolic sine. */
TSR_API tsr_tensor *tsr_asinh(tsr_tensor *x);
/* Computes the inverse hyperbolic cosine; NaN below 1. */
TSR_API tsr_tensor *tsr_acosh(tsr_tensor *x);
/* Computes the inverse hyperbolic tangent; NaN outside [-1, 1]. */
TSR_API tsr_tensor *tsr_atanh(tsr_tensor *x);
/* Computes the base-2 logarithm. */
TSR_API tsr_tensor *tsr_log2(tsr_tensor *x);
/* Computes the base-10 logarithm. */
TSR_API tsr_tensor *tsr_log10(tsr_tensor *x);
/* Computes log(1 / (1 + e^-x)), the logarithm of sigmoid. */
TSR_API tsr_tensor *tsr_logsigmoid(tsr_tensor *x);
/* Computes x / (1 + |x|). */
TSR_API tsr_tensor *tsr_softsign(tsr_tensor *x);
/* Computes x - tanh(x). */
TSR_API tsr_tensor *tsr_tanhshrink(tsr_tensor *x);
/* Clamps x to [0, 6]. */
TSR_API tsr_tensor *tsr_relu6(tsr_tensor *x);
/* Computes alpha x + beta, clamped to [0, 1]. */
TSR_API tsr_tensor *tsr_hardsigmoid(tsr_tensor *x, double alpha, double beta);
/* Computes x hardsigmoid(x). */
TSR_API tsr_tensor *tsr_hardswish(tsr_tensor *x);
/* Computes scale elu(x, alpha), the scaled exponential linear unit. */
TSR_API tsr_tensor *tsr_selu(tsr_tensor *x, double alpha, double scale);
/* Computes x where x > 0, else alpha (e^(x / alpha) - 1). */
TSR_API tsr_tensor *tsr_celu(tsr_tensor *x, double alpha);
/* Computes x where x > 0, else weight x; weight broadcasts. */
TSR_API tsr_tensor *tsr_prelu(tsr_tensor *x, tsr_tensor *weight);
/* Returns x where x > threshold, else value. */
TSR_API tsr_tensor *tsr_threshold(tsr_tensor *x, double threshold, double value);
/* Returns x where |x| > lambd, else 0. */
TSR_API tsr_tensor *tsr_hardshrink(tsr_tensor *x, double lambd);
/* Shrinks x toward 0 by lambd: x - lambd, x + lambd, or 0 where |x| <= lambd. */
TSR_API tsr_tensor *tsr_softshrink(tsr_tensor *x, double lambd);
/* Truncates toward zero. */
TSR_API tsr_tensor *tsr_trunc(tsr_tensor *x);
/* True where exactly one of a and b is nonzero. */
TSR_API tsr_tensor *tsr_logical_xor(tsr_tensor *a, tsr_tensor *b);
/* True where x is NaN. */
TSR_API tsr_tensor *tsr_isnan(tsr_tensor *x);
/* True where x is positive or negative infinity. */
TSR_API tsr_tensor *tsr_isinf(tsr_tensor *x);
/* True where x is positive infinity. */
TSR_API tsr_tensor *tsr_isposinf(tsr_tensor *x);
/* True where x is negative infinity. */
TSR_API tsr_tensor *tsr_isneginf(tsr_tensor *x);
/* end of what is printed */

#ifdef __cplusplus
}
#endif

#endif
