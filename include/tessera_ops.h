/* SPDX-License-Identifier: Apache-2.0 */
/* tessera_ops.h - one typed function per op. Each finds the cheapest way to run on the inputs'
   placements, moves what it must, computes locally and returns a tensor of the current scope; on
   failure the error tensor (see tessera.h). Inputs are on one mesh and of one dtype unless said
   otherwise. All of them are Collective over that mesh. */
#ifndef TESSERA_OPS_H
#define TESSERA_OPS_H

#include <tessera.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element by element; shapes broadcast from the last dim. */
TSR_API tsr_tensor *tsr_add(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_mul(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_neg(tsr_tensor *x);
TSR_API tsr_tensor *tsr_relu(tsr_tensor *x);
/* The same into a, which keeps its placements; they return a. */
TSR_API tsr_tensor *tsr_add_inplace(tsr_tensor *a, tsr_tensor *b);
TSR_API tsr_tensor *tsr_mul_inplace(tsr_tensor *a, tsr_tensor *b);
/* Any op without attributes on each of n tensors, or of n pairs: tsr_foreach("add", a, b, n, out),
   tsr_foreach("neg", x, NULL, n, out). */
TSR_API tsr_status tsr_foreach(const char *op, tsr_tensor *const *a, tsr_tensor *const *b, int n,
                               tsr_tensor **out);

/* c[...,m,n] = sum over k of a[...,m,k] b[...,k,n], plus bias[n] unless bias is NULL. */
TSR_API tsr_tensor *tsr_matmul(tsr_tensor *a, tsr_tensor *b, tsr_tensor *bias);

/* Over n_dims dims (negative: from the end), or over all if there are none. */
TSR_API tsr_tensor *tsr_sum(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);
TSR_API tsr_tensor *tsr_mean(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);
TSR_API tsr_tensor *tsr_max(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);

TSR_API tsr_tensor *tsr_softmax(tsr_tensor *x, int dim);

TSR_API tsr_tensor *tsr_cat(tsr_tensor *const *x, int n, int dim);
TSR_API tsr_tensor *tsr_transpose(tsr_tensor *x, int dim0, int dim1);
/* The same elements, row-major; one size may be -1. */
TSR_API tsr_tensor *tsr_reshape(tsr_tensor *x, const int64_t *sizes, int ndim);
/* x[start:stop:step] along dim; negative numbers count from the end. */
TSR_API tsr_tensor *tsr_slice(tsr_tensor *x, int dim, int64_t start, int64_t stop, int64_t step);

#ifdef __cplusplus
}
#endif

#endif
