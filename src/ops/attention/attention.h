/* SPDX-License-Identifier: Apache-2.0 */
/* attention.h - softmax(scale q k^T + mask) v on one rank, and its gradients. q is [batch, heads,
   rows, dim], k [batch, key heads, keys, dim], v [batch, key heads, keys, width]; as many heads of
   queries as `group` says share one of keys. For attention.c and attention_reference.c. */
#ifndef TSR_OPS_ATTENTION_H
#define TSR_OPS_ATTENTION_H

#include "kernel/merge.h"

/* Inputs and outputs of the rows of ops/attention/attention_op.c. */
enum {
    TSR_ATT_Q = 0,
    TSR_ATT_K = 1,
    TSR_ATT_V = 2,
    TSR_ATT_MASK = 3,
    TSR_ATT_OUT = 0,
    TSR_ATT_LSE = 1,
    TSR_ATT_GRAD = 0, /* inputs of the gradients */
    TSR_ATT_GRAD_Q = 1,
    TSR_ATT_GRAD_K = 2,
    TSR_ATT_GRAD_V = 3,
    TSR_ATT_GRAD_OUT = 4,
    TSR_ATT_GRAD_LSE = 5,
    TSR_ATT_GRAD_OF_LSE = 6,
    TSR_ATT_GRAD_MASK = 7
};
/* Their attributes. */
enum { TSR_ATT_CAUSAL = 0, TSR_ATT_SCALE = 1, TSR_ATT_GROUP = 2, TSR_ATT_MASK_GRAD = 3 };

typedef struct tsr_attention_call {
    const tsr_operand *q, *k, *v, *mask; /* mask NULL: none */
    int64_t batch, heads, key_heads, rows, keys, dim, width, group;
    double scale;
    bool causal;
    int64_t mask_stride[4]; /* 0 where it broadcasts */
} tsr_attention_call;

tsr_attention_call tsr__attention_of(const tsr_kernel_call *call, bool backward);
/* The head of keys that a head of queries reads; -1: it is not here, which is an error. */
int64_t tsr__attention_key_head(const tsr_attention_call *a, int64_t head);
/* How many of the keys from j on a row may see; they are the first ones. */
int64_t tsr__attention_seen(const tsr_attention_call *a, int64_t row, int64_t j, int64_t n);

/* The steps of both kernels where keys are on several ranks. Forward: outputs of the keys here, by
   rows' maxima and sums over all of them, are terms of a sum. Backward: `out` came as such terms,
   and each row's product with its gradient is summed. */
extern const tsr_merge_steps tsr__attention_steps, tsr__attention_backward_steps;

/* By their definitions, in f64: the oracle. Scratch is f64 numbers, as many as they say. */
int64_t tsr__reference_attention_numbers(const tsr_kernel_call *call, bool backward);
void tsr__reference_attention(const tsr_kernel_call *call);
void tsr__reference_attention_backward(const tsr_kernel_call *call);

#endif
