/* SPDX-License-Identifier: Apache-2.0 */
/* test_op_limits.c - calls at the edge of what ops take: nothing to look up, numbers at the end of
   their range, ops that fail half-way, rows that say nothing of their errors. Public headers
   only. */
#include "support/test.h"

/* ---- lookups ---- */

/* Ids that are in no bag are looked up by nobody. */
static tsr_status no_offsets_job(tsr_mesh *mesh, void *arg)
{
    static const char *const grads[] = {"f64[0,4]@[R]", "f64[0,4]@[S(1)]"};
    const int64_t ids[5] = {0, 1, 2, 1, 0};
    double got[12];
    (void)arg;

    for (int i = 0; i < 2; i++) {
        tsr_tensor *grad = tsr_zeros(mesh, grads[i]), *offsets = tsr_zeros(mesh, "i64[0]");
        tsr_tensor *x = from_host(mesh, "i64[5]", ids);
        tsr_tensor *table = tsr_arange(mesh, "f64[3,4]@[S(0)]", 0, 1), *y;
        CHECK(tsr_to_host(tsr_bag_sum_backward(grad, x, offsets, NULL, 3, NULL), got, sizeof got) ==
              TSR_OK);
        for (int k = 0; k < 12; k++)
            CHECK(got[k] == 0);
        CHECK(tsr_to_host(tsr_bag_mean_backward(grad, x, offsets, 3, NULL), got, sizeof got) ==
              TSR_OK);
        for (int k = 0; k < 12; k++)
            CHECK(got[k] == 0);
        y = tsr_bag_max(table, x, offsets, NULL, NULL);
        CHECK(tsr_tensor_ok(y) && tsr_tensor_spec(y)->shape.size[0] == 0);
    }
    return TSR_OK;
}

/* Rows without columns, tables without rows, bags without ids: everything has a shape. */
static tsr_status nothing_job(tsr_mesh *mesh, void *arg)
{
    static int64_t offsets[400];
    const int64_t ids[50] = {0};
    tsr_tensor *x = from_host(mesh, "i64[50]", ids);
    tsr_tensor *o = from_host(mesh, "i64[400]", offsets), *index, *y;
    int64_t winners[800];
    double got[800];
    (void)arg;

    y = tsr_bag_max(tsr_zeros(mesh, "f64[10,0]@[S(0)]"), x, o, NULL, &index);
    CHECK(tsr_tensor_ok(y) && tsr_tensor_spec(index)->shape.size[0] == 400);
    y = tsr_bag_max(tsr_full(mesh, "f64[10,2]@[S(0)]", 3), tsr_zeros(mesh, "i64[0]"), o, NULL,
                    &index);
    CHECK(tsr_to_host(y, got, sizeof got) == TSR_OK && got[5] == 0);
    CHECK(tsr_to_host(index, winners, sizeof winners) == TSR_OK && winners[799] == -1);
    y = tsr_embedding(tsr_zeros(mesh, "f32[0,4]@[S(0)]"), tsr_zeros(mesh, "i64[0]@[S(0)]"), NULL);
    CHECK(tsr_tensor_ok(y));
    return TSR_OK;
}

/* A mean of large f16 numbers is one of them, though their sum is no f16 number. */
static tsr_status small_type_job(tsr_mesh *mesh, void *arg)
{
    static const char *const places[] = {"f16[100,8]@[R]", "f16[100,8]@[S(0)]",
                                         "f16[100,8]@[S(1)]"};
    static const char *const ids[] = {"i64[4,80]@[R]", "i64[4,80]@[S(0)]"};
    uint16_t got[32];
    (void)arg;

    for (int t = 0; t < 3; t++)
        for (int i = 0; i < 2; i++) {
            tsr_tensor *y =
                tsr_bag_mean(tsr_full(mesh, places[t], 1000), tsr_zeros(mesh, ids[i]), NULL, NULL);
            CHECK(tsr_to_host(y, got, sizeof got) == TSR_OK);
            for (int k = 0; k < 32; k++)
                CHECK(got[k] >= 0x63cf && got[k] <= 0x63d1); /* 1000, give or take a bit */
        }
    return TSR_OK;
}

