/* SPDX-License-Identifier: Apache-2.0 */
/* linear.h - an op as a sum of products of its inputs, "a*b+bias": in what it is linear. Pure. */
#ifndef TSR_OP_LINEAR_H
#define TSR_OP_LINEAR_H

#include "op/op.h"

/* May ranks multiply what they have of factors, and the results be multiplied later? Products grow
   faster than sums: those of few parts leave the range of f16 though the whole product is in it. On
   one rank f16 is multiplied in f32. */
static inline bool tsr__dtype_has_partial_products(tsr_dtype dtype)
{
    return dtype != TSR_F16;
}

typedef struct tsr_terms {
    int n;
    int count[TSR_MAX_IN];             /* factors of each term */
    int input[TSR_MAX_IN][TSR_MAX_IN]; /* their inputs */
} tsr_terms;

/* Terms of the inputs that are there; a term with an absent input falls away, unless it says
   "a*b?": b is 1 if it is absent. For a list, "*" is the sum of all. An error if an input occurs
   twice or is unknown. */
tsr_status tsr__terms_parse(const tsr_schema *schema, tsr_terms *out, tsr_error *err);

/* Rules by which partial inputs pass through the op. */
tsr_status tsr__partial_rules(const tsr_schema *schema, tsr_rules *out, tsr_error *err);

#endif
