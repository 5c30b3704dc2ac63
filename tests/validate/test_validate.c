/* SPDX-License-Identifier: Apache-2.0 */
/* test_validate.c - all ops are without flaws by the validator; and it finds what is planted: rules
   that do not hold, rules left out, and a runtime that is wrong where the rules are right. */
#include "support/test.h"
#include "ops/pointwise/elementwise_reference.h"
#include "kernel/kinds.h"
#include "ops/linalg/reference.h"
#include "ops/pointwise/pointwise_ops.h"
#include "kernel/reduce_dims.h"
#include "op/op_table.h"
#include "op/infer.h"
#include "op/op_case.h"
#include "validate/validate.h"
#include "support/sampling.h"

/* ---- the table ---- */

/* The table, and some forms in place, which are not in it. */
static const tsr_op *op_at(int i)
{
    static const char *const inplace[] = {"add_inplace", "fill_inplace", "addcmul_inplace", NULL};
    const int n = tsr_op_count();

    if (i < n)
        return tsr_op_row(i);
    return inplace[i - n] ? tsr_op_find(NULL, inplace[i - n]) : NULL;
}

static void all_ops_are_right(void **state)
{
    int flaws = 0;
    (void)state;

    for (int i = 0; op_at(i); i++) {
        const char *name = op_at(i)->name;
        tsr_validation v = {0};
        tsr_error err = {0};

        if (!op_is_asked(name) || !sample_has(i, is_slow_build() ? 83 : sample_every() > 1 ? 7 : 1))
            continue;
        if (tsr_validate(op_at(i), &v, &err) != TSR_OK)
            fail_msg("%s: %s", name, err.text);
        assert_true(v.cases > 0 && v.runs > 0 && (v.runs_only || (v.rules > 1 && v.tuples > 0)));
        for (int k = 0; k < v.n_flaws; k++, flaws++)
            fprintf(stderr, "%s\n  %s\n", v.flaw[k].text, v.flaw[k].line);
        assert_int_equal(v.n_flaws, v.unsound + v.missing + v.wrong);
    }
    assert_int_equal(flaws, 0);
}

static bool has_odd_size(const tsr_schema *s)
{
    for (int k = 0; k < s->n_in; k++)
        for (int d = 0; d < s->in[k].shape.ndim; d++)
            if (s->in[k].shape.size[d] > 1 && s->in[k].shape.size[d] % 2)
                return true;
    return false;
}

/* Or a tuple that holds by chance would be called missing: for every case there is one like it
   whose sizes do not divide by 2. Of composed ops only runs are tried. */
static void cases_are_generic(void **state)
{
    const tsr_mesh_shape mesh = tsr__case_mesh(2);
    int missing = 0;
    (void)state;

    for (const tsr_family *family = tsr__op_families(); family->rows; family++)
        for (const tsr_op *op = family->rows; op->name; op++)
            for (const char *const *text = op->cases;
                 *text && !op->feasible && !tsr_op_is_composed(op); text++) {
                tsr_schema s, other;
                bool odd = false;

                assert_int_equal(tsr__case_read(op, *text, &mesh, &s, NULL), TSR_OK);
                for (const char *const *like = op->cases; *like; like++) {
                    assert_int_equal(tsr__case_read(op, *like, &mesh, &other, NULL), TSR_OK);
                    odd = odd || (tsr__case_alike(&s, &other) && has_odd_size(&other));
                }
                if (!odd)
                    fprintf(stderr, "%s: no case like %s has odd sizes\n", op->name, *text);
                missing += !odd;
            }
    assert_int_equal(missing, 0);
}

/* ---- planted flaws ---- */

static tsr_validation validate(const tsr_op *op)
{
    tsr_validation v = {0};
    tsr_error err = {0};

    if (tsr_validate(op, &v, &err) != TSR_OK)
        fail_msg("%s: %s", op->name, err.text);
    return v;
}

