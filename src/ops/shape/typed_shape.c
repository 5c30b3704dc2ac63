/* SPDX-License-Identifier: Apache-2.0 */
/* typed_shape.c - ops on shapes of tessera_ops.h: arguments become attributes, in the order of the
   rows (ops/shape/views.c, ops/shape/reshape.c, ops/shape/repeats.c, ops/shape/cuts.c,
   ops/shape/padding_ops.c). */
#include "dispatch/dispatch.h"
#include "op/element_attr.h"
#include "tessera_ops.h"

static tsr_tensor *run(const char *name, tsr_tensor *x, const tsr_attr *attrs)
{
    return tsr__dispatch_typed(name, &x, 1, attrs, NULL);
}

/* With an attribute that was read from a list of n numbers. */
static tsr_tensor *run_list(const char *name, tsr_tensor *x, const void *list, int n,
                            const tsr_attr *attrs)
{
    if (!list && n > 0)
        return tsr__typed_no_list(name, x, n);
    return n > TSR_MAX_DIM ? tsr__typed_long_list(name, x, n) : run(name, x, attrs);
}

static tsr_attr integer(int64_t value)
{
    return (tsr_attr){.n = 1, .i = {value}};
}

/* Of longer lists, which are refused, no more than there is room for is read. */
static int at_most(int n)
{
    return n < 0 ? 0 : n > TSR_MAX_DIM ? TSR_MAX_DIM : n;
}

static tsr_attr sizes_of(const int64_t *value, int n)
{
    tsr_attr attr = {.n = value ? at_most(n) : 0};

    for (int i = 0; i < attr.n; i++)
        attr.i[i] = value[i];
    return attr;
}

static tsr_attr dims_of(const int *value, int n)
{
    tsr_attr attr = {.n = value ? at_most(n) : 0};

    for (int i = 0; i < attr.n; i++)
        attr.i[i] = value[i];
    return attr;
}

/* ---- joined ---- */

/* Lists that are longer than a row's are joined in groups, and these in turn. */
static tsr_tensor *join(const char *name, tsr_tensor *const *x, int n, int dim)
{
    tsr_tensor *group[TSR_MAX_IN];
    int each = 1, groups = 0;

    if (n <= TSR_MAX_IN || !x)
        return tsr__dispatch_typed(name, x, n, (const tsr_attr[]){integer(dim)}, NULL);
    while (each * TSR_MAX_IN < n)
        each *= TSR_MAX_IN;
    for (int k = 0; k < n; k += each)
        group[groups++] = join(name, x + k, each < n - k ? each : n - k, dim);
    return join("cat", group, groups, dim);
}

tsr_tensor *tsr_cat(tsr_tensor *const *x, int n, int dim)
{
    return join("cat", x, n, dim);
}

tsr_tensor *tsr_stack(tsr_tensor *const *x, int n, int dim)
{
    return join("stack", x, n, dim);
}

/* ---- dims ---- */

tsr_tensor *tsr_transpose(tsr_tensor *x, int dim0, int dim1)
{
    return run("transpose", x, (const tsr_attr[]){integer(dim0), integer(dim1)});
}

tsr_tensor *tsr_permute(tsr_tensor *x, const int *dims, int n_dims)
{
    return run_list("permute", x, dims, n_dims, (const tsr_attr[]){dims_of(dims, n_dims)});
}

tsr_tensor *tsr_reshape(tsr_tensor *x, const int64_t *sizes, int ndim)
{
    return run_list("reshape", x, sizes, ndim, (const tsr_attr[]){sizes_of(sizes, ndim)});
}

tsr_tensor *tsr_squeeze(tsr_tensor *x, const int *dims, int n_dims)
{
    tsr_attr which = dims_of(dims, n_dims);

    which.n = which.n > 0 ? which.n : -1;
    return run_list("squeeze", x, dims, n_dims, &which);
}

tsr_tensor *tsr_unsqueeze(tsr_tensor *x, const int *dims, int n_dims)
{
    return run_list("unsqueeze", x, dims, n_dims, (const tsr_attr[]){dims_of(dims, n_dims)});
}

tsr_tensor *tsr_flatten(tsr_tensor *x, int start, int end)
{
    return run("flatten", x, (const tsr_attr[]){integer(start), integer(end)});
}

/* ---- elements that repeat ---- */

