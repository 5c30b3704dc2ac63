/* SPDX-License-Identifier: Apache-2.0 */
/* test_lookup_group.c - lookups in several tables at once equal those of the single functions, bit
   by bit (values are small integers, so that sums are exact in any order), and so do the
   gradients; one exchange serves all tables; errors name the table; memory may run out anywhere. On
   threads as cmocka tests; with the argument "mpi" on the ranks that mpirun gave. */
#include <stdatomic.h>

#include "support/test.h"
#include "support/fault_driver.h"
#include "tensor/tensor.h"
#include "support/numbers.h"

enum { MOST = 13, BAGS = 5, LENGTH = 4, ELEMENTS = 4096 };

/* Rows x columns, placed as letters say, one per mesh dim: R, r (rows), c (columns); or at a
   rank. */
typedef struct want {
    int rows, cols;
    const char *place; /* for one mesh dim and two; NULL: a table on one rank */
    int at;
    tsr_bag_mode pooling;
    bool offsets, weights, padding;
} want;

static const want wants[MOST] = {
    {300, 4, "rr", 0, TSR_BAG_SUM, false, false, false},
    {101, 3, "rR", 0, TSR_BAG_NONE, false, false, true},
    {50, 5, "cr", 0, TSR_BAG_MEAN, false, false, false},
    {77, 5, "rc", 0, TSR_BAG_MAX, false, false, true},
    {60, 4, "RR", 0, TSR_BAG_SUM, false, true, false},
    {40, 3, NULL, 1, TSR_BAG_SUM, false, true, true},
    {41, 2, NULL, 0, TSR_BAG_NONE, false, false, false},
    {42, 3, NULL, 1, TSR_BAG_MAX, false, false, false},
    {43, 3, NULL, 0, TSR_BAG_MEAN, true, false, false},
    {2, 4, "rr", 0, TSR_BAG_SUM, false, false, false}, /* fewer rows than ranks */
    {64, 4, "rr", 0, TSR_BAG_MAX, true, false, false},
    {64, 3, "rR", 0, TSR_BAG_SUM, true, true, false},
    {9, 3, "RR", 0, TSR_BAG_MEAN, true, false, true},
};

/* ---- inputs ---- */

static tsr_tensor *fill(tsr_mesh *mesh, const char *spec, int64_t n, uint64_t seed, int range)
{
    static const int64_t offsets[BAGS] = {0, 4, 4, 12, 16};
    bool ints = spec[0] == 'i';
    double values[ELEMENTS];
    float *f = (float *)values;
    int64_t *i64 = (int64_t *)values;

    for (int64_t i = 0; i < n; i++) {
        int64_t v = range ? below(&seed, range) : offsets[i % BAGS];
        if (ints)
            i64[i] = v;
        else
            f[i] = (float)(v - range / 2);
    }
    return from_host(mesh, spec, values);
}

/* "[S(0),R]" from letters */
static const char *places(tsr_mesh *mesh, const char *letters, char buf[64])
{
    int n = tsr_mesh_shape_get(mesh)->ndim;

    snprintf(buf, 64, "[");
    for (int m = 0; m < n; m++)
        snprintf(buf + strlen(buf), 64 - strlen(buf), "%s%s", m ? "," : "",
                 letters[m] == 'R'   ? "R"
                 : letters[m] == 'r' ? "S(0)"
                                     : "S(1)");
    snprintf(buf + strlen(buf), 64 - strlen(buf), "]");
    return buf;
}

typedef struct problem {
    tsr_table_use use[MOST], alone[MOST]; /* alone: tables of one rank are replicated */
    tsr_embedding_opts opts[MOST];
    tsr_tensor *index[MOST], *index_alone[MOST];
    tsr_mesh *home[MOST];
} problem;

static const int64_t PADDING = -2;

