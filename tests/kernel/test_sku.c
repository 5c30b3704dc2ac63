/* SPDX-License-Identifier: Apache-2.0 */
/* test_sku.c - kernels by SKU: pinned values, the list, texts, which variant runs; and every kernel
   of the list that this processor has, run by its SKU and compared with the reference. */
#include "support/test.h"
#include "base/cpu.h"
#include "kernel/kinds.h"
#include "kernel/blas.h"
#include "ops/convolution/pooling.h"
#include "ops/convolution/resample.h"
#include "op/local_call.h"
#include "op/schema.h"
#include "validate/trial.h"

/* Of f32 and indices of i64, by reference. */
static const char *const pinned[] = {
    [TSR_EMBEDDING] = "embedding.embedding.f32.i64.reference",
    [TSR_EMBEDDING_BACKWARD] = "embedding.embedding_backward.f32.i64.reference",
    [TSR_EMBEDDING_BAG_SUM] = "embedding.bag_sum.f32.i64.reference",
    [TSR_EMBEDDING_BAG_MEAN] = "embedding.bag_mean.f32.i64.reference",
    [TSR_EMBEDDING_BAG_SUM_BACKWARD] = "embedding.bag_sum_backward.f32.i64.reference",
    [TSR_EMBEDDING_BAG_MEAN_BACKWARD] = "embedding.bag_mean_backward.f32.i64.reference",
    [TSR_EMBEDDING_BAG_MAX] = "embedding.bag_max.f32.i64.reference",
    [TSR_EMBEDDING_BAG_MAX_BACKWARD] = "embedding.bag_max_backward.f32.i64.reference",
    [TSR_EMBEDDING_BAG_WEIGHTS_BACKWARD] = "embedding.bag_weights_backward.f32.i64.reference",
    [TSR_EMBEDDING_RENORM] = "embedding.embedding_renorm.f32.i64.reference",
};

/* Only lookups have public numbers: programs may have stored them. */
static void test_pinned(void **state)
{
    static const int first[] = {
        TSR_EMBEDDING,          TSR_EMBEDDING_BACKWARD,         TSR_EMBEDDING_BAG_SUM,
        TSR_EMBEDDING_BAG_MEAN, TSR_EMBEDDING_BAG_SUM_BACKWARD, TSR_EMBEDDING_BAG_MEAN_BACKWARD,
        TSR_EMBEDDING_BAG_MAX,  TSR_EMBEDDING_BAG_MAX_BACKWARD};
    char text[TSR_SKU_TEXT_LEN];

    (void)state;
    assert_int_equal(sizeof(tsr_kernel_category), 2);
    assert_int_equal(sizeof(tsr_embedding_kind), 2);
    assert_int_equal(sizeof(tsr_kernel_variant), 2);
    assert_int_equal(TSR_VARIANT_AUTO, 0);
    assert_int_equal(TSR_VARIANT_REFERENCE, 1);
    assert_int_equal(TSR_VARIANT_PLAIN, 2);
    assert_int_equal(TSR_VARIANT_AVX2, 3);
    assert_int_equal(TSR_VARIANT_AVX512, 4);
    assert_int_equal(TSR_VARIANT_LIBRARY, 5);
    assert_int_equal(TSR_CATEGORY_EMBEDDING, 0);
    for (int i = 0; i < (int)(sizeof first / sizeof *first); i++)
        assert_int_equal(first[i], i);
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
        const tsr_kernel_sku sku = {TSR_CATEGORY_EMBEDDING, (uint16_t)i, TSR_F32, TSR_I64,
                                    TSR_VARIANT_REFERENCE};

        assert_string_equal(tsr_kernel_sku_text(&sku, text, sizeof text), pinned[i]);
        assert_true(tsr__sku_exists(&sku));
    }
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

/* Wherever a variant exists, so do its reference and the vectors that are less wide. */
static bool has_all_below(tsr_kernel_sku sku)
{
    const tsr_kernel_variant most =
        sku.variant == TSR_VARIANT_LIBRARY ? TSR_VARIANT_REFERENCE : sku.variant;
    bool all = true;

    for (sku.variant = TSR_VARIANT_REFERENCE; sku.variant < most; sku.variant++)
        all = all && tsr__sku_exists(&sku);
    return all && tsr__sku_exists(&sku);
}

