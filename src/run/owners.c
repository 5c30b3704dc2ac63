/* SPDX-License-Identifier: Apache-2.0 */
/* owners.c - rows of a table and their owners (owners.h), and the sentence on an id out of range.
   Called by runs that look up by all-to-all. */
#include "run/owners.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "layout/runs.h"

/* Rows at a coordinate: plain shards, one inside the other. */
static void rows_at(const tsr_spec *table, const int *coord, int64_t *begin, int64_t *end)
{
    *begin = 0;
    *end = table->shape.size[0];
    for (int m = 0; m < table->mesh.ndim; m++) {
        int64_t first, last;
        if (table->place[m].kind != TSR_SHARD || table->place[m].dim != 0)
            continue;
        tsr__chunk(*end - *begin, table->mesh.size[m], coord[m], &first, &last);
        *end = *begin + last;
        *begin += first;
    }
}

static tsr_status make_owners(tsr_ctx *ctx, int n, tsr_owners *out)
{
    tsr_status st;

    memset(out, 0, sizeof *out);
    out->n = n;
    TSR_TRY(tsr__alloc(&ctx->heap, 2 * (int64_t)n, sizeof *out->begin, &out->begin, &ctx->error));
    TSR_TRY(tsr__alloc(&ctx->heap, n, sizeof *out->member, &out->member, &ctx->error));
done:
    return st;
}

tsr_status tsr__owners_open(tsr_mesh *mesh, const tsr_spec *table, unsigned mdims, unsigned among,
                            tsr_owners *out)
{
    tsr_mesh_shape along = tsr__mesh_through(&mesh->shape, mdims, mesh->coord);
    int64_t end;
    tsr_status st;

    TSR_TRY(make_owners(mesh->ctx, tsr__mesh_size(&along), out));
    for (int i = 0; i < out->n; i++) {
        int coord[TSR_MAX_MESH];
        tsr__mesh_coords(&mesh->shape, tsr__mesh_find(&mesh->shape, tsr__mesh_rank_of(&along, i)),
                         coord);
        rows_at(table, coord, &out->begin[2 * i], &out->begin[2 * i + 1]);
        for (int m = 0; m < mesh->shape.ndim; m++)
            if (among >> m & 1)
                out->member[i] = out->member[i] * mesh->shape.size[m] + coord[m];
    }
    rows_at(table, mesh->coord, &out->first, &end);
    out->rows = end - out->first;
done:
    return st;
}

tsr_status tsr__owners_open_one_rank(tsr_mesh *mesh, int64_t rows, int index, tsr_owners *out)
{
    tsr_status st;

    TSR_TRY(make_owners(mesh->ctx, 1, out));
    out->begin[1] = rows;
    out->member[0] = index;
    out->rows = mesh->index == index ? rows : 0;
done:
    return st;
}

void tsr__owners_close(tsr_ctx *ctx, tsr_owners *owners)
{
    tsr__free(&ctx->heap, owners->begin);
    tsr__free(&ctx->heap, owners->member);
}

int tsr__owner_of(const tsr_owners *owners, int64_t row)
{
    int low = 0, high = owners->n - 1;

    while (low < high) { /* the last one that begins at or before it; empty ones stand before */
        int middle = (low + high + 1) / 2;
        if (owners->begin[2 * middle] <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return row >= owners->begin[2 * low] && row < owners->begin[2 * low + 1] ? owners->member[low]
                                                                             : -1;
}

void tsr__ids_open(tsr_tensor *x, int64_t vocab, const tsr_attr *padding,
                   const tsr_index_range *check, const char *op, tsr_ids *out, tsr_error *err)
{
    const tsr_shape *local = &x->local_spec->local;
    char where[256] = "", why[TSR_WHY_LEN];
    size_t used = 0;
    int64_t bad, rest;

    *out = (tsr_ids){.dtype = x->local_spec->spec.dtype,
                     .data = tsr__tensor_data(x),
                     .n = tsr_shape_count(local),
                     .vocab = vocab,
                     .n_rows = vocab,
                     .padding = -1};
    if (padding->n > 0)
        out->padding = padding->i[0] < 0 ? padding->i[0] + vocab : padding->i[0];
    bad = check ? tsr__index_first_bad(out, check->least) : -1;
    if (bad < 0)
        return;
    rest = bad;
    for (int64_t d = 0, size = out->n; d < local->ndim; d++) {
        size /= local->size[d];
        used += (size_t)snprintf(where + used, sizeof where - used, "%s%" PRId64, d ? "," : "",
                                 tsr_local_index(x, (int)d, rest / size));
        rest %= size;
    }
    tsr__fail(err, TSR_ERR_ARG, "%s: %s %" PRId64 " at [%s]%s", op, check->noun,
              tsr__ids_at(out, bad), where,
              tsr__index_why((tsr_index_range){check->noun, check->least, vocab},
                             "the indexed dim is empty", why));
}
