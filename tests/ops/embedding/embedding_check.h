/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_check.h - an embedding problem with all its data, run by any kernel of the family in
   any variant, whole or cut by rows; and comparing. For test_embedding_kernel.c and
   embedding_numeric.c. */
#ifndef TSR_TESTS_EMBEDDING_CHECK_H
#define TSR_TESTS_EMBEDDING_CHECK_H

#include "ops/embedding/embedding_reference.h"
#include "support/numbers.h"

/* Kinds; all but renorm, which is last, are run. */
enum { WEIGHTS_BACKWARD = TSR_EMBEDDING_BAG_WEIGHTS_BACKWARD, RUNS };

typedef struct problem {
    tsr_dtype dtype;
    int64_t dim;
    tsr_bags bags;               /* lookups use its ids */
    bool keep, last, scaled;     /* padding_keep, ties, scale_grad_by_freq */
    void *table;                 /* [n_rows, dim] */
    void *weights;               /* [n], or NULL */
    void *grad_rows, *grad_bags; /* [n, dim], [n_bags, dim]: of the outputs */
    int64_t *counts;             /* [n_bags] */
    void *winners;               /* [n_bags, dim] of the ids' dtype: max backward */
    void *freq;                  /* [n_rows] of the ids' dtype */
} problem;

/* Small integers, or reals of a few units with NaN, infinities and zeros of both signs in the table
   if `special`. Ids may be in short supply, so that they repeat. */
problem random_problem(tsr_dtype dtype, tsr_dtype index, bool integers, bool special,
                       uint64_t *seed);
void complete(problem *p); /* counts, freq and winners from the rest */
void free_problem(problem *p);
/* The same with rows first .. first + n of the table only: borrows all but counts, freq. */
problem cut(const problem *p, int64_t first, int64_t n);
void free_cut(problem *p);
problem absolute(const problem *p); /* in f64, all values positive */
int64_t out_count(const problem *p, int run);
const char *describe(const problem *p, int run, tsr_kernel_variant variant, char *buf, size_t n);

/* Run it; the result is new memory of exactly its size. position: of max, or NULL; touched:
   gradients by way of row-sparse ones. */
void *run(const problem *p, int run, tsr_kernel_variant variant, bool touched, int64_t *position);
/* By pieces of the table, put together as ranks would. */
void *run_cut(const problem *p, int run, tsr_kernel_variant variant, int pieces,
              const int64_t *cuts, int64_t *position);
/* Fails unless equal, or within `ulps` of the sums of the absolute terms. */
void compare(const problem *p, int run, tsr_kernel_variant variant, const void *got,
             const void *want, double ulps);

#endif
