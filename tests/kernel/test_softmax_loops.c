/* SPDX-License-Identifier: Apache-2.0 */
/* test_softmax_loops.c - the exponentials and sums that softmax and losses are made of, in every
   instruction set that this processor has, by exp and long sums; and which targets
   the reference of those losses takes for classes. */
#include "support/test.h"
#include "base/cpu.h"
#include "kernel/kinds.h"
#include "base/dtype.h"
#include "kernel/softmax_loops.h"
#include "ops/loss/class_loss.h"
#include "ops/loss/loss_ops.h"

enum { MOST = 1200 };

static int count_variants(tsr_kernel_variant out[3])
{
    int n = 0;

    out[n++] = TSR_VARIANT_PLAIN;
    if (tsr__cpu_avx2())
        out[n++] = TSR_VARIANT_AVX2;
    if (tsr__cpu_avx512())
        out[n++] = TSR_VARIANT_AVX512;
    return n;
}

static double ulp_of(tsr_dtype dtype, double x)
{
    return dtype == TSR_F32 ? (double)(nextafterf((float)x, INFINITY) - (float)x)
                            : nextafter(x, INFINITY) - x;
}

/* n exponentials from x on, `step` apart. */
static void check_exps(const tsr_softmax_loops *parts, tsr_dtype dtype, double x, double step,
                       int n)
{
    double in[MOST], out[MOST], exact[MOST];

    for (int i = 0; i < n; i++) {
        tsr__put(dtype, in, i, x - step * i);
        exact[i] = exp(tsr__get(dtype, in, i));
    }
    parts->row_exp(in, n, 0, out, NULL);
    for (int i = 0; i < n; i++)
        if (!(fabs(tsr__get(dtype, out, i) - exact[i]) <= 2 * ulp_of(dtype, exact[i])))
            fail_msg("exp(%a) = %a, not %a", tsr__get(dtype, in, i), tsr__get(dtype, out, i),
                     exact[i]);
}

static void test_exponentials(void **state)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_F64};
    tsr_kernel_variant variants[3];
    const int n = count_variants(variants);

    (void)state;
    for (int v = 0; v < n; v++)
        for (int d = 0; d < 2; d++) {
            const tsr_softmax_loops *parts = tsr__softmax_loops(dtypes[d], variants[v]);
            const double end = d ? -800 : -120; /* subnormal results and 0 included */

            for (double x = 0; x > end; x += end / 400)
                check_exps(parts, dtypes[d], x, 0x1.3p-9, MOST);
            check_exps(parts, dtypes[d], 0, 0x1.1p-30, MOST);
            check_exps(parts, dtypes[d], -INFINITY, 0, 40);
            for (int k = 1; k < 70; k++) /* ends of vectors */
                check_exps(parts, dtypes[d], -0.25 * k, 0.125, k);
        }
}

/* Maxima, and sums of exponentials and of products: nothing behind a row counts. */
static void test_sums(void **state)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_F64};
    tsr_kernel_variant variants[3];
    const int count = count_variants(variants);
    double x[MOST], y[MOST];

    (void)state;
    for (int t = 0; t < 2 * count; t++)
        for (int n = 0; n < MOST; n += n < 70 ? 1 : 97) {
            const tsr_dtype dtype = dtypes[t % 2];
            const tsr_softmax_loops *parts = tsr__softmax_loops(dtype, variants[t / 2]);
            double max = -INFINITY, sum = 0, dot = 0, all = 0;
            const double eps = dtype == TSR_F32 ? 1e-6 : 1e-14;

            for (int i = 0; i < MOST; i++) {
                tsr__put(dtype, x, i, i < n ? (i * 37 % 101) / 16.0 - 3 : 1e9);
                tsr__put(dtype, y, i, i < n ? (i * 53 % 89) / 32.0 : 1e9);
            }
            for (int i = 0; i < n; i++) {
                max = fmax(max, tsr__get(dtype, x, i));
                sum += exp(tsr__get(dtype, x, i) - 2);
                dot += tsr__get(dtype, x, i) * tsr__get(dtype, y, i);
                all += tsr__get(dtype, x, i);
            }
            assert_true(parts->row_max(x, n) == max);
            assert_true(fabs(parts->row_exp_sum(x, n, 2, NULL) - sum) <= eps * sum);
            assert_true(fabs(parts->row_dot(x, y, n) - dot) <= eps * 10 * n);
            assert_true(fabs(parts->row_dot(x, NULL, n) - all) <= eps * 4 * n);
        }
}

static void test_nan(void **state)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_F64};
    tsr_kernel_variant variants[3];
    const int count = count_variants(variants);
    double x[64];

    (void)state;
    for (int t = 0; t < 2 * count; t++)
        for (int n = 1; n < 64; n++) {
            const tsr_softmax_loops *parts = tsr__softmax_loops(dtypes[t % 2], variants[t / 2]);

            for (int i = 0; i < n; i++)
                tsr__put(dtypes[t % 2], x, i, i == n / 2 ? NAN : -1);
            assert_true(isnan(parts->row_exp_sum(x, n, 0, NULL)));
            parts->row_exp(x, n, 0, x, NULL);
            for (int i = 0; i < n; i++)
                assert_true(isnan(tsr__get(dtypes[t % 2], x, i)) == (i == n / 2));
        }
}

/* Of 3 classes the rank has the last 2; the target of one row. */
static void test_reference_targets(void **state)
{
    static const struct {
        int64_t target;
        double loss;
        const char *says;
    } all[] = {
        {-2, 0, "target -2 is not a class"}, {-1, 0, ""}, {0, 0, ""}, {1, -5, ""}, {2, -7, ""},
        {3, 0, "target 3 is not a class"}};
    double x[2] = {5, 7};
    (void)state;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int64_t target = all[i].target;
        double loss = 0, divisor = -1;
        tsr_error err = {0};
        tsr_kernel_call call = {.kind = TSR_LOSS_NLL, .n_in = 2, .n_out = 2, .error = &err};

        call.reference = true;
        call.number[TSR_CLASS_COUNT] = 3;
        call.attrs.value[TSR_CLASS_REDUCTION].i[0] = TSR_LOSS_MEAN;
        call.attrs.value[TSR_CLASS_IGNORE].i[0] = -1;
        call.in[TSR_CLASS_X] = (tsr_operand){
            .dtype = TSR_F64, .shape = {.ndim = 2, .size = {1, 2}}, .first = {0, 1}, .data = x};
        call.in[TSR_CLASS_TARGET] =
            (tsr_operand){.dtype = TSR_I64, .shape = {.ndim = 1, .size = {1}}, .data = &target};
        call.out[0] = (tsr_operand){.dtype = TSR_F64, .data = &loss};
        call.out[1] = (tsr_operand){.dtype = TSR_F64, .data = &divisor};
        tsr__kernel_class_loss(&call);
        assert_string_equal(err.text, all[i].says);
        assert_int_equal(err.code, *all[i].says ? TSR_ERR_ARG : TSR_OK);
        assert_true(divisor == (*all[i].says ? -1 : target >= 0));
        assert_true(target < 0 || loss == all[i].loss);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exponentials),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_nan),
        cmocka_unit_test(test_reference_targets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
