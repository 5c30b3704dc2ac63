/* SPDX-License-Identifier: Apache-2.0 */
/* test_grad_edges.c - gradients at edge points, where differences say nothing: ties, bends, bounds,
   zeros and poles, outputs that nothing depends on. What is expected stands in a table; whole and
   sharded tensors give the same. Public headers only. */
#include "support/test.h"

enum { MOST = 6 };

/* A call on f64[n] operands, the gradient of whose outputs is 1 everywhere. */
typedef struct edge {
    const char *op, *attrs[2];
    int n_in, n;
    double in[2][MOST], grad[2][MOST];
} edge;

#define LN2 0.69314718055994530942

static const edge edges[] = {
    /* a^b: b a^(b - 1) is 0 where b is 0, whatever a is; a^b log a is 0 where a is 0 */
    {"pow",
     {0},
     2,
     6,
     {{0, 2, -3, 0, 0, 2}, {0, 0, 0, 3, 1, 1}},
     {{0, 0, 0, 0, 1, 1}, {0, LN2, NAN, 0, 0, 2 * LN2}}},
    {"pow", {0}, 2, 2, {{0, 0}, {0.5, -1}}, {{INFINITY, -INFINITY}, {0, -INFINITY}}},
    /* ties share */
    {"maximum",
     {0},
     2,
     5,
     {{1, 2, 3, INFINITY, 0}, {2, 2, 2, INFINITY, -0.0}},
     {{0, 0.5, 1, 0.5, 0.5}, {1, 0.5, 0, 0.5, 0.5}}},
    {"minimum",
     {0},
     2,
     5,
     {{1, 2, 3, -INFINITY, 0}, {2, 2, 2, -INFINITY, -0.0}},
     {{1, 0.5, 0, 0.5, 0.5}, {0, 0.5, 1, 0.5, 0.5}}},
    {"max", {0}, 1, 5, {{3, 1, 3, 2, 3}}, {{1 / 3.0, 0, 1 / 3.0, 0, 1 / 3.0}}},
    {"min", {0}, 1, 5, {{1, 3, 1, 2, 1}}, {{1 / 3.0, 0, 1 / 3.0, 0, 1 / 3.0}}},
    {"norm", {"p=inf"}, 1, 4, {{-3, 1, 3, 0}}, {{-0.5, 0, 0.5, 0}}},
    /* a bound still lets the gradient through */
    {"clamp", {"min=-1", "max=1"}, 1, 6, {{-2, -1, 0, 1, 2, 0.5}}, {{0, 1, 1, 1, 0, 1}}},
    {"clamp", {"max=1"}, 1, 3, {{0.5, 1, 2}}, {{1, 1, 0}}},
    {"relu6", {0}, 1, 4, {{0, 6, -1, 7}}, {{1, 1, 0, 0}}},
    {"hardsigmoid", {0}, 1, 4, {{-3, 3, -4, 4}}, {{1 / 6.0, 1 / 6.0, 0, 0}}},
    {"hardswish", {0}, 1, 4, {{-3, 3, -4, 4}}, {{-0.5, 1.5, 0, 1}}},
    /* bends: as below 0 */
    {"relu", {0}, 1, 4, {{0, -0.0, 1, -1}}, {{0, 0, 1, 0}}},
    {"leaky_relu", {"negative_slope=0.25"}, 1, 4, {{0, -0.0, 1, -1}}, {{0.25, 0.25, 1, 0.25}}},
    {"elu", {"alpha=0.5"}, 1, 3, {{0, 1, -LN2}}, {{0.5, 1, 0.25}}},
    {"abs", {0}, 1, 4, {{0, -0.0, 2, -2}}, {{0, 0, 1, -1}}},
    {"threshold", {"threshold=1", "value=5"}, 1, 3, {{1, 1.5, 0}}, {{0, 1, 0}}},
    {"hardshrink", {"lambd=0.5"}, 1, 5, {{0.5, -0.5, 0, 1, -1}}, {{0, 0, 0, 1, 1}}},
    {"softshrink", {"lambd=0.5"}, 1, 5, {{0.5, -0.5, 0, 1, -1}}, {{0, 0, 0, 1, 1}}},
    {"softsign", {0}, 1, 2, {{0, 1}}, {{1, 0.25}}},
    {"norm", {"p=1"}, 1, 3, {{0, -2, 2}}, {{0, -1, 1}}},
    /* the point of the cone */
    {"norm", {"p=2"}, 1, 3, {{0, 0, 0}}, {{0, 0, 0}}},
    {"norm", {"p=2"}, 1, 2, {{3, -4}}, {{0.6, -0.8}}},
    {"std", {0}, 1, 3, {{2, 2, 2}}, {{0, 0, 0}}},
    {"var", {0}, 1, 3, {{2, 2, 2}}, {{0, 0, 0}}},
    /* products with zeros */
    {"prod", {0}, 1, 3, {{0, 2, 3}}, {{6, 0, 0}}},
    {"prod", {0}, 1, 3, {{0, 2, 0}}, {{0, 0, 0}}},
    {"cumprod", {"dim=0"}, 1, 3, {{2, 0, 3}}, {{1, 8, 0}}},
    /* poles and roots */
    {"sqrt", {0}, 1, 2, {{0, 4}}, {{INFINITY, 0.25}}},
    {"rsqrt", {0}, 1, 2, {{0, 4}}, {{-INFINITY, -0.0625}}},
    {"log", {0}, 1, 2, {{0, 4}}, {{INFINITY, 0.25}}},
    {"log1p", {0}, 1, 2, {{-1, 1}}, {{INFINITY, 0.5}}},
    {"reciprocal", {0}, 1, 2, {{0, 2}}, {{-INFINITY, -0.25}}},
    {"asinh", {0}, 1, 4, {{0, 1e200, -1e-200, INFINITY}}, {{1, 1e-200, 1, 0}}},
    {"acosh", {0}, 1, 3, {{1, 1e300, 0.5}}, {{INFINITY, 1e-300, NAN}}},
    {"remainder", {0}, 2, 3, {{4, 0, -4}, {2, 2, 2}}, {{1, 1, 1}, {-2, 0, 2}}},
    {"fmod", {0}, 2, 3, {{4, 0, -5}, {2, 2, 2}}, {{1, 1, 1}, {-2, 0, 2}}},
    /* both operands at once */
    {"l1_loss", {"reduction=sum"}, 2, 3, {{1, 2, 3}, {1, 3, 2}}, {{0, -1, 1}, {0, 1, -1}}},
};

