/* SPDX-License-Identifier: Apache-2.0 */
/* mesh_text.c - the text forms of a mesh, "data=2,model=4" and "2x4", and of some of its dims. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/text.h"
#include "mesh/mesh_shape.h"

static const char FORM[] = "a mesh is written like 2x4 or data=2,model=4";

static tsr_status parse_name(const char *text, const char **p, char *name, tsr_error *err)
{
    size_t n = 0;

    while (tsr__is_word((*p)[n]))
        n++;
    if (n == 0 || (*p)[n] != '=' || tsr__is_digit(**p)) /* numbers name dims by place */
        return tsr__fail(err, TSR_ERR_PARSE, "mesh \"%s\": expected name=size at \"%s\"; %s", text,
                         *p, FORM);
    if (n >= TSR_NAME_LEN)
        return tsr__fail(err, TSR_ERR_PARSE, "mesh \"%s\": name \"%.*s\" is longer than %d letters",
                         text, (int)n, *p, TSR_NAME_LEN - 1);
    memcpy(name, *p, n);
    name[n] = 0;
    *p += n + 1;
    return TSR_OK;
}

static tsr_status parse_size(const char *text, const char **p, int *size, tsr_error *err)
{
    char *end;
    long long value;

    if (!tsr__is_digit((*p)[**p == '-']))
        return tsr__fail(err, TSR_ERR_PARSE, "mesh \"%s\": expected a size at \"%s\"; %s", text, *p,
                         FORM);
    value = tsr__parse_i64(*p, &end);
    if (value < 1 || value > INT_MAX)
        return tsr__fail(err, TSR_ERR_MESH,
                         "mesh \"%s\": a mesh dim has size %.*s, expected 1 to %d", text,
                         (int)(end - *p), *p, INT_MAX);
    *p = end;
    *size = (int)value;
    return TSR_OK;
}

tsr_status tsr_mesh_parse(const char *text, tsr_mesh_shape *out, tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, out);

    tsr_mesh_shape mesh;
    char name[TSR_MAX_MESH][TSR_NAME_LEN] = {{0}};
    int size[TSR_MAX_MESH], ndim = 0;
    const char *p = text;
    bool named;
    tsr_status st;

    if (!text)
        return tsr__fail(err, TSR_ERR_ARG, "the mesh is NULL; %s", FORM);
    named = strchr(text, '=') != NULL;
    for (;;) {
        if (ndim == TSR_MAX_MESH)
            return tsr__fail(err, TSR_ERR_MESH, "mesh \"%s\" has more than %d dims", text,
                             TSR_MAX_MESH);
        if (named)
            TSR_TRY(parse_name(text, &p, name[ndim], err));
        TSR_TRY(parse_size(text, &p, &size[ndim], err));
        for (int i = 0; named && i < ndim; i++)
            if (strcmp(name[i], name[ndim]) == 0)
                return tsr__fail(err, TSR_ERR_MESH, "mesh \"%s\": two dims are called %s", text,
                                 name[i]);
        ndim++;
        if (!*p)
            break;
        if (*p != (named ? ',' : 'x'))
            return tsr__fail(err, TSR_ERR_PARSE, "mesh \"%s\": expected '%c' at \"%s\"; %s", text,
                             named ? ',' : 'x', p, FORM);
        p++;
    }
    TSR_TRY(tsr__mesh_shape_make(size, ndim, 0, &mesh, err));
    memcpy(mesh.name, name, sizeof name);
    *out = mesh;
done:
    return st;
}

const char *tsr_mesh_text(const tsr_mesh_shape *mesh, char *buf, size_t n)
{
    TSR_NEED("", NULL, mesh, buf);

    size_t used = 0;
    bool named = mesh->ndim > 0;

    for (int i = 0; i < mesh->ndim; i++)
        named = named && mesh->name[i][0];
    if (n)
        buf[0] = 0;
    for (int i = 0; i < mesh->ndim && used < n; i++) {
        if (named)
            used += (size_t)snprintf(buf + used, n - used, "%s%s=%d", i ? "," : "", mesh->name[i],
                                     mesh->size[i]);
        else
            used += (size_t)snprintf(buf + used, n - used, "%s%d", i ? "x" : "", mesh->size[i]);
    }
    return buf;
}

int tsr__mesh_dim_find(const tsr_mesh_shape *mesh, const char *text, size_t n)
{
    char number[16];

    for (int i = 0; i < mesh->ndim; i++) {
        snprintf(number, sizeof number, "%d", i);
        if ((mesh->name[i][0] && strlen(mesh->name[i]) == n &&
             strncmp(mesh->name[i], text, n) == 0) ||
            (strlen(number) == n && strncmp(number, text, n) == 0))
            return i;
    }
    return -1;
}

tsr_status tsr__mesh_dims_parse(const tsr_mesh_shape *mesh, const char *text, unsigned *mdims,
                                tsr_error *err)
{
    unsigned mask = 0;
    const char *p = text;
    char whole[TSR_TEXT_LEN];

    if (!text)
        return tsr__fail(err, TSR_ERR_ARG, "the names of mesh dims are NULL");
    for (bool more = *p; more;) {
        size_t n = strcspn(p, ",");
        int found = tsr__mesh_dim_find(mesh, p, n);

        if (found < 0)
            return tsr__fail(err, TSR_ERR_MESH, "mesh %s has no dim \"%.*s\"",
                             tsr_mesh_text(mesh, whole, sizeof whole), (int)n, p);
        mask |= 1u << found;
        more = p[n] == ',';
        p += n + more;
    }
    *mdims = mask;
    return TSR_OK;
}
