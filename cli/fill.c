/* SPDX-License-Identifier: Apache-2.0 */
/* fill.c - inputs that are in no file (fill.h). A partial input gets terms that differ from rank to
   rank and partly cancel: with the value on one rank and nothing on the others, relu or a product
   of two partials would seem to be right. */
#include "fill.h"
#include "values.h"

#include <math.h>
#include <stdlib.h>

/* ---- parts ---- */

/* What a coordinate has of a global element. */
typedef double (*element)(const void *arg, const int *coord, int64_t global);

/* Every rank makes its own part. */
static tsr_status make_part(tsr_mesh *mesh, const tsr_spec *spec, element value, const void *arg,
                            tsr_tensor **out)
{
    char text[TSR_TEXT_LEN];
    value_part part = {0};
    int coord[TSR_MAX_MESH];
    int64_t at[TSR_MAX_DIM], n;
    void *data;

    tsr_spec_text(spec, text, sizeof text);
    if (!tsr_mesh_is_member(mesh)) {
        *out = tsr_zeros(mesh, text);
        return tsr_mesh_status(mesh);
    }
    if (!value_part_make(spec, tsr_mesh_index(mesh), &part))
        return TSR_ERR_MEMORY;
    cli_mesh_rank(&spec->mesh, tsr_mesh_index(mesh), coord);
    n = tsr_shape_count(&part.shape);
    data = malloc((size_t)n * tsr_dtype_size(spec->dtype) + 1);
    for (int64_t i = 0; data && i < n; i++)
        value_put(spec->dtype, data, i,
                  value(arg, coord, value_part_global(&part, &spec->shape, i, at)));
    if (data)
        *out =
            tsr_from_local(mesh, text, data, (size_t)n * tsr_dtype_size(spec->dtype), &part.shape);
    value_part_free(&part);
    if (!data)
        return TSR_ERR_MEMORY;
    free(data);
    return tsr_mesh_status(mesh);
}

/* ---- a redistribution's ---- */

static double source_element(const void *arg, const int *coord, int64_t global)
{
    const problem *p = arg;

    return value_term(&p->from, p->seed, coord, global);
}

tsr_status fill_source(const problem *p, tsr_mesh *mesh, tsr_tensor **out)
{
    return make_part(mesh, &p->from, source_element, p, out);
}

/* ---- whole inputs of ops ---- */

static double random_value(tsr_dtype dtype, uint64_t h)
{
    if (dtype == TSR_BOOL)
        return (double)(h & 1);
    return value_is_signed(dtype) ? (double)(h % 7) - 3 : (double)(h % 4);
}

/* Values of an input that has a range: positive numbers, indices below the limit, or offsets that
   begin with 0 and grow by 0 to 3, so that some are equal. */
static double ranged_value(const op_problem *p, int k, double before, int64_t i, uint64_t h)
{
    double limit = (double)p->limit[k];

    if (p->range[k] == '+')
        return 1 + (double)(h % 3);
    if (p->range[k] == '<')
        return (double)(h % (uint64_t)p->limit[k]);
    return i == 0 ? 0 : fmin(before + (double)(h % 4), limit);
}

double *fill_values(const op_problem *p, int k)
{
    int64_t n = tsr_shape_count(&p->in[k].shape);
    double *value;

    if ((uint64_t)n > SIZE_MAX / 2 / sizeof(double))
        return NULL;
    value = malloc((size_t)n * sizeof(double) + 1);
    for (int64_t i = 0; i < n && value; i++) {
        uint64_t h = value_hash(value_hash(p->set.seed ^ (uint64_t)k << 32) + (uint64_t)i) >> 8;

        value[i] = p->range[k] ? ranged_value(p, k, i > 0 ? value[i - 1] : 0, i, h)
                               : random_value(p->in[k].dtype, h);
    }
    return value;
}

/* ---- their terms ---- */

/* Part c of n that add up to total: as equal as integers allow; with `cancel`, one more here
   and one less there. */
static double summand(double total, int n, int c, uint64_t h, bool cancel)
{
    double part = trunc(total / n), rest = total - part * n;

    if ((c + (int)(h % (uint64_t)n)) % n < (int)fabs(rest))
        part += rest > 0 ? 1 : -1;
    if (cancel && n > 1) {
        int more = (int)(h >> 16 & 0xffff) % n;

        part += (c == more) - (c == (more + 1) % n);
    }
    return part;
}

/* What remains for a coordinate when `value` is split along the partial mesh dims, the first one
   outermost. The absolute values of summands exceed that of the value by 2 at most. */
static double term(const tsr_spec *spec, bool is_signed, uint64_t h, const int *coord, double value)
{
    bool cancel = is_signed;

    for (int m = 0; m < spec->mesh.ndim; m++) {
        int n = spec->mesh.size[m], c = coord[m], winner = (int)(h >> 8 & 0xffff) % n;
        double off = (double)(value_hash(h ^ (uint64_t)c) % 3);

        if (spec->place[m].kind != TSR_PARTIAL)
            continue;
        switch (spec->place[m].reduce) {
        case TSR_SUM:
            value = summand(value, n, c, h, cancel);
            cancel = false;
            break;
        case TSR_AVG:
            value = summand(value * n, n, c, h, cancel);
            cancel = false;
            break;
        case TSR_MIN: value += c == winner ? 0 : off; break;
        case TSR_MAX:
            value -= c == winner ? 0 : off;
            value = value < 0 && !is_signed ? 0 : value;
            break;
        case TSR_PROD: value = c == winner ? value : 1; break;
        }
        h = value_hash(h + (uint64_t)c);
    }
    return value;
}

typedef struct parted {
    const tsr_spec *spec;
    const double *whole;
    bool is_signed;
    uint64_t seed;
} parted;

static double parted_element(const void *arg, const int *coord, int64_t global)
{
    const parted *p = arg;

    return term(p->spec, p->is_signed, value_hash(p->seed ^ (uint64_t)global), coord,
                p->whole[global]);
}

tsr_status fill_input(const op_problem *p, tsr_mesh *mesh, int k, const tsr_spec *spec,
                      const double *whole, tsr_tensor **out)
{
    parted parts = {
        .spec = spec,
        .whole = whole,
        .is_signed = value_is_signed(spec->dtype) && !p->range[k],
        .seed = value_hash(p->set.seed + (uint64_t)k),
    };

    return make_part(mesh, spec, parted_element, &parts, out);
}
