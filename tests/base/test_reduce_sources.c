/* SPDX-License-Identifier: Apache-2.0 */
/* test_reduce_sources.c - the reference against values worked out by hand, and the fast reduction
   against the reference bit for bit: all dtypes, ops, 1 to 9 sources, odd lengths and starts, in
   place. */
#include <float.h>

#include "support/test.h"
#include "base/reduce.h"
#include "support/numbers.h"

enum { MAX_SRC = 9, MAX_N = 1400, ROOM = (MAX_N + 16) * 8 };

static const tsr_reduce ops[] = {TSR_SUM, TSR_MIN, TSR_MAX, TSR_PROD};

/* Random values; among floats also zeros of both signs, infinities, NaN and subnormals. */
static void fill(tsr_dtype dtype, void *data, int64_t n, uint64_t seed)
{
    static const double special[] = {0.0, -0.0, 1, INFINITY, -INFINITY, 1e-42, 6e-8, 65504, -1, 3};

    for (int64_t i = 0; i < n; i++) {
        uint64_t r = next_random(&seed);

        if ((int)dtype == TSR__FIELD)
            ((uint64_t *)data)[i] = r % 5 ? r % TSR__FIELD_P : TSR__FIELD_P - 1 - r % 2;
        else if (dtype == TSR_BOOL)
            ((uint8_t *)data)[i] = r >> 20 & 1;
        else if (!tsr__dtype_is_float(dtype))
            memcpy((char *)data + (size_t)i * tsr_dtype_size(dtype), &r, tsr_dtype_size(dtype));
        else if (r % 64 == 0)
            tsr__put(dtype, data, i, NAN);
        else if (r % 8 == 0)
            tsr__put(dtype, data, i, special[r / 8 % 10]);
        else
            tsr__put(dtype, data, i,
                     ((double)(r % 2000003) - 1e6) / 1024 * (r >> 40 & 1 ? 1 : 1e-3));
    }
}

/* Equal bits; of a NaN only that it is one, since compilers may swap the operands of a sum. */
static void assert_same(tsr_dtype dtype, const void *a, const void *b, int64_t n)
{
    size_t size = tsr_dtype_size(dtype);

    if (!memcmp(a, b, (size_t)n * size))
        return;
    for (int64_t i = 0; i < n; i++) {
        bool same =
            !memcmp((const char *)a + (size_t)i * size, (const char *)b + (size_t)i * size, size);

        if (!same && !(isnan(tsr__get(dtype, a, i)) && isnan(tsr__get(dtype, b, i))))
            fail_msg("%s: element %lld of %lld is %g and should be %g", tsr_dtype_name(dtype),
                     (long long)i, (long long)n, tsr__get(dtype, a, i), tsr__get(dtype, b, i));
    }
}

typedef struct buffers {
    char *raw[MAX_SRC + 2];
    const void *src[MAX_SRC];
    char *fast, *ref;
} buffers;

static void buffers_make(buffers *b)
{
    for (int k = 0; k < MAX_SRC + 2; k++)
        b->raw[k] = malloc(ROOM);
    b->fast = b->raw[MAX_SRC];
    b->ref = b->raw[MAX_SRC + 1];
}

static void buffers_free(buffers *b)
{
    for (int k = 0; k < MAX_SRC + 2; k++)
        free(b->raw[k]);
}

static void check(buffers *b, tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src, int64_t n)
{
    size_t size = tsr_dtype_size(dtype), bytes = (size_t)n * size;
    int64_t shift = n % 7;

    for (int k = 0; k < n_src; k++) {
        b->src[k] = b->raw[k] + (size_t)((shift + k) % 5) * size;
        fill(dtype, b->raw[k], n + 5, (uint64_t)(1 + k * 1000003 + n));
    }
    memset(b->fast, 0x5a, ROOM);
    tsr__reduce_ref(dtype, op, divisor, n_src, b->src, n, b->ref);
    tsr__reduce(dtype, op, divisor, n_src, b->src, n, b->fast + (size_t)shift * size);
    assert_same(dtype, b->fast + (size_t)shift * size, b->ref, n);
    for (size_t i = 0; i < (size_t)shift * size; i++)
        assert_int_equal(b->fast[i], 0x5a);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(b->fast[(size_t)shift * size + bytes + i], 0x5a);

    int place = (int)(n % n_src); /* in place of one of the sources */

    tsr__reduce(dtype, op, divisor, n_src, b->src, n, (char *)(uintptr_t)b->src[place]);
    assert_same(dtype, b->src[place], b->ref, n);
}

