/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernel.c - the references against values worked out by hand, then the fast kernels against
   the references: random shapes, large odd ones, all dtypes. Small integers must agree bit for
   bit, other numbers within 8 eps of the sum of the absolute terms. */
#include "support/test.h"
#include "base/reduce.h"
#include "kernel/blas.h"
#include "kernel/exp.h"
#include "support/kernel_check.h"
#include "support/sampling.h"

/* A call on integers given here, by reference and fast. */
static void expect(const kernel_op *op, tsr_kernel_call call, int n, const double *in0,
                   const double *in1, const double *want)
{
    for (int reference = 0; reference < 2; reference++)
        for (int d = 0; d < FLOATS; d++) {
            tsr_kernel_call c = call;
            const double *in[] = {in0, in1};

            c.reference = reference;
            c.out[0] = operand(dtypes[d], call.out[0].shape);
            for (int k = 0; k < c.n_in; k++) {
                c.in[k] = operand(dtypes[d], call.in[k].shape);
                tsr__convert(dtypes[d], c.in[k].data, TSR_F64, in[k],
                             tsr_shape_count(&c.in[k].shape));
            }
            run_op(op, &c);
            for (int i = 0; i < n; i++)
                if (tsr__get(dtypes[d], c.out[0].data, i) != want[i]) {
                    describe(op, &c);
                    fail_msg("element %d: %g, not %g", i, tsr__get(dtypes[d], c.out[0].data, i),
                             want[i]);
                }
            free_call(&c);
        }
}

static const double x23[] = {1, -2, 3, 4, 5, -6};

static tsr_kernel_call shapes(tsr_shape in0, tsr_shape in1, tsr_shape out)
{
    return (tsr_kernel_call){.n_in = in1.ndim < 0 ? 1 : 2,
                             .n_out = 1,
                             .in = {{.shape = in0}, {.shape = in1}},
                             .out = {{.shape = out}}};
}

static void test_by_hand(void **state)
{
    const tsr_shape none = {.ndim = -1}, s23 = SHAPE(2, 3);
    const double w32[] = {1, 2, 0, 1, -1, 3}, v[] = {10, 20}, big[] = {1000, 0, 1000, 0};
    tsr_kernel_call c;

    (void)state;
    expect(&add, shapes(s23, SHAPE(2, 1), s23), 6, x23, v, (double[]){11, 8, 13, 24, 25, 14});
    expect(&mul, shapes(SHAPE(2, 1), s23, s23), 6, v, x23, (double[]){10, -20, 30, 80, 100, -120});
    expect(&neg, shapes(s23, none, s23), 6, x23, NULL, (double[]){-1, 2, -3, -4, -5, 6});
    expect(&relu, shapes(s23, none, s23), 6, x23, NULL, (double[]){1, 0, 3, 4, 5, 0});
    expect(&matmul, shapes(s23, SHAPE(3, 2), SHAPE(2, 2)), 4, x23, w32, (double[]){-2, 9, 10, -5});
    c = shapes(s23, none, SHAPE(3));
    c.attrs.value[0] = one_int(0);
    c.number[0] = 2; /* values of a mean */
    expect(&sum, c, 3, x23, NULL, (double[]){5, 3, -3});
    expect(&mean, c, 3, x23, NULL, (double[]){2.5, 1.5, -1.5});
    expect(&max, c, 3, x23, NULL, (double[]){4, 5, 3});
    c = shapes(s23, none, SHAPE(2));
    c.attrs.value[0] = one_int(-1);
    expect(&sum, c, 2, x23, NULL, (double[]){2, 3});
    c = shapes(SHAPE(2, 2), none, SHAPE(2, 2));
    expect(&softmax, c, 4, big, NULL, (double[]){0.5, 0.5, 0.5, 0.5}); /* along dim 0 */
    c.attrs.value[0] = one_int(-1);
    expect(&softmax, c, 4, big, NULL, (double[]){1, 0, 1, 0});
    c = shapes(s23, SHAPE(2, 1), SHAPE(2, 4));
    c.attrs.value[0] = one_int(1);
    c.number[1] = 3;
    expect(&cat, c, 8, x23, v, (double[]){1, -2, 3, 10, 4, 5, -6, 20});
    c = shapes(s23, none, SHAPE(3, 2));
    c.attrs.value[0] = one_int(-2);
    c.attrs.value[1] = one_int(-1);
    expect(&transpose, c, 6, x23, NULL, (double[]){1, 4, -2, 5, 3, -6});
    expect(&reshape, shapes(s23, none, SHAPE(6)), 6, x23, NULL, x23);
    c = shapes(s23, none, SHAPE(2, 2));
    c.attrs.value[0] = one_int(1);
    c.number[1] = 2;
    expect(&slice, c, 4, x23, NULL, (double[]){1, 3, 4, -6});
}

