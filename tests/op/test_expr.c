/* SPDX-License-Identifier: Apache-2.0 */
/* test_expr.c - composite ops, given as expressions of others, registered by a program: what they
   compute wherever their inputs are, how attributes, lists and absent inputs are handed on, what
   registering refuses, that each part runs once, and gradients. Through the public headers. */
#include "support/test.h"

enum { N = 4, M = 6, COUNT = N * M };

static const char *const PLACES[] = {"[R,R]", "[S(0),S(1)]", "[P(sum),S(0)]", "[P(max),P(min)]",
                                     "[R,SS(0,2)]"};

static tsr_tensor *input(tsr_mesh *mesh, const char *what, int place, double start)
{
    char spec[TSR_TEXT_LEN];

    snprintf(spec, sizeof spec, "%s@%s", what, PLACES[place]);
    return tsr_arange(mesh, spec, start, 1);
}

static bool is(tsr_tensor *y, const double *want, int n)
{
    double host[2 * COUNT];
    bool same = tsr_tensor_ok(y) && tsr_shape_count(&tsr_tensor_spec(y)->shape) == n &&
                tsr_to_host(y, host, sizeof host[0] * (size_t)n) == TSR_OK;

    for (int i = 0; i < n && same; i++)
        same = host[i] == want[i];
    return same;
}

/* ---- values ---- */

static tsr_status values_job(tsr_mesh *mesh, void *arg)
{
    static const tsr_op both = {.size = sizeof(tsr_op),
                                .name = "both",
                                .inputs = "x,y",
                                .doc = "x y + relu(x y), and -y",
                                .expr = "add(mul(x, y), relu( mul(x, y) )) ; neg(y)"},
                        rows = {.size = sizeof(tsr_op),
                                .name = "rows",
                                .inputs = "x",
                                .attrs = "dims:ints,keep:bool=false",
                                .doc = "a sum of squares",
                                .expr = "sum(both(x,x), dims=dims, keepdim=keep)"},
                        column = {.size = sizeof(tsr_op),
                                  .name = "column",
                                  .inputs = "x",
                                  .attrs = "dim:int=1",
                                  .doc = "an int as a list of one",
                                  .expr = "rows(x, dims=dim, keep=true)"};
    double want[COUNT], minus[COUNT], sums[N] = {0}, all = 0;
    (void)arg;

    CHECK(tsr_op_register(mesh, &both) == TSR_OK);
    CHECK(tsr_op_register(mesh, &rows) == TSR_OK);
    CHECK(tsr_op_register(mesh, &column) == TSR_OK);
    for (int i = 0; i < COUNT; i++) {
        double x = i - 9, y = i + 2;
        want[i] = x * y + (x * y > 0 ? x * y : 0);
        minus[i] = -y;
        sums[i / M] += 2 * y * y;
        all += 2 * y * y;
    }
    for (int p = 0; p < (int)(sizeof PLACES / sizeof PLACES[0]); p++) {
        const char *const first[] = {"dims=1"}, *const kept[] = {"dims=0/1", "keep=true"};
        tsr_tensor *in[] = {input(mesh, "f64[4,6]", p, -9), input(mesh, "f64[4,6]", p, 2)};
        tsr_tensor *out[TSR_OP_OUTPUTS], *y;
        const int64_t before = tsr_op_counters_get(mesh, "mul").calls;

        CHECK(tsr_op_run_all(mesh, "both", in, 2, NULL, 0, out) == TSR_OK);
        CHECK(is(out[0], want, COUNT) && is(out[1], minus, COUNT) && !out[2]);
        CHECK(tsr_op_counters_get(mesh, "mul").calls == before + 1); /* named twice, run once */
        CHECK(is(tsr_op_run(mesh, "rows", in + 1, 1, NULL, 0), &all, 1)); /* dims left out: all */
        CHECK(is(tsr_op_run(mesh, "rows", in + 1, 1, first, 1), sums, N));
        CHECK(is(y = tsr_op_run(mesh, "rows", in + 1, 1, kept, 2), &all, 1));
        CHECK(tsr_tensor_spec(y)->shape.ndim == 2);
        CHECK(is(y = tsr_op_run(mesh, "column", in + 1, 1, NULL, 0), sums, N));
        CHECK(tsr_tensor_spec(y)->shape.ndim == 2);
    }
    return TSR_OK;
}

