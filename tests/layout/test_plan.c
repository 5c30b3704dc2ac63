/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan.c - what plans look like: the expected steps in known cases, steps that chain from
   source to target, each of them a legal move, rivals, other meshes, many ranks. That they are the
   cheapest: test_plan_exact.c. Their bytes: test_redist_bytes.c. */
#include "support/test.h"
#include "support/naive_layout.h"
#include "support/numbers.h"
#include "support/plan_checks.h"

static tsr_redist *plan_of(const char *mesh, const char *spec, const char *to,
                           const char *cost_text)
{
    tsr_mesh_shape shape;
    tsr_spec a, b;
    tsr_cost cost = tsr_cost_default();
    tsr_redist *plan = NULL;
    tsr_error err = {0};

    if (tsr_mesh_parse(mesh, &shape, &err) || tsr_spec_parse(spec, &shape, &a, &err) ||
        tsr_placements_parse(to, &a, &b, &err) || tsr_cost_parse(cost_text, &cost, &err) ||
        tsr_redist_plan(&a, &b, &cost, 0, TSR_RIVAL_BEST, &plan, &err))
        fail_msg("%s -> %s on %s: %s", spec, to, mesh, err.text);
    check_plan(plan);
    return plan;
}

/* Steps as text, "all-gather 1; slice 0", numbers being mesh dims. */
static const char *steps_of(const tsr_redist *plan, char *buf, size_t n)
{
    size_t used = 0;

    buf[0] = 0;
    for (int i = 0; i < plan->n_steps; i++) {
        char dims[64];
        tsr_mesh_shape mesh = plan->step[i].from.mesh;
        memset(mesh.name, 0, sizeof mesh.name);
        tsr__mesh_dims_text(&mesh, plan->step[i].mdims, dims, sizeof dims);
        used += (size_t)snprintf(buf + used, n - used, "%s%s %s", i ? "; " : "",
                                 tsr_step_name(plan->step[i].kind), dims);
    }
    return buf;
}

