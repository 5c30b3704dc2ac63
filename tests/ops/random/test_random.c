/* SPDX-License-Identifier: Apache-2.0 */
/* test_random.c - random numbers: Philox against the vectors of its authors; numbers that depend on
   neither mesh, layout, world nor variant; moments and ranges of the distributions; dropout and its
   gradient; permutations; formulas; and what is refused. With the argument "mpi" the equality of
   meshes on the ranks that mpirun gave. */
#include "support/test.h"
#include "base/cpu.h"
#include "base/dtype.h"
#include "ops/random/random.h"

/* ---- Philox ---- */

/* kat_vectors of Random123. */
static void known_answers(void **state)
{
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const tsr_stream s = {known[i].key[0] | (uint64_t)known[i].key[1] << 32,
                              known[i].counter[2] | (uint64_t)known[i].counter[3] << 32};
        const uint64_t block = known[i].counter[0] | (uint64_t)known[i].counter[1] << 32;
        uint32_t out[4];

        tsr__philox(known[i].key, known[i].counter, out);
        assert_memory_equal(out, known[i].out, sizeof out);
        tsr__stream_block(&s, block, out);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

/* Than plain. */
static const struct {
    tsr_kernel_variant variant;
    bool (*runs)(void);
} faster[] = {{TSR_VARIANT_AVX2, tsr__cpu_avx2}, {TSR_VARIANT_AVX512, tsr__cpu_avx512}};

static void variants_give_the_same_words(void **state)
{
    enum { MOST = 70 };
    /* the last one steps over 2^32 blocks */
    const struct {
        tsr_stream s;
        uint64_t block;
    } from[] = {{{1, 2}, 0},
                {{UINT64_C(0x123456789abcdef0), UINT64_C(0xfedcba9876543210)}, 77},
                {{5, 0}, UINT64_C(0xfffffff8)}};

    (void)state;
    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        for (int n = 0; n <= MOST; n++) {
            uint32_t a[4 * MOST], b[4 * MOST];

            tsr__random_words(&from[i].s, from[i].block, n, TSR_VARIANT_PLAIN, a);
            for (int v = 0; v < 2; v++)
                if (faster[v].runs()) {
                    tsr__random_words(&from[i].s, from[i].block, n, faster[v].variant, b);
                    assert_memory_equal(a, b, (size_t)n * 16);
                }
        }
}

/* ---- the same numbers everywhere ---- */

enum { ROWS = 13, COLUMNS = 7, COUNT = ROWS * COLUMNS };

typedef struct maker {
    const char *name, *attr[2];
    const char *dtypes[4];
} maker;

static const maker makers[] = {
    {"uniform", {"low=-2", "seed=17"}, {"f32", "f64", "f16", "bf16"}},
    {"normal", {"std=3", "seed=18"}, {"f32", "f64", "f16", "bf16"}},
    {"bernoulli", {"p=0.3", "seed=19"}, {"f32", "i64", "u8", "bool"}},
    {"randint", {"high=1000", "seed=20"}, {"i32", "i64"}},
    {"permutation", {"offset=3", "seed=21"}, {"i32", "i64", "u8"}},
    {"dropout", {"p=0.4", "seed=22"}, {"f32", "f64", "f16", "bf16"}},
    {"arange", {"start=-3", "step=2"}, {"f32", "i64", "i32", "bf16"}},
    {"linspace", {"start=-3", "stop=11"}, {"f32", "f64", "f16"}},
    {"eye", {NULL, NULL}, {"f32", "i64", "bool"}},
};

/* What that op makes, in the host's order. */
static tsr_status make_host(tsr_mesh *mesh, const maker *m, const char *dtype, const char *place,
                            void *out, size_t bytes)
{
    const bool list = strcmp(m->name, "permutation") == 0;
    char spec[128];
    tsr_tensor *x, *y;

    if (list)
        snprintf(spec, sizeof spec, "%s[%d]@%s", dtype, COUNT, place);
    else
        snprintf(spec, sizeof spec, "%s[%d,%d]@%s", dtype, ROWS, COLUMNS, place);
    x = tsr_full(mesh, spec, 1);
    y = tsr_op_run(mesh, m->name, &x, 1, m->attr, m->attr[0] ? 2 : 0);
    return tsr_to_host(y, out, bytes);
}

static tsr_status same_as_one_rank(tsr_mesh *mesh, void *arg)
{
    static const char *const one[] = {"[S(0)]", "[S(1)]", "[SS(0,2)]", "[SS(1,3)]", "[P(sum)]"};
    static const char *const two[] = {"[S(0),S(1)]", "[SS(0,2),S(0)]", "[S(1),SS(0,3)]",
                                      "[P(sum),S(0)]", "[S(0),S(0)]"};
    const char *const *places = tsr_mesh_shape_get(mesh)->ndim == 1 ? one : two;

    (void)arg;
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        for (int t = 0; t < 4 && makers[i].dtypes[t]; t++) {
            const char *dtype = makers[i].dtypes[t];
            const bool list = strcmp(makers[i].name, "permutation") == 0;
            uint64_t want[COUNT] = {0}, got[COUNT] = {0};
            tsr_dtype number;
            size_t bytes;

            CHECK(tsr__dtype_parse(dtype, strlen(dtype), &number, NULL) == TSR_OK);
            bytes = COUNT * tsr_dtype_size(number);
            CHECK(make_host(mesh, &makers[i], dtype,
                            tsr_mesh_shape_get(mesh)->ndim == 1 ? "[R]" : "[R,R]", want,
                            bytes) == TSR_OK);
            for (int p = 0; p < 5; p++) {
                if ((list && strstr(places[p], "(1")) ||
                    (number == TSR_BOOL && strstr(places[p], "P(")))
                    continue;
                CHECK(make_host(mesh, &makers[i], dtype, places[p], got, bytes) == TSR_OK);
                CHECK(memcmp(got, want, bytes) == 0);
            }
        }
    return TSR_OK;
}

/* All of a mesh agree with a mesh of one. */
static tsr_status same_as_alone(tsr_mesh *mesh, void *arg)
{
    float *alone = arg, here[COUNT];
    tsr_tensor *x = tsr_randn(mesh, mesh ? "f32[13,7]@[S(0)]" : "", 5);

    CHECK(tsr_to_host(x, here, sizeof here) == TSR_OK);
    if (tsr_mesh_shape_get(mesh)->size[0] == 1)
        memcpy(alone, here, sizeof here);
    CHECK(memcmp(alone, here, sizeof here) == 0);
    return TSR_OK;
}

static void meshes_do_not_matter(void **state)
{
    static const char *const meshes[] = {"1", "2", "3", "4", "2x2", "2x3"};
    float alone[COUNT];

    (void)state;
    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++)
        pass_on(meshes[i], same_as_one_rank, NULL);
    for (size_t i = 0; i < 4; i++)
        pass_on(meshes[i], same_as_alone, alone);
}