static void test_list(void **state)
{
    const int n = tsr_kernel_count();
    tsr_kernel_sku sku = tsr_kernel_at(0), last = tsr_kernel_at(n - 1);
    uint64_t *hash = calloc((size_t)n, sizeof *hash);

    (void)state;
    assert_non_null(hash);
    for (int i = 0; i < n; i++) {
        tsr_kernel_sku back = {0};
        char text[TSR_SKU_TEXT_LEN];

        assert_true(tsr__sku_exists(&sku));
        assert_true(sku.variant != TSR_VARIANT_AUTO);
        assert_true(has_all_below(sku));
        hash[i] = tsr_kernel_sku_hash(&sku);
        tsr_kernel_sku_text(&sku, text, sizeof text);
        assert_true(strlen(text) < sizeof text - 1);
        assert_int_equal(tsr_kernel_sku_parse(text, &back, NULL), TSR_OK);
        assert_true(tsr_kernel_sku_equal(&sku, &back));
        assert_int_equal(tsr_kernel_next(&sku), i < n - 1);
    }
    assert_true(tsr_kernel_sku_equal(&sku, &last)); /* behind the last nothing is written */
    sku.op = UINT16_MAX;
    assert_false(tsr_kernel_next(&sku));
    qsort(hash, (size_t)n, sizeof *hash, compare_hashes);
    for (int i = 1; i < n; i++)
        assert_true(hash[i - 1] != hash[i]);
    free(hash);
}

static void test_bad(void **state)
{
    static const char *const bad[] = {"",
                                      "embedding",
                                      "pointwise.add.f32",
                                      "pointwise.add.f32.i64.avx2",
                                      "pointwise.add.f32.avx",
                                      "pointwise.add.f32.avx2 ",
                                      "pointwise.add.bool.avx2",
                                      "embedding.bag_sum.f32.avx2",
                                      "embedding.bag_sum.i32.i64.plain",
                                      "linalg.matmul.f32.avx2",
                                      "linalg.matmul.i32.auto"};
    tsr_kernel_sku sku = {.op = 1000, .dtype = TSR_I64, .index = TSR_I32};
    char text[TSR_SKU_TEXT_LEN];

    (void)state;
    assert_string_equal(tsr_kernel_sku_text(&sku, text, sizeof text),
                        "embedding.1000.i64.i32.auto");
    assert_false(tsr__sku_exists(&sku));
    assert_int_equal(tsr_kernel_variant_best(&sku), TSR_VARIANT_AUTO);
    sku = (tsr_kernel_sku){.category = 77, .index = TSR_NO_INDEX, .variant = 77};
    assert_string_equal(tsr_kernel_sku_text(&sku, text, sizeof text), "unknown.0.f32.unknown");
    assert_false(tsr__sku_exists(&sku));
    assert_int_equal(tsr_kernel_variant_best(&sku), TSR_VARIANT_AUTO);
    sku = (tsr_kernel_sku){.index = TSR_NO_INDEX, .variant = TSR_VARIANT_PLAIN};
    assert_false(tsr__sku_exists(&sku));
    assert_string_equal(tsr_kernel_op_name(TSR_CATEGORY_EMBEDDING, 1000), "unknown");
    assert_string_equal(tsr_kernel_op_name(1000, 0), "unknown");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tsr_error err = {0};

        assert_int_equal(tsr_kernel_sku_parse(bad[i], &sku, &err), TSR_ERR_PARSE);
        assert_non_null(strstr(err.text, bad[i]));
    }
}

static void expect_best(const char *wanted, tsr_kernel_variant want)
{
    tsr_kernel_sku sku;

    assert_int_equal(tsr_kernel_sku_parse(wanted, &sku, NULL), TSR_OK);
    assert_string_equal(tsr_kernel_variant_name(tsr_kernel_variant_best(&sku)),
                        tsr_kernel_variant_name(want));
}

