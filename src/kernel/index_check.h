/* SPDX-License-Identifier: Apache-2.0 */
/* index_check.h - are the indices that a kernel was given in range? One answer and one sentence for
   all ops that take indices, by whatever name: ids, targets, winners. Pure. */
#ifndef TSR_KERNEL_INDEX_CHECK_H
#define TSR_KERNEL_INDEX_CHECK_H

#include "kernel/ids.h"
#include "kernel/kernel.h"

/* What indices may be: least .. size - 1. */
typedef struct tsr_index_range {
    const char *noun; /* what the op calls one: "index", "id" */
    int64_t least;    /* 0, or -1 where that stands for nothing */
    int64_t size;
} tsr_index_range;

/* The first of the ids that is not in least .. vocab - 1, or -1. */
int64_t tsr__index_first_bad(const tsr_ids *ids, int64_t least);
/* False if an element of an i32 or i64 operand is out of range: call->error then names the first
   one and its place in the whole tensor. */
bool tsr__indices_good(const tsr_kernel_call *call, const tsr_operand *index,
                       tsr_index_range range);
/* What is wrong with one that is out of range: the end of the sentence, in at most TSR_WHY_LEN
   characters; `none` says what there is nothing of if the range is empty. */
enum { TSR_WHY_LEN = 64 };
const char *tsr__index_why(tsr_index_range range, const char *none, char why[TSR_WHY_LEN]);
/* The same as tsr__indices_good for local element i, which was found to be bad: `why` is the
   reason. */
void tsr__index_refuse(const tsr_kernel_call *call, const tsr_operand *index, const char *noun,
                       int64_t i, const char *why);

#endif
