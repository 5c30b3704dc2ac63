/* SPDX-License-Identifier: Apache-2.0 */
/* real_runs.c - a right rule behind a wrong runtime is still a wrong answer: calls through
   dispatch on thread ranks, gathered and compared with the reference on whole inputs; of a row that
   has no kernel, with itself on one rank. Placements are sampled; every other call has random
   costs, so that not only the cheapest strategy runs. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "dispatch/dispatch.h"
#include "op/schema.h"
#include "op/op_case.h"
#include "validate/trial.h"
#include "validate/validate.h"

enum { SAMPLES = 24 };

/* What one rank found. */
typedef struct verdict {
    int64_t runs;
    int wrong;
    char text[TSR_TEXT_LEN], line[TSR_TEXT_LEN]; /* of the first wrong one */
} verdict;

typedef struct task {
    const tsr_op *op;
    verdict verdict[TSR_TRIAL_RANKS];
} task;

static tsr_placement sample(uint64_t h, const tsr_spec *spec, int m)
{
    static const tsr_reduce reduce[] = {TSR_SUM, TSR_AVG, TSR_MAX, TSR_MIN, TSR_PROD};
    int ndim = spec->shape.ndim, k = (int)(h % (uint64_t)(ndim + 4));
    bool averages = tsr__dtype_is_float(spec->dtype);

    if (k < ndim)
        return (tsr_placement){.kind = TSR_SHARD, .dim = k};
    if ((k == ndim || spec->mesh.size[m] == 1) && ndim > 0) /* the others say no more there */
        return (tsr_placement){.kind = TSR_STRIDED,
                               .dim = (int)((h >> 20) % (uint64_t)ndim),
                               .factor = 2 + (int64_t)((h >> 30) % 2)};
    k = (int)((h >> 40) % 5);
    if (h >> 16 & 1 && spec->dtype != TSR_BOOL && (averages || reduce[k] != TSR_AVG))
        return (tsr_placement){.kind = TSR_PARTIAL, .reduce = reduce[k]};
    return tsr__replicate();
}

/* Costs of a sample as text, and set on the mesh. */
static tsr_status set_cost(tsr_mesh *mesh, int i, char text[TSR_NAME_LEN], tsr_error *err)
{
    tsr_cost cost = tsr_cost_default();
    tsr_status st;

    snprintf(text, TSR_NAME_LEN, i % 2 ? "random:%d" : "default", i);
    TSR_TRY(tsr_cost_parse(text, &cost, err));
    tsr_cost_set(mesh, &cost);
done:
    return st;
}

/* ---- on one rank ---- */

/* What a row without a kernel gives for whole inputs. */
typedef struct alone {
    tsr_trial *t;       /* its inputs, and its results; or NULL: zeros, and */
    tsr_schema *schema; /* its outputs are noted here */
} alone;

static void note_outputs(tsr_tensor *const *out, tsr_schema *s)
{
    s->n_out = 0;
    for (int k = 0; k < TSR_MAX_OUT; k++) {
        s->out_shape[k].ndim = -1;
        if (!out[k])
            continue;
        s->n_out = k + 1;
        s->out_dtype[k] = tsr_tensor_spec(out[k])->dtype;
        s->out_shape[k] = tsr_tensor_spec(out[k])->shape;
    }
}

static tsr_status alone_job(tsr_mesh *mesh, void *arg)
{
    const alone *a = arg;
    const tsr_schema *s = a->schema;
    tsr_tensor *in[TSR_MAX_IN] = {NULL}, *out[TSR_MAX_OUT];
    char text[TSR_TEXT_LEN];
    tsr_status st = TSR_OK;

    for (int k = 0; k < s->n_in; k++) {
        tsr_spec spec = {
            .dtype = s->in[k].dtype, .shape = s->in[k].shape, .mesh = *tsr_mesh_shape_get(mesh)};
        if (!tsr__schema_has(s, k))
            continue;
        tsr_spec_text(&spec, text, sizeof text);
        in[k] = a->t ? tsr_from_host(mesh, text, a->t->whole[k], tsr__spec_bytes(&spec))
                     : tsr_zeros(mesh, text);
    }
    TSR_TRY(tsr__dispatch_row(mesh->ctx, s->op, in, s->n_in, &s->attrs, out));
    if (!a->t)
        note_outputs(out, a->schema);
    for (int k = 0; k < s->n_out && a->t; k++)
        if (out[k])
            TSR_TRY(tsr_to_host(out[k], a->t->result[k],
                                (size_t)tsr_shape_count(&s->out_shape[k]) *
                                    tsr_dtype_size(s->out_dtype[k])));
done:
    return st;
}

