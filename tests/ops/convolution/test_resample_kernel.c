/* SPDX-License-Identifier: Apache-2.0 */
/* test_resample_kernel.c - resampling on one rank: windows and weights of all small sizes against a
   second definition, values made with PyTorch, fast against reference, parts bit for bit, gradients
   as adjoints. Memory is exactly as large as it must be. */
#include <float.h>
#include <jansson.h>

#include "support/test.h"
#include "ops/convolution/resample.h"
#include "support/sampling.h"

static const tsr_dtype dtypes[] = {TSR_F32, TSR_F64, TSR_F16, TSR_BF16, (tsr_dtype)TSR__FIELD,
                                   TSR_I32, TSR_I64, TSR_U8,  TSR_I8,   TSR_I16,
                                   TSR_U16, TSR_U32, TSR_U64, TSR_BOOL};
static const char *const kinds[] = {"average", "nearest", "linear", "corners"};
enum { DTYPES = sizeof dtypes / sizeof *dtypes, FLOATS = 4, DIVIDING = 5, KINDS = 4, SMALL = 40 };

static const char *numeric_file;

static int64_t below(uint64_t *seed, int64_t n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((*seed >> 33) % (uint64_t)n);
}

static int64_t product_of(int n, const int64_t *size)
{
    int64_t all = 1;

    for (int d = 0; d < n; d++)
        all *= size[d];
    return all;
}

static void *memory(tsr_dtype dtype, int64_t n)
{
    const size_t bytes = (size_t)n * tsr_dtype_size(dtype);
    void *p = malloc(bytes ? bytes : 1);

    assert_non_null(p);
    memset(p, 0xff, bytes);
    return p;
}

/* Small integers, or with `real` any numbers of a few units. */
static void *numbers(tsr_dtype dtype, int64_t n, bool real, uint64_t *seed)
{
    void *p = memory(dtype, n);

    for (int64_t i = 0; i < n; i++)
        if ((int)dtype == TSR__FIELD)
            ((uint64_t *)p)[i] = (uint64_t)below(seed, INT32_MAX) * 0x7654321 % TSR__FIELD_P;
        else if (dtype == TSR_BOOL)
            ((uint8_t *)p)[i] = (uint8_t)below(seed, 2);
        else if (real)
            tsr__put(dtype, p, i, (double)below(seed, 1 << 30) * 0x1p-28 - 2);
        else
            tsr__put(dtype, p, i,
                     (double)(below(seed, 7) -
                              (tsr__dtype_is_integer(dtype) && !tsr__dtype_min(dtype) ? 0 : 3)));
    return p;
}

/* The whole of a problem. */
static tsr_resample_shape shape_of(int ndim, int64_t planes, const int64_t *in, const int64_t *out)
{
    tsr_resample_shape s = {.ndim = ndim, .planes = planes};

    for (int d = 0; d < ndim; d++) {
        s.whole_in[d] = s.in_count[d] = in[d];
        s.whole_out[d] = s.out_count[d] = out[d];
    }
    return s;
}

static tsr_resample_shape random_shape(uint64_t *seed, int64_t most)
{
    const int ndim = 1 + (int)below(seed, 3);
    int64_t in[TSR_CONV_DIMS], out[TSR_CONV_DIMS];

    for (int d = 0; d < ndim; d++) {
        in[d] = 1 + below(seed, ndim == 3 ? most / 2 : most);
        out[d] = 1 + below(seed, ndim == 3 ? most / 2 : most);
        if (below(seed, 4) == 0) /* integer factors */
            in[d] = 1 + below(seed, 5), out[d] = in[d] * (1 + below(seed, 4));
        if (below(seed, 4) == 0)
            out[d] = 1 + below(seed, 5), in[d] = out[d] * (1 + below(seed, 4));
    }
    return shape_of(ndim, 1 + below(seed, 3), in, out);
}

static int64_t source_count(const tsr_resample_shape *s, bool back)
{
    return s->planes * product_of(s->ndim, back ? s->out_count : s->in_count);
}

