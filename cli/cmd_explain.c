/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_explain.c - tessera explain: the plan of a redistribution, what it costs, and what the other
   candidates would cost. Pure: no rank is started, so meshes of any size work. */
#include "op_problem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { N_RIVALS = 4 };

/* A plan, or why there is none. */
typedef struct candidate {
    const char *key, *name;
    bool possible;
    cli_plan plan;
    tsr_error err;
} candidate;

static void make_candidates(const problem *p, candidate candidates[N_RIVALS])
{
    static const char *const names[N_RIVALS][2] = {{"best", "chosen plan"},
                                                   {"collectives", "collectives only"},
                                                   {"exchange", "one-shot exchange"},
                                                   {"replicate", "replicate first"}};

    for (int i = 0; i < N_RIVALS; i++) {
        candidate *w = &candidates[i];
        tsr_redist *plan;

        *w = (candidate){.key = names[i][0], .name = names[i][1]};
        if (i > 0 && p->other_mesh)
            continue; /* between meshes there is one plan only */
        if (tsr_redist_plan(&p->from, &p->to, &p->cost, (size_t)p->limit, (tsr_redist_rival)i,
                            &plan, &w->err) == TSR_OK)
            w->plan = cli_plan_of(plan);
        w->possible = w->plan.step != NULL;
    }
}

static void free_candidates(candidate candidates[N_RIVALS])
{
    for (int i = 0; i < N_RIVALS; i++)
        free(candidates[i].plan.step);
}

static bool same_steps(const candidate *a, const candidate *b)
{
    if (a->plan.info.n_steps != b->plan.info.n_steps)
        return false;
    for (int i = 0; i < a->plan.info.n_steps; i++) {
        const tsr_step *x = &a->plan.step[i], *y = &b->plan.step[i];

        if (x->kind != y->kind || strcmp(x->from, y->from) != 0 || strcmp(x->to, y->to) != 0)
            return false;
    }
    return true;
}

/* ---- text ---- */

static void print_steps(const problem *p, const candidate *best)
{
    char n[CLI_TEXT], bytes[CLI_TEXT], time[CLI_TEXT], memory[CLI_TEXT], mdims[TSR_TEXT_LEN];
    cli_table table;

    cli_table_open(&table, "rllllrrr");
    cli_table_row(&table, (const char *[]){"step", "kind", "mesh dims", "from", "to",
                                           "received/rank", "held/rank", "predicted"});
    for (int i = 0; i < best->plan.info.n_steps; i++) {
        const tsr_mesh_shape *mesh = &p->from.mesh;
        const tsr_step *step = &best->plan.step[i];

        if (p->other_mesh && step->kind == TSR_STEP_TO_PARTIAL)
            mesh = &p->to.mesh;
        snprintf(n, sizeof n, "%d", i + 1);
        cli_table_row(&table,
                      (const char *[]){n, tsr_step_name(step->kind),
                                       cli_mdims_text(mesh, step, mdims, sizeof mdims), step->from,
                                       step->to, cli_bytes((double)step->bytes, bytes),
                                       cli_bytes((double)step->memory, memory),
                                       cli_seconds(step->seconds, time)});
    }
    cli_table_row(&table, (const char *[]){"", "total", "", "", "",
                                           cli_bytes((double)best->plan.info.bytes, bytes),
                                           cli_bytes((double)best->plan.info.peak, memory),
                                           cli_seconds(best->plan.info.seconds, time)});
    cli_table_close(&table, 2);
}

static void print_rivals(const problem *p, const candidate candidates[N_RIVALS])
{
    char bytes[CLI_TEXT], peak[CLI_TEXT], time[CLI_TEXT], steps[2048];
    cli_table table;

    cli_table_open(&table, "lrrrl");
    cli_table_row(&table,
                  (const char *[]){"way", "predicted", "received/rank", "held/rank", "steps"});
    for (int i = 0; i < N_RIVALS; i++) {
        const candidate *w = &candidates[i];

        if (!w->possible) {
            cli_table_row(&table,
                          (const char *[]){w->name, "-", "-", "-",
                                           w->err.code == TSR_ERR_LIMIT ? "exceeds the memory limit"
                                                                        : w->err.text});
            continue;
        }
        cli_table_row(
            &table, (const char *[]){w->name, cli_seconds(w->plan.info.seconds, time),
                                     cli_bytes((double)w->plan.info.bytes, bytes),
                                     cli_bytes((double)w->plan.info.peak, peak),
                                     cli_steps_text(&p->from.mesh, &w->plan, steps, sizeof steps)});
    }
    printf("\n");
    cli_table_close(&table, 2);
}

