/* SPDX-License-Identifier: Apache-2.0 */
/* test_embedding_bad.c - lookups and bags that cannot be: ids that are no rows, wrong offsets, what
   does not fit together, tables without rows. On every rank, in every layout, and with nothing else
   harmed. */
#include "support/test.h"

enum { RANKS = 4, DIM = 5 };

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

static tsr_tensor *make_table(tsr_mesh *mesh, int64_t rows, const char *where)
{
    char spec[TSR_TEXT_LEN];

    snprintf(spec, sizeof spec, "f32[%lld,%d]@%s", (long long)rows, DIM, where);
    return tsr_arange(mesh, spec, 1, 1);
}

/* A lookup as it should be. */
static tsr_status good_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *ids = tsr_arange(mesh, "i64[9]@[S(0)]", 1, 4);
    float host[9 * DIM];

    (void)arg;
    CHECK(tsr_to_host(tsr_embedding(make_table(mesh, 37, "[S(0)]"), ids, NULL), host,
                      sizeof host) == TSR_OK);
    for (int i = 0; i < 9 * DIM; i++)
        CHECK(host[i] == (float)((1 + i / DIM * 4) * DIM + i % DIM + 1));
    return TSR_OK;
}

/* ---- calls that fail ---- */

enum { GOOD_ROWS = 10, GOOD_IDS = 12 };

typedef enum bad_op { LOOKUP, BACKWARD, BAG_SUM, BAG_MEAN, BAG_MAX, BAG_BACKWARD, RENORM } bad_op;

typedef struct bad {
    bad_op op;
    const char *table, *ids, *offsets; /* placements; offsets NULL: none */
    int64_t rows, n_ids;
    int64_t at, value; /* id `at` is `value`; -1: all are good */
    int64_t offset[3];
    int64_t padding;
    bool padded, float_ids, short_weights;
    const char *says;
    tsr_status code;
    /* of every rank: */
    tsr_status status[RANKS];
    char text[RANKS][TSR_ERROR_LEN];
} bad;

static tsr_tensor *bad_call(tsr_mesh *mesh, const bad *b)
{
    const tsr_embedding_opts opts =
        EMBEDDING_OPTS(.has_padding_idx = b->padded, .padding_idx = b->padding);
    const bool two = !b->offsets && b->op >= BAG_SUM && b->op <= BAG_BACKWARD;
    const int64_t n = two ? b->n_ids / 3 : b->n_ids;
    const int64_t n_bags = b->offsets ? 3 : n;
    int64_t ids[GOOD_IDS];
    double weights[GOOD_IDS] = {0};
    float zero[GOOD_IDS * DIM] = {0};
    tsr_tensor *x, *t, *o = NULL, *w = NULL;

    for (int i = 0; i < GOOD_IDS; i++)
        ids[i] = i == b->at ? b->value : i % 7;
    t = make_table(mesh, b->rows, b->table);
    x = whole(mesh, b->float_ids ? "f64" : "i64", n, two ? 3 : -1, b->ids,
              b->float_ids ? (void *)weights : (void *)ids);
    if (b->offsets)
        o = whole(mesh, "i64", 3, -1, b->offsets, b->offset);
    if (b->short_weights)
        w = whole(mesh, "f32", n - 1, two ? 3 : -1, b->ids, zero);
    switch (b->op) {
    case LOOKUP: return tsr_embedding(t, x, &opts);
    case BACKWARD:
        return tsr_embedding_backward(whole(mesh, "f32", n, DIM, b->ids, zero), x, b->rows, &opts);
    case BAG_SUM: return tsr_bag_sum(t, x, o, w, &opts);
    case BAG_MEAN: return tsr_bag_mean(t, x, o, &opts);
    case BAG_MAX: return tsr_bag_max(t, x, o, &opts, NULL);
    case BAG_BACKWARD:
        return tsr_bag_sum_backward(whole(mesh, "f32", n_bags, DIM, "[R]", zero), x, o, w, b->rows,
                                    &opts);
    default: return tsr_embedding_renorm(t, x, 1, 2);
    }
}

static tsr_status bad_job(tsr_mesh *mesh, void *arg)
{
    bad *b = arg;
    int me = tsr_mesh_index(mesh);
    tsr_status st;

    bad_call(mesh, b);
    st = tsr_mesh_status(mesh);
    if (st == TSR_OK) /* those that saw nothing are told when they next meet */
        st = tsr_barrier(mesh);
    b->status[me] = st;
    snprintf(b->text[me], TSR_ERROR_LEN, "%s", tsr_mesh_message(mesh));
    return st;
}