static void test_best(void **state)
{
    const tsr_kernel_variant avx2 = tsr__cpu_avx2() ? TSR_VARIANT_AVX2 : TSR_VARIANT_PLAIN;

    (void)state;
    expect_best("embedding.bag_sum.f32.i64.auto", tsr__cpu_avx512() ? TSR_VARIANT_AVX512 : avx2);
    expect_best("embedding.bag_sum.f32.i64.avx2", avx2);
    expect_best("embedding.bag_sum.f32.i64.plain", TSR_VARIANT_PLAIN);
    expect_best("embedding.embedding_renorm.bf16.i32.auto", TSR_VARIANT_PLAIN);
    expect_best("pointwise.add.f32.auto", avx2);
    expect_best("pointwise.neg.bf16.auto", avx2);
    expect_best("pointwise.cast.bf16.auto", TSR_VARIANT_PLAIN);
    expect_best("pointwise.add.bool.auto", TSR_VARIANT_REFERENCE);
    expect_best("linalg.matmul.f16.auto", TSR_VARIANT_LIBRARY);
    expect_best("linalg.matmul.f16.reference", TSR_VARIANT_REFERENCE);
    expect_best("move.cat.u8.auto", TSR_VARIANT_PLAIN);
    /* what there is not becomes the next lesser one */
    assert_int_equal(
        tsr__variant_best(TSR_CATEGORY_LINALG, TSR_LINALG_MATMUL, TSR_F32, TSR_VARIANT_AVX512),
        TSR_VARIANT_REFERENCE);
    assert_int_equal(
        tsr__variant_best(TSR_CATEGORY_POINTWISE, TSR_POINTWISE_ADD, TSR_F32, TSR_VARIANT_LIBRARY),
        avx2);
}

/* ---- running by SKU ---- */

enum { MOST = 4096 }; /* elements of an operand */

typedef struct runner {
    tsr_kernel_sku sku;
    bool only_bool; /* cases of the row */
    int ran;
    void *in[TSR_OP_INPUTS], *out[2][TSR_OP_OUTPUTS]; /* of the variant, of the reference */
} runner;

static void *memory(size_t bytes)
{
    void *p = malloc(bytes);

    assert_non_null(p);
    return p;
}

/* Small numbers, for which sums and products are exact. */
static void fill(tsr_dtype dtype, int64_t n, void *x)
{
    assert_true(n <= MOST);
    for (int64_t i = 0; i < n; i++)
        tsr__put(dtype, x, i,
                 (double)((i * 7 + i / 5) % 5 -
                          (tsr__dtype_is_integer(dtype) && !tsr__dtype_min(dtype) ? 0 : 2)));
}

static bool is_attention(const tsr_kernel_sku *sku)
{
    return sku->category == TSR_CATEGORY_LINALG &&
           (sku->op == TSR_LINALG_ATTENTION || sku->op == TSR_LINALG_ATTENTION_BACKWARD);
}

/* What errors are compared with besides the element itself: where terms of a row cancel, its
   largest element. */
static double scale_of(const runner *r, tsr_dtype dtype, int64_t n, const void *want)
{
    double scale = 1;

    if (r->sku.category != TSR_CATEGORY_SOFTMAX && r->sku.category != TSR_CATEGORY_LOSS &&
        r->sku.category != TSR_CATEGORY_LAYER_NORM && r->sku.category != TSR_CATEGORY_NORM &&
        r->sku.category != TSR_CATEGORY_RESAMPLING && !is_attention(&r->sku))
        return 0;
    for (int64_t i = 0; i < n; i++)
        scale = fmax(scale, fabs(tsr__get(dtype, want, i)));
    return scale;
}

