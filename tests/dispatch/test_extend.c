/* SPDX-License-Identifier: Apache-2.0 */
/* test_extend.c - ops of one's own: the four ways to say how they shard, ops with their own run,
   composed ops, what registering refuses; and the modes of dispatch: strict, budget, statistics,
   in place, over lists. Everything through the public headers. */
#include "support/test.h"

enum { N = 12, M = 6, COUNT = N * M };

/* ---- an op: twice its input ---- */

static tsr_status same_shape(tsr_schema *s, tsr_error *err)
{
    (void)err;
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = s->in[0].shape;
    return TSR_OK;
}

static void twice(const tsr_kernel_call *call)
{
    const double *x = call->in[0].data;
    double *y = call->out[0].data;

    for (int64_t i = 0; i < tsr_shape_count(&call->out[0].shape); i++)
        y[i] = 2 * x[i];
}

static const char *const cases[] = {"f64[4,6]", "f64[5,3]", NULL};

static const tsr_op by_axes = {.size = sizeof(tsr_op),
                               .name = "twice_axes",
                               .inputs = "x",
                               .doc = "2 x",
                               .axes = "mn->mn",
                               .linear = "x",
                               .monotone = "+x",
                               .shape = same_shape,
                               .kernel = twice,
                               .cases = cases};

static tsr_status rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    for (int d = 0; d < s->in[0].shape.ndim; d++) {
        tsr_rule r = {.in = {tsr_rule_shard(d)}, .out = {tsr_rule_shard(d)}};
        tsr_status st = tsr_rule_add(out, &r, err);
        if (st != TSR_OK)
            return st;
    }
    return TSR_OK;
}

/* Rows on the first mesh dim, columns on the last; or rows on all. */
static tsr_status strategies(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const tsr_placement rows = {.kind = TSR_SHARD, .dim = 0},
                        columns = {.kind = TSR_SHARD, .dim = 1};
    int n = s->in[0].mesh.ndim;
    tsr_status st = TSR_OK;

    for (int last = 0; last < 2 && st == TSR_OK; last++) {
        tsr_rule r[TSR_MAX_MESH] = {0};
        for (int m = 0; m < n; m++)
            r[m].in[0].place = r[m].out[0].place = last && m == n - 1 ? columns : rows;
        st = tsr_strategy_add(out, r, n, err);
    }
    return st;
}

/* Everything passes where it is, but for partial inputs, which should be sharded by rows. */
static tsr_status propagate(const tsr_schema *s, tsr_rule *out, tsr_error *err)
{
    (void)err;
    for (int m = 0; m < s->in[0].mesh.ndim; m++) {
        tsr_placement p = s->in[0].place[m];
        if (p.kind == TSR_PARTIAL)
            p = (tsr_placement){.kind = TSR_SHARD};
        out[m].in[0].place = out[m].out[0].place = p;
    }
    return TSR_OK;
}

/* Its own run: the sum of all elements along the last mesh dim's group, by a collective. */
static tsr_status run_sum(const tsr_run_call *call, tsr_error *err)
{
    tsr_local x, y;
    tsr_status st = tsr_local_view(call->in[0], &x);
    double sum = 0;

    if (st == TSR_OK)
        st = tsr_local_view(call->out[0], &y);
    for (int64_t i = 0; st == TSR_OK && i < tsr_shape_count(&x.shape); i++)
        sum += ((double *)x.data)[i];
    if (st == TSR_OK)
        st = tsr_all_reduce(call->mesh, TSR_F64, TSR_SUM, &sum, 1, y.data);
    if (st != TSR_OK)
        snprintf(err->text, sizeof err->text, "run_sum failed");
    return st;
}

static tsr_status scalar_shape(tsr_schema *s, tsr_error *err)
{
    (void)err;
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0].ndim = 0;
    return TSR_OK;
}

/* Rows over all mesh dims in, replicated out: what the run itself does. */
static tsr_status run_strategy(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_rule r[TSR_MAX_MESH] = {0};
    int n = s->in[0].mesh.ndim;

    for (int m = 0; m < n; m++)
        r[m].in[0].place = (tsr_placement){.kind = TSR_SHARD};
    return tsr_strategy_add(out, r, n, err);
}