static tsr_status make(tsr_mesh *mesh, const char *batch, problem *p)
{
    char spec[128], buf[64];

    memset(p, 0, sizeof *p);
    for (int t = 0; t < MOST; t++) {
        const want *w = &wants[t];
        tsr_table_use *u = &p->use[t];
        int n = BAGS * LENGTH;

        snprintf(spec, sizeof spec, "f32[%d,%d]@%s", w->rows, w->cols,
                 places(mesh, w->place ? w->place : "RR", buf));
        p->alone[t].table = fill(mesh, spec, (int64_t)w->rows * w->cols, 7u + (unsigned)t, 16);
        u->table = p->alone[t].table;
        if (!w->place) {
            if (tsr_mesh_part(mesh, "1", w->at, &p->home[t]) != TSR_OK)
                return tsr_mesh_status(mesh);
            snprintf(spec, sizeof spec, "f32[%d,%d]", w->rows, w->cols);
            u->table = fill(p->home[t], spec, (int64_t)w->rows * w->cols, 7u + (unsigned)t, 16);
        }
        places(mesh, batch, buf);
        if (w->offsets)
            snprintf(spec, sizeof spec, "i64[%d]@%s", n, buf);
        else
            snprintf(spec, sizeof spec, "i64[%d,%d]@%s", BAGS, LENGTH, buf);
        u->ids = fill(mesh, spec, n, 31u + (unsigned)t, w->rows);
        spec[0] = 'f', spec[1] = '3', spec[2] = '2';
        if (w->weights)
            u->weights = fill(mesh, spec, n, 91u + (unsigned)t, 8);
        snprintf(spec, sizeof spec, "i64[%d]@%s", BAGS, buf);
        if (w->offsets)
            u->offsets = fill(mesh, spec, BAGS, 0, 0);
        u->pooling = w->pooling;
        p->opts[t] = tsr_embedding_opts_default();
        p->opts[t].has_padding_idx = w->padding;
        p->opts[t].padding_idx = PADDING;
        u->opts = &p->opts[t];
        tsr_tensor *table = p->alone[t].table;
        p->alone[t] = *u;
        p->alone[t].table = table;
        u->index = &p->index[t];
        p->alone[t].index = &p->index_alone[t];
    }
    return tsr_mesh_status(mesh);
}

static void drop(problem *p)
{
    for (int t = 0; t < MOST; t++)
        if (p->home[t])
            tsr_mesh_unref(p->home[t]);
}

/* ---- single functions ---- */

static tsr_tensor *forward(const tsr_table_use *u)
{
    switch (u->pooling) {
    case TSR_BAG_SUM: return tsr_bag_sum(u->table, u->ids, u->offsets, u->weights, u->opts);
    case TSR_BAG_MEAN: return tsr_bag_mean(u->table, u->ids, u->offsets, u->opts);
    case TSR_BAG_MAX: return tsr_bag_max(u->table, u->ids, u->offsets, u->opts, u->index);
    default: return tsr_embedding(u->table, u->ids, u->opts);
    }
}

static tsr_tensor *backward(const tsr_table_use *u, tsr_tensor *grad)
{
    int64_t rows = tsr_tensor_spec(u->table)->shape.size[0];

    switch (u->pooling) {
    case TSR_BAG_SUM:
        return tsr_bag_sum_backward(grad, u->ids, u->offsets, u->weights, rows, u->opts);
    case TSR_BAG_MEAN: return tsr_bag_mean_backward(grad, u->ids, u->offsets, rows, u->opts);
    case TSR_BAG_MAX: return tsr_bag_max_backward(grad, *u->index, rows);
    default: return tsr_embedding_backward(grad, u->ids, rows, u->opts);
    }
}

static bool is_near(const float *x, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fabsf(x[i] - y[i]) > 1e-6f * fmaxf(1, fabsf(y[i])))
            return false;
    return true;
}

/* Equal bits; a tensor on one rank is looked at there. The gradient of a table that all ranks have
   may be added up in another order where the group asks for it on all of them. */