/* `fail`: which allocation fails, 0 none. */
static tsr_status run_failing(const tsr_resample_shape *s, tsr_resample_kind kind, bool back,
                              tsr_dtype dtype, bool reference, const void *source, int64_t fail,
                              void *result)
{
    tsr_heap heap = {.fail_at = fail};
    tsr_status st;
    tsr_pool pool;

    tsr__pool_open(&pool, &heap);
    st = tsr__resample(s, kind, back, dtype, reference, &pool, source, result, NULL);
    assert_int_equal(pool.used, 0);
    tsr__pool_trim(&pool);
    return st;
}

/* The result, in memory of its own. */
static void *run(const tsr_resample_shape *s, tsr_resample_kind kind, bool back, tsr_dtype dtype,
                 bool reference, const void *source)
{
    void *result = memory(dtype, source_count(s, !back));

    assert_int_equal(run_failing(s, kind, back, dtype, reference, source, 0, result), TSR_OK);
    return result;
}

static double eps_of(tsr_dtype dtype)
{
    return dtype == TSR_F64   ? DBL_EPSILON
           : dtype == TSR_F32 ? FLT_EPSILON
           : dtype == TSR_F16 ? 0x1p-10
                              : 0x1p-7;
}

/* Results are sums of numbers up to `most` times weights that add up to 1, or, in a gradient, to
   less than the product over dims of out / in + 2. Sums are rounded in f32 or f64, then once. */
static double tolerance(const tsr_resample_shape *s, bool back, tsr_dtype dtype, double most,
                        double want)
{
    double sum = most;

    for (int d = 0; back && d < s->ndim; d++)
        sum *= (double)s->whole_out[d] / (double)s->whole_in[d] + 2;
    return eps_of(dtype) * fabs(want) + 16 * sum * (dtype == TSR_F64 ? DBL_EPSILON : FLT_EPSILON);
}

static void expect_near(const tsr_resample_shape *s, tsr_resample_kind kind, bool back,
                        tsr_dtype dtype, const void *want, const void *got)
{
    const bool exact = dtype == TSR_BOOL || !(tsr__dtype_is_float(dtype)) ||
                       (kind == TSR_RESAMPLE_NEAREST && !back);

    for (int64_t i = 0; i < source_count(s, !back); i++) {
        const double a = tsr__get(dtype, want, i), b = tsr__get(dtype, got, i);

        if ((int)dtype == TSR__FIELD ? ((const uint64_t *)want)[i] != ((const uint64_t *)got)[i]
            : exact                  ? a != b
                                     : !(fabs(a - b) <= tolerance(s, back, dtype, 3, a)))
            fail_msg("%s %s %s, element %d of %dx%dx%d from %dx%dx%d: %.17g, not %.17g",
                     (int)dtype == TSR__FIELD ? "field" : tsr_dtype_name(dtype), kinds[kind],
                     back ? "gradient" : "output", (int)i, (int)s->whole_out[0],
                     (int)s->whole_out[1], (int)s->whole_out[2], (int)s->whole_in[0],
                     (int)s->whole_in[1], (int)s->whole_in[2], b, a);
    }
}

/* ---- windows and weights of all small sizes ---- */

/* Weight of input i in output o, times *den: linear by distance, averages by overlap. */
static int64_t weight(tsr_resample_kind kind, int64_t in, int64_t out, int64_t i, int64_t o,
                      int64_t *den)
{
    const bool corners = kind == TSR_RESAMPLE_CORNERS;
    int64_t at, apart;

    *den = 1;
    if (kind == TSR_RESAMPLE_NEAREST) /* i out <= o in < (i + 1) out */
        return i * out <= o * in && o * in < (i + 1) * out;
    if (kind == TSR_RESAMPLE_AVERAGE) { /* (i, i + 1) / in meets (o, o + 1) / out */
        *den = 0;
        for (int64_t k = 0; k < in; k++)
            *den += k * out < (o + 1) * in && (k + 1) * out > o * in;
        return i * out < (o + 1) * in && (i + 1) * out > o * in;
    }
    *den = corners ? (out > 1 ? out - 1 : 1) : 2 * out;
    at = corners ? o * (in - 1) : (2 * o + 1) * in - out;
    at = at<0 ? 0 : at>(in - 1) * *den ? (in - 1) * *den : at;
    apart = i * *den > at ? i * *den - at : at - i * *den;
    return apart < *den ? *den - apart : 0;
}

