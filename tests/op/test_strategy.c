/* SPDX-License-Identifier: Apache-2.0 */
/* test_strategy.c - the search for the cheapest strategy equals full enumeration: for every row of
   the op table and each of its cases, placements and costs sampled. */
#include "support/test.h"
#include "base/hash.h"
#include "support/sharding_property.h"
#include "op/schema.h"
#include "support/sampling.h"

/* Rules of a call with plain shards, about. */
static int rules_of(const tsr_op *op, const char *text)
{
    tsr_mesh_shape mesh = tsr__case_mesh(2);
    tsr_rule rules[1];
    tsr_schema schema;
    int n = 0;

    assert_int_equal(tsr__case_read(op, text, &mesh, &schema, NULL), TSR_OK);
    for (int k = 0; k < schema.n_in; k++)
        if (schema.in[k].shape.ndim > 0)
            schema.in[k].place[0].kind = TSR_SHARD;
    assert_int_equal(tsr_op_rules(&schema, rules, 1, &n, NULL), TSR_OK);
    return n;
}

/* One call with random placements and costs, by both searches. */
static int compare_searches(const tsr_op *op, const char *text, const tsr_mesh_shape *mesh,
                            uint64_t seed)
{
    tsr_schema schema;
    tsr_op_strategy a, b;
    tsr_cost cost = tsr_cost_default();
    char name[TSR_NAME_LEN], line[TSR_TEXT_LEN];
    bool same;

    assert_int_equal(tsr__case_read(op, text, mesh, &schema, NULL), TSR_OK);
    for (int k = 0; k < schema.n_in; k++)
        for (int d = 0; d < mesh->ndim && tsr__schema_has(&schema, k); d++)
            schema.in[k].place[d] = property_placement(
                tsr__hash_final(seed * 7919 + (uint64_t)(k * 7 + d)), &schema.in[k]);
    snprintf(name, sizeof name, seed % 4 ? "random:%llu" : "default", (unsigned long long)seed);
    assert_int_equal(tsr_cost_parse(name, &cost, NULL), TSR_OK);
    tsr_status st = tsr_op_plan(&schema, &cost, NULL, false, &a, NULL);
    assert_int_equal(tsr_op_plan(&schema, &cost, NULL, true, &b, NULL), st);
    same = st != TSR_OK || fabs(a.seconds - b.seconds) <= 1e-12 * b.seconds;
    for (int k = 0; k < schema.n_out && st == TSR_OK; k++)
        same = same && (!tsr__schema_gives(&schema, k) || tsr_spec_equal(&a.out[k], &b.out[k]));
    if (!same)
        fail_msg("search %g s, enumeration %g s: %s", a.seconds, b.seconds,
                 tsr__case_line(&schema, text, name, line, sizeof line));
    return st == TSR_OK;
}

/* Enumeration takes as long as rules are many, to the power of the mesh dims: cases with more than
   MANY have fewer seeds. */
static int seeds_for(int seeds, int ndim, int rules)
{
    enum { MANY = 14 };
    double fewer = 1;

    for (int d = 0; d < ndim && rules > MANY; d++)
        fewer *= (double)MANY / rules;
    return (int)(seeds * fewer) > 1 ? (int)(seeds * fewer) : 1;
}

