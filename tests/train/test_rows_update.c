/* SPDX-License-Identifier: Apache-2.0 */
/* test_rows_update.c - optimizers on row-sparse gradients of tables against the dense definition,
   several lookups and micro-batches merged, on every mesh and placement; the norm of all gradients
   and clipping by it; each allocation and call in which that may fail. Through the public headers.
   */
#include "support/test.h"
#include "support/fault_driver.h"

enum { V = 11, D = 6, IDS = 7, STEPS = 3, BATCHES = 2 };

/* Some rows often, some never; the two lookups have rows in common, and so have micro-batches. */
static int64_t id_of(int step, int batch, int lookup, int i)
{
    return (i * i + 3 * step + 5 * batch + 2 * lookup) % (V - 2);
}

static double factor_of(int lookup, int i, int column)
{
    return ((i * 5 + column * 3 + lookup) % 7 - 3) * 0.25;
}

static double first_of(int row, int column)
{
    return ((row * D + column) % 13 - 6) * 0.125;
}

typedef struct setup {
    tsr_dtype dtype;
    tsr_optimizer_opts opts;
    const char *table, *ids; /* placements */
    bool dense;              /* the table is used whole, too */
} setup;

/* The gradient of a step: loss is the sum of factors times looked up rows, and of a hundredth of
   the table. */
static void gradient(const setup *s, int step, double g[V][D])
{
    for (int r = 0; r < V; r++)
        for (int c = 0; c < D; c++)
            g[r][c] = s->dense ? BATCHES * 0.5 : 0;
    for (int b = 0; b < BATCHES; b++)
        for (int l = 0; l < 2; l++)
            for (int i = 0; i < IDS; i++)
                for (int c = 0; c < D; c++)
                    g[id_of(step, b, l, i)][c] += factor_of(l, i, c);
}

/* The definition. */
static void expect(const setup *s, double w[V][D])
{
    double sum[V][D] = {{0}}, g[V][D];
    const double eps = s->opts.eps;

    for (int r = 0; r < V; r++)
        for (int c = 0; c < D; c++)
            w[r][c] = first_of(r, c);
    for (int step = 0; step < STEPS; step++) {
        gradient(s, step, g);
        for (int r = 0; r < V; r++) {
            double mean = 0;

            for (int c = 0; c < D; c++)
                mean += g[r][c] * g[r][c] / D;
            for (int c = 0; c < D; c++) {
                sum[r][c] += s->opts.rowwise ? mean : g[r][c] * g[r][c];
                w[r][c] -=
                    s->opts.lr * g[r][c] / (s->opts.kind == TSR_SGD ? 1 : sqrt(sum[r][c]) + eps);
            }
        }
    }
}

static tsr_tensor *make(tsr_mesh *mesh, const char *what, const char *where, const void *data)
{
    char spec[TSR_TEXT_LEN];

    snprintf(spec, sizeof spec, "%s@%s", what, where);
    return from_host(mesh, spec, data);
}

static tsr_tensor *make_table(tsr_mesh *mesh, const setup *s)
{
    double first[V][D];
    tsr_tensor *x;

    for (int r = 0; r < V; r++)
        for (int c = 0; c < D; c++)
            first[r][c] = first_of(r, c);
    x = tsr_redistribute(tsr_cast(from_host(mesh, "f64[11,6]", first), s->dtype), s->table);
    return tsr_watch_sparse(tsr_detach(x));
}

static tsr_tensor *sum_of(tsr_tensor *x)
{
    return tsr_sum(x, NULL, 0, false);
}

/* One micro-batch: two lookups, and the table itself. */
static tsr_status go_back(tsr_mesh *mesh, const setup *s, tsr_tensor *table, int step, int batch)
{
    tsr_tensor *loss = NULL, *part;
    const tsr_status st = tsr_tape_begin(mesh);

    for (int l = 0; l < 2 && st == TSR_OK; l++) {
        double factor[IDS][D];
        int64_t ids[IDS];

        for (int i = 0; i < IDS; i++) {
            ids[i] = id_of(step, batch, l, i);
            for (int c = 0; c < D; c++)
                factor[i][c] = factor_of(l, i, c);
        }
        part = tsr_embedding(table, make(mesh, "i64[7]", s->ids, ids), NULL);
        part = sum_of(tsr_mul(part, tsr_cast(from_host(mesh, "f64[7,6]", factor), s->dtype)));
        loss = loss ? tsr_add(loss, part) : part;
    }
    if (s->dense && st == TSR_OK)
        loss = tsr_add(loss, sum_of(tsr_affine(table, 0.5, 0)));
    return st == TSR_OK ? tsr_backward(loss) : st;
}

