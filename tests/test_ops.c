/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops.c - the law: an op on sharded and partial inputs, gathered, equals the naive
   reference on whole arrays; for every op, meshes with uneven and empty shards, sampled
   placements, default and random costs. A failure prints the line that reproduces it. */
#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "naive.h"
#include "op/schema.h"
#include "tessera_ext.h"

enum { MAX_ELEMENTS = 512, MAX_CASE_IN = 3 };

typedef struct op_case {
    const char *op;
    const char *in[MAX_CASE_IN]; /* dtype and shape */
    const char *attr[3];
    double tolerance; /* relative; 0: exact */
} op_case;

static const op_case CASES[] = {
    {"add", {"f64[5,3]", "f64[5,3]"}, {NULL}, 0},
    {"add", {"f64[4,5,3]", "f64[3]"}, {NULL}, 0},
    {"add", {"i64[5,1]", "i64[1,7]"}, {NULL}, 0},
    {"mul", {"f64[5,3]", "f64[5,1]"}, {NULL}, 0},
    {"mul", {"i32[2,6]", "i32[6]"}, {NULL}, 0},
    {"neg", {"f64[7]"}, {NULL}, 0},
    {"relu", {"f64[5,3]"}, {NULL}, 0},
    {"matmul", {"f64[5,7]", "f64[7,3]"}, {NULL}, 0},
    {"matmul", {"f64[4,6]", "f64[6,8]", "f64[8]"}, {NULL}, 0},
    {"matmul", {"f64[3,4,5]", "f64[5,2]"}, {NULL}, 0},
    {"matmul", {"f32[2,3,4]", "f32[2,4,5]"}, {NULL}, 0},
    {"sum", {"f64[5,3]"}, {"dims=0"}, 0},
    {"sum", {"f64[4,5,3]"}, {"dims=0,2", "keepdim=true"}, 0},
    {"sum", {"f64[5,3]"}, {NULL}, 0},
    {"mean", {"f64[5,3]"}, {"dims=0"}, 1e-14},
    {"mean", {"f64[4,6]"}, {NULL}, 1e-14},
    {"max", {"f64[5,3]"}, {"dims=1"}, 0},
    {"max", {"i64[4,5]"}, {"dims=0", "keepdim=true"}, 0},
    {"softmax", {"f64[5,7]"}, {"dim=1"}, 1e-13},
    {"softmax", {"f64[5,7]"}, {"dim=0"}, 1e-13},
    {"cat", {"f64[5,3]", "f64[2,3]", "f64[1,3]"}, {"dim=0"}, 0},
    {"cat", {"f64[5,3]", "f64[5,4]"}, {"dim=1"}, 0},
    {"transpose", {"f64[5,3,2]"}, {"dim0=0", "dim1=2"}, 0},
    {"slice", {"f64[9,4]"}, {"dim=0", "start=2", "stop=8"}, 0},
    {"slice", {"f64[9,4]"}, {"dim=1", "start=0", "stop=4"}, 0},
    {"reshape", {"f64[6,4]"}, {"shape=24"}, 0},
    {"reshape", {"f64[24]"}, {"shape=4,6"}, 0},
    {"reshape", {"f64[4,6,2]"}, {"shape=8,-1"}, 0},
    {"reshape", {"f64[5,3]"}, {"shape=3,5"}, 0},
};

/* ---- one call on one rank ---- */

typedef struct problem {
    const op_case *c;
    int n_in;
    tsr_spec in[MAX_CASE_IN];
    const char *mesh;
    uint64_t seed; /* 0: default costs */
} problem;

static tsr_status complain(tsr_mesh *mesh, const problem *p, const char *what)
{
    char text[TSR_TEXT_LEN];

    fprintf(stderr, "rank %d: %s (%s)\n  tessera verify \"%s", tsr_mesh_rank(mesh), what,
            tsr_mesh_message(mesh), p->c->op);
    for (int k = 0; k < p->n_in; k++)
        fprintf(stderr, " %s", tsr_spec_text(&p->in[k], text, sizeof text));
    for (int k = 0; k < 3 && p->c->attr[k]; k++)
        fprintf(stderr, " %s", p->c->attr[k]);
    fprintf(stderr, " mesh=%s world=thread cost=", p->mesh);
    fprintf(stderr, p->seed ? "random:%llu\"\n" : "default\"\n", (unsigned long long)p->seed);
    return TSR_ERR_MISMATCH;
}

