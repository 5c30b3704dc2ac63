/* SPDX-License-Identifier: Apache-2.0 */
/* shape_grad.c - gradients of ops that move elements: what was taken goes back to its place, what
   was copied is added up. */
#include "grad/grad.h"
#include "ops/shape/shape_ops.h"
#include "ops/shape/shape_attrs.h"
#include "tessera_ops.h"

static const tsr_shape *shape_of(const tsr_tensor *x)
{
    return &tsr_tensor_spec(x)->shape;
}

/* Attribute i as a dim of x, from the front. */
static int dim_of(const tsr_grad_call *c, int i, const tsr_tensor *x)
{
    const int64_t dim = c->attrs->value[i].i[0];

    return (int)(dim < 0 ? dim + shape_of(x)->ndim : dim);
}

static int64_t integer(const tsr_grad_call *c, int i)
{
    return c->attrs->value[i].i[0];
}

static int64_t clamped(int64_t x, int64_t min, int64_t max)
{
    return x < min ? min : x > max ? max : x;
}

/* x with zeros before and behind dim, so that it is n long. */
static tsr_tensor *put_into(tsr_tensor *x, int dim, int64_t before, int64_t n)
{
    int64_t lo[TSR_MAX_DIM] = {0}, hi[TSR_MAX_DIM] = {0};

    lo[dim] = before;
    hi[dim] = n - before - shape_of(x)->size[dim];
    return tsr_pad(x, lo, shape_of(x)->ndim, hi, shape_of(x)->ndim, 0);
}

/* ---- joined, and taken apart ---- */

tsr_status tsr__grad_cat(const tsr_grad_call *c)
{
    const int dim = dim_of(c, 0, c->out[0]);
    int64_t begin = 0;

    for (int k = 0; k < c->n_in && c->in[k]; k++) {
        const int64_t n = shape_of(c->in[k])->size[dim];

        if (c->wanted[k])
            c->grad_in[k] = tsr_narrow(c->grad_out[0], dim, begin, n);
        begin += n;
    }
    return TSR_OK;
}

tsr_status tsr__grad_stack(const tsr_grad_call *c)
{
    for (int k = 0; k < c->n_in && c->in[k]; k++)
        if (c->wanted[k])
            c->grad_in[k] = tsr_select(c->grad_out[0], dim_of(c, 0, c->out[0]), k);
    return TSR_OK;
}

/* Of split and chunk: the parts joined, or those that something depends on in their places. */
tsr_status tsr__grad_split(const tsr_grad_call *c)
{
    const int dim = dim_of(c, 1, c->in[0]);
    const int64_t n = shape_of(c->in[0])->size[dim];
    int64_t begin = 0;
    int parts = 0, used = 0;

    while (parts < c->n_out && (parts == 0 || begin < n) && c->out[parts]) {
        used += c->grad_out[parts] != NULL;
        begin += shape_of(c->out[parts++])->size[dim];
    }
    begin = 0;
    if (!c->wanted[0])
        return TSR_OK;
    if (used == parts) {
        c->grad_in[0] = tsr_cat(c->grad_out, parts, dim);
        return TSR_OK;
    }
    for (int k = 0; k < parts; k++) {
        if (c->grad_out[k]) {
            tsr_tensor *g = put_into(c->grad_out[k], dim, begin, n);
            c->grad_in[0] = c->grad_in[0] ? tsr_add(c->grad_in[0], g) : g;
        }
        begin += shape_of(c->out[k])->size[dim];
    }
    return TSR_OK;
}

/* ---- dims in another order ---- */

tsr_status tsr__grad_permute(const tsr_grad_call *c)
{
    const int ndim = shape_of(c->in[0])->ndim;
    int back[TSR_MAX_DIM] = {0};

    for (int d = 0; d < ndim; d++) {
        const int64_t from = c->attrs->value[TSR_ATTR_PERMUTE_DIMS].i[d];
        back[from < 0 ? from + ndim : from] = d;
    }
    if (c->wanted[0])
        c->grad_in[0] = tsr_permute(c->grad_out[0], back, ndim);
    return TSR_OK;
}

/* ---- elements that repeat ---- */

