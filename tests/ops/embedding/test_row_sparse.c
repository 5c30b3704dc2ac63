/* SPDX-License-Identifier: Apache-2.0 */
/* test_row_sparse.c - row-sparse gradients: on every mesh and placement the rows of the dense
   gradient, bit by bit, each on its owners; what moves; updating a table by them; what is refused.
   Everything through the public headers. With "mpi": on the ranks that there are. */
#include "support/test.h"
#include "support/numbers.h"
#include "support/sampling.h"

enum { V = 23, D = 6, N = 40, BAGS = 10, LENGTH = N / BAGS };

typedef enum kind { LOOKUP, SUM, WEIGHTED, MEAN, SUM_OFFSETS, MEAN_OFFSETS, KINDS } kind;

typedef struct setup {
    tsr_dtype dtype;
    kind kind;
    const char *table, *grad, *ids;
} setup;

static bool on_mpi;
static int64_t ids[N], offsets[BAGS];
static float values[N * D];

static void fill(void)
{
    uint64_t seed = 12345;

    for (int i = 0; i < N; i++)
        ids[i] = below(&seed, 9) * 2 + (i % 3 == 0); /* often the same, not all rows */
    for (int i = 0; i < BAGS; i++)
        offsets[i] = i < 2 ? 0 : i * 3 + i % 2; /* bag 0 is empty */
    for (int i = 0; i < N * D; i++)
        values[i] = (float)((double)below(&seed, 1 << 24) / 16777216.0 - 0.5);
}

static int64_t rows_of(kind k)
{
    return k == LOOKUP ? N : BAGS;
}

static tsr_tensor *make(tsr_mesh *mesh, tsr_dtype dtype, const char *shape, const char *place,
                        const void *data)
{
    char spec[TSR_TEXT_LEN];

    snprintf(spec, sizeof spec, "%s%s%s%s", tsr_dtype_name(dtype), shape, place ? "@" : "",
             place ? place : "");
    return from_host(mesh, spec, data);
}

/* Values in a dtype of 2, 4 or 8 bytes, the same on all ranks: small fractions of 2. */
static void convert(tsr_dtype dtype, int64_t n, void *out)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        if (dtype == TSR_F64)
            ((double *)out)[i] = values[i];
        else if (dtype == TSR_F32)
            ((float *)out)[i] = values[i];
        else {
            memcpy(&bits, &values[i], 4);
            ((uint16_t *)out)[i] = (uint16_t)(bits >> 16); /* bf16, rounded down */
        }
    }
}

typedef struct inputs {
    tsr_tensor *grad, *ids, *offsets, *weights;
} inputs;

static inputs make_inputs(tsr_mesh *mesh, const setup *s, const char *grad, const char *place)
{
    char data[N * D * 8], weights[N * 8], shape[40];
    inputs in = {0};

    convert(s->dtype, N * D, data);
    convert(s->dtype, N, weights);
    snprintf(shape, sizeof shape, "[%d,%d]", (int)rows_of(s->kind), D);
    in.grad = make(mesh, s->dtype, shape, grad, data);
    if (s->kind == LOOKUP || s->kind >= SUM_OFFSETS)
        snprintf(shape, sizeof shape, "[%d]", N);
    else
        snprintf(shape, sizeof shape, "[%d,%d]", BAGS, LENGTH);
    in.ids = make(mesh, TSR_I64, shape, place, ids);
    if (s->kind == WEIGHTED)
        in.weights = make(mesh, s->dtype, shape, NULL, weights);
    if (s->kind >= SUM_OFFSETS) {
        snprintf(shape, sizeof shape, "[%d]", BAGS);
        in.offsets = make(mesh, TSR_I64, shape, NULL, offsets);
    }
    return in;
}

static tsr_status touch(const setup *s, const inputs *in, tsr_tensor *table,
                        const tsr_embedding_opts *opts, tsr_row_sparse *out)
{
    if (s->kind == LOOKUP)
        return tsr_embedding_backward_sparse(in->grad, in->ids, table, opts, out);
    if (s->kind == MEAN || s->kind == MEAN_OFFSETS)
        return tsr_bag_mean_backward_sparse(in->grad, in->ids, in->offsets, table, opts, out);
    return tsr_bag_sum_backward_sparse(in->grad, in->ids, in->offsets, in->weights, table, opts,
                                       out);
}

