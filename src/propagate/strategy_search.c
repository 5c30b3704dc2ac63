/* SPDX-License-Identifier: Apache-2.0 */
/* strategy_search.c - the fast search for the cheapest strategy. The price of an input depends
   on its own target placements only: a table per input, over all combinations of the placements
   that rules ask of it, turns a strategy into a few additions. Depth first over mesh dims; a
   branch is cut when the inputs alone, completed in the cheapest way, cost more than the best
   strategy so far. Where a price of the table is of a detour, that only other targets allow, it is
   a bound: the plan that would run is priced before such a strategy wins. */
#include <math.h>
#include <string.h>

#include "propagate/strategy.h"

enum { MARKS = 64, RULES = 256 };

/* Prices of one input. Level m holds, for every choice along the first m mesh dims, the least that
   any completion costs; the last level holds prices. Choices are numbered row-major. */
typedef struct table {
    int input;
    int n_marks;
    tsr_placement mark[MARKS][TSR_MAX_MESH];
    int of_rule[RULES];              /* mark that a rule asks of this input */
    double *least[TSR_MAX_MESH + 1]; /* levels 0 .. ndim - 1 */
    tsr_price *price;
} table;

typedef struct search {
    const tsr_search_problem *q;
    tsr_heap *heap;
    int ndim;
    int n_tables;
    table *tables;
    const tsr_rule *rule[TSR_MAX_MESH];
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
    tsr_redist_cost_table costs;
    tsr_status st = TSR_OK;

    tsr__redist_cost_table_open(&costs, s->heap, from,
                                (const tsr_placement(*)[TSR_MAX_MESH])t->mark, t->n_marks,
                                s->q->cost);
    for (int64_t i = 0; i < n; i++) {
        tsr_placement to[TSR_MAX_MESH];
        int64_t rest = i;
        for (int m = s->ndim - 1; m >= 0; m--) {
            int c = choices(s, t, m);
            to[m] = t->mark[c == 1 ? 0 : rest % c][m];
            rest /= c;
        }
        TSR_TRY(tsr__redist_cost_table_get(&costs, to, &t->price[i], s->err));
    }
done:
    tsr__redist_cost_table_close(&costs);
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

/* The different placements that rules ask of an input, each for all mesh dims. */
static tsr_status find_marks(const search *s, int input, table *t)
{
    const tsr_rules *rules = s->q->rules;

    for (int r = 0; r < rules->n; r++) {
        const tsr_placement *p = &rules->rule[r].in[input].place;
        int i = 0;
        while (i < t->n_marks && !tsr__placement_equal(&t->mark[i][0], p))
            i++;
        t->of_rule[r] = i;
        if (i < t->n_marks)
            continue;
        if (t->n_marks == MARKS)
            return tsr__fail(s->err, TSR_ERR_LIMIT,
                             "%s: rules require more than %d placements of one input",
                             s->q->schema->op->name, MARKS);
        for (int m = 0; m < TSR_MAX_MESH; m++)
            t->mark[i][m] = *p;
        t->n_marks++;
    }
    return TSR_OK;
}

static tsr_status make_table(const search *s, int input, table *t)
{
    const tsr_rules *rules = s->q->rules;
    int64_t n = 1;
    tsr_status st;

    if (rules->n > RULES)
        return tsr__fail(s->err, TSR_ERR_LIMIT, "%s: %d rules, at most %d are supported",
                         s->q->schema->op->name, rules->n, RULES);

    t->input = input;
    TSR_TRY(find_marks(s, input, t));
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

/* Is a strategy that costs at least this much worse than the best so far, or no better? */
static bool cannot_win(const search *s, double least)
{
    const tsr_price *best = &s->best->price;

    if (isinf(least) || !s->found)
        return isinf(least);
    if (best->bytes == 0 && best->steps == 0 && least >= best->seconds)
        return true;
    return least > best->seconds * (1 + 2 * TSR_PRICE_ROUNDING);
}

static tsr_status finish(search *s, const int64_t *at)
{
    tsr_strategy now;
    double least = 0;
    tsr_status st = TSR_OK;

    for (int i = 0; i < s->n_tables; i++)
        least += s->tables[i].price[at[i]].seconds;
    tsr__strategy_set(s->q, s->rule, &now);
    if (!tsr__strategy_decide(s->q, &now))
        return TSR_OK;
    TSR_TRY(tsr__strategy_price_rest(s->heap, s->q, &now, s->err));
    least += now.comm.seconds + now.pending.seconds;
    if (cannot_win(s, least))
        return TSR_OK;
    now.inputs = (tsr_price){0};
    for (int i = 0; i < s->n_tables; i++) {
        table *t = &s->tables[i];
        if (t->price[at[i]].detour)
            TSR_TRY(tsr__strategy_price_input(s->heap, s->q, t->input, now.in[t->input].place,
                                              &t->price[at[i]], s->err));
        tsr__price_add(&now.inputs, &t->price[at[i]]);
    }
    tsr__strategy_price_sum(&now);
    tsr__strategy_keep(&now, s->best, &s->found);
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
        if (cannot_win(s, least))
            continue;
        s->rule[m] = &s->q->rules->rule[r];
        TSR_TRY(descend(s, m + 1, next));
    }
done:
    return st;
}

tsr_status tsr__strategy_search(tsr_heap *heap, const tsr_search_problem *q, tsr_strategy *out,
                                tsr_error *err)
{
    const tsr_schema *schema = q->schema;
    search s = {.q = q, .heap = heap, .ndim = schema->in[0].mesh.ndim, .best = out, .err = err};
    int64_t at[TSR_MAX_IN] = {0};
    tsr_status st;

    if (q->rules->whole)
        return tsr__strategy_enumerate(heap, q, out, err);
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