static tsr_status compare(tsr_mesh *mesh, int t, tsr_tensor *a, tsr_tensor *b, bool gradient)
{
    static const char *const names[] = {"none", "sum", "mean", "max"};
    size_t bytes = (size_t)tsr_shape_count(&tsr_tensor_spec(a)->shape) *
                   tsr_dtype_size(tsr_tensor_spec(a)->dtype);
    char x[8 * ELEMENTS], y[8 * ELEMENTS];

    CHECK(tsr_shape_count(&tsr_tensor_spec(a)->shape) ==
          tsr_shape_count(&tsr_tensor_spec(b)->shape));
    CHECK(tsr_to_host(b, y, bytes) == TSR_OK);
    if (!tsr_mesh_is_member(a->mesh))
        return TSR_OK;
    CHECK(tsr_to_host(a, x, bytes) == TSR_OK);
    if (gradient && wants[t].place && wants[t].place[0] == 'R' &&
        tsr_tensor_spec(a)->dtype == TSR_F32 &&
        is_near((float *)(void *)x, (float *)(void *)y, bytes / 4))
        return TSR_OK;
    if (memcmp(x, y, bytes) != 0)
        fprintf(stderr, "table %d (%s) differs\n", t, names[wants[t].pooling]);
    CHECK(memcmp(x, y, bytes) == 0);
    return TSR_OK;
}

/* ---- jobs ---- */

static tsr_status compare_all(tsr_mesh *mesh, const char *batch)
{
    tsr_tensor *out[MOST], *grads[MOST], *table_grads[MOST];
    char spec[128];
    problem p;
    tsr_status st = make(mesh, batch, &p);

    if (st != TSR_OK)
        return st;
    CHECK(tsr_lookup_group(p.use, MOST, out) == TSR_OK);
    for (int t = 0; t < MOST && st == TSR_OK; t++) {
        tsr_tensor *one = forward(&p.alone[t]);
        st = compare(mesh, t, out[t], one, false);
        if (st == TSR_OK && wants[t].pooling == TSR_BAG_MAX)
            st = compare(mesh, t, p.index[t], p.index_alone[t], false);
        tsr_spec_text(tsr_tensor_spec(one), spec, sizeof spec);
        if (strstr(spec, "P("))
            tsr_spec_text(tsr_tensor_spec(out[t]), spec, sizeof spec);
        if (strchr(spec, '@') && strstr(spec, "P("))
            *strchr(spec, '@') = 0;
        grads[t] = fill(mesh, spec, tsr_shape_count(&tsr_tensor_spec(one)->shape), 55, 8);
    }
    if (st == TSR_OK)
        CHECK(tsr_lookup_group_backward(p.use, grads, MOST, table_grads) == TSR_OK);
    for (int t = 0; t < MOST && st == TSR_OK; t++) {
        CHECK(tsr_spec_equal(tsr_tensor_spec(table_grads[t]), tsr_tensor_spec(p.use[t].table)));
        st = compare(mesh, t, table_grads[t], backward(&p.alone[t], grads[t]), true);
    }
    drop(&p);
    return st;
}

static tsr_status equal_job(tsr_mesh *mesh, void *arg)
{
    static const char *const batches[] = {"rr", "rR", "RR"};
    tsr_status st = TSR_OK;
    (void)arg;

    for (int i = 0; i < 3 && st == TSR_OK; i++)
        st = compare_all(mesh, batches[i]);
    return st;
}

/* Three exchanges for all tables whose rows are exchanged, if nothing has to be redistributed
   first. */
static tsr_status few_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *out[MOST];
    tsr_table_use use[MOST];
    int n = 0;
    int64_t calls;
    problem p;
    tsr_status st = make(mesh, "rr", &p);
    (void)arg;

    if (st != TSR_OK)
        return st;
    for (int t = 0; t < MOST; t++)
        if (!wants[t].offsets &&
            (!wants[t].place || (wants[t].rows >= 64 && !strchr(wants[t].place, 'c'))))
            use[n++] = p.use[t];
    calls = mesh->ctx->world->calls;
    CHECK(n == 5 && tsr_lookup_group(use, n, out) == TSR_OK);
    CHECK(mesh->ctx->world->calls - calls == 3);
    drop(&p);
    return st;
}

static atomic_int told;

