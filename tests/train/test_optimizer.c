/* SPDX-License-Identifier: Apache-2.0 */
/* test_optimizer.c - optimizers: five steps give what PyTorch's give, on every mesh, with
   parameters, states and gradients in any placements; f16 and bf16; what a step moves and plans;
   schedules; and what is refused. Through the public headers. */
#include "support/test.h"

enum { N = 4, STEPS = 5 };

static const double FIRST[N] = {1, -2, 0.5, 3};

static void gradient(int step, double g[N])
{
    for (int i = 0; i < N; i++)
        g[i] = ((i * 7 + step * 3) % 5 - 2) * 0.25 * step;
}

/* What torch.optim 2.14 makes of FIRST in f64, by these options and gradients. */
static const struct golden {
    tsr_optimizer_opts opts;
    double want[N];
} GOLDEN[] = {
    {OPTIMIZER_OPTS(TSR_SGD, .lr = 1e-3),
     {1.0012500000000002, -2.0012499999999998, 0.49874999999999997, 3.0012500000000002}},
    {OPTIMIZER_OPTS(TSR_SGD, .lr = 0.1), {1.125, -2.125, 0.375, 3.125}},
    {OPTIMIZER_OPTS(TSR_SGD, .lr = 0.1, .decay = 0.2),
     {1.0338611927999999, -1.9327527856, 0.32204959840000008, 2.8367039824000004}},
    {OPTIMIZER_OPTS(TSR_SGD, .lr = 0.1, .momentum = 0.9),
     {0.91307249999999995, -2.143945, 0.58065, 3.1367450000000003}},
    {OPTIMIZER_OPTS(TSR_SGD, .lr = 0.1, .momentum = 0.9, .dampening = 0.5, .decay = 0.1),
     {0.8227835907281249, -1.8029576845812498, 0.49603767255937498, 2.7141011703249993}},
    {OPTIMIZER_OPTS(TSR_SGD, .lr = 0.1, .momentum = 0.9, .nesterov = true, .decay = 0.1),
     {0.89884435146425345, -1.9385325855335069, 0.35074732895025029, 2.768367231459008}},
    {OPTIMIZER_OPTS(TSR_ADAM, .lr = 1e-3),
     {0.99872982870898186, -1.9992664526293167, 0.50096130270558648, 2.999067961538886}},
    {OPTIMIZER_OPTS(TSR_ADAM, .lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .decay = 0.1),
     {0.83734402838311695, -1.8519270102784333, 0.47195407009413165, 2.8126551894290062}},
    {OPTIMIZER_OPTS(TSR_ADAMW, .lr = 0.1),
     {0.8684234086117637, -1.9171009658085316, 0.59335569462960758, 2.8923383461757477}},
    {OPTIMIZER_OPTS(TSR_ADAMW, .lr = 0.1, .decay = 0.2),
     {0.78531224670528044, -1.7429658391740444, 0.54258640202594433, 2.628519126807582}},
    {OPTIMIZER_OPTS(TSR_ADAGRAD, .lr = 1e-2),
     {0.99799536541004974, -1.9986838879509752, 0.50182543126425261, 2.9996971636992509}},
    {OPTIMIZER_OPTS(TSR_ADAGRAD, .lr = 0.1, .lr_decay = 0.1, .decay = 0.1, .first_sum = 0.5,
                    .eps = 1e-3),
     {0.97722532637213, -1.9551375642774844, 0.50208723227654461, 2.9446681688026124}},
};

/* "[S(0),R]" from what is to be along the first mesh dim and the others. */
static const char *places(tsr_mesh *mesh, const char *first, const char *others, char *buf)
{
    size_t used = (size_t)snprintf(buf, TSR_NAME_LEN * 4, "[%s", first);

    for (int m = 1; m < tsr_mesh_shape_get(mesh)->ndim; m++)
        used += (size_t)snprintf(buf + used, TSR_NAME_LEN * 4 - used, ",%s", others);
    snprintf(buf + used, TSR_NAME_LEN * 4 - used, "]");
    return buf;
}

