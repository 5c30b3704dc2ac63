/* SPDX-License-Identifier: Apache-2.0 */
/* test_losses.c - softmax's kin, losses and normalisations of last dims on meshes of threads,
   through the public headers: PyTorch's values for the attributes that are easily mistaken,
   whatever is sharded; large and infinite logits, empty batches, targets that there are not, what
   is communicated where classes are sharded, and calls that cannot be. */
#include "support/test.h"

static void pass(const char *mesh, tsr_job job, void *arg)
{
    pass_with((tsr_run_opts)RUN_OPTS(.mesh = mesh, .world = TSR_WORLD_THREAD, .has_timeout = true,
                                     .timeout_ms = 60000),
              job, arg);
}

static const double X[16] = {0.5,  -1.0, 2.0, 0.25, 1.5, 0.0, -0.5, 3.0,
                             -2.0, 1.0,  0.5, 0.0,  0.1, 0.2, 0.3,  0.4};
static const int64_t TARGET[4] = {2, 0, 1, 3};
static const double WEIGHT[4] = {0.5, 2.0, 1.5, 0.25}, POSITIVE[4] = {1, 2, 0.5, 3};

static tsr_tensor *tensor(tsr_mesh *mesh, const char *shape, const char *place, const void *data)
{
    char text[64];

    snprintf(text, sizeof text, "%s@[%s]", shape, place);
    return from_host(mesh, text, data);
}

/* Replicated. */
static const char *everywhere(const tsr_mesh *mesh)
{
    return tsr_mesh_shape_get(mesh)->ndim > 1 ? "R,R" : "R";
}

static bool is_near(tsr_tensor *x, const double *want, int n)
{
    double got[16];

    if (!tsr_tensor_ok(x) || tsr_to_host(x, got, (size_t)n * sizeof *got) != TSR_OK)
        return false;
    for (int i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= 2e-10)) {
            fprintf(stderr, "element %d is %.12g, not %.12g\n", i, got[i], want[i]);
            return false;
        }
    return true;
}

/* ---- values ---- */

typedef struct class_case {
    tsr_class_opts opts;
    bool weighted;
    double loss[4], grad[8]; /* of the first two rows of x */
} class_case;

static const class_case CLASSES[] = {
    {.opts = CLASS_OPTS(),
     .loss = {1.020436236135},
     .grad = {0.0385587063, 0.0086036103, -0.0771918673, 0.0300295507, -0.2071929134, 0.0095515521,
              0.0057933092, 0.1918480521}},
    {.opts = CLASS_OPTS(.ignore_index = 1),
     .weighted = true,
     .loss = {0.776413780976},
     .grad = {0.1028232169, 0.0229429608, -0.2058449795, 0.0800788018, -0.1841714786, 0.0084902685,
              0.0051496082, 0.1705316019}},
    {.opts = CLASS_OPTS(.ignore_index = 1, .label_smoothing = 0.1),
     .weighted = true,
     .loss = {1.008360514817},
     .grad = {0.0942686508, 5.15689e-05, -0.169285612, 0.0749653923, -0.1632241033, -0.0127767985,
              -0.0109377276, 0.1869386293}},
    {.opts = CLASS_OPTS(.reduction = TSR_LOSS_SUM, .label_smoothing = 0.1),
     .weighted = true,
     .loss = {3.675547499008},
     .grad = {0.2121044643, 0.0001160301, -0.3808926271, 0.1686721327, -0.3672542323, -0.0287477966,
              -0.0246098871, 0.420611916}},
    {.opts = CLASS_OPTS(.reduction = TSR_LOSS_NONE, .ignore_index = 0, .label_smoothing = 0.3),
     .weighted = true,
     .loss = {1.044513129126, 0, 1.399516372736, 0.666001917668},
     .grad = {0.1736089171, -0.1028952335, -0.2163754735, 0.14566179, 0, 0, 0, 0}},
};

