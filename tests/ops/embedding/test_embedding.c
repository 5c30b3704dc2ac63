/* SPDX-License-Identifier: Apache-2.0 */
/* test_embedding.c - lookups, bags and gradients on meshes of threads, through the public headers:
   results that do not depend on the mesh, and what is communicated, to the byte. Bad input is
   test_embedding_bad.c, faults are test_op_faults.c, facts of PyTorch are the oracle's. */
#include "support/test.h"

enum { RANKS = 4 };

/* Ids that repeat and reach the first and the last row. */
static int64_t id_at(int64_t i, int64_t rows, int salt)
{
    if (i < 2)
        return i == 0 ? rows - 1 : 0;
    return (i * i * 7 + i * 13 + salt * 5) % (i % 3 ? rows : (rows + 4) / 5);
}

static void fill_ids(int64_t *ids, int64_t n, int64_t rows, int salt)
{
    for (int64_t i = 0; i < n; i++)
        ids[i] = id_at(i, rows, salt);
}

/* Values whose sums depend on their order. */
static float rough(int64_t i)
{
    return (float)sin((double)i * 1.7) * powf(10, (float)(i % 5) - 2);
}

static tsr_tensor *whole(tsr_mesh *mesh, const char *dtype, int64_t a, int64_t b, const char *where,
                         const void *data)
{
    char spec[TSR_TEXT_LEN];

    if (b >= 0)
        snprintf(spec, sizeof spec, "%s[%lld,%lld]@%s", dtype, (long long)a, (long long)b, where);
    else
        snprintf(spec, sizeof spec, "%s[%lld]@%s", dtype, (long long)a, where);
    return from_host(mesh, spec, data);
}

/* ---- gradients do not depend on the mesh ---- */

enum { V = 4099, D = 12, N = 90 }; /* a gradient that is far larger than what is looked up */

typedef struct gradient {
    const char *dtype;
    const char *grad, *ids, *table; /* placements; the gradient ends where the table is */
    bool scaled, bags;
    unsigned char *out;
} gradient;

static tsr_status gradient_job(tsr_mesh *mesh, void *arg)
{
    const gradient *g = arg;
    const tsr_embedding_opts opts = EMBEDDING_OPTS(.scale_grad_by_freq = g->scaled);
    const size_t size = strcmp(g->dtype, "f32") == 0 ? 4 : 2;
    int64_t *ids = malloc(N * sizeof *ids);
    float *values = malloc(N * D * sizeof *values);
    unsigned char *out = malloc((size_t)V * D * size);
    tsr_tensor *f, *x, *y;
    tsr_status st;

    fill_ids(ids, N, V, 0);
    for (int64_t i = 1; i < N; i += 2) /* rows of many terms, whose order counts */
        ids[i] = i / 2 % 5 * 1013;
    for (int64_t i = 0; i < N * D; i++)
        values[i] = rough(i);
    if (size == 2) /* bf16 is the upper half */
        for (int64_t i = 0; i < N * D; i++)
            memcpy((char *)values + 2 * i, (char *)&values[i] + 2, 2);
    if (g->bags) {
        f = whole(mesh, g->dtype, N / 3, D, g->grad, values);
        x = whole(mesh, "i64", N / 3, 3, g->ids, ids);
        y = tsr_bag_mean_backward(f, x, NULL, V, NULL);
    } else {
        f = whole(mesh, g->dtype, N, D, g->grad, values);
        x = whole(mesh, "i64", N, -1, g->ids, ids);
        y = tsr_embedding_backward(f, x, V, &opts);
    }
    CHECK(tsr_tensor_ok(y));
    for (int m = 0; m < tsr_tensor_spec(y)->mesh.ndim; m++)
        CHECK(tsr_tensor_spec(y)->mesh.size[m] == 1 ||
              tsr_tensor_spec(y)->place[m].kind != TSR_PARTIAL);
    y = tsr_redistribute(y, g->table);
    st = tsr_to_host(y, out, (size_t)V * D * size);
    if (tsr_mesh_index(mesh) == 0)
        memcpy(g->out, out, (size_t)V * D * size);
    free(ids);
    free(values);
    free(out);
    return st;
}

