/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.h - the numbers of categories of kernels and of the ops of each, as rows (.kind), kernels
   and the table of kernels (kernel/sku.c) use them. Programs know kernels by their names; only
   lookups have public numbers (tsr_embedding_kind in tessera_ext.h). */
#ifndef TSR_KERNEL_KINDS_H
#define TSR_KERNEL_KINDS_H

#include "tessera_ext.h"

enum {
    TSR_CATEGORY_POINTWISE = 1,
    TSR_CATEGORY_LINALG = 2,
    TSR_CATEGORY_REDUCTION = 3,
    TSR_CATEGORY_SOFTMAX = 4,
    TSR_CATEGORY_MOVE = 5,
    TSR_CATEGORY_CONVOLUTION = 6,
    TSR_CATEGORY_POOLING = 7,
    TSR_CATEGORY_LOSS = 8,
    TSR_CATEGORY_LAYER_NORM = 9,
    TSR_CATEGORY_INDEX = 10,
    TSR_CATEGORY_ORDER = 11,
    TSR_CATEGORY_RANDOM = 12,
    TSR_CATEGORY_CREATION = 13,
    TSR_CATEGORY_OPTIMIZER = 14,
    TSR_CATEGORY_NORM = 15,
    TSR_CATEGORY_RESAMPLING = 16
};

typedef uint16_t tsr_pointwise_kind;
enum {
#define NUMBER(OP, name) TSR_POINTWISE_##OP,
#define BASIC(OP, name) NUMBER(OP, name)
#define FLOAT(OP, name) NUMBER(OP, name)
#define WHOLE(OP, name) NUMBER(OP, name)
#define VALUE(OP, name) NUMBER(OP, name)
#define TRUTH(OP, name) NUMBER(OP, name)
#define APART(OP, name) NUMBER(OP, name)
#include "kernel/pointwise_list.inc.h"
};

typedef uint16_t tsr_linalg_kind;
enum {
    TSR_LINALG_MATMUL = 0,
    TSR_LINALG_LINEAR = 1,
    TSR_LINALG_EINSUM = 2,
    TSR_LINALG_ATTENTION = 3,
    TSR_LINALG_ATTENTION_BACKWARD = 4
};

typedef uint16_t tsr_reduction_kind;
enum {
    TSR_REDUCTION_SUM = 0,
    TSR_REDUCTION_MEAN = 1,
    TSR_REDUCTION_MAX = 2,
    TSR_REDUCTION_PROD = 3,
    TSR_REDUCTION_MIN = 4,
    TSR_REDUCTION_NORM = 5,
    TSR_REDUCTION_VAR = 6,
    TSR_REDUCTION_STD = 7,
    TSR_REDUCTION_LOGSUMEXP = 8,
    TSR_REDUCTION_ARGMAX = 9,
    TSR_REDUCTION_ARGMIN = 10,
    TSR_REDUCTION_ANY = 11,
    TSR_REDUCTION_ALL = 12,
    TSR_REDUCTION_CUMSUM = 13,
    TSR_REDUCTION_CUMPROD = 14
};

typedef uint16_t tsr_softmax_kind;
enum {
    TSR_SOFTMAX = 0,
    TSR_LOG_SOFTMAX = 1,
    TSR_SOFTMAX_BACKWARD = 2,
    TSR_LOG_SOFTMAX_BACKWARD = 3
};

typedef uint16_t tsr_move_kind;
enum {
    TSR_MOVE_CAT = 0,
    TSR_MOVE_TRANSPOSE = 1,
    TSR_MOVE_SLICE = 2,
    TSR_MOVE_RESHAPE = 3,
    TSR_MOVE_EXPAND = 4,
    TSR_MOVE_PERMUTE = 5,
    TSR_MOVE_STACK = 6,
    TSR_MOVE_TILE = 7,
    TSR_MOVE_SELECT = 8,
    TSR_MOVE_UNFOLD = 9,
    TSR_MOVE_DIAGONAL = 10,
    TSR_MOVE_FLIP = 11,
    TSR_MOVE_ROLL = 12,
    TSR_MOVE_PAD = 13,
    TSR_MOVE_PAD_REFLECT = 14,
    TSR_MOVE_PAD_REPLICATE = 15,
    TSR_MOVE_PAD_CIRCULAR = 16,
    TSR_MOVE_TRIL = 17,
    TSR_MOVE_TRIU = 18,
    TSR_MOVE_SLICE_BACKWARD = 19,
    TSR_MOVE_UNFOLD_BACKWARD = 20
};