/* The padding wins no gradient, whether rows are exchanged or not; each winner gets its own,
   whether one rank owns those of a bag or several do. */
static tsr_status padding_job(tsr_mesh *mesh, void *arg)
{
    static const char *const places[] = {"[R]", "[S(0)]"};
    const char *const attrs[] = {"rows=100000", "padding_idx=3"};
    int64_t winners[24];
    double got[12 * 6];
    (void)arg;

    for (int i = 0; i < 24; i++)
        winners[i] = i % 2 ? 3 : i % 4 ? 4000 * i : 5 + i;
    for (int p = 0; p < 2; p++) {
        char grad[64], index[64];
        double sum = 0;
        int64_t rows[12];
        tsr_tensor *in[2], *y;
        snprintf(grad, sizeof grad, "f64[4,6]@%s", places[p]);
        snprintf(index, sizeof index, "i64[4,6]@%s", places[p]);
        in[0] = tsr_arange(mesh, grad, 1, 1);
        in[1] = from_host(mesh, index, winners);
        y = tsr_op_run_to(mesh, "bag_max_backward", in, 2, attrs, 2, "[S(0)]");
        CHECK(tsr_to_host(tsr_sum(y, NULL, 0, false), &sum, sizeof sum) == TSR_OK);
        CHECK(sum == 12 * 12); /* 1 + 3 + ... + 23 */
        for (int i = 0; i < 12; i++)
            rows[i] = winners[2 * i];
        y = tsr_index_select(y, 0, from_host(mesh, "i64[12]", rows));
        CHECK(tsr_to_host(y, got, sizeof got) == TSR_OK);
        for (int i = 0; i < 12 * 6; i++)
            CHECK(got[i] == (i % 6 == i / 6 * 2 % 6 ? 1 + i / 6 * 2 : 0));
    }
    return TSR_OK;
}

static void lookups(void **state)
{
    (void)state;
    pass_on("2", no_offsets_job, NULL);
    pass_on("3", no_offsets_job, NULL);
    pass_on("4", nothing_job, NULL);
    pass_on("2", small_type_job, NULL);
    pass_on("2", padding_job, NULL);
    pass_on("4", padding_job, NULL);
}

/* ---- failing ---- */

/* The cheapest is to bring the result back into what is overwritten, which is a move as well. */
static tsr_status strict_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_zeros(mesh, "f32[64]@[R]"), *y = tsr_zeros(mesh, "f32[64]@[S(0)]");
    (void)arg;

    tsr_strict_set(mesh, true);
    CHECK(!tsr_tensor_ok(tsr_addcmul_inplace(x, y, y, 1)));
    CHECK(
        strcmp(
            tsr_mesh_message(mesh),
            "addcmul_inplace: strict mode forbids redistributing f32[64]@[S(0)] to [R] (128 bytes "
            "per rank)") == 0);
    tsr_mesh_clear_error(mesh);
    tsr_strict_set(mesh, false);
    CHECK(tsr_tensor_ok(tsr_addcmul_inplace(tsr_zeros(mesh, "f32[64]@[R]"), y, y, 1)));
    return TSR_OK;
}

