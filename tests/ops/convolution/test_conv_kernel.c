/* SPDX-License-Identifier: Apache-2.0 */
/* test_conv_kernel.c - convolution on one rank: sizes by hand, the reference against values made
   with PyTorch (the file that is the argument), the fast kernels against the reference on random
   configurations, parts and empty ones, gradients by the adjoint identity, memory that fails, and
   several threads at once. Numbers are small integers, so results are equal bit for bit. */
#include <pthread.h>
#include <jansson.h>

#include "support/test.h"
#include "base/cpu.h"
#include "kernel/blas.h"
#include "ops/convolution/conv.h"
#include "support/numbers.h"
#include "support/sampling.h"

static const char *numeric_file;
static const tsr_dtype floats[] = {TSR_F32, TSR_F64, TSR_F16, TSR_BF16};
static const tsr_conv_product products[] = {TSR_CONV_OUTPUT, TSR_CONV_GRAD_INPUT,
                                            TSR_CONV_GRAD_WEIGHT};

/* The tensors of one convolution, in the order of the products' results; then bias and its. */
enum { INPUT, WEIGHT, OUTPUT, BIAS, TENSORS };

typedef struct conv {
    tsr_conv_shape shape;
    tsr_dtype dtype;
    int64_t n[TENSORS];
    void *data[TENSORS];
} conv;

static conv conv_new(tsr_conv_shape s, tsr_dtype dtype, uint64_t *seed)
{
    const int64_t per_group = s.transposed ? s.out_channels / s.groups : s.in_channels / s.groups;
    conv c = {.shape = s, .dtype = dtype};

    c.n[INPUT] = s.batch * s.in_channels * product_of(s.ndim, s.in);
    c.n[OUTPUT] = s.batch * s.out_channels * product_of(s.ndim, s.out);
    c.n[WEIGHT] =
        (s.transposed ? s.in_channels : s.out_channels) * per_group * product_of(s.ndim, s.kernel);
    c.n[BIAS] = s.out_channels;
    for (int k = 0; k < TENSORS; k++) {
        c.data[k] = exact_memory(dtype, c.n[k]);
        for (int64_t i = 0; i < c.n[k]; i++)
            tsr__put(dtype, c.data[k], i, (double)(below(seed, 7) - 3));
    }
    return c;
}

static void conv_free(conv *c)
{
    for (int k = 0; k < TENSORS; k++)
        free(c->data[k]);
}

static void describe(const conv *c, tsr_conv_product what, const char *name)
{
    const tsr_conv_shape *s = &c->shape;

    fprintf(stderr, "%s product %d by %s: %s batch %d channels %d %d groups %d\n",
            tsr_dtype_name(c->dtype), (int)what, name, s->transposed ? "transposed" : "plain",
            (int)s->batch, (int)s->in_channels, (int)s->out_channels, (int)s->groups);
    for (int d = 0; d < s->ndim; d++)
        fprintf(stderr, "  in %d kernel %d stride %d dilation %d pad %d out %d\n", (int)s->in[d],
                (int)s->kernel[d], (int)s->stride[d], (int)s->dilation[d], (int)s->pad_lo[d],
                (int)s->out[d]);
}

/* Plan, run, free; everything that was taken is given back. The output's own data stands for
   grad_output. */
static tsr_status run(const conv *c, tsr_conv_product what, bool bias, bool reference,
                      int64_t fail_at, void *out, char *name)
{
    static const int a[] = {INPUT, OUTPUT, OUTPUT}, b[] = {WEIGHT, WEIGHT, INPUT};
    tsr_heap heap = {.fail_at = fail_at};
    tsr_conv_plan *plan = NULL;
    tsr_pool pool;
    tsr_error err = {0};
    tsr_status st;

    tsr__pool_open(&pool, &heap);
    TSR_TRY(
        tsr__conv_plan_make(&heap, &c->shape, c->dtype, what, bias, false, reference, &plan, &err));
    if (name)
        snprintf(name, 64, "%s", tsr__conv_plan_name(plan));
    for (int again = 0; again < 2 && st == TSR_OK; again++) /* a plan runs more than once */
        st = tsr__conv_plan_run(plan, &pool, c->data[a[what]], c->data[b[what]],
                                bias ? c->data[BIAS] : NULL, out, &err);
done:
    tsr__conv_plan_free(&heap, plan);
    tsr__pool_trim(&pool);
    assert_int_equal(heap.live, 0);
    assert_int_equal(pool.used, 0);
    assert_int_equal(st, err.code);
    return st;
}

