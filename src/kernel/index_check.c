/* SPDX-License-Identifier: Apache-2.0 */
/* index_check.c - finds an index out of range and makes the sentence that names it, see
   index_check.h. Called by kernels before they use an index. */
#include "kernel/index_check.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "kernel/index.h"
#include "kernel/positions.h"

int64_t tsr__index_first_bad(const tsr_ids *ids, int64_t least)
{
    if (least == 0)
        return tsr__ids_bad(ids);
    for (int64_t i = 0; i < ids->n; i++) {
        const int64_t value = tsr__ids_at(ids, i);

        if (value < least || value >= ids->vocab)
            return i;
    }
    return -1;
}

void tsr__index_refuse(const tsr_kernel_call *call, const tsr_operand *index, const char *noun,
                       int64_t i, const char *why)
{
    const tsr_ids ids = {.dtype = index->dtype, .data = index->data};
    char where[256];

    tsr__position_text(index, i, where, sizeof where);
    tsr__fail(call->error, TSR_ERR_ARG, "%s %" PRId64 "%s%s", noun, tsr__ids_at(&ids, i), where,
              why);
}

const char *tsr__index_why(tsr_index_range range, const char *none, char why[TSR_WHY_LEN])
{
    if (range.size == 0)
        snprintf(why, TSR_WHY_LEN, ", but %s", none);
    else
        snprintf(why, TSR_WHY_LEN, " is out of range %" PRId64 " to %" PRId64, range.least,
                 range.size - 1);
    return why;
}

bool tsr__indices_good(const tsr_kernel_call *call, const tsr_operand *index, tsr_index_range range)
{
    const tsr_ids ids = {.dtype = index->dtype,
                         .data = index->data,
                         .n = tsr__operand_count(index),
                         .vocab = range.size};
    const int64_t bad = tsr__index_first_bad(&ids, range.least);
    const char *none = index == &call->in[0] ? "there are no classes" : "the indexed dim is empty";
    char why[TSR_WHY_LEN];

    if (bad >= 0)
        tsr__index_refuse(call, index, range.noun, bad, tsr__index_why(range, none, why));
    return bad < 0;
}
