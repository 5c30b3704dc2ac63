/* SPDX-License-Identifier: Apache-2.0 */
/* test_validate_outputs.c - the validator on ops with several outputs, some of them switched off,
   with indices and offsets as inputs, and on those that move data themselves: right rows are
   without flaws, and what is planted is found. */
#include "support/test.h"
#include "op/op_case.h"
#include "support/sample_rows.h"
#include "validate/trial.h"
#include "validate/validate.h"

static tsr_validation validate(const tsr_op *op)
{
    tsr_validation v = {0};
    tsr_error err = {0};

    if (tsr_validate(op, &v, &err) != TSR_OK)
        fail_msg("%s: %s", op->name, err.text);
    return v;
}

static void print_flaws(const tsr_validation *v)
{
    for (int k = 0; k < v->n_flaws; k++)
        fprintf(stderr, "%s\n  %s\n", v->flaw[k].text, v->flaw[k].line);
}

static void expect_none(const tsr_op *op)
{
    tsr_validation v = validate(op);

    print_flaws(&v);
    assert_int_equal(v.n_flaws, 0);
    assert_true(v.runs > 0 && v.runs_only == (op->kernel == NULL));
}

static const tsr_flaw *find(const tsr_validation *v, tsr_flaw_kind kind, const char *text)
{
    for (int k = 0; k < v->n_flaws; k++)
        if (v->flaw[k].kind == kind && strstr(v->flaw[k].text, text))
            return &v->flaw[k];
    print_flaws(v);
    fail_msg("no flaw of kind %d says \"%s\"", (int)kind, text);
    return NULL;
}

/* ---- ranges in cases ---- */

static tsr_status any_shape(tsr_schema *s, tsr_error *err)
{
    (void)err;
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = s->in[0].shape;
    return TSR_OK;
}

static void ranges_are_read(void **state)
{
    static const struct {
        const char *text, *error;
    } bad[] = {{"f64[4] i64[7]<", "no limit"},
               {"f64[4] i64[7]<x", "no limit"},
               {"f64[4] i64[7]<0", "no limit"},
               {"f64[4] i64[7]<=8", "no attribute"},
               {"f64[4] i64[7]<9x", "no limit"},
               {"f64[4] i64[7]/-1", "no limit"},
               {"f64[4]<3 i64[7]", "i32 and i64"},
               {"f64[4] i64[2,2]/4", "one dim"},
               {"f64[4] i64[7]<9/2", "no limit"},
               {"f64[4] i64[7]<99999999999", "no limit"},
               {"f64[4] i64[7]@[R]<9", "unexpected text"},
               {"f64[4] i64[7]+", "positive"},
               {"f64[4]+1 i64[7]", "positive"}};
    const tsr_mesh_shape mesh = tsr__case_mesh(2);
    const tsr_op op = {.size = sizeof(tsr_op),
                       .name = "any",
                       .inputs = "a,b,c?",
                       .doc = "any",
                       .shape = any_shape};
    const char *text = "f64[4]+ i64[7]<10 i32[4]/12";
    char line[TSR_TEXT_LEN];
    tsr_schema s;
    (void)state;

    assert_int_equal(tsr__case_read(&op, text, &mesh, &s, NULL), TSR_OK);
    assert_int_equal(s.n_in, 3);
    assert_int_equal(tsr__case_range(text, 0).kind, TSR_RANGE_POSITIVE);
    assert_int_equal(tsr__case_range("f64[4]", 0).kind, TSR_RANGE_NONE);
    assert_int_equal(tsr__case_range(text, 1).kind, TSR_RANGE_BELOW);
    assert_int_equal(tsr__case_range(text, 1).limit, 10);
    assert_int_equal(tsr__case_range(text, 2).kind, TSR_RANGE_OFFSETS);
    assert_int_equal(tsr__case_range(text, 2).limit, 12);
    s.in[1].place[0] = (tsr_placement){.kind = TSR_SHARD};
    assert_string_equal(tsr__case_line(&s, text, "torch", line, sizeof line),
                        "tessera verify \"any f64[4]+@[R] i64[7]<10@[S(0)] i32[4]/12@[R] mesh=2 "
                        "world=thread cost=torch\"");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tsr_error err = {0};
        assert_int_not_equal(tsr__case_read(&op, bad[i].text, &mesh, &s, &err), TSR_OK);
        if (!strstr(err.text, bad[i].error))
            fail_msg("%s: %s", bad[i].text, err.text);
    }
}

