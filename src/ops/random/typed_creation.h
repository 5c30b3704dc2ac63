/* SPDX-License-Identifier: Apache-2.0 */
/* typed_creation.h - tensors made by rows in place. */
#ifndef TSR_OPS_TYPED_CREATION_H
#define TSR_OPS_TYPED_CREATION_H

#include "dispatch/typed_attr.h"

/* A tensor of this spec, filled by the row of that name; or the error tensor. */
tsr_tensor *tsr__make_by(int op, tsr_mesh *mesh, const char *spec, const tsr_attr *attrs);

#endif