static void values(void **state)
{
    (void)state;
    pass_on("2x2", values_job, NULL);
    pass_on("1x3", values_job, NULL);
}

/* Lists, absent inputs, one of several outputs of a part, numbers that are derived. */
static tsr_status inputs_job(tsr_mesh *mesh, void *arg)
{
    static const tsr_op chain = {.size = sizeof(tsr_op),
                                 .name = "chain",
                                 .inputs = "x*",
                                 .attrs = "at:int",
                                 .doc = "-cat",
                                 .expr = "neg(cat(x, dim=at))"},
                        dense = {.size = sizeof(tsr_op),
                                 .name = "dense",
                                 .inputs = "x,w,bias?",
                                 .doc = "relu(x w + bias)",
                                 .expr = "relu(matmul(x, w, bias))"},
                        where = {.size = sizeof(tsr_op),
                                 .name = "where_max",
                                 .inputs = "x",
                                 .attrs = "size:int=2",
                                 .doc = "where max_pool found its maxima",
                                 .expr = "max_pool(x, kernel=size)[1]"};
    const char *const second[] = {"at=1"}, *const first[] = {"at=0"}, *const at[] = {"at=-3"};
    double want[2 * COUNT];
    tsr_tensor *in[3] = {input(mesh, "f64[4,6]", 1, 0), input(mesh, "f64[4,6]", 2, 24)};
    tsr_tensor *pool[] = {tsr_arange(mesh, "f64[1,1,4]@[R,R]", 0, 1)}, *y;
    (void)arg;

    CHECK(tsr_op_register(mesh, &chain) == TSR_OK);
    CHECK(tsr_op_register(mesh, &dense) == TSR_OK);
    CHECK(tsr_op_register(mesh, &where) == TSR_OK);
    for (int i = 0; i < 2 * COUNT; i++)
        want[i] = -i;
    CHECK(is(tsr_op_run(mesh, "chain", in, 2, first, 1), want, 2 * COUNT));
    CHECK(tsr_tensor_spec(tsr_op_run(mesh, "chain", in, 2, second, 1))->shape.size[1] == 2 * M);
    CHECK(!tsr_tensor_ok(tsr_op_run(mesh, "chain", in, 2, at, 1)));
    CHECK(
        strcmp(
            tsr_mesh_message(mesh),
            "chain: dim -3 is out of range -2 to 1, in its part cat of chain f64[4,6]@[S(0),S(1)] "
            "f64[4,6]@[P(sum),S(0)]") == 0);
    tsr_mesh_clear_error(mesh);
    in[1] = tsr_arange(mesh, "f64[6,1]@[R,R]", 0, 1);
    for (int i = 0; i < N; i++)
        want[i] = 90 * i + 55;
    CHECK(is(tsr_op_run(mesh, "dense", in, 2, NULL, 0), want, N));
    in[2] = tsr_full(mesh, "f64[1]@[R,R]", -100);
    for (int i = 0; i < N; i++)
        want[i] = i ? 90 * i - 45 : 0;
    CHECK(is(tsr_op_run(mesh, "dense", in, 3, NULL, 0), want, N));
    in[1] = NULL;
    CHECK(!tsr_tensor_ok(tsr_op_run(mesh, "dense", in, 3, NULL, 0)));
    CHECK(strcmp(tsr_mesh_message(mesh), "dense: input w is missing") == 0);
    tsr_mesh_clear_error(mesh);
    y = tsr_op_run(mesh, "where_max", pool, 1, NULL, 0);
    CHECK(tsr_tensor_ok(y) && tsr_tensor_spec(y)->dtype == TSR_I64);
    return TSR_OK;
}

static void inputs(void **state)
{
    (void)state;
    pass_on("2x2", inputs_job, NULL);
}

/* Attributes of parts that are those of the row: the same, negative, one by it; an int as a
   float. */
