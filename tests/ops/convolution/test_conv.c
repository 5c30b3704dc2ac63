/* SPDX-License-Identifier: Apache-2.0 */
/* test_conv.c - convolution and its gradients on meshes of threads: every configuration by every
   sharding gives what one rank gives, and what is communicated is what a rank lacks, to the byte.
   "test_conv table" prints the matrix. Bad input is test_conv_bad.c, faults are test_op_faults.c,
   facts of PyTorch are the oracle's. */
#include "support/test.h"
#include "conv_matrix.h"
#include "support/sampling.h"

static tsr_status run_pair(conv_run *r, const char *mesh, const char *cost, tsr_error *err)
{
    const tsr_run_opts opts = RUN_OPTS(.mesh = mesh, .world = TSR_WORLD_THREAD, .has_timeout = true,
                                       .timeout_ms = 60000, .cost = cost);

    return tsr_run(&opts, conv_job, r, err);
}

static conv_run reference_of(const conv_config *c, const char *dtype)
{
    conv_run r = {.config = c, .by = "", .dtype = dtype};

    pass_on("1", conv_job, &r);
    return r;
}

/* ---- the matrix ---- */

static int64_t most(int64_t (*bytes)(const conv_run *r, int rank), const conv_run *r)
{
    int64_t n = 0;

    for (int i = 0; i < CONV_RANKS; i++)
        n = bytes(r, i) > n ? bytes(r, i) : n;
    return n;
}

static int64_t forward_bytes(const conv_run *r, int rank)
{
    return r->bytes[rank][0];
}

static int64_t backward_bytes(const conv_run *r, int rank)
{
    return r->backward[rank];
}

/* One cell; says what is wrong, if anything. The bytes into the busiest rank are those of f32. */
static bool is_right(const conv_config *c, const conv_sharding *s, const char *cost,
                     const conv_run reference[2], int64_t bytes[2])
{
    bool right = true;

    for (int f32 = 0; f32 < 2; f32++) {
        conv_run r = {.config = c, .by = s->by, .dtype = f32 ? "f32" : "f64"};
        tsr_error err = {0};
        const char *wrong = NULL;
        if (run_pair(&r, s->mesh, cost, &err) != TSR_OK)
            wrong = err.text;
        else
            wrong = conv_compare(&r, &reference[f32]);
        if (wrong)
            fprintf(stderr, "%s, %s on %s by %s, cost %s: %s\n", c->name, r.dtype, s->mesh, s->by,
                    cost ? cost : "default", wrong);
        right = right && !wrong;
        bytes[0] = most(forward_bytes, &r);
        bytes[1] = most(backward_bytes, &r);
        conv_free(&r);
    }
    return right;
}

static void print_head(const char *mesh)
{
    printf("\n| mesh %s |", mesh);
    for (int k = 0; k < CONV_N_SHARDINGS; k++)
        if (strcmp(CONV_SHARDINGS[k].mesh, mesh) == 0)
            printf(" %s |", CONV_SHARDINGS[k].by);
    printf("\n|---|");
    for (int k = 0; k < CONV_N_SHARDINGS; k++)
        if (strcmp(CONV_SHARDINGS[k].mesh, mesh) == 0)
            printf("---|");
    printf("\n");
}

/* Cells are bytes into the busiest rank, forward and backward; or "wrong". */
static int print_table(void)
{
    static const char *const meshes[] = {"2", "4", "2x2"};
    int right = 0;

    for (int m = 0; m < 3; m++) {
        print_head(meshes[m]);
        for (int i = 0; i < CONV_N_CONFIGS; i++) {
            const conv_config *c = &CONV_CONFIGS[i];
            conv_run reference[] = {reference_of(c, "f64"), reference_of(c, "f32")};
            printf("| %s |", c->name);
            for (int k = 0; k < CONV_N_SHARDINGS; k++) {
                int64_t bytes[2];
                if (strcmp(CONV_SHARDINGS[k].mesh, meshes[m]) != 0)
                    continue;
                if (is_right(c, &CONV_SHARDINGS[k], NULL, reference, bytes)) {
                    printf(" %lld + %lld |", (long long)bytes[0], (long long)bytes[1]);
                    right++;
                } else {
                    printf(" wrong |");
                }
            }
            printf("\n");
            conv_free(&reference[0]);
            conv_free(&reference[1]);
        }
    }
    printf("\n%d of %d are right.\n", right, CONV_N_CONFIGS * CONV_N_SHARDINGS);
    return right == CONV_N_CONFIGS * CONV_N_SHARDINGS ? 0 : 1;
}