static const tsr_flaw *find(const tsr_validation *v, tsr_flaw_kind kind, const char *text)
{
    for (int k = 0; k < v->n_flaws; k++)
        if (v->flaw[k].kind == kind && strstr(v->flaw[k].text, text))
            return &v->flaw[k];
    for (int k = 0; k < v->n_flaws; k++)
        fprintf(stderr, "%s\n", v->flaw[k].text);
    fail_msg("no flaw of kind %d says \"%s\"", (int)kind, text);
    return NULL;
}

/* The rules of matmul and one more. */
static tsr_status matmul_and(const tsr_schema *s, tsr_rules *out, const tsr_rule *more,
                             tsr_error *err)
{
    tsr_schema real = *s;
    tsr_status st;

    real.op = tsr__op_find("matmul");
    TSR_TRY(tsr__axes_rules(&real, real.op->axes, out, err));
    TSR_TRY(tsr_rule_add(out, more, err));
done:
    return st;
}

static tsr_status both_on_m(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    return matmul_and(
        s, out,
        &(tsr_rule){.in = {tsr_rule_shard(0), tsr_rule_shard(0)}, .out = {tsr_rule_shard(0)}}, err);
}

static tsr_status sum_forgotten(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    return matmul_and(s, out, &(tsr_rule){.in = {tsr_rule_shard(1), tsr_rule_shard(0)}}, err);
}

static const char *const matrix_cases[] = {"f64[4,6] f64[6,2]", "f64[5,7] f64[7,3]", NULL};

static void matmul_with_a_wrong_rule(void **state)
{
    tsr_op op = *tsr__op_find("matmul");
    tsr_validation v;
    const tsr_flaw *flaw;
    (void)state;

    op.axes = NULL;
    op.rule = both_on_m;
    op.cases = matrix_cases;
    v = validate(&op);
    flaw = find(&v, TSR_FLAW_UNSOUND, "matmul: rule S(0),S(0) -> S(0) does not hold");
    assert_string_equal(flaw->line, "tessera verify \"matmul f64[4,6]@[S(0)] f64[6,2]@[S(0)] "
                                    "mesh=2 world=thread cost=torch\"");
    assert_int_equal(v.unsound, 3); /* and with strided shards of 2 and 3 pieces */
    assert_int_equal(v.missing, 0);
    op.rule = sum_forgotten;
    v = validate(&op);
    flaw = find(&v, TSR_FLAW_UNSOUND, "rule S(1),S(0) -> R does not hold");
    assert_non_null(strstr(flaw->text, "element [0,0] is "));
    assert_int_equal(v.runs, 0); /* rules that do not hold are not run */
}

/* Divides by the elements that this rank has. */
static void local_mean(const tsr_kernel_call *call)
{
    tsr_kernel_call local = *call;
    int64_t n = tsr_shape_count(&call->out[0].shape);

    local.number[0] = n > 0 ? tsr_shape_count(&call->in[0].shape) / n : 1;
    local.reference = true;
    tsr__kernel_reduce(&local);
}

static void mean_without_its_divisor(void **state)
{
    tsr_op op = *tsr__op_find("mean");
    tsr_validation v;
    (void)state;

    op.kernel = local_mean;
    v = validate(&op);
    find(&v, TSR_FLAW_UNSOUND, "rule S(0) -> P(sum) does not hold");
    assert_int_equal(v.missing, 0); /* the mean of means is right for equal parts only */
}

/* out[i] = x[i] + x[i+1]; nothing beyond the end */
static void window_sum(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0];
    int64_t n = tsr_shape_count(&x->shape);

    for (int64_t i = 0; i < n; i++) {
        if ((int)x->dtype == TSR__FIELD) {
            const uint64_t *in = x->data;
            ((uint64_t *)call->out[0].data)[i] =
                i + 1 < n ? tsr__field_add(in[i], in[i + 1]) : in[i];
        } else {
            const double *in = x->data;
            ((double *)call->out[0].data)[i] = i + 1 < n ? in[i] + in[i + 1] : in[i];
        }
    }
}

