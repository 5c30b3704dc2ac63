/* SPDX-License-Identifier: Apache-2.0 */
/* owners.c - rows of a table and their owners (owners.h). Called by runs that look up by
   all-to-all. */
#include "run/owners.h"

#include <inttypes.h>
#include <stdio.h>

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

tsr_status tsr__owners_open(tsr_mesh *mesh, const tsr_spec *table, unsigned mdims, tsr_owners *out)
{
    tsr_ctx *ctx = mesh->ctx;
    tsr_owners owners = {.n = 1};
    int coord[TSR_MAX_MESH];
    tsr_status st;

    for (int m = 0; m < mesh->shape.ndim; m++) {
        coord[m] = mesh->coord[m];
        owners.n *= mdims >> m & 1 ? mesh->shape.size[m] : 1;
    }
    TSR_TRY(tsr__alloc(&ctx->heap, 2 * (int64_t)owners.n, sizeof *owners.begin, &owners.begin,
                       &ctx->error));
    for (int i = 0; i < owners.n; i++) {
        int rest = i;
        for (int m = mesh->shape.ndim - 1; m >= 0; m--)
            if (mdims >> m & 1) {
                coord[m] = rest % mesh->shape.size[m];
                rest /= mesh->shape.size[m];
            }
        rows_at(table, coord, &owners.begin[2 * i], &owners.begin[2 * i + 1]);
    }
    *out = owners;
done:
    return st;
}

void tsr__owners_close(tsr_ctx *ctx, tsr_owners *owners)
{
    tsr__free(&ctx->heap, owners->begin);
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
    return row >= owners->begin[2 * low] && row < owners->begin[2 * low + 1] ? low : -1;
}

tsr_status tsr__ids_open(tsr_tensor *x, int64_t vocab, const tsr_attr *padding, bool zero,
                         const char *op, tsr_ids *out, tsr_error *err)
{
    const tsr_shape *local = &x->form->local;
    char where[256] = "";
    size_t used = 0;
    int64_t bad, rest;

    *out = (tsr_ids){.dtype = x->form->spec.dtype,
                     .data = tsr__tensor_data(x),
                     .n = tsr_shape_count(local),
                     .vocab = vocab,
                     .n_rows = vocab,
                     .padding = -1};
    if (padding->n > 0)
        out->padding = padding->i[0] < 0 ? padding->i[0] + vocab : padding->i[0];
    bad = zero ? -1 : tsr__ids_bad(out);
    if (bad < 0)
        return TSR_OK;
    rest = bad;
    for (int64_t d = 0, size = out->n; d < local->ndim; d++) {
        size /= local->size[d];
        used += (size_t)snprintf(where + used, sizeof where - used, "%s%" PRId64, d ? "," : "",
                                 tsr_local_index(x, (int)d, rest / size));
        rest %= size;
    }
    return tsr__fail(err, TSR_ERR_ARG, "%s: id %" PRId64 " at [%s] is not in 0 to %" PRId64, op,
                     tsr__ids_at(out, bad), where, vocab - 1);
}
