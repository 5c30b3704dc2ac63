/* SPDX-License-Identifier: Apache-2.0 */
/* row_check.c - does a row contradict itself? All that can be seen without data: texts, which
   functions are there, and its rules on its own cases. Called when an op is registered, and before
   it is validated. Whether its rules are right is validate's business. */
#include <string.h>

#include "base/text.h"
#include "op/linear.h"
#include "op/expr.h"
#include "op/op_case.h"
#include "op/schema.h"

/* A name of letters, digits and _, from a letter on. */
static size_t name_length(const char *p)
{
    size_t n = 0;

    while (tsr__is_lower(p[n]) || (n > 0 && (tsr__is_digit(p[n]) || p[n] == '_')))
        n++;
    return n;
}

static tsr_status check_inputs(const tsr_op *op, tsr_error *err)
{
    int n = 0;

    for (const char *p = op->inputs ? op->inputs : ""; n == 0 || *p; n++) {
        size_t length = name_length(p);
        p += length;
        if (*p == '?' || *p == '*')
            p++;
        if (length == 0 || (*p && *p != ',') || (p[-1] == '*' && (*p || n > 0)) ||
            (*p == ',' && !p[1]))
            return tsr__fail(err, TSR_ERR_ARG,
                             "%s: inputs \"%s\" are not a list such as a,b,bias? or x*", op->name,
                             op->inputs ? op->inputs : "");
        p += *p == ',';
    }
    if (n > TSR_MAX_IN)
        return tsr__fail(err, TSR_ERR_ARG, "%s: %d inputs, at most %d are supported", op->name, n,
                         TSR_MAX_IN);
    return TSR_OK;
}

static tsr_status check_functions(const tsr_op *op, tsr_error *err)
{
    int ways = (op->axes != NULL) + (op->rule != NULL) + (op->strategies != NULL) +
               (op->propagate != NULL);
    bool computes = op->kernel || op->run, composed = tsr_op_is_composed(op);

    if (!op->doc || !op->doc[0])
        return tsr__fail(err, TSR_ERR_ARG, "%s: its row has no doc", op->name);
    if (ways > 1)
        return tsr__fail(err, TSR_ERR_ARG,
                         "%s: its row says in %d ways how it shards, at most one of axes, rule, "
                         "strategies and propagate is allowed",
                         op->name, ways);
    if (computes == composed || (op->compose && op->expr))
        return tsr__fail(err, TSR_ERR_ARG,
                         "%s: a row has a kernel or a run, or is composed of other ops", op->name);
    if (op->merge && (!op->kernel || op->run))
        return tsr__fail(err, TSR_ERR_ARG, "%s: a row that merges has a kernel, and no run",
                         op->name);
    if (op->kernel && op->run && !op->comm)
        return tsr__fail(err, TSR_ERR_ARG,
                         "%s: its row has a kernel and a run, but no comm to choose by", op->name);
    if (op->axes && strchr(op->inputs, '*'))
        return tsr__fail(err, TSR_ERR_ARG, "%s: axes need a fixed number of inputs, not a list",
                         op->name);
    if (composed && (ways > 0 || op->linear || op->monotone || op->permutes))
        return tsr__fail(err, TSR_ERR_ARG, "%s: a composite op has no rules of its own", op->name);
    if (op->is_view && (!op->kernel || op->inplace || op->windows || tsr__op_inputs(op) > 1))
        return tsr__fail(err, TSR_ERR_ARG,
                         "%s: a view has a kernel and one input, and neither windows nor inplace",
                         op->name);
    for (int k = 0; k < op->inplace; k++)
        if (composed || op->inplace > TSR_MAX_OUT || k >= tsr__op_inputs(op) ||
            tsr__op_optional(op, k) || (k > 0 && tsr__op_takes_list(op)))
            return tsr__fail(err, TSR_ERR_ARG,
                             "%s: it cannot overwrite its first %d inputs, %s, in place", op->name,
                             op->inplace, op->inputs);
    if (!op->shape && !composed)
        return tsr__fail(err, TSR_ERR_ARG,
                         "%s: the shape of its output is unknown, its row has no shape function",
                         op->name);
    return TSR_OK;
}

/* An expression of other ops can be read; n_out is how many outputs it gives. */
static tsr_status check_expr(const tsr_op *op, const tsr_op_table *known, int *n_out,
                             tsr_error *err)
{
    tsr_heap heap = {0};
    tsr_expr *expr = NULL;
    tsr_status st;

    TSR_TRY(tsr__expr_read(&heap, known, op, &expr, err));
    *n_out = expr->n_out;
done:
    tsr__free(&heap, expr);
    return st;
}

/* A gradient as an expression can be read, is the only one, and names outputs that the op has, as
   far as that is known: n_out is 0 where it is not. */
