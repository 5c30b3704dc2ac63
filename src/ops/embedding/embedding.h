/* SPDX-License-Identifier: Apache-2.0 */
/* embedding.h - rows of a table by ids, one by one or pooled by bags, and the gradients of that, on
   one rank's buffers. The rank may hold only some rows of the table: ids of other rows are *masked*
   and add nothing, so that sums over ranks are whole. Everything is Local and without memory of its
   own; results depend on the order of the ids only, not on the variant. Naive versions of all that
   is here are in embedding_reference.h. */
#ifndef TSR_OPS_EMBEDDING_H
#define TSR_OPS_EMBEDDING_H

#include "kernel/gather_rows.h"
#include "kernel/ids.h"
#include "kernel/sku.h"

/* counts[local row] += how often it occurs, padding left out; counts are i32 or i64 [n_rows]. */
void tsr__embedding_count(const tsr_ids *ids, tsr_dtype dtype, void *counts);

/* ---- bags ------------------------------------------------------------------------------------ */

/* Bag b has the ids begin[b] .. begin[b + 1] - 1; without begin every bag has `length`. */
typedef struct tsr_bags {
    tsr_ids ids;
    int64_t n_bags;
    const int64_t *begin; /* [n_bags + 1], or NULL */
    int64_t length;
} tsr_bags;

static inline int64_t tsr__bag_begin(const tsr_bags *bags, int64_t b)
{
    return bags->begin ? bags->begin[b] : b * bags->length;
}

/* Offsets of bags (i32 or i64), or some of them. with_last: the last one of the whole list is the
   end of the last bag, else that is n_ids; so there are total - with_last bags. */
typedef struct tsr_offsets {
    tsr_dtype dtype;
    const void *data;
    int64_t first, n; /* those that are here, from that one of the whole list on */
    int64_t total;
    bool with_last;
    int64_t n_ids;
} tsr_offsets;

/* Where n bags from `bag` on begin, and the last of them ends: begin[n + 1]. Needs the offsets of
   these bags and the next, if there is one. An error, with a sentence, if offsets do not start at
   0, decrease or go past the ids; all that are here are looked at. */
tsr_status tsr__bag_offsets(const tsr_offsets *offsets, int64_t bag, int64_t n, int64_t *begin,
                            tsr_error *err);
/* Entries of each bag that are neither padding nor outside the vocabulary; masked ones count. */
void tsr__bag_counts(const tsr_bags *bags, int64_t *counts);

typedef struct tsr_bag_pool {
    tsr_dtype dtype; /* a float; the prime field too, but not for max */
    int64_t dim;
    tsr_bags bags;
    const void *table;     /* [n_rows, dim] */
    const void *weights;   /* sum: [n] of dtype, or NULL for ones */
    const int64_t *counts; /* mean: [n_bags] divisors; NULL: tsr__bag_counts */
    bool last;             /* max: of equal values the last one wins, not the first */
    tsr_kernel_variant variant;
    void *scratch;     /* tsr__bag_bytes */
    void *out;         /* [n_bags, dim]; an empty bag gives zeros */
    int64_t *position; /* max: [n_bags, dim] where in the ids the winner stands; -1: empty bag */
} tsr_bag_pool;

size_t tsr__bag_bytes(const tsr_bags *bags);
void tsr__bag_sum(const tsr_bag_pool *call);
void tsr__bag_mean(const tsr_bag_pool *call); /* divides this rank's sums by the whole counts */
void tsr__bag_max(const tsr_bag_pool *call);  /* a NaN wins */

/* The max of two ranks' results, into the second: any order of merging gives the same. */
void tsr__bag_max_merge(tsr_dtype dtype, int64_t n, bool last, const void *from,
                        const int64_t *from_position, void *out, int64_t *position);
/* index[i] (i32 or i64) = the id at position[i], a row of the whole table; -1 for none. */
void tsr__bag_winners(const tsr_ids *ids, int64_t n, const int64_t *position, tsr_dtype dtype,
                      void *index);

/* ---- gradient of the table ------------------------------------------------------------------- */