static void compare(const runner *r, const char *what, tsr_dtype dtype, int64_t n, const void *got,
                    const void *want, bool exact)
{
    static const double eps[] = {0x1p-23, 0x1p-52, 0x1p-10, 0x1p-7};
    const size_t size = tsr_dtype_size(dtype);
    const double scale = scale_of(r, dtype, n, want);
    const double least = r->sku.dtype == TSR_F64 ? 0 : eps[TSR_F32]; /* of what is computed in */
    char text[TSR_SKU_TEXT_LEN];

    for (int64_t i = 0; i < n; i++) {
        const double x = tsr__get(dtype, got, i), y = tsr__get(dtype, want, i);

        if (memcmp((const char *)got + (size_t)i * size, (const char *)want + (size_t)i * size,
                   size) != 0 &&
            !(isnan(x) && isnan(y) && !exact) &&
            (exact || !tsr__dtype_is_float(dtype) ||
             !(fabs(x - y) <= 8 * fmax(eps[dtype], least) * fmax(scale, fabs(y)))))
            fail_msg("%s: %s: element %d is %g, reference %g",
                     tsr_kernel_sku_text(&r->sku, text, sizeof text), what, (int)i, x, y);
    }
}

/* The case of a row with the SKU's dtypes instead of f64 and i64; of a row of booleans
   instead of these. */
static void retype(const runner *r, const char *text, char *buf, size_t n)
{
    const bool half = r->sku.dtype == TSR_F16 || r->sku.dtype == TSR_BF16;
    const bool backward =
        r->sku.category == TSR_CATEGORY_LINALG && r->sku.op == TSR_LINALG_ATTENTION_BACKWARD;
    size_t used = 0;
    int input = 0;

    while (*text && used + 8 < n) {
        const bool f = !strncmp(text, "f64", 3), i = !strncmp(text, "i64", 3);
        const bool b = r->only_bool && !strncmp(text, "bool", 4);
        const bool fine = half && backward && (input == 5 || input == 6); /* lse and its gradient */
        const tsr_dtype dtype = fine ? TSR_F32 : i ? (tsr_dtype)r->sku.index : r->sku.dtype;

        input += *text == ' ';

        if (f || b || (i && r->sku.index != TSR_NO_INDEX)) {
            used += (size_t)snprintf(buf + used, n - used, "%s", tsr_dtype_name(dtype));
            text += b ? 4 : 3;
        } else if (*text == '+' && !tsr__dtype_is_float(r->sku.dtype)) {
            text++; /* only floats are said to be positive */
        } else {
            buf[used++] = *text++;
        }
    }
    buf[used] = 0;
}

static void run_case(runner *r, const tsr_op *op, const char *text)
{
    const tsr_mesh_shape mesh = tsr__case_mesh(1);
    tsr_spec out[TSR_OP_OUTPUTS];
    char line[TSR_TEXT_LEN];
    const int coord = 0;
    tsr_heap heap = {0};
    tsr_schema s;

    retype(r, text, line, sizeof line);
    if (tsr__case_read(op, line, &mesh, &s, NULL) != TSR_OK)
        return; /* not all cases are for all dtypes */
    for (int reference = 0; reference < 2; reference++) {
        const tsr_windows none = {0};
        tsr_error error = {0};
        tsr_kernel_call call = {.variant = reference ? TSR_VARIANT_REFERENCE : r->sku.variant};

        for (int k = 0; k < s.n_out; k++)
            out[k] = (tsr_spec){.dtype = s.out_dtype[k], .shape = s.out_shape[k], .mesh = mesh};
        tsr__local_call(&s, s.in, out, &none, &coord, &call);
        for (int k = 0; k < s.n_in; k++) {
            const tsr_range range = tsr__case_range(line, k);
            const int64_t n = tsr__schema_has(&s, k) ? tsr_shape_count(&s.in[k].shape) : 0;

            fill(s.in[k].dtype, n, r->in[k]);
            for (int64_t i = 0; i < n && range.kind != TSR_RANGE_NONE; i++)
                tsr__put(s.in[k].dtype, r->in[k], i,
                         range.kind == TSR_RANGE_POSITIVE ? (double)(1 + i * 7 % 5)
                                                          : (double)tsr__range_value(&range, 7, i));
            call.in[k].data = tsr__schema_has(&s, k) ? r->in[k] : NULL;
        }
        for (int k = 0; k < s.n_out; k++) {
            memset(r->out[reference][k], 0xff, MOST * 8);
            call.out[k].data = tsr__schema_gives(&s, k) ? r->out[reference][k] : NULL;
        }
        for (int k = 0; k < op->inplace; k++)
            memcpy(call.out[k].data, r->in[k], MOST * 8);
        assert_int_equal(tsr__kernel_once(&heap, op, &call, &error), TSR_OK);
    }
    for (int k = 0; k < s.n_out; k++)
        if (s.out_shape[k].ndim >= 0)
            compare(r, line, s.out_dtype[k], tsr_shape_count(&s.out_shape[k]), r->out[0][k],
                    r->out[1][k], false);
    r->ran++;
}