/* What one rival does worse, as "replicate first would take 3.1 times as long and receive ..." */
static void print_against(const candidate *best, const candidate *rival)
{
    double slower =
        best->plan.info.seconds > 0 ? rival->plan.info.seconds / best->plan.info.seconds : 1;
    double more = best->plan.info.bytes > 0
                      ? (double)rival->plan.info.bytes / (double)best->plan.info.bytes
                      : 0;

    printf("    %s: ", rival->name);
    if (same_steps(best, rival)) {
        printf("is this plan\n");
        return;
    }
    if (slower < 1.005)
        printf("as fast");
    else if (slower < 1000)
        printf("%.2f times the time", slower);
    else
        printf("over 1000 times the time");
    if (rival->plan.info.bytes == best->plan.info.bytes)
        printf(", the same bytes");
    else if (more > 0)
        printf(", %.*f times the bytes", more < 100 ? 2 : 0, more);
    else
        printf(", and bytes where this one needs none");
    printf(rival->plan.info.n_steps == best->plan.info.n_steps ? "\n" : ", %d step%s against %d\n",
           rival->plan.info.n_steps, rival->plan.info.n_steps == 1 ? "" : "s",
           best->plan.info.n_steps);
}

static void print_why(const problem *p, const candidate candidates[N_RIVALS])
{
    const candidate *best = &candidates[TSR_RIVAL_BEST];

    if (best->plan.info.n_steps == 0) {
        printf("\n  why: every rank already holds what it needs\n");
        return;
    }
    if (p->other_mesh) {
        printf(
            "\n  why: between two meshes partials are reduced first, then each rank gets what it "
            "lacks\n");
        return;
    }
    if (p->cost.randomise) {
        printf("\n  why: costs are random here, so that every legal plan wins for some seed\n");
        return;
    }
    printf("\n  why: it has the least predicted time; ties go to fewer bytes, then fewer steps\n");
    if (p->cost.collectives_only)
        printf("    one-shot exchange is not allowed by cost=%s\n", p->cost_text);
    for (int i = 1; i < N_RIVALS; i++)
        if (candidates[i].possible && !(i == TSR_RIVAL_EXCHANGE && p->cost.collectives_only))
            print_against(best, &candidates[i]);
}

static void print_text(const problem *p, const candidate candidates[N_RIVALS])
{
    char from[TSR_TEXT_LEN], to[TSR_TEXT_LEN];

    printf("redistribute %s -> %s\n", tsr_spec_text(&p->from, from, sizeof from),
           tsr_placements_text(&p->to, to, sizeof to));
    problem_print_settings(p);
    print_steps(p, &candidates[TSR_RIVAL_BEST]);
    if (!p->other_mesh)
        print_rivals(p, candidates);
    print_why(p, candidates);
}

/* ---- json ---- */

static json_t *candidate_json(const problem *p, const candidate *w)
{
    if (!w->possible)
        return json_pack("{s:s, s:b, s:s}", "way", w->key, "possible", 0, "why", w->err.text);
    return json_pack("{s:s, s:b, s:f, s:I, s:I, s:o}", "way", w->key, "possible", 1, "seconds",
                     w->plan.info.seconds, "bytes", (json_int_t)w->plan.info.bytes, "peak",
                     (json_int_t)w->plan.info.peak, "steps",
                     cli_steps_json(&p->from.mesh, &w->plan));
}

static json_t *to_json(const problem *p, const candidate candidates[N_RIVALS])
{
    json_t *results = json_array();
    char from[TSR_TEXT_LEN], to[TSR_TEXT_LEN], mesh[TSR_TEXT_LEN];

    for (int i = 0; i < (p->other_mesh ? 1 : N_RIVALS); i++)
        json_array_append_new(results, candidate_json(p, &candidates[i]));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:o}", "command", "explain", "from",
                     tsr_spec_text(&p->from, from, sizeof from), "to",
                     tsr_placements_text(&p->to, to, sizeof to), "mesh",
                     tsr_mesh_text(&p->from.mesh, mesh, sizeof mesh), "cost", p->cost_text, "limit",
                     (json_int_t)p->limit, "results", results);
}

int cli_explain(const cli_args *args)
{
    candidate candidates[N_RIVALS];
    problem p;
    int status = CLI_OK;

    if (op_problem_is(args->text))
        return cli_explain_op(args);
    if (cli_option_of(args, "rules"))
        return cli_bad("explain: --rules is for ops, and a redistribution has no rules");
    if (!problem_read("explain", PROBLEM_MOVE, args->text, &p))
        return CLI_USAGE;
    if (!cli_speaks())
        return CLI_OK;
    make_candidates(&p, candidates);
    if (!candidates[TSR_RIVAL_BEST].possible)
        status = cli_error(&candidates[TSR_RIVAL_BEST].err);
    else if (cli_option_of(args, "json"))
        status = cli_print_json(to_json(&p, candidates));
    else
        print_text(&p, candidates);
    free_candidates(candidates);
    return status;
}
