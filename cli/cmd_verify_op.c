/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_verify_op.c - tessera verify for ops: runs an op on inputs of one placing or of all, and
   compares every element of every output on every rank with that of one rank, and the placements
   of the outputs with the plan, unless the op is composed of others and has none. */
#include "fill.h"
#include "op_check.h"
#include "values.h"
#include "verify_ranks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum fault { FAULT_NONE, FAULT_SPEC, FAULT_VALUE } fault;

/* What one rank found; ranks send it to each other as bytes. */
typedef struct verdict {
    int32_t fault, rank;
    int32_t tried, failed; /* placings */
    int64_t compared;      /* elements */
    int32_t inexact;       /* some elements were compared with a tolerance */
    /* the first that failed: */
    int32_t placing, output;
    int64_t at[TSR_MAX_DIM];
    double expected, got, tolerance;
    char planned[TSR_TEXT_LEN], found[TSR_TEXT_LEN];
} verdict;

typedef struct task {
    const op_problem *p;
    const op_reference *ref;
    op_placings placings;
    int spoil;        /* rank on which an element is changed before comparing, -1: none */
    int placing;      /* where the first rank is */
    verify_book book; /* of verdicts */
} task;

/* ---- one rank ---- */

static void note(verdict *v, fault kind, int placing, int output)
{
    if (v->fault)
        return;
    v->fault = kind;
    v->placing = placing;
    v->output = output;
}

static bool compare_spec(const tsr_spec *planned, const tsr_spec *found, int placing, int output,
                         verdict *v)
{
    if (tsr_spec_equal(planned, found))
        return true;
    if (!v->fault) {
        tsr_spec_text(planned, v->planned, sizeof v->planned);
        tsr_spec_text(found, v->found, sizeof v->found);
    }
    note(v, FAULT_SPEC, placing, output);
    return false;
}

static bool compare_values(const task *t, const void *data, int placing, int output, verdict *v)
{
    const op_result *ref = &t->ref->out[output];

    for (int64_t i = 0; i < ref->n; i++) {
        double got = value_get(ref->dtype, data, i);
        double tolerance = op_result_tolerance(ref, i, t->book.n_ranks);

        v->compared++;
        v->inexact = v->inexact || tolerance > 0;
        if (got == ref->expected[i] || fabs(got - ref->expected[i]) <= tolerance ||
            (isnan(got) && isnan(ref->expected[i]))) /* 0 / 0 is that here and there */
            continue;
        if (!v->fault) {
            value_indices_at(&ref->shape, i, v->at);
            v->expected = ref->expected[i];
            v->got = got;
            v->tolerance = tolerance;
        }
        note(v, FAULT_VALUE, placing, output);
        return false;
    }
    return true;
}

/* One output; planned NULL: wherever it is. */
static tsr_status compare(const task *t, tsr_tensor *y, const tsr_spec *planned, int placing,
                          int output, bool *good, verdict *v)
{
    const op_result *ref = &t->ref->out[output];
    size_t bytes = (size_t)ref->n * tsr_dtype_size(ref->dtype);
    void *data = malloc(bytes + 1);
    tsr_status st = data ? TSR_OK : TSR_ERR_MEMORY;

    if (st == TSR_OK && planned)
        *good = compare_spec(planned, tsr_tensor_spec(y), placing, output, v) && *good;
    if (st == TSR_OK)
        st = tsr_to_host(y, data, bytes);
    if (st == TSR_OK && *good)
        *good = compare_values(t, data, placing, output, v);
    free(data);
    return st;
}

static tsr_status compare_all(const task *t, tsr_tensor *const *out, const tsr_op_strategy *plan,
                              int placing, verdict *v)
{
    tsr_status st = TSR_OK;
    bool good = true;

    for (int k = 0; k < TSR_OP_OUTPUTS && st == TSR_OK; k++)
        if (t->ref->out[k].expected)
            st = out[k] ? compare(t, out[k], plan ? &plan->out[k] : NULL, placing, k, &good, v)
                        : TSR_ERR_MISMATCH;
    v->failed += !good;
    return st;
}