/* The needed [*begin, *end) of one result; nothing: *begin is -1. */
static void needed(tsr_resample_kind kind, bool back, int64_t in, int64_t out, int64_t r,
                   int64_t *begin, int64_t *end)
{
    int64_t den;

    *begin = *end = -1;
    for (int64_t s = 0; s < (back ? out : in); s++)
        if (weight(kind, in, out, back ? r : s, back ? s : r, &den)) {
            *begin = *begin < 0 ? s : *begin;
            *end = s + 1;
        }
}

static void check_windows(tsr_resample_kind kind, bool back, int64_t in, int64_t out)
{
    const tsr_window_law law = tsr__resample_law(kind, back, in, out);
    const int64_t whole = back ? out : in, m = back ? in : out;
    const bool exact = !(kind == TSR_RESAMPLE_CORNERS && back && out == 1);
    int64_t first[SMALL], last[SMALL], begin, end;

    for (int64_t r = 0; r < m; r++) {
        needed(kind, back, in, out, r, &first[r], &last[r]);
        tsr__window_of(&law, r, r + 1, whole, &begin, &end);
        if (exact ? first[r] < 0 ? begin != end : begin != first[r] || end != last[r]
                  : first[r] >= 0 && (begin > first[r] || end < last[r]))
            fail_msg("%s %s from %d to %d: %d needs [%d, %d), not [%d, %d)", kinds[kind],
                     back ? "gradient" : "output", (int)in, (int)out, (int)r, (int)first[r],
                     (int)last[r], (int)begin, (int)end);
    }
    for (int64_t from = 0; from < m; from++)
        for (int64_t to = from; to <= m; to++) {
            tsr__window_of(&law, from, to, whole, &begin, &end);
            assert_true(0 <= begin && begin <= end && end <= whole);
            assert_true(from < to || begin == end);
            for (int64_t r = from; r < to; r++)
                assert_true(first[r] < 0 || (begin <= first[r] && last[r] <= end));
        }
}

static void test_windows(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int64_t in = 1; in <= SMALL; in++)
            for (int64_t out = 0; out <= SMALL; out++) {
                check_windows((tsr_resample_kind)kind, false, in, out);
                check_windows((tsr_resample_kind)kind, true, in, out);
            }
}

/* Of the unit vectors as planes the results are the weights. */
static void check_weights(tsr_resample_kind kind, bool back, int64_t in, int64_t out)
{
    const int64_t n = back ? out : in, m = back ? in : out;
    tsr_resample_shape s = shape_of(1, n, &in, &out);
    double *unit = memory(TSR_F64, n * n);
    int64_t den;

    for (int64_t i = 0; i < n * n; i++)
        unit[i] = i / n == i % n;
    for (int reference = 0; reference < 2; reference++) {
        double *result = run(&s, kind, back, TSR_F64, reference, unit);

        for (int64_t i = 0; i < n * m; i++) {
            const int64_t r = i % m, from = i / m;
            const double num =
                (double)weight(kind, in, out, back ? r : from, back ? from : r, &den);

            if (!(fabs(result[i] - num / (double)den) <= DBL_EPSILON))
                fail_msg("%s %s from %d to %d: %d has %g of %d, not %g", kinds[kind],
                         back ? "gradient" : "output", (int)in, (int)out, (int)r, result[i],
                         (int)from, num / (double)den);
        }
        free(result);
    }
    free(unit);
}

static void test_weights(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int64_t in = 1; in <= SMALL; in++)
            for (int64_t out = 0; out <= SMALL; out++) {
                if (!sample_has(kind + in + 2 * out, sample_quick()))
                    continue;
                check_weights((tsr_resample_kind)kind, false, in, out);
                check_weights((tsr_resample_kind)kind, true, in, out);
            }
}

