/* SPDX-License-Identifier: Apache-2.0 */
/* test_named_attrs.c - attributes whose values are names, "by:mean|sum|none=mean": what a call may
   say and what a row may declare, how texts of ops hand them on, and that the losses by name are
   those of the typed functions. Through the public headers. */
#include "support/test.h"

enum { N = 4 };
static const char *const NAMES[] = {"mean", "sum", "none"};

/* Adds 1, 2 or 3. */
static tsr_status pick(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs, tsr_tensor **out,
                       tsr_error *err)
{
    (void)n_in;
    (void)err;
    out[0] = tsr_affine(in[0], 1, (double)attrs->value[0].i[0] + 1);
    return TSR_OK;
}

static const tsr_op picking = {.size = sizeof(tsr_op),
                               .name = "pick",
                               .inputs = "x",
                               .attrs = "by:mean|sum|none=sum,to:up|down,dim:int=0",
                               .doc = "x + 1, 2 or 3",
                               .compose = pick};

/* ---- what a call may say ---- */

static tsr_status make(const char *attr, tsr_schema *out, tsr_error *err)
{
    tsr_mesh_shape mesh;
    tsr_spec in;

    assert_int_equal(tsr_mesh_parse("2", &mesh, NULL), TSR_OK);
    assert_int_equal(tsr_spec_parse("f64[4]@[S(0)]", &mesh, &in, NULL), TSR_OK);
    return tsr_schema_make(&picking, &in, 1, &attr, attr != NULL, out, err);
}

static void named(void **state)
{
    tsr_schema s;
    (void)state;

    assert_int_equal(make(NULL, &s, NULL), TSR_OK);
    assert_int_equal(tsr_schema_attr(&s, "by")->i[0], 1);
    assert_int_equal(tsr_schema_attr(&s, "by")->n, 1);
    assert_int_equal(tsr_schema_attr(&s, "to")->n, -1); /* no default */
    for (int i = 0; i < 3; i++) {
        char text[16];

        snprintf(text, sizeof text, "by=%s", NAMES[i]);
        assert_int_equal(make(text, &s, NULL), TSR_OK);
        assert_int_equal(tsr_schema_attr(&s, "by")->i[0], i);
        assert_int_equal(tsr_schema_attr(&s, "by")->n, 1);
    }
    assert_int_equal(make("to=down", &s, NULL), TSR_OK);
    assert_int_equal(tsr_schema_attr(&s, "to")->i[0], 1);
}

static void wrongly_named(void **state)
{
    static const struct {
        const char *attr, *says;
    } bad[] = {
        {"by=max", "pick: by is mean, sum or none, not max"},
        {"by=1", "pick: by is mean, sum or none, not 1"},
        {"by=", "pick: by is mean, sum or none, not \"\""},
        {"by=su", "pick: by is mean, sum or none, not su"},
        {"by=sums", "pick: by is mean, sum or none, not sums"},
        {"by=Sum", "pick: by is mean, sum or none, not Sum"},
        {"by=mean|sum", "pick: by is mean, sum or none, not mean|sum"},
        {"by=none,sum", "pick: by is mean, sum or none, not none,sum"},
        {"to=left", "pick: to is up or down, not left"},
        {"of=up", "pick has no attribute \"of\"; it has by:mean|sum|none=sum,to:up|down,dim:int=0"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tsr_error err = {0};
        tsr_schema s;

        assert_int_equal(make(bad[i].attr, &s, &err), TSR_ERR_PARSE);
        assert_string_equal(err.text, bad[i].says);
    }
}

/* ---- what a row may declare ---- */

static tsr_status declared_job(tsr_mesh *mesh, void *arg)
{
    static const struct {
        const char *attrs, *says;
    } bad[] = {
        {"dim:int,by:a|b|c=d", "new: by is a, b or c, not d"},
        {"by:a|b=1", "new: by is a or b, not 1"},
        {"dim:dim=one", "new: dim=one is not of type dim"},
        {"dim:dim?=1", "new: attribute dim is optional and has a default"},
        {"by:a|b=", "new: by is a or b, not \"\""},
        {"by:a||b=a", "new: attribute by: a||b is not a list of names such as mean|sum|none"},
        {"by:|a", "new: attribute by: |a is not a list of names such as mean|sum|none"},
        {"by:a|,dim:int", "new: attribute by: a| is not a list of names such as mean|sum|none"},
        {"by:|", "new: attribute by: | is not a list of names such as mean|sum|none"},
        {"by:a|b|a=b", "new: attribute by: a|b|a is not a list of names such as mean|sum|none"},
        {"by:1|2", "new: attribute by: 1|2 is not a list of names such as mean|sum|none"},
        {"by:a|B c", "new: attribute by: a|B c is not a list of names such as mean|sum|none"},
        {"by:a", "new: attribute by is of unknown type \"a\""},
    };
    tsr_op op = picking;
    (void)arg;

    op.name = "new";
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        op.attrs = bad[i].attrs;
        CHECK(tsr_op_register(mesh, &op) != TSR_OK);
        if (strcmp(tsr_mesh_message(mesh), bad[i].says) != 0)
            fprintf(stderr, "said: %s\nwant: %s\n", tsr_mesh_message(mesh), bad[i].says);
        CHECK(strcmp(tsr_mesh_message(mesh), bad[i].says) == 0);
        tsr_mesh_clear_error(mesh);
    }
    return TSR_OK;
}

static void declared(void **state)
{
    (void)state;
    pass_on("2", declared_job, NULL);
}

/* ---- running them ---- */

static bool begins(tsr_tensor *y, double want)
{
    double host[N];

    return tsr_tensor_ok(y) && tsr_to_host(y, host, sizeof host) == TSR_OK && host[0] == want;
}