/* What cannot be overwritten keeps its values. */
static tsr_status renorm_job(tsr_mesh *mesh, void *arg)
{
    const int64_t bad = 99;
    tsr_tensor *table = tsr_full(mesh, "f64[4,2]", 5);
    tsr_tensor *same = tsr_redistribute(table, "[R]"); /* shares memory */
    tsr_local view;
    (void)arg;

    CHECK(!tsr_tensor_ok(tsr_embedding_renorm(table, from_host(mesh, "i64[1]", &bad), 1, 2)));
    CHECK(strcmp(tsr_mesh_message(mesh), "embedding_renorm: id 99 at [0] is out of range 0 to 3") ==
          0);
    CHECK(tsr_local_view(table, &view) == TSR_OK && ((double *)view.data)[7] == 5);
    CHECK(tsr_local_view(same, &view) == TSR_OK && ((double *)view.data)[0] == 5);
    tsr_mesh_clear_error(mesh);
    CHECK(!tsr_tensor_ok(tsr_embedding(table, tsr_zeros(mesh, "i64[1,1,1,1,1,1,1,1]"), NULL)));
    CHECK(strcmp(tsr_mesh_message(mesh),
                 "embedding: ids i64[1,1,1,1,1,1,1,1]@[R] have too many dims to add another") == 0);
    return TSR_OK;
}

static tsr_status half_composed(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                                tsr_tensor **out, tsr_error *err)
{
    (void)n_in;
    (void)attrs;
    (void)err;
    out[0] = tsr_neg(in[0]);
    out[1] = tsr_matmul(in[0], in[0], NULL); /* inner sizes differ */
    return TSR_OK;
}

static tsr_status composed_job(tsr_mesh *mesh, void *arg)
{
    static const tsr_op half = {.size = sizeof(tsr_op),
                                .name = "half",
                                .inputs = "x",
                                .doc = "fails half-way",
                                .compose = half_composed};
    tsr_tensor *x = tsr_zeros(mesh, "f32[2,3]"), *out[TSR_OP_OUTPUTS];
    int64_t live = 0;
    (void)arg;

    CHECK(tsr_op_register(mesh, &half) == TSR_OK);
    for (int i = 0; i < 4; i++) {
        CHECK(tsr_op_run_all(mesh, "half", &x, 1, NULL, 0, out) == TSR_ERR_SHAPE);
        CHECK(!out[0] && !out[1]);
        tsr_mesh_clear_error(mesh);
        if (i == 1)
            live = tsr_allocations_live(mesh);
    }
    CHECK(tsr_allocations_live(mesh) == live);
    return TSR_OK;
}

static tsr_status same_shape(tsr_schema *s, tsr_error *err)
{
    (void)err;
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = s->in[0].shape;
    return TSR_OK;
}

static void says_nothing(const tsr_kernel_call *call)
{
    call->error->code = TSR_ERR_ARG;
}

static void copies(const tsr_kernel_call *call)
{
    memcpy(call->out[0].data, call->in[0].data, (size_t)tsr_shape_count(&call->in[0].shape) * 4);
}

static tsr_status mute_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    (void)s;
    (void)out;
    (void)err;
    return TSR_ERR_SPEC;
}

static tsr_status mute_job(tsr_mesh *mesh, void *arg)
{
    static const tsr_op kernel = {.size = sizeof(tsr_op),
                                  .name = "mute_kernel",
                                  .inputs = "x",
                                  .doc = "fails without a word",
                                  .shape = same_shape,
                                  .kernel = says_nothing};
    static const tsr_op rule = {.size = sizeof(tsr_op),
                                .name = "mute_rule",
                                .inputs = "x",
                                .doc = "its rules fail without a word",
                                .rule = mute_rule,
                                .shape = same_shape,
                                .kernel = copies};
    tsr_tensor *x = tsr_zeros(mesh, "f32[2,3]");
    (void)arg;

    CHECK(tsr_op_register(mesh, &kernel) == TSR_OK && tsr_op_register(mesh, &rule) == TSR_OK);
    for (int i = 0; i < 2; i++) { /* the second from the cache */
        CHECK(!tsr_tensor_ok(tsr_op_run(mesh, "mute_rule", &x, 1, NULL, 0)));
        CHECK(
            strstr(tsr_mesh_message(mesh), "mute_rule: its rules failed: placement does not fit"));
        tsr_mesh_clear_error(mesh);
    }
    CHECK(!tsr_tensor_ok(tsr_op_run(mesh, "mute_kernel", &x, 1, NULL, 0)));
    CHECK(strcmp(tsr_mesh_message(mesh), "mute_kernel: ") == 0);
    return TSR_OK;
}