/* ---- fast against reference ---- */

static bool computes(tsr_resample_kind kind, int dtype)
{
    return kind == TSR_RESAMPLE_NEAREST || dtype < DIVIDING;
}

static void check_all(const tsr_resample_shape *s, uint64_t *seed)
{
    for (int i = 0; i < KINDS * DTYPES * 2; i++) {
        const tsr_resample_kind kind = (tsr_resample_kind)(i % KINDS);
        const tsr_dtype dtype = dtypes[i / KINDS % DTYPES];
        const bool back = i / KINDS / DTYPES;
        void *source, *fast, *want;

        if (!computes(kind, i / KINDS % DTYPES))
            continue;
        source = numbers(dtype, source_count(s, back), below(seed, 2), seed);
        fast = run(s, kind, back, dtype, false, source);
        want = run(s, kind, back, dtype, true, source);
        expect_near(s, kind, back, dtype, want, fast);
        free(source), free(fast), free(want);
    }
}

static void test_random(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int64_t t = sample_first(sample_quick()); t < 300; t += sample_quick()) {
        tsr_resample_shape s = random_shape(&seed, 16);

        if (t % 16 == 0)
            s.planes = 0;
        if (t % 16 == 1)
            s.whole_out[0] = s.out_count[0] = 0;
        check_all(&s, &seed);
    }
    for (int t = 0; t < 9; t++) { /* rows longer than a block, sums longer than lanes */
        int64_t in[] = {1 + below(&seed, 3), 400 + below(&seed, 400)};
        int64_t out[] = {1 + below(&seed, 5), 1 + below(&seed, t % 3 ? 9 : 1500)};
        tsr_resample_shape s;

        if (t % 3 == 2)
            out[1] = 2 * in[1];
        s = shape_of(2, 1, in, out);

        check_all(&s, &seed);
    }
}

/* Sums of many equal terms, which are all rounded to the same side; plane after plane. */
static void test_long(void **state)
{
    const int64_t in[] = {100, 3000}, out[] = {1, 1}, n = 300000;
    const tsr_resample_shape s = shape_of(2, 3, in, out);

    (void)state;
    for (int d = 0; d < FLOATS; d++) {
        void *x = memory(dtypes[d], 3 * n), *mean, *back;

        for (int64_t i = 0; i < 3 * n; i++)
            tsr__put(dtypes[d], x, i, 0.1 * (double)(1 + i / n));
        mean = run(&s, TSR_RESAMPLE_AVERAGE, false, dtypes[d], false, x);
        back = run(&s, TSR_RESAMPLE_AVERAGE, true, dtypes[d], false, mean);
        for (int64_t i = 0; i < 3 * n; i += n - 1) {
            const double want = tsr__get(dtypes[d], x, i), got = tsr__get(dtypes[d], mean, i / n);
            const double share = tsr__get(dtypes[d], back, i) * (double)n;

            assert_true(fabs(got - want) <= 64 * want * FLT_EPSILON);
            assert_true(dtypes[d] == TSR_F16 || fabs(share - got) <= got * eps_of(dtypes[d]));
        }
        free(x), free(mean), free(back);
    }
}

/* ---- parts ---- */

/* Element i of a part of n that starts at `first` in planes of size `whole`. */
static int64_t in_whole(int ndim, const int64_t *n, const int64_t *first, const int64_t *whole,
                        int64_t i)
{
    int64_t at = 0, step = 1;

    for (int d = ndim - 1; d >= 0; d--) {
        at += (i % n[d] + first[d]) * step;
        step *= whole[d];
        i /= n[d];
    }
    return at + i * step; /* what remains is the plane */
}

