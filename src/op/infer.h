/* SPDX-License-Identifier: Apache-2.0 */
/* infer.h - functions that several rows share, most of them for shapes, and what they are made of.
   Pure. */
#ifndef TSR_OP_INFER_H
#define TSR_OP_INFER_H

#include "op/schema.h"

tsr_status tsr__shape_same(tsr_schema *s, tsr_error *err); /* that of the first input */
/* Of all inputs, numpy's way, whatever their dtypes are; the dtype of the first. */
tsr_status tsr__shape_broadcast(tsr_schema *s, tsr_error *err);

/* All inputs that are there have the dtype of the first. */
tsr_status tsr__same_dtype(const tsr_schema *s, tsr_error *err);
tsr_status tsr__needs_float(const tsr_schema *s, tsr_error *err);
/* The dtype that an attribute gives by its number. */
tsr_status tsr__dtype_given(const tsr_schema *s, const tsr_attr *attr, tsr_dtype *out,
                            tsr_error *err);
/* An attribute of type element: if the dtype is an integer one, it has the number. */
tsr_status tsr__element_check(const tsr_schema *s, int attr, tsr_dtype dtype, tsr_error *err);
/* For rows' bind_rank: the sizes of the whole first input are the kernel's numbers. */
void tsr__bind_sizes(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out, const int *coord,
                     tsr_kernel_call *call);
/* The dims of a tensor of ndim that attribute `dims` names, in its order; none twice. How many, and
   which as a mask. */
tsr_status tsr__dims_list(const tsr_schema *s, int ndim, int dim[TSR_MAX_DIM], int *n,
                          unsigned *mask, tsr_error *err);
/* The dims that attribute `dims` names, as a mask; all of them if it is left out or empty. */
tsr_status tsr__dims_mask(const tsr_schema *s, unsigned *out, tsr_error *err);

#endif