static tsr_status derived_job(tsr_mesh *mesh, void *arg)
{
    static const tsr_op back = {.size = sizeof(tsr_op),
                                .name = "back",
                                .inputs = "x",
                                .attrs = "by:int=1",
                                .doc = "the other way around",
                                .expr = "roll(x, shifts=-by , dims=0)"},
                        power = {.size = sizeof(tsr_op),
                                 .name = "power",
                                 .inputs = "x",
                                 .attrs = "a:float=2,n:int=1",
                                 .doc = "norms",
                                 .expr = "norm(x, p=a); norm(x, p=n)"},
                        inverse = {.size = sizeof(tsr_op),
                                   .name = "inverse",
                                   .inputs = "x",
                                   .attrs = "a:float=1",
                                   .doc = "norms",
                                   .expr = "norm(x, p=1/a)"};
    const char *const by[] = {"by=2"}, *const minus[] = {"by=-1"}, *const turned[] = {"a=1", "n=2"},
                      *const half[] = {"a=0.5"};
    const double two[] = {2, 3, 4, 0, 1}, minus_one[] = {4, 0, 1, 2, 3}, five = 5, seven = 7;
    tsr_tensor *x = tsr_arange(mesh, "f64[5]@[S(0),R]", 0, 1), *out[TSR_OP_OUTPUTS];
    tsr_tensor *v = from_host(mesh, "f64[2]@[R,R]", (double[]){3, 4});
    (void)arg;

    CHECK(tsr_op_register(mesh, &back) == TSR_OK);
    CHECK(tsr_op_register(mesh, &power) == TSR_OK);
    CHECK(is(tsr_op_run(mesh, "back", &x, 1, by, 1), two, 5));
    CHECK(is(tsr_op_run(mesh, "back", &x, 1, minus, 1), minus_one, 5));
    CHECK(tsr_op_register(mesh, &inverse) == TSR_OK);
    for (int k = 0; k < 2; k++) {
        CHECK(tsr_op_run_all(mesh, "power", &v, 1, turned, k ? 2 : 0, out) == TSR_OK);
        CHECK(is(out[0], k ? &seven : &five, 1) && is(out[1], k ? &five : &seven, 1));
        CHECK(is(tsr_op_run(mesh, "inverse", &v, 1, half, k), k ? &five : &seven, 1));
    }
    return TSR_OK;
}

static void derived(void **state)
{
    (void)state;
    pass_on("1x1", derived_job, NULL);
    pass_on("2x1", derived_job, NULL);
}

/* As many parts, and inputs of a part, as there can be, and one more. */
static tsr_status most_job(tsr_mesh *mesh, void *arg)
{
    enum { PARTS = 48 };
    tsr_tensor *x = tsr_arange(mesh, "f64[2]@[R]", 1, 1);
    double got[2 * TSR_OP_INPUTS];
    (void)arg;

    for (int more = 0; more < 2; more++) {
        char parts[512] = "", list[512] = "cat(x";
        tsr_op deep = {.size = sizeof(tsr_op),
                       .name = "deep",
                       .inputs = "x",
                       .doc = "as it is",
                       .expr = parts};
        tsr_op wide = {
            .size = sizeof(tsr_op), .name = "wide", .inputs = "x", .doc = "again", .expr = list};

        for (int i = 0; i < PARTS + more; i++)
            strcat(parts, "neg(");
        strcat(parts, "x");
        for (int i = 0; i < PARTS + more; i++)
            strcat(parts, ")");
        for (int i = 1; i < TSR_OP_INPUTS + more; i++)
            strcat(list, ",x");
        strcat(list, ")");
        if (more) {
            deep.name = "deeper", wide.name = "wider";
            CHECK(tsr_op_register(mesh, &deep) == TSR_ERR_ARG);
            CHECK(strstr(tsr_mesh_message(mesh), "has 49 parts, at most 48 are supported"));
            tsr_mesh_clear_error(mesh);
            CHECK(tsr_op_register(mesh, &wide) == TSR_ERR_ARG);
            CHECK(strstr(tsr_mesh_message(mesh), "cat: takes 1 to "));
            tsr_mesh_clear_error(mesh);
            continue;
        }
        CHECK(tsr_op_register(mesh, &deep) == TSR_OK && tsr_op_register(mesh, &wide) == TSR_OK);
        CHECK(is(tsr_op_run(mesh, "deep", &x, 1, NULL, 0), (double[]){1, 2}, 2));
        CHECK(tsr_to_host(tsr_op_run(mesh, "wide", &x, 1, NULL, 0), got, sizeof got) == TSR_OK);
        CHECK(got[2 * TSR_OP_INPUTS - 1] == 2);
    }
    return TSR_OK;
}

