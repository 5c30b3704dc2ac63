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
#include "tessera_ops.h"

const tsr_family *tsr__op_families(void)
{
    static const tsr_family families[] = {
        {.name = "pointwise", .folder = "pointwise", .rows = tsr__ops_pointwise},
        {.name = "activation gradients", .folder = "pointwise", .rows = tsr__ops_activation_grad},
        {.name = "comparison and selection", .folder = "pointwise", .rows = tsr__ops_compare},
        {.name = "linear algebra", .folder = "linalg", .rows = tsr__ops_linalg},
        {.name = "einsum", .folder = "linalg", .by_hand = true, .rows = tsr__ops_einsum},
        {.name = "attention", .folder = "attention", .by_hand = true, .rows = tsr__ops_attention},
        {.name = "reductions", .folder = "reduction", .rows = tsr__ops_reduction},
        {.name = "statistics", .folder = "reduction", .rows = tsr__ops_merging},
        {.name = "scans", .folder = "reduction", .rows = tsr__ops_scan},
        {.name = "softmax", .folder = "normalisation", .rows = tsr__ops_softmax},
        {.name = "permutation", .folder = "shape", .rows = tsr__ops_views},
        {.name = "repeating", .folder = "shape", .rows = tsr__ops_repeats},
        {.name = "slicing", .folder = "shape", .rows = tsr__ops_cuts},
        {.name = "padding", .folder = "shape", .rows = tsr__ops_padding},
        {.name = "splitting", .folder = "shape", .rows = tsr__ops_shape_composed},
        {.name = "shapes", .folder = "shape", .rows = tsr__ops_reshape},
        {.name = "lookups",
         .folder = "embedding",
         .by_hand = true,
         .rows = tsr__ops_embedding,
         .gives_rows = tsr__gives_rows,
         .give_rows = tsr__row_sparse_give},
        {.name = "convolution",
         .folder = "convolution",
         .by_hand = true,
         .rows = tsr__ops_convolution},
        {.name = "pooling", .folder = "convolution", .by_hand = true, .rows = tsr__ops_pooling},
        {.name = "resampling",
         .folder = "convolution",
         .by_hand = true,
         .rows = tsr__ops_resampling},
        {.name = "normalisation",
         .folder = "normalisation",
         .by_hand = true,
         .rows = tsr__ops_norm},
        {.name = "layer normalisation",
         .folder = "normalisation",
         .by_hand = true,
         .rows = tsr__ops_layer_norm},
        {.name = "classification losses",
         .folder = "loss",
         .by_hand = true,
         .rows = tsr__ops_class_loss},
        {.name = "regression and binary losses", .folder = "loss", .rows = tsr__ops_pair_loss},
        {.name = "indexing", .folder = "indexing", .rows = tsr__ops_indexing},
        {.name = "sorting", .folder = "indexing", .rows = tsr__ops_ordering},
        {.name = "random numbers", .folder = "random", .by_hand = true, .rows = tsr__ops_random},
        {.name = "creation", .folder = "random", .by_hand = true, .rows = tsr__ops_creation},
        {.name = "optimizers", .folder = "optimizer", .by_hand = true, .rows = tsr__ops_optimizer},
        {.name = "composite", .folder = "pointwise", .rows = tsr__ops_decomposed},
        {0},
    };
    return families;
}

const tsr_op *tsr__op_unlisted(void)
{
    return tsr__ops_inplace;
}

const tsr_op_uses *tsr__op_uses(void)
{
    static const tsr_op_uses uses = {.add = tsr_add, .sum = tsr_sum, .cast = tsr_cast};

    return &uses;
}