static tsr_status check_classes(tsr_mesh *mesh, const class_case *c, const char *x_at,
                                const char *target_at)
{
    const bool each = c->opts.reduction == TSR_LOSS_NONE;
    const double ones[4] = {1, 1, 1, 1};
    tsr_tensor *x = tensor(mesh, "f64[4,4]", x_at, X);
    tsr_tensor *target = tensor(mesh, "i64[4]", target_at, TARGET);
    tsr_tensor *weight = c->weighted ? tensor(mesh, "f64[4]", everywhere(mesh), WEIGHT) : NULL;
    tsr_tensor *grad = tensor(mesh, each ? "f64[4]" : "f64[]", everywhere(mesh), ones), *lse,
               *divisor, *gx;

    CHECK(is_near(tsr_cross_entropy(x, target, weight, &c->opts, &lse, &divisor), c->loss,
                  each ? 4 : 1));
    gx = tsr_cross_entropy_backward(grad, x, target, weight, lse, divisor, &c->opts);
    CHECK(is_near(tsr_slice(gx, 0, 0, 2, 1), c->grad, 8));
    if (c->opts.label_smoothing != 0)
        return TSR_OK;
    x = tsr_log_softmax(x, -1);
    CHECK(is_near(tsr_nll_loss(x, target, weight, &c->opts, &divisor), c->loss, each ? 4 : 1));
    gx = tsr_nll_loss_backward(grad, x, target, weight, divisor, &c->opts);
    CHECK(is_near(tsr_slice(tsr_log_softmax_backward(gx, x, -1), 0, 0, 2, 1), c->grad, 8));
    return TSR_OK;
}

static tsr_status classes_job(tsr_mesh *mesh, void *arg)
{
    static const char *const at[][2] = {{"R", "R"},       {"S(0)", "S(0)"}, {"S(1)", "R"},
                                        {"S(1)", "S(0)"}, {"P(sum)", "R"},  {"SS(1,2)", "R"}};
    (void)arg;

    for (size_t i = 0; i < sizeof CLASSES / sizeof *CLASSES; i++)
        for (size_t k = 0; k < sizeof at / sizeof *at; k++)
            if (check_classes(mesh, &CLASSES[i], at[k][0], at[k][1]) != TSR_OK)
                return TSR_ERR_MISMATCH;
    return TSR_OK;
}

static void losses_of_classes(void **state)
{
    (void)state;
    pass("1", classes_job, NULL);
    pass("2", classes_job, NULL);
    pass("3", classes_job, NULL); /* of 4 rows and 4 classes */
    pass("6", classes_job, NULL); /* some have none */
}

/* On both mesh dims: rows on one, classes on the other. */
static tsr_status both_job(tsr_mesh *mesh, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < sizeof CLASSES / sizeof *CLASSES; i++) {
        if (check_classes(mesh, &CLASSES[i], "S(0),S(1)", "S(0),R") != TSR_OK ||
            check_classes(mesh, &CLASSES[i], "S(1),S(0)", "R,S(0)") != TSR_OK ||
            check_classes(mesh, &CLASSES[i], "S(1),S(1)", "R,R") != TSR_OK)
            return TSR_ERR_MISMATCH;
    }
    return TSR_OK;
}

static void rows_and_classes(void **state)
{
    (void)state;
    pass("2x2", both_job, NULL);
    pass("3x2", both_job, NULL);
}

static const double PAIR_TARGET[16] = {0.7310585786300049, 0.11920292202211755, 0.9820137900379085,
                                       0.6224593312018546, 0.9525741268224334,  0.5,
                                       0.2689414213699951, 0.9975273768433653,  0.01798620996209156,
                                       0.8807970779778823, 0.7310585786300049,  0.5,
                                       0.549833997312478,  0.5986876601124521,  0.6456563062257954,
                                       0.6899744811276125};

