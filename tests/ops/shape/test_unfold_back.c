/* SPDX-License-Identifier: Apache-2.0 */
/* test_unfold_back.c - the gradient of unfold against the naive sums, for parts that begin
   anywhere: lines longer than are summed together, short and long steps, gaps between runs. */
#include "support/test.h"
#include "base/dtype.h"
#include "base/hash.h"
#include "kernel/index.h"
#include "ops/shape/padding.h"

typedef struct unfolded {
    int64_t outer, runs, inner, size, step, start; /* step and start of the whole, */
    int64_t n, first, first_run;                   /* the parts that are here */
} unfolded;

static const unfolded cases[] = {
    {2, 300, 1, 4, 2, 0, 602, 0, 0},    {1, 700, 1, 5, 5, 1, 3502, 0, 0},
    {2, 40, 1, 64, 24, 0, 1000, 0, 0},  {1, 9, 1, 700, 600, 3, 5600, 0, 0},
    {2, 30, 300, 4, 2, 0, 62, 0, 0},    {1, 20, 7, 3, 5, 2, 101, 0, 0},
    {1, 300, 1, 3, 7, 0, 500, 900, 20}, {1, 50, 1, 40, 16, 0, 300, 250, 12},
    {3, 12, 2, 6, 1, 0, 9, 5, 3},       {1, 4, 1, 2, 3, 0, 40, 0, 30},
    {1, 1, 1, 1, 1, 0, 1, 0, 0},        {1, 0, 3, 2, 2, 0, 5, 0, 0},
    {1, 3, 0, 3, 2, 0, 8, 0, 0},
};

static void check(const unfolded *c, tsr_dtype dtype)
{
    const size_t size = tsr_dtype_size(dtype);
    tsr_kernel_call call = {.n_in = 1, .n_out = 1};
    tsr_operand *x = &call.in[0], *y = &call.out[0];
    int64_t n_in, n_out;
    void *fast;

    *x = (tsr_operand){.dtype = dtype,
                       .shape = {.ndim = 4, .size = {c->outer, c->runs, c->inner, c->size}},
                       .first = {[1] = c->first_run}};
    *y = (tsr_operand){.dtype = dtype,
                       .shape = {.ndim = 3, .size = {c->outer, c->n, c->inner}},
                       .first = {[1] = c->first}};
    n_in = tsr__operand_count(x), n_out = tsr__operand_count(y);
    call.attrs.value[0].i[0] = 1;
    call.number[0] = c->step;
    call.number[1] = c->start;
    x->data = malloc((size_t)n_in * size + 1);
    y->data = malloc((size_t)n_out * size + 1);
    fast = calloc((size_t)n_out + 1, size);
    assert_true(x->data && y->data && fast);
    for (int64_t i = 0; i < n_in; i++)
        tsr__put(
            dtype, x->data, i,
            (double)(tsr__hash_final(tsr__hash_mix(3, (uint64_t)i)) % (dtype == TSR_BOOL ? 2 : 5)));
    memset(y->data, 0x55, (size_t)n_out * size);
    call.variant = TSR_VARIANT_PLAIN;
    tsr__kernel_unfold_backward(&call);
    memcpy(fast, y->data, (size_t)n_out * size);
    call.variant = TSR_VARIANT_REFERENCE;
    tsr__kernel_unfold_backward(&call);
    assert_memory_equal(y->data, fast, (size_t)n_out * size);
    free(x->data);
    free(y->data);
    free(fast);
}

static void test_parts(void **state)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_F64, TSR_F16, TSR_BF16,
                                       TSR_I32, TSR_I64, TSR_U8,  TSR_BOOL};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++)
            check(&cases[i], dtypes[d]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
