/* SPDX-License-Identifier: Apache-2.0 */
/* bad_values.c - see bad_values.h. */
#include "run/bad_values.h"

#include "world/verdict.h"

static bool is_index(tsr_dtype dtype)
{
    return dtype == TSR_I32 || dtype == TSR_I64;
}

static bool is_replicated(const tsr_mesh *mesh, const tsr_spec *spec)
{
    for (int m = 0; m < mesh->shape.ndim; m++)
        if (mesh->shape.size[m] > 1 && spec->place[m].kind != TSR_REPLICATE)
            return false;
    return true;
}

/* Do all ranks hold the same indices, and so find the same? Where an op has none, its kernel judges
   other values. */
static bool indices_shared(const tsr_mesh *mesh, tsr_tensor *const *in, int n_in)
{
    bool any = false, shared = true, all = true;

    for (int k = 0; k < n_in; k++) {
        const tsr_spec *spec = in[k] ? &in[k]->local_spec->spec : NULL;

        if (spec && is_index(spec->dtype)) {
            any = true;
            shared = shared && is_replicated(mesh, spec);
        }
        all = all && (!spec || is_replicated(mesh, spec));
    }
    return any ? shared : all;
}

tsr_status tsr__bad_values(tsr_mesh *mesh, tsr_tensor *const *in, int n_in, const char *part,
                           const tsr_error *err)
{
    if (err->code == TSR_OK)
        return TSR_OK;
    return tsr__verdict_raise(mesh, indices_shared(mesh, in, n_in), err->code, "%s%s",
                              part ? part : "", err->text);
}