/* Where the outputs should be; an op that is composed of others does not say. */
static tsr_status look_up_plan(const op_problem *p, const tsr_spec *specs, tsr_op_strategy *plan)
{
    tsr_schema schema;
    tsr_status st = tsr_schema_make(p->op, specs, p->n_in, p->attr, p->n_attrs, &schema, NULL);

    if (st == TSR_OK && !tsr_op_is_composed(p->op))
        st = tsr_op_plan(&schema, &p->set.cost, NULL, false, plan, NULL);
    for (int k = 0; k < p->op->inplace; k++)
        plan->out[k] = specs[k];
    if (p->want_text[0])
        plan->out[0] = p->want;
    return st;
}

static void spoil(tsr_tensor *const *out)
{
    int k = 0;

    while (k < TSR_OP_OUTPUTS - 1 && !out[k])
        k++;
    if (out[k])
        verify_spoil(out[k]);
}

static tsr_status try_placing(const task *t, tsr_mesh *mesh, int placing, const tsr_spec *specs,
                              verdict *v)
{
    const op_problem *p = t->p;
    tsr_tensor *in[TSR_OP_INPUTS] = {NULL}, *out[TSR_OP_OUTPUTS];
    tsr_op_strategy plan;
    tsr_status st = look_up_plan(p, specs, &plan);

    for (int k = 0; k < p->n_in && st == TSR_OK; k++)
        if (op_problem_has(p, k))
            st = fill_input(p, mesh, k, &specs[k], t->ref->in[k], &in[k]);
    if (st == TSR_OK)
        st = op_problem_run(p, mesh, in, out);
    if (st != TSR_OK)
        return st;
    if (tsr_mesh_rank(mesh) == t->spoil)
        spoil(out);
    return compare_all(t, out, tsr_op_is_composed(p->op) ? NULL : &plan, placing, v);
}

static tsr_status try_placings(task *t, tsr_mesh *mesh, verdict *v)
{
    tsr_status st = TSR_OK;

    for (int i = 0; i < t->placings.n && st == TSR_OK; i++) {
        tsr_spec specs[TSR_OP_INPUTS];

        if (!op_placing(&t->placings, i, specs))
            continue;
        v->tried++;
        if (v->rank == t->p->set.from.mesh.first) {
            t->placing = i;
            if (t->placings.all && i % 50 == 0)
                cli_progress("verify: %d of %d placements", i, t->placings.n);
        }
        st = tsr_scope_push(mesh);
        if (st == TSR_OK) {
            st = try_placing(t, mesh, i, specs, v);
            tsr_scope_pop(mesh);
        }
    }
    return st;
}

static tsr_status job(tsr_mesh *world, tsr_mesh *mesh, tsr_mesh *same, void *arg)
{
    task *t = arg;
    verdict v = {.rank = tsr_mesh_rank(world)};
    tsr_status st = tsr_mesh_is_member(mesh) ? try_placings(t, mesh, &v) : TSR_OK;

    (void)same;
    return st == TSR_OK ? verify_gather(world, &v, &t->book) : st;
}

/* ---- the answer ---- */

/* What all ranks found together: the first placing that failed on any of them. */
static verdict summary(const task *t)
{
    const verdict *verdicts = t->book.verdicts;
    verdict sum = verdicts[0];

    for (int r = 1; r < t->book.n_ranks; r++) {
        const verdict *v = &verdicts[r];
        verdict best = v->fault && (!sum.fault || v->placing < sum.placing) ? *v : sum;

        best.compared = sum.compared + v->compared;
        best.tried = sum.tried > v->tried ? sum.tried : v->tried;
        best.failed = sum.failed > v->failed ? sum.failed : v->failed;
        best.inexact = sum.inexact || v->inexact;
        sum = best;
    }
    return sum;
}

/* Two numbers that differ, with as many digits as show it. */
static void differing(double a, double b, char text[2][32])
{
    for (int digits = 9; digits <= 17; digits += 4) {
        snprintf(text[0], 32, "%.*g", digits, a);
        snprintf(text[1], 32, "%.*g", digits, b);
        if (strcmp(text[0], text[1]) != 0)
            return;
    }
}

static const char *fault_text(const task *t, const verdict *v, char *buf, size_t n)
{
    char at[256], which[CLI_TEXT] = "", number[2][32];
    size_t used;

    if (t->ref->n_out > 1)
        snprintf(which, sizeof which, ", output %d", v->output);
    if (v->fault == FAULT_SPEC) {
        snprintf(buf, n, "rank %d%s: the plan says %s, the output is %s", v->rank, which,
                 v->planned, v->found);
        return buf;
    }
    differing(v->expected, v->got, number);
    used = (size_t)snprintf(buf, n, "rank %d%s, index %s: expected %s, got %s", v->rank, which,
                            verify_indices_text(v->at, t->ref->out[v->output].shape.ndim, at),
                            number[0], number[1]);
    if (v->tolerance > 0)
        snprintf(buf + used, n - used, ", which is not within %.3g", v->tolerance);
    return buf;
}