static int count_attrs(const op_case *c)
{
    int n = 0;
    while (n < 3 && c->attr[n])
        n++;
    return n;
}

static tsr_tensor *make_input(tsr_mesh *mesh, const tsr_spec *spec)
{
    double terms[MAX_ELEMENTS], part[MAX_ELEMENTS];
    char text[TSR_TEXT_LEN];
    tsr_shape shape;
    int64_t n = naive_part(spec, tsr_mesh_index(mesh), NULL, terms, &shape);

    for (int64_t i = 0; i < n; i++)
        tsr__put(spec->dtype, part, i, terms[i]);
    return tsr_from_local(mesh, tsr_spec_text(spec, text, sizeof text), part, &shape);
}

/* The reference kernel on whole arrays. Returns the number of elements, -1 on an error. */
static int64_t expected(const problem *p, double *out)
{
    static _Thread_local double whole[MAX_CASE_IN][MAX_ELEMENTS], result[MAX_ELEMENTS];
    tsr_schema s = {.op = tsr__op_find(p->c->op), .n_in = p->n_in};
    tsr_kernel_call call = {.n_out = 1, .reference = true};

    tsr__attrs_default(s.op, &s.attrs, NULL);
    for (int k = 0; k < count_attrs(p->c); k++)
        tsr__attr_parse(s.op, p->c->attr[k], strlen(p->c->attr[k]), &s.attrs, NULL);
    for (int k = 0; k < p->n_in; k++)
        s.in[k] = p->in[k];
    if (tsr__schema_check(&s, NULL) != TSR_OK)
        return -1;
    call.n_in = s.n_in;
    call.attrs = s.attrs;
    for (int k = 0; k < s.n_in; k++) {
        call.in[k] = (tsr_operand){.shape = {.ndim = -1}};
        if (!tsr__schema_has(&s, k))
            continue;
        for (int64_t i = 0; i < tsr_shape_count(&s.in[k].shape); i++)
            tsr__put(s.in[k].dtype, whole[k], i, naive_value(&s.in[k], i));
        call.in[k] = (tsr_operand){s.in[k].dtype, s.in[k].shape, whole[k]};
    }
    call.out[0] = (tsr_operand){s.out_dtype[0], s.out_shape[0], result};
    if (s.op->localise) {
        tsr_spec whole_in = s.in[0],
                 whole_out = {s.out_dtype[0], s.out_shape[0], s.in[0].mesh, {{0}}};
        memset(whole_in.place, 0, sizeof whole_in.place);
        s.op->localise(&s, &whole_in, &whole_out, (const int[TSR_MAX_MESH]){0}, &call);
    }
    s.op->kernel(&call);
    for (int64_t i = 0; i < tsr_shape_count(&s.out_shape[0]); i++)
        out[i] = tsr__get(s.out_dtype[0], result, i);
    return tsr_shape_count(&s.out_shape[0]);
}

static tsr_status test_problem(tsr_mesh *mesh, const problem *p)
{
    double want[MAX_ELEMENTS], got[MAX_ELEMENTS];
    tsr_tensor *in[MAX_CASE_IN], *y;
    int64_t n = expected(p, want);
    tsr_status st = TSR_OK;

    tsr_scope_push(mesh);
    if (p->seed) {
        char text[64];
        tsr_cost cost;
        snprintf(text, sizeof text, "random:%llu", (unsigned long long)p->seed);
        tsr_cost_parse(text, &cost, NULL);
        tsr_cost_set(mesh, &cost);
    }
    for (int k = 0; k < p->n_in; k++)
        in[k] = make_input(mesh, &p->in[k]);
    y = tsr_op_run(mesh, p->c->op, in, p->n_in, p->c->attr, count_attrs(p->c));
    if (n < 0 || !tsr_tensor_ok(y)) {
        st = complain(mesh, p, "the op failed");
    } else {
        tsr_dtype dtype = tsr_tensor_spec(y)->dtype;
        if (tsr_to_host(y, got, (size_t)n * tsr_dtype_size(dtype)) != TSR_OK)
            st = complain(mesh, p, "gathering failed");
        for (int64_t i = 0; i < n && st == TSR_OK; i++) {
            double x = tsr__get(dtype, got, i);
            if (!(fabs(x - want[i]) <= p->c->tolerance * (fabs(want[i]) + 1)))
                st = complain(mesh, p, "the result differs");
        }
    }
    tsr_scope_pop(mesh);
    return st;
}

