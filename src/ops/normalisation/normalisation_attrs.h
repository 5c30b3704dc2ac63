/* SPDX-License-Identifier: Apache-2.0 */
/* normalisation_attrs.h - printed by make ops from the rows: where attributes are, by
   name. In-place forms have those of their ops. */
#ifndef TSR_OPS_NORMALISATION_ATTRS_H
#define TSR_OPS_NORMALISATION_ATTRS_H

/* softmax */
enum { TSR_ATTR_SOFTMAX_DIM };

/* log_softmax */
enum { TSR_ATTR_LOG_SOFTMAX_DIM };

/* softmax_backward */
enum { TSR_ATTR_SOFTMAX_BACKWARD_DIM };

/* log_softmax_backward */
enum { TSR_ATTR_LOG_SOFTMAX_BACKWARD_DIM };

/* batch_norm */
enum { TSR_ATTR_BATCH_NORM_TRAINING, TSR_ATTR_BATCH_NORM_EPS, TSR_ATTR_BATCH_NORM_VARIANCE };

/* batch_norm_backward */
enum { TSR_ATTR_BATCH_NORM_BACKWARD_TRAINING, TSR_ATTR_BATCH_NORM_BACKWARD_OUTPUT_MASK };

/* group_norm */
enum { TSR_ATTR_GROUP_NORM_GROUPS, TSR_ATTR_GROUP_NORM_EPS };

/* group_norm_backward */
enum { TSR_ATTR_GROUP_NORM_BACKWARD_GROUPS, TSR_ATTR_GROUP_NORM_BACKWARD_OUTPUT_MASK };

/* instance_norm */
enum { TSR_ATTR_INSTANCE_NORM_EPS };

/* running_update */
enum { TSR_ATTR_RUNNING_UPDATE_MOMENTUM };

/* layer_norm */
enum { TSR_ATTR_LAYER_NORM_N_DIMS, TSR_ATTR_LAYER_NORM_EPS };

/* layer_norm_backward */
enum { TSR_ATTR_LAYER_NORM_BACKWARD_N_DIMS, TSR_ATTR_LAYER_NORM_BACKWARD_OUTPUT_MASK };

/* rms_norm */
enum { TSR_ATTR_RMS_NORM_N_DIMS, TSR_ATTR_RMS_NORM_EPS };

/* rms_norm_backward */
enum { TSR_ATTR_RMS_NORM_BACKWARD_N_DIMS, TSR_ATTR_RMS_NORM_BACKWARD_OUTPUT_MASK };

#endif
