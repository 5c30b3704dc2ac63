/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_run.c - tessera run: a tensor of an npy file, or one of random numbers, through a
   redistribution into another npy file, or onto the screen. */
#include "fill.h"
#include "run_task.h"

#include <stdlib.h>

typedef struct move {
    problem p;
    tsr_redist_info info;
} move;

static tsr_status load(const run_task *t, tsr_mesh *mesh, tsr_tensor **in)
{
    char place[TSR_TEXT_LEN];

    if (!t->in)
        return fill_source(t->set, mesh, &in[0]);
    in[0] = tsr_load_npy(mesh, t->in, tsr_placements_text(&t->set->from, place, sizeof place));
    return tsr_mesh_status(mesh);
}

static tsr_status call(const run_task *t, tsr_mesh *mesh, tsr_mesh *to, tsr_tensor *const *in,
                       tsr_tensor **out)
{
    char place[TSR_TEXT_LEN];
    tsr_tensor *y =
        tsr_redistribute_to(in[0], to, tsr_placements_text(&t->set->to, place, sizeof place));

    if (tsr_mesh_is_member(to))
        out[0] = y;
    return tsr_mesh_status(mesh);
}

static const char *text(const run_task *t, char *buf, size_t n)
{
    return problem_text(t->set, buf, n);
}

static void print_moves(const run_task *t)
{
    const tsr_redist_info *info = &((const move *)t->what)->info;
    char bytes[CLI_TEXT];

    printf("  moves   in %d step%s, at most %s received by a rank\n", info->n_steps,
           info->n_steps == 1 ? "" : "s", cli_bytes((double)info->bytes, bytes));
}

static void add_json(const run_task *t, json_t *result)
{
    const tsr_redist_info *info = &((const move *)t->what)->info;

    json_object_set_new(result, "bytes", json_integer(info->bytes));
    json_object_set_new(result, "steps", json_integer(info->n_steps));
    json_object_set_new(result, "redistribute_seconds", json_real(t->run_time));
}

static const run_kind kind = {load, call, text, print_moves, add_json};

/* The text may leave dtype and shape to the file. */
static int settle_tensor(const run_task *t, problem *p)
{
    tsr_spec file;
    int status;

    if (!t->in && !p->has_tensor)
        return cli_bad("run: without --in FILE the text has to say dtype and shape, like "
                       "f32[5,3]@[S(0),R]");
    if (!t->in)
        return CLI_OK;
    status = run_file_spec(t->in, p->has_tensor ? &p->from : NULL, &file);
    if (status != CLI_OK || p->has_tensor)
        return status;
    return problem_complete(p, file.dtype, &file.shape) ? CLI_OK : CLI_USAGE;
}

static int plan(run_task *t, move *m)
{
    tsr_redist *found;
    int status = problem_plan(&m->p, &found);

    if (status != CLI_OK)
        return status;
    m->info = tsr_redist_info_get(found);
    t->predicted = m->info.seconds;
    tsr_redist_free(found);
    return CLI_OK;
}

static int run(const cli_args *args, run_task *t, move *m)
{
    int status;

    if (!problem_read("run", PROBLEM_FILE, args->text, &m->p) || !cli_world_resolve(&m->p.world))
        return CLI_USAGE;
    status = run_task_open(args, t);
    t->set = &m->p;
    t->name = "redistribute";
    t->what = m;
    t->kind = &kind;
    if (status == CLI_OK)
        status = settle_tensor(t, &m->p);
    if (status == CLI_OK)
        status = plan(t, m);
    return status == CLI_OK ? run_task_go(t) : status;
}

int cli_run(const cli_args *args)
{
    run_task *t;
    move m;
    int status;

    if (op_problem_is(args->text))
        return cli_run_op(args);
    t = malloc(sizeof *t);
    status = t ? run(args, t, &m) : cli_failed("out of memory");
    free(t);
    return status;
}