/* A part of the matrix, another one for each configuration. */
static int stride_of_sample(void)
{
    return sample_quick() > 5 ? 41 : sample_every() > 1 ? 5 : 1;
}

static void try_all(int first_seed, int n_seeds)
{
    const int step = stride_of_sample();
    int right = 0, all = 0;

    for (int i = 0; i < CONV_N_CONFIGS; i++) {
        const conv_config *c = &CONV_CONFIGS[i];
        conv_run reference[] = {reference_of(c, "f64"), reference_of(c, "f32")};
        for (int k = i % step; k < CONV_N_SHARDINGS; k += step)
            for (int seed = 0; seed < n_seeds; seed++) {
                char cost[64];
                int64_t bytes[2];
                snprintf(cost, sizeof cost, "random:%d", first_seed + seed + i * 31 + k * 7);
                right +=
                    is_right(c, &CONV_SHARDINGS[k], first_seed ? cost : NULL, reference, bytes);
                all++;
            }
        conv_free(&reference[0]);
        conv_free(&reference[1]);
    }
    printf("%d of %d are right\n", right, all);
    assert_int_equal(right, all);
    assert_true(all >= 429 / step);
}

static void every_sharding(void **state)
{
    (void)state;
    try_all(0, 1);
}

static void every_sharding_by_any_plan(void **state)
{
    (void)state;
    try_all(1, 1);
}

/* ---- communication ---- */

static const conv_config *config_of(const char *name)
{
    for (int i = 0; i < CONV_N_CONFIGS; i++)
        if (strcmp(CONV_CONFIGS[i].name, name) == 0)
            return &CONV_CONFIGS[i];
    fail_msg("no configuration %s", name);
    return NULL;
}

static bool is_silent(const char *name, const char *by)
{
    static const char *const aligned[] = {"k2s2", "k1", "transposed k2s2", "3-D k2s2"};
    bool space = strpbrk(by, "HW") != NULL;

    if (strpbrk(by, "CIOB"))
        return false;
    for (size_t i = 0; i < sizeof aligned / sizeof aligned[0] && space; i++)
        if (strcmp(name, aligned[i]) == 0)
            return true;
    return !space;
}

/* By batch, or by space where windows are as parts are: neither bytes nor calls. */
static void nothing_travels_without_need(void **state)
{
    int tried = 0;

    (void)state;
    for (int i = 0; i < CONV_N_CONFIGS; i++)
        for (int k = 0; k < CONV_N_SHARDINGS; k++) {
            const conv_sharding *s = &CONV_SHARDINGS[k];
            conv_run r = {
                .config = &CONV_CONFIGS[i], .by = s->by, .dtype = "f32", .pending_free = true};
            if (!is_silent(r.config->name, s->by))
                continue;
            pass_on(s->mesh, conv_job, &r);
            for (int rank = 0; rank < CONV_RANKS; rank++) {
                for (int what = 0; what < CONV_OUT; what++)
                    if (r.bytes[rank][what] || r.calls[rank][what])
                        fail_msg("%s by %s on %s: result %d took %lld bytes, %lld calls",
                                 r.config->name, s->by, s->mesh, what,
                                 (long long)r.bytes[rank][what], (long long)r.calls[rank][what]);
                assert_int_equal(r.backward[rank], 0);
            }
            conv_free(&r);
            tried++;
        }
    assert_true(tried > 80);
}

/* By batch and space only, all of the mesh in use: nothing is cheaper than to stay so. */
static bool cuts_space(const char *by)
{
    return strpbrk(by, "HW") && !strpbrk(by, "CIOBR");
}

/* Smaller and odder than those of the matrix. */
static const conv_config odd[] = {
    {"halo over several ranks",
     {4, {8, 2, 3, 8}},
     {4, {8, 2, 3, 7}},
     true,
     false,
     false,
     CONV_OPTS(.padding = {1, 3})},
    {"ranks without input",
     {4, {8, 2, 3, 3}},
     {4, {8, 2, 3, 3}},
     true,
     false,
     false,
     CONV_OPTS(.padding = {1, 1})},
    {"ranks with little input",
     {3, {8, 2, 5}},
     {3, {2, 2, 3}},
     true,
     false,
     false,
     CONV_OPTS(.groups = 1)},
    {"ranks without output",
     {3, {8, 2, 9}},
     {3, {2, 2, 5}},
     true,
     false,
     false,
     CONV_OPTS(.stride = {2})},
    {"more output than input",
     {3, {8, 2, 2}},
     {3, {2, 2, 3}},
     true,
     false,
     false,
     CONV_OPTS(.padding = {4})},
    {"strides over gaps",
     {3, {8, 2, 16}},
     {3, {2, 2, 2}},
     true,
     false,
     false,
     CONV_OPTS(.stride = {3})},
    {"the kernel is all",
     {3, {8, 2, 7}},
     {3, {2, 2, 7}},
     true,
     false,
     false,
     CONV_OPTS(.groups = 1)},
};
enum { ODD = sizeof odd / sizeof odd[0] };