static bool is_near(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= 1e-12 * fabs(b);
}

static tsr_status edge_job(tsr_mesh *mesh, void *arg)
{
    const edge *e = arg;
    const int n_attrs = e->attrs[0] ? e->attrs[1] ? 2 : 1 : 0;
    static const char *const places[] = {"[R]", "[S(0)]", "[SS(0,2)]"};

    for (int p = 0; p < 3; p++) {
        tsr_tensor *in[2] = {NULL}, *out[TSR_OP_OUTPUTS], *grad_out[TSR_OP_OUTPUTS] = {NULL};
        tsr_tensor *grad[2] = {NULL};
        double got[MOST];
        char spec[32];

        snprintf(spec, sizeof spec, "f64[%d]@%s", e->n, places[p]);
        for (int k = 0; k < e->n_in; k++)
            in[k] = from_host(mesh, spec, e->in[k]);
        CHECK(tsr_op_run_all(mesh, e->op, in, e->n_in, (const char *const *)e->attrs, n_attrs,
                             out) == TSR_OK);
        grad_out[0] = tsr_full(mesh, tsr_tensor_spec(out[0])->shape.ndim ? spec : "f64[]", 1);
        CHECK(tsr_op_grad(mesh, e->op, in, e->n_in, (const char *const *)e->attrs, n_attrs, out,
                          grad_out, NULL, grad) == TSR_OK);
        for (int k = 0; k < e->n_in; k++) {
            CHECK(grad[k] && tsr_to_host(grad[k], got, (size_t)e->n * sizeof *got) == TSR_OK);
            for (int i = 0; i < e->n; i++)
                if (!is_near(got[i], e->grad[k][i])) {
                    fprintf(stderr,
                            "%s at %s: gradient of input %d, element %d: %.17g, not %.17g\n", e->op,
                            places[p], k, i, got[i], e->grad[k][i]);
                    return TSR_ERR_MISMATCH;
                }
        }
    }
    return TSR_OK;
}

