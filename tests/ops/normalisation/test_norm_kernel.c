/* SPDX-License-Identifier: Apache-2.0 */
/* test_norm_kernel.c - normalisation on one rank: fast kernels against their references for all
   dtypes and many shapes, empty ones included; large means, outliers and long rows; what merging
   gives when the data is cut. */
#include "support/test.h"
#include "base/hash.h"
#include "ops/normalisation/normalisation_ops.h"
#include "ops/normalisation/norm.h"
#include "support/sampling.h"

static const tsr_dtype floats[] = {TSR_F32, TSR_F64, TSR_F16, TSR_BF16};

static double eps_of(tsr_dtype dtype)
{
    return dtype == TSR_F64   ? 0x1p-53
           : dtype == TSR_F32 ? 0x1p-24
           : dtype == TSR_F16 ? 0x1p-11
                              : 0x1p-8;
}

static tsr_dtype fine(tsr_dtype dtype)
{
    return dtype == TSR_F16 || dtype == TSR_BF16 ? TSR_F32 : dtype;
}

/* About from -1.7 to 1.7, of variance 1. */
static double random_at(uint64_t seed, int64_t i)
{
    uint64_t h = tsr__hash_final(tsr__hash_mix(seed, (uint64_t)i));

    return ((double)(h >> 11) * 0x1p-53 - 0.5) * 3.46;
}

/* Memory exactly as large as it must be. */
static tsr_operand operand(tsr_dtype dtype, const tsr_shape *shape)
{
    size_t bytes = (size_t)tsr_shape_count(shape) * tsr_dtype_size(dtype);
    tsr_operand x = {.dtype = dtype, .shape = *shape, .data = malloc(bytes ? bytes : 1)};

    assert_non_null(x.data);
    memset(x.data, 0xff, bytes); /* NaN */
    return x;
}

static tsr_operand filled(tsr_dtype dtype, const tsr_shape *shape, double offset, double scale,
                          uint64_t seed)
{
    tsr_operand x = operand(dtype, shape);

    for (int64_t i = 0; i < tsr_shape_count(shape); i++)
        tsr__put(dtype, x.data, i, offset + scale * random_at(seed, i));
    return x;
}

static const tsr_operand absent = {.shape = {.ndim = -1}};

static void free_operands(tsr_operand *x, int n)
{
    for (int k = 0; k < n; k++)
        free(x[k].data);
}

/* The kernel with memory for its scratch. */
static void run(int kind, tsr_kernel_call *call)
{
    call->kind = kind;
    call->scratch = malloc(tsr__scratch_channel_norm(call) + 1);
    assert_non_null(call->scratch);
    tsr__kernel_channel_norm(call);
    free(call->scratch);
    call->scratch = NULL;
}

static void describe(const char *name, const tsr_kernel_call *call, int k, int64_t i, double got,
                     double want)
{
    const tsr_shape *s = &call->in[0].shape;

    fprintf(stderr, "%s %s[", name, tsr_dtype_name(call->in[0].dtype));
    for (int d = 0; d < s->ndim; d++)
        fprintf(stderr, "%s%lld", d ? "," : "", (long long)s->size[d]);
    fail_msg("]: output %d, element %lld is %.17g, not %.17g", k, (long long)i, got, want);
}

/* Fast against reference, within `most` roundings of the largest number that can occur. */
static void compare(const char *name, int kind, tsr_kernel_call *call, double most)
{
    tsr_kernel_call naive = *call;

    for (int k = 0; k < call->n_out; k++)
        if (call->out[k].shape.ndim >= 0)
            naive.out[k] = operand(call->out[k].dtype, &call->out[k].shape);
    naive.kind = kind;
    naive.reference = true;
    tsr__kernel_channel_norm(&naive);
    run(kind, call);
    for (int k = 0; k < call->n_out; k++) {
        const tsr_operand *got = &call->out[k], *want = &naive.out[k];
        double largest = 1;
        int64_t n = got->shape.ndim < 0 ? 0 : tsr_shape_count(&got->shape);

        for (int64_t i = 0; i < n; i++)
            largest = fmax(largest, fabs(tsr__get(want->dtype, want->data, i)));
        for (int64_t i = 0; i < n; i++) {
            double a = tsr__get(got->dtype, got->data, i), b = tsr__get(want->dtype, want->data, i);
            if (!(fabs(a - b) <= most * eps_of(got->dtype) * largest))
                describe(name, call, k, i, a, b);
        }
        if (got->shape.ndim >= 0)
            free(naive.out[k].data);
    }
}

