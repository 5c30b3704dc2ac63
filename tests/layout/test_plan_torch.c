/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_torch.c - our plans under the preset `torch` against PyTorch's own: its order of steps
   and its formula are written out here, must reproduce the costs that it printed, and must nowhere
   be cheaper than ours. Argument: data/torch_redistribute.txt. */
#include "support/test.h"
#include "layout/redist_plan.h"

static const char *path;

/* ---- PyTorch's way, in microseconds ---- */

static const double GB_PER_S = 19.294, HOP_US = 2.7, BASE_US = 6.6;

static double collective_us(double bytes, int p, double hops)
{
    return BASE_US + hops * HOP_US + bytes / (1 << 30) * hops / p / GB_PER_S * 1e6;
}

/* The cost of one mesh dim from one placement to another; *bytes is what a rank holds. */
static double torch_step(tsr_placement from, tsr_placement to, int p, double *bytes)
{
    if (from.kind == to.kind && from.dim == to.dim && from.reduce == to.reduce)
        return 0;
    if (from.kind == TSR_SHARD && to.kind == TSR_REPLICATE) {
        *bytes *= p;
        return collective_us(*bytes, p, p - 1);
    }
    if (from.kind == TSR_SHARD && to.kind == TSR_SHARD)
        return collective_us(*bytes, p, p - 1) + 1.0;
    if (from.kind == TSR_PARTIAL && to.kind == TSR_REPLICATE)
        return collective_us(*bytes, p, 2.0 * (p - 1));
    if (from.kind == TSR_PARTIAL && to.kind == TSR_SHARD) {
        double us = collective_us(*bytes, p, p - 1);
        *bytes /= p;
        return us;
    }
    if (from.kind == TSR_REPLICATE) {
        *bytes /= to.kind == TSR_SHARD ? p : 1;
        return 0;
    }
    return INFINITY;
}

/* Do the mesh dims left of m that shard dim differ between now and the target? */
static bool nested_otherwise(const tsr_placement *now, const tsr_placement *to, int m, int dim)
{
    for (int l = 0; l < m; l++) {
        bool a = now[l].kind == TSR_SHARD && now[l].dim == dim;
        bool b = to[l].kind == TSR_SHARD && to[l].dim == dim;
        if (a != b)
            return true;
    }
    return false;
}

/* Is mesh dim m reduced while a partial of another kind waits to its right? max_0(sum_1(x)) is not
   sum_1(max_0(x)): x = {{1, 0}, {0, 1}} gives 1 and 2. PyTorch does it, we do not. */
static bool wrong_order(const tsr_placement *now, int n, int m, tsr_placement to)
{
    if (now[m].kind != TSR_PARTIAL || to.kind == TSR_PARTIAL)
        return false;
    for (int r = m + 1; r < n; r++)
        if (now[r].kind == TSR_PARTIAL && now[r].reduce != now[m].reduce)
            return true;
    return false;
}

static double torch_us(const tsr_spec *from, const tsr_spec *to, bool *wrong)
{
    tsr_placement now[TSR_MAX_MESH];
    int n = from->mesh.ndim;
    bool sharded = false, replicated = true;
    double bytes = (double)tsr__spec_bytes(from), us = 0;

    memcpy(now, from->place, sizeof now);
    for (int m = 0; m < n; m++) {
        sharded = sharded || now[m].kind == TSR_SHARD;
        replicated = replicated && now[m].kind == TSR_REPLICATE;
        bytes /= now[m].kind == TSR_SHARD ? from->mesh.size[m] : 1;
    }
    *wrong = false;
    if (replicated)
        return 0;
    for (int m = n - 1; m >= 0 && sharded; m--) {
        tsr_placement goal = to->place[m];
        if (goal.kind == TSR_SHARD && nested_otherwise(now, to->place, m, goal.dim))
            goal = tsr__replicate();
        *wrong = *wrong || wrong_order(now, n, m, goal);
        us += torch_step(now[m], goal, from->mesh.size[m], &bytes);
        now[m] = goal;
    }
    for (int m = 0; m < n; m++) {
        *wrong = *wrong || wrong_order(now, n, m, to->place[m]);
        us += torch_step(now[m], to->place[m], from->mesh.size[m], &bytes);
        now[m] = to->place[m];
    }
    return us;
}

/* ---- the comparison ---- */