/* A random part of the result, and the window that it needs, or now and then a bit more. */
static tsr_resample_shape random_part(const tsr_resample_shape *s, tsr_resample_kind kind,
                                      bool back, uint64_t *seed)
{
    tsr_resample_shape part = *s;

    for (int d = 0; d < s->ndim; d++) {
        const int64_t whole = back ? s->whole_out[d] : s->whole_in[d];
        const int64_t results = back ? s->whole_in[d] : s->whole_out[d];
        const int64_t from = below(seed, results + 1);
        const int64_t to = from + below(seed, results - from + 1);
        const tsr_window_law law = tsr__resample_law(kind, back, s->whole_in[d], s->whole_out[d]);
        int64_t begin, end;

        tsr__window_of(&law, from, to, whole, &begin, &end);
        if (below(seed, 4) == 0)
            begin -= below(seed, begin + 1), end += below(seed, whole - end + 1);
        part.in_first[d] = back ? from : begin;
        part.in_count[d] = back ? to - from : end - begin;
        part.out_first[d] = back ? begin : from;
        part.out_count[d] = back ? end - begin : to - from;
    }
    return part;
}

static void check_part(const tsr_resample_shape *s, tsr_resample_kind kind, bool back,
                       tsr_dtype dtype, bool reference, uint64_t *seed)
{
    const tsr_resample_shape part = random_part(s, kind, back, seed);
    const int64_t *n = back ? part.out_count : part.in_count;
    const int64_t *m = back ? part.in_count : part.out_count;
    const int64_t n_all = source_count(&part, back), m_all = source_count(&part, !back);
    const size_t size = tsr_dtype_size(dtype);
    char *source = numbers(dtype, source_count(s, back), true, seed);
    char *window = memory(dtype, n_all);
    char *whole = run(s, kind, back, dtype, reference, source), *got;

    for (int64_t i = 0; i < n_all; i++)
        memcpy(window + (size_t)i * size,
               source + size * (size_t)in_whole(s->ndim, n, back ? part.out_first : part.in_first,
                                                back ? s->whole_out : s->whole_in, i),
               size);
    got = run(&part, kind, back, dtype, reference, window);
    for (int64_t i = 0; i < m_all; i++) {
        const int64_t at = in_whole(s->ndim, m, back ? part.in_first : part.out_first,
                                    back ? s->whole_in : s->whole_out, i);

        if (memcmp(got + (size_t)i * size, whole + (size_t)at * size, size))
            fail_msg("%s %s: element %d of a part is not that of the whole", kinds[kind],
                     back ? "gradient" : "output", (int)i);
    }
    free(source), free(window), free(whole), free(got);
}

static void test_parts(void **state)
{
    uint64_t seed = 2;

    (void)state;
    for (int64_t t = sample_first(sample_quick()); t < 400 * KINDS; t += sample_quick()) {
        const tsr_resample_kind kind = (tsr_resample_kind)(t % KINDS);
        const tsr_resample_shape s = random_shape(&seed, t % 3 ? 16 : 60);
        const int dtype = (int)below(&seed, kind == TSR_RESAMPLE_NEAREST ? DTYPES : DIVIDING);

        for (int i = 0; i < 4; i++)
            check_part(&s, kind, i % 2, dtypes[dtype], i / 2 && t % 3, &seed);
    }
    for (int t = 0; t < 8 * KINDS; t++) { /* rows longer than a block */
        int64_t in[] = {1 + below(&seed, 4), 1 + below(&seed, 2000)};
        int64_t out[] = {1 + below(&seed, 6), 1 + below(&seed, 2000)};
        tsr_resample_shape s;

        if (t / KINDS % 2)
            out[1] = 2 * in[1];
        s = shape_of(2, 1, in, out);
        for (int i = 0; i < 2; i++)
            check_part(&s, (tsr_resample_kind)(t % KINDS), i, dtypes[t / KINDS % DIVIDING], false,
                       &seed);
    }
}