static tsr_status pairs_job(tsr_mesh *mesh, void *arg)
{
    static const char *const at[] = {"R", "S(0)", "S(1)", "P(sum)"};
    const double one = 1;
    const double bce[8] = {-0.0033937265, 0.0019560681, -0.0013339767, -0.0189167961,
                           -0.0168749563, -0.03125,     0.0240377245,  -0.017446308};
    const double mse[8] = {-0.0288823223, -0.1399003653, 0.1272482762,  -0.0465574164,
                           0.0684282341,  -0.0625,       -0.0961176777, 0.2503090779};
    const double l1[8] = {-0.0625, -0.0625, 0.0625, -0.0625, 0.0625, -0.0625, -0.0625, 0.0625};
    (void)arg;

    for (int k = 0; k < 4; k++) {
        tsr_tensor *x = tensor(mesh, "f64[4,4]", at[k], X), *gx;
        tsr_tensor *t = tensor(mesh, "f64[4,4]", at[3 - k], PAIR_TARGET);
        tsr_tensor *w = tensor(mesh, "f64[4,1]", "R", WEIGHT);
        tsr_tensor *p = tensor(mesh, "f64[4]", "R", POSITIVE);
        tsr_tensor *g = tensor(mesh, "f64[]", "R", &one);

        CHECK(
            is_near(tsr_bce_with_logits(x, t, w, p, TSR_LOSS_MEAN), (double[]){0.634729934353}, 1));
        CHECK(tsr_bce_with_logits_backward(g, x, t, w, p, TSR_LOSS_MEAN, &gx, NULL, NULL, NULL) ==
              TSR_OK);
        CHECK(is_near(tsr_slice(gx, 0, 0, 2, 1), bce, 8));
        CHECK(is_near(tsr_mse_loss(x, t, TSR_LOSS_MEAN), (double[]){0.786662464455}, 1));
        gx = tsr_mse_loss_backward(g, x, t, TSR_LOSS_MEAN);
        CHECK(is_near(tsr_slice(gx, 0, 0, 2, 1), mse, 8));
        CHECK(is_near(tsr_l1_loss(x, t, TSR_LOSS_MEAN), (double[]){0.681996694682}, 1));
        gx = tsr_l1_loss_backward(g, x, t, TSR_LOSS_MEAN);
        CHECK(is_near(tsr_slice(gx, 0, 0, 2, 1), l1, 8));
    }
    return TSR_OK;
}

static void losses_of_pairs(void **state)
{
    (void)state;
    pass("1", pairs_job, NULL);
    pass("3", pairs_job, NULL);
}

static tsr_status norms_job(tsr_mesh *mesh, void *arg)
{
    static const char *const at[] = {"R", "S(0)", "S(1)", "SS(1,2)"};
    const double ln[4] = {0.752486190802, -0.083031498034, 2.64974744487, 1.840011204818};
    const double ln_grad[8] = {-0.2058315074, 0.2790912986, 0.2287646348,  -0.3020244261,
                               0.0013855348,  0.2570410514, -0.2209137357, -0.0375128505};
    const double rms[4] = {0.158588275117, -0.20686917678, 2.556334788855, 0.033757469836};
    const double rms_grad[8] = {0.0779490473, 0.6853241827, 0.3212573826, 0.0154161279,
                                0.1839048124, 0.5897667989, 0.2702502432, -0.0469098368};
    (void)arg;

    for (int k = 0; k < 4; k++) {
        tsr_tensor *x = tensor(mesh, "f64[4,4]", at[k], X), *mean, *rstd, *gx, *y;
        tsr_tensor *g = tensor(mesh, "f64[4,4]", at[3 - k], PAIR_TARGET);
        tsr_tensor *w = tensor(mesh, "f64[4]", "R", WEIGHT);
        tsr_tensor *b = tensor(mesh, "f64[4]", "S(0)", POSITIVE);

        y = tsr_mul(tsr_layer_norm(x, w, b, 1, 1e-5, &mean, &rstd), g);
        CHECK(is_near(tsr_slice(y, 0, 0, 1, 1), ln, 4));
        CHECK(tsr_layer_norm_backward(g, x, w, mean, rstd, 1, &gx, NULL, NULL) == TSR_OK);
        CHECK(is_near(tsr_slice(gx, 0, 0, 2, 1), ln_grad, 8));
        y = tsr_mul(tsr_rms_norm(x, w, 1, 1e-5, &rstd), g);
        CHECK(is_near(tsr_slice(y, 0, 0, 1, 1), rms, 4));
        CHECK(tsr_rms_norm_backward(g, x, w, rstd, 1, &gx, NULL) == TSR_OK);
        CHECK(is_near(tsr_slice(gx, 0, 0, 2, 1), rms_grad, 8));
    }
    return TSR_OK;
}