/* More ranks, of which some in the middle have nothing: 10 over 2x4 is 2, 2, 1, 0 and again. */
static const conv_sharding LARGE[] = {{"8", "W"}, {"2x4", "WW"}, {"3x2", "WW"}, {"2x4", "HW"}};
static const conv_config WIDE[] = {
    {"10 wide",
     {4, {8, 2, 3, 10}},
     {4, {2, 2, 3, 3}},
     true,
     false,
     false,
     CONV_OPTS(.padding = {1, 1})},
    {"10 wide k5s2",
     {4, {8, 2, 3, 10}},
     {4, {2, 2, 3, 5}},
     true,
     false,
     false,
     CONV_OPTS(.padding = {1, 2}, .stride = {1, 2})},
};
enum {
    N_LARGE = sizeof LARGE / sizeof LARGE[0],
    N_WIDE = sizeof WIDE / sizeof WIDE[0],
};

static const conv_sharding *any_sharding(int k)
{
    return k < CONV_N_SHARDINGS ? &CONV_SHARDINGS[k] : &LARGE[k - CONV_N_SHARDINGS];
}

static const conv_config *any_config(int i)
{
    return i < CONV_N_CONFIGS         ? &CONV_CONFIGS[i]
           : i < CONV_N_CONFIGS + ODD ? &odd[i - CONV_N_CONFIGS]
                                      : &WIDE[i - CONV_N_CONFIGS - ODD];
}

/* What comes to rank i for result k is what it lacks by that way, unless an operand was moved. */
static bool is_missing(const conv_run *r, const tsr_mesh_shape *mesh, int i, int k, conv_way way)
{
    return !conv_stayed(r, k) || r->bytes[i][k] == 4 * conv_missing(r->config, mesh, r->by, i, way);
}

typedef struct tally {
    int stayed, moved, brought, spread;
} tally;

static void check_bytes(const conv_run *r, const conv_sharding *s, tally *t)
{
    tsr_mesh_shape mesh;
    bool brought = true, spread = true;

    assert_int_equal(tsr_mesh_parse(s->mesh, &mesh, NULL), TSR_OK);
    for (int i = 0; i < conv_ranks(&mesh); i++) {
        brought = brought && is_missing(r, &mesh, i, 1, CONV_BROUGHT);
        spread = spread && is_missing(r, &mesh, i, 1, CONV_SPREAD);
        for (int k = 0; k < CONV_OUT; k++)
            if (r->calls[i][k] > 1 && conv_stayed(r, k))
                fail_msg("%s by %s on %s: result %d took %lld calls, %lld bytes", r->config->name,
                         s->by, s->mesh, k, (long long)r->calls[i][k], (long long)r->bytes[i][k]);
        if (!is_missing(r, &mesh, i, 0, CONV_FORWARD) ||
            (r->n[2] && !is_missing(r, &mesh, i, 2, CONV_FORWARD)) ||
            (r->n[1] && !brought && !spread))
            fail_msg("%s by %s on %s: rank %d got %lld, %lld and %lld bytes, but lacks %lld of x",
                     r->config->name, s->by, s->mesh, i, (long long)r->bytes[i][0],
                     (long long)r->bytes[i][1], (long long)r->bytes[i][2],
                     4 * (long long)conv_missing(r->config, &mesh, s->by, i, CONV_FORWARD));
    }
    for (int k = 0; k < 3; k++)
        if (r->n[k])
            ++*(conv_stayed(r, k) ? &t->stayed : &t->moved);
    t->brought += r->n[1] && conv_stayed(r, 1) && brought && !spread;
    t->spread += r->n[1] && conv_stayed(r, 1) && spread && !brought;
}

/* Plans of the fewest bytes. */
static tsr_run_opts by_bytes(const char *mesh)
{
    return (tsr_run_opts)RUN_OPTS(.mesh = mesh, .world = TSR_WORLD_THREAD,
                                  .cost = "latency=1e-12,bandwidth=1e9,memory=1e15");
}

/* What arrives for output and gradients is what lies in a rank's window and not in its part; the
   input's gradient may come by windows of the output's gradient, or be added up. */
