/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h - one call on ranks that are only imagined: random inputs with given placements, the
   local kernel for each rank in turn, and whether the parts of the outputs make up what the kernel
   gives for the whole inputs. Kernels run as their naive reference. No world. Inputs of a row
   without a kernel are filled, but nothing is computed. */
#ifndef TSR_VALIDATE_TRIAL_H
#define TSR_VALIDATE_TRIAL_H

#include "layout/layout.h"
#include "op/op_case.h"

enum { TSR_TRIAL_RANKS = 8 };

/* What the inputs are filled with; integers stay integers, and in their range if they have one. */
typedef enum tsr_domain {
    TSR_DOMAIN_FIELD,  /* elements of the prime field: equal means equal */
    TSR_DOMAIN_TOKENS, /* different integers of both signs, for what orders them */
    TSR_DOMAIN_REALS,  /* from -2 to 2; equal up to 1e-12 */
    TSR_DOMAIN_SMALL,  /* -3 to 3 without 0, so that sums and products stay exact */
    TSR_DOMAIN_NAN,    /* as TSR_DOMAIN_REALS, but some are NaN, which wins maxima and minima */
    TSR_DOMAIN_BITS    /* integers from the whole range of their dtype, so that sums and products
                          wrap around; floats as in TSR_DOMAIN_REALS */
} tsr_domain;

/* Arrays are of the whole shape, 8 bytes for every element. */
typedef struct tsr_trial {
    tsr_heap *heap;
    tsr_schema schema; /* of the whole call, with the inputs' placements */
    tsr_domain domain;
    int ranks;
    uint64_t seed;
    tsr_range range[TSR_MAX_IN];
    char *memory;
    void *term[TSR_MAX_IN][TSR_TRIAL_RANKS]; /* what a rank would hold if it held all of an input */
    void *whole[TSR_MAX_IN];                 /* what an input is worth */
    void *part[TSR_MAX_IN];                  /* what one rank holds */
    void *result[TSR_MAX_OUT];               /* the kernel on whole inputs; NULL: switched off */
    void *own[TSR_MAX_OUT][TSR_TRIAL_RANKS]; /* what ranks compute, at its place in the whole */
    void *local[TSR_MAX_OUT];                /* what one rank computes */
    int64_t *token;                          /* the integers of TSR_DOMAIN_TOKENS, mixed */
} tsr_trial;

/* What suits an op with inputs at these placements on one mesh dim; how many of them. Linear ops
   get numbers too: a row may be wrong in that, and over the field relu changes nothing. Integers
   are of all sizes: what is monotone in numbers is not monotone where results wrap around. */
int tsr__domains_of(const tsr_trial *t, tsr_domain out[2]);

/* The schema is that of the case `text`. */
tsr_status tsr__trial_open(tsr_trial *t, tsr_heap *heap, const tsr_schema *schema, const char *text,
                           uint64_t seed, tsr_error *err);
void tsr__trial_close(tsr_trial *t);

/* Fill the inputs for the placements in t->schema and compute the result. */
tsr_status tsr__trial_fill(tsr_trial *t, tsr_domain domain, tsr_error *err);
/* Copy what the rank at mesh index `index` holds of input k to t->part[k]. */
tsr_status tsr__trial_part(tsr_trial *t, int k, int index, tsr_shape *shape, tsr_error *err);

/* On one mesh dim: are the outputs as `out` says when every rank runs the kernel on its parts? One
   that is open is not looked at: ranks may have any part of it. If not, `why` says what differs
   first. */
tsr_status tsr__trial_holds(tsr_trial *t, const tsr_rule_placement *out, bool *holds,
                            char why[TSR_TEXT_LEN], tsr_error *err);

/* The first element in which x differs from result k, -1 if none. Integers must be equal. */
int64_t tsr__trial_differs(const tsr_trial *t, int k, const void *x);
/* "element [1,2] is 3, not 4" for one that differs; it names the output if there are several */
const char *tsr__trial_element_text(const tsr_trial *t, int k, const void *x, int64_t i, char *buf,
                                    size_t n);

/* trial_data.c: random contents of input k, and parts of arrays */
/* Element i of an input with a range; and what the rank at coord has of it, of the partial dims'
   terms: each of them is in the range too, and offsets do not fall. */
int64_t tsr__range_value(const tsr_range *range, uint64_t seed, int64_t i);
int64_t tsr__range_term(const tsr_range *range, const tsr_spec *spec, uint64_t seed,
                        const int *coord, int64_t i);
void tsr__trial_fill_input(tsr_trial *t, int k);
void tsr__trial_shuffle(tsr_trial *t);
/* Copy between a rank's part and its place in the whole array. */
tsr_status tsr__part_cut(tsr_heap *heap, const tsr_layout *layout, int index, const void *whole,
                         void *part, tsr_shape *shape, tsr_error *err);
tsr_status tsr__part_paste(tsr_heap *heap, const tsr_layout *layout, int index, const void *part,
                           void *whole, tsr_error *err);

#endif
