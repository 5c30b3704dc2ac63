/* SPDX-License-Identifier: Apache-2.0 */
/* test_pooling_kernel.c - pooling on one rank: by hand, fast against reference on random shapes in
   all dtypes, parts against the whole, memory that fails. Numbers are small integers: everything is
   equal bit for bit but averages' gradients, whose terms are rounded. */
#include <float.h>

#include "support/test.h"
#include "ops/convolution/pooling.h"
#include "support/numbers.h"

static const tsr_dtype dtypes[] = {TSR_F32,
                                   TSR_F64,
                                   TSR_F16,
                                   TSR_BF16,
                                   TSR_I32,
                                   TSR_I64,
                                   TSR_U8,
                                   TSR_I8,
                                   TSR_I16,
                                   TSR_U16,
                                   TSR_U32,
                                   TSR_U64,
                                   (tsr_dtype)TSR__FIELD};
enum { DTYPES = sizeof dtypes / sizeof *dtypes, FLOATS = 4 };

static void *numbers(tsr_dtype dtype, int64_t n, bool nan, uint64_t *seed)
{
    void *p = exact_memory(dtype, n);

    for (int64_t i = 0; i < n; i++)
        if ((int)dtype == TSR__FIELD)
            ((uint64_t *)p)[i] = (uint64_t)below(seed, INT32_MAX) * 0x7654321 % TSR__FIELD_P;
        else if (nan && below(seed, 9) == 0)
            tsr__put(dtype, p, i, below(seed, 2) ? (double)NAN : -(double)INFINITY);
        else
            tsr__put(dtype, p, i,
                     (double)(below(seed, 7) -
                              (tsr__dtype_is_integer(dtype) && !tsr__dtype_min(dtype) ? 0 : 3)));
    return p;
}

static tsr_pooling_shape random_shape(uint64_t *seed, int64_t most)
{
    tsr_pooling_shape s = {.ndim = 1 + (int)below(seed, 3), .planes = 1 + below(seed, 4)};

    s.ceil = below(seed, 2);
    s.count_include_pad = below(seed, 2);
    for (int d = 0; d < s.ndim; d++) {
        s.in[d] = 1 + below(seed, s.ndim == 3 ? most / 2 : most);
        s.kernel[d] = 1 + below(seed, 4);
        s.stride[d] = 1 + below(seed, 3);
        s.dilation[d] = 1 + below(seed, 2);
        s.pad_lo[d] = below(seed, 3);
        s.pad_hi[d] = below(seed, 3);
    }
    return s;
}

static void expect_same(const char *what, tsr_dtype dtype, int64_t n, const void *want,
                        const void *got, double tolerance)
{
    for (int64_t i = 0; i < n; i++) {
        double a = tsr__get(dtype, want, i), b = tsr__get(dtype, got, i);

        if ((int)dtype == TSR__FIELD
                ? ((const uint64_t *)want)[i] != ((const uint64_t *)got)[i]
                : a != b && !(isnan(a) && isnan(b)) && !(fabs(a - b) <= tolerance))
            fail_msg("%s %s, element %d: %g, not %g", tsr_dtype_name(dtype), what, (int)i, b, a);
    }
}

static double eps_of(tsr_dtype dtype)
{
    return dtype == TSR_F64 ? DBL_EPSILON : dtype == TSR_F32 ? FLT_EPSILON : 0x1p-7;
}

static void check_max(const tsr_pooling_shape *s, tsr_dtype dtype, bool nan, uint64_t *seed)
{
    const int64_t n = s->planes * product_of(s->ndim, s->in);
    const int64_t m = s->planes * product_of(s->ndim, s->out);
    void *in = numbers(dtype, n, nan, seed), *grad = numbers(dtype, m, false, seed);
    void *out[2] = {exact_memory(dtype, m), exact_memory(dtype, m)};
    void *back[2] = {exact_memory(dtype, n), exact_memory(dtype, n)};
    int64_t *index[2] = {exact_memory(TSR_I64, m), exact_memory(TSR_I64, m)};
    tsr_heap heap = {0};
    tsr_pool pool;

    tsr__pool_open(&pool, &heap);
    for (int k = 0; k < 2; k++) {
        tsr__pooling_max(s, dtype, k, in, out[k], index[k]);
        assert_int_equal(tsr__pooling_max_grad(s, dtype, k, &pool, grad, index[k], back[k], NULL),
                         TSR_OK);
    }
    expect_same("max", dtype, m, out[1], out[0], 0);
    assert_memory_equal(index[0], index[1], (size_t)m * 8);
    expect_same("max gradient", dtype, n, back[1], back[0], 0);
    memset(out[0], 0, (size_t)m * tsr_dtype_size(dtype));
    tsr__pooling_max(s, dtype, false, in, out[0], NULL);
    expect_same("max without index", dtype, m, out[1], out[0], 0);
    tsr__pool_trim(&pool);
    free(in), free(grad);
    for (int k = 0; k < 2; k++)
        free(out[k]), free(back[k]), free(index[k]);
}