/* ---- kernels: every variant gives the same bits ---- */

static void fill(const char *name, const char *const *attrs, tsr_dtype dtype, int64_t n,
                 tsr_kernel_variant variant, void *y)
{
    const tsr_op *op = tsr_op_find(NULL, name);
    tsr_spec spec = {.dtype = dtype,
                     .shape = {.ndim = 1, .size = {n}},
                     .mesh = {.ndim = 1, .size = {1}, .stride = {1}}};
    tsr_kernel_call call = {
        .kind = op->kind, .n_in = 1, .n_out = 1, .number = {n}, .variant = variant};
    tsr_schema s;
    tsr_error err = {0};

    if (tsr_schema_make(op, &spec, 1, attrs, 2, &s, &err) != TSR_OK)
        fail_msg("%s", err.text);
    call.attrs = s.attrs;
    call.in[0] = (tsr_operand){.dtype = dtype, .shape = spec.shape, .data = y};
    call.out[0] = call.in[0];
    call.error = &err;
    op->kernel(&call);
}

static void variants_give_the_same_bits(void **state)
{
    static const struct {
        const char *name, *attr[2];
    } ops[] = {{"uniform", {"low=-2", "seed=1"}},
               {"normal", {"std=3", "seed=2"}},
               {"bernoulli", {"p=0.3", "seed=3"}},
               {"dropout", {"p=0.3", "seed=4"}}};
    enum { N = 5003 };
    double *a = malloc(N * 8), *b = malloc(N * 8);

    (void)state;
    assert_true(a && b);
    for (size_t i = 0; i < 2 * sizeof ops / sizeof *ops; i++)
        for (int dtype = TSR_F32; dtype <= TSR_BF16 && faster[i % 2].runs(); dtype++) {
            for (int64_t k = 0; k < N; k++) {
                tsr__put((tsr_dtype)dtype, a, k, (double)(k % 17) - 5);
                tsr__put((tsr_dtype)dtype, b, k, (double)(k % 17) - 5);
            }
            fill(ops[i / 2].name, ops[i / 2].attr, (tsr_dtype)dtype, N, TSR_VARIANT_PLAIN, a);
            fill(ops[i / 2].name, ops[i / 2].attr, (tsr_dtype)dtype, N, faster[i % 2].variant, b);
            assert_memory_equal(a, b, N * tsr_dtype_size((tsr_dtype)dtype));
        }
    free(a);
    free(b);
}

