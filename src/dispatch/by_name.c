/* SPDX-License-Identifier: Apache-2.0 */
/* by_name.c - ops by name and attributes by text, for tools, bindings and tests. */
#include <math.h>
#include <string.h>

#include "dispatch/dispatch.h"
#include "layout/cost.h"
#include "tessera_ext.h"

_Static_assert((int)TSR_OP_INPUTS == (int)TSR_MAX_IN, "the public limit is the internal one");

static const tsr_op *row(int i)
{
    for (const tsr_op *const *family = tsr__op_families(); *family; family++)
        for (const tsr_op *op = *family; op->name; op++)
            if (i-- == 0)
                return op;
    return NULL;
}

int tsr_op_count(void)
{
    int n = 0;
    while (row(n))
        n++;
    return n;
}

tsr_op_info tsr_op_row(int i)
{
    const tsr_op *op = row(i);
    return (tsr_op_info){op->name, op->inputs, op->attrs ? op->attrs : "", op->doc,
                         op->axes ? op->axes : ""};
}

static tsr_status find(const char *name, const char *const *attrs, int n_attrs, const tsr_op **op,
                       tsr_attrs *values, tsr_error *err)
{
    tsr_status st;

    *op = name ? tsr__op_find(name) : NULL;
    if (!*op)
        return tsr__fail(err, TSR_ERR_ARG, "there is no op \"%s\"", name ? name : "");
    TSR_TRY(tsr__attrs_default(*op, values, err));
    for (int i = 0; i < n_attrs; i++)
        TSR_TRY(tsr__attr_parse(*op, attrs[i], strlen(attrs[i]), values, err));
done:
    return st;
}

static tsr_status too_many(const tsr_op *op, int n, tsr_error *err)
{
    return tsr__fail(err, TSR_ERR_ARG, "%s: takes inputs %s, but %d were given", op->name,
                     op->inputs, n);
}

tsr_tensor *tsr_op_run(tsr_mesh *mesh, const char *name, tsr_tensor *const *in, int n_in,
                       const char *const *attrs, int n_attrs)
{
    tsr_ctx *ctx = mesh->ctx;
    tsr_op_call call = {0};
    tsr_status st;

    TSR_TRY(find(name, attrs, n_attrs, &call.op, &call.attrs, &ctx->error));
    call.n_in = tsr__op_takes_list(call.op) ? n_in : tsr__op_inputs(call.op);
    if (n_in < 0 || n_in > call.n_in || n_in > TSR_MAX_IN)
        TSR_TRY(too_many(call.op, n_in, &ctx->error));
    for (int k = 0; k < n_in; k++)
        call.in[k] = in[k];
    if (!call.in[0])
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG, "%s: its first input is NULL", name));
    return tsr__dispatch(&call);
done:
    return tsr__tensor_or_error(ctx, st, NULL);
}

static tsr_status make_schema(const char *name, const tsr_spec *in, int n_in,
                              const char *const *attrs, int n_attrs, tsr_schema *s, tsr_error *err)
{
    tsr_status st;

    memset(s, 0, sizeof *s);
    TSR_TRY(find(name, attrs, n_attrs, &s->op, &s->attrs, err));
    if (n_in < 1 || n_in > TSR_MAX_IN)
        TSR_TRY(too_many(s->op, n_in, err));
    s->n_in = n_in;
    for (int k = 0; k < n_in; k++)
        s->in[k] = in[k];
    TSR_TRY(tsr__schema_check(s, err));
done:
    return st;
}

tsr_status tsr_op_plan(const char *name, const tsr_spec *in, int n_in, const char *const *attrs,
                       int n_attrs, const tsr_cost *cost, const tsr_placement *want,
                       bool exhaustive, tsr_op_way *out, tsr_error *err)
{
    tsr_cost usual = tsr__cost_default();
    tsr_heap heap = {0};
    tsr_rules rules = {.heap = &heap};
    tsr_schema schema;
    tsr_strategy best;
    tsr_question q = {
        .schema = &schema, .rules = &rules, .cost = cost ? cost : &usual, .want = want};
    tsr_status st;

    TSR_TRY(make_schema(name, in, n_in, attrs, n_attrs, &schema, err));
    TSR_TRY(tsr__rules_make(&schema, &rules, err));
    TSR_TRY((exhaustive ? tsr__strategy_enumerate : tsr__strategy_search)(&heap, &q, &best, err));
    memset(out, 0, sizeof *out);
    for (int k = 0; k < schema.n_in; k++)
        out->in[k] = best.in[k];
    out->out = best.out[0];
    out->inputs = best.inputs.seconds;
    out->pending = best.pending.seconds;
    out->seconds = best.price.seconds;
done:
    tsr__rules_free(&rules);
    return st;
}

tsr_status tsr_op_rules(const char *name, const tsr_spec *in, int n_in, const char *const *attrs,
                        int n_attrs, tsr_placement (*ins)[TSR_OP_INPUTS], tsr_placement *outs,
                        int cap, int *n, tsr_error *err)
{
    tsr_heap heap = {0};
    tsr_rules rules = {.heap = &heap};
    tsr_schema schema;
    tsr_status st;

    TSR_TRY(make_schema(name, in, n_in, attrs, n_attrs, &schema, err));
    TSR_TRY(tsr__rules_make(&schema, &rules, err));
    for (int i = 0; i < rules.n && i < cap; i++) {
        for (int k = 0; k < schema.n_in; k++)
            ins[i][k] = rules.rule[i].in[k].place;
        outs[i] = rules.rule[i].out[0].place;
    }
    *n = rules.n;
done:
    tsr__rules_free(&rules);
    return st;
}
