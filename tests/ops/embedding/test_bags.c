/* SPDX-License-Identifier: Apache-2.0 */
/* test_bags.c - bags by offsets, with offsets and ids in every layout, through the public headers:
   the same results as of loops over whole arrays, by the cheapest plan and by random ones; the same
   bits on every mesh where that is promised; what moves, to the byte; wrong offsets. */
#include <inttypes.h>

#include "support/test.h"
#include "support/sampling.h"

static void pass(const char *mesh, const char *cost, tsr_job job, void *arg)
{
    pass_with((tsr_run_opts)RUN_OPTS(.mesh = mesh, .world = TSR_WORLD_THREAD, .cost = cost), job,
              arg);
}

static tsr_tensor *whole(tsr_mesh *mesh, const char *dtype, int64_t a, int64_t b, const char *where,
                         const void *data)
{
    char spec[TSR_TEXT_LEN];

    if (b >= 0)
        snprintf(spec, sizeof spec, "%s[%" PRId64 ",%" PRId64 "]@%s", dtype, a, b, where);
    else
        snprintf(spec, sizeof spec, "%s[%" PRId64 "]@%s", dtype, a, where);
    return from_host(mesh, spec, data);
}

/* ---- results ---- */

enum { ROWS = 11, DIM = 3, IDS = 24, BAGS = 8, PADDING = 4 };

/* Where everything is; the table's place is that of its gradient too. */
typedef struct layout {
    const char *mesh, *table, *ids, *offsets, *rows;
} layout;

typedef struct bags {
    layout at;
    int64_t n;               /* bags */
    int64_t begin[BAGS + 1]; /* the last one is their end */
    bool include_last;
    bool overlap; /* bags that need no other rank's offset are pooled while it comes */
} bags;

typedef struct data {
    int64_t ids[IDS];
    double table[ROWS * DIM], weights[IDS], grad[BAGS * DIM];
} data;

static void fill(data *x)
{
    for (int64_t i = 0; i < IDS; i++) {
        x->ids[i] = (i * i * 7 + i * 3) % ROWS;
        x->weights[i] = (double)(i % 5 - 2);
    }
    for (int64_t i = 0; i < ROWS * DIM; i++)
        x->table[i] = (double)((i * 29) % 17 - 8);
    for (int64_t i = 0; i < BAGS * DIM; i++)
        x->grad[i] = (double)((i * 13) % 11 - 5);
}

static bool close_to(const double *a, const double *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= 1e-12))
            return false;
    return true;
}

/* By loops over whole arrays; ids that are the padding are left out. */
typedef struct wanted {
    double sum[BAGS * DIM], mean[BAGS * DIM], max[BAGS * DIM];
    int64_t index[BAGS * DIM];
    double sum_grad[ROWS * DIM], mean_grad[ROWS * DIM], weights_grad[IDS];
} wanted;

static void add_bag(const bags *b, const data *x, int64_t bag, int64_t count, wanted *w)
{
    for (int64_t i = b->begin[bag]; i < b->begin[bag + 1]; i++)
        for (int64_t k = 0; k < DIM && x->ids[i] != PADDING; k++) {
            const int64_t at = bag * DIM + k, row = x->ids[i] * DIM + k;
            w->sum[at] += x->table[row] * x->weights[i];
            w->mean[at] += x->table[row] / (double)count;
            if (w->index[at] < 0 || x->table[row] > w->max[at]) {
                w->max[at] = x->table[row];
                w->index[at] = x->ids[i];
            }
            w->sum_grad[row] += x->grad[at] * x->weights[i];
            w->mean_grad[row] += x->grad[at] / (double)count;
            w->weights_grad[i] += x->grad[at] * x->table[row];
        }
}

static void compute(const bags *b, const data *x, wanted *w)
{
    memset(w, 0, sizeof *w);
    memset(w->index, -1, sizeof w->index);
    for (int64_t bag = 0; bag < b->n; bag++) {
        int64_t count = 0;
        for (int64_t i = b->begin[bag]; i < b->begin[bag + 1]; i++)
            count += x->ids[i] != PADDING;
        add_bag(b, x, bag, count, w);
    }
}

