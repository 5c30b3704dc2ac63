/* SPDX-License-Identifier: Apache-2.0 */
/* typed_creation.c - arange, linspace and eye: a tensor that is not set, filled by a row. */
#include "ops/random/typed_creation.h"

#include "op/element_attr.h"
#include "ops/op_ids.h"
#include "tessera_ops.h"

tsr_tensor *tsr__make_by(int op, tsr_mesh *mesh, const char *spec, const tsr_attr *attrs)
{
    tsr_tensor *x = NULL;
    tsr_status st;

    if (!mesh)
        return NULL;
    st = tsr__tensor_of_text(mesh, spec, &x);
    x = tsr__tensor_or_error(mesh->ctx, st, x);
    return st == TSR_OK ? tsr__dispatch_typed(op, &x, 1, attrs, NULL) : x;
}

tsr_tensor *tsr_arange(tsr_mesh *mesh, const char *spec, double start, double step)
{
    return tsr__make_by(TSR_ID_ARANGE, mesh, spec,
                        (const tsr_attr[]){tsr__element(start), tsr__element(step)});
}

tsr_tensor *tsr_linspace(tsr_mesh *mesh, const char *spec, double start, double stop)
{
    return tsr__make_by(TSR_ID_LINSPACE, mesh, spec,
                        (const tsr_attr[]){tsr__number(start), tsr__number(stop)});
}

tsr_tensor *tsr_eye(tsr_mesh *mesh, const char *spec)
{
    return tsr__make_by(TSR_ID_EYE, mesh, spec, NULL);
}