static void check_average(const tsr_pooling_shape *s, tsr_dtype dtype, uint64_t *seed)
{
    const int64_t n = s->planes * product_of(s->ndim, s->in);
    const int64_t m = s->planes * product_of(s->ndim, s->out);
    void *in = numbers(dtype, n, false, seed), *grad = numbers(dtype, m, false, seed);
    void *out[2] = {exact_memory(dtype, m), exact_memory(dtype, m)};
    void *back[2] = {exact_memory(dtype, n), exact_memory(dtype, n)};
    tsr_heap heap = {0};
    tsr_pool pool;

    tsr__pool_open(&pool, &heap);
    for (int k = 0; k < 2; k++) {
        tsr__pooling_average(s, dtype, k, in, out[k]);
        assert_int_equal(tsr__pooling_average_grad(s, dtype, k, &pool, grad, back[k], NULL),
                         TSR_OK);
    }
    expect_same("average", dtype, m, out[1], out[0], 0);
    expect_same("average gradient", dtype, n, back[1], back[0], 8 * 9 * eps_of(dtype));
    tsr__pool_trim(&pool);
    free(in), free(grad);
    for (int k = 0; k < 2; k++)
        free(out[k]), free(back[k]);
}

static void check_all(const tsr_pooling_shape *s, uint64_t *seed)
{
    for (int d = 0; d < DTYPES; d++) {
        check_max(s, dtypes[d], d < FLOATS && below(seed, 2), seed);
        if (d < FLOATS || (int)dtypes[d] == TSR__FIELD)
            check_average(s, dtypes[d], seed);
    }
}

static void test_random(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int possible = 0; possible < 1500;) {
        tsr_pooling_shape s = random_shape(&seed, 14);

        if (tsr__pooling_infer("pool", &s, NULL) != TSR_OK)
            continue;
        check_all(&s, &seed);
        possible++;
    }
    for (int t = 0; t < 12; t++) { /* rows longer than a block */
        tsr_pooling_shape s = random_shape(&seed, 4);

        s.in[s.ndim - 1] = 300 + below(&seed, 700);
        if (tsr__pooling_infer("pool", &s, NULL) == TSR_OK)
            check_all(&s, &seed);
    }
}

/* Windows that may be empty, and no outputs or inputs at all. */
static void test_any_window(void **state)
{
    uint64_t seed = 2;

    (void)state;
    for (int t = 0; t < 600; t++) {
        tsr_pooling_shape s = random_shape(&seed, 6);

        for (int d = 0; d < s.ndim; d++) {
            s.in[d] = below(&seed, 6);
            s.out[d] = below(&seed, 6);
            s.whole[d] = s.in[d] + 3;
            s.origin[d] = below(&seed, 4);
            s.pad_lo[d] = below(&seed, 9) - 4;
            s.count_include_pad = false;
        }
        for (int d = 0; d < DTYPES; d++)
            check_max(&s, dtypes[d], false, &seed);
    }
}

/* The part of `s` that outputs [from, to) of each dim need. */
static tsr_pooling_shape part_of(const tsr_pooling_shape *s, const int64_t *from, const int64_t *to)
{
    tsr_pooling_shape part = *s;

    for (int d = 0; d < s->ndim; d++) {
        const int64_t begin = from[d] * s->stride[d] - s->pad_lo[d];
        const int64_t end =
            (to[d] - 1) * s->stride[d] - s->pad_lo[d] + (s->kernel[d] - 1) * s->dilation[d] + 1;

        part.whole[d] = s->in[d];
        part.origin[d] = begin < 0 ? 0 : begin > s->in[d] ? s->in[d] : begin;
        part.in[d] = (end > s->in[d] ? s->in[d] : end) - part.origin[d];
        part.in[d] = part.in[d] < 0 ? 0 : part.in[d];
        part.out[d] = to[d] - from[d];
        part.pad_lo[d] = s->pad_lo[d] + part.origin[d] - from[d] * s->stride[d];
    }
    return part;
}

/* Element i of a part of size n that starts at `at` in a plane of size `whole`. */
static int64_t in_whole(int ndim, const int64_t *n, const int64_t *at, const int64_t *whole,
                        int64_t i)
{
    int64_t result = 0, step = 1;

    for (int d = ndim - 1; d >= 0; d--) {
        result += (i % n[d] + at[d]) * step;
        step *= whole[d];
        i /= n[d];
    }
    return result;
}

