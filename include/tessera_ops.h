/* SPDX-License-Identifier: Apache-2.0 */
/* tessera_ops.h - one typed function per op. Each finds the cheapest way to run on the inputs'
   placements, moves what it must, computes locally and returns a tensor of the current scope; on
   failure the error tensor (see tessera.h); NULL of no tensor at all, as there is no mesh to tell.
   Inputs are on one mesh and of one dtype unless said otherwise. All of them are Collective over
   that mesh. */
#ifndef TESSERA_OPS_H
#define TESSERA_OPS_H

#include <tessera.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- element by element ---------------------------------------------------------------------- */

/* Shapes broadcast from the last dim. Numbers are rounded to the tensor's dtype. */
TSR_API tsr_tensor *tsr_add(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_sub(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_mul(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_div(tsr_tensor *a, tsr_tensor *b);
/* Integers wrap; with a negative exponent they give what is before the point, 0 for 1 / 0. */
TSR_API tsr_tensor *tsr_pow(tsr_tensor *a, tsr_tensor *b);
/* a / b rounded down, or towards 0, for integers, too: divided by 0 they are 0. */
TSR_API tsr_tensor *tsr_floor_divide(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_trunc_divide(tsr_tensor *a, tsr_tensor *b);
/* What is left of a: a - b floor(a / b), with the sign of b, and a - b trunc(a / b), with that of
   a; rounded once at most. An integer a stays if b is 0. */
TSR_API tsr_tensor *tsr_remainder(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_fmod(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_maximum(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_minimum(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_neg(tsr_tensor *x);
TSR_API tsr_tensor *tsr_relu(tsr_tensor *x);
TSR_API tsr_tensor *tsr_abs(tsr_tensor *x);
TSR_API tsr_tensor *tsr_sign(tsr_tensor *x); /* NaN stays */
TSR_API tsr_tensor *tsr_exp(tsr_tensor *x);
TSR_API tsr_tensor *tsr_log(tsr_tensor *x);
TSR_API tsr_tensor *tsr_log1p(tsr_tensor *x);
TSR_API tsr_tensor *tsr_sqrt(tsr_tensor *x);
TSR_API tsr_tensor *tsr_rsqrt(tsr_tensor *x);
TSR_API tsr_tensor *tsr_reciprocal(tsr_tensor *x);
TSR_API tsr_tensor *tsr_tanh(tsr_tensor *x);
TSR_API tsr_tensor *tsr_sigmoid(tsr_tensor *x);
TSR_API tsr_tensor *tsr_silu(tsr_tensor *x);
TSR_API tsr_tensor *tsr_mish(tsr_tensor *x); /* x times tanh(log(1 + e^x)) */
TSR_API tsr_tensor *tsr_softplus(tsr_tensor *x);
TSR_API tsr_tensor *tsr_sin(tsr_tensor *x);
TSR_API tsr_tensor *tsr_cos(tsr_tensor *x);
TSR_API tsr_tensor *tsr_floor(tsr_tensor *x);
TSR_API tsr_tensor *tsr_ceil(tsr_tensor *x);
TSR_API tsr_tensor *tsr_round(tsr_tensor *x); /* of two the even one */
TSR_API tsr_tensor *tsr_erf(tsr_tensor *x);
/* x times the normal distribution function of x; by_tanh: the approximation by tanh */
TSR_API tsr_tensor *tsr_gelu(tsr_tensor *x, bool by_tanh);
/* Gradients of inputs from those of outputs, with the output y or the input x. */
TSR_API tsr_tensor *tsr_relu_backward(tsr_tensor *grad, tsr_tensor *y);
TSR_API tsr_tensor *tsr_tanh_backward(tsr_tensor *grad, tsr_tensor *y);
TSR_API tsr_tensor *tsr_sigmoid_backward(tsr_tensor *grad, tsr_tensor *y);
TSR_API tsr_tensor *tsr_silu_backward(tsr_tensor *grad, tsr_tensor *x);
TSR_API tsr_tensor *tsr_mish_backward(tsr_tensor *grad, tsr_tensor *x);
TSR_API tsr_tensor *tsr_gelu_backward(tsr_tensor *grad, tsr_tensor *x, bool by_tanh);
TSR_API tsr_tensor *tsr_leaky_relu(tsr_tensor *x, double negative_slope);
TSR_API tsr_tensor *tsr_elu(tsr_tensor *x, double alpha);
TSR_API tsr_tensor *tsr_affine(tsr_tensor *x, double mul, double add); /* x mul + add */
/* Not below min, not above max; -INFINITY and INFINITY are no ends. */
TSR_API tsr_tensor *tsr_clamp(tsr_tensor *x, double min, double max);
TSR_API tsr_tensor *tsr_fill(tsr_tensor *x, double value); /* value everywhere, placed like x */
/* From floats to integers what is behind the point is cut off; integers out of range saturate. */
TSR_API tsr_tensor *tsr_cast(tsr_tensor *x, tsr_dtype dtype);
/* These give bool; for the logical ones anything but 0 is true. */
TSR_API tsr_tensor *tsr_eq(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_ne(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_lt(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_le(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_gt(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_ge(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_logical_and(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_logical_or(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_logical_not(tsr_tensor *x);
/* cond and mask are bool. */
TSR_API tsr_tensor *tsr_where(tsr_tensor *cond, tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_masked_fill(tsr_tensor *x, tsr_tensor *mask, double value);
/* a + weight (b - a); x + value a b; x + value a / b */
TSR_API tsr_tensor *tsr_lerp(tsr_tensor *a, tsr_tensor *b, tsr_tensor *weight);
TSR_API tsr_tensor *tsr_lerp_by(tsr_tensor *a, tsr_tensor *b, double weight);
TSR_API tsr_tensor *tsr_addcmul(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value);
TSR_API tsr_tensor *tsr_addcdiv(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value);
/* The same into the first input, which keeps its placements; they return it. All pointwise ops
   whose output is like their first input have such a form, NAME_inplace, for tsr_op_run and
   tsr_foreach. */
TSR_API tsr_tensor *tsr_add_inplace(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_sub_inplace(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_mul_inplace(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_div_inplace(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_sqrt_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_relu_inplace(tsr_tensor *x);
TSR_API tsr_tensor *tsr_affine_inplace(tsr_tensor *x, double mul, double add);
TSR_API tsr_tensor *tsr_clamp_inplace(tsr_tensor *x, double min, double max);
TSR_API tsr_tensor *tsr_fill_inplace(tsr_tensor *x, double value);
TSR_API tsr_tensor *tsr_masked_fill_inplace(tsr_tensor *x, tsr_tensor *mask, double value);
TSR_API tsr_tensor *tsr_lerp_inplace(tsr_tensor *a, tsr_tensor *b, tsr_tensor *weight);
TSR_API tsr_tensor *tsr_lerp_by_inplace(tsr_tensor *a, tsr_tensor *b, double weight);
TSR_API tsr_tensor *tsr_addcmul_inplace(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value);
TSR_API tsr_tensor *tsr_addcdiv_inplace(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value);

/* Any op on each of n tensors, or of n pairs and so on: in[k] is the list of its k-th inputs, attrs
   are texts as for tsr_op_run, read once. tsr_foreach("addcdiv_inplace", (tsr_tensor *const *[]){x,
   m, v}, 3, n, (const char *[]){"value=-0.1"}, 1, x); out may be one of the lists. */
TSR_API tsr_status tsr_foreach(const char *op, tsr_tensor *const *const *in, int n_in, int n,
                               const char *const *attrs, int n_attrs, tsr_tensor **out);

/* ---- reductions and scans -------------------------------------------------------------------- */

/* Over n_dims dims (negative: from the end), or over all if there are none; with keepdim they stay,
   of size 1. A shard of a reduced dim is never gathered: what travels is results of parts. Sums and
   products of integers wrap in their own dtype; the mean of no elements is NaN. Gradients of max
   and min go to equal extremes in equal shares. */
TSR_API tsr_tensor *tsr_sum(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);
TSR_API tsr_tensor *tsr_mean(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);
TSR_API tsr_tensor *tsr_prod(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);
TSR_API tsr_tensor *tsr_max(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);
TSR_API tsr_tensor *tsr_min(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);
/* Is any element not 0, or none? The result is bool, x of any dtype. */
TSR_API tsr_tensor *tsr_any(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);
TSR_API tsr_tensor *tsr_all(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);
/* Of floating point types. p is 1, 2 or INFINITY; a variance is divided by the number of elements
   less correction, 1 as a rule. */
TSR_API tsr_tensor *tsr_norm(tsr_tensor *x, double p, const int *dims, int n_dims, bool keepdim);
TSR_API tsr_tensor *tsr_var(tsr_tensor *x, const int *dims, int n_dims, int correction,
                            bool keepdim);
TSR_API tsr_tensor *tsr_std(tsr_tensor *x, const int *dims, int n_dims, int correction,
                            bool keepdim);
TSR_API tsr_tensor *tsr_logsumexp(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);
/* Where the largest or smallest element is along *dim, as i64; dim NULL: among all, row-major. Of
   equal ones the first; a NaN wins. */
TSR_API tsr_tensor *tsr_argmax(tsr_tensor *x, const int *dim, bool keepdim);
TSR_API tsr_tensor *tsr_argmin(tsr_tensor *x, const int *dim, bool keepdim);
/* The sum or product of all elements up to each along dim; reverse: from each on. */
TSR_API tsr_tensor *tsr_cumsum(tsr_tensor *x, int dim, bool reverse);
TSR_API tsr_tensor *tsr_cumprod(tsr_tensor *x, int dim, bool reverse);

TSR_API tsr_tensor *tsr_softmax(tsr_tensor *x, int dim);
TSR_API tsr_tensor *tsr_log_softmax(tsr_tensor *x, int dim);
/* The gradient of x from that of y, which softmax or log_softmax gave. */
TSR_API tsr_tensor *tsr_softmax_backward(tsr_tensor *grad, tsr_tensor *y, int dim);
TSR_API tsr_tensor *tsr_log_softmax_backward(tsr_tensor *grad, tsr_tensor *y, int dim);

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Negative dims count from the end. Sizes and lists of dims are of at most TSR_MAX_DIM numbers. */

/* Joined along dim; along a new one, of which each x is an index. n is at least 1. */
TSR_API tsr_tensor *tsr_cat(tsr_tensor *const *x, int n, int dim);
TSR_API tsr_tensor *tsr_stack(tsr_tensor *const *x, int n, int dim);

/* Two dims change places; all dims in the order given. */
TSR_API tsr_tensor *tsr_transpose(tsr_tensor *x, int dim0, int dim1);
TSR_API tsr_tensor *tsr_permute(tsr_tensor *x, const int *dims, int n_dims);
/* The same elements, row-major; one size may be -1. */
TSR_API tsr_tensor *tsr_reshape(tsr_tensor *x, const int64_t *sizes, int ndim);
/* Without those of the given dims that have size 1; no dims: all of size 1. */
TSR_API tsr_tensor *tsr_squeeze(tsr_tensor *x, const int *dims, int n_dims);
/* With new dims of size 1, at these places of the result. */
TSR_API tsr_tensor *tsr_unsqueeze(tsr_tensor *x, const int *dims, int n_dims);
/* Dims start to end, that included, become one. */
TSR_API tsr_tensor *tsr_flatten(tsr_tensor *x, int start, int end);

/* Dims of size 1 in other sizes, by repeating; more sizes than dims add dims in front; -1 keeps. */
TSR_API tsr_tensor *tsr_expand(tsr_tensor *x, const int64_t *sizes, int ndim);
/* x so many times along each of its last dims; more counts than dims add dims in front. */
TSR_API tsr_tensor *tsr_tile(tsr_tensor *x, const int64_t *counts, int n);

/* x[start:stop:step] along dim; negative numbers count from the end. */
TSR_API tsr_tensor *tsr_slice(tsr_tensor *x, int dim, int64_t start, int64_t stop, int64_t step);
/* length elements from start on; a negative start counts from the end. */
TSR_API tsr_tensor *tsr_narrow(tsr_tensor *x, int dim, int64_t start, int64_t length);
/* x at one index of dim, which goes. */
TSR_API tsr_tensor *tsr_select(tsr_tensor *x, int dim, int64_t index);
/* Runs of size elements along dim that begin step apart, each as a new last dim. */
TSR_API tsr_tensor *tsr_unfold(tsr_tensor *x, int dim, int64_t size, int64_t step);
/* x[i, i + offset] of two dims, as a last dim instead of these. */
TSR_API tsr_tensor *tsr_diagonal(tsr_tensor *x, int64_t offset, int dim1, int dim2);

/* The last element first along the given dims, or along all if there are none. */
TSR_API tsr_tensor *tsr_flip(tsr_tensor *x, const int *dims, int n_dims);
/* shifts[i] towards the end along dims[i], around the ends; no dims: shifts[0] along all elements
   as one dim. */
TSR_API tsr_tensor *tsr_roll(tsr_tensor *x, const int64_t *shifts, const int *dims, int n_dims);

/* So many indices before and behind each dim of x, filled with value; negative ones cut off. Or
   with what mirroring at the ends gives, with the first and last elements, or from the other
   end. */
TSR_API tsr_tensor *tsr_pad(tsr_tensor *x, const int64_t *before, const int64_t *after,
                            double value);
TSR_API tsr_tensor *tsr_pad_reflect(tsr_tensor *x, const int64_t *before, const int64_t *after);
TSR_API tsr_tensor *tsr_pad_replicate(tsr_tensor *x, const int64_t *before, const int64_t *after);
TSR_API tsr_tensor *tsr_pad_circular(tsr_tensor *x, const int64_t *before, const int64_t *after);

/* x[..., i, j] where j - i is at most, or at least, diagonal; else 0. */
TSR_API tsr_tensor *tsr_tril(tsr_tensor *x, int64_t diagonal);
TSR_API tsr_tensor *tsr_triu(tsr_tensor *x, int64_t diagonal);

/* n parts along dim, into out: of these sizes, which add up to dim's; or of equal size, the last
   one smaller, and NULL where not so many are needed. */
TSR_API tsr_status tsr_split(tsr_tensor *x, int dim, const int64_t *sizes, int n, tsr_tensor **out);
TSR_API tsr_status tsr_chunk(tsr_tensor *x, int dim, int n, tsr_tensor **out);

/* [n, c, h, w] as [n, c / block^2, h block, w block], and back. Channels are [block, block, c],
   with crd [c, block, block] as in PyTorch's pixel_shuffle. */
TSR_API tsr_tensor *tsr_depth_to_space(tsr_tensor *x, int64_t block, bool crd);
TSR_API tsr_tensor *tsr_space_to_depth(tsr_tensor *x, int64_t block, bool crd);

/* Gradients of inputs whose dim has this length. */
TSR_API tsr_tensor *tsr_slice_backward(tsr_tensor *grad, int dim, int64_t start, int64_t step,
                                       int64_t length);
TSR_API tsr_tensor *tsr_unfold_backward(tsr_tensor *grad, int dim, int64_t size, int64_t step,
                                        int64_t length);

/* ---- linear algebra -------------------------------------------------------------------------- */

/* c[...,m,n] = sum over k of a[...,m,k] b[...,k,n], plus bias[n] unless bias is NULL. */
TSR_API tsr_tensor *tsr_matmul(tsr_tensor *a, tsr_tensor *b, tsr_tensor *bias);
/* c[batch,m,n] = sum over k of a[batch,m,k] b[batch,k,n]. */
TSR_API tsr_tensor *tsr_bmm(tsr_tensor *a, tsr_tensor *b);
/* y[...,n] = sum over k of x[...,k] weight[n,k], plus bias[n] unless bias is NULL. */
TSR_API tsr_tensor *tsr_linear(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias);
/* Of vectors: the sum of a[i] b[i], and c[m,n] = a[m] b[n]. */
TSR_API tsr_tensor *tsr_dot(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_outer(tsr_tensor *a, tsr_tensor *b);
/* The product of 1 to 4 tensors, a letter for each of their axes: "bij,bjk->bik". Axes that the
   output lacks are summed; a letter twice in one operand is its diagonal; ... stands for dims
   without a letter, which broadcast. Without -> the output has the dims of ... and then the letters
   that occur once, in the order of the alphabet. At most 63 characters. */
TSR_API tsr_tensor *tsr_einsum(const char *equation, tsr_tensor *const *in, int n);

/* Zero is the usual; NULL options: all usual. */
typedef struct tsr_attention_opts {
    bool causal;   /* row i sees keys 0 to i only */
    double scale;  /* of the scores; 0: 1 / sqrt(dim) */
    int64_t group; /* head h of queries reads head h / group of keys; 0: as they divide */
} tsr_attention_opts;

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
/* Gradients of q, k and v into out, and of mask into *grad_mask unless that is NULL, from those of
   the outputs; grad_lse may be NULL: nothing depends on lse. */
TSR_API tsr_status tsr_attention_backward(tsr_tensor *grad, tsr_tensor *q, tsr_tensor *k,
                                          tsr_tensor *v, tsr_tensor *y, tsr_tensor *lse,
                                          tsr_tensor *grad_lse, tsr_tensor *mask,
                                          const tsr_attention_opts *opts, tsr_tensor *out[3],
                                          tsr_tensor **grad_mask);

/* ---- convolution ----------------------------------------------------------------------------- */

enum { TSR_MAX_SPATIAL = 3 }; /* spatial dims, at most */

/* Per spatial dim; zero is the usual: stride, dilation and groups of 0 are 1. NULL options: all
   usual. */
typedef struct tsr_conv_opts {
    int64_t stride[TSR_MAX_SPATIAL], dilation[TSR_MAX_SPATIAL];
    int64_t padding[TSR_MAX_SPATIAL];        /* zeros before and behind the dim */
    int64_t padding_end[TSR_MAX_SPATIAL];    /* and so many more behind it; may be negative */
    int64_t output_padding[TSR_MAX_SPATIAL]; /* transposed only: so much more output at the end */
    int64_t groups;
    bool transposed;
} tsr_conv_opts;

/* x [batch, in, space...] with 1 to 3 spatial dims, weight [out, in / groups, kernel...], bias
   [out] or NULL -> [batch, out, space...]. Transposed: weight [in, out / groups, kernel...]. Batch,
   channels and space of x may be sharded in any way; what neighbours need of each other is
   exchanged, nothing else. */
TSR_API tsr_tensor *tsr_conv(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias,
                             const tsr_conv_opts *opts);
/* Its gradients from that of the output: of x, of weight, of bias; out[k] is NULL where wanted[k]
   is false, and nothing is computed for it. wanted NULL: all. */
TSR_API tsr_status tsr_conv_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *weight,
                                     const tsr_conv_opts *opts, const bool wanted[3],
                                     tsr_tensor *out[3]);
/* Single ones: of an input whose space has these sizes, and of a weight whose space has these. */
TSR_API tsr_tensor *tsr_conv_grad_input(tsr_tensor *grad, tsr_tensor *weight, const int64_t *input,
                                        const tsr_conv_opts *opts);
TSR_API tsr_tensor *tsr_conv_grad_weight(tsr_tensor *x, tsr_tensor *grad, const int64_t *kernel,
                                         const tsr_conv_opts *opts);

/* ---- pooling --------------------------------------------------------------------------------- */

/* Per spatial dim; zero is the usual: a kernel of 1, a stride of the kernel, no padding. */
typedef struct tsr_pool_opts {
    int64_t kernel[TSR_MAX_SPATIAL], stride[TSR_MAX_SPATIAL], dilation[TSR_MAX_SPATIAL];
    int64_t padding[TSR_MAX_SPATIAL]; /* before and behind the dim, at most half of the kernel */
    int64_t padding_end[TSR_MAX_SPATIAL]; /* and so much more behind it */
    bool ceil;                            /* sizes are rounded up */
    bool exclude_padding;                 /* averages: padding is left out, not counted as zeros */
} tsr_pool_opts;

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
    tsr_loss_reduction reduction;
    bool ignores;         /* targets that are ignore_index do not count; without it -100 does so */
    int64_t ignore_index; /* need not be a class */
    double label_smoothing; /* 0 to 1: what of the target goes to all classes alike */
} tsr_class_opts;

/* Minus the logarithm of softmax at the target: x is [..., classes], target i32 or i64 [...],
   weight [classes] or NULL. A mean is divided by the weights of the targets that count. *lse (may
   be NULL) is the logarithm of each row's sum of exponentials, in f64, and *divisor what a mean was
   divided by, NULL of others: the gradient needs them. A target that is no class is an error. Where
   classes are sharded only a few numbers of each row travel. NULL options are the defaults. */
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

/* Losses of x and a target of the same shape, element by element: (x - target)^2, |x - target|, and
   the binary cross entropy of logits x, where weight and pos_weight broadcast to x or are NULL. */
TSR_API tsr_tensor *tsr_mse_loss(tsr_tensor *x, tsr_tensor *target, tsr_loss_reduction reduction);
TSR_API tsr_tensor *tsr_l1_loss(tsr_tensor *x, tsr_tensor *target, tsr_loss_reduction reduction);
TSR_API tsr_tensor *tsr_bce_with_logits(tsr_tensor *x, tsr_tensor *target, tsr_tensor *weight,
                                        tsr_tensor *pos_weight, tsr_loss_reduction reduction);
/* The gradient of x; that of target is minus that. */
TSR_API tsr_tensor *tsr_mse_loss_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                          tsr_loss_reduction reduction);
TSR_API tsr_tensor *tsr_l1_loss_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                         tsr_loss_reduction reduction);
/* Those of x, target, weight and pos_weight, all of x's shape; NULL: not computed, one is not. */
TSR_API tsr_status tsr_bce_with_logits_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                                tsr_tensor *weight, tsr_tensor *pos_weight,
                                                tsr_loss_reduction reduction,
                                                tsr_tensor **const grads[4]);

/* ---- normalisation --------------------------------------------------------------------------- */

/* x is [samples, channels, space...] with any number of space dims, 0 included. weight and bias are
   [channels] and may be NULL: 1 and 0. Vectors are of x's dtype, or f32 where that is f16 or bf16;
   statistics come as f32 there. NULL options are the defaults. */
typedef struct tsr_norm_opts {
    double eps;      /* added to variances; 0: 1e-5 */
    double momentum; /* of the running statistics, 0 to 1; 0: 0.1 */
    bool inference;  /* batch_norm: by the running statistics, which stay as they are */
} tsr_norm_opts;

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
/* The last n_dims dims of x less their mean, by their standard deviation (eps is added to the
   variance; 0: 1e-5), times weight, plus bias, which are of the shape of these dims and may be
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
/* Gradients of x, weight and bias from that of y; those that are NULL are not computed, one is not.
   Only `inference` of the options counts. */
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

/* out[i][j][k] = x[i][index[i][j][k]][k] for dim 1, and so on: the index has as many dims as x, and
   but for dim at most its sizes. */
TSR_API tsr_tensor *tsr_gather(tsr_tensor *x, int dim, tsr_tensor *index);
/* The slices of x along dim that a list of indices names. */
TSR_API tsr_tensor *tsr_index_select(tsr_tensor *x, int dim, tsr_tensor *index);
/* The elements of x, counted in row-major order, that indices of any shape name. */
TSR_API tsr_tensor *tsr_take(tsr_tensor *x, tsr_tensor *index);
/* x with x[i][index[i][j][k]][k] = src[i][j][k] for dim 1; if several are written to one place, the
   last along dim. src is at least as large as the index. */
TSR_API tsr_tensor *tsr_scatter(tsr_tensor *x, int dim, tsr_tensor *index, tsr_tensor *src);
/* The same, added. */
TSR_API tsr_tensor *tsr_scatter_add(tsr_tensor *x, int dim, tsr_tensor *index, tsr_tensor *src);
/* x plus slices of src at those along dim that a list of indices names. */
TSR_API tsr_tensor *tsr_index_add(tsr_tensor *x, int dim, tsr_tensor *index, tsr_tensor *src);
/* The gradient of a scatter's src, as far as the index goes. */
TSR_API tsr_tensor *tsr_scatter_backward(tsr_tensor *grad, int dim, tsr_tensor *index);
/* [...] -> [..., classes], 1 at each id, 0 elsewhere. */
TSR_API tsr_tensor *tsr_one_hot(tsr_tensor *ids, int64_t classes, tsr_dtype dtype);

/* Elements along dim in order, and in *index (i64; may be NULL) where they were. A NaN is the
   largest; equal ones stay in their order. */
TSR_API tsr_tensor *tsr_sort(tsr_tensor *x, int dim, bool descending, tsr_tensor **index);
/* The k largest along dim, or the smallest, in order. Of a dim that is sharded only the best of
   every rank travel. */
TSR_API tsr_tensor *tsr_topk(tsr_tensor *x, int64_t k, int dim, bool largest, tsr_tensor **index);

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

/* Ids are i32 or i64. An id that is not a row of the table is an error on every rank, which names
   it and its place. NULL options are the defaults. */
typedef struct tsr_embedding_opts {
    const int64_t
        *padding_idx;        /* a row that lookups leave out; negative: from the end; NULL: none */
    bool keep_padding;       /* the lookup reads that row all the same; bags and gradients do not */
    bool zero_out_of_range;  /* ids that are no rows give zeros instead of an error */
    bool scale_grad_by_freq; /* gradients are divided by how often a row occurs in all ids */
    bool include_last;       /* the last offset is the end of the last bag */
    bool last;               /* of equal largest values the last one wins, not the first */
} tsr_embedding_opts;

/* out[...,:] = table[ids[...],:] */
TSR_API tsr_tensor *tsr_embedding(tsr_tensor *table, tsr_tensor *ids,
                                  const tsr_embedding_opts *opts);
/* The gradient of a table of so many rows; rows that no id names are 0. */
TSR_API tsr_tensor *tsr_embedding_backward(tsr_tensor *grad, tsr_tensor *ids, int64_t rows,
                                           const tsr_embedding_opts *opts);
/* Rows of which a norm is above max_norm are scaled down to it in the table, if ids name them. The
   norm is the p-norm, 2 if p is 0. Returns table. */
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
TSR_API void tsr_row_sparse_free(tsr_row_sparse *touched);
/* table[row] += scale * value, in the table, which has the placements that the rows were made for.
   Computed in f64 for f64, else in f32. Moves nothing. Local. */
TSR_API tsr_status tsr_row_sparse_add(tsr_tensor *table, const tsr_row_sparse *touched,
                                      double scale);

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
    tsr_embedding_opts opts;
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
    int ranks;            /* along the mesh dim that batch and tables are sharded by */
    int64_t memory;       /* bytes for tables per rank; 0: no limit */
    bool training;        /* gradients too: their memory, and the way back */
    const tsr_cost *cost; /* NULL: the default */
} tsr_tables_opts;

/* What a table, or all of them, cost a rank per batch. */
typedef struct tsr_table_load {
    int64_t memory; /* bytes that stay there */
    double bytes;   /* received or sent, whichever is more */
    double seconds; /* looking up and exchanging */
} tsr_table_load;

typedef struct tsr_table_choice {
    tsr_table_sharding way;
    int rank;                                  /* of TSR_TABLE_ONE_RANK, else -1 */
    tsr_table_load load;                       /* of the rank that this table costs most */
    tsr_table_load could[TSR_TABLE_SHARDINGS]; /* the same for each way */
} tsr_table_choice;

/* Choose for each table so that the busiest rank takes little time and no rank holds more than
   the memory: largest tables first, then single tables and pairs are moved as long as that helps.
   Ids are taken as uniform. loads (may be NULL) gets the totals of every rank, fixed costs
   included. An error says how many bytes are missing. Pure. */
TSR_API tsr_status tsr_tables_plan(const tsr_table_facts *tables, int n,
                                   const tsr_tables_opts *opts, tsr_table_choice *choices,
                                   tsr_table_load *loads, tsr_error *err);

/* ---- made of others -------------------------------------------------------------------------- */

/* Each is a text of other ops (tessera ops OP says which), and so are its gradients. */
TSR_API tsr_tensor *tsr_square(tsr_tensor *x); /* x times x */
TSR_API tsr_tensor *tsr_tan(tsr_tensor *x);    /* tangent */
TSR_API tsr_tensor *tsr_sinh(tsr_tensor *x);   /* hyperbolic sine */
TSR_API tsr_tensor *tsr_cosh(tsr_tensor *x);   /* hyperbolic cosine */
TSR_API tsr_tensor *tsr_asinh(tsr_tensor *x);  /* inverse of the hyperbolic sine */
/* inverse of the hyperbolic cosine, of x from 1 on */
TSR_API tsr_tensor *tsr_acosh(tsr_tensor *x);
/* inverse of the hyperbolic tangent, of x between -1 and 1 */
TSR_API tsr_tensor *tsr_atanh(tsr_tensor *x);
TSR_API tsr_tensor *tsr_log2(tsr_tensor *x);       /* logarithm to the base of 2 */
TSR_API tsr_tensor *tsr_log10(tsr_tensor *x);      /* logarithm to the base of 10 */
TSR_API tsr_tensor *tsr_logsigmoid(tsr_tensor *x); /* logarithm of 1 / (1 + e^-x) */
TSR_API tsr_tensor *tsr_softsign(tsr_tensor *x);   /* x / (1 + |x|) */
TSR_API tsr_tensor *tsr_tanhshrink(tsr_tensor *x); /* x - tanh(x) */
/* x, but not below 0 and not above 6 */
TSR_API tsr_tensor *tsr_relu6(tsr_tensor *x);
/* alpha x + beta, but not below 0 and not above 1 */
TSR_API tsr_tensor *tsr_hardsigmoid(tsr_tensor *x, double alpha, double beta);
TSR_API tsr_tensor *tsr_hardswish(tsr_tensor *x); /* x times hardsigmoid(x) */
/* scale times elu(x) */
TSR_API tsr_tensor *tsr_selu(tsr_tensor *x, double alpha, double scale);
/* x where it is positive, else alpha (e^(x / alpha) - 1) */
TSR_API tsr_tensor *tsr_celu(tsr_tensor *x, double alpha);
/* x where it is positive, else weight times x; weight broadcasts */
TSR_API tsr_tensor *tsr_prelu(tsr_tensor *x, tsr_tensor *weight);
/* x where it is above threshold, else value */
TSR_API tsr_tensor *tsr_threshold(tsr_tensor *x, double threshold, double value);
/* x where it is further from 0 than lambd, else 0 */
TSR_API tsr_tensor *tsr_hardshrink(tsr_tensor *x, double lambd);
/* x, brought nearer to 0 by lambd */
TSR_API tsr_tensor *tsr_softshrink(tsr_tensor *x, double lambd);
/* x without what is behind the point */
TSR_API tsr_tensor *tsr_trunc(tsr_tensor *x);
/* is just one of a and b not 0? */
TSR_API tsr_tensor *tsr_logical_xor(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_isnan(tsr_tensor *x);    /* is x no number? */
TSR_API tsr_tensor *tsr_isinf(tsr_tensor *x);    /* is x infinite? */
TSR_API tsr_tensor *tsr_isposinf(tsr_tensor *x); /* is x plus infinity? */
TSR_API tsr_tensor *tsr_isneginf(tsr_tensor *x); /* is x minus infinity? */

#ifdef __cplusplus
}
#endif

#endif