/* Its own, so that it is tried with the dtypes of its cases only. */
static tsr_status same_shape(tsr_schema *s, tsr_error *err)
{
    return tsr__shape_same(s, err);
}

static void window_without_halo(void **state)
{
    static const char *const cases[] = {"f64[8]", "f64[7]", NULL};
    tsr_op op = {.size = sizeof(tsr_op),
                 .name = "window",
                 .in_field = true,
                 .doc = "adds neighbours",
                 .inputs = "x",
                 .axes = "w->w",
                 .linear = "x",
                 .shape = same_shape,
                 .kernel = window_sum,
                 .cases = cases};
    tsr_validation v;
    const tsr_flaw *flaw;
    (void)state;

    v = validate(&op);
    flaw = find(&v, TSR_FLAW_UNSOUND, "rule S(0) -> S(0) does not hold for f64[8] on 2 ranks");
    assert_non_null(
        strstr(flaw->text, "element [3] is ")); /* the first one that needs a neighbour */
    op.axes = "w!->w!";
    v = validate(&op);
    assert_int_equal(v.n_flaws, 0);
}

static tsr_status shard_stays(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int d = 0; d < s->in[0].shape.ndim; d++)
        TSR_TRY(tsr_rule_add(
            out, &(tsr_rule){.in = {tsr_rule_shard(d)}, .out = {tsr_rule_shard(d)}}, err));
done:
    return st;
}

static void transpose_that_forgets_the_shard(void **state)
{
    static const char *const square[] = {"f64[4,4]", "f64[5,5]", NULL};
    tsr_op op = *tsr__op_find("transpose");
    tsr_validation v;
    (void)state;

    op.rule = shard_stays;
    for (int i = 0; i < 2; i++) {
        v = validate(&op);
        find(&v, TSR_FLAW_UNSOUND, "rule S(0) -> S(0) does not hold");
        find(&v, TSR_FLAW_UNSOUND, "rule S(1) -> S(1) does not hold");
        find(&v, TSR_FLAW_MISSING, "S(0) -> S(1) holds for calls like");
        op.cases = square; /* shapes alone would not tell */
    }
}

/* A row that claims to be linear is not taken at its word. */
static void relu_is_not_linear(void **state)
{
    tsr_op op = *tsr__op_find("relu");
    tsr_validation v;
    (void)state;

    op.linear = "x";
    v = validate(&op);
    find(&v, TSR_FLAW_UNSOUND, "rule P(sum) -> P(sum) does not hold");
    find(&v, TSR_FLAW_UNSOUND, "rule P(avg) -> P(avg) does not hold");
    assert_int_equal(v.unsound, 2);
    op = *tsr__op_find("max");
    op.monotone = "+x"; /* the largest of the smallest is not the smallest of the largest */
    v = validate(&op);
    find(&v, TSR_FLAW_UNSOUND, "rule P(min) -> P(min) does not hold");
    assert_int_equal(v.unsound, 1);
}

/* 1 - x in real numbers, -x where exact numbers are computed with. */
static void neg_but_real(const tsr_kernel_call *call)
{
    tsr__kernel_pointwise(call);
    for (int64_t i = 0; call->out[0].dtype == TSR_F64 && i < tsr_shape_count(&call->out[0].shape);
         i++)
        ((double *)call->out[0].data)[i] += 1;
}

/* A rule must hold in all domains of numbers, not only in the first. */
static void real_numbers_are_tried_too(void **state)
{
    tsr_op op = *tsr__op_find("neg");
    tsr_validation v;
    (void)state;

    assert_true(op.in_field);
    op.kernel = neg_but_real;
    v = validate(&op);
    find(&v, TSR_FLAW_UNSOUND, "neg: rule P(sum) -> P(sum) does not hold for f64");
}