/* ---- calls ---- */

typedef struct values {
    double offset, scale;
} values;

static tsr_shape channels_of(const tsr_shape *x)
{
    return (tsr_shape){.ndim = 1, .size = {x->size[1]}};
}

static void check_forward(tsr_dtype dtype, const tsr_shape *x, int64_t groups, bool vectors,
                          values v, double most)
{
    const tsr_shape channels = channels_of(x);
    const tsr_shape statistics =
        groups > 0 ? (tsr_shape){.ndim = 2, .size = {x->size[0], groups}} : channels;
    tsr_kernel_call call = {
        .n_in = 5,
        .n_out = groups > 0 ? 3 : 4,
        .in = {filled(dtype, x, v.offset, v.scale, 1),
               vectors ? filled(dtype, &channels, 1, 0.3, 2) : absent,
               vectors ? filled(fine(dtype), &channels, 0, 0.5, 3) : absent, absent, absent},
        .out = {operand(dtype, x), operand(fine(dtype), &statistics),
                operand(fine(dtype), &statistics),
                groups > 0 ? absent : operand(fine(dtype), &statistics)},
        .attrs = {.value = {{.n = 1, .i = {groups > 0 ? groups : 1}}, {.n = 1, .f = 1e-5}}}};

    if (groups > 0)
        compare("group_norm", TSR_NORM_GROUP, &call, most);
    else
        compare("batch_norm", TSR_NORM_BATCH, &call, most);
    if (groups == 0) { /* by running statistics */
        call.attrs.value[TSR_NORM_TRAINING].i[0] = 0;
        call.in[TSR_NORM_RUNNING_MEAN] = filled(dtype, &channels, v.offset, v.scale, 4);
        call.in[TSR_NORM_RUNNING_VAR] = filled(fine(dtype), &channels, 2, 0.5, 5);
        free(call.out[3].data);
        free(call.out[1].data);
        call.out[1] = call.out[3] = absent;
        call.n_out = 3;
        compare("batch_norm, inference", TSR_NORM_BATCH, &call, most);
    }
    free_operands(call.in, 5);
    free_operands(call.out, 4);
}

/* Masks: bit k is output k. */
static void check_backward(tsr_dtype dtype, const tsr_shape *x, int64_t groups, bool vectors,
                           bool training, unsigned mask)
{
    const tsr_shape channels = channels_of(x);
    const tsr_shape statistics =
        groups > 0 ? (tsr_shape){.ndim = 2, .size = {x->size[0], groups}} : channels;
    int64_t count = groups > 0 ? x->size[1] / groups : x->size[0];
    tsr_kernel_call call = {.n_in = 5,
                            .n_out = 3,
                            .in = {filled(dtype, x, 0.25, 1, 1), filled(dtype, x, 0.5, 1, 6),
                                   vectors ? filled(dtype, &channels, 1, 0.3, 2) : absent,
                                   filled(fine(dtype), &statistics, 0.5, 0.3, 7),
                                   filled(dtype, &statistics, 1, 0.2, 8)},
                            .out = {mask & 1 ? operand(dtype, x) : absent,
                                    mask & 2 ? operand(fine(dtype), &channels) : absent,
                                    mask & 4 ? operand(fine(dtype), &channels) : absent},
                            .attrs = {.value = {{.n = 1, .i = {groups > 0 ? groups : training}}}}};

    for (int d = 2; d < x->ndim; d++)
        count *= x->size[d];
    call.number[TSR_NORM_COUNT] = count;
    if (groups > 0)
        compare("group_norm_backward", TSR_NORM_GROUP_BACKWARD, &call, 32);
    else
        compare(training ? "batch_norm_backward" : "batch_norm_backward, inference",
                TSR_NORM_BATCH_BACKWARD, &call, 32);
    free_operands(call.in, 5);
    free_operands(call.out, 3);
}