static tsr_tensor *placed(tsr_mesh *mesh, const double x[N], tsr_dtype dtype, const char *first,
                          const char *others)
{
    char buf[TSR_NAME_LEN * 4];

    return tsr_redistribute(tsr_cast(from_host(mesh, "f64[4]", x), dtype),
                            places(mesh, first, others, buf));
}

static tsr_status run_steps(tsr_mesh *mesh, const tsr_optimizer_opts *opts, tsr_tensor *w,
                            const char *first, const char *others)
{
    const tsr_dtype dtype = tsr_tensor_spec(w)->dtype;
    tsr_optimizer *opt;
    double g[N];
    tsr_status st;

    st = tsr_optimizer_new(mesh, opts, &w, 1, &opt);
    for (int step = 1; step <= STEPS && st == TSR_OK; step++) {
        gradient(step, g);
        st = tsr_grad_set(w, placed(mesh, g, dtype, first, others));
        if (st == TSR_OK)
            st = tsr_optimizer_step(opt);
        if (st == TSR_OK && tsr_grad(w)) /* it is used up */
            st = TSR_ERR_MISMATCH;
    }
    tsr_optimizer_free(opt);
    return st;
}

/* One step of w, its gradient that of the given number. */
static tsr_status one_step(tsr_mesh *mesh, tsr_optimizer *opt, tsr_tensor *w, int step)
{
    double g[N];

    gradient(step, g);
    CHECK(tsr_grad_set(w, placed(mesh, g, TSR_F64, "R", "R")) == TSR_OK);
    return tsr_optimizer_step(opt);
}

/* A second optimizer that continues from weights, states and the step count of the first gives bit
   by bit what the first one would have given; without the count it does not. */
static tsr_status continued_job(tsr_mesh *mesh, void *arg)
{
    static const tsr_optimizer_opts all[] = {
        OPTIMIZER_OPTS(TSR_SGD, .lr = 0.1, .momentum = 0.9, .dampening = 0.5),
        OPTIMIZER_OPTS(TSR_ADAM, .lr = 0.1),
        OPTIMIZER_OPTS(TSR_ADAGRAD, .lr = 0.1, .lr_decay = 0.1)};
    (void)arg;

    for (size_t c = 0; c < sizeof all / sizeof all[0]; c++)
        for (int counted = 0; counted < 2; counted++) {
            tsr_tensor *w = tsr_watch(placed(mesh, FIRST, TSR_F64, "S(0)", "R"));
            tsr_tensor *v = tsr_watch(placed(mesh, FIRST, TSR_F64, "R", "R"));
            tsr_optimizer *first, *second;
            double a[N], b[N];

            CHECK(tsr_optimizer_new(mesh, &all[c], &w, 1, &first) == TSR_OK);
            CHECK(tsr_optimizer_new(mesh, &all[c], &v, 1, &second) == TSR_OK);
            for (int step = 1; step <= 2; step++)
                CHECK(one_step(mesh, first, w, step) == TSR_OK);
            CHECK(tsr_optimizer_steps(first, 0) == 2 && tsr_optimizer_steps(second, 0) == 0);
            CHECK(tsr_copy_into(v, w) == TSR_OK);
            for (int k = 0; tsr_optimizer_state(first, 0, k); k++)
                CHECK(tsr_copy_into(tsr_optimizer_state(second, 0, k),
                                    tsr_optimizer_state(first, 0, k)) == TSR_OK);
            if (counted)
                CHECK(tsr_optimizer_steps_set(second, 0, tsr_optimizer_steps(first, 0)) == TSR_OK);
            for (int step = 3; step <= STEPS; step++)
                CHECK(one_step(mesh, first, w, step) == TSR_OK &&
                      one_step(mesh, second, v, step) == TSR_OK);
            CHECK(tsr_to_host(w, a, sizeof a) == TSR_OK && tsr_to_host(v, b, sizeof b) == TSR_OK);
            CHECK((memcmp(a, b, sizeof a) == 0) == counted);
            CHECK(tsr_optimizer_steps(first, 1) == -1 && tsr_optimizer_steps(first, -1) == -1);
            CHECK(tsr_optimizer_steps_set(first, 1, 0) == TSR_ERR_ARG);
            CHECK(strstr(tsr_mesh_message(mesh), "there is no parameter 1, the optimizer has 1"));
            tsr_mesh_clear_error(mesh);
            CHECK(tsr_optimizer_steps_set(first, 0, -1) == TSR_ERR_ARG);
            tsr_mesh_clear_error(mesh);
            tsr_optimizer_free(first);
            tsr_optimizer_free(second);
        }
    return tsr_mesh_status(mesh);
}