static void only_the_halo_travels(void **state)
{
    tally t = {0};

    (void)state;
    for (int i = 0; i < CONV_N_CONFIGS + ODD + N_WIDE; i++)
        for (int k = 0; k < CONV_N_SHARDINGS + N_LARGE; k++) {
            const conv_sharding *s = any_sharding(k);
            conv_run r = {.config = any_config(i), .by = s->by, .dtype = "f32"};
            conv_run reference;
            if (r.config->opts.transposed || !cuts_space(s->by)) /* see conv_missing */
                continue;
            r.pending_free = true;
            reference = reference_of(r.config, "f32");
            pass_with(by_bytes(s->mesh), conv_job, &r);
            if (conv_compare(&r, &reference))
                fail_msg("%s by %s on %s: %s", r.config->name, s->by, s->mesh,
                         conv_compare(&r, &reference));
            check_bytes(&r, s, &t);
            conv_free(&r);
            conv_free(&reference);
        }
    printf("%d results by halo, %d by moving instead; %d gradients brought only, %d added only\n",
           t.stayed, t.moved, t.brought, t.spread);
    assert_true(t.stayed > 500);
}

/* The plan's price is that of the busiest rank: in the sim world its bytes are counted. */
static void the_price_is_what_travels(void **state)
{
    (void)state;
    for (int i = 0; i < CONV_N_CONFIGS + ODD + N_WIDE; i++)
        for (int k = 0; k < CONV_N_SHARDINGS + N_LARGE; k++) {
            const conv_sharding *s = any_sharding(k);
            const conv_config *c = any_config(i);
            conv_run r = {.config = c, .by = s->by, .dtype = "f32", .pending_free = true};
            conv_run sim = r;
            if (!cuts_space(s->by))
                continue;
            pass_on(s->mesh, conv_job, &r);
            pass_with((tsr_run_opts)RUN_OPTS(.mesh = s->mesh, .world = TSR_WORLD_SIM), conv_job,
                      &sim);
            for (int what = 0; what < CONV_OUT; what++) {
                int64_t busiest = 0;
                for (int rank = 0; rank < CONV_RANKS; rank++)
                    busiest = r.bytes[rank][what] > busiest ? r.bytes[rank][what] : busiest;
                if (busiest != sim.bytes[0][what])
                    fail_msg("%s by %s on %s: result %d is priced at %lld bytes, %lld came",
                             c->name, s->by, s->mesh, what, (long long)sim.bytes[0][what],
                             (long long)busiest);
            }
            conv_free(&r);
            conv_free(&sim);
        }
}

/* ---- edges ---- */

static const conv_config SMALL[] = {
    {"no batch", {3, {0, 2, 7}}, {3, {2, 2, 3}}, true, false, false, CONV_OPTS(.padding = {1})},
    {"batch 1", {3, {1, 2, 7}}, {3, {2, 2, 3}}, true, false, false, CONV_OPTS(.padding = {1})},
    {"groups 3", {3, {2, 6, 7}}, {3, {9, 2, 3}}, true, false, false, CONV_OPTS(.groups = 3)},
    {"transposed, groups 3",
     {3, {2, 6, 7}},
     {3, {6, 3, 4}},
     true,
     false,
     false,
     CONV_OPTS(.groups = 3, .transposed = true, .stride = {3}, .padding = {1},
               .output_padding = {2})},
    {"transposed over gaps",
     {3, {2, 2, 7}},
     {3, {2, 2, 1}},
     true,
     false,
     false,
     CONV_OPTS(.transposed = true, .stride = {3})},
};
enum { N_SMALL = sizeof SMALL / sizeof SMALL[0] };

/* Shapes of which some ranks hold nothing, everywhere, by the best plan and by others. */
static void odd_shapes(void **state)
{
    const int seeds = sample_every() > 1 ? 1 : 2;

    (void)state;
    for (int i = 0; i < ODD + N_SMALL; i++) {
        const conv_config *c = i < ODD ? &odd[i] : &SMALL[i - ODD];
        conv_run reference[] = {reference_of(c, "f64"), reference_of(c, "f32")};
        for (int k = 0; k < CONV_N_SHARDINGS + N_LARGE; k++)
            for (int seed = 0; seed < seeds; seed++) {
                char cost[64];
                int64_t bytes[2];
                snprintf(cost, sizeof cost, "random:%d", seed + i * 31 + k * 7);
                assert_true(is_right(c, any_sharding(k), seed ? cost : NULL, reference, bytes));
            }
        conv_free(&reference[0]);
        conv_free(&reference[1]);
    }
}