static const tsr_shape shapes[] = {
    {2, {5, 3}},        {2, {1, 7}},          {2, {1030, 5}},
    {2, {3, 1040}},     {3, {2, 3, 1}},       {3, {4, 6, 7}},
    {3, {1, 1, 1}},     {3, {3, 2, 1024}},    {3, {2, 3, 1025}},
    {3, {2, 2, 5001}},  {4, {4, 12, 7, 7}},   {4, {2, 4, 16, 16}},
    {4, {30, 6, 3, 5}}, {5, {2, 3, 2, 5, 4}}, {6, {2, 2, 3, 1, 2, 3}},
    {3, {0, 4, 3}},     {3, {3, 4, 0}},       {3, {3, 0, 5}},
    {2, {0, 2}},        {3, {2, 1500, 3}},
};

static void forward_all_shapes(void **state)
{
    int number = 0;

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (int d = 0; d < 4; d++)
            for (int vectors = 0; vectors < 2; vectors++, number++) {
                const int64_t c = shapes[i].size[1];
                const values v = {0.5, 1};
                const double most = floats[d] == TSR_F64 ? 32 : 8; /* sums are not wider there */

                if (!sample_has(number, sample_quick()))
                    continue;
                check_forward(floats[d], &shapes[i], 0, vectors, v, most);
                for (int64_t g = 1; g <= c; g = g < 4 ? g + 1 : c == g ? c + 1 : c)
                    if (c % g == 0)
                        check_forward(floats[d], &shapes[i], g, vectors, v, most);
            }
}

static void backward_all_shapes(void **state)
{
    int number = 0;

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (int d = 0; d < 4; d++)
            for (unsigned mask = 1; mask < 8; mask++, number++) {
                const int64_t c = shapes[i].size[1];
                const bool vectors = mask % 2;

                if (!sample_has(number + number / 7, sample_quick())) /* all masks */
                    continue;
                check_backward(floats[d], &shapes[i], 0, vectors, true, mask);
                check_backward(floats[d], &shapes[i], 0, !vectors, false, mask);
                for (int64_t g = 1; g <= c; g = g < 4 ? g + 1 : c == g ? c + 1 : c)
                    if (c % g == 0)
                        check_backward(floats[d], &shapes[i], g, vectors, true, mask);
            }
}

/* A mean of 10000 deviations: the statistics of a million values are good to the last digits. */
static void large_means(void **state)
{
    static const tsr_shape big[] = {
        {4, {16, 4, 128, 128}}, {3, {1, 1, 1000000}}, {2, {200000, 5}}, {4, {512, 16, 7, 7}}};
    (void)state;

    for (size_t i = 0; i < sizeof big / sizeof big[0]; i++) {
        if (!sample_has((int64_t)i, sample_quick() < 4 ? sample_quick() : 4))
            continue;
        check_forward(TSR_F32, &big[i], 0, true, (values){1e4, 1}, 8);
        check_forward(TSR_F32, &big[i], 0, false, (values){-1e4, 1e-1}, 8);
        check_forward(TSR_F32, &big[i], 1, true, (values){1e4, 1}, 8);
        /* of f64 the reference itself rounds: the mean of such values, and distances to it */
        check_forward(TSR_F64, &big[i], 0, true, (values){1e4, 1}, 1e5);
        check_forward(TSR_F16, &big[i], 0, true, (values){100, 1}, 8);
    }
}