static void fast_equals_reference(void **state)
{
    static const int64_t lengths[] = {0,  1,  2,  3,   7,   8,   9,   15,  16,  17,   31,   32,
                                      33, 63, 65, 100, 127, 255, 511, 512, 513, 1023, 1025, 1399};
    buffers b;

    (void)state;
    buffers_make(&b);
    for (int dtype = 0; dtype < TSR__DTYPES; dtype++)
        for (int op = 0; op < 4; op++)
            for (int n_src = 1; n_src <= MAX_SRC; n_src++)
                for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
                    check(&b, (tsr_dtype)dtype, ops[op], 1, n_src, lengths[i]);
                    if (ops[op] == TSR_SUM)
                        check(&b, (tsr_dtype)dtype, ops[op], 3 + n_src, n_src, lengths[i]);
                }
    buffers_free(&b);
}

/* Long enough for streamed stores, with a start that is not at a line of the cache. */
static void fast_equals_reference_when_large(void **state)
{
    const int64_t n = (9 << 20) / 4 + 13;
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_BF16};
    char *raw[4];
    const void *src[2];

    (void)state;
    for (int k = 0; k < 4; k++)
        raw[k] = malloc((size_t)n * 8 + 64);
    for (int d = 0; d < 2; d++) {
        int64_t m = d ? 2 * n : n;
        size_t size = tsr_dtype_size(dtypes[d]);

        for (int k = 0; k < 2; k++) {
            src[k] = raw[k] + (size_t)k * size;
            for (int64_t i = 0; i < m; i++)
                tsr__put(dtypes[d], raw[k] + (size_t)k * size, i, (double)(i % (1001 + k)) / 8);
        }
        tsr__reduce_ref(dtypes[d], TSR_SUM, 2, 2, src, m, raw[2]);
        tsr__reduce(dtypes[d], TSR_SUM, 2, 2, src, m, raw[3] + 3 * size);
        assert_same(dtypes[d], raw[3] + 3 * size, raw[2], m);
    }
    for (int k = 0; k < 4; k++)
        free(raw[k]);
}

static double reduce_two(tsr_dtype dtype, tsr_reduce op, int64_t divisor, double x, double y)
{
    uint64_t a = 0, b = 0, fast = 0, ref = 0;
    const void *src[] = {&a, &b};

    tsr__put(dtype, &a, 0, x);
    tsr__put(dtype, &b, 0, y);
    tsr__reduce(dtype, op, divisor, 2, src, 1, &fast);
    tsr__reduce_ref(dtype, op, divisor, 2, src, 1, &ref);
    assert_same(dtype, &fast, &ref, 1);
    return tsr__get(dtype, &ref, 0);
}

static void known_values(void **state)
{
    (void)state;
    assert_true(reduce_two(TSR_F32, TSR_SUM, 1, 1.5, 2) == 3.5);
    assert_true(reduce_two(TSR_F32, TSR_SUM, 2, 1.5, 2) == 1.75);
    assert_true(reduce_two(TSR_F64, TSR_PROD, 1, 1.5, 2) == 3);
    assert_true(reduce_two(TSR_I32, TSR_SUM, 1, INT32_MAX, 1) == INT32_MIN); /* wraps */
    assert_true(reduce_two(TSR_I64, TSR_PROD, 1, 0x1p62, 4) == 0);
    assert_true(reduce_two(TSR_U8, TSR_SUM, 1, 200, 100) == 44);
    assert_true(reduce_two(TSR_U8, TSR_MAX, 1, 200, 100) == 200);
    assert_true(reduce_two(TSR_I32, TSR_MIN, 1, -7, 100) == -7);
    assert_true(reduce_two(TSR_BOOL, TSR_SUM, 1, 1, 1) == 1);
    assert_true(reduce_two(TSR_BOOL, TSR_PROD, 1, 1, 0) == 0);
    assert_true(reduce_two((tsr_dtype)TSR__FIELD, TSR_SUM, 2, 8, 4) == 6);
    assert_true(isnan(reduce_two(TSR_F32, TSR_MIN, 1, NAN, 1)));
    assert_true(isnan(reduce_two(TSR_F32, TSR_MIN, 1, 1, NAN)));
    assert_true(isnan(reduce_two(TSR_F16, TSR_MAX, 1, NAN, INFINITY)));
    assert_true(isnan(reduce_two(TSR_BF16, TSR_MAX, 1, -INFINITY, NAN)));
    assert_true(reduce_two(TSR_F16, TSR_SUM, 1, 65504, 65504) == INFINITY);
    assert_true(reduce_two(TSR_F16, TSR_SUM, 2, 65504, 65504) == 65504); /* divided in f32 */
}