static tsr_status wrong_job(tsr_mesh *mesh, void *arg)
{
    int64_t ids[BAGS * LENGTH] = {0};
    tsr_tensor *out[MOST];
    char spec[64], buf[64];
    int t = *(int *)arg;
    problem p;
    tsr_status st = make(mesh, "rr", &p);

    if (st != TSR_OK)
        return st;
    ids[6] = wants[t].rows;
    snprintf(spec, sizeof spec, "i64[%d,%d]@%s", BAGS, LENGTH, places(mesh, "rr", buf));
    p.use[t].ids = from_host(mesh, spec, ids);
    st = tsr_lookup_group(p.use, MOST, out);
    if (st == TSR_OK)
        st = tsr_barrier(mesh);
    snprintf(spec, sizeof spec, "table %d: ", t);
    if (st != TSR_OK && strstr(tsr_mesh_message(mesh), spec) &&
        strstr(tsr_mesh_message(mesh), "at [1,2] is out of range 0 to"))
        atomic_fetch_add(&told, 1);
    else
        fprintf(stderr, "table %d: %d, %s\n", t, (int)st, tsr_mesh_message(mesh));
    drop(&p);
    return st;
}

static tsr_status there_and_back(tsr_mesh *mesh, const void *arg)
{
    tsr_tensor *out[MOST], *grads[MOST];
    problem p;
    tsr_status st = make(mesh, arg, &p);

    if (st == TSR_OK)
        st = tsr_lookup_group(p.use, MOST, out);
    if (st == TSR_OK)
        st = tsr_lookup_group_backward(p.use, out, MOST, grads);
    drop(&p);
    return st;
}

/* Without data: specs and costs. */
static tsr_status sim_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *out[MOST], *grads[MOST];
    int64_t before;
    problem p;
    tsr_status st = make(mesh, "rr", &p);
    (void)arg;

    if (st != TSR_OK)
        return st;
    before = tsr_counters_get(mesh).bytes_in;
    CHECK(tsr_lookup_group(p.use, MOST, out) == TSR_OK);
    CHECK(tsr_lookup_group_backward(p.use, out, MOST, grads) == TSR_OK);
    CHECK(tsr_counters_get(mesh).bytes_in > before);
    for (int t = 0; t < MOST; t++)
        CHECK(tsr_spec_equal(tsr_tensor_spec(grads[t]), tsr_tensor_spec(p.use[t].table)));
    drop(&p);
    return st;
}

/* All that comes for a group is some op's, by mesh dim, and so is the time. */
static tsr_status counted_job(tsr_mesh *mesh, void *arg)
{
    static const char *const ops[] = {"embedding",         "bag_sum",          "bag_mean",
                                      "bag_max",           "bag_sum_backward", "embedding_backward",
                                      "bag_mean_backward", "bag_max_backward"};
    int64_t along[TSR_MAX_MESH + 1] = {0}, calls = 0, bytes = 0;
    tsr_tensor *out[MOST], *grads[MOST];
    tsr_counters all;
    problem p;
    tsr_status st = make(mesh, arg, &p);

    if (st != TSR_OK)
        return st;
    tsr_counters_reset(mesh);
    tsr_statistics_set(mesh, true);
    CHECK(tsr_lookup_group(p.use, MOST, out) == TSR_OK);
    CHECK(tsr_lookup_group_backward(p.use, out, MOST, grads) == TSR_OK);
    tsr_statistics_set(mesh, false);
    all = tsr_counters_get(mesh);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        const tsr_op_counters c = tsr_op_counters_get(mesh, ops[i]);

        CHECK(c.calls > 0 && c.computing > 0);
        calls += c.calls;
        for (int m = 0; m <= TSR_MAX_MESH; m++)
            along[m] += c.along[m];
    }
    CHECK(calls == 2 * MOST);
    for (int m = 0; m <= TSR_MAX_MESH; m++) {
        CHECK(along[m] == all.along[m]);
        bytes += along[m];
    }
    CHECK(bytes == all.bytes_in && bytes > 0);
    drop(&p);
    return st;
}

