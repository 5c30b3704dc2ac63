/* SPDX-License-Identifier: Apache-2.0 */
/* linalg_attrs.h - printed by make ops from the rows: where attributes are, by
   name. In-place forms have those of their ops. */
#ifndef TSR_OPS_LINALG_ATTRS_H
#define TSR_OPS_LINALG_ATTRS_H

/* einsum */
enum { TSR_ATTR_EINSUM_EQUATION };

#endif