static void continued(void **state)
{
    (void)state;
    pass_on("1", continued_job, NULL);
    pass_on("2x2", continued_job, NULL);
}

/* ---- the numbers, on every mesh ---- */

static tsr_status golden_job(tsr_mesh *mesh, void *arg)
{
    static const char *const WEIGHTS[] = {"R", "S(0)"}, *const GRADS[] = {"R", "S(0)", "P(sum)"},
                             *const STATES[] = {NULL, "data", "0"};
    (void)arg;

    for (size_t c = 0; c < sizeof GOLDEN / sizeof GOLDEN[0]; c++)
        for (int i = 0; i < 2 * 3 * 3; i++) {
            tsr_optimizer_opts opts = GOLDEN[c].opts;
            const char *grad = GRADS[i / 2 % 3];
            tsr_spec before;
            double got[N];
            tsr_tensor *w;

            tsr_scope_push(mesh);
            opts.states = STATES[i / 6];
            w = tsr_watch(placed(mesh, FIRST, TSR_F64, WEIGHTS[i % 2], WEIGHTS[i / 3 % 2]));
            before = *tsr_tensor_spec(w);
            CHECK(run_steps(mesh, &opts, w, grad, i % 2 ? "R" : grad) == TSR_OK);
            CHECK(tsr_spec_equal(tsr_tensor_spec(w), &before));
            CHECK(tsr_to_host(w, got, sizeof got) == TSR_OK);
            for (int k = 0; k < N; k++)
                CHECK(fabs(got[k] - GOLDEN[c].want[k]) <= 1e-14 * fabs(GOLDEN[c].want[k]));
            tsr_scope_pop(mesh);
        }
    return tsr_mesh_status(mesh);
}

static void golden_numbers(void **state)
{
    (void)state;
    pass_on("data=1", golden_job, NULL);
    pass_on("data=2", golden_job, NULL);
    pass_on("data=3", golden_job, NULL);
    pass_on("data=2,model=2", golden_job, NULL);
}

/* Steps of halves are computed in f32; with states of f32 only the parameter is rounded. */
static tsr_status half_job(tsr_mesh *mesh, void *arg)
{
    static const tsr_dtype DTYPES[] = {TSR_F32, TSR_F16, TSR_BF16};
    static const double EPS[] = {0x1p-24, 0x1p-11, 0x1p-8};
    (void)arg;

    for (size_t c = 0; c < sizeof GOLDEN / sizeof GOLDEN[0]; c++)
        for (int i = 0; i < 6; i++) {
            tsr_optimizer_opts opts = GOLDEN[c].opts;
            const tsr_dtype dtype = DTYPES[i % 3];
            double got[N];
            tsr_tensor *w;

            tsr_scope_push(mesh);
            opts.half_states = i >= 3;
            w = tsr_watch(placed(mesh, FIRST, dtype, "S(0)", "R"));
            CHECK(run_steps(mesh, &opts, w, "P(sum)", "R") == TSR_OK);
            CHECK(tsr_to_host(tsr_cast(w, TSR_F64), got, sizeof got) == TSR_OK);
            for (int k = 0; k < N; k++)
                CHECK(fabs(got[k] - GOLDEN[c].want[k]) <=
                      (i >= 3 ? 8 : 6) * EPS[i % 3] * fabs(FIRST[k]));
            tsr_scope_pop(mesh);
        }
    return tsr_mesh_status(mesh);
}

static void halves(void **state)
{
    (void)state;
    pass_on("1", half_job, NULL);
    pass_on("2", half_job, NULL);
}