/* ---- distributions ---- */

enum { MANY = 200000 };

typedef struct moments {
    double mean, variance, skew, excess, least, most;
} moments;

static moments moments_of(tsr_dtype dtype, const void *x)
{
    moments m = {.least = INFINITY, .most = -INFINITY};
    double third = 0, fourth = 0;

    for (int64_t i = 0; i < MANY; i++)
        m.mean += tsr__get(dtype, x, i) / MANY;
    for (int64_t i = 0; i < MANY; i++) {
        const double v = tsr__get(dtype, x, i), d = v - m.mean;

        m.variance += d * d / MANY;
        third += d * d * d / MANY;
        fourth += d * d * d * d / MANY;
        m.least = fmin(m.least, v);
        m.most = fmax(m.most, v);
    }
    m.skew = third / pow(m.variance, 1.5);
    m.excess = fourth / (m.variance * m.variance) - 3;
    return m;
}

static bool near(double x, double want, double by)
{
    return fabs(x - want) <= by;
}

/* Bounds are about five standard deviations of the moments of so many. */
static tsr_status check_moments(tsr_mesh *mesh, void *arg)
{
    static const char *const dtypes[] = {"f32", "f64", "f16", "bf16"};
    double *x = arg;
    char spec[64];
    moments m;

    for (int t = 0; t < 4; t++) {
        const double digits = t == 3   ? 0x1p-9
                              : t == 2 ? 0x1p-12
                                       : 0; /* numbers are cut off there */

        snprintf(spec, sizeof spec, "%s[%d]@[S(0)]", dtypes[t], MANY);
        CHECK(tsr_to_host(tsr_uniform(mesh, spec, 2, 4, 11), x,
                          MANY * tsr_dtype_size((tsr_dtype)t)) == TSR_OK);
        m = moments_of((tsr_dtype)t, x);
        CHECK(near(m.mean, 3 - 2 * digits, 0.007 + digits) && near(m.variance, 1 / 3.0, 0.005));
        CHECK(near(m.skew, 0, 0.03) && near(m.excess, -1.2, 0.03));
        CHECK(m.least >= 2 && m.most < 4 && m.least < 2.001 && m.most > 3.98);
        CHECK(tsr_to_host(tsr_normal(mesh, spec, -1, 2, 12), x,
                          MANY * tsr_dtype_size((tsr_dtype)t)) == TSR_OK);
        m = moments_of((tsr_dtype)t, x);
        CHECK(near(m.mean, -1, 0.025) && near(m.variance, 4, 0.07));
        CHECK(near(m.skew, 0, 0.03) && near(m.excess, 0, 0.06));
        CHECK(m.least < -1 - 2 * 3.8 && m.most > -1 + 2 * 3.8);
    }
    CHECK(tsr_to_host(tsr_bernoulli(mesh, "f64[200000]@[S(0)]", 0.3, 13), x, MANY * 8) == TSR_OK);
    m = moments_of(TSR_F64, x);
    CHECK(near(m.mean, 0.3, 0.006) && m.least == 0 && m.most == 1);
    CHECK(near(m.variance, 0.21, 0.003));
    CHECK(tsr_to_host(tsr_randint(mesh, "i64[200000]@[S(0)]", -5, 6, 14), x, MANY * 8) == TSR_OK);
    m = moments_of(TSR_I64, x);
    CHECK(near(m.mean, 0, 0.04) && near(m.variance, 10, 0.1) && m.least == -5 && m.most == 5);
    CHECK(tsr_to_host(tsr_uniform(mesh, "f32[200000]@[R]", 1, 2, 15), x, MANY * 4) == TSR_OK);
    CHECK(moments_of(TSR_F32, x).most < 2); /* 1 + (1 - 2^-24) would be rounded to it */
    CHECK(tsr_to_host(tsr_uniform(mesh, "f32[200000]@[R]", 3, 3, 15), x, MANY * 4) == TSR_OK);
    CHECK(moments_of(TSR_F32, x).most == 3 && moments_of(TSR_F32, x).least == 3);
    return TSR_OK;
}