static void print_text(const task *t, const verdict *v, const char *text, const char *why)
{
    char call[OP_TEXT], outputs[CLI_TEXT] = "";
    tsr_spec specs[TSR_OP_INPUTS];

    printf("%s  %s\n", v->fault ? "FAIL" : "PASS", text);
    if (t->placings.all && t->placings.total > t->placings.n)
        printf("      %d of %.15g placements of the inputs, at random\n", v->tried,
               t->placings.total);
    else if (t->placings.all)
        printf("      all %d placements of the inputs\n", v->tried);
    if (!v->fault) {
        if (t->ref->n_out > 1)
            snprintf(outputs, sizeof outputs, " of %d outputs", t->ref->n_out);
        printf("      %d rank%s, %" PRId64 " elements%s compared, %s; %s\n", t->book.n_ranks,
               t->book.n_ranks == 1 ? "" : "s", v->compared, outputs,
               v->inexact ? "equal within 8 eps" : "equal",
               tsr_op_is_composed(t->p->op) ? "a composite op, so there is no plan to compare with"
                                            : "output as planned");
        return;
    }
    if (t->placings.all && op_placing(&t->placings, v->placing, specs))
        printf("      %d fail, first %s\n", v->failed,
               op_problem_call_text(t->p, specs, call, sizeof call));
    printf("      %s\n", why);
}

static int print(const task *t, bool as_json)
{
    verdict v = summary(t);
    char text[OP_TEXT], why[3 * TSR_TEXT_LEN] = "";

    op_problem_text(t->p, text, sizeof text);
    if (v.fault)
        fault_text(t, &v, why, sizeof why);
    if (!as_json) {
        print_text(t, &v, text, why);
        return v.fault ? CLI_FAILED : CLI_OK;
    }
    return verify_print_json(text, !v.fault, t->book.n_ranks,
                             json_pack("{s:i, s:i, s:f, s:I, s:b, s:s}", "ways", v.tried, "failed",
                                       v.failed, "ways_total", t->placings.total, "compared",
                                       (json_int_t)v.compared, "exact", !v.inexact, "why", why));
}

static int run(const cli_args *args, task *t)
{
    char call[OP_TEXT];
    tsr_spec specs[TSR_OP_INPUTS];
    tsr_error err = {0};

    if (problem_run(&t->p->set, t->p->set.world, job, t, &err) != TSR_OK) {
        if (t->placings.all && op_placing(&t->placings, t->placing, specs))
            cli_failed("in %s:", op_problem_call_text(t->p, specs, call, sizeof call));
        return cli_error(&err);
    }
    cli_progress(NULL);
    if (cli_speaks())
        return print(t, cli_option_of(args, "json") != NULL);
    return t->book.failed ? CLI_FAILED : CLI_OK;
}

static int verify(const cli_args *args, const op_problem *p)
{
    bool all = cli_option_of(args, "all-placements") != NULL;
    op_reference ref;
    task t = {.p = p,
              .ref = &ref,
              .placings = op_placings_of(p, all ? OP_PLACE_STRIDED : OP_PLACE_AS_GIVEN)};
    int status;

    if (verify_spoil_rank(args, problem_ranks(&p->set), &t.spoil) != CLI_OK)
        return CLI_USAGE;
    if (cli_elsewhere(args, p->set.world, problem_ranks(&p->set), &status))
        return status;
    status = op_reference_make(p, all, &ref);
    if (status == CLI_OK)
        status = verify_book_open(&t.book, problem_ranks(&p->set), sizeof(verdict));
    if (status == CLI_OK)
        status = run(args, &t);
    free(t.book.verdicts);
    op_reference_free(&ref);
    return status;
}

int cli_verify_op(const cli_args *args)
{
    op_problem *p = malloc(sizeof *p);
    int status = p ? op_problem_read("verify", false, args->text, p) : cli_failed("out of memory");

    if (status == CLI_OK)
        status = cli_world_resolve(&p->set.world) ? verify(args, p) : CLI_USAGE;
    free(p);
    return status;
}