static void check_part(const tsr_pooling_shape *s, const tsr_pooling_shape *part,
                       const int64_t *from, bool reference, uint64_t *seed)
{
    const int64_t n = product_of(s->ndim, s->in), m = product_of(s->ndim, s->out);
    const int64_t part_n = product_of(s->ndim, part->in), part_m = product_of(s->ndim, part->out);
    double *in = numbers(TSR_F64, n, false, seed), *piece = exact_memory(TSR_F64, part_n);
    double *out = exact_memory(TSR_F64, m), *part_out = exact_memory(TSR_F64, part_m);
    int64_t *index = exact_memory(TSR_I64, m), *part_index = exact_memory(TSR_I64, part_m);

    for (int64_t i = 0; i < part_n; i++)
        piece[i] = in[in_whole(s->ndim, part->in, part->origin, s->in, i)];
    tsr__pooling_max(s, TSR_F64, true, in, out, index);
    tsr__pooling_max(part, TSR_F64, reference, piece, part_out, part_index);
    for (int64_t i = 0; i < part_m; i++) {
        const int64_t at = in_whole(s->ndim, part->out, from, s->out, i);

        assert_true(part_out[i] == out[at] && part_index[i] == index[at]);
    }
    tsr__pooling_average(s, TSR_F64, true, in, out);
    tsr__pooling_average(part, TSR_F64, reference, piece, part_out);
    for (int64_t i = 0; i < part_m; i++)
        assert_true(part_out[i] == out[in_whole(s->ndim, part->out, from, s->out, i)]);
    free(in), free(piece), free(out), free(part_out), free(index), free(part_index);
}

static void test_parts(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int possible = 0; possible < 1000;) {
        tsr_pooling_shape s = random_shape(&seed, 14), part;
        int64_t from[TSR_CONV_DIMS], to[TSR_CONV_DIMS];

        s.planes = 1;
        if (tsr__pooling_infer("pool", &s, NULL) != TSR_OK)
            continue;
        for (int d = 0; d < s.ndim; d++) {
            from[d] = below(&seed, s.out[d]);
            to[d] = from[d] + 1 + below(&seed, s.out[d] - from[d]);
        }
        part = part_of(&s, from, to);
        check_part(&s, &part, from, possible % 2, &seed);
        possible++;
    }
}

static void test_by_hand(void **state)
{
    tsr_pooling_shape s = {.ndim = 1,
                           .planes = 1,
                           .in = {5},
                           .kernel = {2},
                           .stride = {2},
                           .dilation = {1},
                           .pad_lo = {1},
                           .pad_hi = {1},
                           .ceil = true};
    const float x[] = {1, 3, 3, -2, 6}, g[] = {1, 2, 4};
    float out[4], back[5];
    int64_t index[4];
    tsr_heap heap = {0};
    tsr_pool pool;

    (void)state;
    tsr__pool_open(&pool, &heap);
    assert_int_equal(tsr__pooling_infer("pool", &s, NULL), TSR_OK);
    assert_int_equal(s.out[0], 3); /* windows [-,1] [3,3] [-2,6]; one more would start behind */
    for (int reference = 0; reference < 2; reference++) {
        tsr__pooling_max(&s, TSR_F32, reference, x, out, index);
        assert_true(out[0] == 1 && out[1] == 3 && out[2] == 6);
        assert_true(index[0] == 0 && index[1] == 1 && index[2] == 4);
        assert_int_equal(tsr__pooling_max_grad(&s, TSR_F32, reference, &pool, g, index, back, NULL),
                         TSR_OK);
        assert_true(back[0] == 1 && back[1] == 2 && back[2] == 0 && back[3] == 0 && back[4] == 4);
        s.count_include_pad = true;
        tsr__pooling_average(&s, TSR_F32, reference, x, out);
        assert_true(out[0] == 0.5f && out[1] == 3 && out[2] == 2);
        s.count_include_pad = false;
        tsr__pooling_average(&s, TSR_F32, reference, x, out);
        assert_true(out[0] == 1 && out[1] == 3 && out[2] == 2);
        assert_int_equal(tsr__pooling_average_grad(&s, TSR_F32, reference, &pool, g, back, NULL),
                         TSR_OK);
        assert_true(back[0] == 1 && back[1] == 1 && back[2] == 1 && back[3] == 2 && back[4] == 2);
    }
    tsr__pool_trim(&pool);
}

static void test_errors(void **state)
{
    tsr_pooling_shape s = {.ndim = 1,
                           .planes = 1,
                           .in = {5},
                           .kernel = {3},
                           .stride = {2},
                           .dilation = {1},
                           .pad_lo = {2}};
    tsr_heap heap = {.fail_at = 1};
    tsr_error err = {0};
    tsr_pool pool;
    float x[5] = {0};

    (void)state;
    assert_int_equal(tsr__pooling_infer("pool", &s, &err), TSR_ERR_SHAPE);
    assert_string_equal(err.text, "pool: padding 2 + 0 of spatial dim 0 is more than half of the "
                                  "kernel of 3");
    err = (tsr_error){0};
    s.pad_lo[0] = 0, s.kernel[0] = 6;
    assert_int_equal(tsr__pooling_infer("pool", &s, &err), TSR_ERR_SHAPE);
    s.kernel[0] = 2;
    assert_int_equal(tsr__pooling_infer("pool", &s, NULL), TSR_OK);
    tsr__pool_open(&pool, &heap);
    assert_int_equal(tsr__pooling_average_grad(&s, TSR_F32, false, &pool, x, x, NULL),
                     TSR_ERR_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),    cmocka_unit_test(test_random),
        cmocka_unit_test(test_any_window), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