static tsr_status results_job(tsr_mesh *mesh, void *arg)
{
    static const int64_t padding = PADDING;
    const bags *b = arg;
    const tsr_embedding_opts opts = EMBEDDING_OPTS(.has_padding_idx = true, .padding_idx = padding,
                                                   .include_last = b->include_last);
    const size_t rows = (size_t)(b->n * DIM) * sizeof(double);
    double host[ROWS * DIM + BAGS * DIM + IDS];
    int64_t index[BAGS * DIM];
    tsr_tensor *table, *ids, *offsets, *weights, *grad, *winner;
    data x;
    wanted w;

    fill(&x);
    compute(b, &x, &w);
    tsr_overlap_set(mesh, b->overlap ? TSR_OVERLAP_ALWAYS : TSR_OVERLAP_AUTO);
    table = whole(mesh, "f64", ROWS, DIM, b->at.table, x.table);
    ids = whole(mesh, "i64", IDS, -1, b->at.ids, x.ids);
    offsets = whole(mesh, "i64", b->n + b->include_last, -1, b->at.offsets, b->begin);
    weights = whole(mesh, "f64", IDS, -1, b->at.ids, x.weights);
    grad = whole(mesh, "f64", b->n, DIM, b->at.rows, x.grad);
    CHECK(tsr_to_host(tsr_bag_sum(table, ids, offsets, weights, &opts), host, rows) == TSR_OK);
    CHECK(close_to(host, w.sum, b->n * DIM));
    CHECK(tsr_to_host(tsr_bag_mean(table, ids, offsets, &opts), host, rows) == TSR_OK);
    CHECK(close_to(host, w.mean, b->n * DIM));
    CHECK(tsr_to_host(tsr_bag_max(table, ids, offsets, &opts, &winner), host, rows) == TSR_OK);
    CHECK(close_to(host, w.max, b->n * DIM));
    CHECK(tsr_to_host(winner, index, rows) == TSR_OK);
    CHECK(memcmp(index, w.index, rows) == 0);
    CHECK(tsr_to_host(tsr_bag_sum_backward(grad, ids, offsets, weights, ROWS, &opts), host,
                      sizeof w.sum_grad) == TSR_OK);
    CHECK(close_to(host, w.sum_grad, ROWS * DIM));
    CHECK(tsr_to_host(tsr_bag_mean_backward(grad, ids, offsets, ROWS, &opts), host,
                      sizeof w.mean_grad) == TSR_OK);
    CHECK(close_to(host, w.mean_grad, ROWS * DIM));
    CHECK(tsr_to_host(tsr_bag_weights_backward(grad, table, ids, offsets, &opts), host,
                      sizeof w.weights_grad) == TSR_OK);
    CHECK(close_to(host, w.weights_grad, IDS));
    return TSR_OK;
}

static const layout LAYOUTS[] = {
    {"1", "[R]", "[R]", "[R]", "[R]"},
    {"2", "[R]", "[R]", "[S(0)]", "[S(0)]"},
    {"2", "[S(0)]", "[S(0)]", "[S(0)]", "[S(0)]"},
    {"3", "[R]", "[S(0)]", "[S(0)]", "[S(0)]"},
    {"3", "[S(0)]", "[R]", "[S(0)]", "[S(0)]"},
    {"4", "[R]", "[S(0)]", "[S(0)]", "[S(0)]"},
    {"4", "[S(0)]", "[S(0)]", "[S(0)]", "[S(0)]"},
    {"4", "[S(1)]", "[S(0)]", "[R]", "[S(0)]"},
    {"2x2", "[R,R]", "[S(0),S(0)]", "[S(0),S(0)]", "[S(0),S(0)]"},
    {"2x2", "[S(0),S(0)]", "[S(0),S(0)]", "[S(0),S(0)]", "[S(0),S(0)]"},
    {"2x2", "[R,S(0)]", "[S(0),R]", "[S(0),R]", "[S(0),R]"},
    {"2x2", "[S(0),S(1)]", "[S(0),R]", "[S(0),R]", "[S(0),S(1)]"},
    {"2x2", "[S(0),R]", "[R,S(0)]", "[S(0),S(0)]", "[S(0),S(0)]"},
};

