/* SPDX-License-Identifier: Apache-2.0 */
/* test_embedding_kernel.c - the embedding kernels: every variant against the reference on random
   problems, all variants alike bit for bit, tables cut by rows against whole ones, results of
   PyTorch (embedding_numeric.c), mistakes in ids and offsets, names of kernels. */
#include <inttypes.h>

#include "support/test.h"
#include "embedding_check.h"
#include "embedding_numeric.h"
#include "support/sampling.h"

static const tsr_dtype dtypes[] = {TSR_F32, TSR_F64, TSR_F16, TSR_BF16, (tsr_dtype)TSR__FIELD};
static const tsr_kernel_variant variants[] = {TSR_VARIANT_PLAIN, TSR_VARIANT_AVX2,
                                              TSR_VARIANT_AVX512, TSR_VARIANT_AUTO};
static const char *numeric_path = "tests/data/embedding_numeric.jsonl";

enum { DTYPES = 5, VARIANTS = 4, PROBLEMS = 40 };

static bool is_there(const problem *p, int what)
{
    return (int)p->dtype != TSR__FIELD || what != TSR_EMBEDDING_BAG_MAX;
}

/* Sums of small integers are exact; a division rounds, and twice for 16-bit floats. */
static double ulps_of(const problem *p, int what, bool integers)
{
    const bool divides =
        what == TSR_EMBEDDING_BAG_MEAN || what == TSR_EMBEDDING_BAG_MEAN_BACKWARD || p->scaled;

    if (what == TSR_EMBEDDING || what == TSR_EMBEDDING_BAG_MAX)
        return 0;
    return !integers ? 8 : divides ? 4 : 0;
}

static void check_variants(const problem *p, int what, double ulps)
{
    const int64_t n = out_count(p, what);
    const size_t bytes = (size_t)n * tsr_dtype_size(p->dtype);
    int64_t *at = calloc((size_t)n + 1, sizeof *at), *want_at = calloc((size_t)n + 1, sizeof *at);
    void *want = run(p, what, TSR_VARIANT_REFERENCE, false, want_at), *first = NULL;
    char text[512];

    for (int v = 0; v < VARIANTS; v++)
        for (int touched = 0; touched < 2; touched++) {
            void *got = run(p, what, variants[v], touched, at);

            compare(p, what, variants[v], got, want, ulps);
            if (memcmp(at, want_at, (size_t)n * sizeof *at))
                fail_msg("%s: other positions", describe(p, what, variants[v], text, sizeof text));
            if (first && memcmp(first, got, bytes))
                fail_msg("%s: other bits than plain",
                         describe(p, what, variants[v], text, sizeof text));
            if (first)
                free(got);
            else
                first = got;
        }
    free(first);
    free(want);
    free(at);
    free(want_at);
}

static void test_variants(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int64_t t = sample_first(sample_quick()); t < PROBLEMS * DTYPES; t += sample_quick()) {
        const bool integers = below(&seed, 2);
        problem p =
            random_problem(dtypes[t % DTYPES], t % 2 ? TSR_I32 : TSR_I64, integers, false, &seed);

        for (int what = 0; what < RUNS; what++)
            if (is_there(&p, what))
                check_variants(&p, what, ulps_of(&p, what, integers));
        free_problem(&p);
    }
}

/* Ties, NaN and infinities: what is only moved or compared must be found as it was. */
static void test_specials(void **state)
{
    uint64_t seed = 2;

    (void)state;
    for (int t = 0; t < PROBLEMS; t++) {
        problem p =
            random_problem(dtypes[t % 4], t % 2 ? TSR_I32 : TSR_I64, t % 3 == 0, true, &seed);

        check_variants(&p, TSR_EMBEDDING, 0);
        check_variants(&p, TSR_EMBEDDING_BAG_MAX, 0);
        free_problem(&p);
    }
}

/* Cut by rows into pieces, some of them empty: sums and maxima over the pieces are those of the
   whole, gradients are the pieces of the whole one. */