static void norms_of_last_dims(void **state)
{
    (void)state;
    pass("1", norms_job, NULL);
    pass("3", norms_job, NULL);
}

/* ---- limits ---- */

/* In f32: logits whose logarithm of sums f32 could not hold to more than 1e-3, and -infinity. */
static tsr_status large_job(tsr_mesh *mesh, void *arg)
{
    const float x[8] = {1e4F, 0, -1e4F, 9999, -INFINITY, 1, 2, 3};
    const float want[8] = {0.73105858F,  0,           0,        -0.73105858F, 0,
                           -0.90996945F, 0.24472849F, 0.665241F};
    const float loss[2] = {1.31326163F, 2.40760589F}, ones[2] = {1, 1};
    const tsr_class_opts each = CLASS_OPTS(.reduction = TSR_LOSS_NONE);
    const int32_t t[2] = {3, 1};
    (void)arg;

    for (int k = 0; k < 3; k++) {
        tsr_tensor *logits = tensor(mesh, "f32[2,4]", k == 0 ? "R" : k == 1 ? "S(0)" : "S(1)", x);
        tsr_tensor *target = tensor(mesh, "i32[2]", "R", t);
        tsr_tensor *g = tensor(mesh, "f32[2]", "R", ones), *lse;
        tsr_tensor *y = tsr_cross_entropy(logits, target, NULL, &each, &lse, NULL);
        float got[8];

        CHECK(tsr_to_host(y, got, sizeof loss) == TSR_OK);
        for (int i = 0; i < 2; i++)
            CHECK(fabsf(got[i] - loss[i]) <= 5e-7F);
        y = tsr_cross_entropy_backward(g, logits, target, NULL, lse, NULL, &each);
        CHECK(tsr_to_host(y, got, sizeof got) == TSR_OK);
        for (int i = 0; i < 8; i++)
            CHECK(fabsf(got[i] - want[i]) <= 2e-7F);
    }
    return TSR_OK;
}

static void large_logits(void **state)
{
    (void)state;
    pass("1", large_job, NULL);
    pass("3", large_job, NULL);
}

static tsr_status empty_job(tsr_mesh *mesh, void *arg)
{
    const tsr_class_opts sum = CLASS_OPTS(.reduction = TSR_LOSS_SUM);
    const int64_t ignored[4] = {-100, -100, -100, -100};
    tsr_tensor *x = tsr_zeros(mesh, "f64[0,4]@[S(0)]"), *t = tsr_zeros(mesh, "i64[0]@[S(0)]");
    double got;
    (void)arg;

    CHECK(tsr_to_host(tsr_cross_entropy(x, t, NULL, &sum, NULL, NULL), &got, sizeof got) == TSR_OK);
    CHECK(got == 0);
    CHECK(tsr_to_host(tsr_cross_entropy(x, t, NULL, NULL, NULL, NULL), &got, sizeof got) == TSR_OK);
    CHECK(isnan(got)); /* as in PyTorch: a mean of nothing */
    x = tensor(mesh, "f64[4,4]", "S(0)", X);
    t = tensor(mesh, "i64[4]", "S(0)", ignored);
    CHECK(tsr_to_host(tsr_nll_loss(x, t, NULL, NULL, NULL), &got, sizeof got) == TSR_OK);
    CHECK(isnan(got));
    CHECK(tsr_tensor_ok(tsr_softmax(tsr_zeros(mesh, "f64[3,0]@[S(1)]"), 1)));
    CHECK(tsr_tensor_ok(
        tsr_layer_norm(tsr_zeros(mesh, "f64[0,4]@[S(0)]"), NULL, NULL, 1, 0, NULL, NULL)));
    return TSR_OK;
}

