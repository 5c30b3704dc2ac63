/* SPDX-License-Identifier: Apache-2.0 */
/* infer.c - shapes and dtypes of outputs, broadcasting included, with errors in the user's
   terms. */
#include "op/infer.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/dtype_range.h"
#include "op/element_attr.h"

tsr_status tsr__same_dtype(const tsr_schema *s, tsr_error *err)
{
    char text[2 * TSR_TEXT_LEN];

    for (int k = 1; k < s->n_in; k++)
        if (tsr__schema_has(s, k) && s->in[k].dtype != s->in[0].dtype)
            return tsr__fail(err, TSR_ERR_DTYPE, "%s: dtypes differ in %s", s->op->name,
                             tsr_schema_text(s, text, sizeof text));
    return TSR_OK;
}

tsr_status tsr__needs_float(const tsr_schema *s, tsr_error *err)
{
    char text[TSR_TEXT_LEN];

    if (tsr__dtype_is_float(s->in[0].dtype) || (int)s->in[0].dtype == TSR__FIELD)
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_DTYPE, "%s: needs a floating-point dtype, not %s", s->op->name,
                     tsr_spec_text(&s->in[0], text, sizeof text));
}

tsr_status tsr__dtype_given(const tsr_schema *s, const tsr_attr *attr, tsr_dtype *out,
                            tsr_error *err)
{
    if (attr->i[0] < 0 || attr->i[0] >= TSR__FIELD)
        return tsr__fail(err, TSR_ERR_DTYPE, "%s: unknown dtype %" PRId64, s->op->name, attr->i[0]);
    *out = (tsr_dtype)attr->i[0];
    return TSR_OK;
}

tsr_status tsr__element_check(const tsr_schema *s, int attr, tsr_dtype dtype, tsr_error *err)
{
    const tsr_attr *x = &s->attrs.value[attr];
    const int64_t integer = x->i[TSR_ELEMENT_INTEGER];
    char what[TSR_TEXT_LEN];
    int length;
    const char *name = tsr__attr_name(s->op, attr, &length);

    if (tsr__dtype_is_float(dtype) || (int)dtype == TSR__FIELD || x->n < 1)
        return TSR_OK;
    snprintf(what, sizeof what, "%s: %.*s", s->op->name, length, name);
    if (!x->i[TSR_ELEMENT_IS_INTEGER])
        return tsr__dtype_check(dtype, x->f, what, err);
    if (integer < tsr__dtype_min(dtype) ||
        (integer > 0 && (uint64_t)integer > tsr__dtype_max(dtype)))
        return tsr__fail(err, TSR_ERR_ARG,
                         "%s=%" PRId64 " is out of range %" PRId64 " to %" PRIu64 " of dtype %s",
                         what, integer, tsr__dtype_min(dtype), tsr__dtype_max(dtype),
                         tsr_dtype_name(dtype));
    return TSR_OK;
}

tsr_status tsr__shape_same(tsr_schema *s, tsr_error *err)
{
    (void)err;
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = s->in[0].shape;
    return TSR_OK;
}

tsr_status tsr__shape_broadcast(tsr_schema *s, tsr_error *err)
{
    tsr_shape out = {0};
    char text[2 * TSR_TEXT_LEN];

    for (int k = 0; k < s->n_in; k++)
        if (tsr__schema_has(s, k) && s->in[k].shape.ndim > out.ndim)
            out.ndim = s->in[k].shape.ndim;
    for (int d = 0; d < out.ndim; d++) {
        int64_t size = 1;
        for (int k = 0; k < s->n_in; k++) {
            int own = tsr__schema_has(s, k) ? d - (out.ndim - s->in[k].shape.ndim) : -1;
            int64_t n = own < 0 ? 1 : s->in[k].shape.size[own];
            if (n != 1 && size != 1 && n != size)
                return tsr__fail(err, TSR_ERR_SHAPE, "%s: shapes do not broadcast, %s", s->op->name,
                                 tsr_schema_text(s, text, sizeof text));
            size = n == 1 ? size : n;
        }
        out.size[d] = size;
    }
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = out;
    return TSR_OK;
}

tsr_status tsr__dims_list(const tsr_schema *s, int ndim, int dim[TSR_MAX_DIM], int *n,
                          unsigned *mask, tsr_error *err)
{
    const tsr_attr *dims = tsr_schema_attr(s, "dims");
    tsr_status st = TSR_OK;

    *mask = 0;
    *n = dims->n < 0 ? 0 : dims->n;
    for (int i = 0; i < *n; i++) {
        TSR_TRY(tsr__dim_normalise(s, dims->i[i], ndim, &dim[i], err));
        if (*mask >> dim[i] & 1)
            TSR_TRY(tsr__fail(err, TSR_ERR_ARG, "%s: dim %d is repeated", s->op->name, dim[i]));
        *mask |= 1u << dim[i];
    }
done:
    return st;
}

tsr_status tsr__dims_mask(const tsr_schema *s, unsigned *out, tsr_error *err)
{
    int dim[TSR_MAX_DIM], n;
    unsigned mask;
    tsr_status st;

    TSR_TRY(tsr__dims_list(s, s->in[0].shape.ndim, dim, &n, &mask, err));
    *out = n > 0 ? mask : (1u << s->in[0].shape.ndim) - 1;
done:
    return st;
}

void tsr__bind_sizes(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out, const int *coord,
                     tsr_kernel_call *call)
{
    (void)in;
    (void)out;
    (void)coord;
    for (int d = 0; d < s->in[0].shape.ndim; d++)
        call->number[d] = s->in[0].shape.size[d];
}