static void check_cut(const problem *p, int what, uint64_t *seed)
{
    const int64_t n = out_count(p, what), vocab = p->bags.ids.vocab;
    const int pieces = 1 + (int)below(seed, 4);
    int64_t *at = calloc((size_t)n + 1, sizeof *at), *want_at = calloc((size_t)n + 1, sizeof *at);
    int64_t cuts[6] = {0};
    void *want = run(p, what, TSR_VARIANT_AUTO, false, want_at), *got;
    const bool mean = what == TSR_EMBEDDING_BAG_MEAN; /* rounds in every piece */

    for (int k = 1; k <= pieces; k++)
        cuts[k] = k == pieces ? vocab : cuts[k - 1] + below(seed, vocab - cuts[k - 1] + 1);
    got = run_cut(p, what, TSR_VARIANT_AUTO, pieces, cuts, at);
    compare(p, what, TSR_VARIANT_AUTO, got, want, mean ? 8 : 0);
    assert_memory_equal(at, want_at, (size_t)n * sizeof *at);
    free(got);
    free(want);
    free(at);
    free(want_at);
}

static void test_cut(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int64_t t = sample_first(sample_quick()); t < PROBLEMS * DTYPES; t += sample_quick()) {
        problem p =
            random_problem(dtypes[t % DTYPES], t % 2 ? TSR_I32 : TSR_I64, true, t % 3 == 0, &seed);

        for (int what = 0; what < RUNS; what++)
            if (is_there(&p, what) &&
                !((what == TSR_EMBEDDING_BAG_SUM || what == WEIGHTS_BACKWARD) &&
                  p.dtype == TSR_BF16)) /* each piece rounds to 8 bits */
                check_cut(&p, what, &seed);
        free_problem(&p);
    }
}

/* A row adds its terms in the same order wherever it is: reals too agree bit for bit. */
static void test_cut_gradients(void **state)
{
    static const int gradients[] = {TSR_EMBEDDING_BACKWARD, TSR_EMBEDDING_BAG_SUM_BACKWARD,
                                    TSR_EMBEDDING_BAG_MEAN_BACKWARD,
                                    TSR_EMBEDDING_BAG_MAX_BACKWARD};
    uint64_t seed = 8;

    (void)state;
    for (int64_t t = sample_first(sample_quick()); t < PROBLEMS * 4; t += sample_quick()) {
        problem p = random_problem(dtypes[t % 4], t % 2 ? TSR_I32 : TSR_I64, false, false, &seed);
        const int64_t vocab = p.bags.ids.vocab, cuts[] = {0, vocab / 3, vocab / 2, vocab};

        for (int k = 0; k < 4; k++) {
            void *want = run(&p, gradients[k], TSR_VARIANT_AUTO, false, NULL);
            void *got = run_cut(&p, gradients[k], TSR_VARIANT_AUTO, 3, cuts, NULL);

            assert_memory_equal(got, want, (size_t)(vocab * p.dim) * tsr_dtype_size(p.dtype));
            free(got);
            free(want);
        }
        free_problem(&p);
    }
}

/* Ids outside the vocabulary: found at the first position, and otherwise like masked ones, also in
   the counts of a mean. */
static void test_bad_ids(void **state)
{
    static const int64_t bad[] = {-1, 50, INT32_MIN, INT32_MAX};
    uint64_t seed = 5;

    (void)state;
    for (int t = 0; t < 200; t++) {
        const tsr_dtype index = t % 2 ? TSR_I32 : TSR_I64;
        tsr_ids ids = {
            .dtype = index, .n = 1 + below(&seed, 3000), .vocab = 50, .n_rows = 50, .padding = -1};
        int64_t *id = calloc((size_t)ids.n, sizeof *id), at = below(&seed, ids.n), row;
        void *data = calloc((size_t)ids.n, sizeof *id);

        for (int64_t i = 0; i < ids.n; i++)
            id[i] = below(&seed, 50);
        tsr__convert(index, data, TSR_I64, id, ids.n);
        ids.data = data;
        assert_int_equal(tsr__ids_bad(&ids), -1);
        id[at] = bad[t / 2 % 4];
        id[ids.n - 1] = id[ids.n - 1] < 50 && at < ids.n - 1 ? 77 : id[ids.n - 1];
        tsr__convert(index, data, TSR_I64, id, ids.n);
        assert_int_equal(tsr__ids_bad(&ids), at);
        assert_int_equal(tsr__ids_at(&ids, at), id[at]);
        tsr__ids_rows(&ids, at, 1, &row);
        assert_int_equal(row, -1);
        tsr__bag_counts(&(tsr_bags){.ids = ids, .n_bags = 1, .length = at + 1}, &row);
        assert_int_equal(row, at);
        free(id);
        free(data);
    }
}