/* All-replicate is a strategy too, but the run would add every element once per rank. */
static bool only_rows(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out)
{
    (void)s;
    (void)out;
    for (int m = 0; m < in->mesh.ndim; m++)
        if (in->mesh.size[m] > 1 && in->place[m].kind != TSR_SHARD)
            return false;
    return true;
}

static tsr_comm sum_cost(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                         const tsr_cost *cost)
{
    (void)s, (void)out, (void)in;
    return (tsr_comm){.seconds = cost->latency[0], .bytes = 8};
}

/* Made of others: x + x. */
static tsr_status compose(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs, tsr_tensor **out,
                          tsr_error *err)
{
    (void)n_in, (void)attrs, (void)err;
    out[0] = tsr_neg(tsr_neg(tsr_add(in[0], in[0])));
    return TSR_OK;
}

static tsr_op row_like(const char *name)
{
    tsr_op op = by_axes;

    op.name = name;
    op.axes = op.linear = op.monotone = NULL;
    return op;
}

/* ---- running them ---- */

static tsr_tensor *input(tsr_mesh *mesh, const char *placements)
{
    char spec[TSR_TEXT_LEN];

    snprintf(spec, sizeof spec, "f64[%d,%d]@%s", N, M, placements);
    return tsr_arange(mesh, spec, 1, 1);
}

static bool is_twice(tsr_tensor *y)
{
    double host[COUNT];

    if (!tsr_tensor_ok(y) || tsr_to_host(y, host, sizeof host) != TSR_OK)
        return false;
    for (int i = 0; i < COUNT; i++)
        if (host[i] != 2 * (i + 1))
            return false;
    return true;
}

typedef struct many {
    tsr_op by_rule, by_strategies, by_propagation, replicated, composed;
} many;

static tsr_status four_ways_job(tsr_mesh *mesh, void *arg)
{
    static const char *const placements[] = {"[R,R]",       "[S(0),R]",   "[S(1),S(0)]",
                                             "[S(0),S(0)]", "[P(sum),R]", "[P(avg),P(max)]",
                                             "[R,SS(0,2)]"};
    const many *ops = arg;
    const tsr_op *const rows[] = {
        &by_axes,         &ops->by_rule, &ops->by_strategies, &ops->by_propagation,
        &ops->replicated, &ops->composed};

    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        CHECK(tsr_op_find(mesh, rows[r]->name) == NULL);
        CHECK(tsr_op_register(mesh, rows[r]) == TSR_OK);
        CHECK(tsr_op_find(mesh, rows[r]->name) == rows[r]);
        for (size_t p = 0; p < sizeof placements / sizeof placements[0]; p++) {
            tsr_tensor *x = input(mesh, placements[p]);
            CHECK(is_twice(tsr_op_run(mesh, rows[r]->name, &x, 1, NULL, 0)));
            CHECK(is_twice(tsr_op_run(mesh, rows[r]->name, &x, 1, NULL, 0))); /* from the cache */
        }
    }
    return TSR_OK;
}

static void four_ways(void **state)
{
    many ops = {row_like("twice_rule"), row_like("twice_strategies"), row_like("twice_propagate"),
                row_like("twice_replicated"), row_like("twice_composed")};
    (void)state;

    ops.by_rule.rule = rule;
    ops.by_strategies.strategies = strategies;
    ops.by_propagation.propagate = propagate;
    ops.composed.kernel = NULL;
    ops.composed.shape = NULL;
    ops.composed.compose = compose;
    pass_on("2x2", four_ways_job, &ops);
    pass_on("3x2", four_ways_job, &ops);
}