/* Bags that begin where parts do and where they do not, empty ones at both ends and at borders, one
   bag of all ids, none but empty ones, fewer bags than ranks, ids of no bag. */
static void results_are_those_of_loops(void **state)
{
    static const bags kinds[] = {
        {.n = 8, .begin = {0, 3, 6, 9, 12, 15, 18, 21, 24}},
        {.n = 7, .begin = {0, 0, 1, 13, 13, 13, 24, 24}},
        {.n = 3, .begin = {0, 23, 24, 24}},
        {.n = 1, .begin = {0, 24}},
        {.n = 6, .begin = {0, 0, 0, 0, 0, 0, 24}},
        {.n = 8, .begin = {0, 2, 5, 5, 7, 9, 9, 14, 20}, .include_last = true},
        {.n = 5, .begin = {0, 0, 0, 24, 24, 24}, .include_last = true},
        {.n = 2, .begin = {0, 1, 2}, .include_last = true},
        {.n = 4, .begin = {0}, .include_last = true},
    };
    char cost[64];
    (void)state;

    for (size_t l = 0; l < sizeof LAYOUTS / sizeof LAYOUTS[0]; l++)
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            for (int seed = 0; seed < 5; seed++) {
                bags b = kinds[k];
                if (!sample_has((int64_t)(l + k) + seed, sample_quick() < 5 ? sample_quick() : 5))
                    continue;
                b.at = LAYOUTS[l];
                b.overlap = (l + k + (size_t)seed) % 2;
                snprintf(cost, sizeof cost, "random:%d", (int)(l * 100 + k * 10) + seed);
                pass(b.at.mesh, seed ? cost : NULL, results_job, &b);
            }
}

/* ---- gradients do not depend on the mesh ---- */

enum { V = 997, D = 12, N = 96, G = 24 };

typedef struct gradient {
    layout at;
    bool mean;
    float *out;
} gradient;

static tsr_status gradient_job(tsr_mesh *mesh, void *arg)
{
    const gradient *g = arg;
    int64_t ids[N], offsets[G];
    float values[G * D], *out = malloc(V * D * sizeof *out);
    tsr_tensor *in[3], *y;
    tsr_status st;

    for (int64_t i = 0; i < N; i++) /* rows of many terms, whose order counts */
        ids[i] = i % 2 ? i / 2 % 5 * 211 : (i * i * 7) % V;
    for (int64_t i = 0; i < G; i++)
        offsets[i] = i * i / 6;
    for (int64_t i = 0; i < G * D; i++)
        values[i] = (float)sin((double)i * 1.7) * powf(10, (float)(i % 5) - 2);
    in[0] = whole(mesh, "f32", G, D, g->at.rows, values);
    in[1] = whole(mesh, "i64", N, -1, g->at.ids, ids);
    in[2] = whole(mesh, "i64", G, -1, g->at.offsets, offsets);
    y = tsr_op_run_to(mesh, g->mean ? "bag_mean_backward" : "bag_sum_backward", in, 3,
                      (const char *[]){"rows=997"}, 1, g->at.table);
    st = tsr_to_host(y, out, V * D * sizeof *out);
    if (tsr_mesh_index(mesh) == 0)
        memcpy(g->out, out, V * D * sizeof *out);
    free(out);
    return st;
}