static double our_us(const tsr_spec *from, const tsr_spec *to)
{
    tsr_cost torch = tsr_cost_default();
    tsr_redist *plan = NULL;
    tsr_error err = {0};
    double seconds, other;

    assert_int_equal(tsr_cost_parse("torch", &torch, NULL), TSR_OK);
    if (tsr_redist_plan(from, to, &torch, 0, TSR_RIVAL_BEST, &plan, &err) != TSR_OK)
        fail_msg("%s", err.text);
    seconds = plan->seconds;
    tsr_redist_free(plan);
    assert_int_equal(tsr_redist_costs(from, (const tsr_placement(*)[TSR_MAX_MESH]) & to->place, 1,
                                      &torch, &other, NULL),
                     TSR_OK);
    if (!isinf(other) && fabs(other - seconds) > 1e-9 * seconds)
        fail_msg("the cost alone is %g, of the plan %g", other, seconds);
    return seconds * 1e6;
}

typedef struct counts {
    int pairs, cheaper, wrong; /* of PyTorch's plans, those that give a wrong value */
} counts;

/* Our cost of a redistribution must not exceed PyTorch's, if that one is right. Gives PyTorch's. */
static double compare(const tsr_spec *from, const tsr_spec *to, counts *c)
{
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    bool wrong;
    double torch = torch_us(from, to, &wrong), ours = our_us(from, to);

    c->pairs++;
    c->wrong += wrong;
    c->cheaper += !wrong && ours < torch * (1 - 1e-9);
    if (!wrong && ours > torch * (1 + 1e-9) + 1e-9)
        fail_msg("%s -> %s: %.6f us, PyTorch %.6f us", tsr_spec_text(from, a, sizeof a),
                 tsr_placements_text(to, b, sizeof b), ours, torch);
    return torch;
}

/* "2x2 23.98 f32[64,128] [S(0),R] [R,R] .." */
static void check_line(const char *line, counts *c)
{
    char mesh_text[32], tensor[128], in[128], use[128], text[300];
    double printed, sum = 0;
    tsr_mesh_shape mesh;
    int used;

    assert_int_equal(sscanf(line, "%31s %lf%n", mesh_text, &printed, &used), 2);
    assert_int_equal(tsr_mesh_parse(mesh_text, &mesh, NULL), TSR_OK);
    for (line += used; sscanf(line, "%127s %127s %127s%n", tensor, in, use, &used) == 3;
         line += used) {
        tsr_spec from, to;
        snprintf(text, sizeof text, "%s@%s", tensor, in);
        assert_int_equal(tsr_spec_parse(text, &mesh, &from, NULL), TSR_OK);
        assert_int_equal(tsr_placements_parse(use, &from, &to, NULL), TSR_OK);
        sum += compare(&from, &to, c);
    }
    if (fabs(sum - printed) > 1e-6 * printed)
        fail_msg("%.9f us by the naive model, PyTorch printed %.9f us: %s", sum, printed, tensor);
}

static void printed_costs(void **state)
{
    char line[4096];
    counts c = {0};
    int lines = 0;
    FILE *file = path ? fopen(path, "r") : NULL;

    (void)state;
    if (!file)
        fail_msg("cannot read %s: the argument is the path of torch_redistribute.txt",
                 path ? path : "(none)");
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#')
            continue;
        check_line(line, &c);
        lines++;
    }
    fclose(file);
    assert_true(lines > 300);
    print_message("%d cases, %d redistributions: %d cheaper than PyTorch's, %d wrong there\n",
                  lines, c.pairs, c.cheaper, c.wrong);
}

/* Beyond the printed cases: all pairs on some meshes, also of uneven shapes. */
static void all_pairs(void **state)
{
    static const char *const meshes[] = {"4", "2x2", "2x3", "2x2x2"};
    static const tsr_placement choice[] = {{.kind = TSR_REPLICATE},
                                           {.kind = TSR_SHARD, .dim = 0},
                                           {.kind = TSR_SHARD, .dim = 1},
                                           {.kind = TSR_PARTIAL, .reduce = TSR_SUM},
                                           {.kind = TSR_PARTIAL, .reduce = TSR_MAX}};
    counts c = {0};
    bool wrong;

    (void)state;
    for (int t = 0; t < 4; t++) {
        tsr_spec from = {.dtype = TSR_F32, .shape = {2, {1000, 130}}}, to;
        int n = 1;
        assert_int_equal(tsr_mesh_parse(meshes[t], &from.mesh, NULL), TSR_OK);
        to = from;
        for (int m = 0; m < from.mesh.ndim; m++)
            n *= 5;
        for (int i = 0; i < n * n; i++) {
            int a = i / n, b = i % n;
            for (int m = 0; m < from.mesh.ndim; m++, a /= 5, b /= 5) {
                from.place[m] = choice[a % 5];
                to.place[m] = choice[b % 5];
            }
            if (!isinf(torch_us(&from, &to, &wrong)))
                compare(&from, &to, &c);
        }
    }
    print_message("%d pairs: %d cheaper than PyTorch's, %d wrong there\n", c.pairs, c.cheaper,
                  c.wrong);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed_costs),
        cmocka_unit_test(all_pairs),
    };

    path = argc > 1 ? argv[1] : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