static void failures(void **state)
{
    (void)state;
    pass_on("1", renorm_job, NULL);
    pass_on("2", strict_job, NULL);
    pass_on("2", composed_job, NULL);
    pass_on("1", mute_job, NULL);
}

/* ---- other edges ---- */

static tsr_status call_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *a = tsr_full(mesh, "f32[2,3]", 2), *b = tsr_full(mesh, "f32[3,2]", 3), *y = NULL;
    tsr_tensor *list[3] = {a, NULL, a};
    float got[4];
    (void)arg;

    CHECK(tsr_foreach("matmul", (tsr_tensor *const *[]){&a, &b}, 2, 1, NULL, 0, &y) ==
          TSR_OK); /* its bias is left out */
    CHECK(tsr_to_host(y, got, sizeof got) == TSR_OK && got[3] == 18);
    CHECK(!tsr_tensor_ok(tsr_cat(list, 3, 0)));
    CHECK(strcmp(tsr_mesh_message(mesh), "cat: input 1 of its list is NULL") == 0);
    CHECK(tsr_tensor_spec(tsr_cat(list, 3, 0))->shape.ndim == 0); /* of the error tensor */
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static tsr_status nan_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *table = tsr_zeros(mesh, "f32[4,2]"), *ids = tsr_zeros(mesh, "i64[1]");
    int64_t misses;
    (void)arg;

    for (int i = 0; i < 2; i++) /* refused, and remembered as such */
        tsr_embedding_renorm(table, ids, NAN, 2);
    tsr_mesh_clear_error(mesh);
    misses = tsr_counters_get(mesh).plan_misses;
    tsr_embedding_renorm(table, ids, NAN, 2);
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_counters_get(mesh).plan_misses == misses);
    return TSR_OK;
}

static tsr_status sim_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_zeros(mesh, "f32[8,8]@[S(0),R]"), *y = tsr_neg(x);
    (void)arg;

    CHECK(tsr_op_kernel("neg", &x, 1, NULL, 0, y, 1) == TSR_ERR_NO_DATA);
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static void calls(void **state)
{
    (void)state;
    pass_on("2", call_job, NULL);
    pass_on("1", nan_job, NULL);
    pass_with((tsr_run_opts)RUN_OPTS(.mesh = "4x4", .world = TSR_WORLD_SIM), sim_job, NULL);
}

/* ---- the ends of the floating point range ---- */

static bool is_near(double a, double b, double digits)
{
    return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= digits * fabs(b);
}

/* Inverse functions of the largest numbers are small: nothing on the way is larger than x. */
static tsr_status inverse_job(tsr_mesh *mesh, void *arg)
{
    const double x[8] = {1.7e308, -1.7e308, INFINITY, -INFINITY, NAN, 0, 1, 1e-300};
    const float f[8] = {3e38f, -3e38f, INFINITY, -INFINITY, NAN, 0, 1, 1e-38f};
    tsr_tensor *a = from_host(mesh, "f64[8]@[S(0)]", x);
    tsr_tensor *b = from_host(mesh, "f32[8]@[S(0)]", f);
    double got[8];
    float narrow[8];
    (void)arg;

    CHECK(tsr_to_host(tsr_asinh(a), got, sizeof got) == TSR_OK);
    for (int i = 0; i < 8; i++)
        CHECK(is_near(got[i], asinh(x[i]), 1e-14));
    CHECK(tsr_to_host(tsr_acosh(a), got, sizeof got) == TSR_OK);
    for (int i = 0; i < 8; i++)
        CHECK(is_near(got[i], acosh(x[i]), 1e-14));
    CHECK(tsr_to_host(tsr_asinh(b), narrow, sizeof narrow) == TSR_OK);
    for (int i = 0; i < 8; i++)
        CHECK(is_near(narrow[i], asinh(f[i]), 1e-6));
    CHECK(tsr_to_host(tsr_acosh(b), narrow, sizeof narrow) == TSR_OK);
    for (int i = 0; i < 8; i++)
        CHECK(is_near(narrow[i], acosh(f[i]), 1e-6));
    return TSR_OK;
}

