/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_exact.c - the planner's cost is the least there is: against brute force over all states
   and moves, for all pairs of placements, costs, memory limits, and for one source to all targets.
   Random costs make every move worth something somewhere. */
#include "support/test.h"
#include "layout/redist_plan.h"
#include "support/naive_search.h"
#include "support/numbers.h"

static const tsr_placement CHOICE[] = {
    {.kind = TSR_REPLICATE},
    {.kind = TSR_SHARD, .dim = 0},
    {.kind = TSR_SHARD, .dim = 1},
    {.kind = TSR_STRIDED, .dim = 0, .factor = 2},
    {.kind = TSR_PARTIAL, .reduce = TSR_SUM},
    {.kind = TSR_PARTIAL, .reduce = TSR_MAX},
    {.kind = TSR_PARTIAL, .reduce = TSR_AVG},
    {.kind = TSR_STRIDED, .dim = 1, .factor = 3},
};
enum { USUAL = 6, ALL = 8, COSTS = 25 };

static tsr_cost cost_of(int i)
{
    static const char *const texts[] = {"default", "torch", "latency=1e-9,bandwidth=1e6,step=1e-9",
                                        "latency=1e-3/1e-9,bandwidth=1e9/1e3,memory=1e4",
                                        "torch:latency=1e-6/1e-3,bandwidth=1e9/1e5"};
    char text[64];
    tsr_cost cost = tsr_cost_default();

    snprintf(text, sizeof text, "random:%d", i - 4);
    assert_int_equal(tsr_cost_parse(i < 5 ? texts[i] : text, &cost, NULL), TSR_OK);
    return cost;
}

static tsr_spec spec_of(const char *mesh, int64_t a, int64_t b)
{
    tsr_spec spec = {.dtype = TSR_F32, .shape = {2, {a, b}}};

    assert_int_equal(tsr_mesh_parse(mesh, &spec.mesh, NULL), TSR_OK);
    return spec;
}

static void place(tsr_spec *spec, int number, int choices)
{
    for (int m = spec->mesh.ndim - 1; m >= 0; m--, number /= choices)
        spec->place[m] = CHOICE[number % choices];
}

static int count_places(const tsr_spec *spec, int choices)
{
    int n = 1;
    for (int m = 0; m < spec->mesh.ndim; m++)
        n *= choices;
    return n;
}

static bool near(double a, double b)
{
    return a == b || (!isinf(a) && !isinf(b) && fabs(a - b) <= 1e-9 * fabs(b));
}

static void wrong(const tsr_spec *from, const tsr_spec *to, int cost, size_t limit, double got,
                  double want)
{
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN], mesh[TSR_TEXT_LEN];

    fail_msg("%s -> %s on %s, cost %d, limit %zu: %g seconds, brute force %g",
             tsr_spec_text(from, a, sizeof a), tsr_placements_text(to, b, sizeof b),
             tsr_mesh_text(&from->mesh, mesh, sizeof mesh), cost, limit, got, want);
}

/* One pair under all costs: the graph is built once. */
static void check_pair(const tsr_spec *from, const tsr_spec *to, int first_cost, int n_costs)
{
    naive_graph graph;
    bool kept[TSR_MAX_MESH] = {false};

    naive_kept(from, to->place, kept);
    naive_open(&graph, from, (const tsr_placement(*)[TSR_MAX_MESH]) & to->place, 1, kept);
    for (int c = first_cost; c < first_cost + n_costs; c++) {
        tsr_cost cost = cost_of(c);
        tsr_redist *plan = NULL;
        tsr_error err = {0};
        double want = naive_best(&graph, to->place, &cost, 0);
        if (tsr_redist_plan(from, to, &cost, 0, TSR_RIVAL_BEST, &plan, &err) != TSR_OK)
            fail_msg("%s", err.text);
        if (!near(plan->seconds, want))
            wrong(from, to, c, 0, plan->seconds, want);
        assert_true(plan->seconds == tsr_redist_info_get(plan).seconds);
        tsr_redist_free(plan);
    }
    naive_close(&graph);
}

static void all_pairs_on(const char *mesh, int64_t a, int64_t b)
{
    tsr_spec from = spec_of(mesh, a, b), to = from;
    int n = count_places(&from, USUAL);

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            place(&from, i, USUAL);
            place(&to, j, USUAL);
            check_pair(&from, &to, 0, COSTS);
        }
}