/* What all ranks see alike is refused before anything moves. */
static tsr_status refused_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *out[MOST], *none[MOST] = {NULL};
    tsr_table_use use[2];
    problem p;
    tsr_status st = make(mesh, "rr", &p);
    (void)arg;

    if (st != TSR_OK)
        return st;
    CHECK(tsr_lookup_group(p.use, 0, out) == TSR_OK);
    for (int i = 0; i < 6; i++) {
        static const char *const says[] = {"table 1: unknown bag mode",
                                           "table 1: only sums have weights",
                                           "table 1: only bags have offsets",
                                           "table 1: embedding: ids and offsets must be",
                                           "table 0: the gradient of max needs index",
                                           "the tensor is NULL"};
        use[0] = p.use[0];
        use[1] = p.use[i == 3 ? 6 : 1];
        if (i == 0)
            use[1].pooling = (tsr_bag_mode)7;
        if (i == 1)
            use[1].weights = use[1].ids;
        if (i == 2)
            use[1].offsets = use[1].ids;
        if (i == 3)
            use[1].ids = p.use[0].table;
        if (i == 4)
            use[0] = p.use[3];
        CHECK((i < 4 ? tsr_lookup_group(use, 2, out)
                     : tsr_lookup_group_backward(use, none, 2, out)) != TSR_OK);
        CHECK(strstr(tsr_mesh_message(mesh), says[i]));
        tsr_mesh_clear_error(mesh);
    }
    drop(&p);
    return st;
}

/* ---- tests ---- */

static tsr_run_opts on(const char *mesh)
{
    return (tsr_run_opts)RUN_OPTS(.mesh = mesh, .world = TSR_WORLD_THREAD, .has_timeout = true,
                                  .timeout_ms = 20000, .cost = "latency=1e-9,bandwidth=1e8");
}

static void equals_single_calls(void **state)
{
    static const char *const meshes[] = {"2", "3", "2x2", "6"};
    (void)state;

    for (int i = 0; i < 4; i++)
        pass_with(on(meshes[i]), equal_job, NULL);
}

static void one_exchange(void **state)
{
    static const char *const meshes[] = {"2", "3", "2x2"};
    (void)state;

    for (int i = 0; i < 3; i++)
        pass_with(on(meshes[i]), few_job, NULL);
}

static void counted(void **state)
{
    static const char *const meshes[] = {"2", "3", "2x2"}, *const batches[] = {"rr", "rR", "RR"};
    (void)state;

    for (int i = 0; i < 9; i++)
        pass_with(on(meshes[i / 3]), counted_job, (void *)batches[i % 3]);
}

static void without_data(void **state)
{
    static const char *const meshes[] = {"2", "2x2"};
    (void)state;

    for (int i = 0; i < 2; i++)
        pass_with((tsr_run_opts)RUN_OPTS(.mesh = meshes[i], .world = TSR_WORLD_SIM), sim_job, NULL);
}

static void refused(void **state)
{
    (void)state;

    pass_with(on("2"), refused_job, NULL);
}

static void bad_ids(void **state)
{
    const tsr_run_opts opts = on("3");
    (void)state;

    for (int t = 0; t < MOST; t++) {
        if (wants[t].offsets)
            continue;
        atomic_store(&told, 0);
        assert_int_not_equal(tsr_run(&opts, wrong_job, &t, NULL), TSR_OK);
        assert_int_equal(atomic_load(&told), 3);
    }
}

static void every_allocation(void **state)
{
    (void)state;
    fault_each(&(fault_job){.name = "lookup group",
                            .mesh = "2",
                            .ranks = {1, 1},
                            .run = there_and_back,
                            .arg = "rr",
                            .least = 1},
               FAULT_ALLOCATION);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_single_calls),
        cmocka_unit_test(one_exchange),
        cmocka_unit_test(counted),
        cmocka_unit_test(without_data),
        cmocka_unit_test(refused),
        cmocka_unit_test(bad_ids),
        cmocka_unit_test(every_allocation),
    };

    if (argc > 1 && strcmp(argv[1], "mpi") == 0)
        return run_under_mpi(NULL, equal_job, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