static tsr_status nan_stays_job(tsr_mesh *mesh, void *arg)
{
    const double x[4] = {NAN, 0.25, -1, 1};
    const int32_t least[4] = {INT32_MIN, INT32_MAX, 3, -3};
    tsr_tensor *a = from_host(mesh, "f64[4]@[S(0)]", x);
    tsr_tensor *i = from_host(mesh, "i32[4]@[S(0)]", least);
    int32_t whole[4];
    double got[4];
    (void)arg;

    CHECK(tsr_to_host(tsr_hardshrink(a, 0.5), got, sizeof got) == TSR_OK);
    CHECK(isnan(got[0]) && got[1] == 0 && got[2] == -1 && got[3] == 1);
    CHECK(tsr_to_host(tsr_threshold(a, 0.5, 7), got, sizeof got) == TSR_OK);
    CHECK(isnan(got[0]) && got[1] == 7 && got[2] == 7 && got[3] == 1);
    CHECK(tsr_to_host(tsr_hardshrink(i, 3), whole, sizeof whole) == TSR_OK);
    CHECK(whole[0] == INT32_MIN && whole[1] == INT32_MAX && whole[2] == 0 && whole[3] == 0);
    return TSR_OK;
}

/* No integer is infinite, not even those at the ends. */
static tsr_status infinite_job(tsr_mesh *mesh, void *arg)
{
    static const char *const names[] = {"isinf", "isposinf", "isneginf"};
    static const bool want[3][4] = {
        {true, true, false, false}, {true, false, false, false}, {false, true, false, false}};
    const double x[4] = {INFINITY, -INFINITY, NAN, 1.7e308};
    const int64_t i64[4] = {INT64_MIN, INT64_MAX, 0, -1};
    const int32_t i32[4] = {INT32_MIN, INT32_MAX, 0, -1};
    const uint8_t u8[4] = {0, 255, 1, 128};
    tsr_tensor *in[4] = {from_host(mesh, "f64[4]", x), from_host(mesh, "i64[4]", i64),
                         from_host(mesh, "i32[4]@[S(0)]", i32),
                         from_host(mesh, "u8[4]@[S(0)]", u8)};
    (void)arg;

    for (int k = 0; k < 3; k++)
        for (int t = 0; t < 4; t++) {
            bool got[4];
            CHECK(tsr_to_host(tsr_op_run(mesh, names[k], &in[t], 1, NULL, 0), got, sizeof got) ==
                  TSR_OK);
            for (int i = 0; i < 4; i++)
                CHECK(got[i] == (t == 0 && want[k][i]));
        }
    return TSR_OK;
}

/* From one end of the range to the other is more than the largest number. */
static tsr_status whole_range_job(tsr_mesh *mesh, void *arg)
{
    static const char *const calls[][3] = {{"f64[1000]@[S(0)]", "low=-1.7e308", "high=1.7e308"},
                                           {"f32[1000]@[S(0)]", "low=-3.4e38", "high=3.4e38"},
                                           {"bf16[1000]@[S(0)]", "low=-3e38", "high=3e38"}};
    (void)arg;

    for (int i = 0; i < 3; i++) {
        tsr_tensor *x = tsr_zeros(mesh, calls[i][0]);
        tsr_tensor *y = tsr_op_run(mesh, "uniform", &x, 1, &calls[i][1], 2);
        double got[1000], scale = i == 0 ? 1.7e308 : 3e38;
        int low = 0, high = 0;

        CHECK(tsr_to_host(tsr_cast(y, TSR_F64), got, sizeof got) == TSR_OK);
        for (int k = 0; k < 1000; k++) {
            CHECK(isfinite(got[k]));
            low += got[k] < -0.5 * scale;
            high += got[k] > 0.5 * scale;
        }
        CHECK(low > 150 && low < 350 && high > 150 && high < 350);
    }
    return TSR_OK;
}

