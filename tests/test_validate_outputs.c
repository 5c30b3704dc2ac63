/* SPDX-License-Identifier: Apache-2.0 */
/* test_validate_outputs.c - the validator on ops with several outputs, some of them switched off,
   with indices and offsets as inputs, and on those that move data themselves: right rows are
   without flaws, and what is planted is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/dtype.h"
#include "layout/layout.h"
#include "op/op_case.h"
#include "tessera_ops.h"
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
    } bad[] = {{"f64[4] i64[7]<", "no limit"},     {"f64[4] i64[7]<x", "no limit"},
               {"f64[4] i64[7]<0", "no limit"},    {"f64[4] i64[7]<=8", "no attribute"},
               {"f64[4] i64[7]<9x", "no limit"},   {"f64[4] i64[7]/-1", "no limit"},
               {"f64[4]<3 i64[7]", "i32 and i64"}, {"f64[4] i64[2,2]/4", "one dim"},
               {"f64[4] i64[7]<9/2", "no limit"},  {"f64[4] i64[7]<99999999999", "no limit"},
               {"f64[4] i64[7]@[R]<9", "nothing"}};
    const tsr_mesh_shape mesh = tsr__case_mesh(2);
    const tsr_op op = {.name = "any", .inputs = "a,b,c?", .doc = "any", .shape = any_shape};
    const char *text = "f64[4] i64[7]<10 i32[4]/12";
    char line[TSR_TEXT_LEN];
    tsr_schema s;
    (void)state;

    assert_int_equal(tsr__case_read(&op, text, &mesh, &s, NULL), TSR_OK);
    assert_int_equal(s.n_in, 3);
    assert_int_equal(tsr__case_range(text, 0).kind, TSR_RANGE_NONE);
    assert_int_equal(tsr__case_range(text, 1).kind, TSR_RANGE_BELOW);
    assert_int_equal(tsr__case_range(text, 1).limit, 10);
    assert_int_equal(tsr__case_range(text, 2).kind, TSR_RANGE_OFFSETS);
    assert_int_equal(tsr__case_range(text, 2).limit, 12);
    s.in[1].place[0] = (tsr_placement){.kind = TSR_SHARD};
    assert_string_equal(tsr__case_line(&s, text, "torch", line, sizeof line),
                        "tessera verify \"any f64[4]@[R] i64[7]<10@[S(0)] i32[4]/12@[R] mesh=2 "
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

/* ---- two outputs: a + b, and the sums of its columns, which can be switched off ---- */

static tsr_status pair_shape(tsr_schema *s, tsr_error *err)
{
    bool sums = tsr_schema_attr(s, "sums")->i[0] != 0;

    (void)err;
    s->n_out = 2;
    s->out_dtype[0] = s->out_dtype[1] = s->in[0].dtype;
    s->out_shape[0] = s->in[0].shape;
    s->out_shape[1] = (tsr_shape){.ndim = sums ? 1 : -1, .size = {s->in[0].shape.size[1]}};
    if (s->in[1].shape.ndim >= 0 && (s->in[1].shape.size[0] != s->in[0].shape.size[0] ||
                                     s->in[1].shape.size[1] != s->in[0].shape.size[1]))
        return TSR_ERR_SHAPE;
    return TSR_OK;
}

static void add_to(tsr_dtype dtype, void *to, int64_t i, const void *from, int64_t j)
{
    if ((int)dtype == TSR__FIELD)
        ((uint64_t *)to)[i] = tsr__field_add(((uint64_t *)to)[i], ((const uint64_t *)from)[j]);
    else
        ((double *)to)[i] += ((const double *)from)[j];
}

static void pair_kernel(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0], *y = &call->out[0], *sums = &call->out[1];
    int64_t m = x->shape.size[0], n = x->shape.size[1];

    memset(y->data, 0, (size_t)(m * n) * 8);
    if (sums->data)
        memset(sums->data, 0, (size_t)n * 8);
    for (int64_t i = 0; i < m * n; i++) {
        add_to(x->dtype, y->data, i, x->data, i);
        if (call->in[1].data)
            add_to(x->dtype, y->data, i, call->in[1].data, i);
        if (sums->data)
            add_to(x->dtype, sums->data, i % n, y->data, i);
    }
}

/* Rows sharded: the sums are partial, or as `wrong` says. */
static tsr_status pair_rules(const tsr_schema *s, tsr_rules *out, tsr_mark sums, bool columns,
                             tsr_error *err)
{
    bool both = s->in[1].shape.ndim >= 0, has_sums = s->out_shape[1].ndim >= 0;
    tsr_status st = TSR_OK;

    for (int d = 0; d < 1 + columns; d++) {
        tsr_rule rule = {.in = {tsr_mark_shard(d)}, .out = {tsr_mark_shard(d)}};
        if (both)
            rule.in[1] = tsr_mark_shard(d);
        if (has_sums)
            rule.out[1] = d == 0 ? sums : tsr_mark_shard(0);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    for (int k = 0; k < 1 + both && !has_sums; k++)
        for (int max = 0; max < 2; max++) { /* largest elements pass where nothing is summed */
            tsr_rule rule = {.out = {tsr_mark_partial(max ? TSR_MAX : TSR_MIN)}};
            rule.in[k] = rule.out[0];
            TSR_TRY(tsr_rule_add(out, &rule, err));
        }
done:
    return st;
}

static tsr_status pair_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    return pair_rules(s, out, tsr_mark_partial(TSR_SUM), true, err);
}