/* What each way puts on the table. */
static void plans_of_whole_meshes(void **state)
{
    tsr_op by_strategies = row_like("s"), by_propagation = row_like("p");
    tsr_mesh_shape mesh;
    tsr_schema schema;
    tsr_spec in;
    tsr_op_strategy way, other;
    tsr_rule rules[4];
    int n;
    char text[TSR_TEXT_LEN];
    (void)state;

    by_strategies.strategies = strategies;
    by_propagation.propagate = propagate;
    assert_int_equal(tsr_mesh_parse("2x2", &mesh, NULL), TSR_OK);
    assert_int_equal(tsr_spec_parse("f64[12,6]@[S(0),S(1)]", &mesh, &in, NULL), TSR_OK);
    assert_int_equal(tsr_schema_make(&by_strategies, &in, 1, NULL, 0, &schema, NULL), TSR_OK);
    assert_int_equal(tsr_op_plan(&schema, NULL, NULL, false, &way, NULL), TSR_OK);
    assert_string_equal(tsr_placements_text(&way.out[0], text, sizeof text), "[S(0),S(1)]");
    assert_true(way.seconds == 0);
    assert_int_equal(tsr_op_plan(&schema, NULL, NULL, true, &other, NULL), TSR_OK);
    assert_true(tsr_spec_equal(&way.out[0], &other.out[0]));
    assert_int_equal(tsr_op_rules(&schema, rules, 4, &n, NULL), TSR_OK);
    assert_int_equal(n, 1);
    assert_int_equal(tsr_spec_parse("f64[12,6]@[P(sum),S(1)]", &mesh, &in, NULL), TSR_OK);
    assert_int_equal(tsr_schema_make(&by_propagation, &in, 1, NULL, 0, &schema, NULL), TSR_OK);
    assert_int_equal(tsr_op_plan(&schema, NULL, NULL, false, &way, NULL), TSR_OK);
    assert_string_equal(tsr_placements_text(&way.in[0], text, sizeof text), "[S(0),S(1)]");
    assert_true(way.inputs > 0);
}

/* The way of a call of a built-in op on a 2x2 mesh. */
static tsr_schema planned(const char *op, const char *const *in, int n_in, const char *const *attrs,
                          int n_attrs, tsr_op_strategy *way)
{
    tsr_mesh_shape mesh;
    tsr_schema schema;
    tsr_spec specs[3];

    assert_int_equal(tsr_mesh_parse("2x2", &mesh, NULL), TSR_OK);
    for (int k = 0; k < n_in; k++)
        assert_int_equal(tsr_spec_parse(in[k], &mesh, &specs[k], NULL), TSR_OK);
    assert_int_equal(
        tsr_schema_make(tsr_op_find(NULL, op), specs, n_in, attrs, n_attrs, &schema, NULL), TSR_OK);
    if (!tsr_op_is_composed(schema.op))
        assert_int_equal(tsr_op_plan(&schema, NULL, NULL, false, way, NULL), TSR_OK);
    return schema;
}

static void check_range(const tsr_op_strategy *way, const tsr_windows *w, int i, int index,
                        tsr_window_range x)
{
    tsr_window_range got;

    assert_int_equal(tsr_window_at(way, w, i, index, &got, NULL), TSR_OK);
    assert_int_equal(got.begin, x.begin);
    assert_int_equal(got.end, x.end);
    assert_int_equal(got.from, x.from);
    assert_int_equal(got.to, x.to);
}

static void windows_of_ways(void **state)
{
    const char *blur[] = {"f32[1,1,12,16]@[S(2),S(3)]", "f32[1,1,5,5]"}, *pad[] = {"padding=2"};
    const char *grad[] = {"f32[2,64,6,8]@[S(2),S(3)]", "f32[64,2,3,3]"};
    const char *sizes[] = {"padding=1", "stride=2", "input=12,16"};
    const char *all[] = {"f32[1,1,12,16]", "f32[1,1,12,16]", "f32[1,1,5,5]"};
    tsr_window_range range;
    tsr_op_strategy way = {0};
    tsr_error err = {0};
    tsr_windows w;
    tsr_schema s;
    bool reverse;
    (void)state;

    s = planned("conv", blur, 2, pad, 1, &way);
    assert_int_equal(tsr_op_windows(&s, NULL, &way, &w, &reverse, NULL), TSR_OK);
    assert_int_equal(w.n, 2);
    assert_int_equal(w.anchor, TSR_OUTPUT(0));
    assert_false(reverse);
    check_range(&way, &w, 0, 0, (tsr_window_range){0, 8, -2, 8});
    check_range(&way, &w, 1, 3, (tsr_window_range){6, 16, 6, 18});
    assert_int_equal(tsr_window_at(&way, &w, 2, 0, &range, &err), TSR_ERR_ARG);
    assert_string_equal(err.text, "window 2, but there are 2");
    assert_int_equal(tsr_window_at(&way, &w, 0, 4, &range, NULL), TSR_ERR_ARG);
    assert_int_equal(tsr_window_at(&way, &w, 0, -1, &range, NULL), TSR_ERR_ARG);
    way.in[0].place[0] = (tsr_placement){.kind = TSR_STRIDED, .dim = 2, .factor = 2};
    assert_int_equal(tsr_op_windows(&s, NULL, &way, &w, &reverse, NULL), TSR_ERR_ARG);
    assert_int_equal(w.n, 0);

    s = planned("conv_grad_input", grad, 2, sizes, 3, &way);
    assert_int_equal(tsr_op_windows(&s, NULL, &way, &w, &reverse, NULL), TSR_OK);
    assert_true(reverse);
    assert_int_equal(w.window[0].operand, TSR_OUTPUT(0));
    check_range(&way, &w, 0, 2, (tsr_window_range){5, 12, 5, 12});

    s = planned("conv", all + 1, 2, pad, 1, &way); /* nothing is sharded */
    assert_int_equal(tsr_op_windows(&s, NULL, &way, &w, &reverse, NULL), TSR_OK);
    assert_int_equal(w.n, 0);
    s = planned("relu", all, 1, NULL, 0, &way);
    assert_int_equal(tsr_op_windows(&s, NULL, &way, &w, &reverse, NULL), TSR_OK);
    assert_int_equal(w.n, 0);
    s = planned("conv_backward", all, 3, pad, 1, &way);
    assert_int_equal(tsr_op_windows(&s, NULL, &way, &w, &reverse, NULL), TSR_ERR_ARG);
}

