/* SPDX-License-Identifier: Apache-2.0 */
/* families.c - the table of families (op/op_table.h): the one place where the engine meets the ops,
   and the order in which they are listed. */
#include "op/op_table.h"
#include "ops/attention/attention_ops.h"
#include "ops/convolution/convolution_ops.h"
#include "ops/embedding/embedding_ops.h"
#include "ops/embedding/row_sparse_grad.h"
#include "ops/indexing/indexing_ops.h"
#include "ops/linalg/linalg_ops.h"
#include "ops/loss/loss_ops.h"
#include "ops/normalisation/normalisation_ops.h"
#include "ops/optimizer/optimizer_ops.h"
#include "ops/pointwise/pointwise_ops.h"
#include "ops/random/random_ops.h"
#include "ops/reduction/reduction_ops.h"
#include "ops/shape/shape_ops.h"

const tsr_family *tsr__op_families(void)
{
    static const tsr_family families[] = {
        {.name = "pointwise", .rows = tsr__ops_pointwise},
        {.name = "activation gradients", .rows = tsr__ops_activation_grad},
        {.name = "comparison and selection", .rows = tsr__ops_compare},
        {.name = "linear algebra", .rows = tsr__ops_linalg},
        {.name = "einsum", .rows = tsr__ops_einsum},
        {.name = "attention", .rows = tsr__ops_attention},
        {.name = "reductions", .rows = tsr__ops_reduction},
        {.name = "statistics", .rows = tsr__ops_merging},
        {.name = "scans", .rows = tsr__ops_scan},
        {.name = "softmax", .rows = tsr__ops_softmax},
        {.name = "permutation", .rows = tsr__ops_views},
        {.name = "repeating", .rows = tsr__ops_repeats},
        {.name = "slicing", .rows = tsr__ops_cuts},
        {.name = "padding", .rows = tsr__ops_padding},
        {.name = "splitting", .rows = tsr__ops_shape_composed},
        {.name = "shapes", .rows = tsr__ops_reshape},
        {.name = "lookups",
         .rows = tsr__ops_embedding,
         .gives_rows = tsr__gives_rows,
         .give_rows = tsr__row_sparse_give},
        {.name = "convolution", .rows = tsr__ops_convolution},
        {.name = "pooling", .rows = tsr__ops_pooling},
        {.name = "resampling", .rows = tsr__ops_resampling},
        {.name = "normalisation", .rows = tsr__ops_norm},
        {.name = "layer normalisation", .rows = tsr__ops_layer_norm},
        {.name = "losses of classes", .rows = tsr__ops_class_loss},
        {.name = "losses of pairs", .rows = tsr__ops_pair_loss},
        {.name = "indexing", .rows = tsr__ops_indexing},
        {.name = "sorting", .rows = tsr__ops_ordering},
        {.name = "random numbers", .rows = tsr__ops_random},
        {.name = "creation", .rows = tsr__ops_creation},
        {.name = "optimizers", .rows = tsr__ops_optimizer},
        {.name = "composite", .rows = tsr__ops_decomposed},
        {0},
    };
    return families;
}

const tsr_op *tsr__op_unlisted(void)
{
    return tsr__ops_inplace;
}