static void run_conv(runner *r)
{
    const tsr_conv_shape shape = {.ndim = 2,
                                  .batch = 2,
                                  .in_channels = 4,
                                  .out_channels = 6,
                                  .groups = 2,
                                  .in = {7, 9},
                                  .out = {7, 9},
                                  .kernel = {3, 3},
                                  .stride = {1, 1},
                                  .dilation = {1, 1},
                                  .pad_lo = {1, 1}};
    const int64_t x = 2 * 4 * 63, y = 2 * 6 * 63, w = 6 * 2 * 9;
    const int64_t n[3] = {y, x, w};
    tsr_heap heap = {0};
    tsr_pool pool;

    fill(r->sku.dtype, y, r->in[0]); /* any input is at most as large */
    fill(r->sku.dtype, y, r->in[1]);
    tsr__pool_open(&pool, &heap);
    for (int reference = 0; reference < 2; reference++) {
        const tsr_kernel_variant v = reference ? TSR_VARIANT_REFERENCE : r->sku.variant;
        const tsr_conv_product what = (tsr_conv_product)r->sku.op;
        tsr_conv_plan *plan = NULL;

        assert_int_equal(
            tsr__conv_plan_make(&heap, &shape, r->sku.dtype, what, false, false, v, &plan, NULL),
            TSR_OK);
        assert_true((v == TSR_VARIANT_REFERENCE) ==
                    !strcmp(tsr__conv_plan_name(plan), "reference"));
        assert_int_equal(
            tsr__conv_plan_run(plan, &pool, r->in[0], r->in[1], NULL, r->out[reference][0], NULL),
            TSR_OK);
        tsr__conv_plan_free(&heap, plan);
    }
    tsr__pool_trim(&pool);
    compare(r, "7x9", r->sku.dtype, n[r->sku.op], r->out[0][0], r->out[1][0], true);
    r->ran++;
}

static void run_pooling(runner *r)
{
    const tsr_pooling_shape s = {.ndim = 2,
                                 .planes = 3,
                                 .in = {17, 19},
                                 .out = {16, 18},
                                 .kernel = {2, 2},
                                 .stride = {1, 1},
                                 .dilation = {1, 1}};
    const int64_t x = 3 * 17 * 19, y = 3 * 16 * 18;
    const bool grad = r->sku.op == TSR_POOLING_MAX_GRAD || r->sku.op == TSR_POOLING_AVERAGE_GRAD;
    const tsr_dtype dtype = r->sku.dtype;
    int64_t *index = r->in[2];
    tsr_heap heap = {0};
    tsr_pool pool;

    fill(dtype, x, r->in[0]);
    fill(dtype, y, r->in[1]);
    tsr__pool_open(&pool, &heap);
    tsr__pooling_max(&s, dtype, TSR_VARIANT_REFERENCE, r->in[0], r->in[3], index);
    for (int reference = 0; reference < 2; reference++) {
        const tsr_kernel_variant v = reference ? TSR_VARIANT_REFERENCE : r->sku.variant;
        void *out = r->out[reference][0];
        tsr_status st = TSR_OK;

        switch (r->sku.op) {
        case TSR_POOLING_MAX:
            tsr__pooling_max(&s, dtype, v, r->in[0], out, r->out[reference][1]);
            break;
        case TSR_POOLING_AVERAGE: tsr__pooling_average(&s, dtype, v, r->in[0], out); break;
        case TSR_POOLING_MAX_GRAD:
            st = tsr__pooling_max_grad(&s, dtype, v, &pool, r->in[1], index, out, NULL);
            break;
        default: st = tsr__pooling_average_grad(&s, dtype, v, &pool, r->in[1], out, NULL); break;
        }
        assert_int_equal(st, TSR_OK);
    }
    tsr__pool_trim(&pool);
    compare(r, "17x19", dtype, grad ? x : y, r->out[0][0], r->out[1][0], true);
    if (r->sku.op == TSR_POOLING_MAX)
        compare(r, "index", TSR_I64, y, r->out[0][1], r->out[1][1], true);
    r->ran++;
}

