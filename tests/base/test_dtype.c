/* SPDX-License-Identifier: Apache-2.0 */
/* test_dtype.c - names, the 16-bit floats over all their patterns, conversions between all types,
   and the prime field. */
#include <float.h>
#include <limits.h>

#include "support/test.h"
#include "base/half.h"

enum { PATTERNS = 65536 };

/* The value of a 16-bit float with `mantissa` bits and this bias, from its definition. */
static double value_of(unsigned pattern, int mantissa, int bias)
{
    int exponent = (int)(pattern & 0x7fff) >> mantissa;
    double fraction = (double)(pattern & ((1u << mantissa) - 1)) / (1 << mantissa);
    double sign = pattern & 0x8000 ? -1 : 1;

    if (exponent == (0x7fff >> mantissa))
        return fraction != 0 ? (double)NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, 1 - bias);
    return sign * ldexp(1 + fraction, exponent - bias);
}

static double f16_value(unsigned pattern)
{
    return value_of(pattern, 10, 15);
}

static double bf16_value(unsigned pattern)
{
    return value_of(pattern, 7, 127);
}

static uint32_t bits(float x)
{
    uint32_t u;

    memcpy(&u, &x, sizeof u);
    return u;
}

static float f32_from(uint32_t u)
{
    float x;

    memcpy(&x, &u, sizeof x);
    return x;
}

static void names_and_sizes(void **state)
{
    static const struct {
        const char *name;
        tsr_dtype dtype;
        size_t size;
        bool is_float;
    } rows[] = {
        {"f32", TSR_F32, 4, true},   {"f64", TSR_F64, 8, true},    {"f16", TSR_F16, 2, true},
        {"bf16", TSR_BF16, 2, true}, {"i32", TSR_I32, 4, false},   {"i64", TSR_I64, 8, false},
        {"u8", TSR_U8, 1, false},    {"bool", TSR_BOOL, 1, false}, {"i8", TSR_I8, 1, false},
        {"i16", TSR_I16, 2, false},  {"u16", TSR_U16, 2, false},   {"u32", TSR_U32, 4, false},
        {"u64", TSR_U64, 8, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[16];
        tsr_dtype out = (tsr_dtype)77;

        assert_string_equal(tsr_dtype_name(rows[i].dtype), rows[i].name);
        assert_int_equal(tsr_dtype_size(rows[i].dtype), rows[i].size);
        assert_int_equal(tsr__dtype_is_float(rows[i].dtype), rows[i].is_float);
        assert_true(tsr__dtype_valid(rows[i].dtype));
        strcpy(text, rows[i].name);
        strcat(text, "[3]");
        assert_int_equal(tsr__dtype_parse(text, strlen(rows[i].name), &out, NULL), TSR_OK);
        assert_int_equal(out, rows[i].dtype);
    }
}

static void names_of_what_is_none(void **state)
{
    static const char *const wrong[] = {"", "f3", "f322", "F32", "field", "int", "bf"};
    tsr_dtype out = TSR_U8;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tsr_error err = {0};

        assert_int_equal(tsr__dtype_parse(wrong[i], strlen(wrong[i]), &out, &err), TSR_ERR_PARSE);
        assert_non_null(strstr(err.text, wrong[i]));
        assert_int_equal(out, TSR_U8);
    }
    assert_string_equal(tsr_dtype_name((tsr_dtype)TSR__FIELD), "field");
    assert_int_equal(tsr_dtype_size((tsr_dtype)TSR__FIELD), 8);
    assert_true(tsr__dtype_valid((tsr_dtype)TSR__FIELD));
    assert_false(tsr__dtype_is_float((tsr_dtype)TSR__FIELD));
    assert_false(tsr__dtype_valid((tsr_dtype)-1));
    assert_false(tsr__dtype_valid((tsr_dtype)TSR__DTYPES));
    assert_string_equal(tsr_dtype_name((tsr_dtype)99), "invalid");
    assert_int_equal(tsr_dtype_size((tsr_dtype)-1), 0);
}