/* Which terms are added to which rows: made once, then filled in as a dense or a row-sparse
   gradient. Terms of a row stand in the order of their positions. The scratch holds its arrays. */
typedef struct tsr_scattered {
    int64_t n_terms, n_distinct;
    const int64_t *row;   /* [n_distinct] local rows, ascending */
    const int64_t *begin; /* [n_distinct + 1] first term of each */
    const int64_t *from;  /* [n_terms] the row of grad_out, or its element */
    const void *weight;   /* [n_terms] of dtype, f32 for f16 and bf16; or NULL for ones */
    bool by_element;      /* max: a term is one element of grad_out, added to its column */
} tsr_scattered;

/* Scratch for all ids (of max: n_bags * dim winners). Terms times rows must be below 2^63. */
size_t tsr__scatter_bytes(int64_t n_terms);
void tsr__embedding_scatter(const tsr_ids *ids, void *scratch, tsr_scattered *out);
/* A term is grad_out[bag] times the sample's weight (NULL: 1), divided by counts[bag] (mean; NULL:
   1). */
void tsr__bag_scatter(const tsr_bags *bags, tsr_dtype dtype, const void *weights,
                      const int64_t *counts, void *scratch, tsr_scattered *out);
/* `winners` are what tsr__bag_winners gives, as ids of n_bags * dim elements. */
void tsr__bag_max_scatter(const tsr_ids *winners, void *scratch, tsr_scattered *out);

typedef struct tsr_table_grad {
    tsr_dtype dtype;
    int64_t dim, n_rows;
    const void *grad_out; /* [.., dim] */
    tsr_dtype freq_dtype;
    const void *freq; /* i32 or i64 [n_rows]: rows are divided by it; NULL: not */
    tsr_kernel_variant variant;
    void *out; /* dense: [n_rows, dim]; row-sparse: [n_distinct, dim] */
} tsr_table_grad;

void tsr__scatter_dense(const tsr_scattered *scatter, const tsr_table_grad *call);
void tsr__row_sparse_scatter(const tsr_scattered *scatter, const tsr_table_grad *call);

/* out[i] = grad_out[bag of i] . table[ids[i]], 0 for local row -1. Of `call` dtype, dim, bags,
   table and variant are used. */
void tsr__bag_weights_backward(const tsr_bag_pool *call, const void *grad_out, void *out);

/* ---- update of the table --------------------------------------------------------------------- */

typedef struct tsr_rows_update {
    tsr_dtype dtype; /* a float */
    int64_t dim, n;
    const int64_t *rows; /* [n] of the whole table, each once */
    int64_t row_first;   /* the table's first row here */
    const void *values;  /* [n, dim] */
    double scale;
    const double *scales; /* [n] one for each row instead; NULL: none */
    void *table;
} tsr_rows_update;

/* table[row] += scale * value, in f64 for f64, else in f32. */
void tsr__embedding_add(const tsr_rows_update *call);
/* to = the sum of n rows of dim elements, in that type, or f32 for halves, rounded once; those need
   wide[2 dim]. */
void tsr__rows_sum(tsr_dtype dtype, int64_t dim, const void *const *row, int n, void *to,
                   float *wide);

/* ---- max_norm -------------------------------------------------------------------------------- */

typedef struct tsr_renorm {
    tsr_dtype dtype;
    int64_t dim;
    double max_norm, p; /* p may be INFINITY */
    void *table;        /* [n_rows, dim] */
} tsr_renorm;

/* power[i] = sum of |x|^p over row rows[i] (their largest for infinite p). Of a table sharded by
   columns these are added (or compared) over ranks before tsr__embedding_rescale. */
void tsr__embedding_powers(const tsr_renorm *call, const int64_t *rows, int64_t n, double *power);
/* Rows whose norm is above max_norm are multiplied by max_norm / (norm + 1e-7). */
void tsr__embedding_rescale(const tsr_renorm *call, const int64_t *rows, int64_t n,
                            const double *power);
/* Both, for all rows that occur in the ids, each once; padding occurs too. Scratch:
   tsr__scatter_bytes. */
void tsr__embedding_renorm(const tsr_renorm *call, const tsr_ids *ids, void *scratch);

#endif
