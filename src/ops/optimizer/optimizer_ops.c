/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_ops.c - rows of optimizers: one step of a parameter and its states, all overwritten in
   one pass. Elements are treated alike, so any dim shards; partial inputs pass where a step is
   linear in them, or grows or shrinks with them. With w whole and its states in parts the search
   finds by itself what is called ZeRO: the gradient is reduced to parts, which are updated, and w
   is gathered. */
#include "ops/optimizer/optimizer_step.h"
#include "kernel/kinds.h"
#include "ops/optimizer/optimizer_ops.h"
#include "op/infer.h"

#include "base/reduce.h"

#include <math.h>

/* ---- shapes ---- */

static int states_of(const tsr_schema *s)
{
    return s->op->inplace - 1;
}

/* Of the dtype and shape of w; with halves f32 will do too. */
static tsr_status check_like_w(const tsr_schema *s, int k, tsr_error *err)
{
    const tsr_spec *w = &s->in[0], *x = &s->in[k];
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];

    if (!tsr_shape_equal(&x->shape, &w->shape))
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: input %d, %s, does not have the shape of w, %s",
                         s->op->name, k, tsr_spec_text(x, a, sizeof a),
                         tsr_spec_text(w, b, sizeof b));
    if (x->dtype != w->dtype && !(tsr__dtype_is_half(w->dtype) && x->dtype == TSR_F32))
        return tsr__fail(err, TSR_ERR_DTYPE, "%s: input %d is %s, but w is %s%s", s->op->name, k,
                         tsr_dtype_name(x->dtype), tsr_dtype_name(w->dtype),
                         tsr__dtype_is_half(w->dtype) ? " (f32 is also allowed)" : "");
    return TSR_OK;
}

/* An attribute that must be at least `least`, and less than 1 if `below` says so: all that planning
   may know of a number. */
static tsr_status check_number(const tsr_schema *s, const char *name, int least, bool below,
                               tsr_error *err)
{
    const double x = tsr_schema_attr(s, name)->f;

    if (x >= least && (!below || x < 1))
        return TSR_OK;
    if (below)
        return tsr__fail(err, TSR_ERR_ARG, "%s: %s is %g, must be in [%d, 1)", s->op->name, name, x,
                         least);
    return tsr__fail(err, TSR_ERR_ARG, "%s: %s is %g, it must be at least %d", s->op->name, name, x,
                     least);
}

static tsr_status check_adam(const tsr_schema *s, tsr_error *err)
{
    const double step = tsr_schema_attr(s, "step")->f;
    tsr_status st;

    TSR_TRY(check_number(s, "beta1", 0, true, err));
    TSR_TRY(check_number(s, "beta2", 0, true, err));
    TSR_TRY(check_number(s, "eps", 0, false, err));
    TSR_TRY(check_number(s, "step", 1, false, err));
    if (step != rint(step))
        TSR_TRY(tsr__fail(err, TSR_ERR_ARG, "%s: step is %g, must be a positive integer",
                          s->op->name, step));
done:
    return st;
}

static tsr_status check_momentum(const tsr_schema *s, tsr_error *err)
{
    const double momentum = tsr_schema_attr(s, "momentum")->f;
    const double dampening = tsr_schema_attr(s, "dampening")->f;
    tsr_status st;

    TSR_TRY(check_number(s, "momentum", 0, false, err));
    if (!(dampening <= 1))
        TSR_TRY(tsr__fail(err, TSR_ERR_ARG, "%s: dampening is %g, it must be at most 1",
                          s->op->name, dampening));
    if (tsr_schema_attr(s, "nesterov")->i[0] && (momentum == 0 || dampening != 0))
        TSR_TRY(tsr__fail(err, TSR_ERR_ARG,
                          "%s: nesterov needs momentum and no dampening, they are %g and %g",
                          s->op->name, momentum, dampening));
done:
    return st;
}

static tsr_status step_shape(tsr_schema *s, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    for (int k = 1; k < s->n_in; k++)
        TSR_TRY(check_like_w(s, k, err));
    TSR_TRY(check_number(s, "lr", 0, false, err));
    TSR_TRY(check_number(s, "decay", 0, false, err));
    if (s->op->kind == TSR_OPTIMIZER_ADAM)
        TSR_TRY(check_adam(s, err));
    if (s->op->kind == TSR_OPTIMIZER_SGD_MOMENTUM)
        TSR_TRY(check_momentum(s, err));
    if (s->op->kind == TSR_OPTIMIZER_ADAGRAD)
        TSR_TRY(check_number(s, "eps", 0, false, err));
    s->n_out = s->op->inplace;
    for (int k = 0; k < s->n_out; k++) {
        s->out_shape[k] = s->in[k].shape;
        s->out_dtype[k] = s->in[k].dtype;
    }
done:
    return st;
}

/* ---- partial inputs ---- */