/* Every pattern has the value of its definition and comes back from f32 and f64. */
static void halves_all_patterns(void **state)
{
    (void)state;
    for (unsigned u = 0; u < PATTERNS; u++) {
        tsr_f16 h = (tsr_f16)u;
        float f = tsr__f16_to_f32(h), b = tsr__bf16_to_f32(h);

        if (isnan(f16_value(u))) {
            assert_true(isnan(f));
            assert_int_equal(tsr__f32_to_f16(f), u | 0x200);
            assert_int_equal(tsr__f64_to_f16(f), u | 0x200);
        } else {
            assert_true(f == f16_value(u) && !signbit(f) == !(u & 0x8000));
            assert_int_equal(tsr__f32_to_f16(f), u);
            assert_int_equal(tsr__f64_to_f16(f), u);
        }
        if (isnan(bf16_value(u))) {
            assert_true(isnan(b));
            assert_int_equal(tsr__f32_to_bf16(b), u | 0x40);
            assert_int_equal(tsr__f64_to_bf16(b), u | 0x40);
        } else {
            assert_true(b == bf16_value(u) && !signbit(b) == !(u & 0x8000));
            assert_int_equal(tsr__f32_to_bf16(b), u);
            assert_int_equal(tsr__f64_to_bf16(b), u);
        }
    }
}

/* Between neighbours: the middle goes to the even one, what lies beside it to the nearer one. The
   step beyond the largest finite number counts as one more number. */
static void check_ties(double (*value)(unsigned), uint16_t (*from_f64)(double),
                       uint16_t (*from_f32)(float), unsigned inf)
{
    for (unsigned u = 0; u < inf; u++) {
        double low = value(u);
        double high = u + 1 < inf ? value(u + 1) : 2 * low - value(u - 1);
        double middle = (low + high) / 2;
        unsigned even = u & 1 ? u + 1 : u;

        assert_int_equal(from_f64(middle), even);
        assert_int_equal(from_f64(-middle), even | 0x8000);
        assert_int_equal(from_f64(nextafter(middle, 0)), u);
        assert_int_equal(from_f64(nextafter(middle, INFINITY)), u + 1);
        if ((double)(float)middle != middle) /* the least bf16 halved is still an f32 */
            continue;
        assert_int_equal(from_f32((float)middle), even);
        assert_int_equal(from_f32(nextafterf((float)middle, 0)), u);
        assert_int_equal(from_f32(nextafterf((float)middle, INFINITY)), u + 1);
    }
    assert_int_equal(from_f64(INFINITY), inf);
    assert_int_equal(from_f64(-INFINITY), inf | 0x8000);
    assert_int_equal(from_f64(DBL_MAX), inf);
    assert_int_equal(from_f64(DBL_TRUE_MIN), 0);
    assert_int_equal(from_f64(-DBL_TRUE_MIN), 0x8000);
    assert_int_equal(from_f32(FLT_MAX), inf);
    assert_true(isnan(value(from_f64(NAN))) && isnan(value(from_f32(NAN))));
}

static void halves_round_to_even(void **state)
{
    (void)state;
    check_ties(f16_value, tsr__f64_to_f16, tsr__f32_to_f16, 0x7c00);
    check_ties(bf16_value, tsr__f64_to_bf16, tsr__f32_to_bf16, 0x7f80);
}

/* 1 + half a step + a little: by way of f32 the little is lost and the tie goes down to even. */
static void halves_round_once(void **state)
{
    double f16_case = 1 + 0x1p-11 + 0x1p-40, bf16_case = 1 + 0x1p-8 + 0x1p-40;
    uint16_t y;

    (void)state;
    assert_int_equal(tsr__f32_to_f16((float)f16_case), 0x3c00);
    assert_int_equal(tsr__f64_to_f16(f16_case), 0x3c01);
    assert_int_equal(tsr__f32_to_bf16((float)bf16_case), 0x3f80);
    assert_int_equal(tsr__f64_to_bf16(bf16_case), 0x3f81);
    tsr__convert(TSR_F16, &y, TSR_F64, &f16_case, 1);
    assert_int_equal(y, 0x3c01);
    tsr__convert(TSR_BF16, &y, TSR_F64, &bf16_case, 1);
    assert_int_equal(y, 0x3f81);
}