static tsr_status table_job(tsr_mesh *mesh, void *arg)
{
    static const double EPS[] = {0x1p-22, 0x1p-50, 0x1p-10, 0x1p-7};
    const setup *s = arg;
    tsr_optimizer *opt;
    double want[V][D], got[V][D];
    tsr_tensor *table;

    table = make_table(mesh, s);
    CHECK(tsr_optimizer_new(mesh, &s->opts, &table, 1, &opt) == TSR_OK);
    for (int step = 0; step < STEPS; step++) {
        for (int b = 0; b < BATCHES; b++)
            CHECK(go_back(mesh, s, table, step, b) == TSR_OK);
        CHECK(tsr_optimizer_step(opt) == TSR_OK);
    }
    CHECK(tsr_to_host(tsr_cast(table, TSR_F64), got, sizeof got) == TSR_OK);
    expect(s, want);
    for (int r = 0; r < V; r++)
        for (int c = 0; c < D; c++)
            if (fabs(got[r][c] - want[r][c]) > 4 * EPS[s->dtype]) {
                fprintf(stderr, "table %s, ids %s, %s, row %d: %g, not %g\n", s->table, s->ids,
                        tsr_dtype_name(s->dtype), r, got[r][c], want[r][c]);
                return TSR_ERR_MISMATCH;
            }
    tsr_optimizer_free(opt);
    return tsr_mesh_status(mesh);
}

static const struct {
    const char *mesh, *table, *ids;
} PLACES[] = {
    {"1", "[R]", "[R]"},
    {"2", "[R]", "[S(0)]"},
    {"2", "[S(0)]", "[S(0)]"},
    {"3", "[S(0)]", "[R]"},
    {"3", "[S(1)]", "[S(0)]"},
    {"2", "[S(1)]", "[R]"},
    {"2x2", "[S(0),S(1)]", "[R,R]"},
    {"2x2", "[R,S(1)]", "[S(0),R]"},
    {"2x2", "[S(0),R]", "[S(0),R]"},
    {"2x2", "[S(1),S(1)]", "[R,S(0)]"},
};
enum { N_PLACES = sizeof PLACES / sizeof PLACES[0] };

static void rows_are_as_dense(void **state)
{
    static const tsr_optimizer_opts OPTS[] = {
        OPTIMIZER_OPTS(TSR_SGD, .lr = 0.5),
        OPTIMIZER_OPTS(TSR_ADAGRAD, .lr = 0.5, .eps = 1e-3),
        OPTIMIZER_OPTS(TSR_ADAGRAD, .lr = 0.5, .eps = 1e-3, .rowwise = true),
    };
    static const tsr_dtype DTYPES[] = {TSR_F64, TSR_F32, TSR_BF16, TSR_F16};
    (void)state;

    for (int p = 0; p < N_PLACES; p++)
        for (int o = 0; o < 3; o++)
            for (int d = 0; d < (p < 3 ? 4 : 1); d++)
                for (int dense = 0; dense < 2; dense++) {
                    setup s = {DTYPES[d], OPTS[o], PLACES[p].table, PLACES[p].ids, dense};
                    pass_on(PLACES[p].mesh, table_job, &s);
                }
}