static tsr_status states_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *w[2] = {tsr_watch(tsr_zeros(mesh, "bf16[6,8]@[R,S(1)]")),
                        tsr_watch(tsr_zeros(mesh, "f32[6,5]@[S(0),R]"))};
    tsr_optimizer_opts opts = OPTIMIZER_OPTS(TSR_ADAM, .states = "data");
    tsr_optimizer *opt;
    char text[TSR_TEXT_LEN];
    (void)arg;

    CHECK(tsr_optimizer_new(mesh, &opts, w, 2, &opt) == TSR_OK);
    tsr_spec_text(tsr_tensor_spec(tsr_optimizer_state(opt, 0, 1)), text, sizeof text);
    CHECK(strcmp(text, "f32[6,8]@[S(0),S(1)]") == 0);
    tsr_spec_text(tsr_tensor_spec(tsr_optimizer_state(opt, 1, 0)), text, sizeof text);
    CHECK(strcmp(text, "f32[6,5]@[S(0),R]") == 0); /* sharded along data already */
    CHECK(!tsr_optimizer_state(opt, 0, 2) && !tsr_optimizer_state(opt, 2, 0));
    tsr_optimizer_free(opt);
    opts = (tsr_optimizer_opts)OPTIMIZER_OPTS(TSR_SGD, .momentum = 0.5, .states = "[S(0),S(0)]",
                                              .half_states = true);
    CHECK(tsr_optimizer_new(mesh, &opts, w, 2, &opt) == TSR_OK);
    tsr_spec_text(tsr_tensor_spec(tsr_optimizer_state(opt, 0, 0)), text, sizeof text);
    CHECK(strcmp(text, "bf16[6,8]@[S(0),S(0)]") == 0);
    CHECK(!tsr_optimizer_state(opt, 0, 1));
    tsr_optimizer_free(opt);
    return tsr_mesh_status(mesh);
}

/* The dim that states are sharded along: an even one if there is, then the largest, of equal ones
   the first; never one that is sharded already, strided or not, or that has one index. */
static tsr_status state_dims_job(tsr_mesh *mesh, void *arg)
{
    static const char *const is[][2] = {
        {"f32[4,8]@[R,R]", "f32[4,8]@[S(1),R]"},
        {"f32[8,4]@[R,R]", "f32[8,4]@[S(0),R]"},
        {"f32[8,8]@[R,R]", "f32[8,8]@[S(0),R]"},
        {"f32[9,4]@[R,R]", "f32[9,4]@[S(1),R]"},
        {"f32[4,9]@[R,R]", "f32[4,9]@[S(0),R]"},
        {"f32[3,5]@[R,R]", "f32[3,5]@[S(1),R]"},
        {"f32[5,3]@[R,R]", "f32[5,3]@[S(0),R]"},
        {"f32[8,4]@[R,S(0)]", "f32[8,4]@[S(1),S(0)]"},
        {"f32[8,4]@[R,SS(0,2)]", "f32[8,4]@[S(1),SS(0,2)]"},
        {"f32[1,1]@[R,R]", "f32[1,1]@[R,R]"},
        {"f32[2,1]@[R,S(0)]", "f32[2,1]@[R,S(0)]"},
        {"f64[4,8]@[R,R]", "f64[4,8]@[S(1),R]"},
        {"f16[4,8]@[R,R]", "f32[4,8]@[S(1),R]"},
    };
    const tsr_optimizer_opts opts = OPTIMIZER_OPTS(TSR_ADAM, .states = "data");
    char text[TSR_TEXT_LEN];
    (void)arg;

    for (size_t i = 0; i < sizeof is / sizeof is[0]; i++) {
        tsr_tensor *w = tsr_watch(tsr_zeros(mesh, is[i][0]));
        tsr_optimizer *opt;

        CHECK(tsr_optimizer_new(mesh, &opts, &w, 1, &opt) == TSR_OK);
        tsr_spec_text(tsr_tensor_spec(tsr_optimizer_state(opt, 0, 0)), text, sizeof text);
        if (strcmp(text, is[i][1]) != 0)
            fprintf(stderr, "states of %s are %s\n", is[i][0], text);
        CHECK(strcmp(text, is[i][1]) == 0);
        tsr_optimizer_free(opt);
    }
    return tsr_mesh_status(mesh);
}