static int64_t result_count(const conv *c, tsr_conv_product what)
{
    return c->n[what == TSR_CONV_OUTPUT ? OUTPUT : what == TSR_CONV_GRAD_INPUT ? INPUT : WEIGHT];
}

/* Fast equals reference. */
static void check(const conv *c, tsr_conv_product what, bool bias)
{
    const int64_t n = result_count(c, what);
    void *want = exact_memory(c->dtype, n), *got = exact_memory(c->dtype, n);
    char name[64];

    assert_int_equal(run(c, what, bias, true, 0, want, NULL), TSR_OK);
    assert_int_equal(run(c, what, bias, false, 0, got, name), TSR_OK);
    for (int64_t i = 0; i < n; i++)
        if (tsr__get(c->dtype, want, i) != tsr__get(c->dtype, got, i)) {
            describe(c, what, name);
            fail_msg("element %d: %g, not %g", (int)i, tsr__get(c->dtype, got, i),
                     tsr__get(c->dtype, want, i));
        }
    free(want);
    free(got);
}

static void check_all(tsr_conv_shape s, uint64_t *seed)
{
    for (size_t d = 0; d < sizeof floats / sizeof *floats; d++) {
        conv c = conv_new(s, floats[d], seed);

        check(&c, TSR_CONV_OUTPUT, false);
        check(&c, TSR_CONV_OUTPUT, true);
        check(&c, TSR_CONV_GRAD_INPUT, false);
        check(&c, TSR_CONV_GRAD_WEIGHT, false);
        conv_free(&c);
    }
}

/* ---- shapes ---- */

static tsr_conv_shape random_conv(uint64_t *seed, int64_t most_channels, int64_t most_size)
{
    tsr_conv_shape s = {.ndim = 1 + (int)below(seed, 3), .transposed = below(seed, 3) == 0};
    const bool depthwise = below(seed, 4) == 0;

    if (s.ndim == 3)
        most_size = most_size / 2 + 1;
    s.batch = 1 + below(seed, 3);
    s.groups = depthwise ? 1 + below(seed, most_channels) : below(seed, 2) ? 1 : 1 + below(seed, 3);
    s.in_channels = s.groups * (depthwise ? 1 : 1 + below(seed, most_channels));
    s.out_channels = s.groups * (depthwise ? 1 + below(seed, 2) : 1 + below(seed, most_channels));
    for (int d = 0; d < s.ndim; d++) {
        s.kernel[d] = 1 + below(seed, 4);
        s.stride[d] = 1 + below(seed, 3);
        s.dilation[d] = 1 + below(seed, 2);
        s.in[d] = 1 + below(seed, most_size);
        s.pad_lo[d] = below(seed, 2) ? below(seed, 4) : 0;
        s.pad_hi[d] = below(seed, 3) ? s.pad_lo[d] : below(seed, 4);
        if (s.transposed)
            s.output_padding[d] =
                below(seed, s.stride[d] > s.dilation[d] ? s.stride[d] : s.dilation[d]);
    }
    return s;
}

static void test_random(void **state)
{
    uint64_t seed = 1;
    int possible = 0;

    (void)state;
    while (possible < 500) {
        tsr_conv_shape s = random_conv(&seed, 6, 12);

        if (tsr__conv_infer("conv", &s, NULL) != TSR_OK)
            continue;
        if (sample_has(possible++, sample_quick()))
            check_all(s, &seed);
    }
}

/* Channels and sizes at which oneDNN has its special code, and several blocks of columns. */
static void test_larger(void **state)
{
    static const int64_t channels[] = {16, 32, 48, 20, 3, 64};
    uint64_t seed = 2;

    (void)state;
    for (int t = 0, possible = 0; possible < 40; t++) {
        tsr_conv_shape s = random_conv(&seed, 2, 20);

        s.groups = t % 5 == 0 ? 2 : 1;
        s.in_channels = s.groups * channels[below(&seed, 6)];
        s.out_channels = s.groups * channels[below(&seed, 6)];
        if (t % 7 == 0)
            s.groups = s.out_channels = s.in_channels;
        s.batch = 1;
        if (s.ndim == 3 || tsr__conv_infer("conv", &s, NULL) != TSR_OK)
            continue;
        if (sample_has(possible++, sample_quick()))
            check_all(s, &seed);
    }
}

