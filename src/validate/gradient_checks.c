/* SPDX-License-Identifier: Apache-2.0 */
/* gradient_checks.c - is the gradient of a program's own row right? On one rank, in f64, it is
   compared with central differences of a weighted sum of the outputs, for every case. Rows of the
   table are left to the tests, which know where they are not smooth. Called by validate.c. */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "grad/grad_row.h"
#include "op/op_case.h"
#include "op/schema.h"
#include "redist/program.h"
#include "validate/trial.h"
#include "validate/validate.h"

enum { ELEMENTS = 32 }; /* of an input, that are tried */

typedef struct tested {
    tsr_validator *v;
    const char *text; /* the case */
    tsr_trial t;      /* its inputs: t.whole */
} tested;

static bool is_float(const tsr_tensor *x)
{
    return x && tsr__dtype_is_float(x->local_spec->spec.dtype);
}

/* The gradient of element i of output k: from -1 to 1. */
static double weight(int k, int64_t i)
{
    const uint64_t h = tsr__hash_final(tsr__hash_mix((uint64_t)k + 91, (uint64_t)i));

    return (double)(h >> 11) * 0x1p-52 - 1;
}

static tsr_status run_forward(tsr_mesh *mesh, const tested *c, tsr_tensor **in, tsr_tensor **out)
{
    const tsr_schema *s = &c->t.schema;
    char text[TSR_TEXT_LEN];

    for (int k = 0; k < s->n_in; k++) {
        in[k] = NULL;
        if (tsr__schema_has(s, k))
            in[k] = tsr_from_host(mesh, tsr_spec_text(&s->in[k], text, sizeof text), c->t.whole[k],
                                  tsr__spec_bytes(&s->in[k]));
    }
    return tsr__dispatch_row(mesh->ctx, s->op, in, s->n_in, &s->attrs, out);
}

/* The weighted sum of all outputs. */
static tsr_status weigh(tsr_mesh *mesh, const tested *c, double *out)
{
    tsr_tensor *in[TSR_MAX_IN], *y[TSR_MAX_OUT];
    tsr_status st;

    TSR_TRY(tsr_scope_push(mesh));
    st = run_forward(mesh, c, in, y);
    *out = 0;
    for (int k = 0; k < TSR_MAX_OUT && st == TSR_OK; k++)
        for (int64_t i = 0; is_float(y[k]) && i < tsr_shape_count(&y[k]->local_spec->local); i++)
            *out +=
                weight(k, i) * tsr__get(y[k]->local_spec->spec.dtype, tsr__tensor_data(y[k]), i);
    tsr_scope_pop(mesh);
done:
    return st;
}

/* The gradients of all f64 inputs, by the row; they are the scope's. */
static tsr_status run_backward(tsr_mesh *mesh, const tested *c, tsr_tensor **grad)
{
    const tsr_schema *s = &c->t.schema;
    tsr_grad_lists l = {.attrs = s->attrs};
    const tsr_grad_call call = tsr__grad_call_of(s->op, &l);
    tsr_status st;

    TSR_TRY(run_forward(mesh, c, l.in, l.out));
    for (int k = 0; k < TSR_MAX_OUT; k++) {
        if (!is_float(l.out[k]))
            continue;
        l.grad_out[k] = tsr_tensor_new(mesh, &l.out[k]->local_spec->spec);
        TSR_TRY(tsr__tensor_check(mesh->ctx, l.grad_out[k], s->op->name));
        for (int64_t i = 0; i < tsr_shape_count(&l.out[k]->local_spec->local); i++)
            tsr__put(l.out[k]->local_spec->spec.dtype, tsr__tensor_data(l.grad_out[k]), i,
                     weight(k, i));
    }
    for (int k = 0; k < s->n_in; k++)
        l.wanted[k] = l.in[k] && s->in[k].dtype == TSR_F64;
    TSR_TRY(tsr__grad_row(mesh->ctx, &call));
    for (int k = 0; k < s->n_in; k++) {
        grad[k] = l.wanted[k] ? l.grad_in[k] : NULL;
        if (grad[k]) /* one rank has all of it, as a term of a sum perhaps */
            TSR_TRY(tsr__redistribute(grad[k], mesh, &s->in[k], &grad[k]));
    }
done:
    return st;
}

