/* SPDX-License-Identifier: Apache-2.0 */
/* attention_attrs.h - printed by make ops from the rows: where attributes are, by
   name. In-place forms have those of their ops. */
#ifndef TSR_OPS_ATTENTION_ATTRS_H
#define TSR_OPS_ATTENTION_ATTRS_H

/* attention */
enum { TSR_ATTR_ATTENTION_CAUSAL, TSR_ATTR_ATTENTION_SCALE, TSR_ATTR_ATTENTION_GROUP };

/* attention_backward */
enum {
    TSR_ATTR_ATTENTION_BACKWARD_CAUSAL,
    TSR_ATTR_ATTENTION_BACKWARD_SCALE,
    TSR_ATTR_ATTENTION_BACKWARD_GROUP,
    TSR_ATTR_ATTENTION_BACKWARD_MASK_GRAD
};

#endif
