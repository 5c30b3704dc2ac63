/* SPDX-License-Identifier: Apache-2.0 */
/* placements_by_name.c - placements by the names of mesh dims, so that a model need not
   know its mesh. */
#include <stdio.h>
#include <string.h>

#include "base/args.h"
#include "tensor/tensor.h"
#include "tessera_train.h"

/* "data=S(0)" of a list; commas inside parentheses are not the list's. */
typedef struct named_place {
    char name[TSR_NAME_LEN], place[TSR_TEXT_LEN];
    bool optional; /* "data?=S(0)" */
} named_place;

static const char *end_of_item(const char *at)
{
    int depth = 0;

    for (; *at && (*at != ',' || depth > 0); at++)
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    return at;
}

static tsr_status read_item(const char *text, const char **at, named_place *out, tsr_error *err)
{
    const char *end = end_of_item(*at), *equal, *name_end;

    while (**at == ' ')
        (*at)++;
    equal = memchr(*at, '=', (size_t)(end - *at));
    out->optional = equal && equal > *at && equal[-1] == '?';
    name_end = out->optional ? equal - 1 : equal;
    if (!equal || name_end == *at || equal + 1 == end || name_end - *at >= TSR_NAME_LEN ||
        end - equal > TSR_NAME_LEN * 2)
        return tsr__fail(err, TSR_ERR_PARSE,
                         "placements \"%s\": expected a list of mesh dims and placements, like "
                         "data=S(0),model=R",
                         text);
    snprintf(out->name, sizeof out->name, "%.*s", (int)(name_end - *at), *at);
    snprintf(out->place, sizeof out->place, "%.*s", (int)(end - equal - 1), equal + 1);
    *at = *end ? end + 1 : end;
    return TSR_OK;
}

/* "data and model" */
static const char *dims_text(const tsr_mesh_shape *mesh, char *buf, size_t n)
{
    char name[TSR_NAME_LEN];
    size_t used = 0;

    for (int m = 0; m < mesh->ndim && used < n; m++)
        used += (size_t)snprintf(buf + used, n - used, "%s%s",
                                 m == 0               ? ""
                                 : m < mesh->ndim - 1 ? ", "
                                                      : " and ",
                                 tsr__mesh_dim_text(mesh, m, name, sizeof name));
    return buf;
}

static tsr_status no_such_dim(const tsr_mesh_shape *mesh, const char *text, const char *name,
                              tsr_error *err)
{
    char dims[TSR_TEXT_LEN];

    return tsr__fail(
        err, TSR_ERR_MESH,
        "placements \"%s\": the mesh has no dim \"%s\", only %s; \"%s?\" makes it optional", text,
        name, dims_text(mesh, dims, sizeof dims), name);
}

/* The text of a placement per mesh dim, from "" what the list does not name. */
static tsr_status read_places(const tsr_mesh_shape *mesh, const char *text,
                              char (*place)[TSR_NAME_LEN * 2], tsr_error *err)
{
    const char *at = text ? text : "";
    tsr_status st = TSR_OK;

    while (*at) {
        named_place item;
        int m;

        TSR_TRY(read_item(text, &at, &item, err));
        m = tsr__mesh_dim_find(mesh, item.name, strlen(item.name));
        if (m < 0 && !item.optional)
            TSR_TRY(no_such_dim(mesh, text, item.name, err));
        if (m >= 0 && place[m][0])
            TSR_TRY(tsr__fail(err, TSR_ERR_PARSE, "placements \"%s\": dim %s is given twice", text,
                              item.name));
        if (m >= 0)
            snprintf(place[m], sizeof place[m], "%.*s", (int)sizeof place[m] - 1, item.place);
    }
done:
    return st;
}

static const char *join(const tsr_mesh_shape *mesh, char (*place)[TSR_NAME_LEN * 2], char *buf,
                        size_t n)
{
    size_t used = 0;

    for (int m = 0; m < mesh->ndim && used < n; m++)
        used += (size_t)snprintf(buf + used, n - used, "%s%s", m ? "," : "[",
                                 place[m][0] ? place[m] : "R");
    if (used < n)
        snprintf(buf + used, n - used, "]");
    return buf;
}

const char *tsr_placements_by_name(tsr_mesh *mesh, const char *text, char *buf, size_t n)
{
    TSR_NEED("", tsr__mesh_error(mesh), mesh, buf);

    char place[TSR_MAX_MESH][TSR_NAME_LEN * 2] = {{0}};

    buf[0] = 0;
    if (read_places(&mesh->shape, text, place, &mesh->ctx->error) != TSR_OK)
        return buf;
    return join(&mesh->shape, place, buf, n);
}

tsr_tensor *tsr_redistribute_by_name(tsr_tensor *x, const char *text)
{
    TSR_NEED(x ? x->mesh->ctx->error_tensor : NULL, tsr__tensor_error(x), x, text);

    char place[TSR_MAX_MESH][TSR_NAME_LEN * 2] = {{0}}, all[TSR_TEXT_LEN];
    tsr_spec one;
    tsr_ctx *ctx;
    tsr_status st;

    if (!x)
        return NULL;
    ctx = x->mesh->ctx;
    TSR_TRY(tsr__tensor_check(ctx, x, "tsr_redistribute_by_name"));
    TSR_TRY(read_places(&x->mesh->shape, text, place, &ctx->error));
    one = x->local_spec->spec;
    one.mesh.ndim = 1;
    for (int m = 0; m < x->mesh->shape.ndim; m++) {
        char as_is[TSR_TEXT_LEN];

        if (place[m][0])
            continue;
        one.place[0] = x->local_spec->spec.place[m];
        tsr_placements_text(&one, as_is, sizeof as_is); /* "[S(0)]" */
        snprintf(place[m], sizeof place[m], "%.*s", (int)strlen(as_is) - 2, as_is + 1);
    }
    return tsr_redistribute(x, join(&x->mesh->shape, place, all, sizeof all));
done:
    return tsr__tensor_or_error(ctx, st, NULL);
}