/* Integers wrap around: what grows in numbers falls at the end of the range. */
static void integers_wrap_around(void **state)
{
    tsr_op op = *tsr__op_find("neg");
    tsr_validation v;
    (void)state;

    op.linear = NULL; /* so that it would be monotone in integers, too */
    v = validate(&op);
    find(&v, TSR_FLAW_UNSOUND, "neg: rule P(max) -> P(min) does not hold for i32[8] on 2 ranks");
    find(&v, TSR_FLAW_UNSOUND, "neg: rule P(min) -> P(max) does not hold for i32[8] on 2 ranks");
    op = *tsr__op_find("addcmul");
    op.linear = NULL;
    v = validate(&op);
    find(&v, TSR_FLAW_UNSOUND, "rule P(max),R,R -> P(max) does not hold for i32[4,6] i32[4,6] ");
}

/* Not only where the rule is tried alone: a run with integers that wrap around finds it too. */
static void wrong_in_integers_only(const tsr_kernel_call *call)
{
    tsr__pointwise_reference(call, TSR_POINTWISE_NEG);
    if (!call->reference && call->out[0].dtype == TSR_U8 &&
        tsr_shape_count(&call->out[0].shape) > 0 && ((uint8_t *)call->out[0].data)[0] > 100)
        ((uint8_t *)call->out[0].data)[0] = 100;
}

static void wrong_runtime_in_integers(void **state)
{
    tsr_op op = *tsr__op_find("neg");
    tsr_validation v;
    (void)state;

    op.kernel = wrong_in_integers_only;
    v = validate(&op);
    assert_int_equal(v.unsound, 0);
    find(&v, TSR_FLAW_WRONG, "neg: a run of ");
}

static tsr_status first_dim_only(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    (void)s;
    return tsr_rule_add(out, &(tsr_rule){.in = {tsr_rule_shard(0)}, .out = {tsr_rule_shard(1)}},
                        err);
}

static void rules_left_out(void **state)
{
    static const char *const flat[] = {"f64[4,6]", "f64[5,3]", NULL};
    tsr_op op = *tsr__op_find("transpose");
    tsr_validation v;
    (void)state;

    op.rule = first_dim_only;
    op.cases = flat;
    v = validate(&op);
    find(&v, TSR_FLAW_MISSING, "transpose: S(1) -> S(0) holds for calls like f64[4,6], but");
    assert_int_equal(v.missing, 1);
    op = *tsr__op_find("add");
    op.monotone = NULL;
    v = validate(&op);
    find(&v, TSR_FLAW_MISSING, "R,P(max) -> P(max)");
    assert_int_equal(v.missing, 4);
    op.linear = NULL;
    v = validate(&op);
    find(&v, TSR_FLAW_MISSING, "P(sum),P(sum) -> P(sum)");
    find(&v, TSR_FLAW_MISSING, "P(avg),P(avg) -> P(avg)");
    assert_int_equal(v.unsound + v.wrong, 0);
    op = *tsr__op_find("matmul");
    op.monotone = NULL;
    v = validate(&op);
    find(&v, TSR_FLAW_MISSING, "R,R,P(max) -> P(max)");
    assert_int_equal(v.missing, 2);
}

/* Right as a reference, wrong as what runs. */
static void wrong_when_fast(const tsr_kernel_call *call)
{
    tsr__pointwise_reference(call, TSR_POINTWISE_NEG);
    if (!call->reference && tsr_shape_count(&call->out[0].shape) > 0)
        tsr__put(call->out[0].dtype, call->out[0].data, 0, 77);
}

static void wrong_runtime(void **state)
{
    tsr_op op = *tsr__op_find("neg");
    tsr_validation v;
    const tsr_flaw *flaw;
    (void)state;

    op.kernel = wrong_when_fast;
    v = validate(&op);
    assert_int_equal(v.unsound + v.missing, 0);
    assert_int_equal(v.wrong, 4); /* one for each mesh */
    flaw = find(&v, TSR_FLAW_WRONG, "neg: a run of f64[8] on mesh 2x1x3: element [0] is ");
    assert_non_null(strstr(flaw->line, "tessera verify \"neg f64[8]@["));
}

