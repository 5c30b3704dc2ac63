/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_steps.c - the steps of reductions and scans whose parts ranks merge; of any and all
   they stand here: truth values as bytes of words. Called by op/merged_dims.c and run/moments.c. */
#include "kernel/arg.h"
#include "kernel/kernels.h"
#include "kernel/scan.h"
#include "kernel/statistic.h"

#include <string.h>

static int64_t truth_count(const tsr_kernel_call *call)
{
    return (tsr__operand_count(&call->out[0]) + 7) / 8;
}

static void truth_local(const tsr_kernel_call *call, tsr_kernel kernel, double *words)
{
    tsr_kernel_call here = *call;

    memset(words, 0, (size_t)truth_count(call) * sizeof *words);
    here.out[0].data = words;
    kernel(&here);
}

static void any_local(const tsr_kernel_call *call, double *words)
{
    truth_local(call, tsr__kernel_any, words);
}

static void all_local(const tsr_kernel_call *call, double *words)
{
    truth_local(call, tsr__kernel_all, words);
}

static void any_merge(int64_t count, double *words, const double *more)
{
    for (int64_t i = 0; i < 8 * count; i++)
        ((uint8_t *)words)[i] |= ((const uint8_t *)more)[i];
}

static void all_merge(int64_t count, double *words, const double *more)
{
    for (int64_t i = 0; i < 8 * count; i++)
        ((uint8_t *)words)[i] &= ((const uint8_t *)more)[i];
}

static void truth_finish(const tsr_kernel_call *call, const double *words)
{
    const int64_t n = tsr__operand_count(&call->out[0]);

    if (n > 0)
        memcpy(call->out[0].data, words, (size_t)n);
}

static const tsr_merge_steps any_steps = {truth_count, any_local, any_merge, truth_finish, NULL};
static const tsr_merge_steps all_steps = {truth_count, all_local, all_merge, truth_finish, NULL};

const tsr_merge_steps *tsr__reduction_steps(tsr_kernel kernel, tsr_dtype dtype)
{
    static const struct {
        tsr_kernel kernel;
        const tsr_merge_steps *integers, *floats;
    } of[] = {
        {tsr__kernel_norm, NULL, &tsr__norm2_steps},
        {tsr__kernel_var, NULL, &tsr__var_steps},
        {tsr__kernel_std, NULL, &tsr__std_steps},
        {tsr__kernel_logsumexp, NULL, &tsr__log_sum_steps},
        {tsr__kernel_any, &any_steps, &any_steps},
        {tsr__kernel_all, &all_steps, &all_steps},
        {tsr__kernel_argmax, &tsr__argmax_steps[0], &tsr__argmax_steps[1]},
        {tsr__kernel_argmin, &tsr__argmin_steps[0], &tsr__argmin_steps[1]},
        {tsr__kernel_cumsum, &tsr__cumsum_steps[0], &tsr__cumsum_steps[1]},
        {tsr__kernel_cumprod, &tsr__cumprod_steps[0], &tsr__cumprod_steps[1]},
    };

    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (of[i].kernel == kernel)
            return tsr__dtype_is_float(dtype) ? of[i].floats : of[i].integers;
    return NULL;
}
