/* SPDX-License-Identifier: Apache-2.0 */
/* mesh_shape.c - coordinates, indices and ranks of a mesh, and the sub-meshes through a rank. Knows
   nothing of worlds: a mesh shape is a plain value. */
#include "mesh/mesh_shape.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

static tsr_status check_sizes(const int *sizes, int ndim, int first, tsr_error *err)
{
    int64_t n = 1;

    if (ndim < 0 || ndim > TSR_MAX_MESH)
        return tsr__fail(err, TSR_ERR_MESH, "a mesh has 0 to %d dims, not %d", TSR_MAX_MESH, ndim);
    for (int i = 0; i < ndim; i++) {
        if (sizes[i] < 1)
            return tsr__fail(err, TSR_ERR_MESH, "mesh dim %d has size %d, expected at least 1", i,
                             sizes[i]);
        n *= sizes[i];
        if (n > TSR_MAX_RANKS - (int64_t)first)
            return tsr__fail(err, TSR_ERR_MESH, "mesh has more than %d ranks", TSR_MAX_RANKS);
    }
    return TSR_OK;
}

tsr_status tsr__mesh_shape_make(const int *sizes, int ndim, int first, tsr_mesh_shape *out,
                                tsr_error *err)
{
    tsr_mesh_shape mesh = {.ndim = ndim, .first = first};
    int n = 1;
    tsr_status st;

    if (first < 0)
        return tsr__fail(err, TSR_ERR_MESH, "a mesh begins at rank %d, expected at least 0", first);
    TSR_TRY(check_sizes(sizes, ndim, first, err));
    for (int i = ndim - 1; i >= 0; i--) {
        mesh.size[i] = sizes[i];
        mesh.stride[i] = n;
        n *= sizes[i];
    }
    *out = mesh;
done:
    return st;
}

tsr_status tsr__mesh_check(const tsr_mesh_shape *mesh, tsr_error *err)
{
    return check_sizes(mesh->size, mesh->ndim, 0, err);
}

int tsr__mesh_size(const tsr_mesh_shape *mesh)
{
    int n = 1;
    for (int i = 0; i < mesh->ndim; i++)
        n *= mesh->size[i];
    return n;
}

void tsr__mesh_coords(const tsr_mesh_shape *mesh, int index, int *coord)
{
    for (int i = mesh->ndim - 1; i >= 0; i--) {
        coord[i] = index % mesh->size[i];
        index /= mesh->size[i];
    }
}

int tsr__mesh_index_of(const tsr_mesh_shape *mesh, const int *coord)
{
    int index = 0;
    for (int i = 0; i < mesh->ndim; i++)
        index = index * mesh->size[i] + coord[i];
    return index;
}

int tsr__mesh_rank_at(const tsr_mesh_shape *mesh, const int *coord)
{
    int rank = mesh->first;
    for (int i = 0; i < mesh->ndim; i++)
        rank += coord[i] * mesh->stride[i];
    return rank;
}

int tsr__mesh_rank_of(const tsr_mesh_shape *mesh, int index)
{
    int coord[TSR_MAX_MESH];
    tsr__mesh_coords(mesh, index, coord);
    return tsr__mesh_rank_at(mesh, coord);
}

/* Strides of a mesh are those of a row-major grid with some dims dropped, so taking the largest
   stride first gives the only possible coordinate of each dim. */
int tsr__mesh_find(const tsr_mesh_shape *mesh, int rank)
{
    int coord[TSR_MAX_MESH] = {0};
    int64_t rest = (int64_t)rank - mesh->first;

    for (int i = 0; i < mesh->ndim && rest >= 0; i++) {
        if (mesh->size[i] == 1)
            continue;
        int64_t c = rest / mesh->stride[i];
        coord[i] = c < mesh->size[i] ? (int)c : mesh->size[i] - 1;
        rest -= (int64_t)coord[i] * mesh->stride[i];
    }
    return rest == 0 ? tsr__mesh_index_of(mesh, coord) : -1;
}

int tsr__mesh_last_rank(const tsr_mesh_shape *mesh)
{
    int rank = mesh->first;
    for (int i = 0; i < mesh->ndim; i++)
        rank += (mesh->size[i] - 1) * mesh->stride[i];
    return rank;
}

bool tsr__mesh_equal(const tsr_mesh_shape *a, const tsr_mesh_shape *b)
{
    if (a->ndim != b->ndim || a->first != b->first)
        return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->size[i] != b->size[i] || a->stride[i] != b->stride[i])
            return false;
    return true;
}

uint64_t tsr__mesh_hash(const tsr_mesh_shape *mesh, uint64_t h)
{
    h = tsr__hash_mix(h, (uint64_t)mesh->ndim << 32 | (uint32_t)mesh->first);
    for (int i = 0; i < mesh->ndim; i++)
        h = tsr__hash_mix(h, (uint64_t)mesh->size[i] << 32 | (uint32_t)mesh->stride[i]);
    return h;
}

tsr_mesh_shape tsr__mesh_through(const tsr_mesh_shape *mesh, unsigned mdims, const int *coord)
{
    tsr_mesh_shape sub = {.first = mesh->first};

    for (int i = 0; i < mesh->ndim; i++) {
        if (mdims >> i & 1) {
            sub.size[sub.ndim] = mesh->size[i];
            sub.stride[sub.ndim] = mesh->stride[i];
            memcpy(sub.name[sub.ndim], mesh->name[i], TSR_NAME_LEN);
            sub.ndim++;
        } else {
            sub.first += coord[i] * mesh->stride[i];
        }
    }
    return sub;
}

const char *tsr__mesh_dim_text(const tsr_mesh_shape *mesh, int mdim, char *buf, size_t n)
{
    if (mesh->name[mdim][0])
        snprintf(buf, n, "%s", mesh->name[mdim]);
    else
        snprintf(buf, n, "%d", mdim);
    return buf;
}

const char *tsr__mesh_dims_text(const tsr_mesh_shape *mesh, unsigned mdims, char *buf, size_t n)
{
    char name[TSR_NAME_LEN];
    size_t used = 0;

    if (n)
        buf[0] = 0;
    for (int i = 0; i < mesh->ndim && used < n; i++) {
        if (!(mdims >> i & 1))
            continue;
        tsr__mesh_dim_text(mesh, i, name, sizeof name);
        used += (size_t)snprintf(buf + used, n - used, "%s%s", used ? "," : "", name);
    }
    return buf;
}
