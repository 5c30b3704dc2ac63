/* SPDX-License-Identifier: Apache-2.0 */
/* mesh_handle.c - meshes as the user holds them: making, sub-meshes, and their groups of ranks. */
#include "world/mesh_handle.h"
#include "base/args.h"

tsr_status tsr__mesh_open(tsr_ctx *ctx, const tsr_mesh_shape *shape, tsr_mesh **out)
{
    tsr_mesh *mesh = NULL;
    char text[TSR_TEXT_LEN];
    tsr_status st;

    if (tsr__mesh_last_rank(shape) >= ctx->world->size)
        return tsr__fail(&ctx->error, TSR_ERR_MESH,
                         "mesh %s needs ranks %d to %d, but the world has %d ranks",
                         tsr_mesh_text(shape, text, sizeof text), shape->first,
                         tsr__mesh_last_rank(shape), ctx->world->size);
    TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *mesh, &mesh, &ctx->error));
    mesh->refs = 1;
    mesh->ctx = ctx;
    mesh->shape = *shape;
    mesh->index = tsr__mesh_find(shape, ctx->world->rank);
    for (int i = 0; i < TSR_MAX_MESH; i++)
        mesh->coord[i] = -1;
    if (mesh->index >= 0)
        tsr__mesh_coords(shape, mesh->index, mesh->coord);
    for (int i = 0; i < shape->ndim; i++)
        if (shape->size[i] > 1)
            mesh->history.all |= 1u << i;
    mesh->next = ctx->meshes;
    mesh->link = &ctx->meshes;
    if (mesh->next)
        mesh->next->link = &mesh->next;
    ctx->meshes = mesh;
    *out = mesh;
done:
    return st;
}

void tsr__histories_forget(tsr_ctx *ctx, const tsr_cached *subject)
{
    for (tsr_mesh *mesh = ctx->meshes; mesh; mesh = mesh->next)
        tsr__history_forget(&mesh->history, subject);
}

tsr_status tsr__mesh_group(tsr_mesh *mesh, unsigned mdims, tsr_group **out)
{
    tsr_ctx *ctx = mesh->ctx;
    tsr_mesh_shape sub;
    char text[TSR_TEXT_LEN];
    int *ranks = NULL, n;
    tsr_status st;

    if (mesh->index < 0)
        return tsr__fail(&ctx->error, TSR_ERR_OUTSIDE,
                         "rank %d is outside mesh %s (ranks %d to %d)", ctx->world->rank,
                         tsr_mesh_text(&mesh->shape, text, sizeof text), mesh->shape.first,
                         tsr__mesh_last_rank(&mesh->shape));
    if (mesh->group[mdims]) {
        *out = mesh->group[mdims];
        return TSR_OK;
    }
    sub = tsr__mesh_through(&mesh->shape, mdims, mesh->coord);
    n = tsr__mesh_size(&sub);
    TSR_TRY(tsr__alloc(&ctx->heap, n, sizeof *ranks, &ranks, &ctx->error));
    for (int i = 0; i < n; i++)
        ranks[i] = tsr__mesh_rank_of(&sub, i);
    TSR_TRY(tsr__group_open(ctx->world, ranks, n, &mesh->group[mdims]));
    mesh->group[mdims]->along = tsr__along(mdims & mesh->history.all);
    mesh->group[mdims]->history = &mesh->history;
    mesh->group[mdims]->mdims = mdims;
    *out = mesh->group[mdims];
done:
    tsr__free(&ctx->heap, ranks);
    return st;
}

tsr_status tsr_mesh_sub(tsr_mesh *mesh, const char *dims, tsr_mesh **out)
{
    TSR_NEED(TSR_ERR_ARG, tsr__mesh_error(mesh), mesh, dims, out);

    tsr_mesh_shape sub;
    unsigned mdims;
    int zero[TSR_MAX_MESH] = {0};
    tsr_status st;

    TSR_TRY(tsr__mesh_dims_parse(&mesh->shape, dims, &mdims, &mesh->ctx->error));
    /* a rank outside the mesh is outside all of its sub-meshes: show it the first one */
    sub = tsr__mesh_through(&mesh->shape, mdims, mesh->index < 0 ? zero : mesh->coord);
    TSR_TRY(tsr__mesh_open(mesh->ctx, &sub, out));
done:
    return tsr__poison_if_local(mesh->ctx, st);
}