/* What PyTorch's Adagrad makes of sparse gradients. */
static tsr_status torch_job(tsr_mesh *mesh, void *arg)
{
    static const double want[10] = {0,
                                    0.021554294980715989,
                                    0.5,
                                    0.75,
                                    0.74763966379162827,
                                    0.99945237757179273,
                                    1.4000000000016666,
                                    1.6500000000014285,
                                    1.9000000000016666,
                                    2.1500000000014285};
    const tsr_optimizer_opts opts = OPTIMIZER_OPTS(TSR_ADAGRAD, .lr = 0.1);
    tsr_tensor *table = tsr_watch_sparse(tsr_arange(mesh, "f64[5,2]@[S(0)]", 0, 0.25));
    tsr_optimizer *opt;
    double got[10];
    (void)arg;

    CHECK(tsr_optimizer_new(mesh, &opts, &table, 1, &opt) == TSR_OK);
    for (int t = 0; t < 3; t++) {
        const int64_t ids[] = {0, 2, 2, 4 - t};

        tsr_tape_begin(mesh);
        CHECK(tsr_backward(
                  sum_of(tsr_mul(tsr_embedding(table, from_host(mesh, "i64[4]@[S(0)]", ids), NULL),
                                 tsr_arange(mesh, "f64[4,2]", 0, 1)))) == TSR_OK);
        CHECK(tsr_optimizer_step(opt) == TSR_OK);
    }
    CHECK(tsr_to_host(table, got, sizeof got) == TSR_OK);
    for (int i = 0; i < 10; i++)
        CHECK(fabs(got[i] - want[i]) < 1e-14);
    tsr_optimizer_free(opt);
    return tsr_mesh_status(mesh);
}

/* Only the rows' squares are exchanged where columns are sharded, and nothing elsewhere. */
static tsr_status bytes_job(tsr_mesh *mesh, void *arg)
{
    const tsr_optimizer_opts opts = OPTIMIZER_OPTS(TSR_ADAGRAD, .rowwise = true);
    const bool columns = *(bool *)arg;
    tsr_tensor *table = tsr_watch_sparse(
        tsr_arange(mesh, columns ? "f32[100,6]@[S(1)]" : "f32[100,6]@[S(0)]", 0, 1));
    const int64_t ids[4] = {5, 60, 5, 7};
    tsr_counters before, after;
    tsr_optimizer *opt;

    CHECK(tsr_optimizer_new(mesh, &opts, &table, 1, &opt) == TSR_OK);
    tsr_tape_begin(mesh);
    CHECK(tsr_backward(sum_of(tsr_embedding(table, from_host(mesh, "i64[4]", ids), NULL))) ==
          TSR_OK);
    before = tsr_counters_get(mesh);
    CHECK(tsr_optimizer_step(opt) == TSR_OK);
    after = tsr_counters_get(mesh);
    CHECK(after.calls - before.calls == columns);
    CHECK(after.bytes_in - before.bytes_in <= (columns ? 2 * 3 * 8 : 0));
    CHECK(tsr_tensor_spec(tsr_optimizer_state(opt, 0, 0))->shape.ndim == 1);
    tsr_optimizer_free(opt);
    return tsr_mesh_status(mesh);
}

static void few_bytes(void **state)
{
    (void)state;
    pass_on("2", torch_job, NULL);
    pass_on("2", bytes_job, &(bool){true});
    pass_on("2", bytes_job, &(bool){false});
}

/* ---- clipping ---- */

static double norm_of(const double *x, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static bool near(const double *a, const double *b, int n, double factor)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i] * factor) <= 1e-13))
            return false;
    return true;
}