/* ---- all cases on a mesh, placements sampled ---- */

static tsr_placement choice(uint64_t h, const tsr_spec *spec)
{
    static const tsr_reduce reduce[] = {TSR_SUM, TSR_SUM, TSR_MAX, TSR_MIN, TSR_AVG};
    bool integer = spec->dtype == TSR_I32 || spec->dtype == TSR_I64;
    int kinds = 1 + spec->shape.ndim + 2;
    int k = (int)(h % (uint64_t)kinds);

    if (k == 0)
        return (tsr_placement){.kind = TSR_REPLICATE};
    if (k <= spec->shape.ndim)
        return (tsr_placement){.kind = TSR_SHARD, .dim = k - 1};
    if (k == spec->shape.ndim + 1)
        return (tsr_placement){.kind = TSR_STRIDED,
                               .dim = (int)((h >> 20) % (uint64_t)spec->shape.ndim),
                               .factor = 2 + (int64_t)((h >> 30) % 3)};
    return (tsr_placement){.kind = TSR_PARTIAL, .reduce = reduce[(h >> 20) % (integer ? 4 : 5)]};
}

typedef struct law {
    const char *mesh;
    int samples;
} law;

static tsr_status test_law(tsr_mesh *mesh, void *arg)
{
    const law *l = arg;
    const char *sample = getenv("TESSERA_TEST_SAMPLE");
    int samples = sample ? l->samples / atoi(sample) + 1 : l->samples;
    tsr_cost usual = tsr_cost_get(mesh);
    tsr_status st = TSR_OK;

    for (size_t c = 0; c < sizeof CASES / sizeof CASES[0]; c++)
        for (int i = 0; i < samples && st == TSR_OK; i++) {
            problem p = {.c = &CASES[c], .mesh = l->mesh};
            for (int k = 0; k < MAX_CASE_IN && CASES[c].in[k]; k++) {
                tsr_spec_parse(CASES[c].in[k], tsr_mesh_shape_of(mesh), &p.in[k], NULL);
                for (int m = 0; m < p.in[k].mesh.ndim; m++) {
                    uint64_t h = tsr__hash_mix(tsr__hash_mix(c * 1000 + (uint64_t)i, (uint64_t)k),
                                               (uint64_t)m + 77);
                    p.in[k].place[m] = choice(tsr__hash_final(h), &p.in[k]);
                }
                p.n_in = k + 1;
            }
            p.seed = i % 2 ? (uint64_t)i + 1 : 0;
            tsr_cost_set(mesh, &usual);
            st = test_problem(mesh, &p);
        }
    return st;
}

static void run_law(const char *mesh, int samples)
{
    law l = {mesh, samples};
    tsr_run_opts opts = {.mesh = mesh, .world = TSR_WORLD_THREAD, .timeout_ms = 20000};
    tsr_error err = {0};

    if (tsr_run(&opts, test_law, &l, &err) != TSR_OK)
        fail_msg("mesh %s: %s", mesh, err.text);
}

static void one_mesh_dim(void **state)
{
    (void)state;
    run_law("1", 20);
    run_law("2", 60);
    run_law("3", 60);
    run_law("4", 60);
}

static void several_mesh_dims(void **state)
{
    (void)state;
    run_law("2x2", 120);
    run_law("2x3", 70);
    run_law("2x2x2", 24);
}

