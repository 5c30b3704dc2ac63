/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_verify.c - tessera verify: runs one redistribution of random numbers and compares every
   element on every rank, and the bytes that it received, with the naive reference (values.c) and
   the plan. */
#include "fill.h"
#include "op_problem.h"
#include "values.h"
#include "verify_ranks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef enum fault { FAULT_NONE, FAULT_SHAPE, FAULT_VALUE, FAULT_BYTES } fault;

/* What one rank found; ranks send it to each other as bytes. */
typedef struct verdict {
    int32_t fault, rank;
    int64_t compared; /* elements */
    int64_t at[TSR_MAX_DIM];
    double expected, got;
    int64_t bytes_plan, bytes;
    tsr_shape shape_expected, shape;
} verdict;

typedef struct task {
    const problem *p;
    const tsr_redist *plan; /* what tsr_redistribute will choose, too */
    int spoil;              /* rank on which an element is changed before comparing, -1: none */
    verify_book book;       /* of verdicts */
} task;

/* ---- comparing ---- */

static bool differs(const problem *p, double got, const int64_t *at, int64_t global, verdict *v)
{
    double expected = value_whole(&p->from, p->seed, global);

    v->compared++;
    if (got == expected)
        return false;
    v->fault = FAULT_VALUE;
    v->expected = expected;
    v->got = got;
    memcpy(v->at, at, sizeof v->at);
    return true;
}

/* The local part, element by element; terms mean nothing alone, so of partials only the shape. */
static tsr_status compare_local(const problem *p, tsr_tensor *y, bool partial, verdict *v)
{
    int index = tsr_mesh_index(tsr_tensor_mesh(y));
    int64_t at[TSR_MAX_DIM] = {0}, n;
    value_part part;
    tsr_local view;
    tsr_status st = tsr_local_view(y, &view);

    if (st != TSR_OK || index < 0)
        return st;
    if (!value_part_make(&p->to, index, &part))
        return TSR_ERR_MEMORY;
    v->shape_expected = part.shape;
    v->shape = view.shape;
    if (!tsr_shape_equal(&part.shape, &view.shape))
        v->fault = FAULT_SHAPE;
    n = tsr_shape_count(&part.shape);
    for (int64_t i = 0; i < n && !v->fault && !partial; i++) {
        int64_t global = value_part_global(&part, &p->to.shape, i, at);

        if (differs(p, value_get(p->to.dtype, view.data, i), at, global, v))
            break;
    }
    value_part_free(&part);
    return TSR_OK;
}

/* A partial target: gather its value on every rank of its mesh. */
static tsr_status compare_whole(const problem *p, tsr_tensor *y, verdict *v)
{
    int64_t n = tsr_shape_count(&p->to.shape), at[TSR_MAX_DIM] = {0};
    size_t bytes = (size_t)n * tsr_dtype_size(p->to.dtype);
    void *data;
    tsr_status st;

    if (!tsr_mesh_is_member(tsr_tensor_mesh(y)))
        return TSR_OK;
    data = malloc(bytes + 1);
    if (!data)
        return TSR_ERR_MEMORY;
    st = tsr_to_host(y, data, bytes);
    for (int64_t i = 0; i < n && st == TSR_OK && !v->fault; i++) {
        value_indices_at(&p->to.shape, i, at);
        differs(p, value_get(p->to.dtype, data, i), at, i, v);
    }
    free(data);
    return st;
}

/* ---- one rank ---- */

static tsr_status check(const task *t, tsr_mesh *world, tsr_mesh *from, tsr_mesh *to, verdict *v)
{
    const problem *p = t->p;
    char target[TSR_TEXT_LEN];
    tsr_tensor *x = NULL, *y;
    int64_t before;
    tsr_status st = fill_source(p, from, &x);

    if (st != TSR_OK)
        return st;
    v->bytes_plan = tsr_redist_bytes_in(t->plan, tsr_mesh_rank(world));
    before = tsr_counters_get(world).bytes_in;
    y = tsr_redistribute_to(x, to, tsr_placements_text(&p->to, target, sizeof target));
    st = tsr_mesh_status(world);
    if (st != TSR_OK)
        return st;
    v->bytes = tsr_counters_get(world).bytes_in - before;
    if (tsr_mesh_rank(world) == t->spoil)
        verify_spoil(y);
    st = compare_local(p, y, value_is_partial(&p->to), v);
    if (st == TSR_OK && value_is_partial(&p->to))
        st = compare_whole(p, y, v);
    if (!v->fault && v->bytes != v->bytes_plan)
        v->fault = FAULT_BYTES;
    return st;
}