enum { MOMENT = 1 };            /* the first state */
enum { SAME = 2, UNKNOWN = 3 }; /* besides 1: grows, -1: shrinks; SAME: does not depend on it */

/* How outputs go with the inputs in which they are linear, others as they are. */
typedef struct dependence {
    unsigned linear;                   /* inputs in which all outputs are linear together */
    int sign[TSR_MAX_IN][TSR_MAX_OUT]; /* [input][output], of linear inputs */
} dependence;

/* w' grows with w if 1 - lr decay is not negative: if both are at most 1 planning knows that. */
static int sign_of_w(const tsr_schema *s, bool decays)
{
    return !decays || (tsr_schema_attr(s, "lr")->f <= 1 && tsr_schema_attr(s, "decay")->f <= 1)
               ? 1
               : UNKNOWN;
}

static dependence depends(const tsr_schema *s)
{
    const bool decays = tsr_schema_attr(s, "decay")->f > 0;
    const int grad = s->n_in - 1;
    dependence d = {0};

    d.sign[0][0] = sign_of_w(s, decays);
    for (int k = 1; k < s->n_out; k++)
        d.sign[0][k] = SAME;
    switch (s->op->kind) {
    case TSR_OPTIMIZER_SGD:
        d.linear = 3;
        d.sign[grad][0] = -1;
        break;
    case TSR_OPTIMIZER_SGD_MOMENTUM: /* m' grows with m and g, and w' shrinks with m' */
        d.linear = 7;
        if (decays) {
            d.sign[0][MOMENT] = 1;
            if (tsr_schema_attr(s, "nesterov")->i[0]) /* decays by lr decay (1 + momentum) */
                d.sign[0][0] = UNKNOWN;
        }
        d.sign[MOMENT][0] = d.sign[grad][0] = -1;
        d.sign[MOMENT][MOMENT] = d.sign[grad][MOMENT] = 1;
        break;
    case TSR_OPTIMIZER_ADAM:
        d.linear = 1u << MOMENT;
        if (!decays || tsr_schema_attr(s, "decoupled")->i[0])
            d.linear |= 1;
        d.sign[MOMENT][0] = -1;
        d.sign[MOMENT][MOMENT] = 1;
        d.sign[MOMENT][2] = SAME;
        break;
    default: /* adagrad: squares */ d.linear = decays ? 0 : 1;
    }
    return d;
}

static tsr_status add_rule(const tsr_schema *s, const tsr_rule *rule, tsr_rules *out,
                           tsr_error *err)
{
    for (int k = 0; k < s->n_in; k++)
        if (rule->in[k].place.kind == TSR_PARTIAL &&
            tsr__reduce_check(s->in[k].dtype, rule->in[k].place.reduce, NULL) != TSR_OK)
            return TSR_OK;
    return tsr_rule_add(out, rule, err);
}

/* Averages of any inputs in which it is linear, the others being the same everywhere. */
static tsr_status pass_averages(const tsr_schema *s, const dependence *d, tsr_rules *out,
                                tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (unsigned which = 1; which < 1u << s->n_in; which++) {
        tsr_rule rule = {0};

        if (which & ~d->linear)
            continue;
        for (int k = 0; k < s->n_in; k++) {
            if (!(which >> k & 1))
                continue;
            rule.in[k] = tsr_rule_partial(TSR_AVG);
            for (int i = 0; i < s->n_out; i++)
                if (d->sign[k][i] != SAME)
                    rule.out[i] = tsr_rule_partial(TSR_AVG);
        }
        TSR_TRY(add_rule(s, &rule, out, err));
    }
done:
    return st;
}

/* The largest or smallest of one input. */
static tsr_status pass_extremes(const tsr_schema *s, const dependence *d, int k, tsr_rules *out,
                                tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int max = 0; max < 2; max++) {
        tsr_rule rule = {0};

        rule.in[k] = tsr_rule_partial(max ? TSR_MAX : TSR_MIN);
        for (int i = 0; i < s->n_out; i++) {
            const int sign = d->sign[k][i];

            if (sign == UNKNOWN)
                return TSR_OK;
            if (sign != SAME)
                rule.out[i] = tsr_rule_partial((max != 0) == (sign > 0) ? TSR_MAX : TSR_MIN);
        }
        TSR_TRY(add_rule(s, &rule, out, err));
    }
done:
    return st;
}

static tsr_status step_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    static const char *const axes[] = {"...,...->...", "...,...,...->...,...",
                                       "...,...,...,...->...,...,..."};
    const dependence d = depends(s);
    tsr_status st;

    TSR_TRY(tsr__axes_rules(s, axes[states_of(s)], out, err));
    if (d.linear == (1u << s->n_in) - 1) { /* and nothing else is added: sums pass too */
        tsr_rule rule = {0};

        for (int k = 0; k < s->n_in; k++)
            rule.in[k] = tsr_rule_partial(TSR_SUM);
        for (int k = 0; k < s->n_out; k++)
            rule.out[k] = tsr_rule_partial(TSR_SUM);
        TSR_TRY(add_rule(s, &rule, out, err));
    }
    TSR_TRY(pass_averages(s, &d, out, err));
    for (int k = 0; k < s->n_in; k++)
        if (d.linear >> k & 1)
            TSR_TRY(pass_extremes(s, &d, k, out, err));