/* ---- the fast search equals full enumeration ---- */

/* Rules of a call with plain shards, about. */
static int rules_of(const op_case *c)
{
    tsr_mesh_shape mesh = {.ndim = 1, .size = {2}, .stride = {1}};
    tsr_rule rules[64];
    tsr_schema schema;
    tsr_spec in[MAX_CASE_IN];
    int n = 0, n_rules = 0;

    for (; n < MAX_CASE_IN && c->in[n]; n++) {
        tsr_spec_parse(c->in[n], &mesh, &in[n], NULL);
        in[n].place[0].kind = in[n].shape.ndim > 0 ? TSR_SHARD : TSR_REPLICATE;
    }
    tsr_schema_make(tsr_op_find(NULL, c->op), in, n, c->attr, count_attrs(c), &schema, NULL);
    tsr_op_rules(&schema, rules, 64, &n_rules, NULL);
    return n_rules;
}

/* One call with random placements and costs, by both searches. */
static int compare_searches(const op_case *c, const char *mesh_text, uint64_t seed)
{
    tsr_spec in[MAX_CASE_IN];
    tsr_schema schema;
    tsr_mesh_shape mesh;
    tsr_op_way a, b;
    tsr_cost cost;
    tsr_error err = {0};
    char text[64], line[TSR_TEXT_LEN];
    int n = 0;

    tsr_mesh_parse(mesh_text, &mesh, NULL);
    for (; n < MAX_CASE_IN && c->in[n]; n++) {
        tsr_spec_parse(c->in[n], &mesh, &in[n], NULL);
        for (int d = 0; d < mesh.ndim; d++)
            in[n].place[d] = choice(tsr__hash_final(seed * 7919 + (uint64_t)(n * 7 + d)), &in[n]);
    }
    snprintf(text, sizeof text, seed % 4 ? "random:%llu" : "default", (unsigned long long)seed);
    assert_int_equal(tsr_cost_parse(text, &cost, NULL), TSR_OK);
    if (tsr_schema_make(tsr_op_find(NULL, c->op), in, n, c->attr, count_attrs(c), &schema, &err) !=
        TSR_OK)
        fail_msg("%s", err.text);
    tsr_status st = tsr_op_plan(&schema, &cost, NULL, false, &a, NULL);
    assert_int_equal(tsr_op_plan(&schema, &cost, NULL, true, &b, NULL), st);
    if (st == TSR_OK &&
        (fabs(a.seconds - b.seconds) > 1e-12 * b.seconds || !tsr_spec_equal(&a.out[0], &b.out[0])))
        fail_msg("%s %s mesh=%s cost=%s: search %g s, enumeration %g s", c->op,
                 tsr_schema_text(&schema, line, sizeof line), mesh_text, text, a.seconds,
                 b.seconds);
    return st == TSR_OK;
}

/* Every call has its own seed: hundreds of them on small meshes, and some where enumeration has
   tens of thousands of strategies to price. */
static void search_equals_enumeration(void **state)
{
    static const struct {
        const char *mesh;
        int seeds, rules; /* per case; cases with more rules would take minutes */
    } plan[] = {{"2", 100, 99}, {"3", 30, 99},    {"2x2", 10, 99},
                {"2x3", 4, 99}, {"2x2x2", 3, 10}, {"2x2x2x2", 1, 7}};
    int compared = 0;
    (void)state;

    for (size_t m = 0; m < sizeof plan / sizeof plan[0]; m++)
        for (size_t c = 0; c < sizeof CASES / sizeof CASES[0]; c++)
            for (int i = 0; i < plan[m].seeds; i++) {
                if (plan[m].rules < 99 && rules_of(&CASES[c]) > plan[m].rules)
                    continue;
                compared +=
                    compare_searches(&CASES[c], plan[m].mesh, (c * 64 + m) * 64 + (size_t)i);
            }
    assert_true(compared > 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_mesh_dim),
        cmocka_unit_test(several_mesh_dims),
        cmocka_unit_test(search_equals_enumeration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