/* Images so large that they run a few at a time, and one tap on many positions, which is a product
   of matrices. */
static void test_large_images(void **state)
{
    tsr_conv_shape s = {.ndim = 2,
                        .batch = 3,
                        .in_channels = 4,
                        .out_channels = 4,
                        .groups = 1,
                        .in = {140, 240},
                        .kernel = {2, 1},
                        .stride = {1, 1},
                        .dilation = {1, 1},
                        .pad_lo = {1, 0}};
    uint64_t seed = 8;

    (void)state;
    for (int k = 0; k < 4; k++) {
        s.transposed = k % 2;
        if (k == 2) {
            s.kernel[0] = 1, s.pad_lo[0] = 0;
            s.in[0] = 33, s.in[1] = 35, s.in_channels = 7, s.out_channels = 9;
        }
        assert_int_equal(tsr__conv_infer("conv", &s, NULL), TSR_OK);
        if (sample_has(k, sample_quick() < 4 ? sample_quick() : 4))
            check_all(s, &seed);
    }
}

/* Any window of the output, with more or less of the input than it needs. */
static void test_parts(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int64_t t = sample_first(sample_quick()); t < 250; t += sample_quick()) {
        tsr_conv_shape s = random_conv(&seed, 4, 10);

        for (int d = 0; d < s.ndim; d++) {
            s.pad_lo[d] = below(&seed, 14) - 7;
            s.out[d] = 1 + below(&seed, 10);
        }
        check_all(s, &seed);
    }
}

static void test_empty(void **state)
{
    uint64_t seed = 4;

    (void)state;
    for (int64_t t = sample_first(sample_quick()); t < 300; t += sample_quick()) {
        tsr_conv_shape s = random_conv(&seed, 4, 6);

        for (int d = 0; d < s.ndim; d++) {
            s.out[d] = below(&seed, 3);
            s.in[d] = below(&seed, 3);
        }
        if (below(&seed, 2))
            s.batch = 0;
        if (below(&seed, 6) == 0)
            s.in_channels = 0;
        if (below(&seed, 6) == 0)
            s.out_channels = 0;
        check_all(s, &seed);
    }
}

/* ---- sizes ---- */

static void test_sizes(void **state)
{
    tsr_conv_shape s = {.ndim = 1,
                        .batch = 1,
                        .in_channels = 4,
                        .out_channels = 6,
                        .groups = 2,
                        .in = {10},
                        .kernel = {3},
                        .stride = {2},
                        .dilation = {2},
                        .pad_lo = {1},
                        .pad_hi = {2}};
    tsr_conv_shape t = s;
    tsr_error err = {0};

    (void)state;
    assert_int_equal(tsr__conv_infer("conv", &s, &err), TSR_OK);
    assert_int_equal(s.out[0], (10 + 3 - 5) / 2 + 1);
    t.transposed = true;
    t.output_padding[0] = 1;
    assert_int_equal(tsr__conv_infer("conv", &t, &err), TSR_OK);
    assert_int_equal(t.out[0], 9 * 2 - 3 + 5 + 1);
}

static void expect_error(tsr_conv_shape s, const char *text)
{
    tsr_error err = {0};

    assert_int_equal(tsr__conv_infer("conv", &s, &err), TSR_ERR_SHAPE);
    assert_string_equal(err.text, text);
}

static void test_bad_sizes(void **state)
{
    const tsr_conv_shape good = {.ndim = 2,
                                 .batch = 1,
                                 .in_channels = 4,
                                 .out_channels = 6,
                                 .groups = 2,
                                 .in = {5, 5},
                                 .kernel = {3, 3},
                                 .stride = {1, 2},
                                 .dilation = {1, 2}};
    tsr_conv_shape s = good;

    (void)state;
    s.ndim = 4;
    expect_error(s, "conv: 4 spatial dims, 1 to 3 are supported");
    s = good, s.groups = 4;
    expect_error(s, "conv: 4 groups do not divide 4 input and 6 output channels");
    s = good, s.stride[1] = 0;
    expect_error(s, "conv: the stride of spatial dim 1 is 0, must be at least 1");
    s = good, s.dilation[0] = -1;
    expect_error(s, "conv: the dilation of spatial dim 0 is -1, must be at least 1");
    s = good, s.in[1] = 4;
    expect_error(s, "conv: the kernel spans 5 in spatial dim 1 (size 3, dilation 2), the padded "
                    "input only 4");
    s = good, s.output_padding[0] = 1;
    expect_error(s, "conv: output padding needs transposed=true");
    s = good, s.transposed = true, s.output_padding[1] = 2;
    expect_error(s, "conv: output padding 2 of spatial dim 1 must be less than its stride 2 or its "
                    "dilation 2");
    s = good, s.transposed = true, s.pad_lo[0] = 8;
    expect_error(s, "conv: the padding 8 + 0 of spatial dim 0 exceeds the 7 outputs that 5 inputs "
                    "give");
    s = good, s.kernel[0] = INT64_MAX, s.dilation[0] = 2;
    expect_error(s, "conv: the sizes of spatial dim 0 are too large");
    s = good, s.pad_lo[0] = s.pad_hi[0] = INT64_MAX;
    expect_error(s, "conv: the sizes of spatial dim 0 are too large");
    s = good, s.transposed = true, s.in[0] = INT64_MAX, s.stride[0] = 3;
    expect_error(s, "conv: the sizes of spatial dim 0 are too large");
}

