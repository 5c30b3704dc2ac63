/* SPDX-License-Identifier: Apache-2.0 */
/* dataset.c - datasets come from a file or from an array. Files are read by every rank; before
   anyone goes on, the ranks agree that all could read the same. Batches are batches.c. */
#include "io/dataset.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "base/activity.h"
#include "base/args.h"
#include "base/dtype.h"
#include "io/idx.h"
#include "layout/spec.h"
#include "world/agree.h"

void tsr_dataset_free(tsr_dataset *data)
{
    tsr_heap *heap;

    if (!data)
        return;
    heap = &data->mesh->ctx->heap;
    tsr__free(heap, data->memory);
    tsr__free(heap, data->name);
    tsr_mesh_unref(data->mesh);
    tsr__free(heap, data);
}

static tsr_status make(tsr_mesh *mesh, const char *name, tsr_dataset **out, tsr_error *err)
{
    tsr_heap *heap = &mesh->ctx->heap;
    tsr_dataset *data = NULL;
    char *copy = NULL;
    tsr_status st;

    TSR_TRY(tsr__alloc(heap, (int64_t)strlen(name) + 1, 1, &copy, err));
    TSR_TRY(tsr__alloc(heap, 1, sizeof *data, &data, err));
    strcpy(copy, name);
    *data = (tsr_dataset){.mesh = tsr_mesh_ref(mesh), .name = copy};
    *out = data;
    copy = NULL;
done:
    tsr__free(heap, copy);
    return st;
}

/* ---- files ---- */

/* What the ranks compare. */
typedef struct digest {
    int64_t size[TSR_MAX_DIM];
    int32_t dtype, ndim;
    uint64_t crc;
    bool read;
} digest;

static tsr_status read_idx(tsr_mesh *mesh, const char *path, tsr_dataset **out, digest *sum,
                           tsr_error *err)
{
    tsr_dataset *data = NULL;
    tsr_idx idx;
    tsr_status st;

    TSR_TRY(make(mesh, path, &data, err));
    TSR_TRY(tsr__idx_read(&mesh->ctx->heap, path, &idx, err));
    data->dtype = idx.dtype;
    data->shape = idx.shape;
    data->memory = idx.data;
    memcpy(sum->size, idx.shape.size, sizeof sum->size);
    sum->dtype = (int32_t)idx.dtype;
    sum->ndim = idx.shape.ndim;
    sum->crc = crc32_z(0, idx.data, (z_size_t)idx.bytes);
    sum->read = true;
    *out = data;
    data = NULL;
done:
    tsr_dataset_free(data);
    return st;
}

static bool same(const digest *a, const digest *b)
{
    return a->dtype == b->dtype && a->ndim == b->ndim && a->crc == b->crc &&
           memcmp(a->size, b->size, sizeof a->size) == 0;
}

tsr_status tsr_dataset_idx(tsr_mesh *mesh, const char *path, tsr_dataset **out)
{
    TSR_NEED(TSR_ERR_ARG, tsr__mesh_error(mesh), mesh, path, out);

    tsr_ctx *ctx = mesh->ctx;
    const tsr_booking b = tsr__activity_begin(ctx);
    const bool alone = mesh->index < 0 || ctx->world->kind == TSR_WORLD_SIM;
    tsr_dataset *data = NULL;
    tsr_error err = {0};
    digest mine = {0}, first;
    tsr_status st = TSR_OK, read;

    if (!path || !out)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG, "tsr_dataset_idx: %s is NULL",
                          path ? "out" : "the path"));
    if (alone) {
        st = read_idx(mesh, path, &data, &mine, &ctx->error);
        if (mesh->index < 0)
            st = tsr__poison_if_local(ctx, st);
        TSR_TRY(st);
        *out = data;
        goto done;
    }
    read = read_idx(mesh, path, &data, &mine, &err);
    first = mine;
    st = tsr_broadcast(mesh, TSR_U8, &first, (int64_t)sizeof first, 0);
    if (st == TSR_OK && mine.read && first.read && !same(&mine, &first))
        read = tsr__fail(&err, TSR_ERR_FORMAT,
                         "IDX file %s differs between rank %d and the mesh's first rank", path,
                         ctx->world->rank);
    if (st == TSR_OK)
        st = tsr__agree(mesh, read, &err);
    if (st == TSR_OK)
        *out = data;
    else
        tsr_dataset_free(data);