/* The dense gradient, from inputs that every rank has: nothing moves, one kernel. */
static tsr_tensor *dense(tsr_mesh *mesh, const setup *s, const tsr_embedding_opts *opts)
{
    inputs in = make_inputs(mesh, s, NULL, NULL);

    if (s->kind == LOOKUP)
        return tsr_embedding_backward(in.grad, in.ids, V, opts);
    if (s->kind == MEAN || s->kind == MEAN_OFFSETS)
        return tsr_bag_mean_backward(in.grad, in.ids, in.offsets, V, opts);
    return tsr_bag_sum_backward(in.grad, in.ids, in.offsets, in.weights, V, opts);
}

static bool is_named(const setup *s, int64_t row, int64_t padding)
{
    int64_t first = s->kind >= SUM_OFFSETS ? offsets[0] : 0;

    for (int64_t i = first; i < N; i++)
        if (ids[i] == row && row != padding)
            return true;
    return false;
}

/* Every row of the gradient in this rank's part, ascending, and no other; values as in `whole`. */
static bool is_right(const setup *s, tsr_tensor *table, const tsr_row_sparse *t, const char *whole,
                     int64_t padding)
{
    const size_t size = tsr_dtype_size(s->dtype);
    int64_t n = 0;
    tsr_local part;

    if (tsr_local_view(table, &part) != TSR_OK || t->columns != part.shape.size[1])
        return false;
    for (int64_t i = 0; i < part.shape.size[0]; i++) {
        int64_t row = tsr_local_index(table, 0, i);
        if (!is_named(s, row, padding))
            continue;
        if (n >= t->n || t->rows[n] != row)
            return false;
        for (int64_t k = 0; k < t->columns; k++) {
            int64_t column = tsr_local_index(table, 1, k);
            if (memcmp((const char *)t->values + (size_t)(n * t->columns + k) * size,
                       whole + (size_t)(row * D + column) * size, size) != 0)
                return false;
        }
        n++;
    }
    return n == t->n;
}

static tsr_status compare(tsr_mesh *mesh, const setup *s, const tsr_embedding_opts *opts)
{
    char whole[V * D * 8];
    const size_t bytes = V * D * tsr_dtype_size(s->dtype);
    int64_t padding = opts && opts->has_padding_idx ? opts->padding_idx : -1;
    tsr_row_sparse t;
    tsr_tensor *table;
    inputs in;
    tsr_status st;

    tsr_scope_push(mesh);
    table = make(mesh, s->dtype, "[23,6]", s->table, memset(whole, 0, sizeof whole));
    in = make_inputs(mesh, s, s->grad, s->ids);
    st = tsr_to_host(dense(mesh, s, opts), whole, bytes);
    if (st == TSR_OK)
        st = touch(s, &in, table, opts, &t);
    if (st == TSR_OK && !is_right(s, table, &t, whole, padding < 0 ? -1 : padding)) {
        printf("%s, kind %d: table %s, grad %s, ids %s: other rows or values\n",
               tsr_dtype_name(s->dtype), (int)s->kind, s->table, s->grad, s->ids);
        st = TSR_ERR_MISMATCH;
    }
    if (st == TSR_OK)
        tsr_row_sparse_free(&t);
    tsr_scope_pop(mesh);
    return st;
}

static tsr_status all_placements(tsr_mesh *mesh, void *arg)
{
    static const char *const one[] = {"[R]", "[S(0)]", "[S(1)]"};
    static const char *const two[] = {"[R,R]",    "[S(0),S(0)]", "[S(0),R]",    "[R,S(0)]",
                                      "[S(1),R]", "[S(0),S(1)]", "[S(1),S(0)]", "[S(1),S(1)]"};
    static const tsr_embedding_opts options[] = {
        EMBEDDING_OPTS(), EMBEDDING_OPTS(.has_padding_idx = true, .padding_idx = 4),
        EMBEDDING_OPTS(.scale_grad_by_freq = true)};
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_BF16, TSR_F64};
    bool flat = tsr_mesh_shape_get(mesh)->ndim == 1;
    const char *const *places = flat ? one : two;
    int n = flat ? 3 : 8;
    tsr_status st = TSR_OK;

    (void)arg;
    for (int i = 0; i < n * n * n * KINDS && st == TSR_OK; i++) {
        setup s = {.dtype = dtypes[i % 3],
                   .kind = (kind)(i / (n * n * n)),
                   .table = places[i / (n * n) % n],
                   .grad = places[i / n % n],
                   .ids = places[i % n]};
        bool flat_ids = s.kind == LOOKUP || s.kind >= SUM_OFFSETS;
        if ((flat_ids && strstr(s.ids, "S(1)")) || !sample_has(i, sample_quick()))
            continue;
        for (int o = 0; o < 3 && st == TSR_OK; o++)
            st = compare(mesh, &s, &options[o]);
    }
    return st;
}