/* ---- gradients ---- */

static double dot(tsr_dtype dtype, int64_t n, const void *a, const void *b)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += tsr__get(dtype, a, i) * tsr__get(dtype, b, i);
    return sum;
}

static uint64_t dot_field(int64_t n, const uint64_t *a, const uint64_t *b)
{
    uint64_t sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum = tsr__field_add(sum, tsr__field_mul(a[i], b[i]));
    return sum;
}

/* <conv(x,w), g> = <x, grad_x> = <w, grad_w>, where c's output is g. */
static void check_adjoint(const conv *c)
{
    static const int other[] = {OUTPUT, INPUT, WEIGHT};
    uint64_t field[3];
    double real[3];

    for (int k = 0; k < 3; k++) {
        const int64_t n = result_count(c, products[k]);
        void *result = exact_memory(c->dtype, n);

        assert_int_equal(run(c, products[k], false, false, 0, result, NULL), TSR_OK);
        if ((int)c->dtype == TSR__FIELD)
            field[k] = dot_field(n, result, c->data[other[k]]);
        else
            real[k] = dot(c->dtype, n, result, c->data[other[k]]);
        free(result);
    }
    if ((int)c->dtype == TSR__FIELD)
        assert_true(field[0] == field[1] && field[0] == field[2]);
    else
        assert_true(real[0] == real[1] && real[0] == real[2]);
}

static void test_adjoint(void **state)
{
    static const tsr_dtype exact[] = {TSR_F32, TSR_F64, (tsr_dtype)TSR__FIELD};
    uint64_t seed = 5;

    (void)state;
    for (int possible = 0; possible < 200;) {
        tsr_conv_shape s = random_conv(&seed, 5, 9);

        if (tsr__conv_infer("conv", &s, NULL) != TSR_OK)
            continue;
        if (!sample_has(possible++, sample_quick()))
            continue;
        for (int d = 0; d < 3; d++) {
            conv c = conv_new(s, exact[d], &seed);

            if (d == 2)
                for (int k = 0; k < TENSORS; k++)
                    for (int64_t i = 0; i < c.n[k]; i++)
                        ((uint64_t *)c.data[k])[i] =
                            (uint64_t)below(&seed, INT32_MAX) * 0x7654321 % TSR__FIELD_P;
            check_adjoint(&c);
            conv_free(&c);
        }
    }
}

/* ---- values made with PyTorch ---- */

static int64_t number(const json_t *array, int i)
{
    return json_integer_value(json_array_get(array, (size_t)i));
}

static int read_sizes(const json_t *json, const char *name, int64_t *out)
{
    const json_t *array = json_object_get(json_object_get(json, name), "shape");

    for (int i = 0; i < (int)json_array_size(array); i++)
        out[i] = number(array, i);
    return (int)json_array_size(array);
}

static void read_data(const json_t *json, const char *name, tsr_dtype dtype, int64_t n, void *out)
{
    const json_t *array = json_object_get(json_object_get(json, name), "data");

    assert_int_equal(json_array_size(array), n);
    for (int64_t i = 0; i < n; i++)
        tsr__put(dtype, out, i, json_number_value(json_array_get(array, (size_t)i)));
}