static tsr_status pair_sums_forgotten(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    return pair_rules(s, out, (tsr_mark){0}, true, err);
}

static tsr_status pair_without_columns(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    return pair_rules(s, out, tsr_mark_partial(TSR_SUM), false, err);
}

static const char *const pair_cases[] = {"f64[4,6]",
                                         "f64[5,3]",
                                         "f64[4,6] sums=false",
                                         "f64[5,3] sums=false",
                                         "f64[4,6] f64[4,6]",
                                         "f64[5,3] f64[5,3]",
                                         "f64[4,6] f64[4,6] sums=false",
                                         "f64[5,3] f64[5,3] sums=false",
                                         NULL};

static const tsr_op pair = {.name = "pair",
                            .inputs = "a,b?",
                            .attrs = "sums:bool=true",
                            .doc = "a + b, and the sums of its columns",
                            .rule = pair_rule,
                            .linear = "a+b",
                            .shape = pair_shape,
                            .kernel = pair_kernel,
                            .in_field = true,
                            .cases = pair_cases};

static void two_outputs(void **state)
{
    tsr_op op = pair;
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
    pair_kernel(call);
    if (!call->reference && call->out[1].data && call->out[1].shape.size[0] > 0)
        ((double *)call->out[1].data)[0] += 1;
}

static void second_output_wrong_when_run(void **state)
{
    tsr_op op = pair;
    tsr_validation v;
    (void)state;

    op.kernel = wrong_sums_when_fast;
    v = validate(&op);
    assert_int_equal(v.unsound + v.missing, 0);
    assert_int_equal(v.wrong, 4);
    find(&v, TSR_FLAW_WRONG, "output 1: element [0] is ");
}

/* ---- rows of a table, by indices; where each was found as a second output ---- */

static tsr_status lookup_shape(tsr_schema *s, tsr_error *err)
{
    (void)err;
    s->n_out = 2;
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] =
        (tsr_shape){.ndim = 2, .size = {s->in[1].shape.size[0], s->in[0].shape.size[1]}};
    s->out_dtype[1] = s->in[1].dtype;
    s->out_shape[1] = s->in[1].shape;
    return TSR_OK;
}

/* Indices beyond the own rows give 0, so that ranks with other rows can add theirs. */
static void lookup_kernel(const tsr_kernel_call *call)
{
    const tsr_operand *table = &call->in[0], *ids = &call->in[1];
    int64_t rows = table->shape.size[0], width = table->shape.size[1];
    const uint64_t *from = table->data;
    uint64_t *to = call->out[0].data; /* any 8 bytes */

    for (int64_t i = 0; i < ids->shape.size[0]; i++) {
        int64_t id = ((const int64_t *)ids->data)[i], row = id - call->number[0];
        bool here = row >= 0 && row < rows;
        for (int64_t d = 0; d < width; d++)
            to[i * width + d] = here ? from[row * width + d] : 0;
        ((int64_t *)call->out[1].data)[i] = id;
        if (id < 0 || id >= call->number[1]) {
            call->error->code = TSR_ERR_ARG;
            snprintf(call->error->text, sizeof call->error->text, "index %d of %d", (int)id,
                     (int)call->number[1]);
        }
    }
}

/* The first own row, and how many rows there are. */
static void lookup_localise(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                            const int *coord, tsr_kernel_call *call)
{
    tsr_layout layout = tsr__layout_of(&in[0]);
    tsr_heap heap = {0};
    tsr_runs runs = {0};

    (void)out;
    call->number[0] = 0;
    call->number[1] = s->in[0].shape.size[0];
    if (call->in[0].shape.size[0] > 0 &&
        tsr__layout_runs(&heap, &layout, 0, coord, &runs, NULL) == TSR_OK)
        call->number[0] = tsr__runs_index(&runs, 0);
    tsr__runs_free(&heap, &runs);
}

static void lookup_without_offset(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                                  const int *coord, tsr_kernel_call *call)
{
    lookup_localise(s, in, out, coord, call);
    call->number[0] = 0;
}

static tsr_status lookup_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const tsr_mark rows = {.place = {.kind = TSR_SHARD}}; /* plain: an offset tells which */
    const tsr_mark sum = tsr_mark_partial(TSR_SUM);
    tsr_status st;

    (void)s;
    TSR_TRY(tsr_rule_add(out, &(tsr_rule){.in = {rows}, .out = {sum}}, err));
    TSR_TRY(tsr_rule_add(out,
                         &(tsr_rule){.in = {{{0}}, tsr_mark_shard(0)},
                                     .out = {tsr_mark_shard(0), tsr_mark_shard(0)}},
                         err));
    TSR_TRY(
        tsr_rule_add(out, &(tsr_rule){.in = {tsr_mark_shard(1)}, .out = {tsr_mark_shard(1)}}, err));
    for (int r = TSR_SUM; r <= TSR_MAX; r++) { /* the table passes as it is, the indices too */
        const tsr_mark partial = tsr_mark_partial((tsr_reduce)r);
        TSR_TRY(tsr_rule_add(out, &(tsr_rule){.in = {partial}, .out = {partial}}, err));
    }