static void most(void **state)
{
    (void)state;
    pass_on("1", most_job, NULL);
}

/* Shapes without a run: known, not known for a part that is composed by a function or not known
   itself, and impossible. */
static void unknown_shapes(void **state)
{
    static const struct {
        const char *means, *says;
        int n_out;
    } all[] = {
        {"neg(relu(x))", "", 1},
        {"neg(relu(x)); sum(x)", "", 2},
        {"neg(chunk(x, chunks=2))", "", 0},
        {"chunk(x, chunks=2)", "", 0},
        {"neg(no_such_op(x))", "", 0},
        {"neg(neg(x)[1])", "new: its part neg has no output 1", 0},
        {"matmul(x, x)", "new: both inputs need at least 2 dims", 0},
    };
    tsr_mesh_shape mesh;
    tsr_spec spec;
    (void)state;

    assert_int_equal(tsr_mesh_parse("2", &mesh, NULL), TSR_OK);
    assert_int_equal(tsr_spec_parse("f32[4]@[S(0)]", &mesh, &spec, NULL), TSR_OK);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const tsr_op op = {.size = sizeof(tsr_op),
                           .name = "new",
                           .inputs = "x",
                           .doc = "new",
                           .expr = all[i].means};
        tsr_schema s;
        tsr_error err = {0};
        const tsr_status st = tsr_schema_make(&op, &spec, 1, NULL, 0, &s, &err);

        if ((st == TSR_OK) != !*all[i].says || !strstr(err.text, all[i].says))
            fail_msg("%s: %s", all[i].means, err.text);
        assert_true(st != TSR_OK || s.n_out == all[i].n_out);
    }
}

/* ---- gradients ---- */

static tsr_status same_shape(tsr_schema *s, tsr_error *err)
{
    (void)err;
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = s->in[0].shape;
    return TSR_OK;
}

static void does_nothing(const tsr_kernel_call *call)
{
    (void)call;
}

static tsr_status gradients_job(tsr_mesh *mesh, void *arg)
{
    static const tsr_op cubic = {.size = sizeof(tsr_op),
                                 .name = "cubic",
                                 .inputs = "x,w",
                                 .doc = "w x^3 + x, and w w",
                                 .expr = "add(mul(w, mul(x, mul(x, x))), x); mul(w, w)"},
                        ladder = {.size = sizeof(tsr_op),
                                  .name = "ladder",
                                  .inputs = "x",
                                  .doc = "x^3 + x",
                                  .expr = "neg(neg(cubic(x, x)))"},
                        dark = {.size = sizeof(tsr_op),
                                .name = "dark",
                                .inputs = "x",
                                .doc = "not known",
                                .expr = "mul(x, sort_of(x))"},
                        unknown = {.size = sizeof(tsr_op),
                                   .name = "sort_of",
                                   .inputs = "x",
                                   .doc = "has no gradient",
                                   .shape = same_shape,
                                   .kernel = does_nothing};
    double by_x[COUNT], by_w[M] = {0}, steep[COUNT];
    const bool only_w[] = {false, true};
    (void)arg;

    CHECK(tsr_op_register(mesh, &cubic) == TSR_OK);
    CHECK(tsr_op_register(mesh, &ladder) == TSR_OK);
    CHECK(tsr_op_register(mesh, &unknown) == TSR_OK);
    CHECK(tsr_op_register(mesh, &dark) == TSR_OK);
    CHECK(tsr_op_has_grad(&cubic) && !tsr_op_has_grad(&unknown) && !tsr_op_has_grad(&dark));
    for (int i = 0; i < COUNT; i++) {
        double x = i - 9, w = i % M + 2;
        by_x[i] = 3 * w * x * x + 1;
        by_w[i % M] += x * x * x;
        steep[i] = 4 * x * x * x + 1;
    }
    for (int p = 0; p < (int)(sizeof PLACES / sizeof PLACES[0]); p++) {
        tsr_tensor *in[] = {input(mesh, "f64[4,6]", p, -9), input(mesh, "f64[6]", 0, 2)};
        tsr_tensor *y[TSR_OP_OUTPUTS], *grad[2], *none[TSR_OP_OUTPUTS] = {NULL};
        tsr_tensor *ones[TSR_OP_OUTPUTS] = {tsr_full(mesh, "f64[4,6]@[S(1),R]", 1)};
        double both[M];

        CHECK(tsr_op_run_all(mesh, "cubic", in, 2, NULL, 0, y) == TSR_OK);
        CHECK(tsr_op_grad(mesh, "cubic", in, 2, NULL, 0, y, ones, NULL, grad) == TSR_OK);
        CHECK(is(grad[0], by_x, COUNT) && is(grad[1], by_w, M));
        CHECK(tsr_op_grad(mesh, "cubic", in, 2, NULL, 0, y, none, NULL, grad) == TSR_OK);
        CHECK(!grad[0] && !grad[1]);
        ones[1] = tsr_full(mesh, "f64[6]@[R,R]", 1);
        for (int i = 0; i < M; i++)
            both[i] = by_w[i] + 2 * (i + 2);
        CHECK(tsr_op_grad(mesh, "cubic", in, 2, NULL, 0, y, ones, only_w, grad) == TSR_OK);
        CHECK(!grad[0] && is(grad[1], both, M));
        CHECK(tsr_op_grad(mesh, "ladder", in, 1, NULL, 0, y, ones, NULL, grad) == TSR_OK);
        CHECK(is(grad[0], steep, COUNT));
        CHECK(tsr_op_grad(mesh, "dark", in, 1, NULL, 0, y, ones, NULL, grad) != TSR_OK);
        CHECK(strcmp(tsr_mesh_message(mesh), "sort_of: no gradient is defined") == 0);
        tsr_mesh_clear_error(mesh);
    }
    return TSR_OK;
}

