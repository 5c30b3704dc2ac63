/* SPDX-License-Identifier: Apache-2.0 */
/* spec_text.c - the text form of specs, f32[2048,256]@[S(0),R]: read and written here only. Blanks
   are allowed between the parts. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/text.h"
#include "layout/spec.h"

static const char FORMS[] = "R, S(dim), SS(dim,factor), P(sum), P(avg), P(min), P(max) or P(prod)";

/* ---- reading ---- */

typedef struct cursor {
    const char *text; /* the whole, for messages */
    const char *p;
    tsr_error *err;
} cursor;

static void skip_blanks(cursor *c)
{
    while (tsr__is_space(*c->p))
        c->p++;
}

static bool accept(cursor *c, const char *word)
{
    size_t n = strlen(word);

    skip_blanks(c);
    if (strncmp(c->p, word, n) != 0)
        return false;
    c->p += n;
    return true;
}

static tsr_status expect(cursor *c, const char *word)
{
    if (accept(c, word))
        return TSR_OK;
    return tsr__fail(c->err, TSR_ERR_PARSE, "\"%s\": expected '%s' at \"%s\"", c->text, word, c->p);
}

static tsr_status number(cursor *c, const char *what, int64_t *out)
{
    char *end;
    long long value;

    skip_blanks(c);
    errno = 0;
    value = tsr__parse_i64(c->p, &end);
    if (end == c->p)
        return tsr__fail(c->err, TSR_ERR_PARSE, "\"%s\": expected %s at \"%s\"", c->text, what,
                         c->p);
    if (errno == ERANGE)
        return tsr__fail(c->err, TSR_ERR_SHAPE, "\"%s\": %s %.*s is too large", c->text, what,
                         (int)(end - c->p), c->p);
    c->p = end;
    *out = value;
    return TSR_OK;
}

static tsr_status reduce_name(cursor *c, tsr_reduce *out)
{
    for (int op = TSR_SUM; op <= TSR_PROD; op++)
        if (accept(c, tsr_reduce_name((tsr_reduce)op))) {
            *out = (tsr_reduce)op;
            return TSR_OK;
        }
    return tsr__fail(c->err, TSR_ERR_PARSE,
                     "\"%s\": unknown reduction at \"%s\"; expected sum, avg, min, max or prod",
                     c->text, c->p);
}

static tsr_status placement(cursor *c, tsr_placement *out)
{
    tsr_placement place = {.kind = TSR_REPLICATE};
    int64_t dim = 0;
    tsr_status st = TSR_OK;

    if (accept(c, "SS(")) {
        place.kind = TSR_STRIDED;
        TSR_TRY(number(c, "a tensor dim", &dim));
        TSR_TRY(expect(c, ","));
        TSR_TRY(number(c, "a factor", &place.factor));
        TSR_TRY(expect(c, ")"));
    } else if (accept(c, "S(")) {
        place.kind = TSR_SHARD;
        TSR_TRY(number(c, "a tensor dim", &dim));
        TSR_TRY(expect(c, ")"));
    } else if (accept(c, "P(")) {
        place.kind = TSR_PARTIAL;
        TSR_TRY(reduce_name(c, &place.reduce));
        TSR_TRY(expect(c, ")"));
    } else if (!accept(c, "R")) {
        TSR_TRY(tsr__fail(c->err, TSR_ERR_PARSE, "\"%s\": unknown placement at \"%s\"; expected %s",
                          c->text, c->p, FORMS));
    }
    place.dim = dim < INT_MIN ? INT_MIN : dim > INT_MAX ? INT_MAX : (int)dim;
    *out = place;
done:
    return st;
}

/* "[S(0),R]", one per mesh dim of spec */
static tsr_status placements(cursor *c, tsr_spec *spec)
{
    char mesh[TSR_TEXT_LEN];
    tsr_placement place;
    int n = 0;
    tsr_status st;

    memset(spec->place, 0, sizeof spec->place);
    TSR_TRY(expect(c, "["));
    if (!accept(c, "]")) {
        do {
            TSR_TRY(placement(c, &place));
            if (n < TSR_MAX_MESH)
                spec->place[n] = place;
            n++;
        } while (accept(c, ","));
        TSR_TRY(expect(c, "]"));
    }
    if (n != spec->mesh.ndim)
        st = tsr__fail(c->err, TSR_ERR_SPEC, "\"%s\" has %d placement%s, but mesh %s has %d dim%s",
                       c->text, n, n == 1 ? "" : "s", tsr_mesh_text(&spec->mesh, mesh, sizeof mesh),
                       spec->mesh.ndim, spec->mesh.ndim == 1 ? "" : "s");
done:
    return st;
}