tsr_status tsr_mesh_part(tsr_mesh *mesh, const char *text, int first, tsr_mesh **out)
{
    TSR_NEED(TSR_ERR_ARG, tsr__mesh_error(mesh), mesh, text, out);

    tsr_mesh_shape part;
    int step = mesh->shape.ndim ? mesh->shape.stride[mesh->shape.ndim - 1] : 1;
    char whole[TSR_TEXT_LEN];
    tsr_status st;

    TSR_TRY(tsr_mesh_parse(text, &part, &mesh->ctx->error));
    if (first < 0 || tsr__mesh_size(&part) > tsr__mesh_size(&mesh->shape) - first) {
        st = tsr__fail(&mesh->ctx->error, TSR_ERR_MESH,
                       "mesh %s from index %d does not match into mesh %s of %d ranks", text, first,
                       tsr_mesh_text(&mesh->shape, whole, sizeof whole),
                       tsr__mesh_size(&mesh->shape));
        goto done;
    }
    /* row-major meshes without gaps have consecutive ranks; others are parted dim by dim */
    for (int i = 0; i + 1 < mesh->shape.ndim; i++)
        if (mesh->shape.stride[i] != mesh->shape.stride[i + 1] * mesh->shape.size[i + 1]) {
            st = tsr__fail(&mesh->ctx->error, TSR_ERR_MESH,
                           "mesh %s is not contiguous: take the part of its parent instead",
                           tsr_mesh_text(&mesh->shape, whole, sizeof whole));
            goto done;
        }
    part.first = mesh->shape.first + first * step;
    for (int i = 0; i < part.ndim; i++)
        part.stride[i] *= step;
    TSR_TRY(tsr__mesh_open(mesh->ctx, &part, out));
done:
    return tsr__poison_if_local(mesh->ctx, st);
}

tsr_mesh *tsr_mesh_ref(tsr_mesh *mesh)
{
    if (mesh)
        mesh->refs++;
    return mesh;
}

void tsr_mesh_unref(tsr_mesh *mesh)
{
    if (!mesh || --mesh->refs > 0)
        return;
    if (mesh->of_job) {
        mesh->refs = 1;
        tsr__fail(&mesh->ctx->error, TSR_ERR_STATE,
                  "tsr_mesh_unref: the job's mesh is not the caller's to release; only what "
                  "tsr_mesh_sub, tsr_mesh_part or tsr_mesh_ref gave is");
        return;
    }
    for (int i = 0; i < 1 << TSR_MAX_MESH; i++)
        tsr__group_close(mesh->group[i]);
    *mesh->link = mesh->next;
    if (mesh->next)
        mesh->next->link = mesh->link;
    tsr__free(&mesh->ctx->heap, mesh);
}

tsr_status tsr_mesh_status(const tsr_mesh *mesh)
{
    return mesh ? mesh->ctx->error.code : TSR_ERR_ARG;
}

const char *tsr_mesh_message(const tsr_mesh *mesh)
{
    return mesh ? mesh->ctx->error.text : "";
}

void tsr_mesh_clear_error(tsr_mesh *mesh)
{
    TSR_NEED(, NULL, mesh);
    mesh->ctx->error = (tsr_error){0};
    mesh->ctx->error_everywhere = false;
}

const tsr_mesh_shape *tsr_mesh_shape_get(const tsr_mesh *mesh)
{
    return mesh ? &mesh->shape : NULL;
}

int tsr_mesh_rank(const tsr_mesh *mesh)
{
    return mesh ? mesh->ctx->world->rank : -1;
}

int tsr_mesh_index(const tsr_mesh *mesh)
{
    return mesh ? mesh->index : -1;
}

int tsr_mesh_coord(const tsr_mesh *mesh, int mdim)
{
    return mesh && mdim >= 0 && mdim < mesh->shape.ndim ? mesh->coord[mdim] : -1;
}

bool tsr_mesh_is_member(const tsr_mesh *mesh)
{
    return mesh && mesh->index >= 0;
}

int tsr_mesh_size(const tsr_mesh *mesh)
{
    return mesh ? tsr__mesh_size(&mesh->shape) : 0;
}

tsr_world_kind tsr_mesh_world(const tsr_mesh *mesh)
{
    return mesh ? mesh->ctx->world->kind : TSR_WORLD_AUTO;
}