static void gradients_are_the_same_on_every_mesh(void **state)
{
    static const layout way[] = {
        {"1", "[R]", "[R]", "[R]", "[R]"},
        {"2", "[S(0)]", "[S(0)]", "[S(0)]", "[S(0)]"},
        {"2", "[S(0)]", "[R]", "[S(0)]", "[S(0)]"},
        {"3", "[S(0)]", "[S(0)]", "[S(0)]", "[S(0)]"},
        {"3", "[S(0)]", "[R]", "[R]", "[S(0)]"},
        {"4", "[S(0)]", "[S(0)]", "[S(0)]", "[S(0)]"},
        {"4", "[S(1)]", "[S(0)]", "[S(0)]", "[S(1)]"},
        {"2x2", "[S(0),S(0)]", "[S(0),S(0)]", "[S(0),S(0)]", "[S(0),S(0)]"},
        {"2x2", "[S(0),S(1)]", "[S(0),R]", "[S(0),R]", "[S(0),S(1)]"},
    };
    float *want = malloc(V * D * sizeof *want), *is = malloc(V * D * sizeof *is);
    (void)state;

    for (size_t w = 0; w < 2 * sizeof way / sizeof way[0]; w++) {
        gradient g = {.at = way[w / 2], .mean = w % 2, .out = is};
        gradient one = {.at = way[0], .mean = w % 2, .out = want};
        memset(is, 0x55, V * D * sizeof *is);
        pass("1", NULL, gradient_job, &one);
        pass(g.at.mesh, NULL, gradient_job, &g);
        if (memcmp(want, is, V * D * sizeof *is) != 0)
            fail_msg("gradients on %s, ids %s, offsets %s, differ from those of one rank",
                     g.at.mesh, g.at.ids, g.at.offsets);
    }
    free(want);
    free(is);
}

/* ---- what is chosen, and what moves ---- */

enum { MANY = 4096, LONG = 5 * MANY };

typedef struct moved {
    const char *ids;
    bool include_last;
    int64_t longer; /* the first quarter of the bags has so many ids more, each, than the others */
} moved;

static int64_t offset_at(const moved *m, int64_t i)
{
    const int64_t quarter = MANY / 4;

    return i * (5 - m->longer) + (i < quarter ? i : quarter) * 4 * m->longer;
}

/* Of four ranks with bags [first, end). */
static int64_t bytes_for(const moved *m, int me)
{
    const int64_t quarter = MANY / 4, part = LONG / 4;
    int64_t bytes = 0, begin = offset_at(m, me * quarter), end = offset_at(m, (me + 1) * quarter);

    if (!m->include_last)
        bytes += me < 3 ? 8 : 0; /* where the next rank's first bag begins */
    else /* parts of the offsets are one longer, so a rank's window begins in that before */
        bytes += 8 * me;
    if (strcmp(m->ids, "[R]") == 0)
        return bytes;
    bytes += 3 * 16; /* which ids the others need */
    for (int64_t i = begin; i < end; i++)
        bytes += i < me * part || i >= (me + 1) * part ? 8 : 0;
    return bytes;
}

static tsr_status moved_job(tsr_mesh *mesh, void *arg)
{
    const moved *m = arg;
    const tsr_embedding_opts opts = EMBEDDING_OPTS(.include_last = m->include_last);
    const int me = tsr_mesh_index(mesh);
    int64_t *list = malloc((MANY + 1) * sizeof *list);
    tsr_tensor *table = tsr_arange(mesh, "f32[50,8]@[R]", 0, 1), *ids, *offsets, *y;
    tsr_counters before, after;
    char spec[TSR_TEXT_LEN];

    for (int64_t i = 0; i <= MANY; i++)
        list[i] = offset_at(m, i);
    snprintf(spec, sizeof spec, "i64[%d]@%s", LONG, m->ids);
    ids = tsr_arange(mesh, spec, 7, 0);
    offsets = whole(mesh, "i64", MANY + m->include_last, -1, "[S(0)]", list);
    free(list);
    before = tsr_counters_get(mesh);
    y = tsr_bag_sum(table, ids, offsets, NULL, &opts);
    after = tsr_counters_get(mesh);
    CHECK(tsr_tensor_ok(y));
    CHECK(tsr_tensor_spec(y)->place[0].kind == TSR_SHARD);
    CHECK(tsr_tensor_spec(y)->place[0].dim == 0);
    if (after.bytes_in - before.bytes_in != bytes_for(m, me))
        fprintf(stderr, "rank %d, ids %s, last %d, longer %d: %d bytes, not %d\n", me, m->ids,
                m->include_last, (int)m->longer, (int)(after.bytes_in - before.bytes_in),
                (int)bytes_for(m, me));
    CHECK(after.bytes_in - before.bytes_in == bytes_for(m, me));
    return TSR_OK;
}

