/* SPDX-License-Identifier: Apache-2.0 */
/* test_params.c - placements by names of mesh dims, weights and layers: where they are, that their
   values do not depend on the mesh, and what is refused. Through the public headers. */
#include "support/test.h"

/* ---- placements by name ---- */

static tsr_status places_job(tsr_mesh *mesh, void *arg)
{
    static const struct {
        const char *text, *placements;
    } right[] = {{"data=S(0),space=S(2)", "[S(0),S(2)]"},
                 {"space=S(1)", "[R,S(1)]"},
                 {"", "[R,R]"},
                 {NULL, "[R,R]"},
                 {"model?=S(0)", "[R,R]"},
                 {"model?=S(0),space?=S(0)", "[R,S(0)]"},
                 {"1=SS(0,2)", "[R,SS(0,2)]"},
                 {"space=P(sum), data=R", "[R,P(sum)]"}};
    static const char *const wrong[] = {
        "data",         "data=", "=S(0)", "data=S(0),,", "S(0),S(1)", "?=S(0)", "data=R,data=S(0)",
        "data=R,0=S(0)"};
    char buf[TSR_TEXT_LEN];
    tsr_tensor *x;

    (void)arg;
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        CHECK(strcmp(tsr_placements_by_name(mesh, right[i].text, buf, sizeof buf),
                     right[i].placements) == 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK(strcmp(tsr_placements_by_name(mesh, wrong[i], buf, sizeof buf), "") == 0);
        CHECK(tsr_mesh_status(mesh) == TSR_ERR_PARSE);
        CHECK(strstr(tsr_mesh_message(mesh), wrong[i]));
        tsr_mesh_clear_error(mesh);
    }
    CHECK(strcmp(tsr_placements_by_name(mesh, "data=S(0),model=S(0)", buf, sizeof buf), "") == 0);
    CHECK(tsr_mesh_status(mesh) == TSR_ERR_MESH);
    CHECK(strstr(tsr_mesh_message(mesh), "has no dim \"model\", only data and space"));
    tsr_mesh_clear_error(mesh);
    x = tsr_arange(mesh, "f32[4,6]@[S(0),R]", 0, 1);
    CHECK(!tsr_tensor_ok(tsr_redistribute_by_name(x, "spac=S(1)")) &&
          tsr_mesh_status(mesh) == TSR_ERR_MESH);
    tsr_mesh_clear_error(mesh);
    x = tsr_redistribute_by_name(x, "space=S(1)");
    CHECK(strcmp(tsr_placements_text(tsr_tensor_spec(x), buf, sizeof buf), "[S(0),S(1)]") == 0);
    x = tsr_redistribute_by_name(x, "data=R,model?=S(0)");
    CHECK(strcmp(tsr_placements_text(tsr_tensor_spec(x), buf, sizeof buf), "[R,S(1)]") == 0);
    CHECK(!tsr_tensor_ok(tsr_redistribute_by_name(x, "data=S(7)")));
    CHECK(strstr(tsr_mesh_message(mesh), "S(7)"));
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static void test_places(void **state)
{
    (void)state;
    pass_on("data=2,space=2", places_job, NULL);
}

/* ---- weights ---- */

enum { WEIGHTS = 9, MOST = 24 };

/* What the first rank of a mesh of one found; and where the weights are on data=2,model=2. */
typedef struct values {
    bool known;
    double value[WEIGHTS][MOST];
} values;

static tsr_status weights_job(tsr_mesh *mesh, void *arg)
{
    static const char *const names[WEIGHTS] = {"up.weight", "up.bias",     "down.weight",
                                               "down.bias", "conv.weight", "norm.weight",
                                               "norm.bias", "table",       "columns"};
    static const char *const on_2x2[WEIGHTS] = {"[R,S(0)]", "[R,S(0)]", "[R,S(1)]",
                                                "[R,R]",    "[R,R]",    "[R,R]",
                                                "[R,R]",    "[R,S(0)]", "[R,S(1)]"};
    const tsr_style column = {TSR_STYLE_COLUMN, "model?"}, row = {TSR_STYLE_ROW, "model?"};
    values *v = arg;
    char buf[TSR_TEXT_LEN];
    tsr_params *p;
    tsr_layer up, conv;

    CHECK(tsr_params_new(mesh, TSR_F64, 5, &p) == TSR_OK);
    up = tsr_linear_layer(p, "up", 3, 5, true, column);
    CHECK(tsr_linear_layer(p, "down", 5, 3, true, row).bias);
    conv = tsr_conv_layer(p, "conv", 1, 2, 3, false, (tsr_style){0});
    CHECK(up.bias && !conv.bias);
    CHECK(tsr_norm_layer(p, "norm", 4).weight);
    CHECK(tsr_is_watched(tsr_table_layer(p, "table", 7, 2, 0.5, true, row)));
    tsr_table_layer(p, "columns", 7, 2, 0.5, false, column);
    CHECK(tsr_mesh_status(mesh) == TSR_OK && tsr_params_count(p) == WEIGHTS);
    for (int i = 0; i < WEIGHTS; i++) {
        tsr_tensor *x = tsr_params_list(p)[i];
        const int64_t n = tsr_shape_count(&tsr_tensor_spec(x)->shape);
        double host[MOST];

        CHECK(strcmp(tsr_params_name(p, i), names[i]) == 0 && tsr_is_watched(x));
        CHECK(tsr_params_find(p, names[i]) == x && n <= MOST);
        CHECK(tsr_to_host(x, host, (size_t)n * sizeof host[0]) == TSR_OK);
        if (tsr_mesh_shape_get(mesh)->ndim == 2)
            CHECK(strcmp(tsr_placements_text(tsr_tensor_spec(x), buf, sizeof buf), on_2x2[i]) == 0);
        if (v->known)
            CHECK(memcmp(host, v->value[i], (size_t)n * sizeof host[0]) == 0);
        else
            memcpy(v->value[i], host, (size_t)n * sizeof host[0]);
        for (int64_t k = 0; k < n && i == 0; k++) /* -1 / sqrt(3) to 1 / sqrt(3) */
            CHECK(fabs(host[k]) <= 1 / sqrt(3) && (k == 0 || host[k] != host[0]));
    }
    if (tsr_mesh_size(mesh) == 1) /* alone: ranks share it */
        v->known = true;
    CHECK(!tsr_params_find(p, "none") && strcmp(tsr_params_name(p, 99), "") == 0);
    tsr_params_free(p);
    return TSR_OK;
}

static void test_weights(void **state)
{
    values v = {0};

    (void)state;
    pass_on("1", weights_job, &v);
    assert_true(v.known);
    pass_on("data=2,model=2", weights_job, &v);
    pass_on("model=3", weights_job, &v);
}

/* ---- what is refused ---- */

static tsr_status wrong_job(tsr_mesh *mesh, void *arg)
{
    static const struct {
        const char *name, *shape, *places, *sentence;
    } wrong[] = {
        {"", "[2]", NULL, "a name must have 1 to 63 letters"},
        {"there", "[2]", NULL, "\"there\" already exists"},
        {"a", "[2,", NULL, "f32[2,"},
        {"b", "[2]", "data", "expected a list of mesh dims"},
        {"c", "[2]", "data=S(1)", "S(1)"},
        {"d", "[2]", "data=P(sum)", "is partial"},
    };
    const tsr_init zeros = {TSR_INIT_ZEROS, 0};
    tsr_params *p;

    (void)arg;
    CHECK(tsr_params_new(mesh, TSR_I32, 1, &p) == TSR_ERR_DTYPE && !p);
    CHECK(strstr(tsr_mesh_message(mesh), "not i32"));
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_params_new(mesh, TSR_F32, 1, &p) == TSR_OK);
    CHECK(tsr_tensor_ok(tsr_param(p, "there", "[2]", NULL, zeros)));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK(!tsr_tensor_ok(tsr_param(p, wrong[i].name, wrong[i].shape, wrong[i].places, zeros)));
        if (!strstr(tsr_mesh_message(mesh), wrong[i].sentence)) {
            fprintf(stderr, "case %zu: %s\n", i, tsr_mesh_message(mesh));
            return TSR_ERR_MISMATCH;
        }
        tsr_mesh_clear_error(mesh);
    }
    CHECK(tsr_params_count(p) == 1);
    tsr_params_free(p);
    return TSR_OK;
}

static void test_wrong(void **state)
{
    (void)state;
    pass_on("data=2", wrong_job, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
