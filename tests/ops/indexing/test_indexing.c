/* SPDX-License-Identifier: Apache-2.0 */
/* test_indexing.c - reading, writing and ordering by indices on sizes that the rows' cases do not
   have: lines long enough for every way to sort and to choose, NaN, zeros of both signs and equal
   values, ranks without elements; what is communicated for a topk and for slices; indices out of
   range, which every rank hears of; and what is refused. */
#include "support/test.h"
#include "base/dtype.h"
#include "base/hash.h"

static uint64_t mixed(uint64_t a, uint64_t b)
{
    return tsr__hash_final(tsr__hash_mix(tsr__hash_mix(5, a), b));
}

/* ---- order ---- */

enum { LINES = 3, LONG = 700 };

/* Few different values, NaN and both zeros among them. */
static double odd_value(int64_t i)
{
    const uint64_t h = mixed(1, (uint64_t)i);

    switch (h % 11) {
    case 0: return NAN;
    case 1: return -0.0;
    case 2: return 0;
    case 3: return INFINITY;
    case 4: return -INFINITY;
    default: return (double)(h >> 8 & 63) - 32;
    }
}

/* Is a before b? */
static bool before(double a, int64_t i, double b, int64_t k, bool down)
{
    const bool less = isnan(b) ? !isnan(a) : a < b, more = isnan(a) ? !isnan(b) : a > b;

    if (less || more)
        return down ? more : less;
    return i < k;
}

/* By the textbook: the place of an element is how many are before it. */
static void order(const double *x, int64_t n, bool down, int64_t *index)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t place = 0;

        for (int64_t k = 0; k < n; k++)
            place += k != i && before(x[k], k, x[i], i, down);
        index[place] = i;
    }
}

typedef struct ordered {
    const char *dtype;
    int64_t n, k; /* k < 0: all of them */
    bool down;
} ordered;

static bool same(double a, double b)
{
    return a == b ? signbit(a) == signbit(b) : isnan(a) && isnan(b);
}

static tsr_status check_order(tsr_mesh *mesh, void *arg)
{
    static const char *const places[] = {"[S(0)]", "[S(1)]", "[SS(1,3)]", "[R]"};
    const ordered *o = arg;
    const int64_t k = o->k < 0 ? o->n : o->k;
    double x[LINES * LONG], value[LINES * LONG], got[LINES * LONG];
    int64_t index[LINES * LONG], want[LONG];
    tsr_dtype dtype;

    CHECK(tsr__dtype_parse(o->dtype, strlen(o->dtype), &dtype, NULL) == TSR_OK);
    for (int64_t i = 0; i < LINES * o->n; i++) {
        tsr__put(dtype, x, i, odd_value(i));
        value[i] = tsr__get(dtype, x, i);
    }
    for (int p = 0; p < 4; p++) {
        tsr_tensor *y, *where;
        char spec[64];

        snprintf(spec, sizeof spec, "%s[%d,%d]@%s", o->dtype, LINES, (int)o->n, places[p]);
        y = from_host(mesh, spec, x);
        y = o->k < 0 ? tsr_sort(y, -1, o->down, &where) : tsr_topk(y, k, 1, o->down, &where);
        CHECK(tsr_to_host(y, got, (size_t)(LINES * k) * tsr_dtype_size(dtype)) == TSR_OK);
        CHECK(tsr_to_host(where, index, (size_t)(LINES * k) * 8) == TSR_OK);
        for (int l = 0; l < LINES; l++) {
            order(value + l * o->n, o->n, o->down, want);
            for (int64_t i = 0; i < k; i++) {
                CHECK(index[l * k + i] == want[i]);
                CHECK(same(tsr__get(dtype, got, l * k + i), value[l * o->n + want[i]]));
            }
        }
    }
    return TSR_OK;
}

static void order_of_lines(void **state)
{
    static const ordered all[] = {
        {"f32", LONG, -1, false}, {"f32", LONG, -1, true}, {"f64", LONG, -1, false},
        {"f16", 700, -1, true},   {"bf16", 40, -1, false}, {"i32", LONG, -1, true},
        {"i64", LONG, -1, false}, {"u8", 300, -1, false},  {"bool", 100, -1, true},
        {"f32", 1, -1, false},    {"f64", 31, -1, true},   {"f32", LONG, 5, true},
        {"f64", LONG, 80, true},  {"f16", LONG, 7, false}, {"i64", LONG, 180, false},
        {"i8", 300, -1, true},    {"i16", 700, 9, false},  {"u16", 700, -1, false},
        {"u32", LONG, 5, true},   {"u64", LONG, -1, true}, {"u64", LONG, 9, false},
        {"f32", 3, 2, true},      {"f32", LONG, 0, true},  {"f32", LONG, LONG, false},
    };
    static const char *const meshes[] = {"1", "2", "4"};

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t m = 0; m < 3; m++) {
            ordered o = all[i];
            pass_on(meshes[m], check_order, &o);
        }
}