/* Adds up the copies along dim d, each of n indices. */
static tsr_tensor *add_copies(tsr_tensor *g, int d, int64_t copies, int64_t n)
{
    const tsr_shape whole = *shape_of(g);
    const bool full = whole.ndim == TSR_MAX_DIM;
    tsr_shape view = {0}, sum = whole;
    int dim = d;

    sum.size[d] = n;
    for (int k = 0; k < whole.ndim; k++) {
        const int64_t size = k == d ? n : whole.size[k];

        if (k == d)
            view.size[view.ndim++] = copies;
        if (full && k == whole.ndim - 1 && d <= 1) /* no room for one more: the last two are one */
            view.size[view.ndim - 1] *= size;
        else
            view.size[view.ndim++] = size;
        if (full && k == 1 && d > 1) { /* or the first two */
            view.size[0] *= view.size[1];
            view.ndim = 1;
            dim = d - 1;
        }
    }
    g = tsr_sum(tsr_reshape(g, view.size, view.ndim), &dim, 1, false);
    return full ? tsr_reshape(g, sum.size, sum.ndim) : g;
}

tsr_status tsr__grad_tile(const tsr_grad_call *c)
{
    const tsr_attr *counts = &c->attrs->value[TSR_ATTR_TILE_COUNTS];
    const tsr_shape *x = shape_of(c->in[0]), *y = shape_of(c->out[0]);
    const int more = y->ndim - x->ndim;
    tsr_tensor *g = c->grad_out[0];
    int dims[TSR_MAX_DIM] = {0};

    if (!c->wanted[0])
        return TSR_OK;
    for (int d = more; d < y->ndim; d++) {
        const int k = d - (y->ndim - counts->n);
        const int64_t copies = k < 0 || counts->n < 1 ? 1 : counts->i[k];

        if (copies != 1)
            g = add_copies(g, d, copies, x->size[d - more]);
    }
    for (int d = 0; d < more; d++)
        dims[d] = d;
    c->grad_in[0] = more > 0 ? tsr_sum(g, dims, more, false) : g;
    return TSR_OK;
}

/* ---- some of the elements ---- */

static int64_t counted(int64_t i, int64_t n)
{
    i = i < 0 ? i + n : i;
    return i < 0 ? 0 : i > n ? n : i;
}

tsr_status tsr__grad_slice(const tsr_grad_call *c)
{
    const int dim = dim_of(c, 0, c->in[0]);
    const int64_t n = shape_of(c->in[0])->size[dim], count = shape_of(c->out[0])->size[dim];
    const int64_t start = counted(integer(c, 1), n), step = integer(c, 3);

    if (!c->wanted[0])
        return TSR_OK;
    c->grad_in[0] = step > 1 && count > 1 ? tsr_slice_backward(c->grad_out[0], dim, start, step, n)
                                          : put_into(c->grad_out[0], dim, start, n);
    return TSR_OK;
}

tsr_status tsr__grad_narrow(const tsr_grad_call *c)
{
    const int dim = dim_of(c, 0, c->in[0]);
    const int64_t n = shape_of(c->in[0])->size[dim];

    if (c->wanted[0])
        c->grad_in[0] = put_into(c->grad_out[0], dim, counted(integer(c, 1), n), n);
    return TSR_OK;
}

tsr_status tsr__grad_select(const tsr_grad_call *c)
{
    const int dim = dim_of(c, 0, c->in[0]);
    const int64_t n = shape_of(c->in[0])->size[dim];

    if (c->wanted[0])
        c->grad_in[0] =
            put_into(tsr_unsqueeze(c->grad_out[0], &dim, 1), dim, counted(integer(c, 1), n), n);
    return TSR_OK;
}

/* Each element along all of its row, of which tril and triu leave the diagonal. */
tsr_status tsr__grad_diagonal(const tsr_grad_call *c)
{
    const tsr_shape *x = shape_of(c->in[0]);
    const int d1 = dim_of(c, 1, c->in[0]), d2 = dim_of(c, 2, c->in[0]), last = x->ndim - 1;
    /* beyond the corners all diagonals are empty: no zeros go before and behind them */
    const int64_t offset = clamped(integer(c, 0), -x->size[d1], x->size[d2]);
    tsr_shape matrix = *shape_of(c->grad_out[0]);
    int order[TSR_MAX_DIM] = {0}, others = 0;
    tsr_tensor *g;

    if (!c->wanted[0])
        return TSR_OK;
    g = put_into(c->grad_out[0], last - 1, offset < 0 ? -offset : 0, x->size[d1]);
    matrix.size[last - 1] = x->size[d1];
    matrix.size[matrix.ndim++] = x->size[d2];
    g = tsr_expand(tsr_unsqueeze(g, &last, 1), matrix.size, matrix.ndim);
    g = tsr_triu(tsr_tril(g, offset), offset);
    for (int d = 0; d < x->ndim; d++)
        order[d] = d == d1 ? last - 1 : d == d2 ? last : others++;
    c->grad_in[0] = tsr_permute(g, order, x->ndim);
    return TSR_OK;
}