/* Also of integers, which ops do not have; from 12x20 to 30x33, and to 6x10, where factors are
   whole. */
static void run_resampling(runner *r)
{
    const tsr_resample_kind kind = (tsr_resample_kind)(r->sku.op / 2);
    const bool back = r->sku.op % 2;
    const tsr_dtype dtype = r->sku.dtype;
    tsr_heap heap = {0};
    tsr_pool pool;

    tsr__pool_open(&pool, &heap);
    for (int whole = 0; whole < 2; whole++) {
        const tsr_resample_shape s = {.ndim = 2,
                                      .planes = 3,
                                      .whole_in = {12, 20},
                                      .in_count = {12, 20},
                                      .whole_out = {whole ? 6 : 30, whole ? 10 : 33},
                                      .out_count = {whole ? 6 : 30, whole ? 10 : 33}};
        const int64_t x = s.planes * 12 * 20, y = s.planes * s.whole_out[0] * s.whole_out[1];

        fill(dtype, back ? y : x, r->in[0]);
        for (int reference = 0; reference < 2; reference++)
            assert_int_equal(tsr__resample(&s, kind, back, dtype,
                                           reference ? TSR_VARIANT_REFERENCE : r->sku.variant,
                                           &pool, r->in[0], r->out[reference][0], NULL),
                             TSR_OK);
        compare(r, whole ? "6x10" : "30x33", dtype, back ? x : y, r->out[0][0], r->out[1][0],
                kind == TSR_RESAMPLE_NEAREST);
    }
    tsr__pool_trim(&pool);
    r->ran++;
}

static void run_sku(runner *r)
{
    const tsr_op *op;

    if (r->sku.category == TSR_CATEGORY_CONVOLUTION) {
        run_conv(r);
        return;
    }
    if (r->sku.category == TSR_CATEGORY_POOLING) {
        run_pooling(r);
        return;
    }
    if (r->sku.category == TSR_CATEGORY_RESAMPLING)
        run_resampling(r);
    op = tsr_op_find(NULL, tsr_kernel_op_name(r->sku.category, r->sku.op));
    assert_non_null(op);
    r->only_bool = true;
    for (int i = 0; op->cases[i]; i++)
        r->only_bool = r->only_bool && strstr(op->cases[i], "bool") && !strstr(op->cases[i], "64");
    for (int i = 0; op->cases[i]; i++)
        run_case(r, op, op->cases[i]);
}

static void test_run(void **state)
{
    runner r = {0};

    (void)state;
    for (int k = 0; k < TSR_OP_INPUTS; k++)
        r.in[k] = memory(MOST * 8);
    for (int k = 0; k < 2 * TSR_OP_OUTPUTS; k++)
        r.out[k / TSR_OP_OUTPUTS][k % TSR_OP_OUTPUTS] = memory(MOST * 8);
    r.sku = tsr_kernel_at(0);
    do {
        if (tsr_kernel_variant_best(&r.sku) != r.sku.variant)
            continue;
        r.ran = 0;
        run_sku(&r);
        if (r.ran == 0)
            fail_msg("no case runs %s", tsr_kernel_op_name(r.sku.category, r.sku.op));
    } while (tsr_kernel_next(&r.sku));
    for (int k = 0; k < TSR_OP_INPUTS; k++)
        free(r.in[k]);
    for (int k = 0; k < 2 * TSR_OP_OUTPUTS; k++)
        free(r.out[k / TSR_OP_OUTPUTS][k % TSR_OP_OUTPUTS]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pinned), cmocka_unit_test(test_list), cmocka_unit_test(test_bad),
        cmocka_unit_test(test_best),   cmocka_unit_test(test_run),
    };

    tsr__blas_setup(); /* kernels are called without a job here */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
