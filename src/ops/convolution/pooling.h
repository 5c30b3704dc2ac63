/* SPDX-License-Identifier: Apache-2.0 */
/* pooling.h - max and average pooling on one rank, with gradients. Input [planes, in...], output
   [planes, out...], row-major without gaps; a plane is a channel of an image. Output p sees the
   inputs p * stride - pad_lo + t * dilation for the taps t; padding is never a maximum. */
#ifndef TSR_OPS_POOLING_H
#define TSR_OPS_POOLING_H

#include "ops/convolution/conv.h"

/* Per spatial dim in [0, ndim). As for convolution, `out` decides what is computed, and a part of a
   tensor is a shape too: `in` is what is here of an input of size `whole`, from `origin` on (0, 0:
   all of it), and pad_lo is that of the part. pad_hi is always the whole's. */
typedef struct tsr_pooling_shape {
    int ndim;               /* spatial dims, 1 to 3 */
    bool ceil;              /* round the output's size up */
    bool count_include_pad; /* an average divides by padding too */
    int64_t planes;
    int64_t in[TSR_CONV_DIMS], out[TSR_CONV_DIMS], kernel[TSR_CONV_DIMS];
    int64_t stride[TSR_CONV_DIMS], dilation[TSR_CONV_DIMS];
    int64_t pad_lo[TSR_CONV_DIMS], pad_hi[TSR_CONV_DIMS];
    int64_t origin[TSR_CONV_DIMS], whole[TSR_CONV_DIMS];
} tsr_pooling_shape;

/* Checks everything but `out`, and fills that: floor((in + pad_lo + pad_hi - E) / stride) + 1, or
   rounded up unless the last window would then start behind the input. Pure. */
tsr_status tsr__pooling_infer(const char *op, tsr_pooling_shape *shape, tsr_error *err);

/* The variant is asked for as in a kernel call; what it cannot do runs by the reference.
   index, if not NULL: where the maximum is in the plane of the whole input, the first of equal
   ones; a NaN is a maximum, the last of several. Of no inputs: the lowest number, index -1.
   Local. */
void tsr__pooling_max(const tsr_pooling_shape *shape, tsr_dtype dtype, tsr_kernel_variant variant,
                      const void *in, void *out, int64_t *index);
void tsr__pooling_average(const tsr_pooling_shape *shape, tsr_dtype dtype,
                          tsr_kernel_variant variant, const void *in, void *out);

/* Write all of grad_in; an index that is not in this part is left out. Scratch of one plane comes
   from the pool. Local. */
tsr_status tsr__pooling_max_grad(const tsr_pooling_shape *shape, tsr_dtype dtype,
                                 tsr_kernel_variant variant, tsr_pool *pool, const void *grad_out,
                                 const int64_t *index, void *grad_in, tsr_error *err);
tsr_status tsr__pooling_average_grad(const tsr_pooling_shape *shape, tsr_dtype dtype,
                                     tsr_kernel_variant variant, tsr_pool *pool,
                                     const void *grad_out, void *grad_in, tsr_error *err);

#endif
