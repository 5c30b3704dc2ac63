/* SPDX-License-Identifier: Apache-2.0 */
/* sample_rows.h - small ops of every kind that the op table may have, for tests of what works
   from rows: several outputs, outputs switched off, indices, an own run, composed ones. All of them
   are right. */
#ifndef TSR_TESTS_SAMPLE_ROWS_H
#define TSR_TESTS_SAMPLE_ROWS_H

#include "op/op.h"

/* a + b, and the sums of its columns, which sums=false switches off; b is optional. */
extern const tsr_op sample_pair;
/* Its rules; sums: where the second output is when rows are sharded; columns: can they be? */
tsr_status sample_pair_rules(const tsr_schema *s, tsr_rules *out, tsr_rule_placement sums,
                             bool columns, tsr_error *err);
/* Rows of a table by indices, and the indices; bind_rank sets number[0] to the first own row. */
extern const tsr_op sample_lookup;
/* The sum of all elements, by its own run. */
extern const tsr_op sample_total;
/* 2 x, nothing, and -x, composed. */
extern const tsr_op sample_twice;

#endif