tsr_status tsr__grad_slice_backward(const tsr_grad_call *c)
{
    const int dim = dim_of(c, 0, c->in[0]);
    const int64_t count = shape_of(c->in[0])->size[dim], start = integer(c, 1);
    const int64_t step = integer(c, 2);

    if (c->wanted[0])
        c->grad_in[0] = tsr_slice(c->grad_out[0], dim, start,
                                  count > 0 ? start + (count - 1) * step + 1 : start, step);
    return TSR_OK;
}

tsr_status tsr__grad_unfold_backward(const tsr_grad_call *c)
{
    const int dim = dim_of(c, 0, c->out[0]);

    if (c->wanted[0])
        c->grad_in[0] = tsr_narrow(tsr_unfold(c->grad_out[0], dim, integer(c, 1), integer(c, 2)),
                                   dim, 0, shape_of(c->in[0])->size[dim]);
    return TSR_OK;
}

/* ---- backwards, and around ---- */

tsr_status tsr__grad_roll(const tsr_grad_call *c)
{
    const tsr_attr *shifts = &c->attrs->value[TSR_ATTR_ROLL_SHIFTS],
                   *along = &c->attrs->value[TSR_ATTR_ROLL_DIMS];
    int64_t back[TSR_MAX_DIM] = {0};
    int dims[TSR_MAX_DIM] = {0};

    for (int k = 0; k < shifts->n; k++) { /* as far as around the end, so that it has a negative */
        const tsr_shape *x = shape_of(c->in[0]);
        int64_t n = tsr_shape_count(x);

        if (along->n > 0) {
            dims[k] = (int)along->i[k];
            n = x->size[dims[k] < 0 ? dims[k] + x->ndim : dims[k]];
        }
        back[k] = n > 0 ? -(shifts->i[k] % n) : 0;
    }
    if (c->wanted[0])
        c->grad_in[0] = tsr_roll(c->grad_out[0], back, shifts->n, dims, along->n);
    return TSR_OK;
}

/* ---- more around it ---- */

typedef enum pad_mode { REFLECT, REPLICATE, CIRCULAR } pad_mode;

/* The gradient of what a border of one dim of n was copied from. */
static tsr_tensor *border(tsr_tensor *g, pad_mode mode, bool front, int d, int64_t width, int64_t n)
{
    switch (mode) {
    case REFLECT: return put_into(tsr_flip(g, &d, 1), d, front ? 1 : n - 1 - width, n);
    case REPLICATE: return put_into(tsr_sum(g, &d, 1, true), d, front ? 0 : n - 1, n);
    default: return put_into(g, d, front ? n - width : 0, n);
    }
}

static tsr_status pad_mode_grad(const tsr_grad_call *c, pad_mode mode)
{
    const tsr_shape *x = shape_of(c->in[0]);
    tsr_tensor *g = c->grad_out[0];

    for (int d = 0; d < x->ndim && c->wanted[0]; d++) {
        const int64_t before = c->attrs->value[TSR_ATTR_PAD_BEFORE].i[d],
                      after = c->attrs->value[TSR_ATTR_PAD_AFTER].i[d];
        const int64_t n = x->size[d];
        tsr_tensor *sum = before + after > 0 ? tsr_narrow(g, d, before, n) : g;

        if (before > 0)
            sum = tsr_add(sum, border(tsr_narrow(g, d, 0, before), mode, true, d, before, n));
        if (after > 0)
            sum =
                tsr_add(sum, border(tsr_narrow(g, d, before + n, after), mode, false, d, after, n));
        g = sum;
    }
    if (c->wanted[0])
        c->grad_in[0] = g;
    return TSR_OK;
}

tsr_status tsr__grad_pad_reflect(const tsr_grad_call *c)
{
    return pad_mode_grad(c, REFLECT);
}

tsr_status tsr__grad_pad_replicate(const tsr_grad_call *c)
{
    return pad_mode_grad(c, REPLICATE);
}

tsr_status tsr__grad_pad_circular(const tsr_grad_call *c)
{
    return pad_mode_grad(c, CIRCULAR);
}
