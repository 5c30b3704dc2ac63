/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_run_op.c - tessera run for ops: npy files through an op into other npy files. */
#include "measure.h"
#include "op_problem.h"

#include <stdlib.h>
#include <string.h>

/* What the first rank of the mesh knows, which need not be the one that prints. */
typedef struct answer {
    tsr_counters counters;
    tsr_spec spec[TSR_OP_OUTPUTS]; /* of the outputs that are there */
    int n_out;
} answer;

typedef struct task {
    op_problem p;
    char file[TSR_OP_INPUTS][4096];      /* of the inputs that are there */
    const char *out;                     /* the list as given */
    char out_file[TSR_OP_OUTPUTS][4096]; /* of the first outputs that are there */
    int n_files;
    /* what the first rank of the world keeps: */
    answer answer;
    double load, run, save; /* seconds */
} task;

static tsr_status load(const task *t, tsr_mesh *mesh, tsr_tensor **in)
{
    char place[TSR_TEXT_LEN];

    for (int k = 0; k < t->p.n_in; k++)
        if (op_problem_has(&t->p, k))
            in[k] = tsr_load_npy(mesh, t->file[k],
                                 tsr_placements_text(&t->p.in[k], place, sizeof place));
    return tsr_mesh_status(mesh);
}

/* Files are for the outputs that are there, in their order; there may be fewer or more. */
static tsr_status save(const task *t, tsr_tensor *const *out, answer *a)
{
    tsr_status st = TSR_OK;

    for (int k = 0; k < TSR_OP_OUTPUTS && st == TSR_OK; k++) {
        if (!out[k])
            continue;
        a->spec[a->n_out] = *tsr_tensor_spec(out[k]);
        if (a->n_out < t->n_files)
            st = tsr_save_npy(out[k], t->out_file[a->n_out]);
        a->n_out++;
    }
    return st;
}

/* Thread ranks share the task; under MPI each process has one. */
static tsr_status job(tsr_mesh *world, void *arg)
{
    task *t = arg;
    tsr_mesh *mesh = NULL, *same = NULL;
    tsr_tensor *in[TSR_OP_INPUTS] = {NULL}, *out[TSR_OP_OUTPUTS] = {NULL};
    double times[4] = {measure_now()};
    answer a = {0};
    tsr_status st;
    bool member;

    tsr_memory_limit_set(world, (size_t)t->p.set.limit);
    st = problem_meshes(&t->p.set, world, &mesh, &same);
    member = st == TSR_OK && tsr_mesh_is_member(mesh);
    if (member)
        st = load(t, mesh, in);
    if (st == TSR_OK)
        st = tsr_barrier(world);
    times[1] = measure_now();
    tsr_counters_reset(world);
    if (st == TSR_OK && member)
        st = op_problem_run(&t->p, mesh, in, out);
    a.counters = tsr_counters_get(world);
    if (st == TSR_OK)
        st = tsr_barrier(world);
    times[2] = measure_now();
    if (st == TSR_OK && member)
        st = save(t, out, &a);
    if (st == TSR_OK)
        st = tsr_broadcast(world, TSR_U8, &a, sizeof a, t->p.set.from.mesh.first);
    if (st == TSR_OK)
        st = tsr_barrier(world);
    times[3] = measure_now();
    if (tsr_mesh_rank(world) == 0) {
        t->answer = a;
        t->load = times[1] - times[0];
        t->run = times[2] - times[1];
        t->save = times[3] - times[2];
    }
    tsr_mesh_unref(mesh);
    tsr_mesh_unref(same);
    return st;
}

/* ---- files ---- */

/* "a.npy,b.npy": one per input that is there */
static int split_files(const char *list, task *t)
{
    const op_problem *p = &t->p;
    int n_inputs = 0, n_files = 1;

    for (const char *c = list; *c; c++)
        n_files += *c == ',';
    for (int k = 0; k < p->n_in; k++)
        n_inputs += p->bare[k] || op_problem_has(p, k);
    if (n_files != n_inputs)
        return cli_bad("run: --in names %d file%s, but %s has %d input%s in the text", n_files,
                       n_files == 1 ? "" : "s", p->op->name, n_inputs, n_inputs == 1 ? "" : "s");
    for (int k = 0; k < p->n_in; k++) {
        size_t n = strcspn(list, ",");

        if (!p->bare[k] && !op_problem_has(p, k))
            continue;
        if (n >= sizeof t->file[k])
            return cli_bad("run: a file name of --in is too long");
        memcpy(t->file[k], list, n);
        list += n + (list[n] == ',');
    }
    return CLI_OK;
}

/* "a.npy,b.npy": one per output, or fewer */
static int split_out_files(const char *list, task *t)
{
    for (;; list++) {
        size_t n = strcspn(list, ",");

        if (t->n_files == TSR_OP_OUTPUTS)
            return cli_bad("run: --out names more than %d files", TSR_OP_OUTPUTS);
        if (n == 0 || n >= sizeof t->out_file[0])
            return cli_bad("run: a file name of --out is %s", n ? "too long" : "empty");
        memcpy(t->out_file[t->n_files++], list, n);
        list += n;
        if (!*list)
            return CLI_OK;
    }
}