/* Numbers at the ends of what is allowed. */
static tsr_status good_opts_job(tsr_mesh *mesh, void *arg)
{
    static const tsr_optimizer_opts good[] = {
        OPTIMIZER_OPTS(TSR_SGD, .lr = 1e300, .momentum = 2, .dampening = 1),
        OPTIMIZER_OPTS(TSR_SGD, .dampening = -3, .momentum = 0.5),
        OPTIMIZER_OPTS(TSR_SGD, .nesterov = true, .momentum = 0.5),
        OPTIMIZER_OPTS(TSR_ADAM, .beta1 = 1 - 0x1p-53, .beta2 = 1 - 0x1p-53),
        OPTIMIZER_OPTS(TSR_ADAMW, .decay = 0),
        OPTIMIZER_OPTS(TSR_ADAGRAD, .lr_decay = 1, .first_sum = 1),
    };
    tsr_tensor *w = tsr_watch(tsr_zeros(mesh, "f32[4]@[R,R]"));
    tsr_optimizer *opt;
    (void)arg;

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        CHECK(tsr_optimizer_new(mesh, &good[i], &w, 1, &opt) == TSR_OK);
        tsr_optimizer_free(opt);
    }
    return tsr_mesh_status(mesh);
}

static void where_states_are(void **state)
{
    pass_on("data=2,model=2", state_dims_job, NULL);
    pass_on("2x1", good_opts_job, NULL);
    (void)state;
    pass_on("data=2,model=2", states_job, NULL);
}

/* ---- what a step moves ---- */

/* Weights whole, states in parts: the gradient is reduced to parts, these are updated, and the
   weights are gathered. Nothing is planned anew when numbers change. */
static tsr_status zero_job(tsr_mesh *mesh, void *arg)
{
    const int64_t size = tsr_mesh_size(mesh), bytes = 64 * 32 * 4 / size * (size - 1);
    const tsr_optimizer_opts opts = OPTIMIZER_OPTS(TSR_ADAMW, .states = "data");
    int64_t moved;
    tsr_tensor *w = tsr_watch(tsr_full(mesh, "f32[64,32]", 1));
    tsr_optimizer *opt;
    tsr_counters before, after;
    (void)arg;

    CHECK(tsr_optimizer_new(mesh, &opts, &w, 1, &opt) == TSR_OK);
    for (int step = 0; step < 5; step++) {
        const bool partial = step < 4;
        tsr_tensor *g = tsr_full(mesh, partial ? "f32[64,32]@[P(sum)]" : "f32[64,32]", 0.5);

        CHECK(tsr_grad_set(w, g) == TSR_OK);
        CHECK(tsr_optimizer_lr_set(opt, 0.01 / (step + 1)) == TSR_OK);
        before = tsr_counters_get(mesh);
        if (step == 3) /* reduces to parts what the step need not reduce again */
            CHECK(tsr_clip_grad_norm(&w, 1, 1e9, NULL) == TSR_OK);
        CHECK(tsr_optimizer_step(opt) == TSR_OK);
        after = tsr_counters_get(mesh);
        moved = after.bytes_in - before.bytes_in - (partial ? 2 : 1) * bytes;
        CHECK(step == 3 ? moved > 0 && moved <= 2 * 8 * size : moved == 0);
        CHECK(step != 2 || after.plan_misses == before.plan_misses);
    }
    tsr_optimizer_free(opt);
    return tsr_mesh_status(mesh);
}

static void states_in_parts(void **state)
{
    (void)state;
    pass_on("data=2", zero_job, NULL);
    pass_on("data=4", zero_job, NULL);
}

/* ---- parameters without gradients, tapes, shared memory ---- */