/* Of all bags, of 8 ids. */
static tsr_status bounds(tsr_dtype dtype, const void *data, int64_t n, bool last, int64_t *begin,
                         tsr_error *err)
{
    tsr_offsets all = {dtype, data, 0, n, n, last, 8};

    return tsr__bag_offsets(&all, 0, n - last, begin, err);
}

/* Bags by some of the offsets: theirs and the next. */
static void test_offsets_window(void **state)
{
    static const int64_t window[] = {2, 2, 5}, falls[] = {2, 1};
    tsr_offsets some = {TSR_I64, window, 1, 3, 5, false, 8};
    int64_t begin[3];
    tsr_error err = {0};

    (void)state;
    assert_int_equal(tsr__bag_offsets(&some, 1, 2, begin, &err), TSR_OK);
    assert_memory_equal(begin, window, sizeof begin);
    some.first = 2; /* the last of the list: 8 is the end */
    assert_int_equal(tsr__bag_offsets(&some, 3, 2, begin, &err), TSR_OK);
    assert_memory_equal(begin, ((int64_t[]){2, 5, 8}), sizeof begin);
    assert_int_equal(tsr__bag_offsets(&some, 1, 2, begin, &err), TSR_ERR_ARG);
    assert_string_equal(err.text, "embedding bags: offsets 1 to 3 are needed, but those here are 3 "
                                  "from 2 on");
    some = (tsr_offsets){TSR_I64, falls, 3, 2, 5, false, 8};
    err = (tsr_error){0};
    assert_int_equal(tsr__bag_offsets(&some, 3, 2, begin, &err), TSR_ERR_ARG);
    assert_string_equal(err.text, "embedding bags: offset 4 is 1, less than the 2 before it");
}

static void test_offsets(void **state)
{
    static const int64_t good[] = {0, 2, 2, 5}, falls[] = {0, 3, 2}, late[] = {1, 2},
                         far[] = {0, 9};
    static const int32_t small[] = {0, 0, 8};
    int64_t begin[5];
    tsr_error err = {0};

    (void)state;
    assert_int_equal(bounds(TSR_I64, good, 4, false, begin, &err), TSR_OK);
    assert_memory_equal(begin, ((int64_t[]){0, 2, 2, 5, 8}), sizeof begin);
    assert_int_equal(bounds(TSR_I64, good, 4, true, begin, &err), TSR_OK);
    assert_memory_equal(begin, good, sizeof good);
    assert_int_equal(bounds(TSR_I32, small, 3, true, begin, &err), TSR_OK);
    assert_memory_equal(begin, ((int64_t[]){0, 0, 8}), 3 * sizeof *begin);
    assert_int_equal(bounds(TSR_I64, NULL, 0, false, begin, &err), TSR_OK);
    assert_int_equal(bounds(TSR_I64, NULL, 0, true, begin, &err), TSR_ERR_ARG);
    err = (tsr_error){0};
    assert_int_equal(bounds(TSR_I64, falls, 3, false, begin, &err), TSR_ERR_ARG);
    assert_string_equal(err.text, "embedding bags: offset 2 is 2, less than the 3 before it");
    err = (tsr_error){0};
    assert_int_equal(bounds(TSR_I64, late, 2, false, begin, &err), TSR_ERR_ARG);
    assert_string_equal(err.text, "embedding bags: offsets start at 1 instead of 0");
    err = (tsr_error){0};
    assert_int_equal(bounds(TSR_I64, far, 2, true, begin, &err), TSR_ERR_ARG);
    assert_string_equal(err.text, "embedding bags: offset 1 is 9, but there are only 8 ids");
}