static void bags_stay_where_their_offsets_are(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++) {
        moved m = {.ids = i % 2 ? "[S(0)]" : "[R]", .include_last = i / 2 % 2, .longer = i / 4};
        pass("4", NULL, moved_job, &m);
    }
}

/* The way of a call on four ranks. */
static tsr_op_strategy plan(const char *name, const tsr_spec *in, int n_in, const char *attr,
                            const char *cost)
{
    tsr_schema schema;
    tsr_op_strategy way;
    tsr_cost prices = tsr_cost_default();
    tsr_error err = {0};

    assert_int_equal(tsr_cost_parse(cost, &prices, &err), TSR_OK);
    assert_int_equal(
        tsr_schema_make(tsr_op_find(NULL, name), in, n_in, &attr, attr ? 1 : 0, &schema, &err),
        TSR_OK);
    assert_int_equal(tsr_op_plan(&schema, &prices, NULL, false, &way, &err), TSR_OK);
    return way;
}

static tsr_spec spec_of(const char *text)
{
    tsr_spec spec;
    tsr_mesh_shape mesh;

    assert_int_equal(tsr_mesh_parse("4", &mesh, NULL), TSR_OK);
    assert_int_equal(tsr_spec_parse(text, &mesh, &spec, NULL), TSR_OK);
    return spec;
}

static void sharded_offsets_stay(void **state)
{
    static const char *const cost[] = {"default", "torch"};
    static const char *const forward[] = {"bag_sum", "bag_mean", "bag_max"};
    static const char *const backward[] = {"bag_sum_backward", "bag_mean_backward"};
    (void)state;

    for (int i = 0; i < 2; i++) {
        const tsr_spec in[] = {spec_of("f32[1000,64]@[R]"), spec_of("i64[600000]@[S(0)]"),
                               spec_of("i64[60000]@[S(0)]")};
        const tsr_spec back[] = {spec_of("f32[60000,64]@[S(0)]"), in[1], in[2]};
        for (int k = 0; k < 3; k++) {
            tsr_op_strategy way = plan(forward[k], in, 3, NULL, cost[i]);
            assert_int_equal(way.in[1].place[0].kind, TSR_SHARD);
            assert_int_equal(way.in[2].place[0].kind, TSR_SHARD);
            assert_int_equal(way.out[0].place[0].kind, TSR_SHARD);
            assert_true(way.inputs == 0 && way.comm > 0 && way.pending == 0);
        }
        for (int k = 0; k < 2; k++) {
            tsr_op_strategy way = plan(backward[k], back, 3, "rows=1000", cost[i]);
            assert_int_equal(way.in[2].place[0].kind, TSR_SHARD);
            assert_int_equal(way.out[0].place[0].kind, TSR_PARTIAL);
            assert_true(way.inputs == 0);
        }
    }
}

/* ---- wrong offsets ---- */

enum { RANKS = 4, FEW = 7 };

typedef struct bad {
    const char *ids, *offsets, *table;
    int64_t offset[FEW];
    int64_t id; /* the 9th of 12 */
    int op;
    const char *says;
    tsr_status status[RANKS];
    char text[RANKS][TSR_ERROR_LEN];
} bad;