static tsr_conv_shape read_shape(const json_t *json)
{
    tsr_conv_shape s = {.transposed = json_is_true(json_object_get(json, "transposed")),
                        .groups = json_integer_value(json_object_get(json, "groups"))};
    int64_t in[8], weight[8], out[8];

    s.ndim = read_sizes(json, "input", in) - 2;
    read_sizes(json, "weight", weight);
    read_sizes(json, "output", out);
    s.batch = in[0], s.in_channels = in[1], s.out_channels = out[1];
    for (int d = 0; d < s.ndim; d++) {
        const json_t *pad = json_array_get(json_object_get(json, "padding"), (size_t)d);

        s.in[d] = in[d + 2];
        s.kernel[d] = weight[d + 2];
        s.stride[d] = number(json_object_get(json, "stride"), d);
        s.dilation[d] = number(json_object_get(json, "dilation"), d);
        s.output_padding[d] = number(json_object_get(json, "output_padding"), d);
        s.pad_lo[d] = number(pad, 0);
        s.pad_hi[d] = number(pad, 1);
    }
    assert_int_equal(tsr__conv_infer("conv", &s, NULL), TSR_OK);
    for (int d = 0; d < s.ndim; d++)
        assert_int_equal(s.out[d], out[d + 2]);
    return s;
}

static void expect_same(const char *name, tsr_dtype dtype, int64_t n, const void *got,
                        const void *want)
{
    for (int64_t i = 0; i < n; i++)
        if (tsr__get(dtype, got, i) != tsr__get(dtype, want, i))
            fail_msg("%s %s, element %d: %g, not %g", tsr_dtype_name(dtype), name, (int)i,
                     tsr__get(dtype, got, i), tsr__get(dtype, want, i));
}

/* The file's results, rounded to the dtype, are those of the reference and of the fast kernels. */
static void run_case(const json_t *json, tsr_dtype dtype, bool reference)
{
    static const char *const results[] = {"output", "grad_input", "grad_weight"};
    const bool bias = json_is_object(json_object_get(json, "bias"));
    uint64_t seed = 0;
    conv c = conv_new(read_shape(json), dtype, &seed);

    read_data(json, "input", dtype, c.n[INPUT], c.data[INPUT]);
    read_data(json, "weight", dtype, c.n[WEIGHT], c.data[WEIGHT]);
    read_data(json, "grad_output", dtype, c.n[OUTPUT], c.data[OUTPUT]);
    if (bias)
        read_data(json, "bias", dtype, c.n[BIAS], c.data[BIAS]);
    for (int k = 0; k < 3; k++) {
        const int64_t n = result_count(&c, products[k]);
        void *got = exact_memory(dtype, n), *want = exact_memory(dtype, n);

        assert_int_equal(run(&c, products[k], bias && k == 0, reference, 0, got, NULL), TSR_OK);
        read_data(json, results[k], dtype, n, want);
        expect_same(results[k], dtype, n, got, want);
        free(got);
        free(want);
    }
    conv_free(&c);
}

static void test_numeric(void **state)
{
    FILE *file = fopen(numeric_file, "r");
    int cases = 0;
    json_t *json;

    (void)state;
    assert_non_null(file);
    while ((json = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL))) {
        for (int d = 0; d < 4; d++)
            for (int reference = 0; reference < 2; reference++)
                if (sample_has(cases * 9 + d * 2 + reference, sample_quick()))
                    run_case(json, floats[d], reference);
        json_decref(json);
        cases++;
    }
    assert_int_equal(cases, 90);
    fclose(file);
}

/* ---- resources ---- */

static const tsr_conv_shape resnet[] = {
    {.ndim = 2,
     .batch = 2,
     .in_channels = 64,
     .out_channels = 64,
     .groups = 1,
     .in = {56, 56},
     .kernel = {3, 3},
     .stride = {1, 1},
     .dilation = {1, 1},
     .pad_lo = {1, 1},
     .pad_hi = {1, 1}},
    {.ndim = 2,
     .batch = 2,
     .in_channels = 3,
     .out_channels = 64,
     .groups = 1,
     .in = {224, 224},
     .kernel = {7, 7},
     .stride = {2, 2},
     .dilation = {1, 1},
     .pad_lo = {3, 3},
     .pad_hi = {3, 3}},
    {.ndim = 2,
     .batch = 2,
     .in_channels = 64,
     .out_channels = 256,
     .groups = 1,
     .in = {56, 56},
     .kernel = {1, 1},
     .stride = {1, 1},
     .dilation = {1, 1}},
    {.ndim = 2,
     .batch = 2,
     .in_channels = 128,
     .out_channels = 128,
     .groups = 128,
     .in = {28, 28},
     .kernel = {3, 3},
     .stride = {1, 1},
     .dilation = {1, 1},
     .pad_lo = {1, 1},
     .pad_hi = {1, 1}},
    {.ndim = 3,
     .batch = 1,
     .in_channels = 16,
     .out_channels = 16,
     .groups = 1,
     .in = {16, 16, 16},
     .kernel = {3, 3, 3},
     .stride = {1, 1, 1},
     .dilation = {1, 1, 1},
     .pad_lo = {1, 1, 1},
     .pad_hi = {1, 1, 1}},
    {.ndim = 2,
     .batch = 2,
     .in_channels = 64,
     .out_channels = 32,
     .groups = 1,
     .in = {28, 28},
     .kernel = {2, 2},
     .stride = {2, 2},
     .dilation = {1, 1},
     .transposed = true},
};

