/* SPDX-License-Identifier: Apache-2.0 */
/* test_redist_bytes.c - bytes in and out of every rank in every step of random plans, against sets
   of elements. What is sent is received, and a rank receives what it lacks and nothing else. */
#include "support/test.h"
#include "base/reduce.h"
#include "support/naive_layout.h"
#include "support/numbers.h"
#include "support/plan_checks.h"

enum { RANKS = 32 };

/* Element sets of every world rank before and after a step. */
typedef struct parts {
    bool in_from, in_to;
    int from_coord[TSR_MAX_MESH], to_coord[TSR_MAX_MESH];
    bool have[NAIVE_MAX], want[NAIVE_MAX];
    int n_have, n_want;
} parts;

static parts part[RANKS];

static void find_parts(const tsr_redist_plan_step *s)
{
    memset(part, 0, sizeof part);
    for (int i = 0; i < tsr__mesh_size(&s->from.mesh); i++) {
        parts *p = &part[tsr__mesh_rank_of(&s->from.mesh, i)];
        p->in_from = true;
        tsr__mesh_coords(&s->from.mesh, i, p->from_coord);
        p->n_have = naive_elements(&s->from, p->from_coord, p->have);
    }
    for (int i = 0; i < tsr__mesh_size(&s->to.mesh); i++) {
        parts *p = &part[tsr__mesh_rank_of(&s->to.mesh, i)];
        p->in_to = true;
        tsr__mesh_coords(&s->to.mesh, i, p->to_coord);
        p->n_want = naive_elements(&s->to, p->to_coord, p->want);
    }
}

/* Who gives element e to the taker: of those that have it the one whose coordinates on mesh dims
   that shard nothing are the taker's, or those of its number if it is outside. */
static int giver_of(const tsr_redist_plan_step *s, int taker, int e)
{
    int like[TSR_MAX_MESH], found = -1;
    unsigned shards = 0;

    for (int d = 0; d < s->from.shape.ndim; d++)
        for (int i = 0; i < s->from.dim[d].n; i++)
            shards |= 1u << s->from.dim[d].mdim[i];
    if (part[taker].in_from)
        memcpy(like, part[taker].from_coord, sizeof like);
    else
        tsr__mesh_coords(&s->from.mesh, taker % tsr__mesh_size(&s->from.mesh), like);
    for (int r = 0; r < RANKS; r++) {
        bool fits = part[r].in_from && part[r].have[e];
        for (int m = 0; m < s->from.mesh.ndim && fits; m++)
            fits = shards >> m & 1 || part[r].from_coord[m] == like[m];
        if (fits) {
            assert_int_equal(found, -1);
            found = r;
        }
    }
    assert_true(found >= 0);
    return found;
}

static void check_moving_step(const tsr_redist_plan_step *s)
{
    int64_t in[RANKS] = {0}, out[RANKS] = {0}, size = (int64_t)tsr_dtype_size(s->from.dtype);

    for (int t = 0; t < RANKS; t++)
        for (int e = 0; e < tsr_shape_count(&s->from.shape); e++)
            if (part[t].want[e] && !part[t].have[e]) {
                int giver = giver_of(s, t, e);
                assert_int_not_equal(giver, t);
                in[t] += size;
                out[giver] += size;
            }
    for (int r = 0; r < RANKS; r++) {
        assert_int_equal(tsr__step_bytes_in(s, r), in[r]);
        assert_int_equal(tsr__step_bytes_out(s, r), out[r]);
    }
}

/* Each member sends every other its part of the own terms; a large all-reduce does so with flat
   chunks, which then go to all, a small one with everything. */
static void check_reducing_step(const tsr_redist_plan_step *s)
{
    int64_t size = (int64_t)tsr_dtype_size(s->from.dtype);

    for (int r = 0; r < RANKS; r++) {
        int64_t in = 0, out = 0;
        int me = 0, members = 0;
        for (int q = 0; q < RANKS && part[r].in_from; q++) {
            bool member = part[q].in_from;
            for (int m = 0; m < s->from.mesh.ndim && member; m++)
                member = s->mdims >> m & 1 || part[q].from_coord[m] == part[r].from_coord[m];
            if (!member)
                continue;
            me = q == r ? members : me;
            members++;
            in += q == r ? 0 : part[r].n_want;
            out += q == r ? 0 : part[q].n_want;
        }
        int64_t n = part[r].n_have, chunk = members ? (n + members - 1) / members : 0;
        if (s->kind == TSR_STEP_ALL_REDUCE &&
            !tsr__all_reduce_one_phase(s->from.dtype, n, members)) {
            int64_t own = n - me * chunk < chunk ? n - me * chunk : chunk;
            own = own < 0 ? 0 : own;
            in = out = (members - 1) * own + n - own;
        }
        assert_int_equal(tsr__step_bytes_in(s, r), in * size);
        assert_int_equal(tsr__step_bytes_out(s, r), out * size);
    }
}