static void nothing(void **state)
{
    (void)state;
    pass("1", empty_job, NULL);
    pass("3", empty_job, NULL);
}

/* What a rank gets: four numbers of each of 8 rows from one other, not its part of the logits. */
static tsr_status traffic_job(tsr_mesh *mesh, void *arg)
{
    const tsr_class_opts sum = CLASS_OPTS(.reduction = TSR_LOSS_SUM);
    tsr_tensor *x = tsr_zeros(mesh, "f32[8,4096]@[S(1)]"), *t = tsr_zeros(mesh, "i64[8]@[R]");
    tsr_tensor *g = tsr_zeros(mesh, "f32[]@[R]"), *lse;
    (void)arg;

    tsr_counters_reset(mesh);
    CHECK(tsr_tensor_ok(tsr_cross_entropy(x, t, NULL, &sum, &lse, NULL)));
    CHECK(tsr_counters_get(mesh).bytes_in == 8 * 4 * 8);
    CHECK(tsr_tensor_ok(tsr_cross_entropy_backward(g, x, t, NULL, lse, NULL, &sum)));
    CHECK(tsr_counters_get(mesh).bytes_in == 8 * 4 * 8);
    CHECK(tsr_tensor_ok(tsr_nll_loss(x, t, NULL, &sum, NULL)));
    CHECK(tsr_counters_get(mesh).bytes_in == 8 * 4 * 8);
    CHECK(tsr_tensor_ok(tsr_softmax(x, 1)));
    CHECK(tsr_counters_get(mesh).bytes_in == 8 * 4 * 8 + 8 * 2 * 8);
    return TSR_OK;
}

static void little_travels(void **state)
{
    (void)state;
    pass("2", traffic_job, NULL);
}

/* ---- long rows ---- */

/* Rows as long as what is taken at once, and one longer, without weights: by the definitions. */
static tsr_status long_rows_job(tsr_mesh *mesh, void *arg)
{
    static const int lengths[] = {37, 8192, 8193};
    (void)arg;

    for (int k = 0; k < 3; k++) {
        static double x[2 * 8193], g[2 * 8193], y[2 * 8193], gx[2 * 8193];
        const int n = lengths[k];
        tsr_tensor *tx, *tg, *out, *mean, *rstd, *grad;
        char shape[32];

        for (int i = 0; i < 2 * n; i++) {
            x[i] = sin(i) + 3 * (i / n) + (i % n == n - 1 ? 50 : 0);
            g[i] = cos(3 * i) + 0.5 + (i % n == n - 1 ? 20 : 0);
        }
        snprintf(shape, sizeof shape, "f64[2,%d]", n);
        tx = tensor(mesh, shape, "R", x);
        tg = tensor(mesh, shape, "R", g);
        out = tsr_layer_norm(tx, NULL, NULL, 1, 1e-5, &mean, &rstd);
        CHECK(tsr_to_host(out, y, (size_t)n * 16) == TSR_OK);
        CHECK(tsr_layer_norm_backward(tg, tx, NULL, mean, rstd, 1, &grad, NULL, NULL) == TSR_OK);
        CHECK(tsr_to_host(grad, gx, (size_t)n * 16) == TSR_OK);
        for (int r = 0; r < 2; r++) {
            double m = 0, var = 0, by, sum = 0, dot = 0;

            for (int i = r * n; i < r * n + n; i++)
                m += x[i] / n;
            for (int i = r * n; i < r * n + n; i++)
                var += (x[i] - m) * (x[i] - m) / n;
            by = 1 / sqrt(var + 1e-5);
            for (int i = r * n; i < r * n + n; i++) {
                CHECK(fabs(y[i] - (x[i] - m) * by) < 1e-10);
                sum += g[i] / n;
                dot += g[i] * (x[i] - m) * by / n;
            }
            for (int i = r * n; i < r * n + n; i++)
                CHECK(fabs(gx[i] - by * (g[i] - sum - (x[i] - m) * by * dot)) < 1e-10);
        }
    }
    return TSR_OK;
}