/* Ranks 1 and 2 of 4; the others take no part. */
static void on_a_part_of_the_ranks(void **state)
{
    static const char *const by[] = {"N", "C", "I", "O", "B", "H", "W"};

    (void)state;
    for (int i = 0; i < CONV_N_CONFIGS; i++) {
        const conv_config *c = &CONV_CONFIGS[i];
        conv_run reference = reference_of(c, "f64");
        for (size_t k = 0; k < sizeof by / sizeof by[0]; k++) {
            conv_run r = {.config = c, .by = by[k], .dtype = "f64", .in_part = true};
            const char *wrong;
            pass_on("4", conv_job, &r);
            wrong = conv_compare(&r, &reference);
            if (wrong)
                fail_msg("%s by %s: %s", c->name, by[k], wrong);
            conv_free(&r);
        }
        conv_free(&reference);
    }
}

/* Halos are fetched by some plans and scattered back by others; each happens, and is right. */
static void gradients_go_both_ways(void **state)
{
    const conv_config *c = config_of("k3p1");
    const conv_sharding *s = NULL;
    conv_run reference = reference_of(c, "f32");
    int n_brought = 0, n_spread = 0;

    (void)state;
    for (int k = 0; k < CONV_N_SHARDINGS; k++)
        if (strcmp(CONV_SHARDINGS[k].by, "HW") == 0)
            s = &CONV_SHARDINGS[k];
    for (int seed = 0; seed < 400 && (!n_brought || !n_spread); seed++) {
        conv_run r = {.config = c, .by = s->by, .dtype = "f32", .pending_free = true};
        tsr_mesh_shape mesh;
        tsr_error err = {0};
        char cost[64];
        bool brought = true, spread = true;
        snprintf(cost, sizeof cost, "random:%d", seed);
        assert_int_equal(run_pair(&r, s->mesh, cost, &err), TSR_OK);
        assert_int_equal(tsr_mesh_parse(s->mesh, &mesh, NULL), TSR_OK);
        for (int i = 0; i < 4; i++) {
            brought =
                brought && r.bytes[i][1] == 4 * conv_missing(c, &mesh, s->by, i, CONV_BROUGHT);
            spread = spread && r.bytes[i][1] == 4 * conv_missing(c, &mesh, s->by, i, CONV_SPREAD);
        }
        n_brought += brought && !spread;
        n_spread += spread && !brought;
        assert_null(conv_compare(&r, &reference));
        conv_free(&r);
    }
    conv_free(&reference);
    assert_true(n_brought > 0 && n_spread > 0);
}

/* A gradient that all three results want elsewhere is moved once. */
static tsr_status shared_job(tsr_mesh *mesh, void *arg)
{
    const int dims[] = {0, 2};
    const int64_t space[] = {8}, kernel[] = {3};
    const tsr_conv_opts opts = CONV_OPTS(.padding = {1});
    tsr_tensor *x = tsr_arange(mesh, "f32[8,4,8]@[S(0)]", 0, 1);
    tsr_tensor *w = tsr_arange(mesh, "f32[4,4,3]", 0, 1);
    tsr_tensor *grad = tsr_arange(mesh, "f32[8,4,8]@[P(max)]", 0, 1), *out[3];
    int64_t single, together;

    (void)arg;
    tsr_counters_reset(mesh);
    tsr_conv_grad_input(grad, w, space, &opts);
    single = tsr_counters_get(mesh).bytes_in;
    tsr_conv_grad_weight(grad, x, kernel, &opts);
    tsr_sum(grad, dims, 2, false);
    CHECK(single > 0 && tsr_counters_get(mesh).bytes_in == 3 * single);
    tsr_counters_reset(mesh);
    CHECK(tsr_conv_backward(grad, x, w, &opts, &out[0], &out[1], &out[2]) == TSR_OK);
    together = tsr_counters_get(mesh).bytes_in;
    CHECK(together == single);
    return tsr_mesh_status(mesh);
}

static void a_gradient_is_moved_once(void **state)
{
    (void)state;
    pass_with((tsr_run_opts)RUN_OPTS(.mesh = "2", .world = TSR_WORLD_THREAD, .cost = "torch"),
              shared_job, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sharding),
        cmocka_unit_test(every_sharding_by_any_plan),
        cmocka_unit_test(nothing_travels_without_need),
        cmocka_unit_test(only_the_halo_travels),
        cmocka_unit_test(the_price_is_what_travels),
        cmocka_unit_test(odd_shapes),
        cmocka_unit_test(on_a_part_of_the_ranks),
        cmocka_unit_test(gradients_go_both_ways),
        cmocka_unit_test(a_gradient_is_moved_once),
    };

    if (argc > 1 && strcmp(argv[1], "table") == 0)
        return print_table();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