static void run_on(const char *text, tsr_job job)
{
    pass_with(
        (tsr_run_opts)RUN_OPTS(.mesh = text, .world = on_mpi ? TSR_WORLD_MPI : TSR_WORLD_THREAD),
        job, NULL);
}

static void test_placements(void **state)
{
    static const char *const meshes[] = {"1", "2", "3", "2x2"};

    (void)state;
    for (int i = on_mpi ? 3 : 0; i < 4; i++)
        run_on(meshes[i], all_placements);
}

/* ---- what moves ---- */

/* Rows stay, ids and rows of gradients go to the owners, those of other ranks only. */
static tsr_status bytes(tsr_mesh *mesh, void *arg)
{
    const setup s = {.dtype = TSR_F32, .kind = LOOKUP};
    tsr_tensor *table = tsr_zeros(mesh, "f32[23,6]@[S(0)]");
    const int ranks = tsr_mesh_size(mesh), me = tsr_mesh_index(mesh);
    const int64_t chunk = (V + ranks - 1) / ranks, batch = (N + ranks - 1) / ranks;
    int64_t expected = 0, got[3];
    inputs sharded = make_inputs(mesh, &s, "[S(0)]", "[S(0)]");
    inputs whole = make_inputs(mesh, &s, "[R]", "[R]");
    inputs mixed = make_inputs(mesh, &s, "[R]", "[S(0)]");
    const inputs *in[3] = {&sharded, &whole, &mixed};
    tsr_row_sparse t;

    (void)arg;
    for (int64_t i = 0; i < N; i++)
        if (ids[i] / chunk == me && i / batch != me)
            expected += 8 + D * 4;
    expected += (ranks - 1) * 8; /* how many come from each */
    for (int i = 0; i < 3; i++) {
        tsr_counters_reset(mesh);
        if (touch(&s, in[i], table, NULL, &t) != TSR_OK)
            return tsr_mesh_status(mesh);
        got[i] = tsr_counters_get(mesh).bytes_in;
        tsr_row_sparse_free(&t);
    }
    if (got[0] == expected && got[1] == 0 && got[2] == (N - N / ranks) * 8)
        return TSR_OK;
    printf("rank %d: %d, %d and %d bytes, expected %d\n", me, (int)got[0], (int)got[1], (int)got[2],
           (int)expected);
    return TSR_ERR_MISMATCH;
}

static void test_bytes(void **state)
{
    (void)state;
    run_on("4", bytes);
}

/* ---- updating ---- */

static tsr_status update(tsr_mesh *mesh, const char *place)
{
    const setup s = {.dtype = TSR_F32, .kind = LOOKUP};
    float before[V * D], grad[V * D], after[V * D];
    tsr_tensor *table, *same;
    tsr_row_sparse t = {0};
    tsr_status st;
    inputs in;

    tsr_scope_push(mesh);
    for (int i = 0; i < V * D; i++)
        before[i] = (float)i / 8;
    table = make(mesh, TSR_F32, "[23,6]", place, before);
    same = tsr_redistribute(table, place); /* shares memory with it, and keeps the old values */
    in = make_inputs(mesh, &s, NULL, NULL);
    st = tsr_to_host(dense(mesh, &s, NULL), grad, sizeof grad);
    if (st == TSR_OK)
        st = touch(&s, &in, table, NULL, &t);
    if (st == TSR_OK)
        st = tsr_row_sparse_add(table, &t, -0.5);
    if (st == TSR_OK)
        st = tsr_to_host(table, after, sizeof after);
    for (int i = 0; i < V * D && st == TSR_OK; i++)
        if (after[i] != before[i] - 0.5f * grad[i])
            st = TSR_ERR_MISMATCH;
    if (st == TSR_OK)
        st = tsr_to_host(same, after, sizeof after);
    if (st == TSR_OK && memcmp(after, before, sizeof after) != 0)
        st = TSR_ERR_MISMATCH;
    tsr_row_sparse_free(&t);
    tsr_scope_pop(mesh);
    return st;
}