/* The average of large numbers is one of them, though their sum is infinite. */
static tsr_status average_job(tsr_mesh *mesh, void *arg)
{
    static const char *const dtypes[] = {"f64", "f32", "f16", "bf16"};
    static const double large[] = {1.7e308, 3e38, 65504, 3e38};
    static const double digits[] = {0x1p-52, 0x1p-23, 0, 0x1p-8};
    static const int64_t sizes[] = {5, 1000};
    (void)arg;

    for (int i = 0; i < 8; i++) {
        const int64_t n = sizes[i % 2];
        char spec[32];
        tsr_tensor *x, *y;
        double got[2000], want[2000];

        snprintf(spec, sizeof spec, "%s[2,%d]@[R]", dtypes[i / 2], (int)n);
        x = tsr_full(mesh, spec, large[i / 2]);
        for (int k = 0; k < 3; k++) {
            static const char *const to[] = {"[R]", "[S(0)]", "[S(1)]"};
            y = tsr_redistribute(tsr_redistribute(x, "[P(avg)]"), to[k]);
            CHECK(tsr_to_host(tsr_cast(y, TSR_F64), got, (size_t)(2 * n) * sizeof *got) == TSR_OK);
            CHECK(tsr_to_host(tsr_cast(x, TSR_F64), want, (size_t)(2 * n) * sizeof *want) ==
                  TSR_OK);
            for (int64_t e = 0; e < 2 * n; e++) /* a third of three rounded ones */
                CHECK(is_near(got[e], want[e], digits[i / 2]));
        }
    }
    return TSR_OK;
}

static void ends_of_the_range(void **state)
{
    (void)state;
    pass_on("2", average_job, NULL);
    pass_on("3", average_job, NULL);
    pass_on("2", inverse_job, NULL);
    pass_on("2", nan_stays_job, NULL);
    pass_on("2", infinite_job, NULL);
    pass_on("2", whole_range_job, NULL);
}

/* Placements alone are enough to ask for a price. */
static void prices(void **state)
{
    tsr_mesh_shape mesh;
    tsr_schema schema;
    tsr_spec in[2];
    tsr_op_strategy best, way = {0};
    (void)state;

    tsr_mesh_parse("4", &mesh, NULL);
    tsr_spec_parse("f32[1000,64]@[S(0)]", &mesh, &in[0], NULL);
    tsr_spec_parse("i64[512]@[S(0)]", &mesh, &in[1], NULL);
    assert_int_equal(tsr_schema_make(tsr_op_find(NULL, "embedding"), in, 2, NULL, 0, &schema, NULL),
                     TSR_OK);
    assert_int_equal(tsr_op_plan(&schema, NULL, NULL, false, &best, NULL), TSR_OK);
    for (int k = 0; k < 2; k++)
        way.in[k].place[0] = best.in[k].place[0];
    way.out[0].place[0] = best.out[0].place[0];
    assert_int_equal(tsr_op_price(&schema, NULL, NULL, &way, NULL), TSR_OK);
    assert_true(way.seconds == best.seconds && way.comm == best.comm);
    way.in[0].place[0] = (tsr_placement){.kind = TSR_SHARD, .dim = 7};
    assert_int_equal(tsr_op_price(&schema, NULL, NULL, &way, NULL), TSR_ERR_SPEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookups),           cmocka_unit_test(failures), cmocka_unit_test(calls),
        cmocka_unit_test(ends_of_the_range), cmocka_unit_test(prices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