typedef uint16_t tsr_convolution_kind;
enum {
    TSR_CONVOLUTION_OUTPUT = 0,
    TSR_CONVOLUTION_GRAD_INPUT = 1,
    TSR_CONVOLUTION_GRAD_WEIGHT = 2
};

typedef uint16_t tsr_pooling_kind;
enum {
    TSR_POOLING_MAX = 0,
    TSR_POOLING_AVERAGE = 1,
    TSR_POOLING_MAX_GRAD = 2,
    TSR_POOLING_AVERAGE_GRAD = 3
};

typedef uint16_t tsr_loss_kind;
enum {
    TSR_LOSS_CROSS_ENTROPY = 0,
    TSR_LOSS_CROSS_ENTROPY_BACKWARD = 1,
    TSR_LOSS_NLL = 2,
    TSR_LOSS_NLL_BACKWARD = 3,
    TSR_LOSS_MSE = 4,
    TSR_LOSS_MSE_BACKWARD = 5,
    TSR_LOSS_L1 = 6,
    TSR_LOSS_L1_BACKWARD = 7,
    TSR_LOSS_BCE = 8,
    TSR_LOSS_BCE_BACKWARD = 9
};

typedef uint16_t tsr_layer_norm_kind;
enum {
    TSR_LAYER_NORM = 0,
    TSR_LAYER_NORM_BACKWARD = 1,
    TSR_RMS_NORM = 2,
    TSR_RMS_NORM_BACKWARD = 3
};

typedef uint16_t tsr_index_kind;
enum {
    TSR_INDEX_GATHER = 0,
    TSR_INDEX_SELECT = 1,
    TSR_INDEX_TAKE = 2,
    TSR_INDEX_SCATTER = 3,
    TSR_INDEX_SCATTER_ADD = 4,
    TSR_INDEX_ADD = 5,
    TSR_INDEX_SCATTER_BACKWARD = 6,
    TSR_INDEX_ONE_HOT = 7
};

typedef uint16_t tsr_order_kind;
enum { TSR_ORDER_SORT = 0, TSR_ORDER_TOPK = 1 };

typedef uint16_t tsr_random_kind;
enum {
    TSR_RANDOM_UNIFORM = 0,
    TSR_RANDOM_NORMAL = 1,
    TSR_RANDOM_BERNOULLI = 2,
    TSR_RANDOM_RANDINT = 3,
    TSR_RANDOM_PERMUTATION = 4,
    TSR_RANDOM_DROPOUT = 5
};

typedef uint16_t tsr_creation_kind;
enum { TSR_CREATION_ARANGE = 0, TSR_CREATION_LINSPACE = 1, TSR_CREATION_EYE = 2 };

typedef uint16_t tsr_optimizer_step_kind;
enum {
    TSR_OPTIMIZER_SGD = 0,
    TSR_OPTIMIZER_SGD_MOMENTUM = 1,
    TSR_OPTIMIZER_ADAM = 2,
    TSR_OPTIMIZER_ADAGRAD = 3
};

typedef uint16_t tsr_norm_kind;
enum {
    TSR_NORM_BATCH = 0,
    TSR_NORM_BATCH_BACKWARD = 1,
    TSR_NORM_GROUP = 2,
    TSR_NORM_GROUP_BACKWARD = 3,
    TSR_NORM_RUNNING_UPDATE = 4
};

/* Two for each tsr_resample_kind that is an op, the second is the gradient. */
typedef uint16_t tsr_resampling_kind;
enum {
    TSR_RESAMPLING_AVERAGE = 0,
    TSR_RESAMPLING_AVERAGE_BACKWARD = 1,
    TSR_RESAMPLING_NEAREST = 2,
    TSR_RESAMPLING_NEAREST_BACKWARD = 3,
    TSR_RESAMPLING_LINEAR = 4,
    TSR_RESAMPLING_LINEAR_BACKWARD = 5
};

#endif
