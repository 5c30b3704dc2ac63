/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_bench_propagate.c - tessera bench propagate: how long the search for an op's strategy takes
   without the cache, over the placements of the inputs, and beside it trying every strategy one by
   one, which must find the same cost. No data moves. */
#include "cmd_bench.h"
#include "measure.h"
#include "op_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 1000, TRIES = 3 /* at the least */, MESHES = 5, COMPARED = 20 };

/* What a row may take: searches, and trying all strategies; the latter for COMPARED calls at least,
   unless it takes ever so long. */
static const double SEARCH_SECONDS = 10, ALL_SECONDS = 1, ALL_SECONDS_MOST = 10;
static const double TRY_SECONDS = 0.02; /* of one call, after which TRIES are enough */

typedef struct op_call {
    const char *name, *text;
    double goal[MESHES]; /* mean seconds, 0: none */
    bool deepest;        /* also on the mesh with the most dims */
} op_call;

static const char *const meshes[MESHES] = {"2", "2x2", "2x2x2", "2x2x2x2", "2x2x2x2x2x2"};

static const op_call calls[] = {
    {"matmul", "matmul f32[64,128] f32[128,32]", {5e-6, 15e-6, 60e-6, 500e-6, 20e-3}, true},
    {.name = "add", .text = "add f32[64,32] f32[64,32]"},
    {.name = "matmul+bias", .text = "matmul f32[64,128] f32[128,32] f32[32]"},
    {.name = "matmul batched", .text = "matmul f32[8,64,128] f32[8,128,32]"},
    {.name = "cat", .text = "cat f32[64,32] f32[64,32] dim=0"},
    {.name = "sum", .text = "sum f32[64,32] dims=1"},
};
enum { N_CALLS = sizeof calls / sizeof calls[0] };

/* Times of some calls. */
typedef struct times {
    int n;
    double sum, most;
} times;

static void add_time(times *t, double seconds)
{
    t->n++;
    t->sum += seconds;
    t->most = seconds > t->most ? seconds : t->most;
}

/* One search, the best of some tries. */
static tsr_status plan(const op_problem *p, const tsr_spec *in, bool exhaustive, int tries,
                       tsr_op_strategy *way, double *seconds)
{
    tsr_status st = TSR_OK;
    double spent = 0;

    *seconds = INFINITY;
    for (int i = 0; i < tries && (i < TRIES || spent < TRY_SECONDS); i++) {
        double start = measure_now(), took;
        tsr_schema schema;

        st = tsr_schema_make(p->op, in, p->n_in, p->attr, p->n_attrs, &schema, NULL);
        if (st == TSR_OK)
            st = tsr_op_plan(&schema, &p->set.cost, NULL, exhaustive, way, NULL);
        took = measure_now() - start;
        *seconds = took < *seconds ? took : *seconds;
        spent += took;
    }
    return st;
}

/* Compares with trying everything; false: a sentence was printed. */
static bool compare(const op_problem *p, const tsr_spec *in, times *all)
{
    char text[OP_TEXT], settings[OP_TEXT];
    tsr_op_strategy found, best;
    double seconds;
    tsr_status st = plan(p, in, false, 1, &found, &seconds);
    tsr_status other = plan(p, in, true, 1, &best, &seconds);

    add_time(all, seconds);
    if (st == other && (st != TSR_OK || fabs(found.seconds - best.seconds) <= 1e-12 * best.seconds))
        return true;
    problem_settings_text(&p->set, settings, sizeof settings);
    op_problem_call_text(p, in, text, sizeof text);
    if (st == other)
        cli_failed("bench: the search finds %.12g s, trying everything %.12g s for %s%s",
                   found.seconds, best.seconds, text, settings);
    else
        cli_failed("bench: the search gives status %d, trying everything %d for %s%s", (int)st,
                   (int)other, text, settings);
    return false;
}

static int common_divisor(int a, int b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* The i-th of n in steps of about the golden section, so that the first few are spread over all. */
static int spread(int i, int n)
{
    int step = (int)(0.618 * n) + 1;

    while (common_divisor(step, n) > 1)
        step++;
    return (int)((int64_t)i * step % n);
}

/* First all searches, as trying everything leaves the caches and the heap in another state. */
static bool measure_all(const op_problem *p, bool deepest, times *search, times *all)
{
    op_placings ways = op_placings_of(p, OP_PLACE_PLAIN);
    tsr_spec in[TSR_OP_INPUTS];
    tsr_op_strategy way;
    double seconds, end = measure_now() + SEARCH_SECONDS;

    ways.n = ways.n > CALLS ? CALLS : ways.n;
    for (int i = 0; i < ways.n && measure_now() < end; i++)
        if (op_placing(&ways, spread(i, ways.n), in)) {
            plan(p, in, false, TRIES * CALLS / ways.n, &way, &seconds);
            add_time(search, seconds);
        }
    for (int i = 0; i < ways.n && !deepest; i++) {
        if (all->sum > ALL_SECONDS_MOST || (all->sum > ALL_SECONDS && all->n >= COMPARED))
            break;
        if (op_placing(&ways, spread(i, ways.n), in) && !compare(p, in, all))
            return false;
    }
    return true;
}

/* ---- rows ---- */

static json_t *number_or_null(bool is, double value)
{
    return is ? json_real(value) : json_null();
}

static int add_row(const bench_ask *ask, const op_call *c, const char *mesh, op_problem *p)
{
    char text[TSR_TEXT_LEN * 2];
    times search = {0}, all = {0};
    double goal = 0, mean;
    bool deepest = strcmp(mesh, meshes[MESHES - 1]) == 0;
    int status;

    for (int m = 0; m < MESHES; m++)
        goal = strcmp(mesh, meshes[m]) == 0 ? c->goal[m] : goal;
    snprintf(text, sizeof text, "%s mesh=%s cost=default", c->text, mesh);
    cli_progress("bench: %s on mesh %s", c->name, mesh);
    status = op_problem_read("bench", false, text, p);
    if (status != CLI_OK)
        return status;
    if (!measure_all(p, deepest, &search, &all))
        return CLI_FAILED;
    mean = search.sum / search.n;
    json_array_append_new(
        ask->results,
        json_pack("{s:s, s:s, s:i, s:f, s:f, s:o, s:o, s:i, s:o}", "mesh", mesh, "op", c->name,
                  "calls", search.n, "seconds", mean, "seconds_max", search.most, "goal_seconds",
                  number_or_null(goal > 0, goal), "goal",
                  goal > 0 ? json_string(mean <= goal ? "ok" : "missed") : json_null(), "compared",
                  all.n, "all_seconds", number_or_null(all.n, all.sum / (all.n ? all.n : 1))));
    return CLI_OK;
}

int bench_propagate(const bench_ask *ask, int ranks)
{
    op_problem *p = malloc(sizeof *p);
    int status = p ? CLI_OK : cli_failed("out of memory");

    (void)ranks;
    for (int m = 0; m < (ask->mesh ? 1 : MESHES); m++)
        for (int c = 0; c < N_CALLS && status == CLI_OK; c++)
            if (ask->mesh || m < MESHES - 1 || calls[c].deepest)
                status = add_row(ask, &calls[c], ask->mesh ? ask->mesh : meshes[m], p);
    free(p);
    return status;
}
