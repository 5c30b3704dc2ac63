/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_check.h - calls of kernels on random operands, fast against reference. For
   test_kernel.c. */
#ifndef TSR_TESTS_KERNEL_CHECK_H
#define TSR_TESTS_KERNEL_CHECK_H

#include "ops/linalg/linalg_ops.h"
#include "ops/normalisation/normalisation_ops.h"
#include "ops/pointwise/pointwise_ops.h"
#include "kernel/reduce_dims.h"
#include "ops/shape/rearrange.h"
#include "numbers.h"

#define SHAPE(...) shape_of(sizeof((int64_t[]){__VA_ARGS__}) / 8, (int64_t[]){__VA_ARGS__})

/* Small integers, for which sums and products are exact; reals of a few units; these with NaN,
   infinities and zeros of both signs among them. Integer types always take all their values. */
/* FACTORS: near 1, so that no product of some of them leaves the range of f32, in any order. */
typedef enum numbers { INTEGERS, REALS, SPECIALS, FACTORS } numbers;

typedef struct kernel_op {
    const char *name;
    tsr_kernel run;
    tsr_kernel_category category;
    uint16_t kind;
} kernel_op;

extern const kernel_op add, mul, neg, relu, matmul, sum, mean, max, softmax;
extern const kernel_op cat, transpose, reshape, slice;

enum { DTYPES = TSR__DTYPES, FLOATS = 4 };
extern const tsr_dtype dtypes[DTYPES]; /* the floats first */

tsr_shape shape_of(size_t ndim, const int64_t *size);
tsr_shape random_shape(uint64_t *seed); /* 0 to 5 dims of 0 to 9 */
tsr_attr one_int(int64_t i);
double eps_of(tsr_dtype dtype);
double tiniest(tsr_dtype dtype); /* above 0 */

/* Memory exactly as large as it must be, full of NaN. */
tsr_operand operand(tsr_dtype dtype, tsr_shape shape);
void fill(const tsr_operand *x, numbers content, uint64_t *seed);
tsr_kernel_call unary_call(tsr_dtype dtype, tsr_shape in, tsr_shape out);
void describe(const kernel_op *op, const tsr_kernel_call *call);
void free_call(tsr_kernel_call *call);
void run_op(const kernel_op *op, tsr_kernel_call *call);

/* Run in all variants that run here and by reference; compare: integers bit for bit, else within 8
   eps of the sum of the absolute terms. Frees the operands. */
void check(const kernel_op *op, numbers content, tsr_kernel_call *call);
/* The same for operands made here. */
void check_unary(const kernel_op *op, tsr_dtype dtype, numbers content, tsr_shape shape,
                 uint64_t *seed);
void check_binary(const kernel_op *op, tsr_dtype dtype, numbers content, tsr_shape a, tsr_shape b,
                  uint64_t *seed);
void check_reduce(const kernel_op *op, tsr_dtype dtype, numbers content, tsr_shape in,
                  unsigned dims, bool keep, uint64_t *seed); /* dims as a mask */
void check_matmul(tsr_dtype dtype, numbers content, tsr_shape a, tsr_shape b, bool bias,
                  uint64_t *seed);
void check_softmax(tsr_dtype dtype, numbers content, tsr_shape shape, int64_t dim, uint64_t *seed);

#endif
