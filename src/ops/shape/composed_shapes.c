/* SPDX-License-Identifier: Apache-2.0 */
/* composed_shapes.c - ops on shapes that are made of others (ops/shape/shape_composed.c), and their
   typed functions; tsr_split and tsr_chunk give any number of parts, their rows as many as a row
   has. */
#include <inttypes.h>

#include "base/args.h"
#include "dispatch/dispatch.h"
#include "ops/shape/shape_ops.h"
#include "ops/shape/shape_attrs.h"
#include "tessera_ops.h"

/* ---- split and chunk ---- */

static tsr_status dim_of(const char *op, const tsr_tensor *x, int64_t dim, int *out, tsr_error *err)
{
    const tsr_schema named = {.op = tsr__op_find(op)};

    return tsr__dim_normalise(&named, dim, x->local_spec->spec.shape.ndim, out, err);
}

static tsr_status split(tsr_tensor *x, int64_t given, const int64_t *sizes, int n, tsr_tensor **out,
                        tsr_error *err)
{
    int64_t sum = 0;
    char text[TSR_TEXT_LEN];
    int dim;
    tsr_status st;

    TSR_TRY(dim_of("split", x, given, &dim, err));
    if (!sizes && n > 0)
        return tsr__fail(err, TSR_ERR_ARG, "split: its list of %d number%s is NULL", n,
                         n == 1 ? "" : "s");
    for (int k = 0; k < n; k++)
        if (sizes[k] < 0 || __builtin_add_overflow(sum, sizes[k], &sum))
            return tsr__fail(err, TSR_ERR_ARG, "split: size %" PRId64 " of part %d is invalid",
                             sizes[k], k);
    if (sum != x->local_spec->spec.shape.size[dim])
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "split: %d sizes sum to %" PRId64 ", not to dim %d of %s", n, sum, dim,
                         tsr_spec_text(&x->local_spec->spec, text, sizeof text));
    sum = 0;
    for (int k = 0; k < n; k++) {
        out[k] = tsr_narrow(x, dim, sum, sizes[k]);
        TSR_TRY(tsr__tensor_status(out[k]));
        sum += sizes[k];
    }
done:
    return st;
}

/* The parts that there are not are NULL. */
static tsr_status chunk(tsr_tensor *x, int64_t given, int n, tsr_tensor **out, tsr_error *err)
{
    int64_t size, each, begin = 0;
    int dim;
    tsr_status st;

    TSR_TRY(dim_of("chunk", x, given, &dim, err));
    if (n < 1)
        return tsr__fail(err, TSR_ERR_ARG, "chunk: %d chunks, must be at least 1", n);
    size = x->local_spec->spec.shape.size[dim];
    each = size / n + (size % n != 0);
    for (int k = 0; k < n; k++) {
        const int64_t length = each < size - begin ? each : size - begin;

        out[k] = NULL;
        if (length > 0 || size == 0) {
            out[k] = tsr_narrow(x, dim, begin, length);
            TSR_TRY(tsr__tensor_status(out[k]));
        }
        begin += length;
    }
done:
    return st;
}

static tsr_status check_parts(const char *op, tsr_tensor *const *in, int n_in, int64_t n,
                              tsr_error *err)
{
    if (n_in != 1 || !in[0])
        return tsr__fail(err, TSR_ERR_ARG, "%s: input x is missing", op);
    if (n < 1 || n > TSR_MAX_OUT)
        return tsr__fail(err, TSR_ERR_ARG,
                         "%s: %" PRId64
                         " parts, but the op returns 1 to %d; tsr_%s returns any number",
                         op, n, TSR_MAX_OUT, op);
    return TSR_OK;
}

tsr_status tsr__compose_split(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                              tsr_tensor **out, tsr_error *err)
{
    const tsr_attr *sizes = &attrs->value[TSR_ATTR_SPLIT_SIZES];
    tsr_status st;

    TSR_TRY(check_parts("split", in, n_in, sizes->n, err));
    TSR_TRY(split(in[0], attrs->value[TSR_ATTR_SPLIT_DIM].i[0], sizes->i, sizes->n, out, err));
done:
    return st;
}

tsr_status tsr__compose_chunk(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                              tsr_tensor **out, tsr_error *err)
{
    const int64_t n =
        attrs->value[TSR_ATTR_CHUNK_CHUNKS].n < 1 ? 0 : attrs->value[TSR_ATTR_CHUNK_CHUNKS].i[0];
    tsr_status st;

    TSR_TRY(check_parts("chunk", in, n_in, n, err));
    TSR_TRY(chunk(in[0], attrs->value[TSR_ATTR_CHUNK_DIM].i[0], (int)n, out, err));
done:
    return st;
}