static void test_pointwise(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int64_t t = sample_first(sample_quick()); t < 4000; t += sample_quick()) {
        tsr_dtype dtype = dtypes[t % DTYPES];
        numbers content = (numbers)below(&seed, 3);
        tsr_shape a = random_shape(&seed), b = a;

        for (int d = 0; d < b.ndim; d++)
            if (below(&seed, 3) == 0)
                *(below(&seed, 2) ? &a.size[d] : &b.size[d]) = 1;
        if (below(&seed, 3) == 0) { /* fewer dims */
            int gone = (int)below(&seed, b.ndim + 1);

            memmove(b.size, b.size + gone, (size_t)(b.ndim -= gone) * sizeof *b.size);
        }
        check_binary(below(&seed, 2) ? &add : &mul, dtype, content, a, b, &seed);
        check_binary(below(&seed, 2) ? &add : &mul, dtype, content, b, a, &seed);
        check_unary(&neg, dtype, content, a, &seed);
        check_unary(&relu, dtype, content, a, &seed);
    }
}

static void test_pointwise_large(void **state)
{
    const int64_t step = sample_quick() < 4 ? sample_quick() : 4;
    uint64_t seed = 2;

    (void)state;
    for (int t = 0; t < DTYPES; t++) {
        tsr_dtype dtype = dtypes[t];
        tsr_shape s = SHAPE(37, 1031), flat = SHAPE(20011), many = SHAPE(3011, 7);

        check_binary(&add, dtype, REALS, s, s, &seed);
        check_binary(&mul, dtype, REALS, s, SHAPE(1031), &seed);
        check_binary(&add, dtype, REALS, SHAPE(37, 1), s, &seed);
        check_binary(&mul, dtype, REALS, (tsr_shape){0}, flat, &seed);
        check_binary(&add, dtype, REALS, many, SHAPE(7), &seed);
        check_binary(&mul, dtype, REALS, SHAPE(1, 7), many, &seed);
        check_binary(&add, dtype, REALS, SHAPE(11, 1, 13, 17), SHAPE(19, 1, 17), &seed);
        check_unary(&neg, dtype, REALS, flat, &seed);
        check_unary(&relu, dtype, REALS, flat, &seed);
    }
    /* past the caches */
    if (sample_has(0, step))
        check_binary(&add, TSR_F32, REALS, SHAPE(2200, 1031), SHAPE(1031), &seed);
    if (sample_has(1, step))
        check_binary(&mul, TSR_BF16, REALS, SHAPE(4300, 1031), SHAPE(4300, 1), &seed);
    if (sample_has(2, step))
        check_binary(&add, TSR_F32, REALS, SHAPE(330011, 7), SHAPE(7), &seed);
    if (sample_has(3, step))
        check_unary(&relu, TSR_F64, REALS, SHAPE(1100003), &seed);
}

static void test_matmul(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int64_t t = sample_first(sample_quick()); t < 3000; t += sample_quick()) {
        tsr_shape a = random_shape(&seed), b;

        a.ndim = a.ndim < 2 ? 2 : a.ndim;
        for (int d = 0; d < a.ndim; d++)
            a.size[d] = below(&seed, 20) ? 1 + below(&seed, 6) : 0;
        b = a;
        b.size[b.ndim - 2] = a.size[a.ndim - 1];
        b.size[b.ndim - 1] = below(&seed, 8);
        for (int d = 0; d < a.ndim - 2; d++)
            if (below(&seed, 3) == 0)
                *(below(&seed, 2) ? &a.size[d] : &b.size[d]) = 1;
        if (below(&seed, 2)) {
            int gone = (int)below(&seed, b.ndim - 1);

            memmove(b.size, b.size + gone, (size_t)(b.ndim -= gone) * sizeof *b.size);
        }
        check_matmul(dtypes[t % DTYPES], (numbers)below(&seed, 3), a, b, below(&seed, 2), &seed);
    }
    for (int t = 0; t < DTYPES; t++) {
        check_matmul(dtypes[t], INTEGERS, SHAPE(131, 67), SHAPE(67, 73), true, &seed);
        check_matmul(dtypes[t], REALS, SHAPE(1, 333), SHAPE(333, 77), true, &seed);
        check_matmul(dtypes[t], REALS, SHAPE(77, 333), SHAPE(333, 1), false, &seed);
        check_matmul(dtypes[t], REALS, SHAPE(3, 7, 33), SHAPE(33, 9), true, &seed);
    }
    for (int t = 0; t < FLOATS; t++) /* several tiles in each direction */
        check_matmul(dtypes[t], INTEGERS, SHAPE(263, 521), SHAPE(521, 259), true, &seed);
    check_matmul(TSR_BF16, REALS, SHAPE(257, 600), SHAPE(600, 3), false, &seed);
    check_matmul(TSR_BF16, REALS, SHAPE(61, 173), SHAPE(173, 35), true, &seed);
    check_matmul(TSR_BF16, REALS, SHAPE(1, 2000), SHAPE(2000, 307), true, &seed);
    check_matmul(TSR_F32, REALS, SHAPE(7, 300), SHAPE(300, 401), true, &seed); /* thin */
    check_matmul(TSR_F32, REALS, SHAPE(301, 5), SHAPE(5, 403), false, &seed);
}