static tsr_status own_run_job(tsr_mesh *mesh, void *arg)
{
    static const char *const placements[] = {"[R,R]", "[S(0),S(0)]", "[P(sum),S(1)]"};
    double sum;

    CHECK(tsr_op_register(mesh, arg) == TSR_OK);
    for (size_t p = 0; p < sizeof placements / sizeof placements[0]; p++) {
        tsr_tensor *x = input(mesh, placements[p]);
        tsr_tensor *y = tsr_op_run(mesh, "run_sum", &x, 1, NULL, 0);
        CHECK(tsr_to_host(y, &sum, sizeof sum) == TSR_OK);
        CHECK(sum == COUNT * (COUNT + 1) / 2);
    }
    return TSR_OK;
}

static void own_run(void **state)
{
    tsr_op op = row_like("run_sum");
    (void)state;

    op.kernel = NULL;
    op.run = run_sum;
    op.shape = scalar_shape;
    op.strategies = run_strategy;
    op.feasible = only_rows;
    op.comm = sum_cost;
    pass_on("2x2", own_run_job, &op);
}

/* ---- what registering refuses ---- */

static tsr_status wrong_length(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_rule r = {.in = {tsr_rule_shard(0), tsr_rule_shard(0)}, .out = {tsr_rule_shard(0)}};

    (void)s;
    return tsr_rule_add(out, &r, err);
}

static tsr_status wrong_dim(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_rule r = {.in = {tsr_rule_shard(0)}, .out = {tsr_rule_shard(2)}};

    (void)s;
    return tsr_rule_add(out, &r, err);
}

static tsr_status short_strategy(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_rule r = {0};

    (void)s;
    return tsr_strategy_add(out, &r, 1, err);
}

static tsr_status open_strategy(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_rule r[2] = {{.in = {tsr_rule_shard(0)}, .out = {tsr_rule_shard(0)}}};

    (void)s;
    return tsr_strategy_add(out, r, 2, err);
}

/* The columns are cut, yet the output is said to be cut by rows. */
static tsr_status wrong_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_rule r = {.in = {tsr_rule_shard(1)}, .out = {tsr_rule_shard(0)}};

    (void)s;
    return tsr_rule_add(out, &r, err);
}

typedef struct refusal {
    tsr_op op;
    const char *says;
    bool validating;
} refusal;