static void distributions(void **state)
{
    void *x = malloc(MANY * 8);

    (void)state;
    assert_non_null(x);
    pass_on("1", check_moments, x);
    free(x);
}

/* Normals to the last digits: what the formulas give in f64 of the same words. */
static void normals_are_exact(void **state)
{
    static const char *const attrs[] = {"std=1", "seed=9"};
    static const double bound[] = {[TSR_F32] = 1e-6, [TSR_F64] = 2e-15};
    enum { N = 100000 };
    void *got = malloc(N * 8), *want = malloc(N * 8);

    (void)state;
    assert_true(got && want);
    for (tsr_dtype dtype = TSR_F32; dtype <= TSR_F64; dtype++) {
        double worst = 0;

        fill("normal", attrs, dtype, N, TSR_VARIANT_AUTO, got);
        fill("normal", attrs, dtype, N, TSR_VARIANT_REFERENCE, want);
        for (int i = 0; i < N; i++) {
            const double x = tsr__get(dtype, want, i);

            worst = fmax(worst, fabs(tsr__get(dtype, got, i) - x) / fmax(fabs(x), 1e-3));
        }
        assert_true(worst < bound[dtype]);
    }
    free(got);
    free(want);
}

/* ---- permutations ---- */

static tsr_status check_permutation(tsr_mesh *mesh, void *arg)
{
    static const int sizes[] = {1, 2, 3, 5, 64, 1000, 4097};

    (void)arg;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int n = sizes[i];
        int64_t x[4097];
        bool seen[4097] = {false};
        char spec[64];
        int stay = 0;

        snprintf(spec, sizeof spec, "i64[%d]@[S(0)]", n);
        CHECK(tsr_to_host(tsr_permutation(mesh, spec, 3), x, (size_t)n * 8) == TSR_OK);
        for (int k = 0; k < n; k++) {
            CHECK(x[k] >= 0 && x[k] < n && !seen[x[k]]);
            seen[x[k]] = true;
            stay += x[k] == k;
        }
        CHECK(n < 1000 || stay < 8); /* one is expected */
    }
    return TSR_OK;
}