tsr_status tsr_split(tsr_tensor *x, int dim, const int64_t *sizes, int n, tsr_tensor **out)
{
    for (int k = 0; k < n && out; k++)
        out[k] = NULL;
    TSR_NEED(TSR_ERR_ARG, tsr__tensor_error(x), x, out);

    tsr_ctx *ctx = x->mesh->ctx;
    tsr_status st;

    for (int k = 0; k < n; k++)
        out[k] = ctx->error_tensor;
    TSR_TRY(tsr__tensor_check(ctx, x, "split"));
    TSR_TRY(split(x, dim, sizes, n, out, &ctx->error));
done:
    return tsr__poison_if_local(ctx, st);
}

tsr_status tsr_chunk(tsr_tensor *x, int dim, int n, tsr_tensor **out)
{
    for (int k = 0; k < n && out; k++)
        out[k] = NULL;
    TSR_NEED(TSR_ERR_ARG, tsr__tensor_error(x), x, out);

    tsr_ctx *ctx = x->mesh->ctx;
    tsr_status st;

    for (int k = 0; k < n; k++)
        out[k] = ctx->error_tensor;
    TSR_TRY(tsr__tensor_check(ctx, x, "chunk"));
    TSR_TRY(chunk(x, dim, n, out, &ctx->error));
done:
    return tsr__poison_if_local(ctx, st);
}

/* ---- blocks of space and depth ---- */

/* The input as [n, c, h, w], and whether its sizes are multiples of what a block needs. */
static tsr_status check_image(const char *op, tsr_tensor *const *in, int n_in,
                              const tsr_attrs *attrs, bool deep, tsr_error *err)
{
    const int64_t block = attrs->value[TSR_ATTR_DEPTH_TO_SPACE_BLOCK].n < 1
                              ? 0
                              : attrs->value[TSR_ATTR_DEPTH_TO_SPACE_BLOCK].i[0];
    const tsr_shape *x;
    char text[TSR_TEXT_LEN];

    if (n_in != 1 || !in[0])
        return tsr__fail(err, TSR_ERR_ARG, "%s: input x is missing", op);
    x = &in[0]->local_spec->spec.shape;
    if (block < 1 || block > INT32_MAX)
        return tsr__fail(err, TSR_ERR_ARG, "%s: block is %" PRId64 ", must be at least 1", op,
                         block);
    if (x->ndim != 4 || (deep ? x->size[1] % (block * block) != 0
                              : x->size[2] % block != 0 || x->size[3] % block != 0))
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: %s is not [n, c, h, w] with %s divisible by block %" PRId64, op,
                         tsr_spec_text(&in[0]->local_spec->spec, text, sizeof text),
                         deep ? "channels" : "rows and columns", block);
    return TSR_OK;
}

tsr_status tsr__compose_depth_to_space(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                                       tsr_tensor **out, tsr_error *err)
{
    static const int rows_first[] = {0, 3, 4, 1, 5, 2}, columns_first[] = {0, 1, 4, 2, 5, 3};
    const bool crd = attrs->value[TSR_ATTR_DEPTH_TO_SPACE_CRD].i[0];
    tsr_status st;

    TSR_TRY(check_image("depth_to_space", in, n_in, attrs, true, err));
    const int64_t b = attrs->value[TSR_ATTR_DEPTH_TO_SPACE_BLOCK].i[0],
                  *x = in[0]->local_spec->spec.shape.size, c = x[1] / (b * b);
    const int64_t blocks[] = {x[0], crd ? c : b, b, crd ? b : c, x[2], x[3]};
    const int64_t flat[] = {x[0], c, x[2] * b, x[3] * b};

    out[0] = tsr_permute(tsr_reshape(in[0], blocks, 6), crd ? columns_first : rows_first, 6);
    out[0] = tsr_reshape(out[0], flat, 4);
done:
    return st;
}

tsr_status tsr__compose_space_to_depth(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                                       tsr_tensor **out, tsr_error *err)
{
    static const int rows_first[] = {0, 3, 5, 1, 2, 4}, columns_first[] = {0, 1, 3, 5, 2, 4};
    const bool crd = attrs->value[TSR_ATTR_SPACE_TO_DEPTH_CRD].i[0];
    tsr_status st;

    TSR_TRY(check_image("space_to_depth", in, n_in, attrs, false, err));
    const int64_t b = attrs->value[TSR_ATTR_SPACE_TO_DEPTH_BLOCK].i[0],
                  *x = in[0]->local_spec->spec.shape.size;
    const int64_t blocks[] = {x[0], x[1], x[2] / b, b, x[3] / b, b};
    const int64_t flat[] = {x[0], x[1] * b * b, x[2] / b, x[3] / b};

    out[0] = tsr_permute(tsr_reshape(in[0], blocks, 6), crd ? columns_first : rows_first, 6);
    out[0] = tsr_reshape(out[0], flat, 4);
done:
    return st;
}
