/* SPDX-License-Identifier: Apache-2.0 */
/* op_placings.c - placements of an op's inputs to try, for verify. */
#include "op_check.h"
#include "values.h"

#include <math.h>

/* R, P(sum), or S(d), and SS(d,2) if asked for, for each dim */
static int n_choices(op_placing_kinds kinds, const tsr_spec *spec)
{
    return 2 + (kinds == OP_PLACE_STRIDED ? 2 : 1) * spec->shape.ndim;
}

static tsr_placement choice(int i, const tsr_spec *spec)
{
    if (i == 0)
        return (tsr_placement){.kind = TSR_REPLICATE};
    if (i == 1)
        return (tsr_placement){.kind = TSR_PARTIAL, .reduce = TSR_SUM};
    if (i < 2 + spec->shape.ndim)
        return (tsr_placement){.kind = TSR_SHARD, .dim = i - 2};
    return (tsr_placement){.kind = TSR_STRIDED, .dim = i - 2 - spec->shape.ndim, .factor = 2};
}

op_placings op_placings_of(const op_problem *p, op_placing_kinds kinds)
{
    op_placings placings = {
        .p = p, .kinds = kinds, .all = kinds != OP_PLACE_AS_GIVEN, .total = 1, .n = 1};

    for (int k = 0; k < p->n_in && placings.all; k++)
        if (op_problem_has(p, k))
            placings.total *= pow(n_choices(kinds, &p->in[k]), p->in[k].mesh.ndim);
    placings.n = placings.total > OP_PLACINGS ? OP_PLACINGS : (int)placings.total;
    return placings;
}

/* The number of the i-th placing to try: one of every n-th part of all, so that none repeats. */
static int64_t number_of(const op_placings *placings, int i, uint64_t random)
{
    int64_t total = (int64_t)placings->total, n = placings->n;
    int64_t first = (int64_t)((double)total / (double)n * i);
    int64_t end = (int64_t)((double)total / (double)n * (i + 1));

    return total == n ? i : first + (int64_t)(random % (uint64_t)(end - first));
}

bool op_placing(const op_placings *placings, int i, tsr_spec in[TSR_OP_INPUTS])
{
    const op_problem *p = placings->p;
    bool countable = placings->total <= 1e15;
    uint64_t random = value_hash(p->set.seed ^ value_hash((uint64_t)i));
    int64_t number = countable ? number_of(placings, i, random) : 0;

    for (int k = p->n_in - 1; k >= 0; k--) {
        in[k] = p->in[k];
        if (!op_problem_has(p, k) || !placings->all)
            continue;
        for (int m = in[k].mesh.ndim - 1; m >= 0; m--) {
            int n = n_choices(placings->kinds, &in[k]);

            random = value_hash(random);
            in[k].place[m] =
                choice((int)(countable ? number % n : (int64_t)(random % (uint64_t)n)), &p->in[k]);
            number /= n;
        }
        if (tsr_spec_check(&in[k], NULL) != TSR_OK)
            return false;
    }
    return true;
}