/* The array functions agree with the single ones, whatever the length and the start. */
static void halves_in_arrays(void **state)
{
    enum { N = 4 * PATTERNS };
    uint16_t *half = malloc((N + 1) * sizeof *half);
    float *wide = malloc((N + 1) * sizeof *wide);
    tsr_dtype dtypes[] = {TSR_F16, TSR_BF16};

    (void)state;
    for (int d = 0; d < 2; d++) {
        bool f16 = dtypes[d] == TSR_F16;

        for (int i = 0; i < PATTERNS; i++)
            half[1 + i] = (uint16_t)i;
        tsr__half_widen(dtypes[d], half + 1, PATTERNS, wide);
        for (int i = 0; i < PATTERNS; i++)
            assert_int_equal(bits(wide[i]), bits(f16 ? tsr__f16_to_f32((tsr_f16)i)
                                                     : tsr__bf16_to_f32((tsr_bf16)i)));
        for (int n = 0; n < 40; n++) {
            tsr__half_widen(dtypes[d], half + 1000 + n, n, wide);
            for (int i = 0; i < n; i++)
                assert_true(wide[i] == (float)(f16 ? f16_value(999u + (unsigned)(n + i))
                                                   : bf16_value(999u + (unsigned)(n + i))));
        }
        for (int i = 0; i < N; i++) /* all exponents, many mantissas */
            wide[1 + i] = f32_from((uint32_t)i << 14 | (uint32_t)(i * 2654435761u) >> 18);
        tsr__half_narrow(dtypes[d], wide + 1, N, half);
        for (int i = 0; i < N; i++)
            assert_int_equal(half[i],
                             f16 ? tsr__f32_to_f16(wide[1 + i]) : tsr__f32_to_bf16(wide[1 + i]));
    }
    free(half);
    free(wide);
}

/* All f32 between 2^-26 and 2^17 in steps, against the double path, which was checked above. */
static void halves_from_f32_sampled(void **state)
{
    (void)state;
    for (uint32_t u = 0x32800000; u < 0x48000000; u += 997) {
        assert_int_equal(tsr__f32_to_f16(f32_from(u)), tsr__f64_to_f16(f32_from(u)));
        assert_int_equal(tsr__f32_to_bf16(f32_from(u)), tsr__f64_to_bf16(f32_from(u)));
    }
}

static void integers_to_floats_round_once(void **state)
{
    /* by way of f64 these would become ties first */
    int64_t x = (INT64_C(1) << 62) + (INT64_C(1) << 38) + 1,
            y = (INT64_C(1) << 62) + 1 + (INT64_C(1) << 54);
    float f;
    double g;
    uint16_t h;

    (void)state;
    tsr__convert(TSR_F32, &f, TSR_I64, &x, 1);
    assert_true(f == 0x1p62f + 0x1p39f);
    tsr__convert(TSR_BF16, &h, TSR_I64, &y, 1);
    assert_int_equal(h, tsr__f32_to_bf16(0x1p62f) + 1);
    y = -y;
    tsr__convert(TSR_BF16, &h, TSR_I64, &y, 1);
    assert_int_equal(h, tsr__f32_to_bf16(-0x1p62f) + 1);
    x = INT64_MAX;
    tsr__convert(TSR_F64, &g, TSR_I64, &x, 1);
    assert_true(g == 0x1p63);
    tsr__convert(TSR_F16, &h, TSR_I64, &x, 1);
    assert_int_equal(h, 0x7c00);
    x = INT64_MIN;
    tsr__convert(TSR_BF16, &h, TSR_I64, &x, 1);
    assert_int_equal(h, tsr__f32_to_bf16(-0x1p63f));
    x = 65519;
    tsr__convert(TSR_F16, &h, TSR_I64, &x, 1);
    assert_int_equal(h, 0x7bff);
    x = 65520;
    tsr__convert(TSR_F16, &h, TSR_I64, &x, 1);
    assert_int_equal(h, 0x7c00);
}