/* All orders of a few are about equally likely: chi square. */
static void orders_are_equally_likely(void **state)
{
    enum { TRIES = 24000 };

    (void)state;
    for (int n = 3; n <= 4; n++) {
        const int orders = n == 3 ? 6 : 24;
        int count[256] = {0};
        double chi = 0, expected = (double)TRIES / orders;

        for (int i = 0; i < TRIES; i++) {
            char seed[32];
            int64_t x[4];
            int code = 0;

            snprintf(seed, sizeof seed, "seed=%d", i);
            fill("permutation", (const char *[]){seed, "offset=1"}, TSR_I64, n, TSR_VARIANT_AUTO,
                 x);
            for (int k = 0; k < n; k++)
                code = code * 4 + (int)x[k];
            count[code]++;
        }
        for (int c = 0; c < 256; c++)
            chi += count[c] ? (count[c] - expected) * (count[c] - expected) / expected : 0;
        for (int c = 0, found = 0; c < 256; c++) {
            found += count[c] > 0;
            if (c == 255)
                assert_int_equal(found, orders);
        }
        assert_true(chi < (n == 3 ? 20.5 : 49.7)); /* exceeded once in a thousand */
    }
}

static void permutations(void **state)
{
    (void)state;
    pass_on("1", check_permutation, NULL);
    pass_on("3", check_permutation, NULL);
}

/* ---- dropout ---- */

static tsr_status check_dropout(tsr_mesh *mesh, void *arg)
{
    float y[MANY / 10], g[MANY / 10];
    tsr_tensor *x = tsr_full(mesh, "f32[20000]@[S(0)]", 3), *grad, *out[TSR_OP_OUTPUTS] = {NULL};
    tsr_tensor *one = tsr_full(mesh, "f32[20000]@[R]", 1);
    int zeros = 0;

    (void)arg;
    out[0] = tsr_dropout(x, 0.25, 7, 2);
    CHECK(tsr_to_host(out[0], y, sizeof y) == TSR_OK);
    CHECK(tsr_op_grad(mesh, "dropout", &x, 1, (const char *[]){"p=0.25", "seed=7", "offset=2"}, 3,
                      out, &one, NULL, &grad) == TSR_OK);
    CHECK(tsr_to_host(grad, g, sizeof g) == TSR_OK);
    for (int i = 0; i < 20000; i++) {
        CHECK(y[i] == 0 || y[i] == 4);
        CHECK(g[i] * 3 == y[i]);
        zeros += y[i] == 0;
    }
    CHECK(zeros > 4700 && zeros < 5300);
    CHECK(tsr_to_host(tsr_dropout(x, 0, 7, 2), y, sizeof y) == TSR_OK && y[0] == 3);
    CHECK(tsr_to_host(tsr_dropout(x, 1, 7, 2), y, sizeof y) == TSR_OK);
    for (int i = 0; i < 20000; i++)
        CHECK(y[i] == 0);
    return TSR_OK;
}

static void dropout(void **state)
{
    (void)state;
    pass_on("2", check_dropout, NULL);
}

/* ---- formulas ---- */

static tsr_status check_formulas(tsr_mesh *mesh, void *arg)
{
    int64_t i[12];
    double x[12];

    (void)arg;
    CHECK(tsr_to_host(tsr_arange(mesh, "i64[12]@[S(0)]", 0x1p53, 1), i, sizeof i) == TSR_OK);
    for (int k = 0; k < 12; k++)
        CHECK(i[k] == (INT64_C(1) << 53) + k); /* not all are numbers of f64 */
    CHECK(tsr_to_host(tsr_linspace(mesh, "f64[12]@[S(0)]", 0.1, 0.7), x, sizeof x) == TSR_OK);
    CHECK(x[0] == 0.1 && x[11] == 0.7 && near(x[5], 0.1 + 5 * 0.6 / 11, 1e-15));
    CHECK(tsr_to_host(tsr_linspace(mesh, "f64[1]@[R]", 0.1, 0.7), x, 8) == TSR_OK && x[0] == 0.1);
    CHECK(tsr_to_host(tsr_eye(mesh, "f64[3,4]@[S(1)]"), x, sizeof x) == TSR_OK);
    for (int k = 0; k < 12; k++)
        CHECK(x[k] == (k / 4 == k % 4));
    return TSR_OK;
}

static void formulas(void **state)
{
    (void)state;
    pass_on("1", check_formulas, NULL);
    pass_on("2", check_formulas, NULL);
    pass_on("5", check_formulas, NULL);
}

/* ---- what is refused ---- */