/* Of a sharded line k candidates of each rank come, not the line. */
static tsr_status check_traffic(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_uniform(mesh, "f32[2,10000]@[S(1)]", 0, 1, 3);
    tsr_counters before;
    tsr_tensor *index;

    (void)arg;
    before = tsr_counters_get(mesh);
    tsr_topk(x, 4, 1, true, &index);
    CHECK(tsr_counters_get(mesh).bytes_in - before.bytes_in == 3 * 2 * 4 * 16);
    return TSR_OK;
}

static void candidates_travel(void **state)
{
    (void)state;
    pass_on("4", check_traffic, NULL);
}

/* ---- read and written ---- */

enum { A = 5, B = 17, C = 6, M = 23 }; /* x is [A,B,C], indices along B are M */

static void fill_index(tsr_dtype dtype, int64_t n, int64_t size, void *index)
{
    for (int64_t i = 0; i < n; i++)
        tsr__put(dtype, index, i, (double)(mixed(2, (uint64_t)i) % (uint64_t)size));
}

static tsr_status check_moves(tsr_mesh *mesh, void *arg)
{
    static const char *const dtypes[] = {"f32", "f64", "f16", "i32", "i64", "u8",
                                         "i8",  "i16", "u16", "u32", "u64"};
    static const char *const places[] = {"[S(0)]", "[S(1)]", "[S(2)]", "[SS(0,2)]", "[R]"};
    const char *ids = arg;
    const tsr_dtype id = strcmp(ids, "i32") == 0 ? TSR_I32 : TSR_I64;
    double x[A * B * C], src[A * M * C], y[A * M * C];
    int64_t index[A * M * C], list[M];
    char text[64];

    fill_index(id, A * M * C, B, index);
    fill_index(id, M, B, list);
    for (size_t t = 0; t < sizeof dtypes / sizeof *dtypes; t++)
        for (size_t p = 0; p < 5; p++) {
            tsr_tensor *tx, *ti, *tl, *ts;
            double want[A * B * C];
            tsr_dtype dtype;
            size_t size;

            CHECK(tsr__dtype_parse(dtypes[t], strlen(dtypes[t]), &dtype, NULL) == TSR_OK);
            size = tsr_dtype_size(dtype);
            for (int64_t i = 0; i < A * M * C; i++)
                tsr__put(dtype, src, i, (double)(mixed(3, (uint64_t)i) % 4));
            for (int64_t i = 0; i < A * B * C; i++)
                tsr__put(dtype, x, i, (double)(mixed(4, (uint64_t)i) % 4));
            snprintf(text, sizeof text, "%s[%d,%d,%d]@%s", dtypes[t], A, B, C, places[p]);
            tx = from_host(mesh, text, x);
            snprintf(text, sizeof text, "%s[%d,%d,%d]@%s", ids, A, M, C, places[p]);
            ti = from_host(mesh, text, index);
            snprintf(text, sizeof text, "%s[%d]@%s", ids, M, p == 1 ? "[S(0)]" : "[R]");
            tl = from_host(mesh, text, list);
            snprintf(text, sizeof text, "%s[%d,%d,%d]@%s", dtypes[t], A, M, C, places[p]);
            ts = from_host(mesh, text, src);
            CHECK(tsr_to_host(tsr_gather(tx, 1, ti), y, A * M * C * size) == TSR_OK);
            for (int i = 0; i < A * M * C; i++)
                CHECK(tsr__get(dtype, y, i) ==
                      tsr__get(dtype, x,
                               (i / (M * C) * B + (int64_t)tsr__get(id, index, i)) * C + i % C));
            CHECK(tsr_to_host(tsr_index_select(tx, 1, tl), y, A * M * C * size) == TSR_OK);
            for (int i = 0; i < A * M * C; i++)
                CHECK(tsr__get(dtype, y, i) ==
                      tsr__get(dtype, x,
                               (i / (M * C) * B + (int64_t)tsr__get(id, list, i / C % M)) * C +
                                   i % C));
            for (int what = 0; what < 3; what++) {
                for (int i = 0; i < A * B * C; i++)
                    want[i] = tsr__get(dtype, x, i);
                for (int i = 0; i < A * M * C; i++) {
                    const int64_t at = (int64_t)(what == 2 ? tsr__get(id, list, i / C % M)
                                                           : tsr__get(id, index, i));
                    double *to = &want[(i / (M * C) * B + at) * C + i % C];

                    *to = what ? *to + tsr__get(dtype, src, i) : tsr__get(dtype, src, i);
                }
                CHECK(tsr_to_host(what == 0   ? tsr_scatter(tx, 1, ti, ts)
                                  : what == 1 ? tsr_scatter_add(tx, 1, ti, ts)
                                              : tsr_index_add(tx, 1, tl, ts),
                                  y, A * B * C * size) == TSR_OK);
                for (int i = 0; i < A * B * C; i++)
                    CHECK(tsr__get(dtype, y, i) == want[i]);
            }
        }
    return TSR_OK;
}