static tsr_status run_alone(tsr_trial *t, tsr_schema *schema, tsr_error *err)
{
    alone a = {.t = t, .schema = schema};
    const tsr_run_opts opts = tsr__trial_opts("1");

    return tsr_run(&opts, alone_job, &a, err);
}

/* ---- on all ranks ---- */

/* The call on real ranks; the inputs are the trial's. The results are the scope's. */
static tsr_status run_call(tsr_trial *t, tsr_mesh *mesh, tsr_tensor **out, tsr_error *err)
{
    tsr_tensor *in[TSR_MAX_IN] = {NULL};
    char text[TSR_TEXT_LEN];
    tsr_status st = TSR_OK;

    for (int k = 0; k < t->schema.n_in; k++) {
        tsr_shape shape;
        if (!tsr__schema_has(&t->schema, k))
            continue;
        TSR_TRY(tsr__trial_part(t, k, tsr_mesh_index(mesh), &shape, err));
        in[k] = tsr_from_local(
            mesh, tsr_spec_text(&t->schema.in[k], text, sizeof text), t->part[k],
            (size_t)tsr_shape_count(&shape) * tsr_dtype_size(t->schema.in[k].dtype), &shape);
    }
    /* a failure is the mesh's, and seen there */
    tsr__dispatch_row(mesh->ctx, t->schema.op, in, t->schema.n_in, &t->schema.attrs, out);
done:
    return st;
}

/* Gather output k and compare it; `difference` stays "" if all is well. */
static void check_output(tsr_trial *t, tsr_mesh *mesh, int k, tsr_tensor *y,
                         char difference[TSR_TEXT_LEN])
{
    const tsr_schema *s = &t->schema;
    int64_t i;

    if (tsr__schema_gives(s, k) != (y != NULL)) {
        snprintf(difference, TSR_TEXT_LEN, "output %d is %s", k, y ? "there" : "missing");
        return;
    }
    if (!y)
        return;
    if (tsr_tensor_spec(y)->dtype != s->out_dtype[k]) {
        snprintf(difference, TSR_TEXT_LEN, "output %d is %s, not %s", k,
                 tsr_dtype_name(tsr_tensor_spec(y)->dtype), tsr_dtype_name(s->out_dtype[k]));
    } else if (tsr_to_host(y, t->own[k][0],
                           (size_t)tsr_shape_count(&s->out_shape[k]) *
                               tsr_dtype_size(s->out_dtype[k])) != TSR_OK) {
        snprintf(difference, TSR_TEXT_LEN, "%.400s", tsr_mesh_message(mesh));
    } else if ((i = tsr__trial_differs(t, k, t->own[k][0])) >= 0) {
        tsr__trial_element_text(t, k, t->own[k][0], i, difference, TSR_TEXT_LEN);
    }
}

static bool has_floats(const tsr_schema *s)
{
    for (int k = 0; k < s->n_in; k++)
        if (tsr__schema_has(s, k) && tsr__dtype_is_float(s->in[k].dtype))
            return true;
    return false;
}

/* One sample; `difference` is "" if all is well. */
static tsr_status run_sample(tsr_trial *t, tsr_mesh *mesh, char difference[TSR_TEXT_LEN],
                             tsr_error *err)
{
    tsr_tensor *y[TSR_MAX_OUT] = {NULL};
    tsr_status st;

    difference[0] = 0;
    TSR_TRY(tsr_scope_push(mesh));
    /* floats are small integers, so that they stay exact; integers wrap around */
    TSR_TRY(tsr__trial_fill(t, has_floats(&t->schema) ? TSR_DOMAIN_SMALL : TSR_DOMAIN_BITS, err));
    if (!t->schema.op->kernel)
        TSR_TRY(run_alone(t, &t->schema, err));
    TSR_TRY(run_call(t, mesh, y, err));
    if (tsr_mesh_status(mesh) != TSR_OK)
        snprintf(difference, TSR_TEXT_LEN, "%.400s", tsr_mesh_message(mesh));
    for (int k = 0; k < t->schema.n_out && !difference[0]; k++)
        check_output(t, mesh, k, y[k], difference);
    st = tsr_mesh_status(mesh);
    tsr_scope_pop(mesh);
done:
    return st;
}

/* Dtypes and placements of a sample: every other one has integers in place of f64, if the op takes
   them. */
