/* SPDX-License-Identifier: Apache-2.0 */
/* resample.c - resampling: which window a part needs, and whether the reference or sums make the
   results. Called by resampling.c. */
#include "ops/convolution/resample_geometry.h"

#include "kernel/kinds.h"
#include "kernel/sku.h"

#include <inttypes.h>

#define MOST (INT64_C(1) << 30) /* elements of a dim: products of two are far from overflow */

/* ---- windows ---- */

static tsr_window_law forward_law(tsr_resample_kind kind, int64_t in, int64_t out)
{
    const int64_t den = out > 1 ? out - 1 : 1;

    switch (kind) {
    case TSR_RESAMPLE_AVERAGE: return (tsr_window_law){in, 0, in + out - 1, out};
    case TSR_RESAMPLE_NEAREST: return (tsr_window_law){in, 0, out, out};
    case TSR_RESAMPLE_LINEAR: return (tsr_window_law){2 * in, in - out, in + 3 * out - 1, 2 * out};
    case TSR_RESAMPLE_CORNERS: break;
    }
    return (tsr_window_law){in - 1, 0, 2 * den - 1, den};
}

/* The outputs o whose window has input i in it: the bounds above, solved for o. */
static tsr_window_law backward_law(tsr_resample_kind kind, int64_t in, int64_t out)
{
    switch (kind) {
    case TSR_RESAMPLE_AVERAGE: return (tsr_window_law){out, 0, out + in - 1, in};
    case TSR_RESAMPLE_NEAREST: return (tsr_window_law){out, in - 1, out + in - 1, in};
    case TSR_RESAMPLE_LINEAR: return (tsr_window_law){2 * out, in - out, in + 3 * out - 1, 2 * in};
    case TSR_RESAMPLE_CORNERS: break;
    }
    if (in == 1 || out == 1) /* one input that all outputs see, or one output */
        return (tsr_window_law){0, 0, out, 1};
    return (tsr_window_law){out - 1, in - out, in + out - 3, in - 1};
}

tsr_window_law tsr__resample_law(tsr_resample_kind kind, bool back, int64_t in, int64_t out)
{
    if (out == 0)
        return (tsr_window_law){0, 0, 0, 1};
    return back ? backward_law(kind, in, out) : forward_law(kind, in, out);
}

/* ---- sizes ---- */

tsr_status tsr__resample_check(const char *op, const tsr_resample_shape *s, tsr_error *err)
{
    if (s->ndim < 1 || s->ndim > TSR_CONV_DIMS)
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: 1 to 3 spatial dims are needed, not %d", op,
                         s->ndim);
    for (int d = 0; d < s->ndim; d++) {
        const int64_t in = s->whole_in[d], out = s->whole_out[d];

        if (in < 1 || in > MOST || out < 0 || out > MOST)
            return tsr__fail(err, TSR_ERR_SHAPE,
                             "%s: spatial dim %d cannot be resized from %" PRId64 " to %" PRId64,
                             op, d, in, out);
    }
    return TSR_OK;
}

static tsr_resample_geometry geometry_of(const tsr_resample_shape *s, tsr_resample_kind kind,
                                         bool back)
{
    const int64_t *n = back ? s->out_count : s->in_count, *m = back ? s->in_count : s->out_count;
    const int64_t *source = back ? s->out_first : s->in_first;
    const int64_t *result = back ? s->in_first : s->out_first;
    tsr_resample_geometry g = {
        .kind = kind, .back = back, .planes = s->planes, .n_count = 1, .m_count = 1};

    for (int d = 0; d < TSR_CONV_DIMS; d++) {
        const int i = d - (TSR_CONV_DIMS - s->ndim);

        g.dim[d] = i < 0 ? (tsr_resample_dim){1, 1, 0, 1, 0, 1}
                         : (tsr_resample_dim){s->whole_in[i], s->whole_out[i], source[i],
                                              n[i],           result[i],       m[i]};
        g.n_count *= g.dim[d].n;
        g.m_count *= g.dim[d].m;
    }
    return g;
}

tsr_status tsr__resample(const tsr_resample_shape *shape, tsr_resample_kind kind, bool back,
                         tsr_dtype dtype, tsr_kernel_variant variant, tsr_pool *pool,
                         const void *source, void *result, tsr_error *err)
{
    tsr_resample_geometry g = geometry_of(shape, kind, back);
    const int op = kind == TSR_RESAMPLE_CORNERS ? TSR_RESAMPLE_LINEAR : kind;

    variant = tsr__variant_best(TSR_CATEGORY_RESAMPLING, (uint16_t)(2 * op + back), dtype, variant);
    if (g.planes * g.m_count == 0)
        return TSR_OK;
    if (variant != TSR_VARIANT_REFERENCE)
        return tsr__resample_sum(&g, dtype, variant, pool, source, result, err);
    tsr__resample_reference(&g, dtype, source, result);
    return TSR_OK;
}