/* A table by rows and three weights, one of them partial, of which two have one gradient. */
static tsr_status clip_job(tsr_mesh *mesh, void *arg)
{
    const setup *s = arg;
    const double g1[12] = {1, -2, 3, 4, -5, 6, 0.5, 8, -9, 10, 11, 12}, g2[5] = {1, 2, -3, 4, 5};
    const int ndim = tsr_mesh_shape_get(mesh)->ndim;
    double all[V * D + 12 + 12 + 5], g[V][D], want, norm, factor, got[V * D];
    tsr_tensor *table = make_table(mesh, s), *w[4], *grad;
    const tsr_row_sparse *rows;
    int n;

    w[0] = tsr_watch(tsr_zeros(mesh, "f64[3,4]"));
    w[1] = tsr_watch(tsr_zeros(mesh, "f64[3,4]"));
    w[2] = tsr_watch(tsr_zeros(mesh, ndim == 1 ? "f64[5]@[S(0)]" : "f64[5]@[R,S(0)]"));
    w[3] = table;
    gradient(s, 0, g);
    memcpy(all, g, sizeof g);
    memcpy(all + V * D, g1, sizeof g1);
    memcpy(all + V * D + 12, g1, sizeof g1);
    memcpy(all + V * D + 24, g2, sizeof g2);
    want = norm_of(all, V * D + 29);
    for (int max = 0; max < 3; max++) { /* too small, large enough, none */
        const double limit = max == 0 ? 1 : max == 1 ? want * 1.01 : 0;

        factor = max == 1 ? 1 : limit / (want + 1e-6);
        for (int i = 0; i < 4; i++)
            tsr_grad_clear(w[i]);
        grad = tsr_redistribute(from_host(mesh, "f64[3,4]", g1),
                                ndim == 1 ? "[P(sum)]" : "[S(1),P(sum)]");
        CHECK(tsr_grad_set(w[0], grad) == TSR_OK && tsr_grad_set(w[1], grad) == TSR_OK);
        CHECK(tsr_grad_set(w[2], from_host(mesh, "f64[5]", g2)) == TSR_OK);
        for (int b = 0; b < BATCHES; b++)
            CHECK(go_back(mesh, s, table, 0, b) == TSR_OK);
        CHECK(tsr_clip_grad_norm(w, 4, limit, &norm) == TSR_OK);
        CHECK(fabs(norm - want) <= 1e-13 * want);
        for (int i = 0; i < 2; i++)
            CHECK(tsr_to_host(tsr_grad(w[i]), got, sizeof g1) == TSR_OK &&
                  near(got, g1, 12, factor));
        CHECK(tsr_to_host(tsr_grad(w[2]), got, sizeof g2) == TSR_OK && near(got, g2, 5, factor));
        CHECK(!tsr_grad(table) && tsr_tensor_ok(tsr_fill_inplace(table, 0)));
        rows = tsr_grad_sparse(table, &n);
        CHECK(n == 1 && tsr_row_sparse_add(table, rows, 1) == TSR_OK);
        CHECK(tsr_to_host(table, got, sizeof g) == TSR_OK && near(got, &g[0][0], V * D, factor));
    }
    return tsr_mesh_status(mesh);
}

/* With a norm that is not finite gradients stay as they are: infinite ones, NaN, and large ones
   whose squares overflow. */
static tsr_status infinite_norm_job(tsr_mesh *mesh, void *arg)
{
    static const double bad[] = {INFINITY, -INFINITY, NAN, 1e200};
    const double g[3] = {1, -2, 3};
    tsr_tensor *w[2], *table = tsr_watch_sparse(tsr_zeros(mesh, "f64[3,2]"));
    tsr_tensor *ids = tsr_arange(mesh, "i64[3]", 0, 1);
    double norm, got[6];
    int n;
    (void)arg;

    for (int i = 0; i < 2; i++)
        w[i] = tsr_watch(tsr_zeros(mesh, "f64[3]@[S(0)]"));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tsr_tensor *const all[] = {w[0], table, w[1]};

        CHECK(tsr_tape_begin(mesh) == TSR_OK);
        tsr_grad_clear(table);
        CHECK(tsr_backward(tsr_sum(tsr_embedding(table, ids, NULL), NULL, 0, false)) == TSR_OK);
        CHECK(tsr_grad_set(w[0], from_host(mesh, "f64[3]", g)) == TSR_OK);
        CHECK(tsr_grad_set(w[1], tsr_full(mesh, "f64[3]@[S(0)]", bad[i])) == TSR_OK);
        CHECK(tsr_clip_grad_norm(all, 3, 1, &norm) == TSR_OK && !isfinite(norm));
        CHECK(tsr_to_host(tsr_grad(w[0]), got, sizeof g) == TSR_OK && near(got, g, 3, 1));
        CHECK(tsr_to_host(tsr_grad(w[1]), got, sizeof g) == TSR_OK);
        CHECK(got[2] == bad[i] || (isnan(got[2]) && isnan(bad[i])));
        const tsr_row_sparse *rows = tsr_grad_sparse(table, &n);
        CHECK(n == 1 && rows->n > 0 && ((const double *)rows->values)[0] == 1);
        CHECK(tsr_clip_grad_norm(w, 1, 1, &norm) == TSR_OK && fabs(norm - sqrt(14)) < 1e-12);
        CHECK(tsr_to_host(tsr_grad(w[0]), got, sizeof g) == TSR_OK); /* and without it scaled */
        CHECK(near(got, g, 3, 1 / (sqrt(14) + 1e-6)));
    }
    return tsr_mesh_status(mesh);
}