static tsr_status shape(cursor *c, tsr_shape *out)
{
    int64_t size;
    tsr_status st;

    TSR_TRY(expect(c, "["));
    if (accept(c, "]"))
        return TSR_OK;
    do {
        if (out->ndim == TSR_MAX_DIM)
            return tsr__fail(c->err, TSR_ERR_SHAPE, "\"%s\" has more than %d dims", c->text,
                             TSR_MAX_DIM);
        TSR_TRY(number(c, "a size", &size));
        out->size[out->ndim++] = size;
    } while (accept(c, ","));
    TSR_TRY(expect(c, "]"));
done:
    return st;
}

static tsr_status end(cursor *c)
{
    skip_blanks(c);
    if (*c->p)
        return tsr__fail(c->err, TSR_ERR_PARSE, "\"%s\": unexpected text at \"%s\"", c->text, c->p);
    return TSR_OK;
}

tsr_status tsr_spec_parse(const char *text, const tsr_mesh_shape *mesh, tsr_spec *out,
                          tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, mesh, out);

    cursor c = {.text = text, .p = text, .err = err};
    tsr_spec spec = {.mesh = *mesh};
    size_t n;
    tsr_status st;

    if (!text)
        return tsr__fail(err, TSR_ERR_ARG,
                         "the spec is NULL; it is written like f32[8,12]@[S(0),R]");
    skip_blanks(&c);
    n = strcspn(c.p, "[ ");
    TSR_TRY(tsr__dtype_parse(c.p, n, &spec.dtype, err));
    c.p += n;
    TSR_TRY(shape(&c, &spec.shape));
    if (accept(&c, "@"))
        TSR_TRY(placements(&c, &spec));
    TSR_TRY(end(&c));
    TSR_TRY(tsr_spec_check(&spec, err));
    *out = spec;
done:
    return st;
}

tsr_status tsr_placements_parse(const char *text, const tsr_spec *like, tsr_spec *out,
                                tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, like, out);

    cursor c = {.text = text, .p = text, .err = err};
    tsr_spec spec = *like;
    tsr_status st;

    if (!text)
        return tsr__fail(err, TSR_ERR_ARG,
                         "the placements are NULL; they are written like [S(0),R]");
    TSR_TRY(placements(&c, &spec));
    TSR_TRY(end(&c));
    TSR_TRY(tsr_spec_check(&spec, err));
    *out = spec;
done:
    return st;
}

/* ---- writing ---- */

const char *tsr__placement_text(const tsr_placement *place, char *buf, size_t n)
{
    switch (place->kind) {
    case TSR_REPLICATE: snprintf(buf, n, "R"); break;
    case TSR_SHARD: snprintf(buf, n, "S(%d)", place->dim); break;
    case TSR_STRIDED: snprintf(buf, n, "SS(%d,%" PRId64 ")", place->dim, place->factor); break;
    case TSR_PARTIAL: snprintf(buf, n, "P(%s)", tsr_reduce_name(place->reduce)); break;
    }
    return buf;
}

const char *tsr__shape_text(const tsr_shape *s, char *buf, size_t n)
{
    size_t used = (size_t)snprintf(buf, n, "[");

    for (int d = 0; d < s->ndim && used < n; d++)
        used += (size_t)snprintf(buf + used, n - used, "%s%" PRId64, d ? "," : "", s->size[d]);
    if (used < n)
        snprintf(buf + used, n - used, "]");
    return buf;
}

const char *tsr_placements_text(const tsr_spec *spec, char *buf, size_t n)
{
    TSR_NEED("", NULL, spec, buf);

    char one[48];
    size_t used = (size_t)snprintf(buf, n, "[");

    for (int m = 0; m < spec->mesh.ndim && used < n; m++)
        used += (size_t)snprintf(buf + used, n - used, "%s%s", m ? "," : "",
                                 tsr__placement_text(&spec->place[m], one, sizeof one));
    if (used < n)
        snprintf(buf + used, n - used, "]");
    return buf;
}

const char *tsr_spec_text(const tsr_spec *spec, char *buf, size_t n)
{
    TSR_NEED("", NULL, spec, buf);

    char dims[TSR_TEXT_LEN], places[TSR_TEXT_LEN];

    snprintf(buf, n, "%s%s@%s", tsr_dtype_name(spec->dtype),
             tsr__shape_text(&spec->shape, dims, sizeof dims),
             tsr_placements_text(spec, places, sizeof places));
    return buf;
}
