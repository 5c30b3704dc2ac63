/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_run.c - tessera run: an npy file through a redistribution into another npy file. */
#include "measure.h"
#include "op_problem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct task {
    const problem *p;
    const char *in, *out;
    /* the first rank's: */
    tsr_redist_info info;
    tsr_counters counters;
    double load, move, save; /* seconds */
} task;

/* Under threads the first rank's numbers are kept; under MPI each process has a task. */
static tsr_status job(tsr_mesh *world, void *arg)
{
    task *t = arg;
    const problem *p = t->p;
    bool first = tsr_mesh_rank(world) == 0;
    tsr_mesh *from = NULL, *to = NULL;
    tsr_tensor *x = NULL, *y = NULL;
    char source[TSR_TEXT_LEN], target[TSR_TEXT_LEN];
    double times[4] = {measure_now()};
    tsr_status st;

    tsr_memory_limit_set(world, (size_t)p->limit);
    st = problem_meshes(p, world, &from, &to);
    if (st == TSR_OK) {
        x = tsr_load_npy(from, t->in, tsr_placements_text(&p->from, source, sizeof source));
        st = tsr_mesh_status(world);
    }
    if (st == TSR_OK)
        st = tsr_barrier(world);
    times[1] = measure_now();
    tsr_counters_reset(world);
    if (st == TSR_OK) {
        y = tsr_redistribute_to(x, to, tsr_placements_text(&p->to, target, sizeof target));
        st = tsr_mesh_status(world);
    }
    if (st == TSR_OK && first)
        t->counters = tsr_counters_get(world);
    if (st == TSR_OK)
        st = tsr_barrier(world);
    times[2] = measure_now();
    if (st == TSR_OK && tsr_mesh_is_member(to))
        st = tsr_save_npy(y, t->out);
    if (st == TSR_OK)
        st = tsr_barrier(world);
    times[3] = measure_now();
    if (first) {
        t->load = times[1] - times[0];
        t->move = times[2] - times[1];
        t->save = times[3] - times[2];
    }
    tsr_mesh_unref(from);
    tsr_mesh_unref(to);
    return st;
}

/* Whether the file is the tensor that the text describes; the text may leave it to the file. */
static int settle_tensor(const char *in, problem *p)
{
    tsr_spec file = {.mesh = {.ndim = 0}};
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    tsr_error err = {0};
    tsr_spec said = {.mesh = {.ndim = 0}};

    if (tsr_npy_info(in, &file.dtype, &file.shape, &err) != TSR_OK)
        return cli_bad("%s", err.text);
    if (!p->has_tensor)
        return problem_complete(p, file.dtype, &file.shape) ? CLI_OK : CLI_USAGE;
    said.dtype = p->from.dtype;
    said.shape = p->from.shape;
    if (!tsr_spec_equal(&said, &file))
        return cli_bad("run: %s holds %.*s, not %.*s", in,
                       (int)strcspn(tsr_spec_text(&file, a, sizeof a), "@"), a,
                       (int)strcspn(tsr_spec_text(&said, b, sizeof b), "@"), b);
    return CLI_OK;
}

static int print(const task *t, bool as_json)
{
    char text[2 * TSR_TEXT_LEN], a[CLI_TEXT], b[CLI_TEXT], c[CLI_TEXT];

    problem_text(t->p, text, sizeof text);
    if (as_json)
        return cli_print_json(json_pack(
            "{s:s, s:[{s:s, s:s, s:s, s:I, s:i, s:f, s:f, s:f, s:f, s:I, s:I, s:I}]}", "command",
            "run", "results", "problem", text, "in", t->in, "out", t->out, "bytes",
            (json_int_t)t->info.bytes, "steps", t->info.n_steps, "predicted_seconds",
            t->info.seconds, "load_seconds", t->load, "redistribute_seconds", t->move,
            "save_seconds", t->save, "bytes_in", (json_int_t)t->counters.bytes_in, "bytes_out",
            (json_int_t)t->counters.bytes_out, "memory_peak", (json_int_t)t->counters.memory_peak));
    printf("%s\n", text);
    printf("  load          %s from %s\n", cli_seconds(t->load, a), t->in);
    printf("  redistribute  %s (predicted %s), %d step%s, at most %s received by a rank\n",
           cli_seconds(t->move, a), cli_seconds(t->info.seconds, b), t->info.n_steps,
           t->info.n_steps == 1 ? "" : "s", cli_bytes((double)t->info.bytes, c));
    printf("  save          %s to %s\n", cli_seconds(t->save, a), t->out);
    printf("  rank 0        %s received, %s sent, ", cli_bytes((double)t->counters.bytes_in, a),
           cli_bytes((double)t->counters.bytes_out, b));
    printf("%s held at most\n", cli_bytes((double)t->counters.memory_peak, a));
    return CLI_OK;
}

static int run(const cli_args *args, task *t)
{
    const problem *p = t->p;
    tsr_redist *plan;
    tsr_error err = {0};
    tsr_run_opts opts = {.world = p->world, .cost = p->cost_text};
    char mesh[TSR_TEXT_LEN];

    if (tsr_redist_plan(&p->from, &p->to, &p->cost, (size_t)p->limit, TSR_RIVAL_BEST, &plan,
                        &err) != TSR_OK)
        return cli_error(&err);
    t->info = tsr_redist_info_of(plan);
    tsr_redist_free(plan);
    opts.mesh = problem_world_mesh(p, mesh);
    if (tsr_run(&opts, job, t, &err) != TSR_OK)
        return cli_error(&err);
    return cli_speaks() ? print(t, cli_option_of(args, "json") != NULL) : CLI_OK;
}

int cli_run(const cli_args *args)
{
    problem p;
    task t = {.p = &p, .in = cli_option_of(args, "in"), .out = cli_option_of(args, "out")};
    int status;

    if (op_problem_is(args->text))
        return cli_run_op(args);
    if (!problem_read("run", PROBLEM_FILE, args->text, &p) || !cli_world_resolve(&p.world))
        return CLI_USAGE;
    if (!t.in || !t.out)
        return cli_bad("run: --%s FILE is missing", t.in ? "out" : "in");
    if (p.world == TSR_WORLD_SIM)
        return cli_bad("run: the sim world holds no data; use explain");
    status = settle_tensor(t.in, &p);
    if (status != CLI_OK)
        return status;
    if (p.world == TSR_WORLD_MPI && !cli_under_mpi())
        return cli_mpi_exec(args, problem_ranks(&p));
    return run(args, &t);
}