static int64_t reduce_two(tsr_reduce reduce, int64_t a, int64_t b)
{
    switch (reduce) {
    case TSR_MIN: return a < b ? a : b;
    case TSR_MAX: return a > b ? a : b;
    case TSR_PROD: return a * b;
    default: return a + b;
    }
}

/* Terms of partial indices and offsets make up the value, and each is a right input by itself. */
static void terms_stay_in_range(void **state)
{
    static const tsr_reduce reduce[] = {TSR_SUM, TSR_MIN, TSR_MAX, TSR_PROD};
    static const tsr_range ranges[] = {{TSR_RANGE_BELOW, 10},
                                       {TSR_RANGE_BELOW, 1},
                                       {TSR_RANGE_OFFSETS, 12},
                                       {TSR_RANGE_OFFSETS, 0}};
    (void)state;

    for (int r = 0; r < 4; r++)
        for (int ranks = 1; ranks <= 4; ranks++)
            for (int op = 0; op < 4; op++)
                for (uint64_t seed = 0; seed < 20; seed++) {
                    bool sorted = ranges[r].kind == TSR_RANGE_OFFSETS;
                    tsr_spec spec = {.dtype = TSR_I64, .mesh = tsr__case_mesh(ranks)};
                    int64_t before[4] = {0};
                    spec.place[0] = (tsr_placement){.kind = TSR_PARTIAL, .reduce = reduce[op]};
                    for (int64_t i = 0; i < 9; i++) {
                        int64_t sum = 0;
                        for (int c = 0; c < ranks; c++) {
                            int64_t x = tsr__range_term(&ranges[r], &spec, seed, &c, i);
                            assert_true(x >= 0 && x <= ranges[r].limit - !sorted);
                            assert_true(!sorted || (x >= before[c] && (i > 0 || x == 0)));
                            before[c] = x;
                            sum = c == 0 ? x : reduce_two(reduce[op], sum, x);
                        }
                        assert_int_equal(sum, tsr__range_value(&ranges[r], seed, i));
                    }
                }
}

/* ---- two outputs ---- */

static tsr_status pair_sums_forgotten(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    return sample_pair_rules(s, out, (tsr_rule_placement){0}, true, err);
}

static tsr_status pair_without_columns(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    return sample_pair_rules(s, out, tsr_rule_partial(TSR_SUM), false, err);
}

static void two_outputs(void **state)
{
    tsr_op op = sample_pair;
    tsr_validation v;
    (void)state;

    expect_none(&op);
    op.rule = pair_sums_forgotten;
    v = validate(&op);
    find(&v, TSR_FLAW_UNSOUND,
         "pair: rule S(0) -> S(0),R does not hold for f64[4,6] on 2 ranks: "
         "output 1: element [0] is ");
    find(&v, TSR_FLAW_UNSOUND, "rule S(0),S(0) -> S(0),R does not hold");
    op.rule = pair_without_columns;
    v = validate(&op);
    find(&v, TSR_FLAW_MISSING, "pair: S(1) -> S(1),S(0) holds for calls like f64[4,6], but");
    find(&v, TSR_FLAW_MISSING, "pair: S(1) -> S(1) holds for calls like f64[4,6] sums=false, but");
    find(&v, TSR_FLAW_MISSING, "S(1),S(1) -> S(1),- holds"); /* too many tuples: one by one */
    find(&v, TSR_FLAW_MISSING, "S(1),S(1) -> -,S(0) holds");
    assert_int_equal(v.unsound + v.wrong, 0);
}