tsr_tensor *tsr_expand(tsr_tensor *x, const int64_t *sizes, int ndim)
{
    return run_list("expand", x, sizes, ndim, (const tsr_attr[]){sizes_of(sizes, ndim)});
}

tsr_tensor *tsr_tile(tsr_tensor *x, const int64_t *counts, int n)
{
    return run_list("tile", x, counts, n, (const tsr_attr[]){sizes_of(counts, n)});
}

/* ---- some of the elements ---- */

tsr_tensor *tsr_slice(tsr_tensor *x, int dim, int64_t start, int64_t stop, int64_t step)
{
    return run("slice", x,
               (const tsr_attr[]){integer(dim), integer(start), integer(stop), integer(step)});
}

tsr_tensor *tsr_narrow(tsr_tensor *x, int dim, int64_t start, int64_t length)
{
    return run("narrow", x, (const tsr_attr[]){integer(dim), integer(start), integer(length)});
}

tsr_tensor *tsr_select(tsr_tensor *x, int dim, int64_t index)
{
    return run("select", x, (const tsr_attr[]){integer(dim), integer(index)});
}

tsr_tensor *tsr_unfold(tsr_tensor *x, int dim, int64_t size, int64_t step)
{
    return run("unfold", x, (const tsr_attr[]){integer(dim), integer(size), integer(step)});
}

tsr_tensor *tsr_diagonal(tsr_tensor *x, int64_t offset, int dim1, int dim2)
{
    return run("diagonal", x, (const tsr_attr[]){integer(offset), integer(dim1), integer(dim2)});
}

/* ---- backwards, and around ---- */

tsr_tensor *tsr_flip(tsr_tensor *x, const int *dims, int n_dims)
{
    return run_list("flip", x, dims, n_dims, (const tsr_attr[]){dims_of(dims, n_dims)});
}

tsr_tensor *tsr_roll(tsr_tensor *x, const int64_t *shifts, const int *dims, int n_dims)
{
    tsr_attr along = dims_of(dims, n_dims);

    if (!dims && n_dims > 0)
        return tsr__typed_no_list("roll", x, n_dims);
    along.n = along.n > 0 ? along.n : -1;
    return run_list("roll", x, shifts, n_dims > 0 ? n_dims : 1,
                    (const tsr_attr[]){sizes_of(shifts, along.n > 0 ? along.n : 1), along});
}

/* ---- more around it ---- */

static tsr_tensor *padded(const char *name, tsr_tensor *x, const int64_t *before,
                          const int64_t *after, double value)
{
    const int ndim = x && !x->failed ? x->local_spec->spec.shape.ndim : 0;

    return run_list(
        name, x, before && after ? before : NULL, ndim,
        (const tsr_attr[]){sizes_of(before, ndim), sizes_of(after, ndim), tsr__element(value)});
}

tsr_tensor *tsr_pad(tsr_tensor *x, const int64_t *before, const int64_t *after, double value)
{
    return padded("pad", x, before, after, value);
}

tsr_tensor *tsr_pad_reflect(tsr_tensor *x, const int64_t *before, const int64_t *after)
{
    return padded("pad_reflect", x, before, after, 0);
}

tsr_tensor *tsr_pad_replicate(tsr_tensor *x, const int64_t *before, const int64_t *after)
{
    return padded("pad_replicate", x, before, after, 0);
}

tsr_tensor *tsr_pad_circular(tsr_tensor *x, const int64_t *before, const int64_t *after)
{
    return padded("pad_circular", x, before, after, 0);
}

tsr_tensor *tsr_slice_backward(tsr_tensor *grad, int dim, int64_t start, int64_t step,
                               int64_t length)
{
    return run("slice_backward", grad,
               (const tsr_attr[]){integer(dim), integer(start), integer(step), integer(length)});
}

tsr_tensor *tsr_unfold_backward(tsr_tensor *grad, int dim, int64_t size, int64_t step,
                                int64_t length)
{
    return run("unfold_backward", grad,
               (const tsr_attr[]){integer(dim), integer(size), integer(step), integer(length)});
}

/* ---- triangles ---- */

tsr_tensor *tsr_tril(tsr_tensor *x, int64_t diagonal)
{
    return run("tril", x, (const tsr_attr[]){integer(diagonal)});
}

tsr_tensor *tsr_triu(tsr_tensor *x, int64_t diagonal)
{
    return run("triu", x, (const tsr_attr[]){integer(diagonal)});
}