static void gradients_are_the_same_on_every_mesh(void **state)
{
    static const struct {
        const char *mesh, *grad, *ids, *table;
    } way[] = {
        {"1", "[R]", "[R]", "[R]"},
        {"2", "[R]", "[R]", "[S(0)]"},
        {"2", "[S(0)]", "[S(0)]", "[S(0)]"},
        {"2", "[S(1)]", "[R]", "[S(1)]"},
        {"3", "[S(0)]", "[S(0)]", "[S(0)]"},
        {"3", "[S(1)]", "[R]", "[S(1)]"},
        {"4", "[S(0)]", "[S(0)]", "[S(0)]"},
        {"4", "[S(1)]", "[S(0)]", "[S(1)]"},
        {"2x2", "[S(0),S(0)]", "[S(0),S(0)]", "[S(0),S(0)]"},
        {"2x2", "[S(0),S(1)]", "[S(0),R]", "[S(0),S(1)]"},
        {"2x2", "[S(1),S(0)]", "[R,S(0)]", "[S(1),S(0)]"},
        {"2x2", "[S(1),S(1)]", "[R,R]", "[S(1),S(1)]"},
        {"2x2", "[R,R]", "[R,R]", "[S(0),S(0)]"},
    };
    unsigned char *want = malloc((size_t)V * D * 4), *is = malloc((size_t)V * D * 4);
    (void)state;

    for (int kind = 0; kind < 6; kind++) {
        gradient g = {
            .dtype = kind % 2 ? "bf16" : "f32", .scaled = kind / 2 == 1, .bags = kind / 2 == 2};
        size_t bytes = (size_t)V * D * (kind % 2 ? 2 : 4);
        for (size_t w = 0; w < sizeof way / sizeof way[0]; w++)
            for (int again = 0; again < 2; again++) {
                g.grad = way[w].grad;
                g.ids = way[w].ids;
                g.table = way[w].table;
                g.out = w == 0 && !again ? want : is;
                memset(g.out, 0x55, bytes);
                pass_on(way[w].mesh, gradient_job, &g);
                if (memcmp(want, g.out, bytes) != 0)
                    fail_msg("%s gradients%s%s on %s, %s %s, differ from those of one rank",
                             g.dtype, g.scaled ? " by frequency" : "", g.bags ? " of bags" : "",
                             way[w].mesh, g.grad, g.ids);
            }
    }
    free(want);
    free(is);
}

/* ---- lookups ---- */

enum { DIM = 5, LOOKUPS = 24 };

typedef struct lookups {
    int64_t rows;
    const char *table, *ids;
    bool i32;
} lookups;

/* Element k of row r. */
static float element(int64_t r, int64_t k)
{
    return (float)(r * DIM + k + 1);
}

static tsr_tensor *make_table(tsr_mesh *mesh, int64_t rows, const char *where)
{
    char spec[TSR_TEXT_LEN];

    snprintf(spec, sizeof spec, "f32[%lld,%d]@%s", (long long)rows, DIM, where);
    return tsr_arange(mesh, spec, 1, 1);
}

static tsr_status check_lookup(tsr_mesh *mesh, tsr_tensor *y, const int64_t *ids)
{
    float host[LOOKUPS * DIM];

    CHECK(tsr_to_host(y, host, sizeof host) == TSR_OK);
    for (int i = 0; i < LOOKUPS; i++)
        for (int k = 0; k < DIM; k++)
            CHECK(host[i * DIM + k] == element(ids[i], k));
    return TSR_OK;
}

/* The gradient when that of lookup i is i + 1 in every column. */
static tsr_status check_gradient(tsr_mesh *mesh, tsr_tensor *y, const int64_t *ids, int64_t rows)
{
    float *host = malloc((size_t)rows * DIM * sizeof *host);

    CHECK(tsr_to_host(y, host, (size_t)rows * DIM * sizeof *host) == TSR_OK);
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0;
        for (int i = 0; i < LOOKUPS; i++)
            sum += ids[i] == r ? (float)(i + 1) : 0;
        for (int k = 0; k < DIM; k++)
            CHECK(host[r * DIM + k] == sum);
    }
    free(host);
    return TSR_OK;
}

