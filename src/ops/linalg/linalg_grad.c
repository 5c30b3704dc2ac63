/* SPDX-License-Identifier: Apache-2.0 */
/* linalg_grad.c - gradients of products: products again, with the axes of an operand instead of the
   output's, by einsum, which turns no matrix to multiply it. */
#include "grad/grad.h"
#include "ops/linalg/linalg_ops.h"
#include "ops/linalg/einsum.h"
#include "ops/linalg/linalg_attrs.h"
#include "tessera_ops.h"

#include <stdio.h>
#include <string.h>

static int ndim_of(const tsr_tensor *x)
{
    return tsr_tensor_spec(x)->shape.ndim;
}

static tsr_tensor *product(const char *equation, tsr_tensor *a, tsr_tensor *b)
{
    return tsr_einsum(equation, (tsr_tensor *[]){a, b}, 2);
}

/* The sum over all dims but the last. */
static tsr_tensor *of_bias(tsr_tensor *g)
{
    int dims[TSR_MAX_DIM], n = ndim_of(g) - 1;

    for (int d = 0; d < n; d++)
        dims[d] = d;
    return n > 0 ? tsr_sum(g, dims, n, false) : g;
}

/* One matrix for all: what leading dims leave is summed in the product already. */
tsr_status tsr__grad_matmul(const tsr_grad_call *c)
{
    tsr_tensor *g = c->grad_out[0], *a = c->in[0], *b = c->in[1];

    if (c->wanted[0])
        c->grad_in[0] = tsr__grad_fit(
            product(ndim_of(a) == 2 ? "...mn,...kn->mk" : "...mn,...kn->...mk", g, b), a);
    if (c->wanted[1])
        c->grad_in[1] = tsr__grad_fit(
            product(ndim_of(b) == 2 ? "...mk,...mn->kn" : "...mk,...mn->...kn", a, g), b);
    if (c->n_in > 2 && c->wanted[2])
        c->grad_in[2] = of_bias(g);
    return TSR_OK;
}

/* ---- einsum ---- */

/* Axes of tensors as letters; those that an operand broadcasts are left out of it. */
typedef struct lettered {
    tsr_tensor *x;
    int n;
    char letters[TSR_MAX_DIM + 1];
} lettered;

static char letter(int axis)
{
    return (char)(axis < TSR_EINSUM_AXES ? 'a' + axis : 'A' + axis - TSR_EINSUM_AXES);
}

static bool has(const lettered *t, char c)
{
    bool found = false;

    for (int i = 0; i < t->n; i++)
        found = found || t->letters[i] == c;
    return found;
}

static void add(lettered *t, char c)
{
    t->letters[t->n++] = c;
    t->letters[t->n] = 0;
}

/* A tensor of the equation with its letters; dims that broadcast are taken out. */
static lettered read_tensor(const tsr_einsum_axes *e, int tensor, tsr_tensor *x)
{
    const tsr_shape *shape = &tsr_tensor_spec(x)->shape;
    lettered t = {.x = x};
    int64_t size[TSR_MAX_DIM];

    for (int d = 0; d < shape->ndim; d++) {
        int axis = e->axis[tensor][d];

        if (shape->size[d] != e->size[axis])
            continue;
        size[t.n] = shape->size[d];
        add(&t, letter(axis));
    }
    if (t.n < shape->ndim)
        t.x = tsr_reshape(x, size, t.n);
    return t;
}

/* The product of two of them with the letters of `out`, which has letters of both. */
static void multiply(const lettered *a, const lettered *b, lettered *out)
{
    char equation[4 * TSR_MAX_DIM];

    snprintf(equation, sizeof equation, "%s,%s->%s", a->letters, b->letters, out->letters);
    out->x = product(equation, a->x, b->x);
}

/* A tensor of ones, or the unit matrix, like the gradient. */
static tsr_tensor *make(tsr_tensor *g, const tsr_shape *shape, double value)
{
    tsr_spec spec = *tsr_tensor_spec(g);
    char text[TSR_TEXT_LEN];

    spec.shape = *shape;
    for (int m = 0; m < spec.mesh.ndim; m++)
        spec.place[m] = (tsr_placement){.kind = TSR_REPLICATE};
    return tsr_full(tsr_tensor_mesh(g), tsr_spec_text(&spec, text, sizeof text), value);
}

