/* SPDX-License-Identifier: Apache-2.0 */
/* values.h - the naive reference of verify: what every rank should hold, from the definitions
   alone. Small whole numbers, so that sums and products are exact in every dtype. */
#ifndef CLI_VALUES_H
#define CLI_VALUES_H

#include <tessera.h>

static inline bool value_is_float(tsr_dtype dtype)
{
    return dtype == TSR_F32 || dtype == TSR_F64 || dtype == TSR_F16 || dtype == TSR_BF16;
}

/* Integers, from their names: i8 to i64, u8 to u64. */
static inline bool value_is_signed(tsr_dtype dtype)
{
    return value_is_float(dtype) || tsr_dtype_name(dtype)[0] == 'i';
}

/* Is any mesh dim partial? */
bool value_is_partial(const tsr_spec *spec);
/* The indices of the row-major i-th element. */
void value_indices_at(const tsr_shape *shape, int64_t i, int64_t at[TSR_MAX_DIM]);
/* One element of a buffer as a number. */
double value_get(tsr_dtype dtype, const void *data, int64_t i);
void value_put(tsr_dtype dtype, void *data, int64_t i, double value);

/* The indices along dim that coordinate `coord` holds, in order, by the chunk rule; for free().
   NULL: out of memory. */
int64_t *value_indices(const tsr_spec *spec, const int *coord, int dim, int64_t *n);

/* Where the local part of a rank lies: index lists per dim. */
typedef struct value_part {
    tsr_shape shape;
    int64_t *index[TSR_MAX_DIM];
} value_part;

/* The part at mesh index `index`; false: out of memory. */
bool value_part_make(const tsr_spec *spec, int index, value_part *out);
void value_part_free(value_part *part);
/* Row-major global number of local element i, and its indices. */
int64_t value_part_global(const value_part *part, const tsr_shape *whole, int64_t i,
                          int64_t at[TSR_MAX_DIM]);

/* A number that looks random. */
uint64_t value_hash(uint64_t x);
/* The term that a coordinate has for a global element, and the value that all terms make. */
double value_term(const tsr_spec *spec, uint64_t seed, const int *coord, int64_t global);
double value_whole(const tsr_spec *spec, uint64_t seed, int64_t global);

#endif