static void test_reductions(void **state)
{
    static const kernel_op *const ops[] = {&sum, &max, &mean};
    uint64_t seed = 4;

    (void)state;
    for (int64_t t = sample_first(sample_quick()); t < 9000; t += sample_quick()) {
        tsr_dtype dtype = dtypes[t % DTYPES];
        tsr_shape s = random_shape(&seed);
        const kernel_op *op = ops[below(&seed, 3)];

        if (op == &mean && !tsr__dtype_is_float(dtype) && (int)dtype != TSR__FIELD)
            op = &sum;
        check_reduce(op, dtype, (numbers)below(&seed, op == &max ? 3 : 2), s,
                     (unsigned)below(&seed, 1 << s.ndim), below(&seed, 2), &seed);
    }
    for (int t = 0; t < DTYPES; t++)
        for (int k = 0; k < 2; k++) {
            check_reduce(ops[k], dtypes[t], INTEGERS, SHAPE(1031, 37), 1, false, &seed);
            check_reduce(ops[k], dtypes[t], REALS, SHAPE(37, 1031), 2, false, &seed);
            check_reduce(ops[k], dtypes[t], REALS, SHAPE(70001), 1, false, &seed);
            check_reduce(ops[k], dtypes[t], REALS, SHAPE(7001, 3), 1, false, &seed);
            check_reduce(ops[k], dtypes[t], REALS, SHAPE(5, 2049, 3), 2, true, &seed);
            check_reduce(ops[k], dtypes[t], REALS, SHAPE(700, 1500), 1, false, &seed);
            check_reduce(ops[k], dtypes[t], REALS, SHAPE(3, 1100, 5), 5, false, &seed);
            check_reduce(ops[k], dtypes[t], REALS, SHAPE(3, 7, 700, 2), 5, false, &seed);
        }
}

/* An empty part of a tensor must yield what changes nothing; and sums of no terms are +0. */
static void test_empty(void **state)
{
    (void)state;
    for (int t = 0; t < DTYPES; t++)
        for (int k = 0; k < 6; k++) {
            tsr_kernel_call call = unary_call(dtypes[t], SHAPE(3, 0), SHAPE(3));
            tsr_operand want = operand(dtypes[t], SHAPE(3));

            call.attrs.value[0] = one_int(1);
            call.reference = k % 2;
            call.number[0] = k < 4 ? 7 : 0;
            memset(want.data, 0, 3 * tsr_dtype_size(dtypes[t]));
            if (k < 2)
                tsr__reduce_identity(dtypes[t], TSR_MAX, want.data, 3);
            run_op(k < 2 ? &max : k == 2 ? &sum : &mean, &call);
            assert_memory_equal(call.out[0].data, want.data, 3 * tsr_dtype_size(dtypes[t]));
            free(want.data);
            free_call(&call);
        }
}

static void test_nan_wins(void **state)
{
    (void)state;
    for (int d = 0; d < FLOATS; d++)
        for (int64_t at = 0; at < 300; at++) {
            tsr_kernel_call call = unary_call(dtypes[d], SHAPE(300), SHAPE(1));

            call.attrs.value[0] = one_int(0);
            for (int64_t i = 0; i < 300; i++)
                tsr__put(dtypes[d], call.in[0].data, i, i == at ? (double)NAN : (double)(i % 9));
            run_op(&max, &call);
            assert_true(isnan(tsr__get(dtypes[d], call.out[0].data, 0)));
            free_call(&call);
        }
}

