/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - tsr_print: the values in the way of numpy's str, with 4 digits. Only the elements that
   are printed are collected: in a large tensor the first and last three along each dim. How numbers
   and brackets are set is print_text.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/activity.h"
#include "base/text.h"
#include "redist/print_text.h"
#include "tensor/partial.h"
#include "tensor/tensor.h"
#include "world/agree.h"
#include "world/verdict.h"

enum { ALL_UP_TO = 1000, EDGE = 3 };

/* The k-th printed index of a dim of n indices, of which `shown` are printed. */
static int64_t shown_index(int64_t n, int64_t shown, int64_t k)
{
    return k < EDGE || shown == n ? k : n - shown + k;
}

/* The shape of what is printed. */
static tsr_shape shown_shape(const tsr_shape *shape)
{
    tsr_shape shown = *shape;

    for (int d = 0; d < shape->ndim && tsr_shape_count(shape) > ALL_UP_TO; d++)
        if (shape->size[d] > 2 * EDGE)
            shown.size[d] = 2 * EDGE;
    return shown;
}

/* ---- collecting ---- */

/* Where index g is in the part, -1 if it is elsewhere. */
static int64_t position_of(const tsr_runs *runs, int64_t g)
{
    int64_t before = 0;

    for (int i = 0; i < runs->n; i++) {
        const tsr_index_run *run = tsr__runs_at(runs, i);
        int64_t j = g < run->begin ? -1 : (g - run->begin) / run->step;
        int64_t k = g - run->begin - j * run->step;
        if (j >= 0 && j < run->count && k < run->len)
            return before + j * run->len + k;
        before += run->len * run->count;
    }
    return -1;
}

static bool is_first_holder(const tsr_tensor *x)
{
    for (int m = 0; m < x->local_spec->spec.mesh.ndim; m++)
        if (x->local_spec->spec.place[m].kind == TSR_REPLICATE && x->mesh->coord[m] != 0)
            return false;
    return true;
}

/* Copy the printed elements that this rank holds; where[d][k] is the position of the k-th printed
   index of dim d. */
static void copy_shown(const tsr_tensor *x, const tsr_shape *shown,
                       int64_t *const where[TSR_MAX_DIM], char *out)
{
    size_t size = tsr_dtype_size(x->local_spec->spec.dtype);
    const char *data = tsr__tensor_data(x);
    int64_t at[TSR_MAX_DIM] = {0}, n = tsr_shape_count(shown);

    for (int64_t i = 0; i < n; i++) {
        int64_t local = 0;
        for (int d = 0; d < shown->ndim && local >= 0; d++)
            local =
                where[d][at[d]] < 0 ? -1 : local * x->local_spec->local.size[d] + where[d][at[d]];
        if (local >= 0)
            memcpy(out + (size_t)i * size, data + (size_t)local * size, size);
        for (int d = shown->ndim - 1; d >= 0 && ++at[d] == shown->size[d]; d--)
            at[d] = 0;
    }
}

/* This rank's share of the printed elements, zero bytes where others have them. */
static tsr_status own_share(const tsr_tensor *x, const tsr_shape *shown, char *out, tsr_error *err)
{
    tsr_heap *heap = &x->mesh->ctx->heap;
    tsr_layout layout = tsr__layout_of(&x->local_spec->spec);
    int64_t *where[TSR_MAX_DIM] = {NULL};
    tsr_status st = TSR_OK;

    if (!is_first_holder(x))
        return TSR_OK;
    for (int d = 0; d < shown->ndim; d++) {
        tsr_runs runs = {0};
        TSR_TRY(tsr__alloc(heap, shown->size[d], sizeof *where[d], &where[d], err));
        TSR_TRY(tsr__layout_runs(heap, &layout, d, x->mesh->coord, &runs, err));
        for (int64_t k = 0; k < shown->size[d]; k++)
            where[d][k] = position_of(
                &runs, shown_index(x->local_spec->spec.shape.size[d], shown->size[d], k));
        tsr__runs_free(heap, &runs);
    }
    copy_shown(x, shown, where, out);
done:
    for (int d = 0; d < shown->ndim; d++)
        tsr__free(heap, where[d]);
    return st;
}

/* ---- printing ---- */