/* The same of softmax, and a row that is several times as long. */
static tsr_status long_softmax_job(tsr_mesh *mesh, void *arg)
{
    static const int lengths[] = {8192, 8193, 30000};
    (void)arg;

    for (int k = 0; k < 3; k++) {
        static double x[30000], y[30000], logs[30000];
        const int n = lengths[k];
        const size_t bytes = (size_t)n * sizeof *x;
        double sum = 0;
        char shape[32];

        for (int i = 0; i < n; i++) {
            x[i] = 5 * sin(i) + (i == n - 1 ? 3 : 0);
            sum += exp(x[i]);
        }
        snprintf(shape, sizeof shape, "f64[1,%d]", n);
        CHECK(tsr_to_host(tsr_softmax(tensor(mesh, shape, "R", x), 1), y, bytes) == TSR_OK);
        CHECK(tsr_to_host(tsr_log_softmax(tensor(mesh, shape, "R", x), 1), logs, bytes) == TSR_OK);
        for (int i = 0; i < n; i++)
            CHECK(fabs(y[i] - exp(x[i]) / sum) < 1e-12 && fabs(logs[i] - x[i] + log(sum)) < 1e-10);
    }
    return TSR_OK;
}

static void long_rows(void **state)
{
    (void)state;
    pass("1", long_rows_job, NULL);
    pass("1", long_softmax_job, NULL);
}

/* ---- bad input ---- */

/* A row that has a target which is no class, of x placed so. */
typedef struct no_class {
    const char *shape, *rows, *place, *says;
    bool nll;
    int bad; /* the number of the row */
} no_class;

static tsr_status no_class_job(tsr_mesh *mesh, void *arg)
{
    const no_class *c = arg;
    const double zeros[32] = {0};
    int64_t t[8] = {2, 0, 1};
    tsr_tensor *x = tensor(mesh, c->shape, c->place, zeros), *target;

    t[c->bad] = 4;
    target = tensor(mesh, c->rows, "R", t);
    if (c->nll)
        tsr_nll_loss(x, target, NULL, NULL, NULL);
    else
        tsr_cross_entropy(x, target, NULL, NULL, NULL, NULL);
    return tsr_mesh_status(mesh);
}

static void no_such_class(void **state)
{
    static const no_class bad[] = {
        {"f64[4,4]", "i64[4]", "R", "target 4 at [3] is", false, 3},
        {"f64[4,4]", "i64[4]", "S(0)", "target 4 at [3] is", false, 3},
        {"f64[4,4]", "i64[4]", "S(1)", "target 4 at [3] is", false, 3},
        {"f64[4,4]", "i64[4]", "SS(0,2)", "target 4 at [2] is", false, 2},
        {"f64[2,4,4]", "i64[2,4]", "S(1)", "target 4 at [1,3] is", false, 7},
        {"f64[2,4,4]", "i64[2,4]", "SS(1,2)", "target 4 at [1,2] is", false, 6},
        {"f64[4]", "i64[]", "R", "target 4 is", false, 0},
        {"f64[4,4]", "i64[4]", "S(0)", "target 4 at [3] is", true, 3},
        {"f64[2,4,4]", "i64[2,4]", "SS(1,2)", "target 4 at [1,2] is", true, 6},
        {"f64[2,4,4]", "i64[2,4]", "S(2)", "target 4 at [0,3] is", true, 3},
    };
    (void)state;

    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tsr_run_opts opts = RUN_OPTS(.mesh = "2", .world = TSR_WORLD_THREAD, .has_timeout = true,
                                     .timeout_ms = 60000);
        char text[128];
        tsr_error err = {0};

        snprintf(text, sizeof text, "%s: %s not one of the 4 classes, nor ignore_index -100",
                 bad[k].nll ? "nll_loss" : "cross_entropy", bad[k].says);
        assert_true(tsr_run(&opts, no_class_job, (void *)&bad[k], &err) != TSR_OK);
        if (!strstr(err.text, text))
            fail_msg("said: %s, expected: %s", err.text, text);
    }
}