/* 512 + 1 + 1 + 1 + 1 would stay 512 if each sum were rounded to bf16. */
static void halves_accumulate_in_f32(void **state)
{
    uint16_t one = tsr__f32_to_bf16(1), big = tsr__f32_to_bf16(512), y;
    const void *src[] = {&big, &one, &one, &one, &one};

    (void)state;
    tsr__reduce(TSR_BF16, TSR_SUM, 1, 5, src, 1, &y);
    assert_true(tsr__bf16_to_f32(y) == 516);
}

static void order_is_kept(void **state)
{
    float big = 0x1p24f, one = 1, minus = -0x1p24f, y;
    const void *lost[] = {&big, &one, &minus}, *kept[] = {&big, &minus, &one};

    (void)state;
    tsr__reduce(TSR_F32, TSR_SUM, 1, 3, lost, 1, &y);
    assert_true(y == 0);
    tsr__reduce(TSR_F32, TSR_SUM, 1, 3, kept, 1, &y);
    assert_true(y == 1);
}

static void identities_change_nothing(void **state)
{
    enum { N = 300 };
    char id[8 * N], x[8 * N], y[8 * N];

    (void)state;
    for (int dtype = 0; dtype < TSR__DTYPES; dtype++)
        for (int op = 0; op < 4; op++) {
            const void *after[] = {x, id}, *before[] = {id, x};

            fill((tsr_dtype)dtype, x, N, 99);
            tsr__reduce_identity((tsr_dtype)dtype, ops[op], id, N);
            tsr__reduce((tsr_dtype)dtype, ops[op], 1, 2, after, N, y);
            assert_same((tsr_dtype)dtype, y, x, N);
            tsr__reduce((tsr_dtype)dtype, ops[op], 1, 2, before, N, y);
            assert_same((tsr_dtype)dtype, y, x, N);
        }
}

static void what_may_be_reduced(void **state)
{
    tsr_error err = {0}, integer = {0};

    (void)state;
    assert_int_equal(tsr__reduce_check(TSR_F32, TSR_AVG, &err), TSR_OK);
    assert_int_equal(tsr__reduce_check(TSR_I64, TSR_SUM, &err), TSR_OK);
    assert_int_equal(tsr__reduce_check(TSR_U8, TSR_PROD, &err), TSR_OK);
    assert_int_equal(tsr__reduce_check((tsr_dtype)TSR__FIELD, TSR_AVG, &err), TSR_OK);
    assert_int_equal(err.code, TSR_OK);
    assert_int_equal(tsr__reduce_check(TSR_BOOL, TSR_SUM, &err), TSR_ERR_DTYPE);
    assert_non_null(strstr(err.text, "bool"));
    assert_int_equal(tsr__reduce_check(TSR_I32, TSR_AVG, &integer), TSR_ERR_DTYPE);
    assert_non_null(strstr(integer.text, "i32"));
    assert_int_equal(tsr__reduce_check(TSR_F32, (tsr_reduce)17, NULL), TSR_ERR_ARG);
    assert_int_equal(tsr__reduce_check((tsr_dtype)17, TSR_SUM, NULL), TSR_ERR_DTYPE);
    assert_string_equal(tsr_reduce_name(TSR_SUM), "sum");
    assert_string_equal(tsr_reduce_name(TSR_AVG), "avg");
    assert_string_equal(tsr_reduce_name(TSR_MIN), "min");
    assert_string_equal(tsr_reduce_name(TSR_MAX), "max");
    assert_string_equal(tsr_reduce_name(TSR_PROD), "prod");
    assert_string_equal(tsr_reduce_name((tsr_reduce)-1), "invalid");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_equals_reference), cmocka_unit_test(fast_equals_reference_when_large),
        cmocka_unit_test(known_values),          cmocka_unit_test(halves_accumulate_in_f32),
        cmocka_unit_test(order_is_kept),         cmocka_unit_test(identities_change_nothing),
        cmocka_unit_test(what_may_be_reduced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