static tsr_status check_grad_expr(const tsr_op *op, const tsr_op_table *known, int n_out,
                                  tsr_error *err)
{
    tsr_heap heap = {0};
    tsr_expr *expr = NULL;
    tsr_status st;

    if (op->grad || op->saves)
        return tsr__fail(err, TSR_ERR_ARG,
                         "%s: its row has grad_expr, so it has neither grad nor saves", op->name);
    TSR_TRY(tsr__expr_read_grad(&heap, known, op, &expr, err));
    if (n_out > 0 && expr->n_named > n_out)
        TSR_TRY(tsr__fail(err, TSR_ERR_ARG, "%s: grad_expr \"%.200s\" names output %d of %d",
                          op->name, op->grad_expr, expr->n_named - 1, n_out));
done:
    tsr__free(&heap, expr);
    return st;
}

/* The texts that name inputs, on a call that has all of them. */
static tsr_status check_partials(const tsr_op *op, tsr_error *err)
{
    tsr_schema s = {.op = op, .n_in = tsr__op_inputs(op), .n_out = 1};
    tsr_heap heap = {0};
    tsr_rules rules = {.heap = &heap};
    tsr_status st = tsr__partial_rules(&s, &rules, err);

    tsr__rules_free(&rules);
    return st;
}

static int ndim_of(const tsr_schema *s, int operand)
{
    if (operand < 0)
        return TSR_OUTPUT(operand) < s->n_out ? s->out_shape[TSR_OUTPUT(operand)].ndim : -1;
    return operand < s->n_in ? s->in[operand].shape.ndim : -1;
}

/* Windows are of inputs, or of outputs of a reverse halo; one per dim, and they ascend. */
static tsr_status check_windows(const tsr_schema *s, bool reverse, tsr_error *err)
{
    tsr_windows w = {0};

    s->op->windows(s, reverse, &w);
    for (int i = 0; i < w.n; i++) {
        const tsr_window *x = &w.window[i];
        const int ndim = ndim_of(s, x->operand);
        bool again = false;

        for (int k = 0; k < i; k++)
            again = again || (w.window[k].operand == x->operand && w.window[k].dim == x->dim);
        if ((x->operand < 0) != reverse || (x->circular && reverse) || again || x->mul < 0 ||
            x->div < 0 || x->dim < 0 || x->dim >= ndim_of(s, w.anchor) ||
            (ndim >= 0 && x->dim >= ndim))
            return tsr__fail(
                err, TSR_ERR_ARG,
                "%s: window %d%s is invalid: windows are of inputs, or of outputs of a reverse "
                "halo, which is not circular, one per dim that the anchor has too, and neither "
                "mul nor div is negative",
                s->op->name, i, reverse ? ", reverse," : "");
    }
    return TSR_OK;
}

/* n_out gets the largest number of outputs. */
static tsr_status check_case(const tsr_op *op, const char *text, int *n_out, tsr_error *err)
{
    const tsr_mesh_shape mesh = {.ndim = 2, .size = {2, 2}, .stride = {2, 1}};
    tsr_heap heap = {0};
    tsr_rules rules = {.heap = &heap};
    tsr_schema s;
    tsr_status st;

    TSR_TRY(tsr__case_read(op, text, &mesh, &s, err));
    for (int k = 0; k < s.n_in; k++) /* shards, so that open rules are filled */
        if (tsr__schema_has(&s, k) && s.in[k].shape.ndim > 0)
            s.in[k].place[0] = (tsr_placement){.kind = TSR_SHARD};
    *n_out = s.n_out > *n_out ? s.n_out : *n_out;
    TSR_TRY(tsr__rules_make(&s, &rules, err));
    for (int reverse = 0; reverse < 2 && op->windows; reverse++)
        TSR_TRY(check_windows(&s, reverse, err));
done:
    tsr__rules_free(&rules);
    return st;
}

tsr_status tsr__row_check(const tsr_op *op, const tsr_op_table *known, tsr_error *err)
{
    tsr_attrs attrs;
    unsigned saves_in, saves_out;
    int n_out = 0;
    tsr_status st;

    if (!op->name || !op->name[0] || op->name[name_length(op->name)])
        return tsr__fail(err, TSR_ERR_ARG,
                         "\"%s\" is not an op name: use lowercase letters, digits and _",
                         op->name ? op->name : "");
    TSR_TRY(check_inputs(op, err));
    TSR_TRY(tsr__attrs_default(op, &attrs, err));
    TSR_TRY(check_functions(op, err));
    TSR_TRY(tsr__op_saves(op, &saves_in, &saves_out, err));
    if (op->axes)
        TSR_TRY(tsr__axes_check(op, err));
    TSR_TRY(check_partials(op, err));
    if (op->expr)
        TSR_TRY(check_expr(op, known, &n_out, err));
    for (const char *const *text = op->cases; text && *text && !tsr_op_is_composed(op); text++)
        TSR_TRY(check_case(op, *text, &n_out, err));
    if (op->grad_expr)
        TSR_TRY(check_grad_expr(op, known, n_out, err));
done:
    return st;
}