static tsr_status care_job(tsr_mesh *mesh, void *arg)
{
    const tsr_optimizer_opts opts = OPTIMIZER_OPTS(TSR_SGD, .lr = 0.5, .momentum = 0.5);
    tsr_tensor *w[2] = {tsr_watch(tsr_full(mesh, "f64[4]", 2)),
                        tsr_watch(tsr_full(mesh, "f64[4]", 3))};
    tsr_tensor *old = tsr_detach(w[0]);
    tsr_optimizer *opt;
    double got[N];
    (void)arg;

    CHECK(tsr_optimizer_new(mesh, &opts, w, 2, &opt) == TSR_OK);
    CHECK(tsr_optimizer_lr(opt) == 0.5);
    tsr_tape_begin(mesh);
    tsr_backward(tsr_sum(tsr_mul(w[0], w[0]), NULL, 0, false));
    tsr_tape_begin(mesh); /* a step is no part of it */
    CHECK(tsr_optimizer_step(opt) == TSR_OK);
    tsr_tape_drop(mesh);
    CHECK(tsr_to_host(w[0], got, sizeof got) == TSR_OK && got[3] == 0);
    CHECK(tsr_to_host(w[1], got, sizeof got) == TSR_OK && got[3] == 3);
    CHECK(tsr_to_host(old, got, sizeof got) == TSR_OK && got[3] == 2);
    CHECK(tsr_to_host(tsr_optimizer_state(opt, 0, 0), got, sizeof got) == TSR_OK && got[0] == 4);
    CHECK(tsr_to_host(tsr_optimizer_state(opt, 1, 0), got, sizeof got) == TSR_OK && got[0] == 0);
    tsr_optimizer_free(opt);
    return tsr_mesh_status(mesh);
}

static void only_what_has_a_gradient(void **state)
{
    (void)state;
    pass_on("2", care_job, NULL);
}

/* ---- schedules ---- */

static void schedules(void **state)
{
    const tsr_schedule constant = SCHEDULE(.lr = 0.4, .warmup = 4);
    const tsr_schedule cosine =
        SCHEDULE(.kind = TSR_SCHEDULE_COSINE, .lr = 1, .steps = 8, .last = 0.2);
    const tsr_schedule linear =
        SCHEDULE(.kind = TSR_SCHEDULE_LINEAR, .lr = 1, .warmup = 2, .steps = 10, .last = 0.5);
    const tsr_schedule steps =
        SCHEDULE(.kind = TSR_SCHEDULE_STEPS, .lr = 1, .warmup = 1, .every = 3, .factor = 0.5);
    (void)state;

    for (int i = 0; i < 6; i++)
        assert_true(fabs(tsr_schedule_lr(&constant, i) - (i < 4 ? 0.1 * (i + 1) : 0.4)) < 1e-15);
    assert_true(tsr_schedule_lr(&cosine, 0) == 1);
    assert_true(fabs(tsr_schedule_lr(&cosine, 2) - (0.6 + 0.4 * sqrt(0.5))) < 1e-15);
    assert_true(fabs(tsr_schedule_lr(&cosine, 4) - 0.6) < 1e-15);
    assert_true(fabs(tsr_schedule_lr(&cosine, 8) - 0.2) < 1e-15);
    assert_true(fabs(tsr_schedule_lr(&cosine, 900) - 0.2) < 1e-15);
    assert_true(tsr_schedule_lr(&linear, 0) == 0.5 && tsr_schedule_lr(&linear, 1) == 1);
    assert_true(tsr_schedule_lr(&linear, 2) == 1 && tsr_schedule_lr(&linear, 6) == 0.75);
    assert_true(tsr_schedule_lr(&linear, 10) == 0.5 && tsr_schedule_lr(&linear, 11) == 0.5);
    assert_true(tsr_schedule_lr(&steps, 0) == 1 && tsr_schedule_lr(&steps, 3) == 1);
    assert_true(tsr_schedule_lr(&steps, 4) == 0.5 && tsr_schedule_lr(&steps, 7) == 0.25);
}

/* ---- what is refused ---- */