static void gradients(void **state)
{
    (void)state;
    pass_on("2x2", gradients_job, NULL);
}

/* On a tape a text's gradient would not be seen by tsr_backward, so it is refused there; what it is
   made of is written down as any other call. */
static tsr_status on_a_tape_job(tsr_mesh *mesh, void *arg)
{
    static const tsr_op cube = {.size = sizeof(tsr_op),
                                .name = "cube",
                                .inputs = "x",
                                .doc = "x^3",
                                .expr = "mul(x, mul(x, x))"};
    tsr_tensor *x = tsr_watch(input(mesh, "f64[4,6]", 1, -9)), *y, *one, *g, *in[2];
    double want[COUNT], again[COUNT];
    (void)arg;

    CHECK(tsr_op_register(mesh, &cube) == TSR_OK);
    CHECK(tsr_tape_begin(mesh) == TSR_OK);
    y = tsr_op_run(mesh, "cube", &x, 1, NULL, 0);
    one = tsr_full(mesh, "f64[4,6]@[R,R]", 1);
    for (int i = 0; i < 2; i++) { /* its input is known to the tape, or what comes back */
        in[0] = i == 0 ? x : tsr_detach(x);
        CHECK(tsr_op_grad(mesh, "cube", in, 1, NULL, 0, &y, i == 0 ? &one : &y, NULL, &g) ==
              TSR_ERR_STATE);
        CHECK(strncmp(tsr_mesh_message(mesh), "cube: gradients of gradients are ", 33) == 0);
        tsr_mesh_clear_error(mesh);
    }
    for (int i = 0; i < COUNT; i++) {
        const double v = i - 9;
        want[i] = 3 * v * v;
        again[i] = 3 * v * v + 5 * v * v * v * v;
    }
    CHECK(tsr_op_grad(mesh, "cube", in, 1, NULL, 0, &y, &one, NULL, &g) == TSR_OK);
    CHECK(is(g, want, COUNT));
    tsr_tape_pause(mesh);
    CHECK(tsr_op_grad(mesh, "cube", &x, 1, NULL, 0, &y, &one, NULL, &g) == TSR_OK);
    CHECK(is(g, want, COUNT));
    tsr_tape_resume(mesh);
    in[0] = x;
    in[1] = tsr_mul(x, y);
    CHECK(tsr_op_grad(mesh, "mul", in, 2, NULL, 0, NULL, &x, NULL, in) == TSR_OK);
    CHECK(tsr_backward(tsr_sum(tsr_add(in[0], y), NULL, 0, false)) == TSR_OK); /* x^5 + x^3 */
    CHECK(is(tsr_grad(x), again, COUNT));
    return TSR_OK;
}