/* Along the last dim, with results that are too large for the cache. */
static tsr_status check_long(tsr_mesh *mesh, void *arg)
{
    enum { ROWS = 3, SIZE = 1300, TAKEN = 800000 };
    float *x = malloc(ROWS * SIZE * sizeof *x), *y = malloc(ROWS * TAKEN * sizeof *y);
    float *want = malloc(ROWS * SIZE * sizeof *want);
    int32_t *index = malloc(ROWS * TAKEN * sizeof *index);
    tsr_tensor *tx, *ti, *tl, *ts;

    (void)arg;
    CHECK(x && y && want && index);
    fill_index(TSR_I32, ROWS * TAKEN, SIZE, index);
    for (int i = 0; i < ROWS * SIZE; i++)
        x[i] = (float)(i % 64);
    tx = from_host(mesh, "f32[3,1300]@[S(0)]", x);
    ti = from_host(mesh, "i32[3,800000]@[S(0)]", index);
    tl = from_host(mesh, "i32[800000]@[R]", index);
    CHECK(tsr_to_host(tsr_gather(tx, 1, ti), y, ROWS * TAKEN * sizeof *y) == TSR_OK);
    for (int i = 0; i < ROWS * TAKEN; i++)
        CHECK(y[i] == x[i / TAKEN * SIZE + index[i]]);
    CHECK(tsr_to_host(tsr_take(tx, ti), y, ROWS * TAKEN * sizeof *y) == TSR_OK);
    for (int i = 0; i < ROWS * TAKEN; i++)
        CHECK(y[i] == x[index[i]]);
    CHECK(tsr_to_host(tsr_index_select(tx, 1, tl), y, ROWS * TAKEN * sizeof *y) == TSR_OK);
    for (int i = 0; i < ROWS * TAKEN; i++)
        CHECK(y[i] == x[i / TAKEN * SIZE + index[i % TAKEN]]);
    for (int what = 0; what < 3; what++) {
        ts = tsr_full(mesh, "f32[3,800000]@[S(0)]", 2);
        memcpy(want, x, ROWS * SIZE * sizeof *want);
        for (int i = 0; i < ROWS * TAKEN; i++) {
            float *to = &want[i / TAKEN * SIZE + index[what == 2 ? i % TAKEN : i]];

            *to = what ? *to + 2 : 2;
        }
        CHECK(tsr_to_host(what == 0   ? tsr_scatter(tx, 1, ti, ts)
                          : what == 1 ? tsr_scatter_add(tx, 1, ti, ts)
                                      : tsr_index_add(tx, 1, tl, ts),
                          y, ROWS * SIZE * sizeof *y) == TSR_OK);
        CHECK(memcmp(y, want, ROWS * SIZE * sizeof *y) == 0);
    }
    free(x);
    free(y);
    free(want);
    free(index);
    return TSR_OK;
}

static void moves(void **state)
{
    char i32[] = "i32", i64[] = "i64";

    (void)state;
    pass_on("1", check_moves, i32);
    pass_on("3", check_moves, i64);
    pass_on("4", check_moves, i32);
    pass_on("1", check_long, NULL);
    pass_on("2", check_long, NULL);
}