static bool is_fast(const tsr_conv_shape *s, const char *name)
{
    char version[32];

    if (!tsr_library_version(TSR_LIBRARY_ONEDNN, version, sizeof version))
        return strcmp(name, "columns") == 0 || strcmp(name, "taps") == 0;
    return strstr(name, "jit") || strstr(name, "brg") ||
           (s->in_channels < 8 && strcmp(name, "columns") == 0);
}

/* The shapes that matter do not fall to slow code where the processor has better. */
static void test_hot_shapes(void **state)
{
    (void)state;
    if (!tsr__cpu_avx2())
        return;
    for (size_t i = 0; i < sizeof resnet / sizeof *resnet; i++)
        for (int k = 0; k < 4; k++) { /* the fourth: an output with a bias */
            tsr_conv_shape s = resnet[i];
            tsr_conv_plan *plan;
            tsr_heap heap = {0};
            const char *name;

            assert_int_equal(tsr__conv_infer("conv", &s, NULL), TSR_OK);
            assert_int_equal(tsr__conv_plan_make(&heap, &s, TSR_F32, products[k % 3], k == 3, false,
                                                 false, &plan, NULL),
                             TSR_OK);
            name = tsr__conv_plan_name(plan);
            if (!is_fast(&s, name))
                fail_msg("shape %d, product %d runs by %s", (int)i, k, name);
            tsr__conv_plan_free(&heap, plan);
        }
}

static void test_no_memory(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (int d = 0; d < 4; d++)
        for (int k = 0; k < 6; k++) {
            tsr_conv_shape s = resnet[4 + k % 2];
            tsr_status st = TSR_ERR_MEMORY;
            conv c;
            void *out;

            s.in[0] = s.in[1] = 4, s.in[2] = 4;
            assert_int_equal(tsr__conv_infer("conv", &s, NULL), TSR_OK);
            c = conv_new(s, floats[d], &seed);
            out = exact_memory(floats[d], result_count(&c, products[k / 2]));
            for (int64_t n = 1; st == TSR_ERR_MEMORY; n++) {
                assert_true(n < 20);
                st = run(&c, products[k / 2], false, false, n, out, NULL);
            }
            assert_int_equal(st, TSR_OK);
            free(out);
            conv_free(&c);
        }
}

enum { THREADS = 4 };

static void *thread_main(void *arg)
{
    uint64_t seed = *(uint64_t *)arg;

    for (int possible = 0; possible < 25;) {
        tsr_conv_shape s = random_conv(&seed, 20, 9);

        if (tsr__conv_infer("conv", &s, NULL) != TSR_OK)
            continue;
        if (sample_has(possible++, sample_quick()))
            check_all(s, &seed);
    }
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t thread[THREADS];
    uint64_t seed[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        seed[i] = 100 + (uint64_t)i / 2; /* two do the same: they meet in oneDNN's cache */
        assert_int_equal(pthread_create(&thread[i], NULL, thread_main, &seed[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),     cmocka_unit_test(test_bad_sizes),
        cmocka_unit_test(test_numeric),   cmocka_unit_test(test_random),
        cmocka_unit_test(test_larger),    cmocka_unit_test(test_large_images),
        cmocka_unit_test(test_parts),     cmocka_unit_test(test_empty),
        cmocka_unit_test(test_adjoint),   cmocka_unit_test(test_hot_shapes),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_threads),
    };

    if (argc != 2) {
        fprintf(stderr, "usage: test_conv_kernel FILE\n");
        return 2;
    }
    numeric_file = argv[1];
    tsr__blas_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