done:
    return st;
}

/* ---- rows ---- */

static const char *const sgd_cases[] = {
    "f64[4,6] f64[4,6] lr=0.5",
    "f64[5,3] f64[5,3] lr=0.5",
    "f64[8] f64[8] lr=0.5 decay=0.25",
    "f64[7] f64[7] lr=0.5 decay=0.25",
    NULL,
};
static const char *const momentum_cases[] = {
    "f64[4,2] f64[4,2] f64[4,2] lr=0.5 momentum=0.75",
    "f64[5,3] f64[5,3] f64[5,3] lr=0.5 momentum=0.75",
    "f64[4] f64[4] f64[4] lr=0.5 momentum=0.5 dampening=0.25 decay=0.5",
    "f64[5] f64[5] f64[5] lr=0.5 momentum=0.5 dampening=0.25 decay=0.5",
    "f64[4] f64[4] f64[4] lr=0.5 momentum=0.5 nesterov=true",
    "f64[5] f64[5] f64[5] lr=0.5 momentum=0.5 nesterov=true",
    NULL,
};
static const char *const adam_cases[] = {
    "f64[4] f64[4] f64[4]+ f64[4] lr=0.5 beta1=0.5 beta2=0.75 eps=0.25 step=3",
    "f64[5] f64[5] f64[5]+ f64[5] lr=0.5 beta1=0.5 beta2=0.75 eps=0.25 step=3",
    "f64[4] f64[4] f64[4]+ f64[4] lr=0.5 decay=0.5",
    "f64[5] f64[5] f64[5]+ f64[5] lr=0.5 decay=0.5",
    "f64[4,2] f64[4,2] f64[4,2]+ f64[4,2] lr=0.5 decay=0.5 decoupled=true",
    "f64[5,3] f64[5,3] f64[5,3]+ f64[5,3] lr=0.5 decay=0.5 decoupled=true",
    NULL,
};
static const char *const adagrad_cases[] = {
    "f64[4,2] f64[4,2]+ f64[4,2] lr=0.5",
    "f64[5,3] f64[5,3]+ f64[5,3] lr=0.5",
    "f64[4] f64[4]+ f64[4] lr=0.5 eps=0.5 decay=0.25",
    "f64[5] f64[5]+ f64[5] lr=0.5 eps=0.5 decay=0.25",
    NULL,
};

/* What rows have in common. */
#define STEP .rule = step_rule, .shape = step_shape, .kernel = tsr__kernel_optimizer_step

const tsr_op tsr__ops_optimizer[] = {
    {STEP, .name = "sgd_step", .inputs = "w,grad", .attrs = "lr:number=0.001,decay:number=0",
     .doc = "Performs one SGD step in place: w -= lr (grad + decay w).", .kind = TSR_OPTIMIZER_SGD,
     .inplace = 1, .cases = sgd_cases},
    {STEP, .name = "sgd_momentum_step", .inputs = "w,m,grad",
     .attrs = "lr:number=0.001,momentum:number=0,dampening:number=0,nesterov:bool=false,"
              "decay:number=0",
     .doc =
         "Performs one SGD step with momentum in place, with g = grad + decay w: m = momentum m + "
         "(1 - dampening) g, then w -= lr m, or w -= lr (g + momentum m) with nesterov.",
     .kind = TSR_OPTIMIZER_SGD_MOMENTUM, .inplace = 2, .cases = momentum_cases},
    {STEP, .name = "adam_step", .inputs = "w,m,v,grad",
     .attrs = "lr:number=0.001,beta1:number=0.9,beta2:number=0.999,eps:number=1e-8,"
              "decay:number=0,decoupled:bool=false,step:number=1",
     .doc =
         "Performs one Adam step in place, AdamW if decoupled, on w and the moving averages m of "
         "the gradient and v of its square. step counts from 1.",
     .kind = TSR_OPTIMIZER_ADAM, .inplace = 3, .cases = adam_cases},
    {STEP, .name = "adagrad_step", .inputs = "w,sum,grad",
     .attrs = "lr:number=0.01,eps:number=1e-10,decay:number=0",
     .doc =
         "Performs one Adagrad step in place, with g = grad + decay w: sum += g g, then w -= lr g "
         "/ (sqrt(sum) + eps).",
     .kind = TSR_OPTIMIZER_ADAGRAD, .inplace = 2, .cases = adagrad_cases},
    {0},
};