static void on_a_tape(void **state)
{
    (void)state;
    pass_on("2x2", on_a_tape_job, NULL);
}

/* ---- shapes without ranks ---- */

static void shapes(void **state)
{
    static const tsr_op op = {.size = sizeof(tsr_op),
                              .name = "squares",
                              .inputs = "x",
                              .attrs = "dims:ints",
                              .doc = "sum of squares",
                              .expr = "sum(square(x), dims=dims); max_pool(x, kernel=3)[1]"};
    const tsr_mesh_shape mesh = {.ndim = 1, .size = {2}, .stride = {1}};
    const char *const attrs[] = {"dims=0/2"};
    tsr_error err = {0};
    tsr_schema s;
    tsr_spec x;
    (void)state;

    assert_int_equal(tsr_spec_parse("f32[2,3,9]", &mesh, &x, NULL), TSR_OK);
    assert_int_equal(tsr_schema_make(&op, &x, 1, attrs, 1, &s, NULL), TSR_OK);
    assert_int_equal(s.n_out, 2);
    assert_int_equal(s.out_dtype[0], TSR_F32);
    assert_int_equal(s.out_shape[0].ndim, 1);
    assert_int_equal(s.out_shape[0].size[0], 3);
    assert_int_equal(s.out_dtype[1], TSR_I64);
    assert_int_equal(s.out_shape[1].size[2], 3);
    x.shape.ndim = 1;
    assert_int_not_equal(tsr_schema_make(&op, &x, 1, attrs, 1, &s, &err), TSR_OK);
    assert_string_equal(
        err.text, "squares: dim 2 is out of range -1 to 0, in its part sum of squares f32[2]@[R]");
}

/* ---- what is let go ---- */

/* A long chain needs no more memory than a short one: what a step leaves is taken by a later. */
static tsr_status memory_job(tsr_mesh *mesh, void *arg)
{
    static const tsr_op six = {.size = sizeof(tsr_op),
                               .name = "six",
                               .inputs = "x",
                               .doc = "x, turned round six times",
                               .expr = "neg(neg(neg(neg(neg(neg(x))))))"};
    const size_t part = 4096 * sizeof(double);
    tsr_tensor *x = tsr_arange(mesh, "f64[4096]@[R]", 0, 1), *y;
    (void)arg;

    CHECK(tsr_op_register(mesh, &six) == TSR_OK);
    tsr_memory_limit_set(mesh, 4 * part); /* x, y, and what neg has read and not yet let go */
    y = tsr_op_run(mesh, "six", &x, 1, NULL, 0);
    CHECK(tsr_tensor_ok(y));
    return TSR_OK;
}

static tsr_status hand_on(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs, tsr_tensor **out,
                          tsr_error *err)
{
    (void)n_in;
    (void)attrs;
    (void)err;
    out[0] = in[0];
    return TSR_OK;
}

/* What a part handed on is let go after the last use of either name, and an input never. */
static tsr_status handed_on_job(tsr_mesh *mesh, void *arg)
{
    static const tsr_op same = {.size = sizeof(tsr_op),
                                .name = "same",
                                .inputs = "x",
                                .doc = "x",
                                .compose = hand_on},
                        last = {.size = sizeof(tsr_op),
                                .name = "last",
                                .inputs = "x",
                                .doc = "-x^2: under its second name only",
                                .expr = "mul(same(neg(x)), x)"},
                        both = {.size = sizeof(tsr_op),
                                .name = "two_names",
                                .inputs = "x",
                                .doc = "-2 x^2: under its first name once more",
                                .expr = "add(mul(same(neg(x)), x), mul(neg(x), same(x)))"};
    tsr_tensor *x = tsr_arange(mesh, "f64[4,6]@[R]", 0, 1);
    double want[COUNT], twice[COUNT], values[COUNT];
    (void)arg;

    for (int i = 0; i < COUNT; i++) {
        values[i] = i;
        want[i] = -i * i;
        twice[i] = 2 * want[i];
    }
    CHECK(tsr_op_register(mesh, &same) == TSR_OK);
    CHECK(tsr_op_register(mesh, &last) == TSR_OK);
    CHECK(tsr_op_register(mesh, &both) == TSR_OK);
    CHECK(is(tsr_op_run(mesh, "last", &x, 1, NULL, 0), want, COUNT));
    CHECK(is(tsr_op_run(mesh, "two_names", &x, 1, NULL, 0), twice, COUNT));
    CHECK(is(x, values, COUNT));
    return TSR_OK;
}