static tsr_status bad_job(tsr_mesh *mesh, void *arg)
{
    static const struct {
        const char *name, *in[3], *attr, *text;
    } bad[] = {
        {"cross_entropy",
         {"f64[4,6]", "f64[4]"},
         NULL,
         "cross_entropy: targets must be i32 or i64 class indices, not f64[4]@[R]"},
        {"cross_entropy",
         {"f64[4,6]", "i64[5]"},
         NULL,
         "cross_entropy: x f64[4,6]@[R] needs one target per row, not i64[5]@[R]"},
        {"cross_entropy",
         {"f64[4,6]", "i64[4]", "f64[5]"},
         NULL,
         "cross_entropy: weight must be [6], one number per class, not f64[5]@[R]"},
        {"cross_entropy",
         {"f64[4,6]", "i64[4]"},
         "label_smoothing=2",
         "cross_entropy: label_smoothing must be in [0, 1], not 2"},
        {"nll_loss",
         {"f64[4,6]", "i64[4]"},
         "reduction=3",
         "nll_loss: reduction is mean, sum or none, not 3"},
        {"cross_entropy",
         {"f64[4,6]", "i64[4]"},
         "reduction=avg",
         "cross_entropy: reduction is mean, sum or none, not avg"},
        {"mse_loss",
         {"f64[4,6]", "f64[4,6]"},
         "reduction=0",
         "mse_loss: reduction is mean, sum or none, not 0"},
        {"l1_loss",
         {"f64[4,6]", "f64[4,6]"},
         "reduction=",
         "l1_loss: reduction is mean, sum or none, not \"\""},
        {"bce_with_logits",
         {"f64[4,6]", "f64[4,6]"},
         "reduction=none,sum",
         "bce_with_logits: reduction is mean, sum or none, not none,sum"},
        {"nll_loss",
         {"i64[4,6]", "i64[4]"},
         NULL,
         "nll_loss: needs a floating-point dtype, not i64[4,6]@[R]"},
        {"mse_loss",
         {"f64[4,6]", "f64[4,1]"},
         NULL,
         "mse_loss: target f64[4,1]@[R] does not have the shape of x f64[4,6]@[R]"},
        {"bce_with_logits",
         {"f64[4,6]", "f64[4,6]", "f64[4]"},
         NULL,
         "bce_with_logits: weight f64[4]@[R] does not broadcast to x f64[4,6]@[R]"},
        {"layer_norm",
         {"f64[4,6]"},
         "n_dims=3",
         "layer_norm: n_dims=3 is out of range for f64[4,6]@[R] with 2 dims"},
        {"rms_norm",
         {"f64[4,6]", "f64[4]"},
         NULL,
         "rms_norm: weight must have shape [6] for x f64[4,6]@[R], not f64[4]@[R]"},
        {"log_softmax", {"f64[4,6]"}, "dim=2", "log_softmax: dim 2 is out of range -2 to 1"},
        {"softmax_backward",
         {"f64[4,6]", "f64[4,5]"},
         NULL,
         "softmax_backward: grad does not have the shape of y, f64[4,6]@[R] f64[4,5]@[R]"},
    };
    (void)arg;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tsr_tensor *in[3] = {NULL};
        char spec[64];

        for (int k = 0; k < 3 && bad[i].in[k]; k++) {
            snprintf(spec, sizeof spec, "%s@[R]", bad[i].in[k]);
            in[k] = tsr_zeros(mesh, spec);
        }
        CHECK(!tsr_tensor_ok(tsr_op_run(mesh, bad[i].name, in,
                                        bad[i].in[2]   ? 3
                                        : bad[i].in[1] ? 2
                                                       : 1,
                                        &bad[i].attr, bad[i].attr != NULL)));
        if (strcmp(tsr_mesh_message(mesh), bad[i].text) != 0) {
            fprintf(stderr, "said: %s\n want: %s\n", tsr_mesh_message(mesh), bad[i].text);
            return TSR_ERR_MISMATCH;
        }
        tsr_mesh_clear_error(mesh);
    }
    return TSR_OK;
}