done:
    tsr__activity_end(ctx, &b, TSR_DO_FILE, 1);
    return st;
}

/* ---- arrays ---- */

tsr_status tsr_dataset_from_host(tsr_mesh *mesh, tsr_dtype dtype, const tsr_shape *shape,
                                 const void *memory, size_t bytes, tsr_dataset **out)
{
    TSR_NEED(TSR_ERR_ARG, tsr__mesh_error(mesh), mesh, shape, out);

    tsr_ctx *ctx = mesh->ctx;
    tsr_dataset *data = NULL;
    size_t want;
    tsr_status st;

    if (!tsr__dtype_valid(dtype))
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_DTYPE, "tsr_dataset_from_host: unknown dtype %d",
                          (int)dtype));
    TSR_TRY(tsr__shape_check(shape, tsr_dtype_size(dtype), &ctx->error));
    if (shape->ndim < 1)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_SHAPE,
                          "tsr_dataset_from_host: a dataset needs a sample dim, dim 0"));
    want = (size_t)tsr_shape_count(shape) * tsr_dtype_size(dtype);
    if (!memory && want)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG, "tsr_dataset_from_host: data is NULL"));
    if (bytes != want)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG,
                          "tsr_dataset_from_host: data has %zu bytes, its shape and dtype %zu",
                          bytes, want));
    TSR_TRY(make(mesh, "the dataset", &data, &ctx->error));
    data->dtype = dtype;
    data->shape = *shape;
    TSR_TRY(tsr__alloc(&ctx->heap, (int64_t)bytes, 1, &data->memory, &ctx->error));
    if (bytes)
        memcpy(data->memory, memory, bytes);
    *out = data;
    data = NULL;
done:
    tsr_dataset_free(data);
    return tsr__poison_if_local(ctx, st);
}

/* ---- looking at them ---- */

tsr_dtype tsr_dataset_dtype(const tsr_dataset *data)
{
    return data ? data->dtype : TSR_F32;
}

const tsr_shape *tsr_dataset_shape(const tsr_dataset *data)
{
    return data ? &data->shape : NULL;
}

const void *tsr_dataset_memory(const tsr_dataset *data)
{
    return data ? data->memory : NULL;
}

tsr_status tsr_dataset_check_labels(const tsr_dataset *data, int64_t classes)
{
    TSR_NEED(TSR_ERR_ARG, NULL, data);

    tsr_error *err = &data->mesh->ctx->error;
    const int64_t n = tsr_shape_count(&data->shape);
    const int64_t each = data->shape.size[0] ? n / data->shape.size[0] : 0;

    const size_t size = tsr_dtype_size(data->dtype);

    if (!tsr__dtype_is_integer(data->dtype))
        return tsr__fail(err, TSR_ERR_DTYPE, "labels are integers, but those of %s are %s",
                         data->name, tsr_dtype_name(data->dtype));
    for (int64_t i = 0; i < n; i++) {
        int64_t label;

        tsr__convert(TSR_I64, &label, data->dtype, (const char *)data->memory + (size_t)i * size,
                     1);
        if (label < 0 || label >= classes)
            return tsr__fail(err, TSR_ERR_ARG,
                             "sample %" PRId64 " of %s has label %" PRId64
                             ", which is not one of the %" PRId64 " classes",
                             i / each, data->name, label, classes);
    }
    return TSR_OK;
}