/* The call fails on all ranks with one sentence; a rank whose peer has left with it before hands it
   on. Then another job runs as if nothing had been. */
static void refuse(const char *mesh, bad *b)
{
    tsr_run_opts opts =
        RUN_OPTS(.mesh = mesh, .world = TSR_WORLD_THREAD, .has_timeout = true, .timeout_ms = 20000);
    tsr_error err = {0};
    tsr_mesh_shape shape;
    int n, own = 0;

    assert_int_equal(tsr_mesh_parse(mesh, &shape, NULL), TSR_OK);
    n = shape.size[0];
    assert_int_not_equal(tsr_run(&opts, bad_job, b, &err), TSR_OK);
    for (int i = 0; i < n; i++) {
        bool same = b->status[i] == b->code
                        ? strcmp(b->text[i], b->says) == 0
                        : b->status[i] == TSR_ERR_PEER && strstr(b->text[i], b->says) != NULL;
        own += b->status[i] == b->code;
        if (!same)
            fail_msg("op %d table %s ids %s, rank %d of %s: status %d, \"%s\", not \"%s\"",
                     (int)b->op, b->table, b->ids, i, mesh, (int)b->status[i], b->text[i], b->says);
    }
    assert_true(own >= 1);
    pass_on(mesh, good_job, NULL);
}

static bad usual(bad_op op, const char *table, const char *ids)
{
    return (bad){.op = op,
                 .table = table,
                 .ids = ids,
                 .rows = GOOD_ROWS,
                 .n_ids = GOOD_IDS,
                 .at = -1,
                 .code = TSR_ERR_ARG};
}

static void ids_out_of_range(void **state)
{
    static const char *const name[] = {
        "embedding", "embedding_backward", "bag_sum",         "bag_mean",
        "bag_max",   "bag_sum_backward",   "embedding_renorm"};
    static const char *const table[] = {"[R]", "[S(0)]", "[S(1)]", "[P(sum)]"};
    static const char *const ids[] = {"[R]", "[S(0)]"};
    static const struct {
        int64_t at, value;
    } wrong[] = {{10, -1}, {7, GOOD_ROWS}, {0, INT64_MIN}, {11, INT64_MAX}};
    char says[TSR_ERROR_LEN], where[64];
    (void)state;

    for (int i = 0; i < 7 * 4 * 2 * 4; i++) {
        bad b = usual((bad_op)(i / 32), table[i / 8 % 4], ids[i / 4 % 2]);
        bool two = b.op >= BAG_SUM && b.op <= BAG_BACKWARD;
        b.at = wrong[i % 4].at;
        b.value = wrong[i % 4].value;
        if (two)
            snprintf(where, sizeof where, "%d,%d", (int)b.at / 3, (int)b.at % 3);
        else
            snprintf(where, sizeof where, "%d", (int)b.at);
        snprintf(says, sizeof says, "%s: id %lld at [%s] is out of range 0 to %d", name[b.op],
                 (long long)b.value, where, GOOD_ROWS - 1);
        b.says = says;
        refuse(i % 3 ? "2" : "3", &b);
    }
}

/* By all-to-all too: a table that is not moved. */
static void ids_out_of_range_by_rows(void **state)
{
    static const bad_op op[] = {LOOKUP, BACKWARD, BAG_SUM, BAG_MEAN, BAG_MAX, BAG_BACKWARD};
    static const char *const says[] = {
        "embedding: id -1 at [10] is out of range 0 to 99999",
        "embedding_backward: id -1 at [10] is out of range 0 to 99999",
        "bag_sum: id -1 at [3,1] is out of range 0 to 99999",
        "bag_mean: id -1 at [3,1] is out of range 0 to 99999",
        "bag_max: id -1 at [3,1] is out of range 0 to 99999",
        "bag_sum_backward: id -1 at [3,1] is out of range 0 to 99999",
    };
    (void)state;

    for (int i = 0; i < 6; i++) {
        bad b = usual(op[i], "[S(0)]", "[S(0)]");
        b.rows = 100000;
        b.at = 10;
        b.value = -1;
        b.says = says[i];
        refuse("2", &b);
        refuse("4", &b);
    }
}