done:
    return st;
}

static const char *const lookup_cases[] = {"f64[10,4] i64[7]<10", "f64[8,6] i64[4]<8",
                                           "f64[5,3] i64[9]<5", NULL};

static const tsr_op lookup = {.name = "lookup",
                              .inputs = "table,ids",
                              .doc = "rows of a table",
                              .rule = lookup_rule,
                              .shape = lookup_shape,
                              .kernel = lookup_kernel,
                              .localise = lookup_localise,
                              .in_field = true,
                              .cases = lookup_cases};

static void rows_by_index(void **state)
{
    tsr_op op = lookup;
    tsr_validation v;
    const tsr_flaw *flaw;
    (void)state;

    expect_none(&op);
    op.localise = lookup_without_offset;
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
    tsr_op op = lookup;
    tsr_validation v;
    tsr_error err = {0};
    (void)state;

    op.cases = cases;
    assert_int_equal(tsr_validate(&op, &v, &err), TSR_ERR_ARG);
    assert_string_equal(err.text, "lookup: on whole inputs: index 5 of 5");
}

/* ---- ops that move data themselves, and composed ones ---- */

/* The sum of all elements, of which every rank has some. */
static tsr_status total_run(const tsr_run_call *call, tsr_error *err)
{
    tsr_local x, y;
    double sum = 0;
    tsr_status st;

    (void)err;
    TSR_TRY(tsr_local_view(call->in[0], &x));
    TSR_TRY(tsr_local_view(call->out[0], &y));
    for (int64_t i = 0; i < tsr_shape_count(&x.shape); i++)
        sum += ((double *)x.data)[i];
    TSR_TRY(tsr_all_reduce(call->mesh, TSR_F64, TSR_SUM, &sum, 1, y.data));
done:
    return st;
}

static tsr_status total_shape(tsr_schema *s, tsr_error *err)
{
    (void)err;
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0].ndim = 0;
    return TSR_OK;
}

static tsr_status total_strategy(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_rule rule[TSR_MAX_MESH] = {0};

    for (int m = 0; m < s->in[0].mesh.ndim; m++)
        rule[m].in[0].place = (tsr_placement){.kind = TSR_SHARD};
    return tsr_strategy_add(out, rule, s->in[0].mesh.ndim, err);
}

/* Replicated inputs would be added once per rank. */
static bool total_fits(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out)
{
    (void)s;
    (void)out;
    for (int m = 0; m < in->mesh.ndim; m++)
        if (in->mesh.size[m] > 1 && in->place[m].kind != TSR_SHARD)
            return false;
    return true;
}

static const char *const matrix_cases[] = {"f64[4,6]", "f64[5,3]", NULL};

static void own_run(void **state)
{
    tsr_op op = {.name = "total",
                 .inputs = "x",
                 .doc = "the sum of all elements",
                 .strategies = total_strategy,
                 .fits = total_fits,
                 .shape = total_shape,
                 .run = total_run,
                 .cases = matrix_cases};
    tsr_validation v;
    (void)state;

    expect_none(&op);
    op.fits = NULL; /* all-replicate is a strategy of every op */
    v = validate(&op);
    assert_true(v.runs_only && v.rules == 0 && v.tuples == 0);
    assert_int_equal(v.wrong, 4);
    find(&v, TSR_FLAW_WRONG, "total: a run of f64[4,6] on mesh 2: element [] is ");
}

static tsr_status compose_twice(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                                tsr_tensor **out, tsr_error *err)
{
    (void)n_in;
    (void)attrs;
    (void)err;
    out[0] = tsr_add(in[0], in[0]);
    out[2] = tsr_neg(in[0]);
    return TSR_OK;
}

static tsr_status compose_by_ranks(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                                   tsr_tensor **out, tsr_error *err)
{
    bool one = tsr_mesh_size(tsr_tensor_mesh(in[0])) == 1;

    compose_twice(in, n_in, attrs, out, err);
    if (!one)
        out[2] = in[0];
    return TSR_OK;
}

static void composed(void **state)
{
    tsr_op op = {.name = "twice",
                 .inputs = "x",
                 .doc = "2 x, nothing and -x",
                 .compose = compose_twice,
                 .cases = matrix_cases};
    tsr_validation v;
    (void)state;

    expect_none(&op);
    op.compose = compose_by_ranks;
    v = validate(&op);
    assert_int_equal(v.wrong, 4);
    find(&v, TSR_FLAW_WRONG, "twice: a run of f64[4,6] on mesh 2x3: output 2: element [0,0] is ");
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
