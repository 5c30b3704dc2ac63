/* SPDX-License-Identifier: Apache-2.0 */
/* naive.h - who holds what and what a partial tensor is worth, by the letter of the definitions and
   by loops over single elements: the reference that redistribution is tested against. */
#ifndef TSR_TESTS_NAIVE_H
#define TSR_TESTS_NAIVE_H

#include "tessera.h"

enum { NAIVE_MAX = 512 }; /* indices along a dim */

typedef struct naive_list {
    int n;
    int index[NAIVE_MAX];
} naive_list;

/* Global indices along dim that the rank at `coord` holds. */
void naive_held(const tsr_spec *spec, int dim, const int *coord, naive_list *out);

/* A term: a small number that follows from the element and the coordinates on the partial dims.
   All sums, averages and products of them over up to 8 ranks are exact in f64. */
double naive_term(const tsr_spec *spec, int64_t element, const int *coord);
/* What the terms of all ranks are worth: the last mesh dim is reduced first, then outwards. */
double naive_value(const tsr_spec *spec, int64_t element);

/* The local part of the rank at mesh index `index`, by terms or by values; returns its elements. */
int64_t naive_part(const tsr_spec *spec, int index, const tsr_spec *source, double *out,
                   tsr_shape *shape);

#endif
