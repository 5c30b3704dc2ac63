/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_attrs.h - printed by make ops from the rows: where attributes are, by
   name. In-place forms have those of their ops. */
#ifndef TSR_OPS_REDUCTION_ATTRS_H
#define TSR_OPS_REDUCTION_ATTRS_H

/* sum */
enum { TSR_ATTR_SUM_DIMS, TSR_ATTR_SUM_KEEPDIM };

/* mean */
enum { TSR_ATTR_MEAN_DIMS, TSR_ATTR_MEAN_KEEPDIM };

/* max */
enum { TSR_ATTR_MAX_DIMS, TSR_ATTR_MAX_KEEPDIM };

/* min */
enum { TSR_ATTR_MIN_DIMS, TSR_ATTR_MIN_KEEPDIM };

/* prod */
enum { TSR_ATTR_PROD_DIMS, TSR_ATTR_PROD_KEEPDIM };

/* norm */
enum { TSR_ATTR_NORM_DIMS, TSR_ATTR_NORM_KEEPDIM, TSR_ATTR_NORM_P };

/* var */
enum { TSR_ATTR_VAR_DIMS, TSR_ATTR_VAR_KEEPDIM, TSR_ATTR_VAR_CORRECTION };

/* std */
enum { TSR_ATTR_STD_DIMS, TSR_ATTR_STD_KEEPDIM, TSR_ATTR_STD_CORRECTION };

/* logsumexp */
enum { TSR_ATTR_LOGSUMEXP_DIMS, TSR_ATTR_LOGSUMEXP_KEEPDIM };

/* any */
enum { TSR_ATTR_ANY_DIMS, TSR_ATTR_ANY_KEEPDIM };

/* all */
enum { TSR_ATTR_ALL_DIMS, TSR_ATTR_ALL_KEEPDIM };

/* argmax */
enum { TSR_ATTR_ARGMAX_DIM, TSR_ATTR_ARGMAX_KEEPDIM };

/* argmin */
enum { TSR_ATTR_ARGMIN_DIM, TSR_ATTR_ARGMIN_KEEPDIM };

/* cumsum */
enum { TSR_ATTR_CUMSUM_DIM, TSR_ATTR_CUMSUM_REVERSE };

/* cumprod */
enum { TSR_ATTR_CUMPROD_DIM, TSR_ATTR_CUMPROD_REVERSE };

#endif
