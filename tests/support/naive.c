/* SPDX-License-Identifier: Apache-2.0 */
/* naive.c - the slow and obvious model of layouts and partial values. */
#include "naive.h"

#include <string.h>

/* Part r of p of the list, by the chunk rule. */
static void chunk(const naive_list *from, int begin, int end, int p, int r, naive_list *out)
{
    int n = end - begin, c = (n + p - 1) / p;

    for (int i = r * c; i < (r + 1) * c && i < n; i++)
        out->index[out->n++] = from->index[begin + i];
}

void naive_held(const tsr_spec *spec, int dim, const int *coord, naive_list *out)
{
    naive_list now = {0};

    for (int i = 0; i < spec->shape.size[dim]; i++)
        now.index[now.n++] = i;
    for (int m = 0; m < spec->mesh.ndim; m++) {
        const tsr_placement *p = &spec->place[m];
        naive_list next = {0};
        if ((p->kind != TSR_SHARD && p->kind != TSR_STRIDED) || p->dim != dim)
            continue;
        int pieces = p->kind == TSR_STRIDED ? (int)p->factor : 1;
        int c = (now.n + pieces - 1) / pieces;
        for (int k = 0; k < pieces; k++) {
            int begin = k * c < now.n ? k * c : now.n;
            int end = (k + 1) * c < now.n ? (k + 1) * c : now.n;
            chunk(&now, begin, end, spec->mesh.size[m], coord[m], &next);
        }
        now = next;
    }
    *out = now;
}

double naive_term(const tsr_spec *spec, int64_t element, const int *coord)
{
    static const double values[] = {24, -24, 48};
    uint64_t h = (uint64_t)element * 7919 + 12345;

    for (int m = 0; m < spec->mesh.ndim; m++)
        if (spec->place[m].kind == TSR_PARTIAL)
            h = (h + (uint64_t)coord[m] + 1) * 2654435761u;
    h ^= h >> 15;
    if (spec->dtype == TSR_BOOL)
        return (double)(h & 1);
    if (tsr_dtype_name(spec->dtype)[0] == 'u' || spec->dtype == TSR_I8 || spec->dtype == TSR_I16)
        return (double)(1 + h % 3); /* nothing wraps */
    return values[h % 3];
}

static double combine(tsr_reduce op, double a, double b)
{
    switch (op) {
    case TSR_SUM:
    case TSR_AVG: return a + b;
    case TSR_MIN: return a < b ? a : b;
    case TSR_MAX: return a > b ? a : b;
    case TSR_PROD: return a * b;
    }
    return 0;
}

/* The value with the coordinates of mesh dims before m fixed. */
static double value_from(const tsr_spec *spec, int64_t element, int m, int *coord)
{
    double acc = 0;

    if (m == spec->mesh.ndim)
        return naive_term(spec, element, coord);
    if (spec->place[m].kind != TSR_PARTIAL) {
        coord[m] = 0;
        return value_from(spec, element, m + 1, coord);
    }
    for (coord[m] = 0; coord[m] < spec->mesh.size[m]; coord[m]++) {
        int c = coord[m];
        double x = value_from(spec, element, m + 1, coord);
        coord[m] = c;
        acc = c == 0 ? x : combine(spec->place[m].reduce, acc, x);
    }
    return spec->place[m].reduce == TSR_AVG ? acc / spec->mesh.size[m] : acc;
}

double naive_value(const tsr_spec *spec, int64_t element)
{
    int coord[TSR_MAX_MESH] = {0};
    return value_from(spec, element, 0, coord);
}

int64_t naive_part(const tsr_spec *spec, int index, const tsr_spec *source, double *out,
                   tsr_shape *shape)
{
    static _Thread_local naive_list list[TSR_MAX_DIM];
    int coord[TSR_MAX_MESH], at[TSR_MAX_DIM] = {0}, ndim = spec->shape.ndim;
    int64_t n = 1;

    for (int m = spec->mesh.ndim - 1; m >= 0; m--) {
        coord[m] = index % spec->mesh.size[m];
        index /= spec->mesh.size[m];
    }
    *shape = (tsr_shape){.ndim = ndim};
    for (int d = 0; d < ndim; d++) {
        naive_held(spec, d, coord, &list[d]);
        shape->size[d] = list[d].n;
        n *= list[d].n;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t element = 0;
        for (int d = 0; d < ndim; d++)
            element = element * spec->shape.size[d] + list[d].index[at[d]];
        out[i] = source ? naive_value(source, element) : naive_term(spec, element, coord);
        for (int d = ndim - 1; d >= 0 && ++at[d] == list[d].n; d--)
            at[d] = 0;
    }
    return n;
}