static tsr_status bad_job(tsr_mesh *mesh, void *arg)
{
    static const struct {
        tsr_optimizer_opts opts;
        const char *text;
    } bad[] = {
        {OPTIMIZER_OPTS(TSR_SGD, .lr = -1),
         "tsr_optimizer_new: lr is -1, it must be finite and at least 0"},
        {OPTIMIZER_OPTS(TSR_SGD, .lr = INFINITY),
         "tsr_optimizer_new: lr is inf, it must be finite and at least 0"},
        {OPTIMIZER_OPTS(TSR_ADAGRAD, .lr_decay = -1),
         "tsr_optimizer_new: lr_decay is -1, it must be"},
        {OPTIMIZER_OPTS(TSR_ADAGRAD, .first_sum = -1),
         "tsr_optimizer_new: first_sum is -1, it must be"},
        {OPTIMIZER_OPTS((tsr_optimizer_kind)4, .lr = 1),
         "tsr_optimizer_new: unknown optimizer kind 4"},
        {OPTIMIZER_OPTS(TSR_ADAMW, .beta2 = 1), "beta1 is 0.9 and beta2 1, they must be"},
        {OPTIMIZER_OPTS(TSR_ADAM, .beta1 = -0.1), "beta1 is -0.1 and beta2 0.999, they must be"},
        {OPTIMIZER_OPTS(TSR_SGD, .nesterov = true, .momentum = 0.5, .dampening = 0.25),
         "tsr_optimizer_new: nesterov needs momentum and no dampening, they are 0.5 and 0.25"},
        {OPTIMIZER_OPTS(TSR_ADAM, .dampening = 0.5),
         "tsr_optimizer_new: momentum and dampening apply to SGD only"},
        {OPTIMIZER_OPTS(TSR_ADAGRAD, .momentum = 0.5),
         "tsr_optimizer_new: momentum and dampening apply to SGD only"},
        {OPTIMIZER_OPTS(TSR_ADAM, .lr_decay = 1),
         "tsr_optimizer_new: lr_decay, first_sum and rowwise apply to Adagrad only"},
        {OPTIMIZER_OPTS(TSR_SGD, .first_sum = 1),
         "tsr_optimizer_new: lr_decay, first_sum and rowwise apply to Adagrad only"},
        {OPTIMIZER_OPTS(TSR_SGD, .decay = NAN),
         "tsr_optimizer_new: decay is nan, it must be finite and at least 0"},
        {OPTIMIZER_OPTS(TSR_SGD, .momentum = -0.5),
         "tsr_optimizer_new: momentum is -0.5, it must be finite and at least 0"},
        {OPTIMIZER_OPTS(TSR_SGD, .dampening = 2),
         "tsr_optimizer_new: dampening is 2, it must be at most 1"},
        {OPTIMIZER_OPTS(TSR_ADAM, .beta1 = 1),
         "tsr_optimizer_new: beta1 is 1 and beta2 0.999, they must be in [0, 1)"},
        {OPTIMIZER_OPTS(TSR_ADAM, .beta2 = -0.1),
         "tsr_optimizer_new: beta1 is 0.9 and beta2 -0.1, they must be in [0, 1)"},
        {OPTIMIZER_OPTS(TSR_ADAM, .eps = -1),
         "tsr_optimizer_new: eps is -1, it must be finite and at least 0"},
        {OPTIMIZER_OPTS((tsr_optimizer_kind)7, .lr = 1),
         "tsr_optimizer_new: unknown optimizer kind 7"},
        {OPTIMIZER_OPTS(TSR_SGD, .nesterov = true),
         "tsr_optimizer_new: nesterov needs momentum and no dampening, they are 0 and 0"},
        {OPTIMIZER_OPTS(TSR_ADAMW, .momentum = 0.9),
         "tsr_optimizer_new: momentum and dampening apply to SGD only"},
        {OPTIMIZER_OPTS(TSR_SGD, .rowwise = true),
         "tsr_optimizer_new: lr_decay, first_sum and rowwise apply to Adagrad only"},
        {OPTIMIZER_OPTS(TSR_ADAM, .states = "pipe"),
         "tsr_optimizer_new: states cannot be sharded along \"pipe\": mesh data=2 has no such dim"},
        {OPTIMIZER_OPTS(TSR_ADAM, .states = "[S(3)]"), "S(3)"},
    };
    tsr_tensor *w = tsr_watch(tsr_zeros(mesh, "f32[4]")), *plain = tsr_zeros(mesh, "f32[4]");
    tsr_optimizer *opt;
    (void)arg;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(tsr_optimizer_new(mesh, &bad[i].opts, &w, 1, &opt) != TSR_OK && !opt);
        if (!strstr(tsr_mesh_message(mesh), bad[i].text))
            fprintf(stderr, "got:  %s\nwant: %s\n", tsr_mesh_message(mesh), bad[i].text);
        CHECK(strstr(tsr_mesh_message(mesh), bad[i].text));
        tsr_mesh_clear_error(mesh);
    }
    CHECK(tsr_optimizer_new(mesh, NULL, &plain, 1, &opt) == TSR_ERR_STATE);
    CHECK(strcmp(tsr_mesh_message(mesh),
                 "tsr_optimizer_new: parameter 0 is not watched, so it has no gradient") == 0);
    tsr_mesh_clear_error(mesh);
    /* a list of no parameters need not be there */
    CHECK(tsr_optimizer_new(mesh, NULL, NULL, 0, &opt) == TSR_OK);
    CHECK(tsr_optimizer_step(opt) == TSR_OK);
    tsr_optimizer_free(opt);
    CHECK(tsr_optimizer_new(mesh, NULL, &w, 1, &opt) == TSR_OK);
    CHECK(tsr_optimizer_lr_set(opt, -2) == TSR_ERR_ARG);
    CHECK(strcmp(tsr_mesh_message(mesh),
                 "tsr_optimizer_lr_set: lr is -2, it must be finite and at least 0") == 0);
    CHECK(tsr_optimizer_lr(opt) == 1e-3);
    tsr_mesh_clear_error(mesh);
    tsr_optimizer_free(opt);
    return TSR_OK;
}

