/* SPDX-License-Identifier: Apache-2.0 */
/* einsum_text.c - reads "bij,bjk->bik" against the shapes of its operands, numpy's way: `...`
   stands for dims that no letter names, and without -> the output has these and then the letters
   that occur once, in the order of the alphabet. Called by the op and its kernels. */
#include "ops/linalg/einsum.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

enum { DOTS = 3, CHARS = 128 };

/* The axes of one tensor in the text. */
typedef struct piece {
    const char *p;
    int n;       /* characters */
    int letters; /* among them */
    bool dots;
} piece;

typedef struct reading {
    const char *what, *text;
    piece in[TSR_EINSUM_IN], out;
    bool arrow;
    int dots;              /* axes of `...` */
    int8_t axis_of[CHARS]; /* of a letter, -1: not yet seen */
    int uses[CHARS];
    tsr_einsum_axes *e;
} reading;

static tsr_status read_piece(const reading *r, const char *p, int n, piece *out, tsr_error *err)
{
    *out = (piece){.p = p, .n = n};
    for (int i = 0; i < n; i++) {
        if (tsr__is_letter(p[i])) {
            out->letters++;
        } else if (!out->dots && n - i >= DOTS && strncmp(p + i, "...", DOTS) == 0) {
            out->dots = true;
            i += DOTS - 1;
        } else if (p[i] != ' ') {
            return tsr__fail(err, TSR_ERR_PARSE,
                             "%s: cannot read \"%.*s\" in \"%s\": axes are letters, and ... stands "
                             "for those without one",
                             r->what, n, p, r->text);
        }
    }
    return TSR_OK;
}

/* Cuts the text into pieces, one per operand, and that of the output. */
static tsr_status cut(reading *r, int n, tsr_error *err)
{
    const char *arrow = strstr(r->text, "->");
    const char *end = arrow ? arrow : r->text + strlen(r->text), *p = r->text;
    int operands = 1;
    tsr_status st = TSR_OK;

    for (const char *q = p; q < end; q++)
        operands += *q == ',';
    if (operands != n)
        return tsr__fail(err, TSR_ERR_ARG, "%s: \"%s\" is for %d operands, but %d %s given",
                         r->what, r->text, operands, n, n == 1 ? "is" : "are");
    for (int k = 0; k < n; k++) {
        int length = 0;

        while (p + length < end && p[length] != ',')
            length++;
        TSR_TRY(read_piece(r, p, length, &r->in[k], err));
        p += length + 1;
    }
    r->arrow = arrow != NULL;
    if (arrow)
        TSR_TRY(read_piece(r, arrow + 2, (int)strlen(arrow + 2), &r->out, err));
done:
    return st;
}

/* Dims that `...` stands for in an operand; all its operands agree on the longest. */
static tsr_status count_dots(reading *r, const tsr_shape *const *shape, tsr_error *err)
{
    for (int k = 0; k < r->e->n; k++) {
        const piece *p = &r->in[k];
        int more = shape[k]->ndim - p->letters;

        if (more < 0 || (more > 0 && !p->dots))
            return tsr__fail(err, TSR_ERR_SHAPE,
                             "%s: \"%.*s\" names %s%d axes, but operand %d has %d dims", r->what,
                             p->n, p->p, p->dots ? "at least " : "", p->letters, k, shape[k]->ndim);
        r->dots = more > r->dots ? more : r->dots;
    }
    return TSR_OK;
}

static tsr_status axis_of_letter(reading *r, char letter, tsr_error *err)
{
    int8_t *axis = &r->axis_of[(unsigned char)letter];

    if (*axis >= 0)
        return TSR_OK;
    if (r->e->n_axes == TSR_EINSUM_AXES)
        return tsr__fail(err, TSR_ERR_ARG, "%s: \"%s\" has more than %d different axes", r->what,
                         r->text, TSR_EINSUM_AXES);
    *axis = (int8_t)r->e->n_axes++;
    r->e->size[*axis] = -1;
    return TSR_OK;
}

/* The size of an axis, as operand k has it. */
static tsr_status set_size(reading *r, int axis, int k, int64_t n, char letter, tsr_error *err)
{
    int64_t *size = &r->e->size[axis];

    if (*size < 0 || *size == n || (axis < r->dots && *size == 1)) {
        *size = n;
        return TSR_OK;
    }
    if (axis < r->dots && n == 1)
        return TSR_OK;
    if (axis < r->dots)
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: dims of ... do not broadcast, operand %d has %" PRId64
                         ", another %" PRId64,
                         r->what, k, n, *size);
    return tsr__fail(err, TSR_ERR_SHAPE,
                     "%s: axis %c of \"%s\" is of size %" PRId64 " in operand %d, but of size "
                     "%" PRId64 " before it",
                     r->what, letter, r->text, n, k, *size);
}