/* Of two slices that each of four ranks asks another for, the indices, and how many they are. */
static tsr_status check_slices(tsr_mesh *mesh, void *arg)
{
    const char *const dtype = arg;
    const int64_t index[8] = {3999, 3499, 2999, 2499, 1999, 1499, 999, 499};
    tsr_tensor *list = from_host(mesh, "i64[8]@[S(0)]", index), *x, *y;
    int64_t bytes;
    char text[64];

    snprintf(text, sizeof text, "%s[4000,16]@[S(0)]", dtype);
    x = tsr_zeros(mesh, text);
    tsr_counters_reset(mesh);
    y = tsr_index_select(x, 0, list);
    CHECK(tsr_tensor_ok(y) && tsr_tensor_spec(y)->place[0].kind == TSR_SHARD);
    bytes = 2 * 16 * (int64_t)tsr_dtype_size(tsr_tensor_spec(x)->dtype);
    CHECK(tsr_counters_get(mesh).bytes_in == bytes + 2 * 8 + 3 * 8);
    return TSR_OK;
}

static void slices_travel(void **state)
{
    char f32[] = "f32", truth[] = "bool"; /* which has no sums over ranks */

    (void)state;
    pass_on("4", check_slices, f32);
    pass_on("4", check_slices, truth);
}

/* ---- out of range, and refused ---- */

static const struct bad {
    const char *op, *spec[3], *attr, *says;
    tsr_status code;
    int64_t value; /* of the last index */
} bad[] = {
    {"gather",
     {"f32[4,6]@[S(1)]", "i64[4,6]@[S(1)]"},
     "dim=0",
     "gather: index 4 at [3,5] is out of range 0 to 3",
     TSR_ERR_ARG,
     4},
    {"gather",
     {"f32[4,6]@[R]", "i64[4,6]@[S(0)]"},
     "dim=0",
     "gather: index -1 at [3,5] is out of range 0 to 3",
     TSR_ERR_ARG,
     -1},
    {"gather",
     {"f32[1,60]@[S(1)]", "i64[1,6]@[R]"},
     "dim=1",
     "gather: index -9223372036854775808 at [0,5] is out of range 0 to 59",
     TSR_ERR_ARG,
     INT64_MIN},
    {"index_select",
     {"f32[4,6]@[S(0)]", "i32[5]@[R]"},
     "dim=1",
     "index_select: index 6 at [4] is out of range 0 to 5",
     TSR_ERR_ARG,
     6},
    {"index_select",
     {"f32[4,6]@[S(1)]", "i32[5]@[S(0)]"},
     "dim=1",
     "index_select: index 6 at [4] is out of range 0 to 5",
     TSR_ERR_ARG,
     6},
    {"take",
     {"f32[4,6]@[S(0)]", "i64[5]@[SS(0,2)]"},
     NULL,
     "take: index 24 at [4] is out of range 0 to 23",
     TSR_ERR_ARG,
     24},
    {"scatter",
     {"f32[4,6]@[S(0)]", "i64[4,6]@[R]", "f32[4,6]@[R]"},
     "dim=0",
     "scatter: index 9 at [3,5] is out of range 0 to 3",
     TSR_ERR_ARG,
     9},
    {"scatter_add",
     {"f32[4,6]@[S(0)]", "i64[4,6]@[R]", "f32[4,6]@[R]"},
     "dim=0",
     "scatter_add: index 9 at [3,5] is out of range 0 to 3",
     TSR_ERR_ARG,
     9},
    {"index_add",
     {"f32[4,6]@[S(0)]", "i64[4]@[R]", "f32[4,6]@[R]"},
     "dim=0",
     "index_add: index 9 at [3] is out of range 0 to 3",
     TSR_ERR_ARG,
     9},
    {"one_hot",
     {"i64[4]@[S(0)]"},
     "classes=3",
     "one_hot: index 3 at [3] is out of range 0 to 2",
     TSR_ERR_ARG,
     3},
    {"gather",
     {"f32[4,6]@[R]", "f32[4,6]@[R]"},
     "dim=0",
     "gather: indices must be i32 or i64",
     TSR_ERR_DTYPE,
     0},
    {"gather",
     {"f32[4,6]@[R]", "i64[5,6]@[R]"},
     "dim=1",
     "gather: the index is larger than x in a dim that is not indexed",
     TSR_ERR_SHAPE,
     0},
    {"gather",
     {"f32[4,6]@[R]", "i64[4]@[R]"},
     "dim=1",
     "gather: the numbers of dims differ",
     TSR_ERR_SHAPE,
     0},
    {"gather",
     {"f32[4,6]@[R]", "i64[4,6]@[R]"},
     "dim=2",
     "gather: dim 2 is out of range -2 to 1",
     TSR_ERR_SHAPE,
     0},
    {"index_select",
     {"f32[4,6]@[R]", "i64[4,6]@[R]"},
     "dim=1",
     "index_select: the index must be 1-D",
     TSR_ERR_SHAPE,
     0},
    {"scatter",
     {"f32[4,6]@[R]", "i64[4,6]@[R]", "f32[4,5]@[R]"},
     "dim=0",
     "scatter: the index is larger than src",
     TSR_ERR_SHAPE,
     0},
    {"scatter",
     {"f32[4,6]@[R]", "i64[4,6]@[R]", "f64[4,6]@[R]"},
     "dim=0",
     "scatter: dtypes of src and x differ",
     TSR_ERR_DTYPE,
     0},
    {"scatter_add",
     {"bool[4,6]@[R]", "i64[4,6]@[R]", "bool[4,6]@[R]"},
     "dim=0",
     "scatter_add: bool cannot be added",
     TSR_ERR_DTYPE,
     0},
    {"index_add",
     {"f32[4,6]@[R]", "i64[5]@[R]", "f32[4,6]@[R]"},
     "dim=0",
     "index_add: src must be of x's shape",
     TSR_ERR_SHAPE,
     0},
    {"one_hot",
     {"i64[4]@[R]"},
     "dtype=f32",
     "one_hot: missing required attribute classes",
     TSR_ERR_ARG,
     0},
    {"one_hot",
     {"i64[4]@[R]"},
     "classes=-1",
     "one_hot: classes is -1, must be at least 0",
     TSR_ERR_ARG,
     0},
    {"one_hot",
     {"i64[1]@[R]"},
     "classes=0",
     "one_hot: index 5 at [0], but there are no classes",
     TSR_ERR_ARG,
     5},
    {"take",
     {"f32[0]@[R]", "i64[1]@[R]"},
     NULL,
     "take: index 62 at [0], but the indexed dim is empty",
     TSR_ERR_ARG,
     62},
    {"index_select",
     {"f32[0,6]@[R]", "i64[1]@[R]"},
     "dim=0",
     "index_select: index 6 at [0], but the indexed dim is empty",
     TSR_ERR_ARG,
     6},
    {"sort",
     {"f32[]@[R]"},
     NULL,
     "sort: dim -1 is out of range for a tensor without dims",
     TSR_ERR_SHAPE,
     0},
    {"topk", {"f32[4,6]@[R]"}, "dim=1", "topk: missing required attribute k", TSR_ERR_ARG, 0},
    {"topk",
     {"f32[4,6]@[S(1)]"},
     "k=7",
     "topk: k is 7, but dim 1 of f32[4,6]@[S(1)] has 6 elements",
     TSR_ERR_ARG,
     0},
    {"sort", {"f32[4,6]@[R]"}, "dim=2", "sort: dim 2 is out of range -2 to 1", TSR_ERR_SHAPE, 0},
};