static tsr_status job(tsr_mesh *world, tsr_mesh *from, tsr_mesh *to, void *arg)
{
    task *t = arg;
    verdict v = {.rank = tsr_mesh_rank(world)};
    tsr_status st = check(t, world, from, to, &v);

    return st == TSR_OK ? verify_gather(world, &v, &t->book) : st;
}

/* ---- the answer ---- */

static const verdict *first_fault(const task *t)
{
    const verdict *verdicts = t->book.verdicts;

    for (int r = 0; r < t->book.n_ranks; r++)
        if (verdicts[r].fault)
            return &verdicts[r];
    return NULL;
}

static const char *fault_text(const problem *p, const verdict *v, char *buf, size_t n)
{
    char at[256], other[256];

    switch (v->fault) {
    case FAULT_SHAPE:
        snprintf(buf, n, "rank %d: expected local shape %s, got %s", v->rank,
                 verify_indices_text(v->shape_expected.size, v->shape_expected.ndim, at),
                 verify_indices_text(v->shape.size, v->shape.ndim, other));
        break;
    case FAULT_VALUE:
        snprintf(buf, n, "rank %d, index %s: expected %.9g, got %.9g", v->rank,
                 verify_indices_text(v->at, p->to.shape.ndim, at), v->expected, v->got);
        break;
    default:
        snprintf(buf, n, "rank %d: the plan says %" PRId64 " bytes received, counted %" PRId64,
                 v->rank, v->bytes_plan, v->bytes);
    }
    return buf;
}

static int print(const task *t, bool as_json)
{
    const verdict *verdicts = t->book.verdicts, *bad = first_fault(t);
    int64_t compared = 0, bytes = 0;
    int n_ranks = t->book.n_ranks;
    char text[2 * TSR_TEXT_LEN], why[1024] = "", most[CLI_TEXT];

    for (int r = 0; r < n_ranks; r++) {
        compared += verdicts[r].compared;
        bytes = verdicts[r].bytes > bytes ? verdicts[r].bytes : bytes;
    }
    problem_text(t->p, text, sizeof text);
    if (bad)
        fault_text(t->p, bad, why, sizeof why);
    if (!as_json) {
        printf("%s  %s\n", bad ? "FAIL" : "PASS", text);
        if (bad)
            printf("      %s\n", why);
        else
            printf("      %d rank%s, %" PRId64 " elements compared, at most %s received by a rank, "
                   "as planned\n",
                   n_ranks, n_ranks == 1 ? "" : "s", compared, cli_bytes((double)bytes, most));
        return bad ? CLI_FAILED : CLI_OK;
    }
    return verify_print_json(text, !bad, n_ranks,
                             json_pack("{s:I, s:I, s:s}", "compared", (json_int_t)compared, "bytes",
                                       (json_int_t)bytes, "why", why));
}

static int run(const cli_args *args, task *t)
{
    tsr_error err = {0};

    if (problem_run(t->p, t->p->world, job, t, &err) != TSR_OK)
        return cli_error(&err);
    if (cli_speaks())
        return print(t, cli_option_of(args, "json") != NULL);
    return t->book.failed ? CLI_FAILED : CLI_OK;
}

int cli_verify(const cli_args *args)
{
    problem p;
    task t = {.p = &p};
    tsr_redist *plan = NULL;
    int status;

    if (op_problem_is(args->text))
        return cli_verify_op(args);
    if (cli_option_of(args, "all-placements"))
        return cli_bad("verify: --all-placements is for ops");
    if (!problem_read("verify", PROBLEM_MOVE, args->text, &p) || !cli_world_resolve(&p.world))
        return CLI_USAGE;
    if (verify_spoil_rank(args, problem_ranks(&p), &t.spoil) != CLI_OK)
        return CLI_USAGE;
    status = problem_plan(&p, &plan);
    if (status != CLI_OK)
        return status;
    t.plan = plan;
    if (!cli_elsewhere(args, p.world, problem_ranks(&p), &status)) {
        status = verify_book_open(&t.book, problem_ranks(&p), sizeof(verdict));
        if (status == CLI_OK)
            status = run(args, &t);
        free(t.book.verdicts);
    }
    tsr_redist_free(plan);
    return status;
}