static void check_step(const tsr_redist_plan_step *s, int64_t *in, int64_t *out)
{
    int64_t sum_in = 0, sum_out = 0, most = 0;

    find_parts(s);
    if (s->kind == TSR_STEP_REDUCE_SCATTER || s->kind == TSR_STEP_ALL_REDUCE)
        check_reducing_step(s);
    else
        check_moving_step(s);
    for (int r = 0; r < RANKS; r++) {
        int64_t bytes = tsr__step_bytes_in(s, r);
        sum_in += bytes;
        sum_out += tsr__step_bytes_out(s, r);
        most = bytes > most ? bytes : most;
        in[r] += bytes;
        out[r] += tsr__step_bytes_out(s, r);
    }
    assert_int_equal(sum_in, sum_out);
    assert_int_equal(tsr__step_bytes_max(s), most);
    if (s->kind == TSR_STEP_SLICE || s->kind == TSR_STEP_TO_PARTIAL)
        assert_int_equal(sum_in, 0);
}

static void check_weights(const tsr_redist *plan)
{
    int64_t in[RANKS] = {0}, out[RANKS] = {0}, most = 0;
    tsr_redist_info info = tsr_redist_info_get(plan);
    tsr_layout source = tsr__layout_of(&plan->from);
    size_t size = tsr_dtype_size(plan->from.dtype), first = (size_t)naive_largest(&source) * size;
    size_t peak = first;

    for (int i = 0; i < plan->n_steps; i++) {
        tsr_step step;
        char text[TSR_TEXT_LEN];
        const tsr_redist_plan_step *s = &plan->step[i];
        size_t memory = first + (i ? (size_t)naive_largest(&s->from) * size : 0) +
                        (size_t)naive_largest(&s->to) * size;
        peak = memory > peak ? memory : peak;
        check_step(s, in, out);
        assert_int_equal(tsr_redist_step(plan, i, &step), TSR_OK);
        assert_int_equal(step.kind, s->kind);
        assert_int_equal(step.memory, memory);
        assert_int_equal(step.bytes, tsr__step_bytes_max(s));
        assert_string_equal(step.to, tsr__layout_text(&s->to, text, sizeof text));
        for (int m = 0; m < TSR_MAX_MESH; m++)
            assert_int_equal(step.mdims[m], s->mdims >> m & 1);
    }
    for (int r = 0; r < RANKS; r++) {
        assert_int_equal(tsr_redist_bytes_in(plan, r), in[r]);
        assert_int_equal(tsr_redist_bytes_out(plan, r), out[r]);
        most = in[r] > most ? in[r] : most;
    }
    assert_int_equal(info.bytes, most);
    assert_int_equal(info.peak, peak);
    assert_int_equal(info.n_steps, plan->n_steps);
}

static tsr_spec random_spec(uint64_t *seed, const tsr_mesh_shape *mesh, tsr_shape shape)
{
    tsr_spec spec = {.dtype = TSR_F32, .shape = shape, .mesh = *mesh};

    for (int m = 0; m < mesh->ndim; m++)
        spec.place[m] = random_placement(seed, shape.ndim);
    return spec;
}

static void check_random(uint64_t *seed, bool across)
{
    static const char *const meshes[] = {"2", "3", "2x2", "2x3", "2x2x2", "1x3x2", "4x2"};
    tsr_shape shape = {2, {below(seed, 9), 1 + below(seed, 6)}};
    tsr_mesh_shape mesh[2], plain;
    tsr_cost cost = tsr_cost_default();
    tsr_redist *plan = NULL;
    tsr_error err = {0};
    char text[32];

    if (below(seed, 8) == 0)
        shape.size[0] = 211, shape.size[1] = 17; /* all-reduces in chunks */
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tsr_mesh_parse(meshes[below(seed, 7)], &plain, NULL), TSR_OK);
        assert_int_equal(
            tsr__mesh_shape_make(plain.size, plain.ndim, below(seed, 5), &mesh[i], NULL), TSR_OK);
        if (plain.ndim == 3 && below(seed, 2)) { /* a sub-mesh with gaps */
            int coord[TSR_MAX_MESH] = {0, 0, 1};
            mesh[i] = tsr__mesh_through(&mesh[i], 1u << below(seed, 2), coord);
        }
    }
    tsr_spec a = random_spec(seed, &mesh[0], shape);
    tsr_spec b = random_spec(seed, across ? &mesh[1] : &mesh[0], shape);
    snprintf(text, sizeof text, "random:%d", (int)below(seed, 1000));
    assert_int_equal(tsr_cost_parse(text, &cost, NULL), TSR_OK);
    if (tsr_redist_plan(&a, &b, &cost, 0, (tsr_redist_rival)below(seed, 4), &plan, &err))
        fail_msg("%s", err.text);
    check_plan(plan);
    check_weights(plan);
    tsr_redist_free(plan);
}

static void same_mesh(void **state)
{
    uint64_t seed = 31;

    (void)state;
    for (int round = 0; round < 1500; round++)
        check_random(&seed, false);
}

static void other_mesh(void **state)
{
    uint64_t seed = 32;

    (void)state;
    for (int round = 0; round < 1000; round++)
        check_random(&seed, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_mesh),
        cmocka_unit_test(other_mesh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
