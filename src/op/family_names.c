/* SPDX-License-Identifier: Apache-2.0 */
/* family_names.c - what the families of rows are called, for those who list them. */
#include "op/families.h"

const char *tsr_op_family(const tsr_op *op)
{
    static const struct {
        const tsr_op *rows;
        const char *name;
    } families[] = {
        {tsr__ops_pointwise, "pointwise"},
        {tsr__ops_compare, "comparisons and choices"},
        {tsr__ops_linalg, "linear algebra"},
        {tsr__ops_einsum, "sums of products"},
        {tsr__ops_attention, "attention"},
        {tsr__ops_reduction, "reductions"},
        {tsr__ops_merging, "statistics"},
        {tsr__ops_scan, "scans"},
        {tsr__ops_softmax, "softmax"},
        {tsr__ops_views, "order of elements"},
        {tsr__ops_repeats, "repeating"},
        {tsr__ops_cuts, "cutting"},
        {tsr__ops_padding, "padding"},
        {tsr__ops_shape_composed, "splitting"},
        {tsr__ops_reshape, "shapes"},
        {tsr__ops_embedding, "lookups"},
        {tsr__ops_convolution, "convolution"},
        {tsr__ops_pooling, "pooling"},
        {tsr__ops_resampling, "resampling"},
        {tsr__ops_norm, "normalisation"},
        {tsr__ops_layer_norm, "layer normalisation"},
        {tsr__ops_class_loss, "losses of classes"},
        {tsr__ops_pair_loss, "losses of pairs"},
        {tsr__ops_indexing, "indexing"},
        {tsr__ops_ordering, "sorting"},
        {tsr__ops_random, "random numbers"},
        {tsr__ops_creation, "creation"},
        {tsr__ops_decomposed, "made of others"},
    };

    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        for (const tsr_op *row = families[i].rows; row->name; row++)
            if (row == op)
                return families[i].name;
    return NULL;
}