static tsr_status update_all(tsr_mesh *mesh, void *arg)
{
    static const char *const places[] = {"[S(0),S(0)]", "[S(0),S(1)]", "[R,S(0)]", "[R,R]"};
    tsr_status st = TSR_OK;

    (void)arg;
    for (int i = 0; i < 4 && st == TSR_OK; i++)
        st = update(mesh, places[i]);
    return st;
}

static void test_update(void **state)
{
    (void)state;
    run_on("2x2", update_all);
}

/* bf16 and f64: 1 + 2 * 3. */
static tsr_status update_others(tsr_mesh *mesh, void *arg)
{
    static const int64_t id[1] = {1};
    static const char *const type[] = {"bf16", "f64", "f16"};

    (void)arg;
    for (int i = 0; i < 3; i++) {
        char a[40], b[40];
        double wide[600];
        tsr_tensor *table;
        tsr_row_sparse t;
        snprintf(a, sizeof a, "%s[2,300]", type[i]);
        snprintf(b, sizeof b, "%s[1,300]", type[i]);
        table = tsr_full(mesh, a, 1);
        if (tsr_embedding_backward_sparse(tsr_full(mesh, b, 3), from_host(mesh, "i64[1]", id),
                                          table, NULL, &t) != TSR_OK ||
            tsr_row_sparse_add(table, &t, 2) != TSR_OK)
            return tsr_mesh_status(mesh);
        tsr_row_sparse_free(&t);
        if (i == 1) {
            if (tsr_to_host(table, wide, sizeof wide) != TSR_OK || wide[0] != 1 || wide[599] != 7)
                return TSR_ERR_MISMATCH;
        } else {
            uint16_t got[600];
            if (tsr_to_host(table, got, sizeof got) != TSR_OK)
                return tsr_mesh_status(mesh);
            for (int k = 0; k < 600; k++)
                if (got[k] != (i == 0 ? (k < 300 ? 0x3f80 : 0x40e0) : (k < 300 ? 0x3c00 : 0x4700)))
                    return TSR_ERR_MISMATCH;
        }
    }
    return TSR_OK;
}

static void test_dtypes(void **state)
{
    (void)state;
    run_on(on_mpi ? "4" : "1", update_others);
}

/* ---- what is refused ---- */

static bool refused(tsr_mesh *mesh, tsr_status st, tsr_status expected, const char *sentence)
{
    bool good = st == expected && strstr(tsr_mesh_message(mesh), sentence);

    if (!good)
        printf("expected \"%s\", not %d, \"%s\"\n", sentence, (int)st, tsr_mesh_message(mesh));
    tsr_mesh_clear_error(mesh);
    return good;
}