/* Many rows and many ids: several passes of the sort, streamed stores, long sums of sums. */
static void check_large(tsr_dtype dtype, int64_t vocab, int64_t n, int64_t dim, int64_t hot)
{
    const size_t size = tsr_dtype_size(dtype);
    uint64_t seed = 6;
    problem p = {.dtype = dtype, .dim = dim, .keep = true};
    tsr_ids *ids = &p.bags.ids;
    int32_t *id = calloc((size_t)n, sizeof *id);
    double *sum = calloc((size_t)(vocab * dim), sizeof *sum);
    void *got;

    *ids = (tsr_ids){
        .dtype = TSR_I32, .data = id, .n = n, .vocab = vocab, .n_rows = vocab, .padding = -1};
    p.table = malloc((size_t)(vocab * dim) * size);
    p.grad_rows = malloc((size_t)(n * dim) * size);
    for (int64_t i = 0; i < vocab * dim; i++)
        tsr__put(dtype, p.table, i, (double)(i % 251));
    for (int64_t i = 0; i < n; i++) {
        id[i] = (int32_t)(below(&seed, 100) < hot ? 7 : below(&seed, vocab));
        for (int64_t d = 0; d < dim; d++) {
            const double g = (double)((i + d) % 5 - 2);

            tsr__put(dtype, p.grad_rows, i * dim + d, g);
            sum[id[i] * dim + d] += g;
        }
    }
    got = run(&p, TSR_EMBEDDING_BACKWARD, TSR_VARIANT_AUTO, false, NULL);
    for (int64_t i = 0; i < vocab * dim; i++)
        assert_true(tsr__get(dtype, got, i) == sum[i]);
    free(got);
    got = run(&p, TSR_EMBEDDING, TSR_VARIANT_AUTO, false, NULL);
    for (int64_t i = 0; i < n; i++)
        assert_memory_equal((char *)got + (size_t)(i * dim) * size,
                            (char *)p.table + (size_t)(id[i] * dim) * size, (size_t)dim * size);
    free(got);
    free(p.table);
    free(p.grad_rows);
    free(sum);
    free(id);
}

static void test_large(void **state)
{
    (void)state;
    check_large(TSR_F32, 30011, 40000, 64, 0);
    check_large(TSR_F32, 300, 20000, 33, 90);
    check_large(TSR_F64, 1100003, 2000, 2, 10);
    check_large(TSR_BF16, 9000, 10000, 100, 0);
}

/* A lookup into memory that is aligned to lines goes past the caches when it is large. */
static void test_streamed(void **state)
{
    enum { N = 50001, DIM = 64, V = 1000 };
    float *table = aligned_alloc(64, V * DIM * sizeof *table),
          *out = aligned_alloc(64, (size_t)N * DIM * sizeof *out);
    int64_t *id = calloc(N, sizeof *id);
    const tsr_lookup call = {
        .dim = DIM, .ids = {TSR_I64, id, N, V, 100, V - 200, 500}, .table = table, .out = out};

    (void)state;
    for (int i = 0; i < V * DIM; i++)
        table[i] = (float)i;
    for (int i = 0; i < N; i++)
        id[i] = i * 7 % V;
    tsr__embedding_forward(&call);
    for (int i = 0; i < N * DIM; i++) {
        const int64_t g = id[i / DIM], row = g == 500 ? -1 : g - 100;

        assert_true(out[i] == (row < 0 || row >= V - 200 ? 0 : (float)(row * DIM + i % DIM)));
    }
    free(table);
    free(out);
    free(id);
}