/* Planes that are made in tiles, whose parts are not. */
static void test_tiles(void **state)
{
    const int64_t sizes[][3] = {{1, 260, 500}, {1, 301, 620}, {9, 40, 200}, {11, 150, 210}};
    uint64_t seed = 4;

    (void)state;
    for (int t = 0; t < 2 * KINDS; t++) {
        const int64_t *in = sizes[t / KINDS * 2], *out = sizes[t / KINDS * 2 + 1];
        const tsr_resample_shape s = shape_of(3, 1, in, out), back = shape_of(3, 1, out, in);

        for (int k = 0; k < 3; k++) {
            check_part(&s, (tsr_resample_kind)(t % KINDS), false, dtypes[k], false, &seed);
            check_part(&back, (tsr_resample_kind)(t % KINDS), true, dtypes[k], false, &seed);
        }
    }
}

/* ---- gradients ---- */

static uint64_t field_product(int64_t n, const uint64_t *a, const uint64_t *b)
{
    uint64_t sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum = tsr__field_add(sum, tsr__field_mul(a[i], b[i]));
    return sum;
}

static double product(int64_t n, const double *a, const double *b)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* <y, f(x)> = <f'(y), x>: in the field exactly. */
static void test_adjoint(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int64_t t = sample_first(sample_quick()); t < 200 * KINDS; t += sample_quick()) {
        const tsr_resample_kind kind = (tsr_resample_kind)(t % KINDS);
        const tsr_dtype dtype = t / KINDS % 2 ? TSR_F64 : (tsr_dtype)TSR__FIELD;
        const tsr_resample_shape s = random_shape(&seed, 20);
        const int64_t n = source_count(&s, false), m = source_count(&s, true);
        void *x = numbers(dtype, n, true, &seed), *y = numbers(dtype, m, true, &seed);
        void *f = run(&s, kind, false, dtype, false, x),
             *back = run(&s, kind, true, dtype, false, y);

        if (dtype == TSR_F64)
            assert_true(fabs(product(m, y, f) - product(n, back, x)) <=
                        4 * (double)(n + m) * 32 * DBL_EPSILON);
        else
            assert_true(field_product(m, y, f) == field_product(n, back, x));
        free(x), free(y), free(f), free(back);
    }
}

/* ---- values made with PyTorch ---- */

static int64_t *read_sizes(const json_t *json, const char *name, int64_t sizes[5], int *n)
{
    const json_t *array = json_object_get(json_object_get(json, name), "shape");

    *n = (int)json_array_size(array);
    for (int i = 0; i < *n && i < 5; i++)
        sizes[i] = json_integer_value(json_array_get(array, (size_t)i));
    return sizes;
}

static void *read_data(const json_t *json, const char *name, tsr_dtype dtype, int64_t n)
{
    const json_t *array = json_object_get(json_object_get(json, name), "data");
    void *p = memory(dtype, n);

    assert_int_equal(json_array_size(array), n);
    for (int64_t i = 0; i < n; i++)
        tsr__put(dtype, p, i, json_number_value(json_array_get(array, (size_t)i)));
    return p;
}

static void run_case(const json_t *json, tsr_dtype dtype, bool back, bool reference)
{
    const char *name = json_string_value(json_object_get(json, "kind"));
    int64_t in[5], out[5];
    int kind = 0, n;
    void *source, *want, *got;
    tsr_resample_shape s;

    while (kind < KINDS && strcmp(kinds[kind], name) != 0)
        kind++;
    assert_true(kind < KINDS);
    read_sizes(json, "input", in, &n), read_sizes(json, "output", out, &n);
    s = shape_of(n - 2, in[0] * in[1], in + 2, out + 2);
    source = read_data(json, back ? "grad_output" : "input", dtype, source_count(&s, back));
    want = read_data(json, back ? "grad_input" : "output", dtype, source_count(&s, !back));
    got = run(&s, (tsr_resample_kind)kind, back, dtype, reference, source);
    expect_near(&s, (tsr_resample_kind)kind, back, dtype, want, got);
    free(source), free(want), free(got);
}

static void test_numeric(void **state)
{
    FILE *file = fopen(numeric_file, "r");
    int cases = 0;
    json_t *json;

    (void)state;
    assert_non_null(file);
    while ((json = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL))) {
        for (int i = 0; i < 4 * FLOATS; i++)
            run_case(json, dtypes[i / 4], i % 2, i / 2 % 2);
        json_decref(json);
        cases++;
    }
    assert_int_equal(cases, 124);
    fclose(file);
}

