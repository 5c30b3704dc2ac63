/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c - where the tables of a group of lookups should live. A model of what each sharding
   costs every rank per batch, and a search: greedy, largest tables first, each time the choice
   after which the busiest rank is least busy, room being kept for the smallest form of those to
   come; then single tables and pairs are moved as long as that helps.
   tests/ops/embedding/test_table_placement.c compares it with trying everything: at most 1.05
   times the best on small cases. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/args.h"
#include "base/error.h"
#include "base/heap.h"
#include "layout/cost.h"
#include "ops/embedding/tables.h"

typedef struct tables {
    const tsr_table_facts *facts;
    int n, ranks;
    const tsr_tables_opts *opts;
    tsr_cost cost;
    int *choice; /* [n] a sharding, or for one rank TSR_TABLE_ONE_RANK + rank; -1: none yet */
    int *order;  /* [n] largest first */
    tsr_table_load *sum; /* [ranks] */
    int communicating;   /* tables that take part in the common exchange */
} tables;

/* ---- what a sharding costs ---- */

/* p ranks, B results of L ids, D columns of e bytes, V rows. By rows an owner that is hit sends
   one row: p (1 - (1 - 1/p)^L) owners per bag; a plain lookup each different row once, V (1 - (1
   - 1/V)^n) of n ids. By columns all ranks get all ids and each sends its columns of the results.
   A table on one rank gets all ids and sends all results; it is the sender that is busy.
   Gradients go the same way back; those of replicated tables are all-reduced. */
static tsr_table_load load_of(const tables *t, const tsr_table_facts *f, int choice, int rank)
{
    const double p = t->ranks, away = (p - 1) / p, results = (double)f->lookups;
    const double ids = results * f->length,
                 row = (double)f->columns * (double)tsr_dtype_size(f->dtype);
    const double whole = (double)f->rows * row, twice = t->opts->training ? 2 : 1;
    const int64_t size = (int64_t)tsr_dtype_size(f->dtype);
    tsr_table_load load = {0};
    double looked_up = ids / p * row, sent = 0, got = 0;

    if (choice == TSR_TABLE_REPLICATE) {
        load.memory = f->rows * f->columns * size;
        if (t->opts->training) {
            got = sent = away * whole; /* and as much again, as for all shardings */
            looked_up += whole / 2;
        }
    } else if (choice == TSR_TABLE_ROWS) {
        double moved = results / p * p * -expm1(f->length * log1p(-1 / (p > 1 ? p : 2)));
        load.memory = (f->rows + t->ranks - 1) / t->ranks * f->columns * size;
        if (f->pooling == TSR_BAG_NONE && f->rows > 1)
            moved = (double)f->rows * -expm1(ids / p * log1p(-1 / (double)f->rows));
        got = sent = away * (ids / p * 8 + moved * row);
    } else if (choice == TSR_TABLE_COLUMNS) {
        load.memory = f->rows * ((f->columns + t->ranks - 1) / t->ranks) * size;
        got = sent = away * (ids * 8 + results / p * row);
    } else if (choice == TSR_TABLE_ONE_RANK + rank) {
        load.memory = f->rows * f->columns * size;
        looked_up = ids * row;
        got = away * ids * 8;
        sent = away * results * row;
    } else {
        looked_up = 0;
        got = p > 1 ? results / p * row : 0;
        sent = p > 1 ? ids / p * 8 : 0;
    }
    load.memory *= t->opts->training ? 2 : 1;
    load.bytes = twice * (got > sent ? got : sent);
    load.seconds = load.bytes * t->cost.per_byte[0] + twice * looked_up * t->cost.memory;
    if (choice == TSR_TABLE_COLUMNS && p > 1) /* an all-gather and an all-to-all of its own */
        load.seconds += twice * 2 * ((p - 1) * t->cost.latency[0] + t->cost.per_step);
    if (choice == TSR_TABLE_REPLICATE && p > 1 && t->opts->training)
        load.seconds += 2 * (p - 1) * t->cost.latency[0] + t->cost.per_step;
    return load;
}

static bool communicates(int choice)
{
    return choice == TSR_TABLE_ROWS || choice >= TSR_TABLE_ONE_RANK;
}

/* Exchanges that all tables share: lengths, ids, rows; for gradients lengths and rows. */
static double fixed(const tables *t)
{
    double calls = t->opts->training ? 5 : 3;

    if (t->communicating == 0 || t->ranks == 1)
        return 0;
    return calls * ((t->ranks - 1) * t->cost.latency[0] + t->cost.per_step);
}

