/* SPDX-License-Identifier: Apache-2.0 */
/* batches.c - which samples are in which batch, a pure function, and batches as tensors: every rank
   copies the part that it holds out of its own memory. */
#include <inttypes.h>
#include <string.h>

#include "base/args.h"
#include "exchange/exchange.h"
#include "io/dataset.h"
#include "ops/random/random.h"
#include "tensor/partial.h"
#include "tensor/tensor.h"

/* ---- the order ---- */

int64_t tsr_batches_count(const tsr_batches *b)
{
    TSR_NEED(0, NULL, b);
    if (b->size < 1 || b->samples < 1)
        return 0;
    return b->samples / b->size + (b->keep_last && b->samples % b->size != 0);
}

static int64_t size_of(const tsr_batches *b, int64_t i)
{
    const int64_t left = b->samples - i * b->size;

    return left < b->size ? left : b->size;
}

static tsr_random order_of(const tsr_batches *b, int64_t epoch)
{
    return tsr__permutation_of(&(tsr_stream){b->seed, (uint64_t)epoch}, b->samples);
}

int64_t tsr_batches_sample(const tsr_batches *b, int64_t epoch, int64_t i, int64_t k)
{
    TSR_NEED(-1, NULL, b);

    tsr_random order;

    if (i < 0 || i >= tsr_batches_count(b) || k < 0 || k >= size_of(b, i))
        return -1;
    if (b->in_order)
        return i * b->size + k;
    order = order_of(b, epoch);
    return (int64_t)tsr__permuted(&order, (uint64_t)(i * b->size + k));
}

/* ---- a batch ---- */

static tsr_status check_batches(const tsr_dataset *data, const tsr_batches *b, const char *function)
{
    tsr_error *err = &data->mesh->ctx->error;

    if (!b)
        return tsr__fail(err, TSR_ERR_ARG, "%s: the batches are NULL", function);
    if (b->size < 1)
        return tsr__fail(err, TSR_ERR_ARG, "%s: a batch needs at least 1 sample, not %" PRId64,
                         function, b->size);
    if (b->samples != data->shape.size[0])
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: batches are for %" PRId64 " samples, but %s has %" PRId64, function,
                         b->samples, data->name, data->shape.size[0]);
    if (tsr_batches_count(b) == 0)
        return tsr__fail(err, TSR_ERR_ARG,
                         "%s: a batch of %" PRId64 " samples is larger than %s, which has %" PRId64,
                         function, b->size, data->name, b->samples);
    return TSR_OK;
}

static tsr_status batch_spec(const tsr_dataset *data, int64_t n, const char *placements,
                             tsr_spec *out)
{
    tsr_spec like = {.dtype = data->dtype, .shape = data->shape, .mesh = data->mesh->shape};

    like.shape.size[0] = n;
    return tsr_placements_parse(placements, &like, out, &data->mesh->ctx->error);
}

/* How a rank's part of a sample is cut out of the whole, which is the same for all: a sample is the
   batch without its first dim. */
static tsr_status sample_cut(tsr_ctx *ctx, const tsr_layout *batch, tsr_exchange *out)
{
    tsr_layout whole = {.dtype = batch->dtype, .mesh = batch->mesh}, part;
    tsr_exchange_ask ask = {.from = &whole, .to = &part, .ranks = &ctx->world->rank, .n = 1};

    whole.shape.ndim = batch->shape.ndim - 1;
    memcpy(whole.shape.size, batch->shape.size + 1,
           (size_t)whole.shape.ndim * sizeof *whole.shape.size);
    part = whole;
    memcpy(part.dim, batch->dim + 1, (size_t)whole.shape.ndim * sizeof *part.dim);
    return tsr__exchange_make(&ctx->heap, &ask, out, &ctx->error);
}

static void copy_sample(size_t size, const tsr_exchange *cut, const char *from, char *to)
{
    for (int i = 0; cut->n_send && i < cut->send[0].n_pieces; i++)
        tsr__piece_copy(size, to, &cut->recv[0].piece[i], from, &cut->send[0].piece[i]);
}

