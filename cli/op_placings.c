/* SPDX-License-Identifier: Apache-2.0 */
/* op_placings.c - ways to place an op's inputs, for verify, and each rank's part of them. A partial
   input gets terms that differ from rank to rank and partly cancel: with the value on one rank and
   nothing on the others, relu or a product of two partials would seem to be right. */
#include "op_check.h"
#include "values.h"

#include <math.h>
#include <stdlib.h>

/* ---- ways ---- */

/* R, P(sum), or S(d) for each dim */
static int n_choices(const tsr_spec *spec)
{
    return 2 + spec->shape.ndim;
}

static tsr_placement choice(int i)
{
    if (i == 0)
        return (tsr_placement){.kind = TSR_REPLICATE};
    if (i == 1)
        return (tsr_placement){.kind = TSR_PARTIAL, .reduce = TSR_SUM};
    return (tsr_placement){.kind = TSR_SHARD, .dim = i - 2};
}

op_placings op_placings_of(const op_problem *p, bool all)
{
    op_placings ways = {.p = p, .all = all, .total = 1, .n = 1};

    for (int k = 0; k < p->n_in && all; k++)
        if (op_problem_has(p, k))
            ways.total *= pow(n_choices(&p->in[k]), p->in[k].mesh.ndim);
    ways.n = ways.total > OP_PLACINGS ? OP_PLACINGS : (int)ways.total;
    return ways;
}

/* The number of the i-th way to try: one of every n-th part of all, so that no two are the same. */
static int64_t number_of(const op_placings *ways, int i, uint64_t random)
{
    int64_t total = (int64_t)ways->total, n = ways->n;
    int64_t first = (int64_t)((double)total / (double)n * i);
    int64_t end = (int64_t)((double)total / (double)n * (i + 1));

    return total == n ? i : first + (int64_t)(random % (uint64_t)(end - first));
}

bool op_placing(const op_placings *ways, int i, tsr_spec in[TSR_OP_INPUTS])
{
    const op_problem *p = ways->p;
    bool countable = ways->total <= 1e15;
    uint64_t random = value_hash(p->set.seed ^ value_hash((uint64_t)i));
    int64_t number = countable ? number_of(ways, i, random) : 0;

    for (int k = p->n_in - 1; k >= 0; k--) {
        in[k] = p->in[k];
        if (!op_problem_has(p, k) || !ways->all)
            continue;
        for (int m = in[k].mesh.ndim - 1; m >= 0; m--) {
            int n = n_choices(&in[k]);

            random = value_hash(random);
            in[k].place[m] =
                choice((int)(countable ? number % n : (int64_t)(random % (uint64_t)n)));
            number /= n;
        }
        if (tsr_spec_check(&in[k], NULL) != TSR_OK)
            return false;
    }
    return true;
}

/* ---- parts and terms ---- */

/* Part c of n that add up to total: as equal as whole numbers allow; with `cancel`, one more here
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

tsr_status op_placing_make(const op_problem *p, tsr_mesh *mesh, int k, const tsr_spec *spec,
                           const double *whole, tsr_tensor **out)
{
    uint64_t seed = value_hash(p->set.seed + (uint64_t)k);
    bool is_signed = spec->dtype != TSR_U8 && spec->dtype != TSR_BOOL && !p->range[k];
    int coord[TSR_MAX_MESH];
    int64_t at[TSR_MAX_DIM], n;
    char text[TSR_TEXT_LEN];
    value_part part = {0};
    void *data;

    if (!value_part_make(spec, tsr_mesh_index(mesh), &part))
        return TSR_ERR_MEMORY;
    cli_mesh_rank(&spec->mesh, tsr_mesh_index(mesh), coord);
    n = tsr_shape_count(&part.shape);
    data = malloc((size_t)n * tsr_dtype_size(spec->dtype) + 1);
    for (int64_t i = 0; data && i < n; i++) {
        int64_t global = value_part_global(&part, &spec->shape, i, at);

        value_put(spec->dtype, data, i,
                  term(spec, is_signed, value_hash(seed ^ (uint64_t)global), coord, whole[global]));
    }
    if (data)
        *out = tsr_from_local(mesh, tsr_spec_text(spec, text, sizeof text), data, &part.shape);
    value_part_free(&part);
    if (!data)
        return TSR_ERR_MEMORY;
    free(data);
    return tsr_mesh_status(mesh);
}