static const struct bad {
    const char *op, *spec, *attr[2], *says;
    tsr_status code;
} bad[] = {
    {"uniform",
     "i64[4]@[R]",
     {"low=0", "high=1"},
     "uniform: needs a floating-point dtype",
     TSR_ERR_DTYPE},
    {"uniform",
     "f32[4]@[R]",
     {"low=2", "high=1"},
     "uniform: low is 2, greater than high, 1",
     TSR_ERR_ARG},
    {"normal",
     "f32[4]@[R]",
     {"mean=2", "std=-1"},
     "normal: std is -1, must be at least 0",
     TSR_ERR_ARG},
    {"bernoulli",
     "f32[4]@[R]",
     {"p=1.5", "seed=1"},
     "bernoulli: p is 1.5, must be in [0, 1]",
     TSR_ERR_ARG},
    {"dropout", "f32[4]@[R]", {"p=-0.5", "seed=1"}, "dropout: p is -0.5", TSR_ERR_ARG},
    {"dropout",
     "i32[4]@[R]",
     {"p=0.5", "seed=1"},
     "dropout: needs a floating-point",
     TSR_ERR_DTYPE},
    {"randint",
     "i64[4]@[R]",
     {"low=3", "high=3"},
     "randint: low is 3, must be less than high, 3",
     TSR_ERR_ARG},
    {"randint",
     "i64[4]@[R]",
     {"low=3", "seed=3"},
     "randint: missing required attribute high",
     TSR_ERR_ARG},
    {"randint",
     "u8[4]@[R]",
     {"low=-1", "high=3"},
     "randint: -1 to 2 do not all fit dtype u8[4]",
     TSR_ERR_ARG},
    {"randint", "f32[4]@[R]", {"low=1", "high=3"}, "randint: needs an integer type", TSR_ERR_DTYPE},
    {"permutation",
     "f32[4]@[R]",
     {"seed=1", "offset=3"},
     "permutation: needs an integer type",
     TSR_ERR_DTYPE},
    {"permutation",
     "i64[4,2]@[R]",
     {"seed=1", "offset=3"},
     "permutation: needs a 1-D tensor",
     TSR_ERR_SHAPE},
    {"arange",
     "i64[4]@[R]",
     {"start=0", "step=0.5"},
     "arange: step=0.5 is not an integer, which dtype i64 requires",
     TSR_ERR_ARG},
    {"linspace",
     "i64[4]@[R]",
     {"start=0", "stop=3"},
     "linspace: needs a floating-point",
     TSR_ERR_DTYPE},
    {"eye", "f32[4]@[R]", {NULL, NULL}, "eye: needs a matrix, not f32[4]", TSR_ERR_SHAPE},
};

static tsr_status check_bad(tsr_mesh *mesh, void *arg)
{
    const struct bad *b = arg;
    tsr_tensor *x = tsr_full(mesh, b->spec, 1);

    tsr_op_run(mesh, b->op, &x, 1, b->attr, b->attr[0] ? 2 : 0);
    if (tsr_mesh_status(mesh) != b->code || !strstr(tsr_mesh_message(mesh), b->says)) {
        fprintf(stderr, "%s: \"%s\", expected \"%s\"\n", b->op, tsr_mesh_message(mesh), b->says);
        return TSR_ERR_MISMATCH;
    }
    tsr_mesh_clear_error(mesh);
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

static tsr_status under_mpi(tsr_mesh *mesh, void *arg)
{
    return same_as_one_rank(mesh, arg);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(variants_give_the_same_words),
        cmocka_unit_test(variants_give_the_same_bits),
        cmocka_unit_test(meshes_do_not_matter),
        cmocka_unit_test(distributions),
        cmocka_unit_test(normals_are_exact),
        cmocka_unit_test(permutations),
        cmocka_unit_test(orders_are_equally_likely),
        cmocka_unit_test(dropout),
        cmocka_unit_test(formulas),
        cmocka_unit_test(bad_input),
    };

    if (argc > 1 && strcmp(argv[1], "mpi") == 0)
        return run_under_mpi(NULL, under_mpi, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
