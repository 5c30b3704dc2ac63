/* SPDX-License-Identifier: Apache-2.0 */
/* strategy.c - what a strategy is worth: its specs, what partial outputs will cost, and the search
   that tries everything. The fast search is strategy_search.c. */
#include "propagate/strategy.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "layout/plan.h"

static int mesh_ndim(const tsr_question *q)
{
    return q->schema->in[0].mesh.ndim;
}

void tsr__strategy_set(const tsr_question *q, const int *rule, tsr_strategy *out)
{
    const tsr_schema *s = q->schema;

    for (int k = 0; k < s->n_in; k++)
        out->in[k] = s->in[k];
    for (int k = 0; k < s->n_out; k++) {
        out->out[k] =
            (tsr_spec){.dtype = s->out_dtype[k], .shape = s->out_shape[k], .mesh = s->in[0].mesh};
    }
    for (int m = 0; m < mesh_ndim(q); m++) {
        const tsr_rule *r = &q->rules->rule[rule[m]];
        out->rule[m] = rule[m];
        for (int k = 0; k < s->n_in; k++)
            out->in[k].place[m] = r->in[k].place;
        for (int k = 0; k < s->n_out; k++)
            out->out[k].place[m] = r->out[k].place;
    }
}

/* Sums and averages are one kind. */
static bool same_kind(const tsr_placement *a, const tsr_placement *b)
{
    return a->reduce == b->reduce || (a->reduce <= TSR_AVG && b->reduce <= TSR_AVG);
}

/* Reduce-scatters over runs of partial dims of one kind, from the last one outwards. Which dim
   takes the shards does not matter for the bytes. */
static void add_resolution(const tsr_question *q, const tsr_spec *out, tsr_price *price)
{
    tsr_layout layout = tsr__layout_of(out);
    tsr_move move = {.kind = TSR_STEP_REDUCE_SCATTER, .group = 1};
    double part = (double)tsr__layout_bytes(&layout);
    const tsr_placement *last = NULL;

    for (int m = out->mesh.ndim - 1; m >= -1; m--) {
        const tsr_placement *p = m < 0 ? NULL : &out->place[m];
        if (p && (p->kind != TSR_PARTIAL || out->mesh.size[m] == 1))
            continue;
        if (move.mdims && (!p || !same_kind(p, last))) {
            move.before = part;
            part /= move.group;
            move.after = part;
            move.key = tsr__spec_hash(out);
            price->seconds += tsr__move_seconds(q->cost, &move);
            price->bytes += tsr__move_bytes(&move);
            price->steps++;
            move.mdims = 0;
            move.group = 1;
        }
        if (p) {
            move.mdims |= 1u << m;
            move.group *= out->mesh.size[m];
            last = p;
        }
    }
}

tsr_status tsr__strategy_pending(tsr_heap *heap, const tsr_question *q, const tsr_spec *out,
                                 tsr_price *price, tsr_error *err)
{
    tsr_spec to = *out;
    tsr_redist *plan = NULL;
    tsr_status st = TSR_OK;

    *price = (tsr_price){0};
    if (!q->want) {
        if (!q->cost->pending_free)
            add_resolution(q, out, price);
        return TSR_OK;
    }
    for (int m = 0; m < out->mesh.ndim; m++)
        to.place[m] = q->want[m];
    TSR_TRY(tsr__plan_make(heap, out, &to, q->cost, 0, TSR_RIVAL_BEST, &plan, err));
    *price = (tsr_price){.seconds = plan->seconds, .steps = plan->n_steps};
    for (int i = 0; i < plan->n_steps; i++)
        price->bytes += (double)tsr__step_bytes_max(&plan->step[i]);
done:
    tsr_redist_free(plan);
    return st;
}

tsr_status tsr__strategy_none(const tsr_question *q, tsr_error *err)
{
    char text[4 * TSR_TEXT_LEN];

    return tsr__fail(err, TSR_ERR_SPEC, "%s: no way to run it on %s without S -> P or P -> other P",
                     q->schema->op->name, tsr__schema_inputs_text(q->schema, text, sizeof text));
}

static void add(tsr_price *sum, const tsr_price *x)
{
    sum->seconds += x->seconds;
    sum->bytes += x->bytes;
    sum->steps += x->steps;
}

/* ---- the reference ---- */

static tsr_status price_strategy(tsr_heap *heap, const tsr_question *q, tsr_strategy *s,
                                 tsr_error *err)
{
    tsr_price one;
    tsr_status st = TSR_OK;

    s->inputs = s->pending = (tsr_price){0};
    for (int k = 0; k < q->schema->n_in; k++) {
        tsr_pricer pricer;
        if (!tsr__schema_has(q->schema, k))
            continue;
        /* admitting all placements of the rules makes prices equal to those of the fast search */
        tsr_placement admitted[64][TSR_MAX_MESH];
        int n = tsr__strategy_admitted(q, k, admitted, 64);
        tsr__pricer_open(&pricer, heap, &q->schema->in[k],
                         (const tsr_placement(*)[TSR_MAX_MESH])admitted, n, q->cost);
        st = tsr__pricer_ask(&pricer, s->in[k].place, &one, err);
        tsr__pricer_close(&pricer);
        TSR_TRY(st);
        add(&s->inputs, &one);
    }
    for (int k = 0; k < q->schema->n_out; k++) {
        TSR_TRY(tsr__strategy_pending(heap, q, &s->out[k], &one, err));
        add(&s->pending, &one);
    }
    s->price = s->inputs;
    add(&s->price, &s->pending);
done:
    return st;
}

int tsr__strategy_admitted(const tsr_question *q, int input, tsr_placement (*out)[TSR_MAX_MESH],
                           int cap)
{
    int n = 0;

    for (int r = 0; r < q->rules->n; r++) {
        const tsr_placement *p = &q->rules->rule[r].in[input].place;
        int i = 0;
        while (i < n && !tsr__placement_equal(&out[i][0], p))
            i++;
        if (i < n || n == cap)
            continue;
        for (int m = 0; m < TSR_MAX_MESH; m++)
            out[n][m] = *p;
        n++;
    }
    return n;
}

tsr_status tsr__strategy_enumerate(tsr_heap *heap, const tsr_question *q, tsr_strategy *out,
                                   tsr_error *err)
{
    int rule[TSR_MAX_MESH] = {0}, ndim = mesh_ndim(q), m;
    bool found = false;
    tsr_status st = TSR_OK;

    do {
        tsr_strategy s;
        tsr__strategy_set(q, rule, &s);
        if (!q->schema->op->fits || q->schema->op->fits(q->schema, s.in, s.out)) {
            TSR_TRY(price_strategy(heap, q, &s, err));
            if (!isinf(s.price.seconds) && (!found || tsr__price_less(&s.price, &out->price))) {
                *out = s;
                found = true;
            }
        }
        for (m = ndim - 1; m >= 0; m--) {
            /* along a mesh dim of one rank all rules are alike: the first will do */
            if (q->schema->in[0].mesh.size[m] > 1 && ++rule[m] < q->rules->n)
                break;
            rule[m] = 0;
        }
    } while (m >= 0);
    if (!found)
        st = tsr__strategy_none(q, err);
done:
    return st;
}