/* The first element is what distances are taken to: it may be the one that is far away. */
static void outliers(void **state)
{
    const tsr_shape x = {3, {3, 2, 1500}}, channels = {1, {2}};
    (void)state;

    for (int d = 0; d < 2; d++) {
        tsr_kernel_call call = {.n_in = 1,
                                .n_out = 3,
                                .in = {filled(floats[d], &x, 5, 1, 1)},
                                .out = {operand(floats[d], &x), operand(floats[d], &channels),
                                        operand(floats[d], &channels)},
                                .attrs = {.value = {{.n = 1, .i = {1}}, {.n = 1, .f = 1e-5}}}};

        tsr__put(floats[d], call.in[0].data, 0, 1e6);
        tsr__put(floats[d], call.in[0].data, 1024, -1e5);
        compare("batch_norm", TSR_NORM_BATCH, &call, d == 0 ? 8 : 1e4);
        free_operands(call.in, 1);
        free_operands(call.out, 3);
    }
}

static void nan_is_seen(void **state)
{
    const tsr_shape x = {3, {2, 2, 40}}, channels = {1, {2}};
    tsr_kernel_call call = {
        .n_in = 1,
        .n_out = 3,
        .in = {filled(TSR_F32, &x, 0, 1, 1)},
        .out = {operand(TSR_F32, &x), operand(TSR_F32, &channels), operand(TSR_F32, &channels)},
        .attrs = {.value = {{.n = 1, .i = {1}}, {.n = 1, .f = 1e-5}}}};
    (void)state;

    ((float *)call.in[0].data)[3] = NAN;
    run(TSR_NORM_BATCH, &call);
    assert_true(isnan(((float *)call.out[0].data)[0]) && isnan(((float *)call.out[1].data)[0]));
    assert_true(isfinite(((float *)call.out[0].data)[40]) &&
                isfinite(((float *)call.out[2].data)[1]));
    free_operands(call.in, 1);
    free_operands(call.out, 3);
}

/* ---- merging ---- */

/* Cut a batch into parts, empty ones among them: merged in order, the moments are those of the
   whole; the same parts give the same bits. */
static void parts_are_merged(void **state)
{
    enum { N = 23, C = 3, S = 11, PARTS = 5 };
    static const int64_t cut[PARTS + 1] = {0, 0, 7, 8, 23, 23};
    const tsr_merge_steps *steps = &tsr__norm_steps;
    const tsr_shape x = {3, {N, C, S}};
    tsr_kernel_call call = {.n_in = 1,
                            .in = {filled(TSR_F64, &x, 1e3, 1, 1)},
                            .attrs = {.value = {{.n = 1, .i = {1}}}}};
    double whole[1 + 2 * C], merged[2][1 + 2 * C], part[1 + 2 * C];
    (void)state;

    assert_int_equal(steps->count(&call), 1 + 2 * C);
    steps->local(&call, whole);
    assert_true(whole[0] == N * S);
    for (int again = 0; again < 2; again++)
        for (int p = 0; p < PARTS; p++) {
            tsr_kernel_call one = call;
            one.in[0].shape.size[0] = cut[p + 1] - cut[p];
            one.in[0].data = (double *)call.in[0].data + cut[p] * C * S;
            steps->local(&one, p == 0 ? merged[again] : part);
            if (p > 0)
                steps->merge(&call, 1 + 2 * C, merged[again], part);
        }
    assert_memory_equal(merged[0], merged[1], sizeof merged[0]);
    for (int i = 0; i < 1 + 2 * C; i++)
        assert_true(fabs(merged[0][i] - whole[i]) <= 1e-12 * fabs(whole[i]));
    free_operands(call.in, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_all_shapes), cmocka_unit_test(backward_all_shapes),
        cmocka_unit_test(large_means),        cmocka_unit_test(outliers),
        cmocka_unit_test(nan_is_seen),        cmocka_unit_test(parts_are_merged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