/* ---- the search ---- */

static void add(tables *t, int i, int choice, int sign)
{
    t->communicating += sign * communicates(choice);
    for (int r = 0; r < t->ranks; r++) {
        tsr_table_load load = load_of(t, &t->facts[i], choice, r);
        t->sum[r].memory += sign * load.memory;
        t->sum[r].bytes += sign * load.bytes;
        t->sum[r].seconds += sign * load.seconds;
    }
}

static void put(tables *t, int i, int choice)
{
    if (t->choice[i] >= 0)
        add(t, i, t->choice[i], -1);
    add(t, i, choice, 1);
    t->choice[i] = choice;
}

/* The time of the busiest rank, plus little of the others' so that ties are broken; infinite if
   memory is short by `reserved`. */
static double score(const tables *t, int64_t reserved)
{
    double most = 0, all = 0;

    for (int r = 0; r < t->ranks; r++) {
        if (t->opts->has_memory && t->sum[r].memory > t->opts->memory - reserved)
            return INFINITY;
        most = t->sum[r].seconds > most ? t->sum[r].seconds : most;
        all += t->sum[r].seconds;
    }
    return most + fixed(t) + 1e-6 * all;
}

static int64_t least_memory(const tables *t, int i)
{
    int64_t rows = load_of(t, &t->facts[i], TSR_TABLE_ROWS, 0).memory;
    int64_t columns = load_of(t, &t->facts[i], TSR_TABLE_COLUMNS, 0).memory;

    return rows < columns ? rows : columns;
}

static void go_through_greedily(tables *t, int64_t reserved)
{
    for (int k = 0; k < t->n; k++) {
        int i = t->order[k], best = -1;
        double least = INFINITY;
        reserved -= least_memory(t, i);
        for (int c = 0; c < TSR_TABLE_ONE_RANK + t->ranks; c++) {
            put(t, i, c);
            if (score(t, reserved) < least) {
                least = score(t, reserved);
                best = c;
            }
        }
        put(t, i, best);
    }
}

/* Move table i, and with it j if that is another one; true if that helps. */
static bool improve(tables *t, int i, int j)
{
    const int was_i = t->choice[i], was_j = t->choice[j], n = TSR_TABLE_ONE_RANK + t->ranks;
    double least = score(t, 0) * (1 - 1e-9);
    int best_i = was_i, best_j = was_j;

    for (int a = 0; a < n; a++)
        for (int b = i == j ? n - 1 : 0; b < n; b++) {
            put(t, i, a);
            if (i != j)
                put(t, j, b);
            if (score(t, 0) < least) {
                least = score(t, 0);
                best_i = a;
                best_j = b;
            }
        }
    put(t, i, best_i);
    if (i != j)
        put(t, j, best_j);
    return best_i != was_i || (i != j && best_j != was_j);
}

enum { ROUNDS = 20, PAIRS_MOST = 2000000 };

static void improve_all(tables *t)
{
    int64_t n = TSR_TABLE_ONE_RANK + t->ranks;
    bool pairs = (int64_t)t->n * t->n * n * n * t->ranks < PAIRS_MOST, better = true;

    for (int round = 0; better && round < ROUNDS; round++) {
        better = false;
        for (int i = 0; i < t->n; i++)
            better = improve(t, i, i) || better;
        for (int i = 0; i < t->n && pairs && !better; i++)
            for (int j = 0; j < i && !better; j++)
                better = improve(t, i, j);
    }
}

/* ---- in and out ---- */

static tsr_status check(const tables *t, tsr_error *err)
{
    tables shared = *t;
    double seconds = 0, bytes = 0; /* not less than any choice takes */

    if (t->ranks < 1)
        return tsr__fail(err, TSR_ERR_ARG, "tables: the number of ranks must be at least 1, not %d",
                         t->ranks);
    for (int i = 0; i < t->n; i++) {
        const tsr_table_facts *f = &t->facts[i];
        const double size = (double)f->rows * (double)f->columns * (double)tsr_dtype_size(f->dtype);
        if (f->rows < 0 || f->columns < 0 || f->lookups < 0 || !(f->length >= 0) ||
            tsr_dtype_size(f->dtype) == 0 || size > 0x1p60)
            return tsr__fail(err, TSR_ERR_ARG,
                             "tables: table %d of %" PRId64 " rows and %" PRId64
                             " columns with %" PRId64 " lookups of %g ids is invalid",
                             i, f->rows, f->columns, f->lookups, f->length);
        for (int sharding = 0; sharding < TSR_TABLE_SHARDINGS; sharding++)
            seconds += load_of(t, f, sharding, 0).seconds;
        bytes += 2 * size;
    }
    shared.communicating = 1;
    if (!isfinite(seconds * t->ranks + fixed(&shared)))
        return tsr__fail(err, TSR_ERR_ARG,
                         "tables: the predicted time of their lookups is too large for a number");
    if (bytes > 0x1p62)
        return tsr__fail(err, TSR_ERR_ARG, "tables: together they are larger than 2^61 bytes");
    return TSR_OK;
}