static tsr_status refused_job(tsr_mesh *mesh, void *arg)
{
    const refusal *r = arg;

    tsr_validating_set(mesh, r->validating);
    CHECK(tsr_op_register(mesh, &r->op) != TSR_OK);
    if (strcmp(tsr_mesh_message(mesh), r->says) != 0)
        fprintf(stderr, "expected \"%s\"\n", r->says);
    CHECK(strcmp(tsr_mesh_message(mesh), r->says) == 0);
    CHECK(tsr_op_find(mesh, r->op.name) != &r->op);
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static void refuse(tsr_op op, const char *says)
{
    refusal r = {op, says, false};

    pass_on("2x2", refused_job, &r);
}

/* Rows with one text changed. */
static const struct {
    size_t field;
    const char *text, *says;
} bad_fields[] = {
    {offsetof(tsr_op, name), "", "\"\" is not an op name: use lowercase letters, digits and _"},
    {offsetof(tsr_op, name), "matmul", "matmul: an op of this name already exists"},
    {offsetof(tsr_op, name), "New op",
     "\"New op\" is not an op name: use lowercase letters, digits and _"},
    {offsetof(tsr_op, inputs), "a,,b",
     "new: inputs \"a,,b\" are not a list such as a,b,bias? or x*"},
    {offsetof(tsr_op, attrs), "dim:integer=1", "new: attribute dim is of unknown type \"integer\""},
    {offsetof(tsr_op, attrs), "dim:int=one", "new: dim=one is not of type int"},
    {offsetof(tsr_op, doc), NULL, "new: its row has no doc"},
    {offsetof(tsr_op, axes), "mn,nk->mk", "new: axes \"mn,nk->mk\" are for 2 inputs, not for x"},
    {offsetof(tsr_op, axes), "mn", "new: axes \"mn\" are not of the form a,b->c"},
    {offsetof(tsr_op, axes), "mn->mk", "new: axes \"mn->mk\": axis k occurs in no input"},
    {offsetof(tsr_op, axes), "mN->m", "new: axes \"mN->m\": cannot read \"mN\""},
    {offsetof(tsr_op, linear), "x*y",
     "new: linear \"x*y\" names y, which is not an input or is there twice"},
    {offsetof(tsr_op, monotone), "+y", "new: monotone \"+y\" names y, which is not an input"},
    {offsetof(tsr_op, saves), "x,out1,y",
     "new: saves \"x,out1,y\" names y, which is neither an input nor out, out1, ..."},
    {offsetof(tsr_op, saves), "out4",
     "new: saves \"out4\" names out4, which is neither an input nor out, out1, ..."},
};

static void refused_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_fields / sizeof *bad_fields; i++) {
        tsr_op op = row_like("new");

        memcpy((char *)&op + bad_fields[i].field, &bad_fields[i].text, sizeof bad_fields[i].text);
        refuse(op, bad_fields[i].says);
    }
}

static void refused(void **state)
{
    tsr_op op = row_like("new");
    refusal wrong = {row_like("new"), "", true};
    (void)state;

    op.axes = "mn->mn";
    op.rule = rule;
    refuse(op,
           "new: its row says in 2 ways how it shards, at most one of axes, rule, strategies and "
           "propagate is allowed");
    op.rule = NULL;
    op.kernel = NULL;
    refuse(op, "new: a row has a kernel or a run, or is composed of other ops");
    op = row_like("new");
    op.shape = NULL;
    refuse(op, "new: the shape of its output is unknown, its row has no shape function");
    op = row_like("new");
    op.inplace = 2;
    refuse(op, "new: it cannot overwrite its first 2 inputs, x, in place");
    op = row_like("new");
    op.rule = wrong_length;
    refuse(op, "new: rule 1 puts input 1 at S(0), but inputs are x");
    op.rule = wrong_dim;
    refuse(op, "new: rule 1 puts output 0 at S(2), but it is of another shape");
    op = row_like("new");
    op.strategies = short_strategy;
    refuse(op, "new: a strategy of 1 rules for a mesh of 2 dims");
    op.strategies = open_strategy;
    refuse(op, "new: strategies for the whole mesh must name their shards");
    wrong.op.rule = wrong_rule;
    wrong.says =
        "new: rule S(1) -> S(0) does not hold for f64[4,6] on 2 ranks: on rank 0 the local shapes "
        "do not match";
    pass_on("2", refused_job, &wrong);
}