/* Two lookups, of other ids each, before either is read; and their gradients. */
static tsr_status two_lookups_job(tsr_mesh *mesh, void *arg)
{
    const lookups *l = arg;
    int64_t ids[2][LOOKUPS];
    float grad[LOOKUPS * DIM];
    tsr_tensor *table = make_table(mesh, l->rows, l->table), *x[2], *y[2], *g[2];

    for (int i = 0; i < LOOKUPS * DIM; i++)
        grad[i] = (float)(i / DIM + 1);
    for (int j = 0; j < 2; j++) {
        int32_t narrow[LOOKUPS];
        fill_ids(ids[j], LOOKUPS, l->rows, j * 3 + 1);
        for (int i = 0; i < LOOKUPS; i++)
            narrow[i] = (int32_t)ids[j][i];
        x[j] = whole(mesh, l->i32 ? "i32" : "i64", LOOKUPS, -1, l->ids,
                     l->i32 ? (void *)narrow : (void *)ids[j]);
    }
    for (int j = 0; j < 2; j++)
        y[j] = tsr_embedding(table, x[j], NULL);
    for (int j = 0; j < 2; j++)
        g[j] = tsr_embedding_backward(whole(mesh, "f32", LOOKUPS, DIM, l->ids, grad), x[j], l->rows,
                                      NULL);
    for (int j = 0; j < 2; j++) {
        CHECK(check_lookup(mesh, y[j], ids[j]) == TSR_OK);
        CHECK(check_gradient(mesh, g[j], ids[j], l->rows) == TSR_OK);
    }
    return TSR_OK;
}

/* By the cheapest plan, and by any other: random costs. */
static void lookups_by_rows(void **state)
{
    static const struct {
        const char *mesh, *table, *ids;
    } way[] = {
        {"2", "[S(0)]", "[S(0)]"},
        {"3", "[S(0)]", "[R]"},
        {"3", "[S(0)]", "[S(0)]"},
        {"4", "[S(0)]", "[S(0)]"},
        {"4", "[S(1)]", "[S(0)]"},
        {"2x2", "[S(0),S(0)]", "[R,R]"},
        {"2x2", "[S(0),S(0)]", "[S(0),S(0)]"},
        {"2x2", "[S(0),S(0)]", "[S(0),R]"},
        {"2x2", "[S(0),S(0)]", "[R,S(0)]"},
        {"2x2", "[S(0),S(1)]", "[S(0),R]"},
        {"2x2", "[S(0),R]", "[S(0),S(0)]"},
    };
    static const int64_t rows[] = {1, 3, 5, 37, 2000};
    char cost[64];
    (void)state;

    for (size_t w = 0; w < sizeof way / sizeof way[0]; w++)
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
            for (int seed = 0; seed < 6; seed++) {
                lookups l = {rows[r], way[w].table, way[w].ids, seed % 2};
                snprintf(cost, sizeof cost, "random:%d", seed);
                pass_with((tsr_run_opts)RUN_OPTS(.mesh = way[w].mesh, .world = TSR_WORLD_THREAD,
                                                 .cost = seed ? cost : NULL),
                          two_lookups_job, &l);
            }
}

/* ---- max_norm ---- */

typedef struct renorm {
    const char *table, *ids;
    float *out;
} renorm;

enum { NORM_ROWS = 11 };