/* Whether a file is the tensor that the text describes; the text may leave it to the file. */
static int settle_input(task *t, int k)
{
    op_problem *p = &t->p;
    tsr_spec file = {.mesh = {.ndim = 0}}, said = file;
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    tsr_error err = {0};

    if (tsr_npy_info(t->file[k], &file.dtype, &file.shape, &err) != TSR_OK)
        return cli_bad("%s", err.text);
    if (p->bare[k])
        return op_problem_set_input(p, k, file.dtype, &file.shape);
    said.dtype = p->in[k].dtype;
    said.shape = p->in[k].shape;
    if (!tsr_spec_equal(&said, &file))
        return cli_bad("run: %s holds %.*s, not %.*s", t->file[k],
                       (int)strcspn(tsr_spec_text(&file, a, sizeof a), "@"), a,
                       (int)strcspn(tsr_spec_text(&said, b, sizeof b), "@"), b);
    return CLI_OK;
}

static int settle(const char *list, task *t)
{
    int status = split_files(list, t);

    if (status == CLI_OK)
        status = split_out_files(t->out, t);
    for (int k = 0; k < t->p.n_in && status == CLI_OK; k++)
        if (t->file[k][0])
            status = settle_input(t, k);
    return status == CLI_OK ? op_problem_complete(&t->p) : status;
}

/* ---- the answer ---- */

static int print_json(const task *t, const char *list, const char *text)
{
    const op_problem *p = &t->p;
    json_t *result, *outputs = json_array();
    char out[TSR_TEXT_LEN];

    for (int k = 0; k < t->answer.n_out; k++)
        json_array_append_new(outputs,
                              json_string(tsr_spec_text(&t->answer.spec[k], out, sizeof out)));
    result =
        json_pack("{s:s, s:s, s:s, s:s, s:o, s:f, s:f, s:f, s:I, s:I, s:I}", "problem", text, "in",
                  list, "out", t->out, "output", tsr_spec_text(&t->answer.spec[0], out, sizeof out),
                  "outputs", outputs, "load_seconds", t->load, "run_seconds", t->run,
                  "save_seconds", t->save, "bytes_in", (json_int_t)t->answer.counters.bytes_in,
                  "bytes_out", (json_int_t)t->answer.counters.bytes_out, "memory_peak",
                  (json_int_t)t->answer.counters.memory_peak);
    if (!tsr_op_is_composed(p->op))
        json_object_set_new(result, "predicted_seconds", json_real(p->way.seconds));
    return cli_print_json(json_pack("{s:s, s:[o]}", "command", "run", "results", result));
}

static int print(const task *t, const char *list, bool as_json)
{
    const op_problem *p = &t->p;
    char text[OP_TEXT], out[TSR_TEXT_LEN], a[CLI_TEXT], b[CLI_TEXT];

    op_problem_text(p, text, sizeof text);
    if (as_json)
        return print_json(t, list, text);
    printf("%s\n", text);
    printf("  load    %s from %s\n", cli_seconds(t->load, a), list);
    printf("  run     %s", cli_seconds(t->run, a));
    if (!tsr_op_is_composed(p->op))
        printf(" (moving predicted %s)", cli_seconds(p->way.seconds, b));
    printf("\n");
    for (int k = 0; k < t->answer.n_out; k++)
        printf("  output  %s%s\n", tsr_spec_text(&t->answer.spec[k], out, sizeof out),
               k < t->n_files ? "" : ", not saved: --out names no file for it");
    printf("  save    %s to %s\n", cli_seconds(t->save, a), t->out);
    printf("  rank %d  %s received, %s sent, ", p->set.from.mesh.first,
           cli_bytes((double)t->answer.counters.bytes_in, a),
           cli_bytes((double)t->answer.counters.bytes_out, b));
    printf("%s held at most\n", cli_bytes((double)t->answer.counters.memory_peak, a));
    return CLI_OK;
}

static int run(const cli_args *args, task *t)
{
    const char *list = cli_option_of(args, "in");
    problem *set = &t->p.set;
    tsr_error err = {0};
    tsr_run_opts opts = {.cost = set->cost_text};
    char mesh[TSR_TEXT_LEN];
    int status;

    t->out = cli_option_of(args, "out");
    if (!list || !t->out)
        return cli_bad("run: --%s FILE is missing", list ? "out" : "in");
    if (!cli_world_resolve(&set->world))
        return CLI_USAGE;
    if (set->world == TSR_WORLD_SIM)
        return cli_bad("run: the sim world holds no data; use explain");
    status = settle(list, t);
    if (status != CLI_OK)
        return status;
    if (set->world == TSR_WORLD_MPI && !cli_under_mpi())
        return cli_mpi_exec(args, problem_ranks(set));
    opts.mesh = problem_world_mesh(set, mesh);
    opts.world = set->world;
    if (tsr_run(&opts, job, t, &err) != TSR_OK)
        return cli_error(&err);
    if (t->n_files > t->answer.n_out && cli_speaks())
        return cli_failed("run: --out names %d files, but %s gives %d output%s", t->n_files,
                          t->p.op->name, t->answer.n_out, t->answer.n_out == 1 ? "" : "s");
    return cli_speaks() ? print(t, list, cli_option_of(args, "json") != NULL) : CLI_OK;
}

int cli_run_op(const cli_args *args)
{
    task *t = calloc(1, sizeof *t);
    int status = t ? op_problem_read("run", true, args->text, &t->p) : cli_failed("out of memory");

    if (status == CLI_OK)
        status = run(args, t);
    free(t);
    return status;
}