static tsr_status accepted_job(tsr_mesh *mesh, void *arg)
{
    (void)arg;
    tsr_validating_set(mesh, true);
    CHECK(tsr_op_register(mesh, &by_axes) == TSR_OK);
    CHECK(tsr_op_register(mesh, &by_axes) != TSR_OK);
    CHECK(strstr(tsr_mesh_message(mesh), "of this name already exists"));
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static void validated(void **state)
{
    (void)state;
    pass_on("2", accepted_job, NULL);
}

/* ---- modes ---- */

/* Rows that are never cut: what lies otherwise must move. */
static void copy_rows(const tsr_kernel_call *call)
{
    memcpy(call->out[0].data, call->in[0].data,
           (size_t)tsr_shape_count(&call->in[0].shape) * tsr_dtype_size(call->in[0].dtype));
}

static const tsr_op whole_rows = {.size = sizeof(tsr_op),
                                  .name = "whole_rows",
                                  .inputs = "x",
                                  .doc = "x itself, of which rows are never cut",
                                  .axes = "mn!->mn!",
                                  .shape = same_shape,
                                  .kernel = copy_rows};

static tsr_tensor *run_whole_rows(tsr_tensor *x)
{
    return tsr_op_run(tsr_tensor_mesh(x), "whole_rows", &x, 1, NULL, 0);
}

static tsr_status strict_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *a = tsr_zeros(mesh, "f32[64,128]@[S(1)]"), *b = tsr_zeros(mesh, "f32[128,32]@[R]");
    (void)arg;

    CHECK(tsr_op_register(mesh, &whole_rows) == TSR_OK);
    tsr_strict_set(mesh, true);
    CHECK(tsr_tensor_ok(tsr_matmul(a, b, NULL))); /* b is cut where it lies: nothing is sent */
    CHECK(tsr_tensor_ok(tsr_add(a, a)));
    CHECK(!tsr_tensor_ok(run_whole_rows(a)));
    CHECK(strcmp(tsr_mesh_message(mesh),
                 "whole_rows: strict mode forbids redistributing "
                 "f32[64,128]@[S(1)] to [S(0)] (8192 bytes per rank)") == 0);
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_tensor_ok(run_whole_rows(tsr_redistribute(a, "[S(0)]"))));
    tsr_strict_set(mesh, false);
    CHECK(tsr_tensor_ok(run_whole_rows(a)));
    return TSR_OK;
}

static tsr_status budget_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *a = tsr_zeros(mesh, "f32[64,128]@[S(1)]");
    (void)arg;

    CHECK(tsr_op_register(mesh, &whole_rows) == TSR_OK);
    tsr_scope_push(mesh);
    tsr_scope_budget_set(mesh, 20000);
    CHECK(tsr_tensor_ok(run_whole_rows(a)));
    tsr_scope_push(mesh); /* what is spent inside counts outside */
    CHECK(tsr_tensor_ok(tsr_redistribute(a, "[S(0)]")));
    tsr_scope_pop(mesh);
    CHECK(!tsr_tensor_ok(run_whole_rows(a)));
    CHECK(strcmp(tsr_mesh_message(mesh),
                 "redistributing f32[64,128]@[S(1)] to [S(0)] takes 8192 bytes per rank, but the "
                 "scope's budget has 3616 left") == 0);
    tsr_mesh_clear_error(mesh);
    tsr_scope_pop(mesh);
    CHECK(tsr_tensor_ok(run_whole_rows(a)));
    tsr_scope_push(mesh);
    tsr_scope_budget_set(mesh, 2 * 8192); /* to the last byte, and what is refused costs nothing */
    tsr_scope_push(mesh);
    tsr_scope_budget_set(mesh, 8191);
    CHECK(!tsr_tensor_ok(tsr_redistribute(a, "[S(0)]")));
    tsr_mesh_clear_error(mesh);
    tsr_scope_pop(mesh);
    for (int i = 0; i < 3; i++) {
        CHECK(tsr_tensor_ok(tsr_redistribute(a, "[S(0)]")) == (i < 2));
        tsr_mesh_clear_error(mesh);
    }
    tsr_scope_pop(mesh);
    return TSR_OK;
}

static tsr_status counters_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *a = tsr_zeros(mesh, "f32[64,128]@[S(0),S(1)]");
    tsr_op_counters c;
    (void)arg;

    CHECK(tsr_op_register(mesh, &whole_rows) == TSR_OK);
    tsr_counters_reset(mesh);
    for (int i = 0; i < 3; i++)
        CHECK(tsr_tensor_ok(run_whole_rows(a)));
    c = tsr_op_counters_get(mesh, "whole_rows");
    CHECK(c.calls == 3);
    CHECK(c.along[0] == 0 && c.along[1] == 3 * 4096 && c.along[TSR_MAX_MESH] == 0);
    CHECK(c.predicted > 0 && c.moving == 0 && c.computing == 0);
    tsr_statistics_set(mesh, true);
    CHECK(tsr_tensor_ok(run_whole_rows(a)));
    tsr_statistics_set(mesh, false);
    c = tsr_op_counters_get(mesh, "whole_rows");
    CHECK(c.calls == 4 && c.moving > 0 && c.computing > 0);
    CHECK(tsr_op_counters_get(mesh, "neg").calls == 0);
    CHECK(tsr_counters_get(mesh).along[1] == 4 * 4096);
    return TSR_OK;
}