/* ---- by hand ---- */

static void expect_row(tsr_resample_kind kind, int64_t in, const float *x, int64_t out,
                       const float *want)
{
    const tsr_resample_shape s = shape_of(1, 1, &in, &out);

    for (int reference = 0; reference < 2; reference++) {
        float *got = run(&s, kind, false, TSR_F32, reference, x);

        for (int64_t i = 0; i < out; i++)
            assert_true(got[i] == want[i]);
        free(got);
    }
}

static void test_by_hand(void **state)
{
    const float x[] = {1, 5, 3}, inf = INFINITY;
    const float far[] = {1, inf, 3, 2};

    (void)state;
    expect_row(TSR_RESAMPLE_AVERAGE, 3, x, 2, (float[]){3, 4});
    expect_row(TSR_RESAMPLE_AVERAGE, 3, x, 1, (float[]){3});
    expect_row(TSR_RESAMPLE_NEAREST, 3, x, 5, (float[]){1, 1, 5, 5, 3});
    expect_row(TSR_RESAMPLE_LINEAR, 3, x, 6, (float[]){1, 2, 4, 4.5f, 3.5f, 3});
    expect_row(TSR_RESAMPLE_LINEAR, 3, x, 1, (float[]){5});
    expect_row(TSR_RESAMPLE_CORNERS, 3, x, 5, (float[]){1, 3, 5, 4, 3});
    expect_row(TSR_RESAMPLE_CORNERS, 3, x, 1, (float[]){1});
    /* An infinite neighbour that has no weight is none. */
    expect_row(TSR_RESAMPLE_LINEAR, 4, far, 4, far);
    expect_row(TSR_RESAMPLE_CORNERS, 4, far, 7, (float[]){1, inf, inf, inf, 3, 2.5f, 2});
}

/* ---- errors ---- */

static void test_errors(void **state)
{
    const int64_t in[] = {4, 6}, out[] = {3, 9};
    tsr_resample_shape s = shape_of(2, 2, in, out);
    tsr_error err = {0};
    float x[2 * 27], y[2 * 27];

    (void)state;
    memset(x, 0, sizeof x);
    for (int i = 0; i < KINDS * 2; i++) {
        const tsr_resample_kind kind = (tsr_resample_kind)(i / 2);
        int64_t fail = 1;

        while (run_failing(&s, kind, i % 2, TSR_F32, false, x, fail, y) == TSR_ERR_MEMORY)
            fail++;
        assert_int_equal(fail, 3);
    }
    assert_int_equal(tsr__resample_check("upsample", &s, &err), TSR_OK);
    s.whole_in[1] = 0;
    assert_int_equal(tsr__resample_check("upsample", &s, &err), TSR_ERR_SHAPE);
    assert_string_equal(err.text, "upsample: spatial dim 1 cannot be resized from 0 to 9");
    s.whole_in[1] = 6, s.whole_out[0] = -1;
    assert_int_equal(tsr__resample_check("upsample", &s, NULL), TSR_ERR_SHAPE);
    s.whole_out[0] = INT64_C(1) << 31;
    assert_int_equal(tsr__resample_check("upsample", &s, NULL), TSR_ERR_SHAPE);
    s.ndim = 4, err = (tsr_error){0};
    assert_int_equal(tsr__resample_check("upsample", &s, &err), TSR_ERR_SHAPE);
    assert_string_equal(err.text, "upsample: 1 to 3 spatial dims are needed, not 4");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_windows),
        cmocka_unit_test(test_weights), cmocka_unit_test(test_numeric),
        cmocka_unit_test(test_random),  cmocka_unit_test(test_parts),
        cmocka_unit_test(test_tiles),   cmocka_unit_test(test_adjoint),
        cmocka_unit_test(test_long),    cmocka_unit_test(test_errors),
    };

    if (argc != 2) {
        fprintf(stderr, "usage: test_resample_kernel FILE.jsonl\n");
        return 2;
    }
    numeric_file = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