static void known_plans(void **state)
{
    static const struct {
        const char *mesh, *spec, *to, *steps;
        int64_t bytes; /* received by all ranks together; -1: not said */
    } known[] = {
        {"4", "f32[8,8]@[S(0)]", "[S(0)]", "", 0},
        {"4", "f32[8,8]@[S(0)]", "[SS(0,1)]", "", 0},
        {"1x1", "f32[8,8]@[S(0),R]", "[P(sum),S(1)]", "", 0},
        {"4", "f32[8,8]@[S(0)]", "[R]", "all-gather 0", 4 * 3 * 64},
        {"4", "f32[8,8]@[S(0)]", "[S(1)]", "all-to-all 0", 3 * 64},
        {"4", "f32[8,8]@[S(1)]", "[S(0)]", "all-to-all 0", 3 * 64},
        {"4", "f32[8,8]@[S(0)]", "[SS(0,2)]", "all-to-all 0", -1},
        {"3", "f32[5,7]@[SS(1,2)]", "[S(0)]", "all-to-all 0", -1},
        {"4", "f32[8,8]@[R]", "[S(0)]", "slice 0", 0},
        {"4", "f32[8,8]@[R]", "[P(sum)]", "to-partial 0", 0},
        {"4", "f32[8,8]@[R]", "[P(avg)]", "to-partial 0", 0},
        {"2x2", "f32[8,8]@[R,R]", "[S(0),S(1)]", "slice 0,1", 0},
        {"2x2", "f32[4096,4096]@[R,R]", "[S(0),S(1)]", "slice 0,1", 0},
        {"2x2", "f32[4096,4096]@[R,R]", "[S(0),P(max)]", "slice 0; to-partial 1", 0},
        {"4", "f32[8,8]@[P(sum)]", "[S(1)]", "reduce-scatter 0", 4 * 3 * 64},
        {"4", "f32[8,8]@[P(sum)]", "[R]", "all-reduce 0", -1},
        {"4", "f32[8,8]@[P(sum)]", "[P(max)]", "all-reduce 0; to-partial 0", -1},
        {"2x2", "f32[8,8]@[S(0),S(1)]", "[S(1),S(0)]", "exchange 0,1", 2 * 64},
        {"2x3", "f32[6,6]@[S(0),R]", "[R,S(0)]", "exchange 0,1", -1},
        {"2x2", "f32[8,8]@[P(sum),P(sum)]", "[R,R]", "all-reduce 0,1", -1},
        {"2x2", "f32[8,8]@[P(avg),P(sum)]", "[R,R]", "all-reduce 0,1", -1},
        {"2x2", "f32[8,8]@[P(sum),P(sum)]", "[S(0),S(1)]", "reduce-scatter 0,1", 4 * 3 * 64},
        {"2x2", "f32[8,8]@[P(sum),P(max)]", "[R,R]", "all-reduce 1; all-reduce 0", -1},
        {"2x2", "f32[8,8]@[P(sum),P(max)]", "[P(sum),R]", "all-reduce 1", -1},
        {"2x2", "f32[8,8]@[P(sum),P(max)]", "[R,P(max)]",
         "all-reduce 1; all-reduce 0; to-partial 1", -1},
        {"2x2", "f32[8,8]@[P(sum),P(sum)]", "[R,P(sum)]", "all-reduce 0", -1},
        {"2x2", "f32[8,8]@[P(sum),P(avg)]", "[R,P(avg)]", "all-reduce 0", -1},
        {"2x2x2", "f32[8,8]@[P(sum),P(sum),P(max)]", "[R,P(sum),P(max)]",
         "all-reduce 2; all-reduce 0; to-partial 2", -1},
        {"2x1x2", "f32[8,8]@[P(sum),P(max),P(sum)]", "[R,R,R]", "all-reduce 0,2", -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        tsr_redist *plan = plan_of(known[i].mesh, known[i].spec, known[i].to, "default");
        char buf[512];
        int64_t bytes = 0;
        if (strcmp(steps_of(plan, buf, sizeof buf), known[i].steps) != 0)
            fail_msg("%s -> %s on %s: %s, expected %s", known[i].spec, known[i].to, known[i].mesh,
                     buf, known[i].steps);
        for (int r = 0; r < tsr__mesh_size(&plan->from.mesh); r++)
            bytes += tsr_redist_bytes_in(plan, r);
        if (known[i].bytes >= 0 && bytes != known[i].bytes)
            fail_msg("%s -> %s: %lld bytes", known[i].spec, known[i].to, (long long)bytes);
        tsr_redist_free(plan);
    }
}

/* Orders of moves that cost the same, in time, bytes and steps: one of them, and always the same.
   It follows from the list of moves alone, so that ranks, machines and versions agree. */
static void ties_between_plans(void **state)
{
    static const char *const ties[][4] = {
        {"2x2", "f32[8,8]@[S(0),S(1)]", "[R,R]", "all-gather 0; all-gather 1"},
        {"2x2", "f32[8,8]@[S(1),S(0)]", "[R,R]", "all-gather 1; all-gather 0"},
        {"2x2x2", "f32[8,8,8]@[S(0),S(1),S(2)]", "[R,R,R]",
         "all-gather 1; all-gather 2; all-gather 0"},
        {"2x2", "f32[8,8,8]@[S(0),S(1)]", "[S(1),S(2)]",
         "all-gather 1; slice 1; all-gather 0; slice 0"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof ties / sizeof ties[0]; i++) {
        tsr_redist *plan = plan_of(ties[i][0], ties[i][1], ties[i][2], "torch");
        char buf[512];
        if (strcmp(steps_of(plan, buf, sizeof buf), ties[i][3]) != 0)
            fail_msg("%s -> %s on %s: %s, expected %s", ties[i][1], ties[i][2], ties[i][0], buf,
                     ties[i][3]);
        tsr_redist_free(plan);
    }
}

/* 5 rows over 2x2: 3 and 2, then 2, 1, 1, 1; a flat chunk rule would say 2, 2, 1, 0. */
static void nested_uneven_gather(void **state)
{
    tsr_redist *plan = plan_of("2x2", "f32[5,3]@[S(0),S(0)]", "[R,R]", "default");
    static const int64_t rows[4] = {2, 1, 1, 1};

    (void)state;
    for (int r = 0; r < 4; r++)
        assert_int_equal(tsr_redist_bytes_in(plan, r), (5 - rows[r]) * 3 * 4);
    tsr_redist_free(plan);
}

/* All pairs under random costs: every legal plan passes by here sooner or later. */
static void all_plans_are_legal(void **state)
{
    static const char *const meshes[] = {"2", "3", "2x2", "2x3", "2x2x2", "1x3x2"};
    uint64_t seed = 21;

    (void)state;
    for (int round = 0; round < 15000; round++) {
        tsr_spec from = {.dtype = TSR_F32, .shape = {2, {below(&seed, 7), below(&seed, 5)}}};
        tsr_spec to;
        char text[32];
        tsr_cost cost = tsr_cost_default();
        tsr_redist *plan = NULL;
        tsr_error err = {0};
        assert_int_equal(tsr_mesh_parse(meshes[below(&seed, 6)], &from.mesh, NULL), TSR_OK);
        to = from;
        for (int m = 0; m < from.mesh.ndim; m++) {
            from.place[m] = random_placement(&seed, 2);
            to.place[m] = below(&seed, 4) ? random_placement(&seed, 2) : from.place[m];
        }
        snprintf(text, sizeof text, "random:%d", (int)below(&seed, 1000));
        static const char *const other[] = {"torch", "default", "torch:latency=1e-9/1e-3"};
        int which = below(&seed, 6);
        assert_int_equal(tsr_cost_parse(which < 3 ? other[which] : text, &cost, NULL), TSR_OK);
        tsr_redist_rival rival = (tsr_redist_rival)below(&seed, 4);
        if (tsr_redist_plan(&from, &to, &cost, 0, rival, &plan, &err) != TSR_OK)
            fail_msg("%s", err.text);
        check_plan(plan);
        for (int i = 0; i < plan->n_steps; i++)
            if (cost.collectives_only && rival != TSR_RIVAL_EXCHANGE)
                assert_int_not_equal(plan->step[i].kind, TSR_STEP_EXCHANGE);
        tsr_redist_free(plan);
    }
}

static tsr_redist *rival_plan(const tsr_spec *from, const tsr_spec *to, tsr_redist_rival rival)
{
    tsr_redist *plan = NULL;
    tsr_error err = {0};

    if (tsr_redist_plan(from, to, NULL, 0, rival, &plan, &err) != TSR_OK)
        fail_msg("%s", err.text);
    check_plan(plan);
    return plan;
}

static void rivals(void **state)
{
    tsr_mesh_shape mesh;
    tsr_spec from, to;
    double seconds[4];
    char buf[256];

    (void)state;
    assert_int_equal(tsr_mesh_parse("2x2", &mesh, NULL), TSR_OK);
    assert_int_equal(tsr_spec_parse("f32[512,512]@[S(0),S(1)]", &mesh, &from, NULL), TSR_OK);
    assert_int_equal(tsr_placements_parse("[S(1),S(0)]", &from, &to, NULL), TSR_OK);
    for (int r = 0; r < 4; r++) {
        tsr_redist *plan = rival_plan(&from, &to, (tsr_redist_rival)r);
        seconds[r] = plan->seconds;
        steps_of(plan, buf, sizeof buf);
        if (r == TSR_RIVAL_REPLICATE)
            assert_string_equal(buf, "all-gather 1; all-gather 0; slice 0,1");
        if (r == TSR_RIVAL_COLLECTIVES)
            assert_null(strstr(buf, "exchange"));
        if (r == TSR_RIVAL_EXCHANGE)
            assert_string_equal(buf, "exchange 0,1");
        tsr_redist_free(plan);
    }
    for (int r = 1; r < 4; r++)
        assert_true(seconds[0] <= seconds[r]);
}

/* Onto another mesh: partials are resolved here, one exchange, partials are made there. */
static void other_meshes(void **state)
{
    static const char *const meshes[] = {"2", "3", "2x2", "2x3", "1x2x2"};
    uint64_t seed = 22;

    (void)state;
    for (int round = 0; round < 5000; round++) {
        tsr_spec spec[2];
        tsr_redist *plan = NULL;
        tsr_error err = {0};
        tsr_mesh_shape shape;
        for (int i = 0; i < 2; i++) {
            spec[i] = (tsr_spec){.dtype = TSR_F64, .shape = {2, {6, 5}}};
            assert_int_equal(tsr_mesh_parse(meshes[below(&seed, 5)], &shape, NULL), TSR_OK);
            assert_int_equal(
                tsr__mesh_shape_make(shape.size, shape.ndim, below(&seed, 4), &spec[i].mesh, NULL),
                TSR_OK);
            for (int m = 0; m < shape.ndim; m++)
                spec[i].place[m] = random_placement(&seed, 2);
        }
        if (tsr_redist_plan(&spec[0], &spec[1], NULL, 0, TSR_RIVAL_BEST, &plan, &err) != TSR_OK)
            fail_msg("%s", err.text);
        check_plan(plan);
        tsr_redist_free(plan);
    }
}

/* Of the ways to resolve partials before the exchange, the one with the cheapest sum is taken: here
   the reduce-scatter along the dim that the target shards, after which nothing is received. */
static void exchange_starts_well(void **state)
{
    static const char *const places[] = {"[S(0),S(1)]", "[S(1),S(0)]", "[R,R]"};
    static const char *const first[] = {"[S(0)]", "[S(1)]", "[R]"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        tsr_mesh_shape line, grid;
        tsr_spec from, to;
        char text[64], buf[TSR_TEXT_LEN];
        snprintf(text, sizeof text, "f32[512,512]@%s", places[i]);
        assert_int_equal(tsr_mesh_parse("2", &line, NULL), TSR_OK);
        assert_int_equal(tsr_mesh_parse("2x1", &grid, NULL), TSR_OK);
        assert_int_equal(tsr_spec_parse("f32[512,512]@[P(sum)]", &line, &from, NULL), TSR_OK);
        assert_int_equal(tsr_spec_parse(text, &grid, &to, NULL), TSR_OK);
        tsr_redist *plan = rival_plan(&from, &to, TSR_RIVAL_BEST);
        assert_int_equal(plan->n_steps, 2);
        assert_string_equal(tsr__layout_text(&plan->step[0].to, buf, sizeof buf), first[i]);
        assert_int_equal(tsr__step_bytes_max(&plan->step[1]), 0);
        tsr_redist_free(plan);
    }
}

/* All eight mesh dims in use: there are more states than can be searched, and still a plan. */
static void eight_mesh_dims(void **state)
{
    static const char *const meshes[] = {"2x2x2x2x2", "2x2x2x2x2x2", "2x2x2x2x2x2x2",
                                         "2x2x2x2x2x2x2x2"};
    static const char *const costs[] = {"default", "torch", "random:3"};
    uint64_t seed = 23;

    (void)state;
    for (int round = 0; round < 60; round++) {
        tsr_spec from = {.dtype = TSR_F32, .shape = {3, {2, 16, 8}}}, to;
        tsr_cost cost = tsr_cost_default();
        tsr_redist *plan = NULL;
        tsr_error err = {0};
        assert_int_equal(tsr_mesh_parse(meshes[round % 4], &from.mesh, NULL), TSR_OK);
        assert_int_equal(tsr_cost_parse(costs[round / 4 % 3], &cost, NULL), TSR_OK);
        to = from;
        for (int m = 0; m < from.mesh.ndim; m++) {
            from.place[m] = random_placement(&seed, 3);
            to.place[m] = random_placement(&seed, 3);
        }
        if (tsr_redist_plan(&from, &to, &cost, 0, TSR_RIVAL_BEST, &plan, &err) != TSR_OK)
            fail_msg("%s", err.text);
        check_plan(plan);
        double seconds;
        assert_int_equal(tsr_redist_costs(&from, (const tsr_placement(*)[TSR_MAX_MESH]) & to.place,
                                          1, &cost, &seconds, &err),
                         TSR_OK);
        assert_true(isinf(seconds) || fabs(seconds - plan->seconds) <= 1e-9 * plan->seconds);
        tsr_redist_free(plan);
    }
}

/* 131,072 ranks: no loop over pairs of ranks, no list of pieces. The bound is far above what it
   takes, so that it only catches such loops. */
static void many_ranks(void **state)
{
    static const char *const pairs[][2] = {
        {"[S(0),S(1),R]", "[R,S(0),S(1)]"},       {"[S(0),S(0),S(0)]", "[R,R,R]"},
        {"[P(sum),S(0),S(1)]", "[S(1),S(0),R]"},  {"[P(sum),P(sum),P(sum)]", "[S(0),S(1),S(0)]"},
        {"[SS(0,4096),R,S(1)]", "[S(1),S(0),R]"}, {"[SS(0,64),S(0),R]", "[S(0),SS(0,2),S(1)]"},
        {"[S(0),S(0),S(1)]", "[S(1),S(0),S(0)]"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char text[128];
        tsr_mesh_shape mesh;
        tsr_spec a, b;
        tsr_redist *plan = NULL;
        double t0 = now();
        snprintf(text, sizeof text, "f32[131072,4096]@%s", pairs[i][0]);
        assert_int_equal(tsr_mesh_parse("128x64x16", &mesh, NULL), TSR_OK);
        assert_int_equal(tsr_spec_parse(text, &mesh, &a, NULL), TSR_OK);
        assert_int_equal(tsr_placements_parse(pairs[i][1], &a, &b, NULL), TSR_OK);
        assert_int_equal(tsr_redist_plan(&a, &b, NULL, 0, TSR_RIVAL_BEST, &plan, NULL), TSR_OK);
        tsr_redist_info info = tsr_redist_info_get(plan);
        for (int s = 0; s < info.n_steps; s++) {
            tsr_step step;
            assert_int_equal(tsr_redist_step(plan, s, &step), TSR_OK);
            assert_true(step.bytes <= info.bytes);
        }
        double seconds = now() - t0;
        print_message("%s -> %s: %d steps, %.0f ms\n", pairs[i][0], pairs[i][1], info.n_steps,
                      1e3 * seconds);
        assert_true(seconds < 5);
        tsr_redist_free(plan);
    }
}

static void bad_arguments(void **state)
{
    tsr_mesh_shape mesh;
    tsr_spec a, b;
    tsr_redist *plan = NULL;
    tsr_step step;
    tsr_error err = {0};

    (void)state;
    assert_int_equal(tsr_mesh_parse("2x2", &mesh, NULL), TSR_OK);
    assert_int_equal(tsr_spec_parse("f32[8,8]@[S(0),R]", &mesh, &a, NULL), TSR_OK);
    assert_int_equal(tsr_spec_parse("f32[8,9]", &mesh, &b, NULL), TSR_OK);
    assert_int_equal(tsr_redist_plan(&a, &b, NULL, 0, TSR_RIVAL_BEST, &plan, &err), TSR_ERR_SHAPE);
    assert_non_null(strstr(err.text, "cannot redistribute f32[8,8]@[S(0),R] to f32[8,9]@[R,R]"));
    assert_int_equal(tsr_spec_parse("f64[8,8]", &mesh, &b, NULL), TSR_OK);
    assert_int_equal(tsr_redist_plan(&a, &b, NULL, 0, TSR_RIVAL_BEST, &plan, NULL), TSR_ERR_SHAPE);
    b = a;
    b.place[0].dim = 5;
    assert_int_equal(tsr_redist_plan(&a, &b, NULL, 0, TSR_RIVAL_BEST, &plan, NULL), TSR_ERR_SPEC);
    assert_int_equal(tsr_redist_plan(&b, &a, NULL, 0, TSR_RIVAL_BEST, &plan, NULL), TSR_ERR_SPEC);
    assert_null(plan);
    tsr_redist_free(NULL);
    assert_int_equal(tsr_redist_plan(&a, &a, NULL, 0, TSR_RIVAL_BEST, &plan, NULL), TSR_OK);
    assert_int_equal(tsr_redist_step(plan, 0, &step), TSR_ERR_ARG);
    assert_int_equal(tsr_redist_step(plan, -1, &step), TSR_ERR_ARG);
    tsr_redist_free(plan);
    for (int k = TSR_STEP_SLICE; k <= TSR_STEP_TO_PARTIAL; k++)
        assert_string_not_equal(tsr_step_name((tsr_step_kind)k), "unknown step");
    assert_string_equal(tsr_step_name((tsr_step_kind)99), "unknown step");
}

/* The n-th allocation fails, for every n: an error and nothing left behind. */
static void out_of_memory(void **state)
{
    tsr_cost cost = tsr_cost_default();
    tsr_mesh_shape mesh;
    tsr_spec a, b;
    int failures = 0;

    (void)state;
    assert_int_equal(tsr_mesh_parse("2x2x2x2x2", &mesh, NULL), TSR_OK);
    assert_int_equal(tsr_spec_parse("f32[64,64]@[P(sum),S(0),S(1),P(max),R]", &mesh, &a, NULL),
                     TSR_OK);
    assert_int_equal(tsr_placements_parse("[S(1),P(sum),S(0),S(0),S(1)]", &a, &b, NULL), TSR_OK);
    for (int64_t n = 1;; n++) {
        tsr_heap heap = {.fail_at = n};
        tsr_redist *plan = NULL;
        tsr_error err = {0};
        tsr_status st = tsr__redist_plan_make(&heap, &a, &b, &cost, 0, TSR_RIVAL_BEST, &plan, &err);
        if (st == TSR_OK)
            check_plan(plan);
        else
            assert_int_equal(st, TSR_ERR_MEMORY);
        tsr_redist_free(plan);
        assert_int_equal(heap.live, 0);
        failures += st != TSR_OK;
        if (st == TSR_OK)
            break;
    }
    assert_true(failures >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_plans),
        cmocka_unit_test(ties_between_plans),
        cmocka_unit_test(nested_uneven_gather),
        cmocka_unit_test(all_plans_are_legal),
        cmocka_unit_test(rivals),
        cmocka_unit_test(other_meshes),
        cmocka_unit_test(exchange_starts_well),
        cmocka_unit_test(eight_mesh_dims),
        cmocka_unit_test(many_ranks),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