static tsr_status refusals(tsr_mesh *mesh, void *arg)
{
    const setup s = {.dtype = TSR_F32, .kind = LOOKUP};
    inputs in = make_inputs(mesh, &s, "[S(0)]", "[S(0)]");
    tsr_tensor *table = tsr_zeros(mesh, "f32[23,6]@[S(0)]");
    tsr_row_sparse t, none = {0};
    bool good = true;

    (void)arg;
    good &= refused(mesh, touch(&s, &in, tsr_zeros(mesh, "f32[23,5]"), NULL, &t), TSR_ERR_SHAPE,
                    "the gradient f32[40,6]@[S(0)] does not match the table f32[23,5]@[R]");
    good &= refused(mesh, touch(&s, &in, tsr_zeros(mesh, "f64[23,6]"), NULL, &t), TSR_ERR_SHAPE,
                    "does not match the table f64[23,6]@[R]");
    good &= refused(mesh, touch(&s, &in, tsr_zeros(mesh, "f32[24,6]@[SS(0,2)]"), NULL, &t),
                    TSR_ERR_SPEC, "row-sparse gradients need a table placed by R, S(0) or S(1)");
    good &= refused(mesh, touch(&s, &in, tsr_zeros(mesh, "f32[6]"), NULL, &t), TSR_ERR_SHAPE,
                    "a table must have 2 dims");
    good &= t.n == 0 && !t.memory;
    tsr_strict_set(mesh, true);
    good &= refused(mesh, touch(&s, &in, tsr_zeros(mesh, "f32[23,6]"), NULL, &t), TSR_ERR_LIMIT,
                    "strict mode forbids redistributing f32");
    tsr_strict_set(mesh, false);
    if (!good || touch(&s, &in, table, NULL, &t) != TSR_OK)
        return TSR_ERR_MISMATCH;
    good &= refused(mesh, tsr_row_sparse_add(tsr_zeros(mesh, "f32[23,6]"), &t, 1), TSR_ERR_SPEC,
                    "rows_add: rows of f32[23,6]@[S(0)] do not match the table f32[23,6]@[R]");
    good &= tsr_row_sparse_add(table, &none, 1) == TSR_OK;
    tsr_row_sparse_free(&t);
    tsr_row_sparse_free(&t);
    return good ? TSR_OK : TSR_ERR_MISMATCH;
}

static void test_refusals(void **state)
{
    (void)state;
    run_on(on_mpi ? "4" : "2", refusals);
}

/* One rank has an id that is no row: all of them are told. */
static tsr_status bad_id(tsr_mesh *mesh, void *arg)
{
    const setup s = {.dtype = TSR_F32, .kind = *(kind *)arg};
    tsr_tensor *table = tsr_zeros(mesh, "f32[23,6]@[S(0)]");
    inputs in = make_inputs(mesh, &s, "[S(0)]", "[S(0)]");
    tsr_local part;
    tsr_row_sparse t;
    tsr_status st;

    if (tsr_local_view(in.ids, &part) == TSR_OK && tsr_mesh_rank(mesh) == 1)
        ((int64_t *)part.data)[3] = V;
    st = touch(&s, &in, table, NULL, &t);
    return st == TSR_OK || t.memory ? TSR_ERR_MISMATCH : st;
}

static void test_bad_id(void **state)
{
    static const kind kinds[] = {LOOKUP, SUM, MEAN};

    (void)state;
    for (int i = 0; i < 3; i++) {
        tsr_error err = {0};
        kind k = kinds[i];
        tsr_run_opts opts = RUN_OPTS(.mesh = "2", .world = TSR_WORLD_THREAD);
        assert_int_not_equal(tsr_run(&opts, bad_id, &k, &err), TSR_OK);
        assert_non_null(strstr(err.text, k == LOOKUP ? "id 23 at [23] is out of range 0 to 22"
                                                     : "id 23 at [5,3] is out of range 0 to 22"));
    }
}

static tsr_status simulated(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *table = tsr_zeros(mesh, "f32[23,6]@[S(0)]");
    tsr_row_sparse t;

    (void)arg;
    return refused(mesh,
                   tsr_embedding_backward_sparse(tsr_zeros(mesh, "f32[8,6]"),
                                                 tsr_zeros(mesh, "i64[8]"), table, NULL, &t),
                   TSR_ERR_NO_DATA, "has no data in the sim world, which only counts costs")
               ? TSR_OK
               : TSR_ERR_MISMATCH;
}

static void test_sim(void **state)
{
    (void)state;
    pass_with((tsr_run_opts)RUN_OPTS(.mesh = "2", .world = TSR_WORLD_SIM), simulated, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest on_ranks[] = {
        cmocka_unit_test(test_placements), cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_update),     cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_refusals),
    };
    const struct CMUnitTest alone[] = {cmocka_unit_test(test_bad_id), cmocka_unit_test(test_sim)};
    int failed;

    on_mpi = argc > 1 && strcmp(argv[1], "mpi") == 0;
    fill();
    failed = cmocka_run_group_tests(on_ranks, NULL, NULL);
    if (!on_mpi)
        failed += cmocka_run_group_tests(alone, NULL, NULL);
    return failed;
}