static void wrong_sums_when_fast(const tsr_kernel_call *call)
{
    sample_pair.kernel(call);
    if (!call->reference && call->out[1].data && call->out[1].shape.size[0] > 0)
        ((double *)call->out[1].data)[0] += 1;
}

static void second_output_wrong_when_run(void **state)
{
    tsr_op op = sample_pair;
    tsr_validation v;
    (void)state;

    op.kernel = wrong_sums_when_fast;
    v = validate(&op);
    assert_int_equal(v.unsound + v.missing, 0);
    assert_int_equal(v.wrong, 4);
    find(&v, TSR_FLAW_WRONG, "output 1: element [0] is ");
}

/* ---- rows of a table, by indices ---- */

static void lookup_without_offset(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                                  const int *coord, tsr_kernel_call *call)
{
    sample_lookup.bind_rank(s, in, out, coord, call);
    call->number[0] = 0;
}

static void rows_by_index(void **state)
{
    tsr_op op = sample_lookup;
    tsr_validation v;
    const tsr_flaw *flaw;
    (void)state;

    expect_none(&op);
    op.bind_rank = lookup_without_offset;
    v = validate(&op);
    flaw = find(&v, TSR_FLAW_UNSOUND,
                "lookup: rule S(0),R -> P(sum),R does not hold for f64[10,4] i64[7]<10 on 2 ranks: "
                "output 0: element ");
    assert_string_equal(flaw->line, "tessera verify \"lookup f64[10,4]@[S(0)] i64[7]<10@[R] mesh=2 "
                                    "world=thread cost=torch\"");
    assert_int_equal(v.unsound, 1);
}

/* An index of the second output where there is none is seen too. */
static void index_out_of_range(void **state)
{
    static const char *const cases[] = {"f64[5,3] i64[9]<6", NULL};
    tsr_op op = sample_lookup;
    tsr_validation v;
    tsr_error err = {0};
    (void)state;

    op.cases = cases;
    assert_int_equal(tsr_validate(&op, &v, &err), TSR_ERR_ARG);
    assert_string_equal(err.text, "lookup: index 5 of 5");
}

/* ---- ops that move data themselves, and composed ones ---- */

static void own_run(void **state)
{
    tsr_op op = sample_total;
    tsr_validation v;
    (void)state;

    expect_none(&op);
    op.feasible = NULL; /* all-replicate is a strategy of every op */
    v = validate(&op);
    assert_true(v.runs_only && v.rules == 0 && v.tuples == 0);
    assert_int_equal(v.wrong, 4);
    find(&v, TSR_FLAW_WRONG, "total: a run of f64[4,6] on mesh 2: element [] is ");
}

static tsr_status compose_by_ranks(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                                   tsr_tensor **out, tsr_error *err)
{
    bool one = tsr_mesh_size(tsr_tensor_mesh(in[0])) == 1;

    sample_twice.compose(in, n_in, attrs, out, err);
    if (!one)
        out[2] = in[0];
    return TSR_OK;
}

static void composed(void **state)
{
    tsr_op op = sample_twice;
    tsr_validation v;
    (void)state;

    expect_none(&op);
    op.compose = compose_by_ranks;
    v = validate(&op);
    assert_int_equal(v.wrong, 4);
    find(&v, TSR_FLAW_WRONG, "twice: a run of f64[4,6] on mesh 2x1x3: output 2: element [0,0] is ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_read), cmocka_unit_test(terms_stay_in_range),
        cmocka_unit_test(two_outputs),     cmocka_unit_test(second_output_wrong_when_run),
        cmocka_unit_test(rows_by_index),   cmocka_unit_test(index_out_of_range),
        cmocka_unit_test(own_run),         cmocka_unit_test(composed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
