/* SPDX-License-Identifier: Apache-2.0 */
/* random.h - random words by their place in a stream (base/philox.h), and what the kernels of
   random ops and their references share. Element g of the whole tensor always has word g of the
   stream, whoever computes it: numbers depend on seed, offset and place alone. Where 32 bits are
   not enough, more come from word g of a second stream, so that numbers of several dtypes agree up
   to their precision. */
#ifndef TSR_OPS_RANDOM_H
#define TSR_OPS_RANDOM_H

#include "base/philox.h"
#include "kernel/kernel.h"
#include "kernel/kinds.h"
#include "kernel/seed.h"
#include "kernel/sku.h"

/* The rows of ops/random/random_ops.c. Attributes in their order; numbers: the sizes of the whole.
   */
void tsr__kernel_random(const tsr_kernel_call *call);

/* random_words.c: n blocks of four words from that one on; every variant gives the same. Local. */
void tsr__random_words(const tsr_stream *s, uint64_t block, int64_t n, tsr_kernel_variant variant,
                       uint32_t *out);

/* A call of an op, read once. */
typedef struct tsr_random {
    tsr_random_kind kind;
    tsr_dtype dtype;
    tsr_stream stream, more;
    bool wide;          /* there is a second stream, `more` */
    int bits;           /* digits of a uniform number: those of the dtype */
    double a, b;        /* low and high, or mean and std */
    double limit;       /* uniform: the largest number of the dtype below high */
    int64_t low;        /* randint */
    uint64_t range;     /* randint: high - low; permutation: how many there are */
    uint64_t cut;       /* bernoulli, dropout: a word below it says yes, up to 2^32 */
    double scale;       /* dropout: 1 / (1 - p); uniform: results are multiplied by it, a and b are
                           divided, as high - low may be beyond all numbers */
    uint32_t round[20]; /* permutation: a key for each round */
    int left, right;    /* permutation: bits of the two halves */
} tsr_random;

tsr_random tsr__random_of(const tsr_kernel_call *call, tsr_random_kind kind);
int64_t tsr__randint_at(const tsr_random *r, uint32_t word, uint32_t more);
/* The permutation of n that the op gives for this stream, for tsr__permuted. */
tsr_random tsr__permutation_of(const tsr_stream *stream, int64_t n);
/* Where element i goes. */
uint64_t tsr__permuted(const tsr_random *r, uint64_t i);

/* random_reference.c: element g, of which x is the input; computed by itself. */
void tsr__reference_random(const tsr_kernel_call *call, const tsr_random *r);

#endif