static tsr_status fill(const tsr_dataset *data, const tsr_batches *b, int64_t epoch, int64_t i,
                       tsr_tensor *x)
{
    tsr_ctx *ctx = data->mesh->ctx;
    const tsr_layout layout = tsr__layout_of(&x->local_spec->spec);
    const size_t size = tsr_dtype_size(data->dtype);
    const int64_t rows = x->local_spec->local.size[0];
    const int64_t part = rows ? (int64_t)x->local_spec->bytes / rows : 0;
    const int64_t whole = (int64_t)size * tsr_shape_count(&data->shape) / b->samples;
    const tsr_random order = order_of(b, epoch);
    char *to = tsr__tensor_data(x);
    tsr_exchange cut = {0};
    tsr_runs held = {0};
    tsr_status st;

    TSR_TRY(tsr__layout_runs(&ctx->heap, &layout, 0, data->mesh->coord, &held, &ctx->error));
    TSR_TRY(sample_cut(ctx, &layout, &cut));
    for (int64_t k = 0; k < rows && part > 0; k++) {
        int64_t sample = i * b->size + tsr__runs_index(&held, k);
        const char *from;

        if (!b->in_order)
            sample = (int64_t)tsr__permuted(&order, (uint64_t)sample);
        from = (const char *)data->memory + sample * whole;
        if (part == whole)
            memcpy(to + k * part, from, (size_t)part);
        else
            copy_sample(size, &cut, from, to + k * part);
    }
    tsr__make_partial(&layout, tsr__partial_mdims(&layout), data->mesh->coord, to,
                      tsr_shape_count(&x->local_spec->local));
done:
    tsr__runs_free(&ctx->heap, &held);
    tsr__exchange_free(&ctx->heap, &cut);
    return st;
}

tsr_tensor *tsr_batch(const tsr_dataset *data, const tsr_batches *b, int64_t epoch, int64_t i,
                      const char *placements)
{
    tsr_tensor *x = NULL;
    tsr_spec spec;
    tsr_ctx *ctx;
    tsr_status st;

    if (!data)
        return NULL;
    ctx = data->mesh->ctx;
    TSR_TRY(check_batches(data, b, "tsr_batch"));
    if (epoch < 0 || i < 0 || i >= tsr_batches_count(b))
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG,
                          "tsr_batch: there is no batch %" PRId64 " in epoch %" PRId64
                          "; an epoch has %" PRId64,
                          i, epoch, tsr_batches_count(b)));
    TSR_TRY(batch_spec(data, size_of(b, i), placements, &spec));
    TSR_TRY(tsr__tensor_make(data->mesh, &spec, &x));
    if (tsr__tensor_data(x))
        TSR_TRY(fill(data, b, epoch, i, x));
done:
    return tsr__tensor_or_error(ctx, st, x);
}

tsr_status tsr_batches_check(const tsr_dataset *data, const tsr_batches *b, const char *placements)
{
    TSR_NEED(TSR_ERR_ARG, NULL, data);

    tsr_error *err = &data->mesh->ctx->error;
    char names[TSR_TEXT_LEN];
    unsigned mdims = 0;
    int64_t ranks = 1;
    tsr_layout layout;
    tsr_spec spec;
    tsr_status st;

    TSR_TRY(check_batches(data, b, "tsr_batches_check"));
    TSR_TRY(batch_spec(data, b->size, placements, &spec));
    layout = tsr__layout_of(&spec);
    for (int j = 0; j < layout.dim[0].n; j++) {
        const int m = layout.dim[0].mdim[j];

        ranks *= spec.mesh.size[m];
        mdims |= 1U << m;
    }
    if (b->size < ranks)
        TSR_TRY(
            tsr__fail(err, TSR_ERR_SHAPE,
                      "a batch of %" PRId64 " is smaller than the %" PRId64 " ranks of mesh dim %s",
                      b->size, ranks, tsr__mesh_dims_text(&spec.mesh, mdims, names, sizeof names)));
done:
    return st;
}