static tsr_status read_operand(reading *r, int k, const tsr_shape *shape, tsr_error *err)
{
    const piece *p = &r->in[k];
    tsr_einsum_axes *e = r->e;
    tsr_status st = TSR_OK;
    int d = 0;

    e->ndim[k] = shape->ndim;
    for (int i = 0; i < p->n; i++) {
        if (p->p[i] == '.') {
            int here = shape->ndim - p->letters;

            for (int l = 0; l < here; l++, d++) {
                e->axis[k][d] = (int8_t)(r->dots - here + l);
                TSR_TRY(set_size(r, e->axis[k][d], k, shape->size[d], '.', err));
            }
            i += DOTS - 1;
        } else if (p->p[i] != ' ') {
            TSR_TRY(axis_of_letter(r, p->p[i], err));
            e->axis[k][d] = r->axis_of[(unsigned char)p->p[i]];
            TSR_TRY(set_size(r, e->axis[k][d], k, shape->size[d], p->p[i], err));
            r->uses[(unsigned char)p->p[i]]++;
            d++;
        }
    }
done:
    return st;
}

static void add_dots(reading *r)
{
    tsr_einsum_axes *e = r->e;

    for (int l = 0; l < r->dots; l++)
        e->axis[TSR_EINSUM_OUT][e->ndim[TSR_EINSUM_OUT]++] = (int8_t)l;
}

static tsr_status read_output(reading *r, tsr_error *err)
{
    tsr_einsum_axes *e = r->e;
    int *ndim = &e->ndim[TSR_EINSUM_OUT];
    bool seen[CHARS] = {false};

    if (r->out.letters + (r->out.dots ? r->dots : 0) > TSR_MAX_DIM)
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: the output of \"%s\" has more than %d dims",
                         r->what, r->text, TSR_MAX_DIM);
    for (int i = 0; i < r->out.n; i++) {
        char letter = r->out.p[i];

        if (letter == '.') {
            add_dots(r);
            i += DOTS - 1;
            continue;
        }
        if (letter == ' ')
            continue;
        if (r->axis_of[(unsigned char)letter] < 0)
            return tsr__fail(err, TSR_ERR_ARG,
                             "%s: axis %c of the output of \"%s\" is in no operand", r->what,
                             letter, r->text);
        if (seen[(unsigned char)letter])
            return tsr__fail(err, TSR_ERR_ARG, "%s: axis %c is twice in the output of \"%s\"",
                             r->what, letter, r->text);
        seen[(unsigned char)letter] = true;
        e->axis[TSR_EINSUM_OUT][(*ndim)++] = r->axis_of[(unsigned char)letter];
    }
    return TSR_OK;
}

/* Without an arrow. */
static tsr_status make_output(reading *r, tsr_error *err)
{
    tsr_einsum_axes *e = r->e;
    int *ndim = &e->ndim[TSR_EINSUM_OUT];

    add_dots(r);
    for (int c = 0; c < CHARS; c++) {
        if (r->uses[c] != 1)
            continue;
        if (*ndim == TSR_MAX_DIM)
            return tsr__fail(err, TSR_ERR_SHAPE, "%s: the output of \"%s\" has more than %d dims",
                             r->what, r->text, TSR_MAX_DIM);
        e->axis[TSR_EINSUM_OUT][(*ndim)++] = r->axis_of[c];
    }
    return TSR_OK;
}

tsr_status tsr__einsum_parse(const char *what, const char *text, int n,
                             const tsr_shape *const *shape, tsr_einsum_axes *out, tsr_error *err)
{
    reading r = {.what = what, .text = text, .e = out};
    tsr_status st;

    *out = (tsr_einsum_axes){.n = n};
    memset(r.axis_of, -1, sizeof r.axis_of);
    TSR_TRY(cut(&r, n, err));
    TSR_TRY(count_dots(&r, shape, err));
    out->n_axes = r.dots;
    for (int axis = 0; axis < r.dots; axis++)
        out->size[axis] = -1;
    for (int k = 0; k < n; k++)
        TSR_TRY(read_operand(&r, k, shape[k], err));
    TSR_TRY(r.arrow ? read_output(&r, err) : make_output(&r, err));
done:
    return st;
}

tsr_shape tsr__einsum_shape(const tsr_einsum_axes *e)
{
    tsr_shape shape = {.ndim = e->ndim[TSR_EINSUM_OUT]};

    for (int d = 0; d < shape.ndim; d++)
        shape.size[d] = e->size[e->axis[TSR_EINSUM_OUT][d]];
    return shape;
}