static void test_renorm(void **state)
{
    static const double norms[] = {2, 1, 3, INFINITY, 0.5};
    uint64_t seed = 7;

    (void)state;
    for (int64_t t = sample_first(sample_quick()); t < PROBLEMS * 2; t += sample_quick()) {
        problem p = random_problem(dtypes[t % 4], t % 2 ? TSR_I32 : TSR_I64, false, false, &seed);
        const int64_t n = p.bags.ids.n_rows * p.dim;
        const size_t bytes = (size_t)n * tsr_dtype_size(p.dtype);
        void *copy = malloc(bytes + 1), *scratch = malloc(tsr__scatter_bytes(p.bags.ids.n));
        tsr_renorm call = {p.dtype, p.dim, 1 + (double)below(&seed, 20), norms[t % 5], copy};

        memcpy(copy, p.table, bytes);
        tsr__reference_embedding_renorm(&call, &p.bags.ids);
        call.table = p.table;
        tsr__embedding_renorm(&call, &p.bags.ids, scratch);
        for (int64_t i = 0; i < n; i++) {
            const double x = tsr__get(p.dtype, p.table, i), y = tsr__get(p.dtype, copy, i);

            assert_true(fabs(x - y) <= 4 *
                                           (p.dtype == TSR_BF16  ? 0x1p-8
                                            : p.dtype == TSR_F16 ? 0x1p-11
                                            : p.dtype == TSR_F32 ? 0x1p-24
                                                                 : 0x1p-50) *
                                           fabs(y));
        }
        free(copy);
        free(scratch);
        free_problem(&p);
    }
}

/* A row whose norm is just max_norm, or is none, stays as it is; the padding row is one of them. */
static void test_renorm_edges(void **state)
{
    static const int64_t id[] = {0, 1, 2, 3};
    float table[4][2] = {{3, 4}, {NAN, 1}, {0, 0}, {6, 8}};
    const tsr_renorm call = {TSR_F32, 2, 5, 2, table};
    const tsr_ids ids = {
        .dtype = TSR_I64, .data = id, .n = 4, .vocab = 4, .n_rows = 4, .padding = 3};
    void *scratch = malloc(tsr__scatter_bytes(4));

    (void)state;
    tsr__embedding_renorm(&call, &ids, scratch);
    assert_true(table[0][0] == 3 && table[0][1] == 4);
    assert_true(isnan(table[1][0]) && table[1][1] == 1);
    assert_true(table[2][0] == 0 && table[2][1] == 0);
    assert_true(fabsf(table[3][0] - 3) < 1e-5F && fabsf(table[3][1] - 4) < 1e-5F);
    free(scratch);
}

/* Rows and numbers of rows that are several blocks; each row has its largest number elsewhere. */
static void test_renorm_blocks(void **state)
{
    enum { ROWS = 300, DIM = 600 };
    static const double norms[] = {1, 2, 3, INFINITY};
    double *table = malloc(ROWS * DIM * sizeof *table), *want = malloc(ROWS * DIM * sizeof *want);
    void *scratch = malloc(tsr__scatter_bytes(ROWS));
    int64_t id[ROWS];
    const tsr_ids ids = {
        .dtype = TSR_I64, .data = id, .n = ROWS, .vocab = ROWS, .n_rows = ROWS, .padding = -1};

    (void)state;
    for (int t = 0; t < 4; t++) {
        tsr_renorm call = {TSR_F64, DIM, 5, norms[t], want};

        for (int i = 0; i < ROWS * DIM; i++)
            table[i] = want[i] = i % DIM == i / DIM * 37 % DIM ? 100 : i % 7;
        for (int i = 0; i < ROWS; i++)
            id[i] = i;
        tsr__reference_embedding_renorm(&call, &ids);
        call.table = table;
        tsr__embedding_renorm(&call, &ids, scratch);
        for (int i = 0; i < ROWS * DIM; i++)
            assert_true(fabs(table[i] - want[i]) <= 0x1p-45 * want[i]);
    }
    free(scratch);
    free(table);
    free(want);
}

static void test_numeric(void **state)
{
    (void)state;
    assert_int_equal(check_numeric(numeric_path), 120);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offsets),       cmocka_unit_test(test_offsets_window),
        cmocka_unit_test(test_bad_ids),       cmocka_unit_test(test_variants),
        cmocka_unit_test(test_specials),      cmocka_unit_test(test_cut),
        cmocka_unit_test(test_large),         cmocka_unit_test(test_streamed),
        cmocka_unit_test(test_renorm),        cmocka_unit_test(test_renorm_edges),
        cmocka_unit_test(test_numeric),       cmocka_unit_test(test_cut_gradients),
        cmocka_unit_test(test_renorm_blocks),
    };

    if (argc > 1)
        numeric_path = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
