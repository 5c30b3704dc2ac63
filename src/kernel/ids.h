/* SPDX-License-Identifier: Apache-2.0 */
/* ids.h - indices that name rows of a table, or elements along a dim, of which a rank may have only
   some. */
#ifndef TSR_KERNEL_IDS_H
#define TSR_KERNEL_IDS_H

#include "base/dtype.h"

/* Ids and what they mean here. A masked id, an id outside 0 .. vocab - 1 and the padding all have
   local row -1; tsr__ids_bad finds the ones outside before anything else, if they are errors. */
typedef struct tsr_ids {
    tsr_dtype dtype; /* TSR_I32 or TSR_I64 */
    const void *data;
    int64_t n;
    int64_t vocab;             /* rows of the whole table */
    int64_t row_first, n_rows; /* those held here; all of them: 0 and vocab */
    int64_t padding;           /* an id >= 0 that is left out; -1: none */
} tsr_ids;

int64_t tsr__ids_at(const tsr_ids *ids, int64_t i);
/* The first position of an id outside 0 .. vocab - 1, or -1. */
int64_t tsr__ids_bad(const tsr_ids *ids);
/* The local rows of ids first .. first + n - 1. */
void tsr__ids_rows(const tsr_ids *ids, int64_t first, int64_t n, int64_t *rows);

#endif