static bool refused(tsr_mesh *mesh, const tsr_tensor *y, const char *name)
{
    char text[128];
    bool good;

    snprintf(text, sizeof text, "%s: reduction is mean, sum or none, not 7", name);
    good = y && !tsr_tensor_ok(y) && strcmp(tsr_mesh_message(mesh), text) == 0;
    tsr_mesh_clear_error(mesh);
    return good;
}

static tsr_status no_reduction_job(tsr_mesh *mesh, void *arg)
{
    const tsr_loss_reduction none = (tsr_loss_reduction)7;
    const tsr_class_opts opts = CLASS_OPTS(.reduction = none);
    tsr_tensor *x = tsr_zeros(mesh, "f64[4,6]"), *t = tsr_zeros(mesh, "i64[4]"), *divisor = NULL;
    tsr_tensor *grad_x;

    (void)arg;
    CHECK(refused(mesh, tsr_mse_loss(x, x, none), "mse_loss"));
    CHECK(refused(mesh, tsr_l1_loss(x, x, none), "l1_loss"));
    CHECK(refused(mesh, tsr_bce_with_logits(x, x, NULL, NULL, none), "bce_with_logits"));
    CHECK(refused(mesh, tsr_nll_loss(x, t, NULL, &opts, &divisor), "nll_loss"));
    CHECK(divisor && !tsr_tensor_ok(divisor));
    CHECK(refused(mesh, tsr_cross_entropy(x, t, NULL, &opts, NULL, NULL), "cross_entropy"));
    CHECK(refused(mesh, tsr_mse_loss_backward(x, x, x, none), "mse_loss_backward"));
    CHECK(tsr_bce_with_logits_backward(x, x, x, NULL, NULL, none, &grad_x, NULL, NULL, NULL) ==
          TSR_ERR_ARG);
    CHECK(refused(mesh, grad_x, "bce_with_logits_backward"));
    return TSR_OK;
}

static void bad_calls(void **state)
{
    (void)state;
    pass("2", bad_job, NULL);
    pass("2", no_reduction_job, NULL);
}

/* Of the rules of all ops make check tries a sample; of these ops all of them: what a part of the
   classes gives depends on how many there are in all. */
static void parts_of_classes(void **state)
{
    static const char *const names[] = {"cross_entropy_backward", "nll_loss", "nll_loss_backward"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        tsr_validation v = {0};
        tsr_error err = {0};

        if (tsr_validate(tsr_op_find(NULL, names[i]), &v, &err) != TSR_OK || v.n_flaws)
            fail_msg("%s: %s", names[i], v.n_flaws ? v.flaw[0].text : err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_of_classes), cmocka_unit_test(rows_and_classes),
        cmocka_unit_test(losses_of_pairs),   cmocka_unit_test(norms_of_last_dims),
        cmocka_unit_test(large_logits),      cmocka_unit_test(nothing),
        cmocka_unit_test(long_rows),         cmocka_unit_test(little_travels),
        cmocka_unit_test(no_such_class),     cmocka_unit_test(bad_calls),
        cmocka_unit_test(parts_of_classes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
