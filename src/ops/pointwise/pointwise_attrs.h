/* SPDX-License-Identifier: Apache-2.0 */
/* pointwise_attrs.h - printed by make ops from the rows: where attributes are, by
   name. In-place forms have those of their ops. */
#ifndef TSR_OPS_POINTWISE_ATTRS_H
#define TSR_OPS_POINTWISE_ATTRS_H

/* gelu */
enum { TSR_ATTR_GELU_TANH };

/* leaky_relu */
enum { TSR_ATTR_LEAKY_RELU_NEGATIVE_SLOPE };

/* elu */
enum { TSR_ATTR_ELU_ALPHA };

/* affine */
enum { TSR_ATTR_AFFINE_MUL, TSR_ATTR_AFFINE_ADD };

/* clamp */
enum { TSR_ATTR_CLAMP_MIN, TSR_ATTR_CLAMP_MAX };

/* fill */
enum { TSR_ATTR_FILL_VALUE };

/* masked_fill */
enum { TSR_ATTR_MASKED_FILL_VALUE };

/* lerp */
enum { TSR_ATTR_LERP_WEIGHT };

/* addcmul */
enum { TSR_ATTR_ADDCMUL_VALUE };

/* addcdiv */
enum { TSR_ATTR_ADDCDIV_VALUE };

/* gelu_backward */
enum { TSR_ATTR_GELU_BACKWARD_TANH };

/* cast */
enum { TSR_ATTR_CAST_DTYPE };

/* hardsigmoid */
enum { TSR_ATTR_HARDSIGMOID_ALPHA, TSR_ATTR_HARDSIGMOID_BETA };

/* selu */
enum { TSR_ATTR_SELU_ALPHA, TSR_ATTR_SELU_SCALE };

/* celu */
enum { TSR_ATTR_CELU_ALPHA };

/* threshold */
enum { TSR_ATTR_THRESHOLD_THRESHOLD, TSR_ATTR_THRESHOLD_VALUE };

/* hardshrink */
enum { TSR_ATTR_HARDSHRINK_LAMBD };

/* softshrink */
enum { TSR_ATTR_SOFTSHRINK_LAMBD };

#endif
