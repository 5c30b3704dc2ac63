/* SPDX-License-Identifier: Apache-2.0 */
/* any_all.c - the steps of any and all, whose parts ranks merge: booleans as bytes of words. Called
   by run/merged.c. */
#include "kernel/index.h"
#include "kernel/kinds.h"
#include "ops/reduction/reduction_ops.h"
#include "ops/reduction/statistic.h"

#include <string.h>

static int64_t any_all_count(const tsr_kernel_call *call)
{
    return (tsr__operand_count(&call->out[0]) + 7) / 8;
}

static void any_all_local(const tsr_kernel_call *call, double *words)
{
    tsr_kernel_call here = *call;

    memset(words, 0, (size_t)any_all_count(call) * sizeof *words);
    here.out[0].data = words;
    tsr__kernel_reduce(&here);
}

static void any_all_merge(const tsr_kernel_call *call, int64_t count, double *words,
                          const double *more)
{
    uint8_t *a = (uint8_t *)words;
    const uint8_t *b = (const uint8_t *)more;

    for (int64_t i = 0; i < 8 * count; i++)
        a[i] = call->kind == TSR_REDUCTION_ANY ? a[i] | b[i] : a[i] & b[i];
}

static void any_all_finish(const tsr_kernel_call *call, const double *words)
{
    const int64_t n = tsr__operand_count(&call->out[0]);

    if (n > 0)
        memcpy(call->out[0].data, words, (size_t)n);
}

const tsr_merge_steps tsr__any_all_steps = {any_all_count, any_all_local, any_all_merge,
                                            any_all_finish, NULL};