/* A row's own choice, handed on if the names are the same; a name of the part is that name, even
   if the row has an attribute that is called so. */
static tsr_status handed_job(tsr_mesh *mesh, void *arg)
{
    static const tsr_op on = {.size = sizeof(tsr_op),
                              .name = "on",
                              .inputs = "x",
                              .attrs = "how:mean|sum|none",
                              .doc = "pick",
                              .expr = "pick(x, by=how)"},
                        fixed = {.size = sizeof(tsr_op),
                                 .name = "fixed",
                                 .inputs = "x",
                                 .attrs = "none:float=0",
                                 .doc = "x + 3",
                                 .expr = "pick(x, by=none)"},
                        other = {.size = sizeof(tsr_op),
                                 .name = "other",
                                 .inputs = "x",
                                 .attrs = "how:sum|mean|none=sum",
                                 .doc = "names in another order",
                                 .expr = "pick(x, by=how)"};
    tsr_tensor *x = tsr_arange(mesh, "f64[4]@[S(0)]", 10, 1);
    (void)arg;

    CHECK(tsr_op_register(mesh, &picking) == TSR_OK);
    CHECK(tsr_op_register(mesh, &on) == TSR_OK);
    CHECK(tsr_op_register(mesh, &fixed) == TSR_OK);
    CHECK(begins(tsr_op_run(mesh, "pick", &x, 1, NULL, 0), 12));
    CHECK(begins(tsr_op_run(mesh, "on", &x, 1, NULL, 0), 12)); /* left out: the part's default */
    CHECK(begins(tsr_op_run(mesh, "fixed", &x, 1, NULL, 0), 13));
    for (int i = 0; i < 3; i++) {
        char by[16], how[16];

        snprintf(by, sizeof by, "by=%s", NAMES[i]);
        snprintf(how, sizeof how, "how=%s", NAMES[i]);
        CHECK(begins(tsr_op_run(mesh, "pick", &x, 1, (const char *[]){by}, 1), 11 + i));
        CHECK(begins(tsr_op_run(mesh, "on", &x, 1, (const char *[]){how}, 1), 11 + i));
    }
    CHECK(tsr_op_register(mesh, &other) != TSR_OK);
    CHECK(strcmp(tsr_mesh_message(mesh),
                 "other: expr \"pick(x, by=how)\": by=how is of another type than pick's by") == 0);
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static void handed_on(void **state)
{
    (void)state;
    pass_on("2", handed_job, NULL);
}

/* ---- the losses ---- */

static bool equal(tsr_tensor *a, tsr_tensor *b)
{
    double host[2][N * N];
    const int64_t n = tsr_tensor_ok(a) ? tsr_shape_count(&tsr_tensor_spec(a)->shape) : 0;

    return n > 0 && tsr_tensor_ok(b) && n == tsr_shape_count(&tsr_tensor_spec(b)->shape) &&
           tsr_to_host(a, host[0], sizeof(double) * (size_t)n) == TSR_OK &&
           tsr_to_host(b, host[1], sizeof(double) * (size_t)n) == TSR_OK &&
           memcmp(host[0], host[1], sizeof(double) * (size_t)n) == 0;
}

/* The enum, the number of the choice and the name are the same, and a number that is none of them
   is refused. */
static tsr_status losses_job(tsr_mesh *mesh, void *arg)
{
    static const tsr_loss_reduction all[] = {TSR_LOSS_MEAN, TSR_LOSS_SUM, TSR_LOSS_NONE};
    tsr_tensor *x = tsr_linspace(mesh, "f64[4,4]@[S(0)]", -1, 2);
    tsr_tensor *y = tsr_linspace(mesh, "f64[4,4]@[S(1)]", 1, 0), *t;
    (void)arg;

    t = tsr_arange(mesh, "i64[4]@[R]", 0, 1);
    for (int i = 0; i < 3; i++) {
        const tsr_class_opts opts = CLASS_OPTS(.reduction = all[i]);
        char text[32];
        const char *attr = text;
        tsr_tensor *pair[] = {x, y}, *row[] = {x, t};

        CHECK((int)all[i] == i);
        snprintf(text, sizeof text, "reduction=%s", NAMES[i]);
        CHECK(equal(tsr_op_run(mesh, "mse_loss", pair, 2, &attr, 1), tsr_mse_loss(x, y, all[i])));
        CHECK(equal(tsr_op_run(mesh, "l1_loss", pair, 2, &attr, 1), tsr_l1_loss(x, y, all[i])));
        CHECK(equal(tsr_op_run(mesh, "bce_with_logits", pair, 2, &attr, 1),
                    tsr_bce_with_logits(x, y, NULL, NULL, all[i])));
        CHECK(equal(tsr_op_run(mesh, "cross_entropy", row, 2, &attr, 1),
                    tsr_cross_entropy(x, t, NULL, &opts, NULL, NULL)));
        CHECK(equal(tsr_op_run(mesh, "nll_loss", row, 2, &attr, 1),
                    tsr_nll_loss(x, t, NULL, &opts, NULL)));
    }
    CHECK(!tsr_tensor_ok(tsr_mse_loss(x, y, (tsr_loss_reduction)3)));
    CHECK(tsr_mesh_status(mesh) == TSR_ERR_ARG);
    CHECK(strcmp(tsr_mesh_message(mesh), "mse_loss: reduction is mean, sum or none, not 3") == 0);
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static void losses(void **state)
{
    (void)state;
    pass_on("2", losses_job, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named),     cmocka_unit_test(wrongly_named), cmocka_unit_test(declared),
        cmocka_unit_test(handed_on), cmocka_unit_test(losses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