/* Element i of input k, whose gradient is g. */
static tsr_status check_element(tsr_mesh *mesh, tested *c, int k, int64_t i, double g,
                                double largest)
{
    double *x = (double *)c->t.whole[k] + i, was = *x, above, below, slope = 0;
    char line[TSR_TEXT_LEN];
    bool good = false;
    tsr_status st = TSR_OK;

    for (double h = 1e-5; !good && h > 1e-8; h /= 100) { /* smaller where it is steep */
        *x = was + h;
        TSR_TRY(weigh(mesh, c, &above));
        *x = was - h;
        TSR_TRY(weigh(mesh, c, &below));
        slope = (above - below) / (2 * h);
        good = fabs(slope - g) <= 1e-5 * largest || isnan(slope);
    }
    if (!good)
        tsr__flaw_add(c->v->report, TSR_FLAW_WRONG,
                      tsr__case_line(&c->t.schema, c->text, "default", line, sizeof line),
                      "%s: the gradient of input %d in %s: element %lld is %.9g, but by finite "
                      "differences %.9g",
                      c->v->op->name, k, c->text, (long long)i, g, slope);
done:
    *x = was;
    return st == TSR_OK && !good ? TSR_ERR_MISMATCH : st;
}

/* One flaw of a case is enough. */
static tsr_status check_inputs(tsr_mesh *mesh, tested *c)
{
    tsr_tensor *grad[TSR_MAX_IN] = {NULL};
    tsr_status st;

    TSR_TRY(run_backward(mesh, c, grad));
    for (int k = 0; k < c->t.schema.n_in; k++) {
        const double *g = grad[k] ? tsr__tensor_data(grad[k]) : NULL;
        const int64_t n = tsr_shape_count(&c->t.schema.in[k].shape), step = n / ELEMENTS + 1;
        double largest = 1;

        if (!tsr__schema_has(&c->t.schema, k) || c->t.schema.in[k].dtype != TSR_F64)
            continue;
        for (int64_t i = 0; g && i < n; i++)
            largest = fmax(largest, fabs(g[i]));
        for (int64_t i = 0; i < n; i += step) /* where none flows, differences must say so */
            TSR_TRY(check_element(mesh, c, k, i, g ? g[i] : 0, largest));
    }
done:
    return st;
}

static tsr_status check_case(tsr_mesh *mesh, tsr_validator *v, const char *text, uint64_t seed,
                             tsr_error *err)
{
    tested c = {.v = v, .text = text, .t = {.heap = v->heap}};
    tsr_schema schema;
    tsr_status st;

    TSR_TRY(tsr__case_read(v->op, text, tsr_mesh_shape_get(mesh), &schema, err));
    TSR_TRY(tsr__trial_open(&c.t, v->heap, &schema, text, seed, err));
    TSR_TRY(tsr__trial_fill(&c.t, TSR_DOMAIN_REALS, err));
    TSR_TRY(tsr_scope_push(mesh));
    st = check_inputs(mesh, &c);
    /* it may call ops that only the program's own job knows */
    if (st != TSR_OK && st != TSR_ERR_MISMATCH && !strstr(tsr_mesh_message(mesh), "unknown op"))
        tsr__flaw_add(v->report, TSR_FLAW_WRONG, "", "%s: the gradient of %s failed: %.300s",
                      v->op->name, text, tsr_mesh_message(mesh));
    tsr_scope_pop(mesh);
    tsr_mesh_clear_error(mesh);
    st = TSR_OK;
done:
    tsr__trial_close(&c.t);
    return st;
}

typedef struct task {
    tsr_validator *v;
    tsr_error *err;
} task;

static tsr_status check_cases(tsr_mesh *mesh, void *arg)
{
    const task *t = arg;
    tsr_status st = TSR_OK;

    tsr_strict_set(mesh, false); /* whatever the environment says */
    tsr_statistics_set(mesh, false);
    for (int i = 0; t->v->op->cases[i] && st == TSR_OK; i++)
        st = check_case(mesh, t->v, t->v->op->cases[i], (uint64_t)i + 1, t->err);
    return st;
}

tsr_status tsr__check_gradients(tsr_validator *v, tsr_error *err)
{
    const tsr_run_opts opts = tsr__trial_opts("1");
    task t = {v, err};

    if (!tsr__op_own_grad(v->op) || v->op->grad == tsr_grad_none || v->op->inplace ||
        !v->op->shape || tsr__op_find(v->op->name) == v->op)
        return TSR_OK;
    return tsr_run(&opts, check_cases, &t, err);
}
