/* SPDX-License-Identifier: Apache-2.0 */
/* conv.h - convolution on one rank: sizes, and the output and the gradients as products that are
   planned once and run often. Tensors are row-major without gaps:
       input  [batch, in_channels, in...]      output [batch, out_channels, out...]
       weight [out_channels, in_channels / groups, kernel...]
              [in_channels, out_channels / groups, kernel...] if transposed
   output[n,o,p] = bias[o] + sum over the c of o's group and taps t of
       weight[o,c,t] input[n,c, p * stride - pad_lo + t * dilation], 0 outside the input;
   transposed: output[n,o, p * stride - pad_lo + t * dilation] is the sum of
       weight[c,o,t] input[n,c,p], and bias[o]. */
#ifndef TSR_OPS_CONV_H
#define TSR_OPS_CONV_H

#include "base/dtype.h"
#include "base/pool.h"
#include "kernel/kinds.h"
#include "kernel/sku.h"

enum { TSR_CONV_DIMS = 3 };

/* Per spatial dim in [0, ndim). `out` decides what is computed: pad_hi and output_padding serve
   tsr__conv_out_size only. So a part of the output is a shape too: the input it needs, or more,
   its own `out`, and the pad_lo that fits, which may then be negative. */
typedef struct tsr_conv_shape {
    int ndim; /* spatial dims, 1 to 3 */
    bool transposed;
    int64_t batch, in_channels, out_channels, groups;
    int64_t in[TSR_CONV_DIMS], out[TSR_CONV_DIMS], kernel[TSR_CONV_DIMS];
    int64_t stride[TSR_CONV_DIMS], dilation[TSR_CONV_DIMS];
    int64_t pad_lo[TSR_CONV_DIMS], pad_hi[TSR_CONV_DIMS], output_padding[TSR_CONV_DIMS];
} tsr_conv_shape;

/* Size of one spatial dim of the output, with E = (kernel - 1) dilation + 1:
   floor((in + pad_lo + pad_hi - E) / stride) + 1; transposed:
   (in - 1) stride - pad_lo - pad_hi + E + output_padding. What cannot be is an error with a
   sentence that starts with `op`. Pure. */
tsr_status tsr__conv_out_size(const char *op, const tsr_conv_shape *shape, int dim, int64_t *out,
                              tsr_error *err);
/* Checks everything but `out`, and fills that. Pure. */
tsr_status tsr__conv_infer(const char *op, tsr_conv_shape *shape, tsr_error *err);

typedef enum tsr_conv_product { /* as in SKUs */
                                TSR_CONV_OUTPUT =
                                    TSR_CONVOLUTION_OUTPUT, /* of input, weight, bias if given */
                                TSR_CONV_GRAD_INPUT =
                                    TSR_CONVOLUTION_GRAD_INPUT, /* of grad_output, weight */
                                TSR_CONV_GRAD_WEIGHT =
                                    TSR_CONVOLUTION_GRAD_WEIGHT, /* of grad_output, input */
} tsr_conv_product;

/* One product for one shape and dtype. A plan is for one thread at a time. */
typedef struct tsr_conv_plan tsr_conv_plan;

/* `bias`: the output's product will be given one. The variant is asked for as in a kernel call: the
   reference is the definition, the library oneDNN for f32 and bf16 where it can, else BLAS. f16
   and bf16 are summed in f32 and rounded once. Local. */
tsr_status tsr__conv_plan_make(tsr_heap *heap, const tsr_conv_shape *shape, tsr_dtype dtype,
                               tsr_conv_product what, bool bias, bool reproducible,
                               tsr_kernel_variant variant, tsr_conv_plan **out, tsr_error *err);
void tsr__conv_plan_free(tsr_heap *heap, tsr_conv_plan *plan); /* NULL is fine */
/* a and b in the order that tsr_conv_product names; bias [out_channels] if the plan has one, else
   NULL. Writes all of out. Scratch comes from the pool and goes back. Local. */
tsr_status tsr__conv_plan_run(const tsr_conv_plan *plan, tsr_pool *pool, const void *a,
                              const void *b, const void *bias, void *out, tsr_error *err);
/* How it runs, for tests and explanations: "reference", "columns", "taps", "empty", or what oneDNN
   calls its code. */
const char *tsr__conv_plan_name(const tsr_conv_plan *plan);

#endif