/* g spread along axes that only the operand has. */
static void spread(const tsr_einsum_axes *e, const lettered *want, lettered *g)
{
    lettered ones = {0}, out = {0};
    tsr_shape shape = {0};

    for (int axis = 0; axis < e->n_axes; axis++)
        if (has(want, letter(axis)) && !has(g, letter(axis))) {
            shape.size[shape.ndim++] = e->size[axis];
            add(&ones, letter(axis));
        }
    if (ones.n == 0)
        return;
    for (int i = 0; i < g->n; i++)
        add(&out, g->letters[i]);
    for (int i = 0; i < ones.n; i++)
        add(&out, ones.letters[i]);
    ones.x = make(g->x, &shape, 1);
    multiply(g, &ones, &out);
    *g = out;
}

static tsr_tensor *unit_matrix(tsr_tensor *g, int64_t n)
{
    tsr_tensor *unit = make(g, &(tsr_shape){.ndim = 2, .size = {n, n}}, 0);
    const tsr_dtype dtype = tsr_tensor_spec(g)->dtype;
    tsr_local here;

    if (tsr_local_view(unit, &here) == TSR_OK)
        for (int64_t i = 0; i < n; i++)
            tsr__put(dtype, here.data, i * n + i, 1);
    return unit;
}

/* g put on the diagonals of axes that the operand has twice: `want` gets a new letter for every
   further time. */
static void embed(const tsr_einsum_axes *e, lettered *want, lettered *g)
{
    int next = e->n_axes;

    for (int i = 0; i < want->n; i++) {
        const char c = want->letters[i];
        lettered before = {.n = i}, unit = {0}, out = *g;

        for (int l = 0; l < i; l++)
            before.letters[l] = want->letters[l];
        if (!has(&before, c))
            continue;
        want->letters[i] = letter(next++);
        add(&unit, c);
        add(&unit, want->letters[i]);
        add(&out, want->letters[i]);
        unit.x = unit_matrix(g->x, e->size[c - 'a']);
        multiply(g, &unit, &out);
        *g = out;
    }
}

/* Of operand k, from the gradient and the other operands. */
static tsr_tensor *einsum_gradient(const tsr_grad_call *c, const tsr_einsum_axes *e, int k)
{
    const tsr_shape *shape = &tsr_tensor_spec(c->in[k])->shape;
    lettered want = read_tensor(e, k, c->in[k]), g = {0};
    tsr_tensor *in[TSR_EINSUM_IN];
    char equation[8 * TSR_MAX_DIM], *p = equation, *end = equation + sizeof equation;
    bool there[TSR_EINSUM_AXES] = {false};
    int n = 0;

    for (int j = -1; j < e->n; j++) { /* the gradient first */
        lettered t;

        if (j == k)
            continue;
        t = j < 0 ? read_tensor(e, TSR_EINSUM_OUT, c->grad_out[0]) : read_tensor(e, j, c->in[j]);
        for (int axis = 0; axis < e->n_axes; axis++)
            there[axis] = there[axis] || has(&t, letter(axis));
        p += snprintf(p, (size_t)(end - p), "%s%s", n ? "," : "", t.letters);
        in[n++] = t.x;
    }
    for (int axis = 0; axis < e->n_axes; axis++)
        if (there[axis] && has(&want, letter(axis)))
            add(&g, letter(axis));
    snprintf(p, (size_t)(end - p), "->%s", g.letters);
    g.x = tsr_einsum(equation, in, n);
    spread(e, &want, &g);
    embed(e, &want, &g);
    if (strcmp(g.letters, want.letters) != 0) {
        snprintf(equation, sizeof equation, "%s->%s", g.letters, want.letters);
        g.x = tsr_einsum(equation, &g.x, 1);
    }
    return want.n < shape->ndim ? tsr_reshape(g.x, shape->size, shape->ndim) : g.x;
}

tsr_status tsr__grad_einsum(const tsr_grad_call *c)
{
    const tsr_shape *shape[TSR_EINSUM_IN];
    tsr_einsum_axes e;
    int n = 0;
    tsr_status st;

    for (; n < TSR_EINSUM_IN && n < c->n_in && c->in[n]; n++)
        shape[n] = &tsr_tensor_spec(c->in[n])->shape;
    TSR_TRY(tsr__einsum_parse("einsum", c->attrs->value[TSR_ATTR_EINSUM_EQUATION].text, n, shape,
                              &e, NULL));
    for (int k = 0; k < n; k++)
        if (c->wanted[k])
            c->grad_in[k] = einsum_gradient(c, &e, k);
done:
    return st;
}