static void sort_tables(tables *t)
{
    for (int i = 0; i < t->n; i++) {
        int k = i;
        while (k > 0 && load_of(t, &t->facts[t->order[k - 1]], 0, 0).memory <
                            load_of(t, &t->facts[i], 0, 0).memory) {
            t->order[k] = t->order[k - 1];
            k--;
        }
        t->order[k] = i;
        t->choice[i] = -1;
    }
}

static void describe(const tables *t, int i, tsr_table_choice *out)
{
    int c = t->choice[i];

    out->sharding = c > TSR_TABLE_ONE_RANK ? TSR_TABLE_ONE_RANK : (tsr_table_sharding)c;
    out->rank = c >= TSR_TABLE_ONE_RANK ? c - TSR_TABLE_ONE_RANK : -1;
    for (int sharding = 0; sharding < TSR_TABLE_SHARDINGS; sharding++)
        out->could[sharding] = load_of(t, &t->facts[i], sharding, 0); /* the one rank costs most */
    out->load = out->could[out->sharding];
}

double tsr__tables_seconds(const tsr_table_facts *facts, int n, const tsr_tables_opts *opts,
                           const int *choice, tsr_table_load *loads)
{
    tables t = {.facts = facts, .n = n, .ranks = opts->ranks, .opts = opts, .sum = loads};
    double most = 0;

    t.cost = opts->cost ? *opts->cost : tsr_cost_default();
    memset(loads, 0, (size_t)t.ranks * sizeof *loads);
    for (int i = 0; i < n; i++)
        add(&t, i, choice[i], 1);
    for (int r = 0; r < t.ranks; r++) {
        loads[r].seconds += fixed(&t);
        if (opts->has_memory && loads[r].memory > opts->memory)
            return INFINITY;
        most = loads[r].seconds > most ? loads[r].seconds : most;
    }
    return most;
}

tsr_status tsr_tables_plan(const tsr_table_facts *facts, int n, const tsr_tables_opts *opts,
                           tsr_table_choice *choices, tsr_table_load *loads, tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, facts, choices);

    const tsr_tables_opts usual = tsr_tables_opts_default();
    tables t = {.facts = facts, .n = n};
    tsr_heap heap = {0};
    int64_t least = 0;
    tsr_status st;

    opts = opts ? opts : &usual;
    TSR_TRY(TSR_SIZE_CHECK("tsr_tables_plan", opts, "tsr_tables_opts_default", err));
    if (opts->cost)
        TSR_TRY(TSR_SIZE_CHECK("tsr_tables_plan", opts->cost, "tsr_cost_default", err));
    t.opts = opts;
    t.ranks = opts->ranks;
    t.cost = opts->cost ? *opts->cost : tsr_cost_default();
    TSR_TRY(check(&t, err));
    TSR_TRY(tsr__alloc(&heap, n, sizeof *t.choice, &t.choice, err));
    TSR_TRY(tsr__alloc(&heap, n, sizeof *t.order, &t.order, err));
    TSR_TRY(tsr__alloc(&heap, t.ranks, sizeof *t.sum, &t.sum, err));
    for (int i = 0; i < n; i++)
        least += least_memory(&t, i);
    if (opts->has_memory && least > opts->memory)
        TSR_TRY(tsr__fail(err, TSR_ERR_LIMIT,
                          "tables: by rows or columns over %d ranks they take %" PRId64
                          " bytes per rank, %" PRId64 " more than the %" PRId64 " there are",
                          t.ranks, least, least - opts->memory, opts->memory));
    sort_tables(&t);
    go_through_greedily(&t, least);
    improve_all(&t);
    for (int i = 0; i < n; i++)
        describe(&t, i, &choices[i]);
    if (loads)
        tsr__tables_seconds(facts, n, opts, t.choice, loads);
done:
    tsr__free(&heap, t.choice);
    tsr__free(&heap, t.order);
    tsr__free(&heap, t.sum);
    return st;
}