static tsr_status grad_of_exp(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = tsr_mul(c->grad_out[0], c->out[0]);
    return TSR_OK;
}

static tsr_status twice_that(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = tsr_affine(tsr_mul(c->grad_out[0], c->out[0]), 2, 0);
    return TSR_OK;
}

static tsr_status fails(const tsr_grad_call *c)
{
    (void)c;
    return TSR_ERR_ARG;
}

static tsr_status leaves_it_out(const tsr_grad_call *c)
{
    (void)c;
    return TSR_OK;
}

/* The gradient of a program's own row is compared with finite differences. */
static void wrong_gradient(void **state)
{
    static const struct {
        tsr_status (*grad)(const tsr_grad_call *call);
        const char *text;    /* instead of a function */
        const char *says[2]; /* parts of the sentence; NULL: no flaw */
    } all[] = {{grad_of_exp, NULL, {NULL}},
               {NULL, "x: mul(g, my_exp(x))", {NULL}},
               {twice_that,
                NULL,
                {"my_exp: the gradient of input 0 in f64[8]: element 0 is ",
                 ", but by finite differences "}},
               {NULL,
                "x: mul(affine(g, mul=2), out)",
                {"my_exp: the gradient of input 0 in f64[8]: element 0 is ",
                 ", but by finite differences "}},
               {fails, NULL, {"my_exp: the gradient of f64[8] failed: ", ""}},
               {NULL,
                "x: sum(g)",
                {"my_exp: the gradient of f64[8] failed: my_exp: the gradient of input 0, ", ""}},
               {leaves_it_out, NULL, {"element 0 is 0, but by finite differences ", ""}},
               {tsr_grad_none, NULL, {NULL}}};
    tsr_op op = *tsr_op_find(NULL, "exp");
    (void)state;

    op.name = "my_exp";
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        tsr_validation v = {0};

        op.grad = all[i].grad;
        op.grad_expr = all[i].text;
        assert_int_equal(tsr_validate(&op, &v, NULL), TSR_OK);
        assert_int_equal(v.unsound + v.missing, 0);
        if (!all[i].says[0]) {
            assert_int_equal(v.wrong, 0);
            continue;
        }
        assert_int_equal(v.wrong, v.cases);
        if (!strstr(v.flaw[0].text, all[i].says[0]) || !strstr(v.flaw[0].text, all[i].says[1]))
            fail_msg("%s", v.flaw[0].text);
    }
}

static void nothing_to_validate(void **state)
{
    tsr_op op = *tsr__op_find("neg");
    tsr_validation v;
    tsr_error err = {0};
    (void)state;

    op.cases = NULL;
    assert_int_equal(tsr_validate(&op, &v, &err), TSR_ERR_ARG);
    assert_string_equal(err.text, "neg cannot be validated: its row has no cases");
    err = (tsr_error){0};
    op.cases = (const char *const[]){"f64[8] f64[8]", NULL};
    assert_int_equal(tsr_validate(&op, &v, &err), TSR_ERR_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ops_are_right),
        cmocka_unit_test(cases_are_generic),
        cmocka_unit_test(matmul_with_a_wrong_rule),
        cmocka_unit_test(mean_without_its_divisor),
        cmocka_unit_test(window_without_halo),
        cmocka_unit_test(transpose_that_forgets_the_shard),
        cmocka_unit_test(relu_is_not_linear),
        cmocka_unit_test(real_numbers_are_tried_too),
        cmocka_unit_test(integers_wrap_around),
        cmocka_unit_test(wrong_runtime_in_integers),
        cmocka_unit_test(rules_left_out),
        cmocka_unit_test(wrong_runtime),
        cmocka_unit_test(wrong_gradient),
        cmocka_unit_test(nothing_to_validate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