static bool texts_equal(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Is there nothing in a row that an earlier one has not, as far as planning goes? Kernels do not
   matter: of forty ops that treat elements alike a few are enough. */
static bool is_planned_before(int r)
{
    const tsr_op *b = tsr_op_row(r);

    for (int i = 0; i < r; i++) {
        const tsr_op *a = tsr_op_row(i);
        if (a->cases == b->cases && a->shape == b->shape && a->rule == b->rule &&
            a->strategies == b->strategies && a->propagate == b->propagate &&
            a->feasible == b->feasible && a->comm == b->comm && a->windows == b->windows &&
            a->reduce == b->reduce &&
            (a->kind == b->kind || (a->axes && !a->feasible && !a->comm && !a->windows)) &&
            a->permutes == b->permutes && a->inplace == b->inplace &&
            a->cross_rank_reduction == b->cross_rank_reduction && !a->run == !b->run &&
            texts_equal(a->axes, b->axes) && texts_equal(a->linear, b->linear) &&
            texts_equal(a->monotone, b->monotone) && texts_equal(a->inputs, b->inputs))
            return true;
    }
    return false;
}

/* Every call has its own seed: dozens of them on small meshes, and some where enumeration has
   tens of thousands of strategies to price. */
static void search_equals_enumeration(void **state)
{
    static const struct {
        const char *mesh;
        int seeds, rules; /* per case; cases with more rules would take minutes */
        int cases;        /* every n-th */
    } plan[] = {{"2", 40, 99, 1},  {"3", 12, 99, 1},    {"2x2", 6, 99, 1},
                {"2x3", 2, 99, 1}, {"2x2x2", 1, 10, 2}, {"2x2x2x2", 1, 7, 48}};
    const int64_t every = sample_every();
    int number = 0, compared = 0, cases;
    (void)state;

    for (size_t m = 0; m < sizeof plan / sizeof plan[0]; m++) {
        tsr_mesh_shape mesh;
        tsr_mesh_parse(plan[m].mesh, &mesh, NULL);
        cases = 0;
        if (is_slow_build() && mesh.ndim > 2) /* it takes seconds for one call */
            continue;
        for (int r = 0; r < tsr_op_count(); r++) {
            const tsr_op *op = tsr_op_row(r);
            if (!op_is_asked(op->name) || is_planned_before(r))
                continue;
            for (int c = 0; op->cases && op->cases[c] && !tsr_op_is_composed(op); c++, cases++) {
                int rules = rules_of(op, op->cases[c]);
                int seeds = seeds_for(plan[m].seeds, mesh.ndim, rules);
                for (int i = 0; i < seeds; i++, number++) {
                    size_t seed = (((size_t)r * 32 + (size_t)c) * 8 + m) * 64 + (size_t)i;
                    if (!sample_has(number, every) || cases % plan[m].cases ||
                        rules > plan[m].rules)
                        continue;
                    compared += compare_searches(op, op->cases[c], &mesh, seed);
                }
            }
        }
    }
    assert_true(getenv("TESSERA_TEST_OPS") || compared > 3000 / every);
}

/* On large meshes prices come from plans, on small ones from a pass over all targets: bytes must
   mean the same in both, or strategies that take as long are told apart in two ways. To try all of
   them takes as long as the rest of this test: a sample has it now and then. */
static void ties_are_broken_alike(void **state)
{
    static const char *const attr = "dim=1";
    tsr_mesh_shape mesh;
    tsr_schema schema;
    tsr_spec in;
    tsr_op_strategy a, b;
    (void)state;

    if (!sample_has(0, sample_every()))
        return;
    tsr_mesh_parse("2x2x2x2", &mesh, NULL);
    assert_int_equal(tsr_spec_parse("f64[5,3,2]@[R,SS(0,4),SS(1,3),S(2)]", &mesh, &in, NULL),
                     TSR_OK);
    assert_int_equal(tsr_schema_make(tsr_op_find(NULL, "softmax"), &in, 1, &attr, 1, &schema, NULL),
                     TSR_OK);
    assert_int_equal(tsr_op_plan(&schema, NULL, NULL, false, &a, NULL), TSR_OK);
    assert_int_equal(tsr_op_plan(&schema, NULL, NULL, true, &b, NULL), TSR_OK);
    assert_true(tsr_spec_equal(&a.out[0], &b.out[0]));
}

/* ---- prices and ties, written down once more ---- */

/* What a partial output will cost by docs/redistribution.md: from the last mesh dim outwards, dims
   of one kind (sum and avg are one) that follow each other are one reduce-scatter, and each leaves
   a share of what came. Mesh dims that are not partial, or have one rank, do not part a run. */
static double pending_price(const tsr_spec *out, const tsr_cost *cost)
{
    double bytes = (double)tsr_dtype_size(out->dtype), seconds = 0;
    int m = out->mesh.ndim - 1;

    for (int d = 0; d < out->shape.ndim; d++)
        bytes *= (double)out->shape.size[d];
    while (m >= 0) {
        double p = 1, a = 0, b = 0;
        int kind = -1;
        for (; m >= 0; m--) {
            int reduce = out->place[m].reduce == TSR_AVG ? TSR_SUM : (int)out->place[m].reduce;
            if (out->place[m].kind != TSR_PARTIAL || out->mesh.size[m] == 1)
                continue;
            if (kind >= 0 && reduce != kind)
                break;
            kind = reduce;
            p *= out->mesh.size[m];
            a = fmax(a, cost->latency[m]);
            b = fmax(b, cost->per_byte[m]);
        }
        if (kind >= 0)
            seconds +=
                cost->per_step + (p - 1) * a + bytes * (p - 1) / p * b + bytes / p * cost->memory;
        bytes /= p;
    }
    return seconds;
}

/* All mixtures of reductions on three mesh dims, with costs that differ between these. */
static void mixed_partials_have_their_price(void **state)
{
    static const char *const meshes[] = {"2x3x4", "4x1x3"};
    enum { KINDS = TSR_PROD + 2 }; /* the last one stands for R */
    tsr_cost cost = tsr_cost_default();

    (void)state;
    assert_int_equal(tsr_cost_parse("latency=1e-6/2e-6/3e-6,bandwidth=1e9/3e9/2e9", &cost, NULL),
                     TSR_OK);
    for (int c = 0; c < 2 * KINDS * KINDS * KINDS; c++) {
        const int kind[3] = {c / 2 % KINDS, c / 2 / KINDS % KINDS, c / 2 / KINDS / KINDS};
        tsr_spec in = {.dtype = TSR_F32, .shape = {.ndim = 2, .size = {96, 120}}};
        tsr_schema schema;
        tsr_op_strategy way = {0};
        assert_int_equal(tsr_mesh_parse(meshes[c % 2], &in.mesh, NULL), TSR_OK);
        for (int m = 0; m < 3; m++)
            if (kind[m] <= TSR_PROD)
                in.place[m] = (tsr_placement){.kind = TSR_PARTIAL, .reduce = (tsr_reduce)kind[m]};
        assert_int_equal(tsr_schema_make(tsr_op_find(NULL, "transpose"), &in, 1,
                                         (const char *const[]){"dim0=0", "dim1=1"}, 2, &schema,
                                         NULL),
                         TSR_OK);
        way.in[0] = way.out[0] = in;
        way.out[0].shape = schema.out_shape[0];
        assert_int_equal(tsr_op_price(&schema, &cost, NULL, &way, NULL), TSR_OK);
        double want = pending_price(&in, &cost);
        if (fabs(way.pending - want) > 1e-9 * want)
            fail_msg("partials %d,%d,%d on %s: %g s, expected %g s", kind[0], kind[1], kind[2],
                     meshes[c % 2], way.pending, want);
    }
}

/* Of strategies that cost the same that of the first rule is taken, the last mesh dim's rules
   first: whichever input has to move. */
static void ties_go_to_the_first(void **state)
{
    static const char *const ties[][3] = {
        {"2", "add f32[8,8]@[S(0)] f32[8,8]@[S(1)]", "[S(0)]"},
        {"2", "add f32[8,8]@[S(1)] f32[8,8]@[S(0)]", "[S(0)]"},
        {"4", "mul f32[8,8,8]@[S(2)] f32[8,8,8]@[S(1)]", "[S(1)]"},
        {"4", "mul f32[8,8,8]@[S(1)] f32[8,8,8]@[S(2)]", "[S(1)]"},
        {"2x2", "add f32[8,8]@[S(0),S(1)] f32[8,8]@[S(1),S(0)]", "[S(0),S(1)]"},
        {"2x2", "add f32[8,8]@[S(1),S(0)] f32[8,8]@[S(0),S(1)]", "[S(0),S(1)]"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof ties / sizeof ties[0]; i++)
        for (int exhaustive = 0; exhaustive < 2; exhaustive++) {
            char name[TSR_NAME_LEN], a[TSR_TEXT_LEN], b[TSR_TEXT_LEN], text[TSR_TEXT_LEN];
            tsr_mesh_shape mesh;
            tsr_spec in[2];
            tsr_schema schema;
            tsr_op_strategy way;
            assert_int_equal(sscanf(ties[i][1], "%15s %511s %511s", name, a, b), 3);
            assert_int_equal(tsr_mesh_parse(ties[i][0], &mesh, NULL), TSR_OK);
            assert_int_equal(tsr_spec_parse(a, &mesh, &in[0], NULL), TSR_OK);
            assert_int_equal(tsr_spec_parse(b, &mesh, &in[1], NULL), TSR_OK);
            assert_int_equal(
                tsr_schema_make(tsr_op_find(NULL, name), in, 2, NULL, 0, &schema, NULL), TSR_OK);
            assert_int_equal(tsr_op_plan(&schema, NULL, NULL, exhaustive, &way, NULL), TSR_OK);
            tsr_spec_text(&way.out[0], text, sizeof text);
            if (!strstr(text, ties[i][2]))
                fail_msg("%s on %s: %s, expected %s", ties[i][1], ties[i][0], text, ties[i][2]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_partials_have_their_price),
        cmocka_unit_test(ties_go_to_the_first),
        cmocka_unit_test(ties_are_broken_alike),
        cmocka_unit_test(search_equals_enumeration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