/* What an op moves when it runs: the rows of a table that is cut along mesh dim 1, by their ids. */
static tsr_status own_moves_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *table = tsr_zeros(mesh, "f32[4096,64]@[R,S(0)]");
    tsr_tensor *ids = tsr_zeros(mesh, "i64[64]@[R,S(0)]");
    const int64_t row = 64 * sizeof(float);
    tsr_op_counters c;
    tsr_counters all;
    (void)arg;

    tsr_counters_reset(mesh);
    tsr_statistics_set(mesh, true);
    CHECK(tsr_tensor_ok(tsr_embedding(table, ids, NULL)));
    tsr_statistics_set(mesh, false);
    c = tsr_op_counters_get(mesh, "embedding");
    all = tsr_counters_get(mesh);
    CHECK(c.calls == 1 && c.computing > 0 && c.predicted > 0);
    /* all ids name one row, of the first of two ranks: a length, and an id there, the row back */
    CHECK(c.along[1] == 8 + (tsr_mesh_coord(mesh, 1) == 0 ? 8 : row));
    CHECK(c.along[1] == all.bytes_in && c.along[0] == 0 && c.along[TSR_MAX_MESH] == 0);
    CHECK(all.along[1] == all.bytes_in && all.along[0] == 0);
    return TSR_OK;
}

/* Of x, cut into rows along mesh dim 1, each of two ranks lacks one row of the other's. */
static tsr_status window_moves_job(tsr_mesh *mesh, void *arg)
{
    const tsr_conv_opts opts = CONV_OPTS(.padding = {1, 1});
    tsr_tensor *x = tsr_zeros(mesh, "f32[1,1,64,1024]@[R,S(2)]");
    tsr_tensor *weight = tsr_zeros(mesh, "f32[1,1,3,3]@[R,R]");
    tsr_op_counters c;
    tsr_counters all;
    (void)arg;

    tsr_counters_reset(mesh);
    CHECK(tsr_tensor_ok(tsr_conv(x, weight, NULL, &opts)));
    c = tsr_op_counters_get(mesh, "conv");
    all = tsr_counters_get(mesh);
    CHECK(c.calls == 1 && c.along[1] == 1024 * (int64_t)sizeof(float));
    CHECK(c.along[1] == all.bytes_in && all.along[1] == all.bytes_in);
    return TSR_OK;
}

static void modes(void **state)
{
    (void)state;
    pass_on("2", strict_job, NULL);
    pass_on("2", budget_job, NULL);
    pass_on("2x2", counters_job, NULL);
    pass_on("2x2", own_moves_job, NULL);
    pass_on("2x2", window_moves_job, NULL);
}

