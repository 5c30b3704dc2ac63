/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_run_op.c - tessera run for ops: tensors of npy files, or of random numbers, through an op
   into other npy files, or onto the screen. */
#include "fill.h"
#include "run_task.h"

#include <stdlib.h>
#include <string.h>

typedef struct op_call {
    op_problem p;
    run_file file[TSR_OP_INPUTS]; /* of the inputs that are there */
    double *whole[TSR_OP_INPUTS]; /* the same, without files */
} op_call;

static tsr_status load(const run_task *t, tsr_mesh *mesh, tsr_tensor **in)
{
    const op_call *c = t->what;
    const op_problem *p = &c->p;
    tsr_status st = TSR_OK;
    char place[TSR_TEXT_LEN];

    for (int k = 0; k < p->n_in && st == TSR_OK && tsr_mesh_is_member(mesh); k++) {
        if (!op_problem_has(p, k))
            continue;
        if (t->in) {
            in[k] =
                tsr_load_npy(mesh, c->file[k], tsr_placements_text(&p->in[k], place, sizeof place));
            st = tsr_mesh_status(mesh);
        } else {
            st = fill_input(p, mesh, k, &p->in[k], c->whole[k], &in[k]);
        }
    }
    return st;
}

static tsr_status call(const run_task *t, tsr_mesh *mesh, tsr_mesh *to, tsr_tensor *const *in,
                       tsr_tensor **out)
{
    (void)to;
    return tsr_mesh_is_member(mesh) ? op_problem_run(&((const op_call *)t->what)->p, mesh, in, out)
                                    : TSR_OK;
}

/* ---- what is said ---- */

static const char *text(const run_task *t, char *buf, size_t n)
{
    return op_problem_text(&((const op_call *)t->what)->p, buf, n);
}

static void print_moves(const run_task *t)
{
    const op_problem *p = &((const op_call *)t->what)->p;
    char name[CLI_TEXT], place[TSR_TEXT_LEN];

    for (int k = 0; k < p->n_in && t->predicted >= 0; k++)
        if (op_problem_has(p, k) && !tsr_spec_equal(&p->in[k], &p->strategy.in[k]))
            printf("  moves   %s to %s\n", op_problem_input_name(p, k, name),
                   tsr_placements_text(&p->strategy.in[k], place, sizeof place));
}

static void add_json(const run_task *t, json_t *result)
{
    char spec[TSR_TEXT_LEN];

    json_object_set_new(result, "output",
                        json_string(tsr_spec_text(&t->answer.spec[0], spec, sizeof spec)));
}

static const run_kind kind = {load, call, text, print_moves, add_json};

/* ---- inputs ---- */

/* "a.npy,b.npy": one per input that is there */
static int split_in(const char *list, op_call *c)
{
    const op_problem *p = &c->p;
    int n_inputs = 0, n_files = 1;

    for (const char *at = list; *at; at++)
        n_files += *at == ',';
    for (int k = 0; k < p->n_in; k++)
        n_inputs += p->bare[k] || op_problem_has(p, k);
    if (n_files != n_inputs)
        return cli_bad("run: --in names %d file%s, but %s has %d input%s in the text", n_files,
                       n_files == 1 ? "" : "s", p->op->name, n_inputs, n_inputs == 1 ? "" : "s");
    for (int k = 0; k < p->n_in; k++) {
        size_t n = strcspn(list, ",");

        if (!p->bare[k] && !op_problem_has(p, k))
            continue;
        if (n == 0 || n >= sizeof c->file[k])
            return cli_bad("run: a file name of --in is %s", n ? "too long" : "empty");
        memcpy(c->file[k], list, n);
        list += n + (list[n] == ',');
    }
    return CLI_OK;
}

/* The text may leave dtypes and shapes to files. */
static int settle_input(op_call *c, bool files, int k)
{
    op_problem *p = &c->p;
    char name[CLI_TEXT];
    tsr_spec file;
    int status;

    if (!files && p->bare[k])
        return cli_bad("run: without --in FILE,... the text has to say dtype and shape of %s, like "
                       "f32[5,3]@%s",
                       op_problem_input_name(p, k, name), p->place[k]);
    if (!files || !(p->bare[k] || op_problem_has(p, k)))
        return CLI_OK;
    status = run_file_spec(c->file[k], p->bare[k] ? NULL : &p->in[k], &file);
    return status == CLI_OK && p->bare[k] ? op_problem_set_input(p, k, file.dtype, &file.shape)
                                          : status;
}

static int settle(const run_task *t, op_call *c)
{
    op_problem *p = &c->p;
    int status = t->in ? split_in(t->in, c) : CLI_OK;

    for (int k = 0; k < p->n_in && status == CLI_OK; k++)
        status = settle_input(c, t->in, k);
    if (status == CLI_OK)
        status = op_problem_complete(p);
    for (int k = 0; k < p->n_in && status == CLI_OK && !t->in; k++)
        if (op_problem_has(p, k) && !(c->whole[k] = fill_values(p, k)))
            status = cli_failed("out of memory");
    return status;
}

static int run(const cli_args *args, run_task *t, op_call *c)
{
    int status = op_problem_read("run", true, args->text, &c->p);

    if (status == CLI_OK && !cli_world_resolve(&c->p.set.world))
        status = CLI_USAGE;
    if (status == CLI_OK)
        status = run_task_open(args, t);
    if (status == CLI_OK)
        status = settle(t, c);
    if (status != CLI_OK)
        return status;
    t->set = &c->p.set;
    t->name = c->p.op->name;
    t->what = c;
    t->kind = &kind;
    t->predicted = tsr_op_is_composed(c->p.op) ? -1 : c->p.strategy.seconds;
    return run_task_go(t);
}

int cli_run_op(const cli_args *args)
{
    run_task *t = malloc(sizeof *t);
    op_call *c = calloc(1, sizeof *c);
    int status = t && c ? run(args, t, c) : cli_failed("out of memory");

    for (int k = 0; c && k < TSR_OP_INPUTS; k++)
        free(c->whole[k]);
    free(t);
    free(c);
    return status;
}
