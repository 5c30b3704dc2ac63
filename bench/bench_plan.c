/* SPDX-License-Identifier: Apache-2.0 */
/* bench_plan.c - what it takes to plan a redistribution, to find the costs of one source to all
   targets, and to find a plan again. Sources and targets are drawn at random. No data moves. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

enum { PAIRS = 500, SOURCES = 100, TRIES = 9, MAX_TARGETS = 81, AGAIN = 100 };

static const tsr_placement choices[] = {{.kind = TSR_REPLICATE},
                                        {.kind = TSR_SHARD, .dim = 0},
                                        {.kind = TSR_SHARD, .dim = 1},
                                        {.kind = TSR_PARTIAL, .reduce = TSR_SUM}};
enum { NO_PARTIAL = 3, ALL = 4 }; /* how many of them a source or target may have */

typedef struct subject {
    tsr_spec from, to;
    tsr_placement target[MAX_TARGETS][TSR_MAX_MESH];
    double cost[MAX_TARGETS];
    int n_targets;
    tsr_tensor *x; /* in the sim world */
    const char *to_text;
} subject;

/* ---- the work ---- */

static tsr_status plan_once(void *arg)
{
    const subject *s = arg;
    tsr_redist *plan;
    tsr_status st = tsr_redist_plan(&s->from, &s->to, NULL, 0, TSR_RIVAL_BEST, &plan, NULL);

    if (st == TSR_OK)
        tsr_redist_free(plan);
    return st;
}

static tsr_status costs_once(void *arg)
{
    subject *s = arg;

    return tsr_redist_costs(&s->from, (const tsr_placement(*)[TSR_MAX_MESH])s->target, s->n_targets,
                            NULL, s->cost, NULL);
}

static tsr_status again_once(void *arg)
{
    const subject *s = arg;
    tsr_mesh *mesh = tsr_tensor_mesh(s->x);

    tsr_scope_push(mesh);
    tsr_redistribute(s->x, s->to_text);
    tsr_scope_pop(mesh);
    return tsr_mesh_status(mesh);
}

/* ---- measuring ---- */

static void draw(tsr_spec *spec, int n, unsigned *seed)
{
    for (int m = 0; m < spec->mesh.ndim; m++)
        spec->place[m] = choices[rand_r(seed) % n];
}

/* Seconds of n problems drawn at random, each the median of some tries: their median and the
   longest. */
static tsr_status time_drawn(subject *s, tsr_status (*work)(void *arg), int n, int sources,
                             double *median, double *longest)
{
    double seconds[PAIRS], tries[TRIES];
    unsigned seed = 1;
    tsr_status st = TSR_OK;

    for (int i = 0; i < n && st == TSR_OK; i++) {
        draw(&s->from, sources, &seed);
        draw(&s->to, NO_PARTIAL, &seed);
        for (int k = 0; k < TRIES && st == TSR_OK; k++) {
            double start = measure_now();

            st = work(s);
            tries[k] = measure_now() - start;
        }
        seconds[i] = measure_median(tries, TRIES);
    }
    *median = measure_median(seconds, n);
    *longest = seconds[n - 1];
    return st;
}

/* All combinations of R, S(0) and S(1). */
static void fill_targets(subject *s)
{
    s->n_targets = 1;
    for (int m = 0; m < s->from.mesh.ndim; m++)
        s->n_targets *= NO_PARTIAL;
    for (int i = 0; i < s->n_targets; i++)
        for (int m = 0, rest = i; m < s->from.mesh.ndim; m++, rest /= NO_PARTIAL)
            s->target[i][m] = choices[rest % NO_PARTIAL];
}

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    static const struct {
        const char *name;
        tsr_status (*work)(void *arg);
        int n, sources;
    } cases[] = {{"one pair", plan_once, PAIRS, ALL},
                 {"all targets, from R and S", costs_once, SOURCES, NO_PARTIAL},
                 {"all targets, from R, S and P", costs_once, SOURCES, ALL}};
    bench *b = arg;
    subject s = {.from = {.dtype = TSR_F32, .shape = {2, {4096, 4096}}}};
    measure_work again = {.run = again_once, .arg = &s, .calls = AGAIN};
    char text[TSR_TEXT_LEN], places[TSR_TEXT_LEN], name[TSR_TEXT_LEN];
    double median, longest;
    tsr_status st = TSR_OK;

    s.from.mesh = *tsr_mesh_shape_get(mesh);
    s.to = s.from;
    fill_targets(&s);
    tsr_mesh_text(&s.from.mesh, name, sizeof name);
    for (int i = 0; i < 3 && st == TSR_OK; i++) {
        st = time_drawn(&s, cases[i].work, cases[i].n, cases[i].sources, &median, &longest);
        bench_row(b, "{s:s, s:s, s:i, s:f, s:f}", "mesh", name, "case", cases[i].name, "targets",
                  i ? s.n_targets : 1, "seconds", median, "seconds_max", longest);
    }
    s.x = tsr_zeros(mesh, tsr_spec_text(&s.from, text, sizeof text));
    s.to_text = tsr_placements_text(&s.to, places, sizeof places);
    if (st == TSR_OK)
        st = measure_together(NULL, &again, 1, 0.1);
    if (st == TSR_OK)
        bench_row(b, "{s:s, s:s, s:i, s:f}", "mesh", name, "case", "again", "targets", 1, "seconds",
                  again.seconds);
    return st;
}

static int run_all(bench *b)
{
    static const char *const meshes[] = {"2x2", "2x2x2", "2x2x2x2"};
    int status = CLI_OK;

    for (int i = 0; i < 3 && status == CLI_OK; i++) {
        cli_progress("planning on mesh %s", meshes[i]);
        status = bench_on_mesh(TSR_WORLD_SIM, meshes[i], job, b);
    }
    return status;
}

const benchmark bench_plan = {
    .name = "plan",
    .synopsis = "",
    .help = "finding the cheapest redistribution",
    .run = run_all,
    .columns = {{"mesh", "mesh", TEXT},
                {"what", "case", TEXT},
                {"targets", "targets", COUNT},
                {"time", "seconds", SECONDS},
                {"longest", "seconds_max", SECONDS}},
    .note = "A tensor of two dims. one pair: tsr_redist_plan and tsr_redist_free, the median of\n"
            "500 random pairs and the longest. all targets: one tsr_redist_costs to all\n"
            "combinations of R, S(0) and S(1), of 100 sources. again: tsr_redistribute in the sim\n"
            "world with the plan in the cache: reads the placements, finds the plan, makes the\n"
            "tensor handle; moves no data."};