static tsr_status bad_clip_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *w = tsr_watch(tsr_zeros(mesh, "f64[3]")), *plain = tsr_zeros(mesh, "f64[3]");
    tsr_tensor *table = tsr_watch_sparse(tsr_zeros(mesh, "f64[3,2]"));
    const tsr_optimizer_opts adam = OPTIMIZER_OPTS(TSR_ADAM, .lr = 1e-3);
    tsr_optimizer *opt;
    double norm = 7;
    (void)arg;

    CHECK(tsr_clip_grad_norm(NULL, 0, 1, &norm) == TSR_OK && norm == 0);
    CHECK(tsr_clip_grad_norm(&w, 1, 1, &norm) == TSR_OK && norm == 0); /* no gradient yet */
    CHECK(tsr_clip_grad_norm(&w, 1, -1, NULL) == TSR_ERR_ARG);
    CHECK(strcmp(tsr_mesh_message(mesh),
                 "tsr_clip_grad_norm: max_norm is -1, it must be at least 0") == 0);
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_clip_grad_norm(&plain, 1, 1, NULL) == TSR_ERR_STATE);
    CHECK(strcmp(tsr_mesh_message(mesh),
                 "tsr_clip_grad_norm: parameter 0 is not watched, so it has no gradient") == 0);
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_optimizer_new(mesh, &adam, &table, 1, &opt) == TSR_ERR_ARG);
    CHECK(
        strcmp(tsr_mesh_message(mesh),
               "tsr_optimizer_new: parameter 0, f64[3,2]@[R], has row-sparse gradients, which only "
               "SGD without momentum and Adagrad support, both without decay") == 0);
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static void clipping(void **state)
{
    (void)state;
    for (int p = 0; p < N_PLACES; p++)
        for (int dense = 0; dense < 2; dense++) {
            setup s = {.table = PLACES[p].table, .ids = PLACES[p].ids, .dense = dense};

            s.dtype = TSR_F64;
            pass_on(PLACES[p].mesh, clip_job, &s);
        }
    pass_on("2", infinite_norm_job, NULL);
    pass_on("2", bad_clip_job, NULL);
}

/* ---- faults ---- */

static tsr_status train_once(tsr_mesh *mesh, const void *arg)
{
    const setup s = {.dtype = TSR_F32, .table = "[S(1)]", .ids = "[R]", .dense = true};
    const tsr_optimizer_opts adam = OPTIMIZER_OPTS(TSR_ADAM, .states = "0");
    const tsr_optimizer_opts rows = OPTIMIZER_OPTS(TSR_ADAGRAD, .rowwise = true);
    tsr_optimizer *a = NULL, *b = NULL;
    tsr_tensor *w[2];
    tsr_status st;
    (void)arg;

    w[0] = tsr_watch(tsr_full(mesh, "f32[6,4]", 1));
    w[1] = make_table(mesh, &s);
    st = tsr_mesh_status(mesh);
    if (st == TSR_OK)
        st = tsr_optimizer_new(mesh, &adam, w, 1, &a);
    if (st == TSR_OK)
        st = tsr_optimizer_new(mesh, &rows, w + 1, 1, &b);
    if (st == TSR_OK)
        st = go_back(mesh, &s, w[1], 0, 0);
    else
        tsr_tape_drop(mesh);
    if (st == TSR_OK) {
        tsr_tensor *grad = tsr_full(mesh, "f32[6,4]@[P(sum)]", 1);

        st = tsr_tensor_ok(grad) ? tsr_grad_set(w[0], grad) : tsr_mesh_status(mesh);
    }
    if (st == TSR_OK)
        st = tsr_clip_grad_norm(w, 2, 0.5, NULL);
    if (st == TSR_OK)
        st = tsr_optimizer_step(a);
    if (st == TSR_OK)
        st = tsr_optimizer_step(b);
    tsr_optimizer_free(a);
    tsr_optimizer_free(b);
    return st;
}

static void faults(void **state)
{
    static const fault_job job = {.name = "training", .mesh = "2", .run = train_once, .least = 4};

    (void)state;
    fault_each(&job, FAULT_ALLOCATION_AGAIN);
    fault_each(&job, FAULT_CALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_as_dense),
        cmocka_unit_test(few_bytes),
        cmocka_unit_test(clipping),
        cmocka_unit_test(faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