static void choose(const tsr_schema *schema, uint64_t seed, int i, tsr_schema *out)
{
    uint64_t pick = tsr__hash_final(tsr__hash_mix(seed, (uint64_t)i / 2));
    tsr_dtype integer = TSR_I32;

    while (!tsr__dtype_is_integer(integer = (tsr_dtype)(pick % TSR__FIELD)))
        pick++;
    if (i % 2 == 0 || !schema->op->kernel || !tsr__refuses_dtypes(schema->op) ||
        !tsr__case_in_dtype(schema, integer, out))
        *out = *schema;
    for (int k = 0; k < out->n_in; k++)
        for (int m = 0; m < out->in[0].mesh.ndim && tsr__schema_has(out, k); m++) {
            uint64_t h = tsr__hash_mix(tsr__hash_mix(seed, (uint64_t)i), (uint64_t)(8 * k + m));
            out->in[k].place[m] = sample(tsr__hash_final(h), &out->in[k], m);
        }
}

/* All samples of a case. */
static tsr_status run_case(tsr_mesh *mesh, const tsr_op *op, const char *text, uint64_t seed,
                           verdict *out, tsr_error *err)
{
    tsr_heap heap = {0};
    tsr_trial t = {.heap = &heap};
    tsr_schema schema;
    char difference[TSR_TEXT_LEN] = "", cost[TSR_NAME_LEN], meshes[TSR_TEXT_LEN];
    tsr_status st;

    TSR_TRY(tsr__case_read(op, text, tsr_mesh_shape_get(mesh), &schema, err));
    if (!op->shape) /* composed of others */
        TSR_TRY(run_alone(NULL, &schema, err));
    TSR_TRY(tsr__trial_open(&t, &heap, &schema, text, seed, err));
    for (int i = 0; i < SAMPLES; i++) {
        choose(&schema, seed, i, &t.schema);
        TSR_TRY(set_cost(mesh, i / 2, cost, err));
        st = run_sample(&t, mesh, difference, err);
        out->runs++;
        if (difference[0] && out->wrong++ == 0) {
            tsr__case_line(&t.schema, text, cost, out->line, sizeof out->line);
            snprintf(out->text, sizeof out->text, "%s: a run of %s on mesh %s: %.300s", op->name,
                     text, tsr_mesh_text(&schema.in[0].mesh, meshes, sizeof meshes), difference);
        }
        TSR_TRY(st);
    }
done:
    tsr__trial_close(&t);
    return st;
}

/* All cases; a call that fails is a flaw, after which the mesh is left alone. */
static tsr_status run_cases(tsr_mesh *mesh, void *arg)
{
    task *all = arg;
    verdict *out = &all->verdict[tsr_mesh_rank(mesh)];
    tsr_error err = {0};

    tsr_strict_set(mesh, false); /* whatever the environment says */
    tsr_statistics_set(mesh, false);
    for (int c = 0; all->op->cases[c]; c++) {
        const char *text = all->op->cases[c];

        if (run_case(mesh, all->op, text, (uint64_t)c + 1, out, &err) == TSR_OK)
            continue;
        if (out->wrong++ == 0) /* it did not come to a call */
            snprintf(out->text, sizeof out->text, "%s: a run of %s: %.300s", all->op->name, text,
                     err.text);
        break;
    }
    return TSR_OK;
}

tsr_status tsr__check_runs(tsr_validator *v, tsr_error *err)
{
    /* with dims of size 1, along which a placement means nothing, before and behind others */
    static const char *const meshes[] = {"2", "1x3", "2x2", "2x1x3"};
    task *all = NULL;
    tsr_status st;

    TSR_TRY(tsr__alloc(v->heap, 1, sizeof *all, &all, err));
    for (size_t m = 0; m < sizeof meshes / sizeof meshes[0]; m++) {
        const verdict *first = NULL;
        const tsr_run_opts opts = tsr__trial_opts(meshes[m]);

        memset(all, 0, sizeof *all);
        all->op = v->op;
        TSR_TRY(tsr_run(&opts, run_cases, all, err));
        for (int r = TSR_TRIAL_RANKS - 1; r >= 0; r--)
            if (all->verdict[r].wrong > 0)
                first = &all->verdict[r];
        v->report->runs += all->verdict[0].runs;
        if (first)
            tsr__flaw_add(v->report, TSR_FLAW_WRONG, first->line, "%s", first->text);
    }
done:
    tsr__free(v->heap, all);
    return st;
}