static tsr_status to_stdout(const tsr_print_text *text, tsr_error *err)
{
    /* one call: lines of other ranks and threads do not come in between */
    if (fwrite(text->data, 1, (size_t)text->n, stdout) == (size_t)text->n && fflush(stdout) == 0)
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_IO, "tsr_print: cannot write to stdout: %s",
                     tsr__errno_text(errno));
}

static tsr_status print_shown(const tsr_tensor *x, const tsr_spec *spec, const tsr_shape *shown,
                              const void *data, tsr_error *err)
{
    tsr_print_text text = {.heap = &x->mesh->ctx->heap};
    char name[TSR_TEXT_LEN];
    tsr_status st;

    TSR_TRY(tsr__print_add(&text, tsr_spec_text(spec, name, sizeof name), err));
    TSR_TRY(tsr__print_add(&text, "\n", err));
    TSR_TRY(tsr__print_values(&text, spec->dtype, &spec->shape, shown, data, err));
    TSR_TRY(tsr__print_add(&text, "\n", err));
    TSR_TRY(to_stdout(&text, err));
done:
    tsr__free(text.heap, text.data);
    return st;
}

/* x has no partial placements; spec is what the user knows it by. */
static tsr_status print_tensor(const tsr_tensor *x, const tsr_spec *spec)
{
    tsr_mesh *mesh = x->mesh;
    tsr_heap *heap = &mesh->ctx->heap;
    tsr_shape shown = shown_shape(&spec->shape);
    int64_t bytes = tsr_shape_count(&shown) * (int64_t)tsr_dtype_size(spec->dtype);
    char *data = NULL;
    tsr_error err = {0};
    tsr_status st;

    st = tsr__alloc(heap, bytes, 1, &data, &err);
    if (st == TSR_OK)
        st = own_share(x, &shown, data, &err);
    TSR_TRY(tsr__agree(mesh, st, &err));
    /* each byte comes from one rank, and is 0 on the others */
    TSR_TRY(tsr_all_reduce(mesh, TSR_U8, TSR_SUM, data, bytes, data));
    st = mesh->index == 0 ? print_shown(x, spec, &shown, data, &err) : TSR_OK;
    TSR_TRY(tsr__agree(mesh, st, &err));
done:
    tsr__free(heap, data);
    return st;
}

static tsr_status print_sim(const tsr_tensor *x)
{
    char name[TSR_TEXT_LEN], line[TSR_TEXT_LEN + 32];
    int n = snprintf(line, sizeof line, "%s\nno data (sim)\n",
                     tsr_spec_text(&x->local_spec->spec, name, sizeof name));

    return to_stdout(&(tsr_print_text){.data = line, .n = n}, &x->mesh->ctx->error);
}

static tsr_status print_any(tsr_tensor *x)
{
    char text[TSR_TEXT_LEN];
    tsr_tensor *y = NULL;
    tsr_layout layout;
    tsr_spec to;
    tsr_status st;

    TSR_TRY(tsr__tensor_check(x->mesh->ctx, x, "tsr_print"));
    if (x->mesh->ctx->world->kind == TSR_WORLD_SIM)
        return print_sim(x);
    if (x->mesh->index < 0)
        return TSR_OK;
    layout = tsr__layout_of(&x->local_spec->spec);
    if (tsr__partial_mdims(&layout)) {
        to = x->local_spec->spec;
        for (int m = 0; m < to.mesh.ndim; m++)
            if (to.place[m].kind == TSR_PARTIAL)
                to.place[m] = tsr__replicate();
        y = tsr_redistribute(x, tsr_placements_text(&to, text, sizeof text));
        if (!tsr_tensor_ok(y))
            return tsr__tensor_status(y);
    }
    TSR_TRY(print_tensor(y ? y : x, &x->local_spec->spec));
done:
    tsr_unref(tsr_keep(y)); /* nobody has seen it */
    return st == TSR_OK ? tsr__verdict_before_read(x->mesh->ctx) : st;
}

tsr_status tsr_print(tsr_tensor *x)
{
    tsr_booking b;
    tsr_status st;

    if (!x)
        return TSR_ERR_ARG;
    b = tsr__activity_begin(x->mesh->ctx);
    st = print_any(x);
    tsr__activity_end(x->mesh->ctx, &b, TSR_DO_HOST, 1);
    return st;
}