static void edge_points(void **state)
{
    int failed = 0;
    (void)state;

    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        edge e = edges[i];
        tsr_run_opts opts = RUN_OPTS(.mesh = "2", .world = TSR_WORLD_THREAD);
        tsr_error err = {0};

        if (tsr_run(&opts, edge_job, &e, &err) != TSR_OK) {
            fprintf(stderr, "%s: %s\n", e.op, err.text);
            failed++;
        }
    }
    assert_int_equal(failed, 0);
}

/* Outputs that nothing depends on have no gradient: the parts that count, in their places. */
static tsr_status parts_job(tsr_mesh *mesh, void *arg)
{
    static const double want[3][6] = {{1, 2, 0, 0, 0, 0}, {0, 0, 0, 1, 2, 3}, {1, 2, 0, 1, 2, 3}};
    const char *const sizes[] = {"sizes=2/1/3"};
    tsr_tensor *x = tsr_arange(mesh, "f64[6]@[S(0)]", 0, 1), *out[TSR_OP_OUTPUTS];
    double got[6];
    (void)arg;

    CHECK(tsr_op_run_all(mesh, "split", &x, 1, sizes, 1, out) == TSR_OK);
    out[3] = (tsr_tensor *)(uintptr_t)64; /* behind the list, where reading is a fault */
    for (int k = 0; k < 3; k++) {
        tsr_tensor *grad_out[TSR_OP_OUTPUTS] = {NULL}, *grad = NULL;

        if (k != 1)
            grad_out[0] = tsr_arange(mesh, "f64[2]@[R]", 1, 1);
        if (k != 0)
            grad_out[2] = tsr_arange(mesh, "f64[3]@[S(0)]", 1, 1);
        CHECK(tsr_op_grad(mesh, "split", &x, 1, sizes, 1, out, grad_out, NULL, &grad) == TSR_OK);
        CHECK(tsr_to_host(grad, got, sizeof got) == TSR_OK);
        CHECK(memcmp(got, want[k], sizeof got) == 0);
    }
    return TSR_OK;
}

/* An axis that an operand has twice: its gradient is on the diagonal. */
static tsr_status diagonal_job(tsr_mesh *mesh, void *arg)
{
    static const double want[9] = {5, 0, 0, 0, 6, 0, 0, 0, 7};
    const char *const equation[] = {"equation=aa->a"};
    tsr_tensor *x = tsr_arange(mesh, "f64[3,3]@[S(0)]", 0, 1), *out[TSR_OP_OUTPUTS];
    tsr_tensor *grad_out[TSR_OP_OUTPUTS] = {tsr_arange(mesh, "f64[3]@[R]", 5, 1)}, *grad = NULL;
    double got[9];
    (void)arg;

    CHECK(tsr_op_run_all(mesh, "einsum", &x, 1, equation, 1, out) == TSR_OK);
    CHECK(tsr_to_host(out[0], got, 3 * sizeof *got) == TSR_OK);
    CHECK(got[0] == 0 && got[1] == 4 && got[2] == 8);
    CHECK(tsr_op_grad(mesh, "einsum", &x, 1, equation, 1, out, grad_out, NULL, &grad) == TSR_OK);
    CHECK(tsr_to_host(grad, got, sizeof got) == TSR_OK);
    CHECK(memcmp(got, want, sizeof got) == 0);
    return TSR_OK;
}

static void places_in_the_gradient(void **state)
{
    (void)state;
    pass_on("1", parts_job, NULL);
    pass_on("2", parts_job, NULL);
    pass_on("1", diagonal_job, NULL);
    pass_on("2", diagonal_job, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(edge_points),
                                       cmocka_unit_test(places_in_the_gradient)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
