/* SPDX-License-Identifier: Apache-2.0 */
/* bench_propagate.c - how long the search for an op's strategy takes
   without the cache, over the placements of the inputs, and beside it trying every strategy one by
   one, which must find the same cost. No data moves. */
#include "../cli/op_check.h"
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 1000, TRIES = 3 /* at the least */, MOST_TRIES = 999, MESHES = 5, COMPARED = 20 };

/* What a row may take: searches, and trying all strategies; the latter for COMPARED calls at least,
   unless it takes ever so long. */
static const double SEARCH_SECONDS = 10, ALL_SECONDS = 1, ALL_SECONDS_MOST = 10;
static const double TRY_SECONDS = 0.02; /* of one call, after which TRIES are enough */

typedef struct op_call {
    const char *name, *text, *peer; /* what it is called in a peer's file */
    bool deepest;                   /* also on the mesh with the most dims */
} op_call;

static const char *const meshes[MESHES] = {"2", "2x2", "2x2x2", "2x2x2x2", "2x2x2x2x2x2"};

static const op_call calls[] = {
    {"matmul", "matmul f32[64,128] f32[128,32]", "mm", true},
    {"add", "add f32[64,32] f32[64,32]", "add", false},
    {"matmul+bias", "matmul f32[64,128] f32[128,32] f32[32]", "addmm", false},
    {"matmul batched", "matmul f32[8,64,128] f32[8,128,32]", "bmm", false},
    {"cat", "cat f32[64,32] f32[64,32] dim=0", "cat2", false},
    {"sum", "sum f32[64,32] dims=1", "sum_dim", false},
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

/* One search, the median of some tries. */
static tsr_status plan(const op_problem *p, const tsr_spec *in, bool exhaustive, int tries,
                       tsr_op_strategy *way, double *seconds)
{
    tsr_status st = TSR_OK;
    double spent = 0, took[MOST_TRIES];
    int n = 0;

    for (; n < tries && n < MOST_TRIES && (n < TRIES || spent < TRY_SECONDS); n++) {
        double start = measure_now();
        tsr_schema schema;

        st = tsr_schema_make(p->op, in, p->n_in, p->attr, p->n_attrs, &schema, NULL);
        if (st == TSR_OK)
            st = tsr_op_plan(&schema, &p->set.cost, NULL, exhaustive, way, NULL);
        took[n] = measure_now() - start;
        spent += took[n];
    }
    *seconds = measure_median(took, n);
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
        cli_failed("propagate: the search finds %.12g s, trying everything %.12g s for %s%s",
                   found.seconds, best.seconds, text, settings);
    else
        cli_failed("propagate: the search gives status %d, trying everything %d for %s%s", (int)st,
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

static int add_row(bench *b, const op_call *c, const char *mesh, op_problem *p)
{
    char text[TSR_TEXT_LEN * 2];
    times search = {0}, all = {0};
    bool deepest = strcmp(mesh, meshes[MESHES - 1]) == 0;
    json_t *row;
    int status;

    snprintf(text, sizeof text, "%s mesh=%s cost=default", c->text, mesh);
    cli_progress("%s on mesh %s", c->name, mesh);
    status = op_problem_read("propagate", false, text, p);
    if (status != CLI_OK)
        return status;
    if (!measure_all(p, deepest, &search, &all))
        return CLI_FAILED;
    row = bench_row(b, "{s:s, s:s, s:i, s:f, s:f, s:i}", "mesh", mesh, "op", c->name, "calls",
                    search.n, "seconds", search.sum / search.n, "seconds_max", search.most,
                    "compared", all.n);
    if (all.n)
        json_object_set_new(row, "all_seconds", json_real(all.sum / all.n));
    bench_peer(b, row, "seconds", "*/%s@%dD*/total_cold_ms/mean", c->peer, p->set.from.mesh.ndim);
    return CLI_OK;
}

static int run_all(bench *b)
{
    op_problem *p = malloc(sizeof *p);
    int status = p ? CLI_OK : cli_failed("out of memory");

    for (int m = 0; m < (b->mesh ? 1 : MESHES); m++)
        for (int c = 0; c < N_CALLS && status == CLI_OK; c++)
            if (b->mesh || m < MESHES - 1 || calls[c].deepest)
                status = add_row(b, &calls[c], b->mesh ? b->mesh : meshes[m], p);
    free(p);
    return status;
}

const benchmark bench_propagate = {
    .name = "propagate",
    .synopsis = "[mesh=MESH]",
    .help = "finding the cheapest strategy of an op, without the cache",
    .takes = BENCH_MESH,
    .run = run_all,
    .columns = {{"mesh", "mesh", TEXT},
                {"op", "op", TEXT},
                {"calls", "calls", COUNT},
                {"mean", "seconds", SECONDS},
                {"longest", "seconds_max", SECONDS},
                {"compared", "compared", COUNT},
                {"trying all", "all_seconds", SECONDS},
                BENCH_PEER_COLUMNS},
    .note = "calls: all ways to place the inputs by R, P(sum) and S(d), or 1000, fewer after 10\n"
            "s. mean, longest: one search for the cheapest strategy, the median of some tries.\n"
            "compared: calls for which trying all strategies, in that time, found the same cost.\n"
            "peer: one miss of its cache, the mean, on a mesh of as many dims."};
