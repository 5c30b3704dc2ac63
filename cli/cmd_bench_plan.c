/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_bench_plan.c - tessera bench plan: microseconds to plan a redistribution, to find the costs
   of one source to all targets, and to find a plan again. No data moves. */
#include "cmd_bench.h"
#include "measure.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TARGETS = 625, ROUNDS = 9 };

typedef struct plan_case {
    const char *mesh;
    const char *from, *to; /* a pair that needs thought */
    const char *partial;   /* a source for the pass, with a partial */
} plan_case;

static const plan_case cases[] = {
    {"2x2", "[S(0),S(1)]", "[S(1),S(0)]", "[P(sum),S(0)]"},
    {"2x2x2", "[S(0),S(0),S(1)]", "[S(1),R,S(0)]", "[P(sum),S(0),S(1)]"},
    {"2x2x2x2", "[S(0),S(0),S(1),R]", "[S(1),R,S(0),S(0)]", "[P(sum),S(0),S(1),R]"},
};

static const char SHAPE[] = "f32[4096,4096]";

typedef struct subject {
    tsr_spec from, to, source;
    tsr_cost cost;
    tsr_placement (*targets)[TSR_MAX_MESH];
    double *seconds;
    int n_targets;
    tsr_mesh *mesh; /* of the sim world */
    tsr_tensor *x;
    const char *to_text;
} subject;

/* ---- the work; each gives false on failure ---- */

static bool plan_once(subject *s)
{
    tsr_redist *plan;

    if (tsr_redist_plan(&s->from, &s->to, &s->cost, 0, TSR_RIVAL_BEST, &plan, NULL) != TSR_OK)
        return false;
    tsr_redist_free(plan);
    return true;
}

static bool pass_once(subject *s)
{
    return tsr_redist_costs(&s->source, (const tsr_placement(*)[TSR_MAX_MESH])s->targets,
                            s->n_targets, &s->cost, s->seconds, NULL) == TSR_OK;
}

static bool again_once(subject *s)
{
    bool ok;

    tsr_scope_push(s->mesh);
    ok = tsr_tensor_ok(tsr_redistribute(s->x, s->to_text));
    tsr_scope_pop(s->mesh);
    return ok;
}

/* Median over rounds of about 20 ms; negative on failure. */
static double seconds_of(bool (*work)(subject *s), subject *s)
{
    double rounds[ROUNDS];

    for (int r = -1; r < ROUNDS; r++) {
        double start = measure_now(), end = start;
        int n = 0;

        while (end - start < 0.02) {
            for (int i = 0; i < 10; i++, n++)
                if (!work(s))
                    return -1;
            end = measure_now();
        }
        if (r >= 0)
            rounds[r] = (end - start) / n;
    }
    return measure_median(rounds, ROUNDS);
}

/* ---- preparing ---- */

/* All combinations of R, S(0), S(1), and P where the source has it. */
static void fill_targets(subject *s)
{
    static const tsr_placement kinds[] = {{.kind = TSR_REPLICATE},
                                          {.kind = TSR_SHARD, .dim = 0},
                                          {.kind = TSR_SHARD, .dim = 1},
                                          {.kind = TSR_PARTIAL, .reduce = TSR_SUM}};
    int ndim = s->source.mesh.ndim, at[TSR_MAX_MESH] = {0}, m;

    for (s->n_targets = 0; s->n_targets < MAX_TARGETS;) {
        for (m = 0; m < ndim; m++)
            s->targets[s->n_targets][m] = kinds[at[m]];
        s->n_targets++;
        for (m = ndim - 1; m >= 0; m--) {
            int n = s->source.place[m].kind == TSR_PARTIAL ? 4 : 3;

            if (++at[m] < n)
                break;
            at[m] = 0;
        }
        if (m < 0)
            return;
    }
}

static bool spec_of(const char *places, const tsr_mesh_shape *mesh, tsr_spec *out)
{
    char text[TSR_TEXT_LEN];
    tsr_error err = {0};

    snprintf(text, sizeof text, "%s@%s", SHAPE, places);
    return tsr_spec_parse(text, mesh, out, &err) == TSR_OK;
}

static void add_row(json_t *results, const char *what, const char *mesh, double seconds, int n)
{
    json_array_append_new(results, json_pack("{s:s, s:s, s:f, s:i}", "case", what, "mesh", mesh,
                                             "seconds", seconds, "targets", n));
}

typedef struct task {
    const plan_case *c;
    json_t *results;
} task;

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    task *t = arg;
    subject s = {.mesh = mesh, .cost = tsr_cost_get(mesh), .to_text = t->c->to};
    const tsr_mesh_shape *shape = tsr_mesh_shape_of(mesh);
    char text[TSR_TEXT_LEN];
    tsr_status st = TSR_ERR_MEMORY;

    s.targets = calloc(MAX_TARGETS, sizeof *s.targets);
    s.seconds = calloc(MAX_TARGETS, sizeof *s.seconds);
    if (s.targets && s.seconds && spec_of(t->c->from, shape, &s.from) &&
        spec_of(t->c->to, shape, &s.to) && spec_of(t->c->partial, shape, &s.source)) {
        fill_targets(&s);
        snprintf(text, sizeof text, "%s@%s", SHAPE, t->c->from);
        s.x = tsr_zeros(mesh, text);
        add_row(t->results, "one pair", t->c->mesh, seconds_of(plan_once, &s), 1);
        add_row(t->results, "all targets", t->c->mesh, seconds_of(pass_once, &s), s.n_targets);
        add_row(t->results, "again", t->c->mesh, seconds_of(again_once, &s), 1);
        st = tsr_mesh_status(mesh);
    }
    free(s.targets);
    free(s.seconds);
    return st;
}

int bench_plan(const bench_ask *ask, int ranks)
{
    (void)ranks;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        task t = {.c = &cases[i], .results = ask->results};
        tsr_run_opts opts = {.mesh = cases[i].mesh, .world = TSR_WORLD_SIM, .cost = "default"};
        tsr_error err = {0};

        cli_progress("bench: planning on mesh %s", cases[i].mesh);
        if (tsr_run(&opts, job, &t, &err) != TSR_OK)
            return cli_error(&err);
    }
    return CLI_OK;
}