static void memory(void **state)
{
    (void)state;
    pass_on("1", memory_job, NULL);
    pass_on("1", handed_on_job, NULL);
}

/* ---- what registering refuses ---- */

typedef struct refusal {
    const char *inputs, *means, *says;
} refusal;

static tsr_status refused_job(tsr_mesh *mesh, void *arg)
{
    const refusal *r = arg;
    const tsr_op op = {.size = sizeof(tsr_op),
                       .name = "new",
                       .inputs = r->inputs,
                       .attrs = "dim:int=1,alpha:float=1,by:none|mean=mean",
                       .doc = "new",
                       .expr = r->means};

    CHECK(tsr_op_register(mesh, &op) != TSR_OK);
    if (strcmp(tsr_mesh_message(mesh), r->says) != 0)
        fprintf(stderr, "expected \"%s\"\ngot      \"%s\"\n", r->says, tsr_mesh_message(mesh));
    CHECK(strcmp(tsr_mesh_message(mesh), r->says) == 0);
    CHECK(tsr_op_find(mesh, "new") == NULL);
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static void refused(void **state)
{
    static const refusal all[] = {
        {"x", "mul(x, sigmo(x))", "new: expr \"mul(x, sigmo(x))\": unknown op \"sigmo\""},
        {"x", "new(x)", "new: expr \"new(x)\": unknown op \"new\""},
        {"x", "mul(x, y)", "new: expr \"mul(x, y)\": y is not one of its inputs x"},
        {"x", "neg(x, dim=1)", "new: expr \"neg(x, dim=1)\": neg has no attribute \"dim\""},
        {"x", "softmax(x, dim=one)",
         "new: expr \"softmax(x, dim=one)\": softmax: dim=one is not of type dim"},
        {"x", "softmax(x, dim=alpha)",
         "new: expr \"softmax(x, dim=alpha)\": dim=alpha is of another type than softmax's dim"},
        {"x", "softmax(x, dim=1/dim)",
         "new: expr \"softmax(x, dim=1/dim)\": dim=1/dim is of another type than softmax's dim"},
        {"x,y", "mse_loss(x, y, reduction=1)",
         "new: expr \"mse_loss(x, y, reduction=1)\": mse_loss: reduction is mean, sum or none, "
         "not 1"},
        {"x,y", "mse_loss(x, y, reduction=dim)",
         "new: expr \"mse_loss(x, y, reduction=dim)\": reduction=dim is of another type than "
         "mse_loss's reduction"},
        {"x,y", "mse_loss(x, y, reduction=by)",
         "new: expr \"mse_loss(x, y, reduction=by)\": reduction=by is of another type than "
         "mse_loss's reduction"},
        {"x", "mul(x)", "new: expr \"mul(x)\": mul needs its input 1, which is missing"},
        {"x", "neg(x, x)", "new: expr \"neg(x, x)\": neg: takes inputs x, but 2 were given"},
        {"x,b?", "mul(x, b)",
         "new: expr \"mul(x, b)\": mul needs its input 1, which may be absent"},
        {"x*", "neg(x)", "new: expr \"neg(x)\": its list of inputs can only be the list of an op"},
        {"x*", "cat(x, x)",
         "new: expr \"cat(x, x)\": its list of inputs can only be the list of an op"},
        {"x", "add_inplace(x, x)",
         "new: expr \"add_inplace(x, x)\": add_inplace works in place, which an expression cannot "
         "contain"},
        {"x", "x", "new: expr \"x\": output 0 is an input, it should be an op"},
        {"x", "", "new: expr \"\" cannot be read at \"\", it should be like mul(x, sigmoid(x))"},
        {"x", "mul(x, x",
         "new: expr \"mul(x, x\" cannot be read at \"\", it should be like mul(x, sigmoid(x))"},
        {"x", "neg(x) neg(x)",
         "new: expr \"neg(x) neg(x)\" cannot be read at \"neg(x)\", it should be like mul(x, "
         "sigmoid(x))"},
        {"x", "neg(x)[7]",
         "new: expr \"neg(x)[7]\" cannot be read at \"[7]\", it should be like mul(x, "
         "sigmoid(x))"},
        {"x", "neg(x);neg(x);neg(x);neg(x);neg(x)",
         "new: expr \"neg(x);neg(x);neg(x);neg(x);neg(x)\" has more than 4 outputs"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        refusal r = all[i];
        pass_on("2", refused_job, &r);
    }
}

/* A part without the output that the text asks of it; a text and a kernel. */
static tsr_status late_job(tsr_mesh *mesh, void *arg)
{
    static const tsr_op second = {.size = sizeof(tsr_op),
                                  .name = "second",
                                  .inputs = "x",
                                  .doc = "there is none",
                                  .expr = "neg(neg(x)[1])"};
    const tsr_op *relu = tsr_op_find(mesh, "relu");
    tsr_op two = *relu;
    tsr_tensor *x = tsr_arange(mesh, "f64[4]@[R]", 0, 1);
    (void)arg;

    CHECK(tsr_op_register(mesh, &second) == TSR_OK);
    CHECK(!tsr_tensor_ok(tsr_op_run(mesh, "second", &x, 1, NULL, 0)));
    CHECK(strcmp(tsr_mesh_message(mesh), "second: one of its parts has no output 1") == 0);
    tsr_mesh_clear_error(mesh);
    two.size = sizeof two;
    two.name = "two";
    two.expr = "neg(x)";
    CHECK(tsr_op_register(mesh, &two) != TSR_OK);
    CHECK(strcmp(tsr_mesh_message(mesh),
                 "two: a row has a kernel or a run, or is composed of other ops") == 0);
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

/* Errors of parts, and of parts of parts, name what was called. */
static tsr_status named_job(tsr_mesh *mesh, void *arg)
{
    static const tsr_op outer = {.size = sizeof(tsr_op),
                                 .name = "outer_swish",
                                 .inputs = "x",
                                 .doc = "two levels",
                                 .expr = "neg(hardswish(x))"};
    static const struct {
        const char *op, *in[2], *says;
    } all[] = {
        {"tan",
         {"i32[4]@[S(0)]"},
         "tan: needs a floating-point dtype, not i32[4]@[S(0)], in its part sin of tan "
         "i32[4]@[S(0)]"},
        {"logical_xor",
         {"f32[3]@[R]", "f32[4]@[R]"},
         "logical_xor: shapes do not broadcast, bool[3]@[R] bool[4]@[R], in its part ne of "
         "logical_xor f32[3]@[R] f32[4]@[R]"},
        {"outer_swish",
         {"i64[4]@[R]"},
         "outer_swish: mul=0.166666667 is not an integer, which dtype i64 requires, in its part "
         "affine of outer_swish i64[4]@[R]"},
    };

    (void)arg;
    CHECK(tsr_op_register(mesh, &outer) == TSR_OK);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        tsr_tensor *in[2] = {tsr_zeros(mesh, all[i].in[0])};

        if (all[i].in[1])
            in[1] = tsr_zeros(mesh, all[i].in[1]);
        CHECK(!tsr_tensor_ok(tsr_op_run(mesh, all[i].op, in, in[1] ? 2 : 1, NULL, 0)));
        if (strcmp(tsr_mesh_message(mesh), all[i].says) != 0)
            fprintf(stderr, "expected \"%s\"\ngot      \"%s\"\n", all[i].says,
                    tsr_mesh_message(mesh));
        CHECK(strcmp(tsr_mesh_message(mesh), all[i].says) == 0);
        tsr_mesh_clear_error(mesh);
    }
    return TSR_OK;
}

static void named(void **state)
{
    (void)state;
    pass_on("2", named_job, NULL);
}

static void late(void **state)
{
    (void)state;
    pass_on("2", late_job, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),    cmocka_unit_test(inputs), cmocka_unit_test(gradients),
        cmocka_unit_test(on_a_tape), cmocka_unit_test(shapes), cmocka_unit_test(memory),
        cmocka_unit_test(refused),   cmocka_unit_test(late),   cmocka_unit_test(named),
        cmocka_unit_test(derived),   cmocka_unit_test(most),   cmocka_unit_test(unknown_shapes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