static void offsets_that_are_wrong(void **state)
{
    static const struct {
        int64_t offset[3];
        const char *says;
    } wrong[] = {
        {{1, 4, 8}, "embedding bags: offsets start at 1 instead of 0"},
        {{0, 8, 4}, "embedding bags: offset 2 is 4, less than the 8 before it"},
        {{0, 8, 13}, "embedding bags: offset 2 is 13, but there are only 12 ids"},
        {{0, -1, 5}, "embedding bags: offset 1 is -1, below 0"},
    };
    static const bad_op op[] = {BAG_SUM, BAG_MEAN, BAG_MAX, BAG_BACKWARD};
    static const char *const name[] = {"bag_sum", "bag_mean", "bag_max", "bag_sum_backward"};
    static const char *const table[] = {"[R]", "[S(0)]", "[S(1)]"};
    static const char *const ids[] = {"[R]", "[S(0)]"};
    char says[TSR_ERROR_LEN];
    (void)state;

    for (int i = 0; i < 4 * 4 * 3 * 2 * 2; i++) {
        bad b = usual(op[i / 24 % 4], table[i / 8 % 3], ids[i / 4 % 2]);
        b.offsets = ids[i % 2];
        b.rows = i < 96 ? GOOD_ROWS : 100000; /* which is not moved */
        memcpy(b.offset, wrong[i % 4].offset, sizeof b.offset);
        snprintf(says, sizeof says, "%s: %s", name[i / 24 % 4], wrong[i % 4].says);
        b.says = says;
        refuse(i % 5 ? "2" : "3", &b);
    }
}

static void calls_that_do_not_fit(void **state)
{
    bad b = usual(LOOKUP, "[S(0)]", "[S(0)]");
    (void)state;

    b.float_ids = true;
    b.code = TSR_ERR_DTYPE;
    b.says = "embedding: ids and offsets must be i32 or i64, not f64[12]@[S(0)]";
    refuse("2", &b);
    b = usual(BAG_SUM, "[S(0)]", "[S(0)]");
    b.short_weights = true;
    b.code = TSR_ERR_SHAPE;
    b.says =
        "bag_sum: weights f32[3,3]@[S(0)] do not match ids i64[4,3]@[S(0)] and values of type f32";
    refuse("2", &b);
    b.op = BAG_BACKWARD;
    b.says =
        "bag_sum_backward: weights f32[3,3]@[S(0)] do not match ids i64[4,3]@[S(0)] and values of "
        "type f32";
    refuse("3", &b);
    b = usual(LOOKUP, "[S(0)]", "[R]");
    b.padded = true;
    b.padding = GOOD_ROWS;
    b.says = "embedding: padding_idx 10 is out of range -10 to 9";
    refuse("2", &b);
    b.padding = -GOOD_ROWS - 1;
    b.op = BAG_MAX;
    b.says = "bag_max: padding_idx -11 is out of range -10 to 9";
    refuse("2", &b);
    b.op = BACKWARD;
    b.says = "embedding_backward: padding_idx -11 is out of range -10 to 9";
    refuse("2", &b);
}

/* ---- tables without rows ---- */

static tsr_status no_rows_job(tsr_mesh *mesh, void *arg)
{
    const char *where = arg;
    tsr_tensor *table = make_table(mesh, 0, where), *x = whole(mesh, "i64", 0, -1, where, NULL);
    float none;
    tsr_tensor *y = tsr_embedding(table, x, NULL);

    CHECK(tsr_to_host(y, &none, 0) == TSR_OK);
    CHECK(tsr_tensor_spec(y)->shape.size[0] == 0 && tsr_tensor_spec(y)->shape.size[1] == DIM);
    y = tsr_embedding_backward(y, x, 0, NULL);
    CHECK(tsr_to_host(y, &none, 0) == TSR_OK);
    y = tsr_bag_max(table, whole(mesh, "i64", 0, 3, where, NULL), NULL, NULL, NULL);
    CHECK(tsr_to_host(y, &none, 0) == TSR_OK);
    y = tsr_bag_mean(table, whole(mesh, "i64", 0, 3, where, NULL), NULL, NULL);
    CHECK(tsr_to_host(y, &none, 0) == TSR_OK);
    CHECK(tsr_tensor_ok(tsr_embedding_renorm(table, x, 1, 2)));
    return TSR_OK;
}

static void tables_without_rows(void **state)
{
    static const char *const where[] = {"[R]", "[S(0)]"};
    (void)state;

    for (int i = 0; i < 2; i++) {
        bad b = usual(LOOKUP, where[i], where[1 - i]);
        pass_on("2", no_rows_job, (void *)where[i]);
        pass_on("3", no_rows_job, (void *)where[i]);
        b.rows = 0;
        b.n_ids = 1;
        b.says = "embedding: id 0 at [0], but the indexed dim is empty";
        refuse("2", &b);
        b.ids = where[i];
        refuse("2", &b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_out_of_range),       cmocka_unit_test(ids_out_of_range_by_rows),
        cmocka_unit_test(offsets_that_are_wrong), cmocka_unit_test(calls_that_do_not_fit),
        cmocka_unit_test(tables_without_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