/* The ops themselves. */
static tsr_status bad_op_job(tsr_mesh *mesh, void *arg)
{
    static const struct {
        const char *op, *attr, *text;
        int in[4], n; /* which of the tensors below */
    } bad[] = {
        {"adam_step",
         "lr=0.1",
         "adam_step: inputs 1 and 2 are the same tensor, but both are overwritten",
         {0, 1, 1, 2},
         4},
        {"adam_step", "step=0", "adam_step: step is 0, it must be at least 1", {0, 1, 2, 3}, 4},
        {"adam_step",
         "step=1.5",
         "adam_step: step is 1.5, must be a positive integer",
         {0, 1, 2, 3},
         4},
        {"adam_step", "beta2=1", "adam_step: beta2 is 1, must be in [0, 1)", {0, 1, 2, 3}, 4},
        {"sgd_step", "lr=-1", "sgd_step: lr is -1, it must be at least 0", {0, 1}, 2},
        {"sgd_step",
         "lr=1",
         "sgd_step: input 1, f32[5]@[R], does not have the shape of w, f32[4]@[R]",
         {0, 4},
         2},
        {"sgd_step", "lr=1", "sgd_step: input 1 is f64, but w is f32", {0, 5}, 2},
        {"sgd_momentum_step",
         "nesterov=true",
         "sgd_momentum_step: nesterov needs momentum and no dampening, they are 0 and 0",
         {0, 1, 2},
         3},
        {"adagrad_step", "eps=-1", "adagrad_step: eps is -1, it must be at least 0", {0, 1, 2}, 3},
    };
    tsr_tensor *x[6] = {tsr_zeros(mesh, "f32[4]"), tsr_zeros(mesh, "f32[4]"),
                        tsr_zeros(mesh, "f32[4]"), tsr_zeros(mesh, "f32[4]"),
                        tsr_zeros(mesh, "f32[5]"), tsr_zeros(mesh, "f64[4]")};
    (void)arg;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tsr_tensor *in[4] = {NULL};

        for (int k = 0; k < bad[i].n; k++)
            in[k] = x[bad[i].in[k]];
        CHECK(!tsr_tensor_ok(tsr_op_run(mesh, bad[i].op, in, bad[i].n, &bad[i].attr, 1)));
        if (!strstr(tsr_mesh_message(mesh), bad[i].text))
            fprintf(stderr, "got:  %s\nwant: %s\n", tsr_mesh_message(mesh), bad[i].text);
        CHECK(strstr(tsr_mesh_message(mesh), bad[i].text));
        tsr_mesh_clear_error(mesh);
    }
    return TSR_OK;
}

static void refusals(void **state)
{
    (void)state;
    pass_on("data=2", bad_job, NULL);
    pass_on("2", bad_op_job, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_numbers),  cmocka_unit_test(continued),
        cmocka_unit_test(halves),          cmocka_unit_test(where_states_are),
        cmocka_unit_test(states_in_parts), cmocka_unit_test(only_what_has_a_gradient),
        cmocka_unit_test(schedules),       cmocka_unit_test(refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