/* The last element of the input with indices is `value`, all else is 0. A rank hears of what
   another one found when it next waits for it. */
static tsr_status check_bad(tsr_mesh *mesh, void *arg)
{
    const struct bad *b = arg;
    const int indices = b->spec[1] ? 1 : 0;
    tsr_tensor *in[3] = {NULL};
    int n = 0;

    for (; n < 3 && b->spec[n]; n++) {
        double zeros[64] = {0};
        tsr_spec spec;

        CHECK(tsr_spec_parse(b->spec[n], tsr_mesh_shape_get(mesh), &spec, NULL) == TSR_OK);
        if (n == indices)
            tsr__put(spec.dtype, zeros, tsr_shape_count(&spec.shape) - 1, (double)b->value);
        in[n] = from_host(mesh, b->spec[n], zeros);
    }
    tsr_op_run(mesh, b->op, in, n, &b->attr, b->attr != NULL);
    tsr_barrier(mesh);
    if ((tsr_mesh_status(mesh) != b->code && tsr_mesh_status(mesh) != TSR_ERR_PEER) ||
        !strstr(tsr_mesh_message(mesh), b->says)) {
        fprintf(stderr, "%s: \"%s\", expected \"%s\"\n", b->op, tsr_mesh_message(mesh), b->says);
        return TSR_ERR_MISMATCH;
    }
    return TSR_OK;
}

static void bad_input(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct bad one = bad[i];
        pass_on("2", check_bad, &one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_lines), cmocka_unit_test(candidates_travel),
        cmocka_unit_test(moves),          cmocka_unit_test(slices_travel),
        cmocka_unit_test(bad_input),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