static void floats_to_integers_saturate(void **state)
{
    static const struct {
        double x;
        int32_t i32;
        int64_t i64;
        uint8_t u8, truth;
    } rows[] = {
        {0.0, 0, 0, 0, 0},
        {-0.0, 0, 0, 0, 0},
        {0.5, 0, 0, 0, 1},
        {1.5, 2, 2, 2, 1},
        {2.5, 2, 2, 2, 1},
        {-2.5, -2, -2, 0, 1},
        {-0.75, -1, -1, 0, 1},
        {254.5, 254, 254, 254, 1},
        {255.5, 256, 256, 255, 1},
        {2147483646.5, 2147483646, 2147483646, 255, 1},
        {2147483647.5, INT32_MAX, 2147483648, 255, 1},
        {-2147483648.5, INT32_MIN, -2147483648, 0, 1},
        {-2147483649.0, INT32_MIN, -2147483649, 0, 1},
        {0x1p63, INT32_MAX, INT64_MAX, 255, 1},
        {-0x1p63, INT32_MIN, INT64_MIN, 0, 1},
        {9223372036854774784.0, INT32_MAX, INT64_C(9223372036854774784), 255, 1},
        {1e300, INT32_MAX, INT64_MAX, 255, 1},
        {INFINITY, INT32_MAX, INT64_MAX, 255, 1},
        {-INFINITY, INT32_MIN, INT64_MIN, 0, 1},
        {NAN, 0, 0, 0, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int32_t i32;
        int64_t i64;
        uint8_t u8, truth;

        tsr__convert(TSR_I32, &i32, TSR_F64, &rows[i].x, 1);
        tsr__convert(TSR_I64, &i64, TSR_F64, &rows[i].x, 1);
        tsr__convert(TSR_U8, &u8, TSR_F64, &rows[i].x, 1);
        tsr__convert(TSR_BOOL, &truth, TSR_F64, &rows[i].x, 1);
        assert_int_equal(i32, rows[i].i32);
        assert_int_equal(i64, rows[i].i64);
        assert_int_equal(u8, rows[i].u8);
        assert_int_equal(truth, rows[i].truth);
    }
}

static void integers_to_integers_saturate(void **state)
{
    int64_t x[] = {-1, 256, INT64_C(1) << 40, -(INT64_C(1) << 40), 0, 255};
    int32_t i32[6];
    uint8_t u8[6], truth[6];

    (void)state;
    tsr__convert(TSR_I32, i32, TSR_I64, x, 6);
    tsr__convert(TSR_U8, u8, TSR_I64, x, 6);
    tsr__convert(TSR_BOOL, truth, TSR_I64, x, 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(i32[i], x[i] < INT32_MIN   ? INT32_MIN
                                 : x[i] > INT32_MAX ? INT32_MAX
                                                    : x[i]);
        assert_int_equal(u8[i], x[i] < 0 ? 0 : x[i] > 255 ? 255 : x[i]);
        assert_int_equal(truth[i], x[i] != 0);
    }
}

/* Small numbers survive every pair of types, over several lengths. */
static void all_pairs_keep_small_numbers(void **state)
{
    enum { N = 700 };
    uint64_t a[N], b[N];

    (void)state;
    for (int from = 0; from < TSR__DTYPES; from++)
        for (int to = 0; to < TSR__DTYPES; to++)
            for (int n = 0; n <= N; n = n < 20 ? n + 1 : 3 * n + 40) {
                int top = from == TSR_BOOL || to == TSR_BOOL ? 2 : 128;

                for (int i = 0; i < n; i++)
                    tsr__put((tsr_dtype)from, a, i, i % top);
                memset(b, 0xaa, sizeof b);
                tsr__convert((tsr_dtype)to, b, (tsr_dtype)from, a, n);
                for (int i = 0; i < n; i++)
                    assert_true(tsr__get((tsr_dtype)to, b, i) == i % top);
                if (n < N)
                    assert_int_equal(
                        ((unsigned char *)b)[(size_t)n * tsr_dtype_size((tsr_dtype)to)], 0xaa);
            }
}

/* ---- the ends of all ranges ---- */

/* What every number here is exactly: 64 bits and a sign. */
_Static_assert(LDBL_MANT_DIG >= 64, "a long double that holds u64");

static long double exact(tsr_dtype dtype, const void *x)
{
    switch (dtype) {
    case TSR_F32: return *(const float *)x;
    case TSR_F64: return *(const double *)x;
    case TSR_F16: return f16_value(*(const uint16_t *)x);
    case TSR_BF16: return bf16_value(*(const uint16_t *)x);
    case TSR_I8: return *(const int8_t *)x;
    case TSR_I16: return *(const int16_t *)x;
    case TSR_I32: return *(const int32_t *)x;
    case TSR_I64: return *(const int64_t *)x;
    case TSR_U16: return *(const uint16_t *)x;
    case TSR_U32: return *(const uint32_t *)x;
    case TSR_U64: return *(const uint64_t *)x;
    default: return *(const uint8_t *)x; /* u8, bool */
    }
}

/* The ends of an integer type by its name. */
static long double end_of(tsr_dtype dtype, bool upper)
{
    const char *name = tsr_dtype_name(dtype);
    const int bits = atoi(name + 1) - (name[0] == 'i');

    return upper ? ldexpl(1, bits) - 1 : name[0] == 'i' ? -ldexpl(1, bits) : 0;
}

/* No number of the type is nearer, and of two as near the even one was taken. */
static bool is_nearest(double (*value)(unsigned), unsigned inf, unsigned got, long double x)
{
    const unsigned magnitude = got & 0x7fff;
    const long double want = fabsl(x), y = value(magnitude);
    const long double most = value(inf - 1), step = most - value(inf - 2);

    if (isnan(x))
        return magnitude > inf;
    if ((got >> 15 != 0) != (x < 0) && x != 0)
        return false;
    if (magnitude >= inf)
        return magnitude == inf && want >= most + step / 2;
    for (int other = -1; other <= 1; other += 2) {
        const long double z = magnitude == 0 && other < 0 ? 0 : value(magnitude + (unsigned)other);
        const long double here = fabsl(want - y), there = fabsl(want - z);

        if (z != y && isfinite(z) && (there < here || (there == here && magnitude % 2)))
            return false;
    }
    return true;
}

/* Is y what x becomes: rounded once to nearest even, and cut at the ends of integers? */
static bool is_converted(long double x, tsr_dtype to, const void *y)
{
    const long double got = exact(to, y);

    switch (to) {
    case TSR_F32: return isnan(x) ? isnan(got) : got == (float)x;
    case TSR_F64: return isnan(x) ? isnan(got) : got == (double)x;
    case TSR_F16: return is_nearest(f16_value, 0x7c00, *(const uint16_t *)y, x);
    case TSR_BF16: return is_nearest(bf16_value, 0x7f80, *(const uint16_t *)y, x);
    case TSR_BOOL: return got == (x != 0);
    default: break;
    }
    if (isnan(x))
        return got == 0;
    return got == (x <= end_of(to, false)  ? end_of(to, false)
                   : x >= end_of(to, true) ? end_of(to, true)
                                           : rintl(x));
}

/* Numbers around the ends of every type, as far as the type has them, to every type. */
static void all_pairs_at_the_ends_of_ranges(void **state)
{
    enum { MOST = 2048 };
    static const double near[] = {-2, -1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1, 2};
    uint64_t from[MOST], to[MOST];

    (void)state;
    for (int d = 0; d < TSR__FIELD; d++) {
        const tsr_dtype dtype = (tsr_dtype)d;
        const size_t size = tsr_dtype_size(dtype);
        int n = 0;

        for (int e = 0; e < TSR__FIELD; e++)
            for (int k = 0; k < 22; k++) {
                const bool integer = !tsr__dtype_is_float((tsr_dtype)e) && e != TSR_BOOL;
                const long double x = (integer ? end_of((tsr_dtype)e, k % 2) : e) + near[k / 2];
                char *at = (char *)from + (size_t)n * size;

                if (dtype == TSR_F32)
                    ((float *)from)[n] = (float)x;
                else if (dtype == TSR_F64)
                    ((double *)from)[n] = (double)x;
                else if (dtype == TSR_F16)
                    ((uint16_t *)from)[n] = tsr__f64_to_f16((double)x);
                else if (dtype == TSR_BF16)
                    ((uint16_t *)from)[n] = tsr__f64_to_bf16((double)x);
                else if (x < 0)
                    memcpy(at, &(int64_t){x < -0x1p63L ? INT64_MIN : (int64_t)x}, size);
                else
                    memcpy(at, &(uint64_t){x >= 0x1p64L ? UINT64_MAX : (uint64_t)x}, size);
                if (dtype == TSR_BOOL)
                    *at &= 1;
                n++;
            }
        if (tsr__dtype_is_float(dtype)) {
            tsr__put(dtype, from, n++, INFINITY);
            tsr__put(dtype, from, n++, -INFINITY);
            tsr__put(dtype, from, n++, NAN);
        }
        assert_true(n <= MOST);
        for (int t = 0; t < TSR__FIELD; t++) {
            const size_t wide = tsr_dtype_size((tsr_dtype)t);

            tsr__convert((tsr_dtype)t, to, dtype, from, n);
            for (int i = 0; i < n; i++) {
                const long double x = exact(dtype, (const char *)from + (size_t)i * size);

                if (!is_converted(x, (tsr_dtype)t, (const char *)to + (size_t)i * wide))
                    fail_msg("%Lg of %s became %Lg of %s", x, tsr_dtype_name(dtype),
                             exact((tsr_dtype)t, (const char *)to + (size_t)i * wide),
                             tsr_dtype_name((tsr_dtype)t));
            }
        }
    }
}

static uint64_t slow_mul(uint64_t a, uint64_t b)
{
    uint64_t sum = 0;

    for (; b; b >>= 1) {
        if (b & 1)
            sum = (sum + a) % TSR__FIELD_P;
        a = 2 * a % TSR__FIELD_P;
    }
    return sum;
}

static void field_arithmetic(void **state)
{
    const uint64_t p = TSR__FIELD_P;
    const uint64_t edges[] = {0, 1, 2, p / 2, p / 2 + 1, p - 2, p - 1};
    uint64_t a = 12345, b = 987654321, x;
    int64_t minus = -1, least = INT64_MIN;

    (void)state;
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++) {
            assert_true(tsr__field_add(edges[i], edges[j]) == (edges[i] + edges[j]) % p);
            assert_true(tsr__field_mul(edges[i], edges[j]) == slow_mul(edges[i], edges[j]));
        }
    for (int i = 0; i < 2000; i++) {
        assert_true(tsr__field_mul(a, b) == slow_mul(a, b));
        assert_true(tsr__field_add(a, b) == (a + b) % p);
        assert_true(tsr__field_mul(a, tsr__field_inverse(a)) == 1);
        a = tsr__field_mul(a, b);
        b = tsr__field_add(a, b);
    }
    tsr__convert((tsr_dtype)TSR__FIELD, &x, TSR_I64, &minus, 1);
    assert_true(x == p - 1);
    tsr__convert((tsr_dtype)TSR__FIELD, &x, TSR_I64, &least, 1);
    assert_true(x == p - 4); /* 2^63 is 4 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_sizes),
        cmocka_unit_test(names_of_what_is_none),
        cmocka_unit_test(halves_all_patterns),
        cmocka_unit_test(halves_round_to_even),
        cmocka_unit_test(halves_round_once),
        cmocka_unit_test(halves_in_arrays),
        cmocka_unit_test(halves_from_f32_sampled),
        cmocka_unit_test(integers_to_floats_round_once),
        cmocka_unit_test(floats_to_integers_saturate),
        cmocka_unit_test(integers_to_integers_saturate),
        cmocka_unit_test(all_pairs_keep_small_numbers),
        cmocka_unit_test(all_pairs_at_the_ends_of_ranges),
        cmocka_unit_test(field_arithmetic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