/* Adding one by one in f32 would stop at 2^24. */
static void test_sum_is_accurate(void **state)
{
    enum { N = (1 << 24) + 4097 };
    tsr_kernel_call rows = unary_call(TSR_F32, SHAPE(1, N), SHAPE(1));
    tsr_kernel_call columns = unary_call(TSR_F32, SHAPE(N / 2, 2), SHAPE(2));

    (void)state;
    for (int64_t i = 0; i < N; i++)
        ((float *)rows.in[0].data)[i] = 1;
    memcpy(columns.in[0].data, rows.in[0].data, (size_t)(N / 2) * 8);
    rows.attrs.value[0] = one_int(1);
    columns.attrs.value[0] = one_int(0);
    run_op(&sum, &rows);
    run_op(&sum, &columns);
    assert_true(*(float *)rows.out[0].data == (float)N);
    assert_true(*(float *)columns.out[0].data == (float)(N / 2));
    free_call(&rows);
    free_call(&columns);
}

/* Short rows are summed in vectors, the last ones are not: equal rows have equal sums. */
static void test_equal_rows(void **state)
{
    enum { ROWS = 200, MOST = 33 };
    uint64_t seed = 9;

    (void)state;
    for (int d = 0; d < FLOATS; d++)
        for (int n = 1; n < MOST; n++) {
            tsr_kernel_call c = unary_call(dtypes[d], SHAPE(ROWS, n), SHAPE(ROWS));
            const size_t size = tsr_dtype_size(dtypes[d]);

            c.attrs.value[0] = one_int(1);
            fill(&c.in[0], REALS, &seed);
            tsr__repeat(size * (size_t)n, c.in[0].data, ROWS);
            run_op(&sum, &c);
            for (size_t i = 1; i < ROWS; i++)
                assert_memory_equal(c.out[0].data, (char *)c.out[0].data + i * size, size);
            free_call(&c);
        }
}

static void test_softmax(void **state)
{
    uint64_t seed = 5;

    (void)state;
    for (int64_t t = sample_first(sample_quick()); t < 3000; t += sample_quick()) {
        tsr_shape s = random_shape(&seed);

        if (s.ndim == 0)
            continue;
        check_softmax(dtypes[t % FLOATS], (numbers)below(&seed, 3), s,
                      below(&seed, 2 * s.ndim) - s.ndim, &seed);
    }
    for (int d = 0; d < FLOATS; d++) {
        check_softmax(dtypes[d], REALS, SHAPE(3, 1031), 1, &seed);
        check_softmax(dtypes[d], REALS, SHAPE(2, 3, 601), 1, &seed);
    }
}

/* Rows longer than the buffer, and results past the caches: too slow for the reference. */
static void test_softmax_large(void **state)
{
    static const struct {
        tsr_dtype dtype;
        tsr_shape shape;
        int64_t dim, step;
    } cases[] = {{TSR_F32, {2, {2, 20011}}, 1, 1},    {TSR_BF16, {2, {1, 8193}}, 1, 1},
                 {TSR_F64, {2, {1, 20011}}, 1, 1},    {TSR_F32, {2, {2200, 1031}}, 1, 1},
                 {TSR_F16, {2, {4400, 1031}}, -1, 1}, {TSR_F32, {3, {1, 1400, 1603}}, 1, 1603}};
    uint64_t seed = 6;

    (void)state;
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        tsr_kernel_call call = unary_call(cases[t].dtype, cases[t].shape, cases[t].shape);
        int64_t dim = cases[t].dim < 0 ? cases[t].shape.ndim + cases[t].dim : cases[t].dim;
        int64_t n = cases[t].shape.size[dim], step = cases[t].step,
                total = tsr_shape_count(&cases[t].shape);
        const double eps = 40 * eps_of(cases[t].dtype);

        call.attrs.value[0] = one_int(cases[t].dim);
        fill(&call.in[0], REALS, &seed);
        run_op(&softmax, &call);
        for (int64_t i = 0; i < total; i += i % (n * step) == step - 1 ? n * step - step + 1 : 1) {
            double scale = 0;

            for (int64_t k = 0; k < n; k++)
                scale += exp(tsr__get(cases[t].dtype, call.in[0].data, i + k * step));
            for (int64_t k = 0; k < n; k++) {
                double x = tsr__get(cases[t].dtype, call.in[0].data, i + k * step);
                double y = tsr__get(cases[t].dtype, call.out[0].data, i + k * step);

                assert_true(fabs(y - exp(x) / scale) <=
                            eps * exp(x) / scale + tiniest(cases[t].dtype));
            }
        }
        free_call(&call);
    }
}

