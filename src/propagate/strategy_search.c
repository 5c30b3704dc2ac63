/* SPDX-License-Identifier: Apache-2.0 */
/* strategy_search.c - the fast search for the cheapest strategy. The price of an input depends
   on its own target placements only: a table per input, over all combinations of the placements
   that rules ask of it, turns a strategy into a few additions. Depth first over mesh dims; a
   branch is cut when the inputs alone, completed in the cheapest way, cost more than the best
   strategy so far. */
#include <math.h>
#include <string.h>

#include "propagate/strategy.h"

enum { MARKS = 64, RULES = 256 };

/* Prices of one input. Level m holds, for every choice along the first m mesh dims, the least that
   any completion costs; the last level holds prices. Choices are numbered row-major. */
typedef struct table {
    int n_marks;
    tsr_placement mark[MARKS][TSR_MAX_MESH];
    int of_rule[RULES];              /* mark that a rule asks of this input */
    double *least[TSR_MAX_MESH + 1]; /* levels 0 .. ndim - 1 */
    tsr_price *price;
} table;

typedef struct search {
    const tsr_question *q;
    tsr_heap *heap;
    int ndim;
    int n_tables;
    table *tables;
    int rule[TSR_MAX_MESH];
    tsr_strategy *best;
    bool found;
    tsr_error *err;
} search;

static int choices(const search *s, const table *t, int m)
{
    return s->q->schema->in[0].mesh.size[m] > 1 ? t->n_marks : 1;
}

/* ---- tables ---- */

static tsr_status fill_prices(const search *s, const tsr_spec *from, table *t, int64_t n)
{
    tsr_pricer pricer;
    tsr_status st = TSR_OK;

    tsr__pricer_open(&pricer, s->heap, from, (const tsr_placement(*)[TSR_MAX_MESH])t->mark,
                     t->n_marks, s->q->cost);
    for (int64_t i = 0; i < n; i++) {
        tsr_placement to[TSR_MAX_MESH];
        int64_t rest = i;
        for (int m = s->ndim - 1; m >= 0; m--) {
            int c = choices(s, t, m);
            to[m] = t->mark[c == 1 ? 0 : rest % c][m];
            rest /= c;
        }
        TSR_TRY(tsr__pricer_ask(&pricer, to, &t->price[i], s->err));
    }
done:
    tsr__pricer_close(&pricer);
    return st;
}

/* Each level is the minimum over the choices of the one below it. */
static tsr_status fill_levels(const search *s, table *t, int64_t n)
{
    tsr_status st = TSR_OK;

    for (int m = s->ndim - 1; m >= 0; m--) {
        int c = choices(s, t, m);
        int64_t count = n / c;
        TSR_TRY(tsr__alloc(s->heap, count, sizeof(double), &t->least[m], s->err));
        for (int64_t i = 0; i < count; i++) {
            double least = INFINITY;
            for (int k = 0; k < c; k++) {
                double x =
                    m == s->ndim - 1 ? t->price[i * c + k].seconds : t->least[m + 1][i * c + k];
                least = x < least ? x : least;
            }
            t->least[m][i] = least;
        }
        n = count;
    }
done:
    return st;
}

static tsr_status make_table(const search *s, int input, table *t)
{
    const tsr_rules *rules = s->q->rules;
    int64_t n = 1;
    tsr_status st;

    if (rules->n > RULES)
        return tsr__fail(s->err, TSR_ERR_LIMIT, "%s: %d rules, at most %d work",
                         s->q->schema->op->name, rules->n, RULES);

    t->n_marks = tsr__strategy_admitted(s->q, input, t->mark, MARKS);
    for (int r = 0; r < rules->n; r++)
        for (int i = 0; i < t->n_marks; i++)
            if (tsr__placement_equal(&t->mark[i][0], &rules->rule[r].in[input].place))
                t->of_rule[r] = i;
    for (int m = 0; m < s->ndim; m++)
        n *= choices(s, t, m);
    TSR_TRY(tsr__alloc(s->heap, n, sizeof *t->price, &t->price, s->err));
    TSR_TRY(fill_prices(s, &s->q->schema->in[input], t, n));
    TSR_TRY(fill_levels(s, t, n));
done:
    return st;
}