static tsr_status renorm_job(tsr_mesh *mesh, void *arg)
{
    const renorm *r = arg;
    int64_t ids[LOOKUPS];
    float values[NORM_ROWS * DIM], out[NORM_ROWS * DIM], rows[LOOKUPS * DIM];
    tsr_tensor *table, *x;

    fill_ids(ids, LOOKUPS, NORM_ROWS - 2, 1); /* the last two rows stay */
    for (int i = 0; i < NORM_ROWS * DIM; i++)
        values[i] = rough(i);
    table = whole(mesh, "f32", NORM_ROWS, DIM, r->table, values);
    x = whole(mesh, "i64", LOOKUPS, -1, r->ids, ids);
    CHECK(tsr_embedding_renorm(table, x, 0.5, 2) == table);
    CHECK(tsr_to_host(tsr_embedding(table, x, NULL), rows, sizeof rows) == TSR_OK);
    CHECK(tsr_to_host(table, out, sizeof out) == TSR_OK);
    for (int i = 0; i < NORM_ROWS; i++) {
        double norm = 0, before = 0;
        bool named = false;
        for (int k = 0; k < DIM; k++) {
            norm += (double)out[i * DIM + k] * (double)out[i * DIM + k];
            before += (double)values[i * DIM + k] * (double)values[i * DIM + k];
        }
        for (int j = 0; j < LOOKUPS; j++) {
            named = named || ids[j] == i;
            CHECK(ids[j] != i || memcmp(rows + (ptrdiff_t)j * DIM, out + (ptrdiff_t)i * DIM,
                                        DIM * sizeof *out) == 0);
        }
        CHECK(fabs(sqrt(norm) - (named ? fmin(0.5, sqrt(before)) : sqrt(before))) < 1e-5);
    }
    if (tsr_mesh_index(mesh) == 0)
        memcpy(r->out, out, sizeof out);
    return TSR_OK;
}

static void max_norm_is_the_same_everywhere(void **state)
{
    static const struct {
        const char *mesh, *table, *ids;
    } way[] = {
        {"1", "[R]", "[R]"},
        {"2", "[S(0)]", "[S(0)]"},
        {"3", "[S(1)]", "[R]"},
        {"4", "[R]", "[S(0)]"},
        {"2x2", "[S(0),S(0)]", "[R,S(0)]"},
        {"2x2", "[S(0),S(1)]", "[S(0),R]"},
    };
    float want[NORM_ROWS * DIM], is[NORM_ROWS * DIM];
    (void)state;

    for (size_t w = 0; w < sizeof way / sizeof way[0]; w++) {
        renorm r = {way[w].table, way[w].ids, w ? is : want};
        pass_on(way[w].mesh, renorm_job, &r);
        assert_memory_equal(want, r.out, sizeof want);
    }
}

/* ---- bags ---- */

enum { BAGS = 6, LENGTH = 4, BAG_ROWS = 9 };

typedef struct bags {
    const char *table, *ids;
    bool offsets, last;
} bags;

/* Few values, so that many are equal. */
static float tied(int64_t r, int64_t k)
{
    return (float)((r * 5 + k * 3) % 3);
}

/* With offsets bags 0, 2 and the last are empty. */
static const int64_t OFFSETS[BAGS] = {0, 0, 7, 7, 20, BAGS *LENGTH};
static const int64_t PADDING = 4;

static tsr_status bags_job(tsr_mesh *mesh, void *arg)
{
    const bags *b = arg;
    const tsr_embedding_opts opts =
        EMBEDDING_OPTS(.has_padding_idx = true, .padding_idx = PADDING, .last = b->last);
    int64_t ids[BAGS * LENGTH], index[BAGS * DIM];
    float table[BAG_ROWS * DIM], mean[BAGS * DIM], max[BAGS * DIM];
    tsr_tensor *t, *x, *offsets, *won, *y;

    for (int i = 0; i < BAG_ROWS * DIM; i++)
        table[i] = tied(i / DIM, i % DIM);
    fill_ids(ids, BAGS * LENGTH, BAG_ROWS, 2);
    for (int i = 0; i < LENGTH && !b->offsets; i++)
        ids[LENGTH + i] = PADDING; /* an empty bag */
    t = whole(mesh, "f32", BAG_ROWS, DIM, b->table, table);
    x = whole(mesh, "i64", b->offsets ? BAGS * LENGTH : BAGS, b->offsets ? -1 : LENGTH, b->ids,
              ids);
    offsets = b->offsets ? whole(mesh, "i64", BAGS, -1, b->ids, OFFSETS) : NULL;
    CHECK(tsr_to_host(tsr_bag_mean(t, x, offsets, &opts), mean, sizeof mean) == TSR_OK);
    y = tsr_bag_max(t, x, offsets, &opts, &won);
    CHECK(tsr_to_host(y, max, sizeof max) == TSR_OK);
    CHECK(tsr_to_host(won, index, sizeof index) == TSR_OK);
    for (int i = 0; i < BAGS * DIM; i++) {
        int bag = i / DIM, k = i % DIM, n = 0;
        int64_t begin = b->offsets ? OFFSETS[bag] : (int64_t)bag * LENGTH, winner = -1;
        int64_t end = b->offsets && bag + 1 < BAGS ? OFFSETS[bag + 1] : (bag + 1) * LENGTH;
        float sum = 0, best = 0;
        if (b->offsets && bag + 1 == BAGS)
            end = (int64_t)BAGS * LENGTH;
        for (int64_t j = begin; j < end; j++) {
            float value = tied(ids[j], k);
            if (ids[j] == PADDING)
                continue;
            n++;
            sum += value;
            if (winner < 0 || value > best || (b->last && value == best)) {
                winner = ids[j];
                best = value;
            }
        }
        CHECK(fabsf(mean[i] - (n ? sum / (float)n : 0)) <= 1e-6f);
        CHECK(max[i] == best);
        CHECK(index[i] == winner);
    }
    return TSR_OK;
}