static tsr_status bad_job(tsr_mesh *mesh, void *arg)
{
    static const char *const name[] = {"bag_sum", "bag_mean", "bag_max", "bag_sum_backward",
                                       "bag_weights_backward"};
    bad *b = arg;
    const int me = tsr_mesh_index(mesh);
    int64_t ids[12] = {0};
    tsr_tensor *table = tsr_arange(mesh, b->table, 0, 1), *in[4];
    const char *rows = "rows=10";
    int n = 0;

    ids[8] = b->id;
    if (b->op >= 3)
        in[n++] = tsr_arange(mesh, "f32[7,5]@[S(0)]", 0, 1);
    if (b->op != 3)
        in[n++] = table;
    in[n++] = whole(mesh, "i64", 12, -1, b->ids, ids);
    in[n++] = whole(mesh, "i64", FEW, -1, b->offsets, b->offset);
    tsr_op_run(mesh, name[b->op], in, n, &rows, b->op == 3);
    b->status[me] = tsr_mesh_status(mesh);
    if (b->status[me] == TSR_OK) /* those that saw nothing are told when they next meet */
        b->status[me] = tsr_barrier(mesh);
    snprintf(b->text[me], TSR_ERROR_LEN, "%s", tsr_mesh_message(mesh));
    return b->status[me];
}

/* Every rank fails with the sentence, one of them at least by itself. */
static void refuse(const bad *wrong)
{
    tsr_run_opts opts =
        RUN_OPTS(.mesh = "4", .world = TSR_WORLD_THREAD, .has_timeout = true, .timeout_ms = 20000);
    bad b = *wrong;
    tsr_error err = {0};
    int own = 0;

    assert_int_not_equal(tsr_run(&opts, bad_job, &b, &err), TSR_OK);
    for (int i = 0; i < RANKS; i++) {
        own += b.status[i] == TSR_ERR_ARG;
        if ((b.status[i] != TSR_ERR_ARG && b.status[i] != TSR_ERR_PEER) ||
            !strstr(b.text[i], b.says))
            fail_msg("op %d, table %s, ids %s, offsets %s, rank %d: status %d, \"%s\", not \"%s\"",
                     b.op, b.table, b.ids, b.offsets, i, (int)b.status[i], b.text[i], b.says);
    }
    assert_true(own >= 1);
}

static void wrong_offsets_are_named(void **state)
{
    static const char *const where[] = {"[R]", "[S(0)]"};
    static const char *const table[] = {"f32[10,5]@[R]", "f32[10,5]@[S(0)]"};
    static const bad wrong[] = {
        {.offset = {0, 4, 3, 5, 6, 7, 9}, .says = "offset 2 is 3, less than the 4 before it"},
        {.offset = {0, 1, 2, 8, 7, 8, 9}, .says = "offset 4 is 7, less than the 8 before it"},
        {.offset = {1, 1, 2, 3, 4, 5, 6}, .says = "offsets start at 1 instead of 0"},
        {.offset = {-1, 1, 2, 3, 4, 5, 6}, .says = "offsets start at -1 instead of 0"},
        {.offset = {0, 1, 2, 3, 4, 5, 13}, .says = "offset 6 is 13, but there are only 12 ids"},
        {.offset = {0, 1, 2, 3, 4, 5, -3}, .says = "offset 6 is -3, below 0"},
        {.offset = {0, 1, 2, 3, 4, 5, 6}, .id = 10, .says = "id 10 at [8] is out of range 0 to 9"},
    };
    (void)state;

    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
        for (int i = 0; i < 5 * 8; i++) {
            bad b = wrong[k];
            b.op = i / 8;
            b.table = table[i / 4 % 2];
            b.ids = where[i / 2 % 2];
            b.offsets = where[i % 2];
            refuse(&b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_of_loops),
        cmocka_unit_test(gradients_are_the_same_on_every_mesh),
        cmocka_unit_test(bags_stay_where_their_offsets_are),
        cmocka_unit_test(sharded_offsets_stay),
        cmocka_unit_test(wrong_offsets_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