static void free_tables(const search *s)
{
    for (int i = 0; i < s->n_tables; i++) {
        for (int m = 0; m < TSR_MAX_MESH; m++)
            tsr__free(s->heap, s->tables[i].least[m]);
        tsr__free(s->heap, s->tables[i].price);
    }
    tsr__free(s->heap, s->tables);
}

/* ---- depth first ---- */

static void add(tsr_price *sum, const tsr_price *x)
{
    sum->seconds += x->seconds;
    sum->bytes += x->bytes;
    sum->steps += x->steps;
}

static tsr_status finish(search *s, const int64_t *at)
{
    tsr_strategy now;
    tsr_price one;
    tsr_status st = TSR_OK;

    now.inputs = now.pending = (tsr_price){0};
    for (int i = 0; i < s->n_tables; i++)
        add(&now.inputs, &s->tables[i].price[at[i]]);
    if (isinf(now.inputs.seconds) || (s->found && now.inputs.seconds > s->best->price.seconds))
        return TSR_OK;
    tsr__strategy_set(s->q, s->rule, &now);
    if (s->q->schema->op->fits && !s->q->schema->op->fits(s->q->schema, now.in, now.out))
        return TSR_OK;
    for (int k = 0; k < s->q->schema->n_out; k++) {
        TSR_TRY(tsr__strategy_pending(s->heap, s->q, &now.out[k], &one, s->err));
        add(&now.pending, &one);
    }
    now.price = now.inputs;
    add(&now.price, &now.pending);
    if (!isinf(now.price.seconds) && (!s->found || tsr__price_less(&now.price, &s->best->price))) {
        *s->best = now;
        s->found = true;
    }
done:
    return st;
}

/* at[i]: the choices of input i so far, as a number of its table's level m */
static tsr_status descend(search *s, int m, const int64_t *at)
{
    int n = m < s->ndim && s->q->schema->in[0].mesh.size[m] > 1 ? s->q->rules->n : 1;
    tsr_status st = TSR_OK;

    if (m == s->ndim)
        return finish(s, at);
    for (int r = 0; r < n; r++) {
        int64_t next[TSR_MAX_IN];
        double least = 0;
        for (int i = 0; i < s->n_tables; i++) {
            const table *t = &s->tables[i];
            int c = choices(s, t, m);
            next[i] = at[i] * c + (c == 1 ? 0 : t->of_rule[r]);
            least += m + 1 == s->ndim ? t->price[next[i]].seconds : t->least[m + 1][next[i]];
        }
        if (isinf(least) || (s->found && least > s->best->price.seconds))
            continue;
        s->rule[m] = r;
        TSR_TRY(descend(s, m + 1, next));
    }
done:
    return st;
}

tsr_status tsr__strategy_search(tsr_heap *heap, const tsr_question *q, tsr_strategy *out,
                                tsr_error *err)
{
    const tsr_schema *schema = q->schema;
    search s = {.q = q, .heap = heap, .ndim = schema->in[0].mesh.ndim, .best = out, .err = err};
    int64_t at[TSR_MAX_IN] = {0};
    tsr_status st;

    TSR_TRY(tsr__alloc(heap, schema->n_in, sizeof *s.tables, &s.tables, err));
    for (int k = 0; k < schema->n_in; k++)
        if (tsr__schema_has(schema, k)) {
            s.n_tables++;
            TSR_TRY(make_table(&s, k, &s.tables[s.n_tables - 1]));
        }
    TSR_TRY(descend(&s, 0, at));
    if (!s.found)
        st = tsr__strategy_none(q, err);
done:
    free_tables(&s);
    return st;
}