static void bags_by_rows(void **state)
{
    static const struct {
        const char *mesh, *table, *ids;
    } way[] = {
        {"1", "[R]", "[R]"},
        {"2", "[S(0)]", "[R]"},
        {"2", "[S(0)]", "[S(0)]"},
        {"3", "[S(0)]", "[S(0)]"},
        {"4", "[S(0)]", "[S(0)]"},
        {"2x2", "[S(0),S(0)]", "[S(0),S(0)]"},
        {"2x2", "[S(0),S(0)]", "[S(0),R]"},
        {"2x2", "[S(0),S(1)]", "[S(0),R]"},
        {"2x2", "[R,S(0)]", "[S(0),S(0)]"},
    };
    char cost[64];
    (void)state;

    for (size_t w = 0; w < sizeof way / sizeof way[0]; w++)
        for (int kind = 0; kind < 4; kind++)
            for (int seed = 0; seed < 10; seed++) {
                bags b = {way[w].table, way[w].ids, kind % 2, kind / 2};
                snprintf(cost, sizeof cost, "random:%d", seed);
                pass_with((tsr_run_opts)RUN_OPTS(.mesh = way[w].mesh, .world = TSR_WORLD_THREAD,
                                                 .cost = seed ? cost : NULL),
                          bags_job, &b);
            }
}

/* ---- communication ---- */

/* A table by rows and ids by batch. For a lookup every pair of ranks exchanges a count of 8 bytes;
   every different id of a rank that another one owns is sent there, 8 bytes, and its row is
   returned. For a gradient counts, and every id of another owner with its row. For bags two counts;
   for every bag and owner that it hits the length, the ids, and a row that comes back. */
enum { BIG = 20011, WIDE = 16, ASKED = 96, PER_BAG = 6 };

static int owner(int64_t id, int p)
{
    return (int)(id / ((BIG + p - 1) / p));
}

static int asker(int64_t i, int64_t n, int p)
{
    return (int)(i / ((n + p - 1) / p));
}

static bool seen(const int64_t *ids, int64_t from, int64_t i)
{
    for (int64_t j = from; j < i; j++)
        if (ids[j] == ids[i])
            return true;
    return false;
}

typedef struct traffic {
    int64_t in[RANKS], out[RANKS];
} traffic;

static void carry(traffic *t, int from, int to, int64_t bytes)
{
    if (from == to)
        return;
    t->out[from] += bytes;
    t->in[to] += bytes;
}

static void carry_counts(traffic *t, int p, int64_t bytes)
{
    for (int i = 0; i < p * p; i++)
        carry(t, i / p, i % p, bytes);
}

static traffic of_lookup(const int64_t *ids, int p)
{
    traffic t = {{0}, {0}};

    carry_counts(&t, p, 8);
    for (int64_t i = 0; i < ASKED; i++) {
        int me = asker(i, ASKED, p), to = owner(ids[i], p);
        if (seen(ids, (int64_t)me * ((ASKED + p - 1) / p), i))
            continue;
        carry(&t, me, to, 8);
        carry(&t, to, me, WIDE * 4);
    }
    return t;
}