static float exp_fused(float x) /* on any processor, slowly */
{
    return tsr__exp_f32(true, x);
}

static void check_exp(bool fused)
{
    for (uint32_t u = 0x80000000u; u <= 0xff800000u; u += 509) { /* -0 and down */
        float x, want, ulp, y;

        memcpy(&x, &u, sizeof x);
        y = fused ? exp_fused(x) : tsr__exp_f32(false, x);
        want = (float)exp((double)x);
        ulp = nextafterf(want, INFINITY) - want;
        if (!(fabs((double)y - exp((double)x)) <= 2 * (double)ulp))
            fail_msg("exp(%a) = %a, not %a", (double)x, (double)y, (double)want);
    }
    for (uint32_t u = 1; u < 1 << 22; u += 997) {
        uint32_t nan = 0x7fc00000 | u | (u & 1) << 31;
        float x;

        memcpy(&x, &nan, sizeof x);
        assert_true(isnan(fused ? exp_fused(x) : tsr__exp_f32(false, x)));
    }
    assert_true((fused ? exp_fused(-INFINITY) : tsr__exp_f32(false, -INFINITY)) == 0);
    assert_true((fused ? exp_fused(0) : tsr__exp_f32(false, 0)) == 1);
}

static void test_exp(void **state)
{
    (void)state;
    check_exp(false);
    check_exp(true);
}

static void test_moves(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (int64_t t = sample_first(sample_quick()); t < 6000; t += sample_quick()) {
        tsr_dtype dtype = dtypes[t % DTYPES];
        tsr_shape s = random_shape(&seed), out = s;
        tsr_kernel_call call = unary_call(dtype, s, SHAPE(tsr_shape_count(&s)));
        int64_t dim, other, start, step;

        fill(&call.in[0], SPECIALS, &seed);
        check(&reshape, INTEGERS, &call);
        if (s.ndim == 0)
            continue;
        dim = below(&seed, s.ndim), other = below(&seed, s.ndim);
        out.size[dim] = s.size[other], out.size[other] = s.size[dim];
        call = unary_call(dtype, s, out);
        call.attrs.value[0] = one_int(dim - (t % 2) * s.ndim);
        call.attrs.value[1] = one_int(other);
        fill(&call.in[0], SPECIALS, &seed);
        check(&transpose, INTEGERS, &call);

        out = s;
        start = below(&seed, s.size[dim] + 1), step = 1 + below(&seed, 3);
        out.size[dim] = (below(&seed, s.size[dim] - start + 1) + step - 1) / step;
        call = unary_call(dtype, s, out);
        call.attrs.value[0] = one_int(dim);
        call.number[0] = start;
        call.number[1] = step;
        fill(&call.in[0], SPECIALS, &seed);
        check(&slice, INTEGERS, &call);

        call = (tsr_kernel_call){.n_in = 1 + (int)below(&seed, 4), .n_out = 1};
        call.attrs.value[0] = one_int(dim - (t % 2) * s.ndim);
        out = s;
        out.size[dim] = 0;
        for (int k = 0; k < call.n_in; k++) {
            s.size[dim] = below(&seed, 7);
            call.number[k] = out.size[dim];
            out.size[dim] += s.size[dim];
            call.in[k] = operand(dtype, s);
            fill(&call.in[k], SPECIALS, &seed);
        }
        call.out[0] = operand(dtype, out);
        check(&cat, INTEGERS, &call);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),         cmocka_unit_test(test_pointwise),
        cmocka_unit_test(test_pointwise_large), cmocka_unit_test(test_matmul),
        cmocka_unit_test(test_reductions),      cmocka_unit_test(test_empty),
        cmocka_unit_test(test_nan_wins),        cmocka_unit_test(test_sum_is_accurate),
        cmocka_unit_test(test_equal_rows),      cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_softmax_large),   cmocka_unit_test(test_exp),
        cmocka_unit_test(test_moves),
    };

    tsr__blas_setup();
    if (!tsr__blas_usable()) {
        fprintf(stderr, "this OpenBLAS was built for one thread only\n");
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