/* The first input keeps its placements whatever they are, and what others hold is not touched. */
static tsr_status inplace_job(tsr_mesh *mesh, void *arg)
{
    static const char *const placements[] = {"[R,R]",      "[S(0),S(1)]", "[S(0),S(0)]",
                                             "[P(sum),R]", "[P(max),R]",  "[P(prod),S(0)]"};
    (void)arg;

    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++) {
            tsr_tensor *a = input(mesh, placements[i]), *b = input(mesh, placements[k]);
            tsr_tensor *same = tsr_redistribute(a, placements[i]); /* shares memory */
            tsr_spec before = *tsr_tensor_spec(a);
            double host[COUNT];

            CHECK(tsr_add_inplace(a, b) == a);
            CHECK(is_twice(a));
            CHECK(tsr_spec_equal(&before, tsr_tensor_spec(a)));
            CHECK(tsr_to_host(same, host, sizeof host) == TSR_OK && host[7] == 8);
            CHECK(tsr_to_host(b, host, sizeof host) == TSR_OK && host[7] == 8);
            CHECK(tsr_add_inplace(a, a) == a); /* both inputs are one */
            CHECK(tsr_to_host(a, host, sizeof host) == TSR_OK && host[7] == 32);
        }
    CHECK(
        !tsr_tensor_ok(tsr_add_inplace(tsr_zeros(mesh, "f32[1,4]"), tsr_zeros(mesh, "f32[3,4]"))));
    CHECK(strcmp(tsr_mesh_message(mesh),
                 "add_inplace: the result does not match its first input, f32[1,4]@[R,R] "
                 "f32[3,4]@[R,R]") == 0);
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static tsr_status foreach_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *a[3] = {input(mesh, "[R,R]"), input(mesh, "[S(0),R]"),
                        input(mesh, "[P(sum),S(1)]")};
    static const char *const texts[] = {"mul=0.5", "mul=0.25", "mul=0.5", "mul=0.25"};
    tsr_tensor *y[3] = {NULL}, *z[3] = {NULL};
    double host[COUNT];
    int64_t misses = 0;
    (void)arg;

    CHECK(tsr_foreach("add", (tsr_tensor *const *[]){a, a}, 2, 3, NULL, 0, y) == TSR_OK);
    CHECK(tsr_foreach("neg", (tsr_tensor *const *[]){y}, 1, 3, NULL, 0, z) == TSR_OK);
    for (int i = 0; i < 3; i++) {
        CHECK(is_twice(y[i]));
        CHECK(tsr_to_host(z[i], host, sizeof host) == TSR_OK && host[4] == -10);
    }
    for (int i = 0; i < 4; i++) { /* another number is not another call */
        const char *attrs[] = {texts[i], "add=1"};
        misses = i <= 1 ? tsr_counters_get(mesh).plan_misses : misses;
        CHECK(tsr_foreach("affine_inplace", (tsr_tensor *const *[]){z}, 1, 3, attrs, 2, z) ==
              TSR_OK);
    }
    CHECK(tsr_counters_get(mesh).plan_misses == misses);
    for (int i = 0; i < 3; i++) /* -10, -4, 0, 1, 1.25 */
        CHECK(tsr_to_host(z[i], host, sizeof host) == TSR_OK && host[4] == 1.25);
    CHECK(tsr_foreach("add", (tsr_tensor *const *[]){a, a}, 2, 0, NULL, 0, y) == TSR_OK);
    CHECK(tsr_foreach("nothing", (tsr_tensor *const *[]){a}, 1, 3, NULL, 0, y) == TSR_ERR_ARG);
    CHECK(strcmp(tsr_mesh_message(mesh), "tsr_foreach: unknown op \"nothing\"") == 0);
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_foreach("neg", (tsr_tensor *const *[]){a, a}, 2, 3, NULL, 0, y) == TSR_ERR_ARG);
    CHECK(strcmp(tsr_mesh_message(mesh), "neg: takes inputs x, but 2 were given") == 0);
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static void forms(void **state)
{
    (void)state;
    pass_on("2x2", inplace_job, NULL);
    pass_on("2x2", foreach_job, NULL);
}

/* ---- failing ---- */

static void fails(const tsr_kernel_call *call)
{
    if (tsr_shape_count(&call->in[0].shape) > 0 &&
        ((const double *)call->in[0].data)[0] == 1) { /* one rank only */
        call->error->code = TSR_ERR_ARG;
        snprintf(call->error->text, sizeof call->error->text, "fails: element 0 is 1");
    }
}

static tsr_status failing_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = input(mesh, "[S(0)]"), *y;
    double host[COUNT];

    CHECK(tsr_op_register(mesh, arg) == TSR_OK);
    y = tsr_op_run(mesh, "fails", &x, 1, NULL, 0);
    CHECK(tsr_tensor_ok(y)); /* all ranks report it at the next message between them */
    CHECK(tsr_to_host(x, host, sizeof host) == TSR_ERR_ARG && !tsr_tensor_ok(y));
    CHECK(strcmp(tsr_mesh_message(mesh), "fails: fails: element 0 is 1") == 0);
    return TSR_OK;
}

static void a_kernel_fails(void **state)
{
    tsr_op op = by_axes;
    (void)state;

    op.name = "fails";
    op.kernel = fails;
    pass_on("3", failing_job, &op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_ways),       cmocka_unit_test(plans_of_whole_meshes),
        cmocka_unit_test(windows_of_ways), cmocka_unit_test(own_run),
        cmocka_unit_test(refused_texts),   cmocka_unit_test(refused),
        cmocka_unit_test(validated),       cmocka_unit_test(modes),
        cmocka_unit_test(forms),           cmocka_unit_test(a_kernel_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