static traffic of_gradient(const int64_t *ids, int p)
{
    traffic t = {{0}, {0}};

    carry_counts(&t, p, 8);
    for (int64_t i = 0; i < ASKED; i++)
        carry(&t, asker(i, ASKED, p), owner(ids[i], p), 8 + WIDE * 4);
    return t;
}

static traffic of_bags(const int64_t *ids, int p)
{
    traffic t = {{0}, {0}};

    carry_counts(&t, p, 16);
    for (int64_t b = 0; b < ASKED / PER_BAG; b++) {
        bool hit[RANKS] = {false};
        int me = asker(b, ASKED / PER_BAG, p);
        for (int64_t i = b * PER_BAG; i < (b + 1) * PER_BAG; i++) {
            int to = owner(ids[i], p);
            carry(&t, me, to, 8);
            if (hit[to])
                continue;
            hit[to] = true;
            carry(&t, me, to, 8);
            carry(&t, to, me, WIDE * 4);
        }
    }
    return t;
}

static tsr_status check_bytes(tsr_mesh *mesh, const char *what, const tsr_tensor *y,
                              const traffic *want)
{
    const tsr_counters c = tsr_counters_get(mesh);
    int me = tsr_mesh_index(mesh);

    CHECK(tsr_tensor_ok(y));
    CHECK(tsr_tensor_spec(y)->place[0].kind == TSR_SHARD && tsr_tensor_spec(y)->place[0].dim == 0);
    if (c.bytes_in != want->in[me] || c.bytes_out != want->out[me])
        fprintf(stderr, "%s: rank %d got %lld bytes and sent %lld, not %lld and %lld\n", what, me,
                (long long)c.bytes_in, (long long)c.bytes_out, (long long)want->in[me],
                (long long)want->out[me]);
    CHECK(c.bytes_in == want->in[me] && c.bytes_out == want->out[me]);
    CHECK(c.bytes_in < (int64_t)BIG * WIDE * 4 / 50);
    return TSR_OK;
}

static tsr_status bytes_job(tsr_mesh *mesh, void *arg)
{
    int p = tsr_mesh_size(mesh);
    int64_t ids[ASKED];
    tsr_tensor *table, *x, *two, *g, *y;
    traffic want;

    (void)arg;
    fill_ids(ids, ASKED, BIG, 3);
    table = tsr_zeros(mesh, "f32[20011,16]@[S(0)]");
    x = whole(mesh, "i64", ASKED, -1, "[S(0)]", ids);
    two = whole(mesh, "i64", ASKED / PER_BAG, PER_BAG, "[S(0)]", ids);
    g = tsr_zeros(mesh, "f32[96,16]@[S(0)]");
    want = of_lookup(ids, p);
    tsr_counters_reset(mesh);
    y = tsr_embedding(table, x, NULL);
    CHECK(check_bytes(mesh, "lookup", y, &want) == TSR_OK);
    want = of_gradient(ids, p);
    tsr_counters_reset(mesh);
    y = tsr_embedding_backward(g, x, BIG, NULL);
    CHECK(check_bytes(mesh, "gradient", y, &want) == TSR_OK);
    want = of_bags(ids, p);
    tsr_counters_reset(mesh);
    y = tsr_bag_sum(table, two, NULL, NULL, NULL);
    CHECK(check_bytes(mesh, "bags", y, &want) == TSR_OK);
    return TSR_OK;
}

static void only_rows_travel(void **state)
{
    static const char *const mesh[] = {"2", "3", "4"};
    (void)state;

    for (size_t i = 0; i < sizeof mesh / sizeof mesh[0]; i++)
        pass_on(mesh[i], bytes_job, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_the_same_on_every_mesh),
        cmocka_unit_test(lookups_by_rows),
        cmocka_unit_test(max_norm_is_the_same_everywhere),
        cmocka_unit_test(bags_by_rows),
        cmocka_unit_test(only_rows_travel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