static void all_pairs(void **state)
{
    (void)state;
    all_pairs_on("2", 13, 7);
    all_pairs_on("3", 13, 7);
    all_pairs_on("2x2", 13, 7);
    all_pairs_on("2x3", 301, 402);
    all_pairs_on("2x3", 4, 1);
    all_pairs_on("1x2", 9, 4);
    all_pairs_on("2", 0, 4);
}

static void sampled_pairs(void **state)
{
    static const char *const meshes[] = {"2x2x2", "3x1x2", "2x2x3", "4x2", "1x3x1x2"};
    uint64_t seed = 11;

    (void)state;
    for (int round = 0; round < 600; round++) {
        tsr_spec from =
            spec_of(meshes[below(&seed, 5)], 1 + below(&seed, 40), 1 + below(&seed, 20));
        tsr_spec to = from;
        int n = count_places(&from, ALL);
        place(&from, below(&seed, n), ALL);
        place(&to, below(&seed, n), ALL);
        check_pair(&from, &to, below(&seed, 5), 1);
        check_pair(&from, &to, 5 + below(&seed, 15), 5);
    }
}

/* Is moving to this placement something that may happen without being asked for? */
static bool implicit(const tsr_spec *from, const tsr_placement *to, const bool *kept)
{
    for (int m = 0; m < from->mesh.ndim; m++)
        if (from->mesh.size[m] > 1 && to[m].kind == TSR_PARTIAL && !kept[m] &&
            from->place[m].kind != TSR_REPLICATE)
            return false; /* S -> P, P -> other P, or a P that must be resolved on the way */
    return true;
}

static void one_to_all_on(const char *mesh, int step, int first_cost, int n_costs)
{
    static tsr_placement to[512][TSR_MAX_MESH];
    static double seconds[512];
    tsr_spec from = spec_of(mesh, 13, 7), target = from;
    int n = count_places(&from, USUAL);

    for (int j = 0; j < n; j++) {
        place(&target, j, USUAL);
        memcpy(to[j], target.place, sizeof to[j]);
    }
    for (int i = 0; i < n; i += step)
        for (int c = first_cost; c < first_cost + n_costs; c++) {
            tsr_cost cost = cost_of(c);
            naive_graph graph[1 << TSR_MAX_MESH] = {0}; /* one for each set of kept dims */
            place(&from, i, USUAL);
            assert_int_equal(tsr_redist_costs(&from, (const tsr_placement(*)[TSR_MAX_MESH])to, n,
                                              &cost, seconds, NULL),
                             TSR_OK);
            for (int j = 0; j < n; j++) {
                bool kept[TSR_MAX_MESH] = {false};
                unsigned mask = 0;
                naive_kept(&from, to[j], kept);
                for (int m = 0; m < TSR_MAX_MESH; m++)
                    mask |= (unsigned)kept[m] << m;
                if (!graph[mask].from)
                    naive_open(&graph[mask], &from, (const tsr_placement(*)[TSR_MAX_MESH])to, n,
                               kept);
                place(&target, j, USUAL);
                double want = implicit(&from, to[j], kept)
                                  ? naive_best(&graph[mask], to[j], &cost, 0)
                                  : INFINITY;
                if (!near(seconds[j], want))
                    wrong(&from, &target, c, 0, seconds[j], want);
            }
            for (int g = 0; g < 1 << TSR_MAX_MESH; g++)
                naive_close(&graph[g]);
        }
}

static void one_to_all(void **state)
{
    (void)state;
    one_to_all_on("2", 1, 0, COSTS);
    one_to_all_on("2x2", 1, 0, 10);
    one_to_all_on("2x3", 1, 8, 3);
    one_to_all_on("2x2x2", 23, 0, 1);
    one_to_all_on("2x2x2", 37, 1, 1);
    one_to_all_on("2x2x2", 31, 7, 2);
}

/* More targets than one pass takes, and too many factors for one: the answers stay the same. */
static void one_to_many_passes(void **state)
{
    enum { N = 700 };
    static tsr_placement to[N][TSR_MAX_MESH];
    static double seconds[N];
    tsr_spec from = spec_of("2x2", 48, 48), target = from;
    tsr_cost cost = cost_of(0);

    (void)state;
    from.place[0] = CHOICE[1];
    for (int j = 0; j < N; j++) {
        to[j][0] = (tsr_placement){.kind = TSR_STRIDED, .dim = j & 1, .factor = 1 + j / 2 % 7};
        to[j][1] = CHOICE[j % 3];
    }
    assert_int_equal(
        tsr_redist_costs(&from, (const tsr_placement(*)[TSR_MAX_MESH])to, N, &cost, seconds, NULL),
        TSR_OK);
    for (int j = 0; j < N; j++) {
        memcpy(target.place, to[j], sizeof to[j]);
        double want = naive_pair(&from, &target, &cost, 0);
        if (!near(seconds[j], want))
            wrong(&from, &target, 0, 0, seconds[j], want);
    }
    to[3][1] = (tsr_placement){.kind = TSR_SHARD, .dim = 2}; /* not a placement of this tensor */
    tsr_error err = {0};
    assert_int_equal(
        tsr_redist_costs(&from, (const tsr_placement(*)[TSR_MAX_MESH])to, 4, &cost, seconds, &err),
        TSR_ERR_SPEC);
    assert_non_null(strstr(err.text, "S(2)"));
}

/* Within a limit there is a plan iff brute force finds one; it costs as much, and keeps to it. */
static void memory_limits(void **state)
{
    static const char *const meshes[] = {"2", "2x2", "2x3", "2x2x2"};
    uint64_t seed = 12;
    int refused = 0, dearer = 0;

    (void)state;
    for (int round = 0; round < 4000; round++) {
        tsr_spec from = spec_of(meshes[below(&seed, round % 40 ? 3 : 4)], 1 + below(&seed, 13),
                                1 + below(&seed, 7));
        tsr_spec to = from;
        int n = count_places(&from, ALL), c = below(&seed, COSTS);
        tsr_cost cost = cost_of(c);
        tsr_redist *plan = NULL;
        tsr_error err = {0};
        place(&from, below(&seed, n), ALL);
        place(&to, below(&seed, n), ALL);
        size_t limit = 1 + (size_t)below(&seed, 3 * (int)tsr__spec_bytes(&from));
        double want = naive_pair(&from, &to, &cost, limit),
               free_of = naive_pair(&from, &to, &cost, 0);
        tsr_status st = tsr_redist_plan(&from, &to, &cost, limit, TSR_RIVAL_BEST, &plan, &err);
        if (st != (isinf(want) ? TSR_ERR_LIMIT : TSR_OK))
            wrong(&from, &to, c, limit, st == TSR_OK ? plan->seconds : INFINITY, want);
        if (st == TSR_OK) {
            if (!near(plan->seconds, want))
                wrong(&from, &to, c, limit, plan->seconds, want);
            assert_true(plan->n_steps == 0 || tsr_redist_info_get(plan).peak <= limit);
        } else {
            assert_non_null(strstr(err.text, "no plan stays within the limit of"));
            assert_null(plan);
        }
        refused += st != TSR_OK;
        dearer += st == TSR_OK && !near(want, free_of);
        tsr_redist_free(plan);
    }
    assert_true(refused > 100 && dearer > 20);
}

/* In cases that divide evenly the closed formula for the exchange is exact: the rank that receives
   most receives that much. */
static void exchange_is_honest(void **state)
{
    tsr_cost bytes_only = tsr_cost_default();
    tsr_spec from = spec_of("2x2", 16, 16), to = from;
    int seen = 0;

    (void)state;
    assert_int_equal(tsr_cost_parse("latency=0,step=0,bandwidth=1", &bytes_only, NULL), TSR_OK);
    bytes_only.memory = 0;
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++) {
            tsr_redist *plan;
            place(&from, i, 3);
            place(&to, j, 3);
            assert_int_equal(
                tsr_redist_plan(&from, &to, &bytes_only, 0, TSR_RIVAL_EXCHANGE, &plan, NULL),
                TSR_OK);
            for (int s = 0; s < plan->n_steps; s++) {
                assert_int_equal(plan->step[s].kind, TSR_STEP_EXCHANGE);
                assert_true(
                    near(plan->step[s].seconds, (double)tsr__step_bytes_max(&plan->step[s])));
                seen++;
            }
            tsr_redist_free(plan);
        }
    assert_int_equal(seen, 72);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pairs),     cmocka_unit_test(sampled_pairs),
        cmocka_unit_test(one_to_all),    cmocka_unit_test(one_to_many_passes),
        cmocka_unit_test(memory_limits), cmocka_unit_test(exchange_is_honest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
